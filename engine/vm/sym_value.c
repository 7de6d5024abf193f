/* Symbolic integers as values of the language: arithmetic builds Dims, questions are decided by the domain.
 *
 *     n = x.shape[0]              # OBJ_SYM s0
 *     n // 2 + 1                  # OBJ_SYM s0//2 + 1
 *     if n % 2 == 0: ...          # domain->decide(s0 % 2 == 0): true under the hint, and guarded
 *
 * What has no symbolic form (true division, bit operations, use as a list's index) specializes: domain->specialize gives the plain value.
 * Invariant: a comparison gives a plain bool; a result that is a plain integer is a plain int. */
#include "vm/tensor_protocol.h"
#include <string.h>

/* The result of arithmetic, which the domain may note. */
static Value computed(VM *vm, const char *spelled, Value a, Value b, Dim result) {
    Value operands[] = {a, b};
    if (vm->domain->number) vm->domain->number(vm, spelled, operands, b.tag == V_NULL ? 1 : 2, result);
    return sym_new(vm, result);
}

static bool dim_of_value(Value v, Dim *dim) {
    if (value_is(v, OBJ_SYM)) *dim = ((SymObject *)v.o)->dim;
    else if (v.tag == V_INT) *dim = v.i;
    else if (v.tag == V_BOOL) *dim = v.b;
    else return false;
    return true;
}

static bool dim_as_int(VM *vm, Dim dim, int64_t *out) {
    if (dim_is_int(dim)) { *out = dim; return true; }
    if (vm->domain->specialize) return vm->domain->specialize(vm, dim, out);
    *out = dim_specialize(dim, "Python needs it as a plain number");
    return true;
}

bool sym_as_int(VM *vm, Value sym, int64_t *out) { return dim_as_int(vm, ((SymObject *)sym.o)->dim, out); }

static void note_computed(VM *vm) {
    if (vm->domain->computed) vm->domain->computed(vm);
}

static int dim_truth(VM *vm, Dim relation) {
    if (dim_is_int(relation)) return relation != 0;
    if (vm->domain->decide) return vm->domain->decide(vm, relation);
    return dim_decide(relation);
}

int sym_truth(VM *vm, Value sym) {
    Dim dim = ((SymObject *)sym.o)->dim;
    bool relation = !dim_is_int(dim) && dim_sym(dim)->kind >= SYM_EQ;
    return dim_truth(vm, relation ? dim : dim_relation(vm->context.syms, SYM_NE, dim, 0));
}

/* A plain number in place of a symbolic one; other values stay. V_ERROR when the domain refuses. */
static Value plain(VM *vm, Value v) {
    int64_t i;
    if (!value_is(v, OBJ_SYM)) return v;
    return sym_as_int(vm, v, &i) ? value_int(i) : VALUE_ERROR;
}

static Value plain_binary(VM *vm, int op, Value a, Value b) {
    a = plain(vm, a);
    b = plain(vm, b);
    return value_is_error(a) || value_is_error(b) ? VALUE_ERROR : vm_binary(vm, op, a, b);
}

/* Division by a symbolic zero is decided first, as Python would raise. */
static bool divisor_is_zero(VM *vm, Dim b, bool *failed) {
    int zero = dim_truth(vm, dim_relation(vm->context.syms, SYM_EQ, b, 0));
    *failed = zero < 0;
    return zero > 0;
}

static Value sym_power(VM *vm, Value a, Value b) {
    enum { LARGEST = 4 };
    Dim base, result = 1;
    if (b.tag != V_INT || b.i < 0 || b.i > LARGEST || !dim_of_value(a, &base)) return plain_binary(vm, BINARY_POWER, a, b);
    for (int64_t i = 0; i < b.i; i++) result = dim_mul(vm->context.syms, result, base);
    return computed(vm, "pow", a, b, result);
}

Value sym_binary(VM *vm, int binary_op, Value a, Value b) {
    int op = binary_op >= BINARY_INPLACE ? binary_op - BINARY_INPLACE : binary_op;
    SymTable *syms = vm->context.syms;
    Dim x, y;
    note_computed(vm);
    if (!syms || !dim_of_value(a, &x) || !dim_of_value(b, &y)) return plain_binary(vm, op, a, b);
    switch (op) {
    case BINARY_ADD: return computed(vm, "add", a, b, dim_add(syms, x, y));
    case BINARY_SUBTRACT: return computed(vm, "sub", a, b, dim_sub(syms, x, y));
    case BINARY_MULTIPLY: return computed(vm, "mul", a, b, dim_mul(syms, x, y));
    case BINARY_POWER: return sym_power(vm, a, b);
    case BINARY_FLOOR_DIVIDE: case BINARY_REMAINDER: break;
    default: return plain_binary(vm, op, a, b);
    }
    bool failed;
    if (divisor_is_zero(vm, y, &failed)) return vm_raise(vm, "ZeroDivisionError", "integer division or modulo by zero");
    if (failed) return VALUE_ERROR;
    return op == BINARY_REMAINDER ? computed(vm, "mod", a, b, dim_mod(syms, x, y)) : computed(vm, "floordiv", a, b, dim_floordiv(syms, x, y));
}

Value sym_compare(VM *vm, CompareOp op, Value a, Value b) {
    Dim x, y;
    SymTable *syms = vm->context.syms;
    note_computed(vm);
    if (!syms || !dim_of_value(a, &x) || !dim_of_value(b, &y)) {
        if (a.tag != V_FLOAT && b.tag != V_FLOAT && syms) return (Value){.tag = V_NOTIMPLEMENTED};
        a = plain(vm, a);
        b = plain(vm, b);
        return value_is_error(a) || value_is_error(b) ? VALUE_ERROR : vm_compare(vm, op, a, b);
    }
    static const SymKind kinds[] = {SYM_LT, SYM_LE, SYM_EQ, SYM_NE, SYM_LT, SYM_LE};
    bool swapped = op == COMPARE_GT || op == COMPARE_GE;
    Dim relation = dim_relation(syms, kinds[op], swapped ? y : x, swapped ? x : y);
    if (vm->domain->undecided && !dim_is_int(relation) && vm->domain->undecided(vm, relation)) return sym_new(vm, relation);
    int truth = dim_truth(vm, relation);
    return truth < 0 ? VALUE_ERROR : value_bool(truth);
}

Value sym_unary(VM *vm, const char *what, Value sym) {
    Dim dim = ((SymObject *)sym.o)->dim;
    SymTable *syms = vm->context.syms;
    note_computed(vm);
    if (strcmp(what, "neg") == 0 && syms) return computed(vm, "neg", sym, VALUE_NULL, dim_mul(syms, dim, -1));
    if (strcmp(what, "abs") == 0 && syms) return computed(vm, "abs", sym, VALUE_NULL, dim_low(dim) >= 0 ? dim : dim_max(syms, dim, dim_mul(syms, dim, -1)));
    if (strcmp(what, "invert") == 0 && syms) return computed(vm, "invert", sym, VALUE_NULL, dim_sub(syms, dim_mul(syms, dim, -1), 1));
    if (strcmp(what, "invert") && strcmp(what, "neg") && strcmp(what, "abs")) return value_ref(sym); /* round, floor … of an integer */
    int64_t i;
    if (!dim_as_int(vm, dim, &i)) return VALUE_ERROR;
    return value_int(strcmp(what, "neg") == 0 ? -i : strcmp(what, "abs") == 0 && i < 0 ? -i : strcmp(what, "invert") == 0 ? ~i : i);
}

Value sym_of_size(VM *vm, Dim dim) {
    if (vm->domain->sized) vm->domain->sized(vm, &dim, 1);
    return sym_new(vm, dim);
}

/* min and max of two integers: decided where the ranges decide, else an expression. */
Value sym_choose(VM *vm, Value a, Value b, bool greatest) {
    Dim x, y;
    SymTable *syms = vm->context.syms;
    if (syms && dim_of_value(a, &x) && dim_of_value(b, &y)) return computed(vm, greatest ? "sym_max" : "sym_min", a, b, greatest ? dim_max(syms, x, y) : dim_min(syms, x, y));
    Value larger = vm_compare(vm, COMPARE_GT, a, b);
    if (value_is_error(larger)) return larger;
    bool first = (larger.tag == V_BOOL && larger.b) == greatest;
    return value_ref(first ? a : b);
}
