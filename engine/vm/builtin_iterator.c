/* Builtins that make or consume iterators: iter, next, enumerate, zip, map, filter, reversed, sorted.
 *
 * Each iterator keeps all its state in the Iterator struct (subject, extra, position, limit), so that it can be copied half-used.
 * To add one: a `next` function, a builtin that makes it, a row in the table. */
#include "vm/methods.h"
#include <stdlib.h>
#include <string.h>

static Value builtin_iter(METHOD);

static Value next_until_sentinel(VM *vm, Iterator *it) {
    if (it->subject.tag == V_NULL) return VALUE_NULL;
    Value item = vm_call0(vm, it->subject);
    if (value_is_error(item)) return item;
    int same = vm_equal(vm, item, it->extra);
    if (same == 0) return item;
    value_unref(vm, item);
    if (same > 0) value_set(vm, &it->subject, VALUE_NULL);
    return same < 0 ? VALUE_ERROR : VALUE_NULL;
}

static Value builtin_iter(METHOD) {
    UNUSED;
    return nargs == 1 ? vm_iterate(vm, args[0]) : iterator_new(vm, "callable_iterator", next_until_sentinel, args[0], args[1]);
}

static Value builtin_next(METHOD) {
    UNUSED;
    if (value_is_view(args[0]) || !(value_is(args[0], OBJ_ITERATOR) || value_is(args[0], OBJ_GENERATOR) || value_is(args[0], OBJ_INSTANCE)))
        return vm_raise(vm, "TypeError", "'%s' object is not an iterator", type_name(vm, args[0]));
    Value returned = VALUE_NONE;
    Value item = value_is(args[0], OBJ_GENERATOR) ? generator_resume(vm, (Generator *)args[0].o, VALUE_NONE, &returned) : vm_next(vm, args[0]);
    if (item.tag != V_NULL) return item;
    if (nargs > 1) return value_unref(vm, returned), value_ref(args[1]);
    Value cls = value_object(exception_class(vm, "StopIteration"));
    Value stop = returned.tag == V_NONE ? vm_call0(vm, cls) : vm_call1(vm, cls, returned);
    value_unref(vm, returned);
    if (!value_is_error(stop)) exception_set(vm, stop);
    return VALUE_ERROR;
}

static Value next_numbered(VM *vm, Iterator *it) {
    Value item = vm_next(vm, it->subject);
    if (item.tag <= V_ERROR) return item;
    Value pair = tuple_take(vm, 2);
    tuple_of(pair)->items[0] = value_int(it->position++);
    tuple_of(pair)->items[1] = item;
    return pair;
}

static Value builtin_enumerate(METHOD) {
    static const char *const names[] = {"iterable", "start"};
    Value out[2];
    int64_t start = 0;
    if (!vm_parse_args(vm, "enumerate", args, nargs, kwnames, names, 2, 1, out)) return VALUE_ERROR;
    if (out[1].tag != V_NULL && !vm_as_int(vm, out[1], &start)) return VALUE_ERROR;
    Value inner = vm_iterate(vm, out[0]);
    if (value_is_error(inner)) return inner;
    Value it = iterator_new(vm, "enumerate", next_numbered, inner, VALUE_NULL);
    ((Iterator *)it.o)->position = start;
    value_unref(vm, inner);
    return it;
}

/* A tuple of iterators over each of the arguments. */
static Value iterators_of(VM *vm, Value *args, int count) {
    Value all = tuple_take(vm, count);
    for (int i = 0; i < count; i++) {
        tuple_of(all)->items[i] = vm_iterate(vm, args[i]);
        if (!value_is_error(tuple_of(all)->items[i])) continue;
        value_unref(vm, all);
        return VALUE_ERROR;
    }
    return all;
}

/* One item of each iterator, owned, in out. 1; 0 at the end of the i-th (*ended = i); -1. */
static int next_of_each(VM *vm, Tuple *iterators, Value *out, int *ended) {
    for (int i = 0; i < iterators->count; i++) {
        out[i] = vm_next(vm, iterators->items[i]);
        if (out[i].tag > V_ERROR) continue;
        bool failed = out[i].tag == V_ERROR;
        *ended = i;
        while (i > 0) value_unref(vm, out[--i]), out[i] = VALUE_NULL;
        return failed ? -1 : 0;
    }
    return 1;
}

static Value unequal_lengths(VM *vm, Tuple *iterators, int ended) {
    if (ended > 0) return vm_raise(vm, "ValueError", "zip() argument %d is shorter than argument%s%d", ended + 1, ended == 1 ? " " : "s 1-", ended);
    for (int i = 1; i < iterators->count; i++) {
        Value more = vm_next(vm, iterators->items[i]);
        if (value_is_error(more)) return more;
        if (more.tag == V_NULL) continue;
        value_unref(vm, more);
        return vm_raise(vm, "ValueError", "zip() argument %d is longer than argument%s%d", i + 1, i == 1 ? " " : "s 1-", i);
    }
    return VALUE_NULL;
}

static Value next_zipped(VM *vm, Iterator *it) {
    Tuple *iterators = tuple_of(it->subject);
    if (iterators->count == 0) return VALUE_NULL;
    Value items = tuple_take(vm, iterators->count);
    int ended, more = next_of_each(vm, iterators, tuple_of(items)->items, &ended);
    if (more > 0) return items;
    for (int i = 0; i < iterators->count; i++) tuple_of(items)->items[i] = VALUE_NULL;
    value_unref(vm, items);
    if (more < 0) return VALUE_ERROR;
    return it->limit ? unequal_lengths(vm, iterators, ended) : VALUE_NULL;
}

static Value builtin_zip(METHOD) {
    static const char *const names[] = {"strict"};
    Value strict;
    if (!vm_parse_args(vm, "zip", args + nargs, 0, kwnames, names, 1, 0, &strict)) return VALUE_ERROR;
    Value inner = iterators_of(vm, args, nargs);
    if (value_is_error(inner)) return inner;
    Value it = iterator_new(vm, "zip", next_zipped, inner, VALUE_NULL);
    ((Iterator *)it.o)->limit = strict.tag != V_NULL && vm_truth(vm, strict) > 0;
    value_unref(vm, inner);
    return it;
}

static Value next_mapped(VM *vm, Iterator *it) {
    Tuple *iterators = tuple_of(it->subject);
    Value small[8], *items = iterators->count <= 8 ? small : malloc((size_t)iterators->count * sizeof(Value));
    if (!items) vm_out_of_memory();
    int ended, more = next_of_each(vm, iterators, items, &ended);
    Value result = more < 0 ? VALUE_ERROR : VALUE_NULL;
    if (more > 0) {
        result = vm_call(vm, it->extra, items, iterators->count, NULL);
        for (int i = 0; i < iterators->count; i++) value_unref(vm, items[i]);
    }
    if (items != small) free(items);
    return result;
}

static Value builtin_map(METHOD) {
    UNUSED;
    if (nargs < 2) return vm_raise(vm, "TypeError", "map() must have at least two arguments.");
    Value inner = iterators_of(vm, args + 1, nargs - 1);
    if (value_is_error(inner)) return inner;
    Value it = iterator_new(vm, "map", next_mapped, inner, args[0]);
    value_unref(vm, inner);
    return it;
}

static Value next_filtered(VM *vm, Iterator *it) {
    for (;;) {
        Value item = vm_next(vm, it->subject);
        if (item.tag <= V_ERROR) return item;
        Value verdict = it->extra.tag == V_NONE ? value_ref(item) : vm_call1(vm, it->extra, item);
        int truth = value_is_error(verdict) ? -1 : vm_truth(vm, verdict);
        value_unref(vm, verdict);
        if (truth > 0) return item;
        value_unref(vm, item);
        if (truth < 0) return VALUE_ERROR;
    }
}

static Value builtin_filter(METHOD) {
    UNUSED;
    Value inner = vm_iterate(vm, args[1]);
    if (value_is_error(inner)) return inner;
    Value it = iterator_new(vm, "filter", next_filtered, inner, args[0]);
    value_unref(vm, inner);
    return it;
}

static Value next_backwards(VM *vm, Iterator *it) { /* position: items left */
    while (it->position > 0) {
        Value *items;
        int count;
        int64_t i = --it->position;
        if (!sequence_view(it->subject, &items, &count)) return vm_subscript(vm, it->subject, value_int(i));
        if (i < count) return value_ref(items[i]);
    }
    return VALUE_NULL;
}

static Value builtin_reversed(METHOD) {
    UNUSED;
    Value v = args[0], held = VALUE_NULL;
    if (value_is(v, OBJ_INSTANCE)) {
        Value result = vm_call_special(vm, v, vm->own->names.reversed_, NULL, 0);
        if (result.tag != V_NULL) return result;
    }
    Value plain = vm_unwrap(v);
    if (value_is(plain, OBJ_DICT) || value_is_view(plain)) held = plain = vm_list_of(vm, plain);
    if (value_is_error(plain)) return plain;
    bool indexed = value_is(plain, OBJ_LIST) || value_is(plain, OBJ_TUPLE) || value_is(plain, OBJ_STR) || value_is(plain, OBJ_RANGE) || value_is(plain, OBJ_TENSOR) ||
                   (value_is(plain, OBJ_INSTANCE) && class_lookup(vm, ((Instance *)plain.o)->cls, vm->own->names.getitem_).tag != V_NULL);
    if (!indexed) return vm_raise(vm, "TypeError", "'%s' object is not reversible", type_name(vm, v));
    int64_t length = vm_length(vm, plain);
    if (length < 0) return VALUE_ERROR;
    Value it = iterator_new(vm, value_is(plain, OBJ_LIST) ? "list_reverseiterator" : "reversed", next_backwards, plain, VALUE_NULL);
    ((Iterator *)it.o)->position = length;
    value_unref(vm, held);
    return it;
}

static Value builtin_sorted(METHOD) {
    if (nargs != 1) return vm_raise(vm, "TypeError", "sorted expected 1 argument, got %d", nargs);
    static const char *const names[] = {"key", "reverse"};
    Value out[2];
    if (!vm_parse_args(vm, "sorted", args + nargs, 0, kwnames, names, 2, 0, out)) return VALUE_ERROR;
    int reverse = out[1].tag == V_NULL ? 0 : vm_truth(vm, out[1]);
    if (reverse < 0) return VALUE_ERROR;
    Value list = vm_list_of(vm, args[0]);
    if (value_is_error(list) || vm_sort(vm, list_of(list), out[0].tag == V_NULL ? VALUE_NONE : out[0], reverse)) return list;
    value_unref(vm, list);
    return VALUE_ERROR;
}

const BuiltinDef builtin_iterators[] = {
    {"iter", builtin_iter, 1, 2, BUILTIN_POSITIONAL}, {"next", builtin_next, 1, 2, BUILTIN_POSITIONAL}, {"enumerate", builtin_enumerate, 1, 2, 0},
    {"zip", builtin_zip, 0, -1, 0}, {"map", builtin_map, 0, -1, BUILTIN_POSITIONAL}, {"filter", builtin_filter, 2, 2, BUILTIN_POSITIONAL},
    {"reversed", builtin_reversed, 1, 1, BUILTIN_POSITIONAL}, {"sorted", builtin_sorted, 0, -1, 0}, {NULL, NULL, 0, 0, 0},
};
