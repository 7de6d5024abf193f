/* Predict: what a graph's kernels would cost, from loops that are made and fused as for a real compile but not generated.
 *
 *     Prediction p; if (predict(c, graph, device, &p)) …                       // p.us, p.bytes, p.flops, p.block_bytes, p.launches
 *
 * A kernel takes as long as its slower half: its bytes at the memory's speed, or its operations at the arithmetic's; and the start of a launch. Each
 * reduction behind the first in a kernel is one more time that its rows wait for one another. The speeds are those of a nominal machine of each kind, so
 * that what is decided by them is the same everywhere (a card: H200).
 * Source: the roofline model (Williams et al. 2009). To add a machine: a row of `machines`. */
#include "inductor/inductor.h"

typedef struct Machine { DeviceKind device; double bytes_us, flops_us, matmul_us, short_matmul_us /* of 16 bits */, launch_us; } Machine;

static const Machine machines[] = {
    {DEVICE_CPU, 2.0e4, 3.0e4, 1.0e5, 5.0e4, 0.5},
    {DEVICE_CUDA, 4.2e6, 4.0e7, 4.5e7, 6.5e8, 2.5},
};
static const double ROUND = 0.03; /* share of a kernel's time that one more reduction costs */

static const Machine *machine_of(Device device) { return &machines[device.kind == DEVICE_CUDA]; }

static double slower(double a, double b) { return a > b ? a : b; }

static int64_t loop_bytes(const Lowered *l, const Loop *loop) {
    int64_t bytes = 0;
    for (int i = 0; i < loop->accesses.count; i++) bytes += buffer_hint_bytes(&l->buffers.at[loop->accesses.at[i].buffer]);
    return bytes;
}

static void add_group(Prediction *p, const Machine *machine, const Lowered *l, const Group *group) {
    const Loop *loop = group->members.at[0].loop;
    bool outside = group_is_extern(group);
    int64_t bytes = outside ? loop_bytes(l, loop) : group->bytes_read + group->bytes_written;
    double flops = outside ? loop->flops : group->flops, speed = machine->flops_us;
    if (loop->kind == LOOP_MATMUL) speed = dtype_size(loop->matmul.a_meta.dtype) <= 2 ? machine->short_matmul_us : machine->matmul_us;
    double us = slower((double)bytes / machine->bytes_us, flops / speed);
    if (!outside && group->reductions > 1) us *= 1 + ROUND * (group->reductions - 1);
    p->us += us + machine->launch_us;
    p->bytes += bytes;
    p->flops += flops;
    p->launches++;
}

typedef struct PredictCall { Compile *c; const Graph *graph; Device device; Prediction *prediction; } PredictCall;

static void predict_body(void *state) {
    PredictCall *call = state;
    Lowered *lowered = lower(call->c, call->graph);
    lowered->device = call->device;
    Schedule *schedule = fuse(call->c, lowered);
    order(call->c, schedule);
    memplan(call->c, schedule);
    for (int i = 0; i < schedule->groups.count; i++) add_group(call->prediction, machine_of(call->device), lowered, schedule->groups.at[i]);
    call->prediction->block_bytes = schedule->block_bytes;
}

bool predict(Compile *c, const Graph *graph, Device device, Prediction *prediction) {
    Failure failure = {0};
    Policy untimed = *c->policy; /* no candidate is run on a card for it */
    Compile mine = *c;
    PredictCall call = {&mine, graph, device, prediction};
    *prediction = (Prediction){0};
    untimed.time_candidates = false;
    mine.policy = &untimed;
    mine.failure = &failure;
    bool ok = fail_catch(&failure, predict_body, &call);
    c->next_node_id = mine.next_node_id;
    c->reasons = mine.reasons;
    return ok;
}
