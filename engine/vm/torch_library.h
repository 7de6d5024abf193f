/* The torch package: its C parts by module, and the loading of the parts that are written in the language (engine/torch/). */
#ifndef VITRINE_VM_TORCH_LIBRARY_H
#define VITRINE_VM_TORCH_LIBRARY_H
#include "vm/tensor.h"

void torch_state_make(VM *vm);                                   /* VM.torch; nothing when it is there */
/* A module of the package, in C or in the language; borrowed. NULL: no such module (no exception), or an exception is set. */
ModuleObject *torch_module(VM *vm, const char *dotted_name);
bool torch_allows_tf32(VM *vm);                                   /* for matmuls of float32 on CUDA */
bool torch_has_module(VM *vm, const char *dotted_name);
/* functional.py and tensor.py: their functions become composite ops, methods, names of torch. Once; false: exception set. */
bool torch_library_load(VM *vm);
bool torch_library_load_further(VM *vm);                         /* functional/further.py, whose functions few programs ask for */
Value torch_function(VM *vm, const char *name);                  /* a function of theirs that is also torch.NAME; borrowed, V_NULL */

/* Each fills one module in C. */
void torch_define_root(VM *vm, Dict *dict);
void torch_define_creation(VM *vm, Dict *dict);
void torch_define_settings(VM *vm, Dict *dict);
void torch_define_native(VM *vm, Dict *dict);                    /* torch._C */
void torch_define_autograd(VM *vm, Dict *dict);                  /* into torch._C, too */
void torch_define_random(VM *vm, Dict *dict);
void torch_random_init(VM *vm);
Generator *generator_argument(const Arg *arg);                   /* of a row's `generator` parameter; NULL: the default one */
void torch_define_cuda(VM *vm, Dict *dict);
void torch_define_classes(VM *vm);                               /* torch.device(…), torch.Size(…), Parameter(…) */
Value function_apply_call(VM *vm, Value *args, int nargs, Tuple *kwnames);
Value tensor_detach_inplace(VM *vm, Tensor *t);

static inline void define_value(VM *vm, Dict *dict, const char *name, Value owned) {
    dict_set_name(vm, dict, intern(vm->lang->names, name), owned);
    value_unref(vm, owned);
}
#endif
