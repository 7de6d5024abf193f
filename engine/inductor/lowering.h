/* Lowering: what the files of the lower pass share. Others include inductor/inductor.h.
 *
 * lower.c walks the graph and decides what is materialized; lower_value.c says what a tensor is at an index; lower_loop.c makes loops;
 * lower_extern.c makes calls of libraries and eager kernels (choose.c picks for matmuls); lower_output.c the plan's outputs and mutations. */
#ifndef VITRINE_INDUCTOR_LOWERING_H
#define VITRINE_INDUCTOR_LOWERING_H
#include "inductor/inductor.h"

/* What became of one output of a node. */
typedef struct NodeValue {
    int buffer;                     /* where it is materialized; -1: computed by whoever reads it */
    bool required;                  /* must be materialized: an output, an argument of a library */
    const Meta *layout;             /* strides that it must have when materialized (a mutated input's), or NULL */
    int reads, ops;                 /* estimate of loads and operations of its inlined value */
} NodeValue;

typedef enum NodeForm { FORM_UNKNOWN, FORM_VALUE /* a function of the index */, FORM_REDUCTION, FORM_SCATTER, FORM_CALL } NodeForm;

typedef struct NodeState {
    const Node *node;
    NodeForm form;
    int own_ops;                    /* VALUE: operations that it adds to its inputs' */
    NodeValue *outs;                /* node->noutputs of them */
    int draw;                       /* RANDOM: number of its draw, -1 */
    const int *nodes; int node_count; /* ids computed when its value is inlined: its own and those of inlined inputs */
    bool is_lowered;
    bool inlining;                  /* every use computes the value in place (through views too): no output, no call's argument */
    int product;                    /* CONTRACT whose addend is added by its readers: buffer of the product alone; -1 */
} NodeState;

typedef struct Lowering {
    Compile *c;
    Lowered *l;
    Arena *arena;
    Map *states;                    /* Node* -> NodeState* */
    Map *memo;                      /* (node, output, index) -> value */
    Map *users;                     /* Node* -> the last node that uses it */
} Lowering;

/* The call behind a node and which of its outputs: GETITEM nodes are followed. */
const Node *node_call(const Node *node, int *which);
const char *node_label(Lowering *lowering, const Node *node);                                   /* "%relu_1" */
NodeState *node_state(Lowering *lowering, const Node *node);
NodeValue *node_value(Lowering *lowering, const Node *node);
NodeForm node_form(Lowering *lowering, NodeState *state);                                        /* of a CALL node */

void node_estimate(Lowering *lowering, NodeState *state, int own_ops);                       /* reads, ops and nodes of its inlined value */

/* lower_value.c */
const Body *resolve_value(BodyBuilder *builder, const Arg *tensor, const Dim *index);
const Body *value_of_node(Lowering *lowering, const Node *call, int which, const Dim *index); /* its own value, not a load of its buffer; NULL: has no loop form */
Dim buffer_index(SymTable *syms, const Meta *meta, const Dim *index);                       /* linear */
bool node_probe(Lowering *lowering, const Node *call, int *ops);                             /* has value_at a value? how many operations does it add? */

/* lower_loop.c */
int buffer_new(Lowering *lowering, BufferRole role, const Meta *meta, const char *name, int node_id);
Meta stored_meta(Lowering *lowering, const Meta *meta);                                     /* dense strides as given, else contiguous; offset 0 */
Loop *loop_new(Lowering *lowering, LoopKind kind, const Node *node);
void loop_finish(Lowering *lowering, Loop *loop, NodeState *state);                          /* accesses, nodes, words; appends it */
void materialize(Lowering *lowering, const Node *node);                                      /* of a pointwise-like node; does nothing when it is already */
bool lower_reduction(Lowering *lowering, const Node *node);                                  /* false: no simple reduction */
bool lower_scatter(Lowering *lowering, const Node *node);
bool scatter_probe(Lowering *lowering, const Node *node);

/* lower_extern.c */
/* The buffer and view of a node; materializes what has to be. */
int node_view(Lowering *lowering, const Node *node, Meta *view);
void lower_extern(Lowering *lowering, const Node *node);
bool view_is_alias(Lowering *lowering, const Node *node, const Meta *base, Meta *view);     /* VIEW node over its first argument seen as `base` */

/* A new buffer with the value of `node` in this layout (sizes as the node's). */
int copy_to_buffer(Lowering *lowering, const Node *node, const Meta *layout);

/* lower_matmul.c */
typedef struct MatmulForm { const char *word; int a, b, added; } MatmulForm;                 /* places of arguments; added -1: none */
const MatmulForm *matmul_form(const Op *op);                                                  /* NULL: not one of the library's */
bool lower_matmul(Lowering *lowering, const Node *node);                                     /* false: the library does not take it */
bool library_takes(Lowering *lowering, const MatmulCall *call, const char **why);
double number_argument(const Node *node, const char *name, double absent);
bool is_bias_row(const Meta *added, const Meta *out);
void take_bias(MatmulCall *call, int buffer, const Meta *view, Dim size);
void emit_matmul(Lowering *lowering, const Node *node, MatmulCall *call, const Meta *stored, const int *nodes, int node_count);

/* choose.c */
void choose_epilogue(Lowering *lowering, const Node *node, const MatmulForm *form, MatmulCall *call);
const Body *added_value(Lowering *lowering, const Node *node, const Dim *index);             /* of a node with `product` */

/* lower_output.c */
void lower_outputs(Lowering *lowering);

/* choose_time.c: medians in microseconds of a product with its epilogue, of the plain product, and what the kernel behind it would take. false: not timed
 * here (no card, the policy does not, symbolic sizes). */
typedef struct EpilogueTimes { double with_us, plain_us, kernel_us; } EpilogueTimes;
bool time_epilogue(const Lowering *lowering, const MatmulCall *plain, const MatmulCall *with, int64_t kernel_bytes, EpilogueTimes *times);
#endif
