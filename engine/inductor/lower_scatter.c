/* Lower: ops that store where their index operands say. In: a node whose family has `scatter`. Out: two loops over one buffer.
 *
 *     buf3[5*i0 + i1] = arg0[5*i0 + i1]            what is there before: the first argument, or zeros
 *     buf3[5*t4 + i1] += arg2[5*i0 + i1]           LOOP_SCATTER over the source, t4 read from the index tensor
 *
 * Invariant: the scatter never reads the buffer that it writes. */
#include "inductor/lowering.h"

typedef struct Scattering { Lowering *lowering; const Node *node; int rank; Dim sizes[MAX_RANK]; bool zeros; } Scattering;

static bool scatter_begin(Scattering *s, Lowering *lowering, const Node *node) {
    *s = (Scattering){.lowering = lowering, .node = node};
    const FamilyOps *family = node->op->family_ops;
    return node->noutputs == 1 && family->scatter_space && family->scatter_space(node->op, node->args, node->nargs, &node->metas[0], &s->rank, s->sizes, &s->zeros);
}

bool scatter_probe(Lowering *lowering, const Node *node) {
    Scattering s;
    return scatter_begin(&s, lowering, node);
}

static Dim add_axis(Scattering *s, Loop *loop, Dim extent) {
    if (extent == 1) return 0;
    Dim var = sym_axis(s->lowering->l->syms, arena_printf(s->lowering->arena, "i%d", loop->axis_count), extent);
    loop->axes[loop->axis_count++] = (Axis){var, extent, AXIS_PARALLEL, BIND_SERIAL};
    return var;
}

static int lower_before(Scattering *s) {
    Lowering *lowering = s->lowering;
    BodyBuilder *b = lowering->l->builder;
    NodeState *state = node_state(lowering, s->node);
    const Meta *layout = state->outs[0].layout;
    Meta stored = stored_meta(lowering, layout && layout->dtype == s->node->metas[0].dtype ? layout : &s->node->metas[0]);
    Loop *loop = loop_new(lowering, LOOP_COMPUTE, s->node);
    Dim index[MAX_RANK];
    for (int i = 0; i < stored.rank; i++) index[i] = add_axis(s, loop, stored.sizes[i]);
    DType compute = dtype_info[stored.dtype].compute;
    const Body *value = s->zeros ? body_int(b, compute, 0) : body_cast(b, body_load(b, &s->node->args[0], index), stored.dtype);
    int buffer = buffer_new(lowering, BUFFER_TEMPORARY, &stored, NULL, s->node->id);
    loop->stores[loop->store_count++] = (Store){buffer, buffer_index(lowering->l->syms, &stored, index), value, false};
    loop_finish(lowering, loop, state);
    return buffer;
}

static Loop *lower_stores(Scattering *s, Dim *target) {
    Lowering *lowering = s->lowering;
    BodyBuilder *b = lowering->l->builder;
    const Node *node = s->node;
    Loop *loop = loop_new(lowering, LOOP_SCATTER, node);
    Dim source[MAX_RANK] = {0};
    const Body *value = NULL;
    bool adds = false;
    for (int i = 0; i < s->rank; i++) source[i] = add_axis(s, loop, s->sizes[i]);
    int former = b->node_id;
    b->node_id = node->id;
    bool good = node->op->family_ops->scatter(b, node->op, node->args, node->nargs, source, target, &value, &adds);
    if (good) value = body_cast(b, value, node->metas[0].dtype);
    b->node_id = former;
    if (!good) return NULL;
    loop->stores[loop->store_count++] = (Store){-1, 0, value, adds};
    return loop;
}

bool lower_scatter(Lowering *lowering, const Node *node) {
    Scattering s;
    if (!scatter_begin(&s, lowering, node)) return false;
    NodeState *state = node_state(lowering, node);
    node_estimate(lowering, state, 1);
    Dim target[MAX_RANK] = {0};
    Loop *stores = lower_stores(&s, target);
    if (!stores) return false;
    int buffer = lower_before(&s);
    stores->stores[0].buffer = buffer;
    stores->stores[0].index = buffer_index(lowering->l->syms, &lowering->l->buffers.at[buffer].buffer.meta, target);
    loop_finish(lowering, stores, state);
    state->outs[0].buffer = buffer;
    return true;
}
