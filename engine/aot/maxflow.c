/* Maximum flow and minimum cut: Dinic's algorithm (Dinitz 1970) on arrays, over the independent pieces of a network.
 *
 *     FlowNetwork *net = network_new(arena, nodes); network_edge(net, a, b, bytes);
 *     int64_t cut = network_minimum_cut(net, source, sink, side);
 *
 * What hangs on the source by an edge that cannot be cut is the source, and so for the sink. Without those two a network falls into pieces that no flow
 * joins (connected components, by union-find: Tarjan 1975); the networks of training steps fall into many small ones, since each matmul is on the
 * source and each value that a gradient reads is on the sink. So the work grows with their number, and each lies in the cache while it is solved.
 * In a piece: distances to the sink by breadth-first search, then a blocking flow by an iterative depth-first search (long chains do not deepen the C stack).
 *
 * Invariant: once laid out, the nodes of a piece have neighbouring numbers (its own source and sink are the last two), and so have the arcs of a node;
 * each arc knows the place of its reverse. */
#include "aot/aot.h"
#include <string.h>

typedef struct FlowEdge { int from, to; int64_t capacity; } FlowEdge;
typedef struct Arc { int to, reverse; int64_t capacity; } Arc;
typedef enum Terminal { FREE, AT_SOURCE, AT_SINK } Terminal;
typedef struct Piece { int first, nodes; } Piece; /* nodes: without its source and sink */

struct FlowNetwork {
    Arena *arena;
    int nodes;
    VEC(FlowEdge) edges;
    unsigned char *terminal;        /* by node: Terminal */
    int *parent;                    /* of the union-find; once laid out: the piece that a FREE node is in */
    int *number;                    /* of a FREE node in the layout */
    Piece *pieces; int piece_count;
    Arc *arcs;
    int *first, *level, *current;   /* by number */
    int *queue, *path;
};

FlowNetwork *network_new(Arena *arena, int nodes) {
    FlowNetwork *net = ARENA_NEW(arena, FlowNetwork);
    net->arena = arena;
    net->nodes = nodes;
    return net;
}

void network_edge(FlowNetwork *net, int from, int to, int64_t capacity) {
    vec_push_in(net->arena, &net->edges, ((FlowEdge){from, to, capacity > FLOW_INFINITE ? FLOW_INFINITE : capacity}));
}

/* ---- pieces ---- */

/* One sweep forward and one backward along the uncuttable edges: whatever order they stand in, what is found is right, and in the order of a graph all is found. */
static void find_terminals(FlowNetwork *net, int source, int sink) {
    net->terminal = ARENA_ARRAY(net->arena, unsigned char, net->nodes);
    net->terminal[source] = AT_SOURCE;
    net->terminal[sink] = AT_SINK;
    for (int i = 0; i < net->edges.count; i++) {
        const FlowEdge *edge = &net->edges.at[i];
        if (edge->capacity >= FLOW_INFINITE && net->terminal[edge->from] == AT_SOURCE && net->terminal[edge->to] == FREE) net->terminal[edge->to] = AT_SOURCE;
    }
    for (int i = net->edges.count - 1; i >= 0; i--) {
        const FlowEdge *edge = &net->edges.at[i];
        if (edge->capacity >= FLOW_INFINITE && net->terminal[edge->to] == AT_SINK && net->terminal[edge->from] == FREE) net->terminal[edge->from] = AT_SINK;
    }
}

static int root_of(FlowNetwork *net, int node) {
    while (net->parent[node] != node) node = net->parent[node] = net->parent[net->parent[node]];
    return node;
}

static void join(FlowNetwork *net, int a, int b) {
    a = root_of(net, a), b = root_of(net, b);
    if (a < b) net->parent[b] = a;
    else net->parent[a] = b;
}

/* Pieces in the order of their first nodes, which are their roots; then each FREE node's number. */
static void find_pieces(FlowNetwork *net) {
    net->parent = ARENA_ARRAY(net->arena, int, net->nodes);
    net->number = ARENA_ARRAY(net->arena, int, net->nodes);
    net->pieces = ARENA_ARRAY(net->arena, Piece, net->nodes + 1);
    for (int i = 0; i < net->nodes; i++) net->parent[i] = i;
    for (int i = 0; i < net->edges.count; i++)
        if (!net->terminal[net->edges.at[i].from] && !net->terminal[net->edges.at[i].to]) join(net, net->edges.at[i].from, net->edges.at[i].to);
    for (int i = 0; i < net->nodes; i++) {
        if (net->terminal[i]) continue;
        int root = root_of(net, i);
        net->parent[i] = root; /* whatever is looked up later needs one step */
        if (root == i) net->number[i] = net->piece_count++;
        net->pieces[net->number[root]].nodes++;
    }
    for (int i = 0; i < net->nodes; i++)
        if (!net->terminal[i] && net->parent[i] != i) net->number[i] = net->number[net->parent[i]];
    for (int i = 0, first = 0; i < net->piece_count; i++) {
        net->pieces[i].first = first;
        first += net->pieces[i].nodes + 2;
        net->pieces[i].nodes = 0;
    }
    for (int i = 0; i < net->nodes; i++) {
        if (net->terminal[i]) continue;
        net->parent[i] = net->number[i];
        Piece *piece = &net->pieces[net->number[i]];
        net->number[i] = piece->first + piece->nodes++;
    }
}

static int piece_source(const Piece *piece) { return piece->first + piece->nodes; }
static int piece_sink(const Piece *piece) { return piece->first + piece->nodes + 1; }

/* Where an edge lies in the layout; false: in no piece (into the source, out of the sink, or from the one to the other). */
static bool edge_place(const FlowNetwork *net, const FlowEdge *edge, int *from, int *to) {
    Terminal a = net->terminal[edge->from], b = net->terminal[edge->to];
    if (a == AT_SINK || b == AT_SOURCE || (a && b)) return false;
    *from = a ? piece_source(&net->pieces[net->parent[edge->to]]) : net->number[edge->from];
    *to = b ? piece_sink(&net->pieces[net->parent[edge->from]]) : net->number[edge->to];
    return true;
}

/* Counts the arcs of each number, then puts each edge and its reverse in their places. */
static void lay_out(FlowNetwork *net) {
    int numbers = net->nodes + 2 * net->piece_count, from, to;
    net->arcs = ARENA_ARRAY(net->arena, Arc, 2 * net->edges.count + 1);
    net->first = ARENA_ARRAY(net->arena, int, numbers + 2);
    net->level = ARENA_ARRAY(net->arena, int, numbers + 1);
    net->current = ARENA_ARRAY(net->arena, int, numbers + 2);
    net->queue = ARENA_ARRAY(net->arena, int, numbers + 1);
    net->path = ARENA_ARRAY(net->arena, int, numbers + 1);
    for (int i = 0; i < net->edges.count; i++)
        if (edge_place(net, &net->edges.at[i], &from, &to)) net->first[from + 1]++, net->first[to + 1]++;
    for (int i = 0; i < numbers; i++) net->first[i + 1] += net->first[i];
    memcpy(net->current, net->first, sizeof *net->current * (size_t)(numbers + 1));
    for (int i = 0; i < net->edges.count; i++) {
        if (!edge_place(net, &net->edges.at[i], &from, &to)) continue;
        int there = net->current[from]++, back = net->current[to]++;
        net->arcs[there] = (Arc){to, back, net->edges.at[i].capacity};
        net->arcs[back] = (Arc){from, there, 0};
    }
}

/* ---- the flow of a piece ---- */

/* Distances to the sink over arcs with room left, as far as the source; true when it is reached. */
static bool find_levels(FlowNetwork *net, const Piece *piece) {
    int head = 0, tail = 0, source = piece_source(piece), sink = piece_sink(piece);
    memset(net->level + piece->first, -1, sizeof *net->level * (size_t)(piece->nodes + 2));
    memcpy(net->current + piece->first, net->first + piece->first, sizeof *net->current * (size_t)(piece->nodes + 2));
    net->level[sink] = 0;
    net->queue[tail++] = sink;
    while (head < tail) {
        int node = net->queue[head++], next = net->level[node] + 1;
        if (net->level[source] >= 0 && next > net->level[source]) break;
        for (const Arc *arc = net->arcs + net->first[node], *end = net->arcs + net->first[node + 1]; arc < end; arc++) {
            if (net->level[arc->to] >= 0 || net->arcs[arc->reverse].capacity <= 0) continue;
            net->level[arc->to] = next;
            net->queue[tail++] = arc->to;
        }
    }
    return net->level[source] >= 0;
}

/* Next usable arc out of node in the level graph, or -1; `current` remembers where the search stood. */
static int next_arc(FlowNetwork *net, int node) {
    int end = net->first[node + 1], wanted = net->level[node] - 1;
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
            net->level[node] = -2; /* a dead end */
            node = net->arcs[net->arcs[net->path[--length]].reverse].to;
        } else {
            return total;
        }
    }
}

/* What must be cut between a node at the source and one at the sink: no piece holds it. */
static int64_t direct_flow(const FlowNetwork *net) {
    int64_t total = 0;
    for (int i = 0; i < net->edges.count && total < FLOW_INFINITE; i++) {
        const FlowEdge *edge = &net->edges.at[i];
        if (net->terminal[edge->from] == AT_SOURCE && net->terminal[edge->to] == AT_SINK) total += edge->capacity;
    }
    return total;
}

int64_t network_minimum_cut(FlowNetwork *net, int source, int sink, bool *source_side) {
    find_terminals(net, source, sink);
    int64_t total = direct_flow(net);
    if (total >= FLOW_INFINITE) return FLOW_INFINITE;
    find_pieces(net);
    lay_out(net);
    for (int i = 0; i < net->piece_count; i++)
        while (find_levels(net, &net->pieces[i])) {
            total += blocking_flow(net, piece_source(&net->pieces[i]), piece_sink(&net->pieces[i]));
            if (total >= FLOW_INFINITE) return FLOW_INFINITE;
        }
    for (int i = 0; i < net->nodes; i++) source_side[i] = net->terminal[i] == AT_SOURCE || (net->terminal[i] == FREE && net->level[net->number[i]] < 0);
    return total;
}
