/* See recompute.h. In: a joint graph, and rules. Out: facts by place in the graph. The bans are those of PyTorch's
 * min_cut_rematerialization_partition; where a number stands in one (4, 100, 1.1), it is PyTorch's guess. */
#include "aot/recompute.h"
#include <math.h>

enum { FAR = 1 << 28, CHAIN = 100, LEAST_SHRINKING = 4 };

bool facts_is_view(const Node *node) { return node->kind == NODE_CALL && node->op->family == FAMILY_VIEW; }

/* One part of a split: a view too, but one that PyTorch takes for an op. */
static bool is_part(const Node *node) { return node->kind == NODE_GETITEM && facts_is_view(node->args[0].tensor.owner); }

/* Becomes a loop that is fused with its neighbours. */
static bool is_loop(const Node *node) {
    if (node->kind != NODE_CALL) return node->kind == NODE_GETITEM;
    if (node->op->traits & (TRAIT_HEAVY | TRAIT_NO_LOWER | TRAIT_SYNC)) return false;
    Family family = node->op->family;
    return family == FAMILY_POINTWISE || family == FAMILY_REDUCE || family == FAMILY_VIEW || family == FAMILY_CREATE || family == FAMILY_INDEX;
}

/* PyTorch's list of what is cheap; our own is that of the loops. */
static bool is_listed(const RecomputeFacts *facts, const Node *node) {
    return is_loop(node) && (facts->rules.storages || node->kind != NODE_CALL || !op_has(node->op, TRAIT_KEPT));
}

static bool is_fusible(const RecomputeFacts *facts, const Node *a, const Node *b) {
    bool joins = b->kind == NODE_CALL && op_has(b->op, TRAIT_JOINS);
    return joins || (is_listed(facts, a) && is_listed(facts, b));
}

/* ---- who uses what ---- */

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

static bool output_is_mutation(const Graph *graph, int output) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].output == output) return true;
    return false;
}

static bool output_is_alias(const Graph *graph, int output) {
    for (int i = 0; i < graph->aliases.count; i++)
        if (graph->aliases.at[i].output == output) return true;
    return false;
}

static void find_needed(RecomputeFacts *facts) {
    const Graph *graph = facts->graph;
    for (int i = 0; i < graph->outputs.count; i++) {
        if (!graph->outputs.at[i]) continue;
        NodeFacts *node = &facts->at[facts_place(facts, graph->outputs.at[i])];
        node->is_output = true;
        if (i < graph->forward_outputs || output_is_mutation(graph, i)) node->needed_forward = true;
        else node->used_backward = true;
    }
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        for (int j = 0; j < facts->at[i].users.count; j++) facts->at[i].needed_forward |= facts->at[facts->at[i].users.at[j]].needed_forward;
}

/* A call that is handed out as a gradient is computed in the backward even where no tangent goes into it. */
static void find_tangent_users(RecomputeFacts *facts) {
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        const Node *node = facts->graph->nodes.at[i];
        NodeFacts *fact = &facts->at[i];
        if (node->is_tangent || (fact->used_backward && node->kind == NODE_CALL && !fact->needed_forward)) fact->needs_tangent = true;
        for (int j = 0; j < fact->users.count; j++) facts->at[fact->users.at[j]].needs_tangent |= fact->needs_tangent;
    }
    for (int i = 0; i < facts->graph->nodes.count; i++)
        for (int j = 0; j < facts->at[i].users.count; j++) facts->at[i].used_backward |= facts->at[facts->at[i].users.at[j]].needs_tangent;
}

static void find_distances(RecomputeFacts *facts) {
    for (int i = facts->graph->nodes.count - 1; i >= 0; i--) {
        NodeFacts *node = &facts->at[i];
        node->distance = node->needed_forward && !node->needs_tangent ? FAR : 0;
        for (int j = 0; j < node->users.count && node->distance; j++) {
            int distance = facts->at[node->users.at[j]].distance + 1;
            if (distance < node->distance) node->distance = distance;
        }
    }
}

static void find_order(RecomputeFacts *facts) {
    facts->by_order = ARENA_ARRAY(facts->c->arena, int, facts->graph->nodes.count + 1);
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        bool forward = facts->at[i].needed_forward && !facts->at[i].needs_tangent;
        facts->at[i].order = forward ? facts->forward_count : -1;
        if (forward) facts->by_order[facts->forward_count++] = i;
    }
}

static void find_sources(RecomputeFacts *facts) {
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        const Node *node = facts->graph->nodes.at[i];
        facts->at[i].from_nothing = node->kind == NODE_GETITEM || (node->kind == NODE_CALL && !op_has(node->op, TRAIT_RANDOM));
    }
    for (int i = 0; i < facts->graph->nodes.count; i++)
        for (int j = 0; j < facts->at[i].users.count && !facts->at[i].from_nothing; j++) facts->at[facts->at[i].users.at[j]].from_nothing = false;
}

/* ---- storages ---- */

bool facts_overwritten(const Graph *graph, const Node *node) {
    while ((facts_is_view(node) || is_part(node)) && node->nargs && node->args[0].tag == ARG_TENSOR) node = node->args[0].tensor.owner;
    if (node->kind != NODE_INPUT) return false;
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].input == node->index) return true;
    return false;
}

static int root_place(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    bool shows = (facts_is_view(node) && op_has(node->op, TRAIT_ALIAS)) || node->kind == NODE_GETITEM;
    if (!shows || node->args[0].tag != ARG_TENSOR) return place;
    const Node *from = node->args[0].tensor.owner;
    if (node->kind == NODE_GETITEM && !facts_is_view(from)) return place; /* one of several results: a storage of its own */
    return facts->at[facts_place(facts, from)].root;
}

static void find_storages(RecomputeFacts *facts) {
    const Graph *graph = facts->graph;
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        facts->at[i].root = root_place(facts, i);
        facts->at[i].held = node->kind == NODE_INPUT || node->kind == NODE_CONSTANT ? HELD_BY_INPUT : HELD_FOR_BACKWARD;
    }
    for (int i = 0; i < graph->forward_outputs; i++) {
        if (!graph->outputs.at[i] || output_is_alias(graph, i)) continue;
        NodeFacts *root = &facts->at[facts->at[facts_place(facts, graph->outputs.at[i])].root];
        if (root->held == HELD_FOR_BACKWARD) root->held = HELD_BY_OUTPUT;
    }
    for (int i = 0; i < graph->nodes.count; i++) {
        NodeFacts *fact = &facts->at[i];
        bool copied = facts_overwritten(graph, graph->nodes.at[i]); /* by itself, however much of the input it shows */
        if (copied) fact->root = i, fact->held = HELD_FOR_BACKWARD;
        fact->held = facts->at[fact->root].held;
        fact->storage_bytes = fact->held != HELD_FOR_BACKWARD ? 0 : meta_bytes(&graph->nodes.at[fact->root]->metas[0]);
    }
}

/* ---- checkpoint regions ---- */

bool facts_draws_again(const RecomputeFacts *facts, const Node *node) { return !op_has(node->op, TRAIT_NO_LOWER) && !facts->c->policy->fallback_random; }

/* All values of a region are computed again, except those that a later region is made from. */
static void find_regions(RecomputeFacts *facts) {
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        const Node *node = facts->graph->nodes.at[i];
        NodeFacts *fact = &facts->at[i];
        if (!node->region || node->kind == NODE_INPUT || fact->needs_tangent) continue;
        bool random = node->kind == NODE_CALL && op_has(node->op, TRAIT_RANDOM), passed_on = false;
        for (int j = 0; j < fact->users.count; j++) passed_on |= facts->graph->nodes.at[fact->users.at[j]]->region > node->region;
        fact->must_save = passed_on || (random && !facts_draws_again(facts, node));
        fact->must_recompute = !fact->must_save;
    }
}

void recompute_facts(RecomputeFacts *facts, Compile *c, const Graph *graph) {
    int count = graph->nodes.count;
    *facts = (RecomputeFacts){.c = c, .graph = graph, .at = ARENA_ARRAY(c->arena, NodeFacts, count + 1)};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < graph->nodes.at[i]->noutputs; k++) facts->at[i].bytes += meta_bytes(&graph->nodes.at[i]->metas[k]);
    find_users(facts);
    find_needed(facts);
    find_tangent_users(facts);
    find_distances(facts);
    find_order(facts);
    find_storages(facts);
    find_regions(facts);
    find_sources(facts);
}

/* ---- bans ---- */

/* Views stay free, and what a region or a budget wants computed again may be. */
static void ban(RecomputeFacts *facts, int place, const char *code, const char *text) {
    NodeFacts *fact = &facts->at[place];
    if (fact->banned || fact->lifted || fact->must_recompute || facts_is_view(facts->graph->nodes.at[place])) return;
    if (facts->rules.storages && is_part(facts->graph->nodes.at[place])) return;
    fact->banned = true;
    fact->ban_code = code;
    fact->ban_text = text;
}

/* Read by a node of the backward that is no loop (a matmul): it has to be in memory there anyway. Views are looked through. */
static bool materialized_backward(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    for (int j = 0; j < facts->at[place].users.count; j++) {
        int user = facts->at[place].users.at[j];
        const Node *user_node = facts->graph->nodes.at[user];
        if (facts->at[user].order < 0 && !is_fusible(facts, node, user_node)) return true;
        if (facts_is_view(user_node) && (facts->at[user].is_output || materialized_backward(facts, user))) return true;
    }
    return false;
}

/* Over four times smaller than what it is made from (lists do not count). */
static bool is_reduction(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    int64_t inputs = 0;
    for (int i = 0; i < node->nargs; i++)
        if (node->args[i].tag == ARG_TENSOR) inputs += facts->at[facts_place(facts, node->args[i].tensor.owner)].bytes;
    return facts->at[place].bytes * LEAST_SHRINKING < inputs;
}

static void ban_node(RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    NodeFacts *fact = &facts->at[place];
    const CutRules *rules = &facts->rules;
    if (node->kind == NODE_INPUT || node->kind == NODE_CONSTANT) fact->banned = true;
    if (node->kind != NODE_CALL || fact->order < 0) return;
    if (fact->must_save) ban(facts, place, "saved.region", "a later checkpoint region is made from it");
    if (op_has(node->op, TRAIT_RANDOM)) ban(facts, place, "saved.random", "drawing its numbers again costs more than keeping them");
    if (op_has(node->op, TRAIT_HEAVY)) ban(facts, place, "saved.heavy", "it is not a cheap loop, so it is never computed twice");
    if (rules->not_in_allowlist && !is_listed(facts, node)) ban(facts, place, "saved.not_cheap", "it is not known to be cheap, so it is not computed twice");
    if (rules->materialized && fact->is_output) ban(facts, place, "saved.output", "an output, in memory anyway");
    if (rules->materialized && !facts_is_view(node) && materialized_backward(facts, place))
        ban(facts, place, "saved.materialized", "the backward needs it in memory anyway (a matmul or library call reads it)");
    if (rules->reductions && is_reduction(facts, place) && !(rules->storages && fact->from_nothing)) ban(facts, place, "saved.reduction", "it is over four times smaller than what it is made from");
}

/* The order of the first node behind the users of a value that cannot be fused with one of its inputs, as far as `limit`. `reached`: by order, 1 reached, 2 by
 * one that it cannot be fused with; `stamp` tells searches apart. */
static int first_unfusible(const RecomputeFacts *facts, const NodeFacts *value, int limit, int *reached, int stamp) {
    int first = limit;
    for (int j = 0; j < value->users.count; j++) {
        int order = facts->at[value->users.at[j]].order;
        if (order < 0) continue;
        reached[order] = 2 * stamp;
        if (order < first) first = order;
    }
    for (int order = first; order <= limit; order++) {
        if (reached[order] == 2 * stamp + 1) return order;
        if (reached[order] != 2 * stamp) continue;
        const NodeFacts *fact = &facts->at[facts->by_order[order]];
        for (int j = 0; j < fact->users.count; j++) {
            int next = facts->at[fact->users.at[j]].order;
            if (next < 0 || next > limit || reached[next] == 2 * stamp + 1) continue;
            bool fusible = is_fusible(facts, facts->graph->nodes.at[facts->by_order[order]], facts->graph->nodes.at[facts->by_order[next]]);
            reached[next] = 2 * stamp + !fusible;
        }
    }
    return limit;
}

/* A value read both near and far, with something unfusible between: what the far readers compute would be in another kernel of the backward. */
static void ban_far_users(RecomputeFacts *facts) {
    int *reached = ARENA_ARRAY(facts->c->arena, int, facts->forward_count + 1);
    for (int order = 0; order < facts->forward_count; order++) {
        const NodeFacts *fact = &facts->at[facts->by_order[order]];
        const Node *node = facts->graph->nodes.at[facts->by_order[order]];
        int last = -1;
        for (int j = 0; j < fact->users.count; j++)
            if (facts->at[fact->users.at[j]].order > last) last = facts->at[fact->users.at[j]].order;
        if (last < 0) continue;
        int first = first_unfusible(facts, fact, last, reached, order + 1);
        for (int j = 0; j < fact->users.count; j++) {
            int user = fact->users.at[j];
            if (facts->at[user].order > first && is_fusible(facts, node, facts->graph->nodes.at[user]))
                ban(facts, user, "saved.far", "its input is used far before it in the forward, with what cannot be fused between");
        }
    }
}

/* ---- long chains: the frontier of fusible nodes is a heap of orders ---- */

typedef struct Heap { int *at, count; } Heap;

static void heap_put(Heap *heap, int value) {
    int i = heap->count++;
    for (; i > 0 && heap->at[(i - 1) / 2] > value; i = (i - 1) / 2) heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = value;
}

static int heap_take(Heap *heap) {
    int top = heap->at[0], last = heap->at[--heap->count], i = 0;
    for (int child; (child = 2 * i + 1) < heap->count; i = child) {
        if (child + 1 < heap->count && heap->at[child + 1] < heap->at[child]) child++;
        if (heap->at[child] >= last) break;
        heap->at[i] = heap->at[child];
    }
    heap->at[i] = last;
    return top;
}

/* Where a chain of fusible nodes runs for more than a hundred and is one node wide, it is saved: else all of it would be computed again. */
static void ban_chain_from(RecomputeFacts *facts, int start, Heap *heap, bool *visited) {
    heap->count = 0;
    heap_put(heap, start);
    while (heap->count) {
        int order = heap_take(heap), place = facts->by_order[order];
        if (visited[order]) continue;
        visited[order] = true;
        if (order > start + CHAIN && !heap->count) {
            ban(facts, place, "saved.chain", "it ends a chain of over a hundred cheap values, which would all be computed again");
            return;
        }
        const NodeFacts *fact = &facts->at[place];
        for (int j = 0; j < fact->users.count; j++) {
            const NodeFacts *user = &facts->at[fact->users.at[j]];
            if (user->order >= 0 && !visited[user->order] && !user->banned && is_fusible(facts, facts->graph->nodes.at[place], facts->graph->nodes.at[fact->users.at[j]])) heap_put(heap, user->order);
        }
    }
}

static void ban_long_chains(RecomputeFacts *facts) {
    int edges = 1;
    for (int i = 0; i < facts->graph->nodes.count; i++) edges += facts->at[i].users.count + 1;
    Heap heap = {ARENA_ARRAY(facts->c->arena, int, edges), 0};
    bool *visited = ARENA_ARRAY(facts->c->arena, bool, facts->forward_count + 1);
    for (int order = 0; order < facts->forward_count; order++) ban_chain_from(facts, order, &heap, visited);
}

/* ---- weights ---- */

/* In memory whatever is decided: an input, an output, or read by something that is no loop. */
static bool is_materialized(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    if (facts_overwritten(facts->graph, node)) return false;
    if (node->kind == NODE_INPUT || node->kind == NODE_CONSTANT) return true;
    for (int j = 0; j < facts->at[place].users.count; j++)
        if (!is_fusible(facts, node, facts->graph->nodes.at[facts->at[place].users.at[j]])) return true;
    return facts->at[place].is_output;
}

static int near_distance(const NodeFacts *fact) { return fact->distance < 1 ? 1 : fact->distance > 100 ? 100 : fact->distance; }

/* PyTorch's weight: bytes, times 1.1 for each step away from the backward, doubled for what would not be in memory otherwise; parameters are there anyway. */
static int64_t weight_of_value(const RecomputeFacts *facts, int place) {
    const Node *node = facts->graph->nodes.at[place];
    if (node->is_parameter && !facts_overwritten(facts->graph, node)) return 0;
    double bytes = (double)facts->at[place].bytes * pow(1.1, near_distance(&facts->at[place]));
    int64_t weight = bytes < 1e17 ? (int64_t)bytes : (int64_t)1e17;
    return is_materialized(facts, place) ? weight : 2 * weight;
}

/* The storage's bytes, and in the last ten bits how far away it is: among equals the nearest to the backward, of which least must be made again. */
static int64_t weight_of_storage(const RecomputeFacts *facts, int place) {
    const NodeFacts *fact = &facts->at[place];
    if (fact->root != place) return FLOW_INFINITE; /* a view: made again */
    int64_t bytes = fact->storage_bytes < (int64_t)1e15 ? fact->storage_bytes : (int64_t)1e15;
    return (bytes << 10) + 4 * near_distance(fact) + (fact->held != HELD_BY_INPUT);
}

void recompute_rules(RecomputeFacts *facts, const CutRules *rules) {
    int count = facts->graph->nodes.count;
    facts->rules = *rules;
    for (int i = 0; i < count; i++) facts->at[i].banned = false, facts->at[i].ban_code = facts->at[i].ban_text = NULL;
    for (int i = 0; i < count; i++)
        if (!facts->at[i].needs_tangent) ban_node(facts, i);
    if (rules->used_far_apart) ban_far_users(facts);
    if (rules->long_chains) ban_long_chains(facts);
    for (int i = 0; i < count; i++) {
        bool several = facts->graph->nodes.at[i]->noutputs != 1; /* a tuple cannot be saved, its items can */
        facts->at[i].weight = several ? FLOW_INFINITE : rules->storages ? weight_of_storage(facts, i) : weight_of_value(facts, i);
    }
}

CutRules rules_of_policy(const Policy *policy) {
    return (CutRules){.used_far_apart = policy->ban_recompute_used_far_apart, .long_chains = policy->ban_recompute_long_fusible_chains, .materialized = policy->ban_recompute_materialized_backward,
                      .not_in_allowlist = policy->ban_recompute_not_in_allowlist, .reductions = policy->ban_recompute_reductions};
}

double facts_flops(const Node *node) {
    if (node->kind != NODE_CALL || node->op->family != FAMILY_CONTRACT) return 1;
    const Meta *left = NULL, *last = NULL; /* the two factors are the last tensors */
    for (int i = 0; i < node->nargs; i++)
        if (node->args[i].tag == ARG_TENSOR) left = last, last = node->args[i].tensor.meta;
    return left && left->rank ? 2.0 * (double)meta_numel(&node->metas[0]) * (double)dim_hint(left->sizes[left->rank - 1]) : 1;
}
