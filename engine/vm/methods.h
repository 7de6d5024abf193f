/* Methods: tables of builtins that end with a NULL name, and short forms for writing them. */
#ifndef VITRINE_VM_METHODS_H
#define VITRINE_VM_METHODS_H
#include "vm/internal.h"

#define METHOD VM *vm, Value *args, int nargs, Tuple *kwnames
#define UNUSED ((void)vm, (void)args, (void)nargs, (void)kwnames)
enum { PLAIN = BUILTIN_METHOD | BUILTIN_POSITIONAL, CHANGES = BUILTIN_METHOD | BUILTIN_POSITIONAL | BUILTIN_MUTATES };

enum { SET_CHANGERS = 10 /* rows at the head of set_methods that a frozenset has not */ };

extern const BuiltinDef str_methods[], list_methods[], tuple_methods[], dict_methods[], set_methods[], generator_methods[], range_methods[],
    number_methods[], float_methods[], iterator_methods[], slice_methods[], type_constructors[], object_methods[];
extern const BuiltinDef special_text[], special_sequence[], special_mutable[], special_set[], special_number[];
extern const BuiltinDef builtin_functions[], builtin_iterators[], builtin_objects[];
Value builtin_exit(METHOD);
Value float_hex(METHOD), float_fromhex(METHOD);                          /* float_hex.c */
void vm_define_table(VM *vm, Dict *dict, const char *qualifier, const BuiltinDef *defs);
void vm_define_methods(VM *vm, Class *cls, const BuiltinDef *defs, int count); /* of a class in C: self is checked to be an instance */
#endif
