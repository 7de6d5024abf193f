/* Operators on tensors: which row an operator of the language is, and what a tensor is as a truth value, a sequence, a formatted text.
 *
 *     2 - x      ->  sub(2, x)             x += 1   ->  add_(x, 1)
 *     1 / x      ->  mul(reciprocal(x), 1), as PyTorch
 *
 * Invariant: an operand that is no number and no tensor gives NotImplemented, never an error of ours: the core words Python's TypeError. */
#include "lang/bytecode.h"
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_state.h"
#include <string.h>

#define NOT_IMPLEMENTED ((Value){.tag = V_NOTIMPLEMENTED})

static const char *const binary_rows[] = {"add", "bitwise_and", "floor_divide", "bitwise_left_shift", "matmul", "mul", "remainder", "bitwise_or", "pow",
                                          "bitwise_right_shift", "sub", "div", "bitwise_xor"};

static bool is_operand(Value v) { return value_is_number(v) || value_is_tensor(v) || value_is(v, OBJ_SYM); }

static const Op *row_of(VM *vm, int op) {
    const Op **slot = &vm->torch->binary_ops[op];
    if (!*slot) *slot = op_find(vm->ops, binary_rows[op]);
    return *slot;
}

static Value call_row(VM *vm, const Op *op, Value a, Value b) {
    Value args[] = {a, b};
    return vm_call_op(vm, op, args, 2, NULL);
}

static Value reflected_division(VM *vm, Value a, Tensor *b) {
    Value arg = value_tensor(b), reciprocal = vm_call_op(vm, op_find(vm->ops, "reciprocal"), &arg, 1, NULL);
    if (value_is_error(reciprocal)) return reciprocal;
    Value result = call_row(vm, op_find(vm->ops, "mul"), reciprocal, a);
    value_unref(vm, reciprocal);
    return result;
}

Value tensor_binary(VM *vm, int binary_op, Value a, Value b) {
    bool in_place = binary_op >= BINARY_INPLACE;
    int op = in_place ? binary_op - BINARY_INPLACE : binary_op;
    if (!is_operand(a) || !is_operand(b)) return NOT_IMPLEMENTED;
    if (op == BINARY_MATRIX_MULTIPLY && !(value_is_tensor(a) && value_is_tensor(b))) return NOT_IMPLEMENTED;
    const Op *row = row_of(vm, op);
    if (in_place && value_is_tensor(a) && row->inplace_op) return call_row(vm, row->inplace_op, a, b);
    if (op == BINARY_TRUE_DIVIDE && !value_is_tensor(a)) return reflected_division(vm, a, tensor_of(b));
    return call_row(vm, row, a, b);
}

Value tensor_compare(VM *vm, CompareOp op, Value a, Value b) {
    static const char *const rows[] = {"lt", "le", "eq", "ne", "gt", "ge"}, *const mirrored[] = {"gt", "ge", "eq", "ne", "lt", "le"};
    if (!is_operand(a) || !is_operand(b)) return NOT_IMPLEMENTED;
    bool swap = !value_is_tensor(a);
    return call_row(vm, op_find(vm->ops, swap ? mirrored[op] : rows[op]), swap ? b : a, swap ? a : b);
}

Value tensor_unary(VM *vm, const char *what, Value tensor) {
    if (strcmp(what, "pos") == 0) return value_ref(tensor);
    return vm_call_op(vm, op_find(vm->ops, strcmp(what, "invert") == 0 ? "bitwise_not" : what), &tensor, 1, NULL);
}

/* ---- as Python values ---- */

static Value item_of(VM *vm, Tensor *t) { return vm->domain->item ? vm->domain->item(vm, t) : tensor_item(vm, t); }

int tensor_truth(VM *vm, Tensor *t) {
    if (!meta_is_static(&t->meta) || meta_numel(&t->meta) != 1) {
        vm_raise(vm, "RuntimeError", "Boolean value of Tensor with %s is ambiguous", meta_is_static(&t->meta) && meta_numel(&t->meta) == 0 ? "no values" : "more than one value");
        return -1;
    }
    Value item = item_of(vm, t);
    if (value_is_error(item)) return -1;
    int truth = vm_truth(vm, item);
    value_unref(vm, item);
    return truth;
}

int64_t tensor_length(VM *vm, Tensor *t) {
    int64_t length = -1;
    if (t->meta.rank == 0) { vm_raise(vm, "TypeError", "len() of a 0-d tensor"); return -1; }
    Value size = sym_new(vm, t->meta.sizes[0]);
    bool ok = vm_as_int(vm, size, &length);
    value_unref(vm, size);
    return ok ? length : -1;
}

Value tensor_iterate(VM *vm, Tensor *t) {
    if (t->meta.rank == 0) return vm_raise(vm, "TypeError", "iteration over a 0-d tensor");
    Value arg = value_tensor(t), rows = vm_call_op(vm, op_find(vm->ops, "unbind"), &arg, 1, NULL);
    if (value_is_error(rows)) return rows;
    Value iterator = vm_iterate(vm, rows);
    value_unref(vm, rows);
    return iterator;
}

int tensor_contains(VM *vm, Tensor *t, Value item) {
    if (!is_operand(item)) { vm_raise(vm, "RuntimeError", "Tensor.__contains__ only supports Tensor or scalar, but you passed in a %s.", type_name(vm, item)); return -1; }
    Value equal = tensor_compare(vm, COMPARE_EQ, value_tensor(t), item);
    if (value_is_error(equal)) return -1;
    Value any = vm_call_op(vm, op_find(vm->ops, "any"), &equal, 1, NULL);
    value_unref(vm, equal);
    if (value_is_error(any)) return -1;
    int truth = vm_truth(vm, any);
    value_unref(vm, any);
    return truth;
}

Value tensor_format(VM *vm, Tensor *t, const char *spec) {
    if (t->meta.rank == 0 && !t->is_parameter) {
        Value item = item_of(vm, t);
        if (value_is_error(item)) return item;
        Value text = vm_format(vm, item, spec, strlen(spec));
        value_unref(vm, item);
        return text;
    }
    if (*spec) return vm_raise(vm, "TypeError", "unsupported format string passed to %s.__format__", t->is_parameter ? "Parameter" : "Tensor");
    return tensor_repr(vm, t);
}
