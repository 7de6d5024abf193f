/* Custom backends: torch.compile(backend=a function of the program). In: a captured entry. Out: what the function returned, which runs in the graph's place.
 *
 *     def backend(gm, example_inputs): return gm.forward
 *
 * gm is a torch.fx.GraphModule (torch/fx.py) over the entry's graph; calling it runs the graph op by op. Its arguments are those of the graph as PyTorch
 * orders them: symbolic sizes before the tensor that they belong to, other symbolic ints at the end.
 * Invariant: gm knows its entry only as long as that lives; a call after that is an error. */
#include "custom_backend.h"
#include "sizes.h"
#include "vm/native.h"
#include <string.h>

typedef struct CapturedGraph { Object head; Entry *entry; } CapturedGraph;

/* ---- arguments: the entry's (tensors, then ints) and the graph's ---- */

static int given_count(const Entry *entry) { return entry->graph->inputs.count + entry->graph->sizes.count; }

/* Place of the graph's size in the entry's list of what defines symbols. */
static int64_t size_value(const Entry *entry, const int64_t *sizes, Dim var) {
    for (int i = 0; sizes && i < entry->bindings.count; i++)
        if (entry->bindings.at[i].defines && entry->bindings.at[i].dim == var) return sizes[i];
    return dim_hint(var);
}

typedef struct Given { Value value; int tensor, integer; } Given; /* which of the entry's arguments it is; -1: none of them */

/* All arguments of the graph in order. args: the entry's; NULL: only what each place stands for. */
static void arguments_given(const Entry *entry, const int64_t *sizes, const Value *args, Given *out) {
    const Graph *graph = entry->graph;
    int n = 0, integers = 0;
    for (int input = 0; input <= graph->inputs.count; input++) {
        bool last = input == graph->inputs.count;
        for (int s = 0; s < graph->sizes.count; s++) {
            if (graph->sizes.at[s].input != (last ? -1 : input)) continue;
            out[n++] = (Given){value_int(args ? size_value(entry, sizes, graph->sizes.at[s].var) : 0), -1, last ? integers++ : -1};
        }
        if (!last) out[n++] = (Given){args ? args[input] : VALUE_NONE, input, -1};
    }
}

static const int64_t *sizes_now(const Entry *entry, const Value *args, int tensors, Arena *scratch) {
    Tensor **inputs = ARENA_ARRAY(scratch, Tensor *, tensors + 1);
    for (int i = 0; i < tensors; i++) inputs[i] = (Tensor *)args[i].o;
    return sizes_of_call(entry, inputs, args + tensors, scratch);
}

Value custom_backend_run(Entry *entry, Value *args, int nargs) {
    VM *vm = entry->dynamo->vm;
    Arena *scratch = arena_new("custom backend");
    int count = given_count(entry);
    Given *given = ARENA_ARRAY(scratch, Given, count + 1);
    Value *values = ARENA_ARRAY(scratch, Value, count + 1);
    arguments_given(entry, sizes_now(entry, args, nargs - entry->int_count, scratch), args, given);
    for (int i = 0; i < count; i++) values[i] = given[i].value;
    FrameEvaluator evaluator = vm->evaluator;
    vm->evaluator = NULL; /* what a backend made is not compiled again */
    Value result = vm_call(vm, entry->runner, values, count, NULL);
    vm->evaluator = evaluator;
    arena_free(scratch);
    if (value_is_error(result) || value_is(result, OBJ_TUPLE) || value_is(result, OBJ_LIST)) return result;
    value_unref(vm, result);
    return vm_raise(vm, "TypeError", "what a backend returns must give a tuple or list of the graph's outputs");
}

static Value captured_call(VM *vm, Object *self, Value *args, int nargs, Tuple *kwnames) {
    Entry *entry = ((CapturedGraph *)self)->entry;
    if (!entry) return vm_raise(vm, "RuntimeError", "the compile entry of this graph is gone");
    int count = given_count(entry);
    if (kwnames || nargs != count) return vm_raise(vm, "TypeError", "forward() takes %d positional arguments but %d were given", count + 1, nargs + 1);
    Arena *scratch = arena_new("captured graph");
    Given *given = ARENA_ARRAY(scratch, Given, count + 1);
    Value *mine = ARENA_ARRAY(scratch, Value, count + 1);
    arguments_given(entry, NULL, NULL, given);
    Value result = VALUE_NULL;
    for (int i = 0; i < count && result.tag == V_NULL; i++) {
        if (given[i].tensor >= 0) mine[given[i].tensor] = args[i];
        if (given[i].integer >= 0) mine[entry->graph->inputs.count + given[i].integer] = args[i];
        if (given[i].tensor >= 0 && !value_is(args[i], OBJ_TENSOR)) result = vm_raise(vm, "TypeError", "argument %d of the graph must be a Tensor", i);
    }
    if (result.tag == V_NULL) result = graph_run(entry, mine, entry->graph->inputs.count + entry->int_count);
    arena_free(scratch);
    return result;
}

static Value captured_repr(VM *vm, Object *self) { (void)self; return str_from(vm, "<captured graph>"); }

static const NativeType captured_type = {.name = "CapturedGraph", .module = "torch.fx", .call = captured_call, .repr = captured_repr};

/* ---- the graph as values ---- */

static Value tuple_take_all(VM *vm, Value *items, int count) {
    Value made = tuple_new(vm, items, count);
    for (int i = 0; i < count; i++) value_unref(vm, items[i]);
    return made;
}

/* The graph's nodes as PyTorch orders them: what it is given first, with symbolic sizes before their tensors. */
typedef struct Listed { const Node *node; /* NULL: a size */ Dim size; } Listed;
typedef struct Listing { VM *vm; const Graph *graph; Arena *scratch; VEC(Listed) nodes; } Listing;

static void list_nodes(Listing *l) {
    const Graph *graph = l->graph;
    for (int input = 0; input <= graph->inputs.count; input++) {
        bool last = input == graph->inputs.count;
        for (int s = 0; s < graph->sizes.count; s++)
            if (graph->sizes.at[s].input == (last ? -1 : input)) vec_push_in(l->scratch, &l->nodes, ((Listed){NULL, graph->sizes.at[s].var}));
        if (!last) vec_push_in(l->scratch, &l->nodes, ((Listed){graph->inputs.at[input], 0}));
    }
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind != NODE_INPUT) vec_push_in(l->scratch, &l->nodes, ((Listed){graph->nodes.at[i], 0}));
}

/* ("%", its place) */
static Value reference_to(const Listing *l, const void *node, Dim size) {
    int place = -1;
    for (int i = 0; i < l->nodes.count && place < 0; i++)
        if (node ? l->nodes.at[i].node == node : !l->nodes.at[i].node && l->nodes.at[i].size == size) place = i;
    Value items[2] = {str_from(l->vm, "%"), value_int(place)};
    return tuple_take_all(l->vm, items, 2);
}

static bool is_listed_size(const Listing *l, Dim size) {
    for (int i = 0; i < l->graph->sizes.count; i++)
        if (l->graph->sizes.at[i].var == size) return true;
    return false;
}

/* The node that stands for a tensor in the graph: that which reads it as a number, if there is one. */
static const Node *shown_for(const Node *node) { return node->as_number ? node->as_number : node; }

static Value value_of(const Listing *l, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) return arg->tensor.owner ? reference_to(l, shown_for(arg->tensor.owner), 0) : VALUE_NONE;
    if (arg->tag == ARG_TENSORS) {
        Value list = list_new(l->vm, NULL, 0);
        for (int i = 0; i < arg->list.count; i++) {
            Value item = value_of(l, &arg->list.items[i]);
            list_append(l->vm, (List *)list.o, item);
            value_unref(l->vm, item);
        }
        return list;
    }
    if (arg->tag != ARG_INT || dim_is_int(arg->i)) return value_of_arg(l->vm, arg);
    if (is_listed_size(l, arg->i)) return reference_to(l, NULL, arg->i);
    const Node *number = graph_number_of(l->graph, arg->i);
    if (number) return reference_to(l, number, 0);
    Text text = {0};
    dim_print(&text, arg->i);
    Value shown = str_from(l->vm, text_cstr(&text)); /* an op's own arithmetic on sizes */
    text_free(&text);
    return shown;
}

static Value tuple_of_list(VM *vm, Value list) {
    Value made = tuple_new(vm, ((List *)list.o)->items, ((List *)list.o)->count);
    value_unref(vm, list);
    return made;
}

static void list_take(VM *vm, Value list, Value item) {
    list_append(vm, (List *)list.o, item);
    value_unref(vm, item);
}

/* An argument that is a constant of this compile, computed by a number of the graph. */
static const Node *number_behind(const Node *node, const Arg *arg) {
    for (int i = 0; arg->tag == ARG_FLOAT && i < node->number_count; i++)
        if (node->numbers[i]->value.tag == ARG_FLOAT && !memcmp(&node->numbers[i]->value.f, &arg->f, sizeof arg->f)) return node->numbers[i];
    return NULL;
}

static Value argument_of(const Listing *l, const Node *node, const Arg *arg) {
    const Node *number = number_behind(node, arg);
    if (number) return reference_to(l, number, 0);
    if (node->kind == NODE_NUMBER && arg->tag == ARG_TENSOR) return reference_to(l, arg->tensor.owner, 0);
    return value_of(l, arg);
}

static bool is_number_call(const Node *node, const char *spelled) { return node->kind == NODE_NUMBER && !strcmp(node->spelled, spelled); }

/* Arguments up to the last one that is no default. */
static Value arguments_of(const Listing *l, const Node *node) {
    int count = node->nargs;
    while (node->kind == NODE_CALL && count > 0 && node_argument_is_default(node, count - 1)) count--;
    Value list = list_new(l->vm, NULL, 0);
    for (int i = 0; i < count; i++) list_take(l->vm, list, argument_of(l, node, &node->args[i]));
    if (is_number_call(node, "sym_sum")) return tuple_take_all(l->vm, &list, 1); /* of a list */
    if (node->kind == NODE_GETITEM) list_append(l->vm, (List *)list.o, value_int(node->index));
    return tuple_of_list(l->vm, list);
}

static void fact_add(VM *vm, Value list, const char *op, const char *name, const char *target, bool is_operator, Value args, Value example) {
    Value items[6] = {str_from(vm, op), str_from(vm, name), str_from(vm, target), value_bool(is_operator), args, example};
    list_take(vm, list, tuple_take_all(vm, items, 6));
}

/* "torch._C._set_grad_enabled(False)" -> "_set_grad_enabled" */
static const char *effect_name(Arena *arena, const Node *node) {
    size_t length = strcspn(node->spelled, "("), start = length;
    while (start > 0 && node->spelled[start - 1] != '.') start--;
    return arena_strndup(arena, node->spelled + start, length - start);
}

/* The target of an input is its source as a name: l_x_ is given as L_x_. */
static const char *target_of(const Listing *l, const Node *node) {
    if (node->kind == NODE_CALL) return node->op->name;
    if (node->kind == NODE_GETITEM) return "getitem";
    if (node->kind == NODE_NUMBER) return node->spelled;
    if (node->kind == NODE_EFFECT) return effect_name(l->scratch, node);
    char *target = arena_strdup(l->scratch, node->name);
    if ((target[0] == 'l' || target[0] == 'g') && target[1] == '_') target[0] = (char)(target[0] - 'a' + 'A');
    return target;
}

static Value outputs_of(const Listing *l) {
    Value list = list_new(l->vm, NULL, 0);
    for (int i = 0; i < l->graph->outputs.count; i++) list_take(l->vm, list, l->graph->outputs.at[i] ? reference_to(l, l->graph->outputs.at[i], 0) : VALUE_NONE);
    Value all = tuple_of_list(l->vm, list);
    return tuple_take_all(l->vm, &all, 1);
}

static Value facts_of(VM *vm, const Entry *entry) {
    Listing l = {.vm = vm, .graph = entry->graph, .scratch = arena_new("graph as values")};
    Value list = list_new(vm, NULL, 0);
    list_nodes(&l);
    for (int i = 0; i < l.nodes.count; i++) {
        const Node *node = l.nodes.at[i].node;
        const char *name = node ? node->name : dim_sym(l.nodes.at[i].size)->name;
        bool given = !node || node->kind == NODE_INPUT;
        const char *op = given ? "placeholder" : node->kind == NODE_CONSTANT ? "get_attr" : (node->kind == NODE_CALL && node->is_method) || is_number_call(node, "item") ? "call_method" : "call_function";
        Value args = node ? arguments_of(&l, node) : tuple_new(vm, NULL, 0), example = node ? VALUE_NONE : value_int(dim_hint(l.nodes.at[i].size));
        fact_add(vm, list, op, name, node ? target_of(&l, node) : name, node && (node->kind == NODE_GETITEM || node->kind == NODE_NUMBER || node->is_operator), args, example);
    }
    fact_add(vm, list, "output", "output", "output", false, outputs_of(&l), VALUE_NONE);
    arena_free(l.scratch);
    return list;
}

static Value graph_module(VM *vm, Entry *entry) {
    CapturedGraph *captured = (CapturedGraph *)object_new(vm, OBJ_CAPTURED, sizeof *captured);
    captured->entry = entry;
    entry->captured = value_object(captured);
    Text code = {0};
    graph_print(&code, entry->graph);
    Value module = vm_import(vm, "torch.fx", (Span){0}), maker = value_is_error(module) ? VALUE_ERROR : vm_load_attr(vm, module, intern(vm->lang->names, "_graph_module"));
    Value args[3] = {value_ref(entry->captured), facts_of(vm, entry), str_from(vm, text_cstr(&code))};
    Value made = value_is_error(maker) ? VALUE_ERROR : vm_call(vm, maker, args, 3, NULL);
    for (int i = 0; i < 3; i++) value_unref(vm, args[i]);
    value_unref(vm, maker);
    value_unref(vm, module);
    text_free(&code);
    return made;
}

/* ---- compiling ---- */

static Value example_inputs(VM *vm, const Entry *entry) {
    Arena *scratch = arena_new("example inputs");
    int count = given_count(entry);
    Given *given = ARENA_ARRAY(scratch, Given, count + 1);
    Value *hints = ARENA_ARRAY(scratch, Value, entry->graph->inputs.count + 1);
    for (int i = 0; i < entry->graph->inputs.count; i++) hints[i] = i < entry->examples.count ? entry->examples.at[i] : VALUE_NONE;
    arguments_given(entry, NULL, hints, given);
    Value list = list_new(vm, NULL, 0);
    for (int i = 0; i < count; i++) list_append(vm, (List *)list.o, given[i].value);
    arena_free(scratch);
    return list;
}

/* BackendCompilerFailed: backend='name' raised: … */
static void backend_failed(VM *vm, Value backend) {
    Value exception = value_ref(vm->exception), name = value_is(backend, OBJ_FUNCTION) ? str_from(vm, ((Function *)backend.o)->name) : vm_repr(vm, backend);
    const char *kind = value_is(exception, OBJ_INSTANCE) ? ((Instance *)exception.o)->cls->name : "Exception";
    vm_clear_exception(vm);
    Value text = vm_str(vm, exception);
    vm_raise(vm, "BackendCompilerFailed", "backend='%s' raised:\n%s: %s", value_is(name, OBJ_STR) ? str_text(name) : "?", kind, value_is(text, OBJ_STR) ? str_text(text) : "");
    value_unref(vm, text);
    value_unref(vm, name);
    value_unref(vm, exception);
}

bool custom_backend_compile(Entry *entry, Value backend) {
    VM *vm = entry->dynamo->vm;
    Value module = graph_module(vm, entry), runner = module;
    if (!value_is_error(module)) {
        Value args[2] = {module, example_inputs(vm, entry)};
        runner = vm_call(vm, backend, args, 2, NULL);
        value_unref(vm, args[0]);
        value_unref(vm, args[1]);
    }
    if (!value_is_error(runner)) {
        entry->runner = runner;
        return true;
    }
    if (vm->exception.tag != V_NULL) backend_failed(vm, backend);
    return false;
}

void custom_backend_release(Entry *entry) {
    VM *vm = entry->dynamo->vm;
    if (value_is(entry->captured, OBJ_CAPTURED)) ((CapturedGraph *)entry->captured.o)->entry = NULL;
    value_unref(vm, entry->captured);
    value_unref(vm, entry->runner);
    entry->captured = entry->runner = VALUE_NULL;
}

void custom_backend_define(VM *vm) { vm_native_register(vm, OBJ_CAPTURED, &captured_type); }
