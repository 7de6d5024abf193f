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
#include "op/clones.h"
#include "op/vmath.h"
#include <string.h>

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

/* The extreme of a block by WIDE lanes; *nan says that there is a NaN, which is what is wanted then. */
enum { WIDE = 64 };
#define EXTREME_BLOCK(name, type, sign)                                     \
    CLONES static type name(const type *x, int64_t n, _Bool *nan) {         \
        type lanes[WIDE], best;                                             \
        int strange[WIDE] = {0}, any = 0;                                   \
        int64_t i = 0;                                                      \
        for (int k = 0; k < WIDE; k++) lanes[k] = x[k < n ? k : 0];         \
        for (; i + WIDE <= n; i += WIDE)                                    \
            for (int k = 0; k < WIDE; k++) {                                \
                type value = x[i + k];                                      \
                lanes[k] = value sign lanes[k] ? value : lanes[k];          \
                strange[k] |= value != value;                               \
            }                                                               \
        best = lanes[0];                                                    \
        for (int k = 0; k < WIDE; k++) {                                    \
            best = lanes[k] sign best ? lanes[k] : best;                    \
            any |= strange[k];                                              \
        }                                                                   \
        for (; i < n; i++) {                                                \
            best = x[i] sign best ? x[i] : best;                            \
            any |= x[i] != x[i];                                            \
        }                                                                   \
        *nan = any != 0;                                                    \
        return best;                                                        \
    }
EXTREME_BLOCK(max_f32, float, >)
EXTREME_BLOCK(min_f32, float, <)
EXTREME_BLOCK(max_f64, double, >)
EXTREME_BLOCK(min_f64, double, <)
EXTREME_BLOCK(max_i64, int64_t, >)
EXTREME_BLOCK(min_i64, int64_t, <)

#define PRODUCT_BLOCK(name, type)                                           \
    CLONES static double name(const type *x, int64_t n) {                   \
        double lanes[8] = {1, 1, 1, 1, 1, 1, 1, 1};                         \
        int64_t i = 0;                                                      \
        for (; i + 8 <= n; i += 8)                                          \
            for (int k = 0; k < 8; k++) lanes[k] *= (double)x[i + k];       \
        for (int k = 0; i < n; i++, k++) lanes[k] *= (double)x[i];          \
        return ((lanes[0] * lanes[1]) * (lanes[2] * lanes[3])) * ((lanes[4] * lanes[5]) * (lanes[6] * lanes[7])); \
    }
PRODUCT_BLOCK(product_f32, float)
PRODUCT_BLOCK(product_f64, double)

CLONES static int64_t sum_i64(const int64_t *x, int64_t n) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (uint64_t)x[i];
    return (int64_t)sum;
}

static void push_sum(Fold *fold, double sum, int level) {
    int64_t count = ((fold->blocks >> level) + 1) << level;
    for (int64_t c = count >> level; !(c & 1) && level + 1 < CASCADE_LEVELS; c >>= 1) sum = fold->levels[level++] + sum;
    fold->levels[level] = sum;
    fold->blocks = count;
}

static void fold_sum(Fold *fold, const void *values, int64_t n) {
    if (fold->type == DTYPE_F32) push_sum(fold, sum_f32(values, n), 0);
    else if (fold->type == DTYPE_F64) push_sum(fold, sum_f64(values, n), 0);
    else fold->i = (int64_t)((uint64_t)fold->i + (uint64_t)sum_i64(values, n));
}

static void fold_product(Fold *fold, const void *values, int64_t n) {
    if (fold->type == DTYPE_F32) fold->f *= product_f32(values, n);
    else if (fold->type == DTYPE_F64) fold->f *= product_f64(values, n);
    else for (int64_t i = 0; i < n; i++) fold->i = (int64_t)((uint64_t)fold->i * (uint64_t)((const int64_t *)values)[i]);
}

static bool is_max(Reducer reducer) { return reducer == REDUCE_MAX || reducer == REDUCE_ARGMAX; }

/* Is `value` better than what the fold has? NaN beats all but an earlier NaN. */
static bool better(const Fold *fold, double f, int64_t i) {
    if (!fold->seen) return true;
    if (fold->type == DTYPE_I64 || fold->type == DTYPE_BOOL) return is_max(fold->reducer) ? i > fold->i : i < fold->i;
    if (fold->f != fold->f) return false;
    return f != f || (is_max(fold->reducer) ? f > fold->f : f < fold->f);
}

/* The first place of a value, or of a NaN. It is there. */
#define FIND(name, type)                                                    \
    static int64_t name(const type *x, type value, bool nan) {              \
        int64_t i = 0;                                                      \
        while (nan ? x[i] == x[i] : x[i] != value) i++;                     \
        return i;                                                           \
    }
FIND(find_f32, float)
FIND(find_f64, double)
FIND(find_i64, int64_t)

#define EXTREME_OF(suffix, type, out, is_better)                                                                               \
    do {                                                                                                                       \
        type best = max ? max_##suffix(values, n, &nan) : min_##suffix(values, n, &nan);                                       \
        if (nan ? fold->seen && fold->f != fold->f : !(is_better)) return;                                                     \
        at = find_##suffix(values, best, nan);                                                                                 \
        out = ((const type *)values)[at];                                                                                      \
    } while (0)

static void fold_extreme(Fold *fold, const void *values, int64_t n, int64_t first) {
    bool max = is_max(fold->reducer);
    int64_t at = 0;
    _Bool nan = false;
    if (fold->type == DTYPE_F32) EXTREME_OF(f32, float, fold->f, better(fold, (double)best, 0));
    else if (fold->type == DTYPE_F64) EXTREME_OF(f64, double, fold->f, better(fold, best, 0));
    else if (fold->type == DTYPE_I64) EXTREME_OF(i64, int64_t, fold->i, better(fold, 0, best));
    else {
        const void *hit = memchr(values, max, (size_t)n);
        if (!better(fold, 0, hit ? max : !max)) return;
        fold->i = hit ? max : !max;
        at = hit ? (const char *)hit - (const char *)values : 0;
    }
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
CLONES static void add_integers(int64_t *total, const int64_t *x, int n) { EACH total[j] = (int64_t)((uint64_t)total[j] + (uint64_t)x[j]); }
CLONES static void multiply_integers(int64_t *total, const int64_t *x, int n) { EACH total[j] = (int64_t)((uint64_t)total[j] * (uint64_t)x[j]); }
CLONES static void some_of(int64_t *found, const unsigned char *x, int n) { EACH found[j] |= x[j]; }
CLONES static void all_of(int64_t *found, const unsigned char *x, int n) { EACH found[j] &= x[j]; }

static double column_float(const Columns *columns, const void *values, int j) {
    return columns->type == DTYPE_F32 ? (double)((const float *)values)[j] : ((const double *)values)[j];
}

static int64_t column_integer(const Columns *columns, const void *values, int j) {
    return columns->type == DTYPE_I64 ? ((const int64_t *)values)[j] : ((const unsigned char *)values)[j];
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

/* column_extreme for a whole row that is not the first, without branches. A NaN is never beaten: no comparison with it holds. */
#define EXTREME_FLOATS(name, type, sign)                                                                 \
    CLONES static void name(double *f, int64_t *at, const type *x, int n, int64_t index) {               \
        EACH {                                                                                           \
            double value = (double)x[j], former = f[j];                                                  \
            bool wins = (value sign former) | ((value != value) & (former == former));                   \
            f[j] = wins ? value : former;                                                                \
            at[j] = wins ? index : at[j];                                                                \
        }                                                                                                \
    }
#define EXTREME_INTEGERS(name, type, sign)                                                               \
    CLONES static void name(int64_t *i, int64_t *at, const type *x, int n, int64_t index) {              \
        EACH {                                                                                           \
            int64_t value = x[j], former = i[j], place = at[j];                                          \
            at[j] = value sign former ? index : place;                                                   \
            i[j] = value sign former ? value : former;                                                   \
        }                                                                                                \
    }
EXTREME_FLOATS(larger_floats, float, >)
EXTREME_FLOATS(smaller_floats, float, <)
EXTREME_FLOATS(larger_doubles, double, >)
EXTREME_FLOATS(smaller_doubles, double, <)
EXTREME_INTEGERS(larger_integers, int64_t, >)
EXTREME_INTEGERS(smaller_integers, int64_t, <)
EXTREME_INTEGERS(larger_bytes, unsigned char, >)
EXTREME_INTEGERS(smaller_bytes, unsigned char, <)

static void first_extremes(Columns *columns, const void *values, int64_t index) {
    bool integral = columns->type == DTYPE_I64 || columns->type == DTYPE_BOOL;
    for (int j = 0; j < columns->count; j++)
        column_extreme(columns, j, integral ? 0 : column_float(columns, values, j), integral ? column_integer(columns, values, j) : 0, index);
    columns->seen = true;
}

static void columns_extremes(Columns *columns, const void *values, int64_t index) {
    bool max = is_max(columns->reducer);
    int n = columns->count;
    if (!columns->seen) first_extremes(columns, values, index);
    else if (columns->type == DTYPE_F32) (max ? larger_floats : smaller_floats)(columns->f, columns->at, values, n, index);
    else if (columns->type == DTYPE_F64) (max ? larger_doubles : smaller_doubles)(columns->f, columns->at, values, n, index);
    else if (columns->type == DTYPE_I64) (max ? larger_integers : smaller_integers)(columns->i, columns->at, values, n, index);
    else (max ? larger_bytes : smaller_bytes)(columns->i, columns->at, values, n, index);
}

void columns_row(Columns *columns, const void *values, int64_t index) {
    int n = columns->count;
    bool sum = columns->reducer == REDUCE_SUM;
    switch (columns->reducer) {
    case REDUCE_SUM: case REDUCE_PROD:
        if (columns->type == DTYPE_F32) (sum ? add_floats : multiply_floats)(columns->f, values, n);
        else if (columns->type == DTYPE_F64) (sum ? add_doubles : multiply_doubles)(columns->f, values, n);
        else (sum ? add_integers : multiply_integers)(columns->i, values, n);
        break;
    case REDUCE_ANY: some_of(columns->i, values, n); break;
    case REDUCE_ALL: all_of(columns->i, values, n); break;
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
