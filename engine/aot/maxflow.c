/* Maximum flow and minimum cut by Dinic's algorithm (Dinitz 1970) on arrays: a level graph by breadth-first search, then blocking flows by an
 * iterative depth-first search, so that long chains do not deepen the C stack. Near-linear on the shallow, narrow graphs of training steps.
 *
 *     FlowNetwork *net = network_new(arena, nodes); network_edge(net, a, b, bytes);
 *     int64_t cut = network_minimum_cut(net, source, sink, side);
 *
 * Invariant: once laid out, the arcs of a node stand side by side; each knows the place of its reverse. */
#include "aot/aot.h"
#include <string.h>

typedef struct FlowEdge { int from, to; int64_t capacity; } FlowEdge;
typedef struct Arc { int to, reverse; int64_t capacity; } Arc;
struct FlowNetwork { Arena *arena; int nodes; VEC(FlowEdge) edges; Arc *arcs; int *first, *level, *current, *queue, *path; };

FlowNetwork *network_new(Arena *arena, int nodes) {
    FlowNetwork *net = ARENA_NEW(arena, FlowNetwork);
    net->arena = arena;
    net->nodes = nodes;
    net->first = ARENA_ARRAY(arena, int, nodes + 2);
    net->level = ARENA_ARRAY(arena, int, nodes);
    net->current = ARENA_ARRAY(arena, int, nodes);
    net->queue = ARENA_ARRAY(arena, int, nodes);
    net->path = ARENA_ARRAY(arena, int, nodes + 1);
    return net;
}

void network_edge(FlowNetwork *net, int from, int to, int64_t capacity) {
    vec_push_in(net->arena, &net->edges, ((FlowEdge){from, to, capacity > FLOW_INFINITE ? FLOW_INFINITE : capacity}));
}

/* Counts the arcs of each node, then puts each edge and its reverse in their nodes' places. */
static void lay_out(FlowNetwork *net) {
    net->arcs = ARENA_ARRAY(net->arena, Arc, 2 * net->edges.count + 1);
    memset(net->first, 0, sizeof *net->first * (size_t)(net->nodes + 2));
    for (int i = 0; i < net->edges.count; i++) {
        net->first[net->edges.at[i].from + 1]++;
        net->first[net->edges.at[i].to + 1]++;
    }
    for (int i = 0; i < net->nodes; i++) net->first[i + 1] += net->first[i];
    memcpy(net->current, net->first, sizeof *net->current * (size_t)net->nodes);
    for (int i = 0; i < net->edges.count; i++) {
        const FlowEdge *edge = &net->edges.at[i];
        int there = net->current[edge->from]++, back = net->current[edge->to]++;
        net->arcs[there] = (Arc){edge->to, back, edge->capacity};
        net->arcs[back] = (Arc){edge->from, there, 0};
    }
}

/* Distances from the source over arcs with room left, as far as the sink; true when it is reached. */
static bool find_levels(FlowNetwork *net, int source, int sink) {
    int head = 0, tail = 0;
    memset(net->level, -1, sizeof *net->level * (size_t)net->nodes);
    net->level[source] = 0;
    net->queue[tail++] = source;
    while (head < tail) {
        int node = net->queue[head++], next = net->level[node] + 1;
        if (net->level[sink] >= 0 && next > net->level[sink]) break;
        net->current[node] = net->first[node];
        for (const Arc *arc = net->arcs + net->first[node], *end = net->arcs + net->first[node + 1]; arc < end; arc++) {
            if (arc->capacity <= 0 || net->level[arc->to] >= 0) continue;
            net->level[arc->to] = next;
            net->current[arc->to] = net->first[arc->to];
            net->queue[tail++] = arc->to;
        }
    }
    return net->level[sink] >= 0;
}

/* Next usable arc out of node in the level graph, or -1; `current` remembers where the search stood. */
static int next_arc(FlowNetwork *net, int node) {
    int end = net->first[node + 1], wanted = net->level[node] + 1;
    for (int *at = &net->current[node]; *at < end; ++*at)
        if (net->arcs[*at].capacity > 0 && net->level[net->arcs[*at].to] == wanted) return *at;
    return -1;
}

/* Pushes what the path takes; *full: its first arc without room left. */
static int64_t push_path(FlowNetwork *net, int length, int *full) {
    int64_t amount = FLOW_INFINITE;
    for (int i = length - 1; i >= 0; i--)
        if (net->arcs[net->path[i]].capacity <= amount) {
            amount = net->arcs[net->path[i]].capacity;
            *full = i;
        }
    for (int i = 0; i < length; i++) {
        Arc *arc = &net->arcs[net->path[i]], *back = &net->arcs[arc->reverse];
        if (arc->capacity < FLOW_INFINITE) arc->capacity -= amount;
        if (back->capacity < FLOW_INFINITE) back->capacity += amount;
    }
    return amount;
}

/* A blocking flow. Stops at once when a path has no finite arc: then there is no cut. After a push the search goes on before the arc that is full. */
static int64_t blocking_flow(FlowNetwork *net, int source, int sink) {
    int64_t total = 0;
    int length = 0, node = source;
    for (;;) {
        if (node == sink) {
            int64_t amount = push_path(net, length, &length);
            total += amount;
            if (amount >= FLOW_INFINITE) return FLOW_INFINITE;
            node = net->arcs[net->arcs[net->path[length]].reverse].to;
            continue;
        }
        int arc = next_arc(net, node);
        if (arc >= 0) {
            net->path[length++] = arc;
            node = net->arcs[arc].to;
        } else if (length > 0) {
            net->level[node] = -1;
            node = net->arcs[net->arcs[net->path[--length]].reverse].to;
        } else {
            return total;
        }
    }
}

int64_t network_minimum_cut(FlowNetwork *net, int source, int sink, bool *source_side) {
    int64_t total = 0;
    lay_out(net);
    while (find_levels(net, source, sink)) {
        total += blocking_flow(net, source, sink);
        if (total >= FLOW_INFINITE) return FLOW_INFINITE;
    }
    for (int i = 0; i < net->nodes; i++) source_side[i] = net->level[i] >= 0;
    return total;
}
