/* Eager gathers and scatters along one dim, slices by an index vector, embeddings.
 *
 * In: an input, a dim, integer indices. Out: picked elements, or a copy of the input with values stored or added.
 * Lines along the dim are independent, so they are spread over threads; within a line, and wherever places may repeat, the order is the logical one,
 * so sums do not depend on the number of threads.
 *
 * Invariant: an index outside its dim is an error, before the element it names is touched. */
#include "op/clones.h"
#include "op/convert.h"
#include "op/index.h"
#include "op/lines.h"
#include "op/walk.h"
#include <stdlib.h>
#include <string.h>

/* Lines of `meta` at the coordinates of `shape`'s lines: `shape` may be smaller. */
static Lines lines_at(const Meta *shape, const Meta *meta, int dim) {
    Lines lines = lines_of(meta, dim);
    int at = 0;
    lines.count = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (i == dim) continue;
        lines.sizes[at++] = shape->sizes[i];
        lines.count *= shape->sizes[i];
    }
    lines.rank = at;
    return lines;
}

static int64_t *index_line(const Meta *index, const Arg *tensor, const Lines *lines, int64_t number, int64_t *buffer) {
    load_values(index->dtype, DTYPE_I64, lines->length, buffer, (const char *)tensor->tensor.data + line_offset(lines, number), lines->stride);
    return buffer;
}

static bool bad_index(const Op *op, int64_t index, int dim, int64_t size, OpError *error) {
    return op_error(error, ERROR_RUNTIME, "index %lld is out of bounds for dimension %d with size %lld (in %s)", (long long)index, dim, (long long)size, op->name);
}

static int threads_for(int64_t elements, const OpContext *context) { return elements < 65536 || context->threads < 1 ? 1 : context->threads; }

static void move_item(char *to, const char *from, int item) {
    switch (item) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
    }
}

/* Along a dim that is not the last, over contiguous tensors that differ only in it: row after row, so that memory is read and written in order. */
static bool gathers_rows(const Meta *input, const Meta *index, const Meta *out, int dim) {
    if (dim + 1 >= input->rank || index->dtype != DTYPE_I64 || !meta_is_contiguous(input) || !meta_is_contiguous(index) || !meta_is_contiguous(out)) return false;
    for (int i = 0; i < input->rank; i++)
        if (i != dim && input->sizes[i] != index->sizes[i]) return false;
    return true;
}

static bool gather_rows(const Op *op, const Arg *args, const Arg *out_arg, int dim, int threads, OpError *error) {
    const Meta *input = arg_meta(&args[0]), *index = arg_meta(&args[2]), *out = arg_meta(out_arg);
    int64_t inner = 1, length = index->sizes[dim], size = input->sizes[dim], bad = 0, item = dtype_size(input->dtype);
    for (int i = dim + 1; i < input->rank; i++) inner *= input->sizes[i];
    const int64_t *picks = (const int64_t *)args[2].tensor.data + index->offset;
    const char *src = (const char *)args[0].tensor.data + input->offset * item;
    char *dst = (char *)out_arg->tensor.data + out->offset * item;
    bool ok = true;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(&& : ok)
    for (int64_t row = 0; row < meta_numel(index) / inner; row++) {
        const char *from = src + row / length * size * inner * item;
        for (int64_t j = row * inner; j < (row + 1) * inner; j++) {
            bool fits = picks[j] >= 0 && picks[j] < size;
            if (fits) move_item(dst + j * item, from + (picks[j] * inner + j - row * inner) * item, (int)item);
            ok = ok && fits;
            if (fits) continue;
#pragma omp atomic write
            bad = picks[j];
        }
    }
    return ok ? true : bad_index(op, bad, dim, size, error);
}

bool run_gather(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    int dim;
    const Meta *input = arg_meta(&args[0]), *index = arg_meta(&args[2]), *out = arg_meta(&outs[0]);
    if (!read_dim(op, args, "dim", input->rank, &dim, error)) return false;
    if (meta_numel(index) == 0) return true;
    if (gathers_rows(input, index, out, dim)) return gather_rows(op, args, &outs[0], dim, threads_for(meta_numel(index), context), error);
    Lines at = lines_of(index, dim), to = lines_of(out, dim), from = lines_at(index, input, dim);
    int item = dtype_size(input->dtype), threads = threads_for(meta_numel(index), context);
    int64_t size = input->rank ? input->sizes[dim] : 1, bad = 0;
    bool ok = true;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(&& : ok)
    for (int64_t n = 0; n < at.count; n++) {
        int64_t *picks = malloc((size_t)at.length * sizeof *picks);
        if (!picks) continue;
        index_line(index, &args[2], &at, n, picks);
        const char *src = (const char *)args[0].tensor.data + line_offset(&from, n);
        char *dst = (char *)outs[0].tensor.data + line_offset(&to, n);
        for (int64_t k = 0; k < at.length; k++) {
            if (picks[k] < 0 || picks[k] >= size) {
                ok = false;
#pragma omp atomic write
                bad = picks[k];
                break;
            }
            move_item(dst + k * to.stride, src + picks[k] * from.stride, item);
        }
        free(picks);
    }
    return ok ? true : bad_index(op, bad, dim, size, error);
}

/* ---- scatter ---- */

typedef enum Store { STORE_SET, STORE_ADD, STORE_MULTIPLY, STORE_MAX, STORE_MIN, STORE_MEAN } Store;

static bool read_store(const Op *op, const Arg *args, Store *store, OpError *error) {
    static const struct { const char *word; Store store; } words[] = {
        {"add", STORE_ADD}, {"sum", STORE_ADD}, {"multiply", STORE_MULTIPLY}, {"prod", STORE_MULTIPLY}, {"amax", STORE_MAX}, {"amin", STORE_MIN}, {"mean", STORE_MEAN}};
    *store = strcmp(op->shared, "scatter_add") == 0 ? STORE_ADD : STORE_SET;
    const Arg *reduce = op_arg(op, args, "reduce");
    if (reduce->tag != ARG_STR) return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, reduce->s) == 0) return *store = words[i].store, true;
    return op_error(error, ERROR_RUNTIME, "reduce argument must be either sum, prod, mean, amax or amin, got %s", reduce->s);
}

static double combine_floats(Store store, double a, double b) {
    switch (store) {
    case STORE_SET: return b;
    case STORE_MULTIPLY: return a * b;
    case STORE_MAX: return a != a || a > b ? a : b;
    case STORE_MIN: return a != a || a < b ? a : b;
    default: return a + b;
    }
}

static int64_t combine_integers(Store store, int64_t a, int64_t b) {
    switch (store) {
    case STORE_SET: return b;
    case STORE_MULTIPLY: return (int64_t)((uint64_t)a * (uint64_t)b);
    case STORE_MAX: return a > b ? a : b;
    case STORE_MIN: return a < b ? a : b;
    default: return (int64_t)((uint64_t)a + (uint64_t)b);
    }
}

/* One element: what is there, combined with what comes. */
static void store_element(DType dtype, Store store, char *to, const char *from, double factor) {
    if (dtype_is_float(dtype)) {
        double value = combine_floats(store, load_double(dtype, to), load_double(dtype, from) * factor);
        store_values(DTYPE_F64, dtype, 1, &value, to, 0);
    } else {
        int64_t value = combine_integers(store, load_int(dtype, to), (int64_t)((uint64_t)load_int(dtype, from) * (uint64_t)(int64_t)factor));
        store_values(DTYPE_I64, dtype, 1, &value, to, 0);
    }
}

/* Integers are rounded down. */
static void divide_element(DType dtype, char *at, int64_t count) {
    if (dtype_is_float(dtype)) {
        double value = load_double(dtype, at) / (double)count;
        store_values(DTYPE_F64, dtype, 1, &value, at, 0);
    } else {
        int64_t value = load_int(dtype, at), floored = value / count - (value % count < 0);
        store_values(DTYPE_I64, dtype, 1, &floored, at, 0);
    }
}

typedef struct Scatter { const Op *op; const Arg *args, *out; Lines at, to, from; DType dtype; int item, dim; int64_t size; Store store; _Alignas(8) char number[8]; bool from_number; } Scatter;

static bool scatter_line(const Scatter *s, int64_t line, int64_t *picks, bool exclude, int64_t *counts, int64_t *bad) {
    const char *src = s->from_number ? s->number : (const char *)s->args[3].tensor.data + line_offset(&s->from, line);
    char *dst = (char *)s->out->tensor.data + line_offset(&s->to, line);
    index_line(arg_meta(&s->args[2]), &s->args[2], &s->at, line, picks);
    for (int64_t k = 0; k < s->at.length; k++)
        if (picks[k] < 0 || picks[k] >= s->size) return *bad = picks[k], false;
    for (int64_t k = 0; k < s->at.length; k++) {
        char *to = dst + picks[k] * s->to.stride;
        const char *from = s->from_number ? src : src + k * s->from.stride;
        bool first = exclude && counts[picks[k]] == 0;
        counts[picks[k]]++;
        if (s->store == STORE_SET || first) move_item(to, from, s->item);
        else store_element(s->dtype, s->store, to, from, 1);
    }
    for (int64_t k = 0; k < s->size && s->store == STORE_MEAN; k++) { /* the element itself counts once, unless it was excluded */
        int64_t n = counts[k] + !exclude;
        if (counts[k] > 0 && n > 1) divide_element(s->dtype, dst + k * s->to.stride, n);
    }
    return true;
}

bool run_scatter(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    const Meta *input = arg_meta(&args[0]), *index = arg_meta(&args[2]), *out = arg_meta(&outs[0]);
    Scatter s = {.op = op, .args = args, .out = &outs[0], .dtype = out->dtype, .item = dtype_size(out->dtype), .from_number = !arg_is_tensor(&args[3])};
    if (!read_dim(op, args, "dim", input->rank, &s.dim, error) || !read_store(op, args, &s.store, error)) return false;
    bool exclude = op_arg(op, args, "include_self")->tag != ARG_NONE && !arg_truth(op_arg(op, args, "include_self"), true), ok = true;
    s.size = input->rank ? input->sizes[s.dim] : 1;
    s.at = lines_of(index, s.dim);
    s.to = lines_at(index, out, s.dim);
    if (!s.from_number) s.from = lines_at(index, arg_meta(&args[3]), s.dim);
    else if (dtype_is_float(s.dtype)) { double value = arg_as_double(&args[3]); store_values(DTYPE_F64, s.dtype, 1, &value, s.number, 0); }
    else { int64_t value = arg_as_int(&args[3]); store_values(DTYPE_I64, s.dtype, 1, &value, s.number, 0); }
    copy_elements(out, outs[0].tensor.data, input, args[0].tensor.data, context->threads);
    if (meta_numel(index) == 0) return true;
    int threads = threads_for(meta_numel(index), context);
    int64_t bad = 0;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(&& : ok)
    for (int64_t line = 0; line < s.at.count; line++) {
        int64_t *picks = malloc((size_t)s.at.length * sizeof *picks), *counts = calloc((size_t)s.size + 1, sizeof *counts), wrong = 0;
        bool done = picks && counts && scatter_line(&s, line, picks, exclude, counts, &wrong);
        if (!done) {
            ok = false;
#pragma omp atomic write
            bad = wrong;
        }
        free(picks);
        free(counts);
    }
    return ok ? true : bad_index(op, bad, s.dim, s.size, error);
}

/* A stretch of elements at strides (bytes): to += from * factor, in double (integers wrap). */
/* Adding in float is what adding in double and rounding gives: a sum of two floats has no more digits than a double. */
CLONES static void add_floats(float *to, const float *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] += from[i];
}

static void add_stretch(DType dst_type, char *to, int64_t to_stride, DType src_type, const char *from, int64_t from_stride, int64_t n, double factor) {
    enum { STRETCH = 512 };
    union { double f[STRETCH]; int64_t i[STRETCH]; } a, b;
    DType compute = dtype_is_float(dst_type) ? DTYPE_F64 : DTYPE_I64;
    if (dst_type == DTYPE_F32 && src_type == DTYPE_F32 && to_stride == 4 && from_stride == 4 && factor == 1) {
        add_floats((float *)(void *)to, (const float *)(const void *)from, n);
        return;
    }
    for (int64_t done = 0; done < n; done += STRETCH) {
        int64_t part = n - done < STRETCH ? n - done : STRETCH;
        load_values(dst_type, compute, part, &a, to + done * to_stride, to_stride);
        load_values(src_type, compute, part, &b, from + done * from_stride, from_stride);
        if (compute == DTYPE_F64) for (int64_t i = 0; i < part; i++) a.f[i] += b.f[i] * factor;
        else for (int64_t i = 0; i < part; i++) a.i[i] = (int64_t)((uint64_t)a.i[i] + (uint64_t)b.i[i] * (uint64_t)(int64_t)factor);
        store_values(compute, dst_type, part, &a, to + done * to_stride, to_stride);
    }
}

void add_elements(const Meta *dst_meta, void *dst, const Meta *src_meta, const void *src, double factor) {
    int dst_item = dtype_size(dst_meta->dtype), src_item = dtype_size(src_meta->dtype), lead = dst_meta->rank - src_meta->rank, last = dst_meta->rank - 1;
    int64_t at[MAX_RANK] = {0}, strides[MAX_RANK] = {0}, total = meta_numel(dst_meta), to = dst_meta->offset, from = src_meta->offset;
    for (int i = lead; i < dst_meta->rank; i++) strides[i] = src_meta->sizes[i - lead] == 1 ? 0 : src_meta->strides[i - lead];
    int64_t length = last < 0 ? 1 : dst_meta->sizes[last], to_stride = last < 0 ? 0 : dst_meta->strides[last] * dst_item, from_stride = last < 0 ? 0 : strides[last] * src_item;
    for (int64_t n = 0; n < total; n += length) {
        int64_t whole = to_stride ? length : 1; /* one place taken again and again: each addition sees the one before */
        for (int64_t k = 0; k < length; k += whole)
            add_stretch(dst_meta->dtype, (char *)dst + to * dst_item + k * to_stride, to_stride, src_meta->dtype, (const char *)src + from * src_item + k * from_stride, from_stride, whole, factor);
        for (int i = last - 1; i >= 0; i--) {
            to += dst_meta->strides[i];
            from += strides[i];
            if (++at[i] < dst_meta->sizes[i]) break;
            to -= dst_meta->strides[i] * dst_meta->sizes[i];
            from -= strides[i] * dst_meta->sizes[i];
            at[i] = 0;
        }
    }
}

/* ---- slices by an index vector ---- */

static Meta slice_of(const Meta *meta, int dim, int64_t at) {
    Meta slice = *meta;
    if (meta->rank == 0) return slice;
    slice.offset += at * meta->strides[dim];
    for (int i = dim; i + 1 < meta->rank; i++) {
        slice.sizes[i] = meta->sizes[i + 1];
        slice.strides[i] = meta->strides[i + 1];
    }
    slice.rank--;
    return slice;
}

/* The part-th of `parts` pieces of a slice along its last dim. */
static Meta piece_of(Meta slice, int64_t part, int64_t parts) {
    int last = slice.rank - 1;
    if (parts == 1) return slice;
    int64_t first = slice.sizes[last] * part / parts, end = slice.sizes[last] * (part + 1) / parts;
    slice.offset += first * slice.strides[last];
    slice.sizes[last] = end - first;
    return slice;
}

/* One slice, or the part-th of `parts` pieces of it. */
static void move_slice(const Op *op, const Arg *args, const Arg *out, int dim, int64_t k, int64_t at, int64_t part, int64_t parts) {
    const Meta *input = arg_meta(&args[0]), *target = arg_meta(out);
    if (strcmp(op->shared, "index_select") == 0) {
        Meta to = slice_of(target, dim, k), from = slice_of(input, dim, at);
        copy_elements(&to, out->tensor.data, &from, args[0].tensor.data, 1);
        return;
    }
    Meta to = piece_of(slice_of(target, dim, at), part, parts);
    if (strcmp(op->shared, "index_fill") == 0) {
        const Arg *value = &args[3];
        if (arg_is_tensor(value)) copy_elements(&to, out->tensor.data, arg_meta(value), value->tensor.data, 1);
        else fill_elements(&to, out->tensor.data, arg_as_double(value), arg_as_int(value), 1);
        return;
    }
    const Arg *source = &args[3];
    Meta from = piece_of(slice_of(arg_meta(source), dim, k), part, parts);
    if (strcmp(op->shared, "index_copy") == 0) copy_elements(&to, out->tensor.data, &from, source->tensor.data, 1);
    else add_elements(&to, out->tensor.data, &from, source->tensor.data, arg_as_double(op_arg(op, args, "alpha")));
}

/* Contiguous tensors: blocks of the dims behind `dim`, in the order of the output's memory. */
static void select_blocks(const Arg *input, const Arg *out, int dim, const int64_t *picks, int64_t count, int threads) {
    const Meta *meta = arg_meta(input);
    int64_t outer = 1, bytes = dtype_size(meta->dtype), size = meta->sizes[dim];
    for (int i = 0; i < dim; i++) outer *= meta->sizes[i];
    for (int i = dim + 1; i < meta->rank; i++) bytes *= meta->sizes[i];
    const char *src = (const char *)input->tensor.data + meta->offset * dtype_size(meta->dtype);
    char *dst = (char *)out->tensor.data + arg_meta(out)->offset * dtype_size(meta->dtype);
    (void)threads;
    if (bytes == 0) return;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t block = 0; block < outer * count; block++) {
        const char *from = src + (block / count * size + picks[block % count]) * bytes;
        if (bytes <= 8 && !(bytes & (bytes - 1))) move_item(dst + block * bytes, from, (int)bytes);
        else memcpy(dst + block * bytes, from, (size_t)bytes);
    }
}

bool run_slices(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    int dim;
    const Meta *input = arg_meta(&args[0]), *index = arg_meta(&args[2]);
    if (!read_dim(op, args, "dim", input->rank, &dim, error)) return false;
    Lines at = lines_of(index, 0);
    int64_t size = input->rank ? input->sizes[dim] : 1, *picks = malloc((size_t)at.length * sizeof *picks + 1);
    if (!picks) return op_error(error, ERROR_MEMORY, "%s(): no memory", op->name);
    bool ok = true;
    if (at.length) index_line(index, &args[2], &at, 0, picks);
    for (int64_t k = 0; k < at.length && ok; k++) {
        if (picks[k] < 0 && strcmp(op->shared, "index_fill") == 0) picks[k] += size;
        if (picks[k] < 0 || picks[k] >= size) ok = op_error(error, ERROR_INDEX, "index out of range in self");
    }
    bool selects = strcmp(op->shared, "index_select") == 0;
    if (ok && !selects) copy_elements(arg_meta(&outs[0]), outs[0].tensor.data, input, args[0].tensor.data, context->threads);
    /* Slices that are selected are independent; one that is written to may be written to again, so each thread has a piece of every slice. */
    const Meta *moved = selects ? arg_meta(&outs[0]) : strcmp(op->shared, "index_fill") ? arg_meta(&args[3]) : input;
    int threads = threads_for(meta_numel(moved), context);
    int64_t parts = selects || input->rank < 2 || dim == input->rank - 1 || input->sizes[input->rank - 1] < 16 * threads ? 1 : threads;
    if (ok && selects && input->rank && meta_is_contiguous(input) && meta_is_contiguous(arg_meta(&outs[0]))) {
        select_blocks(&args[0], &outs[0], dim, picks, at.length, threads);
        free(picks);
        return true;
    }
    int64_t slices = ok ? at.length : 0, tasks = selects ? slices : parts;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && tasks > 1)
    for (int64_t task = 0; task < tasks; task++) {
        if (selects) move_slice(op, args, &outs[0], dim, task, picks[task], 0, 1);
        else for (int64_t k = 0; k < slices; k++) move_slice(op, args, &outs[0], dim, k, picks[k], task, parts);
    }
    free(picks);
    return ok;
}

/* ---- embeddings ---- */

/* The indices as a dense array, checked. */
static int64_t *read_indices(const Op *op, const Arg *indices, int64_t limit, OpError *error) {
    Meta dense = *arg_meta(indices);
    int64_t count = meta_numel(&dense), *picks = malloc((size_t)count * sizeof *picks + 1);
    if (!picks) return op_error(error, ERROR_MEMORY, "%s(): no memory", op->name), NULL;
    dense.dtype = DTYPE_I64;
    dense.offset = 0;
    meta_set_contiguous(&dense, NULL);
    copy_elements(&dense, picks, arg_meta(indices), indices->tensor.data, 1);
    for (int64_t k = 0; k < count; k++) {
        if (picks[k] >= 0 && picks[k] < limit) continue;
        free(picks);
        return op_error(error, ERROR_INDEX, "index out of range in self"), NULL;
    }
    return picks;
}

bool run_embedding(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    const Meta *weight = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    int64_t count = meta_numel(arg_meta(&args[1])), *picks = read_indices(op, &args[1], weight->sizes[0], error);
    if (!picks) return false;
    int threads = threads_for(meta_numel(out), context);
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < count; k++) {
        Meta from = slice_of(weight, 0, picks[k]), to = from;
        to.strides[0] = out->strides[out->rank - 1];
        to.offset = out->offset;
        int64_t rest = k;
        for (int i = out->rank - 2; i >= 0; i--) {
            to.offset += rest % out->sizes[i] * out->strides[i];
            rest /= out->sizes[i];
        }
        copy_elements(&to, outs[0].tensor.data, &from, args[0].tensor.data, 1);
    }
    free(picks);
    return true;
}

typedef struct Uses { const int64_t *picks, *uses; int64_t count, width, padding; bool by_frequency; } Uses;

#define ADD_ROWS(name, type)                                                                                   \
    static void name(const Uses *u, const type *rows, type *sums) {                                            \
        for (int64_t k = 0; k < u->count; k++) {                                                               \
            if (u->picks[k] == u->padding) continue;                                                           \
            type scale = u->by_frequency ? 1 / (type)u->uses[u->picks[k]] : 1, *to = sums + u->picks[k] * u->width; \
            const type *from = rows + k * u->width;                                                            \
            for (int64_t j = 0; j < u->width; j++) to[j] += from[j] * scale;                                   \
        }                                                                                                      \
    }
ADD_ROWS(add_rows_f32, float)
ADD_ROWS(add_rows_f64, double)

/* Sums in the compute type, in the order of the indices. */
bool run_embedding_backward(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    const Meta *grad = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    DType compute = dtype_info[grad->dtype].compute;
    size_t item = (size_t)compute_size(compute);
    int64_t weights = out->sizes[0], count = meta_numel(arg_meta(&args[1])), *picks = read_indices(op, &args[1], weights, error);
    int64_t *uses = calloc((size_t)weights + 1, sizeof *uses);
    Uses u = {picks, uses, count, out->sizes[1], arg_as_int(op_arg(op, args, "padding_idx")), arg_truth(op_arg(op, args, "scale_grad_by_freq"), false)};
    void *rows = malloc((size_t)(count * u.width) * item + 1), *sums = calloc((size_t)(weights * u.width) + 1, item);
    bool ok = picks && uses && rows && sums;
    if (picks && !ok) op_error(error, ERROR_MEMORY, "%s(): no memory", op->name);
    if (ok) {
        Meta dense = *grad, summed = meta_new(compute, out->device, 2, out->sizes);
        dense.dtype = compute;
        dense.offset = 0;
        meta_set_contiguous(&dense, NULL);
        copy_elements(&dense, rows, grad, args[0].tensor.data, context->threads);
        for (int64_t k = 0; k < count; k++) uses[picks[k]]++;
        if (compute == DTYPE_F64) add_rows_f64(&u, rows, sums);
        else add_rows_f32(&u, rows, sums);
        copy_elements(out, outs[0].tensor.data, &summed, sums, context->threads);
    }
    free(picks);
    free(uses);
    free(rows);
    free(sums);
    return ok;
}
