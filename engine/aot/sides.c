/* Sides: the two graphs of a partition.
 *
 * In: the joint graph and the list of what is saved. Out: a forward that gives the user's outputs, mutated inputs' new values and the saved tensors; a backward
 * from saved tensors and tangents to the gradients.
 *
 *     joint: mm, relu | threshold_backward, mm      saved: relu      ->      forward: mm, relu -> (relu, relu)      backward(relu, tangents_1): …
 *
 * Invariant: a node that stands on both sides computes the same value on both. */
#include "aot/recompute.h"
#include "op/op.h"

typedef struct Build { const RecomputeFacts *facts; Graph *side; Map *map; bool *needed; VEC(int) waiting, found; } Build;

static Build build_begin(const RecomputeFacts *facts, const char *stage) {
    Compile *c = facts->c;
    return (Build){.facts = facts, .side = graph_new(c->arena, stage, facts->graph->syms, &c->next_node_id), .map = map_new(c->arena),
                   .needed = ARENA_ARRAY(c->arena, bool, facts->graph->nodes.count + 1)};
}

static void need(Build *build, const Node *node) { build->needed[facts_place(build->facts, node)] = true; }
static void need_input(Node *input, void *state) { need(state, input); }

static bool is_missing(const Build *build, int place) { return build->needed[place] && !map_has(build->map, build->facts->graph->nodes.at[place]); }

static void wait_for(Node *input, void *state) {
    Build *build = state;
    int place = facts_place(build->facts, input);
    if (!is_missing(build, place)) return;
    build->needed[place] = false; /* it is met once */
    vec_push_in(build->facts->c->arena, &build->waiting, place);
    vec_push_in(build->facts->c->arena, &build->found, place);
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The node, and before it what it needs and is not there yet: what is computed again stands right before its first reader, so that it lives shortly. */
static void copy_with_inputs(Build *build, int place) {
    const Graph *graph = build->facts->graph;
    build->waiting.count = build->found.count = 0;
    node_each_input(graph->nodes.at[place], wait_for, build);
    while (build->waiting.count) node_each_input(graph->nodes.at[vec_pop(&build->waiting)], wait_for, build);
    if (build->found.count) qsort(build->found.at, (size_t)build->found.count, sizeof(int), ascending);
    for (int i = 0; i < build->found.count; i++) graph_copy_node(build->side, graph->nodes.at[build->found.at[i]], build->map);
    graph_copy_node(build->side, graph->nodes.at[place], build->map);
}

/* Copies all that the needed nodes need, stopping at those that the side is given. first: what does not wait for a reader, in the joint graph's order. */
static void copy_needed(Build *build, bool (*first)(const Build *build, int place)) {
    const Graph *graph = build->facts->graph;
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        if (is_missing(build, i)) node_each_input(graph->nodes.at[i], need_input, build);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < graph->nodes.count; i++)
            if (is_missing(build, i) && (pass || first(build, i))) copy_with_inputs(build, i);
}

static bool is_forward(const Build *build, int place) { return !build->facts->at[place].needs_tangent; }
static bool is_backward(const Build *build, int place) { return build->facts->at[place].needs_tangent; }

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

static void put_output(Build *build, const Node *node) {
    Node *copy = node ? map_get(build->map, node) : NULL;
    graph_output(build->side, &copy, 1);
}

/* The saved value of an input that the forward overwrites is copied before. */
static void put_saved(Build *build, const Node *node) {
    Node *copy = map_get(build->map, node);
    if (facts_overwritten(build->facts->graph, node)) {
        Arg args[2] = {arg_node(copy)};
        Meta meta = saved_meta(build->facts->graph, node);
        const Op *clone = op_find(build->facts->c->ops, "clone");
        copy = graph_call(build->side, clone, args, clone->nparams, &meta, 1, node->span);
        node_origin(build->side, copy, node);
    }
    graph_output(build->side, &copy, 1);
}

static void need_forward_outputs(Build *build, const Partition *partition) {
    const Graph *graph = build->facts->graph;
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] && (output_is_mutation(graph, i) || (i < graph->forward_outputs && !output_is_alias(graph, i)))) need(build, graph->outputs.at[i]);
    for (int i = 0; i < partition->saved.count; i++) need(build, partition->saved.at[i].joint_node);
}

Graph *side_forward(const RecomputeFacts *facts, const Partition *partition) {
    const Graph *graph = facts->graph;
    Build build = build_begin(facts, "forward");
    Graph *forward = build.side;
    for (int i = 0; i < graph->inputs.count; i++)
        if (!graph->inputs.at[i]->is_tangent) graph_copy_node(forward, graph->inputs.at[i], build.map);
    need_forward_outputs(&build, partition);
    copy_needed(&build, is_forward);
    for (int i = 0; i < graph->forward_outputs; i++) put_output(&build, output_is_alias(graph, i) ? NULL : graph->outputs.at[i]);
    for (int i = 0; i < graph->mutations.count; i++) {
        vec_push_in(facts->c->arena, &forward->mutations, ((Mutation){graph->mutations.at[i].input, forward->outputs.count}));
        put_output(&build, graph->outputs.at[graph->mutations.at[i].output]);
    }
    for (int i = 0; i < partition->saved.count; i++) put_saved(&build, partition->saved.at[i].joint_node);
    for (int i = 0; i < graph->aliases.count; i++) vec_push_in(facts->c->arena, &forward->aliases, graph->aliases.at[i]);
    forward->forward_outputs = graph->forward_outputs;
    forward->shares = graph->shares;
    graph_finish(forward);
    return forward;
}

/* A saved value that a pruned backward does not need is an input all the same: its forward hands it over. */
static void give_saved(Build *build, const SavedTensor *saved) {
    const Graph *graph = build->facts->graph;
    Node dead = {.kind = NODE_CONSTANT, .metas = graph->nodes.at[0]->metas};
    const Node *node = saved->joint_node ? saved->joint_node : &dead;
    Meta meta = saved_meta(graph, node);
    Node *input = graph_input(build->side, saved->name, &meta, node->span);
    if (!saved->joint_node) return;
    node_origin(build->side, input, node);
    map_put(build->map, node, input);
}

Graph *side_again(const RecomputeFacts *facts, const Partition *partition, int place) {
    Build build = build_begin(facts, "again");
    for (int i = 0; i < partition->saved.count; i++) give_saved(&build, &partition->saved.at[i]);
    need(&build, facts->graph->nodes.at[place]);
    copy_needed(&build, is_forward);
    put_output(&build, facts->graph->nodes.at[place]);
    build.side->forward_outputs = 1;
    graph_finish(build.side);
    return build.side;
}

Graph *side_backward(const RecomputeFacts *facts, const Partition *partition) {
    const Graph *graph = facts->graph;
    Build build = build_begin(facts, "backward");
    Graph *backward = build.side;
    for (int i = 0; i < partition->saved.count; i++) give_saved(&build, &partition->saved.at[i]);
    for (int i = 0; i < graph->inputs.count; i++)
        if (graph->inputs.at[i]->is_tangent) graph_copy_node(backward, graph->inputs.at[i], build.map);
    for (int i = graph->forward_outputs; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] && !output_is_mutation(graph, i)) need(&build, graph->outputs.at[i]);
    copy_needed(&build, is_backward);
    for (int i = 0; i < backward->nodes.count; i++) backward->nodes.at[i]->side = SIDE_BACKWARD;
    for (int i = graph->forward_outputs; i < graph->outputs.count; i++)
        if (!output_is_mutation(graph, i)) put_output(&build, graph->outputs.at[i]);
    backward->forward_outputs = backward->outputs.count;
    graph_finish(backward);
    return backward;
}
