/* Operate: unary and binary operators on every kind of value.
 *
 *     vm_binary(vm, BINARY_ADD, a, b)                        // a + b
 *     vm_binary(vm, BINARY_ADD + BINARY_INPLACE, a, b)       // a += b: lists and sets change in place
 *
 * Order: tensors and symbolic integers, numbers, instances by their special methods, then the containers.
 * Invariant: a combination that nobody takes is a TypeError with Python's words. */
#include "vm/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const special_names[] = {"add", "and", "floordiv", "lshift", "matmul", "mul", "mod", "or", "pow", "rshift", "sub", "truediv", "xor"};

static Value not_implemented(void) { return (Value){.tag = V_NOTIMPLEMENTED}; }

Value vm_not_implemented_error(VM *vm, int op, Value a, Value b) {
    const char *symbol = binary_op_symbol(op);
    if (op == BINARY_POWER) symbol = "** or pow()";
    if (op == BINARY_POWER + BINARY_INPLACE) symbol = "**=";
    return vm_raise(vm, "TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", symbol, type_name(vm, a), type_name(vm, b));
}

static Value try_special(VM *vm, Value v, const char *prefix, int op, Value other) {
    if (!value_is(v, OBJ_INSTANCE)) return not_implemented();
    char name[24];
    snprintf(name, sizeof name, "__%s%s__", prefix, special_names[op]);
    Value result = vm_call_special(vm, v, vm_intern(vm, name), &other, 1);
    return result.tag == V_NULL ? not_implemented() : result;
}

static Value instance_binary(VM *vm, int op, bool in_place, Value a, Value b) {
    Value result = in_place ? try_special(vm, a, "i", op, b) : not_implemented();
    if (result.tag != V_NOTIMPLEMENTED) return result;
    bool derived = value_is(a, OBJ_INSTANCE) && value_is(b, OBJ_INSTANCE) && ((Instance *)a.o)->cls != ((Instance *)b.o)->cls &&
                   class_is_subclass(((Instance *)b.o)->cls, ((Instance *)a.o)->cls);
    if (derived) result = try_special(vm, b, "r", op, a);
    if (result.tag == V_NOTIMPLEMENTED) result = try_special(vm, a, "", op, b);
    if (result.tag == V_NOTIMPLEMENTED && !derived) result = try_special(vm, b, "r", op, a);
    return result;
}

/* ---- sequences ---- */

static Value concat_str(VM *vm, Str *a, Str *b) {
    size_t length = (size_t)a->length + b->length;
    if (!vm_reserve(vm, (int64_t)length, 1)) return VALUE_ERROR;
    Str *s = str_alloc(vm, length);
    memcpy(s->text, a->text, a->length);
    memcpy(s->text + a->length, b->text, b->length);
    s->head.flags |= a->head.flags & b->head.flags & FLAG_ASCII;
    return value_object(s);
}

static Value concat_items(VM *vm, Value a, Value b) {
    Value *x, *y, out;
    int nx, ny;
    sequence_view(a, &x, &nx);
    sequence_view(b, &y, &ny);
    if (!vm_reserve(vm, (int64_t)nx + ny, (int64_t)sizeof(Value))) return VALUE_ERROR;
    Value *items;
    if (value_is(a, OBJ_LIST)) out = list_new(vm, NULL, nx + ny), items = list_of(out)->items;
    else out = tuple_take_like(vm, nx + ny, tuple_of(a)), items = tuple_of(out)->items; /* torch.Size + tuple is a torch.Size */
    for (int i = 0; i < nx; i++) items[i] = value_ref(x[i]);
    for (int i = 0; i < ny; i++) items[nx + i] = value_ref(y[i]);
    return out;
}

static Value sequence_add(VM *vm, Value a, Value b) {
    bool same = value_is(a, OBJ_STR) ? value_is(b, OBJ_STR) : value_is(a, OBJ_LIST) ? value_is(b, OBJ_LIST) : value_is(b, OBJ_TUPLE);
    if (same) return value_is(a, OBJ_STR) ? concat_str(vm, str_of(a), str_of(b)) : concat_items(vm, a, b);
    const char *name = type_name(vm, a);
    if (value_is(a, OBJ_TUPLE)) name = "tuple";
    return vm_raise(vm, "TypeError", "can only concatenate %s (not \"%s\") to %s", name, type_name(vm, b), name);
}

static Value repeat_str(VM *vm, Str *a, int64_t times) {
    if (times <= 0 || a->length == 0) return str_new(vm, "", 0);
    if (times > INT64_MAX / a->length || !vm_reserve(vm, times * a->length, 1)) return vm->exception.tag ? VALUE_ERROR : vm_raise(vm, "MemoryError", "%s", "");
    Str *s = str_alloc(vm, (size_t)times * a->length);
    for (int64_t i = 0; i < times; i++) memcpy(s->text + (size_t)i * a->length, a->text, a->length);
    s->head.flags |= a->head.flags & FLAG_ASCII;
    return value_object(s);
}

static Value repeat_items(VM *vm, Value a, int64_t times) {
    Value *x;
    int n;
    sequence_view(a, &x, &n);
    if (times < 0 || n == 0) times = 0;
    if (n && (times > INT32_MAX / n || !vm_reserve(vm, times * n, (int64_t)sizeof(Value)))) return vm->exception.tag ? VALUE_ERROR : vm_raise(vm, "MemoryError", "%s", "");
    int total = (int)times * n;
    Value out = value_is(a, OBJ_LIST) ? list_new(vm, NULL, total) : tuple_take_like(vm, total, tuple_of(a));
    Value *items = value_is(a, OBJ_LIST) ? list_of(out)->items : tuple_of(out)->items;
    for (int i = 0; i < total; i++) items[i] = value_ref(x[i % n]);
    return out;
}

static bool is_sequence(Value v) { return value_is(v, OBJ_STR) || value_is(v, OBJ_LIST) || value_is(v, OBJ_TUPLE); }

static Value sequence_repeat(VM *vm, Value sequence, Value times) {
    int64_t n;
    bool countable = value_is_integer(times) || value_is(times, OBJ_INSTANCE);
    if (!countable) return vm_raise(vm, "TypeError", "can't multiply sequence by non-int of type '%s'", type_name(vm, times));
    if (!vm_as_int(vm, times, &n)) return VALUE_ERROR;
    return value_is(sequence, OBJ_STR) ? repeat_str(vm, str_of(sequence), n) : repeat_items(vm, sequence, n);
}

static Value sequence_binary(VM *vm, int op, Value a, Value b) {
    if (op == BINARY_ADD && is_sequence(a)) return sequence_add(vm, a, b);
    if (op == BINARY_MULTIPLY && is_sequence(a)) return sequence_repeat(vm, a, b);
    if (op == BINARY_MULTIPLY && is_sequence(b)) return sequence_repeat(vm, b, a);
    if (op == BINARY_REMAINDER && value_is(a, OBJ_STR)) return str_percent(vm, str_of(a), b);
    return not_implemented();
}

static Value list_in_place(VM *vm, int op, Value a, Value b) {
    List *list = list_of(a);
    if (!vm_mutate(vm, list)) return VALUE_ERROR;
    if (op == BINARY_ADD) return list_extend(vm, list, b) ? value_ref(a) : VALUE_ERROR;
    Value repeated = sequence_repeat(vm, a, b);
    if (value_is_error(repeated)) return repeated;
    List *from = list_of(repeated), swap = *list;
    list->items = from->items, list->count = from->count, list->capacity = from->capacity;
    from->items = swap.items, from->count = swap.count, from->capacity = swap.capacity;
    value_unref(vm, repeated);
    return value_ref(a);
}

/* ---- sets and dicts ---- */

static bool is_set(Value v) { return value_is(v, OBJ_SET) || value_is(v, OBJ_FROZENSET); }

static bool keep_if(VM *vm, Set *out, Set *from, Set *other, bool wanted) {
    int *order = set_order(vm, from), count = from->dict->live;
    bool ok = true, found = false;
    for (int i = 0; ok && i < count; i++) {
        Value key = from->dict->entries[order[i]].key;
        ok = set_has(vm, other, key, &found) && (found != wanted || set_add(vm, out, key));
    }
    free(order);
    return ok;
}

/* Takes the items of `other` out of the set; with `add`, those that are not in it go in instead. */
static bool drop_from(VM *vm, Set *set, Set *other, Set *add) {
    int *order = set_order(vm, other), count = other->dict->live;
    bool ok = true, found;
    for (int i = 0; ok && i < count; i++) {
        Value key = other->dict->entries[order[i]].key;
        ok = dict_delete(vm, set->dict, key, &found) && (found || !add || set_add(vm, add, key));
    }
    free(order);
    return ok;
}

Value set_binary(VM *vm, int op, Set *a, Set *b) {
    Value out = set_new(vm, NULL, 0, a->head.type == OBJ_FROZENSET);
    Set *result = set_of(out);
    bool ok = true;
    switch (op) { /* which operand is walked, and where a copy is made, as in CPython: it decides the order of the result */
    case BINARY_OR: ok = set_update(vm, result, value_object(a)) && set_update(vm, result, value_object(b)); break;
    case BINARY_AND: ok = a->dict->live < b->dict->live ? keep_if(vm, result, a, b, true) : keep_if(vm, result, b, a, true); break;
    case BINARY_SUBTRACT:
        if (a->dict->live >> 2 <= b->dict->live) ok = keep_if(vm, result, a, b, false);
        else ok = set_update(vm, result, value_object(a)) && drop_from(vm, result, b, NULL);
        break;
    default: ok = set_update(vm, result, value_object(b)) && drop_from(vm, result, a, result);
    }
    if (ok) return out;
    value_unref(vm, out);
    return VALUE_ERROR;
}

static bool is_set_op(int op) { return op == BINARY_OR || op == BINARY_AND || op == BINARY_SUBTRACT || op == BINARY_XOR; }

static Value set_in_place(VM *vm, int op, Value a, Value b) {
    if (!vm_mutate(vm, a.o)) return VALUE_ERROR;
    if (op == BINARY_OR) return set_update(vm, set_of(a), b) ? value_ref(a) : VALUE_ERROR;
    Value out = set_binary(vm, op, set_of(a), set_of(b));
    if (value_is_error(out)) return out;
    Dict *swap = set_of(a)->dict;
    set_of(a)->dict = set_of(out)->dict;
    set_of(out)->dict = swap;
    value_unref(vm, out);
    return value_ref(a);
}

/* Views of dicts take part in set operations as sets of their keys or items. */
static Value as_set(VM *vm, Value v) {
    if (is_set(v)) return value_ref(v);
    Value set = set_new(vm, NULL, 0, false);
    if (set_update(vm, set_of(set), v)) return set;
    value_unref(vm, set);
    return VALUE_ERROR;
}

static Value view_binary(VM *vm, int op, Value a, Value b) {
    Value x = as_set(vm, a), y = value_is_error(x) ? x : as_set(vm, b), out = VALUE_ERROR;
    if (!value_is_error(x) && !value_is_error(y)) out = set_binary(vm, op, set_of(x), set_of(y));
    value_unref(vm, x);
    value_unref(vm, y);
    return out;
}

static Value dict_binary(VM *vm, bool in_place, Value a, Value b) {
    if (in_place) {
        if (!vm_mutate(vm, a.o)) return VALUE_ERROR;
        return dict_merge(vm, dict_of(a), b) ? value_ref(a) : VALUE_ERROR;
    }
    Value out = dict_copy(vm, dict_of(a));
    if (dict_merge(vm, dict_of(out), b)) return out;
    value_unref(vm, out);
    return VALUE_ERROR;
}

Value counter_binary(VM *vm, int op, Dict *a, Dict *b);

static Value container_binary(VM *vm, int op, bool in_place, Value a, Value b) {
    if (in_place && value_is(a, OBJ_LIST) && (op == BINARY_ADD || op == BINARY_MULTIPLY)) return list_in_place(vm, op, a, b);
    if (is_set_op(op) && is_set(a) && is_set(b)) return in_place && value_is(a, OBJ_SET) ? set_in_place(vm, op, a, b) : set_binary(vm, op, set_of(a), set_of(b));
    if (is_set_op(op) && (value_is_view(a) || value_is_view(b)) && (is_set(a) || value_is_view(a))) return view_binary(vm, op, a, b);
    if (value_is(a, OBJ_DICT) && value_is(b, OBJ_DICT)) {
        if (dict_of(a)->is_counter && dict_of(b)->is_counter) return counter_binary(vm, op, dict_of(a), dict_of(b));
        if (op == BINARY_OR) return dict_binary(vm, in_place, a, b);
    }
    if (op == BINARY_OR && value_is(a, OBJ_CLASS) && (value_is(b, OBJ_CLASS) || b.tag == V_NONE)) return tuple_new(vm, (Value[]){a, b}, 2); /* int | None */
    return sequence_binary(vm, op, a, b);
}

static bool is_special(Value v) { return v.tag == V_OBJECT && (v.o->type == OBJ_TENSOR || v.o->type == OBJ_SYM || v.o->type == OBJ_INSTANCE); }

/* What only tensors, symbolic integers and instances need. V_NOTIMPLEMENTED: go on with plain (unwrapped) values. */
static Value special_binary(VM *vm, int op, Value a, Value b) {
    bool in_place = op >= BINARY_INPLACE;
    Value result = not_implemented();
    if (value_is(a, OBJ_INSTANCE) || value_is(b, OBJ_INSTANCE)) {
        if (!vm_enter(vm, " in an operator")) return VALUE_ERROR;
        result = instance_binary(vm, in_place ? op - BINARY_INPLACE : op, in_place, a, b);
        vm_leave(vm);
        if (result.tag != V_NOTIMPLEMENTED) return result;
    }
    if (value_is(a, OBJ_TENSOR) || value_is(b, OBJ_TENSOR)) {
        if (is_sequence(a) && op == BINARY_REMAINDER && value_is(a, OBJ_STR)) return str_percent(vm, str_of(a), b);
        return tensor_binary(vm, op, a, b);
    }
    if ((value_is(a, OBJ_SYM) && !is_sequence(b)) || (value_is(b, OBJ_SYM) && !is_sequence(a))) return sym_binary(vm, op, a, b);
    return result;
}

static bool is_arithmetic(int op) { return op == BINARY_ADD || op == BINARY_SUBTRACT || op == BINARY_MULTIPLY || op == BINARY_TRUE_DIVIDE; }

Value vm_binary(VM *vm, int binary_op, Value a, Value b) {
    if (vm->domain->operands && is_arithmetic(binary_op % BINARY_INPLACE)) {
        vm->domain->operands(vm, binary_op % BINARY_INPLACE, &a, &b);
        Value same = vm->domain->unchanged ? vm->domain->unchanged(vm, binary_op % BINARY_INPLACE, a, b) : VALUE_NULL;
        if (same.tag != V_NULL) return same;
    }
    Value noted = vm->domain->computes ? vm->domain->computes(vm, binary_op % BINARY_INPLACE, a, b) : VALUE_NULL;
    if (noted.tag != V_NULL) return noted;
    a = vm_force(vm, a), b = vm_force(vm, b);
    if (value_is_error(a) || value_is_error(b)) return VALUE_ERROR;
    bool in_place = binary_op >= BINARY_INPLACE;
    int op = in_place ? binary_op - BINARY_INPLACE : binary_op;
    if (is_special(a) || is_special(b)) {
        Value result = special_binary(vm, binary_op, a, b);
        if (result.tag != V_NOTIMPLEMENTED) return result;
    }
    Value x = vm_unwrap(a), y = vm_unwrap(b);
    Value result = value_is_number(x) && value_is_number(y) ? number_binary(vm, op, x, y) : container_binary(vm, op, in_place, x, y);
    return result.tag == V_NOTIMPLEMENTED ? vm_not_implemented_error(vm, binary_op, a, b) : result;
}

static Value bad_unary(VM *vm, const char *what, Value v) {
    const char *sign = strcmp(what, "neg") == 0 ? "unary -" : strcmp(what, "pos") == 0 ? "unary +" : strcmp(what, "invert") == 0 ? "unary ~" : "abs()";
    return vm_raise(vm, "TypeError", "bad operand type for %s: '%s'", sign, type_name(vm, v));
}

/* +counter, -counter */
static Value counter_unary(VM *vm, const char *what, Value v) {
    if (strcmp(what, "neg") != 0 && strcmp(what, "pos") != 0) return bad_unary(vm, what, v);
    return vm_call_method(vm, v, strcmp(what, "neg") == 0 ? "__neg__" : "__pos__", NULL, 0);
}

static Value number_unary(VM *vm, const char *what, Value v) {
    if (v.tag == V_FLOAT) {
        if (strcmp(what, "invert") == 0) return bad_unary(vm, what, v);
        return value_float(strcmp(what, "neg") == 0 ? -v.f : strcmp(what, "abs") == 0 ? fabs(v.f) : v.f);
    }
    int64_t i = integer_of(v);
    if (strcmp(what, "invert") == 0) return value_int(~i);
    bool negate = strcmp(what, "neg") == 0 || (strcmp(what, "abs") == 0 && i < 0);
    if (negate && i == INT64_MIN) return vm_raise(vm, "OverflowError", "integer overflow in negation: the result does not fit 64 bits");
    return value_int(negate ? -i : i);
}

Value vm_unary(VM *vm, const char *what, Value v) {
    Value made = vm->domain->arithmetic && strcmp(what, "neg") == 0 ? vm->domain->arithmetic(vm, BINARY_MULTIPLY, v, value_int(-1)) : VALUE_NULL;
    if (made.tag != V_NULL) return made;
    v = vm_force(vm, v);
    if (value_is_error(v)) return v;
    if (value_is(v, OBJ_TENSOR)) return tensor_unary(vm, what, v);
    if (value_is(v, OBJ_SYM)) return sym_unary(vm, what, v);
    if (value_is(v, OBJ_INSTANCE)) {
        char name[24];
        snprintf(name, sizeof name, "__%s__", what);
        Value result = vm_call_special(vm, v, vm_intern(vm, name), NULL, 0);
        if (result.tag != V_NULL) return result;
    }
    Value plain = vm_unwrap(v);
    if (value_is(plain, OBJ_DICT) && dict_of(plain)->is_counter) return counter_unary(vm, what, plain);
    return value_is_number(plain) ? number_unary(vm, what, plain) : bad_unary(vm, what, v);
}
