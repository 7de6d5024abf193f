/* Setup: a VM is made and taken down here: classes of the builtin types, the builtins namespace, the main module.
 *
 *     VM *vm = vm_new(arena, &setup);          // concrete domain, no evaluator
 *     ...
 *     vm_close(vm);                            // every object is freed, also those in cycles
 *
 * To add a builtin type: a row in `types`, its constructor in types.c, its methods in a table. */
#include "vm/methods.h"
#include <stdlib.h>
#include <string.h>

void vm_define_table(VM *vm, Dict *dict, const char *qualifier, const BuiltinDef *defs) {
    int count = 0;
    while (defs[count].name) count++;
    vm_define(vm, dict, qualifier, defs, count);
}

void vm_define_methods(VM *vm, Class *cls, const BuiltinDef *defs, int count) {
    vm_define(vm, cls->dict, cls->name, defs, count);
    for (int i = 0; i < count; i++) {
        Builtin *builtin = (Builtin *)dict_get_name(vm, cls->dict, vm_intern(vm, defs[i].name)).o;
        if (builtin->effects & BUILTIN_METHOD) builtin->owner = cls;
    }
}

static void define_method_table(VM *vm, Class *cls, const BuiltinDef *defs) {
    int count = 0;
    while (defs && defs[count].name) count++;
    vm_define_methods(vm, cls, defs, count);
}

static void intern_names(VM *vm) {
    VMNames *n = &vm->own->names;
#define X(name) n->name##_ = vm_intern(vm, "__" #name "__");
    VM_NAMES(X)
#undef X
    n->args = vm_intern(vm, "args");
    n->kwargs = vm_intern(vm, "kwargs");
    n->get_method = vm_intern(vm, "get");
    n->torch = vm_intern(vm, "torch");
}

typedef struct TypeRow { ObjectType type; const char *name; const BuiltinDef *methods, *special; const char *module; } TypeRow;

static const TypeRow types[] = {
    {OBJ_STR, "str", str_methods, special_sequence, NULL}, {OBJ_TUPLE, "tuple", tuple_methods, special_sequence, NULL},
    {OBJ_LIST, "list", list_methods, special_mutable, NULL}, {OBJ_DICT, "dict", dict_methods, special_mutable, NULL},
    {OBJ_SET, "set", set_methods, special_set, NULL}, {OBJ_FROZENSET, "frozenset", set_methods + SET_CHANGERS, special_set, NULL},
    {OBJ_RANGE, "range", range_methods, special_sequence, NULL}, {OBJ_SLICE, "slice", slice_methods, NULL, NULL}, {OBJ_CODE, "code", NULL, NULL, NULL},
    {OBJ_FUNCTION, "function", NULL, NULL, NULL}, {OBJ_METHOD, "method", NULL, NULL, NULL}, {OBJ_BUILTIN, "builtin_function_or_method", NULL, NULL, NULL},
    {OBJ_OP, "builtin_function_or_method", NULL, NULL, NULL}, {OBJ_MODULE, "module", NULL, NULL, NULL}, {OBJ_CELL, "cell", NULL, NULL, NULL},
    {OBJ_GENERATOR, "generator", generator_methods, NULL, NULL}, {OBJ_PROPERTY, "property", NULL, NULL, NULL},
    {OBJ_STATICMETHOD, "staticmethod", NULL, NULL, NULL}, {OBJ_CLASSMETHOD, "classmethod", NULL, NULL, NULL}, {OBJ_SUPER, "super", NULL, NULL, NULL},
    {OBJ_TENSOR, "Tensor", NULL, NULL, "torch"}, {OBJ_DTYPE, "dtype", NULL, NULL, "torch"}, {OBJ_DEVICE, "device", NULL, NULL, "torch"},
    {OBJ_RNG, "Generator", NULL, NULL, "torch"}, {OBJ_OPAQUE, "object", NULL, NULL, NULL},
};

static void set_module(VM *vm, Class *cls, const char *module) { value_set(vm, &cls->module_name, str_from(vm, module)); }

static void define_types(VM *vm) {
    for (int i = 0; i < COUNT_OF(types); i++) {
        Class *cls = class_builtin(vm, types[i].name, vm->class_object, (int)types[i].type);
        vm->classes[types[i].type] = cls;
        define_method_table(vm, cls, types[i].special);
        define_method_table(vm, cls, types[i].methods);
        if (types[i].module) set_module(vm, cls, types[i].module);
    }
    define_method_table(vm, vm->classes[OBJ_STR], special_text);
    dict_set_name(vm, vm->classes[OBJ_LIST]->dict, vm->own->names.hash_, VALUE_NONE);
    dict_set_name(vm, vm->classes[OBJ_DICT]->dict, vm->own->names.hash_, VALUE_NONE);
    dict_set_name(vm, vm->classes[OBJ_SET]->dict, vm->own->names.hash_, VALUE_NONE);
}

static Class *number_class(VM *vm, const char *name, Class *base, Tag tag) {
    Class *cls = class_builtin(vm, name, base, (int)tag | 0x100);
    define_method_table(vm, cls, special_number);
    define_method_table(vm, cls, special_text);
    return cls;
}

static void define_other_classes(VM *vm) {
    struct VMPrivate *own = vm->own;
    vm->class_none = class_builtin(vm, "NoneType", vm->class_object, V_NONE | 0x100);
    vm->class_ellipsis = class_builtin(vm, "ellipsis", vm->class_object, V_ELLIPSIS | 0x100);
    vm->class_notimplemented = class_builtin(vm, "NotImplementedType", vm->class_object, V_NOTIMPLEMENTED | 0x100);
    vm->class_int = number_class(vm, "int", vm->class_object, V_INT);
    define_method_table(vm, vm->class_int, number_methods);
    vm->class_bool = class_builtin(vm, "bool", vm->class_int, V_BOOL | 0x100);
    vm->class_float = number_class(vm, "float", vm->class_object, V_FLOAT);
    define_method_table(vm, vm->class_float, float_methods);
    vm->class_parameter = class_builtin(vm, "Parameter", vm->classes[OBJ_TENSOR], OBJ_TENSOR);
    set_module(vm, vm->class_parameter, "torch.nn.parameter");
    own->class_iterator = class_builtin(vm, "iterator", vm->class_object, OBJ_ITERATOR);
    define_method_table(vm, own->class_iterator, iterator_methods);
    own->class_size = class_builtin(vm, "Size", vm->classes[OBJ_TUPLE], OBJ_TUPLE);
    set_module(vm, own->class_size, "torch");
    vm->classes[OBJ_ITERATOR] = own->class_iterator;
}

static Class *type_named(VM *vm, const char *name) {
    Class *direct[] = {vm->class_object, vm->class_type, vm->class_bool, vm->class_int, vm->class_float, vm->own->class_size};
    for (int i = 0; i < COUNT_OF(direct); i++)
        if (strcmp(direct[i]->name, name) == 0) return direct[i];
    for (int i = 0; i < COUNT_OF(types); i++)
        if (strcmp(types[i].name, name) == 0) return vm->classes[types[i].type];
    return NULL;
}

/* __new__ of each type that can be called, and its name among the builtins. */
static void define_constructors(VM *vm) {
    for (const BuiltinDef *def = type_constructors; def->name; def++) {
        Class *cls = type_named(vm, def->name);
        Value maker = builtin_new(vm, def->name, def->fn, def->min, def->max, def->effects);
        dict_set_name(vm, cls->dict, vm->own->names.new_, maker);
        value_unref(vm, maker);
        if (cls != vm->own->class_size) dict_set_name(vm, vm->builtins, cls->name, value_object(cls));
    }
}

/* What object defines counts as "not defined by the class" where special methods are looked for: such builtins are marked. */
static void mark_defaults(VM *vm) {
    Value name, value;
    for (int at = 0; dict_next(vm->class_object->dict, &at, &name, &value);)
        if (value_is(value, OBJ_BUILTIN)) value.o->flags |= FLAG_BUILTIN;
    vm->own->object_init = dict_get_name(vm, vm->class_object->dict, vm->own->names.init_);
}

static void define_names(VM *vm) {
    Value key, value;
    for (int at = 0; dict_next(vm->exceptions, &at, &key, &value);) dict_set(vm, vm->builtins, key, value);
    dict_set_name(vm, vm->builtins, vm_intern(vm, "NotImplemented"), (Value){.tag = V_NOTIMPLEMENTED});
    dict_set_name(vm, vm->builtins, vm_intern(vm, "Ellipsis"), (Value){.tag = V_ELLIPSIS});
    dict_set_name(vm, vm->builtins, vm_intern(vm, "__debug__"), value_bool(true));
    vm->own->build_class = builtin_new(vm, "__build_class__", builtin_build_class, 2, -1, BUILTIN_RAW);
}

VM *vm_new(Arena *arena, const VMSetup *setup) {
    VM *vm = ARENA_NEW(arena, VM);
    vm->arena = arena;
    vm->lang = setup->lang;
    vm->ops = setup->ops;
    vm->runtime = setup->runtime;
    vm->out = setup->out;
    vm->notes = setup->notes;
    vm->interrupt = setup->interrupt;
    vm->objects.next = vm->objects.previous = &vm->objects;
    vm->domain = &concrete_domain;
    vm->limits = (VMLimits){.recursion = 1000, .steps = 0, .memory = INT64_C(8) << 30};
    vm->grad_enabled = true;
    vm->default_dtype = DTYPE_F32;
    vm->context.default_dtype = DTYPE_F32;
    vm->own = ARENA_NEW(arena, struct VMPrivate);
    vm->own->strings = map_new(arena);
    vm->own->iterator_classes = map_new(arena);
    vm->own->epoch = 1;
    intern_names(vm);
    vm->own->empty_tuple = (Tuple *)object_new(vm, OBJ_TUPLE, sizeof(Tuple));
    vm->class_object = class_builtin(vm, "object", NULL, -1);
    vm->class_type = class_builtin(vm, "type", vm->class_object, OBJ_CLASS);
    vm->classes[OBJ_CLASS] = vm->class_type;
    define_method_table(vm, vm->class_object, object_methods);
    vm->builtins = dict_of(dict_new(vm));
    vm->modules = dict_of(dict_new(vm));
    vm_exceptions_init(vm);
    define_types(vm);
    define_other_classes(vm);
    define_constructors(vm);
    mark_defaults(vm);
    vm_builtins_init(vm);
    define_names(vm);
    Value main = module_new(vm, "__main__");
    vm->main = (ModuleObject *)main.o;
    dict_set_name(vm, vm->modules, vm->own->names.main_, main);
    return vm;
}

/* All objects are freed by dropping what they hold, then the objects: no order of references matters any more. */
void vm_close(VM *vm) {
    struct VMPrivate *own = vm->own;
    own->closing = true;
    vm->domain = &concrete_domain;
    vm_clear_exception(vm);
    vm_free_everything(vm);
    for (int i = 0; i < FRAME_SIZES; i++)
        for (Frame *frame = own->spare_frames[i], *next; frame; frame = next) {
            next = frame->back;
            free(frame);
        }
    for (int i = 0; i < own->constants.count; i++) free(own->constants.at[i].values);
    for (int i = 0; i < own->old_constants.count; i++) free(own->old_constants.at[i].values);
    vec_free(&own->finalizers);
    vec_free(&own->constants);
    vec_free(&own->old_constants);
}

bool vm_poll(VM *vm) {
    struct VMPrivate *own = vm->own;
    if (vm->interrupt && *vm->interrupt) {
        *vm->interrupt = 0;
        return vm_raise(vm, "KeyboardInterrupt", "%s", ""), false;
    }
    if (vm->limits.steps > 0 && own->steps > vm->limits.steps) return vm_raise(vm, "RuntimeError", "the limit of %lld steps is passed", (long long)vm->limits.steps), false;
    if (vm->limits.memory > 0 && own->bytes > vm->limits.memory) return vm_raise(vm, "MemoryError", "%s", ""), false;
    return true;
}

void vm_write(VM *vm, Output output, const char *text, size_t length) {
    (void)vm;
    if (output.write) output.write(output.state, text, length);
}

void vm_note(VM *vm, Span span, const char *format, ...) {
    Text message = {0}, text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&message, format, arguments);
    va_end(arguments);
    span_report(&text, span, "note", text_cstr(&message));
    vm_write(vm, vm->notes, text_cstr(&text), text.length);
    text_free(&message);
    text_free(&text);
}

Span vm_user_span(VM *vm) {
    Span inner = vm->span;
    if (inner.file && !inner.file->shipped) return inner;
    for (Frame *frame = vm->frame; frame; frame = frame->back) {
        int at = frame->pc > 0 ? frame->pc - 1 : 0;
        if (at >= frame->code->instr_count) continue;
        Span span = frame->code->instrs[at].span;
        if (span.file && !span.file->shipped) return span;
    }
    return inner;
}
