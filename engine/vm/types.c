/* Types: constructors of the builtin types, and the special methods that programs reach through super() or by name.
 *
 * Each constructor is the type's __new__: args[0] is the class, which may be a subclass of the program's; the value then becomes the
 * payload of an instance.
 *     int("42")   ->  new_int(vm, {int, "42"}, 2, NULL)
 * To add a type: its constructor in type_constructors, its class in vm_types_init (setup.c). */
#include "vm/methods.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLASS ((Class *)args[0].o)

/* The value itself for the builtin class, an instance that carries it for a subclass. */
static Value finish(VM *vm, Value *args, Value made) {
    if (value_is_error(made) || CLASS->head.flags & FLAG_BUILTIN) return made;
    return instance_with_payload(vm, CLASS, made);
}

/* ---- numbers ---- */

static Value bad_int_text(VM *vm, Value text, int base) {
    Value shown = vm_repr(vm, text);
    vm_raise(vm, "ValueError", "invalid literal for int() with base %d: %s", base, value_is_error(shown) ? "" : str_text(shown));
    value_unref(vm, shown);
    return VALUE_ERROR;
}

static int digit_value(char c) { return isdigit((unsigned char)c) ? c - '0' : isalpha((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : 99; }

/* Sign, optional base prefix, digits with single underscores. */
static Value int_of_text(VM *vm, Value text, int base) {
    const char *at = str_text(text), *end = at + str_of(text)->length;
    int shown_base = base;
    while (at < end && isspace((unsigned char)*at)) at++;
    while (end > at && isspace((unsigned char)end[-1])) end--;
    bool negative = at < end && *at == '-', digit = false, any = false;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (end - at > 2 && *at == '0') {
        int prefixed = tolower((unsigned char)at[1]) == 'x' ? 16 : tolower((unsigned char)at[1]) == 'o' ? 8 : tolower((unsigned char)at[1]) == 'b' ? 2 : 0;
        if (prefixed && (base == 0 || base == prefixed)) base = prefixed, at += 2;
    }
    if (base == 0) base = 10;
    uint64_t n = 0;
    for (; at < end; at++) {
        if (*at == '_' && digit && at + 1 < end) {
            digit = false;
            continue;
        }
        if (digit_value(*at) >= base) return bad_int_text(vm, text, shown_base);
        if (__builtin_mul_overflow(n, (uint64_t)base, &n) || __builtin_add_overflow(n, (uint64_t)digit_value(*at), &n) || n > (uint64_t)INT64_MAX + negative)
            return vm_raise(vm, "OverflowError", "integer overflow in int(): the number does not fit 64 bits");
        digit = any = true;
    }
    if (!any) return bad_int_text(vm, text, shown_base);
    return value_int(negative ? (int64_t)(0 - n) : (int64_t)n);
}

static Value int_of_float(VM *vm, double f) {
    if (isnan(f)) return vm_raise(vm, "ValueError", "cannot convert float NaN to integer");
    if (isinf(f)) return vm_raise(vm, "OverflowError", "cannot convert float infinity to integer");
    if (fabs(f) >= 9223372036854775808.0) return vm_raise(vm, "OverflowError", "integer overflow in int(): the number does not fit 64 bits");
    return value_int((int64_t)f);
}

static Value tensor_number(VM *vm, Value v) { return vm->domain->item ? vm->domain->item(vm, (Tensor *)v.o) : tensor_item(vm, (Tensor *)v.o); }

static Value to_int(VM *vm, Value v) {
    Value plain = vm_unwrap(v);
    if (plain.tag == V_FLOAT) return int_of_float(vm, plain.f);
    if (value_is_integer(plain)) return value_int(integer_of(plain));
    if (value_is(plain, OBJ_SYM)) return value_ref(plain);
    if (value_is(plain, OBJ_STR)) return int_of_text(vm, plain, 10);
    if (value_is(plain, OBJ_TENSOR)) {
        Value item = tensor_number(vm, plain);
        if (value_is_error(item)) return item;
        Value forced = vm_force(vm, item), result = value_is_error(forced) ? forced : to_int(vm, forced);
        value_unref(vm, item);
        return result;
    }
    const VMNames *n = &vm->own->names;
    const char *hooks[] = {n->int_, n->index_, n->trunc_};
    for (int i = 0; value_is(v, OBJ_INSTANCE) && i < 3; i++) {
        Value result = vm_call_special(vm, v, hooks[i], NULL, 0);
        if (result.tag != V_NULL) return result;
    }
    return vm_raise(vm, "TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'", type_name(vm, v));
}

static Value new_int(METHOD) {
    static const char *const names[] = {"x", "base"};
    Value out[2];
    if (!vm_parse_args(vm, "int", args + 1, nargs - 1, kwnames, names, 2, 0, out)) return VALUE_ERROR;
    if (out[0].tag == V_NULL) return finish(vm, args, value_int(0));
    if (out[1].tag == V_NULL) return finish(vm, args, to_int(vm, out[0]));
    int64_t base;
    if (!vm_as_int(vm, out[1], &base)) return VALUE_ERROR;
    if (!value_is(out[0], OBJ_STR)) return vm_raise(vm, "TypeError", "int() can't convert non-string with explicit base");
    if (base != 0 && (base < 2 || base > 36)) return vm_raise(vm, "ValueError", "int() base must be >= 2 and <= 36, or 0");
    return finish(vm, args, int_of_text(vm, out[0], (int)base));
}

static Value to_float(VM *vm, Value v) {
    Value plain = vm_unwrap(v);
    double f;
    if (value_is_number(plain)) return value_float(number_of(plain));
    if (value_is(plain, OBJ_SYM)) {
        int64_t i;
        return sym_as_int(vm, plain, &i) ? value_float((double)i) : VALUE_ERROR;
    }
    if (value_is(plain, OBJ_TENSOR)) {
        Value item = tensor_number(vm, plain);
        if (value_is_error(item)) return item;
        Value forced = vm_force(vm, item);
        Value result = value_is_error(forced) ? forced : value_is_number(forced) ? value_float(number_of(forced)) : value_ref(forced);
        value_unref(vm, item);
        return result;
    }
    if (value_is(plain, OBJ_STR)) {
        if (parse_float(str_text(plain), str_of(plain)->length, &f)) return value_float(f);
        Value shown = vm_repr(vm, plain);
        vm_raise(vm, "ValueError", "could not convert string to float: %s", str_text(shown));
        value_unref(vm, shown);
        return VALUE_ERROR;
    }
    Value result = value_is(v, OBJ_INSTANCE) ? vm_call_special(vm, v, vm->own->names.float_, NULL, 0) : VALUE_NULL;
    return result.tag == V_NULL ? vm_raise(vm, "TypeError", "float() argument must be a string or a real number, not '%s'", type_name(vm, v)) : result;
}

static Value new_float(METHOD) {
    UNUSED;
    return finish(vm, args, nargs < 2 ? value_float(0) : to_float(vm, args[1]));
}

static Value new_bool(METHOD) {
    UNUSED;
    int truth = nargs < 2 ? 0 : vm_truth(vm, args[1]);
    return truth < 0 ? VALUE_ERROR : value_bool(truth);
}

/* ---- containers ---- */

static Value new_str(METHOD) {
    static const char *const names[] = {"object"};
    Value object;
    if (!vm_parse_args(vm, "str", args + 1, nargs - 1, kwnames, names, 1, 0, &object)) return VALUE_ERROR;
    return finish(vm, args, object.tag == V_NULL ? str_new(vm, "", 0) : vm_str(vm, object));
}

static Value new_list(METHOD) {
    UNUSED;
    return finish(vm, args, nargs < 2 ? list_new(vm, NULL, 0) : vm_list_of(vm, args[1]));
}

static Value tuple_from(VM *vm, Value iterable) {
    if (value_is(iterable, OBJ_TUPLE) && !tuple_of(iterable)->is_size) return value_ref(iterable);
    Value list = vm_list_of(vm, iterable);
    if (value_is_error(list)) return list;
    Value tuple = tuple_new(vm, list_of(list)->items, list_of(list)->count);
    value_unref(vm, list);
    return tuple;
}

static Value new_tuple(METHOD) {
    UNUSED;
    return finish(vm, args, nargs < 2 ? tuple_take(vm, 0) : tuple_from(vm, args[1]));
}

static Value new_size(METHOD) {
    UNUSED;
    if (nargs < 2) {
        Tuple *empty = (Tuple *)object_new(vm, OBJ_TUPLE, sizeof *empty);
        empty->is_size = true;
        return value_object(empty);
    }
    Value list = vm_list_of(vm, args[1]);
    if (value_is_error(list)) return list;
    int count = list_of(list)->count;
    Tuple *size = (Tuple *)object_new(vm, OBJ_TUPLE, sizeof *size + (size_t)count * sizeof(Value));
    size->count = count;
    size->is_size = true;
    for (int i = 0; i < count; i++) size->items[i] = value_ref(list_of(list)->items[i]);
    value_unref(vm, list);
    return value_object(size);
}

static Value new_dict(METHOD) {
    Value dict = dict_new(vm);
    bool ok = nargs < 2 || dict_merge(vm, dict_of(dict), args[1]);
    for (int i = 0; ok && kwnames && i < kwnames->count; i++) ok = dict_set(vm, dict_of(dict), kwnames->items[i], args[nargs + i]);
    if (ok) return finish(vm, args, dict);
    value_unref(vm, dict);
    return VALUE_ERROR;
}

static Value new_set(METHOD) {
    UNUSED;
    bool frozen = class_is_subclass(CLASS, vm->classes[OBJ_FROZENSET]);
    if (frozen && nargs > 1 && value_is(args[1], OBJ_FROZENSET) && CLASS->head.flags & FLAG_BUILTIN) return value_ref(args[1]);
    Value set = set_new(vm, NULL, 0, frozen);
    if (nargs < 2 || set_update(vm, set_of(set), args[1])) return finish(vm, args, set);
    value_unref(vm, set);
    return VALUE_ERROR;
}

static Value new_range(METHOD) {
    UNUSED;
    int64_t bounds[3] = {0, 0, 1};
    for (int i = 1; i < nargs; i++)
        if (!vm_as_int(vm, args[i], &bounds[nargs == 2 ? 1 : i - 1])) return VALUE_ERROR;
    if (bounds[2] == 0) return vm_raise(vm, "ValueError", "range() arg 3 must not be zero");
    return range_new(vm, bounds[0], bounds[1], bounds[2]);
}

static Value new_slice(METHOD) {
    UNUSED;
    if (nargs == 2) return slice_new(vm, VALUE_NONE, args[1], VALUE_NONE);
    return slice_new(vm, args[1], args[2], nargs > 3 ? args[3] : VALUE_NONE);
}

/* ---- descriptors, super, type, object ---- */

static Value new_property(METHOD) {
    static const char *const names[] = {"fget", "fset", "fdel", "doc"};
    Value out[4];
    if (!vm_parse_args(vm, "property", args + 1, nargs - 1, kwnames, names, 4, 0, out)) return VALUE_ERROR;
    Property *p = (Property *)object_new(vm, OBJ_PROPERTY, sizeof *p);
    p->getter = out[0].tag == V_NULL ? VALUE_NONE : value_ref(out[0]);
    p->setter = out[1].tag == V_NULL ? VALUE_NONE : value_ref(out[1]);
    p->deleter = out[2].tag == V_NULL ? VALUE_NONE : value_ref(out[2]);
    return value_object(p);
}

static Value new_wrapper(VM *vm, ObjectType type, Value inner) {
    Wrapper *w = (Wrapper *)object_new(vm, type, sizeof *w);
    w->inner = value_ref(inner);
    return value_object(w);
}

static Value new_staticmethod(METHOD) { UNUSED; return new_wrapper(vm, OBJ_STATICMETHOD, args[1]); }
static Value new_classmethod(METHOD) { UNUSED; return new_wrapper(vm, OBJ_CLASSMETHOD, args[1]); }

/* super() without arguments: the class is in the cell __class__, self is the first argument of the calling frame. */
static bool super_of_frame(VM *vm, Value *cls, Value *self) {
    Frame *frame = vm->frame;
    const Code *code = frame ? frame->code : NULL;
    if (!code || !frame->function || code->argcount == 0) return vm_raise(vm, "RuntimeError", "super(): no arguments"), false;
    *self = value_is(frame->fast[0], OBJ_CELL) ? ((Cell *)frame->fast[0].o)->value : frame->fast[0];
    for (int i = code->nlocals + code->ncells; i < code_localsplus_count(code); i++)
        if (code->localsplus[i] == vm->own->names.class_) {
            *cls = ((Cell *)frame->fast[i].o)->value;
            return cls->tag != V_NULL || (vm_raise(vm, "RuntimeError", "super(): empty __class__ cell"), false);
        }
    return vm_raise(vm, "RuntimeError", "super(): __class__ cell not found"), false;
}

static Value new_super(METHOD) {
    UNUSED;
    Value cls, self;
    if (nargs == 3) cls = args[1], self = args[2];
    else if (nargs == 1) {
        if (!super_of_frame(vm, &cls, &self)) return VALUE_ERROR;
    } else return vm_raise(vm, "TypeError", "super() takes no arguments, or a class and an object");
    cls = vm_force(vm, cls), self = vm_force(vm, self);
    if (!value_is(cls, OBJ_CLASS)) return vm_raise(vm, "TypeError", "super() argument 1 must be a type, not %s", type_name(vm, cls));
    Super *s = (Super *)object_new(vm, OBJ_SUPER, sizeof *s);
    s->cls = (Class *)value_ref(cls).o;
    s->self = value_ref(self);
    return value_object(s);
}

static Value new_type(METHOD) {
    UNUSED;
    if (nargs == 2) return value_ref(value_object(class_of(vm, args[1])));
    if (nargs != 4 || !value_is(args[1], OBJ_STR) || !value_is(args[2], OBJ_TUPLE) || !value_is(args[3], OBJ_DICT)) return vm_raise(vm, "TypeError", "type() takes 1 or 3 arguments");
    Value names = dict_copy(vm, dict_of(args[3])), module = vm->frame ? dict_get_name(vm, vm->frame->globals, vm->own->names.name_) : VALUE_NULL;
    if (module.tag != V_NULL && dict_get_name(vm, dict_of(names), vm->own->names.module_).tag == V_NULL) dict_set_name(vm, dict_of(names), vm->own->names.module_, module);
    Value cls = class_new(vm, str_text(args[1]), args[2], names);
    value_unref(vm, names);
    return cls;
}

static Value new_object(METHOD) {
    UNUSED;
    if (!value_is(args[0], OBJ_CLASS)) return vm_raise(vm, "TypeError", "object.__new__(X): X is not a type object (%s)", type_name(vm, args[0]));
    Class *native = class_native_base(CLASS);
    if (native && native->builtin_type != OBJ_LIST && native->builtin_type != OBJ_DICT && native->builtin_type != OBJ_SET)
        return vm_raise(vm, "TypeError", "object.__new__(%s) is not safe, use %s.__new__()", CLASS->name, native->name);
    if (!native) return instance_new(vm, CLASS);
    Value maker = class_lookup(vm, native, vm->own->names.new_), as = value_object(native);
    Value payload = vm_call1(vm, maker, as);
    return value_is_error(payload) ? payload : instance_with_payload(vm, CLASS, payload);
}

const BuiltinDef type_constructors[] = {
    {"int", new_int, 1, 3, BUILTIN_NEW}, {"float", new_float, 1, 2, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"bool", new_bool, 1, 2, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"str", new_str, 1, 4, BUILTIN_NEW},
    {"list", new_list, 1, 2, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"tuple", new_tuple, 1, 2, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"Size", new_size, 1, 2, BUILTIN_POSITIONAL | BUILTIN_NEW},
    {"dict", new_dict, 1, 2, BUILTIN_NEW}, {"set", new_set, 1, 2, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"frozenset", new_set, 1, 2, BUILTIN_POSITIONAL | BUILTIN_NEW},
    {"range", new_range, 2, 4, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"slice", new_slice, 2, 4, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"property", new_property, 1, 5, BUILTIN_NEW},
    {"staticmethod", new_staticmethod, 2, 2, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"classmethod", new_classmethod, 2, 2, BUILTIN_POSITIONAL | BUILTIN_NEW},
    {"super", new_super, 1, 3, BUILTIN_POSITIONAL | BUILTIN_NEW}, {"type", new_type, 1, 4, BUILTIN_NEW}, {"object", new_object, 1, -1, BUILTIN_RAW | BUILTIN_NEW},
    {NULL, NULL, 0, 0, 0},
};

/* ---- what object gives to every class ---- */

static Value object_init(METHOD) {
    bool excess = nargs > 1 || (kwnames && kwnames->count);
    Class *cls = class_of(vm, args[0]);
    Value maker = class_lookup(vm, cls, vm->own->names.new_);
    bool own_new = value_is(maker, OBJ_STATICMETHOD) || (value_is(maker, OBJ_BUILTIN) && !(maker.o->flags & FLAG_BUILTIN));
    if (!excess || own_new || class_native_base(cls)) return VALUE_NONE;
    Value init = class_lookup(vm, cls, vm->own->names.init_);
    if (init.o == vm->own->object_init.o) return vm_raise(vm, "TypeError", "%s() takes no arguments", cls->name);
    return vm_raise(vm, "TypeError", "object.__init__() takes exactly one argument (the instance to initialize)");
}

static Value object_repr(METHOD) {
    UNUSED;
    if (value_is(args[0], OBJ_INSTANCE)) {
        Value payload = instance_payload(args[0]);
        if (payload.tag != V_NULL) return vm_repr(vm, payload);
        Class *cls = ((Instance *)args[0].o)->cls;
        bool module = value_is(cls->module_name, OBJ_STR) && strcmp(str_text(cls->module_name), "builtins") != 0;
        return str_printf(vm, "<%s%s%s object at %p>", module ? str_text(cls->module_name) : "", module ? "." : "", cls->qualname, (void *)args[0].o);
    }
    return vm_repr(vm, args[0]);
}

static Value object_str(METHOD) { UNUSED; return vm_repr(vm, args[0]); }

static bool attribute_name(VM *vm, Value name, const char **out) {
    name = vm_force(vm, name);
    if (value_is(name, OBJ_STR)) return *out = str_intern(vm, str_of(name)), true;
    return value_is_error(name) ? false : (vm_raise(vm, "TypeError", "attribute name must be string, not '%s'", type_name(vm, name)), false);
}

static Value object_setattr(METHOD) {
    UNUSED;
    const char *name;
    if (!attribute_name(vm, args[1], &name)) return VALUE_ERROR;
    Value object = vm_force(vm, args[0]);
    bool ok = value_is(object, OBJ_INSTANCE) ? vm_store_attr_generic(vm, object, name, args[2]) : !value_is_error(object) && vm_store_attr(vm, object, name, args[2]);
    return ok ? VALUE_NONE : VALUE_ERROR;
}

static Value object_delattr(METHOD) {
    UNUSED;
    const char *name;
    if (!attribute_name(vm, args[1], &name)) return VALUE_ERROR;
    Value object = vm_force(vm, args[0]);
    bool ok = value_is(object, OBJ_INSTANCE) ? vm_store_attr_generic(vm, object, name, VALUE_NULL) : !value_is_error(object) && vm_delete_attr(vm, object, name);
    return ok ? VALUE_NONE : VALUE_ERROR;
}

static Value object_getattribute(METHOD) {
    UNUSED;
    const char *name;
    if (!attribute_name(vm, args[1], &name)) return VALUE_ERROR;
    Value object = vm_force(vm, args[0]);
    Value found = vm->domain->load_attr && value_is(object, OBJ_INSTANCE) ? vm->domain->load_attr(vm, object, name) : vm_load_attr_generic(vm, object, name);
    if (found.tag != V_NULL) return found;
    return vm_raise(vm, "AttributeError", "'%s' object has no attribute '%s'", type_name(vm, object), name);
}

static Value object_eq(METHOD) {
    UNUSED;
    Value a = vm_force(vm, args[0]), b = vm_force(vm, args[1]);
    return value_identical(a, b) ? value_bool(true) : (Value){.tag = V_NOTIMPLEMENTED};
}

static Value object_hash(METHOD) {
    UNUSED;
    Value v = vm_force(vm, args[0]);
    return value_int((int64_t)((uintptr_t)v.o >> 4));
}

static Value object_format(METHOD) {
    UNUSED;
    if (!value_is(args[1], OBJ_STR) || str_of(args[1])->length) return vm_raise(vm, "TypeError", "unsupported format string passed to %s.__format__", type_name(vm, args[0]));
    return vm_str(vm, args[0]);
}

static Value object_dir(METHOD) { UNUSED; return vm_dir(vm, args[0]); }

static Value object_init_subclass(METHOD) {
    UNUSED;
    if (kwnames && kwnames->count) return vm_raise(vm, "TypeError", "%s.__init_subclass__() takes no keyword arguments", CLASS->name);
    return VALUE_NONE;
}

const BuiltinDef object_methods[] = {
    {"__init__", object_init, 1, -1, BUILTIN_METHOD | BUILTIN_RAW}, {"__repr__", object_repr, 1, 1, BUILTIN_METHOD | BUILTIN_RAW},
    {"__str__", object_str, 1, 1, BUILTIN_METHOD | BUILTIN_RAW}, {"__setattr__", object_setattr, 3, 3, BUILTIN_METHOD | BUILTIN_RAW | BUILTIN_MUTATES},
    {"__delattr__", object_delattr, 2, 2, BUILTIN_METHOD | BUILTIN_RAW | BUILTIN_MUTATES}, {"__getattribute__", object_getattribute, 2, 2, BUILTIN_METHOD | BUILTIN_RAW},
    {"__eq__", object_eq, 2, 2, BUILTIN_METHOD | BUILTIN_RAW}, {"__hash__", object_hash, 1, 1, BUILTIN_METHOD | BUILTIN_RAW},
    {"__format__", object_format, 2, 2, BUILTIN_METHOD | BUILTIN_RAW}, {"__dir__", object_dir, 1, 1, BUILTIN_METHOD | BUILTIN_RAW},
    {"__init_subclass__", object_init_subclass, 1, 1, BUILTIN_CLASSMETHOD | BUILTIN_RAW},
    {NULL, NULL, 0, 0, 0},
};
