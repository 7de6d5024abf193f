/* Shadows: what an input looks like to symbolic execution once the program looks at it. See capture.h.
 *
 * To add a kind of value: a case in force_object, its guard, and how it is rebuilt in rewrite.c. */
#include "dynamo/iterators.h"
#include "dynamo/computed.h"
#include "dynamo/shapes.h"
#include "vm/internal.h"
#include "vm/native.h"
#include <stdlib.h>
#include <stdlib.h>
#include <string.h>

Shadow *shadow_add(Capture *capture, Value shadow, Value real, const Source *source) {
    Arena *arena = capture->entry->arena;
    Shadow *made = ARENA_NEW(arena, Shadow);
    *made = (Shadow){.shadow = shadow, .real = real, .source = source};
    vec_push_in(arena, &capture->shadows, made);
    map_put(capture->by_real, real.o, made);
    map_put(capture->by_shadow, shadow.o, made);
    vec_push_in(arena, &capture->entry->held, shadow); /* moved: shadows live as long as the entry */
    return made;
}

/* Tensors */
static const char *input_name(Capture *capture, const Source *source) {
    Text text = {0}, name = {0};
    source_print(&text, source);
    for (const char *c = text_cstr(&text); *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        char put = letter ? *c : '_';
        if (put == '_' && name.length && name.data[name.length - 1] == '_') continue;
        text_char(&name, name.length ? put : (char)(put == 'L' ? 'l' : put == 'G' ? 'g' : put));
    }
    if (!name.length || name.data[name.length - 1] != '_') text_char(&name, '_');
    char *copy = text_in(&name, capture->entry->arena);
    text_free(&text);
    text_free(&name);
    return copy;
}

static Value force_tensor(Capture *capture, Tensor *real, const Source *source) {
    VM *vm = capture->vm;
    for (int i = 0; i < capture->inputs.count; i++) {
        InputTensor *input = &capture->inputs.at[i];
        if (input->real != real) continue;
        if (input->source != source) {
            Guard same = {.kind = GUARD_SAME, .source = source, .other = input->source, .span = vm->span, .why = "the same tensor was given twice"};
            guard_add(&capture->entry->guards, vm, same);
        }
        return value_object(input->fake);
    }
    Meta meta = real->meta;
    meta.requires_grad = tensor_needs_grad(real);
    meta.offset = 0; /* not guarded: the graph is given the address of the first element */
    shapes_tensor(capture, real, source, capture->entry->inputs.count, &meta);
    Guard guard = {.kind = GUARD_TENSOR, .source = source, .meta = meta, .requires_grad = meta.requires_grad, .is_parameter = real->is_parameter, .of_inference = real->of_inference, .marks = shapes_marks(vm, real),
                   .span = vm_user_span(vm), .why = "a tensor input of the graph"};
    guard_add(&capture->entry->guards, vm, guard);
    Node *node = graph_input(capture->entry->graph, input_name(capture, source), &meta, guard.span);
    node->is_parameter = real->is_parameter || shapes_in_module(capture, source);
    Tensor *fake = trace_tensor(&capture->tracer, node, 0);
    fake->requires_grad = meta.requires_grad;
    fake->is_parameter = real->is_parameter;
    vec_push_in(capture->entry->arena, &capture->entry->held, value_tensor(fake));
    vec_push_in(capture->entry->arena, &capture->inputs, ((InputTensor){real, fake, node, source, false}));
    vec_push_in(capture->entry->arena, &capture->entry->inputs, ((EntryInput){source, meta, guard.span}));
    return value_object(fake);
}

/* A tensor made outside the graph that no path of the frame names (torch.tensor([…]) in the frame, a default argument): a constant of the graph. */
static Constant *constant_given(Capture *capture, Tensor *real) {
    Constant *constant = map_get(capture->constants, real);
    if (constant) return constant;
    Arena *arena = capture->entry->arena;
    constant = ARENA_NEW(arena, Constant);
    constant->given = trace_tensor(&capture->tracer, graph_constant(capture->entry->graph, "_tensor_constant0", &real->meta, real, capture->vm->span), 0);
    vec_push_in(arena, &capture->entry->held, value_ref(value_tensor(real)));
    vec_push_in(arena, &capture->entry->held, value_tensor(constant->given));
    map_put(capture->constants, real, constant);
    return constant;
}

/* The copy is made where it is first needed, so that writing to it does not change the next call's; from then on it is read in its place. */
Tensor *capture_constant(Capture *capture, Tensor *real, bool copied) {
    VM *vm = capture->vm;
    for (int i = 0; i < capture->inputs.count; i++)
        if (capture->inputs.at[i].real == real) return capture->inputs.at[i].fake;
    Constant *constant = constant_given(capture, real);
    if (constant->copy || !copied) return constant->copy ? constant->copy : constant->given;
    Arg arg[2] = {arg_of_tensor(constant->given), arg_none()};
    const Op *clone = op_find(vm->ops, "clone");
    Value copy = trace_op(vm, clone, arg, clone->nparams);
    if (value_is_error(copy)) return NULL;
    vec_push_in(capture->entry->arena, &capture->entry->held, copy);
    return constant->copy = (Tensor *)copy.o;
}

/* Containers */
static Value force_sequence(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    bool list = real.o->type == OBJ_LIST;
    int count = list ? ((List *)real.o)->count : ((Tuple *)real.o)->count;
    Value *items = list ? ((List *)real.o)->items : ((Tuple *)real.o)->items;
    capture_guard(capture, GUARD_TYPE, source, value_object(class_of(vm, real)), "a sequence was read");
    Guard length = {.kind = GUARD_LENGTH, .source = source, .length = count, .span = vm_user_span(vm), .why = "a sequence was read"};
    guard_add(&capture->entry->guards, vm, length);
    Value *tracked = ARENA_ARRAY(capture->entry->arena, Value, count + 1);
    for (int i = 0; i < count; i++) tracked[i] = capture_track(capture, items[i], capture_source(capture, SOURCE_ITEM, source, NULL, i, VALUE_NULL));
    Value shadow = list ? list_new(vm, tracked, count) : tuple_new(vm, tracked, count);
    Shadow *made = shadow_add(capture, shadow, real, source);
    if (list) {
        made->original = tuple_new(vm, tracked, count);
        vec_push_in(capture->entry->arena, &capture->entry->held, made->original);
    } else {
        ((Tuple *)shadow.o)->is_size = ((Tuple *)real.o)->is_size;
    }
    for (int i = 0; i < count; i++) value_unref(vm, tracked[i]);
    return shadow;
}

static const char *key_text(Capture *capture, Value key) {
    Value repr = vm_repr(capture->vm, key);
    const char *text = value_is(repr, OBJ_STR) ? arena_strdup(capture->entry->arena, str_text(repr)) : "?";
    value_unref(capture->vm, repr);
    return text;
}

/* always: also where no dict of the program is known to have it as a key. */
static Value key_of_program(VM *vm, Value tensor, bool always) {
    Capture *capture = capture_of(vm);
    for (int i = 0; i < capture->inputs.count; i++) {
        const InputTensor *input = &capture->inputs.at[i];
        if (input->fake != (Tensor *)tensor.o || !input->real) continue;
        if (!always && !map_has(capture->known, input->real)) return tensor;
        capture_guard(capture, GUARD_IDENTITY, input->source, value_tensor(input->real), "a tensor was used as a key");
        map_put(capture->known, input->real, (void *)(uintptr_t)input->source);
        return value_tensor(input->real);
    }
    return tensor;
}

Value capture_key(VM *vm, Value tensor) { return key_of_program(vm, tensor, false); }

/* A defaultdict makes what is not there, also while it is captured. */
static void take_factory(Capture *capture, Dict *shadow, Value factory, const Source *source) {
    shadow->fallback = malloc(sizeof *shadow->fallback);
    if (!shadow->fallback) return;
    *shadow->fallback = value_ref(factory);
    const Source *place = capture_source(capture, SOURCE_ATTR, source, intern(capture->vm->lang->names, "default_factory"), 0, VALUE_NULL);
    capture_guard(capture, factory.tag == V_OBJECT ? GUARD_IDENTITY : GUARD_EQUALS, place, factory, "a defaultdict was read");
}

static Value force_dict(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    Dict *dict = (Dict *)real.o;
    Value shadow = dict_new(vm), key, value;
    capture_guard(capture, GUARD_TYPE, source, value_object(class_of(vm, real)), "a dict was read");
    int position = 0;
    while (dict_next(dict, &position, &key, &value)) {
        if (value_is(key, OBJ_TENSOR) && !map_has(capture->known, key.o)) map_put(capture->known, key.o, (void *)(uintptr_t)source);
        Value tracked = capture_track(capture, value, capture_source(capture, SOURCE_KEY, source, key_text(capture, key), 0, key));
        dict_set(vm, (Dict *)shadow.o, key, tracked);
        value_unref(vm, tracked);
    }
    ((Dict *)shadow.o)->is_counter = dict->is_counter;
    ((Dict *)shadow.o)->is_ordered = dict->is_ordered;
    if (dict->fallback) take_factory(capture, (Dict *)shadow.o, *dict->fallback, source);
    shadow_add(capture, shadow, real, source);
    return shadow;
}

void capture_dict_whole(Capture *capture, Shadow *shadow) {
    VM *vm = capture->vm;
    if (shadow->whole || !value_is(shadow->real, OBJ_DICT)) return;
    shadow->whole = true;
    Value keys = list_new(vm, NULL, 0), key;
    int position = 0;
    while (dict_next((Dict *)shadow->real.o, &position, &key, NULL)) list_append(vm, (List *)keys.o, key);
    Value tuple = tuple_new(vm, ((List *)keys.o)->items, ((List *)keys.o)->count);
    capture_guard(capture, GUARD_KEYS, shadow->source, tuple, "a dict was read");
    value_unref(vm, tuple);
    value_unref(vm, keys);
}

/* One key was asked for: whether it is there is guarded, unless all keys are. */
void capture_looked_up(VM *vm, Dict *dict, Value key, bool found) {
    Capture *capture = capture_of(vm);
    const Shadow *shadow = map_get(capture->by_shadow, dict);
    if (!shadow || shadow->whole || !value_is(shadow->real, OBJ_DICT)) return;
    if (value_is(key, OBJ_TENSOR)) key = key_of_program(vm, key, true);
    const Source *item = capture_source(capture, SOURCE_KEY, shadow->source, key_text(capture, key), 0, key);
    guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_CONTAINS, .source = shadow->source, .other = item, .expected = key, .length = found, .span = vm_user_span(vm), .why = "a key of a dict was asked for"});
}

/* A key whose value is guarded has to be there. */
void capture_drop_lookups(Capture *capture) {
    GuardSet *set = &capture->entry->guards;
    Map *read = map_new(capture->entry->arena);
    for (int i = 0; i < set->all.count; i++)
        for (const Source *at = set->all.at[i].source; at && !map_has(read, at); at = at->base) map_put(read, at, (void *)(uintptr_t)at);
    int kept = 0;
    for (int i = 0; i < set->all.count; i++) {
        const Guard *guard = &set->all.at[i];
        bool drop = guard->kind == GUARD_CONTAINS && guard->length && map_has(read, guard->other);
        if (drop) value_unref(capture->vm, guard->expected);
        else set->all.at[kept++] = *guard;
    }
    set->all.count = kept;
    set->program = NULL;
}

static void set_guard(Capture *capture, Set *set, const Source *source) {
    VM *vm = capture->vm;
    int *order = set_order(vm, set);
    Value *keys = ARENA_ARRAY(capture->entry->arena, Value, set->dict->live + 1);
    for (int i = 0; i < set->dict->live; i++) keys[i] = set->dict->entries[order[i]].key;
    free(order);
    Value items = tuple_new(vm, keys, set->dict->live);
    guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_KEYS, .source = source, .expected = items, .length = 1, .span = vm_user_span(vm), .why = "a set was read"});
    value_unref(vm, items);
}

static Value force_set(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    Set *set = (Set *)real.o;
    Value items = list_new(vm, NULL, 0), key;
    int position = 0;
    while (dict_next(set->dict, &position, &key, NULL)) list_append(vm, (List *)items.o, key);
    set_guard(capture, set, source);
    capture_guard(capture, GUARD_TYPE, source, value_object(class_of(vm, real)), "a set was read");
    Guard length = {.kind = GUARD_LENGTH, .source = source, .length = set->dict->live, .span = vm_user_span(vm), .why = "a set was read"};
    guard_add(&capture->entry->guards, vm, length);
    Value shadow = set_new(vm, ((List *)items.o)->items, ((List *)items.o)->count, real.o->type == OBJ_FROZENSET);
    value_unref(vm, items);
    shadow_add(capture, shadow, real, source);
    return shadow;
}

static const char *const bounds[] = {"start", "stop", "step"};

static const Source *bound_source(Capture *capture, const Source *source, int i) { return capture_source(capture, SOURCE_ATTR, source, intern(capture->vm->lang->names, bounds[i]), 0, VALUE_NULL); }

/* A slice is made of what it is given; a range of plain numbers. */
static Value force_slice(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    const Slice *slice = (const Slice *)real.o;
    capture_guard(capture, GUARD_TYPE, source, value_object(class_of(vm, real)), "a slice was used");
    Value parts[3] = {slice->start, slice->stop, slice->step};
    for (int i = 0; i < 3; i++) parts[i] = capture_track(capture, parts[i], bound_source(capture, source, i));
    Value shadow = slice_new(vm, parts[0], parts[1], parts[2]);
    for (int i = 0; i < 3; i++) value_unref(vm, parts[i]);
    shadow_add(capture, shadow, real, source);
    return shadow;
}

static Value force_range(Capture *capture, Value real, const Source *source) {
    const Range *range = (const Range *)real.o;
    capture_guard(capture, GUARD_TYPE, source, value_object(class_of(capture->vm, real)), "a range was used");
    int64_t parts[3] = {range->start, range->stop, range->step};
    for (int i = 0; i < 3; i++) capture_guard(capture, GUARD_EQUALS, bound_source(capture, source, i), value_int(parts[i]), "a range was used");
    return real;
}

static bool is_member_of_class(VM *vm, const Instance *instance) {
    Value name = instance->dict ? dict_get_name(vm, instance->dict, intern(vm->lang->names, "_name_")) : VALUE_NULL;
    if (!value_is(name, OBJ_STR)) return false;
    Value member = dict_get_name(vm, instance->cls->dict, str_intern(vm, (Str *)name.o));
    return member.tag == V_OBJECT && member.o == (const Object *)instance;
}

/* A named tuple: another one of its class, whose items are tracked. */
static Value force_named_tuple(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    Class *cls = ((Instance *)real.o)->cls;
    const Tuple *items = (const Tuple *)named_items(real).o;
    capture_guard(capture, GUARD_TYPE, source, value_object(cls), "a named tuple was read");
    guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_LENGTH, .source = source, .length = items->count, .span = vm_user_span(vm), .why = "a named tuple was read"});
    Value *tracked = ARENA_ARRAY(capture->entry->arena, Value, items->count + 1);
    for (int i = 0; i < items->count; i++) tracked[i] = capture_track(capture, items->items[i], capture_source(capture, SOURCE_ITEM, source, NULL, i, VALUE_NULL));
    Value shadow = namedtuple_new(vm, cls, tracked, items->count);
    shadow_add(capture, shadow, real, source);
    for (int i = 0; i < items->count; i++) value_unref(vm, tracked[i]);
    return shadow;
}

/* An object of a class of the program or of torch.nn: its attributes are tracked when they are read (scope.c). */
static Value force_instance(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    Instance *instance = (Instance *)real.o;
    if (is_member_of_class(vm, instance)) { /* Mode.ADD of an enum: a constant */
        capture_guard(capture, GUARD_IDENTITY, source, real, "a member of a class was used");
        return real;
    }
    if (named_items(real).tag != V_NULL) return force_named_tuple(capture, real, source);
    if (instance->native) return vm_stop(vm, "other", vm_user_span(vm), "an instance of %s cannot be captured", instance->cls->name);
    capture_guard(capture, GUARD_TYPE, source, value_object(instance->cls), "an object was used");
    Value shadow = instance_new(vm, instance->cls);
    shadow_add(capture, shadow, real, source);
    return shadow;
}

static Value force_method(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    Method *method = (Method *)real.o;
    Value self = capture_track(capture, method->self, capture_source(capture, SOURCE_SELF, source, NULL, 0, VALUE_NULL));
    Value function = capture_track(capture, method->function, capture_source(capture, SOURCE_FUNC, source, NULL, 0, VALUE_NULL));
    Value shadow = method_new(vm, self, vm_force(vm, function));
    value_unref(vm, self);
    value_unref(vm, function);
    shadow_add(capture, shadow, real, source);
    return shadow;
}

static bool is_shipped(Value v) {
    if (value_is(v, OBJ_FUNCTION)) return ((Function *)v.o)->code->file && ((Function *)v.o)->code->file->shipped;
    return value_is(v, OBJ_BUILTIN) || value_is(v, OBJ_OP) || value_is(v, OBJ_MODULE) || value_is(v, OBJ_DTYPE) || value_is(v, OBJ_DEVICE);
}

/* Functions, classes, modules: used as they are; what belongs to the program is guarded by identity. */
static Value force_identity(Capture *capture, Value real, const Source *source) {
    if (!map_has(capture->known, real.o)) map_put(capture->known, real.o, (void *)(uintptr_t)source);
    bool import = value_is(real, OBJ_MODULE) && source->kind == SOURCE_GLOBAL && is_shipped(real); /* import torch: nobody rebinds that */
    if (!import) capture_guard(capture, GUARD_IDENTITY, source, real, is_shipped(real) ? "a function or class of the library was used" : "a function or class of the program was used");
    return real;
}

/* xs.append as a value: the same of what is tracked in its object's place. */
static Value force_bound_builtin(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    const Builtin *builtin = (const Builtin *)real.o;
    capture_guard(capture, GUARD_CODE, source, real, "a method of an object was used");
    Value shadow = builtin_new(vm, builtin->qualname, builtin->fn, builtin->min, builtin->max, builtin->effects);
    Builtin *made = (Builtin *)shadow.o;
    made->name = builtin->name, made->owner = builtin->owner;
    made->self = capture_track(capture, builtin->self, capture_source(capture, SOURCE_SELF, source, NULL, 0, VALUE_NULL));
    shadow_add(capture, shadow, real, source);
    return shadow;
}

/* An object that a run makes or changes, not a part of the library. */
static bool is_bound_to_object(Value v) {
    Value self = value_is(v, OBJ_BUILTIN) ? ((const Builtin *)v.o)->self : VALUE_NULL;
    if (self.tag != V_OBJECT) return false;
    return self.o->type == OBJ_LIST || self.o->type == OBJ_DICT || self.o->type == OBJ_SET || self.o->type == OBJ_INSTANCE || self.o->type == OBJ_TENSOR;
}

static bool has_own_values(const Function *function) {
    return value_is(function->closure, OBJ_TUPLE) || value_is(function->defaults, OBJ_TUPLE) || value_is(function->kwdefaults, OBJ_DICT);
}

/* Defaults of a function of the program are inputs like any other: another function object with the same code has its own. */
static Value function_shadow(Capture *capture, const Function *real, const Source *source) {
    VM *vm = capture->vm;
    Value made = function_new(vm, real->code, real->globals);
    Function *f = (Function *)made.o;
    f->closure = value_ref(real->closure), f->dict = value_ref(real->dict);
    f->name = real->name, f->qualname = real->qualname;
    f->disabled = real->disabled, f->disabled_alone = real->disabled_alone, f->disable_reason = real->disable_reason;
    if (value_is(real->defaults, OBJ_TUPLE)) {
        const Tuple *defaults = (const Tuple *)real->defaults.o;
        Value *items = ARENA_ARRAY(capture->entry->arena, Value, defaults->count + 1);
        for (int i = 0; i < defaults->count; i++) items[i] = capture_track(capture, defaults->items[i], capture_source(capture, SOURCE_DEFAULT, source, NULL, i, VALUE_NULL));
        f->defaults = tuple_new(vm, items, defaults->count);
        for (int i = 0; i < defaults->count; i++) value_unref(vm, items[i]);
        const Source *whole = capture_source(capture, SOURCE_ATTR, source, intern(vm->lang->names, "__defaults__"), 0, VALUE_NULL);
        guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_LENGTH, .source = whole, .length = defaults->count, .span = vm_user_span(vm), .why = "a function with defaults was used"});
    }
    if (value_is(real->kwdefaults, OBJ_DICT)) {
        const Source *whole = capture_source(capture, SOURCE_ATTR, source, intern(vm->lang->names, "__kwdefaults__"), 0, VALUE_NULL);
        f->kwdefaults = value_ref(force_dict(capture, real->kwdefaults, whole));
        capture_dict_whole(capture, capture_shadow(capture, f->kwdefaults));
    }
    return made;
}

/* A function of the program: an entry serves every function with this code; what it closes over is guarded where it is read. */
static Value force_function(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    Function *function = (Function *)real.o;
    const Source *known = map_get(capture->known, function);
    capture_guard(capture, GUARD_CODE, source, real, "a function of the program was used");
    if (known && known != source && has_own_values(function))
        guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_SAME, .source = source, .other = known, .span = vm_user_span(vm), .why = "the same function was reached in two ways"});
    if (!known) map_put(capture->known, function, (void *)(uintptr_t)source);
    if (!value_is(function->defaults, OBJ_TUPLE) && !value_is(function->kwdefaults, OBJ_DICT)) return real;
    Value shadow = function_shadow(capture, function, source);
    shadow_add(capture, shadow, real, source);
    map_put(capture->known, shadow.o, (void *)(uintptr_t)source);
    return shadow;
}

/* A function that is compiled by itself, too: the frame sees what it was made of, by a path through the wrapper. */
static Value force_compiled(Capture *capture, Value real, const Source *source) {
    Value inner = dynamo_inner(real);
    if (!value_is(inner, OBJ_FUNCTION)) return vm_force(capture->vm, inner);
    return force_function(capture, inner, capture_source(capture, SOURCE_ATTR, source, intern(capture->vm->lang->names, "_torchdynamo_orig_callable"), 0, VALUE_NULL));
}

static Value force_object(Capture *capture, Value real, const Source *source) {
    switch (real.o->type) {
    case OBJ_TENSOR: return force_tensor(capture, (Tensor *)real.o, source);
    case OBJ_SLICE: return force_slice(capture, real, source);
    case OBJ_RANGE: return force_range(capture, real, source);
    case OBJ_STR: case OBJ_DTYPE: case OBJ_DEVICE: break;
    case OBJ_TUPLE: case OBJ_LIST: return force_sequence(capture, real, source);
    case OBJ_DICT: return force_dict(capture, real, source);
    case OBJ_SET: case OBJ_FROZENSET: return force_set(capture, real, source);
    case OBJ_INSTANCE: return force_instance(capture, real, source);
    case OBJ_METHOD: return force_method(capture, real, source);
    case OBJ_BUILTIN: return is_bound_to_object(real) ? force_bound_builtin(capture, real, source) : force_identity(capture, real, source);
    case OBJ_FUNCTION: return is_shipped(real) ? force_identity(capture, real, source) : force_function(capture, real, source);
    case OBJ_COMPILED: return force_compiled(capture, real, source);
    case OBJ_GENERATOR: return vm_stop(capture->vm, "call", vm_user_span(capture->vm), "a generator that the frame did not make is used");
    case OBJ_ITERATOR: return capture_force_iterator(capture, real, source);
    default: return force_identity(capture, real, source);
    }
    capture_guard(capture, real.o->type == OBJ_STR || real.o->type == OBJ_DEVICE ? GUARD_EQUALS : GUARD_IDENTITY, source, real, "the value was used");
    return real;
}

static Value unbacked_needed(VM *vm) {
    Opcode opcode = vm->frame && vm->frame->pc > 0 ? (Opcode)vm->frame->code->instrs[vm->frame->pc - 1].opcode : OPCODE_NOP;
    bool branch = opcode == OPCODE_POP_JUMP_IF_TRUE || opcode == OPCODE_POP_JUMP_IF_FALSE;
    return vm_stop(vm, branch ? "data_dependent_branch" : "data_dependent_value", vm_user_span(vm), "%s", branch ? "Data-dependent branching" : "a number that only the graph knows is needed by the program");
}

static Value force_tracked(VM *vm, Tracked *tracked) {
    Capture *capture = capture_of(vm);
    Value real = tracked->inner;
    Value symbol;
    if (tracked->source->kind == SOURCE_NUMBER) {
        vec_push_in(capture->entry->arena, &capture->looked_at, capture->boxes.at[tracked->source->index]);
        return real;
    }
    if (tracked->source->kind == SOURCE_COMPUTED) {
        computed_specialize(tracked->source->computed);
        return real;
    }
    if (tracked->source->kind == SOURCE_UNBACKED) return unbacked_needed(vm);
    if (tracked->source->kind == SOURCE_RANDOM) return vm_stop(vm, "data_dependent_value", vm_user_span(vm), "a number that is drawn at each call is needed by the program");
    if (real.tag == V_INT && shapes_int(capture, real.i, tracked->source, &symbol)) return symbol;
    if (real.tag != V_OBJECT) {
        shapes_constant(capture, real, tracked->source);
        capture_guard(capture, GUARD_EQUALS, tracked->source, real, "the value was used");
        return real;
    }
    Shadow *shadow = map_get(capture->by_real, real.o);
    if (shadow && shadow->source != tracked->source)
        guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_SAME, .source = tracked->source, .other = shadow->source, .span = vm_user_span(vm), .why = "the same object was reached in two ways"});
    if (shadow) return shadow->shadow;
    if (map_has(capture->by_shadow, real.o)) return real;
    return force_object(capture, real, tracked->source);
}

Value capture_force_keyed(VM *vm, Tracked *tracked) { return force_tracked(vm, tracked); }

Value capture_force(VM *vm, Tracked *tracked) {
    Value forced = force_tracked(vm, tracked);
    if (value_is(forced, OBJ_DICT)) {
        Shadow *shadow = capture_shadow(capture_of(vm), forced);
        if (shadow) capture_dict_whole(capture_of(vm), shadow);
    }
    return forced;
}

/* In the program's own code a value is guarded as soon as it is looked at, as in PyTorch. */
Value capture_type_only(VM *vm, Tracked *tracked) {
    bool library = vm->frame && vm->frame->code->file && vm->frame->code->file->shipped;
    bool plain = tracked->inner.tag == V_NONE || tracked->inner.tag == V_BOOL || tracked->inner.tag == V_INT || tracked->inner.tag == V_FLOAT || value_is(tracked->inner, OBJ_STR);
    if (!library || !plain || tracked->source->kind == SOURCE_RANDOM) return vm_force(vm, value_object(tracked));
    capture_guard(capture_of(vm), GUARD_TYPE, tracked->source, value_object(class_of(vm, tracked->inner)), "only the class of a value was asked for");
    return tracked->inner;
}
