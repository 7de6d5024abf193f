/* Plan: what is done once, when a plan is loaded: kernels compiled, arguments laid out, symbolic sizes made into patches.
 *
 * In: a Plan from inductor's generate. Out: plan->loaded, a PlanState that launch.c runs.
 *
 *     plan_load(runtime, plan, &report, &error);
 *     plan_unload(runtime, plan);                 // or when the plan's arena, or the runtime, goes
 *
 * Invariant: the state owns copies of whatever it patches; the plan itself is changed only in its `loaded` fields.
 * To add a kind of launch: lay out its arguments in step_make, run it in launch.c. */
#include "run/planstate.h"

typedef struct Maker { Runtime *runtime; PlanState *state; Step *step; OpError *error; bool failed; } Maker;

static int variable_count(const Plan *plan) { return plan->size_inputs + (plan->random_draws > 0 ? 2 : 0); }

/* ---- symbolic sizes ---- */

static bool dim_code(Maker *maker, Dim d, DimCode *code) {
    const Plan *plan = maker->state->plan;
    if (dimcode_make(maker->state->arena, d, plan->size_vars, plan->size_vars ? variable_count(plan) : 0, code)) return true;
    maker->failed = true;
    return op_error(maker->error, ERROR_RUNTIME, "plan %s: a size is not an expression of the plan's inputs", plan->name);
}

/* *target is the value now, or will be before each run of the step. */
static void set_dim(Maker *maker, int64_t *target, Dim d) {
    *target = d;
    Patch patch = {.target = target};
    if (dim_is_int(d) || !dim_code(maker, d, &patch.code)) return;
    *target = 0;
    vec_push_in(maker->state->arena, &maker->step->patches, patch);
}

static void set_meta(Maker *maker, Meta *target, const Meta *meta) {
    *target = *meta;
    for (int i = 0; i < meta->rank; i++) {
        set_dim(maker, &target->sizes[i], meta->sizes[i]);
        set_dim(maker, &target->strides[i], meta->strides[i]);
    }
    set_dim(maker, &target->offset, meta->offset);
}

static const Meta *copy_meta(Maker *maker, const Meta *meta) {
    Meta *copy = ARENA_NEW(maker->state->arena, Meta);
    set_meta(maker, copy, meta);
    return copy;
}

/* ---- extern ops ---- */

static void add_tensor(Maker *maker, Arg *arg, int buffer, bool output) {
    TensorSlot slot = {arg, buffer, output};
    if (buffer < 0 || buffer >= maker->state->plan->buffers.count) {
        maker->failed = true;
        op_error(maker->error, ERROR_RUNTIME, "plan %s: an argument of %s is no buffer", maker->state->plan->name, maker->step->launch->name);
        return;
    }
    vec_push_in(maker->state->arena, &maker->step->tensors, slot);
}

static void copy_arg(Maker *maker, Arg *dst, const Arg *src) {
    Arena *arena = maker->state->arena;
    *dst = *src;
    if (src->tag == ARG_TENSOR) {
        dst->tensor.meta = copy_meta(maker, src->tensor.meta);
        dst->tensor.owner = NULL;
        add_tensor(maker, dst, (int)(intptr_t)src->tensor.owner - 1, false);
    } else if (src->tag == ARG_TENSORS) {
        Arg *items = ARENA_ARRAY(arena, Arg, src->list.count);
        for (int i = 0; i < src->list.count; i++) copy_arg(maker, &items[i], &src->list.items[i]);
        dst->list.items = items;
    } else if (src->tag == ARG_INT) set_dim(maker, &dst->i, src->i);
    else if (src->tag == ARG_INTS) {
        Dim *at = ARENA_ARRAY(arena, Dim, src->ints.count);
        for (int i = 0; i < src->ints.count; i++) set_dim(maker, &at[i], src->ints.at[i]);
        dst->ints.at = at;
    }
}

static void make_extern(Maker *maker) {
    Step *step = maker->step;
    const Launch *launch = step->launch;
    step->args = ARENA_ARRAY(maker->state->arena, Arg, launch->nargs);
    step->outs = ARENA_ARRAY(maker->state->arena, Arg, launch->nouts);
    for (int i = 0; i < launch->nargs; i++) copy_arg(maker, &step->args[i], &launch->args[i]);
    for (int i = 0; i < launch->nouts; i++) {
        step->outs[i] = arg_tensor(copy_meta(maker, &launch->out_metas[i]), NULL, NULL);
        int place = launch->buffer_count - launch->nouts + i;
        add_tensor(maker, &step->outs[i], place >= 0 ? launch->buffers[place] : -1, true);
    }
}

/* ---- kernels ---- */

static void make_call(Maker *maker, KernelCall *call, const Kernel *kernel, const int *buffers, int pointers, const Dim *dims, int sizes) {
    Arena *arena = maker->state->arena;
    *call = (KernelCall){.kernel = kernel, .buffers = buffers, .pointer_count = pointers};
    call->pointers = ARENA_ARRAY(arena, void *, pointers + 1);
    call->sizes = ARENA_ARRAY(arena, int64_t, sizes + 1);
    call->params = ARENA_ARRAY(arena, void *, pointers + sizes + 1);
    for (int i = 0; i < pointers; i++) call->params[i] = &call->pointers[i];
    for (int i = 0; i < sizes; i++) {
        set_dim(maker, &call->sizes[i], dims[i]);
        call->params[pointers + i] = &call->sizes[i];
    }
    for (int i = 0; i < 3; i++) {
        set_dim(maker, &call->grid[i], kernel->grid[i]);
        call->cuda.block[i] = (unsigned)kernel->block[i];
    }
    call->cuda.shared = (unsigned)kernel->shared_bytes;
    call->cuda.cluster = (unsigned)kernel->cluster;
    call->cuda.params = call->params;
}

static void make_kernel(Maker *maker) {
    Step *step = maker->step;
    const Launch *launch = step->launch;
    const Kernel *kernel = launch->kernel, *twin = kernel->scalar_twin;
    make_call(maker, &step->call, kernel, launch->buffers, launch->buffer_count, launch->sizes, launch->size_count);
    if (!twin || kernel->vector_bytes <= 1) return;
    if (launch->scalar_buffers) make_call(maker, &step->scalar, twin, launch->scalar_buffers, twin->pointer_count, launch->scalar_sizes, twin->size_count);
    else make_call(maker, &step->scalar, twin, launch->buffers, launch->buffer_count, launch->sizes, launch->size_count);
    step->misaligned = (uintptr_t)kernel->vector_bytes - 1;
}

/* ---- steps and buffers ---- */

static void step_make(Maker *maker, const Launch *launch) {
    Step *step = maker->step;
    step->launch = launch;
    if (launch->kind == LAUNCH_KERNEL) make_kernel(maker);
    else if (launch->kind == LAUNCH_EXTERN_OP) make_extern(maker);
    else if (launch->kind == LAUNCH_COPY) {
        set_meta(maker, &step->copy_src, &launch->copy_src);
        set_meta(maker, &step->copy_dst, &launch->copy_dst);
    } else {
        step->matmul = launch->matmul;
        Meta *targets[] = {&step->matmul.a_meta, &step->matmul.b_meta, &step->matmul.out_meta, &step->matmul.bias_meta, &step->matmul.add_meta};
        const Meta *metas[] = {&launch->matmul.a_meta, &launch->matmul.b_meta, &launch->matmul.out_meta, &launch->matmul.bias_meta, &launch->matmul.add_meta};
        for (int i = 0; i < 5; i++)
            if (i < 3 || (i == 3 ? launch->matmul.bias : launch->matmul.add) >= 0) set_meta(maker, targets[i], metas[i]);
    }
}

static bool is_loose(const Buffer *buffer) { return buffer->role == BUFFER_TEMPORARY && (!meta_is_static(&buffer->meta) || buffer->offset < 0); }

/* Bytes of a loose temporary: the product of its sizes, as a program. Its own strides are dense, so that is what it occupies. */
static bool loose_bytes(Maker *maker, const Buffer *buffer, DimCode *codes) {
    for (int i = 0; i < buffer->meta.rank; i++)
        if (!dim_code(maker, buffer->meta.sizes[i], &codes[i])) return false;
    return true;
}

static void buffers_make(Maker *maker) {
    PlanState *state = maker->state;
    const Plan *plan = state->plan;
    state->address = ARENA_ARRAY(state->arena, void *, plan->buffers.count + 1);
    state->loose = ARENA_ARRAY(state->arena, int, plan->buffers.count + 1);
    state->temporary_bytes = ARENA_ARRAY(state->arena, DimCode, (int64_t)plan->buffers.count * MAX_RANK + 1);
    for (int i = 0; i < plan->buffers.count && !maker->failed; i++)
        if (is_loose(&plan->buffers.at[i])) {
            state->loose[state->loose_count++] = i;
            loose_bytes(maker, &plan->buffers.at[i], &state->temporary_bytes[i * MAX_RANK]);
        }
}

/* ---- loading ---- */

static void kernels_bind(PlanState *state, LoadedKernel *const *loaded, Plan *plan) {
    for (int i = 0; i < plan->launches.count; i++) {
        const Launch *launch = &plan->launches.at[i];
        if (launch->kind != LAUNCH_KERNEL) continue;
        for (int k = 0; k < plan->kernels.count; k++)
            if (plan->kernels.at[k] == launch->kernel) {
                state->steps[i].call.loaded = loaded[k];
                loaded[k]->refs++;
                break;
            }
    }
}

/* Without a card kernels are compiled all the same, where NVRTC is, so that they can be shown; then nothing can run. */
static bool kernels_prepare(Runtime *runtime, PlanState *state, Plan *plan, CompileReport *report, OpError *error) {
    const char *why;
    bool cuda = plan->device.kind == DEVICE_CUDA;
    state->has_code = !cuda || cuda_available(runtime, &why);
    if (plan->kernels.count == 0) return true;
    if (!state->has_code && !nvrtc_available(runtime, &why)) {
        if (!runtime->warned_kernels) runtime_warn(runtime, "CUDA kernels are not compiled: %s", why);
        runtime->warned_kernels = true;
        return true;
    }
    LoadedKernel **loaded = ARENA_ARRAY(state->arena, LoadedKernel *, plan->kernels.count);
    if (!kernels_load(runtime, plan->kernels.at, plan->kernels.count, cuda ? plan->device.index : 0, loaded, report, error)) return false;
    kernels_bind(state, loaded, plan);
    for (int i = 0; i < plan->kernels.count; i++) kernel_release(runtime, loaded[i]);
    return true;
}

static bool steps_prepare(Runtime *runtime, PlanState *state, OpError *error) {
    for (int i = 0; i < state->plan->launches.count && state->has_code; i++) {
        Step *step = &state->steps[i];
        if (step->launch->kind == LAUNCH_KERNEL && !step->call.loaded) return op_error(error, ERROR_RUNTIME, "plan %s: kernel of launch %s is not among the plan's kernels", state->plan->name, step->launch->name);
        if (!step->call.loaded || step->launch->kernel->language != KERNEL_CUDA) continue;
        step->call.cuda.function = step->call.loaded->function;
        if (!step->call.cuda.function) continue; /* compiled without a card */
        if (!cuda_prepare(runtime, &step->call.cuda, error)) return false;
    }
    return true;
}

static void state_free(PlanState *state) {
    Runtime *runtime = state->runtime;
    if (state->previous) state->previous->next = state->next;
    else if (runtime) runtime->plans = state->next;
    if (state->next) state->next->previous = state->previous;
    for (int i = 0; i < state->plan->launches.count && runtime; i++) {
        kernel_release(runtime, state->steps[i].call.loaded);
        kernel_release(runtime, state->steps[i].scalar.loaded);
    }
    graph_cache_free(state);
    arena_free(state->arena);
}

static void close_plan(void *subject) {
    Plan *plan = subject;
    if (plan->loaded) state_free(plan->loaded);
    plan->loaded = NULL;
}

static PlanState *state_new(Runtime *runtime, const Plan *plan) {
    Arena *arena = arena_new("loaded plan");
    PlanState *state = ARENA_NEW(arena, PlanState);
    *state = (PlanState){.arena = arena, .plan = plan, .runtime = runtime, .next = runtime->plans};
    state->is_static = plan->size_inputs == 0 && plan->random_draws == 0;
    state->steps = ARENA_ARRAY(arena, Step, plan->launches.count + 1);
    if (state->next) state->next->previous = state;
    runtime->plans = state;
    return state;
}

bool plan_load(Runtime *runtime, Plan *plan, CompileReport *report, OpError *error) {
    plan_unload(runtime, plan);
    if (report) *report = (CompileReport){0};
    PlanState *state = state_new(runtime, plan);
    Maker maker = {runtime, state, NULL, error, false};
    for (int i = 0; i < plan->launches.count && !maker.failed; i++) {
        maker.step = &state->steps[i];
        step_make(&maker, &plan->launches.at[i]);
    }
    buffers_make(&maker);
    if (maker.failed || !kernels_prepare(runtime, state, plan, report, error) || !steps_prepare(runtime, state, error)) {
        state_free(state);
        return false;
    }
    plan->loaded = state;
    arena_defer(plan->arena, close_plan, plan);
    return true;
}

void plan_unload(Runtime *runtime, Plan *plan) {
    (void)runtime;
    close_plan(plan);
}

void plans_close(Runtime *runtime) {
    for (PlanState *state = runtime->plans, *next; state; state = next) {
        next = state->next;
        for (int i = 0; i < state->plan->launches.count; i++) {
            kernel_release(runtime, state->steps[i].call.loaded);
            kernel_release(runtime, state->steps[i].scalar.loaded);
            state->steps[i].call.loaded = state->steps[i].scalar.loaded = NULL;
        }
        graph_cache_free(state);
        state->runtime = NULL;
        state->next = state->previous = NULL;
        state->has_code = false;
    }
    runtime->plans = NULL;
}
