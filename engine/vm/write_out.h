/* out=: see write_out.c. */
#ifndef VITRINE_VM_WRITE_OUT_H
#define VITRINE_VM_WRITE_OUT_H
#include "vm/tensor.h"
#include "vm/vm.h"

/* Before the op runs: may `out` (a tensor, or a tuple of them) be written with what it makes of args? false: exception set. */
bool out_check(VM *vm, const Op *op, Value out, Value *args, int nargs);
/* With the arguments bound: may the dtype in which a pointwise row's operands meet be cast to the target's? PyTorch asks this before it looks for a kernel. */
bool out_check_cast(VM *vm, const Op *op, const Arg *bound, Value out);
/* Takes `result`; returns a new reference to `out`, whose tensors have its values. */
Value out_write(VM *vm, const Op *op, Value result, Value out);
#endif
