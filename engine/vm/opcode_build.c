/* Opcodes that build, extend and unpack containers and strings.
 *
 * In: operands on the frame's stack. Out: the container, or the stack changed.
 * Invariant: on failure nothing was popped. */
#include "vm/opcode.h"
#include <stdlib.h>
#include <string.h>

#define TOP(n) (frame->fast[frame->sp - (n)])

static void drop(VM *vm, Frame *frame, int count) {
    while (count-- > 0) value_unref(vm, frame->fast[--frame->sp]);
}

void opcode_build_tuple(VM *vm, Frame *frame, int count) {
    Value tuple = tuple_take(vm, count);
    frame->sp -= count;
    if (count) memcpy(tuple_of(tuple)->items, &frame->fast[frame->sp], (size_t)count * sizeof(Value));
    frame->fast[frame->sp++] = tuple;
}

void opcode_build_list(VM *vm, Frame *frame, int count) {
    Value list = list_new(vm, NULL, count);
    frame->sp -= count;
    if (count) memcpy(list_of(list)->items, &frame->fast[frame->sp], (size_t)count * sizeof(Value));
    frame->fast[frame->sp++] = list;
}

Value opcode_build_map(VM *vm, const Value *pairs, int count) {
    Value dict = dict_new(vm);
    for (int i = 0; i < count; i++)
        if (!dict_set(vm, dict_of(dict), pairs[2 * i], pairs[2 * i + 1])) return value_unref(vm, dict), VALUE_ERROR;
    return dict;
}

Value opcode_build_const_map(VM *vm, const Value *values, int count) {
    Value dict = dict_new(vm);
    const Value *keys = tuple_of(values[count])->items;
    for (int i = 0; i < count; i++)
        if (!dict_set(vm, dict_of(dict), keys[i], values[i])) return value_unref(vm, dict), VALUE_ERROR;
    return dict;
}

Value opcode_build_string(VM *vm, const Value *parts, int count) {
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        Value part = vm_force(vm, parts[i]);
        if (value_is_error(part)) return part;
        length += str_of(part)->length;
    }
    if (!vm_reserve(vm, (int64_t)length, 1)) return VALUE_ERROR;
    Str *whole = str_alloc(vm, length);
    for (size_t i = 0, at = 0; i < (size_t)count; at += str_of(vm_force(vm, parts[i]))->length, i++)
        memcpy(whole->text + at, str_text(vm_force(vm, parts[i])), str_of(vm_force(vm, parts[i]))->length);
    return str_finish(vm, whole);
}

static Value convert(VM *vm, int conversion, Value v) {
    if (conversion == FORMAT_STR) return vm_str(vm, v);
    return conversion == FORMAT_REPR ? vm_repr(vm, v) : vm_ascii(vm, v);
}

Value opcode_format(VM *vm, int flags, const Value *operands) {
    Value v = vm_force(vm, operands[0]), spec = flags & FORMAT_SPEC ? vm_force(vm, operands[1]) : VALUE_NULL;
    if (value_is_error(v) || value_is_error(spec)) return VALUE_ERROR;
    Value converted = flags & 3 ? convert(vm, flags & 3, v) : value_ref(v);
    if (value_is_error(converted)) return converted;
    const char *text = spec.tag == V_NULL ? "" : str_text(spec);
    Value result = value_is(converted, OBJ_STR) && !*text ? value_ref(converted) : vm_format(vm, converted, text, spec.tag == V_NULL ? 0 : str_of(spec)->length);
    value_unref(vm, converted);
    return result;
}

bool opcode_list_extend(VM *vm, Frame *frame, int depth) {
    Value iterable = vm_force(vm, TOP(1));
    if (value_is_error(iterable)) return false;
    List *into = opcode_grown(vm, TOP(depth + 1));
    if (!into) return false;
    if (!list_extend(vm, into, iterable)) {
        Class *cls = class_of(vm, iterable);
        bool iterable_class = class_lookup(vm, cls, vm->own->names.iter_).tag != V_NULL || class_lookup(vm, cls, vm->own->names.getitem_).tag != V_NULL;
        if (!iterable_class && vm_pending(vm, "TypeError")) {
            vm_clear_exception(vm);
            vm_raise(vm, "TypeError", "Value after * must be an iterable, not %s", type_name(vm, iterable));
        }
        return false;
    }
    drop(vm, frame, 1);
    return true;
}

static bool is_mapping(VM *vm, Value v) {
    return value_is(vm_unwrap(v), OBJ_DICT) || class_lookup(vm, class_of(vm, v), vm_intern(vm, "keys")).tag != V_NULL;
}

bool opcode_dict_update(VM *vm, Frame *frame, int depth) {
    Value mapping = vm_force(vm, TOP(1));
    if (value_is_error(mapping)) return false;
    if (!is_mapping(vm, mapping)) return vm_raise(vm, "TypeError", "'%s' object is not a mapping", type_name(vm, mapping)), false;
    Dict *into = opcode_grown(vm, TOP(depth + 1));
    if (!into || !dict_merge(vm, into, mapping)) return false;
    drop(vm, frame, 1);
    return true;
}

/* As CPython says it in errors: with the module of a function or class. */
static const char *callable_name(VM *vm, Value callee) {
    callee = vm_force(vm, callee);
    if (value_is(callee, OBJ_METHOD)) callee = ((Method *)callee.o)->function;
    Value module = value_is(callee, OBJ_FUNCTION) ? ((Function *)callee.o)->module_name : value_is(callee, OBJ_CLASS) ? ((Class *)callee.o)->module_name : VALUE_NULL;
    const char *name = value_is(callee, OBJ_FUNCTION) ? ((Function *)callee.o)->qualname : value_is(callee, OBJ_CLASS) ? ((Class *)callee.o)->qualname : NULL;
    if (name && value_is(module, OBJ_STR) && strcmp(str_text(module), "builtins") != 0) return arena_printf(vm->arena, "%s.%s", str_text(module), name);
    if (name) return name;
    return value_is(callee, OBJ_BUILTIN) ? ((Builtin *)callee.o)->name : type_name(vm, callee);
}

Value opcode_star_list(VM *vm, Value callee, Value iterable) {
    Value list = vm_list_of(vm, iterable);
    if (!value_is_error(list) || !vm_pending(vm, "TypeError")) return list;
    Class *cls = class_of(vm, iterable);
    bool iterates = class_lookup(vm, cls, vm->own->names.iter_).tag != V_NULL || class_lookup(vm, cls, vm->own->names.getitem_).tag != V_NULL;
    if (iterates || value_is(iterable, OBJ_TENSOR)) return list;
    vm_clear_exception(vm);
    return vm_raise(vm, "TypeError", "%s() argument after * must be an iterable, not %s", callable_name(vm, callee), type_name(vm, iterable));
}

bool opcode_dict_merge(VM *vm, Frame *frame, int depth) {
    Value mapping = vm_force(vm, TOP(1)), callee = TOP(depth + 3);
    if (value_is_error(mapping)) return false;
    if (!is_mapping(vm, mapping))
        return vm_raise(vm, "TypeError", "%s() argument after ** must be a mapping, not %s", callable_name(vm, callee), type_name(vm, mapping)), false;
    Value plain = vm_unwrap(mapping), key;
    Dict *into = opcode_grown(vm, TOP(depth + 1));
    if (!into) return false;
    for (int at = 0; value_is(plain, OBJ_DICT) && dict_next(dict_of(plain), &at, &key, NULL);) {
        if (!value_is(key, OBJ_STR)) return vm_raise(vm, "TypeError", "keywords must be strings"), false;
        if (dict_find(vm, into, key, str_hash(str_of(key))) >= 0)
            return vm_raise(vm, "TypeError", "%s() got multiple values for keyword argument '%s'", callable_name(vm, callee), str_text(key)), false;
    }
    if (!dict_merge(vm, into, mapping)) return false;
    drop(vm, frame, 1);
    return true;
}

bool opcode_unpack(VM *vm, Frame *frame, int count) {
    Value small[16], *out = count <= 16 ? small : malloc((size_t)count * sizeof(Value));
    if (!out) vm_out_of_memory();
    bool ok = vm_unpack(vm, TOP(1), out, count);
    if (ok) {
        drop(vm, frame, 1);
        for (int i = count - 1; i >= 0; i--) frame->fast[frame->sp++] = out[i];
    }
    if (out != small) free(out);
    return ok;
}

bool opcode_unpack_ex(VM *vm, Frame *frame, int before, int after) {
    Value source = vm_force(vm, TOP(1));
    if (value_is_error(source)) return false;
    Value all = vm_list_of(vm, source);
    if (value_is_error(all)) {
        if (vm_pending(vm, "TypeError") && class_lookup(vm, class_of(vm, source), vm->own->names.iter_).tag == V_NULL) {
            vm_clear_exception(vm);
            vm_raise(vm, "TypeError", "cannot unpack non-iterable %s object", type_name(vm, source));
        }
        return false;
    }
    List *list = list_of(all);
    int rest = list->count - before - after;
    if (rest < 0) {
        vm_raise(vm, "ValueError", "not enough values to unpack (expected at least %d, got %d)", before + after, list->count);
        value_unref(vm, all);
        return false;
    }
    drop(vm, frame, 1);
    for (int i = list->count - 1; i >= before + rest; i--) frame->fast[frame->sp++] = value_ref(list->items[i]);
    frame->fast[frame->sp++] = list_new(vm, list->items + before, rest);
    for (int i = before - 1; i >= 0; i--) frame->fast[frame->sp++] = value_ref(list->items[i]);
    value_unref(vm, all);
    return true;
}

Value opcode_slice(VM *vm, Value container, Value start, Value stop) {
    Value slice = slice_new(vm, start, stop, VALUE_NONE);
    Value result = vm_subscript(vm, container, slice);
    value_unref(vm, slice);
    return result;
}

bool opcode_store_slice(VM *vm, Frame *frame) {
    Value slice = slice_new(vm, TOP(2), TOP(1), VALUE_NONE);
    bool ok = vm_store_subscript(vm, TOP(3), slice, TOP(4));
    value_unref(vm, slice);
    if (ok) drop(vm, frame, 4);
    return ok;
}
