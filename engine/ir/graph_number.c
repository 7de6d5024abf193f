/* Numbers of a captured graph: Python's arithmetic on sizes and scalars, node by node as the program did it.
 *
 *     n = x.shape[0] // 2 + 1     ->     floordiv: "Sym(s0//2)" = s0 // 2;   add: "Sym(s0//2 + 1)" = floordiv + 1
 *
 * In: what capture computed. Out: nodes for listings, counts and pictures; sizes and arguments of tensor nodes hold the expressions themselves (ir/sym.h),
 * so that no later stage needs these nodes. Invariant: one NUMBER an expression. To add a spelling that is no call of torch: a line in `spellings`. */
#include "ir/graph.h"
#include <string.h>

Node *graph_number_of(const Graph *graph, Dim d) { return dim_is_int(d) || !graph->numbers ? NULL : map_get(graph->numbers, map_key(d)); }

void node_uses_number(Graph *graph, Node *node, Node *number) {
    Node **numbers = ARENA_ARRAY(graph->arena, Node *, node->number_count + 1);
    if (node->number_count) memcpy(numbers, node->numbers, sizeof *numbers * (size_t)node->number_count);
    numbers[node->number_count++] = number;
    node->numbers = numbers;
}

static void each_dim(const Graph *graph, Dim d, void (*visit)(Node *, void *), void *state) {
    Node *number = graph_number_of(graph, d);
    if (number) visit(number, state);
}

static void each_number(const Graph *graph, const Arg *arg, void (*visit)(Node *, void *), void *state) {
    if (arg->tag == ARG_INT) each_dim(graph, arg->i, visit, state);
    for (int i = 0; arg->tag == ARG_INTS && i < arg->ints.count; i++) each_dim(graph, arg->ints.at[i], visit, state);
    for (int i = 0; arg->tag == ARG_TENSORS && i < arg->list.count; i++) each_number(graph, &arg->list.items[i], visit, state);
    if (arg->tag == ARG_TENSOR && ((Node *)arg->tensor.owner)->as_number) visit(((Node *)arg->tensor.owner)->as_number, state);
}

void node_each_number(const Graph *graph, const Node *node, void (*visit)(Node *number, void *state), void *state) {
    for (int i = 0; i < node->nargs; i++)
        if (node->kind != NODE_NUMBER || node->args[i].tag != ARG_TENSOR) each_number(graph, &node->args[i], visit, state); /* an item is what reads the tensor */
    for (int i = 0; i < node->number_count; i++) visit(node->numbers[i], state);
}

/* ---- listings ---- */

typedef struct Spelling { const char *name, *before, *between, *after; } Spelling;
static const Spelling spellings[] = {
    {"add", "", " + ", ""}, {"sub", "", " - ", ""}, {"mul", "", " * ", ""}, {"truediv", "", " / ", ""}, {"floordiv", "", " // ", ""}, {"mod", "", " % ", ""}, {"pow", "", " ** ", ""},
    {"neg", "-", "", ""}, {"eq", "", " == ", ""}, {"ne", "", " != ", ""}, {"lt", "", " < ", ""}, {"le", "", " <= ", ""}, {"gt", "", " > ", ""}, {"ge", "", " >= ", ""},
    {"and_", "", " & ", ""}, {"or_", "", " | ", ""}, {"xor", "", " ^ ", ""}, {"lshift", "", " << ", ""}, {"rshift", "", " >> ", ""}, {"floor", "math.floor(", ", ", ")"}, {"ceil", "math.ceil(", ", ", ")"},
    {"item", "", "", ".item()"}, {"round", "", "", ".__round__()"}, {"sym_sum", "torch.sym_sum([", ", ", "])"},
};

static const char *tensor_name(void *owner, void *state) {
    (void)state;
    return ((const Node *)owner)->name;
}

void dim_print_in(Text *text, const Graph *graph, Dim d) {
    const Node *number = graph_number_of(graph, d);
    if (number) text_put(text, number->name);
    else dim_print(text, d);
}

static bool same_constant(const Arg *a, const Arg *b) {
    return a->tag == b->tag && (a->tag == ARG_FLOAT ? memcmp(&a->f, &b->f, sizeof a->f) == 0 : a->tag == ARG_BOOL ? a->b == b->b : a->tag == ARG_INT && a->i == b->i);
}

static void print_operand(Text *text, const Graph *graph, const Node *node, const Arg *arg) {
    for (int i = 0; i < node->number_count; i++)
        if (same_constant(&node->numbers[i]->value, arg)) {
            text_put(text, node->numbers[i]->name);
            return;
        }
    if (arg->tag == ARG_INT) dim_print_in(text, graph, arg->i);
    else arg_print(text, arg, tensor_name, NULL);
}

void number_print(Text *text, const Graph *graph, const Node *node) {
    Spelling how = {node->spelled, NULL, ", ", ")"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (!strcmp(spellings[i].name, node->spelled)) how = spellings[i];
    if (how.before) text_put(text, how.before);
    else text_printf(text, "torch.%s(", node->spelled);
    for (int i = 0; i < node->nargs; i++) {
        if (i) text_put(text, how.between);
        print_operand(text, graph, node, &node->args[i]);
    }
    text_put(text, how.after);
}
