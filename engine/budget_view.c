/* What-ifs of the partition: another memory budget or mode, priced by the predictor without compiling anything; and their plot.
 *
 *     WhatIf two[2]; const double budgets[2] = {0.5, 1};
 *     if (entry_what_if(entry, NULL, budgets, 2, two, arena, &error)) plot = what_if_plot(entry, two, 2, arena);
 *
 * Invariant: the entry stays as it is; each what-if is made in memory of its own, with reasons of its own. */
#include "aot/recompute.h"
#include "view.h"
#include <string.h>

static const Artifacts *trained(const Entry *entry) {
    const Artifacts *artifacts = entry->artifacts;
    return artifacts && artifacts->partition && artifacts->partition->backward && artifacts->partition->facts ? artifacts : NULL;
}

static bool mode_named(const char *name, PartitionMode *mode) {
    static const char *const names[] = {[PARTITION_BEST] = "best", [PARTITION_PYTORCH] = "pytorch", [PARTITION_AGGRESSIVE] = "aggressive", [PARTITION_SAVE_ALL] = "save_all"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return *mode = (PartitionMode)i, true;
    return false;
}

static int64_t inputs_bytes(const Graph *graph, bool tangents) {
    int64_t bytes = 0;
    for (int i = 0; i < graph->inputs.count; i++)
        if (graph->inputs.at[i]->is_tangent == tangents) bytes += meta_bytes(&graph->inputs.at[i]->metas[0]);
    return bytes;
}

/* Outputs that have memory of their own; gradients likewise. */
static int64_t outputs_bytes(const Graph *graph, int first, int end) {
    int64_t bytes = 0;
    for (int i = first; i < end; i++)
        if (graph->outputs.at[i] && graph->outputs.at[i]->kind == NODE_CALL && graph->outputs.at[i]->op->family != FAMILY_VIEW) bytes += meta_bytes(&graph->outputs.at[i]->metas[0]);
    return bytes;
}

/* Both times hold the inputs, the user's outputs and what is saved; the forward its temporaries, the backward its own, tangents and gradients. */
static int64_t peak_bytes(const Partition *p, const Prediction *forward, const Prediction *backward) {
    int64_t always = inputs_bytes(p->joint, false) + outputs_bytes(p->forward, 0, p->forward_outputs) + p->storage_bytes;
    int64_t behind = backward->block_bytes + inputs_bytes(p->joint, true) + outputs_bytes(p->backward, 0, p->backward->outputs.count);
    return always + (forward->block_bytes > behind ? forward->block_bytes : behind);
}

typedef struct Case { Compile compile; Failure failure; Policy policy; Graph *joint; Partition *partition; Prediction forward, backward; } Case;

static void cut_body(void *state) {
    Case *what = state;
    what->partition = partition(&what->compile, what->joint, NULL);
}

/* The joint graph of the entry under another policy. */
static bool price(const Entry *entry, Graph *joint, const Policy *policy, Arena *own, Case *what) {
    *what = (Case){.compile = entry->compile, .policy = *policy, .joint = joint};
    what->compile.arena = own;
    what->compile.reasons = (ReasonLog){.arena = own};
    what->compile.policy = &what->policy;
    what->compile.failure = &what->failure;
    if (!fail_catch(&what->failure, cut_body, what)) return false;
    Compile *c = &what->compile;
    return c->predict && c->predict(c, what->partition->forward, &what->forward) && c->predict(c, what->partition->backward, &what->backward);
}

static const char *price_failed(const Case *what, Arena *arena) {
    return what->failure.message[0] ? arena_strdup(arena, what->failure.message) : "this graph's kernels cannot be made here, so their time cannot be predicted";
}

static WhatIf result_of(const Case *what, const Case *against) {
    const Partition *p = what->partition;
    return (WhatIf){.budget = what->policy.memory_budget, .chosen = p->chosen, .saved = p->saved.count, .recomputed = p->recomputed_count, .saved_bytes = p->saved_bytes,
                    .storage_bytes = p->storage_bytes, .peak_bytes = peak_bytes(p, &what->forward, &what->backward), .extra_flops = what->backward.flops - against->backward.flops,
                    .extra_bytes = what->backward.bytes - against->backward.bytes, .forward_us = what->forward.us, .backward_us = what->backward.us};
}

static bool may_ask(const Entry *entry, const char *mode, const double *budgets, int count, Policy *policy, Arena *arena, const char **error) {
    *error = NULL;
    if (!trained(entry)) *error = "no training graph";
    else if (mode && !mode_named(mode, &policy->partition)) *error = arena_printf(arena, "there is no partition '%s': best, pytorch, aggressive, save_all", mode);
    for (int i = 0; i < count && !*error; i++)
        if (!(budgets[i] >= 0 && budgets[i] <= 1)) *error = arena_printf(arena, "a memory budget is a number from 0 (keep the inputs alone) to 1 (the min-cut), and this is %g", budgets[i]);
    return !*error;
}

bool entry_what_if(Entry *entry, const char *mode, const double *budgets, int count, WhatIf *results, Arena *arena, const char **error) {
    Policy policy = entry->policy;
    if (!may_ask(entry, mode, budgets, count, &policy, arena, error)) return false;
    Graph *joint = trained(entry)->decomposed;
    Arena *own = arena_new("what if");
    Case *what = ARENA_NEW(own, Case), *against = ARENA_NEW(own, Case), *failed = NULL;
    policy.memory_budget = 1;
    if (!price(entry, joint, &policy, own, against)) failed = against;
    for (int i = 0; i < count && !failed; i++) {
        policy.memory_budget = budgets[i];
        if (!price(entry, joint, &policy, own, what)) failed = what;
        else results[i] = result_of(what, against);
    }
    if (failed) *error = price_failed(failed, arena);
    arena_free(own);
    return !failed;
}

Snapshot *what_if_plot(Entry *entry, const WhatIf *points, int count, Arena *arena) {
    Snapshot *plot = snapshot_new(arena, "budget", arena_printf(arena, "[%s] %s: peak memory against time, by memory budget", entry->id, entry->code->name));
    plot->x_axis = "predicted microseconds of forward and backward";
    plot->y_axis = "peak KiB";
    for (int i = 0; i < count; i++) {
        SnapshotItem *item = snapshot_item(plot, arena_printf(arena, "budget%d", i), "kernel", arena_printf(arena, "%g", points[i].budget));
        item->start = points[i].forward_us + points[i].backward_us;
        item->length = (double)points[i].peak_bytes / 1024;
        snapshot_row(plot, item, "%lld B kept for the backward, %d values computed again", (long long)points[i].storage_bytes, points[i].recomputed);
    }
    return plot;
}
