/* Scope: how captured code reads and writes names: attributes of shadows, globals, closure cells; what may be called and changed. See capture.h. */
#include "dynamo/capture.h"
#include "vm/internal.h"
#include <string.h>

Shadow *capture_shadow(Capture *capture, Value object) { return object.tag == V_OBJECT ? map_get(capture->by_shadow, object.o) : NULL; }

const Source *capture_source(Capture *capture, SourceKind kind, const Source *base, const char *name, int index, Value key) {
    return source_make(capture->entry->sources, kind, base, name, index, key);
}

void capture_guard(Capture *capture, GuardKind kind, const Source *source, Value expected, const char *why) {
    guard_add(&capture->entry->guards, capture->vm, (Guard){.kind = kind, .source = source, .expected = expected, .span = vm_user_span(capture->vm), .why = why});
}

/* Immediate values and strings stay tracked too: they are guarded only when they are looked at. */
Value capture_track(Capture *capture, Value value, const Source *source) {
    if (value.tag == V_NULL) return value;
    Value tracked = tracked_new(capture->vm, value, (Source *)(uintptr_t)source);
    if (tracked.o->type == OBJ_TRACKED) {
        value_ref(tracked);
        vec_push_in(capture->entry->arena, &capture->entry->held, tracked);
    }
    return tracked;
}

static const Source *known_source(Capture *capture, Value object) { return object.tag == V_OBJECT ? map_get(capture->known, object.o) : NULL; }

/* Where in the mro `name` stands; borrowed. */
static Value class_attribute(VM *vm, const Class *cls, const char *name) {
    for (int i = 0; i < cls->mro_count; i++) {
        Value found = dict_get_name(vm, cls->mro[i]->dict, name);
        if (found.tag != V_NULL) return found;
    }
    return VALUE_NULL;
}

static bool is_plain_data(Value v) {
    if (v.tag != V_OBJECT) return true;
    switch (v.o->type) {
    case OBJ_STR: case OBJ_TUPLE: case OBJ_LIST: case OBJ_DICT: case OBJ_SET: case OBJ_FROZENSET: case OBJ_TENSOR: case OBJ_INSTANCE: return true;
    default: return false;
    }
}

/* An attribute of the object itself, read for the first time: tracked, and remembered in the shadow. */
static Value shadow_own_attribute(Capture *capture, Shadow *shadow, const char *name) {
    VM *vm = capture->vm;
    Instance *real = (Instance *)shadow->real.o, *mine = (Instance *)shadow->shadow.o;
    if (shadow_deleted(shadow, name)) return VALUE_NULL;
    Value value = real->dict ? dict_get_name(vm, real->dict, name) : VALUE_NULL;
    if (value.tag == V_NULL) return VALUE_NULL;
    Value tracked = capture_track(capture, value, capture_source(capture, SOURCE_ATTR, shadow->source, name, 0, VALUE_NULL));
    if (!mine->dict) mine->dict = (Dict *)dict_new(vm).o;
    dict_set_name(vm, mine->dict, name, tracked);
    return tracked;
}

static bool shipped_globals(const Frame *frame) { return frame->code->file && frame->code->file->shipped; }

static Value shadow_attribute(Capture *capture, Shadow *shadow, const char *name) {
    VM *vm = capture->vm;
    Instance *mine = (Instance *)shadow->shadow.o;
    Value in_class = class_attribute(vm, mine->cls, name);
    if (value_is(in_class, OBJ_PROPERTY)) return vm_load_attr_generic(vm, shadow->shadow, name);
    Value own = mine->dict ? dict_get_name(vm, mine->dict, name) : VALUE_NULL;
    if (own.tag != V_NULL) return value_ref(own);
    own = shadow_own_attribute(capture, shadow, name);
    if (own.tag != V_NULL) return own;
    if (in_class.tag == V_NULL) {
        if (!shadow_deleted(shadow, name)) guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_ABSENT, .source = shadow->source, .name = name, .span = vm_user_span(vm), .why = "the attribute was looked for and is not there"});
        return vm_load_attr_generic(vm, shadow->shadow, name);
    }
    if (is_plain_data(in_class)) return capture_track(capture, in_class, capture_source(capture, SOURCE_ATTR, shadow->source, name, 0, VALUE_NULL));
    if (value_is(in_class, OBJ_FUNCTION)) /* a method, unless the object itself gets an attribute of this name */
        guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_ABSENT, .source = shadow->source, .name = name, .in_class = true, .span = vm_user_span(vm), .why = "a method of the class was used"});
    return vm_load_attr_generic(vm, shadow->shadow, name);
}

/* Which attributes there are, in order. */
static void names_guard(Capture *capture, const Shadow *shadow, const Instance *real) {
    VM *vm = capture->vm;
    Value keys = list_new(vm, NULL, 0), key, value;
    int position = 0;
    while (real->dict && dict_next(real->dict, &position, &key, &value)) list_append(vm, (List *)keys.o, key);
    Value tuple = tuple_new(vm, ((List *)keys.o)->items, ((List *)keys.o)->count);
    capture_guard(capture, GUARD_KEYS, capture_source(capture, SOURCE_ATTR, shadow->source, intern(vm->lang->names, "__dict__"), 0, VALUE_NULL), tuple, "all attributes of an object were looked at");
    value_unref(vm, tuple);
    value_unref(vm, keys);
}

static void put_last(VM *vm, Dict *dict, Value key, Value value) {
    bool found;
    dict_delete(vm, dict, key, &found);
    dict_set(vm, dict, key, value);
}

/* Attributes in the order in which the object will have them: the real one's, then those that the frame added, also where it deleted one before. */
static void order_names(VM *vm, const Shadow *shadow, const Instance *real, Dict *mine) {
    Value before = dict_copy(vm, mine), key, value;
    int position = 0;
    while (real->dict && dict_next(real->dict, &position, &key, &value)) {
        const char *name = str_intern(vm, (Str *)key.o);
        if (!shadow_deleted(shadow, name)) put_last(vm, mine, key, dict_get_name(vm, (Dict *)before.o, name));
    }
    for (position = 0; dict_next((Dict *)before.o, &position, &key, &value);) {
        const char *name = str_intern(vm, (Str *)key.o);
        if (shadow_deleted(shadow, name) || !real->dict || dict_get_name(vm, real->dict, name).tag == V_NULL) put_last(vm, mine, key, value);
    }
    value_unref(vm, before);
}

/* Remembered: Dynamo can index such a dict, but not call anything on it or with it. */
static Value namespace_of(Capture *capture, Value object) {
    Value found = vm_load_attr_generic(capture->vm, object, intern(capture->vm->lang->names, "__dict__"));
    if (value_is(found, OBJ_DICT)) map_put(capture->namespaces, found.o, object.o);
    return found;
}

Value capture_namespace_owner(Capture *capture, Value dict) {
    Object *owner = dict.tag == V_OBJECT ? map_get(capture->namespaces, dict.o) : NULL;
    return owner ? value_object(owner) : VALUE_NULL;
}

static bool may_take_namespace(Value callee, bool own) {
    static const char *const methods[] = {"__getitem__", "get", "__contains__", "__setitem__"};
    for (size_t i = 0; own && i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(((Builtin *)callee.o)->name, methods[i])) return true;
    return !strcmp(((Builtin *)callee.o)->name, "isinstance");
}

/* len(vars(b)), b.__dict__.items(): the call about to run gets an object's namespace as a whole. */
bool capture_calls_on_namespace(Capture *capture, const Frame *frame) {
    const Instr *instr = &frame->code->instrs[frame->pc];
    int at = frame->sp - instr->arg - 2;
    if (!map_count(capture->namespaces) || instr->opcode != OPCODE_CALL || at < code_localsplus_count(frame->code) || shipped_globals(frame)) return false;
    Value called = frame->fast[at].tag == V_NULL ? frame->fast[at + 1] : frame->fast[at];
    if (value_is(called, OBJ_TRACKED)) called = ((Tracked *)called.o)->inner;
    bool own = value_is(called, OBJ_BUILTIN) && capture_namespace_owner(capture, frame->fast[at].tag == V_NULL ? ((Builtin *)called.o)->self : frame->fast[at + 1]).tag != V_NULL;
    bool given = own;
    for (int i = at + 2; i < frame->sp; i++) given |= capture_namespace_owner(capture, frame->fast[i]).tag != V_NULL;
    bool plain = value_is(called, OBJ_BUILTIN) || (value_is(called, OBJ_CLASS) && ((Class *)called.o)->head.flags & FLAG_BUILTIN);
    if (!given || !plain || (value_is(called, OBJ_BUILTIN) && may_take_namespace(called, own))) return false;
    vm_stop(capture->vm, "call", vm_user_span(capture->vm), "the attributes of an object as a whole are given to a call");
    return true;
}

/* The namespace of an object as a whole (__dict__, vars): every attribute is read, and the set of names guarded. */
static Value shadow_namespace(Capture *capture, Shadow *shadow) {
    Instance *real = (Instance *)shadow->real.o;
    Value key, value;
    int position = 0;
    names_guard(capture, shadow, real);
    if (real->dict)
        while (dict_next(real->dict, &position, &key, &value)) {
            const char *name = str_intern(capture->vm, (Str *)key.o);
            Instance *mine = (Instance *)shadow->shadow.o;
            if (mine->dict && dict_get_name(capture->vm, mine->dict, name).tag != V_NULL) continue;
            value_unref(capture->vm, shadow_own_attribute(capture, shadow, name));
        }
    if (((Instance *)shadow->shadow.o)->dict) order_names(capture->vm, shadow, real, ((Instance *)shadow->shadow.o)->dict);
    return namespace_of(capture, shadow->shadow);
}

/* What the program set on a function of its own. */
static Value function_attribute(Capture *capture, Value object, const char *name) {
    const Function *function = (const Function *)object.o;
    const Source *source = known_source(capture, object);
    Value own = value_is(function->dict, OBJ_DICT) ? dict_get_name(capture->vm, (Dict *)function->dict.o, name) : VALUE_NULL;
    if (source && own.tag == V_NULL && strncmp(name, "__", 2)) /* the program may set it later */
        guard_add(&capture->entry->guards, capture->vm, (Guard){.kind = GUARD_ABSENT, .source = source, .name = name, .span = vm_user_span(capture->vm), .why = "the attribute was looked for and is not there"});
    if (!source || own.tag == V_NULL) return vm_load_attr_generic(capture->vm, object, name);
    return capture_track(capture, own, capture_source(capture, SOURCE_ATTR, source, name, 0, VALUE_NULL));
}

/* Attribute of a class or of a module of the program, reached by identity. */
static Value known_attribute(Capture *capture, Value object, const char *name) {
    VM *vm = capture->vm;
    const Source *source = known_source(capture, object);
    Value found = object.o->type == OBJ_CLASS ? class_attribute(vm, (Class *)object.o, name) : dict_get_name(vm, ((ModuleObject *)object.o)->dict, name);
    if (!source || found.tag == V_NULL || !is_plain_data(found)) return vm_load_attr_generic(vm, object, name);
    if (object.o->type == OBJ_MODULE && ((ModuleObject *)object.o)->shipped) return vm_load_attr_generic(vm, object, name);
    return capture_track(capture, found, capture_source(capture, SOURCE_ATTR, source, name, 0, VALUE_NULL));
}

Value capture_load_attr(VM *vm, Value object, const char *name) {
    Capture *capture = capture_of(vm);
    if (object.o->type == OBJ_INSTANCE) {
        Shadow *shadow = capture_shadow(capture, object);
        if (!shadow) return strcmp(name, "__dict__") || shipped_globals(vm->frame) ? vm_load_attr_generic(vm, object, name) : namespace_of(capture, object);
        return strcmp(name, "__dict__") ? shadow_attribute(capture, shadow, name) : shadow_namespace(capture, shadow);
    }
    if (object.o->type == OBJ_FUNCTION) return function_attribute(capture, object, name);
    if (object.o->type == OBJ_CLASS || object.o->type == OBJ_MODULE) return known_attribute(capture, object, name);
    return vm_load_attr_generic(vm, object, name);
}

/* Globals */

static NameWrite *global_write(Capture *capture, const Dict *dict, const char *name) {
    for (int i = 0; i < capture->globals.count; i++)
        if (capture->globals.at[i].dict == dict && capture->globals.at[i].name == name) return &capture->globals.at[i];
    return NULL;
}

/* A value that the entry keeps alive while it is captured and after. */
static Value held(Capture *capture, Value value) {
    vec_push_in(capture->entry->arena, &capture->entry->held, value_ref(value));
    return value;
}

/* The program's own globals are written after the graph; those of the shipped library are left alone. */
bool capture_store_global(VM *vm, Frame *frame, const char *name, Value value) {
    Capture *capture = capture_of(vm);
    if (shipped_globals(frame) || value.tag == V_NULL) {
        vm_stop(vm, "other", vm_user_span(vm), "the global %s is %s", name, value.tag == V_NULL ? "deleted" : "changed in the library");
        return false;
    }
    NameWrite *write = global_write(capture, frame->globals, name);
    if (write) write->value = held(capture, value);
    else vec_push_in(capture->entry->arena, &capture->globals, ((NameWrite){frame->globals, name, held(capture, value)}));
    return true;
}

static const Source *global_source(Capture *capture, const Frame *frame, const char *name) {
    Value space = frame->globals == capture->real->globals ? VALUE_NULL : (Value){.tag = V_OBJECT, .o = (Object *)frame->globals};
    return capture_source(capture, SOURCE_GLOBAL, NULL, name, 0, space);
}

Value capture_load_global(VM *vm, Frame *frame, const char *name) {
    Capture *capture = capture_of(vm);
    const NameWrite *write = capture->globals.count ? global_write(capture, frame->globals, name) : NULL;
    if (write) return value_ref(write->value);
    Value value = dict_get_name(vm, frame->globals, name);
    if (value.tag == V_NULL) {
        value = dict_get_name(vm, vm->builtins, name);
        if (value.tag == V_NULL) return vm_raise(vm, "NameError", "name '%s' is not defined", name);
        if (!shipped_globals(frame)) capture_guard(capture, GUARD_UNBOUND, global_source(capture, frame, name), VALUE_NULL, "the name means the builtin");
        return value_ref(value);
    }
    if (shipped_globals(frame)) return value_ref(value);
    return capture_track(capture, value, global_source(capture, frame, name));
}

static const char *free_name(const Function *function, int i) { return function->code->localsplus[code_localsplus_count(function->code) - function->code->nfrees + i]; }

/* Cells: those of functions of the program are read through their function, those made in the frame are plain. */
void capture_know_cells(Capture *capture, const Function *function, const Source *source) {
    if (!value_is(function->closure, OBJ_TUPLE)) return;
    const Tuple *cells = (const Tuple *)function->closure.o;
    for (int i = 0; i < cells->count; i++)
        if (!map_has(capture->known, cells->items[i].o))
            map_put(capture->known, cells->items[i].o, (void *)(uintptr_t)capture_source(capture, SOURCE_CELL, source, source ? NULL : free_name(function, i), i, VALUE_NULL));
}

static CellWrite *cell_write(Capture *capture, const Cell *cell) {
    for (int i = 0; i < capture->cells.count; i++)
        if (capture->cells.at[i].cell == cell) return &capture->cells.at[i];
    return NULL;
}

Value capture_load_cell(VM *vm, Cell *cell) {
    Capture *capture = capture_of(vm);
    const CellWrite *write = cell_write(capture, cell);
    if (write) return value_ref(write->value);
    const Source *source = map_get(capture->known, cell);
    if (!source || cell->value.tag == V_NULL) return value_ref(cell->value);
    return capture_track(capture, cell->value, source);
}

bool capture_store_cell(VM *vm, Cell *cell, Value value) {
    Capture *capture = capture_of(vm);
    if (map_has(capture->known, cell)) {
        CellWrite *write = cell_write(capture, cell);
        if (write) write->value = held(capture, value);
        else vec_push_in(capture->entry->arena, &capture->cells, ((CellWrite){cell, held(capture, value)}));
        return true;
    }
    Value old = cell->value;
    cell->value = value_ref(value);
    value_unref(vm, old);
    return true;
}

/* Tensors: .grad and the program's own attributes of an input are read where the input is, and written after the graph. */
static const InputTensor *input_of(const Capture *capture, const Tensor *fake) {
    for (int i = 0; i < capture->inputs.count; i++)
        if (capture->inputs.at[i].fake == fake) return &capture->inputs.at[i];
    return NULL;
}

static TensorWrite *tensor_write(Capture *capture, const Tensor *fake, const char *name) {
    for (int i = 0; i < capture->tensors.count; i++)
        if (capture->tensors.at[i].fake == fake && capture->tensors.at[i].name == name) return &capture->tensors.at[i];
    return NULL;
}

Value capture_load_tensor_attr(VM *vm, Tensor *tensor, const char *name) {
    Capture *capture = capture_of(vm);
    const InputTensor *input = input_of(capture, tensor);
    if (!input) return VALUE_NULL;
    const TensorWrite *write = tensor_write(capture, tensor, name);
    if (write) return value_ref(write->value);
    if (!strcmp(name, "grad")) {
        Value grad = input->real->grad ? value_object(input->real->grad) : VALUE_NONE;
        return capture_track(capture, grad, capture_source(capture, SOURCE_GRAD, input->source, NULL, 0, VALUE_NULL));
    }
    Value own = value_is(input->real->dict, OBJ_DICT) ? dict_get_name(vm, (Dict *)input->real->dict.o, name) : VALUE_NULL;
    return own.tag == V_NULL ? own : capture_track(capture, own, capture_source(capture, SOURCE_ATTR, input->source, name, 0, VALUE_NULL));
}

static int refuse_store(VM *vm, const char *name, bool input) {
    vm_stop(vm, "other", vm_user_span(vm), "the attribute %s of %s is set", name, input ? "an input" : "a tensor made in the frame");
    return -1;
}

int capture_store_tensor_attr(VM *vm, Tensor *tensor, const char *name, Value value) {
    Capture *capture = capture_of(vm);
    const InputTensor *input = input_of(capture, tensor);
    bool built_in = map_has(vm->torch->tensor_attributes, name), grad = !strcmp(name, "grad");
    bool flag = !strcmp(name, "requires_grad") && value.tag == V_BOOL;
    if (flag && value.b == tensor_needs_grad(tensor)) return 1;
    if (!input && built_in && !grad && !flag) return 0;
    if (!input || value.tag == V_NULL || (built_in && !grad)) return refuse_store(vm, name, input != NULL);
    TensorWrite *write = tensor_write(capture, tensor, name);
    if (write) write->value = held(capture, value);
    else vec_push_in(capture->entry->arena, &capture->tensors, ((TensorWrite){tensor, input->source, name, held(capture, value)}));
    return 1;
}

static const Source *object_source(Capture *capture, Value v) {
    const Shadow *shadow = capture_shadow(capture, v);
    return shadow ? shadow->source : NULL;
}

/* Here it matters which function it is, beside what its code is. */
static void function_compared(Capture *capture, Value v) {
    const Source *source = value_is(v, OBJ_FUNCTION) ? known_source(capture, v) : NULL;
    if (!source || (((Function *)v.o)->code->file && ((Function *)v.o)->code->file->shipped)) return;
    const Shadow *shadow = capture_shadow(capture, v);
    capture_guard(capture, GUARD_IDENTITY, source, shadow ? shadow->real : v, "a function was compared or looked up");
}

/* Objects of the program that were compared by identity: the answer is guarded. (Tensors are told apart by NO_TENSOR_ALIASING.) */
void capture_compared(VM *vm, Value a, Value b) {
    Capture *capture = capture_of(vm);
    function_compared(capture, a);
    function_compared(capture, b);
    const Source *first = object_source(capture, a), *second = object_source(capture, b);
    if (!first || !second || first == second) return;
    guard_add(&capture->entry->guards, vm, (Guard){.kind = a.o == b.o ? GUARD_SAME : GUARD_DIFFERENT, .source = first, .other = second, .span = vm_user_span(vm), .why = "two objects were compared with `is`"});
}

bool capture_will_mutate(VM *vm, Object *object) {
    Capture *capture = capture_of(vm);
    Shadow *shadow = map_get(capture->by_shadow, object);
    if (capture_exhausting_stop(vm)) return false;
    if (shadow) {
        capture_dict_whole(capture, shadow);
        shadow->mutated = true;
        return true;
    }
    bool outside = object->type == OBJ_MODULE || map_has(capture->known, object) || map_has(capture->by_real, object);
    if (object->type == OBJ_DICT && (object == (Object *)capture->real->globals || object == (Object *)vm->builtins || object == (Object *)vm->modules)) outside = true;
    if (object->type == OBJ_CLASS && ((Class *)object)->builtin_type >= 0) outside = true;
    if (!outside) return true;
    vm_stop(vm, "other", vm_user_span(vm), "a global, module or class of the program is changed");
    return false;
}

bool shadow_deleted(const Shadow *shadow, const char *name) {
    for (int i = 0; i < shadow->deleted.count; i++)
        if (shadow->deleted.at[i] == name) return true;
    return false;
}

/* The attribute is there before it goes: one of the program's object that was not read yet is read. */
bool capture_delete_attr(VM *vm, Object *object, const char *name) {
    Capture *capture = capture_of(vm);
    Shadow *shadow = map_get(capture->by_shadow, object);
    const Instance *mine = (const Instance *)object;
    if (!shadow) return true;
    if (!mine->dict || dict_get_name(vm, mine->dict, name).tag == V_NULL) value_unref(vm, shadow_own_attribute(capture, shadow, name));
    vec_push_in(capture->entry->arena, &shadow->deleted, name);
    return true;
}

static const char *callee_name(Value callee) {
    if (value_is(callee, OBJ_BUILTIN)) return ((Builtin *)callee.o)->qualname ? ((Builtin *)callee.o)->qualname : ((Builtin *)callee.o)->name;
    if (value_is(callee, OBJ_FUNCTION)) return ((Function *)callee.o)->qualname;
    return "?";
}

/* What Dynamo leaves alone of the standard library. */
static bool is_skipped(const Function *function) {
    static const char *const modules[] = {"copy", "traceback", "linecache"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (value_is(function->module_name, OBJ_STR) && !strcmp(str_text(function->module_name), modules[i])) return function->code->file && function->code->file->shipped;
    return false;
}

/* zero_grad, and step, which is compiled as a frame of its own (dynamo.c). */
static bool is_of_optimizer(const Function *function) {
    const char *name = function->qualname ? function->qualname : "";
    return function->code->file && function->code->file->shipped && (!strcmp(name, "Optimizer.step") || !strcmp(name, "Optimizer.zero_grad"));
}

/* super().__init__(…) in an exception of the program, not the call that its class makes. */
static bool is_written_init(VM *vm, Value callee) {
    const Builtin *builtin = (const Builtin *)callee.o;
    const Frame *frame = vm->frame;
    if (strcmp(builtin->name, "__init__") || !builtin->owner || !builtin->owner->is_exception || !frame || frame->pc < 1 || shipped_globals(frame)) return false;
    const Instr *instr = &frame->code->instrs[frame->pc - 1];
    int at = frame->sp - instr->arg - 2;
    if (instr->opcode != OPCODE_CALL || at < code_localsplus_count(frame->code)) return false;
    Value called = frame->fast[at].tag == V_NULL ? frame->fast[at + 1] : frame->fast[at];
    return !value_is(called, OBJ_CLASS);
}

Value capture_identity(Capture *capture, Value object) {
    const Shadow *shadow = capture_shadow(capture, object);
    const InputTensor *input = value_is(object, OBJ_TENSOR) ? input_of(capture, (Tensor *)object.o) : NULL;
    bool named = value_is(object, OBJ_CLASS) || value_is(object, OBJ_FUNCTION) || value_is(object, OBJ_MODULE);
    Value real = shadow && value_is(object, OBJ_INSTANCE) ? shadow->real : input && input->real ? value_tensor(input->real) : named ? object : VALUE_NULL;
    const Source *source = shadow ? shadow->source : input ? input->source : NULL;
    if (real.tag != V_NULL && source) capture_guard(capture, GUARD_IDENTITY, source, real, "the identity of an object was asked for");
    return real;
}

bool capture_is_pythons(VM *vm, Value callee) {
    Value found = dict_get_name(vm, vm->builtins, intern(vm->lang->names, ((Builtin *)callee.o)->name));
    return found.tag == V_OBJECT && found.o == callee.o;
}

bool capture_may_call(VM *vm, Value callee) {
    Capture *capture = capture_of(vm);
    if (value_is(callee, OBJ_BUILTIN) && ((Builtin *)callee.o)->effects & (BUILTIN_EFFECT | BUILTIN_BREAK)) {
        bool pythons = capture_is_pythons(vm, callee) && strcmp(callee_name(callee), "id") && !(vm->frame && shipped_globals(vm->frame)); /* not time.time, a logger, a tensor's method */
        vm_stop(vm, pythons ? "builtin" : "call", vm_user_span(vm), "call of %s, which has effects outside the graph", callee_name(callee));
        return false;
    }
    if (value_is(callee, OBJ_BUILTIN) && is_written_init(vm, callee)) {
        vm_stop(vm, "call", vm_user_span(vm), "an exception of the program calls %s of its base class", callee_name(callee));
        return false;
    }
    if (!value_is(callee, OBJ_FUNCTION)) return true;
    Function *function = (Function *)callee.o;
    if (function->disabled) {
        vm_stop(vm, "disabled", vm_user_span(vm), "%s is disabled by torch.compiler.disable%s%s", callee_name(callee), function->disable_reason ? ": " : "", function->disable_reason ? function->disable_reason : "");
        return false;
    }
    if (is_skipped(function) && !(vm->frame && shipped_globals(vm->frame))) {
        vm_stop(vm, "call", vm_user_span(vm), "%s is left out of graphs, as in PyTorch", callee_name(callee));
        return false;
    }
    if (is_of_optimizer(function) && !(vm->frame && shipped_globals(vm->frame))) {
        vm_stop(vm, "call", vm_user_span(vm), "%s is called outside the graph; what it computes has one of its own", callee_name(callee));
        return false;
    }
    const Source *source = known_source(capture, callee);
    if (!source) return true;
    capture_know_cells(capture, function, source);
    return true;
}
