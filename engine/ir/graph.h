/* Graph: tensor programs between capture and loops. Read-only once built; a stage builds a new graph.
 *
 *     Graph *g = graph_new(arena, "joint", syms);
 *     Node *x = graph_input(g, "primals_1", meta, span);
 *     Node *y = graph_call(g, relu, args, 1, metas, 1, span);
 *     graph_output(g, &y, 1);
 *     graph_verify(g, &error);
 *
 * Names are FX's: input names given, calls named after the op with _1, _2 … ("add", "add_1"), unique in a graph and none of Python's own ("sum_1").
 * Invariant: nodes stand in topological order; every argument is an earlier node; `id` is unique in the compile (all stages) and
 * `origins` names the ids it came from in the stage before. */
#ifndef VITRINE_IR_GRAPH_H
#define VITRINE_IR_GRAPH_H
#include "base/map.h"
#include "base/vec.h"
#include "ir/row.h"
#include "trace/snapshot.h"

typedef struct Node Node;
typedef struct Graph Graph;

typedef enum NodeKind { NODE_INPUT, NODE_CALL, NODE_GETITEM /* output `index` of a call with several */, NODE_CONSTANT /* a tensor of the program held by the compile entry */,
    /* Of captured graphs only, without a tensor; later stages pass over them: what they say is in the other nodes' sizes, numbers and modes as well. */
    NODE_NUMBER /* arithmetic on Python numbers: s0 + 1 */, NODE_EFFECT /* gradients on or off, autocast entered or left, an assertion */ } NodeKind;
typedef enum NodeSide { SIDE_FORWARD, SIDE_BACKWARD } NodeSide;

struct Node {
    int id;
    NodeKind kind;
    const char *name;               /* "relu_1"; printed with % in views */
    const Op *op;                   /* CALL */
    const Arg *args; int nargs;     /* CALL: by the op's signature, ARG_TENSOR.owner is a Node* (meta points to that node's meta). GETITEM: args[0]. NUMBER: operands, ARG_TENSOR.owner may be another NUMBER */
    int index;                      /* GETITEM: which output; INPUT: position */
    const Meta *metas; int noutputs;/* metas[0] for ordinary nodes */
    NodeSide side;                  /* set by joint: forward or backward */
    bool is_tangent;                /* INPUT of the joint graph: an incoming gradient */
    bool is_method, is_operator;    /* captured as x.relu(), as x + y; neither: torch.relu(x) */
    bool no_grad;                   /* captured where grad mode was off */
    const struct Autocast *autocast; /* CALL, captured: what autocast was for it and for the ops that it is made of; NULL: off, or it does not care */
    int tangent_of;                 /* tangents: the forward output that it is the gradient of */
    bool is_parameter;              /* INPUT: a parameter, or a tensor of a module: in memory whatever is saved */
    int region;                     /* of torch.utils.checkpoint, numbered from 1 in the order of the calls; 0: in none */
    bool in_heavy;                  /* decomposed: a step of an op that does a matmul inside (a convolution), which is one op to whoever decides what to save */
    int draw;                       /* RANDOM, behind the partition: number of its draw plus 1, the same on both sides; 0: the lowering counts */
    int forward_of;                 /* BACKWARD: id of the forward node of this graph whose gradient it helps to compute; 0: none is known */
    void *constant;                 /* CONSTANT: Tensor* of vm/tensor.h, held by the compile entry */
    Span span;
    const int *origins; int origin_count;
    const char *module_path;        /* "layers.0.fc" when made inside an nn.Module's forward, or NULL */
    const char *spelled;            /* NUMBER: what computes it: "add", "floordiv", "sym_min", "item"; EFFECT: as it is listed */
    Arg value;                      /* NUMBER: an expression, or the constant that it is in this compile; NONE: what the tensor args[0] holds, or `expression` */
    const char *expression;         /* NUMBER: a float that follows from sizes, as text */
    Node *as_number;                /* INPUT: the NUMBER that reads this tensor of one element, and stands for it in listings */
    Node *const *numbers; int number_count; /* NUMBERs whose constants are among the arguments */
    int users;                      /* number of uses as an argument or output, set by graph_finish */
};

typedef struct Mutation { int input, output; } Mutation;
typedef struct GraphSize { Dim var; int input; } GraphSize;      /* a symbolic size that the graph is given before tensor input `input` (-1: at the end) */
typedef enum AliasKind { ALIAS_VIEW, ALIAS_NO_GRAD /* a view made without gradients */, ALIAS_MULTI /* one of several views: not to be changed in place on the tape */, ALIAS_DETACHED /* no view: the tape knows nothing of it */ } AliasKind;
typedef struct OutputAlias { int output, input; Meta meta; AliasKind kind; } OutputAlias;

struct Graph {
    Arena *arena;
    const char *stage;              /* "dynamo", "joint", … */
    SymTable *syms;
    VEC(Node *) nodes;              /* inputs first */
    VEC(Node *) inputs;
    VEC(Node *) outputs;            /* NULL entries: an output that is None (no gradient) */
    int forward_outputs;            /* joint: how many leading outputs belong to the forward */
    /* Writes to inputs that a caller sees, after functionalization: input `input` takes the value of output `output`. */
    VEC(Mutation) mutations;
    /* Forward outputs that share storage with an input: output `output` is input `input` seen through `meta`, made by the caller (never a plan's buffer). */
    VEC(OutputAlias) aliases;
    /* For each forward output the first output that shares its storage in eager execution (itself when none does): carried through the stages so that
     * equal values which eager keeps apart are given out apart. NULL: unknown. */
    const int *shares;
    /* Of a joint graph: inputs that were changed in place with gradients on. The last forward outputs are these inputs' new values, which get tangents as
     * results do; functionalization leaves them to the mutations. */
    VEC(Mutation) regrads;
    VEC(GraphSize) sizes;           /* of a captured graph */
    Map *numbers;                   /* of a captured graph: expression (Dim) -> its NUMBER */
    VEC(Node *) leaving;            /* of a captured graph: numbers that the frame gives out; in PyTorch outputs like others, here computed by the rewritten code */
    const char *call_name;          /* base name of the next call, in place of its op's; used once */
    Map *names;                     /* base name -> count so far */
    int *next_id;                   /* shared by all graphs of a compile */
};

Graph *graph_new(Arena *arena, const char *stage, SymTable *syms, int *next_id);
Node *graph_input(Graph *graph, const char *name, const Meta *meta, Span span);
Node *graph_constant(Graph *graph, const char *name, const Meta *meta, void *tensor, Span span);
/* Copies args (deeply) and metas into the graph's arena. */
Node *graph_call(Graph *graph, const Op *op, const Arg *args, int nargs, const Meta *metas, int noutputs, Span span);
Node *graph_getitem(Graph *graph, Node *call, int index);
void graph_output(Graph *graph, Node *const *outputs, int count);  /* appends */
/* graph_number.c */
Node *graph_number(Graph *graph, const char *spelled, const Arg *args, int nargs, Arg value, Span span); /* an expression is known by it from then on */
Node *graph_effect(Graph *graph, const char *name, const char *spelled, const Arg *args, int nargs, Span span); /* spelled: the whole call */
Node *graph_number_of(const Graph *graph, Dim d);                    /* that computes d; NULL: none does */
void node_uses_number(Graph *graph, Node *node, Node *number);
void node_each_number(const Graph *graph, const Node *node, void (*visit)(Node *number, void *state), void *state);
static inline bool node_is_tensor(const Node *node) { return node->kind != NODE_NUMBER && node->kind != NODE_EFFECT; }
static inline bool node_is_operation(const Node *node) { return node->kind != NODE_INPUT && node->kind != NODE_CONSTANT; } /* counted by PyTorch */
void graph_finish(Graph *graph);                                     /* counts users */
void graph_drop_unused(Graph *graph);                                /* calls without effect whose results no output needs; random ones stay */
/* Copies one node of another graph into this one, replacing arguments through map (Node* -> Node*); records the origin and puts the pair in map. */
Node *graph_copy_node(Graph *graph, const Node *node, Map *map);
void node_origin(Graph *graph, Node *node, const Node *from);        /* adds from's id to origins, and its span, module path and side when unset */
void node_inherit(Graph *graph, Node *node, const Node *from);       /* adds from's own origins: where a graph between two stages is not kept */
void node_rename(Graph *graph, Node *node, const char *base);        /* dynamo names a node after the variable that it is stored to */
Arg arg_node(Node *node);                                            /* ARG_TENSOR of a node's first output */
/* Calls visit for every Node argument, inside lists too. */
void node_each_input(const Node *node, void (*visit)(Node *input, void *state), void *state);
bool graph_verify(const Graph *graph, const char **error);           /* order, metas against op_infer, users, names; error text in the arena */
/* Python-like listing in the cases' form: `y: "f32[3, 5][5, 1]cpu" = l_x_ @ l_w_`. style: 0 dynamo (operators, functions, methods), 1 aten (torch.ops.aten.relu.default) */
void graph_print(Text *text, const Graph *graph);
bool node_argument_is_default(const Node *node, int index);      /* of a call: it need not be spelled */
void node_print(Text *text, const Graph *graph, const Node *node);
void number_print(Text *text, const Graph *graph, const Node *node);  /* graph_number.c: what a NUMBER computes: "s0 + 1" */
void dim_print_in(Text *text, const Graph *graph, Dim d);             /* the NUMBER's name where there is one */
void graph_describe(const Graph *graph, Snapshot *snapshot);
/* FNV-1a of the structure, for caches: names left out. */
uint64_t graph_hash(const Graph *graph);
#endif
