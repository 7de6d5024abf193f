/* Order: sort, topk, kthvalue, median along a dim; searchsorted, bincount, unique.
 *
 * In: a tensor, a dim. Out: values and the indices they had. Sorting is stable: equal values keep their order; NaN stands above everything.
 *
 *     sort([3, 1, 2]) -> [1, 2, 3], [1, 2, 0];   topk([3, 1, 2], 2) -> [3, 2], [0, 2];   median of an even count -> the lower middle
 *
 * Invariant: a line's keys are doubles (integers: int64) with their place, merged bottom-up; no comparison is undefined. */
#include "op/convert.h"
#include "op/index.h"
#include "op/lines.h"
#include "op/walk.h"
#include <stdlib.h>
#include <string.h>

static bool is_kind(const Op *op, const char *kind) { return strcmp(op->shared, kind) == 0; }

/* ---- shapes ---- */

static Meta dense_of(const Meta *like, DType dtype, SymTable *syms) {
    Meta meta = *like;
    meta.dtype = dtype;
    meta.offset = 0;
    meta.requires_grad = false;
    meta_set_contiguous(&meta, syms);
    return meta;
}

static bool infer_sorted(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    int dim;
    const Meta *input = arg_meta(&args[0]);
    if (!read_dim(op, args, "dim", input->rank, &dim, error)) return false;
    Meta out = *input;
    Dim size = input->rank ? input->sizes[dim] : 1, k = op_arg(op, args, "k")->tag == ARG_INT ? op_arg(op, args, "k")->i : arg_as_int(op_arg(op, args, "k"));
    if (is_kind(op, "topk") && (dim_is(SYM_LT, k, 0) || dim_is(SYM_LT, size, k))) return op_error(error, ERROR_RUNTIME, "selected index k out of range");
    if (is_kind(op, "kthvalue") && (dim_is(SYM_LT, k, 1) || dim_is(SYM_LT, size, k))) return op_error(error, ERROR_RUNTIME, "kthvalue(): selected number k out of range for dimension %d", dim);
    if (is_kind(op, "topk") && out.rank && !read_integer(op, args, "k", &out.sizes[dim], error)) return false;
    if (is_kind(op, "kthvalue") && out.rank) {
        if (arg_truth(op_arg(op, args, "keepdim"), false)) out.sizes[dim] = 1;
        else {
            for (int i = dim; i + 1 < out.rank; i++) out.sizes[i] = out.sizes[i + 1];
            out.rank--;
        }
    }
    outs[0] = dense_of(&out, input->dtype, context->syms);
    if (is_kind(op, "sort")) meta_preserve_strides(&outs[0], input, context->syms);
    outs[1] = outs[0];
    outs[1].dtype = DTYPE_I64;
    *count = 2;
    return true;
}

static bool infer_median(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    int dim;
    Meta out = *arg_meta(&args[0]);
    *count = 1;
    if (op_arg(op, args, "dim")->tag == ARG_NONE) {
        out.rank = 0;
        outs[0] = dense_of(&out, out.dtype, context->syms);
        return true;
    }
    if (!read_dim(op, args, "dim", out.rank, &dim, error)) return false;
    if (out.rank && dim_same(out.sizes[dim], 0)) return op_error(error, ERROR_INDEX, "median(): Expected reduction dim %d to have non-zero size.", dim);
    if (out.rank && arg_truth(op_arg(op, args, "keepdim"), false)) out.sizes[dim] = 1;
    else if (out.rank) {
        for (int i = dim; i + 1 < out.rank; i++) out.sizes[i] = out.sizes[i + 1];
        out.rank--;
    }
    outs[0] = dense_of(&out, out.dtype, context->syms);
    outs[1] = dense_of(&out, DTYPE_I64, context->syms);
    *count = 2;
    return true;
}

static bool infer_search(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    const Meta *sorted = arg_meta(&args[0]);
    DType dtype = arg_truth(op_arg(op, args, "out_int32"), false) ? DTYPE_I32 : DTYPE_I64;
    if (sorted->rank < 1) return op_error(error, ERROR_RUNTIME, "searchsorted(): the boundaries need at least one dimension");
    Meta out = {.device = sorted->device};
    if (arg_is_tensor(&args[1])) out = *arg_meta(&args[1]);
    bool fits = sorted->rank == 1 || (arg_is_tensor(&args[1]) && sorted->rank == out.rank);
    for (int i = 0; fits && sorted->rank > 1 && i < sorted->rank - 1; i++) fits = dim_same(sorted->sizes[i], out.sizes[i]);
    if (!fits) return op_error(error, ERROR_RUNTIME, "searchsorted(): boundaries tensor should be 1 dimension or its first dimensions should match those of the input");
    outs[0] = dense_of(&out, dtype, context->syms);
    return true;
}

static bool has_data(const Op *op, const Arg *arg, OpError *error) {
    bool known = meta_is_static(arg_meta(arg)) && (arg->tensor.data || meta_numel(arg_meta(arg)) == 0);
    if (known && arg_meta(arg)->device.kind == DEVICE_CPU) return true;
    return op_error(error, ERROR_NOT_IMPLEMENTED, "%s(): the shape of its result depends on data that is not at hand", op->name);
}

static Dim size_from_data(const Arg *arg, int64_t least, int64_t most, const OpContext *context) {
    bool known = arg->tensor.data || (meta_is_static(arg_meta(arg)) && meta_numel(arg_meta(arg)) == 0);
    return known || !context || !context->unbacked ? 0 : context->unbacked(context->unbacked_state, least, most);
}

static bool infer_bincount(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    const Meta *input = arg_meta(&args[0]);
    int64_t size = arg_as_int(op_arg(op, args, "minlength"));
    const Arg *weights = op_arg(op, args, "weights");
    if (size < 0) return op_error(error, ERROR_RUNTIME, "minlength should be >= 0");
    if (arg_is_tensor(weights) && !meta_same_shape(arg_meta(weights), input)) return op_error(error, ERROR_RUNTIME, "weights should be 1-d and have the same length as input");
    if (input->rank != 1 || dtype_is_float(input->dtype)) return op_error(error, ERROR_RUNTIME, "bincount only supports 1-d non-negative integral inputs.");
    Dim later = size_from_data(&args[0], size, INT64_MAX, context);
    if (!later && !has_data(op, &args[0], error)) return false;
    for (int64_t i = 0; !later && i < input->sizes[0]; i++) {
        int64_t value = load_int(input->dtype, (const char *)args[0].tensor.data + (input->offset + i * input->strides[0]) * dtype_size(input->dtype));
        if (value < 0) return op_error(error, ERROR_RUNTIME, "bincount only supports 1-d non-negative integral inputs.");
        if (value >= size) size = value + 1;
    }
    DType dtype = !arg_is_tensor(weights) ? DTYPE_I64 : arg_meta(weights)->dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_F64;
    Meta out = {.device = input->device, .rank = 1, .sizes = {later ? later : size}};
    outs[0] = dense_of(&out, dtype, context->syms);
    return true;
}

/* ---- keys ---- */

typedef struct Key { double f; int64_t i, at; } Key; /* of floats f (i is 0), of integers i (f is 0); at: place in the line */

static bool before(const Key *a, const Key *b, bool descending) {
    bool a_nan = a->f != a->f, b_nan = b->f != b->f;
    if (a_nan || b_nan) return descending ? a_nan && !b_nan : b_nan && !a_nan;
    if (a->f != b->f) return descending ? a->f > b->f : a->f < b->f;
    return descending ? a->i > b->i : a->i < b->i;
}

/* Bottom-up merging; `spare` holds n keys. */
static void sort_keys(Key *keys, Key *spare, int64_t n, bool descending) {
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            int64_t middle = start + width < n ? start + width : n, end = start + 2 * width < n ? start + 2 * width : n, left = start, right = middle;
            for (int64_t k = start; k < end; k++) {
                bool take_right = left == middle || (right < end && before(&keys[right], &keys[left], descending));
                spare[k] = keys[take_right ? right++ : left++];
            }
        }
        memcpy(keys, spare, (size_t)n * sizeof *keys);
    }
}

static void read_keys(DType dtype, const char *src, int64_t stride, int64_t n, Key *keys) {
    bool floats = dtype_is_float(dtype);
    for (int64_t k = 0; k < n; k++) {
        const char *at = src + k * stride;
        keys[k] = (Key){floats ? load_double(dtype, at) : 0, floats ? 0 : load_int(dtype, at), k};
    }
}

static void write_key(DType dtype, char *dst, const Key *key) {
    if (dtype_is_float(dtype)) store_values(DTYPE_F64, dtype, 1, &key->f, dst, 0);
    else store_values(DTYPE_I64, dtype, 1, &key->i, dst, 0);
}

/* ---- sort and its kin: some of a line's keys in order ---- */

typedef struct Pick { int64_t first, count; bool descending; } Pick; /* keys [first, first + count) of the sorted line */

/* A value as bits that sort as it does (NaN last; both zeros are one), with its place in the line. */
typedef struct Rank { uint64_t bits; int64_t at; } Rank;

static uint64_t rank_of_float(float f) {
    uint32_t b;
    f += 0.0f;
    memcpy(&b, &f, sizeof b);
    return f != f ? UINT32_MAX : b >> 31 ? (uint32_t)~b : b | UINT32_C(1) << 31;
}

static uint64_t rank_of_double(double f) {
    uint64_t b;
    f += 0.0;
    memcpy(&b, &f, sizeof b);
    return f != f ? UINT64_MAX : b >> 63 ? ~b : b | UINT64_C(1) << 63;
}

static void read_ranks(DType dtype, const char *src, int64_t stride, int64_t n, bool descending, Rank *ranks) {
    enum { STRETCH = 512 };
    union { float f[STRETCH]; double d[STRETCH]; int64_t i[STRETCH]; } values;
    DType compute = dtype_is_float(dtype) ? dtype_info[dtype].compute : DTYPE_I64;
    for (int64_t done = 0; done < n; done += STRETCH) {
        int64_t part = n - done < STRETCH ? n - done : STRETCH;
        load_values(dtype, compute, part, &values, src + done * stride, stride);
        for (int64_t k = 0; k < part; k++) {
            uint64_t bits = compute == DTYPE_F32 ? rank_of_float(values.f[k]) : compute == DTYPE_F64 ? rank_of_double(values.d[k]) : (uint64_t)values.i[k] ^ UINT64_C(1) << 63;
            ranks[done + k] = (Rank){descending ? (compute == DTYPE_F32 ? UINT32_MAX - bits : ~bits) : bits, done + k};
        }
    }
}

static void insert_ranks(Rank *ranks, int64_t n) {
    for (int64_t k = 1; k < n; k++) {
        Rank rank = ranks[k];
        int64_t place = k;
        for (; place > 0 && ranks[place - 1].bits > rank.bits; place--) ranks[place] = ranks[place - 1];
        ranks[place] = rank;
    }
}

/* By digits from the lowest, each pass stable; digits in which all agree are passed over. Returns where the result lies: ranks or spare. */
static Rank *sort_ranks(Rank *ranks, Rank *spare, int64_t n) {
    if (n <= 32) return insert_ranks(ranks, n), ranks;
    uint64_t all = 0, one = ranks[0].bits;
    for (int64_t k = 0; k < n; k++) all |= ranks[k].bits ^ one;
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t starts[256] = {0}, sum = 0;
        if (!(all >> shift & 255)) continue;
        for (int64_t k = 0; k < n; k++) starts[ranks[k].bits >> shift & 255]++;
        for (int d = 0; d < 256; d++) {
            int64_t count = starts[d];
            starts[d] = sum;
            sum += count;
        }
        for (int64_t k = 0; k < n; k++) spare[starts[ranks[k].bits >> shift & 255]++] = ranks[k];
        Rank *former = ranks;
        ranks = spare;
        spare = former;
    }
    return ranks;
}

/* The first `count` of the sorted line at the head of `ranks`, when they are few: the rest is only compared with the last of them. */
static void select_ranks(Rank *ranks, int64_t n, int64_t count) {
    insert_ranks(ranks, count);
    for (int64_t k = count; k < n; k++) {
        Rank rank = ranks[k];
        if (rank.bits >= ranks[count - 1].bits) continue;
        int64_t place = count - 1;
        for (; place > 0 && ranks[place - 1].bits > rank.bits; place--) ranks[place] = ranks[place - 1];
        ranks[place] = rank;
    }
}

static Pick what_to_pick(const Op *op, const Arg *args, int64_t n) {
    int64_t k = arg_as_int(op_arg(op, args, "k"));
    if (is_kind(op, "sort")) return (Pick){0, n, arg_truth(op_arg(op, args, "descending"), false)};
    if (is_kind(op, "topk")) return (Pick){0, k, arg_truth(op_arg(op, args, "largest"), true)};
    if (is_kind(op, "kthvalue")) return (Pick){k - 1, 1, false};
    return (Pick){(n - 1) / 2, 1, false};
}

/* Any NaN is the median; the first of them. */
static int64_t median_place(DType dtype, const Rank *sorted, int64_t n, int64_t otherwise) {
    uint64_t nan = dtype_info[dtype].compute == DTYPE_F32 ? UINT32_MAX : UINT64_MAX;
    if (!dtype_is_float(dtype) || n == 0 || sorted[n - 1].bits != nan) return otherwise;
    int64_t first = n - 1;
    while (first > 0 && sorted[first - 1].bits == nan) first--;
    return first;
}

static bool order_line(const Op *op, const Arg *args, const char *src, const Lines *in, char *values, const Lines *out, char *places, const Lines *indices, int64_t line) {
    int64_t n = in->length;
    DType dtype = arg_meta(&args[0])->dtype;
    size_t item = (size_t)dtype_size(dtype);
    Rank *memory = malloc((size_t)(2 * n) * sizeof *memory + 1), *ranks = memory;
    if (!memory) return false;
    const char *from = src + line_offset(in, line);
    Pick pick = what_to_pick(op, args, n);
    read_ranks(dtype, from, in->stride, n, pick.descending, ranks);
    if (is_kind(op, "topk") && pick.count > 0 && pick.count <= 64 && pick.count * 8 <= n) select_ranks(ranks, n, pick.count);
    else ranks = sort_ranks(ranks, ranks + n, n);
    if (is_kind(op, "median")) pick.first = median_place(dtype, ranks, n, pick.first);
    for (int64_t k = 0; k < pick.count && k < n; k++) {
        int64_t at = ranks[pick.first + k].at;
        memcpy(values + line_offset(out, line) + k * out->stride, from + at * in->stride, item);
        if (places) memcpy(places + line_offset(indices, line) + k * indices->stride, &at, sizeof at);
    }
    free(memory);
    return true;
}

/* Output lines where the dim is gone: the dim is put back with size 1. */
static Meta with_dim(const Meta *out, int rank, int dim) {
    Meta meta = *out;
    if (out->rank == rank) return meta;
    for (int i = meta.rank++; i > dim; i--) meta.sizes[i] = meta.sizes[i - 1], meta.strides[i] = meta.strides[i - 1];
    meta.sizes[dim] = 1;
    meta.strides[dim] = 1;
    return meta;
}

bool run_order(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    int dim = 0;
    Meta input = *arg_meta(&args[0]);
    bool flat = is_kind(op, "median") && op_arg(op, args, "dim")->tag == ARG_NONE;
    void *dense = NULL;
    const char *src = args[0].tensor.data;
    if (flat) { /* the whole tensor as one line */
        Meta copy = dense_of(&input, input.dtype, NULL);
        if (!(dense = malloc((size_t)meta_bytes(&copy) + 1))) return op_error(error, ERROR_MEMORY, "%s(): no memory", op->name);
        copy_elements(&copy, dense, &input, args[0].tensor.data, context->threads);
        input = meta_new(input.dtype, input.device, 1, (Dim[]){meta_numel(&copy)});
        src = dense;
    } else if (!read_dim(op, args, "dim", input.rank, &dim, error)) return false;
    bool has_places = !flat;
    Meta values_meta = with_dim(arg_meta(&outs[0]), input.rank, dim), places_meta = has_places ? with_dim(arg_meta(&outs[1]), input.rank, dim) : values_meta;
    Lines in = lines_of(&input, dim), out = lines_of(&values_meta, dim), indices = lines_of(&places_meta, dim);
    int threads = meta_numel(&input) < 16384 || context->threads < 1 ? 1 : context->threads;
    bool ok = true;
    (void)threads;
    if (flat && input.sizes[0] == 0) { /* the median of nothing */
        double nan = (double)__builtin_nanf("");
        store_values(DTYPE_F64, input.dtype, 1, &nan, outs[0].tensor.data, 0);
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(&& : ok)
    for (int64_t line = 0; line < in.count; line++)
        ok = order_line(op, args, src, &in, outs[0].tensor.data, &out, has_places ? outs[1].tensor.data : NULL, &indices, line) && ok;
    free(dense);
    return ok ? true : op_error(error, ERROR_MEMORY, "%s(): no memory for a line", op->name);
}

/* ---- searchsorted, bincount, unique ---- */

static Key key_at(const Arg *tensor, int64_t offset) {
    Key key;
    const Meta *meta = arg_meta(tensor);
    read_keys(meta->dtype, (const char *)tensor->tensor.data + offset, 0, 1, &key);
    key.f += (double)key.i;
    key.i = 0;
    return key;
}

static int64_t search_line(const Arg *sorted, int64_t start, int64_t stride, int64_t n, const Key *wanted, bool right) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        Key key = key_at(sorted, start + middle * stride);
        if (right ? !before(wanted, &key, false) : before(&key, wanted, false)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void run_searchsorted(const Op *op, const Arg *args, const Arg *outs) {
    const Meta *sorted = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    bool right = arg_truth(op_arg(op, args, "right"), false);
    Lines lines = lines_of(sorted, sorted->rank - 1);
    if (!arg_is_tensor(&args[1])) {
        Key wanted = {.f = arg_as_double(&args[1])};
        int64_t place = search_line(&args[0], line_offset(&lines, 0), lines.stride, lines.length, &wanted, right);
        store_values(DTYPE_I64, out->dtype, 1, &place, outs[0].tensor.data, 0);
        return;
    }
    const Meta *input = arg_meta(&args[1]);
    int last = input->rank ? input->rank - 1 : 0;
    Lines in = lines_of(input, last), to = lines_of(out, last);
    for (int64_t line = 0; line < in.count; line++)
        for (int64_t k = 0; k < in.length; k++) {
            Key wanted = key_at(&args[1], line_offset(&in, line) + k * in.stride);
            int64_t place = search_line(&args[0], line_offset(&lines, sorted->rank == 1 ? 0 : line), lines.stride, lines.length, &wanted, right);
            store_values(DTYPE_I64, out->dtype, 1, &place, (char *)outs[0].tensor.data + line_offset(&to, line) + k * to.stride, 0);
        }
}

static void run_bincount(const Op *op, const Arg *args, const Arg *outs) {
    const Meta *input = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    const Arg *weights = op_arg(op, args, "weights");
    fill_elements(out, outs[0].tensor.data, 0, 0, 1);
    for (int64_t i = 0; i < input->sizes[0]; i++) {
        int64_t value = load_int(input->dtype, (const char *)args[0].tensor.data + (input->offset + i * input->strides[0]) * dtype_size(input->dtype));
        char *to = (char *)outs[0].tensor.data + (out->offset + value) * dtype_size(out->dtype);
        double weight = arg_is_tensor(weights) ? load_double(arg_meta(weights)->dtype, (const char *)weights->tensor.data + (arg_meta(weights)->offset + i * arg_meta(weights)->strides[0]) * dtype_size(arg_meta(weights)->dtype)) : 1;
        double total = load_double(out->dtype, to) + weight;
        store_values(DTYPE_F64, out->dtype, 1, &total, to, 0);
    }
}

/* All elements as sorted keys; `at` is the place in logical order. Freed by the caller. */
static Key *sorted_elements(const Arg *tensor, int64_t *count) {
    Meta dense = dense_of(arg_meta(tensor), arg_meta(tensor)->dtype, NULL);
    int64_t n = *count = meta_numel(&dense);
    char *copy = malloc((size_t)meta_bytes(&dense) + 1);
    Key *keys = malloc((size_t)(2 * n) * sizeof *keys + 1);
    if (copy && keys) {
        copy_elements(&dense, copy, arg_meta(tensor), tensor->tensor.data, 1);
        read_keys(dense.dtype, copy, dtype_size(dense.dtype), n, keys);
        sort_keys(keys, keys + n, n, false);
    } else {
        free(keys);
        keys = NULL;
    }
    free(copy);
    return keys;
}

static bool infer_unique(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    int64_t n, distinct = 0;
    if (op_arg(op, args, "dim")->tag != ARG_NONE) return op_error(error, ERROR_NOT_IMPLEMENTED, "unique(): dim= is not supported");
    Dim later = size_from_data(&args[0], 0, meta_is_static(arg_meta(&args[0])) ? meta_numel(arg_meta(&args[0])) : INT64_MAX, context);
    if (!later && !has_data(op, &args[0], error)) return false;
    Key *keys = later ? NULL : sorted_elements(&args[0], &n);
    if (!later && !keys) return op_error(error, ERROR_MEMORY, "unique(): no memory");
    for (int64_t k = 0; !later && k < n; k++) distinct += k == 0 || before(&keys[k - 1], &keys[k], false) || keys[k].f != keys[k].f;
    free(keys);
    Meta out = {.device = arg_meta(&args[0])->device, .rank = 1, .sizes = {later ? later : distinct}};
    *count = 0;
    outs[(*count)++] = dense_of(&out, arg_meta(&args[0])->dtype, context->syms);
    if (arg_truth(op_arg(op, args, "return_inverse"), false)) outs[(*count)++] = dense_of(arg_meta(&args[0]), DTYPE_I64, context->syms);
    if (arg_truth(op_arg(op, args, "return_counts"), false)) outs[(*count)++] = dense_of(&out, DTYPE_I64, context->syms);
    return true;
}

static bool run_unique(const Op *op, const Arg *args, const Arg *outs, OpError *error) {
    int64_t n, place = -1, next = 1;
    Key *keys = sorted_elements(&args[0], &n);
    if (!keys) return op_error(error, ERROR_MEMORY, "unique(): no memory");
    int64_t *inverse = arg_truth(op_arg(op, args, "return_inverse"), false) ? outs[next++].tensor.data : NULL;
    int64_t *counts = arg_truth(op_arg(op, args, "return_counts"), false) ? outs[next].tensor.data : NULL;
    DType dtype = arg_meta(&outs[0])->dtype;
    for (int64_t k = 0; k < n; k++) {
        bool fresh = k == 0 || before(&keys[k - 1], &keys[k], false) || keys[k].f != keys[k].f;
        if (fresh) write_key(dtype, (char *)outs[0].tensor.data + ++place * dtype_size(dtype), &keys[k]);
        if (counts) counts[place] = fresh ? 1 : counts[place] + 1;
        if (inverse) inverse[keys[k].at] = place;
    }
    free(keys);
    return true;
}

bool run_search(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    (void)context;
    if (is_kind(op, "unique")) return run_unique(op, args, outs, error);
    if (is_kind(op, "bincount")) run_bincount(op, args, outs);
    else run_searchsorted(op, args, outs);
    return true;
}

bool order_infer(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error, bool *handled) {
    *handled = true;
    *count = 1;
    if (is_kind(op, "sort") || is_kind(op, "topk") || is_kind(op, "kthvalue")) return infer_sorted(op, args, outs, count, context, error);
    if (is_kind(op, "median")) return infer_median(op, args, outs, count, context, error);
    if (is_kind(op, "searchsorted")) return infer_search(op, args, outs, context, error);
    if (is_kind(op, "bincount")) return infer_bincount(op, args, outs, context, error);
    if (is_kind(op, "unique")) return infer_unique(op, args, outs, count, context, error);
    *handled = false;
    return false;
}
