/* Class: making classes, their order of resolution (C3), looking names up in it, and instances of subclasses of builtin types.
 *
 * An instance of `class Stack(list)` is an OBJ_INSTANCE that carries a list, its payload; methods found in the builtin class get the
 * payload as their self (call.c), so inherited behaviour needs no special case anywhere else.
 *
 *     Value cls = class_new(vm, "Net", bases, namespace);
 *     Value f = class_lookup(vm, (Class *)cls.o, name);     // borrowed; V_NULL when no class of its mro has it
 *
 * Invariant: the dict of a class is a namespace (FLAG_NAMESPACE): whatever changes it makes the method cache forget everything. */
#include "vm/internal.h"
#include <stdlib.h>
#include <string.h>

bool class_is_subclass(const Class *cls, const Class *base) {
    for (int i = 0; i < cls->mro_count; i++)
        if (cls->mro[i] == base) return true;
    return false;
}

static Value lookup_slow(VM *vm, const Class *cls, const char *name) {
    for (int i = 0; i < cls->mro_count; i++) {
        Value found = dict_get_name(vm, cls->mro[i]->dict, name);
        if (found.tag != V_NULL) return found;
    }
    return VALUE_NULL;
}

Value class_lookup(VM *vm, const Class *cls, const char *name) {
    struct VMPrivate *own = vm->own;
    uintptr_t mixed = ((uintptr_t)cls >> 4) * 17 ^ ((uintptr_t)name >> 4);
    MethodSlot *slot = &own->methods[mixed & (METHOD_SLOTS - 1)];
    if (slot->cls == cls && slot->name == name && slot->epoch == own->epoch) return slot->value;
    Value found = lookup_slow(vm, cls, name);
    *slot = (MethodSlot){cls, name, own->epoch, found};
    return found;
}

/* ---- C3 ---- */

typedef struct MergeList { Class **at; int count; } MergeList;

static bool in_some_tail(const MergeList *lists, int count, const Class *candidate) {
    for (int i = 0; i < count; i++)
        for (int k = 1; k < lists[i].count; k++)
            if (lists[i].at[k] == candidate) return true;
    return false;
}

static Class *next_of_merge(const MergeList *lists, int count) {
    for (int i = 0; i < count; i++)
        if (lists[i].count && !in_some_tail(lists, count, lists[i].at[0])) return lists[i].at[0];
    return NULL;
}

static bool merge_all(Class *cls, MergeList *lists, int count) {
    for (;;) {
        bool empty = true;
        for (int i = 0; i < count; i++) empty = empty && lists[i].count == 0;
        if (empty) return true;
        Class *next = next_of_merge(lists, count);
        if (!next) return false;
        cls->mro[cls->mro_count++] = next;
        for (int i = 0; i < count; i++)
            if (lists[i].count && lists[i].at[0] == next) lists[i].at++, lists[i].count--;
    }
}

static bool linearize(VM *vm, Class *cls) {
    Tuple *bases = tuple_of(cls->bases);
    size_t room = 1 + (size_t)bases->count;
    for (int i = 0; i < bases->count; i++) room += (size_t)((Class *)bases->items[i].o)->mro_count;
    cls->mro = calloc(room, sizeof *cls->mro);
    MergeList *lists = calloc((size_t)bases->count + 1, sizeof *lists);
    Class **direct = calloc((size_t)bases->count + 1, sizeof *direct);
    if (!cls->mro || !lists || !direct) vm_out_of_memory();
    cls->mro[cls->mro_count++] = cls;
    for (int i = 0; i < bases->count; i++) {
        direct[i] = (Class *)bases->items[i].o;
        lists[i] = (MergeList){direct[i]->mro, direct[i]->mro_count};
    }
    lists[bases->count] = (MergeList){direct, bases->count};
    bool ok = merge_all(cls, lists, bases->count + 1);
    if (!ok) {
        Text names = {0};
        for (int i = 0; i < bases->count; i++) text_printf(&names, "%s%s", i ? ", " : "", direct[i]->name);
        vm_raise(vm, "TypeError", "Cannot create a consistent method resolution\norder (MRO) for bases %s", text_cstr(&names));
        text_free(&names);
    }
    free(lists);
    free(direct);
    return ok;
}

/* ---- making ---- */

static bool own_hook(VM *vm, const Class *cls, const char *name) {
    Value hook = class_lookup(vm, cls, name);
    return hook.tag != V_NULL && !value_is(hook, OBJ_BUILTIN);
}

static bool lists_name(Value slots, const char *name) {
    Value *items;
    int count;
    if (value_is(slots, OBJ_STR)) return strcmp(str_text(slots), name) == 0;
    for (int i = 0; sequence_view(slots, &items, &count) && i < count; i++)
        if (value_is(items[i], OBJ_STR) && strcmp(str_text(items[i]), name) == 0) return true;
    return false;
}

/* Has every class from `cls` up to object __slots__ without a __dict__ among them? */
static bool only_slots(VM *vm, const Class *cls) {
    for (int i = 0; i < cls->mro_count; i++) {
        const Class *at = cls->mro[i];
        if (at->head.flags & FLAG_BUILTIN) {
            if (at->is_exception) return false;
            continue;
        }
        Value slots = dict_get_name(vm, at->dict, vm->own->names.slots_), *items;
        int count;
        if (!value_is(slots, OBJ_STR) && !sequence_view(slots, &items, &count)) return false;
        if (lists_name(slots, vm->own->names.dict_)) return false;
    }
    return true;
}

void class_refresh(VM *vm, Class *cls) {
    const VMNames *n = &vm->own->names;
    cls->has_setattr = own_hook(vm, cls, n->setattr_);
    cls->has_getattribute = own_hook(vm, cls, n->getattribute_);
    cls->has_getattr = class_lookup(vm, cls, n->getattr_).tag != V_NULL;
    cls->has_del = class_lookup(vm, cls, n->del_).tag != V_NULL;
    cls->no_dict = only_slots(vm, cls);
}

/* A private name in __slots__ is stored as the class body spells it: _Class__name. */
static bool is_slot_of(VM *vm, const Class *cls, const char *name) {
    Value slots = dict_get_name(vm, cls->dict, vm->own->names.slots_);
    if (lists_name(slots, name)) return true;
    const char *stem = cls->name + strspn(cls->name, "_");
    size_t length = strlen(stem);
    return name[0] == '_' && strncmp(name + 1, stem, length) == 0 && strncmp(name + 1 + length, "__", 2) == 0 && lists_name(slots, name + 1 + length);
}

bool class_has_slot(VM *vm, const Class *cls, const char *name) {
    for (int i = 0; i < cls->mro_count; i++)
        if (is_slot_of(vm, cls->mro[i], name)) return true;
    return false;
}

static void inherit_facts(VM *vm, Class *cls) {
    cls->builtin_type = -1;
    for (int i = 1; i < cls->mro_count; i++) {
        if (cls->mro[i]->is_exception) cls->is_exception = true;
        if (cls->builtin_type == -1) cls->builtin_type = cls->mro[i]->builtin_type;
    }
    class_refresh(vm, cls);
}

static Class *class_alloc(VM *vm, const char *name) {
    Class *cls = (Class *)object_new(vm, OBJ_CLASS, sizeof *cls);
    cls->name = cls->qualname = vm_intern(vm, name);
    cls->bases = cls->module_name = VALUE_NULL;
    return cls;
}

Class *class_builtin(VM *vm, const char *name, Class *base, int builtin_type) {
    Class *cls = class_alloc(vm, name);
    cls->dict = dict_of(dict_new(vm));
    cls->dict->head.flags |= FLAG_NAMESPACE;
    cls->head.flags |= FLAG_BUILTIN;
    Value parent = value_object(base);
    cls->bases = tuple_new(vm, &parent, base ? 1 : 0);
    linearize(vm, cls);
    cls->builtin_type = builtin_type;
    cls->is_exception = base && base->is_exception;
    cls->module_name = str_from(vm, "builtins");
    return cls;
}

static bool base_is_usable(VM *vm, Value base) {
    if (!value_is(base, OBJ_CLASS)) return vm_raise(vm, "TypeError", "bases must be classes, not '%s'", type_name(vm, base)), false;
    Class *cls = (Class *)base.o;
    int type = cls->builtin_type;
    bool final = cls->head.flags & FLAG_BUILTIN && type >= 0 && type != OBJ_DICT && type != OBJ_LIST && type != OBJ_SET && type != OBJ_FROZENSET &&
                 type != OBJ_TUPLE && type != OBJ_STR && type != (V_INT | 0x100) && type != (V_FLOAT | 0x100) && type != OBJ_INSTANCE && type != OBJ_TENSOR;
    if (final || cls == vm->class_bool) return vm_raise(vm, "TypeError", "type '%s' is not an acceptable base type", cls->name), false;
    return true;
}

static bool bases_differ(VM *vm, const Tuple *bases) {
    for (int i = 0; i < bases->count; i++)
        for (int k = 0; k < i; k++)
            if (bases->items[i].o == bases->items[k].o) return vm_raise(vm, "TypeError", "duplicate base class %s", ((Class *)bases->items[i].o)->name), false;
    return true;
}

static Value default_bases(VM *vm, Value bases) {
    if (tuple_of(bases)->count) return value_ref(bases);
    Value object = value_object(vm->class_object);
    return tuple_new(vm, &object, 1);
}

/* Tells each attribute of the new class its name, then the bases that there is a new subclass. */
static bool announce(VM *vm, Class *cls) {
    Value key, value;
    Value names = dict_copy(vm, cls->dict);
    bool ok = true;
    for (int at = 0; ok && dict_next(dict_of(names), &at, &key, &value);) {
        if (!value_is(value, OBJ_INSTANCE)) continue;
        Value args[2] = {value_object(cls), key};
        Value result = vm_call_special(vm, value, vm->own->names.set_name_, args, 2);
        ok = !value_is_error(result);
        value_unref(vm, result);
    }
    value_unref(vm, names);
    return ok;
}

/* Some special methods are static or class methods without saying so. */
static void wrap_method(VM *vm, Dict *dict, const char *name, ObjectType type) {
    Value function = dict_get_name(vm, dict, name);
    if (!value_is(function, OBJ_FUNCTION)) return;
    Wrapper *wrapper = (Wrapper *)object_new(vm, type, sizeof *wrapper);
    wrapper->inner = value_ref(function);
    dict_set_name(vm, dict, name, value_object(wrapper));
    value_unref(vm, value_object(wrapper));
}

Value class_new(VM *vm, const char *name, Value bases, Value namespace_dict) {
    const VMNames *n = &vm->own->names;
    for (int i = 0; i < tuple_of(bases)->count; i++)
        if (!base_is_usable(vm, tuple_of(bases)->items[i])) return VALUE_ERROR;
    if (!bases_differ(vm, tuple_of(bases))) return VALUE_ERROR;
    Class *cls = class_alloc(vm, name);
    cls->dict = dict_of(dict_copy(vm, dict_of(namespace_dict)));
    cls->dict->head.flags |= FLAG_NAMESPACE;
    cls->bases = default_bases(vm, bases);
    cls->module_name = value_ref(dict_get_name(vm, cls->dict, n->module_));
    Value qualname = dict_get_name(vm, cls->dict, n->qualname_);
    if (value_is(qualname, OBJ_STR)) cls->qualname = str_intern(vm, str_of(qualname));
    wrap_method(vm, cls->dict, n->new_, OBJ_STATICMETHOD);
    wrap_method(vm, cls->dict, n->init_subclass_, OBJ_CLASSMETHOD);
    wrap_method(vm, cls->dict, n->class_getitem_, OBJ_CLASSMETHOD);
    if (!linearize(vm, cls)) return value_unref(vm, value_object(cls)), VALUE_ERROR;
    inherit_facts(vm, cls);
    if (!announce(vm, cls)) return value_unref(vm, value_object(cls)), VALUE_ERROR;
    return value_object(cls);
}

/* ---- subclasses of builtins ---- */

Class *class_native_base(const Class *cls) {
    if (cls->builtin_type < 0 || cls->builtin_type == OBJ_INSTANCE) return NULL;
    for (int i = 0; i < cls->mro_count; i++)
        if (cls->mro[i]->head.flags & FLAG_BUILTIN) return cls->mro[i];
    return NULL;
}

Value instance_payload(Value v) {
    Instance *instance = (Instance *)v.o;
    return instance->native && !instance->cls->is_exception ? *(Value *)instance->native : VALUE_NULL;
}

Value vm_unwrap(Value v) {
    if (!value_is(v, OBJ_INSTANCE)) return v;
    Value payload = instance_payload(v);
    return payload.tag == V_NULL ? v : payload;
}

Value instance_with_payload(VM *vm, Class *cls, Value payload) {
    Value instance = instance_new(vm, cls);
    Value *slot = malloc(sizeof *slot);
    if (!slot) vm_out_of_memory();
    *slot = payload;
    ((Instance *)instance.o)->native = slot;
    return instance;
}

/* ---- instances ---- */

static bool is_mutable_native(const Class *native) {
    return native->builtin_type == OBJ_LIST || native->builtin_type == OBJ_DICT || native->builtin_type == OBJ_SET;
}

/* object.__new__ and what the builtin bases do in its place. */
static Value make_instance(VM *vm, Class *cls, Value *args, int nargs, Tuple *kwnames) {
    Class *native = class_native_base(cls);
    if (!native) return instance_new(vm, cls);
    Value maker = class_lookup(vm, native, vm->own->names.new_);
    if (maker.tag == V_NULL) return vm_raise(vm, "TypeError", "cannot create '%s' instances", cls->name);
    Value *all = malloc(((size_t)nargs + 1 + (size_t)(kwnames ? kwnames->count : 0)) * sizeof(Value));
    if (!all) vm_out_of_memory();
    int total = is_mutable_native(native) ? 0 : nargs + (kwnames ? kwnames->count : 0);
    all[0] = value_object(native);
    for (int i = 0; i < total; i++) all[1 + i] = args[i];
    Value payload = total ? vm_call(vm, maker, all, nargs + 1, kwnames) : vm_call(vm, maker, all, 1, NULL);
    free(all);
    return value_is_error(payload) ? payload : instance_with_payload(vm, cls, payload);
}

static Value set_exception_args(VM *vm, Value exception, Value *args, int nargs) {
    if (value_is_exception(exception)) value_set(vm, &exception_data(exception)->args, tuple_new(vm, args, nargs));
    return exception;
}

/* The instance that __new__ gives: the program's own, a builtin's, or a fresh one. */
static Value call_new(VM *vm, Class *cls, Value *args, int nargs, Tuple *kwnames, bool *own_new) {
    Value maker = class_lookup(vm, cls, vm->own->names.new_);
    *own_new = value_is(maker, OBJ_STATICMETHOD);
    bool builtin = value_is(maker, OBJ_BUILTIN) && !(maker.o->flags & FLAG_BUILTIN) && (cls->head.flags & FLAG_BUILTIN || cls->builtin_type == OBJ_INSTANCE);
    if (!*own_new && !builtin) return set_exception_args(vm, make_instance(vm, cls, args, nargs, kwnames), args, nargs);
    int total = nargs + (kwnames ? kwnames->count : 0);
    Value small[8], *all = total < 8 ? small : malloc(((size_t)total + 1) * sizeof(Value));
    if (!all) vm_out_of_memory();
    all[0] = value_object(cls);
    for (int i = 0; i < total; i++) all[1 + i] = args[i];
    Value callee = *own_new ? ((Wrapper *)maker.o)->inner : maker;
    Value made = vm_call(vm, callee, all, nargs + 1, kwnames);
    if (all != small) free(all);
    return made;
}

static Value call_init(VM *vm, Class *cls, Value instance, Value init, Value *args, int nargs, Tuple *kwnames) {
    int total = nargs + (kwnames ? kwnames->count : 0);
    Value small[8], *all = total < 8 ? small : malloc(((size_t)total + 1) * sizeof(Value));
    if (!all) vm_out_of_memory();
    all[0] = instance;
    for (int i = 0; i < total; i++) all[1 + i] = args[i];
    Value result = vm_call(vm, init, all, nargs + 1, kwnames);
    if (all != small) free(all);
    if (!value_is_error(result) && result.tag != V_NONE) {
        vm_raise(vm, "TypeError", "__init__() should return None, not '%s'", type_name(vm, result));
        value_unref(vm, result);
        result = VALUE_ERROR;
    }
    (void)cls;
    return result;
}

static bool refuse_abstract(VM *vm, Class *cls) {
    Value abstract = class_lookup(vm, cls, vm->own->names.abstractmethods_);
    if (abstract.tag == V_NULL) return true;
    Value names = vm_call1(vm, abstract, value_object(cls));
    if (value_is_error(names)) return false;
    bool ok = !value_is(names, OBJ_LIST) || list_of(names)->count == 0;
    if (!ok) {
        Text text = {0};
        for (int i = 0; i < list_of(names)->count; i++) {
            text_put(&text, i ? "', '" : "'");
            text_put_str(vm, &text, list_of(names)->items[i]);
        }
        vm_raise(vm, "TypeError", "Can't instantiate abstract class %s without an implementation for abstract method%s %s'", cls->name,
                 list_of(names)->count > 1 ? "s" : "", text_cstr(&text));
        text_free(&text);
    }
    value_unref(vm, names);
    return ok;
}

Value class_call(VM *vm, Class *cls, Value *args, int nargs, Tuple *kwnames) {
    if (cls == vm->class_type && nargs == 1 && !kwnames) return value_ref(value_object(class_of(vm, vm_force(vm, args[0]))));
    bool own_new;
    if (!(cls->head.flags & FLAG_BUILTIN) && !refuse_abstract(vm, cls)) return VALUE_ERROR;
    Value instance = call_new(vm, cls, args, nargs, kwnames, &own_new);
    if (value_is_error(instance) || !value_is(instance, OBJ_INSTANCE) || !class_is_subclass(((Instance *)instance.o)->cls, cls)) return instance;
    Value init = class_lookup(vm, cls, vm->own->names.init_);
    if (init.tag == V_NULL) {
        bool takes = own_new || class_native_base(cls) || cls->is_exception;
        if ((nargs == 0 && (!kwnames || kwnames->count == 0)) || (takes && !(cls->is_exception && kwnames && kwnames->count))) return instance;
        vm_raise(vm, "TypeError", cls->is_exception ? "%s() takes no keyword arguments" : "%s() takes no arguments", cls->name);
        value_unref(vm, instance);
        return VALUE_ERROR;
    }
    Value result = call_init(vm, cls, instance, init, args, nargs, kwnames);
    if (!value_is_error(result)) return instance;
    value_unref(vm, instance);
    return VALUE_ERROR;
}
