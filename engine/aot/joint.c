/* Joint: forward and backward in one graph.
 *
 * In: the captured graph (composites as leaves, in-place ops as they were written). Out: aten-level nodes of the forward, then those that the tape's
 * own backward records when it is run over the same fake tensors: autograd is traced, not re-derived.
 *
 *     relu(x @ w)   ->   mm, relu | threshold_backward, t, mm, t, mm
 *
 * Invariant: forward nodes come first and do not depend on which tangents are defined, so that a backward pruned for fewer tangents (decisions.md 15)
 * names the same forward values. */
#include "aot/replay.h"
#include <assert.h>
#include <string.h>

/* leaves: for each primal that wants a gradient what stands for it on the tape; the program sees a tensor behind it, which it may change in place. */
typedef struct Joint { Replay replay; const bool *tangent_defined; Tensor **outputs, **leaves; int output_count; } Joint;

static bool pass_gradient(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    (void)vm;
    if (node->edges[0].node) grads_in[0] = (Tensor *)value_ref(value_tensor(grads_out[0])).o;
    return true;
}

static Tensor *behind_leaf(VM *vm, Tensor *leaf) {
    Tensor *seen = tensor_alias(vm, leaf);
    GradNode *node = autograd_node(vm, "primal", &leaf, 1, 1, pass_gradient);
    autograd_attach(vm, seen, node, 0);
    grad_node_unref(vm, node);
    return seen;
}

static void add_primals(Joint *joint) {
    Replay *replay = &joint->replay;
    joint->leaves = ARENA_ARRAY(replay->c->arena, Tensor *, replay->from->inputs.count + 1);
    for (int i = 0; i < replay->from->inputs.count; i++) {
        const Node *input = replay->from->inputs.at[i];
        Meta meta = meta_resolved(&input->metas[0]);
        Node *primal = graph_input(replay->to, arena_printf(replay->c->arena, "primals_%d", i + 1), &meta, input->span);
        node_origin(replay->to, primal, input);
        Tensor *fake = trace_tensor(&replay->tracer, primal, 0);
        fake->requires_grad = replay->c->training && input->metas[0].requires_grad;
        if (fake->requires_grad) joint->leaves[i] = fake;
        replay_set(replay, input, value_tensor(fake->requires_grad ? behind_leaf(replay->c->vm, fake) : fake));
    }
}

static void run_forward(Joint *joint) {
    Replay *replay = &joint->replay;
    VM *vm = replay->c->vm;
    for (int i = 0; i < replay->from->nodes.count; i++) {
        const Node *node = replay->from->nodes.at[i];
        if (node->kind == NODE_INPUT) continue;
        vm->grad_enabled = !node->no_grad;
        vm->torch->autocast = node->autocast ? *node->autocast : (Autocast){0};
        replay_node(replay, node);
    }
    vm->grad_enabled = replay->c->training;
    vm->torch->autocast = (Autocast){0};
}

/* Which input's storage an output shares, or -1. */
static int aliased_input(const Joint *joint, const Tensor *output) {
    const Graph *from = joint->replay.from;
    for (int i = 0; i < from->inputs.count; i++)
        if (replay_tensor(&joint->replay, from->inputs.at[i])->storage == output->storage) return i;
    return -1;
}

/* Did the forward put the input somewhere else on the tape? */
static bool is_regraded(const Joint *joint, int input) {
    const Tensor *seen = replay_tensor(&joint->replay, joint->replay.from->inputs.at[input]);
    if (!joint->replay.c->training || !seen->grad_fn) return false;
    return !joint->leaves[input] || strcmp(seen->grad_fn->name, "primal");
}

static void collect_regraded(Joint *joint) {
    Replay *replay = &joint->replay;
    for (int i = 0; i < replay->from->inputs.count; i++) {
        if (!is_regraded(joint, i)) continue;
        Tensor *changed = replay_tensor(replay, replay->from->inputs.at[i]);
        Node *node = replay_result_node(replay, changed);
        vec_push_in(replay->c->arena, &replay->to->regrads, ((Mutation){i, joint->output_count}));
        joint->outputs[joint->output_count++] = changed;
        graph_output(replay->to, &node, 1);
    }
}

static AliasKind alias_kind(Tensor *output, const Tensor *input) {
    bool no_grad = false, multi = output->view_kind == VIEW_MULTI;
    for (const Tensor *at = output; at->base; at = at->base) no_grad |= at->view_kind == VIEW_NO_GRAD;
    return tensor_root(output) != input ? ALIAS_DETACHED : no_grad ? ALIAS_NO_GRAD : multi ? ALIAS_MULTI : ALIAS_VIEW;
}

static void collect_outputs(Joint *joint) {
    Replay *replay = &joint->replay;
    const Graph *from = replay->from;
    joint->output_count = from->outputs.count;
    joint->outputs = ARENA_ARRAY(replay->c->arena, Tensor *, from->outputs.count + from->inputs.count + 1);
    for (int i = 0; i < from->outputs.count; i++) {
        Tensor *output = replay_tensor(replay, from->outputs.at[i]);
        joint->outputs[i] = output;
        Node *node = replay_result_node(replay, output);
        graph_output(replay->to, &node, 1);
        int input = aliased_input(joint, output);
        if (input < 0) continue;
        OutputAlias alias = {i, input, output->meta, alias_kind(output, replay_tensor(replay, from->inputs.at[input]))};
        alias.meta.requires_grad = tensor_needs_grad(output); /* not so for a detached view */
        vec_push_in(replay->c->arena, &replay->to->aliases, alias);
    }
    collect_regraded(joint);
    replay->to->forward_outputs = joint->output_count;
    int *shares = ARENA_ARRAY(replay->c->arena, int, joint->output_count + 1);
    for (int i = 0; i < joint->output_count; i++) {
        shares[i] = i;
        for (int j = 0; j < i && shares[i] == i; j++)
            if (joint->outputs[j]->storage == joint->outputs[i]->storage) shares[i] = j;
    }
    replay->to->shares = shares;
}

/* An output gets a tangent when a gradient can reach it: float, on the tape, and not merely a view of an input (the caller makes those). */
static bool wants_tangent(const Joint *joint, int i) {
    const Graph *to = joint->replay.to;
    for (int j = 0; j < to->aliases.count; j++)
        if (to->aliases.at[j].output == i) return false;
    tensor_grad_node(joint->replay.c->vm, joint->outputs[i]); /* a view whose base was changed in place gets its place on the tape now */
    return tensor_needs_grad(joint->outputs[i]) && dtype_is_float(joint->outputs[i]->meta.dtype);
}

static int add_tangents(Joint *joint, Tensor **roots, Tensor **tangents) {
    Replay *replay = &joint->replay;
    int count = 0, number = 0;
    for (int i = 0; i < joint->output_count; i++) {
        if (!wants_tangent(joint, i)) continue;
        number++;
        if (joint->tangent_defined && !joint->tangent_defined[i]) continue;
        Meta meta = joint->outputs[i]->meta;
        meta_set_contiguous(&meta, replay->c->syms);
        meta.offset = 0;
        Node *node = graph_input(replay->to, arena_printf(replay->c->arena, "tangents_%d", number), &meta, joint->outputs[i]->made_at);
        node->is_tangent = true;
        node->side = SIDE_BACKWARD;
        node->tangent_of = i;
        roots[count] = joint->outputs[i];
        tangents[count++] = trace_tensor(&replay->tracer, node, 0);
    }
    return count;
}

static void run_backward(Joint *joint) {
    Replay *replay = &joint->replay;
    VM *vm = replay->c->vm;
    Arena *arena = replay->c->arena;
    int inputs = replay->from->inputs.count, wanting = 0;
    Tensor **roots = ARENA_ARRAY(arena, Tensor *, joint->output_count + 1), **tangents = ARENA_ARRAY(arena, Tensor *, joint->output_count + 1);
    Tensor **leaves = ARENA_ARRAY(arena, Tensor *, inputs + 1), **grads = ARENA_ARRAY(arena, Tensor *, inputs + 1);
    int *places = ARENA_ARRAY(arena, int, inputs + 1);
    replay->tracer.side = SIDE_BACKWARD;
    replay->tracer.origin = NULL;
    int nroots = add_tangents(joint, roots, tangents);
    for (int i = 0; i < inputs; i++) {
        if (!joint->leaves[i]) continue;
        places[wanting] = i;
        leaves[wanting++] = joint->leaves[i];
    }
    bool ok = true;
    if (nroots && wanting) ok = autograd_run(vm, roots, tangents, nroots, leaves, grads, wanting, false, false);
    if (!ok) replay_check(replay, replay->from->outputs.at[0], VALUE_ERROR);
    Node **results = ARENA_ARRAY(arena, Node *, inputs + 1);
    for (int i = 0; i < wanting; i++)
        if (grads[i]) results[places[i]] = replay_result_node(replay, grads[i]);
    graph_output(replay->to, results, inputs);
    for (int i = 0; i < wanting; i++)
        if (grads[i]) value_unref(vm, value_tensor(grads[i]));
    for (int i = 0; i < nroots; i++) value_unref(vm, value_tensor(tangents[i]));
}

Graph *joint(Compile *c, const Graph *dynamo, const bool *tangent_defined) {
    Joint state = {.tangent_defined = tangent_defined};
    replay_begin(&state.replay, c, dynamo, "joint");
    bool former = c->vm->grad_enabled;
    add_primals(&state);
    run_forward(&state);
    collect_outputs(&state);
    if (c->training) run_backward(&state);
    for (int i = 0; i < dynamo->inputs.count; i++)
        if (state.leaves[i]) value_unref(c->vm, value_tensor(state.leaves[i]));
    c->vm->grad_enabled = former;
    return replay_end(&state.replay);
}
