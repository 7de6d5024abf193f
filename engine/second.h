/* Second derivatives through a compiled function: its backward again, this time on the tape.
 *
 *     g, = torch.autograd.grad(f(x), x, create_graph=True)      # f compiled: second_backward(…) computes g, with g.grad_fn
 *
 * The compiled backward computes numbers only. Where a graph of the gradients is wanted, the captured graph is run once more, op by op, on the inputs
 * that the node of the tape holds, and what was recorded is differentiated with create_graph.
 * Invariants: the gradient is that of the call that was made (inputs are checked by version, random numbers are the ones drawn then), or an exception. */
#ifndef VITRINE_SECOND_H
#define VITRINE_SECOND_H
#include "pipeline.h"
#include "vm/autograd.h"

/* What a node of the tape keeps of a call beside its saved tensors: node->state. */
typedef struct CallState {
    Entry *entry;
    int64_t *values;                /* of symbolic sizes, in the forward; NULL: there are none */
    uint64_t seed;                  /* of its random numbers */
    int first_input;                /* place of the first graph input in node->saved */
} CallState;

/* Keeps the graph's inputs in the node, behind what it saved so far. An input that the graph overwrites is not kept: see second_backward. */
void second_keep_inputs(VM *vm, GradNode *node, const Entry *entry, Tensor *const *inputs);
/* Gradients by the graph's inputs, owned, on the tape. false: exception set. */
bool second_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in);
/* compiled.c: what the random nodes of the forward graph gave in that call; a tuple of tensors in order of the nodes' outputs. */
Value compiled_draws(VM *vm, const CallState *call, Tensor **inputs, int input_count);
#endif
