/* Graph run: a captured graph on real tensors, node by node: torch.compile's backend "eager", and the cheap backend of commands that only want captures.
 *
 *     Value outputs = graph_run(entry, args, nargs);     // tensors in order, then the symbolic ints
 *
 * Ops run through the VM as eager ones do: autograd records them, changes in place reach the inputs.
 * Invariant: what a node gives is dropped at the end of the call; outputs are the caller's. */
#include "pieces.h"
#include "session.h"
#include "sizes.h"
#include "vm/tracing.h"

static int64_t size_value(const Sym *var, void *state) {
    const GraphRun *run = state;
    for (int i = 0; run->sizes && i < run->entry->bindings.count; i++)
        if (run->entry->bindings.at[i].defines && run->entry->bindings.at[i].dim == dim_of_sym(var)) return run->sizes[i];
    for (int i = 0; i < run->entry->unbacked.count; i++)
        if (run->entry->unbacked.at[i].var == dim_of_sym(var) && run->known[i]) return run->late[i];
    return var->hint;
}

static Dim size_now(GraphRun *run, Dim d) { return dim_is_int(d) ? d : dim_evaluate(dim_resolve(d), size_value, run); }

void graph_run_keep(GraphRun *run, const Node *node, Value value) {
    Value *slot = ARENA_NEW(run->scratch, Value);
    *slot = value;
    map_put(run->values, node, slot);
    vec_push_in(run->scratch, &run->owned, value);
}

Value graph_run_value(const GraphRun *run, const void *node) { return *(Value *)map_get(run->values, node); }
static Value value_at(const GraphRun *run, const void *node) { return graph_run_value(run, node); }
static void keep(GraphRun *run, const Node *node, Value value) { graph_run_keep(run, node, value); }

/* A tuple, list or slice with its symbolic ints replaced; anything else as it is. Owned. */
static Value plain_object(GraphRun *run, Value v) {
    if (value_is(v, OBJ_SYM)) return value_int(size_now(run, ((SymObject *)v.o)->dim));
    bool tuple = value_is(v, OBJ_TUPLE), list = value_is(v, OBJ_LIST);
    if (value_is(v, OBJ_SLICE)) {
        const Slice *slice = (const Slice *)v.o;
        Value parts[3] = {plain_object(run, slice->start), plain_object(run, slice->stop), plain_object(run, slice->step)}, made = slice_new(run->vm, parts[0], parts[1], parts[2]);
        for (int i = 0; i < 3; i++) value_unref(run->vm, parts[i]);
        return made;
    }
    if (value_is(v, OBJ_TENSOR) && ((Tensor *)v.o)->node && map_has(run->values, ((Tensor *)v.o)->node)) return value_ref(value_at(run, ((Tensor *)v.o)->node));
    if (!tuple && !list) return value_ref(v);
    int count = tuple ? ((Tuple *)v.o)->count : ((List *)v.o)->count;
    Value *items = ARENA_ARRAY(run->scratch, Value, count + 1);
    for (int i = 0; i < count; i++) items[i] = plain_object(run, tuple ? ((Tuple *)v.o)->items[i] : ((List *)v.o)->items[i]);
    Value made = tuple ? tuple_new(run->vm, items, count) : list_new(run->vm, items, count);
    for (int i = 0; i < count; i++) value_unref(run->vm, items[i]);
    return made;
}

static Arg arg_now(GraphRun *run, const Arg *arg) {
    switch (arg->tag) {
    case ARG_TENSOR: return arg_of_tensor((Tensor *)value_at(run, arg->tensor.owner).o);
    case ARG_INT: return arg_int(size_now(run, arg->i));
    case ARG_INTS: {
        Dim *at = ARENA_ARRAY(run->scratch, Dim, arg->ints.count + 1);
        for (int i = 0; i < arg->ints.count; i++) at[i] = size_now(run, arg->ints.at[i]);
        return (Arg){.tag = ARG_INTS, .ints = {at, arg->ints.count}};
    }
    case ARG_TENSORS: {
        Arg *items = ARENA_ARRAY(run->scratch, Arg, arg->list.count + 1);
        for (int i = 0; i < arg->list.count; i++) items[i] = arg_now(run, &arg->list.items[i]);
        return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
    }
    case ARG_OBJECT: {
        Value plain = plain_object(run, value_object(arg->object));
        vec_push_in(run->scratch, &run->owned, plain);
        Arg made = *arg;
        made.object = plain.o;
        return plain.tag == V_OBJECT ? made : *arg;
    }
    default: return *arg;
    }
}

static Value item_of(Value several, int index) {
    if (value_is(several, OBJ_TUPLE)) return value_ref(((Tuple *)several.o)->items[index]);
    if (value_is(several, OBJ_LIST)) return value_ref(((List *)several.o)->items[index]);
    return value_ref(several);
}

static bool run_node(GraphRun *run, const Node *node, Value *args) {
    if (!node_is_tensor(node)) return true;
    if (node->kind == NODE_INPUT) keep(run, node, value_ref(args[node->index]));
    else if (node->kind == NODE_CONSTANT) keep(run, node, value_ref(value_tensor(node->constant)));
    else if (node->kind == NODE_GETITEM) keep(run, node, item_of(value_at(run, node->args[0].tensor.owner), node->index));
    else {
        Arg *now = ARENA_ARRAY(run->scratch, Arg, node->nargs + 1);
        for (int i = 0; i < node->nargs; i++) now[i] = arg_now(run, &node->args[i]);
        run->vm->grad_enabled = run->vm->grad_enabled && !node->no_grad;
        run->vm->torch->autocast = node->autocast ? *node->autocast : (Autocast){0};
        Value result = vm_run_op_casting(run->vm, node->op, now, node->nargs);
        if (value_is_error(result)) return false;
        bool only = node->noutputs == 1 && !value_is(result, OBJ_TENSOR);
        keep(run, node, only ? item_of(result, 0) : result);
        if (only) value_unref(run->vm, result);
    }
    return true;
}

static Value outputs_of(GraphRun *run) {
    const Graph *graph = run->entry->graph;
    Value *outputs = ARENA_ARRAY(run->scratch, Value, graph->outputs.count + 1);
    for (int i = 0; i < graph->outputs.count; i++) outputs[i] = graph->outputs.at[i] ? value_at(run, graph->outputs.at[i]) : VALUE_NONE;
    return tuple_new(run->vm, outputs, graph->outputs.count);
}

/* ---- numbers that only the run knows ---- */

typedef struct Unknown { const GraphRun *run; bool found; } Unknown;

static void visit_unknown(const Sym *var, void *state) {
    Unknown *u = state;
    if (var->var_kind != SYM_UNBACKED) return;
    for (int i = 0; i < u->run->entry->unbacked.count; i++)
        if (u->run->entry->unbacked.at[i].var == dim_of_sym(var) && u->run->known[i]) return;
    u->found = true;
}

bool graph_run_size(GraphRun *run, Dim d, int64_t *value) {
    Unknown u = {run, false};
    Dim now = dim_resolve(d);
    if (!dim_is_int(now)) dim_each_var(now, visit_unknown, &u);
    if (!u.found) *value = dim_is_int(now) ? now : dim_evaluate(now, size_value, run);
    return !u.found;
}

void graph_run_read(GraphRun *run, const Node *node) {
    for (int i = 0; i < run->entry->unbacked.count; i++) {
        const Unbacked *u = &run->entry->unbacked.at[i];
        if (u->node != node || run->known[i]) continue;
        const Tensor *t = (const Tensor *)value_at(run, node).o;
        Value item = u->dim < 0 ? tensor_item(run->vm, (Tensor *)(uintptr_t)t) : value_int(t->meta.sizes[u->dim]);
        if (item.tag != V_INT) continue;
        run->late[i] = (item.i - u->rest) / u->factor;
        run->known[i] = true;
    }
}

/* ---- a run ---- */

GraphRun graph_run_begin(Entry *entry, Value *args, int nargs) {
    GraphRun run = {.entry = entry, .vm = entry->dynamo->vm, .scratch = arena_new("graph run"), .args = args};
    Tensor **inputs = ARENA_ARRAY(run.scratch, Tensor *, nargs + 1);
    int tensors = nargs - entry->int_count;
    for (int i = 0; i < tensors; i++) inputs[i] = (Tensor *)args[i].o;
    run.values = map_new(run.scratch);
    run.sizes = sizes_of_call(entry, inputs, args + tensors, run.scratch);
    run.late = ARENA_ARRAY(run.scratch, int64_t, entry->unbacked.count + 1);
    run.known = ARENA_ARRAY(run.scratch, bool, entry->unbacked.count + 1);
    run.grad = run.vm->grad_enabled;
    run.autocast = run.vm->torch->autocast;
    return run;
}

bool graph_run_node(GraphRun *run, const Node *node) {
    FrameEvaluator evaluator = run->vm->evaluator;
    run->vm->evaluator = NULL; /* bodies of ops are no frames of the program */
    run->vm->grad_enabled = run->grad;
    bool ok = run_node(run, node, run->args);
    run->vm->grad_enabled = run->grad;
    run->vm->torch->autocast = run->autocast;
    run->vm->evaluator = evaluator;
    if (ok && run->entry->unbacked.count) graph_run_read(run, node);
    return ok;
}

Value graph_run_end(GraphRun *run, bool ok) {
    Value result = ok ? outputs_of(run) : VALUE_ERROR;
    for (int i = 0; i < run->owned.count; i++) value_unref(run->vm, run->owned.at[i]);
    arena_free(run->scratch);
    return result;
}

Value graph_run(Entry *entry, Value *args, int nargs) {
    GraphRun run = graph_run_begin(entry, args, nargs);
    bool ok = true;
    for (int i = 0; ok && i < entry->graph->nodes.count; i++) ok = graph_run_node(&run, entry->graph->nodes.at[i]);
    return graph_run_end(&run, ok);
}
