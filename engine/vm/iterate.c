/* Iterate: iterators over every kind of container, unpacking, membership.
 *
 *     Value it = vm_iterate(vm, object), item;
 *     while ((item = vm_next(vm, it)).tag > V_ERROR) ...        // V_NULL: the end, V_ERROR: an exception
 *
 * All the state of an iterator is in its struct, so that a half-used one can be copied.
 * To add a kind: a `next` function and a call of iterator_new with the name that type() shows. */
#include "vm/internal.h"
#include <stdlib.h>
#include <string.h>

Value iterator_new(VM *vm, const char *kind, Value (*next)(VM *, Iterator *), Value subject, Value extra) {
    Iterator *it = (Iterator *)object_new(vm, OBJ_ITERATOR, sizeof *it);
    it->kind = kind;
    it->next = next;
    it->subject = value_ref(subject);
    it->extra = value_ref(extra);
    return value_object(it);
}

static Value exhausted(VM *vm, Iterator *it) {
    value_set(vm, &it->subject, VALUE_NULL); /* an exhausted iterator stays exhausted */
    return VALUE_NULL;
}

static Value next_item(VM *vm, Iterator *it) {
    Value *items;
    int count;
    if (!sequence_view(it->subject, &items, &count) || it->position >= count) return exhausted(vm, it);
    return value_ref(items[it->position++]);
}

static Value next_character(VM *vm, Iterator *it) { /* position in bytes */
    if (it->subject.tag == V_NULL) return VALUE_NULL;
    Str *s = str_of(it->subject);
    if (it->position >= s->length) return exhausted(vm, it);
    uint32_t code;
    int n = utf8_decode(s->text + it->position, s->length - (size_t)it->position, &code);
    Value v = str_new(vm, s->text + it->position, n ? (size_t)n : 1);
    it->position += n ? n : 1;
    return v;
}

static Value next_of_range(VM *vm, Iterator *it) { /* position and limit: next and remaining; extra: the step */
    (void)vm;
    if (it->limit <= 0) return VALUE_NULL;
    it->limit--;
    Value v = value_int(it->position);
    it->position = (int64_t)((uint64_t)it->position + (uint64_t)it->extra.i);
    return v;
}

static bool dict_changed(VM *vm, Iterator *it) {
    if (dict_of(it->subject)->live == it->limit) return false;
    vm_raise(vm, "RuntimeError", "dictionary changed size during iteration");
    return true;
}

/* The next entry, or -1; the position counts entries. */
static int next_entry(VM *vm, Iterator *it, bool *failed) {
    *failed = it->subject.tag != V_NULL && dict_changed(vm, it);
    if (*failed || it->subject.tag == V_NULL) return -1;
    Dict *dict = dict_of(it->subject);
    while (it->position < dict->used) {
        int entry = (int)it->position++;
        if (dict->entries[entry].key.tag == V_NULL) continue;
        if (it->extra.tag == V_INT && it->extra.i-- > 0) return entry;
        *failed = true;
        vm_raise(vm, "RuntimeError", "dictionary keys changed during iteration");
        return -1;
    }
    exhausted(vm, it);
    return -1;
}

static Value next_key(VM *vm, Iterator *it) {
    bool failed;
    int entry = next_entry(vm, it, &failed);
    return entry >= 0 ? value_ref(dict_of(it->subject)->entries[entry].key) : failed ? VALUE_ERROR : VALUE_NULL;
}

static Value next_value(VM *vm, Iterator *it) {
    bool failed;
    int entry = next_entry(vm, it, &failed);
    return entry >= 0 ? value_ref(dict_of(it->subject)->entries[entry].value) : failed ? VALUE_ERROR : VALUE_NULL;
}

static Value next_pair(VM *vm, Iterator *it) {
    bool failed;
    int entry = next_entry(vm, it, &failed);
    return entry >= 0 ? dict_items_tuple(vm, dict_of(it->subject), entry) : failed ? VALUE_ERROR : VALUE_NULL;
}

static Value next_of_set(VM *vm, Iterator *it) { /* extra: the keys in CPython's order */
    if (it->subject.tag == V_NULL) return VALUE_NULL;
    if (set_of(it->subject)->dict->live != it->limit) return vm_raise(vm, "RuntimeError", "Set changed size during iteration");
    if (it->position >= tuple_of(it->extra)->count) return exhausted(vm, it);
    return value_ref(tuple_of(it->extra)->items[it->position++]);
}

static Value set_iterator(VM *vm, Value set) {
    int count = set_of(set)->dict->live, *order = set_order(vm, set_of(set));
    Value keys = tuple_take(vm, count);
    for (int i = 0; i < count; i++) tuple_of(keys)->items[i] = value_ref(set_of(set)->dict->entries[order[i]].key);
    free(order);
    Value it = iterator_new(vm, "set_iterator", next_of_set, set, keys);
    value_unref(vm, keys);
    ((Iterator *)it.o)->limit = count;
    return it;
}

static Value range_iterator(VM *vm, Range *r) {
    Value it = iterator_new(vm, "range_iterator", next_of_range, VALUE_NONE, value_int(r->step));
    ((Iterator *)it.o)->position = r->start;
    ((Iterator *)it.o)->limit = range_length(r);
    return it;
}

static Value dict_iterator(VM *vm, Dict *dict, const char *kind, Value (*next)(VM *, Iterator *)) {
    Value it = iterator_new(vm, kind, next, value_object(dict), VALUE_NULL);
    ((Iterator *)it.o)->limit = dict->live;
    ((Iterator *)it.o)->extra = value_int(dict->live); /* so many are still to come */
    return it;
}

/* ---- views: dict.keys(), values(), items(): iterators whose `extra` marks that they can be begun anew ---- */

static Value next_of_view(VM *vm, Iterator *it) {
    return vm_raise(vm, "TypeError", "'%s' object is not an iterator", it->kind);
}

Value dict_view_new(VM *vm, Dict *dict, const char *kind) { return iterator_new(vm, kind, next_of_view, value_object(dict), VALUE_NONE); }

bool value_is_view(Value v) { return value_is(v, OBJ_ITERATOR) && ((Iterator *)v.o)->next == next_of_view; }

static Value view_iterator(VM *vm, Iterator *view) {
    Dict *dict = dict_of(view->subject);
    if (view->kind[5] == 'k') return dict_iterator(vm, dict, "dict_keyiterator", next_key);
    return view->kind[5] == 'v' ? dict_iterator(vm, dict, "dict_valueiterator", next_value) : dict_iterator(vm, dict, "dict_itemiterator", next_pair);
}

/* ---- instances ---- */

static Value next_by_index(VM *vm, Iterator *it) { /* the old protocol: __getitem__ until IndexError */
    if (it->subject.tag == V_NULL) return VALUE_NULL;
    Value item = vm_subscript(vm, it->subject, value_int(it->position++));
    if (!value_is_error(item) || !(vm_pending(vm, "IndexError") || vm_pending(vm, "StopIteration"))) return item;
    vm_clear_exception(vm);
    return exhausted(vm, it);
}

static Value not_iterable(VM *vm, Value v) { return vm_raise(vm, "TypeError", "'%s' object is not iterable", type_name(vm, v)); }

static Value instance_iterator(VM *vm, Value v) {
    const VMNames *n = &vm->own->names;
    Value result = vm_call_special(vm, v, n->iter_, NULL, 0);
    if (result.tag == V_NULL) {
        Value getitem = class_lookup(vm, ((Instance *)v.o)->cls, n->getitem_);
        return getitem.tag == V_NULL ? not_iterable(vm, v) : iterator_new(vm, "iterator", next_by_index, v, VALUE_NULL);
    }
    Value forced = vm_force(vm, result);
    bool ok = value_is(forced, OBJ_ITERATOR) || value_is(forced, OBJ_GENERATOR) || value_is_error(forced) ||
              (value_is(forced, OBJ_INSTANCE) && class_lookup(vm, ((Instance *)forced.o)->cls, n->next_).tag != V_NULL);
    if (ok) return result;
    vm_raise(vm, "TypeError", "iter() returned non-iterator of type '%s'", type_name(vm, forced));
    value_unref(vm, result);
    return VALUE_ERROR;
}

/* What a class says about itself as a container (enum): __class_iter__, __class_len__, __class_contains__, called with the class. */
Value class_hook(VM *vm, Value cls, const char *name, Value *args, int nargs) {
    Value hook = class_lookup(vm, (Class *)cls.o, vm_intern(vm, name)), all[4] = {cls};
    if (hook.tag == V_NULL) return hook;
    for (int i = 0; i < nargs; i++) all[i + 1] = args[i];
    return vm_call(vm, hook, all, nargs + 1, NULL);
}

Value vm_iterate(VM *vm, Value v) {
    v = vm_force(vm, v);
    if (v.tag != V_OBJECT) return value_is_error(v) ? v : not_iterable(vm, v);
    switch ((ObjectType)v.o->type) {
    case OBJ_LIST: return iterator_new(vm, "list_iterator", next_item, v, VALUE_NULL);
    case OBJ_TUPLE: return iterator_new(vm, "tuple_iterator", next_item, v, VALUE_NULL);
    case OBJ_STR: return iterator_new(vm, "str_ascii_iterator", next_character, v, VALUE_NULL);
    case OBJ_RANGE: return range_iterator(vm, (Range *)v.o);
    case OBJ_DICT: return dict_iterator(vm, dict_of(v), "dict_keyiterator", next_key);
    case OBJ_SET: case OBJ_FROZENSET: return set_iterator(vm, v);
    case OBJ_ITERATOR: return value_is_view(v) ? view_iterator(vm, (Iterator *)v.o) : value_ref(v);
    case OBJ_GENERATOR: return value_ref(v);
    case OBJ_TENSOR: {
        Value it = tensor_iterate(vm, (Tensor *)v.o);
        if (!value_is(it, OBJ_TUPLE) && !value_is(it, OBJ_LIST)) return it;
        Value over = vm_iterate(vm, it);
        value_unref(vm, it);
        return over;
    }
    case OBJ_INSTANCE: return instance_iterator(vm, v);
    case OBJ_CLASS: {
        Value items = class_hook(vm, v, "__class_iter__", NULL, 0);
        return items.tag == V_NULL ? vm_raise(vm, "TypeError", "'type' object is not iterable") : items;
    }
    default: {
        const NativeType *native = vm->own->natives[v.o->type];
        Value hook = native && native->load_attr ? native->load_attr(vm, v.o, vm->own->names.iter_) : VALUE_NULL;
        if (hook.tag == V_NULL) return not_iterable(vm, v);
        Value result = value_is_error(hook) ? hook : vm_call0(vm, hook);
        value_unref(vm, hook);
        return result;
    }
    }
}

static Value next_of_instance(VM *vm, Value v) {
    Value item = vm_call_special(vm, v, vm->own->names.next_, NULL, 0);
    if (item.tag == V_NULL) return vm_raise(vm, "TypeError", "'%s' object is not an iterator", type_name(vm, v));
    if (!value_is_error(item) || !vm_pending(vm, "StopIteration")) return item;
    vm_clear_exception(vm);
    return VALUE_NULL;
}

static Value next_of(VM *vm, Iterator *it) {
    Value item = it->next(vm, it);
    if (!vm->domain->advanced || item.tag <= V_ERROR || vm->domain->advanced(vm, it)) return item;
    value_unref(vm, item);
    return VALUE_ERROR;
}

Value vm_next(VM *vm, Value iterator) {
    Value v = vm_force(vm, iterator);
    if (value_is(v, OBJ_ITERATOR)) return next_of(vm, (Iterator *)v.o);
    if (value_is(v, OBJ_GENERATOR)) return generator_resume(vm, (Generator *)v.o, VALUE_NONE, NULL);
    if (value_is(v, OBJ_INSTANCE)) return next_of_instance(vm, v);
    return value_is_error(v) ? v : vm_raise(vm, "TypeError", "'%s' object is not an iterator", type_name(vm, v));
}

bool vm_each(VM *vm, Value iterable, bool (*each)(VM *vm, void *state, Value item), void *state) {
    Value it = vm_iterate(vm, iterable), item;
    if (value_is_error(it)) return false;
    bool ok = true;
    while (ok && (item = vm_next(vm, it)).tag > V_ERROR) {
        ok = each(vm, state, item);
        value_unref(vm, item);
        if ((++vm->own->steps & 1023) == 0) ok = ok && vm_poll(vm); /* sum(range(10**12)) can be interrupted */
    }
    value_unref(vm, it);
    return ok && item.tag != V_ERROR;
}

/* ---- unpacking ---- */

static bool wrong_length(VM *vm, int wanted, int64_t got, bool many) {
    if (many) vm_raise(vm, "ValueError", "too many values to unpack (expected %d)", wanted);
    else vm_raise(vm, "ValueError", "not enough values to unpack (expected %d, got %lld)", wanted, (long long)got);
    return false;
}

static bool unpack_iterator(VM *vm, Value it, Value *out, int count) {
    int got = 0;
    Value item = VALUE_NULL;
    while (got < count && (item = vm_next(vm, it)).tag > V_ERROR) out[got++] = item;
    if (got == count) {
        item = vm_next(vm, it);
        if (item.tag == V_NULL) return true;
        if (item.tag != V_ERROR) wrong_length(vm, count, 0, true);
        value_unref(vm, item);
    } else if (item.tag == V_NULL) wrong_length(vm, count, got, false);
    while (got > 0) value_unref(vm, out[--got]);
    return false;
}

bool vm_unpack(VM *vm, Value iterable, Value *out, int count) {
    Value *items, v = vm_force(vm, iterable);
    int n;
    if (value_is_error(v)) return false;
    if (sequence_view(v, &items, &n)) {
        if (n != count) return wrong_length(vm, count, n, n > count);
        for (int i = 0; i < n; i++) out[i] = value_ref(items[i]);
        return true;
    }
    Value it = vm_iterate(vm, v);
    if (value_is_error(it)) {
        bool plain = vm_pending(vm, "TypeError") && v.tag != V_OBJECT;
        if (plain || (value_is(v, OBJ_INSTANCE) && vm_pending(vm, "TypeError") && class_lookup(vm, ((Instance *)v.o)->cls, vm->own->names.iter_).tag == V_NULL)) {
            vm_clear_exception(vm);
            vm_raise(vm, "TypeError", "cannot unpack non-iterable %s object", type_name(vm, v));
        }
        return false;
    }
    bool ok = unpack_iterator(vm, it, out, count);
    value_unref(vm, it);
    return ok;
}

/* ---- membership ---- */

static int items_contain(VM *vm, Value container, Value item) {
    Value *items;
    int count;
    sequence_view(container, &items, &count);
    for (int i = 0; i < count; i++) {
        int same = vm_same_or_equal(vm, items[i], item);
        if (same) return same;
        sequence_view(container, &items, &count); /* __eq__ may have changed the list */
    }
    return 0;
}

static int iterable_contains(VM *vm, Value container, Value item) {
    Value it = vm_iterate(vm, container), at;
    if (value_is_error(it)) {
        if (vm_pending(vm, "TypeError")) {
            vm_clear_exception(vm);
            vm_raise(vm, "TypeError", "argument of type '%s' is not iterable", type_name(vm, container));
        }
        return -1;
    }
    int found = 0;
    while (!found && (at = vm_next(vm, it)).tag > V_ERROR) {
        found = vm_same_or_equal(vm, at, item);
        value_unref(vm, at);
    }
    value_unref(vm, it);
    return !found && at.tag == V_ERROR ? -1 : found;
}

static int dict_contains(VM *vm, Dict *dict, Value item) {
    Value found = dict_look_up(vm, dict, item);
    value_unref(vm, found);
    return value_is_error(found) ? -1 : found.tag != V_NULL;
}

static int plain_contains(VM *vm, Value container, Value item) {
    if (container.tag == V_OBJECT) switch ((ObjectType)container.o->type) {
    case OBJ_LIST: case OBJ_TUPLE: return items_contain(vm, container, item);
    case OBJ_DICT: return dict_contains(vm, dict_of(container), item);
    case OBJ_SET: case OBJ_FROZENSET: {
        bool found;
        return set_has(vm, set_of(container), item, &found) ? found : -1;
    }
    case OBJ_STR: {
        if (!value_is(item, OBJ_STR)) return vm_raise(vm, "TypeError", "'in <string>' requires string as left operand, not %s", type_name(vm, item)), -1;
        return memmem(str_text(container), str_of(container)->length, str_text(item), str_of(item)->length) != NULL;
    }
    case OBJ_RANGE: {
        Range *r = (Range *)container.o;
        if (!value_is_integer(item)) break;
        int64_t i = integer_of(item), n = range_length(r);
        if (n == 0 || (r->step > 0 ? i < r->start || i >= r->stop : i > r->start || i <= r->stop)) return 0;
        uint64_t distance = r->step > 0 ? (uint64_t)i - (uint64_t)r->start : (uint64_t)r->start - (uint64_t)i;
        return distance % (r->step > 0 ? (uint64_t)r->step : 0 - (uint64_t)r->step) == 0;
    }
    case OBJ_CLASS: {
        Value found = class_hook(vm, container, "__class_contains__", &item, 1);
        if (found.tag == V_NULL) break;
        int truth = value_is_error(found) ? -1 : vm_truth(vm, found);
        value_unref(vm, found);
        return truth;
    }
    case OBJ_TENSOR: return tensor_contains(vm, (Tensor *)container.o, item);
    case OBJ_ITERATOR:
        if (value_is_view(container) && ((Iterator *)container.o)->kind[5] == 'k') return dict_contains(vm, dict_of(((Iterator *)container.o)->subject), item);
        break;
    default: break;
    }
    return iterable_contains(vm, container, item);
}

int vm_contains(VM *vm, Value container, Value item) {
    container = vm_force_keyed(vm, container), item = vm_force(vm, item);
    if (value_is_error(container) || value_is_error(item)) return -1;
    if (value_is(container, OBJ_INSTANCE)) {
        Value result = vm_call_special(vm, container, vm->own->names.contains_, &item, 1);
        if (result.tag != V_NULL) {
            int truth = value_is_error(result) ? -1 : vm_truth(vm, result);
            value_unref(vm, result);
            return truth;
        }
    }
    Value plain = vm_unwrap(container);
    return plain_contains(vm, plain, item);
}
