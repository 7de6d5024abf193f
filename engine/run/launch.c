/* Launch: runs a loaded plan.
 *
 * In: addresses of inputs, constants and outputs, and the symbolic sizes. Out: the outputs filled, on CUDA once the default stream gets there.
 * A run fills the table of addresses, then for each step writes its pointers into the arguments laid out by plan.c and launches.
 * In the steady state nothing is allocated: the block of temporaries comes from the pool and goes back.
 *
 * Invariant: memory given back at the end of a run is reused only by work behind it in the same stream. */
#include "run/planstate.h"
#include <stdlib.h>

/* ---- addresses ---- */

/* A loose temporary: its sizes, and so its bytes, are known only now. */
static int64_t loose_bytes(const PlanState *state, int b, const int64_t *sizes) {
    const Meta *meta = &state->plan->buffers.at[b].meta;
    int64_t bytes = dtype_size(meta->dtype);
    for (int d = 0; d < meta->rank; d++) bytes *= dimcode_run(&state->temporary_bytes[b * MAX_RANK + d], sizes);
    return bytes;
}

static bool take_temporaries(Pool *pool, PlanState *state, const int64_t *sizes, OpError *error) {
    const Plan *plan = state->plan;
    state->block = plan->block_bytes > 0 ? pool_alloc(pool, plan->block_bytes) : NULL;
    for (int i = 0; i < state->loose_count; i++) state->address[state->loose[i]] = NULL;
    if (plan->block_bytes > 0 && !state->block) return op_error(error, ERROR_MEMORY, "out of memory: plan %s needs %lld bytes for temporaries", plan->name, (long long)plan->block_bytes);
    for (int i = 0; i < state->loose_count; i++) {
        int b = state->loose[i];
        int64_t bytes = loose_bytes(state, b, sizes);
        state->address[b] = bytes > 0 ? pool_alloc(pool, bytes) : NULL;
        if (bytes > 0 && !state->address[b]) return op_error(error, ERROR_MEMORY, "out of memory: plan %s needs %lld bytes for %s", plan->name, (long long)bytes, plan->buffers.at[b].name);
    }
    return true;
}

void plan_end(Runtime *runtime, PlanState *state, const int64_t *sizes) {
    Pool *pool = runtime_pool(runtime, state->plan->device);
    for (int i = 0; i < state->loose_count; i++)
        if (state->address[state->loose[i]]) pool_release(pool, state->address[state->loose[i]], loose_bytes(state, state->loose[i], sizes));
    if (state->block) pool_release(pool, state->block, state->plan->block_bytes);
    state->block = NULL;
}

bool plan_begin(Runtime *runtime, PlanState *state, void *const *inputs, void *const *constants, void *const *outputs, const int64_t *sizes, OpError *error) {
    const Plan *plan = state->plan;
    if (plan->device.kind == DEVICE_CUDA && !cuda_enter(runtime, plan->device.index, error)) return false;
    if (!take_temporaries(runtime_pool(runtime, plan->device), state, sizes, error)) {
        plan_end(runtime, state, sizes);
        return false;
    }
    for (int i = 0; i < plan->buffers.count; i++) {
        const Buffer *buffer = &plan->buffers.at[i];
        if (buffer->role == BUFFER_INPUT) state->address[i] = inputs[buffer->index];
        else if (buffer->role == BUFFER_OUTPUT) state->address[i] = outputs[buffer->index];
        else if (buffer->role == BUFFER_CONSTANT) state->address[i] = constants[buffer->index];
        else if (state->block && buffer->offset >= 0 && (state->loose_count == 0 || meta_is_static(&buffer->meta))) state->address[i] = (char *)state->block + buffer->offset;
    }
    return true;
}

/* ---- steps ---- */

/* The scalar variant, for a pointer that is not aligned: compiled (or found on disk) at the first such call. */
static bool load_scalar(Runtime *runtime, const PlanState *state, KernelCall *scalar, OpError *error) {
    if (scalar->loaded) return true;
    if (!kernels_load(runtime, &scalar->kernel, 1, state->plan->device.index, &scalar->loaded, NULL, error)) return false;
    scalar->cuda.function = scalar->loaded->function;
    return scalar->kernel->language == KERNEL_C || cuda_prepare(runtime, &scalar->cuda, error);
}

static bool launch_cuda(Runtime *runtime, const Step *step, KernelCall *call, void *stream, OpError *error) {
    for (int i = 0; i < 3; i++) {
        if (call->grid[i] <= 0) return true; /* nothing to do */
        if (call->grid[i] > INT32_MAX) return op_error(error, ERROR_RUNTIME, "%s: a grid of %lld blocks is too large", step->launch->name, (long long)call->grid[i]);
        call->cuda.grid[i] = (unsigned)call->grid[i];
    }
    return cuda_launch(runtime, &call->cuda, stream, error);
}

/* The addresses, and their bits together. */
static uintptr_t take_addresses(const PlanState *state, KernelCall *call) {
    uintptr_t bits = 0;
    for (int i = 0; i < call->pointer_count; i++) {
        call->pointers[i] = state->address[call->buffers[i]];
        bits |= (uintptr_t)call->pointers[i];
    }
    return bits;
}

static bool run_kernel(Runtime *runtime, PlanState *state, Step *step, void *stream, OpError *error) {
    KernelCall *call = &step->call;
    if (take_addresses(state, call) & step->misaligned) {
        call = &step->scalar;
        if (!load_scalar(runtime, state, call, error)) return false;
        take_addresses(state, call);
    }
    if (call->kernel->language == KERNEL_CUDA) return launch_cuda(runtime, step, call, stream, error);
    call->loaded->c(call->pointers, call->sizes);
    return true;
}

static bool call_op(Runtime *runtime, const Step *step, OpError *error) {
    const Launch *launch = step->launch;
    if (!launch->op->family_ops->run_cpu) return op_error(error, ERROR_NOT_IMPLEMENTED, "%s has no eager kernel", launch->op->name);
    return op_run_cpu(launch->op, step->args, launch->nargs, step->outs, launch->nouts, runtime->context, error);
}

/* On a card, for an op that has no kernel there: everything it touches goes to the host and back. */
static bool call_op_through_host(Runtime *runtime, PlanState *state, Step *step, OpError *error) {
    Device host = {DEVICE_CPU, 0}, card = state->plan->device;
    bool good = true;
    if (!runtime->warned_extern) runtime_warn(runtime, "%s has no CUDA kernel: it runs on the CPU, with copies there and back", step->launch->op->name);
    runtime->warned_extern = true;
    for (int i = 0; i < step->tensors.count && good; i++) {
        const TensorSlot *slot = &step->tensors.at[i];
        int64_t bytes = meta_storage_span(slot->arg->tensor.meta) * dtype_size(slot->arg->tensor.meta->dtype);
        slot->arg->tensor.data = malloc((size_t)bytes + 1);
        good = slot->arg->tensor.data && device_copy(runtime, slot->arg->tensor.data, host, state->address[slot->buffer], card, bytes, error);
    }
    good = good && call_op(runtime, step, error);
    for (int i = 0; i < step->tensors.count; i++) {
        const TensorSlot *slot = &step->tensors.at[i];
        int64_t bytes = meta_storage_span(slot->arg->tensor.meta) * dtype_size(slot->arg->tensor.meta->dtype);
        bool changed = slot->output || op_has(step->launch->op, TRAIT_INPLACE);
        if (good && changed) good = device_copy(runtime, state->address[slot->buffer], card, slot->arg->tensor.data, host, bytes, error);
        free(slot->arg->tensor.data);
        slot->arg->tensor.data = NULL;
    }
    return good;
}

static bool run_extern(Runtime *runtime, PlanState *state, Step *step, OpError *error) {
    if (state->plan->device.kind == DEVICE_CUDA) return call_op_through_host(runtime, state, step, error);
    for (int i = 0; i < step->tensors.count; i++) step->tensors.at[i].arg->tensor.data = state->address[step->tensors.at[i].buffer];
    return call_op(runtime, step, error);
}

static bool run_copy(Runtime *runtime, PlanState *state, Step *step, void *stream, OpError *error) {
    const Meta *src = &step->copy_src, *dst = &step->copy_dst;
    char *from = state->address[step->launch->buffers[0]], *to = state->address[step->launch->buffers[1]];
    int64_t size = dtype_size(dst->dtype);
    if (src->dtype != dst->dtype || !meta_same_shape(src, dst)) return op_error(error, ERROR_RUNTIME, "%s: the copied views differ in dtype or shape", step->launch->name);
    if (meta_numel(dst) == 0 || (from == to && src->offset == dst->offset && meta_equal(src, dst))) return true;
    if (state->plan->device.kind == DEVICE_CPU) {
        strided_copy(to, dst, from, src);
        return true;
    }
    if (meta_layout_equal(src, dst)) return cuda_copy_async(runtime, to + dst->offset * size, from + src->offset * size, meta_numel(dst) * size, stream, error);
    return cuda_strided_copy(runtime, state->plan->device.index, to, dst, from, src, stream, error);
}

static bool run_matmul(Runtime *runtime, PlanState *state, Step *step, void *stream, OpError *error) {
    const MatmulCall *call = &step->matmul;
    void *bias = call->bias >= 0 ? state->address[call->bias] : NULL, *add = call->add >= 0 ? state->address[call->add] : NULL;
    void *a = state->address[call->a], *b = state->address[call->b], *out = state->address[call->out];
    if (state->plan->device.kind == DEVICE_CPU) return blas_matmul(call, a, b, out, bias, add, error);
    return cublaslt_matmul(runtime, state->plan->device.index, call, a, b, out, bias, add, stream, error);
}

bool step_run(Runtime *runtime, PlanState *state, Step *step, void *stream, OpError *error) {
    switch (step->launch->kind) {
    case LAUNCH_KERNEL: return run_kernel(runtime, state, step, stream, error);
    case LAUNCH_EXTERN_OP: return run_extern(runtime, state, step, error);
    case LAUNCH_MATMUL: return run_matmul(runtime, state, step, stream, error);
    default: return run_copy(runtime, state, step, stream, error);
    }
}

/* ---- runs ---- */

static void apply_patches(PlanState *state, const int64_t *sizes) {
    for (int i = 0; i < state->plan->launches.count; i++)
        for (int p = 0; p < state->steps[i].patches.count; p++) *state->steps[i].patches.at[p].target = dimcode_run(&state->steps[i].patches.at[p].code, sizes);
}

static bool run_steps(Runtime *runtime, PlanState *state, OpError *error) {
    for (int i = 0; i < state->plan->launches.count; i++) {
        if (runtime_interrupted(runtime)) return op_error(error, ERROR_RUNTIME, "interrupted");
        if (!step_run(runtime, state, &state->steps[i], NULL, error)) return false;
    }
    return true;
}

static PlanState *runnable(Runtime *runtime, const Plan *plan, OpError *error) {
    PlanState *state = plan->loaded;
    const char *why = "it was not loaded";
    if (state && state->runtime == runtime && state->has_code) return state;
    if (state && plan->device.kind == DEVICE_CUDA && !cuda_available(runtime, &why)) op_error(error, ERROR_RUNTIME, "CUDA kernels cannot run here: %s", why);
    else op_error(error, ERROR_RUNTIME, "plan %s cannot run: %s", plan->name, why);
    return NULL;
}

bool plan_run(Runtime *runtime, const Plan *plan, void *const *inputs, void *const *constants, void *const *outputs, const int64_t *sizes, OpError *error) {
    PlanState *state = runnable(runtime, plan, error);
    if (!state || !plan_begin(runtime, state, inputs, constants, outputs, sizes, error)) return false;
    bool done = false, good = true;
    if (!state->is_static) apply_patches(state, sizes);
    if (runtime->replay_graphs && plan->device.kind == DEVICE_CUDA) good = graph_replay(runtime, state, &done, error);
    if (good && !done) good = run_steps(runtime, state, error);
    plan_end(runtime, state, sizes);
    return good;
}

/* ---- profile ---- */

static bool profile_host(Runtime *runtime, PlanState *state, LaunchTime *times, OpError *error) {
    double first = clock_us();
    for (int i = 0; i < state->plan->launches.count; i++) {
        double start = clock_us();
        if (!step_run(runtime, state, &state->steps[i], NULL, error)) return false;
        times[i] = (LaunchTime){i, start - first, clock_us() - start};
    }
    return true;
}

static bool profile_cuda(Runtime *runtime, PlanState *state, LaunchTime *times, OpError *error) {
    int count = state->plan->launches.count;
    void **events = calloc((size_t)count + 1, sizeof *events);
    bool good = events || op_error(error, ERROR_MEMORY, "out of memory");
    for (int i = 0; i <= count && good; i++) good = cuda_event_new(runtime, &events[i], error);
    good = good && cuda_event_record(runtime, events[0], NULL, error);
    for (int i = 0; i < count && good; i++) good = step_run(runtime, state, &state->steps[i], NULL, error) && cuda_event_record(runtime, events[i + 1], NULL, error);
    for (int i = 0; i < count && good; i++) {
        times[i].launch = i;
        good = cuda_event_us(runtime, events[0], events[i], &times[i].start_us, error) && cuda_event_us(runtime, events[i], events[i + 1], &times[i].length_us, error);
    }
    for (int i = 0; i <= count && events; i++) cuda_event_free(runtime, events[i]);
    free(events);
    return good;
}

bool plan_profile(Runtime *runtime, const Plan *plan, void *const *inputs, void *const *constants, void *const *outputs, const int64_t *sizes, LaunchTime *times, OpError *error) {
    PlanState *state = runnable(runtime, plan, error);
    if (!state || !plan_begin(runtime, state, inputs, constants, outputs, sizes, error)) return false;
    if (!state->is_static) apply_patches(state, sizes);
    bool good = plan->device.kind == DEVICE_CUDA ? profile_cuda(runtime, state, times, error) : profile_host(runtime, state, times, error);
    plan_end(runtime, state, sizes);
    return good;
}
