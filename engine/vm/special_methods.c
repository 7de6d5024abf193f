/* Special methods of the builtin types by name: [].__len__(), int.__add__, super().__getitem__(key) in a subclass of dict.
 *
 * Each is the protocol function of the VM applied to the (unwrapped) builtin value, so that instances of subclasses of builtins find
 * inherited behaviour by ordinary lookup.
 * To add one: a function or an OPERATOR line here, a row in one of the tables. */
#include "vm/methods.h"
#include <math.h>
#include <stdlib.h>

static Value special_len(METHOD) {
    UNUSED;
    int64_t n = vm_length(vm, args[0]);
    return n < 0 ? VALUE_ERROR : value_int(n);
}

static Value special_iter(METHOD) { UNUSED; return vm_iterate(vm, args[0]); }
static Value special_getitem(METHOD) { UNUSED; return vm_subscript(vm, args[0], args[1]); }
static Value special_setitem(METHOD) { UNUSED; return vm_store_subscript(vm, args[0], args[1], args[2]) ? VALUE_NONE : VALUE_ERROR; }
static Value special_delitem(METHOD) { UNUSED; return vm_delete_subscript(vm, args[0], args[1]) ? VALUE_NONE : VALUE_ERROR; }

static Value special_contains(METHOD) {
    UNUSED;
    int found = vm_contains(vm, args[0], args[1]);
    return found < 0 ? VALUE_ERROR : value_bool(found);
}

static Value special_repr(METHOD) { UNUSED; return vm_repr(vm, args[0]); }
static Value special_str(METHOD) { UNUSED; return vm_str(vm, args[0]); }

static Value special_hash(METHOD) {
    UNUSED;
    uint64_t hash;
    return vm_hash(vm, args[0], &hash) ? value_int((int64_t)hash) : VALUE_ERROR;
}

static Value special_bool(METHOD) {
    UNUSED;
    int truth = vm_truth(vm, args[0]);
    return truth < 0 ? VALUE_ERROR : value_bool(truth);
}

static Value special_format(METHOD) {
    UNUSED;
    if (!value_is(args[1], OBJ_STR)) return vm_raise(vm, "TypeError", "__format__() argument must be str");
    return vm_format(vm, args[0], str_text(args[1]), str_of(args[1])->length);
}

static bool comparable(Value a, Value b) {
    if (value_is_number(a)) return value_is_number(b);
    return b.tag == V_OBJECT && a.tag == V_OBJECT && a.o->type == b.o->type;
}

#define COMPARISON(name, op)                                                                \
    static Value special_##name(METHOD) {                                                   \
        UNUSED;                                                                             \
        Value b = vm_unwrap(args[1]);                                                       \
        if (!comparable(args[0], b)) return (Value){.tag = V_NOTIMPLEMENTED};               \
        return vm_compare(vm, op, args[0], b);                                              \
    }
COMPARISON(eq, COMPARE_EQ)
COMPARISON(ne, COMPARE_NE)
COMPARISON(lt, COMPARE_LT)
COMPARISON(le, COMPARE_LE)
COMPARISON(gt, COMPARE_GT)
COMPARISON(ge, COMPARE_GE)

/* NotImplemented where the other operand is of a kind that the left one does not know: the reflected method is tried next. */
static Value operate(VM *vm, int op, Value a, Value b) {
    b = vm_unwrap(b);
    if (value_is_number(a) && !value_is_number(b)) return (Value){.tag = V_NOTIMPLEMENTED};
    if (value_is(b, OBJ_INSTANCE) || value_is(b, OBJ_TENSOR)) return (Value){.tag = V_NOTIMPLEMENTED};
    return vm_binary(vm, op, a, b);
}

#define OPERATOR(name, op)                                                              \
    static Value special_##name(METHOD) { UNUSED; return operate(vm, op, args[0], args[1]); }
#define REFLECTED(name, op)                                                             \
    static Value special_r##name(METHOD) {                                              \
        UNUSED;                                                                         \
        Value other = vm_unwrap(args[1]);                                               \
        return value_is_number(other) ? vm_binary(vm, op, other, args[0]) : (Value){.tag = V_NOTIMPLEMENTED}; \
    }
OPERATOR(add, BINARY_ADD) REFLECTED(add, BINARY_ADD)
OPERATOR(sub, BINARY_SUBTRACT) REFLECTED(sub, BINARY_SUBTRACT)
OPERATOR(mul, BINARY_MULTIPLY) REFLECTED(mul, BINARY_MULTIPLY)
OPERATOR(truediv, BINARY_TRUE_DIVIDE) REFLECTED(truediv, BINARY_TRUE_DIVIDE)
OPERATOR(floordiv, BINARY_FLOOR_DIVIDE) REFLECTED(floordiv, BINARY_FLOOR_DIVIDE)
OPERATOR(mod, BINARY_REMAINDER) REFLECTED(mod, BINARY_REMAINDER)
OPERATOR(pow, BINARY_POWER) REFLECTED(pow, BINARY_POWER)
OPERATOR(and, BINARY_AND) OPERATOR(or, BINARY_OR) OPERATOR(xor, BINARY_XOR)
OPERATOR(iadd, BINARY_ADD + BINARY_INPLACE) OPERATOR(ior, BINARY_OR + BINARY_INPLACE)

static Value special_neg(METHOD) { UNUSED; return vm_unary(vm, "neg", args[0]); }
static Value special_pos(METHOD) { UNUSED; return vm_unary(vm, "pos", args[0]); }
static Value special_abs(METHOD) { UNUSED; return vm_unary(vm, "abs", args[0]); }
static Value special_int(METHOD) { UNUSED; return vm_call1(vm, value_object(vm->class_int), args[0]); }
static Value special_float(METHOD) { UNUSED; return vm_call1(vm, value_object(vm->class_float), args[0]); }
static Value special_round(METHOD) { UNUSED; return number_round(vm, args[0], nargs > 1 ? args[1] : VALUE_NONE); }

static Value int_bit_length(METHOD) {
    UNUSED;
    int64_t i = integer_of(args[0]);
    uint64_t magnitude = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    return value_int(magnitude ? 64 - __builtin_clzll(magnitude) : 0);
}

static Value int_bit_count(METHOD) {
    UNUSED;
    int64_t i = integer_of(args[0]);
    return value_int(__builtin_popcountll(i < 0 ? 0 - (uint64_t)i : (uint64_t)i));
}

static Value number_is_integer(METHOD) {
    UNUSED;
    return value_bool(args[0].tag != V_FLOAT || (isfinite(args[0].f) && floor(args[0].f) == args[0].f));
}

static Value number_conjugate(METHOD) { UNUSED; return args[0].tag == V_BOOL ? value_int(args[0].b) : args[0]; }

static Value float_as_integer_ratio(METHOD) {
    UNUSED;
    int exponent;
    if (!isfinite(args[0].f)) return vm_raise(vm, isnan(args[0].f) ? "ValueError" : "OverflowError", "cannot convert %s to integer ratio", isnan(args[0].f) ? "NaN" : "Infinity");
    double m = frexp(args[0].f, &exponent);
    for (int i = 0; i < 300 && m != floor(m); i++) m *= 2, exponent--;
    if (abs(exponent) > 62 || fabs(m) >= 9.2e18) return vm_raise(vm, "OverflowError", "integer overflow in as_integer_ratio(): the result does not fit 64 bits");
    int64_t top = (int64_t)m, bottom = 1;
    if (exponent >= 0 && __builtin_mul_overflow(top, INT64_C(1) << exponent, &top)) return vm_raise(vm, "OverflowError", "integer overflow in as_integer_ratio(): the result does not fit 64 bits");
    if (exponent < 0) bottom = INT64_C(1) << -exponent;
    return tuple_new(vm, (Value[]){value_int(top), value_int(bottom)}, 2);
}

#define COMPARISONS {"__eq__", special_eq, 2, 2, PLAIN}, {"__ne__", special_ne, 2, 2, PLAIN}, {"__lt__", special_lt, 2, 2, PLAIN}, \
    {"__le__", special_le, 2, 2, PLAIN}, {"__gt__", special_gt, 2, 2, PLAIN}, {"__ge__", special_ge, 2, 2, PLAIN}
#define TEXTS {"__repr__", special_repr, 1, 1, PLAIN}
#define CONTAINER {"__len__", special_len, 1, 1, PLAIN}, {"__iter__", special_iter, 1, 1, PLAIN}, {"__contains__", special_contains, 2, 2, PLAIN}

const BuiltinDef special_text[] = { /* str and numbers */
    {"__str__", special_str, 1, 1, PLAIN}, {"__format__", special_format, 2, 2, PLAIN}, {NULL, NULL, 0, 0, 0},
};

const BuiltinDef special_sequence[] = { /* str, tuple, range */
    CONTAINER, COMPARISONS, TEXTS, {"__getitem__", special_getitem, 2, 2, PLAIN}, {"__hash__", special_hash, 1, 1, PLAIN},
    {"__add__", special_add, 2, 2, PLAIN}, {"__mul__", special_mul, 2, 2, PLAIN}, {"__rmul__", special_rmul, 2, 2, PLAIN}, {"__mod__", special_mod, 2, 2, PLAIN}, {NULL, NULL, 0, 0, 0},
};

const BuiltinDef special_mutable[] = { /* list, dict */
    CONTAINER, COMPARISONS, TEXTS, {"__getitem__", special_getitem, 2, 2, PLAIN}, {"__setitem__", special_setitem, 3, 3, CHANGES},
    {"__delitem__", special_delitem, 2, 2, CHANGES}, {"__add__", special_add, 2, 2, PLAIN}, {"__iadd__", special_iadd, 2, 2, CHANGES},
    {"__mul__", special_mul, 2, 2, PLAIN}, {"__rmul__", special_rmul, 2, 2, PLAIN}, {"__or__", special_or, 2, 2, PLAIN}, {"__ior__", special_ior, 2, 2, CHANGES},
    {NULL, NULL, 0, 0, 0},
};

const BuiltinDef special_set[] = {
    CONTAINER, COMPARISONS, TEXTS, {"__and__", special_and, 2, 2, PLAIN}, {"__or__", special_or, 2, 2, PLAIN}, {"__xor__", special_xor, 2, 2, PLAIN},
    {"__sub__", special_sub, 2, 2, PLAIN}, {NULL, NULL, 0, 0, 0},
};

const BuiltinDef special_number[] = {
    COMPARISONS, TEXTS, {"__hash__", special_hash, 1, 1, PLAIN}, {"__bool__", special_bool, 1, 1, PLAIN}, {"__int__", special_int, 1, 1, PLAIN},
    {"__float__", special_float, 1, 1, PLAIN}, {"__neg__", special_neg, 1, 1, PLAIN}, {"__pos__", special_pos, 1, 1, PLAIN}, {"__abs__", special_abs, 1, 1, PLAIN},
    {"__round__", special_round, 1, 2, PLAIN}, {"__add__", special_add, 2, 2, PLAIN}, {"__radd__", special_radd, 2, 2, PLAIN},
    {"__sub__", special_sub, 2, 2, PLAIN}, {"__rsub__", special_rsub, 2, 2, PLAIN}, {"__mul__", special_mul, 2, 2, PLAIN}, {"__rmul__", special_rmul, 2, 2, PLAIN},
    {"__truediv__", special_truediv, 2, 2, PLAIN}, {"__rtruediv__", special_rtruediv, 2, 2, PLAIN}, {"__floordiv__", special_floordiv, 2, 2, PLAIN},
    {"__rfloordiv__", special_rfloordiv, 2, 2, PLAIN}, {"__mod__", special_mod, 2, 2, PLAIN}, {"__rmod__", special_rmod, 2, 2, PLAIN},
    {"__pow__", special_pow, 2, 2, PLAIN}, {"__rpow__", special_rpow, 2, 2, PLAIN}, {"is_integer", number_is_integer, 1, 1, PLAIN}, {"conjugate", number_conjugate, 1, 1, PLAIN},
    {NULL, NULL, 0, 0, 0},
};

static Value int_as_integer_ratio(METHOD) { UNUSED; return tuple_new(vm, (Value[]){value_int(integer_of(args[0])), value_int(1)}, 2); }

const BuiltinDef number_methods[] = { /* int and bool */
    {"as_integer_ratio", int_as_integer_ratio, 1, 1, PLAIN},
    {"bit_length", int_bit_length, 1, 1, PLAIN}, {"bit_count", int_bit_count, 1, 1, PLAIN}, {"__index__", special_int, 1, 1, PLAIN}, {"__trunc__", special_int, 1, 1, PLAIN},
    {"__and__", special_and, 2, 2, PLAIN}, {"__or__", special_or, 2, 2, PLAIN}, {"__xor__", special_xor, 2, 2, PLAIN}, {NULL, NULL, 0, 0, 0},
};

const BuiltinDef float_methods[] = {
    {"as_integer_ratio", float_as_integer_ratio, 1, 1, PLAIN}, {"hex", float_hex, 1, 1, PLAIN}, {"fromhex", float_fromhex, 2, 2, BUILTIN_POSITIONAL | BUILTIN_CLASSMETHOD}, {NULL, NULL, 0, 0, 0},
};
