/* Methods of dict (with those of Counter and OrderedDict) and set. Each takes the container as args[0].
 *
 * To add one: a function here, a row in a table at the end; what changes its container calls vm_mutate first. */
#include "vm/methods.h"
#include <stdlib.h>
#include <string.h>

#define SELF dict_of(args[0])

static Value dict_keys(METHOD) { UNUSED; return dict_view_new(vm, SELF, "dict_keys"); }
static Value dict_values(METHOD) { UNUSED; return dict_view_new(vm, SELF, "dict_values"); }
static Value dict_items(METHOD) { UNUSED; return dict_view_new(vm, SELF, "dict_items"); }
static Value dict_copy_method(METHOD) { UNUSED; return dict_copy(vm, SELF); }

static Value dict_get_method(METHOD) {
    UNUSED;
    Value found = dict_look_up(vm, SELF, args[1]);
    return found.tag == V_NULL ? (nargs > 2 ? value_ref(args[2]) : VALUE_NONE) : found;
}

static Value dict_setdefault(METHOD) {
    UNUSED;
    Value found = dict_get(vm, SELF, args[1]), otherwise = nargs > 2 ? args[2] : VALUE_NONE;
    if (found.tag != V_NULL) return found;
    return vm_mutate(vm, SELF) && dict_set(vm, SELF, args[1], otherwise) ? value_ref(otherwise) : VALUE_ERROR;
}

static Value dict_pop(METHOD) {
    UNUSED;
    bool found;
    Value v = dict_get(vm, SELF, args[1]);
    if (v.tag == V_NULL) return nargs > 2 ? value_ref(args[2]) : vm_key_error(vm, args[1]);
    if (value_is_error(v)) return v;
    if (vm_mutate(vm, SELF) && dict_delete(vm, SELF, args[1], &found)) return v;
    value_unref(vm, v);
    return VALUE_ERROR;
}

static Value pop_entry(VM *vm, Dict *dict, bool last) {
    int i = last ? dict->used - 1 : 0;
    while (i >= 0 && i < dict->used && dict->entries[i].key.tag == V_NULL) i += last ? -1 : 1;
    Value pair = dict_items_tuple(vm, dict, i);
    dict_remove_at(vm, dict, i);
    return pair;
}

static Value dict_popitem(METHOD) {
    static const char *const names[] = {"last"};
    Value last;
    if (!vm_parse_args(vm, "popitem", args + 1, nargs - 1, kwnames, names, 1, 0, &last)) return VALUE_ERROR;
    if (SELF->live == 0) return vm_raise(vm, "KeyError", SELF->is_ordered ? "dictionary is empty" : "popitem(): dictionary is empty");
    return vm_mutate(vm, SELF) ? pop_entry(vm, SELF, last.tag == V_NULL || vm_truth(vm, last) > 0) : VALUE_ERROR;
}

static bool update_keywords(VM *vm, Dict *dict, Value *args, int nargs, Tuple *kwnames) {
    for (int i = 0; kwnames && i < kwnames->count; i++)
        if (!dict_set(vm, dict, kwnames->items[i], args[nargs + i])) return false;
    return true;
}

static Value dict_update(METHOD) {
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    if (nargs > 1 && !dict_merge(vm, SELF, args[1])) return VALUE_ERROR;
    return update_keywords(vm, SELF, args, nargs, kwnames) ? VALUE_NONE : VALUE_ERROR;
}

static Value dict_clear_method(METHOD) {
    UNUSED;
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    dict_clear(vm, SELF);
    return VALUE_NONE;
}

static Value dict_init(METHOD) {
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    return dict_update(vm, args, nargs, kwnames);
}

typedef struct FromKeys { Dict *dict; Value value; } FromKeys;
static bool add_key(VM *vm, void *state, Value key) { return dict_set(vm, ((FromKeys *)state)->dict, key, ((FromKeys *)state)->value); }

static Value dict_fromkeys(METHOD) {
    UNUSED;
    Value dict = dict_new(vm);
    FromKeys state = {dict_of(dict), nargs > 2 ? args[2] : VALUE_NONE};
    if (args[0].o == (Object *)vm->own->class_ordered) state.dict->is_ordered = true;
    if (vm_each(vm, args[1], add_key, &state)) return dict;
    value_unref(vm, dict);
    return VALUE_ERROR;
}

/* OrderedDict.move_to_end(key, last=True) */
static Value dict_move_to_end(METHOD) {
    static const char *const names[] = {"key", "last"};
    Value out[2];
    if (!vm_parse_args(vm, "move_to_end", args + 1, nargs - 1, kwnames, names, 2, 1, out)) return VALUE_ERROR;
    Value v = dict_get(vm, SELF, out[0]);
    bool found, last = out[1].tag == V_NULL || vm_truth(vm, out[1]) > 0, ok = true;
    if (v.tag == V_NULL) return vm_key_error(vm, out[0]);
    if (value_is_error(v) || !vm_mutate(vm, SELF)) return VALUE_ERROR;
    Value key = value_ref(out[0]), rest = VALUE_NULL;
    ok = dict_delete(vm, SELF, key, &found);
    if (!last) {
        rest = dict_copy(vm, SELF);
        dict_clear(vm, SELF);
    }
    ok = ok && dict_set(vm, SELF, key, v) && (last || dict_merge(vm, SELF, rest));
    value_unref(vm, rest);
    value_unref(vm, key);
    value_unref(vm, v);
    return ok ? VALUE_NONE : VALUE_ERROR;
}

const BuiltinDef dict_methods[] = {
    {"keys", dict_keys, 1, 1, PLAIN}, {"values", dict_values, 1, 1, PLAIN}, {"items", dict_items, 1, 1, PLAIN}, {"copy", dict_copy_method, 1, 1, PLAIN},
    {"get", dict_get_method, 2, 3, PLAIN}, {"setdefault", dict_setdefault, 2, 3, CHANGES}, {"pop", dict_pop, 2, 3, CHANGES},
    {"popitem", dict_popitem, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES}, {"update", dict_update, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES},
    {"clear", dict_clear_method, 1, 1, CHANGES}, {"__init__", dict_init, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES},
    {"fromkeys", dict_fromkeys, 2, 3, BUILTIN_CLASSMETHOD | BUILTIN_POSITIONAL}, {"move_to_end", dict_move_to_end, 2, 3, BUILTIN_METHOD | BUILTIN_MUTATES},
    {NULL, NULL, 0, 0, 0},
};

/* ---- set ---- */

#undef SELF
#define SELF set_of(args[0])

static Value set_add_method(METHOD) {
    UNUSED;
    return vm_mutate(vm, SELF) && set_add(vm, SELF, args[1]) ? VALUE_NONE : VALUE_ERROR;
}

static Value drop(VM *vm, Value *args, bool must) {
    bool found;
    if (!vm_mutate(vm, SELF) || !dict_delete(vm, SELF->dict, args[1], &found)) return VALUE_ERROR;
    return found || !must ? VALUE_NONE : vm_key_error(vm, args[1]);
}

static Value set_remove(METHOD) { UNUSED; return drop(vm, args, true); }
static Value set_discard(METHOD) { UNUSED; return drop(vm, args, false); }

static Value set_pop(METHOD) {
    UNUSED;
    if (SELF->dict->live == 0) return vm_raise(vm, "KeyError", "pop from an empty set");
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    int *order = set_order(vm, SELF), first = order[0];
    free(order);
    Value key = value_ref(SELF->dict->entries[first].key);
    dict_remove_at(vm, SELF->dict, first);
    return key;
}

static Value set_clear(METHOD) {
    UNUSED;
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    dict_clear(vm, SELF->dict);
    return VALUE_NONE;
}

static Value set_copy(METHOD) {
    UNUSED;
    Value copy = set_new(vm, NULL, 0, SELF->head.type == OBJ_FROZENSET);
    return set_update(vm, set_of(copy), args[0]) ? copy : VALUE_ERROR;
}

static Value set_update_method(METHOD) {
    UNUSED;
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    for (int i = 1; i < nargs; i++)
        if (!set_update(vm, SELF, args[i])) return VALUE_ERROR;
    return VALUE_NONE;
}

static Value as_set(VM *vm, Value iterable) {
    Value plain = vm_unwrap(iterable);
    if (value_is(plain, OBJ_SET) || value_is(plain, OBJ_FROZENSET)) return value_ref(plain);
    Value set = set_new(vm, NULL, 0, false);
    if (set_update(vm, set_of(set), plain)) return set;
    value_unref(vm, set);
    return VALUE_ERROR;
}

static bool drop_item(VM *vm, void *state, Value item) {
    bool found;
    return dict_delete(vm, ((Set *)state)->dict, item, &found);
}

static bool drop_each(VM *vm, Set *set, Value iterable) { return vm_each(vm, iterable, drop_item, set); }

/* union, intersection, difference with any number of iterables */
static Value combine(VM *vm, Value *args, int nargs, int op) {
    Value result = set_new(vm, NULL, 0, SELF->head.type == OBJ_FROZENSET);
    if (!set_update(vm, set_of(result), args[0])) return value_unref(vm, result), VALUE_ERROR;
    for (int i = 1; i < nargs && !value_is_error(result); i++) {
        bool plain = !value_is(vm_unwrap(args[i]), OBJ_SET) && !value_is(vm_unwrap(args[i]), OBJ_FROZENSET);
        if (op == BINARY_SUBTRACT && (plain || i > 1)) {
            if (!drop_each(vm, set_of(result), args[i])) value_unref(vm, result), result = VALUE_ERROR;
            continue;
        }
        Value other = as_set(vm, args[i]);
        Value next = value_is_error(other) ? other : set_binary(vm, op, set_of(result), set_of(other));
        value_unref(vm, other);
        value_unref(vm, result);
        result = next;
    }
    return result;
}

static Value set_union(METHOD) { UNUSED; return combine(vm, args, nargs, BINARY_OR); }
static Value set_intersection(METHOD) { UNUSED; return combine(vm, args, nargs, BINARY_AND); }
static Value set_difference(METHOD) { UNUSED; return combine(vm, args, nargs, BINARY_SUBTRACT); }
static Value set_symmetric(METHOD) { UNUSED; return combine(vm, args, nargs, BINARY_XOR); }

static Value combine_in_place(VM *vm, Value *args, int nargs, int op) {
    if (!vm_mutate(vm, SELF)) return VALUE_ERROR;
    Value result = combine(vm, args, nargs, op);
    if (value_is_error(result)) return result;
    Dict *swap = SELF->dict;
    SELF->dict = set_of(result)->dict;
    set_of(result)->dict = swap;
    value_unref(vm, result);
    return VALUE_NONE;
}

static Value set_intersection_update(METHOD) { UNUSED; return combine_in_place(vm, args, nargs, BINARY_AND); }
static Value set_difference_update(METHOD) { UNUSED; return combine_in_place(vm, args, nargs, BINARY_SUBTRACT); }
static Value set_symmetric_update(METHOD) { UNUSED; return combine_in_place(vm, args, nargs, BINARY_XOR); }

enum SetTest { SUBSET, SUPERSET, DISJOINT };

static Value test_sets(VM *vm, Value *args, enum SetTest test) {
    Value other = as_set(vm, args[1]);
    if (value_is_error(other)) return other;
    Value result;
    if (test == DISJOINT) {
        Value common = set_binary(vm, BINARY_AND, SELF, set_of(other));
        result = value_is_error(common) ? common : value_bool(set_of(common)->dict->live == 0);
        value_unref(vm, common);
    } else result = vm_compare(vm, test == SUBSET ? COMPARE_LE : COMPARE_GE, args[0], other);
    value_unref(vm, other);
    return result;
}

static Value set_issubset(METHOD) { UNUSED; return test_sets(vm, args, SUBSET); }
static Value set_issuperset(METHOD) { UNUSED; return test_sets(vm, args, SUPERSET); }
static Value set_isdisjoint(METHOD) { UNUSED; return test_sets(vm, args, DISJOINT); }

static Value set_init(METHOD) {
    if (!vm_no_keywords(vm, "set", kwnames) || !vm_mutate(vm, SELF)) return VALUE_ERROR;
    dict_clear(vm, SELF->dict);
    return nargs < 2 || set_update(vm, SELF, args[1]) ? VALUE_NONE : VALUE_ERROR;
}

const BuiltinDef set_methods[] = {
    {"add", set_add_method, 2, 2, CHANGES}, {"remove", set_remove, 2, 2, CHANGES}, {"discard", set_discard, 2, 2, CHANGES}, {"pop", set_pop, 1, 1, CHANGES},
    {"clear", set_clear, 1, 1, CHANGES}, {"update", set_update_method, 1, -1, CHANGES}, {"__init__", set_init, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES},
    {"intersection_update", set_intersection_update, 1, -1, CHANGES}, {"difference_update", set_difference_update, 1, -1, CHANGES},
    {"symmetric_difference_update", set_symmetric_update, 2, 2, CHANGES}, {"copy", set_copy, 1, 1, PLAIN}, {"union", set_union, 1, -1, PLAIN},
    {"intersection", set_intersection, 1, -1, PLAIN}, {"difference", set_difference, 1, -1, PLAIN}, {"symmetric_difference", set_symmetric, 2, 2, PLAIN},
    {"issubset", set_issubset, 2, 2, PLAIN}, {"issuperset", set_issuperset, 2, 2, PLAIN}, {"isdisjoint", set_isdisjoint, 2, 2, PLAIN},
    {NULL, NULL, 0, 0, 0},
};
