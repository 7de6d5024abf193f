/* Lower: from a decomposed graph to loops over buffers.
 *
 * In: a functional graph. Out: buffers (inputs, constants, what is materialized) and loops in topological order.
 *
 *     Lowered *l = lower(c, graph);
 *     lowered_print(&text, l);
 *
 * What an op means at an index is its family's answer (value_at, reduction, scatter, alias): this file only decides what gets a buffer.
 * A value is computed by whoever reads it, unless it is an output, goes to a library, is a reduction, or is read so often and costs so
 * much that the policy (realize_reads, realize_ops) materializes it; fusion may take the buffer away again.
 * Invariant: every loop reads what earlier loops stored. */
#include "inductor/lowering.h"

const Node *node_call(const Node *node, int *which) {
    *which = 0;
    while (node->kind == NODE_GETITEM) {
        *which = node->index;
        node = node->args[0].tensor.owner;
    }
    return node;
}

const char *node_label(Lowering *lowering, const Node *node) { return arena_printf(lowering->arena, "%%%s", node->name); }

NodeState *node_state(Lowering *lowering, const Node *node) {
    NodeState *state = map_get(lowering->states, node);
    if (state) return state;
    state = ARENA_NEW(lowering->arena, NodeState);
    state->node = node;
    state->draw = state->product = -1;
    state->outs = ARENA_ARRAY(lowering->arena, NodeValue, node->noutputs ? node->noutputs : 1);
    for (int i = 0; i < node->noutputs; i++) state->outs[i].buffer = -1;
    map_put(lowering->states, node, state);
    return state;
}

NodeValue *node_value(Lowering *lowering, const Node *node) {
    int which;
    const Node *call = node_call(node, &which);
    return &node_state(lowering, call)->outs[which];
}

/* ---- what must be materialized ---- */
static NodeForm find_form(Lowering *lowering, NodeState *state) {
    const Node *node = state->node;
    const FamilyOps *family = node->op->family_ops;
    Reduction reduction;
    if (op_has(node->op, TRAIT_NO_LOWER) || node->op->family == FAMILY_CONTRACT || node->noutputs == 0) return FORM_CALL;
    if (node->op->family == FAMILY_RANDOM && lowering->c->policy->fallback_random) return FORM_CALL;
    if (family->reduction && family->reduction(node->op, node->args, node->nargs, &reduction)) return FORM_REDUCTION;
    if (node_probe(lowering, node, &state->own_ops)) return FORM_VALUE;
    return family->scatter && scatter_probe(lowering, node) ? FORM_SCATTER : FORM_CALL;
}

NodeForm node_form(Lowering *lowering, NodeState *state) {
    if (state->form == FORM_UNKNOWN) state->form = find_form(lowering, state);
    return state->form;
}

static void require(Lowering *lowering, const Node *node) {
    int which;
    const Node *call = node_call(node, &which);
    Meta view;
    while (call->kind == NODE_CALL && call->op->family == FAMILY_VIEW && view_is_alias(lowering, node, NULL, &view)) {
        node = call->args[0].tensor.owner;
        call = node_call(node, &which);
    }
    node_state(lowering, call)->outs[which].required = true;
}

static void require_input(Node *input, void *state) { require(state, input); }

/* ---- who uses what ---- */
static void note_user(Node *input, void *state) {
    void **pair = state;
    map_put(((Lowering *)pair[0])->users, input, pair[1]);
}

static void note_call(Node *input, void *state) { node_state(state, input)->inlining = false; }

/* Backwards: a view is used as its own users use it. */
static void find_inlining(Lowering *lowering) {
    const Graph *graph = lowering->l->graph;
    for (int i = 0; i < graph->nodes.count; i++) {
        void *pair[2] = {lowering, graph->nodes.at[i]};
        node_each_input(graph->nodes.at[i], note_user, pair);
        node_state(lowering, graph->nodes.at[i])->inlining = true;
    }
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i]) node_state(lowering, graph->outputs.at[i])->inlining = false;
    for (int i = graph->nodes.count - 1; i >= 0; i--) {
        const Node *node = graph->nodes.at[i];
        NodeState *state = node_state(lowering, node);
        bool passes_on = node->kind == NODE_GETITEM || (node->kind == NODE_CALL && node->op->family == FAMILY_VIEW);
        bool is_call = node->kind == NODE_CALL && node_form(lowering, state) == FORM_CALL;
        if (is_call || (passes_on && !state->inlining)) node_each_input(node, note_call, lowering);
    }
}

static void require_all(Lowering *lowering) {
    const Graph *graph = lowering->l->graph;
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind == NODE_CALL && node_form(lowering, node_state(lowering, graph->nodes.at[i])) == FORM_CALL)
            node_each_input(graph->nodes.at[i], require_input, lowering);
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i]) require(lowering, graph->outputs.at[i]);
    for (int i = 0; i < graph->mutations.count; i++) {
        const Meta *target = &graph->inputs.at[graph->mutations.at[i].input]->metas[0];
        Node *value = graph->outputs.at[graph->mutations.at[i].output];
        if (!value) continue;
        NodeValue *out = node_value(lowering, value);
        out->required = true;
        if (meta_is_dense(target) && target->offset == 0 && meta_same_shape(target, &value->metas[0])) out->layout = target;
    }
}

/* ---- estimates ---- */
typedef struct Estimate { Lowering *lowering; int reads, ops; VEC(int) nodes; } Estimate;

static void nodes_add(Estimate *estimate, int id) {
    if (estimate->nodes.count >= 256) return;
    for (int i = 0; i < estimate->nodes.count; i++)
        if (estimate->nodes.at[i] == id) return;
    vec_push(&estimate->nodes, id);
}

static void estimate_input(Node *input, void *state) {
    Estimate *estimate = state;
    int which;
    NodeState *source = node_state(estimate->lowering, node_call(input, &which));
    if (source->outs[which].buffer >= 0) {
        estimate->reads++;
        return;
    }
    estimate->reads += source->outs[which].reads;
    estimate->ops += source->outs[which].ops;
    for (int i = 0; i < source->node_count; i++) nodes_add(estimate, source->nodes[i]);
}

void node_estimate(Lowering *lowering, NodeState *state, int own_ops) {
    Estimate estimate = {.lowering = lowering, .ops = own_ops};
    node_each_input(state->node, estimate_input, &estimate);
    nodes_add(&estimate, state->node->id);
    state->nodes = arena_copy(lowering->arena, estimate.nodes.at, sizeof(int) * (size_t)estimate.nodes.count);
    state->node_count = estimate.nodes.count;
    vec_free(&estimate.nodes);
    for (int i = 0; i < state->node->noutputs; i++) {
        state->outs[i].reads = estimate.reads > 10000 ? 10000 : estimate.reads;
        state->outs[i].ops = estimate.ops > 100000 ? 100000 : estimate.ops;
    }
}

/* How often its value is read: an expanded one once for each copy of an element (that view's users stand for it). */
static bool should_materialize(Lowering *lowering, const Node *node, const NodeValue *out) {
    const Policy *policy = lowering->c->policy;
    bool is_large = out->reads > policy->realize_reads || out->ops > policy->realize_ops;
    bool is_huge = out->reads > 2 * policy->realize_reads || out->ops > 3 * policy->realize_ops;
    if (node->op->family == FAMILY_VIEW) return is_huge && node->users > 1;
    if (!(node->users > 1 && is_large) && !is_huge) return false;
    Reason *reason = reason_add(&lowering->c->reasons, REASON_MATERIALIZED, is_huge ? "materialized.size" : "materialized.reuse", node_label(lowering, node), NULL, node->span,
                                "%%%s is stored: %d users, %d reads and %d operations when computed in place (limits %d and %d)", node->name, node->users, out->reads,
                                out->ops, policy->realize_reads, policy->realize_ops);
    reason->policy = policy->name;
    return true;
}

/* ---- one node ---- */
static void lower_inlinable(Lowering *lowering, NodeState *state, int ops) {
    const Node *node = state->node;
    if (node->op->family == FAMILY_RANDOM) {
        state->draw = node->draw ? node->draw - 1 : lowering->l->random_draws;
        if (state->draw >= lowering->l->random_draws) lowering->l->random_draws = state->draw + 1;
    }
    node_estimate(lowering, state, node->op->family == FAMILY_VIEW ? 0 : ops);
    bool wanted = false;
    for (int i = 0; i < node->noutputs; i++) wanted |= state->outs[i].required;
    if (wanted || should_materialize(lowering, node, &state->outs[0])) materialize(lowering, node);
}

static void lower_call(Lowering *lowering, NodeState *state) {
    const Node *node = state->node;
    switch (node_form(lowering, state)) {
    case FORM_VALUE: lower_inlinable(lowering, state, state->own_ops); return;
    case FORM_REDUCTION: if (lower_reduction(lowering, node)) return; break;
    case FORM_SCATTER: if (lower_scatter(lowering, node)) return; break;
    default: if (node->op->family == FAMILY_CONTRACT && lower_matmul(lowering, node)) return; break;
    }
    lower_extern(lowering, node);
}

static void lower_node(Lowering *lowering, const Node *node) {
    NodeState *state = node_state(lowering, node);
    Buffer *buffer;
    switch (node->kind) {
    case NODE_INPUT:
        state->outs[0].buffer = buffer_new(lowering, BUFFER_INPUT, &node->metas[0], node->name, node->id);
        lowering->l->buffers.at[state->outs[0].buffer].buffer.index = node->index;
        break;
    case NODE_NUMBER: case NODE_EFFECT: break; /* of captured graphs only */
    case NODE_CONSTANT:
        state->outs[0].buffer = buffer_new(lowering, BUFFER_CONSTANT, &node->metas[0], node->name, node->id);
        buffer = &lowering->l->buffers.at[state->outs[0].buffer].buffer;
        buffer->constant = node->constant;
        break;
    case NODE_GETITEM: break;
    case NODE_CALL:
        if (!state->is_lowered && (node->users > 0 || op_has(node->op, TRAIT_EFFECT))) lower_call(lowering, state);
        break;
    }
    state->is_lowered = true;
}

static Device graph_device(const Graph *graph) {
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        if (graph->nodes.at[i]->noutputs && graph->nodes.at[i]->metas[0].device.kind == DEVICE_CUDA) return graph->nodes.at[i]->metas[0].device;
    return (Device){DEVICE_CPU, 0};
}

Lowered *lower(Compile *c, const Graph *graph) {
    Lowered *l = ARENA_NEW(c->arena, Lowered);
    *l = (Lowered){.arena = c->arena, .syms = c->syms, .graph = graph, .device = graph_device(graph), .builder = body_builder_new(c->arena, c->syms)};
    Lowering lowering = {c, l, c->arena, map_new(c->arena), map_new(c->arena), map_new(c->arena)};
    l->builder->state = &lowering;
    l->builder->resolve = resolve_value;
    l->builder->round16 = c->policy->emulate_precision_casts;
    l->builder->scalars = c->scalars;
    l->seed = sym_var(c->syms, "seed", INT64_MIN, INT64_MAX, SYM_SIZE);
    l->offset = sym_var(c->syms, "offset", 0, INT64_MAX, SYM_SIZE);
    l->nodes = map_new(c->arena);
    for (int i = 0; i < graph->nodes.count; i++) map_put(l->nodes, map_key(graph->nodes.at[i]->id + 1), graph->nodes.at[i]);
    find_inlining(&lowering);
    require_all(&lowering);
    int constants = 0;
    for (int i = 0; i < graph->nodes.count; i++) {
        lower_node(&lowering, graph->nodes.at[i]);
        if (graph->nodes.at[i]->kind == NODE_CONSTANT) vec_last(&l->buffers).buffer.index = constants++;
    }
    lower_outputs(&lowering);
    l->builder->state = NULL;
    return l;
}
