/* Fold columns: reducing many columns at once, several rows at a time.
 *
 * In: rows of values, dense within a row (the types of fold.c). Out: for each column a total, an extreme value, or the index of its row.
 *
 *     columns_begin(&columns, REDUCE_MAX, DTYPE_I8, false, 512); columns_rows(&columns, data, stride, 64, 0); columns_value(&columns, j, &f, &i);
 *
 * Sums of floats are kept in double, one row added after the other.
 * Invariant: the result depends on the order of the rows and on nothing else; extremes are kept in the type of the values. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3,no-trapping-math,no-math-errno")
#endif
#include "op/convert.h"
#include "op/fold.h"
#include "op/reduce.h"
#include <string.h>

enum { AT_ONCE = 8 };

void columns_begin(Columns *columns, Reducer reducer, DType type, bool indexed, int count) {
    columns->reducer = reducer;
    columns->type = type;
    columns->indexed = indexed;
    columns->count = count;
    columns->seen = false;
    columns->base = 0;
    int start = reducer == REDUCE_PROD || reducer == REDUCE_ALL;
    bool total = reducer == REDUCE_SUM || reducer == REDUCE_PROD, floats = total && dtype_is_float(type);
    for (int j = 0; floats && j < count; j++) columns->f[j] = start;
    for (int j = 0; !floats && j < count; j++) columns->i[j] = (uint64_t)start;
}

/* ---- totals: each column's values are added in the order of the rows ---- */

#define ROW(r) const type *row##r = (const type *)(const void *)(x + (r) * stride);
#define TOTAL(name, element, state, value, combine)                                                               \
    CLONES static void name(state *restrict t, const char *x, int64_t stride, int rows, int n) {                  \
        typedef element type;                                                                                     \
        for (; rows >= AT_ONCE; rows -= AT_ONCE, x += AT_ONCE * stride) {                                         \
            ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)                                               \
            for (int j = 0; j < n; j++) {                                                                         \
                state s = combine(combine(combine(combine(t[j], (state)value(row0[j])), (state)value(row1[j])), (state)value(row2[j])), (state)value(row3[j])); \
                t[j] = combine(combine(combine(combine(s, (state)value(row4[j])), (state)value(row5[j])), (state)value(row6[j])), (state)value(row7[j])); \
            }                                                                                                     \
        }                                                                                                         \
        for (; rows > 0; rows--, x += stride) {                                                                   \
            ROW(0)                                                                                                \
            for (int j = 0; j < n; j++) t[j] = combine(t[j], (state)value(row0[j]));                              \
        }                                                                                                         \
    }
#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#define SOME(a, b) ((a) | (uint64_t)((b) != 0))
#define EVERY(a, b) ((a) & (uint64_t)((b) != 0))
#define TRUTH(x) ((x) != 0)
#define FLOAT_TOTALS(suffix, type, value)                    \
    TOTAL(sum_##suffix, type, double, value, PLUS)           \
    TOTAL(product_##suffix, type, double, value, TIMES)      \
    TOTAL(some_##suffix, type, uint64_t, TRUTH_##suffix, SOME) \
    TOTAL(every_##suffix, type, uint64_t, TRUTH_##suffix, EVERY)
#define INTEGER_TOTALS(suffix, type, total)                  \
    TOTAL(sum_##suffix, type, uint64_t, AS_IT_IS, PLUS)      \
    TOTAL(product_##suffix, type, uint64_t, AS_IT_IS, TIMES) \
    TOTAL(some_##suffix, type, uint64_t, TRUTH, SOME)        \
    TOTAL(every_##suffix, type, uint64_t, TRUTH, EVERY)
#define TRUTH_f32(x) ((x) != 0)
#define TRUTH_f64(x) ((x) != 0)
#define TRUTH_bf16(x) (((x) & 0x7fff) != 0)
FOLD_FLOATS(FLOAT_TOTALS)
FOLD_INTEGERS(INTEGER_TOTALS)

/* ---- extremes: the first row is taken as it is. A NaN wins, and stays ---- */

#define BEATS(a, sign, b) (((a) sign (b)) | (((a) != (a)) & ((b) == (b))))
#define BETTER(a, sign, value, b) ((value(a) sign value(b)) | (value(a) != value(a)) ? (a) : (b)) /* of two NaNs, either */
#define EXTREME(name, element, value, sign)                                                                       \
    CLONES static void name(void *state, const char *x, int64_t stride, int rows, int n) {                        \
        typedef element type;                                                                                     \
        type *restrict best = state;                                                                              \
        for (; rows >= AT_ONCE; rows -= AT_ONCE, x += AT_ONCE * stride) {                                         \
            ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)                                               \
            for (int j = 0; j < n; j++) {                                                                         \
                type b = best[j];                                                                                 \
                b = BETTER(row0[j], sign, value, b), b = BETTER(row1[j], sign, value, b), b = BETTER(row2[j], sign, value, b); \
                b = BETTER(row3[j], sign, value, b), b = BETTER(row4[j], sign, value, b), b = BETTER(row5[j], sign, value, b); \
                b = BETTER(row6[j], sign, value, b), b = BETTER(row7[j], sign, value, b);                         \
                best[j] = b;                                                                                      \
            }                                                                                                     \
        }                                                                                                         \
        for (; rows > 0; rows--, x += stride) {                                                                   \
            ROW(0)                                                                                                \
            for (int j = 0; j < n; j++) best[j] = BETTER(row0[j], sign, value, best[j]);                          \
        }                                                                                                         \
    }                                                                                                             \
    CLONES static void name##_at(void *state, int32_t *restrict at, const char *x, int64_t stride, int rows, int n, int32_t index) { \
        typedef element type;                                                                                     \
        type *restrict best = state;                                                                              \
        for (; rows > 0; rows--, x += stride, index++) {                                                          \
            ROW(0)                                                                                                \
            for (int j = 0; j < n; j++) {                                                                         \
                const bool wins = BEATS(value(row0[j]), sign, value(best[j]));                                    \
                at[j] = wins ? index : at[j];                                                                     \
                best[j] = wins ? row0[j] : best[j];                                                               \
            }                                                                                                     \
        }                                                                                                         \
    }
#define FLOAT_EXTREMES(suffix, type, value) EXTREME(max_##suffix, type, value, >) EXTREME(min_##suffix, type, value, <)
#define INTEGER_EXTREMES(suffix, type, total) EXTREME(max_##suffix, type, AS_IT_IS, >) EXTREME(min_##suffix, type, AS_IT_IS, <)
FOLD_FLOATS(FLOAT_EXTREMES)
FOLD_INTEGERS(INTEGER_EXTREMES)

/* ---- by reducer and type ---- */

typedef struct Loops {
    union { void (*f)(double *t, const char *x, int64_t stride, int rows, int n); void (*i)(uint64_t *t, const char *x, int64_t stride, int rows, int n); } sum, product;
    void (*some)(uint64_t *t, const char *x, int64_t stride, int rows, int n), (*every)(uint64_t *t, const char *x, int64_t stride, int rows, int n);
    void (*extreme[2])(void *best, const char *x, int64_t stride, int rows, int n);
    void (*extreme_at[2])(void *best, int32_t *at, const char *x, int64_t stride, int rows, int n, int32_t index);
} Loops;
#define LINE(suffix, member) {{.member = sum_##suffix}, {.member = product_##suffix}, some_##suffix, every_##suffix, {min_##suffix, max_##suffix}, {min_##suffix##_at, max_##suffix##_at}}
static const Loops loops[DTYPE_COUNT] = {
    [DTYPE_BOOL] = LINE(u8, i), [DTYPE_U8] = LINE(u8, i), [DTYPE_I8] = LINE(i8, i), [DTYPE_I16] = LINE(i16, i), [DTYPE_I32] = LINE(i32, i), [DTYPE_I64] = LINE(i64, i),
    [DTYPE_F32] = LINE(f32, f), [DTYPE_F64] = LINE(f64, f), [DTYPE_BF16] = LINE(bf16, f),
};

static bool is_max(Reducer reducer) { return reducer == REDUCE_MAX || reducer == REDUCE_ARGMAX; }

static void extreme_rows(Columns *columns, const char *x, int64_t stride, int rows, int64_t index) {
    const Loops *own = &loops[columns->type];
    bool max = is_max(columns->reducer);
    int n = columns->count;
    if (!columns->seen) {
        memcpy(columns->best, x, (size_t)(n * dtype_size(columns->type)));
        memset(columns->at, 0, (size_t)n * sizeof *columns->at);
        columns->base = index;
        columns->seen = true;
        x += stride, rows--, index++;
    }
    if (columns->indexed) own->extreme_at[max](columns->best, columns->at, x, stride, rows, n, (int32_t)(index - columns->base));
    else own->extreme[max](columns->best, x, stride, rows, n);
}

void columns_rows(Columns *columns, const char *x, int64_t stride, int rows, int64_t index) {
    const Loops *own = &loops[columns->type];
    bool floats = dtype_is_float(columns->type), sum = columns->reducer == REDUCE_SUM;
    int n = columns->count;
    switch (columns->reducer) {
    case REDUCE_SUM: case REDUCE_PROD:
        if (floats) (sum ? own->sum.f : own->product.f)(columns->f, x, stride, rows, n);
        else (sum ? own->sum.i : own->product.i)(columns->i, x, stride, rows, n);
        break;
    case REDUCE_ANY: own->some(columns->i, x, stride, rows, n); break;
    case REDUCE_ALL: own->every(columns->i, x, stride, rows, n); break;
    default: extreme_rows(columns, x, stride, rows, index); break;
    }
}

void columns_value(const Columns *columns, int j, double *f, int64_t *i, int64_t *at) {
    bool total = columns->reducer == REDUCE_SUM || columns->reducer == REDUCE_PROD, truth = columns->reducer == REDUCE_ANY || columns->reducer == REDUCE_ALL;
    bool floats = dtype_is_float(columns->type) && !truth;
    const char *best = columns->best + j * dtype_size(columns->type);
    *at = total || truth ? 0 : columns->base + columns->at[j];
    *f = !floats ? 0 : total ? columns->f[j] : load_double(columns->type, best);
    *i = floats ? 0 : total || truth ? (int64_t)columns->i[j] : load_int(columns->type, best);
}

/* Of the extremes of two runs of rows, the earlier where they are equal. */
static void merge_extremes(Columns *columns, const Columns *later) {
    int size = dtype_size(columns->type);
    for (int j = 0; j < columns->count; j++) {
        double f, later_f;
        int64_t i, later_i, at, later_at;
        columns_value(columns, j, &f, &i, &at);
        columns_value(later, j, &later_f, &later_i, &later_at);
        bool max = is_max(columns->reducer), wins = max ? later_i > i || later_f > f : later_i < i || later_f < f;
        if (!wins && !(later_f != later_f && f == f)) continue;
        memcpy(columns->best + j * size, later->best + j * size, (size_t)size);
        columns->at[j] = (int32_t)(later_at - columns->base);
    }
}

void columns_merge(Columns *columns, const Columns *later) {
    bool sum = columns->reducer == REDUCE_SUM, floats = dtype_is_float(columns->type);
    for (int j = 0; j < columns->count; j++) {
        switch (columns->reducer) {
        case REDUCE_SUM: case REDUCE_PROD:
            if (floats) columns->f[j] = sum ? columns->f[j] + later->f[j] : columns->f[j] * later->f[j];
            else columns->i[j] = sum ? columns->i[j] + later->i[j] : columns->i[j] * later->i[j];
            break;
        case REDUCE_ANY: columns->i[j] |= later->i[j]; break;
        case REDUCE_ALL: columns->i[j] &= later->i[j]; break;
        default: merge_extremes(columns, later); return;
        }
    }
}
