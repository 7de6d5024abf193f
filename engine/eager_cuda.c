/* Ops on cuda tensors, one at a time: each becomes a graph of one op, which goes through the same lowering and code generation as compiled graphs;
 * the plan is kept by what it depends on (op, attributes, metas), its kernels in the disk cache.
 *
 * In: an op with device pointers. Out: the outputs written, on the default stream.
 * An in-place op is its functional twin whose result is written into the first input (a mutation of the one-op graph). */
#include "session.h"
#include "op/random.h"
#include <string.h>

typedef struct OpPlan { Compile compile; Failure failure; Policy policy; Plan *plan; const char *error; } OpPlan;

/* ---- the key ---- */
typedef struct Key { uint64_t hash; } Key;

static void key_bytes(Key *key, const void *data, size_t length) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < length; i++) key->hash = (key->hash ^ bytes[i]) * UINT64_C(1099511628211);
}

static void key_int(Key *key, int64_t n) { key_bytes(key, &n, sizeof n); }

static void key_meta(Key *key, const Meta *meta) {
    key_int(key, meta->dtype);
    key_int(key, meta->device.index * 2 + (int)meta->device.kind);
    key_int(key, meta->rank);
    key_bytes(key, meta->sizes, sizeof(Dim) * (size_t)meta->rank);
    key_bytes(key, meta->strides, sizeof(Dim) * (size_t)meta->rank);
    key_int(key, meta->offset);
}

static void key_arg(Key *key, const Arg *arg) {
    key_int(key, arg->tag);
    switch (arg->tag) {
    case ARG_TENSOR: key_meta(key, arg->tensor.meta); break;
    case ARG_TENSORS:
        key_int(key, arg->list.count);
        for (int i = 0; i < arg->list.count; i++) key_arg(key, &arg->list.items[i]);
        break;
    case ARG_BOOL: key_int(key, arg->b); break;
    case ARG_INT: key_int(key, arg->i); break;
    case ARG_FLOAT: key_bytes(key, &arg->f, sizeof arg->f); break;
    case ARG_INTS: key_bytes(key, arg->ints.at, sizeof(Dim) * (size_t)arg->ints.count); break;
    case ARG_FLOATS: key_bytes(key, arg->floats.at, sizeof(double) * (size_t)arg->floats.count); break;
    case ARG_STR: key_bytes(key, arg->s, strlen(arg->s)); break;
    case ARG_DTYPE: key_int(key, arg->dtype); break;
    case ARG_DEVICE: key_int(key, arg->device.index * 2 + (int)arg->device.kind); break;
    case ARG_NONE: case ARG_OBJECT: break;
    }
}

static const void *plan_key(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts) {
    Key key = {UINT64_C(14695981039346656037)};
    key_int(&key, op->index);
    for (int i = 0; i < nargs; i++) key_arg(&key, &args[i]);
    for (int i = 0; i < nouts; i++) key_arg(&key, &outs[i]);
    return map_key((int64_t)(key.hash | 1));
}

/* ---- the graph of one op ---- */
typedef struct OneOp { Session *session; OpPlan *made; const Op *op; const Arg *args; int nargs; const Arg *outs; int nouts; Device device; bool load; } OneOp;

static Arg input_arg(Graph *graph, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) return arg_node(graph_input(graph, "x", arg->tensor.meta, (Span){0}));
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg *items = ARENA_ARRAY(graph->arena, Arg, arg->list.count + 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = input_arg(graph, &arg->list.items[i]);
    return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
}

static Graph *one_op_graph(const OneOp *one) {
    Compile *c = &one->made->compile;
    Graph *graph = graph_new(c->arena, "eager", c->syms, &c->next_node_id);
    Arg *args = ARENA_ARRAY(c->arena, Arg, one->nargs + 1);
    Meta *metas = ARENA_ARRAY(c->arena, Meta, one->nouts + 1);
    for (int i = 0; i < one->nargs; i++) args[i] = input_arg(graph, &one->args[i]);
    for (int i = 0; i < one->nouts; i++) metas[i] = *one->outs[i].tensor.meta;
    bool inplace = op_has(one->op, TRAIT_INPLACE);
    const Op *op = inplace && one->op->functional_op ? one->op->functional_op : one->op;
    if (inplace) meta_set_contiguous(&metas[0], NULL), metas[0].offset = 0;
    Node *node = graph_call(graph, op, args, op->nparams, metas, one->nouts, (Span){0});
    for (int i = 0; i < one->nouts; i++) {
        Node *result = one->nouts == 1 ? node : graph_getitem(graph, node, i);
        graph_output(graph, &result, 1);
    }
    if (inplace) vec_push_in(c->arena, &graph->mutations, ((Mutation){0, 0}));
    graph->forward_outputs = inplace ? 0 : one->nouts;
    graph_finish(graph);
    return graph;
}

static void compile_body(void *state) {
    OneOp *one = state;
    Compile *c = &one->made->compile;
    /* Rows whose loops are those of their body (mean, var …) are decomposed first: one plan for all of it. */
    const Graph *graph = simplify(c, decompose(c, one_op_graph(one)));
    one->made->plan = inductor_compile_graph(c, graph, one->device, one->op->name);
    CompileReport report;
    OpError error = {0};
    if (!one->load) return;
    if (!plan_load(c->runtime, one->made->plan, &report, &error)) fail(c->failure, (Span){0}, "%s", error.message);
}

static OpPlan *compile_op(OneOp *one) {
    Session *session = one->session;
    Arena *arena = arena_new("eager op");
    OpPlan *made = ARENA_NEW(arena, OpPlan);
    made->policy = session->policy;
    made->compile = (Compile){.arena = arena, .syms = sym_table_new(arena), .policy = &made->policy, .ops = session->ops, .failure = &made->failure, .id = "eager", .vm = session->vm, .runtime = session->runtime};
    made->compile.reasons.arena = arena;
    one->made = made;
    if (!fail_catch(&made->failure, compile_body, one)) made->error = made->failure.message;
    return made;
}

/* The same tensors as if they were on the card. */
static Arg on_card(Arena *arena, const Arg *arg, Device card) {
    Arg copy = *arg;
    if (arg->tag == ARG_TENSOR) {
        Meta *meta = arena_copy(arena, arg->tensor.meta, sizeof(Meta));
        meta->device = card;
        copy.tensor.meta = meta;
    } else if (arg->tag == ARG_TENSORS) {
        Arg *items = ARENA_ARRAY(arena, Arg, arg->list.count + 1);
        for (int i = 0; i < arg->list.count; i++) items[i] = on_card(arena, &arg->list.items[i], card);
        copy.list.items = items;
    } else if (arg->tag == ARG_DEVICE) {
        copy.device = card;
    }
    return copy;
}

const Plan *eager_cuda_plan(Session *session, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const char **error) {
    Device card = {DEVICE_CUDA, 0};
    Arena *scratch = arena_new("eager op on a card");
    Arg *inputs = ARENA_ARRAY(scratch, Arg, nargs + 1), *results = ARENA_ARRAY(scratch, Arg, nouts + 1);
    for (int i = 0; i < nargs; i++) inputs[i] = on_card(scratch, &args[i], card);
    for (int i = 0; i < nouts; i++) results[i] = on_card(scratch, &outs[i], card);
    if (!session->op_plans) session->op_plans = map_new(session->arena);
    const void *key = plan_key(op, inputs, nargs, results, nouts);
    OpPlan *made = map_get(session->op_plans, key);
    OneOp one = {session, NULL, op, inputs, nargs, results, nouts, card, false};
    if (!made) map_put(session->op_plans, key, made = compile_op(&one));
    arena_free(scratch);
    *error = made->error;
    return made->plan;
}

/* ---- running ---- */
static int collect_inputs(const Arg *args, int nargs, void **inputs, int count, int room) {
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSOR && count < room) inputs[count++] = args[i].tensor.data;
        if (args[i].tag == ARG_TENSORS) count = collect_inputs(args[i].list.items, args[i].list.count, inputs, count, room);
    }
    return count;
}

enum { MAX_OP_TENSORS = 1024 };

bool eager_cuda_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Session *session = state;
    OneOp one = {session, NULL, op, args, nargs, outs, nouts, outs[0].tensor.meta->device, true};
    const void *key = plan_key(op, args, nargs, outs, nouts);
    if (!session->op_plans) session->op_plans = map_new(session->arena);
    OpPlan *made = map_get(session->op_plans, key);
    if (!made) {
        made = compile_op(&one);
        map_put(session->op_plans, key, made);
    }
    if (made->error) return op_error(error, ERROR_RUNTIME, "%s on cuda: %s", op->name, made->error);
    void *inputs[MAX_OP_TENSORS], *outputs[64] = {0};
    int count = collect_inputs(args, nargs, inputs, 0, MAX_OP_TENSORS);
    if (count == MAX_OP_TENSORS || nouts > 64) return op_error(error, ERROR_RUNTIME, "%s on cuda: too many tensors", op->name);
    const Plan *plan = made->plan;
    for (int i = 0; i < plan->outputs.count && i < nouts; i++) {
        const PlanOutput *output = &plan->outputs.at[i];
        if (output->is_none || output->alias_input >= 0) continue;
        const Buffer *buffer = &plan->buffers.at[output->buffer];
        if (buffer->role == BUFFER_OUTPUT) outputs[buffer->index] = outs[i].tensor.data;
    }
    int64_t sizes[2] = {0, 0};
    if (plan->random_draws) sizes[0] = (int64_t)rng_next64(context->generator);
    return plan_run(session->runtime, plan, inputs, NULL, outputs, sizes, error);
}

void eager_cuda_close(Session *session) {
    for (int i = 0; session->op_plans && i < map_count(session->op_plans); i++) {
        OpPlan *made = map_at(session->op_plans, i).value;
        if (made->plan) plan_unload(session->runtime, made->plan);
        arena_free(made->compile.arena);
    }
}
