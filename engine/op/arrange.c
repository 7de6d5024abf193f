/* Arrange: ops that put elements into another order, repeat them, pad them, or put them into a larger tensor: cat, flip, roll, pad, repeat, tril,
 * the scatters that write a view back into a copy of its base, and the backwards that put a gradient where a view was.
 *
 * In: a row's word, arguments. Out: shapes; eager results, as copies between strided pieces.
 *
 *     select_scatter(x, src, 0, 2): a copy of x whose row 2 is src;   select_backward(g, [4, 3], 0, 2): zeros whose row 2 is g
 *
 * Invariant: every element of the output is written. To add one: its shape, its pieces, its value in index_value.c. */
#include "op/index.h"
#include "op/view.h"
#include "op/walk.h"
#include <stdlib.h>
#include <string.h>

static bool is_kind(const Op *op, const char *kind) { return strcmp(op->shared, kind) == 0; }

static bool shape_error(const Op *op, const char *what, const Meta *have, const Meta *want, OpError *error) {
    char a[128], b[128];
    shape_text(have, a, sizeof a);
    shape_text(want, b, sizeof b);
    return op_error(error, ERROR_RUNTIME, "%s: expected %s to have the view's shape %s, got %s", op->name, what, b, a);
}

/* ---- shapes ---- */

static bool shapes_agree(const Meta *a, const Meta *b) {
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = dim_same(a->sizes[i], b->sizes[i]);
    return same;
}

/* Legacy: a 1-D tensor of no elements goes with anything. */
static bool is_skipped(const Meta *meta) { return meta->rank == 1 && meta->sizes[0] == 0; }

static bool cat_infer(const Op *op, const Arg *args, Meta *out, const OpContext *context, OpError *error) {
    const Arg *list = &args[0];
    bool stacks = is_kind(op, "stack");
    int dim;
    if (list->tag != ARG_TENSORS || list->list.count == 0) return op_error(error, ERROR_RUNTIME, "%s(): expected a non-empty list of Tensors", op->name);
    const Meta *first = NULL;
    for (int i = 0; i < list->list.count; i++) {
        if (list->list.items[i].tag != ARG_TENSOR) return op_error(error, ERROR_TYPE, "%s(): expected Tensor as element %d in argument 0", op->name, i);
        const Meta *meta = arg_meta(&list->list.items[i]);
        if (!first || (!stacks && is_skipped(first))) first = meta;
    }
    if (!stacks && first->rank == 0) return op_error(error, ERROR_RUNTIME, "zero-dimensional tensor (at position 0) cannot be concatenated");
    if (!read_dim(op, args, "dim", first->rank + stacks, &dim, error)) return false;
    *out = *first;
    out->requires_grad = false;
    out->offset = 0;
    out->dtype = op_result_type(list->list.items, list->list.count, context->default_dtype);
    if (!common_device(op, list->list.items, list->list.count, &out->device, error)) return false;
    Dim total = 0;
    for (int i = 0; i < list->list.count; i++) {
        const Meta *meta = arg_meta(&list->list.items[i]);
        if (!stacks && is_skipped(meta)) continue;
        bool fits = meta->rank == first->rank;
        for (int d = 0; fits && d < meta->rank; d++) fits = (d == dim && !stacks) || dim_same(meta->sizes[d], first->sizes[d]);
        if (!fits) {
            char a[128], b[128];
            shape_text(first, a, sizeof a);
            shape_text(meta, b, sizeof b);
            return stacks ? op_error(error, ERROR_RUNTIME, "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d", a, b, i)
                          : op_error(error, ERROR_RUNTIME, "Sizes of tensors must match except in dimension %d. Expected shape %s but got %s for tensor number %d in the list.", dim, a, b, i);
        }
        if (!stacks) total = dim_plus(context->syms, total, meta->sizes[dim]);
    }
    if (stacks) {
        if (out->rank == MAX_RANK) return op_error(error, ERROR_RUNTIME, "stack(): more than %d dimensions", MAX_RANK);
        for (int d = out->rank++; d > dim; d--) out->sizes[d] = out->sizes[d - 1];
        total = list->list.count;
    }
    out->sizes[dim] = total;
    meta_set_contiguous(out, context->syms);
    return true;
}

static bool pad_infer(const Op *op, const Arg *args, Meta *out, const OpContext *context, OpError *error) {
    Dim pad[2 * MAX_RANK];
    if (args[1].tag != ARG_INTS || args[1].ints.count % 2 || args[1].ints.count > 2 * out->rank) return op_error(error, ERROR_RUNTIME, "Length of pad must be even and at most twice the number of dimensions of the input, got %d", args[1].tag == ARG_INTS ? args[1].ints.count : 0);
    int count = args[1].ints.count;
    memcpy(pad, args[1].ints.at, (size_t)count * sizeof *pad);
    for (int i = 0; i < count / 2; i++) {
        int dim = out->rank - 1 - i;
        out->sizes[dim] = dim_plus(context->syms, out->sizes[dim], dim_plus(context->syms, pad[2 * i], pad[2 * i + 1]));
        if (dim_is(SYM_LT, out->sizes[dim], 0)) return op_error(error, ERROR_RUNTIME, "The input size, plus negative padding, resulted in a negative output size for dimension %d", dim);
    }
    (void)op;
    return true;
}

static bool repeat_infer(const Op *op, const Arg *args, Meta *out, const OpContext *context, OpError *error) {
    Dim repeats[MAX_RANK];
    int count;
    if (!read_sizes(op, &args[1], repeats, &count, error)) return false;
    if (count < out->rank) return op_error(error, ERROR_RUNTIME, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
    Meta input = *out;
    for (int i = 0; i < count; i++) {
        int at = i - (count - input.rank);
        if (dim_is(SYM_LT, repeats[i], 0)) return op_error(error, ERROR_RUNTIME, "Trying to create tensor with negative dimension %lld", (long long)repeats[i]);
        out->sizes[i] = dim_times(context->syms, repeats[i], at < 0 ? 1 : input.sizes[at]);
    }
    out->rank = count;
    return true;
}

/* backwards of views: sizes are given; scatters: the input's, and src must have the view's shape. */
static bool view_shape(const Op *op, const Arg *args, const Meta *base, Meta *view, const OpContext *context, OpError *error);

static bool embed_infer(const Op *op, const Arg *args, Meta *out, OpError *error) {
    int dim1, dim2;
    if (!diagonal_dims(op, args, out->rank + 1, &dim1, &dim2, error)) return false;
    int64_t offset = arg_as_int(op_arg(op, args, "offset"));
    Dim side = dim_less_by(out->rank ? out->sizes[out->rank - 1] : 1, offset < 0 ? offset : -offset);
    Dim sizes[MAX_RANK];
    int from = 0, rank = out->rank + 1;
    for (int i = 0; i < rank; i++) sizes[i] = i == dim1 || i == dim2 ? side : out->sizes[from++];
    memcpy(out->sizes, sizes, (size_t)rank * sizeof *sizes);
    out->rank = rank;
    return true;
}

/* Geometry of a view over a storage: as many strides as sizes, none negative. */
static bool check_strides(const Op *op, const Arg *args, const char *name, int rank, OpError *error) {
    Dim strides[MAX_RANK];
    int count;
    if (!read_sizes(op, op_arg(op, args, name), strides, &count, error)) return false;
    bool fits = count == rank;
    for (int i = 0; i < count; i++) fits = fits && dim_is(SYM_LE, 0, strides[i]);
    return fits ? true : op_error(error, ERROR_RUNTIME, "%s(): '%s' does not fit a tensor of %d dimensions", op->name, name, rank);
}

static bool check_geometry(const Op *op, const Arg *args, const Meta *out, OpError *error) {
    Dim size[MAX_RANK];
    int count;
    const Meta *grad = arg_meta(&args[0]);
    const Arg *offset = op_arg(op, args, "storage_offset");
    if (!check_strides(op, args, "input_strides", out->rank, error) || !check_strides(op, args, "stride", grad->rank, error)) return false;
    if (!read_sizes(op, op_arg(op, args, "size"), size, &count, error)) return false;
    bool fits = count == grad->rank && arg_as_int(op_arg(op, args, "input_offset")) >= 0 && (offset->tag != ARG_INT || dim_is(SYM_LE, 0, offset->i));
    for (int i = 0; fits && i < count; i++) fits = dim_same(size[i], grad->sizes[i]);
    return fits ? true : op_error(error, ERROR_RUNTIME, "%s(): the gradient does not have the view's shape", op->name);
}

static Dim windows_of(Dim extent, int64_t size, int64_t step) {
    if (dim_is_int(extent)) return (extent - size) / step + 1;
    SymTable *syms = dim_sym(extent)->table;
    return dim_add(syms, dim_floordiv(syms, dim_sub(syms, extent, size), step), 1);
}

static bool check_windows(const Op *op, const Arg *args, const Meta *out, OpError *error) {
    int dim;
    const Meta *grad = arg_meta(&args[0]);
    int64_t size = arg_as_int(op_arg(op, args, "size")), step = arg_as_int(op_arg(op, args, "step"));
    if (!read_dim(op, args, "dim", out->rank, &dim, error)) return false;
    Dim extent = out->rank ? out->sizes[dim] : 1;
    bool fits = step > 0 && size >= 0 && dim_is(SYM_LE, size, extent) && grad->rank == out->rank + 1 && dim_same(grad->sizes[grad->rank - 1], size);
    for (int i = 0; fits && i < out->rank; i++) fits = dim_same(grad->sizes[i], i == dim ? windows_of(extent, size, step) : out->sizes[i]);
    return fits ? true : op_error(error, ERROR_RUNTIME, "%s(): the gradient does not have the shape of the windows", op->name);
}

static bool puts_gradient(const char *word) { return strcmp(word, "select_backward") == 0 || strcmp(word, "slice_backward") == 0 || strcmp(word, "diagonal_backward") == 0; }

static bool names_view_scatter(const char *word) { return strstr(word, "_scatter") != NULL; }

bool arrange_infer(const Op *op, const Arg *args, Meta *out, const OpContext *context, OpError *error, bool *handled) {
    *handled = true;
    if (is_kind(op, "cat") || is_kind(op, "stack")) return cat_infer(op, args, out, context, error);
    *out = *arg_meta(&args[0]);
    out->offset = 0;
    out->requires_grad = false;
    if (is_kind(op, "constant_pad_nd") && !pad_infer(op, args, out, context, error)) return false;
    if (is_kind(op, "repeat") && !repeat_infer(op, args, out, context, error)) return false;
    if (is_kind(op, "diag_embed") && !embed_infer(op, args, out, error)) return false;
    if ((is_kind(op, "tril") || is_kind(op, "triu")) && out->rank < 2) return op_error(error, ERROR_RUNTIME, "%s: input tensor must have at least 2 dimensions", op->name);
    bool marks[MAX_RANK], all;
    if (is_kind(op, "flip") && !read_dims(op, args, "dims", out->rank, marks, &all, error)) return false;
    if (op_param_index(op, "input_sizes") == 1 && !read_sizes(op, &args[1], out->sizes, &out->rank, error)) return false;
    for (int i = 0; i < out->rank; i++)
        if (dim_is_int(out->sizes[i]) && out->sizes[i] < 0) return op_error(error, ERROR_RUNTIME, "%s(): a negative size %lld", op->name, (long long)out->sizes[i]);
    if (is_kind(op, "unfold_backward") && !check_windows(op, args, out, error)) return false;
    if (is_kind(op, "as_strided_backward") && !check_geometry(op, args, out, error)) return false;
    meta_set_contiguous(out, context->syms);
    if (is_kind(op, "flip") || names_view_scatter(op->shared)) meta_preserve_strides(out, arg_meta(&args[0]), context->syms);
    Meta view;
    if (puts_gradient(op->shared)) {
        if (!view_shape(op, args, out, &view, context, error)) return false;
        return shapes_agree(&view, arg_meta(&args[0])) ? true : shape_error(op, "the gradient", arg_meta(&args[0]), &view, error);
    }
    if (!names_view_scatter(op->shared)) return true;
    if (!need_tensor(op, args, 1, error) || !view_shape(op, args, out, &view, context, error)) return false;
    return shapes_agree(&view, arg_meta(&args[1])) ? true : shape_error(op, "src", arg_meta(&args[1]), &view, error);
}

/* ---- eager: copies between pieces ---- */

static int64_t int_arg(const Op *op, const Arg *args, const char *name) { return arg_as_int(op_arg(op, args, name)); }

/* The view of `base` that a scatter or backward row names, by the same arguments as the view's row. */
static bool view_shape(const Op *op, const Arg *args, const Meta *base, Meta *view, const OpContext *context, OpError *error) {
    int dim, dim2;
    Dim start, step, length;
    *view = *base;
    const char *word = op->shared;
    if (strncmp(word, "select", 6) == 0) {
        if (base->rank == 0) return op_error(error, ERROR_INDEX, "%s() cannot be applied to a 0-dim tensor.", op->name);
        if (!read_dim(op, args, "dim", base->rank, &dim, error)) return false;
        Dim at = 0, size = base->sizes[dim];
        if (!read_integer(op, args, "index", &at, error)) return false;
        if (dim_is(SYM_LT, at, 0)) at = dim_plus(context->syms, at, size);
        if (dim_is(SYM_LT, at, 0) || dim_is(SYM_LE, size, at)) return op_error(error, ERROR_INDEX, "%s(): index %lld out of range for dimension %d of size %lld", op->name, (long long)arg_as_int(op_arg(op, args, "index")), dim, (long long)dim_hint(size));
        view->offset = dim_plus(context->syms, base->offset, dim_times(context->syms, at, base->strides[dim]));
        for (int i = dim; i + 1 < base->rank; i++) view->sizes[i] = base->sizes[i + 1], view->strides[i] = base->strides[i + 1];
        view->rank--;
        return true;
    }
    if (strncmp(word, "slice", 5) == 0) {
        if (base->rank == 0) return op_error(error, ERROR_INDEX, "%s() cannot be applied to a 0-dim tensor.", op->name);
        if (!read_dim(op, args, "dim", base->rank, &dim, error) || !slice_range(op, args, base, dim, context->syms, &start, &step, &length, error)) return false;
        view->sizes[dim] = length;
        view->offset = dim_plus(context->syms, base->offset, dim_times(context->syms, start, base->strides[dim]));
        view->strides[dim] = dim_times(context->syms, base->strides[dim], step);
        return true;
    }
    if (strncmp(word, "diag", 4) == 0) {
        if (!diagonal_dims(op, args, base->rank, &dim, &dim2, error)) return false;
        int64_t offset = int_arg(op, args, "offset");
        Dim count = diagonal_length(base, dim, dim2, offset), along = base->strides[offset >= 0 ? dim2 : dim];
        view->rank = 0;
        for (int i = 0; i < base->rank; i++)
            if (i != dim && i != dim2) view->sizes[view->rank] = base->sizes[i], view->strides[view->rank++] = base->strides[i];
        view->sizes[view->rank] = count;
        view->strides[view->rank++] = dim_plus(context->syms, base->strides[dim], base->strides[dim2]);
        if (!dim_same(count, 0)) view->offset = dim_plus(context->syms, view->offset, dim_product(offset >= 0 ? offset : -offset, along));
        return true;
    }
    int strides; /* as_strided: over a contiguous copy of the base */
    const Arg *offset = op_arg(op, args, "storage_offset");
    if (!read_sizes(op, op_arg(op, args, "size"), view->sizes, &view->rank, error) || !read_sizes(op, op_arg(op, args, "stride"), view->strides, &strides, error)) return false;
    view->offset = offset->tag == ARG_INT ? offset->i : 0;
    bool fits = strides == view->rank && dim_is(SYM_LE, 0, view->offset);
    for (int i = 0; fits && i < strides; i++) fits = dim_is(SYM_LE, 0, view->strides[i]) && dim_is(SYM_LE, 0, view->sizes[i]);
    if (!fits) return op_error(error, ERROR_RUNTIME, "%s(): size and stride must have the same length, and nothing may be negative", op->name);
    if (!meta_is_static(view) || !meta_is_static(base)) return true;
    return meta_numel(view) == 0 || meta_storage_span(view) <= meta_storage_span(base) ? true : op_error(error, ERROR_RUNTIME, "%s: the view reaches outside its base", op->name);
}

static void run_cat(const Op *op, const Arg *args, const Arg *outs, int threads) {
    bool stacks = is_kind(op, "stack");
    const Meta *out = arg_meta(&outs[0]);
    int dim = 0;
    int64_t start = 0;
    read_dim(op, args, "dim", out->rank, &dim, NULL);
    for (int i = 0; i < args[0].list.count; i++) {
        const Arg *item = &args[0].list.items[i];
        const Meta *meta = arg_meta(item);
        if (!stacks && is_skipped(meta)) continue;
        Meta piece = *out;
        piece.offset += start * out->strides[dim];
        piece.sizes[dim] = stacks ? 1 : meta->sizes[dim];
        Meta from = *meta;
        if (stacks) { /* the new dim, of size 1 */
            for (int d = from.rank++; d > dim; d--) from.sizes[d] = from.sizes[d - 1], from.strides[d] = from.strides[d - 1];
            from.sizes[dim] = 1;
        }
        copy_elements(&piece, outs[0].tensor.data, &from, item->tensor.data, threads);
        start += piece.sizes[dim];
    }
}

static void run_flip(const Op *op, const Arg *args, const Arg *outs, int threads) {
    bool marks[MAX_RANK], all;
    Meta from = *arg_meta(&args[0]);
    read_dims(op, args, "dims", from.rank, marks, &all, NULL);
    for (int i = 0; i < from.rank; i++)
        if (marks[i] && !(all && args[1].tag == ARG_INTS)) {
            from.offset += (from.sizes[i] - 1) * from.strides[i];
            from.strides[i] = -from.strides[i];
        }
    if (meta_numel(&from) > 0) copy_elements(arg_meta(&outs[0]), outs[0].tensor.data, &from, args[0].tensor.data, threads);
}

/* Each rolled dim falls into two pieces; all combinations are copied. */
static void roll_piece(const Meta *out, const Arg *outs, const Meta *input, const Arg *args, const int64_t *shifts, int dim, int threads) {
    if (dim == out->rank) {
        copy_elements(out, outs[0].tensor.data, input, args[0].tensor.data, threads);
        return;
    }
    int64_t size = input->sizes[dim], shift = size ? (shifts[dim] % size + size) % size : 0;
    for (int piece = 0; piece < 2; piece++) {
        Meta to = *out, from = *input;
        from.sizes[dim] = to.sizes[dim] = piece ? shift : size - shift;
        if (to.sizes[dim] == 0) continue;
        to.offset += (piece ? 0 : shift) * to.strides[dim];
        from.offset += (piece ? size - shift : 0) * from.strides[dim];
        roll_piece(&to, outs, &from, args, shifts, dim + 1, threads);
    }
}

static bool run_roll(const Op *op, const Arg *args, const Arg *outs, int threads, OpError *error) {
    Dim shifts[MAX_RANK], dims[MAX_RANK];
    int shift_count, dim_count, dim;
    int64_t by_dim[MAX_RANK] = {0};
    Meta input = *arg_meta(&args[0]), out = *arg_meta(&outs[0]);
    if (!read_sizes(op, &args[1], shifts, &shift_count, error) || !read_sizes(op, &args[2], dims, &dim_count, error)) return false;
    if (dim_count == 0 && shift_count == 1) { /* over the flattened tensor */
        Meta dense = input;
        dense.offset = 0;
        meta_set_contiguous(&dense, NULL);
        int64_t n = meta_numel(&input);
        char *copy = malloc((size_t)meta_bytes(&dense) + 1), *rolled = malloc((size_t)meta_bytes(&dense) + 1);
        bool ok = copy && rolled;
        if (ok && n > 0) {
            size_t cut = (size_t)(((shifts[0] % n + n) % n) * dtype_size(input.dtype)), bytes = (size_t)meta_bytes(&dense);
            copy_elements(&dense, copy, &input, args[0].tensor.data, threads);
            memcpy(rolled + cut, copy, bytes - cut);
            memcpy(rolled, copy + bytes - cut, cut);
            copy_elements(&out, outs[0].tensor.data, &dense, rolled, threads);
        }
        free(copy);
        free(rolled);
        return ok ? true : op_error(error, ERROR_MEMORY, "roll(): no memory");
    }
    if (shift_count != dim_count) return op_error(error, ERROR_RUNTIME, "shifts and dimensions must align. shifts: %d, dims:%d", shift_count, dim_count);
    for (int i = 0; i < dim_count; i++) {
        if (!wrap_dim(dims[i], input.rank, &dim, error)) return false;
        by_dim[dim] += shifts[i];
    }
    roll_piece(&out, outs, &input, args, by_dim, 0, threads);
    return true;
}

static void run_pad(const Op *op, const Arg *args, const Arg *outs, int threads) {
    const Arg *value = op_arg(op, args, "value");
    Meta to = *arg_meta(&outs[0]), from = *arg_meta(&args[0]);
    fill_elements(&to, outs[0].tensor.data, arg_as_double(value), arg_as_int(value), threads);
    for (int i = 0; i < args[1].ints.count / 2; i++) {
        int dim = to.rank - 1 - i;
        int64_t before = args[1].ints.at[2 * i], after = args[1].ints.at[2 * i + 1];
        int64_t cut_before = before < 0 ? -before : 0, cut_after = after < 0 ? -after : 0, kept = from.sizes[dim] - cut_before - cut_after;
        if (kept <= 0) return;
        from.offset += cut_before * from.strides[dim];
        to.offset += (before > 0 ? before : 0) * to.strides[dim];
        from.sizes[dim] = to.sizes[dim] = kept;
    }
    if (meta_numel(&from) > 0) copy_elements(&to, outs[0].tensor.data, &from, args[0].tensor.data, threads);
}

/* The output seen as [repeat, size] for each dim that is repeated; the input has stride 0 along the repeats. */
static bool run_repeat(const Op *op, const Arg *args, const Arg *outs, int threads, OpError *error) {
    const Meta *input = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    Meta to = {.dtype = out->dtype, .offset = out->offset}, from = {.dtype = input->dtype, .offset = input->offset};
    for (int i = 0; i < out->rank; i++) {
        int at = i - (out->rank - input->rank);
        int64_t size = at < 0 ? 1 : input->sizes[at], times = size ? out->sizes[i] / size : 0;
        if (to.rank + 2 > MAX_RANK && !(size == 1 || times == 1)) return op_error(error, ERROR_NOT_IMPLEMENTED, "%s(): too many repeated dimensions", op->name);
        if (times != 1) {
            to.sizes[to.rank] = times, to.strides[to.rank++] = out->strides[i] * size;
            from.sizes[from.rank] = times, from.strides[from.rank++] = 0;
        }
        if (size != 1) {
            to.sizes[to.rank] = size, to.strides[to.rank++] = out->strides[i];
            from.sizes[from.rank] = size, from.strides[from.rank++] = input->strides[at];
        }
    }
    if (meta_numel(out) > 0) copy_elements(&to, outs[0].tensor.data, &from, args[0].tensor.data, threads);
    return true;
}

/* Row i of each matrix: columns up to i + diagonal (tril), or from there on (triu), are copied; the others are zero. */
static void run_triangle(const Op *op, const Arg *args, const Arg *outs, int threads) {
    const Meta *input = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    bool lower = is_kind(op, "tril");
    int64_t diagonal = int_arg(op, args, "diagonal"), columns = out->sizes[out->rank - 1];
    fill_elements(out, outs[0].tensor.data, 0, 0, threads);
    for (int64_t i = 0; i < out->sizes[out->rank - 2]; i++) {
        int64_t edge = lower ? i + diagonal + 1 : i + diagonal;
        edge = edge < 0 ? 0 : edge > columns ? columns : edge;
        Meta to = *out, from = *input;
        to.offset += i * out->strides[out->rank - 2] + (lower ? 0 : edge) * out->strides[out->rank - 1];
        from.offset += i * input->strides[out->rank - 2] + (lower ? 0 : edge) * input->strides[out->rank - 1];
        to.sizes[out->rank - 2] = from.sizes[out->rank - 2] = 1;
        to.sizes[out->rank - 1] = from.sizes[out->rank - 1] = lower ? edge : columns - edge;
        if (meta_numel(&to) > 0) copy_elements(&to, outs[0].tensor.data, &from, args[0].tensor.data, threads);
    }
}

/* base (or zeros), then the piece. */
static bool run_into_view(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    Meta view;
    const Meta *out = arg_meta(&outs[0]);
    bool scatters = names_view_scatter(op->shared);
    const Arg *piece = &args[scatters ? 1 : 0];
    Meta base = *out;
    if (!view_shape(op, args, &base, &view, context, error)) return false;
    if (is_kind(op, "as_strided_scatter")) view.offset += out->offset;
    if (scatters) copy_elements(out, outs[0].tensor.data, arg_meta(&args[0]), args[0].tensor.data, context->threads);
    else fill_elements(out, outs[0].tensor.data, 0, 0, context->threads);
    if (meta_numel(&view) > 0) copy_elements(&view, outs[0].tensor.data, arg_meta(piece), piece->tensor.data, context->threads);
    return true;
}

/* Windows overlap: their gradients add up. */
static bool run_unfold_backward(const Op *op, const Arg *args, const Arg *outs, OpError *error) {
    int dim;
    const Meta *grad = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    int64_t size = int_arg(op, args, "size"), step = int_arg(op, args, "step");
    if (!read_dim(op, args, "dim", out->rank, &dim, error)) return false;
    fill_elements(out, outs[0].tensor.data, 0, 0, 1);
    for (int64_t k = 0; k < size; k++) {
        Meta to = *out, from = *grad;
        from.offset += k * grad->strides[grad->rank - 1];
        from.rank--;
        if (out->rank) {
            to.offset += k * out->strides[dim];
            to.strides[dim] *= step;
            to.sizes[dim] = grad->sizes[dim];
        }
        add_elements(&to, outs[0].tensor.data, &from, args[0].tensor.data, 1);
    }
    return true;
}

/* The gradient is added up in a storage as large as both the view and the input reach, and read back through the input's strides. */
static bool run_as_strided_backward(const Op *op, const Arg *args, const Arg *outs, OpError *error) {
    Meta view = *arg_meta(&args[0]), input = *arg_meta(&outs[0]);
    int count;
    const Arg *offset = op_arg(op, args, "storage_offset");
    input.offset = int_arg(op, args, "input_offset");
    if (!read_sizes(op, op_arg(op, args, "input_strides"), input.strides, &count, error) || !read_sizes(op, op_arg(op, args, "stride"), view.strides, &count, error)) return false;
    view.offset = offset->tag == ARG_INT ? offset->i : input.offset;
    int64_t span = meta_storage_span(&view), other = meta_storage_span(&input);
    if (other > span) span = other;
    char *storage = calloc((size_t)span + 1, (size_t)dtype_size(view.dtype));
    if (!storage) return op_error(error, ERROR_MEMORY, "%s(): no memory", op->name);
    add_elements(&view, storage, arg_meta(&args[0]), args[0].tensor.data, 1);
    copy_elements(arg_meta(&outs[0]), outs[0].tensor.data, &input, storage, 1);
    free(storage);
    return true;
}

static void run_diag_embed(const Op *op, const Arg *args, const Arg *outs, const OpContext *context) {
    Meta view;
    const Meta *out = arg_meta(&outs[0]);
    fill_elements(out, outs[0].tensor.data, 0, 0, context->threads);
    if (view_shape(op, args, out, &view, context, NULL) && meta_numel(&view) > 0) copy_elements(&view, outs[0].tensor.data, arg_meta(&args[0]), args[0].tensor.data, context->threads);
}

bool run_arrange(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    if (is_kind(op, "cat") || is_kind(op, "stack")) run_cat(op, args, outs, context->threads);
    else if (is_kind(op, "flip")) run_flip(op, args, outs, context->threads);
    else if (is_kind(op, "roll")) return run_roll(op, args, outs, context->threads, error);
    else if (is_kind(op, "constant_pad_nd")) run_pad(op, args, outs, context->threads);
    else if (is_kind(op, "repeat")) return run_repeat(op, args, outs, context->threads, error);
    else if (is_kind(op, "tril") || is_kind(op, "triu")) run_triangle(op, args, outs, context->threads);
    else if (is_kind(op, "diag_embed")) run_diag_embed(op, args, outs, context);
    else if (is_kind(op, "unfold_backward")) return run_unfold_backward(op, args, outs, error);
    else if (is_kind(op, "as_strided_backward")) return run_as_strided_backward(op, args, outs, error);
    else return run_into_view(op, args, outs, context, error);
    return true;
}
