/* Opcodes whose work is more than a line: called by the interpreter loop of vm.c. All leave the stack as it was when they fail. */
#ifndef VITRINE_VM_OPCODE_H
#define VITRINE_VM_OPCODE_H
#include "lang/bytecode.h"
#include "vm/internal.h"

const Value *vm_constants(VM *vm, const Code *code);                     /* the code's constants as values, made once */

/* names */
void opcode_unbound(VM *vm, const Code *code, int local);
bool opcode_load_name(VM *vm, Frame *frame, const char *name);
bool opcode_store_name(VM *vm, Frame *frame, const char *name);
bool opcode_delete_name(VM *vm, Dict *dict, const char *name);
Value opcode_load_global(VM *vm, Frame *frame, const char *name);
bool opcode_store_global(VM *vm, Frame *frame, const char *name, Value value);
bool opcode_delete_global(VM *vm, Frame *frame, const char *name);
Value opcode_load_cell(VM *vm, const Code *code, Value *fast, int local);
bool opcode_store_cell(VM *vm, Cell *cell, Value value);
bool opcode_delete_cell(VM *vm, const Code *code, Value *fast, int local);
Value opcode_load_from_dict(VM *vm, Frame *frame, const char *name, int cell); /* cell -1: globals behind the mapping on top */
void opcode_setup_annotations(VM *vm, Frame *frame);
void opcode_copy_free_vars(Frame *frame, int count);

/* attributes, items */
bool opcode_load_super_attr(VM *vm, Frame *frame, const char *name, bool method);
Value opcode_slice(VM *vm, Value container, Value start, Value stop);
bool opcode_store_slice(VM *vm, Frame *frame);

/* calls */
bool opcode_call(VM *vm, Frame *frame, int count);
Value opcode_star_list(VM *vm, Value callee, Value iterable);            /* of f(*iterable), owned; opcode_build.c */
bool opcode_call_ex(VM *vm, Frame *frame, int flags);
Value opcode_intrinsic(VM *vm, Frame *frame, int which, Value v);
bool opcode_make_function(VM *vm, Frame *frame, int flags);

/* building */
void opcode_build_tuple(VM *vm, Frame *frame, int count);
void opcode_build_list(VM *vm, Frame *frame, int count);
Value opcode_build_map(VM *vm, const Value *pairs, int count);
Value opcode_build_const_map(VM *vm, const Value *values, int count);
Value opcode_build_string(VM *vm, const Value *parts, int count);
Value opcode_format(VM *vm, int flags, const Value *operands);
/* What LIST_APPEND and its like grow: made by the same expression, but perhaps in a frame before (a break stood between); NULL: an error, or the domain stops. */
static inline void *opcode_grown(VM *vm, Value container) {
    container = vm_force(vm, container);
    return !value_is_error(container) && vm_mutate(vm, container.o) ? container.o : NULL;
}
bool opcode_list_extend(VM *vm, Frame *frame, int depth);
bool opcode_dict_update(VM *vm, Frame *frame, int depth);
bool opcode_dict_merge(VM *vm, Frame *frame, int depth);
bool opcode_unpack(VM *vm, Frame *frame, int count);
bool opcode_unpack_ex(VM *vm, Frame *frame, int before, int after);

/* generators */
Value opcode_yield_from_iterator(VM *vm, Value iterable);
Value opcode_send(VM *vm, Value receiver, Value sent, bool *returned);
bool opcode_cleanup_throw(VM *vm, Frame *frame);                         /* false: the exception is pending again */

/* imports */
Value opcode_import_name(VM *vm, const char *name, Value level, Value names, Span span);
Value opcode_import_from(VM *vm, Value module, const char *name, Span span);

/* exceptions, with */
bool opcode_raise(VM *vm, Frame *frame, int count);                      /* sets the exception; true: a bare raise, without a new traceback entry */
int opcode_exception_matches(VM *vm, Value exception, Value wanted);
bool opcode_before_with(VM *vm, Frame *frame);
Value opcode_call_exit(VM *vm, Value exit, Value exception);
#endif
