/* Choose: what runs inside a library's matmul, and what in a kernel behind it.
 *
 * In: a product whose operands are ready. Out: one LOOP_MATMUL, and the nodes that it takes over (bias, residual, relu or tanh-gelu) mapped to its result.
 *
 * The candidates: a plain product, its followers fused into the next kernel; or the product with an epilogue. When a kernel has to read the
 * result anyway, what follows costs that kernel nothing, so the plain product wins; when the chain of followers ends in an output or in another
 * call, the epilogue saves a kernel: 2 x the result's bytes, and a launch. On a card both are timed (choose_time.c), and the faster one is taken.
 * Each decision leaves a Reason with its numbers.
 * To add a follower: a line in `activations`, where its Epilogue flag exists. */
#include "inductor/lowering.h"
#include <string.h>

static const struct { const char *text, *name; Epilogue flag; } activations[] = {
    {"where(x < 0, 0, x)", "relu", EPILOGUE_RELU},
    {"where(x <= 0, 0, x)", "relu", EPILOGUE_RELU},
    {"maximum(x, 0)", "relu", EPILOGUE_RELU},
    {"0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))", "gelu", EPILOGUE_GELU_TANH},
};

/* ---- what does a node do with one of its inputs? Its value over loads that stand for its arguments ---- */
enum { SELF = 1, OTHER = 2 };

typedef struct Follower { unsigned flag; const char *name; const Node *added; } Follower; /* added: x + added */

static const Body *resolve_operand(BodyBuilder *b, const Arg *tensor, const Dim *index) {
    (void)index;
    const Node *self = b->state;
    return body_load_buffer(b, tensor->tensor.owner == self ? SELF : OTHER, 0, tensor->tensor.meta->dtype);
}

static const Node *other_operand(const Node *user, const Node *self) {
    const Node *found = NULL;
    for (int i = 0; i < user->nargs; i++)
        if (user->args[i].tag == ARG_TENSOR && user->args[i].tensor.owner != self) found = user->args[i].tensor.owner;
    return found;
}

static bool match_activation(BodyBuilder *b, const Body *value, const Body *x, Follower *follower) {
    static const char *const names[] = {"x"};
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        const char *error;
        const ScalarExpr *e = scalar_parse(b->arena, activations[i].text, names, 1, &error);
        if (!e || body_scalar(b, e, &x, 1) != value) continue;
        *follower = (Follower){.flag = activations[i].flag, .name = activations[i].name};
        return true;
    }
    return false;
}

static bool match_follower(Lowering *lowering, const Node *self, const Node *user, Follower *follower) {
    if (user->kind != NODE_CALL || user->noutputs != 1 || user->op->family != FAMILY_POINTWISE || user->metas[0].dtype != self->metas[0].dtype) return false;
    Arena *scratch = arena_new("follower");
    BodyBuilder *b = body_builder_new(scratch, lowering->l->syms);
    b->resolve = resolve_operand;
    b->state = (void *)(uintptr_t)self;
    Dim index[MAX_RANK] = {0};
    const Body *value = user->op->family_ops->value_at(b, user->op, user->args, user->nargs, user->metas, 0, index), *x = body_load_buffer(b, SELF, 0, self->metas[0].dtype);
    const Node *other = other_operand(user, self);
    bool good = false;
    if (value && !other) good = match_activation(b, value, x, follower);
    else if (value && other->metas[0].dtype == self->metas[0].dtype) {
        const Body *y = body_load_buffer(b, OTHER, 0, other->metas[0].dtype);
        good = value == body_prim(b, PRIM_ADD, x, y, NULL) || value == body_prim(b, PRIM_ADD, y, x, NULL);
        *follower = (Follower){.name = "add", .added = other};
    }
    arena_free(scratch);
    return good;
}

/* ---- the chain behind a product ---- */
typedef struct Chain { Lowering *lowering; MatmulCall call; const Node *first, *last; VEC(int) nodes; Text names; } Chain;

static const Node *only_user(Lowering *lowering, const Node *node) {
    const Node *user = map_get(lowering->users, node);
    return node->users == 1 && user && user->kind == NODE_CALL ? user : NULL;
}

/* A view that leaves every element at its place. */
static bool is_plain_view(const Node *node) {
    return node->op->family == FAMILY_VIEW && node->noutputs == 1 && meta_is_contiguous(&node->metas[0]) && node->args[0].tag == ARG_TENSOR &&
           meta_is_contiguous(node->args[0].tensor.meta) && meta_is_static(&node->metas[0]) && meta_numel(&node->metas[0]) == meta_numel(node->args[0].tensor.meta);
}

static bool take_added(Chain *chain, const Node *user, const Node *added) {
    Meta view;
    if (chain->call.epilogue & ~(unsigned)EPILOGUE_BIAS) return false; /* behind an activation nothing more is added */
    if (added->metas[0].rank == 0) return false;
    const NodeValue *value = node_value(chain->lowering, added);
    int which;
    if (!node_state(chain->lowering, node_call(added, &which))->is_lowered) return false; /* it is computed behind the product */
    if (value->buffer < 0 && !value->required && added->metas[0].rank > 1) return false; /* it would have to be stored only for this */
    Dim row = user->metas[0].sizes[user->metas[0].rank - 1];
    bool is_row = is_bias_row(&added->metas[0], &user->metas[0]) && (user->metas[0].rank == 1 || meta_numel_dim(&added->metas[0], chain->lowering->l->syms) == row);
    if (is_row && chain->call.bias < 0) {
        int buffer = node_view(chain->lowering, added, &view);
        if (!is_bias_row(&view, &user->metas[0])) return false;
        take_bias(&chain->call, buffer, &view, row);
        return true;
    }
    if (chain->call.add >= 0 || !meta_same_shape(&added->metas[0], &user->metas[0])) return false;
    int buffer = node_view(chain->lowering, added, &view);
    if (!meta_is_contiguous(&view)) return false;
    chain->call.add = buffer;
    chain->call.add_meta = chain->call.out_meta;
    chain->call.add_meta.offset = view.offset;
    chain->call.beta = 1;
    return true;
}

/* OpenBLAS has no epilogues: what is behind a product there is a pass over the result of its own, which a fused kernel makes as well. */
static bool library_has_epilogues(const Lowering *lowering) { return lowering->l->device.kind == DEVICE_CUDA; }

/* Takes the next node over, when the library can. */
static bool extend(Chain *chain) {
    const Node *user = library_has_epilogues(chain->lowering) ? only_user(chain->lowering, chain->last) : NULL;
    MatmulCall former = chain->call;
    Follower follower;
    const char *why;
    if (!user) return false;
    if (is_plain_view(user) && user->args[0].tensor.owner == chain->last) {
        chain->last = user;
        return true;
    }
    if (!match_follower(chain->lowering, chain->last, user, &follower) || !meta_same_shape(&user->metas[0], &chain->last->metas[0]) || !meta_is_contiguous(&user->metas[0])) return false;
    if (follower.added ? !take_added(chain, user, follower.added) : (chain->call.epilogue & ~(unsigned)EPILOGUE_BIAS) != 0) return false;
    chain->call.epilogue |= follower.flag;
    if (!library_takes(chain->lowering, &chain->call, &why)) {
        chain->call = former;
        return false;
    }
    chain->last = user;
    vec_push(&chain->nodes, user->id);
    text_printf(&chain->names, "%s%s", chain->names.length ? ", " : "", follower.name);
    return true;
}

static int64_t result_bytes(const Chain *chain) {
    int64_t bytes = dtype_size(chain->call.out_meta.dtype);
    for (int i = 0; i < chain->call.out_meta.rank; i++) bytes *= dim_hint(chain->call.out_meta.sizes[i]);
    return bytes;
}

static void note_choice(Chain *chain, bool taken) {
    Lowering *lowering = chain->lowering;
    const char *subject = node_label(lowering, chain->first), *names = text_cstr(&chain->names);
    Reason *reason = reason_add(&lowering->c->reasons, REASON_EPILOGUE, taken ? "epilogue.library" : "epilogue.kernel", subject, node_label(lowering, chain->last), chain->last->span,
                                taken ? "%s run%s inside the library's matmul: no kernel reads and writes the %lld bytes of the result again"
                                      : "%s stay%s out of the library's matmul: a kernel reads the %lld bytes of its result in any case",
                                names, chain->nodes.count > 2 ? "" : "s", (long long)result_bytes(chain));
    reason->policy = lowering->c->policy->name;
}

/* A library without epilogues leaves what it could have taken to a kernel: said once, with what that costs. */
static void note_no_epilogue(Chain *chain, const MatmulForm *form) {
    Lowering *lowering = chain->lowering;
    const Node *user = only_user(lowering, chain->first);
    Follower follower;
    if (library_has_epilogues(lowering)) return;
    bool follows = user && match_follower(lowering, chain->first, user, &follower), adds = form->added >= 0;
    if (!follows && !adds) return;
    const Node *behind = follows ? user : chain->first;
    Reason *reason = reason_add(&lowering->c->reasons, REASON_EPILOGUE, "epilogue.none", node_label(lowering, chain->first), follows ? node_label(lowering, user) : NULL, behind->span,
                                "%s run%s in a kernel behind the library's matmul, which reads the %lld bytes of its result: OpenBLAS takes nothing along",
                                follows && adds ? "its addend and what follows" : follows ? follower.name : "its addend", follows && adds ? "" : "s", (long long)result_bytes(chain));
    reason->policy = lowering->c->policy->name;
}

/* Timed on this card: is the product with its epilogue no slower than the plain one and a kernel? Not timed: yes, by the bytes that it saves. */
static bool epilogue_is_faster(Chain *chain, const MatmulCall *plain) {
    Lowering *lowering = chain->lowering;
    EpilogueTimes t;
    int64_t bytes = 2 * result_bytes(chain) + (chain->call.add >= 0 ? result_bytes(chain) : 0);
    MatmulCall bare = *plain;
    bare.epilogue = 0;
    bare.bias = bare.add = -1;
    bare.beta = 0;
    if (!time_epilogue(lowering, &bare, &chain->call, bytes, &t)) {
        note_choice(chain, true);
        return true;
    }
    bool faster = t.with_us <= t.plain_us + t.kernel_us;
    const char *subject = node_label(lowering, chain->first), *names = text_cstr(&chain->names);
    Reason *reason = reason_add(&lowering->c->reasons, REASON_EPILOGUE, faster ? "epilogue.timed" : "epilogue.slower", subject, node_label(lowering, chain->last), chain->last->span,
                                "%s %s the library's matmul: timed here, %.1f us with the epilogue against %.1f us without and %.1f us for a kernel over %lld bytes", names,
                                faster ? "inside" : "behind", t.with_us, t.plain_us, t.kernel_us, (long long)bytes);
    reason->policy = lowering->c->policy->name;
    return faster;
}

static void finish_chain(Chain *chain);

static void keep_plain(Chain *chain, const MatmulCall *plain) {
    chain->call = *plain;
    chain->last = chain->first;
    chain->nodes.count = 1;
    finish_chain(chain);
}

/* Are all users of the value such that compute it in place (kernels)? Then one of them reads the product anyway. */
static bool feeds_kernels(Lowering *lowering, const Node *node) { return node_state(lowering, node)->inlining; }

static void finish_chain(Chain *chain) {
    Lowering *lowering = chain->lowering;
    const Node *last = chain->last;
    Meta stored = stored_meta(lowering, &last->metas[0]);
    emit_matmul(lowering, chain->first, &chain->call, last == chain->first ? &chain->call.out_meta : &stored, chain->nodes.at, chain->nodes.count);
    NodeState *state = node_state(lowering, last);
    state->outs[0].buffer = chain->call.out;
    state->is_lowered = true;
    if (!state->nodes) state->nodes = &last->id, state->node_count = 1;
}

/* ---- what a row adds by itself: addmm's first argument ---- */
const Body *added_value(Lowering *lowering, const Node *node, const Dim *index) {
    BodyBuilder *b = lowering->l->builder;
    const NodeState *state = node_state(lowering, node);
    const MatmulForm *form = matmul_form(node->op);
    const Node *added = node->args[form->added].tensor.owner;
    const Meta *out = &node->metas[0], *meta = &added->metas[0], *product = &lowering->l->buffers.at[state->product].buffer.meta;
    Dim at[MAX_RANK];
    for (int i = 0; i < meta->rank; i++) at[i] = meta->sizes[i] == 1 ? 0 : index[out->rank - meta->rank + i];
    const Body *term = body_load(b, &node->args[form->added], at), *x = body_load_buffer(b, state->product, buffer_index(b->syms, product, index), product->dtype);
    double beta = number_argument(node, "beta", 1);
    if (beta != 1) term = body_prim(b, PRIM_MUL, term, body_float(b, term->type, beta), NULL);
    return body_cast(b, body_prim(b, PRIM_ADD, x, term, NULL), out->dtype);
}

/* The product alone; its addend is added by whoever reads the node. */
static void split_added(Lowering *lowering, const Node *node, MatmulCall *call) {
    NodeState *state = node_state(lowering, node);
    emit_matmul(lowering, node, call, &call->out_meta, &node->id, 1);
    state->product = call->out;
    state->outs[0].reads = 2;
    state->outs[0].ops = 2;
    state->nodes = &node->id;
    state->node_count = 1;
    if (state->outs[0].required) materialize(lowering, node);
}

/* addmm's own addend inside the call: true when it is there now. */
static bool take_own_added(Lowering *lowering, const Node *node, const MatmulForm *form, MatmulCall *call) {
    const char *why;
    Meta view;
    double beta = number_argument(node, "beta", 1);
    if (beta == 0) return true;
    const Node *added = node->args[form->added].tensor.owner;
    MatmulCall tried = *call;
    if (beta == 1 && is_bias_row(&added->metas[0], &node->metas[0])) {
        int buffer = node_view(lowering, added, &view);
        if (is_bias_row(&view, &node->metas[0])) take_bias(&tried, buffer, &view, node->metas[0].sizes[node->metas[0].rank - 1]);
    } else if (meta_same_shape(&added->metas[0], &node->metas[0])) {
        tried.add = node_view(lowering, added, &tried.add_meta);
        tried.beta = beta;
    }
    if ((tried.bias < 0 && tried.add < 0) || !library_takes(lowering, &tried, &why)) return false;
    *call = tried;
    return true;
}

void choose_epilogue(Lowering *lowering, const Node *node, const MatmulForm *form, MatmulCall *call) {
    Chain chain = {.lowering = lowering, .call = *call, .first = node, .last = node};
    bool adds = form->added >= 0 && number_argument(node, "beta", 1) != 0, plain_wins = feeds_kernels(lowering, node);
    vec_push(&chain.nodes, node->id);
    note_no_epilogue(&chain, form);
    bool own = !adds || (!plain_wins && take_own_added(lowering, node, form, &chain.call));
    if (adds && plain_wins && lowering->c->policy->epilogue_in_library) { /* does the chain end in something else than a kernel? */
        own = take_own_added(lowering, node, form, &chain.call);
    }
    const Node *tried = node;
    if (own && lowering->c->policy->epilogue_in_library) {
        while (extend(&chain)) {}
        tried = chain.last;
        while (chain.last != node && chain.last->op->family == FAMILY_VIEW) chain.last = chain.last->args[0].tensor.owner; /* a view at the end stays a view */
    }
    if (plain_wins && feeds_kernels(lowering, tried)) { /* the next kernel reads it anyway */
        if (chain.nodes.count > 1) note_choice(&chain, false);
        if (adds) split_added(lowering, node, call);
        else keep_plain(&chain, call);
    } else if (own && (chain.nodes.count == 1 || epilogue_is_faster(&chain, call))) {
        finish_chain(&chain);
    } else if (own && !adds) {
        keep_plain(&chain, call);
    } else split_added(lowering, node, call);
    vec_free(&chain.nodes);
    text_free(&chain.names);
}
