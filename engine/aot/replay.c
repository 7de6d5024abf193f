/* See replay.h. */
#include "aot/replay.h"
#include <string.h>

/* The line behind what is being replayed: of a question about sizes. */
static Span replayed_span(void *state) { return ((Replay *)state)->tracer.span; }

void replay_begin(Replay *replay, Compile *c, const Graph *from, const char *stage) {
    memset(replay, 0, sizeof *replay);
    replay->c = c;
    replay->from = from;
    replay->to = graph_new(c->arena, stage, c->syms, &c->next_node_id);
    replay->values = map_new(c->arena);
    trace_begin(&replay->tracer, c->vm, replay->to);
    table_on_assume(c->syms, replayed_span, replay);
}

Value replay_value(const Replay *replay, const Node *node) {
    Value *slot = map_get(replay->values, node);
    if (!slot) fail(replay->c->failure, node->span, "%s of %%%s: it has no value", replay->to->stage, node->name);
    return *slot;
}

Tensor *replay_tensor(const Replay *replay, const Node *node) {
    Value value = replay_value(replay, node);
    if (!value_is(value, OBJ_TENSOR)) fail(replay->c->failure, node->span, "%s of %%%s: its value is not a tensor", replay->to->stage, node->name);
    return (Tensor *)value.o;
}

void replay_set(Replay *replay, const Node *node, Value value) {
    Value *slot = map_get(replay->values, node);
    if (!slot) {
        slot = ARENA_NEW(replay->c->arena, Value);
        map_put(replay->values, node, slot);
        vec_push_in(replay->c->arena, &replay->owned, slot);
    } else {
        value_unref(replay->c->vm, *slot);
    }
    *slot = value;
}

/* Sizes as later assumptions made them: equal ones are then one and the same expression. */
static Arg sizes_resolved(Arena *arena, const Arg *arg) {
    Dim *at = ARENA_ARRAY(arena, Dim, arg->ints.count + 1);
    for (int i = 0; i < arg->ints.count; i++) at[i] = dim_resolve(arg->ints.at[i]);
    return (Arg){.tag = ARG_INTS, .ints = {at, arg->ints.count}};
}

static Arg arg_replayed(const Replay *replay, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) return arg_of_tensor(replay_tensor(replay, arg->tensor.owner));
    if (arg->tag == ARG_INT) return arg_int(dim_resolve(arg->i));
    if (arg->tag == ARG_INTS) return sizes_resolved(replay->c->arena, arg);
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg *items = ARENA_ARRAY(replay->c->arena, Arg, arg->list.count ? arg->list.count : 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = arg_replayed(replay, &arg->list.items[i]);
    return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
}

const Arg *replay_args(const Replay *replay, const Node *node) {
    Arg *args = ARENA_ARRAY(replay->c->arena, Arg, node->nargs ? node->nargs : 1);
    for (int i = 0; i < node->nargs; i++) args[i] = arg_replayed(replay, &node->args[i]);
    return args;
}

Value replay_check(Replay *replay, const Node *node, Value result) {
    if (!value_is_error(result)) return result;
    VM *vm = replay->c->vm;
    Text text = {0};
    if (vm->stopped) text_put(&text, vm->stop_text);
    else {
        Value message = vm->exception.tag == V_OBJECT ? vm_str(vm, vm->exception) : VALUE_NULL;
        text_put(&text, value_is(message, OBJ_STR) ? str_text(message) : "unknown error");
        value_unref(vm, message);
        vm_clear_exception(vm);
    }
    char *copy = text_in(&text, replay->c->arena);
    text_free(&text);
    vm->stopped = false;
    fail(replay->c->failure, node->span, "%s of %%%s: %s", replay->to->stage, node->name, copy);
}

static Value item_of(Replay *replay, const Node *node, Value tuple, int index) {
    bool is_list = value_is(tuple, OBJ_LIST), is_tuple = value_is(tuple, OBJ_TUPLE);
    int count = is_list ? ((List *)tuple.o)->count : is_tuple ? ((Tuple *)tuple.o)->count : 1;
    if (index >= count) fail(replay->c->failure, node->span, "%s of %%%s: there is no result %d", replay->to->stage, node->name, index);
    return value_ref(is_list ? ((List *)tuple.o)->items[index] : is_tuple ? ((Tuple *)tuple.o)->items[index] : tuple);
}

/* A tuple of one (a split into a single part) is the node itself. Takes the reference. */
static Value only_item(Replay *replay, const Node *node, Value result) {
    if (node->noutputs != 1 || value_is(result, OBJ_TENSOR)) return result;
    Value item = item_of(replay, node, result, 0);
    value_unref(replay->c->vm, result);
    return item;
}

static Node *replay_leaf(Replay *replay, const Node *node) {
    Graph *to = replay->to;
    Meta meta = meta_resolved(&node->metas[0]);
    Node *made = node->kind == NODE_INPUT ? graph_input(to, node->name, &meta, node->span) : graph_constant(to, node->name, &meta, node->constant, node->span);
    made->is_tangent = node->is_tangent;
    made->tangent_of = node->tangent_of;
    made->side = node->side;
    node_origin(to, made, node);
    return made;
}

void replay_node(Replay *replay, const Node *node) {
    Tracer *tracer = &replay->tracer;
    tracer->side = node->side;
    tracer->span = node->span;
    tracer->origin = node;
    switch (node->kind) {
    case NODE_INPUT: case NODE_CONSTANT:
        replay_set(replay, node, value_tensor(trace_tensor(tracer, replay_leaf(replay, node), 0)));
        break;
    case NODE_GETITEM: replay_set(replay, node, item_of(replay, node, replay_value(replay, node->args[0].tensor.owner), node->index)); break;
    case NODE_NUMBER: case NODE_EFFECT: break;
    case NODE_CALL: replay_set(replay, node, only_item(replay, node, replay_check(replay, node, vm_run_op_casting(tracer->vm, node->op, replay_args(replay, node), node->nargs)))); break;
    }
}

Node *replay_result_node(Replay *replay, Tensor *tensor) {
    if (!tensor->node) fail(replay->c->failure, replay->tracer.span, "%s: a result that is no node of the graph", replay->to->stage);
    return tensor->node;
}

Graph *replay_end(Replay *replay) {
    for (int i = 0; i < replay->owned.count; i++) value_unref(replay->c->vm, *replay->owned.at[i]);
    trace_end(&replay->tracer);
    table_on_assume(replay->c->syms, NULL, NULL);
    graph_finish(replay->to);
    return replay->to;
}

Value replay_formula(Replay *replay, const Op *op, const char *formula, const Arg *args, int nargs, const char *extra, Value extra_value) {
    VM *vm = replay->c->vm;
    const char *names[32];
    Value values[32];
    int count = 0;
    for (; count < nargs && count < 31; count++) {
        names[count] = count < op->signature->count ? op->signature->names[count] : op->signature->varargs_name;
        values[count] = value_of_arg(vm, &args[count]);
    }
    names[count] = intern(vm->lang->names, extra);
    values[count++] = value_ref(extra_value);
    Value result = vm_run_formula(vm, op, formula, names, values, count);
    for (int i = 0; i < count; i++) value_unref(vm, values[i]);
    return result;
}
