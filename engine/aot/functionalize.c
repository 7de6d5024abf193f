/* Functionalize: in-place ops become functional ones, and what the caller must see is written once, at the end.
 *
 * In: the joint graph. Out: a graph without TRAIT_INPLACE; graph->mutations says which inputs take which outputs' values.
 *
 *     x.add_(1); y = x * 2      ->      add = x + 1; y = add * 2; return y, (x <- add)
 *
 * Every value belongs to a *root*: the node whose storage it lives in. A root has a current value; a view remembers the view ops from its root. A write
 * through a view is carried back to the root by the rows' `inverse` formulas (select -> select_scatter …), and views taken before are
 * replayed from the root when they are next read. Source: functionalization as in PyTorch (views and mutations replayed on a base).
 * Invariant: a read sees the root's value at that point of the program. */
#include "aot/replay.h"
#include <assert.h>

typedef struct Root { const Node *node; Value current; int version; bool written; } Root;
/* How a node of the joint graph is seen from its root: parent is the node it is a view of, NULL for the root itself. */
typedef struct Seen { Root *root; const Node *parent; const Node *view; Value value; int version; } Seen;

typedef struct Functionalize { Replay replay; Map *seen; VEC(Root *) roots; } Functionalize;

static Seen *seen_of(const Functionalize *f, const Node *node) { return map_get(f->seen, node); }

static Seen *seen_new(Functionalize *f, const Node *node, Root *root, const Node *parent, Value value) {
    Seen *seen = ARENA_NEW(f->replay.c->arena, Seen);
    *seen = (Seen){root, parent, node, value, root->version};
    map_put(f->seen, node, seen);
    return seen;
}

static void root_new(Functionalize *f, const Node *node) {
    Root *root = ARENA_NEW(f->replay.c->arena, Root);
    root->node = node;
    root->current = replay_value(&f->replay, node);
    vec_push_in(f->replay.c->arena, &f->roots, root);
    seen_new(f, node, root, NULL, root->current);
}

static void refresh(Functionalize *f, const Node *node);

static void refresh_input(Node *input, void *state) { refresh(state, input); }

/* Makes replay_value(node) the value as of now: stale views are replayed from their parents. */
static void refresh(Functionalize *f, const Node *node) {
    Seen *seen = seen_of(f, node);
    if (!seen || seen->version == seen->root->version) return;
    seen->version = seen->root->version;
    if (!seen->parent) {
        replay_set(&f->replay, node, value_ref(seen->root->current));
        return;
    }
    refresh(f, seen->parent);
    if (seen->view->op && op_has(seen->view->op, TRAIT_INPLACE)) /* the result of an in-place op is its first input */
        replay_set(&f->replay, node, value_ref(replay_value(&f->replay, seen->parent)));
    else
        replay_node(&f->replay, seen->view);
}

/* The row's inverse formula, run for one view node: the parent's value after `changed` was written through it. */
static Value write_back(Functionalize *f, const Node *view, Value changed) {
    Replay *replay = &f->replay;
    if (op_has(view->op, TRAIT_INPLACE)) return value_ref(changed);
    if (!view->op->inverse) fail(replay->c->failure, view->span, "functionalize: a write through %s cannot be carried back to its base", view->op->name);
    Value result = replay_formula(replay, view->op, view->op->inverse, replay_args(replay, view), view->nargs, "src", changed);
    return replay_check(replay, view, result);
}

/* One of several views (unbind, split): the piece, put where it lies along the dim that they were cut by. */
static Value write_piece(Functionalize *f, const Node *piece, const Node *base, Value changed) {
    Replay *replay = &f->replay;
    VM *vm = replay->c->vm;
    SymTable *syms = replay->to->syms;
    const Node *call = piece->args[0].tensor.owner;
    Dim along = op_arg(call->op, call->args, "dim")->i, start = 0;
    if (along < 0) along += base->metas[0].rank;
    bool selects = piece->metas[0].rank < base->metas[0].rank;
    for (int i = 0; !selects && i < piece->index; i++) start = dim_add(syms, start, call->metas[i].sizes[along]);
    Arg args[6] = {arg_of_tensor(replay_tensor(replay, base)), arg_of_tensor((Tensor *)changed.o), arg_int(along), arg_int(selects ? piece->index : start)};
    if (selects) return replay_check(replay, piece, vm_run_op(vm, op_find(replay->c->ops, "select_scatter"), args, 4));
    args[4] = arg_int(dim_add(syms, start, piece->metas[0].sizes[along]));
    args[5] = arg_int(1);
    return replay_check(replay, piece, vm_run_op(vm, op_find(replay->c->ops, "slice_scatter"), args, 6));
}

/* Node `node` has a new value: carries it to the root, and marks all views of the root stale. `changed` is owned. */
static void write_value(Functionalize *f, const Node *node, Value changed) {
    Seen *seen = seen_of(f, node);
    Root *root = seen->root;
    Value value = changed;
    for (Seen *at = seen; at->parent; at = seen_of(f, at->parent)) {
        const Node *piece = at->view->kind == NODE_GETITEM ? at->view : NULL;
        if (piece) at = seen_of(f, at->parent); /* the call that gave the pieces */
        refresh(f, at->parent);
        Value next = piece ? write_piece(f, piece, at->parent, value) : write_back(f, at->view, value);
        value_unref(f->replay.c->vm, value);
        value = next;
    }
    vec_push_in(f->replay.c->arena, &f->replay.owned, arena_copy(f->replay.c->arena, &value, sizeof value));
    root->current = value;
    root->version++;
    root->written = true;
}

static const Node *first_input(const Node *node) {
    if (node->nargs == 0 || node->args[0].tag != ARG_TENSOR) return NULL;
    return node->args[0].tensor.owner;
}

static const Node *alias_parent(const Functionalize *f, const Node *node) {
    if (node->kind == NODE_GETITEM) return seen_of(f, node->args[0].tensor.owner) ? node->args[0].tensor.owner : NULL;
    if (node->kind != NODE_CALL || !(node->op->traits & (TRAIT_ALIAS | TRAIT_INPLACE))) return NULL;
    const Node *input = first_input(node);
    return input && seen_of(f, input) ? input : NULL;
}

/* x.relu_(): runs relu on the current value; x.copy_(y) and friends have their functional twin in the row too. */
static void run_inplace(Functionalize *f, const Node *node) {
    Replay *replay = &f->replay;
    const Node *target = first_input(node);
    if (!node->op->functional_op) fail(replay->c->failure, node->span, "functionalize: %s has no functional twin", node->op->name);
    Value result = replay_check(replay, node, vm_run_op(replay->c->vm, node->op->functional_op, replay_args(replay, node), node->op->functional_op->nparams));
    /* In-place keeps dtype and shape of its target: a functional twin that promoted is cast back. */
    Tensor *made = (Tensor *)result.o;
    if (value_is(result, OBJ_TENSOR) && made->meta.dtype != target->metas[0].dtype) {
        Value cast[2] = {result, dtype_new(replay->c->vm, target->metas[0].dtype)};
        Value narrowed = replay_check(replay, node, vm_call_op(replay->c->vm, op_find(replay->c->ops, "to"), cast, 2, NULL));
        value_unref(replay->c->vm, result);
        value_unref(replay->c->vm, cast[1]);
        result = narrowed;
    }
    write_value(f, target, result);
    Seen *seen = seen_new(f, node, seen_of(f, target)->root, target, VALUE_NULL);
    seen->version = -1;
    replay_set(replay, node, VALUE_NONE);
    refresh(f, node);
}

static void run_node(Functionalize *f, const Node *node) {
    Replay *replay = &f->replay;
    replay->tracer.side = node->side;
    replay->tracer.span = node->span;
    replay->tracer.origin = node;
    node_each_input(node, refresh_input, f);
    if (node->kind == NODE_CALL && op_has(node->op, TRAIT_INPLACE)) {
        run_inplace(f, node);
        return;
    }
    replay_node(replay, node);
    const Node *parent = alias_parent(f, node); /* of a call that gives several views, the call itself stands between them and the root */
    if (parent) seen_new(f, node, seen_of(f, parent)->root, parent, VALUE_NULL);
    else if (value_is(replay_value(replay, node), OBJ_TENSOR)) root_new(f, node);
}

/* The new value of an input, there for its tangent: a mutation writes it. */
static bool is_regraded(const Graph *joint, int output) {
    for (int i = 0; i < joint->regrads.count; i++)
        if (joint->regrads.at[i].output == output) return true;
    return false;
}

static void add_outputs(Functionalize *f) {
    Replay *replay = &f->replay;
    const Graph *from = replay->from;
    for (int i = 0; i < from->outputs.count; i++) {
        Node *result = NULL;
        if (from->outputs.at[i] && !is_regraded(from, i)) {
            refresh(f, from->outputs.at[i]);
            result = replay_result_node(replay, replay_tensor(replay, from->outputs.at[i]));
        }
        graph_output(replay->to, &result, 1);
    }
    replay->to->forward_outputs = from->forward_outputs;
    replay->to->shares = from->shares;
    for (int i = 0; i < from->aliases.count; i++) vec_push_in(replay->c->arena, &replay->to->aliases, from->aliases.at[i]);
    for (int i = 0; i < from->regrads.count; i++) vec_push_in(replay->c->arena, &replay->to->regrads, from->regrads.at[i]);
}

static void add_mutations(Functionalize *f) {
    Replay *replay = &f->replay;
    for (int i = 0; i < f->roots.count; i++) {
        Root *root = f->roots.at[i];
        if (!root->written || root->node->kind != NODE_INPUT) continue;
        Node *value = replay_result_node(replay, (Tensor *)root->current.o);
        vec_push_in(replay->c->arena, &replay->to->mutations, ((Mutation){root->node->index, replay->to->outputs.count}));
        graph_output(replay->to, &value, 1);
    }
}

Graph *functionalize(Compile *c, const Graph *joint) {
    Functionalize state = {0};
    replay_begin(&state.replay, c, joint, "functional");
    state.seen = map_new(c->arena);
    bool former = c->vm->grad_enabled;
    c->vm->grad_enabled = false;
    for (int i = 0; i < joint->nodes.count; i++) run_node(&state, joint->nodes.at[i]);
    add_outputs(&state);
    add_mutations(&state);
    graph_drop_unused(state.replay.to); /* views made anew after a write, and never looked at */
    c->vm->grad_enabled = former;
    return replay_end(&state.replay);
}
