/* The compiler on one page.
 *
 *     dynamo graph -> joint -> functional -> decomposed -> partition -> forward | backward -> loops -> groups -> plan -> machine code
 *
 * Each stage takes what the one before made and leaves it as it was; STEP times it. Graphs are verified after the stage that built them. */
#include "pipeline.h"
#include <assert.h>

#define STEP(c, name, target, call)                                                                          \
    do {                                                                                                     \
        double started = clock_us();                                                                         \
        (target) = (call);                                                                                   \
        vec_push_in((c)->arena, &(c)->times, ((StageTime){(name), (clock_us() - started) / 1000}));          \
        if ((c)->stage_done) (c)->stage_done((c)->stage_state, (c), (name));                                 \
        if ((c)->vm->interrupt && *(c)->vm->interrupt) fail((c)->failure, (Span){0}, "interrupted during %s", (name)); \
    } while (0)

static Graph *verified(Compile *c, Graph *graph) {
    const char *error;
    if (!graph_verify(graph, &error)) fail(c->failure, (Span){0}, "%s graph is malformed: %s", graph->stage, error);
    return graph;
}

static Device graph_device(const Graph *graph) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (node_is_tensor(graph->nodes.at[i]) && graph->nodes.at[i]->metas[0].device.kind == DEVICE_CUDA) return graph->nodes.at[i]->metas[0].device;
    return (Device){DEVICE_CPU, 0};
}

static bool is_overwritten_input(const Graph *graph, const Node *input) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->inputs.at[graph->mutations.at[i].input] == input) return true;
    return false;
}

/* Loops over CPU values run on the card as well; what calls a library or an eager kernel there does not. */
static bool is_cpu_call(const Node *node, Device device) {
    if (node->kind != NODE_CALL || device_equal(node->metas[0].device, device)) return false;
    Family family = node->op->family;
    return op_has(node->op, TRAIT_NO_LOWER) || (family != FAMILY_POINTWISE && family != FAMILY_VIEW && family != FAMILY_CREATE && family != FAMILY_REDUCE && family != FAMILY_INDEX);
}

/* A dense CPU input of a graph on a card crosses before each launch (compiled.c): a number as a tensor, an index. One that is written to, or wants a
 * gradient, would have to come back, as results on the CPU would. */
static void check_devices(Compile *c, const Graph *graph, Device device) {
    for (int i = 0; i < graph->inputs.count; i++) {
        const Node *input = graph->inputs.at[i];
        const Meta *meta = &input->metas[0];
        bool crosses = device.kind == DEVICE_CUDA && meta->device.kind == DEVICE_CPU && !is_overwritten_input(graph, input) && !(c->training && meta->requires_grad) && meta_is_contiguous(meta);
        if (!device_equal(meta->device, device) && !crosses) fail(c->failure, input->span, "inputs are on different devices; %s is not on the graph's", input->name);
    }
    for (int i = 0; i < graph->nodes.count; i++)
        if (is_cpu_call(graph->nodes.at[i], device)) fail(c->failure, graph->nodes.at[i]->span, "%%%s is computed on the CPU, the graph on a card", graph->nodes.at[i]->name);
    for (int i = 0; i < graph->forward_outputs; i++)
        if (graph->outputs.at[i] && graph->outputs.at[i]->kind != NODE_INPUT && !device_equal(graph->outputs.at[i]->metas[0].device, device))
            fail(c->failure, graph->outputs.at[i]->span, "results are on different devices; %s is not on the graph's", graph->outputs.at[i]->name);
}

static int step_order(Compile *c, Schedule *schedule) { order(c, schedule); return 0; }
static int step_memplan(Compile *c, Schedule *schedule) {
    const char *error;
    memplan(c, schedule);
    if (!schedule_verify(schedule, &error)) fail(c->failure, (Span){0}, "the schedule is malformed: %s", error);
    return 0;
}
static int step_bind(Compile *c, Schedule *schedule, Device device) { bind_axes(c, schedule, device); return 0; }

static int step_load(Compile *c, Side *side) {
    OpError error;
    /* Without a card the kernels are compiled where NVRTC is, and shown, not run. */
    if (side->plan->device.kind == DEVICE_CUDA && !cuda_available(c->runtime, NULL) && !nvrtc_available(c->runtime, NULL)) return 0;
    if (!plan_load(c->runtime, side->plan, &side->report, &error)) fail(c->failure, (Span){0}, "%s", error.message);
    return 0;
}

/* What is lowered knows no op that was kept whole. */
static const Graph *opened(Compile *c, const Graph *graph) { return c->policy->keep_whole ? verified(c, simplify(c, decompose(c, graph, NULL))) : graph; }

/* Inductor: one side to a plan that is ready to run. */
static void compile_side(Compile *c, Side *side, Graph *graph, Device device, const char *name) {
    int done;
    side->graph = graph;
    STEP(c, "lower", side->lowered, lower(c, opened(c, graph)));
    side->lowered->device = device;
    STEP(c, "fuse", side->schedule, fuse(c, side->lowered));
    STEP(c, "order", done, step_order(c, side->schedule));
    STEP(c, "memplan", done, step_memplan(c, side->schedule));
    STEP(c, "bind", done, step_bind(c, side->schedule, device));
    STEP(c, "generate", side->plan, generate(c, side->schedule, device, name));
    STEP(c, "compile kernels", done, step_load(c, side));
    (void)done;
}

/* AOTAutograd: from the captured graph to the two sides. */
static Partition *compile_graphs(Compile *c, const Graph *dynamo, const bool *defined, const Partition *fixed, Artifacts *out) {
    STEP(c, "joint", out->joint, verified(c, joint(c, dynamo, defined)));
    STEP(c, "functional", out->functional, verified(c, functionalize(c, out->joint)));
    STEP(c, "decomposed", out->decomposed, verified(c, simplify(c, decompose(c, out->functional, c->policy->keep_whole))));
    STEP(c, "partition", out->partition, partition(c, out->decomposed, fixed));
    return out->partition;
}

static bool *tangent_mask(Compile *c, const Graph *joint) {
    bool *mask = ARENA_ARRAY(c->arena, bool, joint->forward_outputs + 1);
    for (int i = 0; i < joint->inputs.count; i++)
        if (joint->inputs.at[i]->is_tangent) mask[joint->inputs.at[i]->tangent_of] = true;
    return mask;
}

static bool predict_cpu(Compile *c, const Graph *graph, Prediction *prediction) { return predict(c, opened(c, graph), (Device){DEVICE_CPU, 0}, prediction); }
static bool predict_card(Compile *c, const Graph *graph, Prediction *prediction) { return predict(c, opened(c, graph), (Device){DEVICE_CUDA, 0}, prediction); }

void pipeline(Compile *c, const Graph *dynamo, Artifacts *out) {
    out->device = graph_device(dynamo);
    c->predict = out->device.kind == DEVICE_CUDA ? predict_card : predict_cpu;
    compile_graphs(c, dynamo, NULL, NULL, out);
    check_devices(c, out->decomposed, out->device);
    out->tangents = tangent_mask(c, out->joint);
    compile_side(c, &out->forward, out->partition->forward, out->device, "forward");
    if (out->partition->backward) compile_side(c, &out->backward, out->partition->backward, out->device, "backward");
}

Pruned *pipeline_pruned(Compile *c, const Graph *dynamo, Artifacts *artifacts, const bool *defined) {
    Artifacts mine = {.device = artifacts->device};
    Pruned *pruned = ARENA_NEW(c->arena, Pruned);
    pruned->first_assumption = assumption_count(c->syms);
    pruned->defined = arena_copy(c->arena, defined, sizeof *defined * (size_t)(artifacts->joint->forward_outputs + 1));
    pruned->partition = compile_graphs(c, dynamo, pruned->defined, artifacts->partition, &mine);
    compile_side(c, &pruned->backward, pruned->partition->backward, artifacts->device, "backward");
    pruned->assumptions = assumption_count(c->syms) - pruned->first_assumption;
    vec_push_in(c->arena, &artifacts->pruned, pruned);
    return pruned;
}

static bool is_random(const Node *node) { return node->kind == NODE_CALL && op_has(node->op, TRAIT_RANDOM); }

static void mark_needed(Node *node, void *state) { map_put(state, node, node); }

/* The random nodes of the forward, and what they need. */
static Graph *draws_graph(Compile *c, const Graph *forward) {
    Graph *graph = graph_new(c->arena, "draws", c->syms, &c->next_node_id);
    Map *needed = map_new(c->arena), *copies = map_new(c->arena);
    for (int i = forward->nodes.count - 1; i >= 0; i--) {
        const Node *node = forward->nodes.at[i];
        if (is_random(node)) mark_needed(forward->nodes.at[i], needed);
        if (map_has(needed, node)) node_each_input(node, mark_needed, needed);
    }
    for (int i = 0; i < forward->nodes.count; i++) {
        const Node *node = forward->nodes.at[i];
        if (node->kind != NODE_INPUT && !map_has(needed, node)) continue;
        Node *copy = graph_copy_node(graph, node, copies);
        for (int k = 0; is_random(node) && k < node->noutputs; k++) {
            Node *output = node->noutputs == 1 ? copy : graph_getitem(graph, copy, k);
            graph_output(graph, &output, 1);
        }
    }
    graph->forward_outputs = graph->outputs.count;
    graph_finish(graph);
    return graph;
}

static int random_count(const Graph *graph) {
    int count = 0;
    for (int i = 0; i < graph->nodes.count; i++) count += is_random(graph->nodes.at[i]);
    return count;
}

Side *pipeline_draws(Compile *c, const Artifacts *artifacts) {
    const Graph *forward = artifacts->partition->forward;
    int draws = random_count(forward);
    if (draws != random_count(artifacts->functional)) fail(c->failure, (Span){0}, "some of them were not used");
    if (draws != artifacts->forward.plan->random_draws) fail(c->failure, (Span){0}, "an op draws from the generator itself");
    Side *side = ARENA_NEW(c->arena, Side);
    compile_side(c, side, verified(c, draws_graph(c, forward)), artifacts->device, "draws");
    return side;
}
