/* Between recording (autograd_record.c), in-place ops and views (autograd_inplace.c) and the domains. */
#ifndef VITRINE_VM_AUTOGRAD_RECORD_H
#define VITRINE_VM_AUTOGRAD_RECORD_H
#include "vm/autograd.h"

bool autograd_needed(VM *vm, const Arg *args, int nargs);                      /* grad mode is on and some argument needs a gradient */
/* An in-place op whose needed formulas read its first parameter: its value before the op must be kept. */
bool autograd_reads_original(VM *vm, const Op *op, const Arg *args, int nargs);
/* The node of an op that ran, with what it saves, attached to nothing. original: first argument's value before an in-place op, or NULL.
 * NULL: no formula is needed, or an exception is set. Owned. */
GradNode *autograd_node_of_op(VM *vm, const Op *op, const Arg *args, int nargs, Value result, Tensor *original);
/* After an in-place op on `self` (args[0]): the version is counted already. */
bool autograd_record_inplace(VM *vm, const Op *op, const Arg *args, int nargs, Tensor *self, Tensor *original);
Arg arg_of_value(VM *vm, Value v, Arena *arena);                               /* by its type alone; ARG_OBJECT when it is nothing an Arg knows */
#endif
