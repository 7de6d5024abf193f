/* The seam between the VM core and tensors: what the core calls when a value is a tensor, an op, a symbolic integer, a dtype or a device.
 *
 *     BINARY_OP with a tensor on either side  ->  tensor_binary(vm, BINARY_ADD, a, b)
 *     t.shape, t.sum (as an attribute)        ->  tensor_load_attr(vm, t, name)
 *     import torch                            ->  torch_module_init(vm)
 *
 * Arguments are borrowed and already forced; results are owned. VALUE_ERROR: an exception is pending (or capture gave up).
 * V_NOTIMPLEMENTED: the tensor side does not take this operand; the core then raises Python's TypeError.
 * Defined in vm/tensor*.c, autograd.c, torch_*.c, with vm_bind_op, vm_call_op and value_of_arg. (The core has dtype_new, device_new, sym_new,
 * op_object_new, vm_raise_op_error, and the classes Tensor, Parameter, Size, dtype, device: vm->classes[OBJ_TENSOR], class_parameter, …) Objects of other layers (OBJ_COMPILED, OBJ_GRAPH, OBJ_OPAQUE, OBJ_RNG …) come in by
 * vm_native_register() of vm/native.h instead. */
#ifndef VITRINE_VM_TENSOR_PROTOCOL_H
#define VITRINE_VM_TENSOR_PROTOCOL_H
#include "vm/native.h"
#include "vm/tensor.h"

/* Operators. binary_op is a BinaryOp, with BINARY_INPLACE added for augmented assignment; either operand is a tensor. */
Value tensor_binary(VM *vm, int binary_op, Value a, Value b);
Value tensor_compare(VM *vm, CompareOp op, Value a, Value b);
/* what: "neg" "pos" "invert" "abs" "round" "floor" "ceil" "trunc". */
Value tensor_unary(VM *vm, const char *what, Value tensor);
int tensor_truth(VM *vm, Tensor *tensor);                                /* concrete: one element; 1, 0, -1. The domain's hook goes first */
int64_t tensor_length(VM *vm, Tensor *tensor);                           /* -1: TypeError of a 0-d tensor */
Value tensor_iterate(VM *vm, Tensor *tensor);                            /* an iterator (or a tuple's) over the first dimension */
int tensor_contains(VM *vm, Tensor *tensor, Value item);                 /* 1, 0, -1 */
Value tensor_format(VM *vm, Tensor *tensor, const char *spec);           /* f"{t:.3f}": as PyTorch's __format__ */
Value tensor_repr(VM *vm, Tensor *tensor);                               /* a str */

/* Attributes and methods. A method comes back bound (OBJ_METHOD or OBJ_BUILTIN with self). V_NULL: no such attribute. */
Value tensor_load_attr(VM *vm, Tensor *tensor, const char *name);
Value tensor_class_attr(VM *vm, const char *name);                       /* torch.Tensor.add: a method, unbound. V_NULL: none */
bool tensor_store_attr(VM *vm, Tensor *tensor, const char *name, Value value); /* value V_NULL: delete */
Value dtype_load_attr(VM *vm, DType dtype, const char *name);            /* V_NULL: none */
Value device_load_attr(VM *vm, Device device, const char *name);
Value size_load_attr(VM *vm, Tuple *size, const char *name);             /* torch.Size beyond a tuple's: numel; V_NULL: none */
Value dtype_repr(VM *vm, DType dtype);                                   /* torch.float32 */
Value device_repr(VM *vm, Device device, bool quoted);                   /* repr: device(type='cpu'), str: cpu */

/* Symbolic integers (OBJ_SYM): either operand is one. The results may be OBJ_SYM, plain numbers or booleans (guarded by the domain). */
Value sym_binary(VM *vm, int binary_op, Value a, Value b);
Value sym_compare(VM *vm, CompareOp op, Value a, Value b);
Value sym_unary(VM *vm, const char *what, Value sym);
Value sym_choose(VM *vm, Value a, Value b, bool greatest);               /* min(a, b), max(a, b) */
Value sym_of_size(VM *vm, Dim dim);                                      /* read from a tensor's sizes, strides … */
int sym_truth(VM *vm, Value sym);                                        /* 1, 0, -1 */
bool sym_as_int(VM *vm, Value sym, int64_t *out);                        /* specializes; false: error */

/* Objects' insides: free what the struct holds (not the struct itself); show every Value and Object held to the sweep of cycles. */
void tensor_free(VM *vm, Tensor *tensor);
void tensor_visit(Tensor *tensor, ObjectVisit visit, void *state);
void tensor_clear(VM *vm, Tensor *tensor);                               /* drops what can close a cycle: hooks, dict, grad, grad_fn */

/* The torch package: its C parts. Language parts (torch/nn.py …) are found by vm_import. Called once, at the first import. */
Value torch_module_init(VM *vm);
/* A submodule that has C parts ("torch.autograd", "torch.cuda"): a module, or V_NULL when the name has no C part. */
Value torch_submodule_init(VM *vm, const char *dotted_name);
#endif
