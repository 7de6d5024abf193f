/* Dispatch: from a call of an op in the language to the domain: binding, out=, autocast. */
#ifndef VITRINE_VM_DISPATCH_H
#define VITRINE_VM_DISPATCH_H
#include "vm/tensor.h"

enum { DISPATCH_MAX_PARAMS = 64 };

bool device_parse(VM *vm, const char *text, Device *device);          /* "cpu", "cuda", "cuda:1"; RuntimeError otherwise */
bool device_of_value(VM *vm, Value v, Device *device);                /* a device, its text, or a CUDA index */
bool dtype_of_value(VM *vm, Value v, DType *dtype);                    /* a torch.dtype, or Python's float, int, bool; false: neither (no exception) */
bool is_ignored_keyword(const char *name);                            /* layout=, pin_memory= … of creation functions: nothing here depends on them */
const Op *vm_find_op(VM *vm, const char *name);
Value vm_op_args(VM *vm, const char *name, const Arg *args, int nargs); /* a row by name, the first arguments given, defaults for the rest */
Value set_requires_grad_option(VM *vm, const Op *op, Value result, Value option); /* takes and gives result */
bool tensor_set_requires_grad(VM *vm, Tensor *t, bool requires_grad); /* leaves of floating dtype only; RuntimeError otherwise */
bool tensor_ask_requires_grad(VM *vm, Tensor *t);                       /* the same with True, where a constructor was asked for it: the domain may stop */
/* Autocast: casts floating arguments as PyTorch's lists of the device say. `replaced`: owned tensors to release after the call. */
typedef struct Casts { Value tensors[16]; int count; } Casts;
/* The same for a function of the library that runs as it is: casts its parameters in place. true: it has a rule, and must be left again. */
bool autocast_enter_leaf(VM *vm, const Op *op, Value *parameters, int count);
void autocast_leave_leaf(VM *vm);
bool autocast_is_on(const VM *vm);
bool autocast_has_rule(const VM *vm, const Op *op);                   /* for a device for which it is on */
bool autocast_apply(VM *vm, const Op *op, Arg *args, int nargs, Casts *casts, Arena *arena);
#endif
