/* Set: keys of a dict, and the order in which CPython would iterate over them.
 *
 * CPython's sets are hash tables without order of insertion; what a program prints of a set of numbers depends on that table. Hashes of
 * strings differ there from run to run, so for them any order is right; for numbers, tuples of them and None the order is computed by
 * replaying the insertions into a table of the same shape.
 *
 *     Value s = set_new(vm, items, 3, false);
 *     int *order = set_order(vm, set_of(s));      // entry numbers of the dict; free() it
 *
 * Invariant: values of the dict behind a set are V_NONE. */
#include "vm/internal.h"
#include <stdlib.h>
#include <string.h>

Value set_new(VM *vm, const Value *items, int count, bool frozen) {
    Set *set = (Set *)object_new(vm, frozen ? OBJ_FROZENSET : OBJ_SET, sizeof *set);
    set->dict = dict_of(dict_new(vm));
    for (int i = 0; i < count; i++)
        if (!set_add(vm, set, items[i])) {
            value_unref(vm, value_object(set));
            return VALUE_ERROR;
        }
    return value_object(set);
}

bool set_add(VM *vm, Set *set, Value item) {
    uint64_t hash;
    if (!dict_key(vm, &item) || !vm_hash(vm, item, &hash)) return false;
    int entry = dict_find(vm, set->dict, item, hash);
    if (entry == -2) return false;
    return entry >= 0 || dict_set_hashed(vm, set->dict, item, hash, VALUE_NONE); /* the first of equal keys stays */
}

static bool add_each(VM *vm, void *state, Value item) { return set_add(vm, state, item); }

static uint64_t table_size(uint64_t wanted) {
    uint64_t size = 8;
    while (size <= wanted) size *= 2;
    return size;
}

/* The items of a set in its order, kept alive while the language may run. An empty set takes them into a table made for their number. */
static bool update_from_set(VM *vm, Set *set, Set *from) {
    int count = from->dict->live;
    if (set->dict->live == 0 && count * 5 >= 7 * 3) set->slots = (int)table_size((uint64_t)count * 2);
    int *order = set_order(vm, from);
    Value items = tuple_take(vm, count);
    for (int i = 0; i < count; i++) tuple_of(items)->items[i] = value_ref(from->dict->entries[order[i]].key);
    free(order);
    bool ok = true;
    for (int i = 0; i < count && ok; i++) ok = set_add(vm, set, tuple_of(items)->items[i]);
    value_unref(vm, items);
    return ok;
}

bool set_update(VM *vm, Set *set, Value iterable) {
    iterable = vm_unwrap(vm_force(vm, iterable));
    if (value_is_error(iterable)) return false;
    if (value_is(iterable, OBJ_SET) || value_is(iterable, OBJ_FROZENSET)) return update_from_set(vm, set, set_of(iterable));
    return vm_each(vm, iterable, add_each, set);
}

bool set_has(VM *vm, Set *set, Value item, bool *found) {
    uint64_t hash;
    item = vm_force(vm, item);
    if (!vm_hash(vm, item, &hash)) return false;
    int entry = dict_find(vm, set->dict, item, hash);
    *found = entry >= 0;
    return entry != -2;
}

/* ---- CPython's order ---- */

enum { FREE = -1, DELETED = -2 /* still in the way of others, until the table is made anew */ };
typedef struct Slots { int *entry; uint64_t *hash; uint64_t mask; int fill; } Slots; /* fill: DELETED ones too */

static void slots_make(Slots *slots, uint64_t size) {
    slots->entry = malloc(size * sizeof(int));
    slots->hash = malloc(size * sizeof(uint64_t));
    if (!slots->entry || !slots->hash) vm_out_of_memory();
    memset(slots->entry, 0xff, size * sizeof(int));
    slots->mask = size - 1;
    slots->fill = 0;
}

static void slots_free(Slots *slots) {
    free(slots->entry);
    free(slots->hash);
}

/* A run of nine neighbours is tried where it does not pass the end of the table, then the next place of the perturbed sequence. */
static void slots_insert(Slots *slots, int entry, uint64_t hash) {
    uint64_t i = hash & slots->mask, perturb = hash;
    for (;;) {
        uint64_t run = i + 9 <= slots->mask ? 9 : 0;
        for (uint64_t k = 0; k <= run; k++) {
            if (slots->entry[i + k] != FREE) continue;
            slots->entry[i + k] = entry;
            slots->hash[i + k] = hash;
            slots->fill++;
            return;
        }
        perturb >>= 5;
        i = (i * 5 + 1 + perturb) & slots->mask;
    }
}

static void slots_resize(Slots *slots, uint64_t wanted) {
    Slots old = *slots;
    slots_make(slots, table_size(wanted));
    for (uint64_t i = 0; i <= old.mask; i++)
        if (old.entry[i] >= 0) slots_insert(slots, old.entry[i], old.hash[i]);
    slots_free(&old);
}

int *set_order(VM *vm, Set *set) {
    (void)vm;
    Dict *dict = set->dict;
    int *order = malloc(((size_t)dict->live + 1) * sizeof(int));
    if (!order) vm_out_of_memory();
    Slots slots;
    slots_make(&slots, set->slots ? (uint64_t)set->slots : 8);
    for (int i = 0; i < dict->used; i++) {
        slots_insert(&slots, dict->entries[i].key.tag == V_NULL ? DELETED : i, dict->entries[i].hash);
        if ((uint64_t)slots.fill * 5 >= slots.mask * 3) slots_resize(&slots, (uint64_t)slots.fill * (slots.fill > 50000 ? 2 : 4));
    }
    int count = 0;
    for (uint64_t i = 0; i <= slots.mask; i++)
        if (slots.entry[i] >= 0) order[count++] = slots.entry[i];
    slots_free(&slots);
    return order;
}
