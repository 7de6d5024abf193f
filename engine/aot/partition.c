/* Partition: cuts the joint graph in a forward and a backward.
 *
 * In: the joint graph, functional, decomposed, simplified. Out: two graphs and what crosses between them, with a reason for each value that is saved or computed
 * again. choose.c says which values those are (cut.c finds them, budget.c under a memory budget), sides.c builds the graphs.
 *
 *     sigmoid(h) * h, both read by the backward   ->   save h, recompute sigmoid
 *
 * Invariant: a backward is a function of saved values and tangents alone. */
#include "aot/recompute.h"
#include <string.h>

typedef struct Cut { Compile *c; const Graph *graph; RecomputeFacts *facts; Partition *out; bool *saved, *again; } Cut;

/* Structural twins: nodes of `graph` that compute what a node of `old` computes. Forward parts are traced alike, but a backward pruned for fewer
 * tangents numbers its nodes differently, so names do not do. */
static bool arg_twin(const Map *twins, const Arg *new_arg, const Arg *old_arg) {
    if (new_arg->tag != old_arg->tag) return false;
    if (new_arg->tag == ARG_TENSOR) return map_get(twins, new_arg->tensor.owner) == old_arg->tensor.owner;
    if (new_arg->tag == ARG_TENSORS) {
        if (new_arg->list.count != old_arg->list.count) return false;
        for (int i = 0; i < new_arg->list.count; i++)
            if (!arg_twin(twins, &new_arg->list.items[i], &old_arg->list.items[i])) return false;
        return true;
    }
    if (new_arg->tag == ARG_INTS) return new_arg->ints.count == old_arg->ints.count && !memcmp(new_arg->ints.at, old_arg->ints.at, sizeof(Dim) * (size_t)new_arg->ints.count);
    if (new_arg->tag == ARG_FLOAT) return memcmp(&new_arg->f, &old_arg->f, sizeof(double)) == 0;
    if (new_arg->tag == ARG_STR) return !strcmp(new_arg->s, old_arg->s);
    return new_arg->tag == ARG_NONE || new_arg->i == old_arg->i || new_arg->tag == ARG_FLOATS;
}

static bool node_twin(const Map *twins, const Node *node, const Node *old) {
    if (node->kind != old->kind || node->op != old->op || node->nargs != old->nargs || node->index != old->index) return false;
    if (node->kind == NODE_INPUT) return node->is_tangent == old->is_tangent && node->tangent_of == old->tangent_of;
    if (node->kind == NODE_CONSTANT) return node->constant == old->constant;
    for (int i = 0; i < node->nargs; i++)
        if (!arg_twin(twins, &node->args[i], &old->args[i])) return false;
    return true;
}

static Map *find_twins(Arena *arena, const Graph *graph, const Graph *old) {
    Map *twins = map_new(arena);
    for (int i = 0; i < graph->nodes.count; i++)
        for (int j = 0; j < old->nodes.count; j++)
            if (node_twin(twins, graph->nodes.at[i], old->nodes.at[j])) {
                map_put(twins, graph->nodes.at[i], old->nodes.at[j]);
                break;
            }
    return twins;
}

static void take_fixed(Cut *cut, const Partition *fixed) {
    Map *twins = find_twins(cut->c->arena, cut->graph, fixed->joint);
    for (int s = 0; s < fixed->saved.count; s++) {
        SavedTensor saved = fixed->saved.at[s];
        const Node *wanted = saved.joint_node;
        saved.joint_node = NULL;
        for (int i = 0; i < cut->graph->nodes.count && wanted; i++)
            if (map_get(twins, cut->graph->nodes.at[i]) == wanted) {
                saved.joint_node = cut->graph->nodes.at[i];
                cut->saved[i] = true;
                break;
            }
        vec_push_in(cut->c->arena, &cut->out->saved, saved);
    }
}

void partition_list(const RecomputeFacts *facts, const bool *saved, Partition *out) {
    Arena *scratch = arena_new("saved");
    bool *seen = ARENA_ARRAY(scratch, bool, facts->graph->nodes.count + 1);
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        if (!saved[i]) continue;
        const Node *node = facts->graph->nodes.at[i];
        const NodeFacts *fact = &facts->at[i];
        SavedTensor one = {.joint_node = node, .name = node->name, .bytes = meta_bytes(&node->metas[0]), .is_input = node->kind == NODE_INPUT && !facts_overwritten(facts->graph, node),
                           .held = fact->held, .storage = facts->graph->nodes.at[fact->root], .storage_bytes = seen[fact->root] ? 0 : fact->storage_bytes};
        seen[fact->root] = true;
        vec_push_in(facts->c->arena, &out->saved, one);
    }
    arena_free(scratch);
}

/* ---- reasons ---- */

static const char *node_subject(Cut *cut, const Node *node) { return arena_printf(cut->c->arena, "%%%s", node->name); }

static const char *held_words(const NodeFacts *fact) {
    return fact->held == HELD_BY_INPUT ? "; an input holds its memory anyway" : fact->held == HELD_BY_OUTPUT ? "; an output holds its memory anyway" : "";
}

static void explain_saved(Cut *cut, int place) {
    const NodeFacts *fact = &cut->facts->at[place];
    const Node *node = cut->graph->nodes.at[place];
    ReasonLog *log = &cut->c->reasons;
    long long bytes = (long long)meta_bytes(&node->metas[0]);
    Reason *reason;
    if (facts_overwritten(cut->graph, node))
        reason = reason_add(log, REASON_SAVED, "saved.overwritten", node_subject(cut, node), NULL, node->span, "saved as a copy, %lld B: the forward overwrites this input, and the backward needs what it was", bytes);
    else if (node->kind == NODE_INPUT || node->kind == NODE_CONSTANT)
        reason = reason_add(log, REASON_SAVED, "saved.input", node_subject(cut, node), NULL, node->span, "saved, %lld B: an input, in memory anyway, from which the backward computes what it needs", bytes);
    else if (fact->ban_code)
        reason = reason_add(log, REASON_SAVED, fact->ban_code, node_subject(cut, node), NULL, node->span, "saved, %lld B: %s%s", bytes, fact->ban_text, strcmp(fact->ban_code, "saved.output") ? held_words(fact) : "");
    else if (cut->c->policy->partition == PARTITION_SAVE_ALL)
        reason = reason_add(log, REASON_SAVED, "saved.all", node_subject(cut, node), NULL, node->span, "saved, %lld B: the backward reads it, and this policy saves all of that%s", bytes, held_words(fact));
    else
        reason = reason_add(log, REASON_SAVED, "saved.cut", node_subject(cut, node), NULL, node->span, "saved, %lld B: on the cheapest cut; saving it costs less than saving what it is made from%s", bytes, held_words(fact));
    reason->policy = cut->c->policy->name;
}

/* A node that stands on both sides: what it would have cost to save. */
static void explain_recomputed(Cut *cut, int place) {
    const NodeFacts *fact = &cut->facts->at[place];
    const Node *node = cut->graph->nodes.at[place];
    const char *why = fact->must_recompute ? "it is in a checkpoint region" : fact->lifted ? "the memory budget has no room for it" : facts_is_view(node) ? "a view, which costs nothing" : "a cheap loop over values that are saved anyway";
    const char *code = fact->must_recompute ? "recomputed.region" : fact->lifted ? "recomputed.budget" : "recomputed.cheap";
    long long more = cut->saved[fact->root] ? 0 : (long long)fact->storage_bytes;
    Reason *reason = reason_add(&cut->c->reasons, REASON_RECOMPUTED, code, node_subject(cut, node), NULL, node->span, "recomputed in backward: %s; saving it would cost %lld B more", why, more);
    reason->policy = cut->c->policy->name;
}

static void explain(Cut *cut) {
    VEC(int) ids = {0};
    for (int i = 0; i < cut->graph->nodes.count; i++)
        if (cut->saved[i]) explain_saved(cut, i);
    for (int i = 0; i < cut->graph->nodes.count; i++) {
        if (!cut->again[i] || cut->graph->nodes.at[i]->kind != NODE_CALL || !cut->facts->at[i].needed_forward) continue;
        vec_push_in(cut->c->arena, &ids, cut->graph->nodes.at[i]->id);
        explain_recomputed(cut, i);
    }
    cut->out->recomputed = ids.at;
    cut->out->recomputed_count = ids.count;
}

static void count_bytes(Cut *cut) {
    for (int i = 0; i < cut->out->saved.count; i++) {
        cut->out->saved_bytes += cut->out->saved.at[i].bytes;
        cut->out->storage_bytes += cut->out->saved.at[i].storage_bytes;
    }
    bool *all = ARENA_ARRAY(cut->c->arena, bool, cut->graph->nodes.count + 1);
    saved_all(cut->facts, all);
    for (int i = 0; i < cut->graph->nodes.count; i++)
        if (all[i]) cut->out->saved_bytes_no_recompute += cut->facts->at[i].bytes;
}

/* ---- random numbers ---- */

/* Numbers for what the lowering draws: those of the forward first, so that its numbers are 0, 1, … whatever the backward draws itself. */
static void number_draws(const RecomputeFacts *facts, Graph *graph) {
    int count = 0;
    for (int forward = 1; forward >= 0; forward--)
        for (int i = 0; i < graph->nodes.count; i++) {
            Node *node = graph->nodes.at[i];
            if (node->kind == NODE_CALL && node->op->family == FAMILY_RANDOM && !op_has(node->op, TRAIT_NO_LOWER) && (facts->at[i].order >= 0) == forward) node->draw = ++count;
        }
}

Partition *partition(Compile *c, Graph *graph, const Partition *fixed) {
    Cut cut = {.c = c, .graph = graph, .facts = ARENA_NEW(c->arena, RecomputeFacts), .out = ARENA_NEW(c->arena, Partition), .saved = ARENA_ARRAY(c->arena, bool, graph->nodes.count + 1),
               .again = ARENA_ARRAY(c->arena, bool, graph->nodes.count + 1)};
    cut.out->joint = graph;
    cut.out->forward_outputs = graph->forward_outputs;
    recompute_facts(cut.facts, c, graph);
    number_draws(cut.facts, graph);
    if (fixed) take_fixed(&cut, fixed);
    else if (c->training) cut.out->chosen = saved_choose(cut.facts, cut.saved);
    if (!fixed) partition_list(cut.facts, cut.saved, cut.out);
    if (!fixed) cut.out->forward = side_forward(cut.facts, cut.out);
    if (!c->training) return cut.out;
    cut.out->facts = cut.facts;
    cut.out->backward = side_backward(cut.facts, cut.out);
    if (fixed) return cut.out;
    cut_trim(cut.facts, cut.saved, cut.again);
    explain(&cut);
    count_bytes(&cut);
    return cut.out;
}

void partition_describe(const Partition *partition, Snapshot *snapshot) {
    graph_describe(partition->joint, snapshot);
    Arena *arena = snapshot->arena;
    for (int i = 0; i < partition->saved.count; i++) {
        const SavedTensor *saved = &partition->saved.at[i];
        SnapshotItem *item = snapshot_find(snapshot, arena_printf(arena, "%%%s", saved->name));
        if (!item) continue;
        item->mark = "saved";
        snapshot_row(snapshot, item, "saved %lld B", (long long)saved->bytes);
    }
    for (int i = 0; i < partition->recomputed_count; i++)
        for (int j = 0; j < partition->joint->nodes.count; j++) {
            const Node *node = partition->joint->nodes.at[j];
            if (node->id != partition->recomputed[i]) continue;
            SnapshotItem *item = snapshot_find(snapshot, arena_printf(arena, "%%%s", node->name));
            if (item) item->mark = "recomputed";
        }
}
