/* AOT without the VM: minimum cuts against brute force, graph building and verification. */
#include "aot/aot.h"
#include "op/op.h"
#include "unit.h"

typedef struct RandomNet { int nodes, edges; int from[32], to[32]; int64_t capacity[32]; } RandomNet;

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static RandomNet net_random(uint32_t *state) {
    RandomNet net = {.nodes = 3 + (int)(next_random(state) % 6)};
    net.edges = 2 + (int)(next_random(state) % 20);
    for (int i = 0; i < net.edges; i++) {
        net.from[i] = (int)(next_random(state) % (uint32_t)net.nodes);
        net.to[i] = (int)(next_random(state) % (uint32_t)net.nodes);
        net.capacity[i] = next_random(state) % 5 ? 1 + (int64_t)(next_random(state) % 50) : FLOW_INFINITE;
    }
    return net;
}

/* Every split of the nodes with the source on one side and the sink on the other. */
static int64_t cut_by_force(const RandomNet *net) {
    int64_t best = INT64_MAX;
    for (int side = 0; side < 1 << net->nodes; side++) {
        if (!(side & 1) || side & (1 << (net->nodes - 1))) continue;
        int64_t total = 0;
        for (int i = 0; i < net->edges; i++)
            if (side >> net->from[i] & 1 && !(side >> net->to[i] & 1) && total < FLOW_INFINITE) total += net->capacity[i];
        if (total < best) best = total;
    }
    return best;
}

START_TEST(minimum_cut_matches_brute_force) {
    uint32_t state = 7;
    for (int round = 0; round < 2000; round++) {
        RandomNet net = net_random(&state);
        Arena *arena = arena_new("test");
        FlowNetwork *flow = network_new(arena, net.nodes);
        for (int i = 0; i < net.edges; i++) network_edge(flow, net.from[i], net.to[i], net.capacity[i]);
        bool *side = ARENA_ARRAY(arena, bool, net.nodes);
        int64_t cut = network_minimum_cut(flow, 0, net.nodes - 1, side), across = 0;
        int64_t want = cut_by_force(&net);
        for (int i = 0; want < FLOW_INFINITE && i < net.edges; i++)
            if (side[net.from[i]] && !side[net.to[i]]) across += net.capacity[i];
        ck_assert(want >= FLOW_INFINITE ? cut >= FLOW_INFINITE : cut == want && across == want);
        arena_free(arena);
    }
}
END_TEST

START_TEST(an_infinite_path_has_no_cut) {
    Arena *arena = arena_new("test");
    FlowNetwork *flow = network_new(arena, 3);
    network_edge(flow, 0, 1, FLOW_INFINITE);
    network_edge(flow, 1, 2, FLOW_INFINITE);
    bool side[3];
    ck_assert(network_minimum_cut(flow, 0, 2, side) >= FLOW_INFINITE);
    arena_free(arena);
}
END_TEST

START_TEST(a_long_chain_does_not_deepen_the_stack) {
    Arena *arena = arena_new("test");
    int n = 200000;
    FlowNetwork *flow = network_new(arena, n);
    for (int i = 0; i + 1 < n; i++) network_edge(flow, i, i + 1, 5 + (i == n / 2 ? -2 : 0));
    bool *side = ARENA_ARRAY(arena, bool, n);
    ck_assert_int_eq(network_minimum_cut(flow, 0, n - 1, side), 3);
    ck_assert(side[n / 2] && !side[n / 2 + 1]);
    arena_free(arena);
}
END_TEST

START_TEST(names_are_unique_like_fx) {
    Arena *arena = arena_new("test");
    int id = 0;
    Graph *graph = graph_new(arena, "dynamo", NULL, &id);
    Dim sizes[1] = {3};
    Meta meta = meta_new(DTYPE_F32, (Device){DEVICE_CPU, 0}, 1, sizes);
    const char *want[] = {"x", "x_1", "x_2", "add_1", "add_2", "add"};
    const char *base[] = {"x", "x", "x_1", "add_1", "add_1", "add"};
    for (int i = 0; i < 6; i++) ck_assert_str_eq(graph_input(graph, base[i], &meta, (Span){0})->name, want[i]);
    const char *error;
    ck_assert(graph_verify(graph, &error));
    arena_free(arena);
}
END_TEST

int main(void) {
    const TTest *tests[] = {minimum_cut_matches_brute_force, an_infinite_path_has_no_cut, a_long_chain_does_not_deepen_the_stack, names_are_unique_like_fx};
    return UNIT_RUN("aot", tests, NULL, NULL);
}
