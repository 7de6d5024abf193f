/* Autograd: the tape. It works in every domain: on fake tensors the backward it runs is traced into the joint graph. */
#ifndef VITRINE_VM_AUTOGRAD_H
#define VITRINE_VM_AUTOGRAD_H
#include "vm/tensor.h"

/* Gradients of a node's inputs from those of its outputs. grads_out[i]: owned by the caller, NULL = undefined. grads_in: filled with owned
 * tensors or NULL. false: exception set. */
typedef bool (*BackwardFn)(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in);

typedef struct GradEdge { GradNode *node; int output; } GradEdge;      /* where the gradient of input i goes; node NULL: nowhere */

struct GradNode {
    Object head;                    /* OBJ_GRAD_NODE: what t.grad_fn is in the language */
    const char *name;               /* "ReluBackward0" */
    const Op *op;
    uint64_t sequence;
    int ninputs, noutputs;
    GradEdge *edges;                /* ninputs; in the node's own block, but for CopySlices: edges_apart */
    bool edges_apart;
    BackwardFn backward;
    int nkept;                      /* of the saved values, those at the end that the backward itself does not need: freed with the others, not missed */
    Value *saved; uint32_t *saved_versions; int nsaved; /* tensors and other arguments; tensors with the version they had. One block with saved_outputs */
    int *saved_outputs;             /* the saved value is (a detached alias of) output i of this node; -1: it is an input */
    Meta *output_metas;
    void *state; void (*release)(VM *vm, void *state);  /* compiled functions: the entry they hold */
    bool released;                  /* saved values freed after backward without retain_graph */
    Span span;                      /* of the forward op */
    int made_by;                    /* while a graph is built: id of the graph node whose gradient this is; 0: none */
    Value hooks, object;            /* hooks of the node: a list; custom Function's ctx, AccumulateGrad's leaf */
    Value *output_hooks;            /* hooks of the tensors it made: for each output a list or V_NULL; NULL: none at all */
    Tensor **retainers;             /* outputs with retain_grad(): not held, cleared when the tensor dies; NULL: none */
};

/* After an op ran: links outputs to a node made from the op's gradient row, when any input needs grad and grad mode is on. */
bool autograd_record(VM *vm, const Op *op, const Arg *args, int nargs, Value result);
/* A node with a C backward (compiled functions, custom Functions): inputs' edges are taken from the tensors. */
GradNode *autograd_node(VM *vm, const char *name, Tensor **inputs, int ninputs, int noutputs, BackwardFn backward);
void autograd_attach(VM *vm, Tensor *output, GradNode *node, int index);
void autograd_save(VM *vm, GradNode *node, Value value);
Tensor *autograd_saved(VM *vm, GradNode *node, int i);                 /* checks the version: the in-place error with PyTorch's meaning; borrowed */
GradEdge autograd_edge(VM *vm, Tensor *input);                         /* makes a leaf's AccumulateGrad */
/* Runs backward from roots. inputs NULL: accumulates into leaves' .grad; else fills grads (owned or NULL), as torch.autograd.grad. */
bool autograd_run(VM *vm, Tensor **roots, Tensor **root_grads, int nroots, Tensor **inputs, Tensor **grads, int ninputs, bool retain_graph, bool create_graph);
/* An output that the node saves: kept as an alias without a link back, so that the node and its output form no cycle. */
void autograd_save_output(VM *vm, GradNode *node, Value value, int index);
void autograd_save_packed(VM *vm, GradNode *node, Tensor *t, int output);  /* what the hook that is entered makes of t (autograd_hooks.h); output: which of the node's, or -1 */
Value autograd_saved_value(VM *vm, GradNode *node, int i);             /* as autograd_saved, owned, for any value; a saved output is linked to the tape again */
void autograd_release_saved(VM *vm, GradNode *node);                   /* after a backward that does not retain the graph */
Tensor *tensor_alias(VM *vm, Tensor *t);                               /* same storage, meta and graph node, no tape */
void autograd_native_init(VM *vm);                                     /* registers OBJ_GRAD_NODE */
Value autograd_output_hooks(const GradNode *node, int output);          /* borrowed list, or V_NULL */
Value *autograd_hooks_slot(VM *vm, Tensor *t);                          /* where t's hooks are kept: in the leaf or in its node */
void autograd_set_retainer(GradNode *node, int output, Tensor *t);      /* t NULL: no more */
static inline Tensor *autograd_retainer(const GradNode *node, int output) { return node->retainers ? node->retainers[output] : NULL; }
bool autograd_is_accumulator(const GradNode *node);
/* In-place ops: before, may the tensor be changed (leaves, views); after, its tape position is moved behind the op. */
bool autograd_check_inplace(VM *vm, Tensor *t);
void autograd_rebase(VM *vm, Tensor *t, GradNode *node, int index);
/* What t shows was overwritten as a whole by output `index` of node: for a view its root moves behind a CopySlices. */
void autograd_replace(VM *vm, Tensor *t, GradNode *node, int index);
/* Marks `view` as a view of `base` by `op` (args: op's arguments after the first). */
void autograd_mark_view(VM *vm, Tensor *view, Tensor *base, const Op *op, const Arg *args, int nargs, enum ViewKind kind);
Tensor *tensor_root(Tensor *t);                                         /* the tensor that t is a view of, or t; borrowed */
/* g reduced to the shape it had before broadcasting, as sum_to_size; takes and gives an owned tensor. NULL: exception set. */
Tensor *tensor_sum_to(VM *vm, Tensor *g, const Dim *sizes, int rank);
Tensor *tensor_add(VM *vm, Tensor *a, Tensor *b);                       /* owned a + b through the domain */
/* One op with Values, result owned: for C code that computes with tensors in any domain. name: a row. */
Value vm_op(VM *vm, const char *name, Value *args, int nargs);
Tensor *vm_op_tensor(VM *vm, const char *name, Value *args, int nargs); /* NULL: exception set */
/* torch.autograd.Function and the functions of torch.autograd; autograd_function.c */
Value autograd_function_apply(VM *vm, Value cls, Value *args, int nargs);
GradNode *tensor_grad_node(VM *vm, Tensor *t);                           /* .grad_fn, made anew when the base of a view was changed; borrowed, NULL for leaves */
Value hook_handle_new(VM *vm, Value hooks, Value hook);                  /* what register_hook returns: remove() takes the hook out of the list */
void grad_node_unref(VM *vm, GradNode *node);
static inline GradNode *grad_node_ref(GradNode *node) { node->head.refs++; return node; }
#endif
