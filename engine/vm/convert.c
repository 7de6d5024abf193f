/* Convert: what every value has: a class, a truth, perhaps a length or an integer value.
 *
 *     vm_truth(vm, v)                    // 1, 0, -1 (exception)
 *     class_of(vm, v)->name              // as type(v).__name__
 *
 * Invariant: class_of never fails: each tag and object type has a class from vm_new on. */
#include "vm/internal.h"
#include <math.h>
#include <string.h>

static Class *class_of_iterator(VM *vm, const char *kind) {
    const char *name = vm_intern(vm, kind);
    Class *cls = map_get(vm->own->iterator_classes, name);
    if (!cls) {
        cls = class_builtin(vm, kind, vm->own->class_iterator, OBJ_ITERATOR);
        map_put(vm->own->iterator_classes, name, cls);
    }
    return cls;
}

static Class *class_of_native(VM *vm, const NativeType *native, const Object *o) {
    const char *name = vm_intern(vm, native->name_of ? native->name_of(o) : native->name);
    Class *cls = map_get(vm->own->iterator_classes, name);
    if (!cls) {
        cls = class_builtin(vm, name, vm->class_object, OBJ_OPAQUE);
        if (native->module) value_set(vm, &cls->module_name, str_from(vm, native->module));
        map_put(vm->own->iterator_classes, name, cls);
    }
    return cls;
}

static Class *class_of_object(VM *vm, Object *o) {
    const NativeType *native = vm->own->natives[o->type];
    if (native) return class_of_native(vm, native, o);
    switch ((ObjectType)o->type) {
    case OBJ_INSTANCE: return ((Instance *)o)->cls;
    case OBJ_CLASS: return vm->class_type;
    case OBJ_ITERATOR: return class_of_iterator(vm, ((Iterator *)o)->kind);
    case OBJ_TUPLE: return ((Tuple *)o)->is_size ? vm->own->class_size : vm->classes[OBJ_TUPLE];
    case OBJ_TENSOR: return ((Tensor *)o)->is_parameter ? vm->class_parameter : vm->classes[OBJ_TENSOR];
    case OBJ_SYM: return vm->class_int;
    case OBJ_DICT: {
        Dict *dict = (Dict *)o;
        Class *special = dict->is_counter ? vm->own->class_counter : dict->is_ordered ? vm->own->class_ordered : dict->fallback ? vm->own->class_defaultdict : NULL;
        return special ? special : vm->classes[OBJ_DICT];
    }
    default: return vm->classes[o->type];
    }
}

Class *class_of(VM *vm, Value v) {
    v = vm_force(vm, v);
    switch (v.tag) {
    case V_NONE: case V_NULL: case V_ERROR: return vm->class_none;
    case V_ELLIPSIS: return vm->class_ellipsis;
    case V_NOTIMPLEMENTED: return vm->class_notimplemented;
    case V_BOOL: return vm->class_bool;
    case V_INT: return vm->class_int;
    case V_FLOAT: return vm->class_float;
    case V_OBJECT: break;
    }
    Class *cls = class_of_object(vm, v.o);
    return cls ? cls : vm->class_object;
}

const char *type_name(VM *vm, Value v) { return class_of(vm, v)->name; }

int vm_isinstance(VM *vm, Value v, Value wanted) {
    v = vm_force(vm, v), wanted = vm_force(vm, wanted);
    if (value_is_error(v) || value_is_error(wanted)) return -1;
    if (value_is(wanted, OBJ_TUPLE)) {
        int match = 0;
        if (!vm_enter(vm, " in __instancecheck__")) return -1;
        for (int i = 0; i < tuple_of(wanted)->count && match == 0; i++) match = vm_isinstance(vm, v, tuple_of(wanted)->items[i]);
        vm_leave(vm);
        return match;
    }
    if (value_is(wanted, OBJ_INSTANCE)) { /* a class-like object says itself */
        Value result = vm_call_special(vm, wanted, vm_intern(vm, "__instancecheck__"), &v, 1);
        if (result.tag != V_NULL) {
            int truth = value_is_error(result) ? -1 : vm_truth(vm, result);
            value_unref(vm, result);
            return truth;
        }
    }
    if (wanted.tag == V_NONE) wanted = value_object(vm->class_none); /* inside unions of types */
    if (!value_is(wanted, OBJ_CLASS)) return vm_raise(vm, "TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union"), -1;
    return class_is_subclass(class_of(vm, v), (Class *)wanted.o);
}

static int truth_of_instance(VM *vm, Value v) {
    const VMNames *n = &vm->own->names;
    Value result = vm_call_special(vm, v, n->bool_, NULL, 0);
    if (result.tag == V_NULL) result = vm_call_special(vm, v, n->len_, NULL, 0);
    if (result.tag == V_NULL) {
        Value payload = instance_payload(v);
        return payload.tag == V_NULL ? 1 : vm_truth(vm, payload);
    }
    if (value_is_error(result)) return -1;
    Value forced = vm_force(vm, result);
    int truth = forced.tag == V_BOOL || forced.tag == V_INT ? integer_of(forced) != 0 : value_is(forced, OBJ_SYM) ? sym_truth(vm, forced) : -1;
    if (truth < 0 && vm->exception.tag == V_NULL && !vm->stopped) vm_raise(vm, "TypeError", "__bool__ should return bool, returned %s", type_name(vm, forced));
    value_unref(vm, result);
    return truth;
}

int vm_truth(VM *vm, Value v) {
    v = vm_force(vm, v);
    switch (v.tag) {
    case V_NULL: case V_ERROR: return -1;
    case V_NONE: return 0;
    case V_BOOL: return v.b;
    case V_INT: return v.i != 0;
    case V_FLOAT: return v.f != 0;
    case V_OBJECT: break;
    default: return 1;
    }
    switch ((ObjectType)v.o->type) {
    case OBJ_STR: return str_of(v)->length > 0;
    case OBJ_TUPLE: return tuple_of(v)->count > 0;
    case OBJ_LIST: return list_of(v)->count > 0;
    case OBJ_DICT: return dict_of(v)->live > 0;
    case OBJ_SET: case OBJ_FROZENSET: return set_of(v)->dict->live > 0;
    case OBJ_RANGE: return range_length((Range *)v.o) > 0;
    case OBJ_TENSOR: return vm->domain->truth ? vm->domain->truth(vm, (Tensor *)v.o) : tensor_truth(vm, (Tensor *)v.o);
    case OBJ_SYM: return sym_truth(vm, v);
    case OBJ_INSTANCE: return truth_of_instance(vm, v);
    case OBJ_ITERATOR: return !value_is_view(v) || dict_of(((Iterator *)v.o)->subject)->live > 0;
    default: return 1;
    }
}

static int64_t length_of_instance(VM *vm, Value v) {
    Value result = vm_call_special(vm, v, vm->own->names.len_, NULL, 0);
    int64_t n = -1;
    if (value_is_error(result)) return -1;
    if (result.tag == V_NULL) return vm_raise(vm, "TypeError", "object of type '%s' has no len()", type_name(vm, v)), -1;
    if (vm_as_int(vm, result, &n) && n < 0) vm_raise(vm, "ValueError", "__len__() should return >= 0");
    value_unref(vm, result);
    return n < 0 ? -1 : n;
}

int64_t vm_length(VM *vm, Value v) {
    v = vm_force(vm, v);
    if (v.tag == V_OBJECT) switch ((ObjectType)v.o->type) {
    case OBJ_STR: return str_count(str_of(v));
    case OBJ_TUPLE: return tuple_of(v)->count;
    case OBJ_LIST: return list_of(v)->count;
    case OBJ_DICT: return dict_of(v)->live;
    case OBJ_SET: case OBJ_FROZENSET: return set_of(v)->dict->live;
    case OBJ_RANGE: {
        int64_t length = range_length((Range *)v.o);
        return length == INT64_MAX ? vm_raise(vm, "OverflowError", "Python int too large to convert to C ssize_t"), -1 : length;
    }
    case OBJ_TENSOR: return tensor_length(vm, (Tensor *)v.o);
    case OBJ_INSTANCE: return length_of_instance(vm, v);
    case OBJ_ITERATOR: if (value_is_view(v)) return dict_of(((Iterator *)v.o)->subject)->live; break;
    case OBJ_CLASS: {
        int64_t n = -1;
        Value result = class_hook(vm, v, "__class_len__", NULL, 0);
        if (result.tag == V_NULL) break;
        if (!value_is_error(result)) vm_as_int(vm, result, &n);
        value_unref(vm, result);
        return n;
    }
    default: break;
    }
    if (!value_is_error(v)) vm_raise(vm, "TypeError", "object of type '%s' has no len()", type_name(vm, v));
    return -1;
}

bool vm_as_int(VM *vm, Value v, int64_t *out) {
    v = vm_force(vm, v);
    if (value_is_integer(v)) return *out = integer_of(v), true;
    if (value_is(v, OBJ_SYM)) return sym_as_int(vm, v, out);
    if (value_is(v, OBJ_TENSOR)) {
        Value item = vm->domain->item ? vm->domain->item(vm, (Tensor *)v.o) : tensor_item(vm, (Tensor *)v.o);
        if (value_is_error(item)) return false;
        bool whole = value_is_integer(item) || value_is(item, OBJ_SYM);
        bool ok = whole && vm_as_int(vm, item, out);
        if (!whole) vm_raise(vm, "TypeError", "only integer tensors of a single element can be converted to an index");
        value_unref(vm, item);
        return ok;
    }
    if (value_is(v, OBJ_INSTANCE)) {
        Value payload = instance_payload(v);
        if (value_is_integer(payload)) return *out = integer_of(payload), true;
        Value result = vm_call_special(vm, v, vm->own->names.index_, NULL, 0);
        if (value_is_error(result)) return false;
        if (value_is_integer(result)) return *out = integer_of(result), true;
        value_unref(vm, result);
    }
    if (!value_is_error(v)) vm_raise(vm, "TypeError", "'%s' object cannot be interpreted as an integer", type_name(vm, v));
    return false;
}
