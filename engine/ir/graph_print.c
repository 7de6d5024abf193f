/* Listings of a graph, in the forms PyTorch users know: `y: "f32[3, 5][5, 1]cpu" = l_x_ @ l_w_` for what dynamo captured,
 * `mm: "f32[3, 5][5, 1]cpu" = torch.ops.aten.mm.default(primals_1, primals_2)` after it; and the snapshot that is drawn.
 *
 * How a captured node is spelled (operator, function or method) comes from the op's row: an operator symbol if the row has one. */
#include "ir/graph.h"
#include <string.h>

static const char *node_name_of(void *owner, void *state) {
    (void)state;
    return ((const Node *)owner)->name;
}

typedef struct Spelling { const char *op, *symbol; } Spelling;
/* Operators of the language by row name: a fact of Python's syntax, not of a pass. */
static const Spelling operators[] = {
    {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"matmul", "@"}, {"floor_divide", "//"}, {"remainder", "%"}, {"pow", "**"},
    {"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}, {"bitwise_and", "&"}, {"bitwise_or", "|"}, {"bitwise_xor", "^"},
};

static const char *operator_of(const Node *node) {
    if (node->nargs < 2 || !node->is_operator) return NULL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strcmp(operators[i].op, node->op->name)) return operators[i].symbol;
    return NULL;
}

/* Place of argument i among the signature's names; -1: it is the `*size` one. */
static int named_place(const Op *op, int i) {
    const Signature *s = op->signature;
    if (!s->varargs || i < s->positional) return i;
    return i == s->positional ? -1 : i - 1;
}

/* Is this argument the parameter's default, so that the call need not spell it? */
static bool is_default(const Op *op, const Arg *arg, int i) {
    i = named_place(op, i);
    if (i < 0 || i >= op->signature->count || !op->signature->has_default[i]) return false;
    const Const *c = &op->signature->defaults[i];
    switch (arg->tag) {
    case ARG_NONE: return c->kind == CONST_NONE;
    case ARG_BOOL: return c->kind == (arg->b ? CONST_TRUE : CONST_FALSE);
    case ARG_INT: return c->kind == CONST_INT && c->i == arg->i;
    case ARG_FLOAT: return c->kind == CONST_FLOAT && memcmp(&c->f, &arg->f, sizeof c->f) == 0;
    case ARG_STR: return c->kind == CONST_STR && !strcmp(c->s.text, arg->s);
    default: return false;
    }
}

bool node_argument_is_default(const Node *node, int index) { return is_default(node->op, &node->args[index], index); }

/* An argument by the names of the captured graph: a number that a node computes is that node. */
static void print_argument(Text *text, const Graph *graph, const Node *node, const Arg *arg) {
    const Node *owner = arg->tag == ARG_TENSOR ? arg->tensor.owner : NULL;
    for (int i = 0; arg->tag == ARG_FLOAT && i < node->number_count; i++)
        if (node->numbers[i]->value.tag == ARG_FLOAT && !memcmp(&node->numbers[i]->value.f, &arg->f, sizeof arg->f)) {
            text_put(text, node->numbers[i]->name);
            return;
        }
    if (owner && owner->as_number) text_put(text, owner->as_number->name);
    else if (arg->tag == ARG_INT) dim_print_in(text, graph, arg->i);
    else if (arg->tag == ARG_INTS) {
        text_char(text, '[');
        for (int i = 0; i < arg->ints.count; i++) {
            if (i) text_put(text, ", ");
            dim_print_in(text, graph, arg->ints.at[i]);
        }
        text_char(text, ']');
    } else arg_print(text, arg, node_name_of, NULL);
}

static void print_arguments(Text *text, const Graph *graph, const Node *node, int from) {
    bool first = true, named = false;
    for (int i = from; i < node->nargs; i++) {
        if (is_default(node->op, &node->args[i], i)) {
            named = true;
            continue;
        }
        if (!first) text_put(text, ", ");
        first = false;
        int place = named_place(node->op, i);
        if (place >= 0 && place < node->op->signature->count && (named || place >= node->op->signature->positional)) text_printf(text, "%s = ", node->op->signature->names[place]);
        print_argument(text, graph, node, &node->args[i]);
    }
}

/* x[…] as the program wrote it, one step of it a node: which of the arguments stand between the brackets, behind `:` for each dimension before them. */
typedef enum Subscript { SUBSCRIPT_NONE, SUBSCRIPT_ONE /* select: dim, index */, SUBSCRIPT_RANGE /* slice: dim, start, end, step */, SUBSCRIPT_NEW /* unsqueeze: dim */, SUBSCRIPT_LIST /* index: tensors */ } Subscript;
static const struct { const char *op; Subscript subscript; } subscripts[] = {
    {"select", SUBSCRIPT_ONE}, {"slice", SUBSCRIPT_RANGE}, {"unsqueeze", SUBSCRIPT_NEW}, {"index", SUBSCRIPT_LIST},
};

static Subscript subscript_of(const Node *node) {
    for (size_t i = 0; node->is_operator && i < sizeof subscripts / sizeof *subscripts; i++)
        if (!strcmp(subscripts[i].op, node->op->name)) return subscripts[i].subscript;
    return SUBSCRIPT_NONE;
}

static void print_range(Text *text, const Graph *graph, const Node *node) {
    if (!is_default(node->op, &node->args[2], 2)) print_argument(text, graph, node, &node->args[2]);
    text_char(text, ':');
    if (!is_default(node->op, &node->args[3], 3)) print_argument(text, graph, node, &node->args[3]);
    if (is_default(node->op, &node->args[4], 4)) return;
    text_char(text, ':');
    print_argument(text, graph, node, &node->args[4]);
}

static void print_index_list(Text *text, const Graph *graph, const Node *node) {
    const Arg *list = &node->args[1];
    for (int i = 0; i < list->list.count; i++) {
        if (i) text_put(text, ", ");
        if (list->list.items[i].tag == ARG_NONE) text_char(text, ':');
        else print_argument(text, graph, node, &list->list.items[i]);
    }
}

static void print_subscript(Text *text, const Graph *graph, const Node *node, Subscript subscript) {
    print_argument(text, graph, node, &node->args[0]);
    text_char(text, '[');
    for (Dim i = 0; subscript != SUBSCRIPT_LIST && i < node->args[1].i; i++) text_put(text, ":, ");
    if (subscript == SUBSCRIPT_ONE) print_argument(text, graph, node, &node->args[2]);
    if (subscript == SUBSCRIPT_RANGE) print_range(text, graph, node);
    if (subscript == SUBSCRIPT_NEW) text_put(text, "None");
    if (subscript == SUBSCRIPT_LIST) print_index_list(text, graph, node);
    text_char(text, ']');
}

/* A dimension counted from behind has no place among the brackets. */
static bool can_be_subscript(const Node *node, Subscript subscript) {
    if (subscript == SUBSCRIPT_NONE) return false;
    if (subscript == SUBSCRIPT_LIST) return node->args[1].tag == ARG_TENSORS;
    return node->args[1].tag == ARG_INT && dim_is_int(node->args[1].i) && node->args[1].i >= 0;
}

static void print_captured(Text *text, const Graph *graph, const Node *node) {
    Subscript subscript = subscript_of(node);
    if (can_be_subscript(node, subscript)) {
        print_subscript(text, graph, node, subscript);
        return;
    }
    const char *symbol = operator_of(node);
    if (symbol) {
        print_argument(text, graph, node, &node->args[0]);
        text_printf(text, " %s ", symbol);
        print_argument(text, graph, node, &node->args[1]);
        return;
    }
    unsigned traits = node->op->traits;
    bool stores = traits & TRAIT_INPLACE && node->is_operator; /* x += v, x[i] = v */
    bool method = node->is_method || (traits & TRAIT_METHOD && (stores || !(traits & TRAIT_FUNCTION)));
    if (method && node->nargs && node->args[0].tag == ARG_TENSOR) {
        text_printf(text, "%s.%s(", ((const Node *)node->args[0].tensor.owner)->name, node->op->name);
        print_arguments(text, graph, node, 1);
        text_char(text, ')');
        return;
    }
    bool functional = !(traits & TRAIT_FUNCTION) && (traits & TRAIT_NN || node->op->family == FAMILY_COMPOSITE);
    text_printf(text, functional ? "torch.nn.functional.%s(" : "torch.%s(", node->op->name);
    print_arguments(text, graph, node, 0);
    text_char(text, ')');
}

static void print_value(Text *text, const Graph *graph, const Node *node) {
    if (node->kind == NODE_NUMBER) {
        number_print(text, graph, node);
    } else if (node->kind == NODE_EFFECT) {
        text_put(text, node->spelled);
    } else if (node->kind == NODE_GETITEM) {
        text_printf(text, "%s[%d]", ((const Node *)node->args[0].tensor.owner)->name, node->index);
    } else if (node->kind == NODE_CONSTANT) {
        text_put(text, "<tensor constant>");
    } else if (!strcmp(graph->stage, "dynamo")) {
        print_captured(text, graph, node);
    } else {
        text_printf(text, "torch.ops.aten.%s.default(", node->op->name);
        print_arguments(text, graph, node, 0);
        text_char(text, ')');
    }
}

void node_print(Text *text, const Graph *graph, const Node *node) {
    text_put(text, node->name);
    if (node->noutputs == 1) {
        text_put(text, ": \"");
        meta_print(text, &node->metas[0], true, true);
        text_char(text, '"');
    } else if (node->kind == NODE_NUMBER) {
        text_put(text, ": \"Sym(");
        if (node->expression) text_put(text, node->expression);
        else if (node->value.tag == ARG_NONE) text_put(text, ((const Node *)node->args[0].tensor.owner)->name);
        else arg_print(text, &node->value, node_name_of, NULL);
        text_put(text, ")\"");
    }
    if (node->kind == NODE_INPUT) return;
    text_put(text, " = ");
    print_value(text, graph, node);
}

/* Symbols stand before the first input that has them, as inputs of their own. */
typedef struct SymbolList { Text *text; const Graph *graph; const Sym *seen[64]; int count; } SymbolList;

static void print_symbol(const Sym *var, void *state) {
    SymbolList *list = state;
    if (var->var_kind != SYM_SIZE || list->count == 64 || graph_number_of(list->graph, dim_of_sym(var))) return;
    for (int i = 0; i < list->count; i++)
        if (list->seen[i] == var) return;
    list->seen[list->count++] = var;
    text_printf(list->text, ", %s: \"Sym(%s)\"", var->name, var->name);
}

static void print_symbols(SymbolList *list, const Meta *meta) {
    for (int i = 0; i < meta->rank; i++) dim_each_var(meta->sizes[i], print_symbol, list);
    for (int i = 0; i < meta->rank; i++) dim_each_var(meta->strides[i], print_symbol, list);
}

static void print_header(Text *text, const Graph *graph) {
    SymbolList list = {.text = text, .graph = graph};
    text_put(text, "def forward(self");
    for (int i = 0; i < graph->inputs.count; i++) {
        print_symbols(&list, &graph->inputs.at[i]->metas[0]);
        text_put(text, ", ");
        node_print(text, graph, graph->inputs.at[i]);
    }
    for (int i = 0; i < graph->sizes.count; i++) dim_each_var(graph->sizes.at[i].var, print_symbol, &list);
    text_put(text, "):\n");
}

/* The mutation that output i is there for, or NULL: the caller gets that value in an input of its own. */
static const Mutation *mutation_of(const Graph *graph, int output) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].output == output) return &graph->mutations.at[i];
    return NULL;
}

/* What remains of changes in place: one copy for each changed input, at the end. */
static void print_copies(Text *text, const Graph *graph) {
    for (int i = 0; i < graph->mutations.count; i++) {
        const Node *target = graph->inputs.at[graph->mutations.at[i].input], *value = graph->outputs.at[graph->mutations.at[i].output];
        if (!value) continue;
        text_put(text, "    copy_");
        if (i) text_printf(text, "_%d", i);
        text_put(text, ": \"");
        meta_print(text, &target->metas[0], true, true);
        text_printf(text, "\" = torch.ops.aten.copy_.default(%s, %s)\n", target->name, value->name);
    }
}

void graph_print(Text *text, const Graph *graph) {
    print_header(text, graph);
    for (int i = 0; i < graph->nodes.count; i++) {
        if (graph->nodes.at[i]->kind == NODE_INPUT) continue;
        text_put(text, "    ");
        node_print(text, graph, graph->nodes.at[i]);
        text_char(text, '\n');
    }
    print_copies(text, graph);
    text_put(text, "    return (");
    int shown = 0;
    for (int i = 0; i < graph->outputs.count; i++)
        if (!mutation_of(graph, i)) text_printf(text, "%s%s", shown++ ? ", " : "", graph->outputs.at[i] ? graph->outputs.at[i]->name : "None");
    for (int i = 0; i < graph->leaving.count; i++) text_printf(text, "%s%s", shown++ ? ", " : "", graph->leaving.at[i]->name);
    text_put(text, shown == 1 ? ",)\n" : ")\n");
}

static const char *node_kind(const Node *node) {
    if (node->kind == NODE_INPUT) return node->is_tangent ? "tangent" : "input";
    if (node->kind == NODE_CONSTANT) return "constant";
    if (node->kind == NODE_GETITEM) return "view";
    if (node->kind == NODE_NUMBER) return "number";
    if (node->kind == NODE_EFFECT) return "effect";
    return family_name(node->op->family);
}

typedef struct LinkState { Snapshot *snapshot; const char *to; } LinkState;

static const char *item_id(Arena *arena, const Node *node) { return arena_printf(arena, "%%%s", node->name); }

static void link_input(Node *input, void *state) {
    LinkState *link = state;
    snapshot_link(link->snapshot, item_id(link->snapshot->arena, input), link->to, "data");
}

/* The group of an nn.Module, inside those of the modules around it. */
static const char *module_group(Snapshot *snapshot, const char *path) {
    for (int i = 0; i < snapshot->groups.count; i++)
        if (!strcmp(snapshot->groups.at[i].id, path)) return snapshot->groups.at[i].id;
    const char *dot = strrchr(path, '.');
    const char *parent = dot ? module_group(snapshot, arena_strndup(snapshot->arena, path, (size_t)(dot - path))) : NULL;
    return snapshot_group(snapshot, path, "module", path, parent)->id;
}

/* "sum_1" says itself that it is a sum. */
static bool named_after_op(const Node *node) {
    size_t length = strlen(node->op->name);
    if (strncmp(node->name, node->op->name, length)) return false;
    const char *rest = node->name + length;
    return !*rest || (*rest == '_' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")]);
}

static void describe_node(const Graph *graph, const Node *node, Snapshot *snapshot) {
    Arena *arena = snapshot->arena;
    const char *id = item_id(arena, node);
    SnapshotItem *item = snapshot_item(snapshot, id, node_kind(node), node->name);
    Text text = {0};
    if (node->kind == NODE_CALL && !named_after_op(node)) snapshot_row(snapshot, item, "%s", node->op->name);
    if (node_is_tensor(node)) meta_print(&text, &node->metas[0], false, false);
    else if (node->kind == NODE_NUMBER) number_print(&text, graph, node);
    else text_put(&text, node->spelled);
    snapshot_row(snapshot, item, "%s", text_cstr(&text));
    text_clear(&text);
    node_print(&text, graph, node);
    item->detail = text_in(&text, arena);
    text_free(&text);
    item->span = node->span;
    if (strcmp(graph->stage, "dynamo")) item->mark = node->side == SIDE_BACKWARD ? "backward" : "forward";
    if (node->module_path) item->group = module_group(snapshot, node->module_path);
    LinkState link = {snapshot, id};
    node_each_input(node, link_input, &link);
    node_each_number(graph, node, link_input, &link);
}

/* The two halves of a joint graph, G = forward + backward: a box around each, and a line from each forward op to those of its backward. */
static void describe_halves(const Graph *graph, Snapshot *snapshot) {
    Map *forward = map_new(snapshot->arena);
    bool both = false;
    for (int i = 0; i < graph->nodes.count; i++) both |= graph->nodes.at[i]->side == SIDE_BACKWARD;
    if (!both || strcmp(graph->stage, "joint")) return;
    snapshot_group(snapshot, "forward half", "side", "forward", NULL);
    snapshot_group(snapshot, "backward half", "side", "backward", NULL);
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i], *of = map_get(forward, map_key(node->forward_of + 1));
        SnapshotItem *item = snapshot_find(snapshot, item_id(snapshot->arena, node));
        if (!item->group) item->group = node->side == SIDE_BACKWARD ? "backward half" : "forward half";
        map_put(forward, map_key(node->id + 1), (void *)(uintptr_t)node);
        if (node->forward_of && of) snapshot_link(snapshot, item_id(snapshot->arena, of), item_id(snapshot->arena, node), "origin");
    }
    for (int i = 0; i < snapshot->groups.count; i++) {
        SnapshotGroup *group = &snapshot->groups.at[i];
        if (!group->parent && strcmp(group->kind, "module") == 0) group->parent = "forward half"; /* modules are called in the forward */
    }
}

void graph_describe(const Graph *graph, Snapshot *snapshot) {
    Text text = {0};
    graph_print(&text, graph);
    snapshot->text = text_in(&text, snapshot->arena);
    text_free(&text);
    for (int i = 0; i < graph->nodes.count; i++) describe_node(graph, graph->nodes.at[i], snapshot);
    describe_halves(graph, snapshot);
    for (int i = 0; i < graph->outputs.count; i++) {
        if (!graph->outputs.at[i]) continue;
        const char *id = arena_printf(snapshot->arena, "out%d", i);
        const Mutation *mutation = mutation_of(graph, i);
        SnapshotItem *item = snapshot_item(snapshot, id, "output", mutation ? arena_printf(snapshot->arena, "copy into %s", graph->inputs.at[mutation->input]->name) : arena_printf(snapshot->arena, "output %d", i));
        if (mutation) item->mark = "changed";
        snapshot_link(snapshot, item_id(snapshot->arena, graph->outputs.at[i]), id, "data");
    }
    for (int i = 0; i < graph->leaving.count; i++) {
        const char *id = arena_printf(snapshot->arena, "number%d", i);
        snapshot_item(snapshot, id, "output", arena_printf(snapshot->arena, "number %d", i));
        snapshot_link(snapshot, item_id(snapshot->arena, graph->leaving.at[i]), id, "data");
    }
}
