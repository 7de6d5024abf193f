/* Dict: an array of entries in order of insertion and, once there are more than a few, an open-addressed table of places in it.
 *
 *     Value d = dict_new(vm);
 *     dict_set(vm, dict_of(d), key, value);             // false: unhashable key, exception set
 *     Value found = dict_get(vm, dict_of(d), key);      // owned; V_NULL when absent
 *
 * Deleted entries keep their place (key V_NULL) until the array grows. Namespaces are looked up by interned name through a table of
 * hints (vm->own->hints): a hint is checked against the entry, so it is never wrong, only sometimes useless.
 *
 * Invariant: index[] holds entry + 1, 0 for free, -1 for deleted; at most half of it is taken; live counts keys that are not V_NULL. */
#include "vm/internal.h"
#include "vm/tensor_protocol.h"
#include <stdlib.h>
#include <string.h>

enum { LINEAR = 8 /* so many entries are searched one by one */ };

Value dict_new(VM *vm) { return value_object(object_new(vm, OBJ_DICT, sizeof(Dict))); }

static uint32_t spread(uint64_t hash) {
    hash *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

static void index_put(Dict *dict, int entry) {
    uint32_t mask = (uint32_t)dict->index_size - 1, i = spread(dict->entries[entry].hash) & mask;
    while (dict->index[i] > 0) i = (i + 1) & mask;
    dict->index[i] = entry + 1;
}

/* Squeezes deleted entries out and makes the index anew for the present capacity. */
static void rebuild(VM *vm, Dict *dict) {
    int kept = 0;
    for (int i = 0; i < dict->used; i++)
        if (dict->entries[i].key.tag != V_NULL) dict->entries[kept++] = dict->entries[i];
    dict->used = kept;
    int size = 0;
    if (dict->capacity > LINEAR)
        for (size = 16; size < dict->capacity * 2;) size *= 2;
    vm_account(vm, (int64_t)(size - dict->index_size) * (int64_t)sizeof(int32_t));
    free(dict->index);
    dict->index = size ? calloc((size_t)size, sizeof(int32_t)) : NULL;
    if (size && !dict->index) vm_out_of_memory();
    dict->index_size = size;
    for (int i = 0; i < kept && size; i++) index_put(dict, i);
}

static void make_room(VM *vm, Dict *dict) {
    if (dict->used < dict->capacity) return;
    if (dict->live * 2 > dict->capacity || dict->capacity < LINEAR) {
        int capacity = dict->capacity ? dict->capacity * 2 : 4;
        vm_account(vm, (int64_t)(capacity - dict->capacity) * (int64_t)sizeof(DictEntry));
        dict->entries = realloc(dict->entries, (size_t)capacity * sizeof(DictEntry));
        if (!dict->entries) vm_out_of_memory();
        dict->capacity = capacity;
    }
    rebuild(vm, dict);
}

/* 1, 0, -1; runs the language's __eq__ when the keys are instances */
static int same_key(VM *vm, Value a, Value b) {
    if (value_is(a, OBJ_STR) && value_is(b, OBJ_STR)) return str_equal(str_of(a), str_of(b));
    return value_identical(a, b) ? 1 : vm_equal(vm, a, b);
}

int dict_find(VM *vm, Dict *dict, Value key, uint64_t hash) {
    if (!dict->index) {
        for (int i = 0; i < dict->used; i++) {
            if (dict->entries[i].key.tag == V_NULL || dict->entries[i].hash != hash) continue;
            int same = same_key(vm, dict->entries[i].key, key);
            if (same) return same > 0 ? i : -2;
        }
        return -1;
    }
    uint32_t mask = (uint32_t)dict->index_size - 1;
    for (uint32_t i = spread(hash) & mask; dict->index[i]; i = (i + 1) & mask) {
        int entry = dict->index[i] - 1;
        if (entry < 0 || dict->entries[entry].hash != hash) continue;
        int same = same_key(vm, dict->entries[entry].key, key);
        if (same) return same > 0 ? entry : -2;
    }
    return -1;
}

static void touched(VM *vm, Dict *dict) {
    dict->version = ++vm->dict_changes;
    if (dict->head.flags & FLAG_NAMESPACE) vm->own->epoch++;
}

static int append(VM *vm, Dict *dict, Value key, uint64_t hash, Value value) {
    make_room(vm, dict);
    int entry = dict->used++;
    dict->entries[entry] = (DictEntry){value_ref(key), value_ref(value), hash};
    dict->live++;
    if (dict->index) index_put(dict, entry);
    touched(vm, dict);
    return entry;
}

bool dict_set_hashed(VM *vm, Dict *dict, Value key, uint64_t hash, Value value) {
    int entry = dict_find(vm, dict, key, hash);
    if (entry == -2) return false;
    if (entry < 0) append(vm, dict, key, hash, value);
    else {
        touched(vm, dict);
        value_set(vm, &dict->entries[entry].value, value_ref(value));
    }
    return true;
}

/* A key as dicts and sets keep it: looked at, and a symbolic int as the plain one that it is this time (which is guarded). */
bool dict_key(VM *vm, Value *key) {
    int64_t plain;
    *key = vm_force(vm, *key);
    if (vm->domain->key && value_is(*key, OBJ_TENSOR)) *key = vm->domain->key(vm, *key);
    if (!value_is(*key, OBJ_SYM)) return !value_is_error(*key);
    if (!sym_as_int(vm, *key, &plain)) return false;
    *key = value_int(plain);
    return true;
}

bool dict_set(VM *vm, Dict *dict, Value key, Value value) {
    uint64_t hash;
    return dict_key(vm, &key) && vm_hash(vm, key, &hash) && dict_set_hashed(vm, dict, key, hash, value);
}

Value dict_get(VM *vm, Dict *dict, Value key) {
    uint64_t hash;
    if (!dict_key(vm, &key) || !vm_hash(vm, key, &hash)) return VALUE_ERROR;
    int entry = dict_find(vm, dict, key, hash);
    if (entry < 0) return entry == -1 ? VALUE_NULL : VALUE_ERROR;
    return value_ref(dict->entries[entry].value);
}

Value dict_look_up(VM *vm, Dict *dict, Value key) {
    Value found = dict_get(vm, dict, key);
    if (vm->domain->looked_up && !value_is_error(found)) vm->domain->looked_up(vm, dict, vm_force(vm, key), found.tag != V_NULL);
    return found;
}

void dict_remove_at(VM *vm, Dict *dict, int entry) {
    DictEntry gone = dict->entries[entry];
    if (dict->index) {
        uint32_t mask = (uint32_t)dict->index_size - 1, i = spread(gone.hash) & mask;
        while (dict->index[i] != entry + 1) i = (i + 1) & mask;
        dict->index[i] = -1;
    }
    dict->entries[entry].key = dict->entries[entry].value = VALUE_NULL;
    dict->live--;
    if (entry == dict->used - 1) dict->used--; /* a stack of keys stays small */
    touched(vm, dict);
    value_unref(vm, gone.key);
    value_unref(vm, gone.value);
}

bool dict_delete(VM *vm, Dict *dict, Value key, bool *found) {
    uint64_t hash;
    *found = false;
    if (!dict_key(vm, &key) || !vm_hash(vm, key, &hash)) return false;
    int entry = dict_find(vm, dict, key, hash);
    if (entry == -2) return false;
    if (entry >= 0) {
        dict_remove_at(vm, dict, entry);
        *found = true;
    }
    return true;
}

void dict_clear(VM *vm, Dict *dict) {
    DictEntry *entries = dict->entries;
    int used = dict->used;
    vm_account(vm, -(int64_t)((size_t)dict->capacity * sizeof(DictEntry) + (size_t)dict->index_size * sizeof(int32_t)));
    free(dict->index);
    dict->entries = NULL;
    dict->index = NULL;
    dict->used = dict->capacity = dict->live = dict->index_size = 0;
    touched(vm, dict);
    for (int i = 0; i < used; i++) {
        value_unref(vm, entries[i].key);
        value_unref(vm, entries[i].value);
    }
    free(entries);
}

static int32_t *hint_of(VM *vm, const Dict *dict, const char *name) {
    uintptr_t mixed = ((uintptr_t)dict >> 4) * 31 ^ ((uintptr_t)name >> 4);
    return &vm->own->hints[mixed & (HINT_SLOTS - 1)];
}

static bool entry_named(const Dict *dict, int entry, const char *interned) {
    return entry < dict->used && value_is(dict->entries[entry].key, OBJ_STR) && str_of(dict->entries[entry].key)->interned == interned;
}

static int find_name(VM *vm, Dict *dict, const char *interned) {
    int32_t *hint = hint_of(vm, dict, interned);
    if (entry_named(dict, *hint, interned)) return *hint;
    if (dict->live == 0) return -1;
    Str *key = str_of_name(vm, interned);
    int entry = dict_find(vm, dict, value_object(key), key->hash);
    if (entry >= 0 && entry_named(dict, entry, interned)) *hint = entry;
    return entry;
}

Value dict_get_name(VM *vm, Dict *dict, const char *interned) {
    int entry = find_name(vm, dict, interned);
    return entry < 0 ? VALUE_NULL : dict->entries[entry].value;
}

void dict_set_name(VM *vm, Dict *dict, const char *interned, Value value) {
    int entry = find_name(vm, dict, interned);
    if (entry >= 0) {
        touched(vm, dict);
        value_set(vm, &dict->entries[entry].value, value_ref(value));
        return;
    }
    Value key = str_interned(vm, interned);
    *hint_of(vm, dict, interned) = append(vm, dict, key, str_of(key)->hash, value);
    value_unref(vm, key);
}

bool dict_next(const Dict *dict, int *position, Value *key, Value *value) {
    while (*position < dict->used) {
        const DictEntry *entry = &dict->entries[(*position)++];
        if (entry->key.tag == V_NULL) continue;
        if (key) *key = entry->key;
        if (value) *value = entry->value;
        return true;
    }
    return false;
}

Value dict_items_tuple(VM *vm, Dict *dict, int entry) {
    return tuple_new(vm, (Value[]){dict->entries[entry].key, dict->entries[entry].value}, 2);
}

Value dict_copy(VM *vm, Dict *dict) {
    Value copy = dict_new(vm);
    Dict *out = dict_of(copy);
    for (int i = 0; i < dict->used; i++)
        if (dict->entries[i].key.tag != V_NULL) append(vm, out, dict->entries[i].key, dict->entries[i].hash, dict->entries[i].value);
    if (dict->fallback) {
        out->fallback = malloc(sizeof(Value));
        if (!out->fallback) vm_out_of_memory();
        *out->fallback = value_ref(*dict->fallback);
    }
    out->is_counter = dict->is_counter;
    out->is_ordered = dict->is_ordered;
    return copy;
}

/* One item of `dict(pairs)`: a sequence of two. */
typedef struct PairMerge { Dict *dict; int number; } PairMerge;

static bool merge_pair(VM *vm, void *state, Value item) {
    PairMerge *merge = state;
    Value list = vm_list_of(vm, item);
    if (value_is_error(list)) {
        if (!vm_pending(vm, "TypeError")) return false;
        vm_clear_exception(vm);
        return vm_raise(vm, "TypeError", "cannot convert dictionary update sequence element #%d to a sequence", merge->number), false;
    }
    int n = list_of(list)->count;
    if (n != 2) vm_raise(vm, "ValueError", "dictionary update sequence element #%d has length %d; 2 is required", merge->number, n);
    bool ok = n == 2 && dict_set(vm, merge->dict, list_of(list)->items[0], list_of(list)->items[1]);
    merge->number++;
    value_unref(vm, list);
    return ok;
}

static bool merge_dict(VM *vm, Dict *dict, Dict *from) {
    int before = from->live;
    for (int i = 0; i < from->used; i++) {
        if (from->entries[i].key.tag == V_NULL) continue;
        DictEntry entry = from->entries[i];
        value_ref(entry.key), value_ref(entry.value);
        bool ok = dict_set_hashed(vm, dict, entry.key, entry.hash, entry.value);
        value_unref(vm, entry.key), value_unref(vm, entry.value);
        if (!ok) return false;
        if (dict != from && from->live != before) return vm_raise(vm, "RuntimeError", "dict mutated during update"), false;
    }
    return true;
}

typedef struct KeyMerge { Dict *dict; Value mapping; } KeyMerge;

static bool merge_key(VM *vm, void *state, Value key) {
    KeyMerge *merge = state;
    Value value = vm_subscript(vm, merge->mapping, key);
    if (value_is_error(value)) return false;
    bool ok = dict_set(vm, merge->dict, key, value);
    value_unref(vm, value);
    return ok;
}

bool dict_merge(VM *vm, Dict *dict, Value mapping) {
    mapping = vm_force(vm, mapping);
    if (value_is_error(mapping)) return false;
    Value plain = vm_unwrap(mapping);
    if (value_is(plain, OBJ_DICT)) return merge_dict(vm, dict, dict_of(plain));
    Value keys = vm_lookup_special(vm, mapping, vm_intern(vm, "keys"));
    if (keys.tag == V_NULL) return vm_each(vm, mapping, merge_pair, &(PairMerge){dict, 0});
    Value list = value_is_error(keys) ? keys : vm_call0(vm, keys);
    value_unref(vm, keys);
    KeyMerge merge = {dict, mapping};
    bool ok = !value_is_error(list) && vm_each(vm, list, merge_key, &merge);
    value_unref(vm, list);
    return ok;
}
