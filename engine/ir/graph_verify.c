/* Verifies a graph after the stage that built it, so that a bug shows one stage late at most.
 *
 *     if (!graph_verify(g, &error)) assert(!error);
 */
#include "ir/graph.h"
#include <string.h>

typedef struct Check { const Graph *graph; const Map *seen; const Node *node; const char *error; } Check;

static void check_input(Node *input, void *state) {
    Check *check = state;
    if (!check->error && !node_is_tensor(input) && check->node->kind != NODE_NUMBER) check->error = arena_printf(check->graph->arena, "%%%s takes %%%s for a tensor", check->node->name, input->name);
    if (!check->error && !map_has(check->seen, input))
        check->error = arena_printf(check->graph->arena, "%%%s uses %%%s before it is defined", check->node->name, input->name);
}

static bool meta_sane(const Meta *meta) {
    if (meta->rank < 0 || meta->rank > MAX_RANK || meta->dtype < 0 || meta->dtype >= DTYPE_COUNT) return false;
    for (int i = 0; i < meta->rank; i++)
        if (dim_is_int(meta->sizes[i]) && meta->sizes[i] < 0) return false;
    return true;
}

static const char *check_node(Check *check) {
    const Node *node = check->node;
    Arena *arena = check->graph->arena;
    node_each_input(node, check_input, check);
    if (check->error) return check->error;
    if (!node_is_tensor(node)) return node->noutputs || !node->spelled ? arena_printf(arena, "%%%s is no tensor", node->name) : NULL;
    if (node->noutputs < 1 || !node->metas) return arena_printf(arena, "%%%s has no meta", node->name);
    for (int i = 0; i < node->noutputs; i++)
        if (!meta_sane(&node->metas[i])) return arena_printf(arena, "%%%s: output %d has an impossible meta", node->name, i);
    if (node->kind == NODE_CALL && !node->op) return arena_printf(arena, "%%%s calls no op", node->name);
    if (node->kind == NODE_CALL && node->nargs != node->op->nparams)
        return arena_printf(arena, "%%%s: %d arguments for the %d parameters of %s", node->name, node->nargs, node->op->nparams, node->op->name);
    return NULL;
}

bool graph_verify(const Graph *graph, const char **error) {
    Map *seen = map_new(graph->arena);
    Check check = {graph, seen, NULL, NULL};
    *error = NULL;
    for (int i = 0; i < graph->nodes.count && !*error; i++) {
        check.node = graph->nodes.at[i];
        *error = check_node(&check);
        map_put(seen, check.node, graph->nodes.at[i]);
    }
    for (int i = 0; i < graph->outputs.count && !*error; i++)
        if (graph->outputs.at[i] && !map_has(seen, graph->outputs.at[i])) *error = arena_printf(graph->arena, "output %d is not a node of the graph", i);
    return *error == NULL;
}
