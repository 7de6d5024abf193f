/* Dim: one size, stride or offset: a plain 64-bit integer, or a symbolic expression.
 *
 * A Dim *is* an int64_t, so static code uses arrays of Dim as sizes and strides with no conversion. A Sym pointer is stored
 * as an integer below -2^62, which no size can be: eager work never interns and pays one compare where it asks.
 *
 *     Dim n = dim_mul(dims, sizes[0], 4);       // folds integers, builds a Sym otherwise
 *     if (dim_is_int(n)) total += n;
 *
 * Invariant: a Dim that holds a constant Sym does not exist (sym constructors return the integer). */
#ifndef VITRINE_IR_DIM_H
#define VITRINE_IR_DIM_H
#include <stdbool.h>
#include <stdint.h>

typedef int64_t Dim;
typedef struct Sym Sym;
typedef struct SymTable SymTable; /* the hash-cons table of one compile; NULL in eager work, where only integers occur */

static inline bool dim_is_int(Dim d) { return d >= -(INT64_C(1) << 62); }

/* Sums and products of integers that stop at the ends of what a Dim can say as an integer: wrapped around they would look like a small size, or
 * like a symbol. meta_is_countable refuses what stands at the end. */
static inline Dim dim_clamped(__int128 value) {
    __int128 low = -(INT64_C(1) << 62);
    return value > INT64_MAX ? INT64_MAX : value < low ? (Dim)low : (Dim)value;
}
static inline Dim dim_int_add(Dim a, Dim b) { return dim_clamped((__int128)a + b); }
static inline Dim dim_int_mul(Dim a, Dim b) { return dim_clamped((__int128)a * b); }
static inline const Sym *dim_sym(Dim d) { return (const Sym *)(intptr_t)(d & INT64_MAX); }
static inline Dim dim_of_sym(const Sym *s) { return (Dim)((int64_t)(intptr_t)s | INT64_MIN); }
#endif
