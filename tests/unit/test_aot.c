/* AOT without the VM: minimum cuts against brute force, graph building and verification. */
#include "aot/aot.h"
#include "base/intern.h"
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

START_TEST(names_of_python_get_a_number) {
    Arena *arena = arena_new("test");
    int id = 0;
    Graph *graph = graph_new(arena, "dynamo", NULL, &id);
    Meta meta = meta_new(DTYPE_F32, (Device){DEVICE_CPU, 0}, 0, NULL);
    const char *base[] = {"sum", "sum", "float", "lambda", "True", "abs", "zip", "summary", "long"}, *want[] = {"sum_1", "sum_2", "float_1", "lambda_1", "True_1", "abs_1", "zip_1", "summary", "long"};
    for (size_t i = 0; i < sizeof base / sizeof *base; i++) ck_assert_str_eq(graph_input(graph, base[i], &meta, (Span){0})->name, want[i]);
    arena_free(arena);
}
END_TEST

/* x f32[s0]; floordiv = s0 // 2; add = floordiv + 1; a mode; abs(x) unused. */
typedef struct Numbers { Arena *arena; OpTable *ops; Graph *graph; Node *x, *floordiv, *add, *unused; Dim s0, half, more; int id; } Numbers;

static Node *number_of(Graph *graph, const char *spelled, Dim a, Dim b, Dim value) {
    Arg args[] = {arg_int(a), arg_int(b)};
    return graph_number(graph, spelled, args, 2, arg_int(value), (Span){0});
}

static LangSession lang;
static Failure failure;

static void numbers_make(Numbers *n) {
    n->arena = arena_new("test");
    lang = (LangSession){.arena = n->arena, .names = interner_new(n->arena), .failure = &failure};
    n->ops = op_table_new(n->arena, &lang);
    SymTable *syms = sym_table_new(n->arena);
    n->graph = graph_new(n->arena, "dynamo", syms, &n->id);
    n->s0 = sym_var(syms, "s0", 2, 100, SYM_SIZE);
    n->half = dim_floordiv(syms, n->s0, 2);
    n->more = dim_add(syms, n->half, 1);
    Meta meta = meta_new(DTYPE_F32, (Device){DEVICE_CPU, 0}, 1, &n->s0);
    n->x = graph_input(n->graph, "x", &meta, (Span){0});
    n->floordiv = number_of(n->graph, "floordiv", n->s0, 2, n->half);
    n->add = number_of(n->graph, "add", n->half, 1, n->more);
    graph_effect(n->graph, "_set_grad_enabled", "torch._C._set_grad_enabled(False)", NULL, 0, (Span){0});
    Arg arg = arg_node(n->x);
    n->unused = graph_call(n->graph, op_find(n->ops, "abs"), &arg, 1, &meta, 1, (Span){0});
}

START_TEST(numbers_are_listed_by_name) {
    Numbers n = {0};
    numbers_make(&n);
    const char *error;
    Text text = {0};
    ck_assert(graph_verify(n.graph, &error));
    ck_assert(graph_number_of(n.graph, n.half) == n.floordiv && !graph_number_of(n.graph, n.s0) && !graph_number_of(n.graph, 7));
    node_print(&text, n.graph, n.add);
    ck_assert_str_eq(text_cstr(&text), "add: \"Sym(s0//2 + 1)\" = floordiv + 1");
    text_clear(&text);
    node_print(&text, n.graph, n.graph->nodes.at[3]);
    ck_assert_str_eq(text_cstr(&text), "_set_grad_enabled = torch._C._set_grad_enabled(False)");
    text_free(&text);
    arena_free(n.arena);
}
END_TEST

START_TEST(a_number_is_no_tensor) {
    Numbers n = {0};
    numbers_make(&n);
    const char *error;
    ((Arg *)(uintptr_t)n.unused->args)[0].tensor.owner = n.add;
    ck_assert(!graph_verify(n.graph, &error));
    ck_assert_str_eq(error, "%abs_1 takes %add for a tensor");
    arena_free(n.arena);
}
END_TEST

START_TEST(what_is_unused_is_dropped) {
    Numbers n = {0};
    numbers_make(&n);
    Arg arg = arg_node(n.x);
    Node *neg = graph_call(n.graph, op_find(n.ops, "neg"), &arg, 1, n.x->metas, 1, (Span){0});
    graph_output(n.graph, &neg, 1);
    graph_drop_unused(n.graph);
    ck_assert_int_eq(n.graph->nodes.count, 2);
    ck_assert(n.graph->nodes.at[0] == n.x && n.graph->nodes.at[1] == neg);
    arena_free(n.arena);
}
END_TEST

int main(void) {
    const TTest *tests[] = {minimum_cut_matches_brute_force, an_infinite_path_has_no_cut, a_long_chain_does_not_deepen_the_stack, names_are_unique_like_fx, names_of_python_get_a_number,
                            numbers_are_listed_by_name, a_number_is_no_tensor, what_is_unused_is_dropped};
    return UNIT_RUN("aot", tests, NULL, NULL);
}
