/* Sequences: tuples, lists, ranges, and the arithmetic of slices and indices that all sequences share.
 *
 *     Value list = list_new(vm, NULL, 0);
 *     list_append(vm, list_of(list), value_int(3));
 *     slice_indices(vm, slice, length, &start, &stop, &step, &count);    // Python's clamping
 *
 * Invariant: items[0..count) of a list or tuple are never V_NULL once it is visible to the program. */
#include "vm/internal.h"
#include <stdlib.h>
#include <string.h>

Value tuple_take(VM *vm, int count) {
    if (count == 0 && vm->own->empty_tuple) return value_ref(value_object(vm->own->empty_tuple));
    Tuple *t = (Tuple *)object_new(vm, OBJ_TUPLE, sizeof(Tuple) + (size_t)count * sizeof(Value));
    t->count = count;
    return value_object(t);
}

Value tuple_take_like(VM *vm, int count, const Tuple *like) {
    if (!like->is_size) return tuple_take(vm, count);
    Tuple *t = (Tuple *)object_new(vm, OBJ_TUPLE, sizeof(Tuple) + (size_t)count * sizeof(Value));
    t->count = count;
    t->is_size = true;
    return value_object(t);
}

Value tuple_new(VM *vm, const Value *items, int count) {
    Value tuple = tuple_take(vm, count);
    for (int i = 0; i < count; i++) tuple_of(tuple)->items[i] = value_ref(items[i]);
    return tuple;
}

static void grow_to(VM *vm, List *list, int capacity) {
    vm_account(vm, (int64_t)(capacity - list->capacity) * (int64_t)sizeof(Value));
    list->items = realloc(list->items, (size_t)capacity * sizeof(Value));
    if (!list->items) vm_out_of_memory();
    list->capacity = capacity;
}

bool list_reserve(VM *vm, List *list, int capacity) {
    if (capacity <= list->capacity) return true;
    if (!vm_reserve(vm, capacity, (int64_t)sizeof(Value))) return false;
    grow_to(vm, list, capacity);
    return true;
}

Value list_new(VM *vm, const Value *items, int count) {
    List *list = (List *)object_new(vm, OBJ_LIST, sizeof *list);
    if (count) grow_to(vm, list, count);
    for (int i = 0; i < count; i++) list->items[i] = items ? value_ref(items[i]) : VALUE_NONE;
    list->count = count;
    return value_object(list);
}

void list_append(VM *vm, List *list, Value item) {
    if (list->count == list->capacity) grow_to(vm, list, list->capacity < 4 ? 4 : list->capacity + list->capacity / 2);
    list->items[list->count++] = value_ref(item);
}

void list_clear(VM *vm, List *list) {
    Value *items = list->items;
    int count = list->count;
    vm_account(vm, -(int64_t)((size_t)list->capacity * sizeof(Value)));
    list->items = NULL;
    list->count = list->capacity = 0;
    while (count-- > 0) value_unref(vm, items[count]); /* the last one first, as CPython */
    free(items);
}

static bool append_each(VM *vm, void *state, Value item) {
    list_append(vm, state, item);
    return ((List *)state)->count % 4096 != 0 || vm_reserve(vm, 4096, (int64_t)sizeof(Value));
}

bool list_extend(VM *vm, List *list, Value iterable) {
    Value *items;
    int count;
    if (sequence_view(iterable, &items, &count)) {
        if (!list_reserve(vm, list, list->count + count)) return false;
        sequence_view(iterable, &items, &count); /* the list may extend itself */
        for (int i = 0; i < count; i++) list->items[list->count + i] = value_ref(items[i]);
        list->count += count;
        return true;
    }
    return vm_each(vm, iterable, append_each, list);
}

bool sequence_view(Value v, Value **items, int *count) {
    if (value_is(v, OBJ_LIST)) *items = list_of(v)->items, *count = list_of(v)->count;
    else if (value_is(v, OBJ_TUPLE)) *items = tuple_of(v)->items, *count = tuple_of(v)->count;
    else return false;
    return true;
}

Value vm_list_of(VM *vm, Value iterable) {
    iterable = vm_force(vm, iterable);
    if (value_is(iterable, OBJ_RANGE) && !vm_reserve(vm, range_length((Range *)iterable.o), (int64_t)sizeof(Value))) return VALUE_ERROR; /* said before it is filled */
    Value list = list_new(vm, NULL, 0);
    if (!value_is_error(iterable) && list_extend(vm, list_of(list), iterable)) return list;
    value_unref(vm, list);
    return VALUE_ERROR;
}

Value range_new(VM *vm, int64_t start, int64_t stop, int64_t step) {
    Range *r = (Range *)object_new(vm, OBJ_RANGE, sizeof *r);
    r->start = start;
    r->stop = stop;
    r->step = step;
    return value_object(r);
}

static int64_t saturated(uint64_t n) { return n > INT64_MAX ? INT64_MAX : (int64_t)n; }

int64_t range_length(const Range *r) {
    uint64_t start = (uint64_t)r->start, stop = (uint64_t)r->stop;
    if (r->step > 0) return r->start < r->stop ? saturated((stop - start - 1) / (uint64_t)r->step + 1) : 0;
    uint64_t down = (uint64_t)(-(r->step + 1)) + 1; /* -step, also of the smallest integer */
    return r->start > r->stop ? saturated((start - stop - 1) / down + 1) : 0;
}

Value range_item(const Range *r, int64_t i) { return value_int((int64_t)((uint64_t)r->start + (uint64_t)i * (uint64_t)r->step)); }

/* A bound of a slice: absent gives `otherwise`; numbers beyond what an int holds cannot occur. */
static bool slice_bound(VM *vm, Value bound, int64_t length, int64_t low, int64_t high, int64_t otherwise, int64_t *out) {
    bound = vm_force(vm, bound);
    if (value_is_error(bound)) return false;
    if (bound.tag == V_NONE) return *out = otherwise, true;
    int64_t i;
    if (bound.tag == V_INT) i = bound.i;
    else if (bound.tag == V_BOOL || value_is(bound, OBJ_INSTANCE) || value_is(bound, OBJ_SYM) || value_is(bound, OBJ_TENSOR)) {
        if (!vm_as_int(vm, bound, &i)) return false;
    } else return vm_raise(vm, "TypeError", "slice indices must be integers or None or have an __index__ method"), false;
    if (i < 0) i += length;
    *out = i < low ? low : i > high ? high : i;
    return true;
}

bool slice_indices(VM *vm, Slice *slice, int64_t length, int64_t *start, int64_t *stop, int64_t *step, int64_t *count) {
    *step = 1;
    Value by = vm_force(vm, slice->step);
    if (value_is_error(by) || (by.tag != V_NONE && !vm_as_int(vm, by, step))) return false;
    if (*step == 0) return vm_raise(vm, "ValueError", "slice step cannot be zero"), false;
    if (*step < -INT64_MAX) *step = -INT64_MAX;
    int64_t low = *step < 0 ? -1 : 0, high = *step < 0 ? length - 1 : length;
    if (!slice_bound(vm, slice->start, length, low, high, *step < 0 ? high : low, start)) return false;
    if (!slice_bound(vm, slice->stop, length, low, high, *step < 0 ? low : high, stop)) return false;
    *count = range_length(&(Range){.start = *start, .stop = *stop, .step = *step});
    return true;
}

bool index_in(VM *vm, Value key, int64_t length, const char *what, int64_t *index) {
    if (key.tag != V_INT && !vm_as_int(vm, key, &key.i)) return false;
    int64_t i = key.i < 0 ? key.i + length : key.i;
    if (i < 0 || i >= length) return vm_raise(vm, "IndexError", "%s index out of range", what), false;
    *index = i;
    return true;
}
