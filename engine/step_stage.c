/* What a stage of the pipeline changed, as text. In: an entry whose stage has just been done. Out: a stop.
 *
 *     functional   11 nodes -> 11: add_ became add; input l_x_ takes %add at the end
 *     fuse         5 loops -> 2 kernels and calls; fused %relu, %sum: 32 bytes need not be read again
 *
 * Every stage also tells the decisions that it made: the reasons that it added to the entry's log.
 * To add a stage: its STEP in pipeline.c; a row in `summaries`, if its change can be said in a line. */
#include "step.h"
#include "view.h"
#include <string.h>

enum { REASONS_TOLD = 8 };

/* ---- graphs ---- */

typedef struct OpCount { const Op *op; int before, after; } OpCount;
typedef VEC(OpCount) OpCounts;

static void count_op(Arena *arena, OpCounts *counts, const Op *op, int before, int after) {
    for (int i = 0; i < counts->count; i++) {
        if (counts->at[i].op != op) continue;
        counts->at[i].before += before;
        counts->at[i].after += after;
        return;
    }
    vec_push_in(arena, counts, ((OpCount){op, before, after}));
}

/* Ops that there are more or fewer of: "- add_ x2   + add x2". */
static void put_op_changes(Text *text, Arena *arena, const Graph *before, const Graph *after) {
    OpCounts counts = {0};
    for (int i = 0; i < before->nodes.count; i++)
        if (before->nodes.at[i]->kind == NODE_CALL) count_op(arena, &counts, before->nodes.at[i]->op, 1, 0);
    for (int i = 0; i < after->nodes.count; i++)
        if (after->nodes.at[i]->kind == NODE_CALL) count_op(arena, &counts, after->nodes.at[i]->op, 0, 1);
    for (int sign = -1; sign <= 1; sign += 2)
        for (int i = 0; i < counts.count; i++) {
            int change = (counts.at[i].after - counts.at[i].before) * sign;
            if (change <= 0) continue;
            text_printf(text, "\n%c %s", sign < 0 ? '-' : '+', counts.at[i].op->name);
            if (change > 1) text_printf(text, " x%d", change);
        }
}

static int count_side(const Graph *graph, NodeSide side) {
    int count = 0;
    for (int i = 0; i < graph->nodes.count; i++) count += graph->nodes.at[i]->kind == NODE_CALL && graph->nodes.at[i]->side == side;
    return count;
}

static int count_calls(const Graph *graph) { return count_side(graph, SIDE_FORWARD) + count_side(graph, SIDE_BACKWARD); }

typedef struct Change { Stepper *stepper; Entry *entry; const Artifacts *artifacts; const Side *side; const char *side_name; Text text; } Change;

static void put_counts(Change *change, const Graph *before, const Graph *after) {
    text_printf(&change->text, "%d op%s -> %d", count_calls(before), count_calls(before) == 1 ? "" : "s", count_calls(after));
}

static void tell_joint(Change *change) {
    const Graph *graph = change->artifacts->joint;
    put_counts(change, change->entry->graph, graph);
    if (change->entry->compile.training) text_printf(&change->text, ": %d forward, %d backward, traced from autograd's own tape", count_side(graph, SIDE_FORWARD), count_side(graph, SIDE_BACKWARD));
    put_op_changes(&change->text, change->stepper->arena, change->entry->graph, graph);
}

static void tell_functional(Change *change) {
    const Graph *graph = change->artifacts->functional;
    put_counts(change, change->artifacts->joint, graph);
    put_op_changes(&change->text, change->stepper->arena, change->artifacts->joint, graph);
    for (int i = 0; i < graph->mutations.count; i++) {
        const Mutation *m = &graph->mutations.at[i];
        const Node *output = graph->outputs.at[m->output];
        text_printf(&change->text, "\ninput %s takes %%%s at the end", graph->inputs.at[m->input]->name, output ? output->name : "nothing");
    }
}

static void tell_decomposed(Change *change) {
    put_counts(change, change->artifacts->functional, change->artifacts->decomposed);
    put_op_changes(&change->text, change->stepper->arena, change->artifacts->functional, change->artifacts->decomposed);
}

static void tell_partition(Change *change) {
    const Partition *parts = change->artifacts->partition;
    text_printf(&change->text, "forward %d op%s", count_calls(parts->forward), count_calls(parts->forward) == 1 ? "" : "s");
    if (!parts->backward) {
        text_put(&change->text, "; no backward: nothing requires grad");
        return;
    }
    text_printf(&change->text, ", backward %d; %d values cross, %lld bytes (%lld if nothing were recomputed)", count_calls(parts->backward), parts->saved.count, (long long)parts->saved_bytes,
                (long long)parts->saved_bytes_no_recompute);
    for (int i = 0; i < parts->saved.count; i++) text_printf(&change->text, "\nsaved %%%s, %lld bytes", parts->saved.at[i].name, (long long)parts->saved.at[i].bytes);
}

/* ---- loops, groups, plans ---- */

static void tell_lower(Change *change) {
    const Lowered *lowered = change->side->lowered;
    text_printf(&change->text, "%d op%s -> %d loop%s over %d buffers", count_calls(change->side->graph), count_calls(change->side->graph) == 1 ? "" : "s", lowered->loops.count, lowered->loops.count == 1 ? "" : "s",
                lowered->buffers.count);
}

static void put_groups(Change *change, bool binding) {
    const Schedule *schedule = change->side->schedule;
    for (int i = 0; i < schedule->groups.count; i++) {
        const Group *group = schedule->groups.at[i];
        text_printf(&change->text, "\ngroup %d %s", i, group->name ? group->name : "");
        if (!binding) text_printf(&change->text, ": %d loop%s", group->members.count, group->members.count == 1 ? "" : "s");
        if (!binding) continue;
        text_put(&change->text, ": ");
        group_binding_print(&change->text, group);
    }
}

static void tell_fuse(Change *change) {
    text_printf(&change->text, "%d loop%s -> %d group%s, each one launch", change->side->lowered->loops.count, change->side->lowered->loops.count == 1 ? "" : "s", change->side->schedule->groups.count,
                change->side->schedule->groups.count == 1 ? "" : "s");
    if (change->side->schedule->saved_bytes) text_printf(&change->text, "; %lld bytes need not be moved", (long long)change->side->schedule->saved_bytes);
    put_groups(change, false);
}

static void tell_order(Change *change) {
    text_put(&change->text, "the groups in the order in which they run");
    put_groups(change, false);
}

static void tell_memplan(Change *change) {
    const Schedule *schedule = change->side->schedule;
    text_printf(&change->text, "temporaries: one block of %lld bytes", (long long)schedule->block_bytes);
    for (int i = 0; i < schedule->lowered->buffers.count; i++) {
        const Buffer *buffer = &schedule->lowered->buffers.at[i].buffer;
        if (buffer->role == BUFFER_TEMPORARY) text_printf(&change->text, "\n%s: %lld bytes at %lld, launches %d to %d", buffer->name, (long long)buffer->bytes, (long long)buffer->offset, buffer->first_launch, buffer->last_launch);
    }
}

static void tell_bind(Change *change) {
    text_put(&change->text, "axes to threads, vectors and loops");
    put_groups(change, true);
}

static void tell_generate(Change *change) {
    const Plan *plan = change->side->plan;
    text_printf(&change->text, "%d kernel%s, %d launch%s", plan->kernels.count, plan->kernels.count == 1 ? "" : "s", plan->launches.count, plan->launches.count == 1 ? "" : "es");
    for (int i = 0; i < plan->launches.count; i++) text_printf(&change->text, "\n%d %s: %lld bytes moved", i, plan->launches.at[i].name, (long long)plan->launches.at[i].bytes);
}

static void tell_compile(Change *change) {
    bool hide = change->stepper->session->options.plain;
    text_printf(&change->text, "%d kernel%s to machine code", change->side->report.kernels, change->side->report.kernels == 1 ? "" : "s");
    if (!hide && change->side->report.cached) text_printf(&change->text, ", %d of them from the cache", change->side->report.cached);
}

static const struct { const char *stage; bool sided; void (*tell)(Change *change); } summaries[] = {
    {"joint", false, tell_joint}, {"functional", false, tell_functional}, {"decomposed", false, tell_decomposed}, {"partition", false, tell_partition}, {"lower", true, tell_lower},
    {"fuse", true, tell_fuse}, {"order", true, tell_order}, {"memplan", true, tell_memplan}, {"bind", true, tell_bind}, {"generate", true, tell_generate}, {"compile kernels", true, tell_compile},
};

/* ---- decisions ---- */

static void put_reasons(Change *change) {
    Stepper *stepper = change->stepper;
    const ReasonLog *log = &change->entry->compile.reasons;
    if (stepper->staged != change->entry) stepper->reasons = 0;
    stepper->staged = change->entry;
    int told = 0, left = 0;
    for (int i = stepper->reasons; i < log->all.count; i++) {
        const Reason *reason = &log->all.at[i];
        if (reason->kind == REASON_RECOMPILE || reason->kind == REASON_BREAK || reason->kind == REASON_GUARD) continue;
        if (told == REASONS_TOLD) {
            left++;
            continue;
        }
        told++;
        text_printf(&change->text, "\n%s %s%s%s: %s", reason_kind_name(reason->kind), reason->subject, reason->other ? ", " : "", reason->other ? reason->other : "", reason->text);
    }
    if (left) text_printf(&change->text, "\n... and %d more decisions (:why lists them)", left);
    stepper->reasons = log->all.count;
}

void stop_stage(Stepper *stepper, Entry *entry, const char *stage) {
    const Artifacts *a = entry->artifacts;
    bool backward = a->backward.graph != NULL;
    Change change = {stepper, entry, a, backward ? &a->backward : &a->forward, backward ? "backward" : "forward", {0}};
    bool sided = false;
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++) {
        if (strcmp(summaries[i].stage, stage)) continue;
        sided = summaries[i].sided;
        if (sided && entry->compile.training) text_printf(&change.text, "%s: ", change.side_name);
        summaries[i].tell(&change);
    }
    put_reasons(&change);
    Stop stop = {.kind = STEP_STAGE, .entry = entry, .function = entry->code->name, .stage = stage, .span = entry->code->span, .text = text_in(&change.text, stepper->arena), .nodes = *entry->graph->next_id,
                 .guards = entry->guards.all.count};
    text_free(&change.text);
    vec_push_in(stepper->arena, &stepper->stops, stop);
}
