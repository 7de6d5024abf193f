/* Diff: two graphs of a compile side by side: which nodes of the earlier one became which of the later one, and why, in words.
 *
 * In: an entry and two stages, of dynamo, joint, functional, decomposed, forward, backward. Out: one DiffLine for each node that did not simply go along,
 * then one for each thing that is done behind the graph (the epilogue: inputs that are written, outputs that are views of inputs).
 *
 *     :diff dynamo functional      %add_ = x.add_(1)   ->   %add_1    changed in place: a new value; x takes it in the epilogue
 *
 * Nodes are matched by their origins, led through the stages between. To explain one more kind of change: a case in words_of. */
#include "view.h"
#include <string.h>

enum { STAGE_GRAPHS = 6 };
typedef struct Diff { const Graph *graphs[STAGE_GRAPHS]; int from, to; Map *byid; const Node **roots; /* of the later graph's nodes */ Arena *arena; DiffLine *lines; int count, elsewhere; /* nodes of the other side */ } Diff;

static const char *const graph_stages[STAGE_GRAPHS] = {"dynamo", "joint", "functional", "decomposed", "forward", "backward"};

static int stage_index(const char *name) {
    for (int i = 0; i < STAGE_GRAPHS; i++)
        if (strcmp(graph_stages[i], name) == 0) return i;
    return -1;
}

static void gather_graphs(Diff *diff, const Entry *entry) {
    const Artifacts *a = entry->artifacts;
    const Graph *all[STAGE_GRAPHS] = {entry->graph, a ? a->joint : NULL, a ? a->functional : NULL, a ? a->decomposed : NULL, a ? a->forward.graph : NULL, a ? a->backward.graph : NULL};
    memcpy(diff->graphs, all, sizeof all);
}

/* ---- origins ---- */
typedef struct Place { const Node *node; int stage; } Place;

static const Place *place_of(const Diff *diff, int id) { return map_get(diff->byid, map_key(id)); }

static void index_nodes(Diff *diff) {
    diff->byid = map_new(diff->arena);
    for (int s = 0; s < STAGE_GRAPHS; s++)
        for (int i = 0; diff->graphs[s] && i < diff->graphs[s]->nodes.count; i++) {
            Place *place = ARENA_NEW(diff->arena, Place);
            *place = (Place){diff->graphs[s]->nodes.at[i], s};
            map_put(diff->byid, map_key(place->node->id), place);
        }
}

/* The node of the earlier stage that `node` comes from; NULL: it is new. */
static const Node *root_of(const Diff *diff, const Node *node, int depth) {
    const Node *found = NULL;
    for (int i = 0; i < node->origin_count && !found; i++) {
        const Place *place = place_of(diff, node->origins[i]);
        if (place && place->stage == diff->from) found = place->node;
    }
    for (int i = 0; i < node->origin_count && !found && depth < 2 * STAGE_GRAPHS; i++) {
        const Place *place = place_of(diff, node->origins[i]);
        if (place && place->node != node) found = root_of(diff, place->node, depth + 1);
    }
    return found;
}

/* ---- words ---- */
typedef struct Became { const Node **at; int count, backward; } Became;

static Became became_of(const Diff *diff, const Node *node) {
    const Graph *after = diff->graphs[diff->to];
    Became b = {ARENA_ARRAY(diff->arena, const Node *, after->nodes.count + 1), 0, 0};
    for (int i = 0; i < after->nodes.count; i++) {
        const Node *n = after->nodes.at[i];
        if (n->kind != NODE_CALL || diff->roots[i] != node) continue;
        if (n->side == SIDE_BACKWARD && node->side == SIDE_FORWARD) b.backward++;
        else b.at[b.count++] = n;
    }
    return b;
}

static const char *names_of(const Diff *diff, const Became *b) {
    Text text = {0};
    for (int i = 0; i < b->count; i++) text_printf(&text, "%s%%%s", i ? ", " : "", b->at[i]->name);
    char *copy = text_in(&text, diff->arena);
    text_free(&text);
    return copy;
}

static const Node *first_tensor(const Node *node) { return node->nargs && node->args[0].tag == ARG_TENSOR ? node->args[0].tensor.owner : NULL; }

/* What a change in place changes: down through views to the tensor that holds the memory. */
static const Node *memory_of(const Node *node) {
    const Node *below = node->kind == NODE_GETITEM || (node->op && node->op->traits & (TRAIT_ALIAS | TRAIT_INPLACE)) ? first_tensor(node) : NULL;
    return below ? memory_of(below) : node;
}

static bool is_written(const Graph *graph, const Node *memory) {
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        if (node->kind == NODE_CALL && op_has(node->op, TRAIT_INPLACE) && memory_of(node) == memory) return true;
    }
    return false;
}

static const char *in_place_words(const Diff *diff, const Node *node, const Became *b) {
    const Node *target = first_tensor(node), *memory = memory_of(node);
    const char *value = node->op->functional_op ? node->op->functional_op->name : node->op->functional;
    Text text = {0};
    text_printf(&text, "changed in place: %s gives a new value", value ? value : "its functional twin");
    if (target && target != memory) text_printf(&text, ", which is carried back from the view %%%s to %%%s", target->name, memory->name);
    if (b->count > 1) text_printf(&text, " by %s", b->at[b->count - 1]->op->name);
    text_printf(&text, "; %%%s is read as that from here on", memory->name);
    if (memory->kind == NODE_INPUT) text_put(&text, ", and is written in the epilogue");
    char *copy = text_in(&text, diff->arena);
    text_free(&text);
    return copy;
}

static const char *body_words(const Diff *diff, const Node *node) {
    const Op *op = node->op;
    if (op->made_of && op->made_of[0] == '@') return arena_printf(diff->arena, "decomposed by %s of torch/decompositions (:op %s)", op->made_of + 1, op->name);
    if (op->made_of) return arena_printf(diff->arena, "decomposed: %s", op->made_of);
    return arena_printf(diff->arena, "its body in the library, %s, is written out (:op %s)", op->name, op->name);
}

/* Why a node is not what it was; NULL: it went along. */
static const char *words_of(const Diff *diff, const Node *node, const Became *b) {
    const Op *op = node->op;
    bool same = b->count == 1 && b->at[0]->op == op;
    if (op_has(op, TRAIT_INPLACE) && diff->from < 2 && diff->to >= 2) return in_place_words(diff, node, b);
    if (same) return diff->to == 5 && diff->from < 4 && node->side == SIDE_FORWARD ? "not saved: computed again in backward" : NULL;
    bool view = op_has(op, TRAIT_ALIAS), stale = view && is_written(diff->graphs[diff->from], memory_of(node));
    if (b->count == 0 && stale) return "a view of what is changed: nobody reads it as it was";
    if (b->count == 0 && diff->to == 5) return "computed in forward, which gives its value here";
    if (b->count == 0 && diff->to == 4) return "forward's results do not need it";
    if (b->count == 0) return op->family == FAMILY_COMPOSITE ? "it gives its argument back" : "nobody reads it, or an equal value is there already";
    if (view && b->count > 1) return "a view of what is changed: taken again from the new value";
    if (op->family == FAMILY_COMPOSITE || op->made_of) return body_words(diff, node);
    if (b->count == 1) return arena_printf(diff->arena, "%s is %s here", op->name, b->at[0]->op->name);
    return arena_printf(diff->arena, "made of %d ops", b->count);
}

/* ---- lines ---- */
static DiffLine *new_line(Diff *diff, const char *change) {
    DiffLine *line = &diff->lines[diff->count++];
    *line = (DiffLine){.change = change, .before = "", .after = "", .words = ""};
    return line;
}

static const char *node_text(const Diff *diff, const Graph *graph, const Node *node) {
    Text text = {0};
    node_print(&text, graph, node);
    char *copy = text_in(&text, diff->arena);
    text_free(&text);
    return copy;
}

static void compare_node(Diff *diff, const Node *node) {
    if (node->kind != NODE_CALL) return;
    Became b = became_of(diff, node);
    if (b.count == 0 && diff->to == (node->side == SIDE_FORWARD ? 5 : 4)) { diff->elsewhere++; return; }
    const char *words = words_of(diff, node, &b);
    if (!words) return;
    DiffLine *line = new_line(diff, b.count == 0 ? "removed" : op_has(node->op, TRAIT_INPLACE) ? "functional" : b.count > 1 || node->op != b.at[0]->op ? "expanded" : "changed");
    line->before = node_text(diff, diff->graphs[diff->from], node);
    line->after = names_of(diff, &b);
    line->words = words;
    line->span = node->span;
}

static void count_new(Diff *diff) {
    const Graph *after = diff->graphs[diff->to];
    int backward = 0, other = 0;
    if (diff->elsewhere) new_line(diff, "removed")->words = arena_printf(diff->arena, "%d ops of %s, which are not in this graph", diff->elsewhere, diff->to == 5 ? "forward" : "backward");
    for (int i = 0; i < after->nodes.count; i++) {
        const Node *node = after->nodes.at[i];
        if (node->kind != NODE_CALL) continue;
        const Node *root = diff->roots[i];
        if (node->side == SIDE_BACKWARD && (!root || root->side == SIDE_FORWARD)) backward++;
        else if (!root) other++;
    }
    if (backward && diff->from == 0) new_line(diff, "added")->words = arena_printf(diff->arena, "%d ops of backward: the gradients of what stands above (:op NAME shows a row's formula)", backward);
    if (other) new_line(diff, "added")->words = arena_printf(diff->arena, "%d ops that come from no single one", other);
}

static const char *input_name(const Diff *diff, const Graph *graph, int input) {
    const Node *node = graph->inputs.at[input], *root = root_of(diff, node, 0);
    return root ? root->name : node->name;
}

static void add_epilogue(Diff *diff) {
    const Graph *after = diff->graphs[diff->to], *before = diff->graphs[diff->from];
    for (int i = before->mutations.count; i < after->mutations.count; i++) {
        const Mutation *m = &after->mutations.at[i];
        const Node *value = after->outputs.at[m->output];
        DiffLine *line = new_line(diff, "epilogue");
        line->after = value ? arena_printf(diff->arena, "%%%s", value->name) : "";
        line->words = arena_printf(diff->arena, "input %s takes the value of %%%s: copied into it when the graph has run", input_name(diff, after, m->input), value ? value->name : "");
    }
    for (int i = before->aliases.count; i < after->aliases.count; i++) {
        static const char *const kinds[] = {"a view of", "a view, made without gradients, of", "one of several views of", "a detached view of"};
        const OutputAlias *alias = &after->aliases.at[i];
        bool whole = meta_equal(&alias->meta, &after->inputs.at[alias->input]->metas[0]);
        new_line(diff, "epilogue")->words = arena_printf(diff->arena, "output %d is %s input %s: the caller makes it, so that both share memory", alias->output,
                                                         whole && alias->kind == ALIAS_VIEW ? "the same as" : kinds[alias->kind], input_name(diff, after, alias->input));
    }
    for (int i = before->regrads.count; i < after->regrads.count; i++)
        new_line(diff, "epilogue")->words = arena_printf(diff->arena, "input %s was changed under gradients: the tape sees the graph as what made it", input_name(diff, after, after->regrads.at[i].input));
}

int entry_diff(Entry *entry, const char *before, const char *after, Arena *arena, DiffLine **lines, const char **error) {
    Diff diff = {.arena = arena, .from = stage_index(before), .to = stage_index(after)};
    *error = NULL;
    gather_graphs(&diff, entry);
    if (diff.from < 0 || diff.to < 0) *error = arena_printf(arena, "%s is no graph: :diff compares dynamo, joint, functional, decomposed, forward and backward", diff.from < 0 ? before : after);
    else if (diff.from >= diff.to || (diff.from == 4 && diff.to == 5)) *error = "the earlier stage comes first: dynamo, joint, functional, decomposed, then forward or backward";
    else if (!diff.graphs[diff.from] || !diff.graphs[diff.to]) *error = arena_printf(arena, "[%s] has no stage %s", entry->id, diff.graphs[diff.from] ? after : before);
    if (*error) return -1;
    const Graph *first = diff.graphs[diff.from], *last = diff.graphs[diff.to];
    diff.lines = ARENA_ARRAY(arena, DiffLine, first->nodes.count + last->mutations.count + last->aliases.count + last->regrads.count + 5);
    index_nodes(&diff);
    diff.roots = ARENA_ARRAY(arena, const Node *, last->nodes.count + 1);
    for (int i = 0; i < last->nodes.count; i++) diff.roots[i] = root_of(&diff, last->nodes.at[i], 0);
    for (int i = 0; i < first->nodes.count; i++) compare_node(&diff, first->nodes.at[i]);
    count_new(&diff);
    add_epilogue(&diff);
    *lines = diff.lines;
    return diff.count;
}
