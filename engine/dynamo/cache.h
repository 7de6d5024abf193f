/* Cache: compile entries, kept on the code object they were compiled from (decisions.md 12).
 *
 *     CodeCache *cache = cache_of(dynamo, code);
 *     Entry *entry = cache_lookup(cache, vm, frame);      // NULL: no entry's guards hold
 *
 * An entry is refcounted: the cache holds one reference, live backwards and rewritten code that runs hold theirs, so that eviction never
 * frees what is in use. Everything of an entry lies in its arena. */
#ifndef VITRINE_DYNAMO_CACHE_H
#define VITRINE_DYNAMO_CACHE_H
#include "dynamo/guards.h"
#include "ir/compile.h"

typedef struct Dynamo Dynamo;
typedef struct CodeCache CodeCache;
typedef struct Entry Entry;

/* A symbolic size, stride or int of an input: `at` is `dim`, an expression of symbols (see shapes.h). */
typedef struct ShapeBinding {
    SizeSource at;
    Dim dim;
    bool defines;                   /* dim is a symbol, and it is the first place where its value stands */
    int input;                      /* of the graph: the tensor's; VALUE_OF: -1 */
    int argument;                   /* VALUE_OF: place among the ints that the graph is called with */
    bool marked, bounded;           /* by mark_dynamic; with min or max: these are then `low` and `high` */
    int64_t low, high;
    Value symbol;                   /* VALUE_OF: as a value of the language; held by the entry */
    Span span;
    const char *why;
} ShapeBinding;

/* What an entry was compiled for, of what torch.compile(...) asked: it serves no other (BACKEND_MATCH). */
typedef struct EntryBackend { const char *name, *mode; Value function; bool dynamic_set, dynamic; } EntryBackend;

/* A symbol that only the running graph knows: factor * var + rest is the size `dim` of what the node yields, or (dim -1) the value of its one element. */
typedef struct Unbacked { Dim var; const Node *node; Object *tensor /* the fake, held by the entry */; int dim; int64_t factor, rest; } Unbacked;

typedef struct EntryInput { const Source *source; Meta meta; Span span; } EntryInput;

struct Entry {
    uint32_t refs;
    Arena *arena;
    Dynamo *dynamo;
    CodeCache *owner;
    const Code *code;               /* the user's */
    Code *rewritten;                /* what runs instead; NULL: the user's own code (nothing was captured) */
    int frame_id, index;            /* [frame_id/index] */
    const char *id;
    GuardSet guards;
    SourceTable *sources;
    Graph *graph;                   /* captured */
    VEC(EntryInput) inputs;         /* of the graph, in order */
    Compile compile;
    EntryBackend backend;
    Policy policy;                  /* as set when it was compiled */
    Failure failure;
    bool failed, is_copy, empty;
    const char *failed_text;
    VEC(Value) held;                /* objects that the rewritten code's constants and the graph's constants borrow */
    int64_t hits;
    double capture_ms, total_ms;
    struct Pieces *pieces;          /* of the backend: a graph that is compiled in pieces (engine/pieces.h); NULL: it is one */
    Entry *whole;                   /* a piece: the entry that it is of, whose memory and references it shares */
    void *artifacts;                /* of the backend: graphs, plans */
    Value runner, captured;         /* of a backend of the program: what it returned, and the graph object that it was given; V_NULL otherwise */
    VEC(Value) examples;            /* for such a backend: the graph's inputs in the call that was captured; held by the entry */
    VEC(ShapeBinding) bindings;     /* in the order in which they were met */
    VEC(Unbacked) unbacked;         /* in the order in which the graph comes to know them */
    int symbol_count, int_count;
    bool computes_sizes;            /* a number made of symbols leaves the frame: in Dynamo an op of the graph */
    bool works_on_symbols;          /* a symbolic float was taken in, or Python computed with a symbolic int: counts as a graph even if nothing else is in it */
    const char *violation;          /* of a marked dimension, found while it was met */
    Object *graph_object;           /* OBJ_GRAPH that the rewritten code calls; borrowed (held owns it) */
};

struct CodeCache {
    const Code *code;
    int frame_id;
    VEC(Entry *) entries;
    int refused;                    /* compiles that fullgraph=True ended: each took an id */
    bool skipped;                   /* runs eagerly from now on */
    const char *skip_reason;
    bool limit_noted, alias_noted;  /* limit_noted: it has met the limit of recompiles; from then on only its entries serve */
    void *shapes;                   /* what its inputs were in earlier compiles (frame_state.c) */
    CodeCache *original;            /* of a copy made for a command */
};

CodeCache *cache_of(Dynamo *dynamo, const Code *code);                   /* made when there is none */
bool entry_is_of_backend(const Entry *entry, const Dynamo *dynamo);      /* of the compiled call that is running; commands take any */
Entry *cache_lookup(CodeCache *cache, VM *vm, const Frame *frame);
Entry *entry_new(Dynamo *dynamo, CodeCache *cache);
Entry *entry_ref(Entry *entry);
void entry_unref(Entry *entry);
#endif
