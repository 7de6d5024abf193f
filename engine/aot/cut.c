/* Cut: the minimum cut of a joint graph between what the forward computes and what the backward needs.
 *
 * In: facts with bans and weights (recompute.h). Out: the values to save. Each value that does not depend on a tangent is an edge value_in -> value_out whose
 * capacity is what saving it costs; what may not be recomputed hangs on the source by its in, what the backward reads hangs on the sink by its out, what must be
 * recomputed by its in. A use value_out -> user_in costs nothing.
 *
 *     sigmoid(h) * h, both read by the backward   ->   save h, recompute sigmoid
 *
 * Source: Chen et al. 2016 (recomputation); PyTorch's min_cut_rematerialization_partition; flow by maxflow.c. Among equal cuts the one nearest to the backward.
 * Invariant: from the set and the tangents the backward can be computed. */
#include "aot/recompute.h"
#include <string.h>

static int node_in(int place) { return 2 * place; }
static int node_out(int place) { return 2 * place + 1; }

typedef struct Network { const RecomputeFacts *facts; FlowNetwork *flow; int source, sink, forced, avoided; } Network;

static void add_uses(Network *net, int place) {
    const NodeFacts *fact = &net->facts->at[place];
    for (int j = 0; j < fact->users.count; j++)
        if (!net->facts->at[fact->users.at[j]].needs_tangent) network_edge(net->flow, node_out(place), node_in(fact->users.at[j]), FLOW_INFINITE);
}

static void add_value(Network *net, int place) {
    const NodeFacts *fact = &net->facts->at[place];
    if (fact->needs_tangent) return;
    if (fact->must_recompute && place != net->forced) {
        network_edge(net->flow, node_in(place), net->sink, FLOW_INFINITE);
        return;
    }
    network_edge(net->flow, node_in(place), node_out(place), place == net->avoided ? FLOW_INFINITE : fact->weight);
    if (fact->banned || place == net->forced) network_edge(net->flow, net->source, node_in(place), FLOW_INFINITE);
    if (fact->used_backward || place == net->forced) network_edge(net->flow, node_out(place), net->sink, FLOW_INFINITE);
    add_uses(net, place);
}

/* A node with no inputs (full, arange) is on no path from the source, so it is simply recomputed. */
int64_t cut_find(const RecomputeFacts *facts, bool *saved, int forced, int avoided) {
    int count = facts->graph->nodes.count;
    Arena *scratch = arena_new("cut");
    Network net = {facts, network_new(scratch, 2 * count + 2), 2 * count, 2 * count + 1, forced, avoided};
    for (int i = 0; i < count; i++) add_value(&net, i);
    bool *side = ARENA_ARRAY(scratch, bool, 2 * count + 2);
    int64_t weight = network_minimum_cut(net.flow, net.source, net.sink, side);
    for (int i = 0; i < count; i++) {
        bool cut = weight < FLOW_INFINITE && !facts->at[i].needs_tangent && side[node_in(i)] && !side[node_out(i)];
        saved[i] = cut && (!facts->at[i].must_recompute || i == forced);
    }
    arena_free(scratch);
    return weight;
}

int64_t cut_storage_bytes(const RecomputeFacts *facts, const bool *saved) {
    int64_t total = 0;
    bool *seen = calloc((size_t)facts->graph->nodes.count + 1, sizeof *seen);
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        if (!saved[i] || seen[facts->at[i].root]) continue;
        seen[facts->at[i].root] = true;
        total += facts->at[i].storage_bytes;
    }
    free(seen);
    return total;
}

typedef struct Reach { const RecomputeFacts *facts; bool *needed; } Reach;

static void reach_input(Node *input, void *state) {
    Reach *reach = state;
    reach->needed[facts_place(reach->facts, input)] = true;
}

void cut_trim(const RecomputeFacts *facts, bool *saved, bool *computed) {
    const Graph *graph = facts->graph;
    Reach reach = {facts, calloc((size_t)graph->nodes.count + 1, sizeof(bool))};
    for (int i = 0; i < graph->nodes.count; i++) reach.needed[i] = facts->at[i].needs_tangent && graph->nodes.at[i]->kind != NODE_INPUT;
    for (int i = graph->forward_outputs; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] && facts->at[facts_place(facts, graph->outputs.at[i])].used_backward) reach.needed[facts_place(facts, graph->outputs.at[i])] = true;
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        if (reach.needed[i] && !saved[i]) node_each_input(graph->nodes.at[i], reach_input, &reach);
    for (int i = 0; i < graph->nodes.count; i++) {
        saved[i] = saved[i] && reach.needed[i];
        if (computed) computed[i] = reach.needed[i] && !saved[i] && !facts->at[i].needs_tangent && graph->nodes.at[i]->kind != NODE_INPUT;
    }
    free(reach.needed);
}
