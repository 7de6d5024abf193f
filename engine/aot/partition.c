/* Partition: cuts the joint graph in a forward and a backward.
 *
 * In: the joint graph, functional, decomposed, simplified. Out: two graphs and what crosses between them. Each value that does not depend on a tangent
 * is an edge value_in -> value_out whose capacity is what saving it costs; what may not be recomputed hangs on the source, what
 * the backward reads hangs on the sink. The minimum cut is the cheapest set to save from which the backward can recompute the rest.
 *
 *     sigmoid(h) * h, both read by the backward   ->   save h, recompute sigmoid
 *
 * Source: Chen et al. 2016 (recomputation); PyTorch's min_cut_rematerialization_partition.
 * Invariant: a backward is a function of saved values and tangents alone. */
#include "aot/recompute.h"
#include "op/op.h"
#include <assert.h>
#include <string.h>

typedef struct Cut { Compile *c; const Graph *graph; RecomputeFacts facts; Partition *out; bool *saved; } Cut;

static int node_in(int place) { return 2 * place; }
static int node_out(int place) { return 2 * place + 1; }

static void network_node(Cut *cut, FlowNetwork *net, int place, int source, int sink) {
    const NodeFacts *fact = &cut->facts.at[place];
    const Node *node = cut->graph->nodes.at[place];
    if (fact->needs_tangent) return;
    network_edge(net, node_in(place), node_out(place), fact->weight);
    if (node->kind != NODE_CALL || fact->banned) {
        if (node->kind != NODE_GETITEM) network_edge(net, source, node_in(place), FLOW_INFINITE);
    }
    if (fact->used_backward) network_edge(net, node_out(place), sink, FLOW_INFINITE);
    for (int j = 0; j < fact->users.count; j++)
        if (!cut->facts.at[fact->users.at[j]].needs_tangent) network_edge(net, node_out(place), node_in(fact->users.at[j]), FLOW_INFINITE);
}

/* Which values cross. A node with no inputs (full, arange) is on neither side of a path from the source, so it is simply recomputed. */
static void find_saved(Cut *cut) {
    int count = cut->graph->nodes.count, source = 2 * count, sink = 2 * count + 1;
    FlowNetwork *net = network_new(cut->c->arena, 2 * count + 2);
    for (int i = 0; i < count; i++) network_node(cut, net, i, source, sink);
    bool *side = ARENA_ARRAY(cut->c->arena, bool, 2 * count + 2);
    if (network_minimum_cut(net, source, sink, side) >= FLOW_INFINITE)
        fail(cut->c->failure, (Span){0}, "partition: no cut between forward and backward exists (a value with several outputs is needed whole)");
    for (int i = 0; i < count; i++) cut->saved[i] = !cut->facts.at[i].needs_tangent && side[node_in(i)] && !side[node_out(i)];
}

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

static void list_saved(Cut *cut) {
    for (int i = 0; i < cut->graph->nodes.count; i++) {
        if (!cut->saved[i]) continue;
        const Node *node = cut->graph->nodes.at[i];
        vec_push_in(cut->c->arena, &cut->out->saved, ((SavedTensor){node, node->name, cut->facts.at[i].bytes, node->kind == NODE_INPUT && !facts_overwritten(cut->graph, node)}));
    }
}

/* Copies what `wanted` needs into `graph`; a node already in map (an input of the side) is taken as it is. */
static void copy_needed(Cut *cut, Graph *graph, Map *map, const bool *needed) {
    for (int i = 0; i < cut->graph->nodes.count; i++) {
        const Node *node = cut->graph->nodes.at[i];
        if (needed[i] && !map_has(map, node)) graph_copy_node(graph, node, map);
    }
}

typedef struct Need { const Cut *cut; bool *needed; } Need;

static void need_input(Node *input, void *state) {
    Need *need = state;
    need->needed[facts_place(&need->cut->facts, input)] = true;
}

/* Everything that the marked nodes need, stopping at those in `given`. */
static void close_needed(const Cut *cut, bool *needed, const Map *given) {
    for (int i = cut->graph->nodes.count - 1; i >= 0; i--)
        if (needed[i] && !map_has(given, cut->graph->nodes.at[i])) node_each_input(cut->graph->nodes.at[i], need_input, &(Need){cut, needed});
}

static bool output_is_alias(const Graph *graph, int output) {
    for (int i = 0; i < graph->aliases.count; i++)
        if (graph->aliases.at[i].output == output) return true;
    return false;
}

static bool output_is_mutation(const Graph *graph, int output) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].output == output) return true;
    return false;
}

/* What the backward is given: a view by the address of its first element, a copy densely. */
static Meta saved_meta(const Graph *graph, const Node *node) {
    Meta meta = node->metas[0];
    meta.offset = 0;
    if (facts_overwritten(graph, node)) meta_set_contiguous(&meta, graph->syms);
    return meta;
}

static void side_output(Graph *side, const Map *map, const Node *node) {
    Node *copy = node ? map_get(map, node) : NULL;
    graph_output(side, &copy, 1);
}

/* The saved value of an input that the forward overwrites is copied before. */
static void save_output(Cut *cut, Graph *forward, Map *map, const Node *node) {
    Node *copy = map_get(map, node);
    if (facts_overwritten(cut->graph, node)) {
        Arg args[2] = {arg_node(copy)};
        Meta meta = saved_meta(cut->graph, node);
        const Op *clone = op_find(cut->c->ops, "clone");
        copy = graph_call(forward, clone, args, clone->nparams, &meta, 1, node->span);
        node_origin(forward, copy, node);
    }
    graph_output(forward, &copy, 1);
}

static void build_forward(Cut *cut) {
    const Graph *graph = cut->graph;
    Graph *forward = graph_new(cut->c->arena, "forward", graph->syms, &cut->c->next_node_id);
    Map *map = map_new(cut->c->arena);
    bool *needed = ARENA_ARRAY(cut->c->arena, bool, graph->nodes.count + 1);
    for (int i = 0; i < graph->inputs.count; i++)
        if (!graph->inputs.at[i]->is_tangent) graph_copy_node(forward, graph->inputs.at[i], map);
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] && (output_is_mutation(graph, i) || (i < graph->forward_outputs && !output_is_alias(graph, i)))) needed[facts_place(&cut->facts, graph->outputs.at[i])] = true;
    for (int i = 0; i < graph->nodes.count; i++) needed[i] |= cut->saved[i];
    close_needed(cut, needed, map);
    copy_needed(cut, forward, map, needed);
    for (int i = 0; i < graph->forward_outputs; i++) side_output(forward, map, output_is_alias(graph, i) ? NULL : graph->outputs.at[i]);
    for (int i = 0; i < graph->mutations.count; i++) {
        vec_push_in(cut->c->arena, &forward->mutations, ((Mutation){graph->mutations.at[i].input, forward->outputs.count}));
        side_output(forward, map, graph->outputs.at[graph->mutations.at[i].output]);
    }
    for (int i = 0; i < cut->out->saved.count; i++) save_output(cut, forward, map, cut->out->saved.at[i].joint_node);
    for (int i = 0; i < graph->aliases.count; i++) vec_push_in(cut->c->arena, &forward->aliases, graph->aliases.at[i]);
    forward->forward_outputs = graph->forward_outputs;
    forward->shares = graph->shares;
    graph_finish(forward);
    cut->out->forward = forward;
}

/* Saved values first, then the tangents, as inputs; gradients in the order of the primals. */
static void build_backward(Cut *cut) {
    const Graph *graph = cut->graph;
    Graph *backward = graph_new(cut->c->arena, "backward", graph->syms, &cut->c->next_node_id);
    Map *map = map_new(cut->c->arena);
    bool *needed = ARENA_ARRAY(cut->c->arena, bool, graph->nodes.count + 1);
    for (int i = 0; i < cut->out->saved.count; i++) {
        SavedTensor *saved = &cut->out->saved.at[i];
        Node dead = {.kind = NODE_CONSTANT, .metas = graph->nodes.at[0]->metas};
        const Node *node = saved->joint_node ? saved->joint_node : &dead;
        Meta meta = saved_meta(graph, node);
        Node *input = graph_input(backward, saved->name, &meta, node->span);
        if (!saved->joint_node) continue;
        node_origin(backward, input, node);
        map_put(map, node, input);
    }
    for (int i = 0; i < graph->inputs.count; i++)
        if (graph->inputs.at[i]->is_tangent) graph_copy_node(backward, graph->inputs.at[i], map);
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] && i >= graph->forward_outputs && !output_is_mutation(graph, i)) needed[facts_place(&cut->facts, graph->outputs.at[i])] = true;
    close_needed(cut, needed, map);
    copy_needed(cut, backward, map, needed);
    for (int i = 0; i < backward->nodes.count; i++) backward->nodes.at[i]->side = SIDE_BACKWARD;
    for (int i = graph->forward_outputs; i < graph->outputs.count; i++)
        if (!output_is_mutation(graph, i)) side_output(backward, map, graph->outputs.at[i]);
    backward->forward_outputs = backward->outputs.count;
    graph_finish(backward);
    cut->out->backward = backward;
    for (int i = 0; i < graph->nodes.count; i++) needed[i] = needed[i] && !map_has(map, graph->nodes.at[i]);
}

static const char *node_subject(Cut *cut, const Node *node) { return arena_printf(cut->c->arena, "%%%s", node->name); }

static void explain_saved(Cut *cut, int place) {
    const NodeFacts *fact = &cut->facts.at[place];
    const Node *node = cut->graph->nodes.at[place];
    ReasonLog *log = &cut->c->reasons;
    Reason *reason;
    if (facts_overwritten(cut->graph, node))
        reason = reason_add(log, REASON_SAVED, "saved.overwritten", node_subject(cut, node), NULL, node->span, "saved as a copy, %lld B: the forward overwrites this input, and the backward needs what it was", (long long)fact->bytes);
    else if (node->kind == NODE_INPUT)
        reason = reason_add(log, REASON_SAVED, "saved.input", node_subject(cut, node), NULL, node->span, "saved, %lld B: an input, in memory anyway, from which the backward computes what it needs", (long long)fact->bytes);
    else if (fact->banned)
        reason = reason_add(log, REASON_SAVED, fact->ban_code, node_subject(cut, node), NULL, node->span, "saved, %lld B: %s", (long long)fact->bytes, fact->ban_text);
    else
        reason = reason_add(log, REASON_SAVED, "saved.cut", node_subject(cut, node), NULL, node->span, "saved, %lld B: on the cheapest cut; saving it costs less than what it is made from (weight %lld)", (long long)fact->bytes, (long long)(fact->weight / 16));
    reason->policy = cut->c->policy->name;
}

/* A node that stands on both sides, or only moved: what it would have cost to save. */
static void explain_recomputed(Cut *cut) {
    const Graph *graph = cut->graph;
    VEC(int) ids = {0};
    Map *in_backward = map_new(cut->c->arena);
    for (int i = 0; i < cut->out->backward->nodes.count; i++) {
        const Node *copy = cut->out->backward->nodes.at[i];
        if (copy->kind == NODE_CALL && copy->origin_count) map_put(in_backward, map_key(copy->origins[copy->origin_count - 1] + 1), (void *)(intptr_t)1);
    }
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        const NodeFacts *fact = &cut->facts.at[i];
        if (node->kind != NODE_CALL || fact->needs_tangent || !map_has(in_backward, map_key(node->id + 1))) continue;
        if (!fact->needed_forward) continue;
        vec_push_in(cut->c->arena, &ids, node->id);
        Reason *reason = reason_add(&cut->c->reasons, REASON_RECOMPUTED, "recomputed.cheap", node_subject(cut, node), NULL, node->span,
                                    "recomputed in backward: a cheap loop over values that are saved anyway; saving it would cost %lld B more", (long long)fact->bytes);
        reason->policy = cut->c->policy->name;
    }
    cut->out->recomputed = ids.at;
    cut->out->recomputed_count = ids.count;
}

static void count_bytes(Cut *cut) {
    for (int i = 0; i < cut->graph->nodes.count; i++) {
        if (cut->saved[i]) cut->out->saved_bytes += cut->facts.at[i].bytes;
        if (!cut->facts.at[i].needs_tangent && cut->facts.at[i].used_backward) cut->out->saved_bytes_no_recompute += cut->facts.at[i].bytes;
    }
}

Partition *partition(Compile *c, const Graph *graph, const Partition *fixed) {
    Cut cut = {.c = c, .graph = graph, .out = ARENA_NEW(c->arena, Partition), .saved = ARENA_ARRAY(c->arena, bool, graph->nodes.count + 1)};
    cut.out->joint = graph;
    cut.out->forward_outputs = graph->forward_outputs;
    recompute_facts(&cut.facts, c, graph);
    if (fixed) take_fixed(&cut, fixed);
    else if (c->training) find_saved(&cut);
    if (!fixed) list_saved(&cut);
    if (!fixed) build_forward(&cut);
    if (!c->training) return cut.out;
    build_backward(&cut);
    if (fixed) return cut.out;
    for (int i = 0; i < graph->nodes.count; i++)
        if (cut.saved[i]) explain_saved(&cut, i);
    explain_recomputed(&cut);
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
