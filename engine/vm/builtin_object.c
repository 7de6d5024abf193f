/* Builtins about objects: attributes, types, identity, namespaces, and the building of classes.
 *
 * To add one: a function, a row in the table. */
#include "vm/methods.h"
#include <stdlib.h>
#include <string.h>

static bool attribute_name(VM *vm, Value name, const char *what, const char **out) {
    name = vm_unwrap(vm_force(vm, name));
    if (value_is(name, OBJ_STR)) return *out = str_intern(vm, str_of(name)), true;
    return value_is_error(name) ? false : (vm_raise(vm, "TypeError", "%s(): attribute name must be string", what), false);
}

static Value builtin_getattr(METHOD) {
    UNUSED;
    const char *name;
    if (!attribute_name(vm, args[1], "getattr", &name)) return VALUE_ERROR;
    Value found = vm_load_attr(vm, args[0], name);
    if (!value_is_error(found) || nargs < 3 || !vm_pending(vm, "AttributeError")) return found;
    vm_clear_exception(vm);
    return value_ref(args[2]);
}

static Value builtin_hasattr(METHOD) {
    UNUSED;
    const char *name;
    if (!attribute_name(vm, args[1], "hasattr", &name)) return VALUE_ERROR;
    Value found = vm_load_attr(vm, args[0], name);
    if (value_is_error(found) && !vm_pending(vm, "AttributeError")) return found;
    bool has = !value_is_error(found);
    if (!has) vm_clear_exception(vm);
    value_unref(vm, found);
    return value_bool(has);
}

static Value builtin_setattr(METHOD) {
    UNUSED;
    const char *name;
    return attribute_name(vm, args[1], "setattr", &name) && vm_store_attr(vm, args[0], name, args[2]) ? VALUE_NONE : VALUE_ERROR;
}

static Value builtin_delattr(METHOD) {
    UNUSED;
    const char *name;
    return attribute_name(vm, args[1], "delattr", &name) && vm_delete_attr(vm, args[0], name) ? VALUE_NONE : VALUE_ERROR;
}

static Value builtin_isinstance(METHOD) {
    UNUSED;
    Value v = args[0]; /* the library's own walks over attributes need no more of a number than its class */
    if (value_is(v, OBJ_TRACKED) && vm->domain->type_only) v = vm->domain->type_only(vm, (Tracked *)v.o);
    int match = vm_isinstance(vm, v, args[1]);
    return match < 0 ? VALUE_ERROR : value_bool(match);
}

static int is_subclass(VM *vm, Value cls, Value wanted) {
    wanted = vm_force(vm, wanted);
    if (value_is(wanted, OBJ_TUPLE)) {
        int match = 0;
        if (!vm_enter(vm, " in __subclasscheck__")) return -1;
        for (int i = 0; i < tuple_of(wanted)->count && match == 0; i++) match = is_subclass(vm, cls, tuple_of(wanted)->items[i]);
        vm_leave(vm);
        return match;
    }
    if (!value_is(wanted, OBJ_CLASS)) return vm_raise(vm, "TypeError", "issubclass() arg 2 must be a class, a tuple of classes, or a union"), -1;
    return class_is_subclass((Class *)cls.o, (Class *)wanted.o);
}

static Value builtin_issubclass(METHOD) {
    UNUSED;
    if (!value_is(args[0], OBJ_CLASS)) return vm_raise(vm, "TypeError", "issubclass() arg 1 must be a class");
    int match = is_subclass(vm, args[0], args[1]);
    return match < 0 ? VALUE_ERROR : value_bool(match);
}

static Value builtin_callable(METHOD) { UNUSED; return value_bool(vm_callable(vm, args[0])); }

static Value builtin_id(METHOD) {
    UNUSED;
    Value v = args[0];
    if (v.tag == V_OBJECT) return value_int((int64_t)(uintptr_t)v.o);
    return value_int(0x10000000 + (int64_t)v.tag * 0x100000 + (v.tag == V_INT ? v.i * 16 : v.tag == V_BOOL ? v.b * 16 : 0));
}

static Value builtin_hash(METHOD) {
    UNUSED;
    uint64_t hash;
    return vm_hash(vm, args[0], &hash) ? value_int((int64_t)hash) : VALUE_ERROR;
}

static Value frame_locals(VM *vm) {
    Frame *frame = vm->frame;
    if (!frame) return value_ref(value_object(vm->main->dict));
    if (frame->locals) return value_ref(value_object(frame->locals));
    Value dict = dict_new(vm);
    for (int i = 0; i < code_localsplus_count(frame->code); i++) {
        Value v = value_is(frame->fast[i], OBJ_CELL) && i >= frame->code->nlocals ? ((Cell *)frame->fast[i].o)->value : frame->fast[i];
        if (value_is(v, OBJ_CELL)) v = ((Cell *)v.o)->value; /* a captured argument */
        if (v.tag != V_NULL) dict_set_name(vm, dict_of(dict), frame->code->localsplus[i], v);
    }
    return dict;
}

static Value builtin_vars(METHOD) {
    UNUSED;
    if (nargs == 0) return frame_locals(vm);
    Value found = vm->domain->load_attr && value_is(args[0], OBJ_INSTANCE) ? vm_load_attr(vm, args[0], vm->own->names.dict_) : vm_load_attr_generic(vm, args[0], vm->own->names.dict_);
    return found.tag == V_NULL ? vm_raise(vm, "TypeError", "vars() argument must have __dict__ attribute") : found;
}

static Value builtin_locals(METHOD) { UNUSED; return frame_locals(vm); }
static Value builtin_globals(METHOD) { UNUSED; return value_ref(value_object(vm->frame ? vm->frame->globals : vm->main->dict)); }

static Value builtin_dir(METHOD) {
    UNUSED;
    if (nargs) {
        Value own = value_is(args[0], OBJ_INSTANCE) ? vm_call_special(vm, args[0], vm_intern(vm, "__dir__"), NULL, 0) : VALUE_NULL;
        return own.tag == V_NULL ? vm_dir(vm, args[0]) : own;
    }
    Value names = frame_locals(vm), list = vm_list_of(vm, names);
    value_unref(vm, names);
    if (!value_is_error(list)) vm_sort(vm, list_of(list), VALUE_NONE, false);
    return list;
}

const BuiltinDef builtin_objects[] = {
    {"getattr", builtin_getattr, 2, 3, BUILTIN_POSITIONAL}, {"hasattr", builtin_hasattr, 2, 2, BUILTIN_POSITIONAL}, {"setattr", builtin_setattr, 3, 3, BUILTIN_POSITIONAL},
    {"delattr", builtin_delattr, 2, 2, BUILTIN_POSITIONAL}, {"isinstance", builtin_isinstance, 2, 2, BUILTIN_POSITIONAL | BUILTIN_RAW},
    {"issubclass", builtin_issubclass, 2, 2, BUILTIN_POSITIONAL}, {"callable", builtin_callable, 1, 1, BUILTIN_POSITIONAL}, {"id", builtin_id, 1, 1, BUILTIN_POSITIONAL | BUILTIN_BREAK},
    {"hash", builtin_hash, 1, 1, BUILTIN_POSITIONAL}, {"vars", builtin_vars, 0, 1, BUILTIN_POSITIONAL}, {"locals", builtin_locals, 0, 0, BUILTIN_POSITIONAL},
    {"exit", builtin_exit, 0, 1, BUILTIN_POSITIONAL | BUILTIN_BREAK}, {"quit", builtin_exit, 0, 1, BUILTIN_POSITIONAL | BUILTIN_BREAK},
    {"globals", builtin_globals, 0, 0, BUILTIN_POSITIONAL}, {"dir", builtin_dir, 0, 1, BUILTIN_POSITIONAL}, {NULL, NULL, 0, 0, 0},
};

/* ---- class statements ---- */

static bool usable_metaclass(VM *vm, Value metaclass) {
    bool known = value_is(metaclass, OBJ_CLASS) && ((Class *)metaclass.o == vm->class_type || strcmp(((Class *)metaclass.o)->name, "ABCMeta") == 0);
    if (!known) vm_raise(vm, "TypeError", "metaclasses are not supported");
    return known;
}

/* Runs the body in a fresh namespace. The value it returns is the cell of __class__, or None. */
static Value run_body(VM *vm, Function *body, Dict *names) {
    Frame *frame = frame_new(vm, body, body->code, body->globals);
    frame->locals = names;
    Value result = frame_run(vm, frame);
    frame_free(vm, frame);
    return result;
}

/* super(cls).__init_subclass__(**keywords) */
static bool tell_bases(VM *vm, Class *cls, Value *args, int nargs, Tuple *kwnames) {
    Value hook = super_load_attr(vm, cls, value_object(cls), vm->own->names.init_subclass_);
    if (hook.tag <= V_ERROR) return hook.tag == V_NULL;
    Value keep[16], names = tuple_take(vm, kwnames && kwnames->count ? kwnames->count : 0);
    int count = 0;
    for (int i = 0; kwnames && i < kwnames->count && count < 16; i++) {
        if (strcmp(str_text(kwnames->items[i]), "metaclass") == 0) continue;
        tuple_of(names)->items[count] = value_ref(kwnames->items[i]);
        keep[count++] = args[nargs + i];
    }
    Value kept = tuple_new(vm, tuple_of(names)->items, count);
    Value result = vm_call(vm, hook, keep, 0, count ? tuple_of(kept) : NULL);
    value_unref(vm, kept);
    value_unref(vm, names);
    value_unref(vm, hook);
    value_unref(vm, result);
    return !value_is_error(result);
}

/* The bases as classes: an object that is none says by __mro_entries__ what stands for it. */
static Value resolve_bases(VM *vm, Value *args, int count) {
    Value list = list_new(vm, NULL, 0);
    for (int i = 0; i < count && !value_is_error(list); i++) {
        Value base = vm_force(vm, args[i]), given = VALUE_NULL, entries = VALUE_NULL;
        if (value_is(base, OBJ_INSTANCE)) {
            given = tuple_new(vm, args, count);
            entries = vm_call_special(vm, base, vm_intern(vm, "__mro_entries__"), &given, 1);
            value_unref(vm, given);
        }
        if (entries.tag == V_NULL) list_append(vm, list_of(list), base);
        else if (value_is_error(entries) || !list_extend(vm, list_of(list), entries)) value_unref(vm, list), list = VALUE_ERROR;
        value_unref(vm, entries);
    }
    if (value_is_error(list)) return list;
    Value bases = tuple_new(vm, list_of(list)->items, list_of(list)->count);
    value_unref(vm, list);
    return bases;
}

/* A base that makes the class itself: typing.NamedTuple. V_NULL: there is none. */
static Value built_by_base(VM *vm, Value *bases, int count, Value name, Value names) {
    for (int i = 0; i < count; i++) {
        Value base = vm_force(vm, bases[i]);
        if (!value_is(base, OBJ_INSTANCE)) continue;
        Value args[3] = {name, tuple_new(vm, bases, count), names};
        Value made = vm_call_special(vm, base, vm_intern(vm, "__build_class__"), args, 3);
        value_unref(vm, args[1]);
        if (made.tag != V_NULL) return made;
    }
    return VALUE_NULL;
}

static Value build(VM *vm, Value *args, int nargs, Value names) {
    Value name = vm_force(vm, args[1]), made = built_by_base(vm, args + 2, nargs - 2, name, names);
    if (made.tag != V_NULL) return made;
    Value bases = resolve_bases(vm, args + 2, nargs - 2);
    Value cls = value_is_error(bases) ? bases : class_new(vm, str_text(name), bases, names);
    value_unref(vm, bases);
    return cls;
}

Value builtin_build_class(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    Value body = vm_force(vm, args[0]), metaclass = vm_force(vm, vm_keyword(kwnames, args, nargs, "metaclass"));
    if (metaclass.tag != V_NULL && !usable_metaclass(vm, metaclass)) return VALUE_ERROR;
    Value names = dict_new(vm), cls = VALUE_ERROR, key = str_interned(vm, vm->own->names.classcell_);
    Value cell = run_body(vm, (Function *)body.o, dict_of(names));
    bool found, ok = !value_is_error(cell) && dict_delete(vm, dict_of(names), key, &found);
    if (ok) cls = build(vm, args, nargs, names);
    if (value_is(cls, OBJ_CLASS)) {
        if (value_is(cell, OBJ_CELL)) value_set(vm, &((Cell *)cell.o)->value, value_ref(cls));
        if (!tell_bases(vm, (Class *)cls.o, args, nargs, kwnames)) value_unref(vm, cls), cls = VALUE_ERROR;
    }
    value_unref(vm, cell);
    value_unref(vm, key);
    value_unref(vm, names);
    return cls;
}
