/* Native: how objects whose insides belong to another folder take part in the language: torch.compile's wrapper, compiled graphs,
 * generators of random numbers, contexts of custom functions.
 *
 *     static const NativeType compiled_type = {.name = "OptimizedFunction", .call = compiled_call, .load_attr = compiled_attr, .free = compiled_free};
 *     vm_native_register(vm, OBJ_COMPILED, &compiled_type);      // once, before the first object of that type is made
 *     Object *o = object_new(vm, OBJ_COMPILED, sizeof(Compiled));
 *
 * Hooks that are NULL mean: no such ability; the VM raises Python's TypeError or AttributeError. Arguments are borrowed, results owned. */
#ifndef VITRINE_VM_NATIVE_H
#define VITRINE_VM_NATIVE_H
#include "vm/value.h"

typedef void (*ObjectVisit)(void *state, Value held);

typedef struct NativeType {
    const char *name;                                                     /* what type(x).__name__ says */
    const char *(*name_of)(const Object *self);                           /* the class's name where objects of one type differ in it (nodes of the tape) */
    const char *module;                                                   /* "torch._C", or NULL for builtins */
    Value (*call)(VM *vm, Object *self, Value *args, int nargs, Tuple *kwnames);
    Value (*load_attr)(VM *vm, Object *self, const char *name);           /* V_NULL: none */
    bool (*store_attr)(VM *vm, Object *self, const char *name, Value value); /* value V_NULL: delete. false: exception set */
    Value (*repr)(VM *vm, Object *self);
    int (*equal)(VM *vm, Object *a, Object *b);                           /* both of this type; 1, 0, -1 */
    void (*free)(VM *vm, Object *self);                                   /* what the struct holds, not the struct */
    void (*visit)(Object *self, ObjectVisit visit, void *state);          /* each Value held, once a reference: for the sweep of cycles */
    void (*clear)(VM *vm, Object *self);                                  /* drops held values that can close a cycle */
} NativeType;

void vm_native_register(VM *vm, ObjectType type, const NativeType *native);
#endif
