/* Scalars: Python floats that are different at each call, and numbers drawn by Python's random, as zero-dimensional tensors of the graph.
 *
 *     y * u        u a float that was another one in an earlier compile   ->   %mul(%y, %l_u_), where l_u_ = ___as_tensor(L['u'])
 *     x * random.randint(1, 3)                                            ->   %mul(%x, %random_value_0), drawn before the graph at each call
 *
 * Only as an operand of + - * / or a comparison with a tensor does such a number stay symbolic: there a zero-dimensional tensor means what the
 * number means, if it has the result's dtype where the tensor has no dimension either or is of integers. Anywhere else a float is specialized, and a drawn number ends the graph. */
#include "dynamo/computed.h"
#include "dynamo/shapes.h"
#include "dynamo/unbacked.h"
#include "vm/dispatch.h"
#include <math.h>
#include <string.h>

static Tensor *scalar_input(Capture *capture, DType dtype, Device device, const Source *source, const char *name) {
    VM *vm = capture->vm;
    for (int i = 0; i < capture->inputs.count; i++)
        if (capture->inputs.at[i].source == source) return capture->inputs.at[i].fake;
    Meta meta = {.dtype = dtype, .device = device};
    Span span = vm_user_span(vm);
    Node *node = graph_input(capture->entry->graph, name, &meta, span);
    Arg read = arg_node(node);
    if (source->base->kind == SOURCE_COMPUTED) node->as_number = source->base->computed->node;
    else if (source->base->kind != SOURCE_RANDOM) node->as_number = graph_number(capture->entry->graph, "item", &read, 1, arg_none(), span);
    Tensor *fake = trace_tensor(&capture->tracer, node, 0);
    vec_push_in(capture->entry->arena, &capture->entry->held, value_tensor(fake));
    vec_push_in(capture->entry->arena, &capture->inputs, ((InputTensor){NULL, fake, node, source, false}));
    vec_push_in(capture->entry->arena, &capture->entry->inputs, ((EntryInput){source, meta, span}));
    return fake;
}

static const char *input_name(Capture *capture, const Source *source) {
    Text text = {0};
    source_print(&text, source);
    char *name = arena_strdup(capture->entry->arena, text_cstr(&text));
    text_free(&text);
    char *to = name;
    for (const char *c = name; *c; c++) {
        bool word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (word) *to++ = *c == 'L' && c == name ? 'l' : *c;
        else if (to > name && to[-1] != '_') *to++ = '_';
    }
    *to = 0;
    return name;
}

static bool float_is_dynamic(Capture *capture, const Tracked *tracked) {
    Text text = {0};
    source_print(&text, tracked->source);
    FrameState *state = frame_state(capture->entry->owner, capture->dynamo->arena, text_cstr(&text));
    text_free(&text);
    double value = tracked->inner.f;
    if (value != value || value - value != 0) return false; /* inf and nan are constants */
    if (state->has_number && (state->number.tag != V_FLOAT || memcmp(&state->number.f, &value, sizeof value))) state->number_dynamic = true;
    return state->number_dynamic && shapes_config(capture->dynamo).automatic;
}

bool capture_float_stays(Capture *capture, const Tracked *tracked) {
    if (tracked->source->kind == SOURCE_UNBACKED) return true;
    if (tracked->source->kind == SOURCE_COMPUTED) return tracked->inner.tag == V_FLOAT;
    if (tracked->inner.tag != V_FLOAT || tracked->source->kind == SOURCE_NUMBER || !float_is_dynamic(capture, tracked)) return false;
    capture_guard(capture, GUARD_TYPE, tracked->source, value_object(class_of(capture->vm, tracked->inner)), "a number that changes from call to call");
    capture->entry->works_on_symbols = true;
    return true;
}

/* A Python float gives way to the tensor's own type, where there is no dimension that says so. */
static Tensor *unbacked_beside(Capture *capture, const Tracked *tracked, Value other) {
    VM *vm = capture->vm;
    Tensor *scalar = capture_scalar_tensor(capture, tracked->source);
    other = vm_force(vm, other);
    if (!value_is(other, OBJ_TENSOR) || tracked->inner.tag != V_FLOAT) return NULL;
    const Meta *meta = &((Tensor *)other.o)->meta;
    DType dtype = !dtype_is_float(meta->dtype) ? vm->default_dtype : meta->rank ? DTYPE_F64 : meta->dtype;
    if (dtype == DTYPE_F64) return scalar;
    Value cast = vm_op_args(vm, "_to_copy", (Arg[]){arg_of_tensor(scalar), {.tag = ARG_DTYPE, .dtype = dtype}}, 2);
    if (value_is_error(cast)) return NULL;
    vec_push_in(capture->entry->arena, &capture->entry->held, cast);
    return (Tensor *)cast.o;
}

/* A number behind `v` that may stand as a tensor beside `other`; NULL otherwise. */
static Tensor *scalar_of(Capture *capture, Value v, Value other) {
    if (!value_is(v, OBJ_TRACKED)) return NULL;
    const Tracked *tracked = (const Tracked *)v.o;
    if (tracked->source->kind == SOURCE_UNBACKED) return unbacked_beside(capture, tracked, other);
    bool random = tracked->source->kind == SOURCE_RANDOM;
    if (random ? tracked->inner.tag != V_INT && tracked->inner.tag != V_FLOAT : tracked->inner.tag != V_FLOAT) return NULL;
    if (value_is(other, OBJ_TRACKED) && ((const Tracked *)other.o)->inner.tag != V_OBJECT) return NULL;
    other = vm_force(capture->vm, other);
    if (!value_is(other, OBJ_TENSOR)) return NULL;
    const Meta *meta = &((Tensor *)other.o)->meta;
    bool real = dtype_is_float(meta->dtype);
    DType rounded = real ? meta->dtype : capture->vm->default_dtype; /* what a number becomes in eager execution */
    bool exact = !random && (rounded == DTYPE_F32 || rounded == DTYPE_F64);
    if ((!real || meta->rank == 0) && !exact) return NULL;
    if (!random && !capture_float_stays(capture, tracked)) return NULL;
    DType dtype = tracked->inner.tag == V_INT ? DTYPE_I64 : real && meta->rank > 0 ? DTYPE_F64 : rounded;
    int where = (int)meta->device.kind | meta->device.index << 4 | (int)dtype << 12;
    const Source *source = capture_source(capture, SOURCE_AS_TENSOR, tracked->source, NULL, where, VALUE_NULL);
    return scalar_input(capture, dtype, meta->device, source, random ? arena_printf(capture->entry->arena, "random_value_%d", tracked->source->index) : input_name(capture, tracked->source));
}

/* A float that changes, beside a number: what the answer was is guarded, not the float. */
static bool compared_float(Capture *capture, CompareOp op, bool mirrored, Value *v, Value other) {
    if (!value_is(*v, OBJ_TRACKED) || (other.tag != V_INT && other.tag != V_FLOAT)) return false;
    const Tracked *tracked = (const Tracked *)v->o;
    if (tracked->source->kind == SOURCE_RANDOM || tracked->source->kind == SOURCE_UNBACKED || !capture_float_stays(capture, tracked)) return false;
    static const CompareOp swapped[] = {COMPARE_GT, COMPARE_GE, COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE};
    if (mirrored) op = swapped[op];
    Value number = other.tag == V_INT ? value_float((double)other.i) : other, text = vm_repr(capture->vm, number);
    bool truth = float_compares(tracked->inner.f, op, number.f);
    const char *name = intern(capture->vm->lang->names, arena_printf(capture->entry->arena, "%s %s %s", truth ? "" : " is not", compare_op_symbol(op), str_text(text)));
    value_unref(capture->vm, text);
    Guard guard = {.kind = GUARD_COMPARED, .source = tracked->source, .expected = number, .length = (int64_t)op * 2 + truth, .name = name, .span = vm_user_span(capture->vm), .why = "the program asked how the number compares"};
    guard_add(&capture->entry->guards, capture->vm, guard);
    *v = tracked->inner;
    return true;
}

void capture_operands(VM *vm, int op, Value *a, Value *b) {
    Capture *capture = capture_of(vm);
    if (op >= DOMAIN_COMPARE && (compared_float(capture, (CompareOp)(op - DOMAIN_COMPARE), false, a, *b) || compared_float(capture, (CompareOp)(op - DOMAIN_COMPARE), true, b, *a))) return;
    Tensor *left = scalar_of(capture, *a, *b), *right = left ? NULL : scalar_of(capture, *b, *a);
    if (left) *a = value_object(left);
    if (right) *b = value_object(right);
}

/* A float that changes, with a neutral number: stays what it is. Only 0 + x turns a negative zero: that is done where x is read. */
Value capture_unchanged(VM *vm, int op, Value a, Value b) {
    Capture *capture = capture_of(vm);
    Value unbacked = capture_unbacked_binary(capture, op, a, b);
    if (unbacked.tag != V_NULL || op >= DOMAIN_COMPARE) return unbacked;
    bool left = value_is(a, OBJ_TRACKED) && ((Tracked *)a.o)->inner.tag == V_FLOAT, commutes = op == BINARY_ADD || op == BINARY_MULTIPLY;
    Value number = left ? b : a;
    const Tracked *tracked = left ? (const Tracked *)a.o : value_is(b, OBJ_TRACKED) ? (const Tracked *)b.o : NULL;
    if (!tracked || tracked->inner.tag != V_FLOAT || tracked->source->kind == SOURCE_RANDOM || (!left && !commutes) || (number.tag != V_INT && number.tag != V_FLOAT)) return VALUE_NULL;
    double given = number.tag == V_INT ? (double)number.i : number.f, neutral = op == BINARY_ADD || op == BINARY_SUBTRACT ? 0.0 : 1.0;
    if (given != neutral || !capture_float_stays(capture, tracked)) return VALUE_NULL;
    bool turns = neutral == 0.0 && (signbit(given) != 0) == (op == BINARY_SUBTRACT);
    if (!turns) return value_ref(left ? a : b);
    return capture_track(capture, value_float(tracked->inner.f + 0.0), capture_source(capture, SOURCE_PLUS_ZERO, tracked->source, NULL, 0, VALUE_NULL));
}

/* ---- Python's random ---- */

/* Those that the shared generator has as Python functions in CPython, which Dynamo follows; random.random is one in C, at which it breaks. */
static bool may_be_drawn(const Builtin *builtin) {
    static const char *const names[] = {"random.randint", "random.randrange", "random.uniform"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (builtin->qualname && !strcmp(builtin->qualname, names[i])) return value_is(builtin->self, OBJ_STR);
    return false;
}

/* The value of this call, as a hint: the generator is left as it was, since the rewritten code draws again. Its state is the text of its holder. */
static Value draw_hint(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames) {
    Str *holder = (Str *)builtin->self.o;
    char *saved = malloc(holder->length + 1);
    if (!saved) return VALUE_ERROR;
    memcpy(saved, holder->text, holder->length);
    Value drawn = builtin->fn(vm, args, nargs, kwnames);
    memcpy(holder->text, saved, holder->length);
    free(saved);
    return drawn;
}

/* What `:breaks CALL` leaves out to see the program without. */
static bool only_prints(const Builtin *builtin) {
    static const char *const names[] = {"print", "warn", "write", "flush", "_emit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(builtin->name, names[i])) return true;
    return false;
}

Value capture_replace_call(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames) {
    Capture *capture = capture_of(vm);
    if (capture->dynamo->no_effects && only_prints(builtin)) return VALUE_NONE;
    if (!strcmp(builtin->name, "register_hook") && nargs == 2 && !kwnames) return capture_register_hook(capture, args, nargs);
    if (!strcmp(builtin->name, "id") && nargs == 1 && capture_is_pythons(vm, value_object(builtin))) {
        Value real = capture_identity(capture, vm_force(vm, args[0]));
        return real.tag == V_NULL ? real : builtin->fn(vm, &real, 1, NULL);
    }
    if (!may_be_drawn(builtin) || kwnames) return VALUE_NULL;
    Arena *arena = capture->entry->arena;
    for (int i = 1; i < nargs; i++) {
        args[i] = vm_force(vm, args[i]);
        if (args[i].tag != V_INT && args[i].tag != V_FLOAT) return VALUE_NULL;
    }
    Value drawn = draw_hint(vm, builtin, args, nargs, kwnames);
    if (value_is_error(drawn)) return drawn;
    Draw draw = {.builtin = value_object(builtin), .args = arena_copy(arena, args + 1, sizeof *args * (size_t)nargs), .count = nargs - 1};
    vec_push_in(arena, &capture->entry->held, value_ref(draw.builtin));
    vec_push_in(arena, &capture->draws, draw);
    const Source *source = capture_source(capture, SOURCE_RANDOM, NULL, NULL, capture->draws.count - 1, VALUE_NULL);
    return capture_track(capture, drawn, source);
}

/* ---- rewritten code ---- */

void emit_draws(Rewrite *r) {
    const Capture *capture = r->capture;
    for (int i = 0; i < capture->draws.count; i++) {
        const Draw *draw = &capture->draws.at[i];
        emit(r, OPCODE_PUSH_NULL, 0);
        emit_held_object(r, draw->builtin);
        for (int j = 0; j < draw->count; j++) emit_plain(r, draw->args[j]);
        emit(r, OPCODE_CALL, draw->count);
        emit(r, OPCODE_STORE_FAST, -(2 + i));
    }
}

static Value as_tensor(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Meta meta = {.dtype = (DType)(args[1].i >> 12)};
    Tensor *made = tensor_new(vm, &meta);
    if (!made) return VALUE_ERROR;
    double number = args[0].tag == V_INT ? (double)args[0].i : args[0].f;
    float narrow = (float)number;
    if (meta.dtype == DTYPE_F32) memcpy(made->storage->data, &narrow, sizeof narrow);
    else memcpy(made->storage->data, meta.dtype == DTYPE_I64 ? (const void *)&args[0].i : (const void *)&number, 8);
    Device device = {(DeviceKind)(args[1].i & 15), (int)(args[1].i >> 4 & 255)};
    if (device.kind == DEVICE_CPU) return value_object(made);
    Value to[2] = {value_object(made), device_new(vm, device)}, moved = vm_call_method(vm, to[0], "to", to + 1, 1);
    value_unref(vm, to[0]);
    value_unref(vm, to[1]);
    return moved;
}

void emit_scalar(Rewrite *r, const Source *source) {
    if (source->kind == SOURCE_RANDOM) {
        emit_load(r, -(2 + source->index));
        return;
    }
    emit_call_builtin(r, "as_tensor", as_tensor, 2);
    emit_source(r, source->base);
    emit_plain(r, value_int(source->index));
    emit(r, OPCODE_CALL, 2);
}
