/* Dynamo: the frame evaluator under torch.compile. Finds the entry whose guards hold, or captures the frame into a graph and a rewritten code.
 *
 *     Dynamo *d = dynamo_new(vm, arena, &backend);
 *     dynamo_define(d);                     // torch.compile and its relatives appear in the language
 *
 * dynamo reaches the rest of the compiler only through the backend that engine.c injects. */
#ifndef VITRINE_DYNAMO_DYNAMO_H
#define VITRINE_DYNAMO_DYNAMO_H
#include "dynamo/cache.h"
#include "dynamo/watch.h"

typedef struct DynamoBackend {
    void *state;
    /* Compiles entry->graph; fills entry->artifacts. May fail() through entry->failure. */
    void (*compile)(void *state, Entry *entry);
    /* Runs the compiled graph: args are the graph's inputs; a tuple of its outputs, or VALUE_ERROR. */
    Value (*run)(void *state, Entry *entry, Value *args, int nargs);
    void (*release)(void *state, Entry *entry);
} DynamoBackend;

/* in_loop: the whole frame ran eagerly because it stood in a loop. */
/* cause: the kind of what stopped first; the same place and cause are told once. */
typedef struct BreakRecord { const char *compile, *kind, *cause, *reason; bool in_loop; int line; Span span; } BreakRecord;
typedef struct RecompileRecord { const char *compile, *kind, *reason, *function; Span span; } RecompileRecord;

/* What one torch.compile(...) call asked for. */
typedef struct CompileOptions { bool fullgraph, dynamic_set, dynamic; const char *backend, *mode; /* interned */ Value function; /* a backend of the program (borrowed), or V_NULL */ } CompileOptions;

/* torch.compiler.set_stance: compiled functions run eagerly; only entries that are there serve; a compile is an error */
typedef enum Stance { STANCE_DEFAULT, STANCE_EAGER, STANCE_CACHED, STANCE_FAIL } Stance;

struct Dynamo {
    VM *vm;
    Arena *arena;                   /* session's */
    DynamoBackend backend;
    const Policy *policy;
    OpTable *ops;
    int recompile_limit;
    int node_limit;                 /* nodes of a captured graph: a loop that unrolls without end stops there */
    int next_frame_id;
    int frames_total, frames_ok, graphs, ops_captured;
    VEC(CodeCache *) caches;
    VEC(struct Resume *) resumes;   /* continuations made so far (rewrite.h) */
    VEC(Entry *) entries;           /* every entry made, oldest first, for listings; each holds a reference */
    VEC(BreakRecord) breaks;
    int told_from;                  /* breaks from here on are told once: as in PyTorch, a new torch.compile starts over */
    VEC(RecompileRecord) recompiles;
    CompileOptions options;         /* of the compiled call that is running */
    bool capturing;
    Stance stance;
    bool only_cached;               /* a frame beyond the limit of recompiles runs: what it calls is served by entries that are there, and nothing is compiled */
    const Code *compiled_code;      /* of the function that the running compiled call is of, or NULL */
    Object *module;                 /* the module that the running compiled call is of, or NULL */
    bool hide_times;                /* --plain: what is shown must be the same on every run */
    /* A command's run: works on copies of the caches and leaves the counts alone. */
    bool copying;
    VEC(CodeCache *) copies;
    VEC(Entry *) used;              /* entries compiled or run by the last command's call, in order of first use; borrowed from `entries` */
    Entry *current;                 /* last compiled or explained */
    int64_t launches, bytes;        /* of compiled graphs, counted as they run */
    /* Commands that step and ask. */
    const DynamoWatch *watch;       /* NULL: nobody looks on */
    const DynamoProbe *probe;       /* NULL: frames are run */
    bool copy_empty;                /* copies start without entries and what was seen before */
    int copy_frames;                /* frames that got an id in this command's run */
    bool abandoned;                 /* the stepped call is given up: what fails now says nothing about the program */
    bool no_effects;                /* print and its like are left out of capture: what the program would be without them (`:breaks CALL`) */
};

Dynamo *dynamo_new(VM *vm, Arena *arena, const DynamoBackend *backend, const Policy *policy);
void dynamo_close(Dynamo *dynamo);
void dynamo_reset(Dynamo *dynamo);                                       /* torch._dynamo.reset() */
void functorch_define(Dynamo *dynamo);                                   /* torch._functorch.config (define_functorch.c) */
void functorch_policy(const Dynamo *dynamo, Policy *policy);             /* a compile's policy as torch._functorch.config and the backend have it now */
void explain_define(Dynamo *dynamo);                                     /* torch._dynamo.explain, torch.compiler.disable (explain.c) */
void tools_define(Dynamo *dynamo, Dict *in_dynamo, Dict *in_config, Dict *in_compiler); /* define_tools.c: what is written in the language */
void dynamo_define(Dynamo *dynamo);                                      /* puts torch.compile, torch._dynamo, torch.compiler into the modules */
/* Calls callee under torch.compile. Owned. */
Value dynamo_call(Dynamo *dynamo, const CompileOptions *options, Value callee, Value *args, int nargs, Tuple *kwnames);
void dynamo_copy_begin(Dynamo *dynamo);
void dynamo_copy_end(Dynamo *dynamo);
/* The function behind what torch.compile returned, borrowed; the value itself otherwise. */
Value dynamo_inner(Value callee);
bool dynamo_is_compiled(Value callee);
/* What torch.compile was told, for commands that compile a call: the usual options for anything else. */
CompileOptions dynamo_options(Value callee);

#endif
