/* Simplify: what need not be computed. In: a functional graph. Out: the same values with fewer nodes.
 *
 *   - views that change nothing (a view to the same sizes and strides, detach) become their input
 *   - equal calls become one (not random ones)
 *   - nodes that no output needs are dropped; inputs stay, in order
 *
 * Invariant: outputs keep their number and order; a node's origins collect those of the nodes merged into it. */
#include "aot/aot.h"
#include <string.h>

typedef struct Simplify { Compile *c; const Graph *from; Graph *to; Map *map; Map *buckets; bool *live; Map *places; } Simplify;
typedef struct Bucket { Node *node; struct Bucket *next; } Bucket;

static bool arg_equal(const Arg *a, const Arg *b) {
    if (a->tag != b->tag) return false;
    switch (a->tag) {
    case ARG_NONE: return true;
    case ARG_TENSOR: return a->tensor.owner == b->tensor.owner;
    case ARG_TENSORS:
        if (a->list.count != b->list.count) return false;
        for (int i = 0; i < a->list.count; i++)
            if (!arg_equal(&a->list.items[i], &b->list.items[i])) return false;
        return true;
    case ARG_BOOL: return a->b == b->b;
    case ARG_INT: return a->i == b->i;
    case ARG_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0; /* -0.0 is not 0.0 */
    case ARG_INTS: return a->ints.count == b->ints.count && !memcmp(a->ints.at, b->ints.at, sizeof(Dim) * (size_t)a->ints.count);
    case ARG_FLOATS: return a->floats.count == b->floats.count && !memcmp(a->floats.at, b->floats.at, sizeof(double) * (size_t)a->floats.count);
    case ARG_STR: return !strcmp(a->s, b->s);
    case ARG_DTYPE: return a->dtype == b->dtype;
    case ARG_DEVICE: return device_equal(a->device, b->device);
    case ARG_OBJECT: return a->object == b->object;
    }
    return false;
}

/* Two checkpoint regions keep what they compute apart: the one must not have to wait for the other's values. So do the two sides what a heavy op does
 * inside: it would be kept from the one to the other. */
static bool may_merge(const Node *a, const Node *b) {
    if (a->side != b->side) return !(a->in_heavy && b->in_heavy);
    return a->region == b->region;
}

static bool node_equal(const Node *a, const Node *b) {
    if (!may_merge(a, b)) return false;
    if (a->op != b->op || a->nargs != b->nargs || a->noutputs != b->noutputs) return false;
    for (int i = 0; i < a->nargs; i++)
        if (!arg_equal(&a->args[i], &b->args[i])) return false;
    return true;
}

static void mark_live(Node *node, void *state) {
    Simplify *s = state;
    s->live[(intptr_t)map_get(s->places, node) - 1] = true;
}

static void find_live(Simplify *s) {
    int count = s->from->nodes.count;
    s->live = ARENA_ARRAY(s->c->arena, bool, count + 1);
    s->places = map_new(s->c->arena);
    for (int i = 0; i < count; i++) map_put(s->places, s->from->nodes.at[i], (void *)(intptr_t)(i + 1));
    for (int i = 0; i < s->from->outputs.count; i++)
        if (s->from->outputs.at[i]) mark_live(s->from->outputs.at[i], s);
    for (int i = count - 1; i >= 0; i--) {
        const Node *node = s->from->nodes.at[i];
        if (node->kind == NODE_INPUT || (node->op && op_has(node->op, TRAIT_EFFECT))) s->live[i] = true;
        if (s->live[i]) node_each_input(node, mark_live, s);
    }
}

static bool is_alias_call(const Node *node) {
    return node->kind == NODE_CALL && node->op->family == FAMILY_VIEW && node->noutputs == 1 && node->args[0].tag == ARG_TENSOR;
}

/* A view that shows what one of the tensors behind it shows already: t(t(x)) is x, a view to the same sizes is its input. */
static Node *identity_input(Node *copy) {
    for (Node *at = copy; is_alias_call(at) && op_has(at->op, TRAIT_ALIAS);) {
        at = at->args[0].tensor.owner;
        const Meta *a = &copy->metas[0], *b = &at->metas[0];
        if (meta_equal(a, b) && a->offset == b->offset) return at;
    }
    return NULL;
}

static const void *bucket_key(const Node *node) {
    uint64_t hash = (uint64_t)(uintptr_t)node->op * UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < node->nargs; i++)
        if (node->args[i].tag == ARG_TENSOR) hash = (hash ^ (uint64_t)(uintptr_t)node->args[i].tensor.owner) * UINT64_C(1099511628211);
    return map_key((int64_t)(hash | 1));
}

static Node *find_equal(Simplify *s, const Node *copy) {
    if (copy->kind != NODE_CALL || op_has(copy->op, TRAIT_RANDOM) || op_has(copy->op, TRAIT_EFFECT)) return NULL;
    for (Bucket *b = map_get(s->buckets, bucket_key(copy)); b; b = b->next)
        if (node_equal(b->node, copy)) return b->node;
    return NULL;
}

static void remember(Simplify *s, Node *copy) {
    Bucket *bucket = ARENA_NEW(s->c->arena, Bucket);
    *bucket = (Bucket){copy, map_get(s->buckets, bucket_key(copy))};
    map_put(s->buckets, bucket_key(copy), bucket);
}

/* The copy just made turned out to be `same`: it is taken off the graph again. */
static void merge(Simplify *s, const Node *node, Node *same) {
    (void)vec_pop(&s->to->nodes);
    map_put(s->map, node, same);
    node_origin(s->to, same, node);
    node_inherit(s->to, same, node);
}

static void copy_node(Simplify *s, const Node *node) {
    Node *copy = graph_copy_node(s->to, node, s->map);
    node_inherit(s->to, copy, node);
    Node *same = identity_input(copy);
    if (!same) same = find_equal(s, copy);
    if (same) merge(s, node, same);
    else if (copy->kind == NODE_CALL) remember(s, copy);
}

Graph *simplify(Compile *c, const Graph *graph) {
    Simplify s = {.c = c, .from = graph, .map = map_new(c->arena), .buckets = map_new(c->arena)};
    s.to = graph_new(c->arena, graph->stage, graph->syms, &c->next_node_id);
    find_live(&s);
    for (int i = 0; i < graph->nodes.count; i++)
        if (s.live[i]) copy_node(&s, graph->nodes.at[i]);
    for (int i = 0; i < graph->outputs.count; i++) {
        Node *output = graph->outputs.at[i] ? map_get(s.map, graph->outputs.at[i]) : NULL;
        graph_output(s.to, &output, 1);
    }
    s.to->forward_outputs = graph->forward_outputs;
    s.to->shares = graph->shares;
    for (int i = 0; i < graph->mutations.count; i++) vec_push_in(c->arena, &s.to->mutations, graph->mutations.at[i]);
    for (int i = 0; i < graph->aliases.count; i++) vec_push_in(c->arena, &s.to->aliases, graph->aliases.at[i]);
    graph_finish(s.to);
    return s.to;
}
