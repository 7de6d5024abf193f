/* See shapes.h. In: an input met by capture. Out: its meta with symbols, and the list of places where they stand.
 *
 *     sizes:    0 and 1 are constants; a dynamic one is a new symbol, with dynamic=True the symbol of an equal size (duck shaping)
 *     strides:  0 and 1 are constants; one that is a product of an inner dim's size and stride is that expression; else a new symbol
 *
 * Only arguments, closure cells and what comes over a break may be dynamic ints; parameters and what hangs on an nn.Module have constant shapes. */
#include "dynamo/shapes.h"
#include <stdio.h>
#include <string.h>

/* ---- which sources may be dynamic ---- */

static bool is_module(Value v) {
    if (!value_is(v, OBJ_INSTANCE)) return false;
    const Class *cls = ((const Instance *)v.o)->cls;
    for (int i = 0; i < cls->mro_count; i++)
        if (!strcmp(cls->mro[i]->name, "Module") && value_is(cls->mro[i]->module_name, OBJ_STR) && !strncmp(str_text(cls->mro[i]->module_name), "torch.nn", 8)) return true;
    return false;
}

bool shapes_in_module(Capture *capture, const Source *source) {
    for (const Source *at = source->base; at; at = at->base)
        if (is_module(frame_value(capture->vm, capture->real, at))) return true;
    return false;
}

static bool is_of_frame(const Source *source) {
    const Source *root = source;
    for (const Source *at = source; at; at = at->base) {
        if (at->kind == SOURCE_DEFAULT) return false;
        root = at;
    }
    return root->kind == SOURCE_LOCAL || root->kind == SOURCE_CELL;
}

static bool is_own_number(Capture *capture, const Source *source) { return is_of_frame(source) && !shapes_in_module(capture, source); }

/* ---- symbols ---- */

static const char *source_name(Arena *arena, const Source *source) {
    Text text = {0};
    source_print(&text, source);
    const char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

static Span where_now(void *state) {
    VM *vm = ((Capture *)state)->vm;
    return vm_user_span(vm);
}

static ShapeBinding *binding_add(Capture *capture, SizeSource at, Dim dim, int input, const char *why) {
    Entry *entry = capture->entry;
    ShapeBinding binding = {.at = at, .dim = dim, .input = input, .argument = -1, .why = why, .span = vm_user_span(capture->vm)};
    vec_push_in(entry->arena, &entry->bindings, binding);
    return &vec_last(&entry->bindings);
}

static ShapeBinding *symbol_new(Capture *capture, SizeSource at, int64_t value, int64_t low, int64_t high, int input, const char *why) {
    Entry *entry = capture->entry;
    char name[24];
    snprintf(name, sizeof name, "s%d", entry->symbol_count++);
    Dim var = sym_var(entry->compile.syms, name, low, high, SYM_SIZE);
    var_set_hint(var, value);
    table_on_assume(entry->compile.syms, where_now, capture);
    ShapeBinding *binding = binding_add(capture, at, var, input, why);
    binding->defines = true;
    reason_add(&entry->compile.reasons, REASON_DYNAMIC, "dynamic.symbol", arena_strdup(entry->arena, name), NULL, binding->span, "%s", why);
    return binding;
}

/* Duck shaping: a symbol made for the same value, at a place that is no int. */
static Dim symbol_of_value(const Entry *entry, int64_t value) {
    for (int i = 0; i < entry->bindings.count; i++) {
        const ShapeBinding *b = &entry->bindings.at[i];
        if (b->defines && b->at.property != VALUE_OF && !b->marked && dim_hint(b->dim) == value) return b->dim;
    }
    return 0;
}

typedef struct DimChoice { bool dynamic, duck, marked, bounded; int64_t low, high; const char *why; } DimChoice;

static DimChoice choose_size(Capture *capture, const Tensor *real, const FrameState *state, const ShapeConfig *config, const char *name, int i) {
    Arena *arena = capture->entry->arena;
    int64_t size = real->meta.sizes[i];
    ShapeMark mark = shapes_mark(capture->vm, real, i);
    DimChoice choice = {.low = 2, .high = INT64_MAX};
    if (mark.dynamic) {
        choice = (DimChoice){.dynamic = true, .marked = true, .bounded = mark.bounded, .low = mark.low > 2 || size < 2 ? mark.low : 2, .high = mark.high,
                             .why = arena_printf(arena, "dimension %d of %s was marked by mark_dynamic", i, name)};
    } else if (mark.is_static) {
        return choice;
    } else if (mark.weak) {
        choice.dynamic = true, choice.why = arena_printf(arena, "dimension %d of %s was marked by maybe_mark_dynamic", i, name);
    } else if (config->automatic && (state->all_dynamic || state->size_dynamic[i])) {
        choice.dynamic = true;
        choice.why = !config->assume_static ? arena_printf(arena, "dynamic=True: every size of %s but 0 and 1 is a symbol", name) : state->all_dynamic ? arena_printf(arena, "%s came with different numbers of dimensions", name)
                                        : arena_printf(arena, "size of dimension %d of %s changed: %lld in an earlier compile, %lld now", i, name, (long long)state->former[i], (long long)size);
    } else if (!config->assume_static) {
        choice.dynamic = choice.duck = true, choice.why = arena_printf(arena, "dynamic=True: every size of %s but 0 and 1 is a symbol", name);
    }
    bool small = size < 2, outside = choice.marked && (size < choice.low || size > choice.high);
    if (choice.marked && (small || outside))
        capture->entry->violation = arena_printf(arena, "Constraints violated (%s.size()[%d])!\n  - it was marked as dynamic, but %s", name, i,
                                                 small ? "sizes 0 and 1 are always constants" : arena_printf(arena, "its size %lld lies outside the given min and max", (long long)size));
    if (small || outside) choice.dynamic = false; /* 0 and 1 mean something of their own: broadcasting, emptiness */
    return choice;
}

static bool sizes_symbolic(Capture *capture, const Tensor *real, const Source *source, const FrameState *state, const ShapeConfig *config, int input, Meta *meta) {
    bool any = false;
    const char *name = source_name(capture->entry->arena, source);
    for (int i = 0; i < meta->rank; i++) {
        DimChoice choice = choose_size(capture, real, state, config, name, i);
        if (!choice.dynamic) continue;
        SizeSource at = {source, SIZE_OF, i};
        Dim known = choice.duck ? symbol_of_value(capture->entry, real->meta.sizes[i]) : 0;
        if (known) binding_add(capture, at, known, input, "it was equal to another size when it was first seen");
        else {
            ShapeBinding *b = symbol_new(capture, at, real->meta.sizes[i], choice.low, choice.high, input, choice.why);
            b->marked = choice.marked, b->bounded = choice.bounded, b->low = choice.low, b->high = choice.high;
            known = b->dim;
        }
        meta->sizes[i] = known;
        any = true;
    }
    return any;
}

/* Strides from the smallest up, each as a product of what stands inside it if there is such a product. */
static void strides_symbolic(Capture *capture, const Tensor *real, const Source *source, int input, Meta *meta) {
    SymTable *syms = capture->entry->compile.syms;
    const Meta *seen = &real->meta;
    bool done[MAX_RANK] = {0};
    int64_t reach[MAX_RANK];
    Dim product[MAX_RANK];
    int products = 0;
    for (int step = 0; step < meta->rank; step++) {
        int next = -1;
        for (int i = meta->rank - 1; i >= 0; i--)
            if (!done[i] && (next < 0 || seen->strides[i] < seen->strides[next])) next = i;
        Dim stride = seen->strides[next];
        done[next] = true;
        if (stride > 1) {
            int k = 0;
            while (k < products && reach[k] != stride) k++;
            SizeSource at = {source, STRIDE_OF, next};
            if (k < products) stride = product[k];
            else stride = symbol_new(capture, at, seen->strides[next], 2, INT64_MAX, input, "it is no product of sizes")->dim;
            if (k < products && !dim_is_int(stride)) binding_add(capture, at, stride, input, "strides are products of sizes");
        }
        meta->strides[next] = stride;
        reach[products] = seen->sizes[next] * seen->strides[next];
        product[products++] = dim_mul(syms, meta->sizes[next], stride);
    }
}

void shapes_tensor(Capture *capture, const Tensor *real, const Source *source, int input, Meta *meta) {
    Entry *entry = capture->entry;
    ShapeConfig config = shapes_config(capture->dynamo);
    FrameState *state = frame_state(entry->owner, capture->dynamo->arena, source_name(entry->arena, source));
    frame_state_see_tensor(state, meta);
    if ((config.static_parameters && real->is_parameter) || shapes_in_module(capture, source)) return;
    bool any = sizes_symbolic(capture, real, source, state, &config, input, meta);
    bool strides = false;
    for (int i = 0; i < meta->rank && !any && config.automatic && !state->all_dynamic; i++) strides |= state->rank == meta->rank && state->stride_dynamic[i];
    if (any || strides) strides_symbolic(capture, real, source, input, meta);
}

void shapes_constant(Capture *capture, Value value, const Source *source) {
    if (value.tag != V_INT && value.tag != V_FLOAT) return;
    if (value.tag == V_FLOAT ? !is_of_frame(source) : !is_own_number(capture, source)) return;
    frame_state_see_number(frame_state(capture->entry->owner, capture->dynamo->arena, source_name(capture->entry->arena, source)), value);
}

/* The symbol that stands for the int at a source already; V_NULL: none. */
static Value symbol_at(const Entry *entry, const Source *source) {
    for (int i = 0; i < entry->bindings.count; i++)
        if (entry->bindings.at[i].at.source == source && entry->bindings.at[i].at.property == VALUE_OF) return entry->bindings.at[i].symbol;
    return VALUE_NULL;
}

static Value int_symbol(Capture *capture, int64_t value, const Source *source, const char *why) {
    Entry *entry = capture->entry;
    ShapeBinding *b = symbol_new(capture, (SizeSource){source, VALUE_OF, 0}, value, INT64_MIN, INT64_MAX, -1, why);
    b->argument = entry->int_count++;
    b->symbol = sym_new(capture->vm, b->dim);
    vec_push_in(entry->arena, &entry->held, b->symbol);
    return b->symbol;
}

Value shapes_computed(Capture *capture, int64_t value, const Source *source, const char *why) {
    Value known = symbol_at(capture->entry, source);
    return value_ref(known.tag != V_NULL ? known : int_symbol(capture, value, source, why));
}

bool shapes_scalar(Capture *capture, int64_t value, const Source *source, Value *symbol) {
    *symbol = symbol_at(capture->entry, source);
    if (symbol->tag != V_NULL) return true;
    capture_guard(capture, GUARD_TYPE, source, value_object(capture->vm->class_int), "an int of any value");
    *symbol = int_symbol(capture, value, source, arena_printf(capture->entry->arena, "%s is read from a tensor", source_name(capture->entry->arena, source)));
    return true;
}

bool shapes_int(Capture *capture, int64_t value, const Source *source, Value *symbol) {
    Entry *entry = capture->entry;
    ShapeConfig config = shapes_config(capture->dynamo);
    if (config.specialize_int || !is_own_number(capture, source)) return false;
    *symbol = symbol_at(entry, source);
    if (symbol->tag != V_NULL) return true;
    const char *name = source_name(entry->arena, source);
    FrameState *state = frame_state(entry->owner, capture->dynamo->arena, name);
    frame_state_see_number(state, value_int(value));
    if (!(config.automatic && state->number_dynamic) && config.assume_static) return false;
    const char *why = config.assume_static ? arena_printf(entry->arena, "%s changed: %lld in an earlier compile, %lld now", name, (long long)state->former_number, (long long)value)
                                                               : arena_printf(entry->arena, "dynamic=True: the int %s is a symbol", name);
    capture_guard(capture, GUARD_TYPE, source, value_object(capture->vm->class_int), "an int of any value");
    *symbol = int_symbol(capture, value, source, why);
    return true;
}

/* ---- at the end ---- */

static void metas_settle(Entry *entry) {
    for (int i = 0; i < entry->graph->nodes.count; i++) {
        Node *node = entry->graph->nodes.at[i];
        for (int k = 0; k < node->noutputs; k++) *(Meta *)(uintptr_t)&node->metas[k] = meta_resolved(&node->metas[k]); /* the graph is still ours */
    }
    for (int i = 0; i < entry->inputs.count; i++) entry->inputs.at[i].meta = meta_resolved(&entry->inputs.at[i].meta);
}

static void sizes_of_graph(Entry *entry) {
    for (int i = 0; i < entry->bindings.count; i++) {
        const ShapeBinding *b = &entry->bindings.at[i];
        if (!b->defines || dim_is_int(dim_resolve(b->dim))) continue;
        GraphSize size = {b->dim, b->input};
        vec_push_in(entry->arena, &entry->graph->sizes, size);
    }
}

void shapes_settle(Capture *capture) {
    Entry *entry = capture->entry;
    if (entry->bindings.count == 0) return;
    metas_settle(entry);
    sizes_of_graph(entry);
    shapes_guards(entry, false);
    table_on_assume(entry->compile.syms, NULL, NULL); /* the capture is about to go */
}

/* A marked dimension that became a constant, or lost a part of its range. */
static const char *violation(const Entry *entry, const ShapeBinding *b) {
    Text text = {0};
    source_print(&text, b->at.source);
    const char *place = arena_printf(entry->arena, "%s.size()[%d]", text_cstr(&text), b->at.dim), *result = NULL;
    text_free(&text);
    Dim now = dim_resolve(b->dim);
    if (dim_is_int(now))
        result = arena_printf(entry->arena, "Constraints violated (%s)!\n  - %s was marked as dynamic, but the code makes it the constant %lld. Take mark_dynamic away, or use maybe_mark_dynamic.", place, place, (long long)now);
    else if (b->bounded && (dim_low(now) > b->low || dim_high(now) < b->high))
        result = arena_printf(entry->arena, "Constraints violated (%s)!\n  - not all values of %s between the given min and max are served: the code needs %lld <= %s%s.", place, place, (long long)dim_low(now), place,
                              dim_high(now) == INT64_MAX ? "" : arena_printf(entry->arena, " <= %lld", (long long)dim_high(now)));
    return result;
}

bool shapes_finish(Entry *entry) {
    table_freeze(entry->compile.syms);
    if (entry->violation) {
        vm_raise(entry->dynamo->vm, "ConstraintViolationError", "%s", entry->violation);
        return false;
    }
    if (entry->bindings.count == 0) return true;
    shapes_guards(entry, true);
    for (int i = 0; i < entry->bindings.count; i++) {
        const char *text = entry->bindings.at[i].marked ? violation(entry, &entry->bindings.at[i]) : NULL;
        if (!text) continue;
        vm_raise(entry->dynamo->vm, "ConstraintViolationError", "%s", text);
        return false;
    }
    return true;
}
