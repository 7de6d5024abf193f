/* Lab: small graphs built by hand, run through the eager kernels and through a compiled plan, and compared.
 *
 *     Lab *lab = lab_new();
 *     Node *x = lab_input(lab, DTYPE_F32, 2, 3, 5), *y = lab_call(lab, "relu", 1, T(x));
 *     lab_output(lab, y);
 *     lab_check(lab, 1e-6);              // eager and compiled outputs agree, or the test fails
 *
 * Arguments not given take the signature's defaults; N("dim", arg) gives one by name. */
#ifndef VITRINE_TESTS_LAB_H
#define VITRINE_TESTS_LAB_H
#include "unit.h"
#include "inductor/inductor.h"
#include "op/op.h"
#include "run/runtime.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Lab {
    Arena *arena;
    LangSession lang;
    Failure failure;
    Compile c;
    OpTable *ops;
    Graph *graph;
    Runtime *runtime;
    uint32_t seed;
    Device device;
    VEC(void *) inputs;              /* data by input */
    Map *values;                     /* Node* -> Arg* (eager) */
    Plan *plan, *card_plan;          /* for the CPU; for a card, where NVRTC is */
    Lowered *lowered;
    Schedule *schedule;
} Lab;

typedef struct Given { const char *name; Arg arg; } Given;
#define T(node) ((Given){NULL, arg_node(node)})
#define I(n) ((Given){NULL, arg_int(n)})
#define F(f) ((Given){NULL, arg_float(f)})
#define B(b) ((Given){NULL, arg_bool(b)})
#define D(d) ((Given){NULL, (Arg){.tag = ARG_DTYPE, .dtype = (d)}})
#define INTS(...) ((Given){NULL, (Arg){.tag = ARG_INTS, .ints = {(Dim[]){__VA_ARGS__}, (int)(sizeof((Dim[]){__VA_ARGS__}) / sizeof(Dim))}}})
#define LIST(...) ((Given){NULL, (Arg){.tag = ARG_TENSORS, .list = {(Arg[]){__VA_ARGS__}, (int)(sizeof((Arg[]){__VA_ARGS__}) / sizeof(Arg))}}})
#define NAMED(text, given) ((Given){(text), (given).arg})

static inline Lab *lab_new(void) {
    Arena *arena = arena_new("lab");
    Lab *lab = ARENA_NEW(arena, Lab);
    lab->arena = arena;
    lab->lang = (LangSession){.arena = arena, .names = interner_new(arena), .failure = &lab->failure};
    lab->ops = op_table_new(arena, &lab->lang);
    lab->c = (Compile){.arena = arena, .syms = sym_table_new(arena), .policy = &policy_best, .ops = lab->ops, .failure = &lab->failure, .id = "0/0"};
    lab->c.reasons.arena = arena;
    lab->graph = graph_new(arena, "lab", lab->c.syms, &lab->c.next_node_id);
    RuntimeOptions options = {.cache_dir = ""};
    lab->runtime = runtime_new(arena, &options);
    lab->c.runtime = lab->runtime;
    lab->values = map_new(arena);
    lab->seed = 1;
    return lab;
}

static inline void lab_free(Lab *lab) {
    if (lab->plan) plan_unload(lab->runtime, lab->plan);
    runtime_close(lab->runtime);
    arena_free(lab->arena);
}

static inline double lab_draw(Lab *lab) {
    lab->seed = lab->seed * 1664525u + 1013904223u;
    return (double)(lab->seed >> 8) / (1 << 24);
}

static inline uint16_t lab_bf16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline void lab_fill(Lab *lab, DType dtype, void *data, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double u = lab_draw(lab) * 4 - 2;
        switch (dtype) {
        case DTYPE_F32: ((float *)data)[i] = (float)u; break;
        case DTYPE_F64: ((double *)data)[i] = u; break;
        case DTYPE_BF16: ((uint16_t *)data)[i] = lab_bf16((float)u); break;
        case DTYPE_F16: ((uint16_t *)data)[i] = (uint16_t)(0x3c00 + (int)(u * 64)); break;
        case DTYPE_I64: ((int64_t *)data)[i] = (int64_t)(u * 50); break;
        case DTYPE_I32: ((int32_t *)data)[i] = (int32_t)(u * 50); break;
        case DTYPE_I16: ((int16_t *)data)[i] = (int16_t)(u * 50); break;
        case DTYPE_I8: case DTYPE_U8: ((uint8_t *)data)[i] = (uint8_t)(int)(u * 50); break;
        default: ((uint8_t *)data)[i] = u > 0; break;
        }
    }
}

static inline Node *lab_input_meta(Lab *lab, const Meta *meta) {
    int64_t count = meta_storage_span(meta);
    void *data = arena_alloc(lab->arena, (size_t)(count + 64) * (size_t)dtype_size(meta->dtype));
    lab_fill(lab, meta->dtype, data, count);
    vec_push_in(lab->arena, &lab->inputs, data);
    return graph_input(lab->graph, arena_printf(lab->arena, "arg%d_1", lab->inputs.count - 1), meta, (Span){0});
}

static inline Node *lab_input(Lab *lab, DType dtype, int rank, ...) {
    Dim sizes[MAX_RANK];
    va_list list;
    va_start(list, rank);
    for (int i = 0; i < rank; i++) sizes[i] = va_arg(list, int);
    va_end(list);
    Meta meta = meta_new(dtype, (Device){DEVICE_CPU, 0}, rank, sizes);
    return lab_input_meta(lab, &meta);
}

static inline Arg lab_default(Lab *lab, const Const *value) {
    switch (value->kind) {
    case CONST_TRUE: case CONST_FALSE: return arg_bool(value->kind == CONST_TRUE);
    case CONST_INT: return arg_int(value->i);
    case CONST_FLOAT: return arg_float(value->f);
    case CONST_STR: return (Arg){.tag = ARG_STR, .s = value->s.text};
    case CONST_TUPLE: return (Arg){.tag = ARG_INTS, .ints = {ARENA_ARRAY(lab->arena, Dim, 1), 0}};
    default: return arg_none();
    }
}

static inline Node *lab_call_list(Lab *lab, const char *name, const Given *given, int count) {
    const Op *op = op_find(lab->ops, name);
    ck_assert_msg(op != NULL, "no op %s", name);
    Arg args[24];
    const Signature *signature = op->signature;
    for (int i = 0; i < op->nparams; i++) args[i] = arg_none();
    for (int i = 0, at = 0; i < op->nparams; i++) {
        if (signature->varargs && i == signature->positional) continue;
        if (signature->has_default[at]) args[i] = lab_default(lab, &signature->defaults[at]);
        at++;
    }
    for (int i = 0, at = 0; i < count; i++) {
        int place = given[i].name ? op_param_index(op, given[i].name) : at++;
        ck_assert_msg(place >= 0 && place < op->nparams, "%s has no parameter %s", name, given[i].name ? given[i].name : "so far behind");
        args[place] = given[i].arg;
    }
    Meta metas[64];
    int outputs = 64;
    OpError error = {0};
    OpContext context = {.default_dtype = DTYPE_F32, .threads = 2, .syms = lab->c.syms};
    ck_assert_msg(op_infer(op, args, op->nparams, metas, &outputs, &context, &error), "%s: %s", name, error.message);
    return graph_call(lab->graph, op, args, op->nparams, metas, outputs, (Span){0});
}
#define CALL(lab, name, ...) lab_call_list((lab), (name), (Given[]){__VA_ARGS__}, (int)(sizeof((Given[]){__VA_ARGS__}) / sizeof(Given)))

static inline void lab_output(Lab *lab, Node *node) { graph_output(lab->graph, &node, 1); }

static inline void lab_mutate(Lab *lab, Node *input, Node *value) {
    vec_push_in(lab->arena, &lab->graph->mutations, ((Mutation){input->index, lab->graph->outputs.count}));
    lab_output(lab, value);
}

/* ---- eager ---- */
static inline Arg lab_eager_arg(Lab *lab, const Arg *arg);

static inline void *lab_storage(Lab *lab, const Meta *meta) { return arena_alloc(lab->arena, (size_t)(meta_storage_span(meta) + 16) * (size_t)dtype_size(meta->dtype)); }

static inline void lab_copy_elements(const Meta *from, const void *source, const Meta *to, void *target) {
    int64_t index[MAX_RANK] = {0}, size = dtype_size(from->dtype);
    for (int64_t n = meta_numel(from), i = 0; i < n; i++) {
        int64_t a = from->offset, b = to->offset;
        for (int d = 0; d < from->rank; d++) a += index[d] * from->strides[d], b += index[d] * to->strides[d];
        memcpy((char *)target + b * size, (const char *)source + a * size, (size_t)size);
        for (int d = from->rank - 1; d >= 0 && ++index[d] == from->sizes[d]; d--) index[d] = 0;
    }
}

static inline void lab_run_node(Lab *lab, Node *node) {
    Arg *outs = ARENA_ARRAY(lab->arena, Arg, node->noutputs ? node->noutputs : 1), args[24];
    OpError error = {0};
    OpContext context = {.default_dtype = DTYPE_F32, .threads = 2};
    map_put(lab->values, node, outs);
    if (node->kind == NODE_INPUT) {
        void *copy = lab_storage(lab, &node->metas[0]);
        memcpy(copy, lab->inputs.at[node->index], (size_t)meta_storage_span(&node->metas[0]) * (size_t)dtype_size(node->metas[0].dtype));
        outs[0] = arg_tensor(&node->metas[0], copy, NULL);
        return;
    }
    if (node->kind == NODE_GETITEM) {
        outs[0] = ((Arg *)map_get(lab->values, node->args[0].tensor.owner))[node->index];
        return;
    }
    for (int i = 0; i < node->nargs; i++) args[i] = lab_eager_arg(lab, &node->args[i]);
    for (int i = 0; i < node->noutputs; i++) outs[i] = arg_tensor(&node->metas[i], NULL, NULL);
    if (node->op->family == FAMILY_VIEW) {
        Meta view = node->metas[0];
        bool alias = node->noutputs > 1 || node->op->family_ops->alias(node->op, args, node->nargs, &view, &context);
        for (int i = 0; i < node->noutputs && alias; i++) outs[i].tensor.data = args[0].tensor.data;
        if (alias) return;
        outs[0].tensor.data = lab_storage(lab, &node->metas[0]); /* a reshape that copies: through a flat order */
        Meta flat = *args[0].tensor.meta;
        meta_set_contiguous(&flat, NULL);
        flat.offset = 0;
        lab_copy_elements(args[0].tensor.meta, args[0].tensor.data, &flat, outs[0].tensor.data);
        return;
    }
    for (int i = 0; i < node->noutputs; i++) outs[i].tensor.data = lab_storage(lab, &node->metas[i]);
    ck_assert_msg(op_run_cpu(node->op, args, node->nargs, outs, node->noutputs, &context, &error), "%s: %s", node->op->name, error.message);
}

static inline Arg lab_eager_arg(Lab *lab, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) return ((Arg *)map_get(lab->values, arg->tensor.owner))[0];
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg *items = ARENA_ARRAY(lab->arena, Arg, arg->list.count + 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = lab_eager_arg(lab, &arg->list.items[i]);
    return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
}

/* ---- compiled ---- */
static inline void lab_compile(Lab *lab, Device device) {
    const char *error;
    lab->lowered = lower(&lab->c, lab->graph);
    lab->lowered->device = device;
    ck_assert_msg(lowered_verify(lab->lowered, &error), "%s", error);
    lab->schedule = fuse(&lab->c, lab->lowered);
    order(&lab->c, lab->schedule);
    ck_assert_msg(schedule_verify(lab->schedule, &error), "%s", error);
    memplan(&lab->c, lab->schedule);
    bind_axes(&lab->c, lab->schedule, device);
    lab->plan = generate(&lab->c, lab->schedule, device, "lab");
    if (!getenv("LAB_SHOW")) return;
    Snapshot *s = snapshot_new(lab->arena, "kernels", "lab");
    schedule_describe(lab->schedule, s), puts(s->text);
    kernels_describe(lab->plan, s), puts(s->text);
    memory_describe(lab->plan, s), puts(s->text);
    wrapper_describe(lab->plan, s), puts(s->text);
    for (int i = 0; i < lab->c.reasons.all.count; i++) printf("%-22s %s\n", lab->c.reasons.all.at[i].code, lab->c.reasons.all.at[i].text);
}

static inline double lab_element(const Meta *meta, const void *data, int64_t at) {
    union { uint32_t bits; float f; } half;
    switch (meta->dtype) {
    case DTYPE_F32: return ((const float *)data)[at];
    case DTYPE_F64: return ((const double *)data)[at];
    case DTYPE_BF16: half.bits = (uint32_t)((const uint16_t *)data)[at] << 16; return half.f;
    case DTYPE_F16: {
        uint32_t h = ((const uint16_t *)data)[at], e = h >> 10 & 31, m = h & 1023;
        double value = e == 0 ? ldexp(m, -24) : e == 31 ? (m ? (double)NAN : (double)INFINITY) : ldexp(1024 + m, (int)e - 25);
        return h & 0x8000 ? -value : value;
    }
    case DTYPE_I64: return (double)((const int64_t *)data)[at];
    case DTYPE_I32: return ((const int32_t *)data)[at];
    case DTYPE_I16: return ((const int16_t *)data)[at];
    case DTYPE_I8: return ((const int8_t *)data)[at];
    default: return ((const uint8_t *)data)[at];
    }
}

static inline void lab_compare(const char *what, int number, const Meta *a_meta, const void *a, const Meta *b_meta, const void *b, double tolerance) {
    ck_assert_int_eq(a_meta->dtype, b_meta->dtype);
    ck_assert_msg(meta_same_shape(a_meta, b_meta), "%s %d: shapes differ", what, number);
    int64_t index[MAX_RANK] = {0};
    for (int64_t n = meta_numel(a_meta), i = 0; i < n; i++) {
        int64_t x = a_meta->offset, y = b_meta->offset;
        for (int d = 0; d < a_meta->rank; d++) x += index[d] * a_meta->strides[d], y += index[d] * b_meta->strides[d];
        double want = lab_element(a_meta, a, x), got = lab_element(b_meta, b, y);
        bool same = want == got || (isnan(want) && isnan(got)) || fabs(want - got) <= tolerance * (1 + fabs(want));
        ck_assert_msg(same, "%s %d, element %lld: %.9g, should be %.9g", what, number, (long long)i, got, want);
        for (int d = a_meta->rank - 1; d >= 0 && ++index[d] == a_meta->sizes[d]; d--) index[d] = 0;
    }
}

/* Runs the plan on copies of the inputs; gives addresses of buffers by output and the inputs after the run. */
static inline void lab_run_plan(Lab *lab, void **inputs, void **outputs) {
    OpError error = {0};
    CompileReport report;
    ck_assert_msg(plan_load(lab->runtime, lab->plan, &report, &error), "%s", error.message);
    for (int i = 0; i < lab->plan->buffers.count; i++) {
        const Buffer *b = &lab->plan->buffers.at[i];
        int64_t bytes = (meta_storage_span(&b->meta) + 16) * dtype_size(b->meta.dtype);
        if (b->role == BUFFER_OUTPUT) memset(outputs[b->index] = arena_alloc(lab->arena, (size_t)bytes), 0x5a, (size_t)bytes);
        if (b->role == BUFFER_INPUT) memcpy(inputs[b->index] = arena_alloc(lab->arena, (size_t)bytes), lab->inputs.at[b->index], (size_t)(bytes - 16 * dtype_size(b->meta.dtype)));
    }
    ck_assert_msg(plan_run(lab->runtime, lab->plan, inputs, NULL, outputs, (int64_t[]){7, 0}, &error), "%s", error.message);
}

/* The same graph on a card: all kernels, and their scalar twins, compile for both generations. */
static inline void lab_compile_cuda(Lab *lab, bool twins, const char *arch) {
    Text text = {0};
    CudaBuild build = {0};
    scalar_support_put(&text, TARGET_CUDA);
    for (int i = 0; i < lab->plan->kernels.count; i++) {
        const Kernel *k = twins ? lab->plan->kernels.at[i]->scalar_twin : lab->plan->kernels.at[i];
        if (k) text_put(&text, k->source);
    }
    bool good = nvrtc_compile(lab->runtime, text_cstr(&text), arch, true, lab->arena, &build);
    ck_assert_msg(good, "for %s:\n%s\n%s", arch, build.log ? build.log : "", text_cstr(&text));
    text_free(&text);
}

/* Where there is a card: runs the plan there and compares with the eager outputs. */
static inline void lab_run_cuda(Lab *lab, double tolerance) {
    Device card = {DEVICE_CUDA, 0}, host = {DEVICE_CPU, 0};
    OpError error = {0};
    void *inputs[64] = {0}, *outputs[64] = {0};
    ck_assert_msg(plan_load(lab->runtime, lab->plan, NULL, &error), "%s", error.message);
    for (int i = 0; i < lab->plan->buffers.count; i++) {
        const Buffer *b = &lab->plan->buffers.at[i];
        if (b->role != BUFFER_OUTPUT && b->role != BUFFER_INPUT) continue;
        int64_t bytes = meta_storage_span(&b->meta) * dtype_size(b->meta.dtype);
        Storage *storage = storage_new(lab->runtime, card, bytes + 64);
        (b->role == BUFFER_INPUT ? inputs : outputs)[b->index] = storage->data;
        if (b->role == BUFFER_INPUT) ck_assert(device_copy(lab->runtime, storage->data, card, lab->inputs.at[b->index], host, bytes, &error));
    }
    ck_assert_msg(plan_run(lab->runtime, lab->plan, inputs, NULL, outputs, (int64_t[]){7, 0}, &error), "%s", error.message);
    ck_assert_msg(device_synchronize(lab->runtime, card, &error), "%s", error.message);
    for (int i = 0; i < lab->graph->outputs.count; i++) {
        const Arg *want = map_get(lab->values, lab->graph->outputs.at[i]);
        const PlanOutput *out = &lab->plan->outputs.at[i];
        const Buffer *b = &lab->plan->buffers.at[out->buffer];
        int64_t bytes = meta_storage_span(&b->meta) * dtype_size(b->meta.dtype);
        void *got = arena_alloc(lab->arena, (size_t)bytes + 64);
        ck_assert(device_copy(lab->runtime, got, host, b->role == BUFFER_INPUT ? inputs[b->index] : outputs[b->index], card, bytes, &error));
        lab_compare("output on the card", i, want->tensor.meta, want->tensor.data, &out->meta, got, tolerance);
    }
    plan_unload(lab->runtime, lab->plan);
}

/* tolerance < 0: only compiles. */
static inline void lab_check_cuda(Lab *lab, double tolerance) {
    const char *why;
    if (!nvrtc_available(lab->runtime, &why)) return;
    for (int i = 0; i < lab->graph->nodes.count; i++)
        for (int k = 0; k < lab->graph->nodes.at[i]->noutputs; k++) ((Meta *)(uintptr_t)&lab->graph->nodes.at[i]->metas[k])->device = (Device){DEVICE_CUDA, 0};
    lab_compile(lab, (Device){DEVICE_CUDA, 0});
    bool run = cuda_available(lab->runtime, &why);
    for (int twins = 0; twins < 2 && !run; twins++) lab_compile_cuda(lab, twins, "sm_80"), lab_compile_cuda(lab, twins, "sm_90a");
    if (run && tolerance >= 0) lab_run_cuda(lab, tolerance);
    lab->card_plan = lab->plan;
    lab->plan = NULL;
}

static inline void lab_check(Lab *lab, double tolerance) {
    graph_finish(lab->graph);
    for (int i = 0; i < lab->graph->nodes.count; i++) lab_run_node(lab, lab->graph->nodes.at[i]);
    lab_compile(lab, (Device){DEVICE_CPU, 0});
    void *inputs[64] = {0}, *outputs[64] = {0};
    lab_run_plan(lab, inputs, outputs);
    for (int i = 0; i < lab->graph->outputs.count; i++) {
        const Arg *want = map_get(lab->values, lab->graph->outputs.at[i]);
        const PlanOutput *out = &lab->plan->outputs.at[i];
        const Buffer *b = &lab->plan->buffers.at[out->buffer];
        const void *got = b->role == BUFFER_INPUT ? inputs[b->index] : outputs[b->index];
        lab_compare("output", i, want->tensor.meta, want->tensor.data, &out->meta, got, tolerance);
    }
    for (int i = 0; i < lab->graph->inputs.count; i++) { /* inputs are as before, or take their new value */
        const Node *node = lab->graph->inputs.at[i];
        const Meta *meta = &node->metas[0];
        const Arg *want = NULL;
        for (int m = 0; m < lab->graph->mutations.count; m++)
            if (lab->graph->mutations.at[m].input == i) want = map_get(lab->values, lab->graph->outputs.at[lab->graph->mutations.at[m].output]);
        if (want) lab_compare("mutated input", i, want->tensor.meta, want->tensor.data, meta, inputs[i], tolerance);
        else lab_compare("input", i, meta, lab->inputs.at[i], meta, inputs[i], 0);
    }
    Plan *plan = lab->plan;
    int reasons = lab->c.reasons.all.count;
    plan_unload(lab->runtime, plan);
    lab_check_cuda(lab, tolerance < 1e-5 ? 1e-5 : tolerance);
    lab->plan = plan;
    lab->c.reasons.all.count = reasons;
}

/* Number of launches of the plan, without copies. */
static inline int lab_kernels(const Lab *lab) {
    int count = 0;
    for (int i = 0; i < lab->plan->launches.count; i++) count += lab->plan->launches.at[i].kind == LAUNCH_KERNEL;
    return count;
}

static inline bool lab_has_reason(const Lab *lab, const char *code) {
    for (int i = 0; i < lab->c.reasons.all.count; i++)
        if (strcmp(lab->c.reasons.all.at[i].code, code) == 0) return true;
    return false;
}
#endif
