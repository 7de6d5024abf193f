/* See guards.h. In: guards from capture and the frame of a call. Out: the values that guards look at, and every reason why an entry may not serve a call.
 * (The check itself: guard_check.c.) */
#include "vm/scalar_value.h"
#include "dynamo/iterators.h"
#include "dynamo/computed.h"
#include <string.h>

typedef struct GuardInfo { const char *name, *kind, *meaning; } GuardInfo;
static const GuardInfo guard_info[] = {
#define GUARD(id, name, kind, meaning) {name, kind, meaning},
#include "dynamo/guard.def"
#undef GUARD
};

const char *guard_kind_name(GuardKind kind) { return guard_info[kind].name; }

static bool tuples_same(const Tuple *a, const Tuple *b) {
    bool same = a->count == b->count && a->is_size == b->is_size;
    for (int i = 0; same && i < a->count; i++) same = value_same(a->items[i], b->items[i]);
    return same;
}

bool value_same(Value a, Value b) {
    if (a.tag != b.tag) return false;
    switch (a.tag) {
    case V_BOOL: return a.b == b.b;
    case V_INT: return a.i == b.i;
    case V_FLOAT: return memcmp(&a.f, &b.f, sizeof a.f) == 0;
    case V_OBJECT: break;
    default: return true;
    }
    if (a.o == b.o) return true;
    if (value_is(a, OBJ_TUPLE) && value_is(b, OBJ_TUPLE)) return tuples_same((const Tuple *)a.o, (const Tuple *)b.o);
    if (value_is(a, OBJ_DEVICE) && value_is(b, OBJ_DEVICE)) return device_equal(((const DeviceObject *)a.o)->device, ((const DeviceObject *)b.o)->device);
    if (a.o->type != OBJ_STR || b.o->type != OBJ_STR) return false;
    const Str *s = (const Str *)a.o, *t = (const Str *)b.o;
    return s->length == t->length && !memcmp(s->text, t->text, s->length);
}

static bool guard_same(const Guard *a, const Guard *b) {
    return a->kind == b->kind && a->source == b->source && a->other == b->other && a->name == b->name && a->source_count == b->source_count && a->kind != GUARD_SHAPE_EXPR;
}

void guard_add(GuardSet *set, VM *vm, Guard guard) {
    (void)vm;
    for (int i = 0; i < set->all.count; i++)
        if (guard_same(&set->all.at[i], &guard)) return;
    if (value_is(guard.expected, OBJ_CLASS)) guard.changes = class_changes((Class *)guard.expected.o);
    guard.id = arena_printf(set->arena, "g%d", set->all.count);
    value_ref(guard.expected);
    vec_push_in(set->arena, &set->all, guard);
    set->program = NULL;
}

void guards_drop(GuardSet *set, VM *vm, GuardKind kind) {
    int kept = 0;
    for (int i = 0; i < set->all.count; i++) {
        if (set->all.at[i].kind == kind) value_unref(vm, set->all.at[i].expected);
        else set->all.at[kept++] = set->all.at[i];
    }
    set->all.count = kept;
    set->program = NULL;
}

void guards_release(GuardSet *set, VM *vm) {
    for (int i = 0; i < set->all.count; i++) value_unref(vm, set->all.at[i].expected);
    set->all.count = 0;
}

/* Reading sources */
/* start, stop, step of a slice or a range */
static Value bound_attribute(Value object, const char *name) {
    int which = !strcmp(name, "start") ? 0 : !strcmp(name, "stop") ? 1 : !strcmp(name, "step") ? 2 : 3;
    if (which == 3) return VALUE_NULL;
    if (value_is(object, OBJ_SLICE)) return (&((const Slice *)object.o)->start)[which];
    return value_int((&((const Range *)object.o)->start)[which]);
}

static Value function_attribute(VM *vm, const Function *function, const char *name) {
    Value own = value_is(function->dict, OBJ_DICT) ? dict_get_name(vm, (Dict *)function->dict.o, name) : VALUE_NULL;
    if (own.tag != V_NULL) return own;
    return !strcmp(name, "__defaults__") ? function->defaults : !strcmp(name, "__kwdefaults__") ? function->kwdefaults : VALUE_NULL;
}

Value attribute_value(VM *vm, Value object, const char *name) {
    if (value_is(object, OBJ_DICT) && ((Dict *)object.o)->fallback && !strcmp(name, "default_factory")) return *((Dict *)object.o)->fallback;
    if (object.tag != V_OBJECT) return VALUE_NULL;
    Value found = VALUE_NULL;
    Class *cls = NULL;
    if (object.o->type == OBJ_TENSOR) {
        Value own = ((const Tensor *)object.o)->dict;
        return value_is(own, OBJ_DICT) ? dict_get_name(vm, (Dict *)own.o, name) : VALUE_NULL;
    }
    if (object.o->type == OBJ_COMPILED) return !strcmp(name, "_torchdynamo_orig_callable") ? dynamo_inner(object) : VALUE_NULL;
    if (object.o->type == OBJ_FUNCTION) return function_attribute(vm, (const Function *)object.o, name);
    if (object.o->type == OBJ_SLICE || object.o->type == OBJ_RANGE) return bound_attribute(object, name);
    if (object.o->type == OBJ_INSTANCE) {
        const Instance *instance = (const Instance *)object.o;
        if (!strcmp(name, "__dict__")) return value_object(instance->dict);
        if (instance->dict) found = dict_get_name(vm, instance->dict, name);
        cls = instance->cls;
    } else if (object.o->type == OBJ_MODULE) {
        return dict_get_name(vm, ((ModuleObject *)object.o)->dict, name);
    } else if (object.o->type == OBJ_CLASS) {
        cls = (Class *)object.o;
    }
    for (int i = 0; cls && found.tag == V_NULL && i < cls->mro_count; i++) found = dict_get_name(vm, cls->mro[i]->dict, name);
    return found;
}

Value named_items(Value object) {
    if (!value_is(object, OBJ_INSTANCE)) return VALUE_NULL;
    const Instance *instance = (const Instance *)object.o;
    Value payload = instance->native && !instance->cls->is_exception ? *(const Value *)instance->native : VALUE_NULL;
    return value_is(payload, OBJ_TUPLE) ? payload : VALUE_NULL;
}

static Value item_value(Value object, int index) {
    if (value_is(object, OBJ_TUPLE) && index < ((Tuple *)object.o)->count) return ((Tuple *)object.o)->items[index];
    if (value_is(object, OBJ_LIST) && index < ((List *)object.o)->count) return ((List *)object.o)->items[index];
    if (value_is(object, OBJ_ITERATOR) && index < iterator_left((Iterator *)object.o)) return value_int(((Iterator *)object.o)->position + index * ((Iterator *)object.o)->extra.i); /* of a range */
    Value named = named_items(object);
    return named.tag == V_NULL ? named : item_value(named, index);
}

static Value key_value(VM *vm, Value object, Value key) {
    if (!value_is(object, OBJ_DICT)) return VALUE_NULL;
    Value found = dict_get(vm, (Dict *)object.o, key);
    if (found.tag == V_OBJECT) found.o->refs--; /* the dict holds it: borrowed */
    return found;
}

static Value cell_value(Value function, int index) {
    if (!value_is(function, OBJ_FUNCTION)) return VALUE_NULL;
    Value closure = ((Function *)function.o)->closure;
    Value cell = item_value(closure, index);
    return value_is(cell, OBJ_CELL) ? ((Cell *)cell.o)->value : VALUE_NULL;
}

static Dict *namespace_of(const SourceValues *values, const Source *source) { return source->key.tag == V_OBJECT ? (Dict *)source->key.o : values->frame->globals; }

static Value root_value(SourceValues *values, const Source *source) {
    switch (source->kind) {
    case SOURCE_LOCAL: return values->frame->fast[source->index];
    case SOURCE_GLOBAL: return dict_get_name(values->vm, namespace_of(values, source), source->name);
    case SOURCE_COMPUTED: return computed_value(values, source->computed);
    case SOURCE_CELL: return cell_value(value_object(values->frame->function), source->index);
    case SOURCE_DEFAULT: return item_value(values->frame->function->defaults, source->index);
    default: return VALUE_NULL;
    }
}

/* Of a tensor without a dimension on the CPU. */
static Value scalar_value(Value base) {
    const Tensor *t = value_is(base, OBJ_TENSOR) ? (const Tensor *)base.o : NULL;
    if (!t || t->meta.rank || t->meta.device.kind != DEVICE_CPU || !t->storage->data) return VALUE_NULL;
    return element_as_value(t->meta.dtype, (const char *)t->storage->data + t->meta.offset * dtype_size(t->meta.dtype));
}

static Value path_of_base(VM *vm, const Source *source, Value base) {
    switch (source->kind) {
    case SOURCE_ATTR: return attribute_value(vm, base, source->name);
    case SOURCE_ITEM: return item_value(base, source->index);
    case SOURCE_KEY: return key_value(vm, base, source->key);
    case SOURCE_CELL: return cell_value(base, source->index);
    case SOURCE_DEFAULT: return value_is(base, OBJ_FUNCTION) ? item_value(((Function *)base.o)->defaults, source->index) : VALUE_NULL;
    case SOURCE_SELF:
        if (value_is(base, OBJ_BUILTIN)) return ((Builtin *)base.o)->self;
        return value_is(base, OBJ_METHOD) ? ((Method *)base.o)->self : VALUE_NULL;
    case SOURCE_FUNC: return value_is(base, OBJ_METHOD) ? ((Method *)base.o)->function : VALUE_NULL;
    case SOURCE_TYPE: return base.tag == V_NULL ? VALUE_NULL : value_object(class_of(vm, base));
    case SOURCE_GRAD: return value_is(base, OBJ_TENSOR) && ((Tensor *)base.o)->grad ? value_object(((Tensor *)base.o)->grad) : VALUE_NONE;
    case SOURCE_SCALAR: return scalar_value(base);
    case SOURCE_PLUS_ZERO: return base.tag == V_FLOAT ? value_float(base.f + 0.0) : VALUE_NULL;
    case SOURCE_SUBJECT: return value_is(base, OBJ_ITERATOR) ? ((Iterator *)base.o)->subject : VALUE_NULL;
    default: return VALUE_NULL;
    }
}

/* The dict that a source reads, where it is one dict's and nothing else's: an object's own attributes, a key, a global. */
static Dict *dict_read(const SourceValues *values, const Source *source, Value base) {
    switch (source->kind) {
    case SOURCE_ATTR: return value_is(base, OBJ_INSTANCE) ? ((const Instance *)base.o)->dict : NULL;
    case SOURCE_KEY: return value_is(base, OBJ_DICT) ? (Dict *)base.o : NULL;
    case SOURCE_GLOBAL: return namespace_of(values, source);
    default: return NULL;
    }
}

/* Is it the dict that the value comes from, or was it found in a class? */
static bool is_own(VM *vm, const Source *source, Dict *dict) { return source->kind != SOURCE_ATTR || dict_get_name(vm, dict, source->name).tag != V_NULL; }

static Value read_again(SourceValues *values, const Source *source, Value base) {
    Dict *dict = dict_read(values, source, base);
    SourceRead *read = &values->reads[source->id];
    if (dict && dict->version && dict->version == read->version) return read->value;
    Value value = source->base ? path_of_base(values->vm, source, base) : root_value(values, source);
    if (dict && value.tag != V_NULL && is_own(values->vm, source, dict)) *read = (SourceRead){dict->version, value};
    return value;
}

Value source_value(SourceValues *values, const Source *source) {
    int id = source->id;
    if (values->known[id]) return values->memo[id];
    Value base = source->base ? source_value(values, source->base) : VALUE_NULL;
    Value value = values->reads ? read_again(values, source, base) : source->base ? path_of_base(values->vm, source, base) : root_value(values, source);
    values->known[id] = true;
    return values->memo[id] = value;
}

Value frame_value(VM *vm, const Frame *frame, const Source *source) {
    SourceValues values = {.vm = vm, .frame = frame};
    if (!source->base) return root_value(&values, source);
    return path_of_base(vm, source, frame_value(vm, frame, source->base));
}

bool slot_value(SourceValues *values, const SizeSource *slot, int64_t *value) {
    Value found = source_value(values, slot->source);
    if (slot->property == VALUE_OF) {
        *value = found.i;
        return found.tag == V_INT;
    }
    if (!value_is(found, OBJ_TENSOR)) return false;
    const Meta *meta = &((const Tensor *)found.o)->meta;
    if (slot->dim >= meta->rank) return false;
    *value = slot->property == SIZE_OF ? meta->sizes[slot->dim] : meta->strides[slot->dim];
    return true;
}

/* Explaining */
/* L['x'].size() as failures say it: x.size(). */
static const char *brief_text(Arena *arena, const char *text) {
    char *copy = arena_strdup(arena, text), *to = copy;
    for (const char *c = text; *c; c++) {
        bool scope = !strncmp(c, "L['", 3) && (c == text || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'\"", c[-1]));
        const char *end = scope ? strstr(c, "']") : NULL;
        if (!end) {
            *to++ = *c;
            continue;
        }
        for (c += 3; c < end; c++) *to++ = *c;
        c = end + 1;
    }
    *to = '\0';
    return copy;
}

static const char *source_text(Arena *arena, const Source *source) {
    Text text = {0};
    source_print(&text, source);
    const char *copy = brief_text(arena, text_cstr(&text));
    text_free(&text);
    return copy;
}

typedef struct Explain { Arena *arena; GuardFailures *failures; const Guard *guard; const char *path; } Explain;

static void failure_add(Explain *e, const char *kind, const char *text) {
    vec_push_in(e->arena, e->failures, ((GuardFailure){e->guard, kind, text}));
}

static void explain_sizes(Explain *e, const Meta *want, const Meta *got) {
    for (int i = 0; i < want->rank; i++)
        if (dim_is_int(want->sizes[i]) && want->sizes[i] != got->sizes[i])
            failure_add(e, "size", arena_printf(e->arena, "tensor '%s' size mismatch at index %d. expected %lld, actual %lld", e->path, i, (long long)want->sizes[i], (long long)got->sizes[i]));
    for (int i = 0; i < want->rank; i++)
        if (dim_is_int(want->strides[i]) && want->strides[i] != got->strides[i])
            failure_add(e, "stride", arena_printf(e->arena, "tensor '%s' stride mismatch at index %d. expected %lld, actual %lld", e->path, i, (long long)want->strides[i], (long long)got->strides[i]));
}

static void explain_tensor(Explain *e, VM *vm, Value value) {
    const Guard *guard = e->guard;
    if (!value_is(value, OBJ_TENSOR)) {
        failure_add(e, "type", arena_printf(e->arena, "expected a Tensor at '%s', got %s", e->path, value.tag == V_NULL ? "nothing" : type_name(vm, value)));
        return;
    }
    const Tensor *t = (const Tensor *)value.o;
    const Meta *want = &guard->meta, *got = &t->meta;
    if (want->dtype != got->dtype) failure_add(e, "dtype", arena_printf(e->arena, "tensor '%s' dtype mismatch. expected %s, actual %s", e->path, dtype_info[want->dtype].name, dtype_info[got->dtype].name));
    if (!device_equal(want->device, got->device)) failure_add(e, "device", arena_printf(e->arena, "tensor '%s' device mismatch", e->path));
    if (tensor_needs_grad(t) != guard->requires_grad) failure_add(e, "requires_grad", arena_printf(e->arena, "tensor '%s' requires_grad mismatch. expected requires_grad=%d", e->path, guard->requires_grad));
    if (t->of_inference != guard->of_inference) failure_add(e, "device", arena_printf(e->arena, "tensor '%s' dispatch key set mismatch: %s", e->path, t->of_inference ? "made under inference_mode" : "not made under inference_mode"));
    if (t->is_parameter != guard->is_parameter) failure_add(e, "type", arena_printf(e->arena, "expected type of '%s' to be a %s", e->path, guard->is_parameter ? "Parameter" : "Tensor"));
    if (want->rank != got->rank) failure_add(e, "rank", arena_printf(e->arena, "tensor '%s' rank mismatch. expected %d, actual %d", e->path, want->rank, got->rank));
    else explain_sizes(e, want, got);
}

static const char *global_state_text(Arena *arena, VM *vm, const Guard *guard) {
    const Modes *want = &guard->modes;
    Modes now = modes_now(vm);
    const char *more = arena_printf(arena, "%s%s%s", now.deterministic != want->deterministic ? " deterministic_algorithms" : "", now.tf32 != want->tf32 ? " allow_tf32" : "", now.threads != want->threads ? " num_threads" : "");
    return arena_printf(arena, "GLOBAL_STATE changed:%s%s%s%s%s", vm->grad_enabled != want->grad_enabled ? " grad_mode" : "", vm->default_dtype != want->default_dtype ? " default_dtype" : "",
                        autocast_equal(&vm->torch->autocast, &want->autocast) ? "" : " autocast", vm->inference != want->inference ? " inference_mode" : "", more);
}

static void print_value(Text *text, VM *vm, Value value);
static void guard_print_bare(Text *text, VM *vm, const Guard *guard);

/* Other keys: each place where the order differs is a value that is not the one expected. */
static void explain_keys(Explain *e, SourceValues *values) {
    const Tuple *keys = (const Tuple *)e->guard->expected.o;
    Value actual = source_value(values, e->guard->source), key, item;
    int position = 0;
    if (value_is(actual, OBJ_SET) || value_is(actual, OBJ_FROZENSET)) failure_add(e, "value", arena_printf(e->arena, "the items of %s", e->path));
    if (!value_is(actual, OBJ_DICT)) return;
    if (((const Dict *)actual.o)->live != keys->count) failure_add(e, "length", arena_printf(e->arena, "len(%s) != %d", e->path, keys->count));
    for (int i = 0; i < keys->count && dict_next((const Dict *)actual.o, &position, &key, &item); i++) {
        if (value_same(key, keys->items[i])) continue;
        Text text = {0};
        text_printf(&text, "list(dict.keys(%s))[%d] == ", e->path, i);
        print_value(&text, values->vm, keys->items[i]);
        failure_add(e, "value", arena_strdup(e->arena, text_cstr(&text)));
        text_free(&text);
    }
}

/* Under inference_mode tensors are dispatched past autograd: in PyTorch that is a property of each tensor. */
static void explain_dispatch(Explain *e, const SourceValues *values) {
    for (int i = 0; i < values->set->all.count; i++)
        if (values->set->all.at[i].kind == GUARD_TENSOR)
            failure_add(e, "device", arena_printf(e->arena, "tensor '%s' dispatch key set mismatch: inference_mode is %s", source_text(e->arena, values->set->all.at[i].source), values->vm->inference ? "on" : "off"));
}

/* Is it the class that the guard expects, so that only what is in it can be other? */
static bool is_class_asked(const Guard *guard, SourceValues *values) {
    Value value = source_value(values, guard->source);
    if (value.tag != V_OBJECT) return false;
    return guard->kind == GUARD_TYPE ? (Object *)class_of(values->vm, value) == guard->expected.o : value.o == guard->expected.o;
}

static void explain_guard(Explain *e, SourceValues *values) {
    const Guard *guard = e->guard;
    if (guard->kind == GUARD_GLOBAL_STATE) {
        failure_add(e, "global_state", global_state_text(e->arena, values->vm, guard));
        if (values->vm->inference != guard->modes.inference) explain_dispatch(e, values);
        return;
    }
    e->path = guard->source ? source_text(e->arena, guard->source) : "";
    if (guard->kind == GUARD_TENSOR) {
        explain_tensor(e, values->vm, source_value(values, guard->source));
        return;
    }
    if (guard_class_changed(guard) && is_class_asked(guard, values)) {
        failure_add(e, "identity", arena_printf(e->arena, "%s has the methods and properties that it had", ((Class *)guard->expected.o)->name));
        return;
    }
    if (guard->kind == GUARD_KEYS) explain_keys(e, values);
    if (guard->kind == GUARD_ABSENT && !guard->in_class) failure_add(e, "value", arena_printf(e->arena, "not hasattr(%s, '%s')", e->path, guard->name));
    if (guard->kind == GUARD_LENGTH && guard->length == 0) failure_add(e, "value", arena_printf(e->arena, "not %s", e->path)); /* emptiness is a truth value */
    Text text = {0};
    guard_print_bare(&text, values->vm, guard);
    const char *kind = guard_info[guard->kind].kind;
    if (guard->source && guard->source->kind == SOURCE_COMPUTED) failure_add(e, "shape_expr", brief_text(e->arena, text_cstr(&text)));
    if (guard->kind == GUARD_EQUALS && guard->expected.tag == V_FLOAT && guard->expected.f != guard->expected.f) kind = "type"; /* nan equals nothing: its type is what differs */
    if (guard->kind == GUARD_EQUALS && guard->expected.tag == V_NONE) kind = "identity"; /* `is None` */
    failure_add(e, kind, guard->brief ? guard->brief : brief_text(e->arena, text_cstr(&text)));
    text_free(&text);
}

void guards_explain(GuardSet *set, VM *vm, const Frame *frame, Arena *arena, GuardFailures *failures) {
    SourceValues values = {.vm = vm, .frame = frame, .memo = ARENA_ARRAY(arena, Value, set->source_count + 1), .known = ARENA_ARRAY(arena, bool, set->source_count + 1), .set = set, .slots = ARENA_ARRAY(arena, int64_t, set->slot_count + 1)};
    bool readable = true; /* a relation between sizes that are not there says nothing: the tensor's own guard does */
    for (int i = 0; i < set->slot_count; i++) readable = readable && slot_value(&values, &set->slots[i], &values.slots[i]);
    for (int i = 0; i < set->all.count; i++) {
        if ((set->all.at[i].kind == GUARD_SHAPE_EXPR && !readable) || guard_holds(&set->all.at[i], &values)) continue;
        Explain e = {arena, failures, &set->all.at[i], NULL};
        explain_guard(&e, &values);
    }
}

static void print_dims(Text *text, const Dim *dims, int count) {
    for (int i = 0; i < count; i++) {
        if (i) text_put(text, ", ");
        if (dim_is_int(dims[i])) text_printf(text, "%lld", (long long)dims[i]);
        else text_put(text, "None");
    }
}

static void print_tensor_guard(Text *text, const Guard *guard) {
    text_printf(text, ", %s, torch.%s, device=%s, requires_grad=%s, size=[", guard->is_parameter ? "Parameter" : "Tensor", dtype_info[guard->meta.dtype].name,
                guard->meta.device.kind == DEVICE_CUDA ? "cuda" : "None", guard->requires_grad ? "True" : "False");
    print_dims(text, guard->meta.sizes, guard->meta.rank);
    text_put(text, "], stride=[");
    print_dims(text, guard->meta.strides, guard->meta.rank);
    text_put(text, "])");
}

/* Addresses differ from run to run and say nothing. */
static void put_without_addresses(Text *text, const char *repr) {
    for (const char *at = repr; *at; at++) {
        bool address = !strncmp(at, " at 0x", 6);
        if (address) at += 6 + strspn(at + 6, "0123456789abcdef");
        if (!*at) return;
        text_char(text, *at);
    }
}

static void print_value(Text *text, VM *vm, Value value) {
    Value repr = vm_repr(vm, value);
    if (value_is(repr, OBJ_STR)) put_without_addresses(text, str_text(repr));
    else vm_clear_exception(vm);
    value_unref(vm, repr);
}

void guard_print(Text *text, VM *vm, const Guard *guard) {
    text_printf(text, "%s: ", guard_info[guard->kind].name);
    guard_print_bare(text, vm, guard);
}

static void guard_print_bare(Text *text, VM *vm, const Guard *guard) {
    switch (guard->kind) {
    case GUARD_SHAPE_EXPR: text_put(text, guard->expression); return;
    case GUARD_TENSOR:
        text_put(text, "check_tensor(");
        source_print(text, guard->source);
        print_tensor_guard(text, guard);
        return;
    case GUARD_NO_ALIAS: case GUARD_NO_OVERLAP:
        text_put(text, guard->kind == GUARD_NO_ALIAS ? "check_no_aliasing(" : "check_no_overlap(");
        for (int i = 0; i < guard->source_count; i++) {
            if (i) text_put(text, ", ");
            source_print(text, guard->sources[i]);
        }
        text_char(text, ')');
        return;
    case GUARD_GLOBAL_STATE:
        text_printf(text, "grad_mode == %s, default_dtype == torch.%s", guard->modes.grad_enabled ? "True" : "False", dtype_info[guard->modes.default_dtype].name);
        for (int kind = 0; kind < 2; kind++)
            if (guard->modes.autocast.enabled[kind]) text_printf(text, ", autocast(%s) == torch.%s", kind == DEVICE_CUDA ? "cuda" : "cpu", dtype_info[guard->modes.autocast.dtype[kind]].name);
        return;
    default: break;
    }
    if (guard->kind == GUARD_LENGTH) text_put(text, "len(");
    source_print(text, guard->source);
    switch (guard->kind) {
    case GUARD_TYPE: text_printf(text, ".__class__ is %s", ((Class *)guard->expected.o)->name); break;
    case GUARD_EQUALS: text_put(text, " == "); print_value(text, vm, guard->expected); break;
    case GUARD_IDENTITY: text_put(text, " is "); print_value(text, vm, guard->expected); break;
    case GUARD_UNBOUND: text_put(text, " is the builtin"); break;
    case GUARD_CODE:
        if (value_is(guard->expected, OBJ_BUILTIN)) text_printf(text, " is %s of some object", ((const Builtin *)guard->expected.o)->name);
        else text_printf(text, ".__code__ is that of %s", ((const Function *)guard->expected.o)->qualname);
        break;
    case GUARD_CONTAINS: text_put(text, guard->length ? " contains " : " does not contain "); print_value(text, vm, guard->expected); break;
    case GUARD_LENGTH: text_printf(text, ") == %lld", (long long)guard->length); break;
    case GUARD_KEYS: text_put(text, guard->length ? " has the items " : ".keys() == "); print_value(text, vm, guard->expected); break;
    case GUARD_ABSENT: text_printf(text, guard->in_class ? " has no attribute '%s' of its own" : " has no attribute '%s'", guard->name); break;
    case GUARD_COMPARED: text_printf(text, "%s", guard->name); break;
    case GUARD_DIFFERENT: text_put(text, " is not "); source_print(text, guard->other); break;
    case GUARD_SAME: text_put(text, " is "); source_print(text, guard->other); break;
    default: break;
    }
}
