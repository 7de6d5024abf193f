/* Autograd: the tape. It works in every domain: on fake tensors the backward it runs is traced into the joint graph. */
#ifndef VITRINE_VM_AUTOGRAD_H
#define VITRINE_VM_AUTOGRAD_H
#include "vm/tensor.h"

/* Gradients of a node's inputs from those of its outputs. grads_out[i]: owned by the caller, NULL = undefined. grads_in: filled with owned
 * tensors or NULL. false: exception set. */
typedef bool (*BackwardFn)(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in);

typedef struct GradEdge { GradNode *node; int output; } GradEdge;      /* where the gradient of input i goes; node NULL: nowhere */

struct GradNode {
    uint32_t refs;
    const char *name;               /* "ReluBackward0" */
    const Op *op;
    uint64_t sequence;
    int ninputs, noutputs;
    GradEdge *edges;                /* ninputs */
    BackwardFn backward;
    Value *saved; uint32_t *saved_versions; int nsaved; /* tensors and other arguments; tensors with the version they had */
    Meta *output_metas;
    void *state; void (*release)(VM *vm, void *state);  /* compiled functions: the entry they hold */
    bool released;                  /* saved values freed after backward without retain_graph */
    Span span;                      /* of the forward op */
    Value hooks, object;            /* custom Function's ctx */
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
void grad_node_unref(VM *vm, GradNode *node);
static inline GradNode *grad_node_ref(GradNode *node) { node->refs++; return node; }
#endif
