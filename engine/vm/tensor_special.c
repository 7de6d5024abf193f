/* Special methods of tensors by name, and methods taken from the class: x.__add__(1), torch.Tensor.__repr__, torch.Tensor.relu(x).
 *
 * Each is the protocol function of the VM applied to the tensor. They stand in the dict of the class Tensor, where Parameter inherits them.
 * To add one: a function or an OPERATOR line here, a row in `specials`. */
#include "lang/bytecode.h"
#include "vm/methods.h"
#include "vm/tensor_method.h"
#include "vm/tensor_protocol.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"

#define OPERATOR(name, op) \
    static Value special_##name(METHOD) { UNUSED; return tensor_binary(vm, op, args[0], vm_force(vm, args[1])); }
#define REFLECTED(name, op) \
    static Value special_r##name(METHOD) { UNUSED; return tensor_binary(vm, op, vm_force(vm, args[1]), args[0]); }
#define IN_PLACE(name, op) \
    static Value special_i##name(METHOD) { UNUSED; return tensor_binary(vm, op + BINARY_INPLACE, args[0], vm_force(vm, args[1])); }
#define ALL_THREE(name, op) OPERATOR(name, op) REFLECTED(name, op) IN_PLACE(name, op)
ALL_THREE(add, BINARY_ADD) ALL_THREE(sub, BINARY_SUBTRACT) ALL_THREE(mul, BINARY_MULTIPLY) ALL_THREE(truediv, BINARY_TRUE_DIVIDE)
ALL_THREE(floordiv, BINARY_FLOOR_DIVIDE) ALL_THREE(mod, BINARY_REMAINDER) ALL_THREE(pow, BINARY_POWER) ALL_THREE(and, BINARY_AND) ALL_THREE(or, BINARY_OR)
ALL_THREE(xor, BINARY_XOR) ALL_THREE(lshift, BINARY_LSHIFT) ALL_THREE(rshift, BINARY_RSHIFT)
OPERATOR(matmul, BINARY_MATRIX_MULTIPLY) REFLECTED(matmul, BINARY_MATRIX_MULTIPLY)

#define COMPARISON(name, op) \
    static Value special_##name(METHOD) { UNUSED; return tensor_compare(vm, op, args[0], vm_force(vm, args[1])); }
COMPARISON(eq, COMPARE_EQ) COMPARISON(ne, COMPARE_NE) COMPARISON(lt, COMPARE_LT) COMPARISON(le, COMPARE_LE) COMPARISON(gt, COMPARE_GT) COMPARISON(ge, COMPARE_GE)

static Value special_neg(METHOD) { UNUSED; return tensor_unary(vm, "neg", args[0]); }
static Value special_pos(METHOD) { UNUSED; return tensor_unary(vm, "pos", args[0]); }
static Value special_abs(METHOD) { UNUSED; return tensor_unary(vm, "abs", args[0]); }
static Value special_invert(METHOD) { UNUSED; return tensor_unary(vm, "invert", args[0]); }
static Value special_iter(METHOD) { UNUSED; return tensor_iterate(vm, tensor_of(args[0])); }
static Value special_getitem(METHOD) { UNUSED; return vm_subscript(vm, args[0], args[1]); }
static Value special_setitem(METHOD) { UNUSED; return vm_store_subscript(vm, args[0], args[1], args[2]) ? VALUE_NONE : VALUE_ERROR; }
static Value special_contains(METHOD) {
    UNUSED;
    int found = tensor_contains(vm, tensor_of(args[0]), args[1]);
    return found < 0 ? VALUE_ERROR : value_bool(found);
}
static Value special_int(METHOD) { UNUSED; return vm_call(vm, value_object(vm->class_int), args, 1, NULL); }
static Value special_float(METHOD) { UNUSED; return vm_call(vm, value_object(vm->class_float), args, 1, NULL); }
static Value special_repr(METHOD) { UNUSED; return vm_repr(vm, args[0]); }
static Value special_format(METHOD) {
    UNUSED;
    return value_is(args[1], OBJ_STR) ? tensor_format(vm, tensor_of(args[0]), str_text(args[1])) : vm_raise(vm, "TypeError", "__format__() argument must be str");
}
static Value special_hash(METHOD) {
    UNUSED;
    uint64_t hash;
    return vm_hash(vm, args[0], &hash) ? value_int((int64_t)hash) : VALUE_ERROR;
}

#define BINARY_NAMES(name) {"__" #name "__", special_##name, 2, 2, PLAIN}, {"__r" #name "__", special_r##name, 2, 2, PLAIN}, {"__i" #name "__", special_i##name, 2, 2, CHANGES}
static const BuiltinDef specials[] = {
    BINARY_NAMES(add), BINARY_NAMES(sub), BINARY_NAMES(mul), BINARY_NAMES(truediv), BINARY_NAMES(floordiv), BINARY_NAMES(mod), BINARY_NAMES(pow), BINARY_NAMES(and),
    BINARY_NAMES(or), BINARY_NAMES(xor), BINARY_NAMES(lshift), BINARY_NAMES(rshift), {"__matmul__", special_matmul, 2, 2, PLAIN}, {"__rmatmul__", special_rmatmul, 2, 2, PLAIN},
    {"__eq__", special_eq, 2, 2, PLAIN}, {"__ne__", special_ne, 2, 2, PLAIN}, {"__lt__", special_lt, 2, 2, PLAIN}, {"__le__", special_le, 2, 2, PLAIN},
    {"__gt__", special_gt, 2, 2, PLAIN}, {"__ge__", special_ge, 2, 2, PLAIN}, {"__neg__", special_neg, 1, 1, PLAIN}, {"__pos__", special_pos, 1, 1, PLAIN},
    {"__abs__", special_abs, 1, 1, PLAIN}, {"__invert__", special_invert, 1, 1, PLAIN}, {"__iter__", special_iter, 1, 1, PLAIN}, {"__getitem__", special_getitem, 2, 2, PLAIN},
    {"__setitem__", special_setitem, 3, 3, CHANGES}, {"__contains__", special_contains, 2, 2, PLAIN}, {"__int__", special_int, 1, 1, PLAIN}, {"__index__", special_int, 1, 1, PLAIN},
    {"__float__", special_float, 1, 1, PLAIN}, {"__repr__", special_repr, 1, 1, PLAIN}, {"__format__", special_format, 2, 2, PLAIN}, {"__hash__", special_hash, 1, 1, PLAIN},
};

void tensor_specials_init(VM *vm) { vm_define_methods(vm, vm->classes[OBJ_TENSOR], specials, COUNT_OF(specials)); }

Value tensor_class_attr(VM *vm, const char *name) {
    Value method = tensor_method_find(vm, name);
    return method.tag == V_NULL || value_is_error(method) ? method : value_ref(method);
}
