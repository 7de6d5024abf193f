/* The tracing domain: ops on fake tensors become graph nodes; the tape works on fakes as it does on tensors.
 *
 *     trace_begin(&tracer, vm, graph); ... vm_op(vm, "relu", &x, 1) ...; trace_end(&tracer);       // %relu in graph
 *
 * Composites and formulas run as code, so that only rows with a meaning of their own become nodes. trace_op alone records any row as one node:
 * what a composite gives is found by running its body on stand-ins in a scratch graph.
 * Invariant: a fake tensor shares storage with another exactly when the real ones would, so views and in-place ops are seen as in eager work. */
#include "vm/tracing.h"
#include "vm/autograd_record.h"
#include "vm/body.h"
#include "vm/card.h"
#include "vm/concrete.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_state.h"
#include <string.h>

static Tracer *tracer_of(VM *vm) { return vm->domain_state; }

void trace_begin(Tracer *tracer, VM *vm, Graph *graph) {
    *tracer = (Tracer){.vm = vm, .graph = graph, .former = vm->domain, .former_state = vm->domain_state, .former_evaluator = vm->evaluator,
                       .former_grad = vm->grad_enabled, .former_syms = vm->context.syms, .span = vm->span};
    vm->domain = &tracing_domain;
    vm->domain_state = tracer;
    vm->evaluator = NULL;
    vm->context.syms = graph->syms;
    tracer->marker = str_new(vm, "trace", 5).o;
    if (!vm->torch) return;
    tracer->former_autocast = vm->torch->autocast;
    memset(vm->torch->autocast.enabled, 0, sizeof vm->torch->autocast.enabled);
}

void trace_end(Tracer *tracer) {
    VM *vm = tracer->vm;
    value_unref(vm, value_object(tracer->marker));
    vm->domain = tracer->former;
    vm->domain_state = tracer->former_state;
    vm->evaluator = tracer->former_evaluator;
    vm->grad_enabled = tracer->former_grad;
    vm->context.syms = tracer->former_syms;
    if (vm->torch) vm->torch->autocast = tracer->former_autocast;
}

TraceState trace_state(const VM *vm) {
    return (TraceState){.domain = vm->domain, .domain_state = vm->domain_state, .evaluator = vm->evaluator, .frame = vm->frame, .syms = vm->context.syms, .autocast = vm->torch->autocast,
                        .grad_enabled = vm->grad_enabled, .depth = vm->depth, .in_body = vm->torch->in_body};
}

void trace_state_restore(VM *vm, const TraceState *state) {
    vm->domain = state->domain;
    vm->domain_state = state->domain_state;
    vm->evaluator = state->evaluator;
    vm->frame = state->frame;
    vm->context.syms = state->syms;
    vm->torch->autocast = state->autocast;
    vm->grad_enabled = state->grad_enabled;
    vm->depth = state->depth;
    vm->torch->in_body = state->in_body;
}

Tensor *trace_tensor(Tracer *tracer, Node *node, int output) {
    Node *yields = node->noutputs > 1 ? graph_getitem(tracer->graph, node, output) : node;
    Tensor *t = tensor_fake(tracer->vm, &yields->metas[0], yields);
    t->made_at = node->span;
    return t;
}

/* ---- arguments as nodes ---- */

typedef struct Held { VM *vm; Tensor *tensor; } Held;
static void release_held(void *subject) {
    Held *held = subject;
    if (!held->vm->own->closing) value_unref(held->vm, value_tensor(held->tensor)); /* a VM that closes frees all objects itself */
}

/* A real tensor met while tracing is a constant of the graph, held as long as the graph's arena. */
static Node *constant_node(Tracer *tracer, Tensor *t) {
    Graph *graph = tracer->graph;
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind == NODE_CONSTANT && graph->nodes.at[i]->constant == t) return graph->nodes.at[i];
    Held *held = ARENA_NEW(graph->arena, Held);
    *held = (Held){tracer->vm, tensor_of(value_ref(value_tensor(t)))};
    arena_defer(graph->arena, release_held, held);
    return graph_constant(graph, "_tensor_constant", &t->meta, t, tracer->span);
}

static Node *node_of(Tracer *tracer, Tensor *t) { return t->node ? t->node : constant_node(tracer, t); }

static Arg node_argument(Tracer *tracer, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) return arg_node(node_of(tracer, arg->tensor.owner));
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg *items = ARENA_ARRAY(tracer->graph->arena, Arg, arg->list.count + 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = node_argument(tracer, &arg->list.items[i]);
    return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
}

static Node *record(Tracer *tracer, const Op *op, const Arg *args, int nargs, const Meta *metas, int count) {
    Arg nodes[DISPATCH_MAX_PARAMS];
    for (int i = 0; i < nargs; i++) nodes[i] = node_argument(tracer, &args[i]);
    Node *node = graph_call(tracer->graph, op, nodes, nargs, metas, count, tracer->span);
    node->side = tracer->side;
    if (tracer->side == SIDE_BACKWARD && tracer->vm->torch) node->forward_of = tracer->vm->torch->backward_of;
    if (tracer->origin) node_origin(tracer->graph, node, tracer->origin);
    return node;
}

/* ---- rows with a shape rule ---- */

/* The fake for output i of a node: over fresh storage, or over that of the tensor it is a view of. */
static Value output_fake(Tracer *tracer, Node *node, int i, Tensor *base, const Meta *meta) {
    Tensor *t = trace_tensor(tracer, node, i);
    if (base) {
        storage_unref(t->storage);
        t->storage = storage_ref(base->storage);
        t->meta = *meta;
        t->meta.requires_grad = false;
    }
    return value_tensor(t);
}

/* A view must lie inside its base's memory (as_strided can ask for anything), or kernels would read beyond it. */
static bool view_fits(VM *vm, const Op *op, const Tensor *base, const Meta *meta) {
    if (!meta_is_static(meta) || meta_numel(meta) == 0 || meta_storage_bytes(meta) <= base->storage->bytes) return true;
    vm_raise(vm, "RuntimeError", "%s: the view needs %lld bytes of a storage of %lld", op->name, (long long)meta_storage_bytes(meta), (long long)base->storage->bytes);
    return false;
}

static Value record_inferred(VM *vm, const Op *op, const Arg *args, int nargs, const Inferred *inferred) {
    Tracer *tracer = tracer_of(vm);
    bool view = op->family == FAMILY_VIEW && view_aliases(vm, op, args, nargs, inferred->at);
    for (int i = 0; view && i < inferred->count; i++)
        if (!view_fits(vm, op, args[0].tensor.owner, &inferred->at[i])) return VALUE_ERROR;
    Node *node = record(tracer, op, args, nargs, inferred->at, inferred->count);
    Value *items = calloc((size_t)inferred->count + 1, sizeof *items);
    for (int i = 0; i < inferred->count; i++) {
        items[i] = output_fake(tracer, node, i, view ? args[0].tensor.owner : NULL, &inferred->at[i]);
        if (view && view_is_differentiable(op)) autograd_mark_view(vm, tensor_of(items[i]), args[0].tensor.owner, op, args, nargs, view_kind_now(vm, op));
    }
    Value result = outputs_value(vm, op, items, inferred->count);
    free(items);
    return result;
}

static Value record_row(VM *vm, const Op *op, const Arg *args, int nargs) {
    Inferred inferred;
    if (!inferred_make(vm, op, args, nargs, &inferred)) return VALUE_ERROR;
    Value result;
    if (op_has(op, TRAIT_INPLACE) && args[0].tag == ARG_TENSOR) {
        record(tracer_of(vm), op, args, nargs, args[0].tensor.meta, 1);
        result = value_ref(value_tensor(args[0].tensor.owner));
    } else result = record_inferred(vm, op, args, nargs, &inferred);
    inferred_free(&inferred);
    return result;
}

/* ---- composites as one node ---- */

typedef struct Scratch { VM *vm; Tracer tracer; Arena *arena; Graph *graph; Arg args[DISPATCH_MAX_PARAMS]; VEC(Tensor *) stand_ins, owners; } Scratch;

/* A tensor of the scratch graph that shares the real fake's storage. */
static Arg stand_in(Scratch *s, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) {
        Tensor *of = arg->tensor.owner, *t = tensor_alias(s->vm, of);
        t->node = graph_input(s->graph, "input", &of->meta, s->tracer.span);
        t->requires_grad = false;
        vec_push_in(s->arena, &s->stand_ins, t);
        vec_push_in(s->arena, &s->owners, of);
        return arg_of_tensor(t);
    }
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg *items = ARENA_ARRAY(s->arena, Arg, arg->list.count + 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = stand_in(s, &arg->list.items[i]);
    return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
}

static Value run_on_stand_ins(Scratch *s, VM *vm, const Op *op, const Arg *args, int nargs) {
    static const int first = 0;
    s->vm = vm;
    s->arena = arena_new("scratch");
    int *next_id = ARENA_NEW(s->arena, int);
    *next_id = first;
    s->graph = graph_new(s->arena, "scratch", tracer_of(vm)->graph->syms, next_id);
    trace_begin(&s->tracer, vm, s->graph);
    for (int i = 0; i < nargs; i++) s->args[i] = stand_in(s, &args[i]);
    if (vm->torch) vm->torch->autocast = s->tracer.former_autocast; /* what the body's ops give depends on it */
    Value result = op_call_body_without_grad(vm, op, s->args, nargs);
    trace_end(&s->tracer);
    return result;
}

static Tensor *shares_with(const Scratch *s, const Arg *args, int nargs, const Tensor *t) {
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSOR && ((Tensor *)args[i].tensor.owner)->storage == t->storage) return args[i].tensor.owner;
        Tensor *inside = args[i].tag == ARG_TENSORS ? shares_with(s, args[i].list.items, args[i].list.count, t) : NULL;
        if (inside) return inside;
    }
    return NULL;
}

/* The argument that a body returned as it is (dropout that does not train, detach_): the same tensor, not an equal one. */
static Tensor *returned_argument(const Scratch *s, const Tensor *t) {
    for (int i = 0; i < s->stand_ins.count; i++)
        if (s->stand_ins.at[i] == t) return s->owners.at[i];
    return NULL;
}

/* A flat result: one tensor, or a tuple or list of tensors. */
static int flat_tensors(Value result, Value **items) {
    int count = 1;
    if (value_is_tensor(result)) return 1;
    if (value_is(result, OBJ_TUPLE)) { *items = ((Tuple *)result.o)->items; count = ((Tuple *)result.o)->count; }
    else if (value_is(result, OBJ_LIST)) { *items = ((List *)result.o)->items; count = ((List *)result.o)->count; }
    else return -1;
    for (int i = 0; i < count; i++)
        if (!value_is_tensor((*items)[i])) return -1;
    return count;
}

static Value rebuild(VM *vm, Value like, Value *items, int count) {
    if (value_is_tensor(like)) return items[0];
    Value made = value_is(like, OBJ_LIST) ? list_new(vm, items, count) : tuple_new(vm, items, count);
    for (int i = 0; i < count; i++) value_unref(vm, items[i]);
    return made;
}

static Value record_composite(VM *vm, const Op *op, const Arg *args, int nargs) {
    Scratch s = {0};
    Tracer *tracer = tracer_of(vm);
    Value found = run_on_stand_ins(&s, vm, op, args, nargs), *items = &found, result = found;
    int count = value_is_error(found) ? -1 : flat_tensors(found, &items);
    if (count > 0) {
        Meta *metas = ARENA_ARRAY(s.arena, Meta, count);
        for (int i = 0; i < count; i++) metas[i] = tensor_of(items[i])->meta;
        Node *node = record(tracer, op, args, nargs, metas, count);
        Value *made = ARENA_ARRAY(s.arena, Value, count);
        for (int i = 0; i < count; i++) {
            Tensor *same = returned_argument(&s, tensor_of(items[i]));
            made[i] = same ? value_ref(value_tensor(same)) : output_fake(tracer, node, i, shares_with(&s, args, nargs, tensor_of(items[i])), &metas[i]);
        }
        result = rebuild(vm, found, made, count);
        value_unref(vm, found);
    }
    for (int i = 0; i < s.stand_ins.count; i++) value_unref(vm, value_tensor(s.stand_ins.at[i]));
    arena_free(s.arena);
    if (count != -1 || value_is_error(found)) return result;
    value_unref(vm, found); /* no flat result: the body itself is recorded */
    const Op *open = vm->open_leaf;
    vm->open_leaf = op;
    Value inlined = op_call_body(vm, op, args, nargs);
    vm->open_leaf = open;
    return inlined;
}

Value trace_op(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (op->family == FAMILY_COMPOSITE) return record_composite(vm, op, args, nargs);
    return record_row(vm, op, args, nargs);
}

/* ---- the tracing domain ---- */

static Value traced_inplace(VM *vm, const Op *op, const Arg *args, int nargs) {
    Tensor *self = args[0].tensor.owner, *original;
    if ((autograd_needed(vm, args, nargs) || self->base) && !autograd_check_inplace(vm, self)) return VALUE_ERROR;
    if (!inplace_keep_original(vm, op, args, nargs, self, &original)) return VALUE_ERROR;
    Value result = record_row(vm, op, args, nargs);
    bool ok = !value_is_error(result);
    if (ok) {
        self->storage->version++;
        ok = autograd_record_inplace(vm, op, args, nargs, self, original);
    }
    if (original) value_unref(vm, value_tensor(original));
    if (ok) return result;
    value_unref(vm, result);
    return VALUE_ERROR;
}

/* The tape's new node knows which node of the graph it differentiates. */
static void note_maker(Value result) {
    if (value_is(result, OBJ_TENSOR)) {
        const Tensor *tensor = tensor_of(result);
        if (tensor->grad_fn && tensor->node && !tensor->grad_fn->made_by) tensor->grad_fn->made_by = ((const Node *)tensor->node)->id;
        return;
    }
    bool list = value_is(result, OBJ_LIST);
    if (!list && !value_is(result, OBJ_TUPLE)) return;
    int count = list ? ((List *)result.o)->count : ((Tuple *)result.o)->count;
    for (int i = 0; i < count; i++) note_maker(list ? ((List *)result.o)->items[i] : ((Tuple *)result.o)->items[i]);
}

static Value with_record(VM *vm, const Op *op, const Arg *args, int nargs, Value result) {
    bool recorded = !value_is_error(result) && autograd_record(vm, op, args, nargs, result);
    if (recorded) note_maker(result);
    if (recorded || value_is_error(result)) return result;
    value_unref(vm, result);
    return VALUE_ERROR;
}

static bool is_reshape(const Op *op) { return op->family == FAMILY_VIEW && op->shared && strcmp(op->shared, "reshape") == 0; }

/* reshape is a view where one will do, else a copy: the graph says which. */
static Value traced_reshape(VM *vm, const Op *op, const Arg *args, int nargs) {
    Inferred inferred;
    if (!inferred_make(vm, op, args, nargs, &inferred)) return VALUE_ERROR;
    Meta meta = inferred.at[0];
    inferred_free(&inferred);
    if (!view_aliases(vm, op, args, nargs, &meta)) return run_copying_view(vm, op, args, nargs, &meta);
    return vm_op_args(vm, "view", (Arg[]){args[0], {.tag = ARG_INTS, .ints = {meta.sizes, meta.rank}}}, 2);
}

static bool stays_whole(const Tracer *tracer, const Op *op) {
    size_t length = strlen(op->name);
    for (const char *at = tracer->keep_whole; at && *at;) {
        size_t name = strcspn(at, ",");
        if (name == length && strncmp(at, op->name, length) == 0) return true;
        at += name + (at[name] == ',');
    }
    return false;
}

static Value tracing_op(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (op_has(op, TRAIT_SYNC) && tracing_stops_at_data(vm, op->name)) return VALUE_ERROR;
    bool expand = tracer_of(vm)->expand_decomposed && op->made_of && !op_has(op, TRAIT_INPLACE) && !stays_whole(tracer_of(vm), op);
    if (op->family == FAMILY_COMPOSITE) return op_call_body(vm, op, args, nargs);
    if (op_has(op, TRAIT_INPLACE) && args[0].tag == ARG_TENSOR) return traced_inplace(vm, op, args, nargs);
    if (expand) return op->grad ? with_record(vm, op, args, nargs, op_call_body_without_grad(vm, op, args, nargs)) : op_call_body(vm, op, args, nargs);
    Value made = tracer_of(vm)->expand_decomposed && op_has(op, TRAIT_CARD) && !(op->traits & (TRAIT_SYNC | TRAIT_INPLACE)) ? card_run(vm, op, args, nargs) : VALUE_NULL;
    if (made.tag != V_NULL) return with_record(vm, op, args, nargs, made);
    if (is_reshape(op)) return traced_reshape(vm, op, args, nargs);
    if (!op->grad && op->family == FAMILY_DECOMPOSED && autograd_needed(vm, args, nargs)) return op_call_body(vm, op, args, nargs); /* its derivative is that of its body */
    return with_record(vm, op, args, nargs, record_row(vm, op, args, nargs));
}

/* Questions about symbolic sizes go to whoever traces: in capture they are guarded. */
static int tracing_decide(VM *vm, Dim relation) {
    Tracer *tracer = tracer_of(vm);
    if (!tracer->former || !tracer->former->decide) return dim_decide(relation);
    vm->domain = tracer->former;
    vm->domain_state = tracer->former_state;
    int truth = tracer->former->decide(vm, relation);
    vm->domain = &tracing_domain;
    vm->domain_state = tracer;
    return truth;
}

static bool tracing_specialize(VM *vm, Dim dim, int64_t *value) {
    Tracer *tracer = tracer_of(vm);
    if (!tracer->former || !tracer->former->specialize) {
        *value = dim_specialize(dim, "Python needs it as a plain number");
        return true;
    }
    vm->domain = tracer->former;
    vm->domain_state = tracer->former_state;
    bool ok = tracer->former->specialize(vm, dim, value);
    vm->domain = &tracing_domain;
    vm->domain_state = tracer;
    return ok;
}

const Domain tracing_domain = {.name = "tracing", .op = tracing_op, .decide = tracing_decide, .specialize = tracing_specialize,
                               .may_call = tracing_may_call, .will_mutate = tracing_will_mutate, .store_global = tracing_store_global, .load_global = tracing_load_global};
