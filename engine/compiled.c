/* A compiled graph as the VM calls it. In: the graph's input tensors. Out: its output tensors, linked to the tape by one node, CompiledFunctionBackward.
 *
 * Storage rules: each allocated output of the plan is a storage of its own; outputs that share storage in eager execution share it here, and equal values
 * that eager keeps apart are copied apart; an output that is a view of an input is made from that input by as_strided, so gradients pass.
 * A backward called with fewer tangents than usual runs (and at first use compiles) a backward pruned for them: no zeros are ever made up. */
#include "second.h"
#include "sizes.h"
#include "vm/concrete.h"
#include "vm/tracing.h"
#include <string.h>

typedef struct Run {
    Entry *entry; VM *vm; const Artifacts *artifacts; Arena *scratch;
    const Plan *plan;
    const SideSizes *sizes; const int64_t *values; /* of symbolic sizes, by the entry's bindings; NULL: there are none */
    uint64_t seed; bool seeded;     /* of random numbers: given, or drawn when the plan is launched */
    Tensor **inputs; int input_count;
    Storage **storages;             /* by allocated output */
    void **pointers;
} Run;

/* Plans see an input from its first element on: its offset is not part of what was guarded. */
static void *input_data(const Tensor *t) {
    if (!t->storage->data) return NULL;
    return (char *)t->storage->data + t->meta.offset * dtype_size(t->meta.dtype);
}

#include "op/random.h"

static bool run_failed(VM *vm, const OpError *error) {
    vm_raise_op_error(vm, error);
    return false;
}

/* No driver: the tensors have no data, so nothing is launched and the outputs have none either. */
static bool without_card(const Run *run) { return run->plan->device.kind == DEVICE_CUDA && !cuda_available(run->vm->runtime, NULL); }

static int64_t output_bytes(const Run *run, const Buffer *buffer) {
    Meta meta;
    if (!run->values) return buffer->bytes;
    metacode_run(&run->sizes->buffers[buffer->index], run->values, &meta);
    return meta_bytes(&meta);
}

static bool allocate_outputs(Run *run) {
    const Plan *plan = run->plan;
    run->storages = ARENA_ARRAY(run->scratch, Storage *, plan->allocated_outputs + 1);
    run->pointers = ARENA_ARRAY(run->scratch, void *, plan->allocated_outputs + 1);
    for (int i = 0; i < plan->buffers.count; i++) {
        const Buffer *buffer = &plan->buffers.at[i];
        if (buffer->role != BUFFER_OUTPUT) continue;
        int64_t bytes = output_bytes(run, buffer);
        Storage *storage = (without_card(run) ? storage_fake : storage_new)(run->vm->runtime, plan->device, bytes);
        if (!storage) {
            vm_raise(run->vm, "RuntimeError", "out of memory: an output of %lld bytes of a compiled graph", (long long)bytes);
            return false;
        }
        run->storages[buffer->index] = storage;
        run->pointers[buffer->index] = storage->data;
    }
    return true;
}

/* A tensor's first element where the plan runs. One that lies on the CPU crosses; `crossed` is released after the launch. NULL: exception set, or empty. */
static void *data_on_device(Run *run, Tensor *t, Tensor **crossed) {
    if (t->storage->device.kind == run->plan->device.kind) return input_data(t);
    *crossed = tensor_transfer(run->vm, t, t->meta.dtype, run->plan->device);
    return *crossed ? input_data(*crossed) : NULL;
}

static bool run_plan_on(Run *run, void **inputs, void **constants) {
    const Plan *plan = run->plan;
    int64_t none[2] = {0, 0}, *sizes = run->values ? sizes_of_plan(run->sizes, plan, run->values, run->scratch) : none;
    if (plan->random_draws && !run->seeded) run->seed = rng_next64(run->vm->context.generator);
    if (plan->random_draws) sizes[run->values ? plan->size_inputs : 0] = (int64_t)run->seed;
    OpError error = {0};
    run->entry->dynamo->launches += plan->launches.count;
    run->entry->dynamo->bytes += plan->bytes_moved;
    if (!plan_run(run->vm->runtime, plan, inputs, constants, run->pointers, sizes, &error)) return run_failed(run->vm, &error);
    return true;
}

static bool launch(Run *run) {
    const Plan *plan = run->plan;
    if (without_card(run)) return true;
    void **inputs = ARENA_ARRAY(run->scratch, void *, plan->input_count + 1), **constants = ARENA_ARRAY(run->scratch, void *, plan->constant_count + 1);
    Tensor **crossed = ARENA_ARRAY(run->scratch, Tensor *, plan->input_count + plan->buffers.count + 1);
    for (int i = 0; i < plan->input_count; i++) inputs[i] = run->inputs[i] ? data_on_device(run, run->inputs[i], &crossed[i]) : NULL;
    for (int i = 0; i < plan->buffers.count; i++)
        if (plan->buffers.at[i].role == BUFFER_CONSTANT) constants[plan->buffers.at[i].index] = data_on_device(run, plan->buffers.at[i].constant, &crossed[plan->input_count + i]);
    bool ok = run->vm->exception.tag == V_NULL && run_plan_on(run, inputs, constants);
    for (int i = 0; i < plan->input_count + plan->buffers.count; i++)
        if (crossed[i]) value_unref(run->vm, value_tensor(crossed[i]));
    return ok;
}

static void release_storages(Run *run) {
    for (int i = 0; run->storages && i < run->plan->allocated_outputs; i++)
        if (run->storages[i]) storage_unref(run->storages[i]);
}

static Tensor *tensor_over(VM *vm, Storage *storage, const Meta *meta) {
    Tensor *tensor = tensor_fake(vm, meta, NULL);
    storage_unref(tensor->storage);
    tensor->storage = storage_ref(storage);
    return tensor;
}

/* A view that the plan describes from an input's first element on. */
static Tensor *tensor_over_input(Run *run, int input, const Meta *meta) {
    Meta shifted = *meta;
    shifted.offset += run->inputs[input]->meta.offset;
    return tensor_over(run->vm, run->inputs[input]->storage, &shifted);
}

/* In the sizes of this call. */
static Meta output_meta(const Run *run, int i) {
    Meta meta = run->plan->outputs.at[i].meta;
    if (run->values) metacode_run(&run->sizes->outputs[i], run->values, &meta);
    return meta;
}

/* The plan's output number `i` as a tensor; owned. NULL for none. */
static Tensor *plan_output(Run *run, int i) {
    const PlanOutput *output = &run->plan->outputs.at[i];
    if (output->is_none) return NULL;
    Meta meta = output_meta(run, i);
    if (output->alias_input >= 0) return tensor_over_input(run, output->alias_input, &meta);
    const Buffer *buffer = &run->plan->buffers.at[output->buffer];
    if (buffer->role == BUFFER_INPUT) return tensor_over_input(run, buffer->index, &meta);
    if (buffer->role == BUFFER_CONSTANT) return tensor_over(run->vm, ((Tensor *)buffer->constant)->storage, &meta);
    return tensor_over(run->vm, run->storages[buffer->index], &meta);
}

/* A copy with storage of its own, outside the tape. */
static Tensor *tensor_apart(VM *vm, Tensor *tensor) {
    bool grad = vm->grad_enabled;
    vm->grad_enabled = false;
    Value arg = value_tensor(tensor);
    Tensor *copy = vm_op_tensor(vm, "clone", &arg, 1);
    vm->grad_enabled = grad;
    value_unref(vm, arg);
    return copy;
}

static const OutputAlias *alias_of(const Graph *forward, int output) {
    for (int i = 0; i < forward->aliases.count; i++)
        if (forward->aliases.at[i].output == output) return &forward->aliases.at[i];
    return NULL;
}

static Value dims_tuple(VM *vm, const Dim *dims, int count) {
    Value items[MAX_RANK];
    for (int i = 0; i < count; i++) items[i] = value_int(dims[i]);
    return tuple_new(vm, items, count);
}

static Value make_alias(Run *run, const OutputAlias *alias) {
    VM *vm = run->vm;
    Meta meta = alias->meta;
    if (run->values) metacode_run(&run->sizes->aliases[alias - run->artifacts->partition->forward->aliases.at], run->values, &meta);
    const Meta *input = &run->inputs[alias->input]->meta;
    if (meta.dtype != input->dtype) { /* x.view(dtype): the tape knows nothing of it */
        meta.offset += input->offset * dtype_size(input->dtype) / dtype_size(meta.dtype);
        return value_tensor(tensor_over(vm, run->inputs[alias->input]->storage, &meta));
    }
    if (alias->kind == ALIAS_DETACHED) return value_tensor(tensor_over_input(run, alias->input, &meta));
    Value args[4] = {value_tensor(run->inputs[alias->input]), dims_tuple(vm, meta.sizes, meta.rank), dims_tuple(vm, meta.strides, meta.rank), value_int(meta.offset + run->inputs[alias->input]->meta.offset)};
    bool grad = vm->grad_enabled;
    vm->grad_enabled = alias->kind != ALIAS_NO_GRAD;
    Value view = vm_op(vm, "as_strided", args, 4);
    vm->grad_enabled = grad;
    if (alias->kind == ALIAS_MULTI && value_is(view, OBJ_TENSOR)) ((Tensor *)view.o)->view_kind = VIEW_MULTI;
    value_unref(vm, args[1]);
    value_unref(vm, args[2]);
    return view;
}

/* Does output i have to be copied: it lies in the memory of an input, a constant or an earlier output that eager would not share. */
static bool must_copy(const Run *run, int i) {
    const Graph *forward = run->artifacts->partition->forward;
    const PlanOutput *output = &run->plan->outputs.at[i];
    if (output->alias_input >= 0 || run->plan->buffers.at[output->buffer].role != BUFFER_OUTPUT) return true;
    for (int j = 0; j < i; j++) {
        const PlanOutput *other = &run->plan->outputs.at[j];
        if (other->is_none || other->alias_input >= 0 || other->buffer != output->buffer) continue;
        if ((!forward->shares || forward->shares[i] != forward->shares[j]) && !must_copy(run, j)) return true; /* j keeps the buffer */
    }
    return false;
}

static Value user_output(Run *run, int i) {
    const OutputAlias *alias = alias_of(run->artifacts->partition->forward, i);
    if (alias) return make_alias(run, alias);
    Tensor *tensor = plan_output(run, i);
    if (!tensor) return VALUE_NONE;
    if (must_copy(run, i)) tensor = tensor_apart(run->vm, tensor);
    return tensor ? value_tensor(tensor) : VALUE_ERROR;
}

/* ---- backward ---- */
static bool same_mask(const bool *a, const bool *b, int count) {
    for (int i = 0; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

typedef struct PruneCall { Entry *entry; const bool *defined; Pruned *result; } PruneCall;

static bool pruned_fits(const Entry *entry, const Pruned *pruned, const bool *defined, int count, const int64_t *values) {
    return same_mask(defined, pruned->defined, count) && (!values || sizes_allow(entry, pruned->first_assumption, pruned->assumptions, values));
}

static void prune_body(void *state) {
    PruneCall *call = state;
    Entry *entry = call->entry;
    entry->compile.training = true;
    call->result = pipeline_pruned(&entry->compile, entry->graph, entry->artifacts, call->defined);
}

/* The side and partition for these tangents; compiled at first use, without counting as a graph. */
static bool find_backward(VM *vm, Entry *entry, const bool *defined, const int64_t *values, Side **side, const Partition **parts) {
    Artifacts *artifacts = entry->artifacts;
    int count = artifacts->joint->forward_outputs;
    *side = &artifacts->backward;
    *parts = artifacts->partition;
    if (same_mask(defined, artifacts->tangents, count)) return true;
    for (int i = 0; i < artifacts->pruned.count; i++)
        if (pruned_fits(entry, artifacts->pruned.at[i], defined, count, values)) {
            *side = &artifacts->pruned.at[i]->backward;
            *parts = artifacts->pruned.at[i]->partition;
            return true;
        }
    TraceState state = trace_state(vm);
    vm->evaluator = NULL;
    sizes_as_hints(entry, values);
    PruneCall call = {entry, defined, NULL};
    bool ok = fail_catch(&entry->failure, prune_body, &call);
    trace_state_restore(vm, &state);
    if (!ok) {
        vm_raise(vm, "RuntimeError", "the backward of [%s] could not be compiled: %s", entry->id, entry->failure.message);
        return false;
    }
    *side = &call.result->backward;
    *parts = call.result->partition;
    return true;
}

/* A tangent in the layout that the plan was made for; owned. */
static Tensor *tangent_in_layout(VM *vm, Tensor *tangent, const Meta *want) {
    if (meta_equal(&tangent->meta, want)) {
        tangent->head.refs++;
        return tangent;
    }
    Value args[2] = {value_tensor(tangent), dtype_new(vm, want->dtype)};
    Tensor *cast = vm_op_tensor(vm, "to", args, 2), *plain = NULL;
    value_unref(vm, args[1]);
    if (!cast) return NULL;
    Tensor *fresh = tensor_new(vm, want);
    if (fresh) {
        Value copy[2] = {value_tensor(fresh), value_tensor(cast)};
        plain = vm_op_tensor(vm, "copy_", copy, 2);
        value_unref(vm, copy[0]);
    }
    value_unref(vm, value_tensor(cast));
    return plain;
}

static bool backward_inputs(Run *run, GradNode *node, const Partition *parts, Tensor **grads_out) {
    const Graph *graph = parts->backward;
    int saved = parts->saved.count;
    run->input_count = graph->inputs.count;
    run->inputs = ARENA_ARRAY(run->scratch, Tensor *, graph->inputs.count + 1);
    for (int i = 0; i < saved; i++) {
        Tensor *tensor = autograd_saved(run->vm, node, i);
        if (!tensor) return false;
        tensor->head.refs++;
        run->inputs[i] = tensor;
    }
    for (int i = saved; i < graph->inputs.count; i++) {
        const Node *tangent = graph->inputs.at[i];
        Meta want = tangent->metas[0];
        if (run->values) metacode_run(&run->sizes->inputs[i], run->values, &want);
        run->inputs[i] = tangent_in_layout(run->vm, grads_out[tangent->tangent_of], &want);
        if (!run->inputs[i]) return false;
    }
    return true;
}

static void release_inputs(Run *run) {
    for (int i = 0; run->inputs && i < run->input_count; i++)
        if (run->inputs[i]) value_unref(run->vm, value_tensor(run->inputs[i]));
}

/* Each gradient is a tensor of its own: one that lies in another's memory is copied. */
static bool backward_outputs(Run *run, Tensor **grads_in) {
    const Plan *plan = run->plan;
    for (int i = 0; i < plan->outputs.count; i++) {
        grads_in[i] = plan_output(run, i);
        if (!grads_in[i]) continue;
        bool shared = plan->outputs.at[i].alias_input >= 0 || plan->buffers.at[plan->outputs.at[i].buffer].role != BUFFER_OUTPUT;
        for (int j = 0; j < i && !shared; j++) shared = grads_in[j] && grads_in[j]->storage == grads_in[i]->storage;
        if (shared) grads_in[i] = tensor_apart(run->vm, grads_in[i]);
        if (!grads_in[i]) return false;
    }
    return true;
}

static bool run_backward(VM *vm, Entry *entry, GradNode *node, Arena *scratch, const bool *defined, Tensor **grads_out, Tensor **grads_in) {
    Side *side;
    const Partition *parts;
    const int64_t *values = ((CallState *)node->state)->values;
    if (!find_backward(vm, entry, defined, values, &side, &parts)) return false;
    Run run = {.entry = entry, .vm = vm, .artifacts = entry->artifacts, .scratch = scratch, .plan = side->plan, .values = values};
    run.seeded = ((Artifacts *)entry->artifacts)->forward.plan->random_draws > 0; /* what is drawn again are the forward's numbers */
    if (run.seeded) run.seed = ((CallState *)node->state)->seed;
    if (values && !(run.sizes = side_sizes(entry, side))) return false;
    bool ok = backward_inputs(&run, node, parts, grads_out) && allocate_outputs(&run) && launch(&run) && backward_outputs(&run, grads_in);
    release_storages(&run);
    release_inputs(&run);
    return ok;
}

static bool compiled_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    Entry *entry = ((CallState *)node->state)->entry;
    Artifacts *artifacts = entry->artifacts;
    if (vm->grad_enabled) return second_backward(vm, node, grads_out, grads_in);
    Arena *scratch = arena_new("backward");
    bool *defined = ARENA_ARRAY(scratch, bool, artifacts->joint->forward_outputs + 1), any = false, ok = true;
    for (int i = 0; i < artifacts->joint->forward_outputs; i++) any |= defined[i] = grads_out[i] && artifacts->tangents[i];
    if (any) ok = run_backward(vm, entry, node, scratch, defined, grads_out, grads_in);
    arena_free(scratch);
    return ok;
}

static void saved_release(VM *vm, void *state) {
    (void)vm;
    entry_unref(((CallState *)state)->entry);
    free(((CallState *)state)->values);
    free(state);
}

/* What was written straight to an input's memory lies there as the input does, not always as the backward reads it; owned. */
static Tensor *saved_in_layout(const Run *run, const Partition *parts, int i, Tensor *tensor) {
    Meta want = parts->backward->inputs.at[i]->metas[0];
    const SideSizes *sizes = run->values ? side_sizes(run->entry, &((Artifacts *)run->entry->artifacts)->backward) : NULL;
    if (run->values && !sizes) return NULL;
    if (sizes) metacode_run(&sizes->inputs[i], run->values, &want);
    if (meta_equal(&tensor->meta, &want)) return (Tensor *)value_ref(value_tensor(tensor)).o;
    bool grad = run->vm->grad_enabled;
    run->vm->grad_enabled = false;
    Tensor *laid = tangent_in_layout(run->vm, tensor, &want);
    run->vm->grad_enabled = grad;
    return laid;
}

/* The call moves the input behind itself on the tape: held by the node, the two would hold each other. */
static bool is_regraded(const Run *run, int input) {
    const Graph *joint = run->artifacts->joint;
    for (int i = 0; i < joint->regrads.count; i++)
        if (joint->regrads.at[i].input == input) return true;
    return false;
}

/* What the backward needs: an input is saved as itself (its version is checked), anything else as a tensor over the plan's storage. */
static void save_values(Run *run, GradNode *node) {
    const Partition *parts = run->artifacts->partition;
    int first = run->plan->outputs.count - parts->saved.count;
    for (int i = 0; i < parts->saved.count; i++) {
        const PlanOutput *output = &run->plan->outputs.at[first + i];
        int input = output->alias_input >= 0 ? output->alias_input : run->plan->buffers.at[output->buffer].role == BUFFER_INPUT ? run->plan->buffers.at[output->buffer].index : -1;
        Meta meta = output_meta(run, first + i);
        if (input >= 0 && !is_regraded(run, input) && meta_equal(&run->inputs[input]->meta, &meta) && meta.offset == 0) {
            autograd_save(run->vm, node, value_tensor(run->inputs[input]));
            continue;
        }
        Tensor *tensor = plan_output(run, first + i), *laid = saved_in_layout(run, parts, i, tensor);
        autograd_save(run->vm, node, laid ? value_tensor(laid) : VALUE_NONE);
        value_unref(run->vm, value_tensor(tensor));
        if (laid) value_unref(run->vm, value_tensor(laid));
    }
}

static void bump_mutated(Run *run) {
    const Graph *forward = run->artifacts->partition->forward;
    for (int i = 0; i < forward->mutations.count; i++) run->inputs[forward->mutations.at[i].input]->storage->version++;
}

/* The call's node, with its edges as the inputs were before, and what it keeps as they are now; inputs that were changed move behind it. Owned. */
static GradNode *make_node(Run *run) {
    Entry *entry = run->entry;
    const Graph *joint = run->artifacts->joint;
    GradNode *node = autograd_node(run->vm, "CompiledFunctionBackward", run->inputs, run->input_count, joint->forward_outputs, compiled_backward);
    CallState *saved = heap_zeroed(sizeof *saved);
    saved->entry = entry_ref(entry);
    saved->seed = run->seed;
    saved->values = run->values ? malloc(sizeof *saved->values * (size_t)entry->bindings.count) : NULL;
    if (saved->values) memcpy(saved->values, run->values, sizeof *saved->values * (size_t)entry->bindings.count);
    node->state = saved;
    node->release = saved_release;
    bump_mutated(run);
    save_values(run, node);
    saved->first_input = node->nsaved;
    second_keep_inputs(run->vm, node, entry, run->inputs);
    for (int i = 0; i < joint->regrads.count; i++)
        if (run->artifacts->tangents[joint->regrads.at[i].output]) autograd_replace(run->vm, run->inputs[joint->regrads.at[i].input], node, joint->regrads.at[i].output);
    return node;
}

/* Before anything is written: may the inputs that the graph changes, gradients on, be changed? */
static bool may_change_inputs(Run *run) {
    const Graph *joint = run->artifacts->joint;
    for (int i = 0; i < joint->regrads.count; i++)
        if (!autograd_check_inplace(run->vm, run->inputs[joint->regrads.at[i].input])) return false;
    return true;
}

static Value forward_outputs(Run *run) {
    int count = run->artifacts->partition->forward_outputs - run->artifacts->joint->regrads.count;
    Value *outputs = ARENA_ARRAY(run->scratch, Value, count + 1);
    GradNode *node = run->entry->compile.training ? make_node(run) : NULL;
    bool ok = true;
    if (!node) bump_mutated(run);
    for (int i = 0; i < count; i++) {
        outputs[i] = user_output(run, i);
        ok = ok && !value_is_error(outputs[i]);
        if (node && run->artifacts->tangents[i] && value_is(outputs[i], OBJ_TENSOR)) autograd_attach(run->vm, (Tensor *)outputs[i].o, node, i);
    }
    if (node) grad_node_unref(run->vm, node);
    Value result = ok ? tuple_new(run->vm, outputs, count) : VALUE_ERROR;
    for (int i = 0; i < count; i++) value_unref(run->vm, outputs[i]);
    return result;
}

Value compiled_run(Entry *entry, Value *args, int nargs) {
    Artifacts *artifacts = entry->artifacts;
    Run run = {.entry = entry, .vm = entry->dynamo->vm, .artifacts = artifacts, .scratch = arena_new("compiled call"), .plan = artifacts->forward.plan, .input_count = nargs - entry->int_count};
    run.inputs = ARENA_ARRAY(run.scratch, Tensor *, nargs + 1);
    for (int i = 0; i < run.input_count; i++) run.inputs[i] = (Tensor *)args[i].o;
    run.values = sizes_of_call(entry, run.inputs, args + run.input_count, run.scratch);
    run.sizes = run.values ? side_sizes(entry, &artifacts->forward) : NULL;
    Value result = VALUE_ERROR;
    if (run.values && !run.sizes) {
        arena_free(run.scratch);
        return result;
    }
    if (may_change_inputs(&run) && allocate_outputs(&run) && launch(&run)) result = forward_outputs(&run);
    release_storages(&run);
    arena_free(run.scratch);
    return result;
}

/* ---- random numbers again ---- */

typedef struct DrawsCall { Entry *entry; Side *result; } DrawsCall;
static void draws_body(void *state) {
    DrawsCall *call = state;
    call->result = pipeline_draws(&call->entry->compile, call->entry->artifacts);
}

/* The side that computes them; compiled at first use. NULL: exception set. */
static Side *draws_side(VM *vm, Entry *entry) {
    Artifacts *artifacts = entry->artifacts;
    DrawsCall call = {entry, NULL};
    TraceState traced = trace_state(vm);
    if (!artifacts->draws && fail_catch(&entry->failure, draws_body, &call)) artifacts->draws = call.result;
    trace_state_restore(vm, &traced);
    if (!artifacts->draws) vm_raise(vm, "RuntimeError", "the random numbers of [%s] cannot be drawn again: %s", entry->id, entry->failure.message);
    return artifacts->draws;
}

static Value outputs_tuple(Run *run) {
    int count = run->plan->outputs.count;
    Value *outputs = ARENA_ARRAY(run->scratch, Value, count + 1);
    for (int i = 0; i < count; i++) outputs[i] = value_tensor(plan_output(run, i));
    Value tuple = tuple_new(run->vm, outputs, count);
    for (int i = 0; i < count; i++) value_unref(run->vm, outputs[i]);
    return tuple;
}

Value compiled_draws(VM *vm, const CallState *state, Tensor **inputs, int input_count) {
    Side *side = draws_side(vm, state->entry);
    if (!side) return VALUE_ERROR;
    Run run = {.entry = state->entry, .vm = vm, .artifacts = state->entry->artifacts, .scratch = arena_new("draws"), .plan = side->plan, .values = state->values,
               .inputs = inputs, .input_count = input_count, .seed = state->seed, .seeded = true};
    bool ok = !run.values || (run.sizes = side_sizes(state->entry, side));
    Value result = ok && allocate_outputs(&run) && launch(&run) ? outputs_tuple(&run) : VALUE_ERROR;
    release_storages(&run);
    arena_free(run.scratch);
    return result;
}
