/* View: ops whose result looks at its input's memory through other sizes, strides and offset.
 *
 * In: the row's kind (`shared`), arguments. Out: the result's meta over the input's storage. A reshape that no strides can express is a copy:
 * then `alias` says false, and the meta is contiguous.
 *
 *     transpose(f32[3, 4][4, 1]) -> f32[4, 3][1, 4];   select(dim 0, index 2) -> f32[4][1] at offset 8
 *
 * Sizes may be symbolic: arithmetic is on Dims, decisions are assumptions (dim_is). Invariant: an aliasing result never reaches outside the input's storage
 * (as_strided excepted, whose bounds are checked where sizes are known). To add a kind: a line in `kinds`, its index in view_value.c. */
#include "op/view.h"
#include <string.h>

typedef struct View { const Op *op; const Arg *args; const Meta *input; Meta *out; const OpContext *context; OpError *error; bool copies; } View;

/* ---- view and reshape ---- */

static void size_list_text(const Dim *sizes, int count, char *text, size_t room) {
    Meta shape = {.rank = count};
    memcpy(shape.sizes, sizes, (size_t)count * sizeof *sizes);
    shape_text(&shape, text, room);
}

static bool invalid_shape(View *v, const Dim *sizes, int count) {
    char text[128];
    size_list_text(sizes, count, text, sizeof text);
    return op_error(v->error, ERROR_RUNTIME, "shape '%s' is invalid for input of size %lld", text, (long long)dim_hint(meta_numel_dim(v->input, v->context->syms)));
}

/* Replaces a -1 by what is left over. */
static bool fill_in_size(View *v, Dim *sizes, int count) {
    SymTable *syms = v->context->syms;
    Dim numel = meta_numel_dim(v->input, syms), known = 1, wanted[MAX_RANK];
    int open = -1;
    memcpy(wanted, sizes, (size_t)count * sizeof *sizes);
    for (int i = 0; i < count; i++) {
        if (sizes[i] == -1) {
            if (open >= 0) return op_error(v->error, ERROR_RUNTIME, "only one dimension can be inferred");
            open = i;
        } else if (dim_is_int(sizes[i]) && sizes[i] < 0) {
            return op_error(v->error, ERROR_RUNTIME, "invalid shape dimension %lld", (long long)sizes[i]);
        } else known = dim_times(syms, known, sizes[i]);
    }
    if (open < 0) return dim_same(known, numel) ? true : invalid_shape(v, wanted, count);
    if (dim_same(known, 0)) {
        char text[128];
        size_list_text(wanted, count, text, sizeof text);
        return op_error(v->error, ERROR_RUNTIME, "cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size -1 can be any value and is ambiguous", text);
    }
    if (!dim_is_int(numel) || !dim_is_int(known) ? !dim_same(dim_mod(syms, numel, known), 0) : numel % known != 0) return invalid_shape(v, wanted, count);
    sizes[open] = dim_is_int(numel) && dim_is_int(known) ? numel / known : dim_floordiv(syms, numel, known);
    return true;
}

/* Strides of `out`'s sizes over `input`'s memory; false: none can express it. Runs of input dims that lie as one chunk are matched, from the back,
 * with runs of output dims of the same number of elements. */
static bool stride_over(const Meta *input, Meta *out, SymTable *syms) {
    int at = out->rank - 1;
    Dim base = input->rank ? input->strides[input->rank - 1] : 1, have = 1, want = 1;
    for (int i = input->rank - 1; i >= 0; i--) {
        have = dim_times(syms, have, input->sizes[i]);
        bool chunk_ends = i == 0 || (input->sizes[i - 1] != 1 && !dim_same(input->strides[i - 1], dim_times(syms, have, base)));
        if (!chunk_ends) continue;
        while (at >= 0 && (dim_is(SYM_LT, want, have) || dim_is_one(out->sizes[at]))) {
            out->strides[at] = dim_times(syms, want, base);
            want = dim_times(syms, want, out->sizes[at--]);
        }
        if (!dim_same(want, have)) return false;
        if (i > 0) base = input->strides[i - 1], have = want = 1;
    }
    for (; at >= 0 && dim_is_one(out->sizes[at]); at--) out->strides[at] = 1;
    return at < 0;
}

static bool view_reshape(View *v) {
    Dim sizes[MAX_RANK];
    int count;
    bool must_alias = strcmp(v->op->shared, "view") == 0;
    if (!read_sizes(v->op, &v->args[1], sizes, &count, v->error) || !fill_in_size(v, sizes, count)) return false;
    v->out->rank = count;
    memcpy(v->out->sizes, sizes, (size_t)count * sizeof *sizes);
    if (meta_same_shape(v->out, v->input)) {
        memcpy(v->out->strides, v->input->strides, sizeof v->out->strides);
        return true;
    }
    bool empty = dim_same(meta_numel_dim(v->input, v->context->syms), 0);
    if (empty || meta_is_contiguous(v->input)) meta_set_contiguous(v->out, v->context->syms);
    else if (!stride_over(v->input, v->out, v->context->syms)) {
        if (must_alias)
            return op_error(v->error, ERROR_RUNTIME, "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
        v->copies = true;
        v->out->offset = 0;
        meta_set_contiguous(v->out, v->context->syms);
    }
    return true;
}

static bool view_dtype(View *v) {
    if (v->args[1].tag != ARG_DTYPE) return op_error(v->error, ERROR_TYPE, "%s(): argument 'dtype' must be torch.dtype", v->op->name);
    int from = dtype_size(v->input->dtype), to = dtype_size(v->args[1].dtype), last = v->input->rank - 1;
    v->out->dtype = v->args[1].dtype;
    if (from == to) return true;
    if (last < 0 || v->input->strides[last] != 1) return op_error(v->error, ERROR_RUNTIME, "view(dtype): the last dimension must have stride 1 to view %s as %s", dtype_info[v->input->dtype].name, dtype_info[v->out->dtype].name);
    if (!need_static(v->op, v->input, v->error)) return false;
    Dim *fields[MAX_RANK + 2] = {&v->out->sizes[last], &v->out->offset};
    for (int i = 0; i < last; i++) fields[i + 2] = &v->out->strides[i];
    for (int i = 0; i < last + 2; i++) {
        if (*fields[i] * from % to != 0) return op_error(v->error, ERROR_RUNTIME, "view(dtype): sizes, strides and offset must divide by %d to view %s as %s", to / from, dtype_info[v->input->dtype].name, dtype_info[v->out->dtype].name);
        *fields[i] = *fields[i] * from / to;
    }
    return true;
}

/* ---- broadcasting and order of dims ---- */

static bool view_expand(View *v) {
    Dim sizes[MAX_RANK];
    int count, lead;
    if (!read_sizes(v->op, &v->args[1], sizes, &count, v->error)) return false;
    lead = count - v->input->rank;
    if (lead < 0) return op_error(v->error, ERROR_RUNTIME, "expand: the number of sizes provided (%d) must be greater or equal to the number of dimensions in the tensor (%d)", count, v->input->rank);
    v->out->rank = count;
    for (int i = count - 1; i >= 0; i--) {
        Dim have = i < lead ? 1 : v->input->sizes[i - lead], want = sizes[i];
        Dim stride = i >= lead ? v->input->strides[i - lead] : i + 1 < count ? dim_times(v->context->syms, v->out->sizes[i + 1], v->out->strides[i + 1]) : 1;
        if (want == -1 && i < lead) return op_error(v->error, ERROR_RUNTIME, "expand: the size -1 is not allowed in a leading, non-existing dimension %d", i);
        if (want == -1) want = have;
        if (dim_is(SYM_LT, want, 0)) return op_error(v->error, ERROR_RUNTIME, "The expanded size of the tensor (%lld) isn't allowed in dimension %d", (long long)dim_hint(want), i);
        bool repeats = dim_is_one(have);
        if (!repeats && !dim_same(have, want))
            return op_error(v->error, ERROR_RUNTIME, "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton dimension %d", (long long)dim_hint(want), (long long)dim_hint(have), i);
        v->out->sizes[i] = want;
        v->out->strides[i] = repeats && !dim_is_one(want) ? 0 : stride;
    }
    return true;
}

static void take_dim(View *v, int to, int from) {
    v->out->sizes[to] = v->input->sizes[from];
    v->out->strides[to] = v->input->strides[from];
}

static bool view_permute(View *v) {
    Dim dims[MAX_RANK];
    int count, dim;
    bool seen[MAX_RANK] = {0};
    if (!read_sizes(v->op, &v->args[1], dims, &count, v->error)) return false;
    if (count != v->input->rank) return op_error(v->error, ERROR_RUNTIME, "permute: the tensor has %d dimensions, but the desired order names %d", v->input->rank, count);
    for (int i = 0; i < count; i++) {
        if (!wrap_dim(dim_specialize(dims[i], "it names a dimension"), count, &dim, v->error)) return false;
        if (seen[dim]) return op_error(v->error, ERROR_RUNTIME, "permute(): duplicate dims are not allowed.");
        seen[dim] = true;
        take_dim(v, i, dim);
    }
    return true;
}

static bool view_transpose(View *v) {
    int a, b;
    if (!read_dim(v->op, v->args, "dim0", v->input->rank, &a, v->error) || !read_dim(v->op, v->args, "dim1", v->input->rank, &b, v->error)) return false;
    if (v->input->rank == 0) return true;
    take_dim(v, a, b);
    take_dim(v, b, a);
    return true;
}

static bool view_t(View *v) {
    if (v->input->rank > 2) return op_error(v->error, ERROR_RUNTIME, "t() expects a tensor with <= 2 dimensions, but self is %dD", v->input->rank);
    if (v->input->rank < 2) return true;
    take_dim(v, 0, 1);
    take_dim(v, 1, 0);
    return true;
}

static bool view_squeeze(View *v) {
    bool marks[MAX_RANK], all;
    if (!read_dims(v->op, v->args, "dim", v->input->rank, marks, &all, v->error)) return false;
    if (v->args[1].tag == ARG_INTS && v->args[1].ints.count == 0) memset(marks, 0, sizeof marks); /* squeeze(()) squeezes nothing */
    v->out->rank = 0;
    for (int i = 0; i < v->input->rank; i++)
        if (!marks[i] || !dim_is_one(v->input->sizes[i])) take_dim(v, v->out->rank++, i);
    return true;
}

static bool view_unsqueeze(View *v) {
    int dim;
    if (!read_dim(v->op, v->args, "dim", v->input->rank + 1, &dim, v->error)) return false;
    if (v->input->rank == MAX_RANK) return op_error(v->error, ERROR_RUNTIME, "unsqueeze(): more than %d dimensions are not supported", MAX_RANK);
    v->out->rank = v->input->rank + 1;
    for (int i = 0; i < v->out->rank; i++)
        if (i != dim) take_dim(v, i, i < dim ? i : i - 1);
    v->out->sizes[dim] = 1;
    v->out->strides[dim] = dim < v->input->rank ? dim_times(v->context->syms, v->input->sizes[dim], v->input->strides[dim]) : 1;
    return true;
}

/* ---- parts ---- */

static void remove_dim(Meta *meta, int dim) {
    for (int i = dim; i + 1 < meta->rank; i++) {
        meta->sizes[i] = meta->sizes[i + 1];
        meta->strides[i] = meta->strides[i + 1];
    }
    meta->rank--;
}

static bool view_select(View *v) {
    int dim;
    Dim index;
    if (!read_integer(v->op, v->args, "index", &index, v->error)) return false;
    if (v->input->rank == 0) return op_error(v->error, ERROR_INDEX, "select() cannot be applied to a 0-dim tensor.");
    if (!read_dim(v->op, v->args, "dim", v->input->rank, &dim, v->error)) return false;
    Dim size = v->input->sizes[dim];
    bool from_end = dim_is(SYM_LT, index, 0);
    Dim place = from_end ? dim_plus(v->context->syms, index, size) : index;
    if (dim_is(SYM_LT, place, 0) || dim_is(SYM_LE, size, place)) {
        char text[128];
        shape_text(v->input, text, sizeof text);
        return op_error(v->error, ERROR_INDEX, "select(): index %lld out of range for tensor of size %s at dimension %d", (long long)dim_hint(index), text, dim);
    }
    v->out->offset = dim_plus(v->context->syms, v->input->offset, dim_times(v->context->syms, place, v->input->strides[dim]));
    remove_dim(v->out, dim);
    return true;
}

Dim slice_bound(SymTable *syms, const Arg *arg, Dim size, Dim absent) {
    if (arg->tag == ARG_NONE) return absent;
    Dim bound = arg->tag == ARG_INT ? arg->i : (Dim)arg->b;
    if (dim_is_int(bound) && dim_is_int(size)) {
        if (bound < 0) bound += size;
        return bound < 0 ? 0 : bound > size ? size : bound;
    }
    if (dim_is_int(bound) && bound == INT64_MAX) return size;
    if (dim_is(SYM_LT, bound, 0)) bound = dim_add(syms, bound, size);
    if (dim_is(SYM_LT, bound, 0)) return 0;
    if (dim_surely(SYM_LE, bound, size)) return bound;
    return dim_is(SYM_LT, size, bound) ? size : bound; /* a bound that is the size today is one inside it */
}

bool slice_range(const Op *op, const Arg *args, const Meta *input, int dim, SymTable *syms, Dim *start, Dim *step, Dim *length, OpError *error) {
    static const char *const bounds[] = {"start", "end", "step"};
    Dim size = input->sizes[dim];
    for (int i = 0; i < 3; i++)
        if (op_arg(op, args, bounds[i])->tag != ARG_NONE && !read_integer(op, args, bounds[i], step, error)) return false;
    if (op_arg(op, args, "step")->tag == ARG_NONE) *step = 1;
    *step = dim_specialize(*step, "it is the step of a slice");
    if (*step <= 0) return op_error(error, ERROR_RUNTIME, "slice step must be positive");
    *start = slice_bound(syms, op_arg(op, args, "start"), size, 0);
    Dim end = slice_bound(syms, op_arg(op, args, "end"), size, size);
    Dim span = dim_minus(syms, end, *start);
    if (dim_is(SYM_LT, span, 0)) span = 0;
    if (dim_is_int(span) && dim_is_int(*step)) *length = (span + *step - 1) / *step;
    else *length = *step == 1 ? span : dim_floordiv(syms, dim_add(syms, span, dim_sub(syms, *step, 1)), *step);
    return true;
}

static bool view_slice(View *v) {
    int dim;
    Dim start, step, length;
    if (v->input->rank == 0) return op_error(v->error, ERROR_RUNTIME, "slice() cannot be applied to a 0-dim tensor.");
    if (!read_dim(v->op, v->args, "dim", v->input->rank, &dim, v->error)) return false;
    if (!slice_range(v->op, v->args, v->input, dim, v->context->syms, &start, &step, &length, v->error)) return false;
    v->out->sizes[dim] = length;
    v->out->offset = dim_plus(v->context->syms, v->input->offset, dim_times(v->context->syms, start, v->input->strides[dim]));
    v->out->strides[dim] = dim_times(v->context->syms, v->input->strides[dim], step);
    return true;
}

bool diagonal_dims(const Op *op, const Arg *args, int rank, int *dim1, int *dim2, OpError *error) {
    if (!read_dim(op, args, "dim1", rank, dim1, error) || !read_dim(op, args, "dim2", rank, dim2, error)) return false;
    return *dim1 != *dim2 ? true : op_error(error, ERROR_RUNTIME, "diagonal dimensions cannot be identical %d, %d", *dim1, *dim2);
}

Dim diagonal_length(const Meta *input, int dim1, int dim2, int64_t offset) {
    Dim rows = input->sizes[dim1], columns = input->sizes[dim2];
    if (offset >= 0) columns = dim_less_by(columns, offset);
    else rows = dim_less_by(rows, -offset);
    Dim length = dim_is(SYM_LE, rows, columns) ? rows : columns;
    return dim_is(SYM_LT, length, 0) ? 0 : length;
}

static bool view_diagonal(View *v) {
    int dim1, dim2;
    if (!diagonal_dims(v->op, v->args, v->input->rank, &dim1, &dim2, v->error)) return false;
    int64_t offset = arg_as_int(op_arg(v->op, v->args, "offset"));
    Dim length = diagonal_length(v->input, dim1, dim2, offset), along = v->input->strides[offset >= 0 ? dim2 : dim1];
    if (!dim_same(length, 0)) v->out->offset = dim_plus(v->context->syms, v->out->offset, dim_product(offset >= 0 ? offset : -offset, along));
    remove_dim(v->out, dim1 > dim2 ? dim1 : dim2);
    remove_dim(v->out, dim1 > dim2 ? dim2 : dim1);
    v->out->sizes[v->out->rank] = length;
    v->out->strides[v->out->rank++] = dim_plus(v->context->syms, v->input->strides[dim1], v->input->strides[dim2]);
    return true;
}

static bool view_unfold(View *v) {
    int dim;
    int64_t size = arg_as_int(op_arg(v->op, v->args, "size")), step = arg_as_int(op_arg(v->op, v->args, "step"));
    if (!read_dim(v->op, v->args, "dimension", v->input->rank, &dim, v->error)) return false;
    Dim extent = v->input->rank ? v->input->sizes[dim] : 1;
    if (dim_is(SYM_LT, extent, size)) return op_error(v->error, ERROR_RUNTIME, "maximum size for tensor at dimension %d is %lld but size is %lld", dim, (long long)dim_hint(extent), (long long)size);
    if (size < 0 || step <= 0) return op_error(v->error, ERROR_RUNTIME, "step is %lld but must be > 0", (long long)step);
    Dim stride = v->input->rank ? v->input->strides[dim] : 1, windows = dim_minus(v->context->syms, extent, size);
    windows = dim_is_int(windows) ? windows / step + 1 : dim_add(v->context->syms, dim_floordiv(v->context->syms, windows, step), 1);
    if (v->input->rank) v->out->sizes[dim] = windows, v->out->strides[dim] = dim_times(v->context->syms, stride, step);
    v->out->sizes[v->out->rank] = size;
    v->out->strides[v->out->rank++] = stride;
    return true;
}

static bool view_as_strided(View *v) {
    Dim sizes[MAX_RANK], strides[MAX_RANK];
    int count, stride_count;
    const Arg *offset = op_arg(v->op, v->args, "storage_offset");
    if (!read_sizes(v->op, &v->args[1], sizes, &count, v->error) || !read_sizes(v->op, &v->args[2], strides, &stride_count, v->error)) return false;
    if (count != stride_count) return op_error(v->error, ERROR_RUNTIME, "mismatch in length of strides and shape");
    for (int i = 0; i < count; i++)
        if (dim_is_int(strides[i]) && strides[i] < 0) return op_error(v->error, ERROR_RUNTIME, "as_strided: Negative strides are not supported at the moment, got strides with %lld", (long long)strides[i]);
    v->out->rank = count;
    memcpy(v->out->sizes, sizes, sizeof sizes);
    memcpy(v->out->strides, strides, sizeof strides);
    if (offset->tag == ARG_INT) v->out->offset = offset->i;
    return true;
}

static bool view_alias(View *v) {
    (void)v;
    return true;
}

static const struct { const char *name; bool (*make)(View *v); } kinds[] = {
    {"view", view_reshape}, {"reshape", view_reshape}, {"view_dtype", view_dtype}, {"expand", view_expand}, {"permute", view_permute},
    {"transpose", view_transpose}, {"t", view_t}, {"squeeze", view_squeeze}, {"unsqueeze", view_unsqueeze}, {"select", view_select},
    {"slice", view_slice}, {"diagonal", view_diagonal}, {"unfold", view_unfold}, {"as_strided", view_as_strided}, {"alias", view_alias},
};

static bool make_view(View *v) {
    *v->out = *v->input;
    v->out->requires_grad = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].name[0] == v->op->shared[0] && strcmp(kinds[i].name, v->op->shared) == 0) return kinds[i].make(v);
    return op_error(v->error, ERROR_NOT_IMPLEMENTED, "%s: no such view", v->op->name);
}

/* ---- split and unbind: several parts along a dim ---- */

static bool add_part(View *v, Meta *outs, int *count, int room, int dim, Dim start, Dim length) {
    if (*count == room) return op_error(v->error, ERROR_RUNTIME, "%s(): more than %d parts are not supported", v->op->name, room);
    Meta *part = &outs[(*count)++];
    *part = *v->input;
    part->requires_grad = false;
    part->sizes[dim] = length;
    part->offset = dim_plus(v->context->syms, part->offset, dim_times(v->context->syms, start, v->input->strides[dim]));
    return true;
}

static bool split_sizes(View *v, Meta *outs, int *count, int room, int dim) {
    const Arg *sizes = &v->args[1];
    Dim start = 0, total = v->input->sizes[dim];
    for (int i = 0; i < sizes->ints.count; i++) {
        Dim length = sizes->ints.at[i], end = dim_plus(v->context->syms, start, length);
        if (dim_is(SYM_LT, length, 0)) return op_error(v->error, ERROR_RUNTIME, "split_with_sizes expects split_sizes have only non-negative entries, but got %lld", (long long)dim_hint(length));
        if (dim_is(SYM_LT, total, end) || !add_part(v, outs, count, room, dim, start, length)) break;
        start = end;
    }
    if (dim_same(start, total) && *count == sizes->ints.count) return true;
    int64_t sum = 0;
    for (int i = 0; i < sizes->ints.count; i++) sum += dim_hint(sizes->ints.at[i]);
    if (*count == room) return op_error(v->error, ERROR_RUNTIME, "%s(): more than %d parts are not supported", v->op->name, room);
    if (sum == dim_hint(total)) return op_error(v->error, ERROR_RUNTIME, "split_with_sizes expects split_sizes have only non-negative entries");
    return op_error(v->error, ERROR_RUNTIME, "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size at dimension %d), but they sum to %lld", (long long)dim_hint(total), dim, (long long)sum);
}

/* How many parts there are is part of the program: it is assumed where sizes are symbolic, the parts' sizes are not. */
static bool split_evenly(View *v, Meta *outs, int *count, int room, int dim) {
    Dim size = v->args[1].tag == ARG_INT ? v->args[1].i : arg_as_int(&v->args[1]), total = v->input->sizes[dim], start = 0;
    bool empty = dim_same(total, 0);
    if (dim_is(SYM_LT, size, 0) || (!empty && dim_same(size, 0))) return op_error(v->error, ERROR_RUNTIME, "split expects split_size be non-negative, but got split_size=%lld", (long long)dim_hint(size));
    if (empty) return add_part(v, outs, count, room, dim, 0, 0);
    for (;;) {
        Dim end = dim_plus(v->context->syms, start, size);
        if (dim_is(SYM_LE, total, end)) return add_part(v, outs, count, room, dim, start, dim_minus(v->context->syms, total, start));
        if (!add_part(v, outs, count, room, dim, start, size)) return false;
        start = end;
    }
}

static bool make_parts(View *v, Meta *outs, int *count, int room) {
    int dim;
    *count = 0;
    if (v->input->rank == 0) return op_error(v->error, ERROR_RUNTIME, "%s() expects at least a 1-dimensional tensor", v->op->name);
    if (!read_dim(v->op, v->args, "dim", v->input->rank, &dim, v->error)) return false;
    if (strcmp(v->op->shared, "split") == 0 && v->args[1].tag != ARG_INTS && v->args[1].tag != ARG_INT) return op_error(v->error, ERROR_TYPE, "%s(): argument '%s' must be int or list of ints", v->op->name, op_param(v->op, 1));
    if (strcmp(v->op->shared, "split") == 0) return v->args[1].tag == ARG_INTS ? split_sizes(v, outs, count, room, dim) : split_evenly(v, outs, count, room, dim);
    int64_t parts = dim_specialize(v->input->sizes[dim], "unbind gives so many tensors");
    for (int64_t i = 0; i < parts; i++) {
        if (!add_part(v, outs, count, room, dim, i, 1)) return false;
        remove_dim(&outs[*count - 1], dim);
    }
    return true;
}

static bool view_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)nargs;
    if (!need_tensor(op, args, 0, error)) return false;
    View v = {.op = op, .args = args, .input = arg_meta(&args[0]), .out = &outs[0], .context = context, .error = error};
    if (op->outputs == -1) return make_parts(&v, outs, count, *count);
    *count = 1;
    return make_view(&v);
}

static bool view_alias_meta(const Op *op, const Arg *args, int nargs, Meta *out, const OpContext *context) {
    (void)nargs;
    OpError ignored;
    if (args[0].tag != ARG_TENSOR || op->outputs != 1) return false;
    View v = {.op = op, .args = args, .input = arg_meta(&args[0]), .out = out, .context = context, .error = &ignored};
    return make_view(&v) && !v.copies;
}

const FamilyOps view_family = {.infer = view_infer, .alias = view_alias_meta, .value_at = view_value_at};
