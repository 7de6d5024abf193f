/* What the concrete domain shares with the tracing one and with code in C. */
#ifndef VITRINE_VM_CONCRETE_H
#define VITRINE_VM_CONCRETE_H
#include "vm/tensor.h"
#include <stdlib.h>

/* Metas of an op's outputs. Few fit inside; a row whose number of outputs only its shape rule knows (unbind, split) gets room on the heap. */
enum { FEW_OUTPUTS = 4, MANY_OUTPUTS = 4096 };
typedef struct Inferred { Meta few[FEW_OUTPUTS]; Meta *at; int count; } Inferred;
bool inferred_make(VM *vm, const Op *op, const Arg *args, int nargs, Inferred *out);  /* false: exception set, nothing to free */
static inline void inferred_free(Inferred *inferred) { if (inferred->at != inferred->few) free(inferred->at); }

Value concrete_run(VM *vm, const Op *op, const Arg *args, int nargs);          /* infer, allocate, run; nothing recorded */
Value outputs_value(VM *vm, const Op *op, Value *items, int count);            /* takes the references */
/* reshape and others when no view will do: a contiguous copy under the new shape. */
Value run_copying_view(VM *vm, const Op *op, const Arg *args, int nargs, const Meta *meta);
/* Before an in-place op whose gradient reads its first argument: a copy of that, in *original; NULL when none is needed. false: exception set. */
bool inplace_keep_original(VM *vm, const Op *op, const Arg *args, int nargs, Tensor *self, Tensor **original);
/* transfer.c: a dense copy on another device; owned, NULL: exception set. */
Tensor *tensor_transfer(VM *vm, Tensor *t, DType dtype, Device device);
typedef struct Moved { Value *at; int count, capacity; } Moved;               /* tensors made for one call; released by the caller */
bool transfer_needed(const Arg *args, int nargs);                             /* tensors of both kinds of device among the arguments */
/* Zero-dim CPU tensors and CPU index tensors follow an op to the card: replaces them in args. */
bool transfer_small(VM *vm, const Op *op, Arg *args, int nargs, Moved *moved, Arena *arena);
bool tensor_overlaps_itself(const Meta *meta);
/* Before `self` is written to: an element that is two, or an argument that shares some of its memory but is not the same view, is an error. Static metas. */
bool inplace_check_overlap(VM *vm, const Op *op, const Arg *args, int nargs, const Tensor *self);
bool tensors_partly_overlap(const Tensor *a, const Tensor *b);                 /* dense both, some memory in common, and not element over element */
bool view_aliases(VM *vm, const Op *op, const Arg *args, int nargs, Meta *meta); /* a VIEW row: will a view do? fills strides and offset in */
enum ViewKind view_kind_now(VM *vm, const Op *op);
bool view_is_differentiable(const Op *op);
#endif
