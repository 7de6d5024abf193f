/* Module collections: OrderedDict, defaultdict and Counter (dicts with a flag), namedtuple; deque is in torch/stdlib/collections.py.
 *
 *     namedtuple("Point", ["x", "y"])     // a subclass of tuple whose fields are properties
 *
 * To add a kind of dict: a flag of Dict, its class here and in class_of (convert.c), its repr (repr.c). */
#include "vm/modules.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS ((Class *)args[0].o)

static Value finish(VM *vm, Value *args, Value dict) { return CLASS->head.flags & FLAG_BUILTIN ? dict : instance_with_payload(vm, CLASS, dict); }

static bool fill(VM *vm, Dict *dict, Value *args, int nargs, Tuple *kwnames, int first) {
    if (nargs > first && !dict_merge(vm, dict, args[first])) return false;
    for (int i = 0; kwnames && i < kwnames->count; i++)
        if (!dict_set(vm, dict, kwnames->items[i], args[nargs + i])) return false;
    return true;
}

static Value done(VM *vm, Value *args, Value dict, bool ok) {
    if (ok) return finish(vm, args, dict);
    value_unref(vm, dict);
    return VALUE_ERROR;
}

static Value new_ordered(METHOD) {
    Value dict = dict_new(vm);
    dict_of(dict)->is_ordered = true;
    return done(vm, args, dict, fill(vm, dict_of(dict), args, nargs, kwnames, 1));
}

static Value new_defaultdict(METHOD) {
    if (nargs > 1 && args[1].tag != V_NONE && !vm_callable(vm, args[1])) return vm_raise(vm, "TypeError", "first argument must be callable or None");
    Value dict = dict_new(vm);
    dict_of(dict)->fallback = malloc(sizeof(Value));
    if (!dict_of(dict)->fallback) vm_out_of_memory();
    *dict_of(dict)->fallback = nargs > 1 ? value_ref(args[1]) : VALUE_NONE;
    return done(vm, args, dict, fill(vm, dict_of(dict), args, nargs, kwnames, 2));
}

/* ---- Counter ---- */

static bool add_to(VM *vm, Dict *dict, Value key, Value amount) {
    Value present = dict_get(vm, dict, key);
    if (value_is_error(present)) return false;
    Value total = vm_binary(vm, BINARY_ADD, present.tag == V_NULL ? value_int(0) : present, amount);
    value_unref(vm, present);
    bool ok = !value_is_error(total) && dict_set(vm, dict, key, total);
    value_unref(vm, total);
    return ok;
}

static bool count_item(VM *vm, void *state, Value item) { return add_to(vm, state, item, value_int(1)); }

static bool add_counts(VM *vm, Dict *dict, Value from, int sign) {
    Value plain = vm_unwrap(vm_force(vm, from)), key, value;
    if (!value_is(plain, OBJ_DICT)) {
        if (sign > 0) return vm_each(vm, plain, count_item, dict);
        Value list = vm_list_of(vm, plain);
        bool ok = !value_is_error(list);
        for (int i = 0; ok && i < list_of(list)->count; i++) ok = add_to(vm, dict, list_of(list)->items[i], value_int(-1));
        value_unref(vm, list);
        return ok;
    }
    for (int at = 0; dict_next(dict_of(plain), &at, &key, &value);) {
        Value amount = sign > 0 ? value_ref(vm_force(vm, value)) : vm_unary(vm, "neg", value);
        bool ok = !value_is_error(amount) && add_to(vm, dict, key, amount);
        value_unref(vm, amount);
        if (!ok) return false;
    }
    return true;
}

static bool count_arguments(VM *vm, Dict *dict, Value *args, int nargs, Tuple *kwnames, int sign) {
    if (nargs > 1 && args[1].tag != V_NONE && !add_counts(vm, dict, args[1], sign)) return false;
    for (int i = 0; kwnames && i < kwnames->count; i++) {
        Value amount = sign > 0 ? value_ref(args[nargs + i]) : vm_unary(vm, "neg", args[nargs + i]);
        bool ok = !value_is_error(amount) && add_to(vm, dict, kwnames->items[i], amount);
        value_unref(vm, amount);
        if (!ok) return false;
    }
    return true;
}

static Value new_counter(METHOD) {
    Value dict = dict_new(vm);
    dict_of(dict)->is_counter = true;
    return done(vm, args, dict, count_arguments(vm, dict_of(dict), args, nargs, kwnames, 1));
}

static Value counter_update(METHOD) {
    return vm_mutate(vm, args[0].o) && count_arguments(vm, dict_of(args[0]), args, nargs, kwnames, 1) ? VALUE_NONE : VALUE_ERROR;
}

static Value counter_subtract(METHOD) {
    return vm_mutate(vm, args[0].o) && count_arguments(vm, dict_of(args[0]), args, nargs, kwnames, -1) ? VALUE_NONE : VALUE_ERROR;
}

static Value counter_pos(METHOD);
static Value counter_neg(METHOD);

static Value second_of(METHOD) { UNUSED; return value_ref(tuple_of(args[0])->items[1]); }

static Value counter_most_common(METHOD) {
    UNUSED;
    int64_t n = -1;
    if (nargs > 1 && args[1].tag != V_NONE && !vm_as_int(vm, args[1], &n)) return VALUE_ERROR;
    Value view = dict_view_new(vm, dict_of(args[0]), "dict_items"), list = vm_list_of(vm, view);
    value_unref(vm, view);
    if (value_is_error(list)) return list;
    Value key = builtin_new(vm, "second", second_of, 1, 1, BUILTIN_POSITIONAL);
    bool ok = vm_sort(vm, list_of(list), key, true);
    value_unref(vm, key);
    if (!ok) return value_unref(vm, list), VALUE_ERROR;
    while (n >= 0 && list_of(list)->count > n) value_unref(vm, list_of(list)->items[--list_of(list)->count]);
    return list;
}

static Value counter_elements(METHOD) {
    UNUSED;
    Value list = list_new(vm, NULL, 0), key, value;
    for (int at = 0; dict_next(dict_of(args[0]), &at, &key, &value);) {
        int64_t n;
        if (!vm_as_int(vm, value, &n) || !vm_reserve(vm, n > 0 ? n : 0, (int64_t)sizeof(Value))) return value_unref(vm, list), VALUE_ERROR;
        for (int64_t i = 0; i < n; i++) list_append(vm, list_of(list), key);
    }
    Value it = vm_iterate(vm, list);
    value_unref(vm, list);
    return it;
}

static Value counter_total(METHOD) {
    UNUSED;
    Value total = value_int(0), value;
    for (int at = 0; !value_is_error(total) && dict_next(dict_of(args[0]), &at, NULL, &value);) {
        Value next = vm_binary(vm, BINARY_ADD, total, value);
        value_unref(vm, total);
        total = next;
    }
    return total;
}

static const BuiltinDef counter_methods[] = {
    {"update", counter_update, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES}, {"subtract", counter_subtract, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES},
    {"most_common", counter_most_common, 1, 2, PLAIN}, {"elements", counter_elements, 1, 1, PLAIN}, {"total", counter_total, 1, 1, PLAIN},
    {"__init__", counter_update, 1, 2, BUILTIN_METHOD | BUILTIN_MUTATES},
    {"__pos__", counter_pos, 1, 1, PLAIN}, {"__neg__", counter_neg, 1, 1, PLAIN},
};

/* + - & | keep positive counts only. */
static bool keep_positive(VM *vm, Dict *out, Value key, Value count) {
    Value positive = vm_compare(vm, COMPARE_GT, count, value_int(0));
    int truth = value_is_error(positive) ? -1 : vm_truth(vm, positive);
    value_unref(vm, positive);
    return truth >= 0 && (truth == 0 || dict_set(vm, out, key, count));
}

static Value combined(VM *vm, int op, Value a, Value b) {
    if (op == BINARY_ADD || op == BINARY_SUBTRACT) return vm_binary(vm, op, a, b);
    Value less = vm_compare(vm, COMPARE_LT, a, b);
    int truth = value_is_error(less) ? -1 : vm_truth(vm, less);
    value_unref(vm, less);
    return truth < 0 ? VALUE_ERROR : value_ref(truth == (op == BINARY_AND) ? a : b);
}

static bool combine_from(VM *vm, int op, Dict *out, Dict *from, Dict *a, Dict *b, bool only_new) {
    Value key;
    for (int at = 0; dict_next(from, &at, &key, NULL);) {
        Value x = dict_get(vm, a, key), y = dict_get(vm, b, key), count = VALUE_NULL;
        bool skip = only_new && x.tag != V_NULL;
        if (!skip) count = combined(vm, op, x.tag == V_NULL ? value_int(0) : x, y.tag == V_NULL ? value_int(0) : y);
        bool ok = skip || (!value_is_error(count) && keep_positive(vm, out, key, count));
        value_unref(vm, x);
        value_unref(vm, y);
        value_unref(vm, count);
        if (!ok) return false;
    }
    return true;
}

Value counter_binary(VM *vm, int op, Dict *a, Dict *b) {
    if (op != BINARY_ADD && op != BINARY_SUBTRACT && op != BINARY_AND && op != BINARY_OR) return (Value){.tag = V_NOTIMPLEMENTED};
    Value out = dict_new(vm);
    dict_of(out)->is_counter = true;
    if (combine_from(vm, op, dict_of(out), a, a, b, false) && combine_from(vm, op, dict_of(out), b, a, b, true)) return out;
    value_unref(vm, out);
    return VALUE_ERROR;
}

static Value against_nothing(VM *vm, int op, Value counter, bool first) {
    Value none = dict_new(vm);
    dict_of(none)->is_counter = true;
    Value result = first ? counter_binary(vm, op, dict_of(counter), dict_of(none)) : counter_binary(vm, op, dict_of(none), dict_of(counter));
    value_unref(vm, none);
    return result;
}

static Value counter_pos(METHOD) { UNUSED; return against_nothing(vm, BINARY_ADD, args[0], true); }
static Value counter_neg(METHOD) { UNUSED; return against_nothing(vm, BINARY_SUBTRACT, args[0], false); }

/* ---- namedtuple ---- */

/* Getter of a field: bound to its index. */
static Value field_get(METHOD) {
    UNUSED;
    Value payload = vm_unwrap(vm_force(vm, args[1]));
    int64_t i = args[0].i;
    if (!value_is(payload, OBJ_TUPLE) || i >= tuple_of(payload)->count) return vm_raise(vm, "TypeError", "a field of a named tuple needs such a tuple");
    return value_ref(tuple_of(payload)->items[i]);
}

static Tuple *fields_of(VM *vm, Value cls_or_instance) {
    Class *cls = value_is(cls_or_instance, OBJ_CLASS) ? (Class *)cls_or_instance.o : class_of(vm, cls_or_instance);
    return tuple_of(class_lookup(vm, cls, vm_intern(vm, "_fields")));
}

/* The tuple of a named tuple with all its fields; V_ERROR when self is something else. */
static Value named_payload(VM *vm, Value self) {
    Value payload = vm_unwrap(self);
    bool named = value_is(self, OBJ_INSTANCE) && value_is(payload, OBJ_TUPLE) && value_is(class_lookup(vm, ((Instance *)self.o)->cls, vm_intern(vm, "_fields")), OBJ_TUPLE);
    if (named && fields_of(vm, self)->count <= tuple_of(payload)->count) return payload;
    return vm_raise(vm, "TypeError", "a named tuple is needed, not '%s'", type_name(vm, self));
}

static Value namedtuple_repr(METHOD) {
    UNUSED;
    Value self = vm_force(vm, args[0]), payload = named_payload(vm, self);
    if (value_is_error(payload)) return payload;
    Tuple *fields = fields_of(vm, self);
    Text text = {0};
    Value module = ((Instance *)self.o)->cls->module_name;
    bool of_torch = value_is(module, OBJ_STR) && strcmp(str_text(module), "torch.return_types") == 0; /* printed a field a line */
    text_printf(&text, "%s%s(%s", of_torch ? "torch.return_types." : "", type_name(vm, self), of_torch ? "\n" : "");
    for (int i = 0; i < fields->count; i++) {
        text_printf(&text, "%s%s=", i == 0 ? "" : of_torch ? ",\n" : ", ", str_text(fields->items[i]));
        if (!text_put_repr(vm, &text, tuple_of(payload)->items[i])) return text_free(&text), VALUE_ERROR;
    }
    text_char(&text, ')');
    return str_join_text(vm, &text);
}

static Value namedtuple_asdict(METHOD) {
    UNUSED;
    Value self = vm_force(vm, args[0]), payload = named_payload(vm, self);
    if (value_is_error(payload)) return payload;
    Value dict = dict_new(vm);
    Tuple *fields = fields_of(vm, self), *items = tuple_of(payload);
    for (int i = 0; i < fields->count; i++) dict_set(vm, dict_of(dict), fields->items[i], items->items[i]);
    return dict;
}

static Value namedtuple_replace(METHOD) {
    Value self = vm_force(vm, args[0]), payload = named_payload(vm, self);
    if (value_is_error(payload)) return payload;
    Tuple *fields = fields_of(vm, self), *items = tuple_of(payload);
    Value copy = tuple_new(vm, items->items, items->count);
    for (int k = 0; kwnames && k < kwnames->count; k++) {
        int i = 0;
        while (i < fields->count && !str_equal(str_of(fields->items[i]), str_of(kwnames->items[k]))) i++;
        if (i == fields->count) return value_unref(vm, copy), vm_raise(vm, "ValueError", "Got unexpected field names: ['%s']", str_text(kwnames->items[k]));
        value_set(vm, &tuple_of(copy)->items[i], value_ref(args[nargs + k]));
    }
    return instance_with_payload(vm, ((Instance *)self.o)->cls, copy);
}

static Value namedtuple_make(METHOD) {
    UNUSED;
    Value list = vm_list_of(vm, args[1]);
    if (value_is_error(list)) return list;
    Value made = vm_call(vm, args[0], list_of(list)->items, list_of(list)->count, NULL);
    value_unref(vm, list);
    return made;
}

static const char *const *field_texts(VM *vm, Tuple *fields, int count) {
    const char **names = ARENA_ARRAY(vm->arena, const char *, count + 1);
    for (int i = 0; i < count; i++) names[i] = str_intern(vm, str_of(fields->items[i]));
    return names;
}

static bool fits_fields(VM *vm, Class *cls, int given, int count, int defaults) {
    if (given <= count) return true;
    if (defaults) vm_raise(vm, "TypeError", "%s.__new__() takes from %d to %d positional arguments but %d were given", cls->name, 1 + count - defaults, 1 + count, 1 + given);
    else vm_raise(vm, "TypeError", "%s.__new__() takes %d positional argument%s but %d were given", cls->name, 1 + count, count ? "s" : "", 1 + given);
    return false;
}

static bool all_fields_given(VM *vm, Class *cls, const Tuple *fields, const Value *items) {
    Text names = {0};
    int absent = 0, seen = 0;
    for (int i = 0; i < fields->count; i++) absent += items[i].tag == V_NULL;
    for (int i = 0; i < fields->count; i++)
        if (items[i].tag == V_NULL) text_printf(&names, "%s'%s'", seen == 0 ? "" : seen < absent - 1 ? ", " : absent > 2 ? ", and " : " and ", str_text(fields->items[i])), seen++;
    if (absent) vm_raise(vm, "TypeError", "%s.__new__() missing %d required positional argument%s: %s", cls->name, absent, absent == 1 ? "" : "s", text_cstr(&names));
    text_free(&names);
    return absent == 0;
}

/* Each field by position, by keyword, or from the defaults of the last ones. */
static Value namedtuple_construct(METHOD) {
    if (!value_is(args[0], OBJ_CLASS) || !value_is(class_lookup(vm, CLASS, vm_intern(vm, "_fields")), OBJ_TUPLE)) return vm_raise(vm, "TypeError", "__new__() needs a class of named tuples");
    Tuple *fields = fields_of(vm, args[0]);
    int count = fields->count;
    Value defaults = class_lookup(vm, CLASS, vm_intern(vm, "_defaults")), items = tuple_take(vm, count), *out = tuple_of(items)->items;
    Tuple *given = value_is(defaults, OBJ_TUPLE) ? tuple_of(defaults) : vm->own->empty_tuple;
    Value found[256];
    bool ok = count <= 256 && fits_fields(vm, CLASS, nargs - 1, count, given->count) &&
              vm_parse_args(vm, arena_printf(vm->arena, "%s.__new__", CLASS->name), args + 1, nargs - 1, kwnames, field_texts(vm, fields, count), count, 0, found);
    for (int i = 0; ok && i < count; i++) {
        int k = i - (count - given->count);
        if (found[i].tag == V_NULL && k >= 0) found[i] = given->items[k];
        if (found[i].tag != V_NULL) out[i] = value_ref(found[i]);
    }
    ok = ok && all_fields_given(vm, CLASS, fields, out);
    if (ok) return instance_with_payload(vm, CLASS, items);
    value_unref(vm, items);
    return VALUE_ERROR;
}

static const BuiltinDef namedtuple_methods[] = {
    {"__repr__", namedtuple_repr, 1, 1, BUILTIN_METHOD | BUILTIN_RAW}, {"_asdict", namedtuple_asdict, 1, 1, BUILTIN_METHOD | BUILTIN_RAW},
    {"_replace", namedtuple_replace, 1, 1, BUILTIN_METHOD | BUILTIN_RAW}, {"_make", namedtuple_make, 2, 2, BUILTIN_CLASSMETHOD},
};

Class *namedtuple_class(VM *vm, const char *name, const char *module, const char *const *fields, int count) {
    Value base = value_object(vm->classes[OBJ_TUPLE]), bases = tuple_new(vm, &base, 1), names = dict_new(vm), list = tuple_take(vm, count);
    Dict *dict = dict_of(names);
    for (int i = 0; i < count; i++) {
        tuple_of(list)->items[i] = str_interned(vm, vm_intern(vm, fields[i]));
        Property *property = (Property *)object_new(vm, OBJ_PROPERTY, sizeof *property);
        property->getter = builtin_new(vm, fields[i], field_get, 2, 2, BUILTIN_RAW);
        ((Builtin *)property->getter.o)->self = value_int(i);
        property->setter = property->deleter = VALUE_NONE;
        module_set(vm, dict, fields[i], value_object(property));
    }
    module_set(vm, dict, "_fields", list);
    module_set(vm, dict, "_field_defaults", dict_new(vm));
    module_set(vm, dict, "__module__", str_from(vm, module));
    vm_define(vm, dict, name, namedtuple_methods, COUNT_OF(namedtuple_methods));
    Value maker = builtin_new(vm, name, namedtuple_construct, 1, -1, 0);
    Wrapper *wrapper = (Wrapper *)object_new(vm, OBJ_STATICMETHOD, sizeof *wrapper);
    wrapper->inner = maker;
    module_set(vm, dict, "__new__", value_object(wrapper));
    Value cls = class_new(vm, name, bases, names);
    value_unref(vm, names);
    value_unref(vm, bases);
    return value_is_error(cls) ? NULL : (Class *)cls.o;
}

Value namedtuple_new(VM *vm, Class *cls, const Value *items, int count) {
    return instance_with_payload(vm, cls, tuple_new(vm, items, count));
}

/* "x y" or "x, y" or a sequence of names */
static Value field_names(VM *vm, Value given) {
    if (!value_is(given, OBJ_STR)) return vm_list_of(vm, given);
    Value list = list_new(vm, NULL, 0);
    for (const char *at = str_text(given); *at;) {
        size_t n = strcspn(at, ", \t\n");
        if (n) {
            Value name = str_new(vm, at, n);
            list_append(vm, list_of(list), name);
            value_unref(vm, name);
        }
        at += n + (at[n] != 0);
    }
    return list;
}

static bool is_name(Value name) {
    if (!value_is(name, OBJ_STR) || str_of(name)->length == 0 || isdigit((unsigned char)*str_text(name))) return false;
    for (const char *at = str_text(name); *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && (unsigned char)*at < 0x80) return false;
    return true;
}

static bool is_repeated(const List *names, int i) {
    for (int k = 0; k < i; k++)
        if (value_is(names->items[k], OBJ_STR) && str_equal(str_of(names->items[k]), str_of(names->items[i]))) return true;
    return false;
}

/* rename=True: what is no good name becomes _ and its place. */
static void rename_fields(VM *vm, List *names) {
    for (int i = 0; i < names->count; i++)
        if (!is_name(names->items[i]) || *str_text(names->items[i]) == '_' || is_repeated(names, i)) value_set(vm, &names->items[i], str_printf(vm, "_%d", i));
}

static bool is_field_name(VM *vm, const List *names, int i, bool renamed) {
    Value name = vm_force(vm, names->items[i]);
    if (!value_is(name, OBJ_STR)) return vm_raise(vm, "TypeError", "Type names and field names must be strings"), false;
    if (!is_name(name)) return vm_raise(vm, "ValueError", "Type names and field names must be valid identifiers: '%s'", str_text(name)), false;
    if (*str_text(name) == '_' && !renamed) return vm_raise(vm, "ValueError", "Field names cannot start with an underscore: '%s'", str_text(name)), false;
    if (is_repeated(names, i)) return vm_raise(vm, "ValueError", "Encountered duplicate field name: '%s'", str_text(name)), false;
    return true;
}

static Value collections_namedtuple(METHOD) {
    static const char *const names[] = {"typename", "field_names", "rename", "defaults", "module"};
    Value out[5];
    if (!vm_parse_args(vm, "namedtuple", args, nargs, kwnames, names, 5, 2, out)) return VALUE_ERROR;
    if (!value_is(out[0], OBJ_STR)) return vm_raise(vm, "TypeError", "Type names and field names must be strings");
    Value list = field_names(vm, out[1]);
    if (value_is_error(list)) return list;
    int count = list_of(list)->count;
    bool ok = true;
    if (out[2].tag != V_NULL && vm_truth(vm, out[2]) > 0) rename_fields(vm, list_of(list));
    for (int i = 0; ok && i < count; i++) ok = is_field_name(vm, list_of(list), i, out[2].tag != V_NULL && vm_truth(vm, out[2]) > 0);
    const char **texts = ARENA_ARRAY(vm->arena, const char *, count + 1);
    for (int i = 0; ok && i < count; i++) texts[i] = str_intern(vm, str_of(list_of(list)->items[i]));
    value_unref(vm, list);
    Value module = vm->frame ? dict_get_name(vm, vm->frame->globals, vm->own->names.name_) : VALUE_NULL;
    Class *cls = ok ? namedtuple_class(vm, str_text(out[0]), value_is(module, OBJ_STR) ? str_text(module) : "__main__", texts, count) : NULL;
    if (!cls) return VALUE_ERROR;
    if (out[3].tag != V_NULL && out[3].tag != V_NONE) {
        Value defaults = vm_list_of(vm, out[3]);
        if (value_is_error(defaults)) return value_unref(vm, value_object(cls)), VALUE_ERROR;
        if (list_of(defaults)->count > count) return value_unref(vm, defaults), value_unref(vm, value_object(cls)), vm_raise(vm, "TypeError", "Got more default values than field names");
        module_set(vm, cls->dict, "_defaults", tuple_new(vm, list_of(defaults)->items, list_of(defaults)->count));
        Value by_name = dict_new(vm);
        for (int i = 0, k = count - list_of(defaults)->count; k < count; i++, k++) dict_set_name(vm, dict_of(by_name), texts[k], list_of(defaults)->items[i]);
        module_set(vm, cls->dict, "_field_defaults", by_name);
        value_unref(vm, defaults);
    }
    return value_object(cls);
}

/* ---- the module ---- */

static Class *dict_class(VM *vm, Dict *dict, const char *name, BuiltinFn maker, int max) {
    Class *cls = class_builtin(vm, name, vm->classes[OBJ_DICT], OBJ_DICT);
    value_set(vm, &cls->module_name, str_from(vm, "collections"));
    module_set(vm, cls->dict, "__new__", builtin_new(vm, name, maker, 1, max, 0));
    dict_set_name(vm, dict, vm_intern(vm, name), value_object(cls));
    return cls;
}

void module_collections(VM *vm, Dict *dict) {
    struct VMPrivate *own = vm->own;
    own->class_ordered = dict_class(vm, dict, "OrderedDict", new_ordered, 2);
    own->class_defaultdict = dict_class(vm, dict, "defaultdict", new_defaultdict, 3);
    own->class_counter = dict_class(vm, dict, "Counter", new_counter, 2);
    vm_define_methods(vm, own->class_counter, counter_methods, COUNT_OF(counter_methods));
    module_set(vm, dict, "namedtuple", builtin_new(vm, "collections.namedtuple", collections_namedtuple, 2, 5, 0));
}
