/* Setting and deleting attributes, and dir().
 *
 *     vm_store_attr(vm, object, name, value);          // object.name = value
 *     vm_delete_attr(vm, object, name);                // del object.name
 *
 * Invariant: before an instance, class, module or function changes, the domain's will_mutate has agreed. */
#include "vm/internal.h"
#include "vm/opcode.h"
#include <string.h>

static bool no_setter(VM *vm, Value object, const char *name, bool deleting) {
    if (value_is(class_lookup(vm, class_of(vm, object), vm_intern(vm, "_fields")), OBJ_TUPLE) && value_is(vm_unwrap(object), OBJ_TUPLE))
        return vm_raise(vm, "AttributeError", "can't %s attribute", deleting ? "delete" : "set"), false;
    vm_raise(vm, "AttributeError", "property '%s' of '%s' object has no %s", name, type_name(vm, object), deleting ? "deleter" : "setter");
    return false;
}

static bool finish(VM *vm, Value result) {
    bool ok = !value_is_error(result);
    value_unref(vm, result);
    return ok;
}

/* value V_NULL deletes. *done: a data descriptor of the class took it. */
static bool through_descriptor(VM *vm, Value object, Value attribute, const char *name, Value value, bool *done) {
    const VMNames *n = &vm->own->names;
    bool deleting = value.tag == V_NULL;
    *done = false;
    if (value_is(attribute, OBJ_PROPERTY)) {
        Property *p = (Property *)attribute.o;
        Value hook = deleting ? p->deleter : p->setter;
        *done = true;
        if (hook.tag == V_NONE) return no_setter(vm, object, name, deleting);
        return finish(vm, deleting ? vm_call1(vm, hook, object) : vm_call2(vm, hook, object, value));
    }
    if (!value_is(attribute, OBJ_INSTANCE)) return true;
    Value hook = class_lookup(vm, ((Instance *)attribute.o)->cls, deleting ? n->delete_ : n->set_);
    if (hook.tag == V_NULL) return true;
    *done = true;
    Value args[3] = {attribute, object, value};
    return finish(vm, vm_call(vm, hook, args, deleting ? 2 : 3, NULL));
}

static bool replace_dict(VM *vm, Instance *instance, Value value) {
    if (!value_is(value, OBJ_DICT)) return vm_raise(vm, "TypeError", "__dict__ must be set to a dictionary, not a '%s'", type_name(vm, value)), false;
    Dict *old = instance->dict;
    instance->dict = dict_of(value_ref(value));
    value_unref(vm, value_object(old));
    return true;
}

static bool missing(VM *vm, Value object, const char *name) {
    vm_raise(vm, "AttributeError", "'%s' object has no attribute '%s'", type_name(vm, object), name);
    return false;
}

static bool dict_drop_name(VM *vm, Value object, Dict *dict, const char *name) {
    bool found;
    Value key = str_interned(vm, name);
    bool ok = dict_delete(vm, dict, key, &found);
    value_unref(vm, key);
    return ok && (found || missing(vm, object, name));
}

/* x.__class__ = C: both classes are of the program, and their instances are laid out alike. */
static bool replace_class(VM *vm, Instance *instance, Value value) {
    if (!value_is(value, OBJ_CLASS)) return vm_raise(vm, "TypeError", "__class__ must be set to a class, not '%s' object", type_name(vm, value)), false;
    Class *old = instance->cls, *cls = (Class *)value.o;
    if ((cls->head.flags | old->head.flags) & FLAG_BUILTIN) return vm_raise(vm, "TypeError", "__class__ assignment only supported for mutable types or ModuleType subclasses"), false;
    if (cls->builtin_type != old->builtin_type || cls->no_dict != old->no_dict || cls->is_exception != old->is_exception)
        return vm_raise(vm, "TypeError", "__class__ assignment: '%s' object layout differs from '%s'", cls->name, old->name), false;
    instance->cls = (Class *)value_ref(value).o;
    value_unref(vm, value_object(old));
    return true;
}

/* object.__setattr__ and object.__delattr__ */
static bool instance_store(VM *vm, Value object, const char *name, Value value) {
    Instance *instance = (Instance *)object.o;
    bool done;
    Value attribute = class_lookup(vm, instance->cls, name);
    if (attribute.tag == V_OBJECT && (!through_descriptor(vm, object, attribute, name, value, &done) || done)) return !vm->stopped && vm->exception.tag == V_NULL;
    if (!vm_mutate(vm, instance)) return false;
    if (value.tag == V_NULL) {
        if (vm->domain->delete_attr && !vm->domain->delete_attr(vm, &instance->head, name)) return false;
        return dict_drop_name(vm, object, instance->dict, name);
    }
    if (instance->cls->no_dict && !class_has_slot(vm, instance->cls, name)) return missing(vm, object, name);
    if (name == vm->own->names.dict_) return replace_dict(vm, instance, vm_force(vm, value));
    if (name == vm->own->names.class_) return replace_class(vm, instance, vm_force(vm, value));
    if (instance->cls->is_exception && (!exception_store_attr(vm, object, name, value, &done) || done)) return vm->exception.tag == V_NULL;
    dict_set_name(vm, instance->dict, name, value);
    return true;
}

bool vm_store_attr_generic(VM *vm, Value object, const char *name, Value value) { return instance_store(vm, object, name, value); }

/* Data of a class may change at every call; what its instances can do seldom does. */
static bool is_behaviour(Value v) {
    if (v.tag != V_OBJECT) return false;
    switch (v.o->type) {
    case OBJ_STR: case OBJ_TUPLE: case OBJ_LIST: case OBJ_DICT: case OBJ_SET: case OBJ_FROZENSET: case OBJ_TENSOR: case OBJ_INSTANCE: return false;
    default: return true;
    }
}

int64_t class_changes(const Class *cls) {
    int64_t sum = 0;
    for (int i = 0; i < cls->mro_count; i++) sum += cls->mro[i]->changes;
    return sum;
}

static bool class_store(VM *vm, Class *cls, const char *name, Value value) {
    if (cls->head.flags & FLAG_BUILTIN) return vm_raise(vm, "TypeError", "cannot set '%s' attribute of immutable type '%s'", name, cls->name), false;
    if (!vm_mutate(vm, cls)) return false;
    cls->changes += is_behaviour(dict_get_name(vm, cls->dict, name)) || is_behaviour(vm_unwrap(value));
    if (value.tag == V_NULL) {
        if (dict_get_name(vm, cls->dict, name).tag == V_NULL) return vm_raise(vm, "AttributeError", "type object '%s' has no attribute '%s'", cls->name, name), false;
        return dict_drop_name(vm, value_object(cls), cls->dict, name);
    }
    value = vm_force(vm, value);
    if (name == vm->own->names.name_ && value_is(value, OBJ_STR)) cls->name = str_intern(vm, str_of(value));
    else if (name == vm->own->names.qualname_ && value_is(value, OBJ_STR)) cls->qualname = str_intern(vm, str_of(value));
    else if (name == vm->own->names.module_) value_set(vm, &cls->module_name, value_ref(value));
    else dict_set_name(vm, cls->dict, name, value);
    class_refresh(vm, cls);
    return true;
}

static bool function_store_special(VM *vm, Function *f, const char *name, Value value) {
    const VMNames *n = &vm->own->names;
    if (name == n->name_ && value_is(value, OBJ_STR)) f->name = str_intern(vm, str_of(value));
    else if (name == n->qualname_ && value_is(value, OBJ_STR)) f->qualname = str_intern(vm, str_of(value));
    else if (name == n->module_) value_set(vm, &f->module_name, value_ref(value));
    else if (name == n->defaults_) value_set(vm, &f->defaults, value_ref(value));
    else if (name == n->kwdefaults_) value_set(vm, &f->kwdefaults, value_ref(value));
    else return false;
    return true;
}

static bool function_store(VM *vm, Function *f, const char *name, Value value) {
    if (!vm_mutate(vm, f)) return false;
    if (value.tag != V_NULL && function_store_special(vm, f, name, vm_force(vm, value))) return true;
    if (f->dict.tag == V_NONE) f->dict = dict_new(vm);
    if (value.tag == V_NULL) return dict_drop_name(vm, value_object(f), dict_of(f->dict), name);
    dict_set_name(vm, dict_of(f->dict), name, value);
    return true;
}

static bool module_store(VM *vm, ModuleObject *module, const char *name, Value value) {
    if (!vm_mutate(vm, module)) return false;
    if (value.tag == V_NULL) return dict_drop_name(vm, value_object(module), module->dict, name);
    dict_set_name(vm, module->dict, name, value);
    return true;
}

static bool store(VM *vm, Value object, const char *name, Value value) {
    if (object.tag == V_OBJECT) {
        const NativeType *native = vm->own->natives[object.o->type];
        if (native && native->store_attr) return native->store_attr(vm, object.o, name, value);
        switch ((ObjectType)object.o->type) {
        case OBJ_CLASS: return class_store(vm, (Class *)object.o, name, value);
        case OBJ_MODULE: return module_store(vm, (ModuleObject *)object.o, name, value);
        case OBJ_FUNCTION: return function_store(vm, (Function *)object.o, name, value);
        case OBJ_TENSOR: return tensor_store_attr(vm, (Tensor *)object.o, name, value);
        case OBJ_CELL: if (!strcmp(name, "cell_contents")) return opcode_store_cell(vm, (Cell *)object.o, value); break;
        default: break;
        }
    }
    Value there = vm_load_attr_generic(vm, object, name);
    if (value_is_error(there)) return false;
    if (there.tag == V_NULL) return missing(vm, object, name);
    value_unref(vm, there);
    return vm_raise(vm, "AttributeError", "'%s' object attribute '%s' is read-only", type_name(vm, object), name), false;
}

bool vm_store_attr(VM *vm, Value object, const char *name, Value value) {
    object = vm_force(vm, object);
    if (value_is_error(object)) return false;
    if (!value_is(object, OBJ_INSTANCE)) return store(vm, object, name, value);
    Class *cls = ((Instance *)object.o)->cls;
    if (!cls->has_setattr) return instance_store(vm, object, name, value);
    Value args[3] = {object, str_interned(vm, name), value};
    Value result = vm_call(vm, class_lookup(vm, cls, vm->own->names.setattr_), args, 3, NULL);
    value_unref(vm, args[1]);
    return finish(vm, result);
}

bool vm_delete_attr(VM *vm, Value object, const char *name) {
    object = vm_force(vm, object);
    if (value_is_error(object)) return false;
    if (!value_is(object, OBJ_INSTANCE)) return store(vm, object, name, VALUE_NULL);
    Value key = str_interned(vm, name);
    Value result = vm_call_special(vm, object, vm->own->names.delattr_, &key, 1);
    value_unref(vm, key);
    return result.tag == V_NULL ? instance_store(vm, object, name, VALUE_NULL) : finish(vm, result);
}

static bool add_names(VM *vm, Dict *into, Dict *from) {
    Value key;
    for (int at = 0; dict_next(from, &at, &key, NULL);)
        if (!dict_set(vm, into, key, VALUE_NONE)) return false;
    return true;
}

Value vm_dir(VM *vm, Value object) {
    Value names = dict_new(vm);
    Dict *all = dict_of(names);
    bool ok = true;
    if (value_is(object, OBJ_MODULE)) ok = add_names(vm, all, ((ModuleObject *)object.o)->dict);
    else {
        if (value_is(object, OBJ_INSTANCE)) ok = add_names(vm, all, ((Instance *)object.o)->dict);
        Class *cls = value_is(object, OBJ_CLASS) ? (Class *)object.o : class_of(vm, object);
        for (int i = 0; ok && i < cls->mro_count; i++) ok = add_names(vm, all, cls->mro[i]->dict);
    }
    Value list = ok ? vm_list_of(vm, names) : VALUE_ERROR;
    value_unref(vm, names);
    if (!value_is_error(list) && !vm_sort(vm, list_of(list), VALUE_NONE, false)) return value_unref(vm, list), VALUE_ERROR;
    return list;
}
