/* Repr: repr() and str() of every kind of value.
 *
 *     Text text = {0};
 *     text_put_repr(vm, &text, v);        // false: an exception of the program's own __repr__
 *
 * Invariant: a container that holds itself prints as [...]; depth is bounded by a RecursionError. */
#include "vm/internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool put_items(VM *vm, Text *text, const Value *items, int count) {
    for (int i = 0; i < count; i++) {
        if (i) text_put(text, ", ");
        if (!text_put_repr(vm, text, items[i])) return false;
    }
    return true;
}

static bool put_tuple(VM *vm, Text *text, Tuple *tuple) {
    text_put(text, tuple->is_size ? "torch.Size([" : "(");
    if (!put_items(vm, text, tuple->items, tuple->count)) return false;
    text_put(text, tuple->is_size ? "])" : tuple->count == 1 ? ",)" : ")");
    return true;
}

static bool put_list(VM *vm, Text *text, List *list) {
    text_char(text, '[');
    for (int i = 0; i < list->count; i++) { /* a __repr__ may change the list */
        if (i) text_put(text, ", ");
        Value item = value_ref(list->items[i]);
        bool ok = text_put_repr(vm, text, item);
        value_unref(vm, item);
        if (!ok) return false;
    }
    text_char(text, ']');
    return true;
}

static bool put_pairs(VM *vm, Text *text, Dict *dict) {
    bool first = true;
    for (int i = 0; i < dict->used; i++) {
        if (dict->entries[i].key.tag == V_NULL) continue;
        if (!first) text_put(text, ", ");
        first = false;
        Value key = value_ref(dict->entries[i].key), value = value_ref(dict->entries[i].value);
        bool ok = text_put_repr(vm, text, key);
        text_put(text, ": ");
        ok = ok && text_put_repr(vm, text, value);
        value_unref(vm, key);
        value_unref(vm, value);
        if (!ok) return false;
    }
    return true;
}

/* Counters print their commonest first. */
static bool put_counter(VM *vm, Text *text, Dict *dict) {
    Value sorted = vm_call_method(vm, value_object(dict), "most_common", NULL, 0);
    if (value_is_error(sorted)) return false;
    bool ok = true;
    for (int i = 0; ok && i < list_of(sorted)->count; i++) {
        Tuple *pair = tuple_of(list_of(sorted)->items[i]);
        if (i) text_put(text, ", ");
        ok = text_put_repr(vm, text, pair->items[0]);
        text_put(text, ": ");
        ok = ok && text_put_repr(vm, text, pair->items[1]);
    }
    value_unref(vm, sorted);
    return ok;
}

static bool put_dict(VM *vm, Text *text, Dict *dict) {
    bool plain = !dict->is_counter && !dict->is_ordered && !dict->fallback;
    if (dict->is_counter || dict->is_ordered) {
        text_put(text, dict->is_counter ? "Counter(" : "OrderedDict(");
        if (dict->live == 0) return text_char(text, ')'), true;
    } else if (dict->fallback) {
        text_put(text, "defaultdict(");
        if (!text_put_repr(vm, text, *dict->fallback)) return false;
        text_put(text, ", ");
    }
    text_char(text, '{');
    if (!(dict->is_counter ? put_counter(vm, text, dict) : put_pairs(vm, text, dict))) return false;
    text_put(text, plain ? "}" : "})");
    return true;
}

static bool put_set(VM *vm, Text *text, Set *set) {
    bool frozen = set->head.type == OBJ_FROZENSET;
    int count = set->dict->live;
    if (count == 0) return text_put(text, frozen ? "frozenset()" : "set()"), true;
    text_put(text, frozen ? "frozenset({" : "{");
    int *order = set_order(vm, set);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        if (i) text_put(text, ", ");
        ok = text_put_repr(vm, text, set->dict->entries[order[i]].key);
    }
    free(order);
    text_put(text, frozen ? "})" : "}");
    return ok;
}

static bool put_slice(VM *vm, Text *text, Slice *s) {
    text_put(text, "slice(");
    bool ok = put_items(vm, text, (Value[]){s->start, s->stop, s->step}, 3);
    text_char(text, ')');
    return ok;
}

static bool put_view(VM *vm, Text *text, Iterator *view) {
    Value list = vm_list_of(vm, value_object(view));
    if (value_is_error(list)) return false;
    text_printf(text, "%s(", view->kind);
    bool ok = put_list(vm, text, list_of(list));
    text_char(text, ')');
    value_unref(vm, list);
    return ok;
}

static void put_module_of(VM *vm, Text *text, const Class *cls) {
    (void)vm;
    if (value_is(cls->module_name, OBJ_STR) && strcmp(str_text(cls->module_name), "builtins") != 0) text_printf(text, "%s.", str_text(cls->module_name));
}

static void put_default(VM *vm, Text *text, Value v) {
    Class *cls = class_of(vm, v);
    text_char(text, '<');
    put_module_of(vm, text, cls);
    text_printf(text, "%s object at %p>", cls->qualname, (void *)v.o);
}

static bool put_callable(VM *vm, Text *text, Value v) {
    switch ((ObjectType)v.o->type) {
    case OBJ_FUNCTION: text_printf(text, "<function %s at %p>", ((Function *)v.o)->qualname, (void *)v.o); return true;
    case OBJ_METHOD: {
        Value f = ((Method *)v.o)->function;
        text_printf(text, "<bound method %s of ", value_is(f, OBJ_FUNCTION) ? ((Function *)f.o)->qualname : value_is(f, OBJ_OP) ? ((OpObject *)f.o)->spelled : type_name(vm, f));
        bool ok = text_put_repr(vm, text, ((Method *)v.o)->self);
        text_char(text, '>');
        return ok;
    }
    case OBJ_BUILTIN: {
        Builtin *b = (Builtin *)v.o;
        if (b->self.tag != V_NULL) text_printf(text, "<built-in method %s of %s object at %p>", b->name, type_name(vm, b->self), (void *)(b->self.tag == V_OBJECT ? b->self.o : v.o));
        else if (b->effects & BUILTIN_METHOD) text_printf(text, "<method '%s' of '%.*s' objects>", b->name, (int)strcspn(b->qualname, "."), b->qualname);
        else text_printf(text, "<built-in function %s>", b->name);
        return true;
    }
    case OBJ_OP: {
        const char *dot = strrchr(((OpObject *)v.o)->spelled, '.');
        text_printf(text, "<built-in method %s of type object>", dot ? dot + 1 : ((OpObject *)v.o)->spelled);
        return true;
    }
    default: return false;
    }
}

static bool put_class(VM *vm, Text *text, Class *cls) {
    text_put(text, "<class '");
    put_module_of(vm, text, cls);
    text_printf(text, "%s'>", cls->qualname);
    return true;
}

/* Takes the text that a hook gave. */
static bool put_owned(VM *vm, Text *text, Value s, const char *what) {
    Value forced = vm_force(vm, s);
    bool ok = value_is(forced, OBJ_STR);
    if (ok) text_put_n(text, str_text(forced), str_of(forced)->length);
    else if (!value_is_error(forced)) vm_raise(vm, "TypeError", "%s returned non-string (type %s)", what, type_name(vm, forced));
    value_unref(vm, s);
    return ok;
}

static bool put_instance(VM *vm, Text *text, Value v) {
    Value s = vm_call_special(vm, v, vm->own->names.repr_, NULL, 0);
    if (s.tag != V_NULL) return put_owned(vm, text, s, "__repr__");
    Value payload = instance_payload(v);
    if (payload.tag != V_NULL) return text_put_repr(vm, text, payload);
    put_default(vm, text, v);
    return true;
}

static bool put_object(VM *vm, Text *text, Value v) {
    const NativeType *native = vm->own->natives[v.o->type];
    if (native) {
        if (native->repr) return put_owned(vm, text, native->repr(vm, v.o), "__repr__");
        put_default(vm, text, v);
        return true;
    }
    switch ((ObjectType)v.o->type) {
    case OBJ_STR: str_repr(text, str_of(v)); return true;
    case OBJ_TUPLE: return put_tuple(vm, text, tuple_of(v));
    case OBJ_LIST: return put_list(vm, text, list_of(v));
    case OBJ_DICT: return put_dict(vm, text, dict_of(v));
    case OBJ_SET: case OBJ_FROZENSET: return put_set(vm, text, set_of(v));
    case OBJ_RANGE: {
        Range *r = (Range *)v.o;
        text_printf(text, r->step == 1 ? "range(%lld, %lld)" : "range(%lld, %lld, %lld)", (long long)r->start, (long long)r->stop, (long long)r->step);
        return true;
    }
    case OBJ_SLICE: return put_slice(vm, text, (Slice *)v.o);
    case OBJ_FUNCTION: case OBJ_METHOD: case OBJ_BUILTIN: case OBJ_OP: return put_callable(vm, text, v);
    case OBJ_CLASS: return put_class(vm, text, (Class *)v.o);
    case OBJ_INSTANCE: return put_instance(vm, text, v);
    case OBJ_MODULE: text_printf(text, "<module '%s'>", ((ModuleObject *)v.o)->name); return true;
    case OBJ_CODE: text_printf(text, "<code object %s at %p>", ((CodeObject *)v.o)->code->name, (void *)v.o); return true;
    case OBJ_GENERATOR: {
        Value f = ((Generator *)v.o)->function;
        text_printf(text, "<generator object %s at %p>", value_is(f, OBJ_FUNCTION) ? ((Function *)f.o)->qualname : "<genexpr>", (void *)v.o);
        return true;
    }
    case OBJ_SUPER:
        text_printf(text, "<super: <class '%s'>, <%s object>>", ((Super *)v.o)->cls->name, type_name(vm, ((Super *)v.o)->self));
        return true;
    case OBJ_TENSOR: return put_owned(vm, text, tensor_repr(vm, (Tensor *)v.o), "__repr__");
    case OBJ_DTYPE: return put_owned(vm, text, dtype_repr(vm, ((DTypeObject *)v.o)->dtype), "__repr__");
    case OBJ_DEVICE: return put_owned(vm, text, device_repr(vm, ((DeviceObject *)v.o)->device, true), "__repr__");
    case OBJ_SYM: {
        int64_t i;
        if (!sym_as_int(vm, v, &i)) return false;
        text_printf(text, "%lld", (long long)i);
        return true;
    }
    case OBJ_ITERATOR: if (value_is_view(v)) return put_view(vm, text, (Iterator *)v.o); break;
    default: break;
    }
    put_default(vm, text, v);
    return true;
}

static bool put_recursive(Text *text, Value v) {
    switch ((ObjectType)v.o->type) {
    case OBJ_LIST: text_put(text, "[...]"); return true;
    case OBJ_DICT: text_put(text, "{...}"); return true;
    case OBJ_TUPLE: text_put(text, "(...)"); return true;
    case OBJ_ITERATOR: text_put(text, "..."); return true;
    default: return false;
    }
}

bool text_put_repr(VM *vm, Text *text, Value v) {
    v = vm_force(vm, v);
    switch (v.tag) {
    case V_NULL: text_put(text, "<NULL>"); return true;
    case V_ERROR: return false;
    case V_NONE: text_put(text, "None"); return true;
    case V_ELLIPSIS: text_put(text, "Ellipsis"); return true;
    case V_NOTIMPLEMENTED: text_put(text, "NotImplemented"); return true;
    case V_BOOL: text_put(text, v.b ? "True" : "False"); return true;
    case V_INT: text_int(text, v.i); return true;
    case V_FLOAT: text_float(text, v.f); return true;
    case V_OBJECT: break;
    }
    if (v.o->flags & FLAG_BUSY && put_recursive(text, v)) return true;
    if (!vm_enter(vm, " while getting the repr of an object")) return false;
    bool was_busy = v.o->flags & FLAG_BUSY;
    value_ref(v);
    v.o->flags |= FLAG_BUSY;
    bool ok = put_object(vm, text, v);
    if (!was_busy) v.o->flags &= (uint8_t)~FLAG_BUSY;
    value_unref(vm, v);
    vm_leave(vm);
    return ok;
}

bool text_put_str(VM *vm, Text *text, Value v) {
    v = vm_force(vm, v);
    if (value_is(v, OBJ_STR)) return text_put_n(text, str_text(v), str_of(v)->length), true;
    if (value_is(v, OBJ_INSTANCE)) {
        if (!vm_enter(vm, " while getting the str of an object")) return false;
        Value s = vm_call_special(vm, v, vm->own->names.str_, NULL, 0);
        vm_leave(vm);
        if (s.tag != V_NULL) return put_owned(vm, text, s, "__str__");
        Value payload = instance_payload(v);
        bool own_repr = class_lookup(vm, ((Instance *)v.o)->cls, vm->own->names.repr_).tag == V_OBJECT;
        if (value_is(payload, OBJ_STR) && !own_repr) return text_put_str(vm, text, payload);
    }
    if (value_is(v, OBJ_DEVICE)) return put_owned(vm, text, device_repr(vm, ((DeviceObject *)v.o)->device, false), "__str__");
    return text_put_repr(vm, text, v);
}

Value vm_repr(VM *vm, Value v) {
    Text text = {0};
    if (text_put_repr(vm, &text, v)) return str_join_text(vm, &text);
    text_free(&text);
    return VALUE_ERROR;
}

Value vm_str(VM *vm, Value v) {
    v = vm_force(vm, v);
    if (value_is(v, OBJ_STR)) return value_ref(v);
    Text text = {0};
    if (text_put_str(vm, &text, v)) return str_join_text(vm, &text);
    text_free(&text);
    return VALUE_ERROR;
}
