/* Value: making and freeing the objects behind values. (The types are in value.h; each container's own work is in its file.)
 *
 * In: what a constructor is given. Out: an object with one reference, linked into the ring of all objects of the VM.
 *
 *     Value cell = cell_new(vm, value_int(3));
 *     value_unref(vm, cell);                    // freed here
 *
 * Invariant: every object is in the ring from object_new to object_free. Freeing a deep structure does not recurse deeply: beyond a
 * depth objects wait in a list. To add a type: a case in object_release, one in object_visit (collect.c). */
#include "vm/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_DEPTH = 100 };

_Noreturn void vm_out_of_memory(void) {
    fputs("vitrine: out of memory\n", stderr);
    abort();
}

Object *object_new(VM *vm, ObjectType type, size_t bytes) {
    Object *o = heap_zeroed(bytes);
    if (!o) vm_out_of_memory();
    o->refs = 1;
    o->type = (uint8_t)type;
    o->next = vm->objects.next;
    o->previous = &vm->objects;
    o->next->previous = o;
    vm->objects.next = o;
    vm->object_count++;
    return o;
}

void vm_account(VM *vm, int64_t bytes) { vm->own->bytes += bytes; }

bool vm_reserve(VM *vm, int64_t count, int64_t item_bytes) {
    int64_t limit = vm->limits.memory > 0 ? vm->limits.memory : INT64_MAX;
    if (count >= 0 && count <= (limit - (vm->own->bytes > 0 ? vm->own->bytes : 0)) / item_bytes && count < INT32_MAX) return true;
    vm_raise(vm, "MemoryError", "%s", "");
    return false;
}

bool vm_enter(VM *vm, const char *doing) {
    if (vm->own->c_depth < vm->limits.recursion) {
        vm->own->c_depth++;
        return true;
    }
    vm_raise(vm, "RecursionError", "maximum recursion depth exceeded%s", doing);
    return false;
}

bool value_identical(Value a, Value b) {
    if (a.tag != b.tag) return false;
    switch (a.tag) {
    case V_BOOL: return a.b == b.b;
    case V_INT: return a.i == b.i;
    case V_FLOAT: return a.f == b.f && signbit(a.f) == signbit(b.f); /* a NaN is no other NaN, as two objects in CPython */
    case V_OBJECT: {
        if (a.o == b.o) return true;
        /* Small immutables that CPython makes once each. */
        if (value_is(a, OBJ_TUPLE) && value_is(b, OBJ_TUPLE)) return tuple_of(a)->count == 0 && tuple_of(b)->count == 0 && tuple_of(a)->is_size == tuple_of(b)->is_size;
        return value_is(a, OBJ_STR) && value_is(b, OBJ_STR) && str_of(a)->length <= 1 && str_equal(str_of(a), str_of(b));
    }
    default: return true;
    }
}

void value_unref_vm(VM *vm, Value v) {
    if (v.tag == V_OBJECT && --v.o->refs == 0) object_free(vm, v.o);
}

static void unref_object(VM *vm, void *o) {
    if (o && --((Object *)o)->refs == 0) object_free(vm, o);
}

static void unref_items(VM *vm, const Value *items, int count) {
    while (count-- > 0) value_unref(vm, items[count]); /* the last one first, as CPython */
}

static void release_dict(VM *vm, Dict *dict) {
    for (int i = 0; i < dict->used; i++) {
        value_unref(vm, dict->entries[i].key);
        value_unref(vm, dict->entries[i].value);
    }
    vm_account(vm, -(int64_t)((size_t)dict->capacity * sizeof(DictEntry) + (size_t)dict->index_size * sizeof(int32_t)));
    free(dict->entries);
    free(dict->index);
    if (dict->fallback) value_unref(vm, *dict->fallback);
    free(dict->fallback);
}

static void release_instance(VM *vm, Instance *instance) {
    if (instance->native && instance->cls->is_exception) exception_data_free(vm, instance->native);
    else if (instance->native) {
        value_unref(vm, *(Value *)instance->native);
        free(instance->native);
    }
    unref_object(vm, instance->dict);
    unref_object(vm, instance->cls);
}

static void release_function(VM *vm, Function *f) {
    value_unref(vm, f->defaults);
    value_unref(vm, f->kwdefaults);
    value_unref(vm, f->closure);
    value_unref(vm, f->dict);
    value_unref(vm, f->module_name);
    unref_object(vm, f->globals);
}

static void release_class(VM *vm, Class *cls) {
    vm->own->epoch++; /* its place in the method cache may be taken by another class at the same address */
    unref_object(vm, cls->dict);
    value_unref(vm, cls->module_name);
    value_unref(vm, cls->bases);
    free(cls->mro);
}

static void release_simple(VM *vm, Object *o) {
    switch ((ObjectType)o->type) {
    case OBJ_SLICE: {
        Slice *s = (Slice *)o;
        unref_items(vm, (Value[]){s->start, s->stop, s->step}, 3);
        break;
    }
    case OBJ_METHOD: unref_items(vm, (Value[]){((Method *)o)->self, ((Method *)o)->function}, 2); break;
    case OBJ_BUILTIN: value_unref(vm, ((Builtin *)o)->self); break;
    case OBJ_CELL: value_unref(vm, ((Cell *)o)->value); break;
    case OBJ_ITERATOR: unref_items(vm, (Value[]){((Iterator *)o)->subject, ((Iterator *)o)->extra}, 2); break;
    case OBJ_PROPERTY: {
        Property *p = (Property *)o;
        unref_items(vm, (Value[]){p->getter, p->setter, p->deleter}, 3);
        break;
    }
    case OBJ_STATICMETHOD: case OBJ_CLASSMETHOD: value_unref(vm, ((Wrapper *)o)->inner); break;
    case OBJ_SUPER: {
        unref_object(vm, ((Super *)o)->cls);
        value_unref(vm, ((Super *)o)->self);
        break;
    }
    case OBJ_TRACKED: value_unref(vm, ((Tracked *)o)->inner); break;
    default: break;
    }
}

void object_release(VM *vm, Object *o) {
    const NativeType *native = vm->own->natives[o->type];
    if (native) {
        if (native->free) native->free(vm, o);
        return;
    }
    switch ((ObjectType)o->type) {
    case OBJ_STR: if (((Str *)o)->length > 1024) vm_account(vm, -(int64_t)((Str *)o)->length); break;
    case OBJ_TUPLE: unref_items(vm, ((Tuple *)o)->items, ((Tuple *)o)->count); break;
    case OBJ_LIST: {
        List *list = (List *)o;
        unref_items(vm, list->items, list->count);
        vm_account(vm, -(int64_t)((size_t)list->capacity * sizeof(Value)));
        free(list->items);
        break;
    }
    case OBJ_DICT: release_dict(vm, (Dict *)o); break;
    case OBJ_SET: case OBJ_FROZENSET: unref_object(vm, ((Set *)o)->dict); break;
    case OBJ_FUNCTION: release_function(vm, (Function *)o); break;
    case OBJ_CLASS: release_class(vm, (Class *)o); break;
    case OBJ_INSTANCE: release_instance(vm, (Instance *)o); break;
    case OBJ_MODULE: unref_object(vm, ((ModuleObject *)o)->dict); break;
    case OBJ_GENERATOR: generator_release(vm, (Generator *)o); break;
    case OBJ_TENSOR: tensor_free(vm, (Tensor *)o); break;
    default: release_simple(vm, o);
    }
}

static void free_now(VM *vm, Object *o) {
    o->next->previous = o->previous;
    o->previous->next = o->next;
    vm->object_count--;
    o->refs = 1; /* what object_release runs may look at the object, but must not free it again */
    object_release(vm, o);
    free(o);
}

void object_free(VM *vm, Object *o) {
    struct VMPrivate *own = vm->own;
    if ((o->type == OBJ_GENERATOR || o->type == OBJ_INSTANCE) && finalize_later(vm, o)) return;
    if (own->free_depth >= FREE_DEPTH) { /* `mark` links nothing: the waiting list goes through `next` of unlinked objects */
        o->next->previous = o->previous;
        o->previous->next = o->next;
        o->next = own->deferred;
        own->deferred = o;
        return;
    }
    own->free_depth++;
    free_now(vm, o);
    own->free_depth--;
    while (own->free_depth == 0 && own->deferred) {
        Object *waiting = own->deferred;
        own->deferred = waiting->next;
        waiting->next = waiting->previous = waiting;
        own->free_depth++;
        free_now(vm, waiting);
        own->free_depth--;
    }
}

Value slice_new(VM *vm, Value start, Value stop, Value step) {
    Slice *s = (Slice *)object_new(vm, OBJ_SLICE, sizeof *s);
    s->start = value_ref(start);
    s->stop = value_ref(stop);
    s->step = value_ref(step);
    return value_object(s);
}

Value cell_new(VM *vm, Value content) {
    Cell *cell = (Cell *)object_new(vm, OBJ_CELL, sizeof *cell);
    cell->value = value_ref(content);
    return value_object(cell);
}

Value function_new(VM *vm, Code *code, Dict *globals) {
    Function *f = (Function *)object_new(vm, OBJ_FUNCTION, sizeof *f);
    f->code = code;
    f->globals = globals;
    globals->head.refs++;
    f->defaults = f->kwdefaults = f->closure = f->dict = VALUE_NONE;
    f->name = code->name;
    f->qualname = code->qualname ? code->qualname : code->name;
    f->module_name = value_ref(dict_get_name(vm, globals, vm->own->names.name_));
    return value_object(f);
}

Value method_new(VM *vm, Value self, Value function) {
    Method *m = (Method *)object_new(vm, OBJ_METHOD, sizeof *m);
    m->self = value_ref(self);
    m->function = value_ref(function);
    return value_object(m);
}

Value builtin_new(VM *vm, const char *name, BuiltinFn fn, int min, int max, unsigned effects) {
    Builtin *b = (Builtin *)object_new(vm, OBJ_BUILTIN, sizeof *b);
    const char *dot = strrchr(name, '.');
    b->qualname = vm_intern(vm, name);
    b->name = dot ? vm_intern(vm, dot + 1) : b->qualname;
    b->fn = fn;
    b->min = min;
    b->max = max;
    b->effects = effects;
    b->self = VALUE_NULL;
    return value_object(b);
}

Value op_object_new(VM *vm, const struct Op *op, const char *spelled) {
    OpObject *o = (OpObject *)object_new(vm, OBJ_OP, sizeof *o);
    o->op = op;
    o->spelled = vm_intern(vm, spelled);
    return value_object(o);
}

Value module_new(VM *vm, const char *name) {
    ModuleObject *module = (ModuleObject *)object_new(vm, OBJ_MODULE, sizeof *module);
    module->name = vm_intern(vm, name);
    module->dict = (Dict *)dict_new(vm).o;
    dict_set_name(vm, module->dict, vm->own->names.name_, str_interned(vm, module->name));
    return value_object(module);
}

Value instance_new(VM *vm, Class *cls) {
    Instance *instance = (Instance *)object_new(vm, OBJ_INSTANCE, sizeof *instance);
    instance->cls = cls;
    cls->head.refs++;
    instance->dict = (Dict *)dict_new(vm).o;
    if (cls->is_exception) {
        ExceptionData *data = calloc(1, sizeof *data);
        if (!data) vm_out_of_memory();
        data->args = value_ref(value_object(vm->own->empty_tuple));
        data->cause = data->context = VALUE_NONE;
        instance->native = data;
    }
    return value_object(instance);
}

Value tracked_new(VM *vm, Value inner, struct Source *source) {
    Tracked *t = (Tracked *)object_new(vm, OBJ_TRACKED, sizeof *t);
    t->inner = value_ref(inner);
    t->source = source;
    return value_object(t);
}

Value dtype_new(VM *vm, DType dtype) {
    Value *slot = &vm->own->dtypes[dtype];
    if (slot->tag == V_NULL) {
        DTypeObject *o = (DTypeObject *)object_new(vm, OBJ_DTYPE, sizeof *o);
        o->dtype = dtype;
        *slot = value_object(o);
    }
    return value_ref(*slot);
}

Value device_new(VM *vm, Device device) {
    DeviceObject *o = (DeviceObject *)object_new(vm, OBJ_DEVICE, sizeof *o);
    o->device = device;
    return value_object(o);
}

Value sym_new(VM *vm, Dim dim) {
    if (dim_is_int(dim)) return value_int(dim);
    SymObject *o = (SymObject *)object_new(vm, OBJ_SYM, sizeof *o);
    o->dim = dim;
    return value_object(o);
}

void vm_native_register(VM *vm, ObjectType type, const NativeType *native) { vm->own->natives[type] = native; }

void vm_define(VM *vm, Dict *dict, const char *qualifier, const BuiltinDef *defs, int count) {
    for (int i = 0; i < count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s%s", qualifier, *qualifier ? "." : "", defs[i].name);
        Value builtin = builtin_new(vm, name, defs[i].fn, defs[i].min, defs[i].max, defs[i].effects);
        dict_set_name(vm, dict, vm_intern(vm, defs[i].name), builtin);
        value_unref(vm, builtin);
    }
}
