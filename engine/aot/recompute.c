/* See recompute.h. The bans follow PyTorch's min_cut_rematerialization_partition; its heuristics are named where they stand. Nothing here names an
 * op: family and traits decide. */
#include "aot/recompute.h"
#include <math.h>

static bool is_view(const Node *node) { return node->kind == NODE_GETITEM || (node->kind == NODE_CALL && node->op->family == FAMILY_VIEW); }

/* Could end up in a loop with its neighbours. */
static bool is_loop(const Node *node) {
    if (node->kind != NODE_CALL) return node->kind == NODE_GETITEM;
    if (node->op->traits & (TRAIT_HEAVY | TRAIT_NO_LOWER | TRAIT_SYNC)) return false;
    Family family = node->op->family;
    return family == FAMILY_POINTWISE || family == FAMILY_REDUCE || family == FAMILY_VIEW || family == FAMILY_CREATE || family == FAMILY_INDEX;
}

static bool is_fusible(const Node *a, const Node *b) { return is_loop(a) && is_loop(b); }

typedef struct UserVisit { RecomputeFacts *facts; int user; } UserVisit;

static void add_user(Node *input, void *state) {
    UserVisit *visit = state;
    NodeFacts *facts = &visit->facts->at[facts_place(visit->facts, input)];
    if (facts->users.count && vec_last(&facts->users) == visit->user) return; /* x * x reads x once */
    vec_push_in(visit->facts->c->arena, &facts->users, visit->user);
}

static void find_users(RecomputeFacts *facts) {
    const Graph *graph = facts->graph;
    facts->places = map_new(facts->c->arena);
    for (int i = 0; i < graph->nodes.count; i++) map_put(facts->places, graph->nodes.at[i], (void *)(intptr_t)(i + 1));
    for (int i = 0; i < graph->nodes.count; i++) node_each_input(graph->nodes.at[i], add_user, &(UserVisit){facts, i});
}

static void find_tangent_users(RecomputeFacts *facts) {
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        if (facts->graph->nodes.at[i]->is_tangent) facts->at[i].needs_tangent = true;
        if (!facts->at[i].needs_tangent) continue;
        for (int j = 0; j < facts->at[i].users.count; j++) facts->at[facts->at[i].users.at[j]].needs_tangent = true;
    }
}

static bool is_gradient_output(const Graph *graph, int output) {
    if (output < graph->forward_outputs) return false;
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].output == output) return false;
    return true;
}

static void find_needed(RecomputeFacts *facts) {
    const Graph *graph = facts->graph;
    for (int i = 0; i < graph->outputs.count; i++) {
        if (!graph->outputs.at[i]) continue;
        NodeFacts *node = &facts->at[facts_place(facts, graph->outputs.at[i])];
        if (is_gradient_output(graph, i)) node->used_backward = true;
        else node->needed_forward = true;
    }
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        for (int j = 0; j < facts->at[i].users.count; j++) {
            const NodeFacts *user = &facts->at[facts->at[i].users.at[j]];
            facts->at[i].needed_forward |= user->needed_forward && !user->needs_tangent;
            facts->at[i].used_backward |= user->needs_tangent;
        }
}

enum { FAR = 1 << 28 };

static void find_distances(RecomputeFacts *facts) {
    for (int i = facts->graph->nodes.count - 1; i >= 0; i--) {
        NodeFacts *node = &facts->at[i];
        node->distance = node->needs_tangent ? 0 : FAR;
        if (node->needs_tangent) continue;
        for (int j = 0; j < node->users.count; j++) {
            int distance = facts->at[node->users.at[j]].distance + 1;
            if (distance < node->distance) node->distance = distance;
        }
    }
}

static void ban(NodeFacts *node, const char *code, const char *text) {
    if (node->banned) return;
    node->banned = true;
    node->ban_code = code;
    node->ban_text = text;
}

/* Read by a node of the backward that is no loop (a matmul): it has to be in memory there anyway. Views are looked through. */
static bool materialized_backward(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    for (int j = 0; j < facts->at[place].users.count; j++) {
        int user = facts->at[place].users.at[j];
        const Node *user_node = facts->graph->nodes.at[user];
        if (!facts->at[user].needed_forward && !is_fusible(node, user_node)) return true;
        if (is_view(user_node) && !facts->at[user].needs_tangent && materialized_backward(facts, user)) return true;
    }
    return false;
}

static void sum_bytes(Node *input, void *state) { *(int64_t *)state += meta_bytes(&input->metas[0]); }

static void ban_node(RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    NodeFacts *fact = &facts->at[place];
    if (node->kind != NODE_CALL) return;
    if (op_has(node->op, TRAIT_RANDOM)) ban(fact, "saved.random", "drawing it again would give other numbers");
    else if (!is_loop(node)) ban(fact, "saved.heavy", "it is not a cheap loop, so it is never computed twice");
    else if (!is_view(node) && materialized_backward(facts, place)) ban(fact, "saved.materialized", "the backward needs it in memory anyway (a matmul or library call reads it)");
    if (fact->banned || is_view(node) || !facts->c->policy->ban_recompute_reductions) return;
    int64_t inputs = 0;
    node_each_input(node, sum_bytes, &inputs);
    if (fact->bytes * 4 < inputs) ban(fact, "saved.reduction", "it is over four times smaller than what it is made from");
}

/* PyTorch's "used far apart": when some forward user of a value can not be fused with it, the users after that one are in another kernel and would
 * make the value be read again: recomputing them is not free. */
static void ban_far_users(RecomputeFacts *facts, int place) {
    const NodeFacts *fact = &facts->at[place];
    const Node *node = facts->graph->nodes.at[place];
    if (!fact->needed_forward) return;
    int first_unfusible = INT32_MAX;
    for (int j = 0; j < fact->users.count; j++) {
        int user = fact->users.at[j];
        if (facts->at[user].needed_forward && !is_fusible(node, facts->graph->nodes.at[user]) && user < first_unfusible) first_unfusible = user;
    }
    for (int j = 0; j < fact->users.count; j++) {
        int user = fact->users.at[j];
        if (!facts->at[user].needed_forward || user <= first_unfusible || !is_fusible(node, facts->graph->nodes.at[user])) continue;
        if (is_view(facts->graph->nodes.at[user])) continue;
        ban(&facts->at[user], "saved.far", "its input is last used far before it in the forward");
    }
}

bool facts_overwritten(const Graph *graph, const Node *node) {
    while (is_view(node) && node->nargs && node->args[0].tag == ARG_TENSOR) node = node->args[0].tensor.owner;
    if (node->kind != NODE_INPUT) return false;
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].input == node->index) return true;
    return false;
}

/* In memory after the forward whatever is decided: an input, or read by something that is no loop. */
static bool is_materialized(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    if (facts_overwritten(facts->graph, node)) return false;
    if (node->kind == NODE_INPUT || node->kind == NODE_CONSTANT) return true;
    for (int j = 0; j < facts->at[place].users.count; j++)
        if (!is_fusible(node, facts->graph->nodes.at[facts->at[place].users.at[j]])) return true;
    return facts->at[place].users.count == 0;
}

/* PyTorch's weight: bytes, times 1.1 for each step away from the backward, doubled for what would not be in memory otherwise. */
static int64_t node_weight(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    if (node->noutputs != 1) return FLOW_INFINITE; /* a tuple cannot be saved, its items can */
    int distance = facts->at[place].distance;
    if (distance > 100) distance = 100;
    double weight = (double)(facts->at[place].bytes > 0 ? facts->at[place].bytes : 1) * pow(1.1, distance > 1 ? distance : 1);
    if (!is_materialized(facts, place)) weight *= 2;
    return weight < 1e17 ? (int64_t)(weight * 16) : (int64_t)1e18;
}

void recompute_facts(RecomputeFacts *facts, Compile *c, const Graph *graph) {
    int count = graph->nodes.count;
    *facts = (RecomputeFacts){.c = c, .graph = graph, .at = ARENA_ARRAY(c->arena, NodeFacts, count + 1)};
    for (int i = 0; i < count; i++) facts->at[i].bytes = meta_bytes(&graph->nodes.at[i]->metas[0]);
    find_users(facts);
    find_tangent_users(facts);
    find_needed(facts);
    find_distances(facts);
    for (int i = 0; i < count; i++)
        if (!facts->at[i].needs_tangent) ban_node(facts, i);
    for (int i = 0; i < count; i++) ban_far_users(facts, i);
    for (int i = 0; i < count; i++) facts->at[i].weight = node_weight(facts, i);
}
