/* Lower: making loops. In: a node that is to be stored. Out: a buffer and the loop that fills it.
 *
 *     materialize(lowering, node);          // buf3[5*i0 + i1] = value_at(i0, i1)
 *
 * A reduction with few results over many elements is made in two loops (partial results, then their reduction): where it is cut depends on
 * sizes and the kind of device alone, so that results do not depend on the number of threads. */
#include "inductor/lowering.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int buffer_new(Lowering *lowering, BufferRole role, const Meta *meta, const char *name, int node_id) {
    Lowered *l = lowering->l;
    LoopBuffer buffer = {.writer = -1, .mutates = -1, .placed_in = -1};
    buffer.buffer = (Buffer){.role = role, .meta = *meta, .index = -1, .first_launch = -1, .last_launch = -1, .reuses = -1, .node_id = node_id};
    buffer.buffer.name = name ? arena_strdup(l->arena, name) : arena_printf(l->arena, "buf%d", l->buffers.count);
    vec_push_in(l->arena, &l->buffers, buffer);
    return l->buffers.count - 1;
}

Meta stored_meta(Lowering *lowering, const Meta *meta) {
    Meta stored = *meta;
    stored.offset = 0;
    stored.requires_grad = false;
    if (!lowering->c->keep_strides && !meta_is_dense(meta)) meta_set_contiguous(&stored, lowering->l->syms);
    return stored;
}

Loop *loop_new(Lowering *lowering, LoopKind kind, const Node *node) {
    Loop *loop = ARENA_NEW(lowering->arena, Loop);
    loop->kind = kind;
    loop->node = node;
    return loop;
}

/* Adds an axis; gives its variable (0 for an extent of 1). */
static Dim loop_axis(Lowering *lowering, Loop *loop, Dim extent, AxisKind kind) {
    if (extent == 1) return 0;
    char name[16];
    snprintf(name, sizeof name, "%c%d", kind == AXIS_REDUCE ? 'r' : 'i', loop->axis_count);
    Dim var = sym_axis(lowering->l->syms, name, extent);
    loop->axes[loop->axis_count++] = (Axis){var, extent, kind, BIND_SERIAL};
    return var;
}

void loop_finish(Lowering *lowering, Loop *loop, NodeState *state) {
    Lowered *l = lowering->l;
    loop->id = l->loops.count;
    loop->nodes = state->nodes;
    loop->node_count = state->node_count;
    if (loop->kind == LOOP_COMPUTE || loop->kind == LOOP_SCATTER) loop_collect_accesses(loop, lowering->arena);
    for (int i = 0; i < loop->store_count; i++) l->buffers.at[loop->stores[i].buffer].writer = loop->id;
    vec_push_in(l->arena, &l->loops, loop);
}

/* ---- values stored as they are ---- */
static void materialize_output(Lowering *lowering, NodeState *state, int which) {
    const Node *node = state->node;
    const Meta *meta = &node->metas[which], *layout = state->outs[which].layout;
    Meta stored = stored_meta(lowering, layout && layout->dtype == meta->dtype ? layout : meta);
    Loop *loop = loop_new(lowering, LOOP_COMPUTE, node);
    Dim index[MAX_RANK];
    for (int i = 0; i < meta->rank; i++) index[i] = loop_axis(lowering, loop, meta->sizes[i], AXIS_PARALLEL);
    const Body *value = value_of_node(lowering, node, which, index);
    int buffer = buffer_new(lowering, BUFFER_TEMPORARY, &stored, NULL, node->id);
    loop->stores[loop->store_count++] = (Store){buffer, buffer_index(lowering->l->syms, &stored, index), value, false};
    loop_finish(lowering, loop, state);
    state->outs[which].buffer = buffer;
}

void materialize(Lowering *lowering, const Node *node) {
    int which;
    NodeState *state = node_state(lowering, node_call(node, &which));
    if (!state->nodes) node_estimate(lowering, state, 1);
    bool all = node == state->node; /* asked for as a whole: those of its outputs that are required */
    for (int i = 0; i < state->node->noutputs; i++)
        if (state->outs[i].buffer < 0 && (all ? state->outs[i].required || state->node->noutputs == 1 : i == which)) materialize_output(lowering, state, i);
}

/* ---- reductions ---- */
typedef struct Reducing {
    Lowering *lowering; NodeState *state;
    Reduction reduction;
    const Meta *input;
    int split_dim; Dim parts, chunk;  /* split_dim -1: one loop */
} Reducing;

static const Body *identity_value(BodyBuilder *b, Reducer reducer, DType type) {
    bool is_float = type == DTYPE_F32 || type == DTYPE_F64;
    switch (reducer) {
    case REDUCE_PROD: case REDUCE_ALL: return body_int(b, type, 1);
    case REDUCE_MAX: return is_float ? body_float(b, type, -INFINITY) : body_int(b, type, type == DTYPE_BOOL ? 0 : INT64_MIN);
    case REDUCE_MIN: return is_float ? body_float(b, type, INFINITY) : body_int(b, type, type == DTYPE_BOOL ? 1 : INT64_MAX);
    default: return body_int(b, type, 0);
    }
}

/* Results and elements a result, under hints; and whether the reduced dims are the contiguous ones. */
static void measure(const Reducing *r, int64_t *rows, int64_t *columns, bool *contiguous) {
    int64_t row_stride = INT64_MAX, column_stride = INT64_MAX;
    *rows = *columns = 1;
    for (int d = 0; d < r->reduction.rank; d++) {
        int64_t size = dim_hint(r->input->sizes[d]), stride = dim_hint(r->input->strides[d]);
        *(r->reduction.reduced[d] ? columns : rows) *= size;
        int64_t *least = r->reduction.reduced[d] ? &column_stride : &row_stride;
        if (size > 1 && stride != 0 && stride < *least) *least = stride;
    }
    *contiguous = column_stride <= row_stride;
}

/* Number of partial results for each result; 1: no split. */
static int64_t parts_wanted(const Reducing *r) {
    int64_t rows, columns;
    bool contiguous, cuda = r->lowering->l->device.kind == DEVICE_CUDA;
    measure(r, &rows, &columns, &contiguous);
    if (rows < 1 || reducer_is_arg(r->reduction.reducer)) return 1;
    if (r->lowering->c->few_launches && rows >= 32 && rows * columns <= 1 << 20) return 1;
    int64_t most, parts;
    if (cuda) {
        int64_t blocks = contiguous ? rows : (rows + 255) / 256;
        parts = 1056 / blocks;
        most = columns / (contiguous ? 2048 : 64);
        if (blocks >= (contiguous ? 264 : 528) || columns < (contiguous ? 8192 : 256)) return 1;
    } else {
        int64_t units = contiguous ? rows : (rows + 255) / 256;
        parts = 64;
        most = columns / (contiguous ? 8192 : 64);
        if (units >= 8 || rows * columns < 65536 * 4) return 1;
    }
    return parts > most ? most : parts;
}

static void choose_split(Reducing *r) {
    int64_t parts = parts_wanted(r);
    r->split_dim = -1;
    if (parts < 2) return;
    for (int d = 0; d < r->reduction.rank && r->split_dim < 0; d++) /* the outermost reduced dim that is long enough */
        if (r->reduction.reduced[d] && dim_hint(r->input->sizes[d]) >= 2 * parts) r->split_dim = d;
    for (int d = 0; d < r->reduction.rank && r->split_dim < 0; d++)
        if (r->reduction.reduced[d] && dim_hint(r->input->sizes[d]) >= parts) r->split_dim = d;
    if (r->split_dim < 0) return;
    Dim size = r->input->sizes[r->split_dim];
    for (int64_t even = parts; dim_is_int(size) && even > parts / 2 && even > 1; even--)
        if (size % even == 0) {
            parts = even;
            break;
        }
    SymTable *syms = r->lowering->l->syms;
    r->parts = parts;
    r->chunk = dim_floordiv(syms, dim_add(syms, size, parts - 1), parts);
}

/* Axes over the input's dims; index: of the input. Gives the split axis's part in *part, the condition under which the index is inside in *inside. */
static void reduction_axes(Reducing *r, Loop *loop, Dim *index, Dim *part, Dim *inside) {
    SymTable *syms = r->lowering->l->syms;
    *part = 0;
    *inside = 1;
    for (int d = 0; d < r->reduction.rank; d++) {
        Dim size = r->input->sizes[d];
        if (d != r->split_dim) {
            index[d] = loop_axis(r->lowering, loop, size, r->reduction.reduced[d] ? AXIS_REDUCE : AXIS_PARALLEL);
            continue;
        }
        *part = loop_axis(r->lowering, loop, r->parts, AXIS_PARALLEL);
        Dim place = dim_add(syms, dim_mul(syms, *part, r->chunk), loop_axis(r->lowering, loop, r->chunk, AXIS_REDUCE));
        if (!(dim_is_int(size) && size == r->parts * r->chunk)) *inside = dim_relation(syms, SYM_LT, place, size);
        index[d] = *inside == 1 ? place : dim_min(syms, place, dim_sub(syms, size, 1));
        if (*inside != 1) *inside = place;
    }
}

static Dim position_among_reduced(Reducing *r, const Dim *index) {
    SymTable *syms = r->lowering->l->syms;
    Dim position = 0;
    for (int d = 0; d < r->reduction.rank; d++)
        if (r->reduction.reduced[d]) position = dim_add(syms, dim_mul(syms, position, r->input->sizes[d]), index[d]);
    return position;
}

static const Body *reduced_value(Reducing *r, int which, const Dim *index) {
    BodyBuilder *b = r->lowering->l->builder;
    const Node *node = r->state->node;
    int former = b->node_id;
    b->node_id = node->id;
    const Body *value = node->op->family_ops->value_at(b, node->op, node->args, node->nargs, node->metas, which, index);
    if (value) value = body_cast(b, value, r->reduction.compute);
    b->node_id = former;
    return value;
}

static void output_index(const Reducing *r, const Dim *index, const Meta *out, Dim *at) {
    int place = 0;
    for (int d = 0; d < r->reduction.rank; d++) {
        if (!r->reduction.reduced[d]) at[place++] = index[d];
        else if (r->reduction.keepdim) at[place++] = 0;
    }
    for (; place < out->rank; place++) at[place] = 0;
}

static const Body *result_value(Reducing *r, int which) {
    BodyBuilder *b = r->lowering->l->builder;
    DType type = reducer_is_arg(r->reduction.reducer) ? DTYPE_I64 : r->reduction.compute;
    int former = b->node_id;
    b->node_id = r->state->node->id;
    const Body *value = body_cast(b, body_row(b, type, 0), r->state->node->metas[which].dtype);
    b->node_id = former;
    return value;
}

static bool has_reduce_axis(const Loop *loop) {
    for (int i = 0; i < loop->axis_count; i++)
        if (loop->axes[i].kind == AXIS_REDUCE) return true;
    return false;
}

/* All reduced dims have size 1: the element is the result. */
static const Body *only_value(Reducing *r, int which, Loop *loop) {
    BodyBuilder *b = r->lowering->l->builder;
    const Body *value = reducer_is_arg(loop->reducer) ? body_of_index(b, loop->position) : loop->reduced;
    loop->reduces = false;
    loop->reduced = NULL;
    return body_cast(b, value, r->state->node->metas[which].dtype);
}

static bool reduces_nothing(const Reducing *r) {
    for (int d = 0; d < r->reduction.rank; d++)
        if (r->reduction.reduced[d] && r->input->sizes[d] == 0) return true;
    return false;
}

static bool reduce_at_once(Reducing *r, int which) {
    Lowering *lowering = r->lowering;
    const Node *node = r->state->node;
    Loop *loop = loop_new(lowering, LOOP_COMPUTE, node);
    Dim index[MAX_RANK], at[MAX_RANK], part, inside;
    reduction_axes(r, loop, index, &part, &inside);
    loop->reduces = true;
    loop->reducer = r->reduction.reducer;
    loop->accumulate = r->reduction.compute;
    loop->reduced = reduced_value(r, which, index);
    loop->position = position_among_reduced(r, index);
    if (!loop->reduced) return false;
    /* What does not depend on an axis is loaded before its loop: of nothing, nothing may be loaded. */
    if (reduces_nothing(r)) loop->reduced = identity_value(lowering->l->builder, loop->reducer, loop->accumulate);
    const Meta *layout = r->state->outs[which].layout;
    Meta stored = stored_meta(lowering, layout && layout->dtype == node->metas[which].dtype ? layout : &node->metas[which]);
    int buffer = buffer_new(lowering, BUFFER_TEMPORARY, &stored, NULL, node->id);
    output_index(r, index, &stored, at);
    const Body *result = has_reduce_axis(loop) ? result_value(r, which) : only_value(r, which, loop);
    loop->stores[loop->store_count++] = (Store){buffer, buffer_index(lowering->l->syms, &stored, at), result, false};
    loop_finish(lowering, loop, r->state);
    r->state->outs[which].buffer = buffer;
    return true;
}

/* partial[..., part] over chunks; where the chunked dim is the contiguous one the parts lie last, else first. */
static bool reduce_partially(Reducing *r, int which, int *partial) {
    Lowering *lowering = r->lowering;
    BodyBuilder *b = lowering->l->builder;
    Loop *loop = loop_new(lowering, LOOP_COMPUTE, r->state->node);
    Dim index[MAX_RANK], part, inside, sizes[MAX_RANK], at[MAX_RANK];
    int64_t rows, columns;
    bool contiguous;
    reduction_axes(r, loop, index, &part, &inside);
    loop->reduces = loop->split = true;
    loop->reducer = r->reduction.reducer;
    loop->accumulate = r->reduction.compute;
    loop->reduced = reduced_value(r, which, index);
    if (!loop->reduced) return false;
    if (inside != 1)
        loop->reduced = body_prim(b, PRIM_WHERE, body_prim(b, PRIM_LT, body_of_index(b, inside), body_of_index(b, r->input->sizes[r->split_dim]), NULL), loop->reduced,
                                  identity_value(b, r->reduction.reducer, r->reduction.compute));
    measure(r, &rows, &columns, &contiguous);
    int rank = 0;
    if (!contiguous) sizes[rank] = r->parts, at[rank++] = part;
    for (int d = 0; d < r->reduction.rank; d++)
        if (!r->reduction.reduced[d]) sizes[rank] = r->input->sizes[d], at[rank++] = index[d];
    if (contiguous) sizes[rank] = r->parts, at[rank++] = part;
    Meta meta = meta_new(r->reduction.compute, r->input->device, rank, sizes);
    meta_set_contiguous(&meta, lowering->l->syms);
    *partial = buffer_new(lowering, BUFFER_TEMPORARY, &meta, NULL, r->state->node->id);
    loop->stores[loop->store_count++] = (Store){*partial, buffer_index(lowering->l->syms, &meta, at), body_row(b, r->reduction.compute, 0), false};
    loop_finish(lowering, loop, r->state);
    return true;
}

static void reduce_partials(Reducing *r, int which, int partial) {
    Lowering *lowering = r->lowering;
    const Node *node = r->state->node;
    Meta parts = lowering->l->buffers.at[partial].buffer.meta;
    Loop *loop = loop_new(lowering, LOOP_COMPUTE, node);
    int64_t rows, columns;
    bool contiguous;
    measure(r, &rows, &columns, &contiguous);
    Dim index[MAX_RANK], input_index[MAX_RANK], at[MAX_RANK];
    int place = contiguous ? 0 : 1;
    if (!contiguous) index[0] = loop_axis(lowering, loop, r->parts, AXIS_REDUCE);
    for (int d = 0; d < r->reduction.rank; d++)
        if (!r->reduction.reduced[d]) input_index[d] = index[place] = loop_axis(lowering, loop, parts.sizes[place], AXIS_PARALLEL), place++;
    if (contiguous) index[place] = loop_axis(lowering, loop, r->parts, AXIS_REDUCE);
    loop->reduces = true;
    loop->reducer = r->reduction.reducer;
    loop->accumulate = r->reduction.compute;
    loop->reduced = body_load_buffer(lowering->l->builder, partial, buffer_index(lowering->l->syms, &parts, index), parts.dtype);
    const Meta *layout = r->state->outs[which].layout;
    Meta stored = stored_meta(lowering, layout && layout->dtype == node->metas[which].dtype ? layout : &node->metas[which]);
    int buffer = buffer_new(lowering, BUFFER_TEMPORARY, &stored, NULL, node->id);
    output_index(r, input_index, &stored, at);
    loop->stores[loop->store_count++] = (Store){buffer, buffer_index(lowering->l->syms, &stored, at), result_value(r, which), false};
    NodeState only = *r->state;
    only.nodes = &r->state->node->id;
    only.node_count = 1;
    loop_finish(lowering, loop, &only);
    r->state->outs[which].buffer = buffer;
}

static bool reduce_output(Reducing *r, int which) {
    choose_split(r);
    if (r->split_dim < 0) return reduce_at_once(r, which);
    int partial;
    if (!reduce_partially(r, which, &partial)) return false;
    reduce_partials(r, which, partial);
    return true;
}

bool lower_reduction(Lowering *lowering, const Node *node) {
    Reducing r = {.lowering = lowering, .state = node_state(lowering, node)};
    if (!node->op->family_ops->reduction(node->op, node->args, node->nargs, &r.reduction)) return false;
    r.input = node->args[0].tensor.meta;
    node_estimate(lowering, r.state, 1);
    if (!reduce_output(&r, 0)) return false;
    if (node->noutputs < 2) return true;
    /* a value and where it stands: max and min along a dim */
    r.reduction.reducer = r.reduction.reducer == REDUCE_MAX ? REDUCE_ARGMAX : REDUCE_ARGMIN;
    return reduce_output(&r, 1);
}
