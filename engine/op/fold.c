/* Folds: reducing blocks of values, along a row or down many columns.
 *
 * In: dense blocks of a compute type, of a narrow integer or of bfloat16. Out: the total, the extreme value, or its index.
 * Sums of floats: 32 lanes in double within a block, blocks by pairs (a binary counter), so that the error grows with the logarithm of the count.
 * NaN is the largest and the smallest of all (as in PyTorch); of equal values the first is taken.
 *
 *     fold_begin(&fold, REDUCE_SUM, DTYPE_I8, false); fold_block(&fold, bytes, 1000, 0); fold_finish(&fold);   // fold.i
 *
 * Invariant: the result depends on the order of the values and on nothing else. To add a type: a line in FOLD_INTEGERS or FOLD_FLOATS (fold.h). Columns are in
 * fold_columns.c. */
/* These loops are worth the vectorizer whatever the rest is built with. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3,no-trapping-math,no-math-errno")
#endif
#include "op/fold.h"
#include "op/reduce.h"
#include <string.h>

void fold_begin(Fold *fold, Reducer reducer, DType type, bool indexed) {
    fold->reducer = reducer;
    fold->type = type;
    fold->indexed = indexed;
    fold->seen = false;
    fold->at = fold->blocks = 0;
    fold->i = reducer == REDUCE_PROD || reducer == REDUCE_ALL;
    fold->f = (double)fold->i;
}

/* ---- one block: functions of a type ---- */

enum { LANES = 32, WIDE = 64 };
#define HALVE(lanes, by, combine) for (int k = 0; k < (by); k++) lanes[k] = combine(lanes[k], lanes[k + (by)]);
#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))

#define FEW_LANES(type, value, start, combine)                              \
    double lanes[8];                                                        \
    int64_t i = 0;                                                          \
    for (int k = 0; k < 8; k++) lanes[k] = start;                           \
    for (; i + 8 <= n; i += 8)                                              \
        for (int k = 0; k < 8; k++) lanes[k] = combine(lanes[k], (double)value(x[i + k])); \
    for (int k = 0; i < n; i++, k++) lanes[k] = combine(lanes[k], (double)value(x[i])); \
    HALVE(lanes, 4, combine) HALVE(lanes, 2, combine)                       \
    return combine(lanes[0], lanes[1]);
#define FLOAT_TOTAL(name, type, value, start, combine)                      \
    CLONES static double name##_few(const type *x, int64_t n) { FEW_LANES(type, value, start, combine) } \
    CLONES static double name(const type *x, int64_t n) {                   \
        double lanes[LANES];                                                \
        int64_t i = 0;                                                      \
        if (n < 2 * LANES) return name##_few(x, n);                         \
        for (int k = 0; k < LANES; k++) lanes[k] = start;                   \
        for (; i + LANES <= n; i += LANES)                                  \
            for (int k = 0; k < LANES; k++) lanes[k] = combine(lanes[k], (double)value(x[i + k])); \
        for (int k = 0; i < n; i++, k++) lanes[k] = combine(lanes[k], (double)value(x[i])); \
        HALVE(lanes, 16, combine) HALVE(lanes, 8, combine) HALVE(lanes, 4, combine) HALVE(lanes, 2, combine) \
        return combine(lanes[0], lanes[1]);                                 \
    }
/* Sums of a block of narrow integers fit 32 bits. */
#define INTEGER_SUM(name, type, total)                                      \
    CLONES static int64_t name(const type *x, int64_t n) {                  \
        total sum = 0;                                                      \
        for (int64_t i = 0; i < n; i++) sum += (total)x[i];                 \
        return (int64_t)sum;                                                \
    }

/* The extreme of a block by WIDE lanes. A NaN wins, and stays: no comparison with it holds. */
#define WINS(a, sign, b) (((a) sign (b)) | ((a) != (a)))
#define EXTREME_STEP(value, sign, by)                                       \
    for (int k = 0; k < (by); k++) lanes[k] = WINS(value(lanes[k + (by)]), sign, value(lanes[k])) ? lanes[k + (by)] : lanes[k];
#define EXTREME_BLOCK(name, type, value, sign)                              \
    CLONES static type name(const type *x, int64_t n) {                     \
        type lanes[WIDE], best = x[0];                                      \
        int64_t i = 0;                                                      \
        if (n >= WIDE) {                                                    \
            for (int k = 0; k < WIDE; k++) lanes[k] = x[k];                 \
            for (i = WIDE; i + WIDE <= n; i += WIDE)                        \
                for (int k = 0; k < WIDE; k++) lanes[k] = WINS(value(x[i + k]), sign, value(lanes[k])) ? x[i + k] : lanes[k]; \
            EXTREME_STEP(value, sign, 32) EXTREME_STEP(value, sign, 16) EXTREME_STEP(value, sign, 8) EXTREME_STEP(value, sign, 4) EXTREME_STEP(value, sign, 2) \
            best = WINS(value(lanes[1]), sign, value(lanes[0])) ? lanes[1] : lanes[0]; \
        }                                                                   \
        for (; i < n; i++) best = WINS(value(x[i]), sign, value(best)) && value(best) == value(best) ? x[i] : best; \
        return best;                                                        \
    }
/* The first place of a value, or of a NaN. It is there. */
#define FIND(suffix, type, value)                                           \
    CLONES static int64_t find_##suffix(const type *x, int64_t n, type best) { \
        int64_t i = 0;                                                      \
        const bool nan = value(best) != value(best);                        \
        for (; i + WIDE <= n; i += WIDE) {                                  \
            flag_##suffix hit = 0;                                          \
            for (int k = 0; k < WIDE; k++) hit |= (flag_##suffix)((value(x[i + k]) == value(best)) | (nan & (value(x[i + k]) != value(x[i + k])))); \
            if (hit) break;                                                 \
        }                                                                   \
        while (nan ? value(x[i]) == value(x[i]) : value(x[i]) != value(best)) i++; \
        return i;                                                           \
    }
#define ANY_BLOCK(suffix, type, value)                                      \
    CLONES static bool any_##suffix(const type *x, int64_t n, bool zero) {  \
        flag_##suffix zeros = 0, others = 0;                                \
        for (int64_t i = 0; i < n; i++) zeros |= (flag_##suffix)(value(x[i]) == 0), others |= (flag_##suffix)(value(x[i]) != 0); \
        return (zero ? zeros : others) != 0;                                \
    }

/* A truth as wide as the values, so that lanes of truths are lanes of values. */
typedef uint8_t flag_u8, flag_i8;
typedef uint16_t flag_i16, flag_bf16;
typedef uint32_t flag_i32, flag_f32;
typedef uint64_t flag_i64, flag_f64;

#define INTEGER_BLOCKS(suffix, type, total)                                 \
    INTEGER_SUM(sum_##suffix, type, total)                                  \
    EXTREME_BLOCK(max_##suffix, type, AS_IT_IS, >)                          \
    EXTREME_BLOCK(min_##suffix, type, AS_IT_IS, <)                          \
    FIND(suffix, type, AS_IT_IS)                                     \
    ANY_BLOCK(suffix, type, AS_IT_IS)                                       \
    static int64_t product_##suffix(const type *x, int64_t n) {             \
        uint64_t product = 1;                                               \
        for (int64_t i = 0; i < n; i++) product *= (uint64_t)x[i];          \
        return (int64_t)product;                                            \
    }
#define FLOAT_BLOCKS(suffix, type, value)                                   \
    FLOAT_TOTAL(sum_##suffix, type, value, 0, PLUS)                         \
    FLOAT_TOTAL(product_##suffix, type, value, 1, TIMES)                    \
    EXTREME_BLOCK(max_##suffix, type, value, >)                             \
    EXTREME_BLOCK(min_##suffix, type, value, <)                             \
    FIND(suffix, type, value)                                        \
    ANY_BLOCK(suffix, type, value)
FOLD_INTEGERS(INTEGER_BLOCKS)
FOLD_FLOATS(FLOAT_BLOCKS)

/* ---- a block's share ---- */

static void push_sum(Fold *fold, double sum, int level) {
    int64_t count = ((fold->blocks >> level) + 1) << level;
    for (int64_t c = count >> level; !(c & 1) && level + 1 < CASCADE_LEVELS; c >>= 1) sum = fold->levels[level++] + sum;
    fold->levels[level] = sum;
    fold->blocks = count;
}

static void add_integer(Fold *fold, int64_t value) { fold->i = (int64_t)((uint64_t)fold->i + (uint64_t)value); }
static void multiply_integer(Fold *fold, int64_t value) { fold->i = (int64_t)((uint64_t)fold->i * (uint64_t)value); }

#define INTEGER_CASES(CASE) case DTYPE_BOOL: case DTYPE_U8: CASE(u8, uint8_t) case DTYPE_I8: CASE(i8, int8_t) case DTYPE_I16: CASE(i16, int16_t) case DTYPE_I32: CASE(i32, int32_t) default: CASE(i64, int64_t)
#define FLOAT_CASES(CASE) case DTYPE_F32: CASE(f32, float) case DTYPE_F64: CASE(f64, double) case DTYPE_BF16: CASE(bf16, uint16_t)

static void fold_sum(Fold *fold, const void *values, int64_t n) {
#define FLOAT_CASE(suffix, type) push_sum(fold, sum_##suffix(values, n), 0); break;
#define INTEGER_CASE(suffix, type) add_integer(fold, sum_##suffix(values, n)); break;
    switch (fold->type) { FLOAT_CASES(FLOAT_CASE) INTEGER_CASES(INTEGER_CASE) }
#undef FLOAT_CASE
#undef INTEGER_CASE
}

static void fold_product(Fold *fold, const void *values, int64_t n) {
#define FLOAT_CASE(suffix, type) fold->f *= product_##suffix(values, n); break;
#define INTEGER_CASE(suffix, type) multiply_integer(fold, product_##suffix(values, n)); break;
    switch (fold->type) { FLOAT_CASES(FLOAT_CASE) INTEGER_CASES(INTEGER_CASE) }
#undef FLOAT_CASE
#undef INTEGER_CASE
}

static void fold_any(Fold *fold, const void *values, int64_t n) {
    bool all = fold->reducer == REDUCE_ALL, found;
    if (fold->i != all) return; /* settled */
#define CASE(suffix, type) found = any_##suffix(values, n, all); break;
    switch (fold->type) { FLOAT_CASES(CASE) INTEGER_CASES(CASE) }
#undef CASE
    if (found) fold->i = !all;
}

static bool is_max(Reducer reducer) { return reducer == REDUCE_MAX || reducer == REDUCE_ARGMAX; }

/* Is `value` better than what the fold has? NaN beats all but an earlier NaN. */
static bool better(const Fold *fold, double f, int64_t i) {
    if (!fold->seen) return true;
    if (!dtype_is_float(fold->type)) return is_max(fold->reducer) ? i > fold->i : i < fold->i;
    if (fold->f != fold->f) return false;
    return f != f || (is_max(fold->reducer) ? f > fold->f : f < fold->f);
}

static void fold_extreme(Fold *fold, const void *values, int64_t n, int64_t first) {
    bool max = is_max(fold->reducer);
    int64_t at = 0;
#define FLOAT_CASE(suffix, type) {                                                        \
        type best = max ? max_##suffix(values, n) : min_##suffix(values, n);              \
        if (!better(fold, (double)VALUE_##suffix(best), 0)) return;                       \
        if (fold->indexed) at = find_##suffix(values, n, best), best = ((const type *)values)[at]; \
        fold->f = (double)VALUE_##suffix(best);                                           \
        break;                                                                            \
    }
#define INTEGER_CASE(suffix, type) {                                                      \
        type best = max ? max_##suffix(values, n) : min_##suffix(values, n);              \
        if (!better(fold, 0, best)) return;                                               \
        if (fold->indexed) at = find_##suffix(values, n, best);                           \
        fold->i = best;                                                                   \
        break;                                                                            \
    }
    switch (fold->type) { FLOAT_CASES(FLOAT_CASE) INTEGER_CASES(INTEGER_CASE) }
#undef FLOAT_CASE
#undef INTEGER_CASE
    fold->at = first + at;
    fold->seen = true;
}

void fold_block(Fold *fold, const void *values, int64_t n, int64_t first_index) {
    if (n == 0) return;
    switch (fold->reducer) {
    case REDUCE_SUM: fold_sum(fold, values, n); break;
    case REDUCE_PROD: fold_product(fold, values, n); break;
    case REDUCE_ANY: case REDUCE_ALL: fold_any(fold, values, n); break;
    default: fold_extreme(fold, values, n, first_index); break;
    }
}

static double cascade_total(const Fold *fold) {
    double total = 0;
    for (int level = 0; fold->blocks >> level; level++)
        if (fold->blocks >> level & 1) total = fold->levels[level] + total;
    return total;
}

void fold_merge(Fold *fold, const Fold *later) {
    switch (fold->reducer) {
    case REDUCE_SUM:
        if (!dtype_is_float(fold->type)) add_integer(fold, later->i);
        else push_sum(fold, cascade_total(later), 0);
        break;
    case REDUCE_PROD:
        fold->f *= later->f;
        multiply_integer(fold, later->i);
        break;
    case REDUCE_ANY: fold->i |= later->i; break;
    case REDUCE_ALL: fold->i &= later->i; break;
    default:
        if (later->seen && better(fold, later->f, later->i)) fold->f = later->f, fold->i = later->i, fold->at = later->at, fold->seen = true;
        break;
    }
}

void fold_finish(Fold *fold) {
    if (fold->reducer == REDUCE_SUM && dtype_is_float(fold->type)) fold->f = cascade_total(fold);
}
