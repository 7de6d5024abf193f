/* Eager plan: the code of a class of calls. See eager.h.
 *
 * In: a class. Out: a plan whose sizes, strides and numbers are variables, and which of the call's values each of them is.
 *
 *     f32 C[a] + f32 C[a] * b     ->   graph of one op over s0 = 4*a and b   ->   lower, fuse, bind, generate
 *
 * Pointwise ops write their result where the call says; other ops go through decompose, so that a row with a body (softmax, layer norm) is one graph,
 * and as few kernels as fusion makes of it. An op that is in place is its functional twin, whose result goes into the first input at the end.
 * Invariant: under the values of the call at hand every symbolic meta is that call's meta; a class where that fails is compiled call by call. */
#include "eager.h"
#include "op/family.h"
#include "vm/tracing.h"
#include <stdio.h>
#include <string.h>

typedef struct Making { Session *session; const OpClass *class; EagerPlan *made; Compile *c; Dim *vars; int form, assumed /* by the shape rules, which see each call themselves */; } Making;

/* ---- variables ---- */
/* What bucket_of says of a size. */
static int64_t bucket_end(int bucket, int64_t otherwise) { return bucket == 0 || bucket >= 62 ? otherwise : bucket == 1 ? 32 : INT64_C(1) << bucket; }

static Dim given_var(Making *m, int i) {
    const Given *given = &m->class->given.at[i];
    SymTable *syms = m->c->syms;
    char name[16];
    snprintf(name, sizeof name, "s%d", i);
    int64_t low = given->kind == GIVEN_INDEX ? 0 : INT64_MIN, high = INT64_MAX;
    if (given->kind == GIVEN_SIZE || given->kind == GIVEN_STRIDE) {
        low = 2, high = m->class->narrow ? INT32_MAX : INT64_MAX;
        if (given->kind == GIVEN_SIZE) high = bucket_end(given->bucket, high);
        if (given->multiple > 1) low = 1;
        if (high != INT64_MAX) high /= given->multiple;
    }
    Dim var = sym_var(syms, name, low, high, given->kind == GIVEN_FLOAT ? SYM_FLOAT : SYM_SIZE);
    ((Sym *)(intptr_t)dim_sym(var))->hint = given->value / given->multiple;
    return var;
}

static void make_vars(Making *m) {
    m->vars = ARENA_ARRAY(m->c->arena, Dim, m->class->given.count + 1);
    for (int i = 0; i < m->class->given.count; i++) m->vars[i] = given_var(m, i);
}

static Dim dim_of_code(Making *m, int code) {
    if (code < 2) return code;
    return dim_mul(m->c->syms, m->vars[code - 2], m->class->given.at[code - 2].multiple);
}

/* ---- metas ---- */
static void set_ordered(Making *m, Meta *meta, const uint8_t *order) {
    Dim stride = 1;
    for (int i = meta->rank - 1; i >= 0; i--) {
        meta->strides[order[i]] = stride;
        stride = dim_mul(m->c->syms, stride, meta->sizes[order[i]]);
    }
}

/* Strides from sizes, as the form says. false: they are values of their own. */
static bool set_layout(Making *m, Meta *meta, const TensorForm *form) {
    if (form->layout == FORM_CONTIGUOUS) meta_set_contiguous(meta, m->c->syms);
    else if (form->layout == FORM_ORDERED) set_ordered(m, meta, form->strides);
    return form->layout != FORM_STRIDED;
}

static Meta next_meta(Making *m, const Meta *concrete) {
    const TensorForm *form = &m->class->forms.at[m->form++];
    Meta meta = {.dtype = (DType)form->dtype, .device = m->class->device, .rank = form->rank};
    if (form->layout == FORM_EXACT) {
        memcpy(meta.sizes, concrete->sizes, sizeof meta.sizes);
        memcpy(meta.strides, concrete->strides, sizeof meta.strides);
        return meta;
    }
    for (int i = 0; i < form->rank; i++) meta.sizes[i] = dim_of_code(m, form->sizes[i]);
    if (!set_layout(m, &meta, form))
        for (int i = 0; i < form->rank; i++) meta.strides[i] = dim_of_code(m, form->strides[i]);
    return meta;
}

static bool same_under_hints(const Meta *symbolic, const Meta *concrete) {
    bool same = symbolic->rank == concrete->rank && symbolic->dtype == concrete->dtype;
    for (int i = 0; same && i < concrete->rank; i++)
        same = dim_hint(symbolic->sizes[i]) == concrete->sizes[i] && (concrete->sizes[i] <= 1 || dim_hint(symbolic->strides[i]) == concrete->strides[i]);
    return same;
}

/* ---- the graph ---- */
static Arg input_arg(Making *m, Graph *graph, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) {
        Meta meta = next_meta(m, arg->tensor.meta);
        return arg_node(graph_input(graph, "x", &meta, (Span){0}));
    }
    if (arg->tag == ARG_DEVICE) return (Arg){.tag = ARG_DEVICE, .device = m->class->device};
    if (arg->tag != ARG_TENSORS) return *arg;
    Arg *items = ARENA_ARRAY(graph->arena, Arg, arg->list.count + 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = input_arg(m, graph, &arg->list.items[i]);
    return (Arg){.tag = ARG_TENSORS, .list = {items, arg->list.count}};
}

/* A list of sizes: those that are among the class's. */
static Arg sizes_arg(Making *m, const Arg *arg) {
    Dim *at = ARENA_ARRAY(m->c->arena, Dim, arg->ints.count + 1);
    for (int i = 0; i < arg->ints.count; i++) {
        at[i] = arg->ints.at[i];
        for (int k = 0; k < m->class->given.count && at[i] > 1; k++)
            if (m->class->given.at[k].kind == GIVEN_SIZE && m->class->given.at[k].value == arg->ints.at[i]) at[i] = dim_of_code(m, k + 2);
    }
    return (Arg){.tag = ARG_INTS, .ints = {at, arg->ints.count}};
}

static bool is_size_list(const OpClass *class, int i) {
    const char *name = op_param(class->op, i);
    return !class->exact && class->args[i].tag == ARG_INTS && (strcmp(name, "size") == 0 || strcmp(name, "normalized_shape") == 0 || strcmp(name, "input_sizes") == 0);
}

static Arg *node_args(Making *m, Graph *graph) {
    const OpClass *class = m->class;
    Arg *args = ARENA_ARRAY(m->c->arena, Arg, class->nargs + 1);
    for (int i = 0; i < class->nargs; i++) args[i] = is_size_list(class, i) ? sizes_arg(m, &class->args[i]) : input_arg(m, graph, &class->args[i]);
    if (class->index_arg >= 0) args[class->index_arg] = arg_int(m->vars[class->index_given]);
    return args;
}

/* The numbers of the node that are given, by where they stand: arguments of a node are not copied on the way to lowering when nothing is decomposed. */
static void note_scalars(Making *m, const Node *node) {
    int next = 0;
    while (next < m->class->given.count && m->class->given.at[next].kind != GIVEN_INT && m->class->given.at[next].kind != GIVEN_FLOAT) next++;
    Map *scalars = map_new(m->c->arena);
    for (int i = 0; i < m->class->nargs; i++)
        if (m->class->given_args & 1u << i) map_put(scalars, &node->args[i], (void *)(intptr_t)m->vars[next++]);
    m->c->scalars = scalars;
}

static Graph *pointwise_graph(Making *m) {
    Graph *graph = graph_new(m->c->arena, "eager", m->c->syms, &m->c->next_node_id);
    Arg *args = node_args(m, graph);
    Meta out = next_meta(m, NULL);
    Node *node = graph_call(graph, m->class->op, args, m->class->nargs, &out, 1, (Span){0});
    graph_output(graph, &node, 1);
    graph->forward_outputs = 1;
    graph_finish(graph);
    note_scalars(m, node);
    m->c->keep_strides = true;
    return graph;
}

/* Outputs of an op with sizes as variables: the shape rules', if under this call's values they are the call's. */
static bool infer_outputs(Making *m, const Op *op, const Arg *args, Meta *metas) {
    const OpClass *class = m->class;
    OpContext context = m->session->vm->context;
    Meta found[64];
    int count = 64;
    context.syms = m->c->syms;
    context.default_device = class->device;
    if (!op_infer(op, args, class->nargs, found, &count, &context, NULL) || count < class->nouts) return false;
    bool inplace = op != class->op || op_has(class->op, TRAIT_INPLACE);
    for (int i = 0; i < class->nouts; i++) {
        if (!inplace && !same_under_hints(&found[i], class->outs[i].tensor.meta)) return false;
        metas[i] = found[i];
        metas[i].offset = 0;
        metas[i].device = class->device;
        if (!inplace && !set_layout(m, &metas[i], &class->forms.at[m->form + i])) return false;
    }
    m->assumed = assumption_count(m->c->syms);
    return true;
}

/* A creation op's result has the sizes of the class itself: no shape rule has to follow them. */
static void outputs_of_forms(Making *m, Meta *metas) {
    for (int i = 0; i < m->class->nouts; i++) metas[i] = next_meta(m, m->class->outs[i].tensor.meta);
}

static Graph *general_graph(Making *m) {
    const OpClass *class = m->class;
    Graph *graph = graph_new(m->c->arena, "eager", m->c->syms, &m->c->next_node_id);
    Arg *args = node_args(m, graph);
    bool inplace = op_has(class->op, TRAIT_INPLACE);
    const Op *op = inplace && class->op->functional_op ? class->op->functional_op : class->op;
    Meta *metas = ARENA_ARRAY(m->c->arena, Meta, class->nouts + 1);
    if (class->exact || op->family == FAMILY_CREATE) outputs_of_forms(m, metas);
    else if (!infer_outputs(m, op, args, metas)) fail(m->c->failure, (Span){0}, "the sizes of its result do not follow from those of its inputs");
    if (inplace) meta_set_contiguous(&metas[0], m->c->syms);
    Node *node = graph_call(graph, op, args, op->nparams, metas, class->nouts, (Span){0});
    for (int i = 0; i < class->nouts; i++) {
        Node *result = class->nouts == 1 ? node : graph_getitem(graph, node, i);
        graph_output(graph, &result, 1);
    }
    if (inplace) vec_push_in(m->c->arena, &graph->mutations, ((Mutation){0, 0}));
    graph->forward_outputs = inplace ? 0 : class->nouts;
    graph_finish(graph);
    if (op->family == FAMILY_CREATE) {
        note_scalars(m, node);
        return graph;
    }
    /* Rows whose loops are those of their body are decomposed first: one plan for all of it. */
    return simplify(m->c, decompose(m->c, graph, NULL));
}

/* ---- the plan ---- */
static void find_order(Making *m) {
    const Plan *plan = m->made->plan;
    EagerPlan *made = m->made;
    made->order = ARENA_ARRAY(m->c->arena, int, plan->size_inputs + 1);
    made->order_count = plan->size_inputs;
    for (int i = 0; i < plan->size_inputs; i++) {
        made->order[i] = -1;
        for (int k = 0; k < m->class->given.count; k++)
            if (m->vars[k] == plan->size_vars[i]) made->order[i] = k;
        if (made->order[i] < 0) fail(m->c->failure, (Span){0}, "a size of its kernels is none of the call's");
    }
}

static void find_outputs(Making *m) {
    const Plan *plan = m->made->plan;
    EagerPlan *made = m->made;
    made->output_count = plan->outputs.count < m->class->nouts ? plan->outputs.count : m->class->nouts;
    made->outputs = ARENA_ARRAY(m->c->arena, int, made->output_count + 1);
    for (int i = 0; i < made->output_count; i++) {
        const PlanOutput *output = &plan->outputs.at[i];
        bool by_address = !output->is_none && output->alias_input < 0 && plan->buffers.at[output->buffer].role == BUFFER_OUTPUT;
        made->outputs[i] = by_address ? plan->buffers.at[output->buffer].index : -1;
    }
}

/* A symbolic plan must be kernels: an op that goes to a library or through the host is compiled for its sizes, which says more of it. */
static bool is_all_kernels(const Plan *plan) {
    for (int i = 0; i < plan->launches.count; i++)
        if (plan->launches.at[i].kind != LAUNCH_KERNEL && plan->launches.at[i].kind != LAUNCH_COPY) return false;
    return true;
}

static void make_body(void *state) {
    Making *m = state;
    make_vars(m);
    const Graph *graph = m->class->pointwise ? pointwise_graph(m) : general_graph(m);
    m->made->plan = inductor_compile_graph(m->c, graph, m->class->device, m->class->op->name);
    if (!m->class->exact && assumption_count(m->c->syms) > m->assumed) fail(m->c->failure, (Span){0}, "it holds for some sizes only");
    if (!m->class->exact && !is_all_kernels(m->made->plan)) fail(m->c->failure, (Span){0}, "it is not made of kernels alone");
    find_order(m);
    find_outputs(m);
}

EagerPlan *eager_plan_make(Session *session, const OpClass *class) {
    Arena *arena = arena_new("eager op");
    EagerPlan *made = ARENA_NEW(arena, EagerPlan);
    made->hash = class->hash;
    made->key = arena_copy(arena, class->key.at, (size_t)class->key.count);
    made->key_length = class->key.count;
    made->policy = session->policy;
    made->compile = (Compile){.arena = arena, .syms = sym_table_new(arena), .policy = &made->policy, .ops = session->ops, .failure = &made->failure, .id = "eager", .vm = session->vm, .runtime = session->runtime,
                              .narrow = class->narrow, .few_launches = class->op->family == FAMILY_DECOMPOSED};
    made->compile.reasons.arena = arena;
    Making making = {.session = session, .class = class, .made = made, .c = &made->compile};
    /* A stage that gives up in the middle of tracing leaves the VM as it is there; autocast and gradients of the program are none of the plan's. */
    TraceState state = trace_state(session->vm);
    bool good = fail_catch(&made->failure, make_body, &making);
    trace_state_restore(session->vm, &state);
    if (good) return made;
    made->plan = NULL;
    made->go_exact = !class->exact;
    made->error = made->failure.message;
    return made;
}

void eager_plan_free(Session *session, EagerPlan *plan) {
    if (plan->plan) plan_unload(session->runtime, plan->plan);
    arena_free(plan->compile.arena);
}
