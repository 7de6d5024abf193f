/* Attributes: what `object.name` means for every kind of object: instances, classes, modules, functions, descriptors, bound methods.
 *
 *     Value f = vm_load_attr(vm, object, name);                  // owned, or AttributeError
 *     vm_load_method(vm, object, name, &callable, &self);        // the form before a call: no bound method is made
 *
 * Order for instances, as in Python: data descriptors of the class, the instance's own dict, the class, __getattr__.
 * Invariant: attributes of instances, classes, modules and functions go through the domain's load_attr first, changes through will_mutate. */
#include "vm/internal.h"
#include <string.h>

Value builtin_bind(VM *vm, Builtin *builtin, Value self) {
    Builtin *bound = (Builtin *)object_new(vm, OBJ_BUILTIN, sizeof *bound);
    Object head = bound->head;
    *bound = *builtin;
    bound->head = head;
    bound->self = value_ref(self);
    return value_object(bound);
}

static bool is_data_descriptor(VM *vm, Value attribute) {
    if (value_is(attribute, OBJ_PROPERTY)) return true;
    return value_is(attribute, OBJ_INSTANCE) && class_lookup(vm, ((Instance *)attribute.o)->cls, vm->own->names.set_).tag != V_NULL;
}

static Value bind_descriptor(VM *vm, Value attribute, Value self, Class *cls) {
    Value getter = class_lookup(vm, ((Instance *)attribute.o)->cls, vm->own->names.get_);
    if (getter.tag == V_NULL) return value_ref(attribute);
    Value args[3] = {attribute, self.tag == V_NULL ? VALUE_NONE : self, value_object(cls)};
    return vm_call(vm, getter, args, 3, NULL);
}

/* self V_NULL: found through the class itself. */
Value vm_bind(VM *vm, Value attribute, Value self, Class *cls) {
    if (attribute.tag != V_OBJECT) return attribute;
    switch ((ObjectType)attribute.o->type) {
    case OBJ_FUNCTION: case OBJ_COMPILED: return self.tag == V_NULL ? value_ref(attribute) : method_new(vm, self, attribute);
    case OBJ_STATICMETHOD: return value_ref(((Wrapper *)attribute.o)->inner);
    case OBJ_CLASSMETHOD: return method_new(vm, value_object(cls), ((Wrapper *)attribute.o)->inner);
    case OBJ_PROPERTY: {
        Value getter = ((Property *)attribute.o)->getter;
        if (self.tag == V_NULL) return value_ref(attribute);
        if (getter.tag == V_NONE) return vm_raise(vm, "AttributeError", "property of '%s' object has no getter", type_name(vm, self));
        return vm_call1(vm, getter, self);
    }
    case OBJ_BUILTIN: {
        Builtin *builtin = (Builtin *)attribute.o;
        if (builtin->effects & BUILTIN_CLASSMETHOD) return builtin_bind(vm, builtin, value_object(cls));
        return self.tag != V_NULL && builtin->effects & BUILTIN_METHOD ? builtin_bind(vm, builtin, self) : value_ref(attribute);
    }
    case OBJ_INSTANCE: return bind_descriptor(vm, attribute, self, cls);
    default: return value_ref(attribute);
    }
}

static Value own_attr(VM *vm, Value v, const char *name);

static Value instance_attr(VM *vm, Value object, const char *name) {
    Instance *instance = (Instance *)object.o;
    const VMNames *n = &vm->own->names;
    Value attribute = class_lookup(vm, instance->cls, name);
    if (attribute.tag != V_NULL && is_data_descriptor(vm, attribute)) return vm_bind(vm, attribute, object, instance->cls);
    Value own = dict_get_name(vm, instance->dict, name);
    if (own.tag != V_NULL) return value_ref(own);
    if (attribute.tag != V_NULL) return vm_bind(vm, attribute, object, instance->cls);
    if (name == n->class_) return value_ref(value_object(instance->cls));
    if (name == n->dict_ && !instance->cls->no_dict) return value_ref(value_object(instance->dict));
    if (name == n->doc_ || name == n->module_) return vm_load_attr_generic(vm, value_object(instance->cls), name);
    if (instance->cls->is_exception) return exception_load_attr(vm, object, name);
    Value payload = instance_payload(object);
    return payload.tag == V_NULL ? payload : own_attr(vm, payload, name);
}

static Value mro_tuple(VM *vm, const Class *cls) {
    Value tuple = tuple_take(vm, cls->mro_count);
    for (int i = 0; i < cls->mro_count; i++) tuple_of(tuple)->items[i] = value_ref(value_object(cls->mro[i]));
    return tuple;
}

static Value class_mro_list(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    Value tuple = mro_tuple(vm, (Class *)args[0].o);
    Value list = vm_list_of(vm, tuple);
    value_unref(vm, tuple);
    return list;
}

static Value class_special_attr(VM *vm, Class *cls, const char *name) {
    const VMNames *n = &vm->own->names;
    if (name == n->name_) return str_interned(vm, cls->name);
    if (name == n->qualname_) return str_interned(vm, cls->qualname);
    if (name == n->class_) return value_ref(value_object(vm->class_type));
    if (name == n->dict_) return dict_copy(vm, cls->dict);
    if (name == n->bases_) return value_ref(cls->bases);
    if (name == n->mro_) return mro_tuple(vm, cls);
    if (name == n->module_) return cls->module_name.tag == V_NULL ? str_from(vm, "builtins") : value_ref(cls->module_name);
    if (strcmp(name, "mro") == 0) {
        Value builtin = builtin_new(vm, "type.mro", class_mro_list, 1, 1, BUILTIN_POSITIONAL);
        ((Builtin *)builtin.o)->self = value_ref(value_object(cls));
        return builtin;
    }
    return VALUE_NULL;
}

static Value class_attr(VM *vm, Class *cls, const char *name) {
    Value special = class_special_attr(vm, cls, name);
    if (special.tag != V_NULL) return special;
    Value attribute = class_lookup(vm, cls, name);
    if (attribute.tag != V_NULL) return vm_bind(vm, attribute, VALUE_NULL, cls);
    if (vm->torch && class_is_subclass(cls, vm->classes[OBJ_TENSOR])) return tensor_class_attr(vm, name);
    return name == vm->own->names.doc_ ? VALUE_NONE : VALUE_NULL;
}

static Value text_or_none(VM *vm, const char *text) { return text ? str_from(vm, text) : VALUE_NONE; }

static Value function_attr(VM *vm, Function *f, const char *name) {
    const VMNames *n = &vm->own->names;
    if (value_is(f->dict, OBJ_DICT)) {
        Value own = dict_get_name(vm, dict_of(f->dict), name);
        if (own.tag != V_NULL) return value_ref(own);
    }
    if (name == n->name_) return str_interned(vm, f->name);
    if (name == n->qualname_) return str_interned(vm, f->qualname);
    if (name == n->doc_) return text_or_none(vm, f->code->doc);
    if (name == n->module_) return f->module_name.tag == V_NULL ? VALUE_NONE : value_ref(f->module_name);
    if (name == n->defaults_) return value_ref(f->defaults);
    if (name == n->kwdefaults_) return value_ref(f->kwdefaults);
    if (name == n->closure_) return value_ref(f->closure);
    if (name == n->globals_) return value_ref(value_object(f->globals));
    if (name == n->annotations_) return dict_new(vm);
    if (name == n->dict_) {
        if (f->dict.tag == V_NONE) f->dict = dict_new(vm);
        return value_ref(f->dict);
    }
    if (name == n->code_) {
        CodeObject *code = (CodeObject *)object_new(vm, OBJ_CODE, sizeof *code);
        code->code = f->code;
        return value_object(code);
    }
    return VALUE_NULL;
}

static Value code_attr(VM *vm, const Code *code, const char *name) {
    if (strcmp(name, "co_name") == 0) return str_from(vm, code->name);
    if (strcmp(name, "co_qualname") == 0) return str_from(vm, code->qualname);
    if (strcmp(name, "co_argcount") == 0) return value_int(code->argcount);
    if (strcmp(name, "co_kwonlyargcount") == 0) return value_int(code->kwonlyargcount);
    if (strcmp(name, "co_posonlyargcount") == 0) return value_int(code->posonlyargcount);
    if (strcmp(name, "co_nlocals") == 0) return value_int(code->nlocals);
    if (strcmp(name, "co_flags") == 0) return value_int(code->flags);
    if (strcmp(name, "co_filename") == 0) return str_from(vm, code->file ? code->file->name : "");
    if (strcmp(name, "co_firstlineno") == 0) return value_int(span_line(code->span));
    if (strcmp(name, "co_varnames") != 0) return VALUE_NULL;
    Value names = tuple_take(vm, code->nlocals);
    for (int i = 0; i < code->nlocals; i++) tuple_of(names)->items[i] = str_interned(vm, code->localsplus[i]);
    return names;
}

static Value module_attr(VM *vm, ModuleObject *module, const char *name) {
    Value found = dict_get_name(vm, module->dict, name);
    if (found.tag != V_NULL) return value_ref(found);
    if (name == vm->own->names.dict_) return value_ref(value_object(module->dict));
    Value hook = dict_get_name(vm, module->dict, vm->own->names.getattr_);
    if (hook.tag == V_NULL) return VALUE_NULL;
    Value key = str_interned(vm, name);
    Value result = vm_call1(vm, hook, key);
    value_unref(vm, key);
    return result;
}

static Value property_attr(VM *vm, Property *p, const char *name);

static Value method_attr(VM *vm, Method *m, const char *name) {
    if (name == vm->own->names.self_) return value_ref(m->self);
    if (name == vm->own->names.func_) return value_ref(m->function);
    return vm_load_attr_generic(vm, m->function, name);
}

static Value builtin_attr(VM *vm, Builtin *b, const char *name) {
    const VMNames *n = &vm->own->names;
    if (name == n->name_) return str_from(vm, b->name);
    if (name == n->qualname_) return str_from(vm, b->qualname);
    if (name == n->self_ && b->self.tag != V_NULL) return value_ref(b->self);
    if (name == n->doc_ || name == n->module_) return VALUE_NONE;
    return VALUE_NULL;
}

static Value number_attr(Value v, const char *name) {
    bool real = strcmp(name, "real") == 0, imaginary = strcmp(name, "imag") == 0;
    if (v.tag == V_FLOAT) return real ? v : imaginary ? value_float(0) : VALUE_NULL;
    if (real || strcmp(name, "numerator") == 0) return value_int(integer_of(v));
    if (imaginary) return value_int(0);
    return strcmp(name, "denominator") == 0 ? value_int(1) : VALUE_NULL;
}

static Value field_attr(VM *vm, Value v, const char *name) {
    if (value_is(v, OBJ_RANGE)) {
        Range *r = (Range *)v.o;
        return strcmp(name, "start") == 0 ? value_int(r->start) : strcmp(name, "stop") == 0 ? value_int(r->stop) : strcmp(name, "step") == 0 ? value_int(r->step) : VALUE_NULL;
    }
    if (value_is(v, OBJ_SLICE)) {
        Slice *s = (Slice *)v.o;
        return strcmp(name, "start") == 0 ? value_ref(s->start) : strcmp(name, "stop") == 0 ? value_ref(s->stop) : strcmp(name, "step") == 0 ? value_ref(s->step) : VALUE_NULL;
    }
    if (value_is(v, OBJ_CELL) && strcmp(name, "cell_contents") == 0) {
        Value content = ((Cell *)v.o)->value;
        return content.tag == V_NULL ? vm_raise(vm, "ValueError", "Cell is empty") : value_ref(content);
    }
    if (value_is(v, OBJ_DICT) && dict_of(v)->fallback && strcmp(name, "default_factory") == 0) return value_ref(*dict_of(v)->fallback);
    if (value_is(v, OBJ_TUPLE) && tuple_of(v)->is_size) return size_load_attr(vm, tuple_of(v), name);
    return VALUE_NULL;
}

static Value op_attr(VM *vm, OpObject *op, const char *name) {
    const VMNames *n = &vm->own->names;
    const char *dot = strrchr(op->spelled, '.');
    if (name == n->name_ || name == n->qualname_) return str_from(vm, dot ? dot + 1 : op->spelled);
    return name == n->module_ ? str_new(vm, op->spelled, dot ? (size_t)(dot - op->spelled) : 0) : VALUE_NULL;
}

/* Attributes that are not in the class of a builtin object. */
static Value own_attr(VM *vm, Value v, const char *name) {
    if (value_is_number(v)) return number_attr(v, name);
    if (v.tag != V_OBJECT) return VALUE_NULL;
    const NativeType *native = vm->own->natives[v.o->type];
    if (native) return native->load_attr ? native->load_attr(vm, v.o, name) : VALUE_NULL;
    switch ((ObjectType)v.o->type) {
    case OBJ_CODE: return code_attr(vm, ((CodeObject *)v.o)->code, name);
    case OBJ_METHOD: return method_attr(vm, (Method *)v.o, name);
    case OBJ_BUILTIN: return builtin_attr(vm, (Builtin *)v.o, name);
    case OBJ_PROPERTY: return property_attr(vm, (Property *)v.o, name);
    case OBJ_STATICMETHOD: case OBJ_CLASSMETHOD:
        if (name == vm->own->names.func_) return value_ref(((Wrapper *)v.o)->inner);
        return vm_load_attr_generic(vm, ((Wrapper *)v.o)->inner, name);
    case OBJ_DTYPE: return dtype_load_attr(vm, ((DTypeObject *)v.o)->dtype, name);
    case OBJ_DEVICE: return device_load_attr(vm, ((DeviceObject *)v.o)->device, name);
    case OBJ_OP: return op_attr(vm, (OpObject *)v.o, name);
    case OBJ_SUPER: return super_load_attr(vm, ((Super *)v.o)->cls, ((Super *)v.o)->self, name);
    default: return field_attr(vm, v, name);
    }
}

static Value builtin_object_attr(VM *vm, Value v, const char *name) {
    Value own = own_attr(vm, v, name);
    if (own.tag != V_NULL) return own;
    Class *cls = class_of(vm, v);
    Value attribute = class_lookup(vm, cls, name);
    if (attribute.tag != V_NULL) return vm_bind(vm, attribute, v, cls);
    if (name == vm->own->names.class_) return value_ref(value_object(cls));
    return name == vm->own->names.doc_ ? VALUE_NONE : VALUE_NULL;
}

Value vm_load_attr_generic(VM *vm, Value object, const char *name) {
    object = vm_force(vm, object);
    if (object.tag != V_OBJECT) return object.tag == V_ERROR ? object : builtin_object_attr(vm, object, name);
    switch ((ObjectType)object.o->type) {
    case OBJ_INSTANCE: return instance_attr(vm, object, name);
    case OBJ_CLASS: return class_attr(vm, (Class *)object.o, name);
    case OBJ_MODULE: return module_attr(vm, (ModuleObject *)object.o, name);
    case OBJ_FUNCTION: {
        Value found = function_attr(vm, (Function *)object.o, name);
        return found.tag == V_NULL ? builtin_object_attr(vm, object, name) : found;
    }
    case OBJ_TENSOR: {
        Value found = tensor_load_attr(vm, (Tensor *)object.o, name);
        return found.tag == V_NULL ? builtin_object_attr(vm, object, name) : found;
    }
    default: return builtin_object_attr(vm, object, name);
    }
}

static Value no_attribute(VM *vm, Value object, const char *name) {
    if (value_is(object, OBJ_CLASS)) return vm_raise(vm, "AttributeError", "type object '%s' has no attribute '%s'", ((Class *)object.o)->name, name);
    if (value_is(object, OBJ_MODULE)) return vm_raise(vm, "AttributeError", "module '%s' has no attribute '%s'", ((ModuleObject *)object.o)->name, name);
    if (value_is(object, OBJ_SUPER)) return vm_raise(vm, "AttributeError", "'super' object has no attribute '%s'", name);
    return vm_raise(vm, "AttributeError", "'%s' object has no attribute '%s'", type_name(vm, object), name);
}

static bool hooked(Value object) {
    return value_is(object, OBJ_INSTANCE) || value_is(object, OBJ_CLASS) || value_is(object, OBJ_MODULE) || value_is(object, OBJ_FUNCTION);
}

/* A property that raises AttributeError falls back to __getattr__ too, as in Python. */
static Value fallback_attr(VM *vm, Value object, const char *name) {
    Value args[2] = {object, str_interned(vm, name)};
    Value result = vm_call(vm, class_lookup(vm, ((Instance *)object.o)->cls, vm->own->names.getattr_), args, 2, NULL);
    value_unref(vm, args[1]);
    return result;
}

static bool has_getattribute(Value object) { return value_is(object, OBJ_INSTANCE) && ((Instance *)object.o)->cls->has_getattribute; }

static Value call_getattribute(VM *vm, Value object, const char *name) {
    Value key = str_interned(vm, name);
    Value result = vm_call_special(vm, object, vm->own->names.getattribute_, &key, 1);
    value_unref(vm, key);
    return result;
}

/* Methods of a dict that look at one key. */
static bool asks_for_keys(const VM *vm, const char *name) {
    const VMNames *names = &vm->own->names;
    return name == names->get_method || name == names->getitem_ || name == names->contains_;
}

Value vm_load_attr(VM *vm, Value object, const char *name) {
    object = asks_for_keys(vm, name) ? vm_force_keyed(vm, object) : vm_force(vm, object);
    if (value_is_error(object)) return object;
    Value found = VALUE_NULL;
    if (has_getattribute(object)) found = call_getattribute(vm, object, name);
    else if (vm->domain->load_attr && hooked(object)) found = vm->domain->load_attr(vm, object, name);
    else found = vm_load_attr_generic(vm, object, name);
    bool fall_back = value_is(object, OBJ_INSTANCE) && ((Instance *)object.o)->cls->has_getattr;
    if (fall_back && value_is_error(found) && vm_pending(vm, "AttributeError")) {
        vm_clear_exception(vm);
        found = VALUE_NULL;
    }
    if (found.tag != V_NULL) return found;
    return fall_back ? fallback_attr(vm, object, name) : no_attribute(vm, object, name);
}

/* Functions of the class need no bound method before a call. */
bool vm_load_method(VM *vm, Value object, const char *name, Value *callable, Value *self) {
    object = asks_for_keys(vm, name) ? vm_force_keyed(vm, object) : vm_force(vm, object);
    *self = VALUE_NULL;
    bool instance = value_is(object, OBJ_INSTANCE);
    bool plain = !(vm->domain->load_attr && hooked(object)) && !has_getattribute(object) && !value_is(object, OBJ_TENSOR) && !value_is(object, OBJ_CLASS) && !value_is(object, OBJ_SUPER) &&
                 !value_is(object, OBJ_MODULE) && object.tag > V_ERROR;
    if (plain && (instance || object.tag != V_OBJECT || !vm->own->natives[object.o->type])) {
        Value found = class_lookup(vm, instance ? ((Instance *)object.o)->cls : class_of(vm, object), name);
        bool method = value_is(found, OBJ_FUNCTION) || (value_is(found, OBJ_BUILTIN) && ((Builtin *)found.o)->effects & BUILTIN_METHOD);
        if (method && (!instance || dict_get_name(vm, ((Instance *)object.o)->dict, name).tag == V_NULL)) {
            *callable = value_ref(found);
            *self = value_ref(object);
            return true;
        }
    }
    *callable = vm_load_attr(vm, object, name);
    return !value_is_error(*callable);
}

Value super_load_attr(VM *vm, Class *after, Value self, const char *name) {
    bool is_class = value_is(self, OBJ_CLASS) && class_is_subclass((Class *)self.o, after);
    Class *cls = is_class ? (Class *)self.o : class_of(vm, self);
    int i = 0;
    while (i < cls->mro_count && cls->mro[i] != after) i++;
    for (i++; i < cls->mro_count; i++) {
        Value found = dict_get_name(vm, cls->mro[i]->dict, name);
        if (found.tag != V_NULL) return vm_bind(vm, found, is_class ? VALUE_NULL : self, cls);
    }
    return name == vm->own->names.class_ ? value_ref(value_object(class_of(vm, self))) : VALUE_NULL;
}

Value vm_lookup_special(VM *vm, Value object, const char *name) {
    Class *cls = class_of(vm, object);
    Value found = class_lookup(vm, cls, name);
    return found.tag == V_NULL ? found : vm_bind(vm, found, object, cls);
}

Value vm_call_special(VM *vm, Value object, const char *name, Value *args, int nargs) {
    Class *cls = ((Instance *)object.o)->cls;
    Value found = class_lookup(vm, cls, name);
    if (found.tag == V_NULL || (value_is(found, OBJ_BUILTIN) && found.o->flags & FLAG_BUILTIN)) return VALUE_NULL;
    if (value_is(found, OBJ_FUNCTION) || value_is(found, OBJ_BUILTIN)) {
        Value all[6] = {object};
        for (int i = 0; i < nargs; i++) all[i + 1] = args[i];
        return vm_call(vm, found, all, nargs + 1, NULL);
    }
    Value bound = vm_bind(vm, found, object, cls);
    if (value_is_error(bound)) return bound;
    if (bound.tag == V_NONE) return VALUE_NULL; /* __hash__ = None and the like */
    Value result = vm_call(vm, bound, args, nargs, NULL);
    value_unref(vm, bound);
    return result;
}

Value vm_call_method(VM *vm, Value object, const char *name, Value *args, int nargs) {
    Value method = vm_load_attr(vm, object, vm_intern(vm, name));
    if (value_is_error(method)) return method;
    Value result = vm_call(vm, method, args, nargs, NULL);
    value_unref(vm, method);
    return result;
}

/* ---- properties: @property, @p.setter, @p.deleter ---- */

static Value property_with(VM *vm, Value *args, int which) {
    Property *old = (Property *)args[0].o;
    Property *p = (Property *)object_new(vm, OBJ_PROPERTY, sizeof *p);
    p->getter = value_ref(which == 0 ? args[1] : old->getter);
    p->setter = value_ref(which == 1 ? args[1] : old->setter);
    p->deleter = value_ref(which == 2 ? args[1] : old->deleter);
    return value_object(p);
}

static Value property_getter(VM *vm, Value *args, int nargs, Tuple *kwnames) { (void)nargs, (void)kwnames; return property_with(vm, args, 0); }
static Value property_setter(VM *vm, Value *args, int nargs, Tuple *kwnames) { (void)nargs, (void)kwnames; return property_with(vm, args, 1); }
static Value property_deleter(VM *vm, Value *args, int nargs, Tuple *kwnames) { (void)nargs, (void)kwnames; return property_with(vm, args, 2); }

static Value property_attr(VM *vm, Property *p, const char *name) {
    if (strcmp(name, "fget") == 0) return value_ref(p->getter);
    if (strcmp(name, "fset") == 0) return value_ref(p->setter);
    if (strcmp(name, "fdel") == 0) return value_ref(p->deleter);
    BuiltinFn fn = strcmp(name, "getter") == 0 ? property_getter : strcmp(name, "setter") == 0 ? property_setter : strcmp(name, "deleter") == 0 ? property_deleter : NULL;
    if (!fn) return VALUE_NULL;
    Value bound = builtin_new(vm, name, fn, 2, 2, BUILTIN_POSITIONAL);
    ((Builtin *)bound.o)->self = value_ref(value_object(p));
    return bound;
}
