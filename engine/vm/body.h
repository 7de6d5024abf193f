/* Running the language-side body of a row in the current domain. */
#ifndef VITRINE_VM_BODY_H
#define VITRINE_VM_BODY_H
#include "vm/formula.h"

/* Does the row run as its body (a composite, a decomposition, a row without a kernel of its own)? */
bool op_runs_body(const Op *op);
/* Is the row itself what the tape records (then its body runs with gradients off)? */
bool op_records_itself(const Op *op);
Value op_call_function(VM *vm, const Op *op, Object *body, const Arg *args, int nargs); /* owned: the body given, one value for each parameter */
Value op_call_body(VM *vm, const Op *op, const Arg *args, int nargs);                 /* owned */
Value op_call_body_without_grad(VM *vm, const Op *op, const Arg *args, int nargs);
#endif
