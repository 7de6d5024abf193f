/* Ops on cuda tensors, one at a time: each becomes a graph of one op, which goes through the same lowering and code generation as compiled graphs.
 *
 * In: an op with device pointers. Out: the outputs written, on the default stream.
 * In the steady state a call is read into its class (eager_class.c), the class's plan is found by its key, and the plan is run with the call's sizes:
 * nothing is allocated. The kernels are in the disk cache. What is here works on any device for which plans can be made, so that the unit tests run
 * the same classes and plans on the CPU.
 * A class for which no plan can be made runs on the host with copies, or op by op where the row has a body; a note says so.
 * Invariant: a plan is found by its whole key, never by a hash alone. */
#include "eager.h"
#include "base/text.h"
#include "op/family.h"
#include "op/random.h"
#include "vm/body.h"
#include "vm/dispatch.h"
#include <stdlib.h>
#include <string.h>

static EagerPlans *plans_of(Session *session) {
    if (!session->eager_plans) session->eager_plans = ARENA_NEW(session->arena, EagerPlans);
    return session->eager_plans;
}

/* ---- plans by key ---- */
static EagerPlan **slot_of(const EagerPlans *plans, const OpClass *class) {
    unsigned mask = (unsigned)plans->slot_count - 1, at = (unsigned)class->hash & mask;
    for (EagerPlan *plan; (plan = plans->slots[at]); at = (at + 1) & mask)
        if (plan->hash == class->hash && plan->key_length == class->key.count && memcmp(plan->key, class->key.at, (size_t)class->key.count) == 0) break;
    return &plans->slots[at];
}

static void plans_grow(EagerPlans *plans) {
    EagerPlan **old = plans->slots;
    int count = plans->slot_count;
    plans->slot_count = count ? 2 * count : 256;
    plans->slots = calloc((size_t)plans->slot_count, sizeof *plans->slots);
    if (!plans->slots) abort();
    unsigned mask = (unsigned)plans->slot_count - 1;
    for (int i = 0; i < count; i++) {
        if (!old[i]) continue;
        unsigned at = (unsigned)old[i]->hash & mask;
        while (plans->slots[at]) at = (at + 1) & mask;
        plans->slots[at] = old[i];
    }
    free(old);
}

static EagerPlan *find_or_make(Session *session, const OpClass *class) {
    EagerPlans *plans = session->eager_plans;
    if (2 * plans->count >= plans->slot_count) plans_grow(plans);
    EagerPlan **slot = slot_of(plans, class);
    if (*slot) return *slot;
    EagerPlan *made = eager_plan_make(session, class);
    plans->count++;
    plans->compiled += made->plan != NULL;
    return *slot_of(plans, class) = made;
}

/* The call's plan, and in *class what it is given. */
static EagerPlan *plan_of_call(Session *session, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, Device device, const OpClass **class) {
    EagerPlans *plans = plans_of(session);
    *class = &plans->class;
    op_classify(&plans->class, op, args, nargs, outs, nouts, device, false);
    EagerPlan *made = find_or_make(session, *class);
    if (!made->go_exact) return made;
    *class = &plans->exact;
    op_classify(&plans->exact, op, args, nargs, outs, nouts, device, true);
    return find_or_make(session, *class);
}

const Plan *eager_cuda_plan(Session *session, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const char **error) {
    const OpClass *class;
    EagerPlan *made = plan_of_call(session, op, args, nargs, outs, nouts, (Device){DEVICE_CUDA, 0}, &class);
    *error = made->error;
    return made->plan;
}

int eager_cuda_plans(const Session *session) { return session->eager_plans ? session->eager_plans->compiled : 0; }

/* ---- running ---- */
enum { MAX_OUTPUTS = 64 };

static bool load(Session *session, EagerPlan *made, OpError *error) {
    CompileReport report;
    if (made->loaded) return true;
    made->loaded = plan_load(session->runtime, made->plan, &report, error);
    return made->loaded;
}

static const int64_t *sizes_of_call(EagerPlans *plans, const EagerPlan *made, const OpClass *class, const OpContext *context) {
    plans->sizes.count = 0;
    for (int i = 0; i < made->order_count; i++) {
        const Given *given = &class->given.at[made->order[i]];
        vec_push(&plans->sizes, given->multiple > 1 ? given->value / given->multiple : given->value);
    }
    if (made->plan->random_draws) {
        uint64_t seed, offset;
        rng_stream(context->generator, (uint64_t)made->plan->random_draws, &seed, &offset);
        vec_push(&plans->sizes, (int64_t)seed);
        vec_push(&plans->sizes, (int64_t)offset);
    }
    return plans->sizes.at;
}

/* ---- without a plan ---- */
/* Memory of the card that the call names, and what stands for it on the host. */
typedef struct HostCopy { void *card, *host; int64_t bytes; } HostCopy;
typedef struct Host { Session *session; Arena *arena; Device device; VEC(HostCopy) copies; } Host;

static HostCopy *find_copy(const Host *host, const void *card) {
    for (int i = 0; i < host->copies.count; i++)
        if (host->copies.at[i].card == card) return &host->copies.at[i];
    return NULL;
}

/* Views of one storage are one copy, as far as the longest of them reaches. */
static void note_tensors(Host *host, const Arg *args, int count) {
    for (int i = 0; i < count; i++) {
        if (args[i].tag == ARG_TENSORS) note_tensors(host, args[i].list.items, args[i].list.count);
        if (args[i].tag != ARG_TENSOR || !args[i].tensor.data) continue;
        const Meta *meta = args[i].tensor.meta;
        int64_t bytes = meta_storage_span(meta) * dtype_size(meta->dtype);
        HostCopy *copy = find_copy(host, args[i].tensor.data);
        if (!copy) vec_push_in(host->arena, &host->copies, ((HostCopy){.card = args[i].tensor.data, .bytes = bytes}));
        else if (copy->bytes < bytes) copy->bytes = bytes;
    }
}

static Arg *args_on_host(const Host *host, const Arg *args, int count) {
    Arg *made = ARENA_ARRAY(host->arena, Arg, count + 1);
    for (int i = 0; i < count; i++) {
        made[i] = args[i];
        if (args[i].tag == ARG_DEVICE) made[i].device = (Device){DEVICE_CPU, 0};
        if (args[i].tag == ARG_TENSORS) made[i].list.items = args_on_host(host, args[i].list.items, args[i].list.count);
        if (args[i].tag != ARG_TENSOR) continue;
        Meta *meta = arena_copy(host->arena, args[i].tensor.meta, sizeof *meta);
        const HostCopy *copy = find_copy(host, args[i].tensor.data);
        meta->device = (Device){DEVICE_CPU, 0};
        made[i].tensor.meta = meta;
        made[i].tensor.data = copy ? copy->host : NULL;
    }
    return made;
}

static bool copy_tensors(const Host *host, const HostCopy *copy, bool back, OpError *error) {
    const Device cpu = {DEVICE_CPU, 0};
    if (copy->bytes <= 0) return true;
    if (back) return device_copy(host->session->runtime, copy->card, host->device, copy->host, cpu, copy->bytes, error);
    return device_copy(host->session->runtime, copy->host, cpu, copy->card, host->device, copy->bytes, error);
}

static bool run_on_host(Session *session, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Host host = {.session = session, .arena = arena_new("eager op on the host"), .device = outs[0].tensor.meta->device};
    bool good = true;
    note_tensors(&host, args, nargs);
    note_tensors(&host, outs, nouts);
    for (int i = 0; i < host.copies.count && good; i++) {
        HostCopy *copy = &host.copies.at[i];
        copy->host = malloc((size_t)(copy->bytes > 0 ? copy->bytes : 0) + 64);
        good = copy->host ? copy_tensors(&host, copy, false, error) : op_error(error, ERROR_MEMORY, "%s: out of memory", op->name);
    }
    good = good && op_run_cpu(op, args_on_host(&host, args, nargs), nargs, args_on_host(&host, outs, nouts), nouts, context, error);
    for (int i = 0; i < nouts && good; i++) {
        const HostCopy *written = find_copy(&host, outs[i].tensor.data);
        good = !written || copy_tensors(&host, written, true, error);
    }
    for (int i = 0; i < host.copies.count; i++) free(host.copies.at[i].host);
    arena_free(host.arena);
    return good;
}

/* What an exception says, as an error of the op that met it. */
static bool take_exception(VM *vm, const Op *op, OpError *error) {
    Value message = vm->stopped ? VALUE_NULL : vm_str(vm, vm->exception);
    if (!vm->stopped) vm_clear_exception(vm);
    op_error(error, ERROR_RUNTIME, "%s: %s", op->name, value_is(message, OBJ_STR) ? str_text(message) : "stopped");
    value_unref(vm, message);
    return false;
}

static bool copy_result(VM *vm, Value result, const Arg *out, int i) {
    Value item = value_is(result, OBJ_TUPLE) ? ((Tuple *)result.o)->items[i] : result;
    if (!value_is(item, OBJ_TENSOR)) return true; /* None: not asked for */
    Value written = vm_op_args(vm, "copy_", (Arg[]){*out, arg_of_tensor((Tensor *)item.o)}, 2);
    bool good = !value_is_error(written);
    if (good) value_unref(vm, written);
    return good;
}

/* A row with a body: its body, op by op. */
static bool run_op_by_op(Session *session, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, OpError *error) {
    VM *vm = session->vm;
    Executor *executor = &vm->executors[outs[0].tensor.meta->device.kind];
    bool whole = executor->runs_bodies, grad = vm->grad_enabled;
    executor->runs_bodies = vm->grad_enabled = false;
    Value result = op_call_body(vm, op, args, nargs);
    bool good = !value_is_error(result);
    for (int i = 0; i < nouts && good; i++) good = copy_result(vm, result, &outs[i], i);
    if (!value_is_error(result)) value_unref(vm, result);
    executor->runs_bodies = whole, vm->grad_enabled = grad;
    return good || take_exception(vm, op, error);
}

/* A class without a plan runs all the same, and the notes say why so. */
static bool run_without_plan(Session *session, EagerPlan *made, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    bool by_body = op->family == FAMILY_DECOMPOSED;
    if (!by_body && !op->family_ops->run_cpu) return op_error(error, ERROR_RUNTIME, "%s on cuda: %s", op->name, made->error);
    if (!made->noted) {
        Text note = {0};
        text_printf(&note, by_body ? "%s has no kernel of its own on the card, its body runs op by op: %s" : "%s has no CUDA kernel: it runs on the CPU, with copies there and back: %s", op->name, made->error);
        session_note(session, text_cstr(&note));
        text_free(&note);
    }
    made->noted = true;
    return by_body ? run_op_by_op(session, op, args, nargs, outs, nouts, error) : run_on_host(session, op, args, nargs, outs, nouts, context, error);
}

bool eager_cuda_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Session *session = state;
    const OpClass *class;
    EagerPlan *made = plan_of_call(session, op, args, nargs, outs, nouts, outs[0].tensor.meta->device, &class);
    if (class->empty) return true;
    if (made->error) return run_without_plan(session, made, op, args, nargs, outs, nouts, context, error);
    if (nouts > MAX_OUTPUTS) return op_error(error, ERROR_RUNTIME, "%s on cuda: more than %d results", op->name, (int)MAX_OUTPUTS);
    if (!load(session, made, error)) return false;
    void *outputs[MAX_OUTPUTS] = {0};
    for (int i = 0; i < made->output_count; i++) {
        const Meta *meta = outs[i].tensor.meta;
        if (made->outputs[i] >= 0) outputs[made->outputs[i]] = (char *)outs[i].tensor.data + meta->offset * dtype_size(meta->dtype);
    }
    return plan_run(session->runtime, made->plan, class->inputs.at, NULL, outputs, sizes_of_call(session->eager_plans, made, class, context), error);
}

void eager_cuda_close(Session *session) {
    EagerPlans *plans = session->eager_plans;
    if (!plans) return;
    for (int i = 0; i < plans->slot_count; i++)
        if (plans->slots[i]) eager_plan_free(session, plans->slots[i]);
    free(plans->slots);
    op_class_free(&plans->class);
    op_class_free(&plans->exact);
    vec_free(&plans->sizes);
}
