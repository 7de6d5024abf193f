/* The min-cut of the partition on networks of the kinds that training steps give. Each value is split into an edge that costs its bytes; keeping a value
 * for its users costs nothing more (an edge without limit); what may not be recomputed hangs on the source, what the backward reads on the sink.
 *
 *     make tests/bench/bench_maxflow && tests/bench/bench_maxflow
 *
 *   layers   blocks of a matmul and seven cheap values, a residual edge over each block, a third of the values read by the backward (transformers)
 *   wide     64 branches side by side, joined by a matmul every eight values (mixtures, attention heads written out)
 *   deep     cheap values one after the other with residual edges, one in a hundred banned, one in twenty read (recurrences, long pointwise chains)
 *   random   each value reads two of the 64 before it; one in eight banned, a third read (no structure to use)
 *
 * prints nodes and milliseconds (median of five) and the growth exponent of each; status 1 when 10,000 nodes take more than 5 ms, 100,000 more than
 * 100 ms, or the exponent between them is 1.2 or more. (`random` is one piece and grows faster: it is measured, and not held to the exponent.) */
#include "aot/aot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SOURCE, SINK, FIRST, BLOCK = 8, BRANCHES = 64, WINDOW = 64 };

static int in_of(int value) { return FIRST + 2 * value; }
static int out_of(int value) { return FIRST + 2 * value + 1; }

static uint32_t next_random(uint32_t *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }
static int64_t random_bytes(uint32_t *state) { return 1024 * (int64_t)(1 + next_random(state) % 64); }

static void put_value(FlowNetwork *net, int v, int64_t bytes, bool banned, bool read) {
    network_edge(net, in_of(v), out_of(v), bytes);
    if (banned) network_edge(net, SOURCE, in_of(v), FLOW_INFINITE);
    if (read) network_edge(net, out_of(v), SINK, FLOW_INFINITE);
}

static void put_use(FlowNetwork *net, int value, int user) {
    if (value >= 0) network_edge(net, out_of(value), in_of(user), FLOW_INFINITE);
}

static void put_layers(FlowNetwork *net, int values, uint32_t *state) {
    for (int v = 0; v < values; v++) {
        put_value(net, v, random_bytes(state), v % BLOCK == 0, next_random(state) % 3 == 0);
        put_use(net, v - 1, v);
        if (v % BLOCK == BLOCK - 1) put_use(net, v - BLOCK, v);
    }
}

static void put_wide(FlowNetwork *net, int values, uint32_t *state) {
    for (int v = 0; v < values; v++) {
        int layer = v / BRANCHES;
        bool joins = layer % BLOCK == 0;
        put_value(net, v, random_bytes(state), joins, next_random(state) % 3 == 0);
        put_use(net, v - BRANCHES, v);
        if (joins) put_use(net, v - BRANCHES - v % BRANCHES + (int)(next_random(state) % BRANCHES), v);
    }
}

static void put_deep(FlowNetwork *net, int values, uint32_t *state) {
    for (int v = 0; v < values; v++) {
        put_value(net, v, random_bytes(state), v % 100 == 0, next_random(state) % 20 == 0);
        put_use(net, v - 1, v);
        if (v % 12 == 11) put_use(net, v - 12, v);
    }
}

static void put_random(FlowNetwork *net, int values, uint32_t *state) {
    for (int v = 0; v < values; v++) {
        put_value(net, v, random_bytes(state), v < WINDOW || next_random(state) % 8 == 0, next_random(state) % 3 == 0);
        for (int i = 0; i < 2; i++) put_use(net, v - 1 - (int)(next_random(state) % WINDOW), v);
    }
}

typedef struct Kind { const char *name; void (*put)(FlowNetwork *net, int values, uint32_t *state); bool structured; } Kind;
static const Kind kinds[] = {{"layers", put_layers, true}, {"wide", put_wide, true}, {"deep", put_deep, true}, {"random", put_random, false}};

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cut_ms(const Kind *kind, int nodes, int64_t *cut) {
    Arena *arena = arena_new("bench");
    FlowNetwork *net = network_new(arena, nodes + FIRST);
    bool *side = calloc((size_t)nodes + FIRST, sizeof *side);
    uint32_t state = 7;
    kind->put(net, nodes / 2, &state);
    double start = now_ms();
    *cut = network_minimum_cut(net, SOURCE, SINK, side);
    double ms = now_ms() - start;
    free(side);
    arena_free(arena);
    return ms;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ms(const Kind *kind, int nodes) {
    double times[5];
    int64_t cut = 0;
    for (int i = 0; i < 5; i++) times[i] = cut_ms(kind, nodes, &cut);
    qsort(times, 5, sizeof *times, ascending);
    printf("%-7s %7d nodes  %8.3f ms  cut %lld B\n", kind->name, nodes, times[2], (long long)cut);
    return times[2];
}

int main(void) {
    bool slow = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        median_ms(&kinds[i], 1000);
        double small = median_ms(&kinds[i], 10000), large = median_ms(&kinds[i], 100000), exponent = log10(large / small);
        printf("%-7s growth exponent %.2f\n", kinds[i].name, exponent);
        slow |= small > 5 || large > 100 || (kinds[i].structured && exponent >= 1.2);
    }
    return slow;
}
