/* Index: ops that pick elements by index tensors, or arrange elements anew: their shapes, and which code runs them.
 *
 * In: a row's word, arguments. Out: metas.
 *
 *     index(f32[5, 4], [i64[3]]) -> f32[3, 4];   gather(f32[3, 4], 1, i64[3, 2]) -> f32[3, 2];   cat([f32[2, 3], f32[1, 3]], 0) -> f32[3, 3]
 *
 * Shapes that depend on data (masks, nonzero) are found by looking at it: on fake tensors that is an error, which capture turns into a graph break.
 * Invariant: negative indices wrap once, others out of range are errors of the eager run. To add one: a row, its line in `kinds`. */
#include "op/index.h"
#include "op/convert.h"
#include <string.h>

static bool index_dtype_ok(const Op *op, const Meta *meta, OpError *error) {
    if (meta->dtype == DTYPE_I64 || meta->dtype == DTYPE_I32) return true;
    return op_error(error, ERROR_RUNTIME, "%s(): Expected dtype int64 for index, got %s", op->name, dtype_info[meta->dtype].name);
}

static Meta dense_of(const Meta *like, SymTable *syms) {
    Meta meta = *like;
    meta.offset = 0;
    meta.requires_grad = false;
    meta_set_contiguous(&meta, syms);
    return meta;
}

static Meta preserved_of(const Meta *like, SymTable *syms) {
    Meta meta = dense_of(like, syms);
    meta_preserve_strides(&meta, like, syms);
    return meta;
}

/* ---- advanced indexing ---- */

bool has_mask(const Arg *indices) {
    for (int i = 0; i < indices->list.count; i++)
        if (indices->list.items[i].tag == ARG_TENSOR && (arg_meta(&indices->list.items[i])->dtype == DTYPE_BOOL || arg_meta(&indices->list.items[i])->dtype == DTYPE_U8)) return true;
    return false;
}

static bool read_indices(const Op *op, const Arg *indices, const Meta *input, Fancy *fancy, OpError *error) {
    if (indices->list.count > input->rank)
        return op_error(error, ERROR_INDEX, "too many indices for tensor of dimension %d", input->rank);
    for (int i = 0; i < indices->list.count; i++) {
        const Arg *item = &indices->list.items[i];
        if (item->tag != ARG_TENSOR) continue;
        const Meta *meta = arg_meta(item);
        if (meta->dtype != DTYPE_I64 && meta->dtype != DTYPE_I32) return op_error(error, ERROR_INDEX, "tensors used as indices must be long, int, byte or bool tensors");
        Dim before[MAX_RANK];
        int before_rank = fancy->rank;
        memcpy(before, fancy->sizes, sizeof before);
        if (!sizes_broadcast(fancy->sizes, &fancy->rank, before, before_rank, meta->sizes, meta->rank)) {
            char have[128], other[128];
            Meta shape = {.rank = before_rank};
            memcpy(shape.sizes, before, sizeof before);
            shape_text(&shape, have, sizeof have);
            shape_text(meta, other, sizeof other);
            return op_error(error, ERROR_INDEX, "shape mismatch: indexing tensors could not be broadcast together with shapes %s, %s", have, other);
        }
        fancy->indices[i] = item;
        fancy->indexed++;
    }
    (void)op;
    return true;
}

static bool place_result(const Op *op, const Meta *input, Fancy *fancy, OpError *error) {
    int last = -1;
    bool neighbours = true;
    fancy->first_dim = -1;
    for (int i = 0; i < input->rank; i++) {
        if (!fancy->indices[i]) continue;
        if (fancy->first_dim < 0) fancy->first_dim = i;
        else if (i != last + 1) neighbours = false;
        last = i;
    }
    fancy->place = neighbours && fancy->first_dim >= 0 ? fancy->first_dim : 0;
    if (input->rank - fancy->indexed + fancy->rank > MAX_RANK) return op_error(error, ERROR_RUNTIME, "%s(): the result would have more than %d dimensions", op->name, MAX_RANK);
    int rest = 0;
    for (int i = 0; i <= input->rank; i++) {
        if (rest == fancy->place && fancy->result_rank == rest) /* here the broadcast dims stand */
            for (int k = 0; k < fancy->rank; k++) fancy->result[fancy->result_rank++] = fancy->sizes[k];
        if (i == input->rank) break;
        if (!fancy->indices[i]) fancy->result[fancy->result_rank++] = input->sizes[i], rest++;
    }
    return true;
}

bool fancy_read(const Op *op, const Arg *args, Fancy *fancy, const OpContext *context, OpError *error) {
    (void)context;
    memset(fancy, 0, sizeof *fancy);
    const Meta *input = arg_meta(&args[0]);
    if (args[1].tag != ARG_TENSORS) return op_error(error, ERROR_TYPE, "%s(): indices must be a list of tensors", op->name);
    return read_indices(op, &args[1], input, fancy, error) && place_result(op, input, fancy, error);
}

static bool infer_fancy(const Op *op, const Arg *args, Fancy *fancy, const OpContext *context, OpError *error) {
    Arg with_indices[8], expanded;
    Masks masks = {0};
    if (args[1].tag != ARG_TENSORS || !has_mask(&args[1])) return fancy_read(op, args, fancy, context, error);
    if (!masks_expand(op, &args[1], &masks, &expanded, error)) return false;
    memcpy(with_indices, args, sizeof(Arg) * (size_t)(op->nparams < 8 ? op->nparams : 8));
    with_indices[1] = expanded;
    bool ok = fancy_read(op, with_indices, fancy, context, error);
    masks_free(&masks);
    return ok;
}

static bool infer_index(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    Fancy fancy;
    if (!infer_fancy(op, args, &fancy, context, error)) return false;
    outs[0] = *arg_meta(&args[0]);
    outs[0].rank = fancy.result_rank;
    memcpy(outs[0].sizes, fancy.result, sizeof fancy.result);
    outs[0] = dense_of(&outs[0], context->syms);
    *count = 1;
    return true;
}

static bool infer_index_put(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    outs[0] = preserved_of(arg_meta(&args[0]), context->syms);
    *count = 1;
    if (!need_tensor(op, args, 2, error)) return false;
    const Meta *values = arg_meta(&args[2]);
    if (values->dtype != outs[0].dtype)
        return op_error(error, ERROR_RUNTIME, "Index put requires the source and destination dtypes match, got %s for the destination and %s for the source.", dtype_info[outs[0].dtype].name, dtype_info[values->dtype].name);
    if (args[1].tag == ARG_TENSORS && has_mask(&args[1])) return true; /* its shapes are checked when it is run: the result's does not depend on them */
    Fancy fancy;
    Dim sizes[MAX_RANK];
    int rank;
    if (!fancy_read(op, args, &fancy, context, error)) return false;
    bool fits = sizes_broadcast(sizes, &rank, values->sizes, values->rank, fancy.result, fancy.result_rank) && rank == fancy.result_rank;
    for (int i = 0; fits && i < rank; i++) fits = dim_same(sizes[i], fancy.result[i]);
    if (fits) return true;
    char have[128], want[128];
    Meta shape = {.rank = fancy.result_rank};
    memcpy(shape.sizes, fancy.result, sizeof fancy.result);
    shape_text(values, have, sizeof have);
    shape_text(&shape, want, sizeof want);
    return op_error(error, ERROR_RUNTIME, "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s", have, want);
}

/* ---- along one dim ---- */

static bool infer_gather(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    int dim;
    bool gathers = strcmp(op->shared, "gather") == 0;
    const Meta *input = arg_meta(&args[0]);
    if (!read_dim(op, args, "dim", input->rank, &dim, error) || !need_tensor(op, args, 2, error)) return false;
    const Meta *index = arg_meta(&args[2]);
    if (!index_dtype_ok(op, index, error)) return false;
    if ((index->rank ? index->rank : 1) != (input->rank ? input->rank : 1))
        return op_error(error, ERROR_RUNTIME, "Index tensor must have the same number of dimensions as %s tensor", gathers ? "input" : "self");
    for (int i = 0; i < index->rank; i++)
        if (i != dim && dim_is(SYM_LT, input->sizes[i], index->sizes[i]))
            return op_error(error, ERROR_RUNTIME, "Size does not match at dimension %d expected index to be no larger than self apart from dimension %d", i, dim);
    outs[0] = dense_of(input, context->syms);
    if (gathers) {
        outs[0].rank = index->rank;
        memcpy(outs[0].sizes, index->sizes, sizeof index->sizes);
        meta_set_contiguous(&outs[0], context->syms);
    }
    *count = 1;
    const Arg *src = op_arg(op, args, "src");
    if (op_param_index(op, "src") >= 0 && !arg_is_tensor(src) && !(strcmp(op->shared, "scatter") == 0 && arg_is_number(src))) return need_tensor(op, args, op_param_index(op, "src"), error);
    if (src->tag == ARG_TENSOR && (arg_meta(src)->rank ? arg_meta(src)->rank : 1) != (index->rank ? index->rank : 1))
        return op_error(error, ERROR_RUNTIME, "Index tensor must have the same number of dimensions as src tensor");
    if (src->tag == ARG_TENSOR && arg_meta(src)->dtype != input->dtype)
        return op_error(error, ERROR_RUNTIME, "%s(): Expected self.dtype to be equal to src.dtype", op->name);
    if (src->tag == ARG_TENSOR)
        for (int i = 0; i < index->rank; i++)
            if (dim_is(SYM_LT, arg_meta(src)->sizes[i], index->sizes[i]))
                return op_error(error, ERROR_RUNTIME, "Size does not match at dimension %d: the index is larger than the source", i);
    return true;
}

static bool infer_slices(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    int dim;
    const Meta *input = arg_meta(&args[0]);
    bool selects = strcmp(op->shared, "index_select") == 0;
    if (!read_dim(op, args, "dim", input->rank, &dim, error) || !need_tensor(op, args, 2, error)) return false;
    const Meta *index = arg_meta(&args[2]);
    if (index->rank > 1) return op_error(error, ERROR_INDEX, "%s(): Index is supposed to be a vector", op->name);
    if (!index_dtype_ok(op, index, error)) return false;
    bool fills = strcmp(op->shared, "index_fill") == 0; /* the one of these that keeps its input's strides */
    outs[0] = fills ? preserved_of(input, context->syms) : dense_of(input, context->syms);
    if (selects && input->rank) outs[0].sizes[dim] = index->rank ? index->sizes[0] : 1, meta_set_contiguous(&outs[0], context->syms);
    *count = 1;
    const Arg *source = op_arg(op, args, "source"), *value = op_arg(op, args, "value");
    if (op_param_index(op, "source") >= 0 && !need_tensor(op, args, op_param_index(op, "source"), error)) return false;
    if (op_param_index(op, "value") >= 0 && !arg_is_number(value) && !(arg_is_tensor(value) && arg_meta(value)->rank == 0))
        return op_error(error, ERROR_RUNTIME, "index_fill_ only supports a 0-dimensional value tensor, or a number");
    if (source->tag != ARG_TENSOR) return true;
    const Meta *from = arg_meta(source);
    if (from->dtype != input->dtype) return op_error(error, ERROR_RUNTIME, "%s(): self and source expected to have the same dtype, but got (self) %s and (source) %s", op->name, dtype_info[input->dtype].name, dtype_info[from->dtype].name);
    bool fits = from->rank == input->rank && (from->rank == 0 || dim_same(from->sizes[dim], index->rank ? index->sizes[0] : 1));
    for (int i = 0; fits && i < from->rank; i++) fits = i == dim || dim_same(from->sizes[i], input->sizes[i]);
    return fits ? true : op_error(error, ERROR_INDEX, "%s(): the source's shape does not fit the index along dimension %d", op->name, dim);
}

static bool infer_embedding(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    const Meta *weight = arg_meta(&args[0]);
    if (!need_tensor(op, args, 1, error)) return false;
    const Meta *indices = arg_meta(&args[1]);
    if (weight->rank != 2) return op_error(error, ERROR_RUNTIME, "'weight' must be 2-D");
    if (!index_dtype_ok(op, indices, error)) return false;
    if (indices->rank + 1 > MAX_RANK) return op_error(error, ERROR_RUNTIME, "embedding(): too many dimensions");
    outs[0] = *indices;
    outs[0].dtype = weight->dtype;
    outs[0].sizes[outs[0].rank++] = weight->sizes[1];
    outs[0] = dense_of(&outs[0], context->syms);
    *count = 1;
    return true;
}

static bool infer_embedding_backward(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    const Meta *grad = arg_meta(&args[0]);
    if (!need_tensor(op, args, 1, error) || !index_dtype_ok(op, arg_meta(&args[1]), error)) return false;
    bool fits = grad->rank == arg_meta(&args[1])->rank + 1;
    for (int i = 0; fits && i < grad->rank - 1; i++) fits = dim_same(grad->sizes[i], arg_meta(&args[1])->sizes[i]);
    if (!fits || !dtype_is_float(grad->dtype)) return op_error(error, ERROR_RUNTIME, "%s(): the gradient's shape or dtype does not fit the indices", op->name);
    Dim sizes[2] = {0, grad->sizes[grad->rank - 1]};
    if (!read_integer(op, args, "num_weights", &sizes[0], error)) return false;
    if (dim_is_int(sizes[0]) && sizes[0] < 0) return op_error(error, ERROR_RUNTIME, "%s(): a negative number of weights", op->name);
    Meta out = {.dtype = grad->dtype, .device = grad->device, .rank = 2, .sizes = {sizes[0], sizes[1]}};
    outs[0] = dense_of(&out, context->syms);
    *count = 1;
    return true;
}

/* ---- by masks ---- */

/* A symbol for a size that is known only when the data is; 0: there is none, the data is at hand or an error. */
static Dim size_from_data(const Arg *tensor, const Meta *shape, const OpContext *context) {
    bool known = tensor->tensor.data || (meta_is_static(arg_meta(tensor)) && meta_numel(arg_meta(tensor)) == 0);
    return known || !context || !context->unbacked ? 0 : context->unbacked(context->unbacked_state, 0, meta_is_static(shape) ? meta_numel(shape) : INT64_MAX);
}

static bool needs_data(const Op *op, const Arg *tensor, OpError *error) {
    if (tensor->tensor.data && arg_meta(tensor)->device.kind == DEVICE_CPU) return true;
    if (meta_is_static(arg_meta(tensor)) && meta_numel(arg_meta(tensor)) == 0) return true;
    return op_error(error, ERROR_NOT_IMPLEMENTED, "%s(): the shape of its result depends on data that is not at hand", op->name);
}

static bool infer_nonzero(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    const Meta *input = arg_meta(&args[0]);
    Dim places = size_from_data(&args[0], input, context);
    if (!places && !needs_data(op, &args[0], error)) return false;
    Meta out = {.dtype = DTYPE_I64, .device = input->device, .rank = 2, .sizes = {places ? places : nonzero_places(&args[0], NULL), input->rank}};
    outs[0] = dense_of(&out, context->syms);
    outs[0].strides[0] = 1; /* as PyTorch's: one column after the other */
    outs[0].strides[1] = out.sizes[0];
    *count = 1;
    return true;
}

static bool infer_masked_select(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    Meta shape = {0};
    if (!need_tensor(op, args, 1, error) || !broadcast_args(op, args, 2, &shape, error)) return false;
    const Meta *mask = arg_meta(&args[1]);
    if (mask->dtype != DTYPE_BOOL) return op_error(error, ERROR_RUNTIME, "masked_select: expected BoolTensor for mask");
    Dim taken = size_from_data(&args[1], &shape, context);
    if (!taken && !needs_data(op, &args[1], error)) return false;
    int64_t ones = taken ? 0 : nonzero_places(&args[1], NULL), repeats = 1;
    if (!taken && meta_numel(mask) > 0) repeats = meta_numel(&shape) / meta_numel(mask); /* a broadcast mask counts once for each copy */
    Meta out = {.dtype = arg_meta(&args[0])->dtype, .device = mask->device, .rank = 1, .sizes = {taken ? taken : ones * repeats}};
    outs[0] = dense_of(&out, context->syms);
    *count = 1;
    return true;
}

static bool infer_masked_scatter(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    Meta shape = {0};
    if (!need_tensor(op, args, 1, error) || !need_tensor(op, args, 2, error) || !broadcast_args(op, args, 2, &shape, error)) return false;
    if (arg_meta(&args[1])->dtype != DTYPE_BOOL) return op_error(error, ERROR_RUNTIME, "masked_scatter_ only supports boolean masks, but got mask with dtype %s", dtype_info[arg_meta(&args[1])->dtype].name);
    shape.dtype = arg_meta(&args[0])->dtype;
    shape.device = arg_meta(&args[0])->device;
    outs[0] = dense_of(&shape, context->syms);
    *count = 1;
    return true;
}

typedef bool (*IndexInfer)(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error);
static const struct { const char *name; IndexInfer infer; IndexRun run; } kinds[] = {
    {"index", infer_index, run_index}, {"index_put", infer_index_put, run_index_put}, {"gather", infer_gather, run_gather},
    {"scatter", infer_gather, run_scatter}, {"scatter_add", infer_gather, run_scatter}, {"scatter_reduce", infer_gather, run_scatter},
    {"index_select", infer_slices, run_slices}, {"index_add", infer_slices, run_slices}, {"index_copy", infer_slices, run_slices},
    {"index_fill", infer_slices, run_slices}, {"embedding", infer_embedding, run_embedding},
    {"embedding_dense_backward", infer_embedding_backward, run_embedding_backward}, {"nonzero", infer_nonzero, run_masked},
    {"masked_select", infer_masked_select, run_masked}, {"masked_scatter", infer_masked_scatter, run_masked},
};

static bool index_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)nargs;
    bool handled = true, ok;
    bool takes_list = strcmp(op->shared, "cat") == 0 || strcmp(op->shared, "stack") == 0;
    if (!takes_list && !need_tensor(op, args, 0, error)) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, op->shared) == 0) return kinds[i].infer(op, args, outs, count, context, error);
    ok = order_infer(op, args, outs, count, context, error, &handled);
    if (handled) return ok;
    *count = 1;
    return arrange_infer(op, args, outs, context, error, &handled);
}

static bool index_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)nouts;
    static const char *const ordering[] = {"sort", "topk", "kthvalue", "median"}, *const searching[] = {"searchsorted", "bincount", "unique"};
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && !need_static(op, arg_meta(&args[i]), error)) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, op->shared) == 0) return kinds[i].run(op, args, outs, context, error);
    for (size_t i = 0; i < sizeof ordering / sizeof *ordering; i++)
        if (strcmp(ordering[i], op->shared) == 0) return run_order(op, args, outs, context, error);
    for (size_t i = 0; i < sizeof searching / sizeof *searching; i++)
        if (strcmp(searching[i], op->shared) == 0) return run_search(op, args, outs, context, error);
    return run_arrange(op, args, outs, context, error);
}

bool index_is_scatter(const Op *op) {
    static const char *const names[] = {"index_put", "scatter", "scatter_add", "index_add", "index_copy", "embedding_dense_backward"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], op->shared) == 0) return true;
    return false;
}

const FamilyOps index_family = {.infer = index_infer, .run_cpu = index_run, .value_at = index_value_at};
const FamilyOps scatter_family = {.infer = index_infer, .run_cpu = index_run, .scatter = scatter_store, .scatter_space = scatter_space};
