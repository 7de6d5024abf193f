/* Maximum flow and minimum cut by Dinic's algorithm (Dinitz 1970) on arrays: a level graph by breadth-first search, then blocking flows by an
 * iterative depth-first search, so that long chains do not deepen the C stack. Near-linear on the shallow, narrow graphs of training steps.
 *
 *     FlowNetwork *net = network_new(arena, nodes); network_edge(net, a, b, bytes);
 *     int64_t cut = network_minimum_cut(net, source, sink, side);
 */
#include "aot/aot.h"
#include <string.h>

typedef struct FlowEdge { int to; int64_t capacity; int next; } FlowEdge; /* edge e's reverse is e ^ 1 */
struct FlowNetwork { Arena *arena; int nodes; int *first; VEC(FlowEdge) edges; int *level, *current, *queue, *path; };

FlowNetwork *network_new(Arena *arena, int nodes) {
    FlowNetwork *net = ARENA_NEW(arena, FlowNetwork);
    net->arena = arena;
    net->nodes = nodes;
    net->first = ARENA_ARRAY(arena, int, nodes);
    net->level = ARENA_ARRAY(arena, int, nodes);
    net->current = ARENA_ARRAY(arena, int, nodes);
    net->queue = ARENA_ARRAY(arena, int, nodes);
    net->path = ARENA_ARRAY(arena, int, nodes + 1);
    for (int i = 0; i < nodes; i++) net->first[i] = -1;
    return net;
}

static void edge_add(FlowNetwork *net, int from, int to, int64_t capacity) {
    vec_push_in(net->arena, &net->edges, ((FlowEdge){to, capacity, net->first[from]}));
    net->first[from] = net->edges.count - 1;
}

void network_edge(FlowNetwork *net, int from, int to, int64_t capacity) {
    edge_add(net, from, to, capacity > FLOW_INFINITE ? FLOW_INFINITE : capacity);
    edge_add(net, to, from, 0);
}

/* Distances from the source over edges with room left; true when the sink is reached. */
static bool find_levels(FlowNetwork *net, int source, int sink) {
    int head = 0, tail = 0;
    for (int i = 0; i < net->nodes; i++) net->level[i] = -1;
    net->level[source] = 0;
    net->queue[tail++] = source;
    while (head < tail) {
        int node = net->queue[head++];
        for (int e = net->first[node]; e >= 0; e = net->edges.at[e].next) {
            const FlowEdge *edge = &net->edges.at[e];
            if (edge->capacity <= 0 || net->level[edge->to] >= 0) continue;
            net->level[edge->to] = net->level[node] + 1;
            net->queue[tail++] = edge->to;
        }
    }
    return net->level[sink] >= 0;
}

/* Next usable edge out of node in the level graph, or -1; `current` remembers where the search stood. */
static int next_edge(FlowNetwork *net, int node) {
    for (int *e = &net->current[node]; *e >= 0; *e = net->edges.at[*e].next) {
        const FlowEdge *edge = &net->edges.at[*e];
        if (edge->capacity > 0 && net->level[edge->to] == net->level[node] + 1) return *e;
    }
    return -1;
}

static int64_t push_path(FlowNetwork *net, int length) {
    int64_t amount = FLOW_INFINITE;
    for (int i = 0; i < length; i++)
        if (net->edges.at[net->path[i]].capacity < amount) amount = net->edges.at[net->path[i]].capacity;
    for (int i = 0; i < length; i++) {
        FlowEdge *edge = &net->edges.at[net->path[i]];
        if (edge->capacity < FLOW_INFINITE) edge->capacity -= amount;
        FlowEdge *back = &net->edges.at[net->path[i] ^ 1];
        if (back->capacity < FLOW_INFINITE) back->capacity += amount;
    }
    return amount;
}

/* A blocking flow. Stops at once when a path has no finite edge: then there is no cut. */
static int64_t blocking_flow(FlowNetwork *net, int source, int sink) {
    int64_t total = 0;
    int length = 0, node = source;
    for (;;) {
        if (node == sink) {
            int64_t amount = push_path(net, length);
            total += amount;
            if (amount >= FLOW_INFINITE) return FLOW_INFINITE;
            length = 0;
            node = source;
            continue;
        }
        int e = next_edge(net, node);
        if (e >= 0) {
            net->path[length++] = e;
            node = net->edges.at[e].to;
        } else if (length > 0) {
            net->level[node] = -1;
            node = net->edges.at[net->path[--length] ^ 1].to;
        } else {
            return total;
        }
    }
}

int64_t network_minimum_cut(FlowNetwork *net, int source, int sink, bool *source_side) {
    int64_t total = 0;
    while (find_levels(net, source, sink)) {
        memcpy(net->current, net->first, sizeof(int) * (size_t)net->nodes);
        total += blocking_flow(net, source, sink);
        if (total >= FLOW_INFINITE) return FLOW_INFINITE;
    }
    for (int i = 0; i < net->nodes; i++) source_side[i] = net->level[i] >= 0;
    return total;
}
