/* The min-cut of the partition on networks like those of training steps: blocks of a banned op (a matmul), a chain of cheap ones, a residual edge; each
 * value is split into an edge that costs its bytes, uses cost nothing to keep, and a third of the values is read by the backward.
 *
 *     make tests/bench/bench_maxflow && tests/bench/bench_maxflow
 *
 * prints nodes and milliseconds (median of five) and the growth exponent; status 1 when 10,000 nodes take more than 5 ms or 100,000 more than 100 ms.
 * (Phases grow with the logarithm of the nodes, 14 to 21; the rest of the growth is that 100,000 nodes do not fit into the second-level cache.) */
#include "aot/aot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SOURCE, SINK, FIRST, BLOCK = 8 };

static int in_of(int value) { return FIRST + 2 * value; }
static int out_of(int value) { return FIRST + 2 * value + 1; }

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

static FlowNetwork *training_network(Arena *arena, int values) {
    FlowNetwork *net = network_new(arena, FIRST + 2 * values);
    uint32_t state = 7;
    for (int v = 0; v < values; v++) {
        bool banned = v % BLOCK == 0;
        network_edge(net, in_of(v), out_of(v), 1024 * (int64_t)(1 + next_random(&state) % 64));
        if (banned) network_edge(net, SOURCE, in_of(v), FLOW_INFINITE);
        if (v > 0) network_edge(net, out_of(v - 1), in_of(v), FLOW_INFINITE);
        if (v >= BLOCK && v % BLOCK == BLOCK - 1) network_edge(net, out_of(v - BLOCK), in_of(v), FLOW_INFINITE);
        if (next_random(&state) % 3 == 0) network_edge(net, out_of(v), SINK, FLOW_INFINITE);
    }
    return net;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cut_ms(int nodes, int64_t *cut) {
    Arena *arena = arena_new("bench");
    FlowNetwork *net = training_network(arena, nodes / 2);
    bool *side = calloc((size_t)nodes + FIRST, sizeof *side);
    double start = now_ms();
    *cut = network_minimum_cut(net, SOURCE, SINK, side);
    double ms = now_ms() - start;
    free(side);
    arena_free(arena);
    return ms;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_ms(int nodes) {
    double times[5];
    int64_t cut = 0;
    for (int i = 0; i < 5; i++) times[i] = cut_ms(nodes, &cut);
    qsort(times, 5, sizeof *times, ascending);
    printf("%7d nodes  %8.3f ms  cut %lld B\n", nodes, times[2], (long long)cut);
    return times[2];
}

int main(void) {
    median_ms(1000);
    double small = median_ms(10000), large = median_ms(100000), exponent = log10(large / small);
    printf("growth exponent %.2f\n", exponent);
    return small > 5 || large > 100;
}
