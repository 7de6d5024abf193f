/* Compare: equality, order and hashes of every kind of value, and sorting.
 *
 *     vm_equal(vm, a, b)                   // 1, 0, -1: `a == b` as a truth
 *     vm_compare(vm, COMPARE_LT, a, b)     // the value of `a < b`, which for tensors is a tensor
 *
 * Invariant: recursion through containers is bounded (RecursionError), and equal values have equal hashes. */
#include "vm/internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_set(Value v) { return value_is(v, OBJ_SET) || value_is(v, OBJ_FROZENSET); }

/* ---- equality of plain values ---- */

/* Exact also where a double cannot hold the integer. */
static int int_float_order(int64_t i, double f) {
    if (isnan(f)) return 2;
    if (f >= 9223372036854775808.0) return -1;
    if (f < -9223372036854775808.0) return 1;
    int64_t whole = (int64_t)f;
    if (i != whole) return i < whole ? -1 : 1;
    double rest = f - (double)whole;
    return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

/* -1, 0, 1, or 2 when a NaN is among them */
static int number_order(Value a, Value b) {
    if (a.tag == V_FLOAT && b.tag == V_FLOAT) return a.f < b.f ? -1 : a.f > b.f ? 1 : a.f == b.f ? 0 : 2;
    if (a.tag == V_FLOAT) {
        int order = int_float_order(integer_of(b), a.f);
        return order == 2 ? 2 : -order;
    }
    if (b.tag == V_FLOAT) return int_float_order(integer_of(a), b.f);
    int64_t x = integer_of(a), y = integer_of(b);
    return x < y ? -1 : x > y;
}

static int items_equal(VM *vm, const Value *x, int nx, const Value *y, int ny) {
    if (nx != ny) return 0;
    for (int i = 0; i < nx; i++) {
        int same = vm_same_or_equal(vm, x[i], y[i]);
        if (same != 1) return same;
    }
    return 1;
}

/* Of lists and tuples: a list may change while its items are compared. */
static int sequences_equal(VM *vm, Value a, Value b) {
    Value *x, *y;
    int nx, ny;
    sequence_view(a, &x, &nx);
    sequence_view(b, &y, &ny);
    if (nx != ny) return 0;
    for (int i = 0; i < nx && i < ny; i++) {
        int same = vm_same_or_equal(vm, x[i], y[i]);
        if (same != 1) return same;
        sequence_view(a, &x, &nx);
        sequence_view(b, &y, &ny);
    }
    return nx == ny;
}

static int dicts_equal(VM *vm, Dict *a, Dict *b) {
    if (a->live != b->live) return 0;
    int order = 0;
    for (int i = 0; i < a->used; i++) {
        if (a->entries[i].key.tag == V_NULL) continue;
        int entry = dict_find(vm, b, a->entries[i].key, a->entries[i].hash);
        if (entry < 0) return entry == -1 ? 0 : -1;
        if (a->is_ordered && b->is_ordered) { /* two OrderedDicts: the order counts too */
            if (entry < order) return 0;
            order = entry;
        }
        Value x = a->entries[i].value, y = b->entries[entry].value;
        int same = vm_same_or_equal(vm, x, y);
        if (same != 1) return same;
    }
    return 1;
}

static int set_within(VM *vm, Set *a, Set *b) {
    for (int i = 0; i < a->dict->used; i++) {
        bool found = true;
        if (a->dict->entries[i].key.tag != V_NULL && !set_has(vm, b, a->dict->entries[i].key, &found)) return -1;
        if (!found) return 0;
    }
    return 1;
}

static int objects_equal(VM *vm, Value a, Value b) {
    if (a.o == b.o) return 1;
    if (is_set(a) && is_set(b)) return set_of(a)->dict->live == set_of(b)->dict->live ? set_within(vm, set_of(a), set_of(b)) : 0;
    if (a.o->type != b.o->type) return 0;
    const NativeType *native = vm->own->natives[a.o->type];
    if (native) return native->equal ? native->equal(vm, a.o, b.o) : 0;
    switch ((ObjectType)a.o->type) {
    case OBJ_STR: return str_equal(str_of(a), str_of(b));
    case OBJ_LIST: case OBJ_TUPLE: return sequences_equal(vm, a, b);
    case OBJ_DICT: return dicts_equal(vm, dict_of(a), dict_of(b));
    case OBJ_RANGE: {
        Range *r = (Range *)a.o, *s = (Range *)b.o;
        int64_t n = range_length(r);
        return n == range_length(s) && (n == 0 || (r->start == s->start && (n == 1 || r->step == s->step)));
    }
    case OBJ_SLICE: {
        Slice *r = (Slice *)a.o, *s = (Slice *)b.o;
        return items_equal(vm, (Value[]){r->start, r->stop, r->step}, 3, (Value[]){s->start, s->stop, s->step}, 3);
    }
    case OBJ_METHOD: return value_identical(((Method *)a.o)->function, ((Method *)b.o)->function) && value_identical(((Method *)a.o)->self, ((Method *)b.o)->self);
    case OBJ_BUILTIN: return ((Builtin *)a.o)->fn == ((Builtin *)b.o)->fn && value_identical(((Builtin *)a.o)->self, ((Builtin *)b.o)->self) && ((Builtin *)a.o)->name == ((Builtin *)b.o)->name;
    case OBJ_OP: return ((OpObject *)a.o)->op == ((OpObject *)b.o)->op;
    case OBJ_CODE: return ((CodeObject *)a.o)->code == ((CodeObject *)b.o)->code;
    case OBJ_DTYPE: return ((DTypeObject *)a.o)->dtype == ((DTypeObject *)b.o)->dtype;
    case OBJ_DEVICE: return device_equal(((DeviceObject *)a.o)->device, ((DeviceObject *)b.o)->device);
    default: return 0;
    }
}

static int views_equal(VM *vm, Value a, Value b) {
    Value x = set_new(vm, NULL, 0, false), y = set_new(vm, NULL, 0, false);
    int same = set_update(vm, set_of(x), a) && set_update(vm, set_of(y), b) ? objects_equal(vm, x, y) : -1;
    value_unref(vm, x);
    value_unref(vm, y);
    return same;
}

static int plain_equal(VM *vm, Value a, Value b) {
    if (value_is_number(a) && value_is_number(b)) return number_order(a, b) == 0;
    if (a.tag != b.tag) return 0;
    if (a.tag != V_OBJECT) return 1; /* None, ..., NotImplemented */
    bool views = (value_is_view(a) && (value_is_view(b) || is_set(b))) || (value_is_view(b) && is_set(a));
    if (views) return a.o == b.o ? 1 : views_equal(vm, a, b);
    if (!vm_enter(vm, " in comparison")) return -1;
    int same = objects_equal(vm, a, b);
    vm_leave(vm);
    return same;
}

/* ---- order of plain values ---- */

static Value order_error(VM *vm, CompareOp op, Value a, Value b) {
    return vm_raise(vm, "TypeError", "'%s' not supported between instances of '%s' and '%s'", compare_op_symbol((int)op), type_name(vm, a), type_name(vm, b));
}

static bool ordered(CompareOp op, int order) {
    switch (op) {
    case COMPARE_LT: return order < 0;
    case COMPARE_LE: return order <= 0;
    case COMPARE_GT: return order > 0 && order != 2;
    case COMPARE_GE: return order >= 0 && order != 2;
    default: return (order == 0) == (op == COMPARE_EQ);
    }
}

/* Lexicographic: the first pair that differs decides. */
static Value items_compare(VM *vm, CompareOp op, Value a, Value b) {
    Value *x, *y;
    int nx, ny, i = 0;
    sequence_view(a, &x, &nx);
    sequence_view(b, &y, &ny);
    for (; i < nx && i < ny; i++) {
        int same = vm_same_or_equal(vm, x[i], y[i]);
        if (same < 0) return VALUE_ERROR;
        sequence_view(a, &x, &nx); /* __eq__ may have changed a list */
        sequence_view(b, &y, &ny);
        if (!same) break;
    }
    if (i >= nx || i >= ny) return value_bool(ordered(op, nx < ny ? -1 : nx > ny));
    if (!vm_enter(vm, " in comparison")) return VALUE_ERROR;
    Value first = value_ref(x[i]), second = value_ref(y[i]), result = vm_compare(vm, op, first, second);
    value_unref(vm, first);
    value_unref(vm, second);
    vm_leave(vm);
    return result;
}

static Value set_compare(VM *vm, CompareOp op, Set *a, Set *b) {
    bool flip = op == COMPARE_GT || op == COMPARE_GE, strict = op == COMPARE_LT || op == COMPARE_GT;
    int within = flip ? set_within(vm, b, a) : set_within(vm, a, b);
    if (within < 0) return VALUE_ERROR;
    return value_bool(within && (!strict || a->dict->live != b->dict->live));
}

/* Views of dicts compare with sets and each other as sets do. */
static Value views_compare(VM *vm, CompareOp op, Value a, Value b) {
    Value x = set_new(vm, NULL, 0, false), y = set_new(vm, NULL, 0, false);
    bool ok = set_update(vm, set_of(x), a) && set_update(vm, set_of(y), b);
    Value result = ok ? set_compare(vm, op, set_of(x), set_of(y)) : VALUE_ERROR;
    value_unref(vm, x);
    value_unref(vm, y);
    return result;
}

static bool is_set_like(Value v) { return is_set(v) || (value_is_view(v) && strcmp(((Iterator *)v.o)->kind, "dict_values") != 0); }

static Value plain_compare(VM *vm, CompareOp op, Value a, Value b) {
    if (value_is_number(a) && value_is_number(b)) return value_bool(ordered(op, number_order(a, b)) && number_order(a, b) != 2);
    if (value_is(a, OBJ_STR) && value_is(b, OBJ_STR)) return value_bool(ordered(op, str_order(str_of(a), str_of(b))));
    if ((value_is(a, OBJ_LIST) && value_is(b, OBJ_LIST)) || (value_is(a, OBJ_TUPLE) && value_is(b, OBJ_TUPLE))) return items_compare(vm, op, a, b);
    if (is_set(a) && is_set(b)) return set_compare(vm, op, set_of(a), set_of(b));
    if (is_set_like(a) && is_set_like(b)) return views_compare(vm, op, a, b);
    return (Value){.tag = V_NOTIMPLEMENTED};
}

/* ---- instances ---- */

static const char *special_name(VM *vm, CompareOp op, bool reflected) {
    const VMNames *n = &vm->own->names;
    switch (op) {
    case COMPARE_LT: return reflected ? n->gt_ : n->lt_;
    case COMPARE_LE: return reflected ? n->ge_ : n->le_;
    case COMPARE_GT: return reflected ? n->lt_ : n->gt_;
    case COMPARE_GE: return reflected ? n->le_ : n->ge_;
    case COMPARE_EQ: return n->eq_;
    default: return n->ne_;
    }
}

static Value try_compare(VM *vm, CompareOp op, Value v, Value other, bool reflected) {
    if (!value_is(v, OBJ_INSTANCE)) return (Value){.tag = V_NOTIMPLEMENTED};
    Value result = vm_call_special(vm, v, special_name(vm, op, reflected), &other, 1);
    if (result.tag == V_NULL && op == COMPARE_NE) { /* != is the opposite of == */
        result = vm_call_special(vm, v, vm->own->names.eq_, &other, 1);
        if (result.tag > V_ERROR && result.tag != V_NOTIMPLEMENTED) {
            int truth = vm_truth(vm, result);
            value_unref(vm, result);
            result = truth < 0 ? VALUE_ERROR : value_bool(!truth);
        }
    }
    return result.tag == V_NULL ? (Value){.tag = V_NOTIMPLEMENTED} : result;
}

static Value instance_compare(VM *vm, CompareOp op, Value a, Value b) {
    bool derived = value_is(a, OBJ_INSTANCE) && value_is(b, OBJ_INSTANCE) && ((Instance *)a.o)->cls != ((Instance *)b.o)->cls &&
                   class_is_subclass(((Instance *)b.o)->cls, ((Instance *)a.o)->cls);
    Value result = derived ? try_compare(vm, op, b, a, true) : (Value){.tag = V_NOTIMPLEMENTED};
    if (result.tag == V_NOTIMPLEMENTED) result = try_compare(vm, op, a, b, false);
    if (result.tag == V_NOTIMPLEMENTED && !derived) result = try_compare(vm, op, b, a, true);
    return result;
}

Value vm_compare(VM *vm, CompareOp op, Value a, Value b) {
    Value noted = vm->domain->computes ? vm->domain->computes(vm, DOMAIN_COMPARE + (int)op, a, b) : VALUE_NULL;
    if (noted.tag != V_NULL) return noted;
    if (vm->domain->operands) {
        vm->domain->operands(vm, DOMAIN_COMPARE + (int)op, &a, &b);
        Value kept = vm->domain->unchanged ? vm->domain->unchanged(vm, DOMAIN_COMPARE + (int)op, a, b) : VALUE_NULL;
        if (kept.tag != V_NULL) return kept;
    }
    a = vm_force(vm, a), b = vm_force(vm, b);
    if (value_is_error(a) || value_is_error(b)) return VALUE_ERROR;
    Value result = {.tag = V_NOTIMPLEMENTED};
    if (value_is(a, OBJ_INSTANCE) || value_is(b, OBJ_INSTANCE)) {
        if (!vm_enter(vm, " in comparison")) return VALUE_ERROR;
        result = instance_compare(vm, op, a, b);
        vm_leave(vm);
        if (result.tag != V_NOTIMPLEMENTED) return result;
    }
    if (value_is(a, OBJ_TENSOR) || value_is(b, OBJ_TENSOR)) result = tensor_compare(vm, op, a, b);
    else if (value_is(a, OBJ_SYM) || value_is(b, OBJ_SYM)) result = sym_compare(vm, op, a, b);
    if (result.tag != V_NOTIMPLEMENTED) return result;
    Value x = vm_unwrap(a), y = vm_unwrap(b);
    if (op == COMPARE_EQ || op == COMPARE_NE) {
        if (vm->domain->compared && (value_is(a, OBJ_FUNCTION) || value_is(b, OBJ_FUNCTION))) vm->domain->compared(vm, a, b);
        int same = plain_equal(vm, x, y);
        return same < 0 ? VALUE_ERROR : value_bool(same == (op == COMPARE_EQ));
    }
    result = plain_compare(vm, op, x, y);
    return result.tag == V_NOTIMPLEMENTED ? order_error(vm, op, a, b) : result;
}

static bool is_plain(Value v) { return v.tag != V_OBJECT || (v.o->type != OBJ_INSTANCE && v.o->type != OBJ_TENSOR && v.o->type != OBJ_SYM); }

static bool may_run_code(Value v) { return v.tag == V_OBJECT && v.o->type != OBJ_STR && v.o->type != OBJ_DTYPE && v.o->type != OBJ_RANGE; }

int vm_equal(VM *vm, Value a, Value b) {
    a = vm_force(vm, a), b = vm_force(vm, b);
    if (value_is_error(a) || value_is_error(b)) return -1;
    if (!may_run_code(a) || !may_run_code(b)) {
        if (is_plain(a) && is_plain(b)) return plain_equal(vm, a, b);
    }
    value_ref(a), value_ref(b); /* what they are in may drop them meanwhile */
    int truth;
    if (vm->domain->compared && (value_is(a, OBJ_FUNCTION) || value_is(b, OBJ_FUNCTION))) vm->domain->compared(vm, a, b);
    if (is_plain(a) && is_plain(b)) truth = plain_equal(vm, a, b);
    else {
        Value result = vm_compare(vm, COMPARE_EQ, a, b);
        truth = value_is_error(result) ? -1 : vm_truth(vm, result);
        value_unref(vm, result);
    }
    value_unref(vm, a);
    value_unref(vm, b);
    return truth;
}

int vm_same_or_equal(VM *vm, Value a, Value b) {
    if (value_is(a, OBJ_TRACKED) || value_is(b, OBJ_TRACKED)) a = vm_force(vm, a), b = vm_force(vm, b); /* one object may be reached in two ways */
    return value_identical(a, b) ? 1 : vm_equal(vm, a, b);
}

/* ---- hashes ---- */

static bool hash_items(VM *vm, const Value *items, int count, uint64_t *hash) {
    uint64_t acc = 2870177450012600261u;
    for (int i = 0; i < count; i++) {
        uint64_t lane;
        if (!vm_hash(vm, items[i], &lane)) return false;
        acc += lane * 14029467366897019727u;
        acc = (acc << 31 | acc >> 33) * 11400714785074694791u;
    }
    acc += (uint64_t)count ^ (2870177450012600261u ^ 3527539u);
    *hash = acc == UINT64_MAX ? 1546275796u : acc;
    return true;
}

static bool unhashable(VM *vm, Value v) { return vm_raise(vm, "TypeError", "unhashable type: '%s'", type_name(vm, v)), false; }

static bool hash_instance(VM *vm, Value v, uint64_t *hash) {
    Class *cls = ((Instance *)v.o)->cls;
    const VMNames *n = &vm->own->names;
    for (int i = 0; i < cls->mro_count; i++) { /* a class that defines __eq__ alone is not hashable */
        Value own = dict_get_name(vm, cls->mro[i]->dict, n->hash_);
        if (own.tag != V_NULL && own.tag != V_NONE && !(value_is(own, OBJ_BUILTIN) && own.o->flags & FLAG_BUILTIN)) {
            Value result = vm_call1(vm, own, v);
            if (value_is_error(result)) return false;
            bool ok = value_is_integer(result);
            if (ok) *hash = (uint64_t)(integer_of(result) == -1 ? -2 : integer_of(result));
            else vm_raise(vm, "TypeError", "__hash__ method should return an integer");
            value_unref(vm, result);
            return ok;
        }
        Value eq = dict_get_name(vm, cls->mro[i]->dict, n->eq_);
        if (own.tag == V_NONE || (eq.tag != V_NULL && !(value_is(eq, OBJ_BUILTIN)))) return unhashable(vm, v);
    }
    Value payload = instance_payload(v);
    if (payload.tag != V_NULL) return vm_hash(vm, payload, hash);
    *hash = (uint64_t)(uintptr_t)v.o >> 4;
    return true;
}

static bool hash_object(VM *vm, Value v, uint64_t *hash) {
    switch ((ObjectType)v.o->type) {
    case OBJ_STR: *hash = str_hash(str_of(v)); return true;
    case OBJ_TUPLE: return hash_items(vm, tuple_of(v)->items, tuple_of(v)->count, hash);
    case OBJ_LIST: case OBJ_DICT: case OBJ_SET: return unhashable(vm, v);
    case OBJ_ITERATOR: if (value_is_view(v)) return unhashable(vm, v); *hash = (uint64_t)(uintptr_t)v.o >> 4; return true;
    case OBJ_FROZENSET: {
        uint64_t all = (uint64_t)set_of(v)->dict->live * 1927868237u;
        for (int i = 0; i < set_of(v)->dict->used; i++)
            if (set_of(v)->dict->entries[i].key.tag != V_NULL) all ^= (set_of(v)->dict->entries[i].hash ^ 89869747u ^ set_of(v)->dict->entries[i].hash << 16) * 3644798167u;
        *hash = all;
        return true;
    }
    case OBJ_SLICE: return hash_items(vm, (Value[]){((Slice *)v.o)->start, ((Slice *)v.o)->stop, ((Slice *)v.o)->step}, 3, hash);
    case OBJ_RANGE: return hash_items(vm, (Value[]){value_int(((Range *)v.o)->start), value_int(range_length((Range *)v.o)), value_int(((Range *)v.o)->step)}, 3, hash);
    case OBJ_METHOD: return hash_items(vm, (Value[]){((Method *)v.o)->function}, 1, hash);
    case OBJ_BUILTIN: *hash = (uint64_t)(uintptr_t)((Builtin *)v.o)->name >> 4; return true;
    case OBJ_OP: *hash = (uint64_t)(uintptr_t)((OpObject *)v.o)->op >> 4; return true;
    case OBJ_DEVICE: *hash = (uint64_t)((DeviceObject *)v.o)->device.kind * 64 + (uint64_t)((DeviceObject *)v.o)->device.index; return true;
    case OBJ_INSTANCE: return hash_instance(vm, v, hash);
    case OBJ_FUNCTION: if (vm->domain->compared) vm->domain->compared(vm, v, v); /* fall through */
    default: *hash = (uint64_t)(uintptr_t)v.o >> 4; return true;
    }
}

bool vm_hash(VM *vm, Value v, uint64_t *hash) {
    int64_t i;
    v = vm_force(vm, v);
    switch (v.tag) {
    case V_NULL: case V_ERROR: return false;
    case V_NONE: *hash = 0xfca86420; return true;
    case V_ELLIPSIS: *hash = 11; return true;
    case V_NOTIMPLEMENTED: *hash = 12; return true;
    case V_BOOL: *hash = v.b; return true;
    case V_INT: *hash = hash_int(v.i); return true;
    case V_FLOAT: *hash = hash_float(v.f); return true;
    case V_OBJECT: break;
    }
    if (value_is(v, OBJ_SYM)) {
        if (!sym_as_int(vm, v, &i)) return false;
        *hash = hash_int(i);
        return true;
    }
    if (!vm_enter(vm, " in hash()")) return false;
    bool ok = hash_object(vm, v, hash);
    vm_leave(vm);
    return ok;
}

/* ---- sorting: stable merge sort of keys with their items ---- */

typedef struct Keyed { Value key, item; } Keyed;

/* b < a, reversed: a < b. 1, 0, -1 */
static int comes_before(VM *vm, Value b, Value a, bool reverse) {
    Value result = reverse ? vm_compare(vm, COMPARE_LT, a, b) : vm_compare(vm, COMPARE_LT, b, a);
    int truth = value_is_error(result) ? -1 : vm_truth(vm, result);
    value_unref(vm, result);
    return truth;
}

static bool merge_sort(VM *vm, Keyed *at, Keyed *spare, int count, bool reverse) {
    if (count < 2) return true;
    int half = count / 2;
    if (!merge_sort(vm, at, spare, half, reverse) || !merge_sort(vm, at + half, spare, count - half, reverse)) return false;
    memcpy(spare, at, (size_t)half * sizeof *at);
    for (int left = 0, right = half, out = 0; left < half; out++) {
        int take_right = right < count ? comes_before(vm, at[right].key, spare[left].key, reverse) : 0;
        if (take_right < 0) { /* put the rest back, so that nothing is lost */
            memcpy(at + out, spare + left, (size_t)(half - left) * sizeof *at);
            return false;
        }
        at[out] = take_right ? at[right++] : spare[left++];
    }
    return true;
}

bool vm_sort(VM *vm, List *list, Value key, bool reverse) {
    int count = list->count;
    Value *items = list->items;
    int capacity = list->capacity;
    Keyed *pairs = malloc(((size_t)count * 2 + 1) * sizeof *pairs);
    if (!pairs) vm_out_of_memory();
    list->items = NULL; /* the list is empty while keys and comparisons run, as in CPython */
    list->count = list->capacity = 0;
    bool ok = true;
    int keyed = 0;
    for (; ok && keyed < count; keyed++) {
        Value k = key.tag == V_NONE ? value_ref(items[keyed]) : vm_call1(vm, key, items[keyed]);
        pairs[keyed] = (Keyed){k, items[keyed]};
        ok = !value_is_error(k);
    }
    ok = ok && merge_sort(vm, pairs, pairs + count, count, reverse);
    for (int i = 0; ok && i < count; i++) items[i] = pairs[i].item;
    for (int i = 0; i < keyed; i++) value_unref(vm, pairs[i].key);
    free(pairs);
    bool changed = list->count > 0;
    list_clear(vm, list);
    list->items = items;
    list->count = count;
    list->capacity = capacity;
    if (ok && changed) return vm_raise(vm, "ValueError", "list modified during sort"), false;
    return ok;
}
