/* Modules of the standard library that are written in C: each function fills the namespace of one. */
#ifndef VITRINE_VM_MODULES_H
#define VITRINE_VM_MODULES_H
#include "vm/methods.h"

void module_math(VM *vm, Dict *dict);
void module_time(VM *vm, Dict *dict);
void module_random(VM *vm, Dict *dict);
void module_sys(VM *vm, Dict *dict);
void module_itertools(VM *vm, Dict *dict);
void module_collections(VM *vm, Dict *dict);
void module_support(VM *vm, Dict *dict); /* _support: what the files of engine/torch/stdlib need beyond the language */

static inline void module_set(VM *vm, Dict *dict, const char *name, Value owned) {
    dict_set_name(vm, dict, vm_intern(vm, name), owned);
    value_unref(vm, owned);
}
bool vm_number(VM *vm, Value v, double *out); /* float(v): numbers, tensors of one element, __float__; TypeError otherwise */
#endif
