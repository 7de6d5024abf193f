/* Lower: what a tensor is at an index. In: a tensor argument and a logical index. Out: a load of its buffer, or the value itself.
 *
 * Values are remembered by node, output and index, so that a value read twice at one place is computed once and a chain of
 * `y = x + x` does not double its length.
 * Invariant: a load never leaves its buffer: an index that may (the side of a cat or pad not taken) is clamped. */
#include "inductor/lowering.h"
#include <string.h>

static Dim clamp_index(SymTable *syms, Dim index, Dim size) {
    if (dim_low(index) < 0) index = dim_max(syms, index, 0);
    if (!dim_less(syms, index, size) && size != 0) index = dim_min(syms, index, dim_sub(syms, size, 1));
    return index;
}

Dim buffer_index(SymTable *syms, const Meta *meta, const Dim *index) {
    Dim linear = meta->offset;
    for (int i = 0; i < meta->rank; i++) linear = dim_add(syms, linear, dim_mul(syms, clamp_index(syms, index[i], meta->sizes[i]), meta->strides[i]));
    return linear;
}

/* ---- memo ---- */
typedef struct Known { const Node *call; int which, rank; Dim index[MAX_RANK]; const Body *value; struct Known *next; } Known;

static const void *known_key(const Node *call, int which, const Dim *index, int rank) {
    uint64_t hash = (uint64_t)(uintptr_t)call * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)which;
    for (int i = 0; i < rank; i++) hash = (hash ^ (uint64_t)index[i]) * UINT64_C(1099511628211);
    return map_key((int64_t)(hash | 1));
}

static Known *known_find(Known *first, const Node *call, int which, const Dim *index, int rank) {
    for (; first; first = first->next)
        if (first->call == call && first->which == which && memcmp(first->index, index, sizeof(Dim) * (size_t)rank) == 0) return first;
    return NULL;
}

/* ---- values ---- */
const Body *value_of_node(Lowering *lowering, const Node *call, int which, const Dim *index) {
    BodyBuilder *builder = lowering->l->builder;
    int rank = call->metas[which].rank, former_node = builder->node_id, former_draw = builder->draw;
    const void *key = known_key(call, which, index, rank);
    Known *first = map_get(lowering->memo, key), *known = known_find(first, call, which, index, rank);
    if (known) return known->value;
    builder->node_id = call->id;
    builder->draw = node_state(lowering, call)->draw;
    bool is_sum = call->op->family == FAMILY_CONTRACT; /* a product stored before, and its addend */
    const Body *value = is_sum ? added_value(lowering, call, index) : call->op->family_ops->value_at(builder, call->op, call->args, call->nargs, call->metas, which, index);
    if (value && call->op->family != FAMILY_VIEW && call->op->family != FAMILY_REDUCE) value = body_cast(builder, value, call->metas[which].dtype);
    builder->node_id = former_node;
    builder->draw = former_draw;
    known = ARENA_NEW(lowering->arena, Known);
    *known = (Known){.call = call, .which = which, .rank = rank, .value = value, .next = first};
    memcpy(known->index, index, sizeof(Dim) * (size_t)rank);
    map_put(lowering->memo, key, known);
    return value;
}

const Body *resolve_value(BodyBuilder *builder, const Arg *tensor, const Dim *index) {
    Lowering *lowering = builder->state;
    int which;
    const Node *call = node_call(tensor->tensor.owner, &which);
    const NodeValue *value = &node_state(lowering, call)->outs[which];
    if (value->buffer < 0) return value_of_node(lowering, call, which, index);
    const Meta *meta = &lowering->l->buffers.at[value->buffer].buffer.meta;
    return body_load_buffer(builder, value->buffer, buffer_index(builder->syms, meta, index), meta->dtype);
}

/* ---- probing: is there a value at all? Inputs stand for themselves as loads of no buffer. ---- */
static const Body *resolve_probe(BodyBuilder *builder, const Arg *tensor, const Dim *index) {
    (void)index;
    int buffer = (int)((uintptr_t)tensor->tensor.owner >> 4 & 0xffffff);
    return body_load_buffer(builder, buffer, 0, tensor->tensor.meta->dtype);
}

bool node_probe(Lowering *lowering, const Node *call, int *ops) {
    if (!call->op->family_ops->value_at) return false;
    Arena *scratch = arena_new("probe");
    BodyBuilder *builder = body_builder_new(scratch, lowering->l->syms);
    builder->resolve = resolve_probe;
    builder->scalars = lowering->c->scalars;
    Dim index[MAX_RANK];
    const Meta *out = &call->metas[0];
    for (int i = 0; i < out->rank; i++) index[i] = sym_axis(lowering->l->syms, "p", out->sizes[i]);
    const Body *value = call->op->family_ops->value_at(builder, call->op, call->args, call->nargs, call->metas, 0, index);
    *ops = builder->count;
    arena_free(scratch);
    return value != NULL;
}
