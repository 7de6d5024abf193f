/* Meta: shapes, strides, dtypes.
 *
 * In: sizes and dtypes. Out: strides, element counts, promotion, the printed form `f32[3, 4][4, 1]cpu`.
 *
 *     Meta m = meta_new(DTYPE_F32, (Device){DEVICE_CPU, 0}, 2, (Dim[]){3, 4});   // strides 4, 1
 *     meta_is_contiguous(&m)                                                     // true
 *
 * Invariant: an answer about symbolic sizes holds in every call that the compile will serve: what is not known is assumed (sym.h).
 * To add a dtype: a row in dtype.def. */
#include "ir/meta.h"
#include <assert.h>
#include <string.h>

const DTypeInfo dtype_info[DTYPE_COUNT] = {
#define DTYPE(id, name, short_name, size, category, c_type, compute) [DTYPE_##id] = {name, short_name, size, category, c_type, compute},
#include "ir/dtype.def"
#undef DTYPE
};

/* PyTorch: the higher category wins; uint8 with a signed integer gives the next wider signed one; float16 with bfloat16 float32. */
DType dtype_promote(DType a, DType b) {
    if (a == b) return a;
    DType low = a < b ? a : b, high = a < b ? b : a;
    if (dtype_info[low].category != dtype_info[high].category) return high;
    if (low == DTYPE_U8 && high == DTYPE_I8) return DTYPE_I16;
    if (low == DTYPE_F16 && high == DTYPE_BF16) return DTYPE_F32;
    return high;
}

DType dtype_find(const char *torch_name) {
    static const struct { const char *name; DType dtype; } aliases[] = {
        {"float", DTYPE_F32}, {"double", DTYPE_F64}, {"half", DTYPE_F16}, {"long", DTYPE_I64}, {"int", DTYPE_I32}, {"short", DTYPE_I16},
    };
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (strcmp(dtype_info[i].name, torch_name) == 0) return (DType)i;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i].name, torch_name) == 0) return aliases[i].dtype;
    return DTYPE_NONE;
}

static Dim times(SymTable *syms, Dim a, Dim b) { return dim_is_int(a) && dim_is_int(b) ? dim_int_mul(a, b) : dim_mul(syms, a, b); }

/* A stride counts an empty or symbolic dim as itself, but never as 0: PyTorch's max(size, 1). */
static Dim at_least_one(SymTable *syms, Dim size) {
    if (dim_is_int(size)) return size < 1 ? 1 : size;
    (void)syms;
    return dim_is(SYM_LE, 1, size) ? size : 1;
}

void meta_set_contiguous(Meta *meta, SymTable *syms) {
    Dim stride = 1;
    for (int i = meta->rank - 1; i >= 0; i--) {
        meta->strides[i] = stride;
        stride = times(syms, stride, at_least_one(syms, meta->sizes[i]));
    }
}

Meta meta_new(DType dtype, Device device, int rank, const Dim *sizes) {
    Meta meta = {.dtype = dtype, .device = device, .rank = rank};
    assert(rank >= 0 && rank <= MAX_RANK);
    for (int i = 0; i < rank; i++) meta.sizes[i] = sizes[i];
    bool is_static = true;
    for (int i = 0; i < rank; i++) is_static = is_static && dim_is_int(sizes[i]);
    if (is_static) meta_set_contiguous(&meta, NULL);
    return meta;
}

bool meta_is_static(const Meta *meta) {
    for (int i = 0; i < meta->rank; i++)
        if (!dim_is_int(meta->sizes[i]) || !dim_is_int(meta->strides[i])) return false;
    return dim_is_int(meta->offset);
}

Meta meta_resolved(const Meta *meta) {
    Meta now = *meta;
    for (int i = 0; i < meta->rank; i++) now.sizes[i] = dim_resolve(meta->sizes[i]), now.strides[i] = dim_resolve(meta->strides[i]);
    now.offset = dim_resolve(meta->offset);
    return now;
}

static int64_t seen(Dim d) { return dim_is_int(d) ? d : dim_hint(d); }

int64_t meta_numel(const Meta *meta) {
    int64_t n = 1;
    for (int i = 0; i < meta->rank; i++) n *= seen(meta->sizes[i]);
    return n;
}

Dim meta_numel_dim(const Meta *meta, SymTable *syms) {
    Dim n = 1;
    for (int i = 0; i < meta->rank; i++) n = times(syms, n, meta->sizes[i]);
    return n;
}

int64_t meta_bytes(const Meta *meta) { return meta_numel(meta) * dtype_size(meta->dtype); }

/* The steps are counted wide: a product of two sizes may not fit 64 bits, and one that wrapped around would look small. */
int64_t meta_storage_span(const Meta *meta) {
    int64_t last = seen(meta->offset), step;
    bool fits = true;
    for (int i = 0; i < meta->rank; i++) {
        if (meta->sizes[i] == 0) return 0;
        fits = fits && !__builtin_mul_overflow(seen(meta->sizes[i]) - 1, seen(meta->strides[i]), &step) && !__builtin_add_overflow(last, step, &last);
    }
    return fits && last < INT64_MAX ? last + 1 : INT64_MAX;
}

int64_t meta_storage_bytes(const Meta *meta) {
    int64_t bytes;
    return __builtin_mul_overflow(meta_storage_span(meta), (int64_t)dtype_size(meta->dtype), &bytes) ? INT64_MAX : bytes;
}

bool meta_is_countable(const Meta *meta) {
    int64_t bytes = dtype_size(meta->dtype);
    for (int i = 0; i < meta->rank; i++) {
        int64_t size = seen(meta->sizes[i]);
        if (size < 0 || (size > 1 && __builtin_mul_overflow(bytes, size, &bytes))) return false;
    }
    return bytes < INT64_MAX;
}

/* Equal in every call that this compile will serve. Where the sizes seen say no, nothing is assumed. */
static bool surely_equal(Dim a, Dim b) { return a == b || (seen(a) == seen(b) && dim_is(SYM_EQ, a, b)); }

bool meta_is_contiguous(const Meta *meta) {
    Dim expected = 1;
    for (int i = 0; i < meta->rank; i++)
        if (meta->sizes[i] == 0) return true;
    for (int i = meta->rank - 1; i >= 0; i--) {
        if (meta->sizes[i] == 1) continue;
        if (!surely_equal(meta->strides[i], expected)) return false;
        expected = dim_product(expected, meta->sizes[i]);
    }
    return true;
}

bool meta_is_channels_last(const Meta *meta) {
    static const int order[] = {1, 3, 2, 0};
    Dim expected = 1;
    if (meta->rank != 4) return false;
    for (int i = 0; i < 4; i++) {
        Dim size = meta->sizes[order[i]];
        if (size != 1 && !surely_equal(meta->strides[order[i]], expected)) return false;
        if (size != 0) expected = dim_product(expected, size);
    }
    return true;
}

/* Dims by increasing stride, insertion sort (few dims, nearly sorted as a rule). */
static void order_by_stride(const Meta *meta, int *order) {
    for (int i = 0; i < meta->rank; i++) {
        int place = i;
        while (place > 0 && seen(meta->strides[order[place - 1]]) > seen(meta->strides[i])) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = i;
    }
}

bool meta_is_dense(const Meta *meta) {
    int order[MAX_RANK];
    order_by_stride(meta, order);
    Dim expected = 1;
    for (int i = 0; i < meta->rank; i++)
        if (meta->sizes[i] == 0) return true;
    for (int i = 0; i < meta->rank; i++) {
        if (meta->sizes[order[i]] == 1) continue;
        if (!surely_equal(meta->strides[order[i]], expected)) return false;
        expected = dim_product(expected, meta->sizes[order[i]]);
    }
    return true;
}

bool meta_same_shape(const Meta *a, const Meta *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (!dim_equal(a->sizes[i], b->sizes[i])) return false;
    return true;
}

bool meta_equal(const Meta *a, const Meta *b) {
    if (a->dtype != b->dtype || !device_equal(a->device, b->device) || !meta_same_shape(a, b)) return false;
    for (int i = 0; i < a->rank; i++)
        if (!dim_equal(a->strides[i], b->strides[i])) return false;
    return true;
}

/* Should dim a stand inside dim b (-1), outside (1), or is it open (0)? By strides, and by sizes where strides agree; TensorIterator's rule. */
static int compare_dims(const Meta *like, int a, int b) {
    Dim stride_a = like->strides[a], stride_b = like->strides[b];
    if (stride_a == 0 || stride_b == 0) return 0;
    if (!dim_is(SYM_EQ, stride_a, stride_b)) return dim_is(SYM_LT, stride_a, stride_b) ? -1 : 1;
    if (dim_is(SYM_LT, like->sizes[b], like->sizes[a])) return 1;
    return dim_is(SYM_LT, like->sizes[a], like->sizes[b]) ? -1 : 0;
}

/* From the innermost dim outward: strides of a dense tensor in the order `order`. */
static void fill_in_order(Meta *meta, const int *order, SymTable *syms) {
    Dim stride = 1;
    for (int i = 0; i < meta->rank; i++) {
        meta->strides[order[i]] = stride;
        stride = times(syms, stride, at_least_one(syms, meta->sizes[order[i]]));
    }
}

void meta_preserve_strides(Meta *meta, const Meta *like, SymTable *syms) {
    assert(meta->rank == like->rank);
    if (meta_is_dense(like) && meta_same_shape(meta, like)) {
        memcpy(meta->strides, like->strides, sizeof meta->strides);
        return;
    }
    int order[MAX_RANK];
    for (int i = 0; i < meta->rank; i++) order[i] = meta->rank - 1 - i;
    for (int i = 1; i < meta->rank; i++) {
        int here = i;
        for (int j = i - 1; j >= 0; j--) {
            int comparison = compare_dims(like, order[j], order[here]);
            if (comparison < 0) break;
            if (comparison == 0) continue;
            int swap = order[j];
            order[j] = order[here];
            order[here] = swap;
            here = j;
        }
    }
    fill_in_order(meta, order, syms);
}

static void print_dims(Text *text, const Dim *dims, int count) {
    text_char(text, '[');
    for (int i = 0; i < count; i++) {
        if (i > 0) text_put(text, ", ");
        if (dim_is_int(dims[i])) text_printf(text, "%lld", (long long)dims[i]);
        else dim_print(text, dims[i]);
    }
    text_char(text, ']');
}

void meta_print(Text *text, const Meta *meta, bool strides, bool device) {
    text_put(text, dtype_info[meta->dtype].short_name);
    print_dims(text, meta->sizes, meta->rank);
    if (strides) print_dims(text, meta->strides, meta->rank);
    if (!device) return;
    text_put(text, meta->device.kind == DEVICE_CUDA ? "cuda" : "cpu");
    if (meta->device.kind == DEVICE_CUDA) text_printf(text, ":%d", meta->device.index);
}

bool sizes_broadcast(Dim *out, int *out_rank, const Dim *a, int a_rank, const Dim *b, int b_rank) {
    int rank = a_rank > b_rank ? a_rank : b_rank;
    Dim result[MAX_RANK];
    for (int i = 1; i <= rank; i++) {
        Dim x = i <= a_rank ? a[a_rank - i] : 1, y = i <= b_rank ? b[b_rank - i] : 1;
        result[rank - i] = x;
        if (x == y || dim_is_one(y)) continue;
        if (dim_is_one(x)) result[rank - i] = y;
        else if (!dim_is(SYM_EQ, x, y)) return false;
        else if (dim_is_int(y)) result[rank - i] = y;
    }
    memcpy(out, result, (size_t)rank * sizeof *out);
    *out_rank = rank;
    return true;
}
