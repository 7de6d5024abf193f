/* Methods of list, tuple and range. Each takes the sequence as args[0].
 *
 * To add one: a function here, a row in a table at the end; flags CHANGES for one that changes the list, which then calls vm_mutate first. */
#include "vm/methods.h"
#include <string.h>

#define SELF list_of(args[0])

static Value list_append_method(METHOD) {
    UNUSED;
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    list_append(vm, SELF, args[1]);
    return VALUE_NONE;
}

static Value list_extend_method(METHOD) {
    UNUSED;
    return vm_mutate(vm, SELF) && list_extend(vm, SELF, vm_unwrap(args[1])) ? VALUE_NONE : VALUE_ERROR;
}

static Value list_insert(METHOD) {
    UNUSED;
    int64_t at;
    if (!vm_as_int(vm, args[1], &at) || !vm_mutate(vm, SELF)) return VALUE_ERROR;
    int count = SELF->count;
    int64_t place = at < 0 ? at + count : at;
    place = place < 0 ? 0 : place > count ? count : place;
    list_append(vm, SELF, VALUE_NONE);
    memmove(SELF->items + place + 1, SELF->items + place, (size_t)(count - place) * sizeof(Value));
    SELF->items[place] = value_ref(args[2]);
    return VALUE_NONE;
}

static Value take_at(List *list, int64_t i) {
    Value item = list->items[i];
    memmove(list->items + i, list->items + i + 1, (size_t)(list->count - i - 1) * sizeof(Value));
    list->count--;
    return item;
}

static Value list_pop(METHOD) {
    UNUSED;
    int64_t i = SELF->count - 1;
    if (SELF->count == 0) return vm_raise(vm, "IndexError", "pop from empty list");
    int64_t wanted = -1;
    if (nargs > 1 && !vm_as_int(vm, args[1], &wanted)) return VALUE_ERROR; /* its code may change the list */
    if (SELF->count == 0) return vm_raise(vm, "IndexError", "pop from empty list");
    if (nargs > 1 && !index_in(vm, value_int(wanted), SELF->count, "pop", &i)) return VALUE_ERROR;
    if (nargs < 2) i = SELF->count - 1;
    return vm_mutate(vm, SELF) ? take_at(SELF, i) : VALUE_ERROR;
}

/* Place of an item in [from, to), -1 when absent, -2 on an error. */
static int64_t place_of(VM *vm, Value sequence, Value item, int64_t from, int64_t to) {
    Value *items;
    int count;
    for (int64_t i = from; sequence_view(sequence, &items, &count) && i < to && i < count; i++) {
        int same = vm_same_or_equal(vm, items[i], item);
        if (same) return same < 0 ? -2 : i;
    }
    return -1;
}

static Value list_remove(METHOD) {
    UNUSED;
    int64_t i = place_of(vm, args[0], args[1], 0, INT32_MAX);
    if (i == -1) return vm_raise(vm, "ValueError", "list.remove(x): x not in list");
    if (i < 0 || !vm_mutate(vm, SELF)) return VALUE_ERROR;
    value_unref(vm, take_at(SELF, i));
    return VALUE_NONE;
}

static Value sequence_index(METHOD) {
    UNUSED;
    Value *items;
    int count;
    sequence_view(args[0], &items, &count);
    int64_t start, stop, step, length;
    Value slice = slice_new(vm, nargs > 2 ? args[2] : VALUE_NONE, nargs > 3 ? args[3] : VALUE_NONE, VALUE_NONE);
    bool ok = slice_indices(vm, (Slice *)slice.o, count, &start, &stop, &step, &length);
    value_unref(vm, slice);
    int64_t i = ok ? place_of(vm, args[0], args[1], start, stop) : -2;
    if (i >= 0) return value_int(i);
    if (i == -2) return VALUE_ERROR;
    if (value_is(args[0], OBJ_TUPLE)) return vm_raise(vm, "ValueError", "tuple.index(x): x not in tuple");
    Value shown = vm_repr(vm, args[1]);
    if (value_is_error(shown)) return shown;
    vm_raise(vm, "ValueError", "%s is not in list", str_text(shown));
    value_unref(vm, shown);
    return VALUE_ERROR;
}

static Value sequence_count(METHOD) {
    UNUSED;
    Value *items;
    int count;
    int64_t found = 0;
    for (int i = 0; sequence_view(args[0], &items, &count) && i < count; i++) {
        int same = vm_same_or_equal(vm, items[i], args[1]);
        if (same < 0) return VALUE_ERROR;
        found += same;
    }
    return value_int(found);
}

static Value list_clear_method(METHOD) {
    UNUSED;
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    list_clear(vm, SELF);
    return VALUE_NONE;
}

static Value list_copy(METHOD) { UNUSED; return list_new(vm, SELF->items, SELF->count); }

static Value list_reverse(METHOD) {
    UNUSED;
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    for (int i = 0, k = SELF->count - 1; i < k; i++, k--) {
        Value v = SELF->items[i];
        SELF->items[i] = SELF->items[k];
        SELF->items[k] = v;
    }
    return VALUE_NONE;
}

static Value list_sort(METHOD) {
    static const char *const names[] = {"key", "reverse"};
    Value out[2];
    if (nargs > 1) return vm_raise(vm, "TypeError", "sort() takes no positional arguments");
    if (!vm_parse_args(vm, "sort", args + 1, 0, kwnames, names, 2, 0, out)) return VALUE_ERROR;
    int reverse = out[1].tag == V_NULL ? 0 : vm_truth(vm, out[1]);
    if (reverse < 0 || !vm_mutate(vm, SELF)) return VALUE_ERROR;
    return vm_sort(vm, SELF, out[0].tag == V_NULL ? VALUE_NONE : out[0], reverse) ? VALUE_NONE : VALUE_ERROR;
}

/* list.__init__: fills an instance of a subclass */
static Value list_init(METHOD) {
    if (!vm_no_keywords(vm, "list", kwnames) || !vm_mutate(vm, SELF)) return VALUE_ERROR;
    list_clear(vm, SELF);
    return nargs < 2 || list_extend(vm, SELF, vm_unwrap(args[1])) ? VALUE_NONE : VALUE_ERROR;
}

const BuiltinDef list_methods[] = {
    {"append", list_append_method, 2, 2, CHANGES}, {"extend", list_extend_method, 2, 2, CHANGES}, {"insert", list_insert, 3, 3, CHANGES},
    {"pop", list_pop, 1, 2, CHANGES}, {"remove", list_remove, 2, 2, CHANGES}, {"index", sequence_index, 2, 4, PLAIN},
    {"count", sequence_count, 2, 2, PLAIN}, {"clear", list_clear_method, 1, 1, CHANGES}, {"copy", list_copy, 1, 1, PLAIN},
    {"reverse", list_reverse, 1, 1, CHANGES}, {"sort", list_sort, 1, 3, BUILTIN_METHOD | BUILTIN_MUTATES}, {"__init__", list_init, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES},
    {NULL, NULL, 0, 0, 0},
};

const BuiltinDef tuple_methods[] = {
    {"index", sequence_index, 2, 4, PLAIN}, {"count", sequence_count, 2, 2, PLAIN}, {NULL, NULL, 0, 0, 0},
};

static Value range_index(METHOD) {
    UNUSED;
    Range *r = (Range *)args[0].o;
    int inside = vm_contains(vm, args[0], args[1]);
    if (inside < 0) return VALUE_ERROR;
    if (inside && value_is_integer(args[1])) return value_int((integer_of(args[1]) - r->start) / r->step);
    return vm_raise(vm, "ValueError", "value is not in range");
}

static Value range_count(METHOD) {
    UNUSED;
    int inside = vm_contains(vm, args[0], args[1]);
    return inside < 0 ? VALUE_ERROR : value_int(inside);
}

const BuiltinDef range_methods[] = {
    {"index", range_index, 2, 2, PLAIN}, {"count", range_count, 2, 2, PLAIN}, {NULL, NULL, 0, 0, 0},
};

static Value slice_indices_method(METHOD) {
    UNUSED;
    int64_t length, start, stop, step, count;
    if (!vm_as_int(vm, args[1], &length) || !slice_indices(vm, (Slice *)args[0].o, length, &start, &stop, &step, &count)) return VALUE_ERROR;
    return tuple_new(vm, (Value[]){value_int(start), value_int(stop), value_int(step)}, 3);
}

const BuiltinDef slice_methods[] = {{"indices", slice_indices_method, 2, 2, PLAIN}, {NULL, NULL, 0, 0, 0}};
