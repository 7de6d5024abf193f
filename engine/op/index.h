/* Index: what the rules of the index family (index.c), their values at an index (index_value.c) and their eager loops share. */
#ifndef VITRINE_OP_INDEX_H
#define VITRINE_OP_INDEX_H
#include "ir/body.h"
#include "op/family.h"

/* Advanced indexing x[i0, None, i1, …]: `indices` in the order of x's dims (ARG_NONE or missing: the whole dim). The index tensors broadcast to
 * `sizes`; the result has them where the first stood when they are neighbours, else in front. */
typedef struct Fancy {
    int rank, first_dim, place;         /* of the broadcast; first indexed dim; where the broadcast dims stand in the result */
    Dim sizes[MAX_RANK];
    const Arg *indices[MAX_RANK];       /* by x's dim; NULL: whole */
    int indexed, result_rank;
    Dim result[MAX_RANK];
} Fancy;
bool fancy_read(const Op *op, const Arg *args, Fancy *fancy, const OpContext *context, OpError *error);
/* Boolean masks are replaced by index tensors (their nonzero places) before anything else looks: the arguments with that done. `owned` is freed with
 * masks_free. Needs data. */
typedef struct Masks { Arg *items; Meta *metas; void *memory[MAX_RANK]; int count; } Masks;
bool masks_expand(const Op *op, const Arg *indices, Masks *masks, Arg *expanded, OpError *error);
void masks_free(Masks *masks);
bool has_mask(const Arg *indices);

/* The nonzero places of a tensor: count, and (where `out` is given) coordinates [count][rank]. */
int64_t nonzero_places(const Arg *tensor, int64_t *out);

/* Families of eager loops; false with an error. */
typedef bool (*IndexRun)(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);
bool run_index(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);
bool run_index_put(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);
bool run_gather(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);
bool run_scatter(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);
bool run_slices(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);        /* index_select, _add, _copy, _fill */
bool run_embedding(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);
bool run_embedding_backward(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);
bool run_masked(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);        /* masked_select, masked_scatter, nonzero */
bool run_arrange(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);       /* cat, flip, pad, tril, the scatters of views … */
bool run_order(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);         /* sort, topk, kthvalue, median */
bool run_search(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error);        /* searchsorted, bincount, unique */

/* dst += src element by element in logical order, in the compute type; places of dst may repeat. */
void add_elements(const Meta *dst_meta, void *dst, const Meta *src_meta, const void *src, double factor);

const Body *index_value_at(BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index);
bool scatter_store(BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Dim *source_index, Dim *target_index, const Body **value, bool *accumulate);
bool scatter_space(const Op *op, const Arg *args, int nargs, const Meta *out, int *rank, Dim *sizes, bool *zeros);

/* arrange.c: shapes. */
bool arrange_infer(const Op *op, const Arg *args, Meta *out, const OpContext *context, OpError *error, bool *handled);
/* order.c, search.c: shapes. */
bool order_infer(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error, bool *handled);
#endif
