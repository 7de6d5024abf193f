/* Numbers and modes as nodes of the captured graph. In: arithmetic on symbolic ints, sizes that were read, changes of grad mode and autocast. Out: the
 * nodes that PyTorch's graph has for them; those that nothing uses are taken out at the end.
 *
 *     n = x.shape[0] * 2; return y + n          ->   %mul = s0 * 2; %add = y + mul
 *     with torch.no_grad(): z = x + 1           ->   %_set_grad_enabled, %add, %_set_grad_enabled_1
 *
 * A size of an intermediate tensor is computed from the inputs' symbols where it is read. Invariant: nodes of tensors do not depend on these; taking one
 * out changes no result. */
#include "dynamo/numbers.h"
#include "dynamo/shapes.h"
#include "vm/internal.h"
#include <string.h>

/* ---- arithmetic ---- */

static Arg operand(Value v) {
    if (value_is(v, OBJ_SYM)) return arg_int(((const SymObject *)v.o)->dim);
    if (v.tag == V_FLOAT) return (Arg){.tag = ARG_FLOAT, .f = v.f};
    if (v.tag == V_BOOL) return (Arg){.tag = ARG_BOOL, .b = v.b};
    return arg_int(v.tag == V_INT ? v.i : 0);
}

static bool is_new_expression(const Graph *graph, Dim d) { return !dim_is_int(d) && dim_sym(d)->kind != SYM_VAR && !graph_number_of(graph, d); }

void capture_number(VM *vm, const char *spelled, const Value *operands, int count, Dim result) {
    Capture *capture = capture_of(vm);
    Arg args[2];
    if (!is_new_expression(capture->entry->graph, result)) return;
    for (int i = 0; i < count && i < 2; i++) args[i] = operand(operands[i]);
    graph_number(capture->entry->graph, spelled, args, count, arg_int(result), vm_user_span(vm));
}

/* Sums are one node; of other operators, which take two operands, one for each step. */
static void build(Capture *capture, Dim d, Span span);

static void build_steps(Capture *capture, const Sym *sym, const char *spelled, Dim (*apply)(SymTable *, Dim, Dim), Span span) {
    Dim so_far = sym->args[0];
    for (int i = 1; i < sym->count; i++) {
        Dim next = i == sym->count - 1 ? dim_of_sym(sym) : apply(sym->table, so_far, sym->args[i]);
        bool swapped = dim_is_int(sym->args[i]) && !dim_is_int(so_far) && sym->kind == SYM_MUL; /* 3 * s0 */
        Arg args[] = {arg_int(swapped ? sym->args[i] : so_far), arg_int(swapped ? so_far : sym->args[i])};
        if (is_new_expression(capture->entry->graph, next)) graph_number(capture->entry->graph, spelled, args, 2, arg_int(next), span);
        so_far = next;
    }
}

static void build_sum(Capture *capture, const Sym *sym, Span span) {
    Arg *args = ARENA_ARRAY(capture->entry->arena, Arg, sym->count + 1);
    int count = 0;
    for (int constants = 1; constants >= 0; constants--)
        for (int i = 0; i < sym->count; i++)
            if (dim_is_int(sym->args[i]) == constants) args[count++] = arg_int(sym->args[i]);
    graph_number(capture->entry->graph, "sym_sum", args, count, arg_int(dim_of_sym(sym)), span);
}

static void build(Capture *capture, Dim d, Span span) {
    if (!is_new_expression(capture->entry->graph, d)) return;
    const Sym *sym = dim_sym(d);
    for (int i = 0; i < sym->count; i++) build(capture, sym->args[i], span);
    switch (sym->kind) {
    case SYM_ADD: build_sum(capture, sym, span); break;
    case SYM_MUL: build_steps(capture, sym, "mul", dim_mul, span); break;
    case SYM_FLOORDIV: build_steps(capture, sym, "floordiv", dim_floordiv, span); break;
    case SYM_MOD: build_steps(capture, sym, "mod", dim_mod, span); break;
    case SYM_MIN: build_steps(capture, sym, "sym_min", dim_min, span); break;
    case SYM_MAX: build_steps(capture, sym, "sym_max", dim_max, span); break;
    default: break;
    }
}

void capture_sized(VM *vm, const Dim *dims, int count) {
    for (int i = 0; i < count; i++) build(capture_of(vm), dims[i], vm_user_span(vm));
}

void capture_node_leaves(Capture *capture, Node *number) {
    Graph *graph = capture->entry->graph;
    for (int i = 0; i < graph->leaving.count; i++)
        if (graph->leaving.at[i] == number) return;
    vec_push_in(graph->arena, &graph->leaving, number);
}

void capture_number_leaves(Capture *capture, Dim d) {
    Node *number = graph_number_of(capture->entry->graph, d);
    if (number) capture_node_leaves(capture, number);
}

static bool is_constant(const Arg *arg, const Arg *value) {
    if (arg->tag != value->tag) return false;
    return arg->tag == ARG_FLOAT ? memcmp(&arg->f, &value->f, sizeof arg->f) == 0 : arg->tag == ARG_BOOL ? arg->b == value->b : arg->tag == ARG_INT && arg->i == value->i;
}

void capture_number_operands(Capture *capture, Node *node) {
    for (int i = 0; i < node->nargs; i++)
        for (int j = 0; j < capture->looked_at.count; j++)
            if (is_constant(&node->args[i], &capture->looked_at.at[j]->value)) node_uses_number(capture->entry->graph, node, capture->looked_at.at[j]);
}

/* ---- floats that change from call to call, where they are constants of a compile ----
 *
 *     lr * 2   with lr = 0.25, which was another in an earlier compile   ->   mul: "Sym(0.5)" = 0.25 * 2
 */

const char *capture_operator_name(int op) {
    static const char *const operators[BINARY_INPLACE] = {[BINARY_ADD] = "add", [BINARY_AND] = "and_", [BINARY_FLOOR_DIVIDE] = "floordiv", [BINARY_LSHIFT] = "lshift", [BINARY_MATRIX_MULTIPLY] = "matmul",
                                                          [BINARY_MULTIPLY] = "mul", [BINARY_REMAINDER] = "mod", [BINARY_OR] = "or_", [BINARY_POWER] = "pow", [BINARY_RSHIFT] = "rshift",
                                                          [BINARY_SUBTRACT] = "sub", [BINARY_TRUE_DIVIDE] = "truediv", [BINARY_XOR] = "xor"};
    static const char *const comparisons[] = {[COMPARE_LT] = "lt", [COMPARE_LE] = "le", [COMPARE_EQ] = "eq", [COMPARE_NE] = "ne", [COMPARE_GT] = "gt", [COMPARE_GE] = "ge"};
    return op >= DOMAIN_COMPARE ? comparisons[op - DOMAIN_COMPARE] : operators[op];
}

static Node *box_of(const Capture *capture, Value v) {
    return value_is(v, OBJ_TRACKED) && ((const Tracked *)v.o)->source->kind == SOURCE_NUMBER ? capture->boxes.at[((const Tracked *)v.o)->source->index] : NULL;
}

static bool is_dynamic_float(Capture *capture, Value v) { return value_is(v, OBJ_TRACKED) && ((const Tracked *)v.o)->inner.tag == V_FLOAT && capture_float_stays(capture, (const Tracked *)v.o); }

/* A plain number, or one that a look makes plain. */
static bool may_be_number(Value v) { return value_is_number(v) || (value_is(v, OBJ_TRACKED) && value_is_number(((const Tracked *)v.o)->inner) && ((const Tracked *)v.o)->source->kind != SOURCE_RANDOM); }

static Value box_new(Capture *capture, Node *node, Value value) {
    vec_push_in(capture->entry->arena, &capture->boxes, node);
    return capture_track(capture, value, capture_source(capture, SOURCE_NUMBER, NULL, NULL, capture->boxes.count - 1, VALUE_NULL));
}

/* Equal floats are one node, as equal expressions are; answers are not. */
static const void *float_key(const Arg *value) {
    int64_t bits;
    memcpy(&bits, &value->f, sizeof bits);
    return map_key(bits);
}

static Node *box_with(const Capture *capture, const Arg *value) { return value->tag == ARG_FLOAT ? map_get(capture->box_by_value, float_key(value)) : NULL; }

static Value plain_result(VM *vm, int op, Value a, Value b) { return op >= DOMAIN_COMPARE ? vm_compare(vm, (CompareOp)(op - DOMAIN_COMPARE), a, b) : vm_binary(vm, op, a, b); }

Value capture_computes(VM *vm, int op, Value a, Value b) {
    Capture *capture = capture_of(vm);
    Value follows = op < DOMAIN_COMPARE ? capture_arithmetic(vm, op, a, b) : VALUE_NULL;
    if (follows.tag != V_NULL) return follows;
    Node *left = box_of(capture, a), *right = box_of(capture, b);
    if (!may_be_number(a) || !may_be_number(b)) return VALUE_NULL;
    if (!left && !right && !is_dynamic_float(capture, a) && !is_dynamic_float(capture, b)) return VALUE_NULL;
    if (op >= DOMAIN_COMPARE) capture_operands(vm, op, &a, &b); /* how it compares is guarded, where that is enough */
    a = vm_force(vm, a), b = vm_force(vm, b);
    if (!value_is_number(a) || !value_is_number(b)) return VALUE_NULL;
    Value result = plain_result(vm, op, a, b);
    if (!value_is_number(result)) return result;
    Arg args[] = {operand(a), operand(b)}, value = operand(result);
    Node *node = box_with(capture, &value);
    if (node) return box_new(capture, node, result);
    node = graph_number(capture->entry->graph, capture_operator_name(op), args, 2, value, vm_user_span(vm));
    if (value.tag == ARG_FLOAT) map_put(capture->box_by_value, float_key(&value), node);
    if (left) node_uses_number(capture->entry->graph, node, left);
    if (right) node_uses_number(capture->entry->graph, node, right);
    return box_new(capture, node, result);
}

/* ---- what is used ---- */

typedef struct Used { const Graph *graph; Map *used; } Used;

static void mark(Node *node, void *state) { map_put(((Used *)state)->used, node, node); }

/* Symbolic ints and tensors inside what a composite was given as an object. */
static void mark_object(Used *used, Value v, int depth) {
    if (value_is(v, OBJ_SYM)) {
        Node *number = graph_number_of(used->graph, ((const SymObject *)v.o)->dim);
        if (number) mark(number, used);
    }
    if (value_is(v, OBJ_TENSOR) && ((const Tensor *)v.o)->node) mark(((const Tensor *)v.o)->node, used);
    if (depth > 16) return;
    bool tuple = value_is(v, OBJ_TUPLE), list = value_is(v, OBJ_LIST);
    int count = tuple ? ((const Tuple *)v.o)->count : list ? ((const List *)v.o)->count : 0;
    for (int i = 0; i < count; i++) mark_object(used, tuple ? ((const Tuple *)v.o)->items[i] : ((const List *)v.o)->items[i], depth + 1);
    if (!value_is(v, OBJ_SLICE)) return;
    const Slice *slice = (const Slice *)v.o;
    mark_object(used, slice->start, depth + 1);
    mark_object(used, slice->stop, depth + 1);
    mark_object(used, slice->step, depth + 1);
}

static void mark_operands(Used *used, const Node *node) {
    node_each_input(node, mark, used);
    node_each_number(used->graph, node, mark, used);
    for (int i = 0; i < node->nargs; i++)
        if (node->args[i].tag == ARG_OBJECT) mark_object(used, value_object(node->args[i].object), 0);
}

static bool may_go(const Node *node) { return node->kind == NODE_NUMBER || node->kind == NODE_GETITEM; }

void capture_settle_numbers(Capture *capture) {
    Graph *graph = capture->entry->graph;
    Used used = {graph, map_new(capture->entry->arena)};
    for (int i = 0; i < graph->leaving.count; i++) mark(graph->leaving.at[i], &used);
    for (int i = 0; i < graph->outputs.count; i++) mark(graph->outputs.at[i], &used);
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        if (!may_go(graph->nodes.at[i]) || map_has(used.used, graph->nodes.at[i])) mark_operands(&used, graph->nodes.at[i]);
    int kept = 0;
    for (int i = 0; i < graph->nodes.count; i++)
        if (!may_go(graph->nodes.at[i]) || map_has(used.used, graph->nodes.at[i])) graph->nodes.at[kept++] = graph->nodes.at[i];
    graph->nodes.count = kept;
}
