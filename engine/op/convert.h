/* Convert: elements in memory to values of a compute type, and back.
 *
 *     load_values(DTYPE_BF16, DTYPE_F32, n, buffer, src, 2);            // n contiguous bf16 -> float[n]
 *     store_values(DTYPE_I64, DTYPE_I8, n, buffer, dst, stride);        // wraps
 *
 * Strides are in bytes and may be 0 or negative. Invariant: casts are those of the compiler's kernels (op/vmath.h). */
#ifndef VITRINE_OP_CONVERT_H
#define VITRINE_OP_CONVERT_H
#include "ir/meta.h"

typedef void (*LoadFn)(int64_t n, void *dst, const char *src, int64_t stride);
typedef void (*StoreFn)(int64_t n, const void *src, char *dst, int64_t stride);
LoadFn load_function(DType stored, DType compute);   /* compute: F32, F64, I64, BOOL; or `stored` itself: as it lies */
StoreFn store_function(DType compute, DType stored);
static inline void load_values(DType stored, DType compute, int64_t n, void *dst, const char *src, int64_t stride) { load_function(stored, compute)(n, dst, src, stride); }
static inline void store_values(DType compute, DType stored, int64_t n, const void *src, char *dst, int64_t stride) { store_function(compute, stored)(n, src, dst, stride); }
static inline int compute_size(DType compute) { return dtype_size(compute); }
double load_double(DType stored, const char *src);   /* one element as a double */
int64_t load_int(DType stored, const char *src);     /* one element as an integer */
#endif
