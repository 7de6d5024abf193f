/* Subscript: container[key], container[key] = value, del container[key], for every kind of container.
 *
 *     vm_subscript(vm, list, slice)       // a new list
 *
 * Invariant: before a list, dict or instance changes the domain's will_mutate has agreed; a failed assignment changes nothing. */
#include "vm/internal.h"
#include <stdlib.h>
#include <string.h>

/* ---- slices ---- */

static Value slice_of_items(VM *vm, Value sequence, Slice *slice) {
    Value *items, out;
    int n;
    int64_t start, stop, step, count;
    sequence_view(sequence, &items, &n);
    if (!slice_indices(vm, slice, n, &start, &stop, &step, &count)) return VALUE_ERROR;
    Value *to;
    if (value_is(sequence, OBJ_LIST)) out = list_new(vm, NULL, (int)count), to = list_of(out)->items;
    else out = tuple_take_like(vm, (int)count, tuple_of(sequence)), to = tuple_of(out)->items;
    for (int64_t i = 0; i < count; i++) to[i] = value_ref(items[start + i * step]);
    return out;
}

static Value slice_of_str(VM *vm, Str *s, Slice *slice) {
    int64_t start, stop, step, count;
    if (!slice_indices(vm, slice, str_count(s), &start, &stop, &step, &count)) return VALUE_ERROR;
    if (step == 1) {
        int64_t from = str_offset(s, start), to = str_offset(s, start + count);
        return str_new(vm, s->text + from, (size_t)(to - from));
    }
    Text text = {0};
    for (int64_t i = 0; i < count; i++) {
        int64_t from = str_offset(s, start + i * step);
        uint32_t code;
        int n = utf8_decode(s->text + from, s->length - (size_t)from, &code);
        text_put_n(&text, s->text + from, n ? (size_t)n : 1);
    }
    return str_join_text(vm, &text);
}

static Value slice_of_range(VM *vm, Range *r, Slice *slice) {
    int64_t start, stop, step, count;
    if (!slice_indices(vm, slice, range_length(r), &start, &stop, &step, &count)) return VALUE_ERROR;
    return range_new(vm, range_item(r, start).i, range_item(r, stop).i, (int64_t)((uint64_t)r->step * (uint64_t)step));
}

static Value item_of_str(VM *vm, Str *s, Value key) {
    int64_t i;
    if (!index_in(vm, key, str_count(s), "string", &i)) return VALUE_ERROR;
    int64_t at = str_offset(s, i);
    uint32_t code;
    int n = utf8_decode(s->text + at, s->length - (size_t)at, &code);
    return str_new(vm, s->text + at, n ? (size_t)n : 1);
}

static bool usable_index(VM *vm, Value key, const char *what) {
    if (value_is_integer(key) || value_is(key, OBJ_SYM) || value_is(key, OBJ_TENSOR)) return true;
    if (value_is(key, OBJ_INSTANCE) && class_lookup(vm, ((Instance *)key.o)->cls, vm->own->names.index_).tag != V_NULL) return true;
    if (strcmp(what, "string") == 0) vm_raise(vm, "TypeError", "string indices must be integers, not '%s'", type_name(vm, key));
    else vm_raise(vm, "TypeError", "%s indices must be integers or slices, not %s", what, type_name(vm, key));
    return false;
}

/* An index or a slice whose parts are objects with __index__, as plain numbers: their code may change the container, so it runs before
 * the container is looked at. Owned. */
static Value plain_key(VM *vm, Value key) {
    int64_t i;
    if (value_is(key, OBJ_INSTANCE) && class_lookup(vm, ((Instance *)key.o)->cls, vm->own->names.index_).tag != V_NULL) return vm_as_int(vm, key, &i) ? value_int(i) : VALUE_ERROR;
    if (!value_is(key, OBJ_SLICE)) return value_ref(key);
    Slice *slice = (Slice *)key.o;
    Value parts[3] = {slice->start, slice->stop, slice->step};
    bool objects = false;
    for (int k = 0; k < 3; k++) objects = objects || value_is(parts[k], OBJ_INSTANCE);
    if (!objects) return value_ref(key);
    for (int k = 0; k < 3; k++) {
        if (!value_is(parts[k], OBJ_INSTANCE)) continue;
        if (class_lookup(vm, ((Instance *)parts[k].o)->cls, vm->own->names.index_).tag == V_NULL) return value_ref(key); /* refused where it is used */
        if (!vm_as_int(vm, parts[k], &i)) return VALUE_ERROR;
        parts[k] = value_int(i);
    }
    return slice_new(vm, parts[0], parts[1], parts[2]);
}

static Value sequence_item_of(VM *vm, Value sequence, Value key);

static Value sequence_item(VM *vm, Value sequence, Value key) {
    if (!value_is(key, OBJ_INSTANCE) && !value_is(key, OBJ_SLICE)) return sequence_item_of(vm, sequence, key);
    Value plain = plain_key(vm, key);
    Value item = value_is_error(plain) ? plain : sequence_item_of(vm, sequence, plain);
    value_unref(vm, plain);
    return item;
}

static Value sequence_item_of(VM *vm, Value sequence, Value key) {
    const char *what = value_is(sequence, OBJ_STR) ? "string" : value_is(sequence, OBJ_LIST) ? "list" : value_is(sequence, OBJ_TUPLE) ? "tuple" : "range";
    if (value_is(key, OBJ_SLICE)) {
        Slice *slice = (Slice *)key.o;
        if (value_is(sequence, OBJ_STR)) return slice_of_str(vm, str_of(sequence), slice);
        return value_is(sequence, OBJ_RANGE) ? slice_of_range(vm, (Range *)sequence.o, slice) : slice_of_items(vm, sequence, slice);
    }
    if (!usable_index(vm, key, what)) return VALUE_ERROR;
    if (value_is(sequence, OBJ_STR)) return item_of_str(vm, str_of(sequence), key);
    Value *items;
    int count;
    int64_t i;
    if (!sequence_view(sequence, &items, &count)) {
        if (!index_in(vm, key, range_length((Range *)sequence.o), "range object", &i)) return VALUE_ERROR;
        return range_item((Range *)sequence.o, i);
    }
    return index_in(vm, key, count, what, &i) ? value_ref(items[i]) : VALUE_ERROR;
}

/* ---- dicts ---- */

Value vm_key_error(VM *vm, Value key) {
    Value exception = vm_call1(vm, value_object(exception_class(vm, "KeyError")), key);
    if (!value_is_error(exception)) exception_set(vm, exception);
    return VALUE_ERROR;
}

static Value missing_key(VM *vm, Dict *dict, Value key) {
    if (dict->is_counter) return value_int(0);
    if (!dict->fallback || dict->fallback->tag == V_NONE) return vm_key_error(vm, key);
    Value made = vm_call0(vm, *dict->fallback);
    if (value_is_error(made)) return made;
    if (vm_mutate(vm, dict) && dict_set(vm, dict, key, made)) return made;
    value_unref(vm, made);
    return VALUE_ERROR;
}

static Value dict_item(VM *vm, Dict *dict, Value key) {
    Value found = dict_look_up(vm, dict, key);
    return found.tag == V_NULL ? missing_key(vm, dict, key) : found;
}

/* list[int], dict[str, int], Sequential[...]: generic forms mean the class itself. */
static Value class_item(VM *vm, Class *cls, Value key) {
    Value hook = class_lookup(vm, cls, vm->own->names.class_getitem_);
    if (hook.tag != V_NULL) {
        Value bound = vm_bind(vm, hook, VALUE_NULL, cls);
        Value result = value_is_error(bound) ? bound : vm_call1(vm, bound, key);
        value_unref(vm, bound);
        return result;
    }
    bool generic = cls->builtin_type >= 0;
    if (generic || cls == vm->class_type) return value_ref(value_object(cls));
    return vm_raise(vm, "TypeError", "type '%s' is not subscriptable", cls->name);
}

static Value plain_subscript(VM *vm, Value object, Value plain, Value key) {
    if (plain.tag == V_OBJECT) switch ((ObjectType)plain.o->type) {
    case OBJ_STR: case OBJ_LIST: case OBJ_TUPLE: case OBJ_RANGE: return sequence_item(vm, plain, key);
    case OBJ_DICT: return dict_item(vm, dict_of(plain), key);
    case OBJ_TENSOR: return tensor_subscript(vm, (Tensor *)plain.o, key);
    case OBJ_CLASS: return class_item(vm, (Class *)plain.o, key);
    default: break;
    }
    if (value_is(object, OBJ_FUNCTION) || value_is(object, OBJ_BUILTIN) || value_is(object, OBJ_METHOD))
        return vm_raise(vm, "TypeError", "'%s' object is not subscriptable", type_name(vm, object));
    return vm_raise(vm, "TypeError", "'%s' object is not subscriptable", type_name(vm, object));
}

Value vm_subscript(VM *vm, Value object, Value key) {
    object = vm_force_keyed(vm, object), key = vm_force(vm, key);
    if (value_is_error(object) || value_is_error(key)) return VALUE_ERROR;
    if (value_is(object, OBJ_LIST) && key.tag == V_INT) { /* the common case */
        List *list = list_of(object);
        int64_t i = key.i < 0 ? key.i + list->count : key.i;
        if (i >= 0 && i < list->count) return value_ref(list->items[i]);
    }
    if (value_is(object, OBJ_INSTANCE)) {
        Value payload = instance_payload(object);
        Value result = vm_call_special(vm, object, vm->own->names.getitem_, &key, 1);
        if (value_is(payload, OBJ_DICT) && value_is_error(result) && vm_pending(vm, "KeyError")) {
            Value missing = class_lookup(vm, ((Instance *)object.o)->cls, vm->own->names.missing_);
            if (missing.tag != V_NULL) {
                vm_clear_exception(vm);
                return vm_call_special(vm, object, vm->own->names.missing_, &key, 1);
            }
        }
        if (result.tag != V_NULL) return result;
    }
    return plain_subscript(vm, object, vm_unwrap(object), key);
}

/* ---- storing ---- */

static bool list_replace(VM *vm, List *list, int64_t start, int64_t removed, const Value *items, int added) {
    int tail = list->count - (int)(start + removed);
    if (!list_reserve(vm, list, list->count - (int)removed + added)) return false;
    Value small[16], *gone = removed <= 16 ? small : malloc((size_t)removed * sizeof(Value));
    if (!gone) vm_out_of_memory();
    if (removed) memcpy(gone, list->items + start, (size_t)removed * sizeof(Value));
    if (tail) memmove(list->items + start + added, list->items + start + removed, (size_t)tail * sizeof(Value));
    for (int i = 0; i < added; i++) list->items[start + i] = value_ref(items[i]);
    list->count += added - (int)removed;
    for (int64_t i = 0; i < removed; i++) value_unref(vm, gone[i]);
    if (gone != small) free(gone);
    return true;
}

static bool list_store_slice(VM *vm, List *list, Slice *slice, Value value) {
    int64_t start, stop, step, count;
    Value plain = vm_unwrap(value);
    Value items = vm_list_of(vm, plain);
    if (value_is_error(items)) {
        if (vm_pending(vm, "TypeError")) vm_clear_exception(vm), vm_raise(vm, "TypeError", "can only assign an iterable");
        return false;
    }
    List *from = list_of(items);
    bool ok = slice_indices(vm, slice, list->count, &start, &stop, &step, &count);
    if (ok && step == 1) ok = list_replace(vm, list, start, count, from->items, from->count);
    else if (ok && from->count != count) {
        vm_raise(vm, "ValueError", "attempt to assign sequence of size %d to extended slice of size %lld", from->count, (long long)count);
        ok = false;
    } else if (ok) {
        for (int64_t i = 0; i < count; i++) value_set(vm, &list->items[start + i * step], value_ref(from->items[i]));
    }
    value_unref(vm, items);
    return ok;
}

static bool list_store_at(VM *vm, List *list, Value key, Value value) {
    int64_t i;
    if (!vm_mutate(vm, list)) return false;
    if (value_is(key, OBJ_SLICE)) return list_store_slice(vm, list, (Slice *)key.o, vm_force(vm, value));
    if (!usable_index(vm, key, "list") || !index_in(vm, key, list->count, "list assignment", &i)) return false;
    value_set(vm, &list->items[i], value_ref(value));
    return true;
}

static bool list_store(VM *vm, List *list, Value key, Value value) {
    Value plain = plain_key(vm, key);
    bool ok = !value_is_error(plain) && list_store_at(vm, list, plain, value);
    value_unref(vm, plain);
    return ok;
}

bool vm_store_subscript(VM *vm, Value object, Value key, Value value) {
    object = vm_force(vm, object), key = vm_force(vm, key);
    if (value_is_error(object) || value_is_error(key)) return false;
    if (value_is(object, OBJ_INSTANCE)) {
        Value args[2] = {key, value};
        Value result = vm_call_special(vm, object, vm->own->names.setitem_, args, 2);
        if (result.tag != V_NULL) return value_unref(vm, result), !value_is_error(result);
    }
    Value plain = vm_unwrap(object);
    if (value_is(plain, OBJ_LIST)) return list_store(vm, list_of(plain), key, value);
    if (value_is(plain, OBJ_DICT)) return vm_mutate(vm, plain.o) && dict_set(vm, dict_of(plain), key, value);
    if (value_is(plain, OBJ_TENSOR)) return tensor_store_subscript(vm, (Tensor *)plain.o, key, value);
    return vm_raise(vm, "TypeError", "'%s' object does not support item assignment", type_name(vm, object)), false;
}

/* ---- deleting ---- */

static bool list_delete_slice(VM *vm, List *list, Slice *slice) {
    int64_t start, stop, step, count;
    if (!slice_indices(vm, slice, list->count, &start, &stop, &step, &count)) return false;
    if (step < 0) start += (count - 1) * step, step = -step;
    if (step == 1 || count == 0) return count == 0 || list_replace(vm, list, start, count, NULL, 0);
    for (int64_t i = count - 1; i >= 0; i--)
        if (!list_replace(vm, list, start + i * step, 1, NULL, 0)) return false;
    return true;
}

static bool list_delete_at(VM *vm, List *list, Value key) {
    int64_t i;
    if (!vm_mutate(vm, list)) return false;
    if (value_is(key, OBJ_SLICE)) return list_delete_slice(vm, list, (Slice *)key.o);
    return usable_index(vm, key, "list") && index_in(vm, key, list->count, "list assignment", &i) && list_replace(vm, list, i, 1, NULL, 0);
}

static bool list_delete(VM *vm, List *list, Value key) {
    Value plain = plain_key(vm, key);
    bool ok = !value_is_error(plain) && list_delete_at(vm, list, plain);
    value_unref(vm, plain);
    return ok;
}

bool vm_delete_subscript(VM *vm, Value object, Value key) {
    object = vm_force(vm, object), key = vm_force(vm, key);
    if (value_is_error(object) || value_is_error(key)) return false;
    if (value_is(object, OBJ_INSTANCE)) {
        Value result = vm_call_special(vm, object, vm->own->names.delitem_, &key, 1);
        if (result.tag != V_NULL) return value_unref(vm, result), !value_is_error(result);
    }
    Value plain = vm_unwrap(object);
    if (value_is(plain, OBJ_LIST)) return list_delete(vm, list_of(plain), key);
    if (!value_is(plain, OBJ_DICT)) return vm_raise(vm, "TypeError", "'%s' object doesn't support item deletion", type_name(vm, object)), false;
    bool found;
    if (!vm_mutate(vm, plain.o) || !dict_delete(vm, dict_of(plain), key, &found)) return false;
    return found || dict_of(plain)->is_counter || (vm_key_error(vm, key), false);
}
