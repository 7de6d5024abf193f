/* Ops on cuda tensors, one at a time: each becomes a graph of one op, which goes through the same lowering and code generation as compiled graphs.
 *
 * In: an op with device pointers. Out: the outputs written, on the default stream.
 * In the steady state a call is read into its class (eager_class.c), the class's plan is found by its key, and the plan is run with the call's sizes:
 * nothing is allocated. The kernels are in the disk cache. What is here works on any device for which plans can be made, so that the unit tests run
 * the same classes and plans on the CPU.
 * Invariant: a plan is found by its whole key, never by a hash alone. */
#include "eager.h"
#include "op/random.h"
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

bool eager_cuda_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Session *session = state;
    const OpClass *class;
    EagerPlan *made = plan_of_call(session, op, args, nargs, outs, nouts, outs[0].tensor.meta->device, &class);
    if (class->empty) return true;
    if (nouts > MAX_OUTPUTS) return op_error(error, ERROR_RUNTIME, "%s on cuda: more than %d results", op->name, (int)MAX_OUTPUTS);
    if (made->error) return op_error(error, ERROR_RUNTIME, "%s on cuda: %s", op->name, made->error);
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
