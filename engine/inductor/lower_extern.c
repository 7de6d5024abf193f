/* Lower: calls that stay calls. In: a node without a loop form. Out: a LOOP_EXTERN that the plan runs as the op's own kernel, on views of buffers.
 *
 * A view of something stored is passed as a view: strides and offset, no copy, where the family can say the layout (alias).
 * Invariant: what an extern call reads is materialized before it. */
#include "inductor/lowering.h"
#include <string.h>

bool view_is_alias(Lowering *lowering, const Node *node, const Meta *base, Meta *view) {
    int which;
    const Node *call = node_call(node, &which);
    if (!call->op->family_ops->alias || call->nargs == 0 || call->args[0].tag != ARG_TENSOR) return false;
    const Meta *declared = call->args[0].tensor.meta;
    if (call->noutputs != 1) { /* split, unbind …: known for the layout they were traced with */
        if (base && (!meta_equal(base, declared) || base->offset != declared->offset)) return false;
        *view = call->metas[which];
        return true;
    }
    Arg args[16];
    if (call->nargs > 16) return false;
    memcpy(args, call->args, sizeof(Arg) * (size_t)call->nargs);
    if (base) args[0].tensor.meta = base;
    OpContext context = {.syms = lowering->l->syms, .default_dtype = DTYPE_F32, .default_device = lowering->l->device};
    *view = call->metas[0];
    return call->op->family_ops->alias(call->op, args, call->nargs, view, &context);
}

int node_view(Lowering *lowering, const Node *node, Meta *view) {
    int which;
    const Node *call = node_call(node, &which);
    NodeValue *value = &node_state(lowering, call)->outs[which];
    if (value->buffer < 0 && call->kind == NODE_CALL && call->op->family == FAMILY_VIEW) {
        Meta declared, base;
        if (view_is_alias(lowering, node, NULL, &declared)) {
            int buffer = node_view(lowering, call->args[0].tensor.owner, &base);
            if (view_is_alias(lowering, node, &base, view)) return buffer;
        }
    }
    if (value->buffer < 0) {
        value->required = true;
        materialize(lowering, node);
    }
    *view = lowering->l->buffers.at[value->buffer].buffer.meta;
    return value->buffer;
}

int copy_to_buffer(Lowering *lowering, const Node *node, const Meta *layout) {
    int which;
    NodeState *state = node_state(lowering, node_call(node, &which));
    Loop *loop = loop_new(lowering, LOOP_COMPUTE, node);
    Dim index[MAX_RANK];
    for (int i = 0; i < layout->rank; i++) {
        index[i] = layout->sizes[i] == 1 ? 0 : sym_axis(lowering->l->syms, "i", layout->sizes[i]);
        if (layout->sizes[i] != 1) loop->axes[loop->axis_count++] = (Axis){index[i], layout->sizes[i], AXIS_PARALLEL, BIND_SERIAL};
    }
    Arg arg = {.tag = ARG_TENSOR, .tensor = {&node->metas[0], NULL, (void *)(uintptr_t)node}};
    const Body *value = body_cast(lowering->l->builder, body_load(lowering->l->builder, &arg, index), layout->dtype);
    int buffer = buffer_new(lowering, BUFFER_TEMPORARY, layout, NULL, node->id);
    loop->stores[loop->store_count++] = (Store){buffer, buffer_index(lowering->l->syms, layout, index), value, false};
    if (!state->nodes) {
        state->nodes = &state->node->id;
        state->node_count = 1;
    }
    loop_finish(lowering, loop, state);
    return buffer;
}

/* ---- arguments as the plan wants them ---- */
static void note_read(Lowering *lowering, Loop *loop, int buffer) {
    Access access = {buffer, 0, false, true};
    vec_push_in(lowering->arena, &loop->accesses, access);
}

static Arg extern_arg(Lowering *lowering, Loop *loop, const Arg *arg) {
    Arg copy = *arg;
    if (arg->tag == ARG_TENSOR) {
        Meta view;
        int buffer = node_view(lowering, arg->tensor.owner, &view);
        note_read(lowering, loop, buffer);
        copy.tensor.meta = arena_copy(lowering->arena, &view, sizeof view);
        copy.tensor.owner = (void *)(uintptr_t)map_key(buffer + 1);
        copy.tensor.data = NULL;
    } else if (arg->tag == ARG_TENSORS) {
        Arg *items = ARENA_ARRAY(lowering->arena, Arg, arg->list.count ? arg->list.count : 1);
        for (int i = 0; i < arg->list.count; i++) items[i] = extern_arg(lowering, loop, &arg->list.items[i]);
        copy.list.items = items;
    } else if (arg->tag == ARG_INTS) copy.ints.at = arena_copy(lowering->arena, arg->ints.at, sizeof(Dim) * (size_t)arg->ints.count);
    else if (arg->tag == ARG_FLOATS) copy.floats.at = arena_copy(lowering->arena, arg->floats.at, sizeof(double) * (size_t)arg->floats.count);
    else if (arg->tag == ARG_STR) copy.s = arena_strdup(lowering->arena, arg->s);
    return copy;
}

static void extern_outputs(Lowering *lowering, Loop *loop, NodeState *state) {
    const Node *node = state->node;
    Meta *metas = ARENA_ARRAY(lowering->arena, Meta, node->noutputs ? node->noutputs : 1);
    int *buffers = ARENA_ARRAY(lowering->arena, int, node->noutputs ? node->noutputs : 1);
    for (int i = 0; i < node->noutputs; i++) {
        metas[i] = stored_meta(lowering, &node->metas[i]);
        buffers[i] = state->outs[i].buffer = buffer_new(lowering, BUFFER_TEMPORARY, &metas[i], NULL, node->id);
        Access access = {buffers[i], 0, true, true};
        vec_push_in(lowering->arena, &loop->accesses, access);
    }
    loop->out_metas = metas;
    loop->outs = buffers;
    loop->nouts = node->noutputs;
}

void lower_extern(Lowering *lowering, const Node *node) {
    NodeState *state = node_state(lowering, node);
    Loop *loop = loop_new(lowering, LOOP_EXTERN, node);
    Arg *args = ARENA_ARRAY(lowering->arena, Arg, node->nargs ? node->nargs : 1);
    for (int i = 0; i < node->nargs; i++) args[i] = extern_arg(lowering, loop, &node->args[i]);
    loop->op = node->op;
    loop->args = args;
    loop->nargs = node->nargs;
    extern_outputs(lowering, loop, state);
    state->nodes = &node->id;
    state->node_count = 1;
    loop_finish(lowering, loop, state);
    for (int i = 0; i < node->noutputs; i++) lowering->l->buffers.at[state->outs[i].buffer].writer = loop->id;
    Reason *reason = reason_add(&lowering->c->reasons, REASON_EXTERN, "extern.no_loop", node_label(lowering, node), NULL, node->span,
                                "%%%s runs as its own kernel: %s of family %s has no loop form", node->name, node->op->name, family_name(node->op->family));
    reason->policy = lowering->c->policy->name;
}
