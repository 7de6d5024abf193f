/* out=: see write_out.c. */
#ifndef VITRINE_VM_WRITE_OUT_H
#define VITRINE_VM_WRITE_OUT_H
#include "vm/tensor.h"
#include "vm/vm.h"

/* Before the op runs: may `out` (a tensor, or a tuple of them) be written with what it makes of args? false: exception set. */
bool out_check(VM *vm, const Op *op, Value out, Value *args, int nargs);
/* Takes `result`; returns a new reference to `out`, whose tensors have its values. */
Value out_write(VM *vm, const Op *op, Value result, Value out);
#endif
