/* Between the files of tensor attributes, methods and the torch modules. */
#ifndef VITRINE_VM_TENSOR_METHOD_H
#define VITRINE_VM_TENSOR_METHOD_H
#include "vm/tensor.h"

void tensor_attributes_init(VM *vm);
void tensor_methods_init(VM *vm);
void tensor_specials_init(VM *vm);                                    /* x.__add__ and its like; tensor_special.c */
extern const BuiltinDef tensor_become_methods[];                      /* x.unsqueeze_(0), x.resize_(…); tensor_become.c. Ends with a NULL name */
Value tensor_method_find(VM *vm, const char *name);                   /* borrowed; V_NULL: none */
Value size_new(VM *vm, const Dim *dims, int count);                   /* torch.Size; owned */
Value builtin_bind(VM *vm, Builtin *builtin, Value self);             /* attr.c */
Value torch_attribute(VM *vm, const char *name);                      /* torch.NAME; borrowed, V_NULL when absent */
/* A tensor, or a sequence of tensors; `what` for the TypeError. */
typedef struct TensorList { Tensor **at; int count, capacity; } TensorList;
bool tensor_list_read(VM *vm, Value v, const char *what, TensorList *out);
/* backward from several roots; inputs (a value, V_NULL or None: all leaves): only their .grad is added to. */
bool autograd_backward(VM *vm, Tensor **roots, Tensor **gradients, int count, Value inputs, bool retain_graph, bool create_graph);
/* The arguments of t.to(…): dtype, device, another tensor, copy=, memory_format=; V_NULL where not given (borrowed). */
typedef struct ToArguments { Value dtype, device, copy, memory_format; } ToArguments;
bool parse_to_arguments(VM *vm, Value *args, int nargs, Tuple *kwnames, ToArguments *out);
#endif
