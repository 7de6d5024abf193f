/* Folds: reducing blocks of values of a compute type, along a row or down many columns.
 *
 * In: dense blocks. Out: the total, the extreme value, or its index.
 * Sums of floats: eight lanes in double within a block, blocks by pairs (a binary counter), so that the error grows with the logarithm of the count.
 * NaN is the largest and the smallest of all (as in PyTorch); of equal values the first is taken.
 *
 * Invariant: the result depends on the order of the values and on nothing else. */
/* These loops are worth the vectorizer whatever the rest is built with. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3,no-trapping-math,no-math-errno")
#endif
#include "op/reduce.h"
#include "op/vmath.h"
#include <string.h>

#if defined __x86_64__ && defined __gnu_linux__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_UNDEFINED__
#define CLONES __attribute__((target_clones("default", "avx2")))
#else
#define CLONES
#endif

void fold_begin(Fold *fold, Reducer reducer, DType type) {
    *fold = (Fold){.reducer = reducer, .type = type};
    fold->i = reducer == REDUCE_PROD || reducer == REDUCE_ALL;
    fold->f = (double)fold->i;
}

/* ---- one block ---- */

#define SUM_BLOCK(name, type)                                               \
    CLONES static double name(const type *x, int64_t n) {                   \
        double lanes[8] = {0};                                              \
        int64_t i = 0;                                                      \
        for (; i + 8 <= n; i += 8)                                          \
            for (int k = 0; k < 8; k++) lanes[k] += (double)x[i + k];       \
        for (int k = 0; i < n; i++, k++) lanes[k] += (double)x[i];          \
        return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])); \
    }
SUM_BLOCK(sum_f32, float)
SUM_BLOCK(sum_f64, double)

#define EXTREME_BLOCK(name, type, pick)                                     \
    CLONES static type name(const type *x, int64_t n) {                     \
        type lanes[8];                                                      \
        int64_t i = 0;                                                      \
        for (int k = 0; k < 8; k++) lanes[k] = x[k < n ? k : 0];            \
        for (; i + 8 <= n; i += 8)                                          \
            for (int k = 0; k < 8; k++) lanes[k] = pick(x[i + k], lanes[k]); \
        for (int k = 0; i < n; i++, k++) lanes[k] = pick(x[i], lanes[k]);   \
        for (int k = 1; k < 8; k++) lanes[0] = pick(lanes[k], lanes[0]);    \
        return lanes[0];                                                    \
    }
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
EXTREME_BLOCK(max_f32, float, v_maximum_f32)
EXTREME_BLOCK(min_f32, float, v_minimum_f32)
EXTREME_BLOCK(max_f64, double, v_maximum_f64)
EXTREME_BLOCK(min_f64, double, v_minimum_f64)
EXTREME_BLOCK(max_i64, int64_t, LARGER)
EXTREME_BLOCK(min_i64, int64_t, SMALLER)

static void push_sum(Fold *fold, double sum, int level) {
    int64_t count = ((fold->blocks >> level) + 1) << level;
    for (int64_t c = count >> level; !(c & 1) && level + 1 < CASCADE_LEVELS; c >>= 1) sum = fold->levels[level++] + sum;
    fold->levels[level] = sum;
    fold->blocks = count;
}

static void fold_sum(Fold *fold, const void *values, int64_t n) {
    if (fold->type == DTYPE_F32) push_sum(fold, sum_f32(values, n), 0);
    else if (fold->type == DTYPE_F64) push_sum(fold, sum_f64(values, n), 0);
    else for (int64_t i = 0; i < n; i++) fold->i = (int64_t)((uint64_t)fold->i + (uint64_t)((const int64_t *)values)[i]);
}

static void fold_product(Fold *fold, const void *values, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (fold->type == DTYPE_F32) fold->f *= (double)((const float *)values)[i];
        else if (fold->type == DTYPE_F64) fold->f *= ((const double *)values)[i];
        else fold->i = (int64_t)((uint64_t)fold->i * (uint64_t)((const int64_t *)values)[i]);
    }
}

static bool is_max(Reducer reducer) { return reducer == REDUCE_MAX || reducer == REDUCE_ARGMAX; }

/* Is `value` better than what the fold has? NaN beats all but an earlier NaN. */
static bool better(const Fold *fold, double f, int64_t i) {
    if (!fold->seen) return true;
    if (fold->type == DTYPE_I64 || fold->type == DTYPE_BOOL) return is_max(fold->reducer) ? i > fold->i : i < fold->i;
    if (fold->f != fold->f) return false;
    return f != f || (is_max(fold->reducer) ? f > fold->f : f < fold->f);
}

static int64_t find_float(const float *x, int64_t n, float value) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] == value || (value != value && x[i] != x[i])) return i;
    return 0;
}

static int64_t find_double(const double *x, int64_t n, double value) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] == value || (value != value && x[i] != x[i])) return i;
    return 0;
}

static int64_t find_integer(const int64_t *x, int64_t n, int64_t value) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] == value) return i;
    return 0;
}

static void fold_extreme(Fold *fold, const void *values, int64_t n, int64_t first) {
    bool max = is_max(fold->reducer);
    double f = 0;
    int64_t integer = 0, at = 0;
    if (fold->type == DTYPE_F32) f = (double)(max ? max_f32(values, n) : min_f32(values, n));
    else if (fold->type == DTYPE_F64) f = max ? max_f64(values, n) : min_f64(values, n);
    else if (fold->type == DTYPE_I64) integer = max ? max_i64(values, n) : min_i64(values, n);
    else {
        const void *hit = memchr(values, max, (size_t)n);
        integer = hit ? max : !max;
        at = hit ? (const char *)hit - (const char *)values : 0;
    }
    if (!better(fold, f, integer)) return;
    if (fold->type == DTYPE_F32) at = find_float(values, n, (float)f);
    else if (fold->type == DTYPE_F64) at = find_double(values, n, f);
    else if (fold->type == DTYPE_I64) at = find_integer(values, n, integer);
    fold->f = f;
    fold->i = integer;
    fold->at = first + at;
    fold->seen = true;
}

void fold_block(Fold *fold, const void *values, int64_t n, int64_t first_index) {
    if (n == 0) return;
    switch (fold->reducer) {
    case REDUCE_SUM: fold_sum(fold, values, n); break;
    case REDUCE_PROD: fold_product(fold, values, n); break;
    case REDUCE_ANY: if (memchr(values, 1, (size_t)n)) fold->i = 1; break;
    case REDUCE_ALL: if (memchr(values, 0, (size_t)n)) fold->i = 0; break;
    default: fold_extreme(fold, values, n, first_index); break;
    }
}

static double cascade_total(const Fold *fold) {
    double total = 0;
    for (int level = 0; level < CASCADE_LEVELS; level++)
        if (fold->blocks >> level & 1) total = fold->levels[level] + total;
    return total;
}

void fold_merge(Fold *fold, const Fold *later) {
    bool integral = fold->type == DTYPE_I64 || fold->type == DTYPE_BOOL;
    switch (fold->reducer) {
    case REDUCE_SUM:
        if (integral) fold->i = (int64_t)((uint64_t)fold->i + (uint64_t)later->i);
        else push_sum(fold, cascade_total(later), 0);
        break;
    case REDUCE_PROD:
        fold->f *= later->f;
        fold->i = (int64_t)((uint64_t)fold->i * (uint64_t)later->i);
        break;
    case REDUCE_ANY: fold->i |= later->i; break;
    case REDUCE_ALL: fold->i &= later->i; break;
    default:
        if (later->seen && better(fold, later->f, later->i)) fold->f = later->f, fold->i = later->i, fold->at = later->at, fold->seen = true;
        break;
    }
}

void fold_finish(Fold *fold) {
    if (fold->reducer == REDUCE_SUM && fold->type != DTYPE_I64) fold->f = cascade_total(fold);
}

/* ---- columns ---- */

void columns_begin(Columns *columns, Reducer reducer, DType type, int count) {
    columns->reducer = reducer;
    columns->type = type;
    columns->count = count;
    columns->seen = false;
    int start = reducer == REDUCE_PROD || reducer == REDUCE_ALL;
    for (int j = 0; j < count; j++) columns->f[j] = start, columns->i[j] = start, columns->at[j] = 0;
}

#define EACH for (int j = 0; j < n; j++)
CLONES static void add_floats(double *f, const float *x, int n) { EACH f[j] += (double)x[j]; }
CLONES static void add_doubles(double *f, const double *x, int n) { EACH f[j] += x[j]; }
CLONES static void multiply_floats(double *f, const float *x, int n) { EACH f[j] *= (double)x[j]; }
CLONES static void multiply_doubles(double *f, const double *x, int n) { EACH f[j] *= x[j]; }

static void columns_integers(Columns *columns, const int64_t *x) {
    int n = columns->count;
    uint64_t *total = (uint64_t *)(void *)columns->i;
    if (columns->reducer == REDUCE_SUM) EACH total[j] += (uint64_t)x[j];
    else EACH total[j] *= (uint64_t)x[j];
}

static double column_float(const Columns *columns, const void *values, int j) {
    return columns->type == DTYPE_F32 ? (double)((const float *)values)[j] : ((const double *)values)[j];
}

static int64_t column_integer(const Columns *columns, const void *values, int j) {
    return columns->type == DTYPE_I64 ? ((const int64_t *)values)[j] : ((const _Bool *)values)[j];
}

static void column_extreme(Columns *columns, int j, double f, int64_t i, int64_t at) {
    bool integral = columns->type == DTYPE_I64 || columns->type == DTYPE_BOOL, max = is_max(columns->reducer), wins = !columns->seen;
    if (!wins && integral) wins = max ? i > columns->i[j] : i < columns->i[j];
    else if (!wins && columns->f[j] == columns->f[j]) wins = f != f || (max ? f > columns->f[j] : f < columns->f[j]);
    if (!wins) return;
    columns->f[j] = f;
    columns->i[j] = i;
    columns->at[j] = at;
}

static void columns_extremes(Columns *columns, const void *values, int64_t index) {
    bool integral = columns->type == DTYPE_I64 || columns->type == DTYPE_BOOL;
    for (int j = 0; j < columns->count; j++)
        column_extreme(columns, j, integral ? 0 : column_float(columns, values, j), integral ? column_integer(columns, values, j) : 0, index);
    columns->seen = true;
}

void columns_row(Columns *columns, const void *values, int64_t index) {
    int n = columns->count;
    bool sum = columns->reducer == REDUCE_SUM;
    switch (columns->reducer) {
    case REDUCE_SUM: case REDUCE_PROD:
        if (columns->type == DTYPE_F32) (sum ? add_floats : multiply_floats)(columns->f, values, n);
        else if (columns->type == DTYPE_F64) (sum ? add_doubles : multiply_doubles)(columns->f, values, n);
        else columns_integers(columns, values);
        break;
    case REDUCE_ANY: EACH columns->i[j] |= ((const _Bool *)values)[j]; break;
    case REDUCE_ALL: EACH columns->i[j] &= ((const _Bool *)values)[j]; break;
    default: columns_extremes(columns, values, index); break;
    }
}

void columns_merge(Columns *columns, const Columns *later) {
    bool sum = columns->reducer == REDUCE_SUM;
    for (int j = 0; j < columns->count; j++) {
        switch (columns->reducer) {
        case REDUCE_SUM: case REDUCE_PROD:
            columns->f[j] = sum ? columns->f[j] + later->f[j] : columns->f[j] * later->f[j];
            columns->i[j] = (int64_t)(sum ? (uint64_t)columns->i[j] + (uint64_t)later->i[j] : (uint64_t)columns->i[j] * (uint64_t)later->i[j]);
            break;
        case REDUCE_ANY: columns->i[j] |= later->i[j]; break;
        case REDUCE_ALL: columns->i[j] &= later->i[j]; break;
        default: if (later->seen) column_extreme(columns, j, later->f[j], later->i[j], later->at[j]); break;
        }
    }
    columns->seen |= later->seen;
}
