/* Unbacked numbers: values that only the running graph knows: what .item() gives, sizes that depend on data.
 *
 *     config.capture_scalar_outputs            k = n.item(); torch.ones(k)     ->  %ones: f32[u0]
 *     config.capture_dynamic_output_shape_ops  i = torch.nonzero(x); i * 2     ->  %nonzero: i64[u0, 1], 0 <= u0 <= 3
 *     fullgraph=True                           both
 *
 * An int is a symbol u0 of the table, without a place in the frame: what is asked of it is no guard. What ranges do not decide ends the graph when the
 * program asks; when a shape rule or a stage asks, the hint does, and the answer is checked when the graph runs (pieces.c).
 * A float or bool is a tracked value whose source is a zero-dimensional tensor of the graph (SOURCE_UNBACKED). */
#ifndef VITRINE_DYNAMO_UNBACKED_H
#define VITRINE_DYNAMO_UNBACKED_H
#include "dynamo/rewrite.h"

bool capture_takes_scalars(const Capture *capture);
bool capture_takes_shapes(const Capture *capture);
/* OpContext.unbacked, with the capture as its state. */
Dim capture_new_unbacked(void *state, int64_t least, int64_t most);
/* After an op: the new symbols in its results' sizes stand there. false: a size is no simple expression of one (vm_stop). */
bool capture_bind_unbacked(Capture *capture, Value result);
/* .item() of a fake tensor with one element; owned. V_NULL: not taken. */
Value capture_unbacked_item(Capture *capture, Tensor *tensor);
Tensor *capture_scalar_tensor(const Capture *capture, const Source *source);     /* of a SOURCE_UNBACKED */
bool dim_has_unbacked(Dim d);
/* Python's + - * / and comparisons with an unbacked float: computed in the graph, owned. V_NULL: no such operands. */
Value capture_unbacked_binary(Capture *capture, int op, Value a, Value b);
int capture_decide(VM *vm, Dim relation);
bool capture_specialize(VM *vm, Dim dim, int64_t *value);
/* torch._check of a relation that is not known yet: assumed, and checked when the graph has run. message: a callable, or NULL. */
void capture_check_later(Capture *capture, Dim relation, Value message);
Value vm_check_error(VM *vm, Value message);                                       /* raises the error of a check that failed (define_check.c) */
void checks_define(VM *vm, Dict *torch);
void emit_unbacked(Rewrite *r, Dim var);
void emit_scalar_tensor(Rewrite *r, Tensor *tensor);                              /* its item */
#endif
