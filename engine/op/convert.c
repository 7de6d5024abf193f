/* Convert: loops between storage types and compute types, one function a pair.
 *
 * In: elements at a stride. Out: values of a compute type (and the reverse). The common stride, dense, has its own loop, which vectorizes.
 * Invariant: every pair of a dtype and a compute type has both functions. To add a dtype: a line in each of the two lists below. */
/* These loops are worth the vectorizer whatever the rest is built with. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3,no-trapping-math,no-math-errno")
#endif
#include "op/convert.h"
#include "op/clones.h"
#include "op/vmath.h"
#include <stddef.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <string.h>

/* From a compute type to another. */
#define CAST_F32_F32(x) (x)
#define CAST_F32_F64(x) ((double)(x))
#define CAST_F32_I64(x) v_i64_f32(x)
#define CAST_F32_BOOL(x) ((x) != 0)
#define CAST_F64_F32(x) ((float)(x))
#define CAST_F64_F64(x) (x)
#define CAST_F64_I64(x) v_i64_f64(x)
#define CAST_F64_BOOL(x) ((x) != 0)
#define CAST_I64_F32(x) ((float)(x))
#define CAST_I64_F64(x) ((double)(x))
#define CAST_I64_I64(x) (x)
#define CAST_I64_BOOL(x) ((x) != 0)
#define CAST_BOOL_F32(x) ((float)(x))
#define CAST_BOOL_F64(x) ((double)(x))
#define CAST_BOOL_I64(x) ((long)(x))
#define CAST_BOOL_BOOL(x) (x)

typedef float value_F32;
typedef double value_F64;
typedef long value_I64;
typedef _Bool value_BOOL;

/* LIST(storage id, its C type, its compute type, from memory, to memory) */
#define STORED(LIST)                                                          \
    LIST(BOOL, unsigned char, BOOL, (x != 0), (unsigned char)x)               \
    LIST(U8, unsigned char, I64, (long)x, (unsigned char)x)                   \
    LIST(I8, signed char, I64, (long)x, (signed char)x)                       \
    LIST(I16, short, I64, (long)x, (short)x)                                  \
    LIST(I32, int, I64, (long)x, (int)x)                                      \
    LIST(I64, long, I64, x, x)                                                \
    LIST(F16, unsigned short, F32, v_f32_f16(x), v_f16_f32(x))                \
    LIST(BF16, unsigned short, F32, v_f32_bf16(x), v_bf16_f32(x))             \
    LIST(F32, float, F32, x, x)                                               \
    LIST(F64, double, F64, x, x)

#define LOAD(id, c_type, own, from, to, compute)                                                                     \
    CLONES static void load_##id##_##compute(int64_t n, void *dst, const char *src, int64_t stride) {                \
        value_##compute *out = dst;                                                                                  \
        if (stride == (int64_t)sizeof(c_type)) {                                                                     \
            const c_type *in = (const c_type *)(const void *)src;                                                    \
            for (int64_t i = 0; i < n; i++) { const c_type x = in[i]; out[i] = CAST_##own##_##compute((from)); }     \
        } else                                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                                        \
                const c_type x = *(const c_type *)(const void *)(src + i * stride);                                  \
                out[i] = CAST_##own##_##compute((from));                                                             \
            }                                                                                                        \
    }
#define STORE(id, c_type, own, from, to, compute)                                                                    \
    CLONES static void store_##compute##_##id(int64_t n, const void *src, char *dst, int64_t stride) {               \
        const value_##compute *in = src;                                                                             \
        if (stride == (int64_t)sizeof(c_type)) {                                                                     \
            c_type *out = (c_type *)(void *)dst;                                                                     \
            for (int64_t i = 0; i < n; i++) { const value_##own x = CAST_##compute##_##own(in[i]); out[i] = (to); }  \
        } else                                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                                        \
                const value_##own x = CAST_##compute##_##own(in[i]);                                                 \
                *(c_type *)(void *)(dst + i * stride) = (to);                                                        \
            }                                                                                                        \
    }
#define BOTH(id, c_type, own, from, to)                                                                              \
    LOAD(id, c_type, own, from, to, F32) LOAD(id, c_type, own, from, to, F64)                                        \
    LOAD(id, c_type, own, from, to, I64) LOAD(id, c_type, own, from, to, BOOL)                                       \
    STORE(id, c_type, own, from, to, F32) STORE(id, c_type, own, from, to, F64)                                      \
    STORE(id, c_type, own, from, to, I64) STORE(id, c_type, own, from, to, BOOL)
STORED(BOTH)

/* ---- float16 by the processor's own conversions, where it has them ---- */
#if defined __x86_64__ && defined __GNUC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_UNDEFINED__
#define HALF_HARDWARE __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx")
__attribute__((target("avx,f16c"))) static void load_half(int64_t n, void *dst, const char *src, int64_t stride) {
    float *out = dst;
    const unsigned short *in = (const unsigned short *)(const void *)src;
    if (stride != 2) {
        for (int64_t i = 0; i < n; i++) out[i] = _cvtsh_ss(*(const unsigned short *)(const void *)(src + i * stride));
        return;
    }
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(in + i))));
    for (; i < n; i++) out[i] = _cvtsh_ss(in[i]);
}

__attribute__((target("avx,f16c"))) static void store_half(int64_t n, const void *src, char *dst, int64_t stride) {
    const float *in = src;
    unsigned short *out = (unsigned short *)(void *)dst;
    if (stride != 2) {
        for (int64_t i = 0; i < n; i++) *(unsigned short *)(void *)(dst + i * stride) = _cvtss_sh(in[i], _MM_FROUND_TO_NEAREST_INT);
        return;
    }
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i *)(void *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++) out[i] = _cvtss_sh(in[i], _MM_FROUND_TO_NEAREST_INT);
}
#else
#define HALF_HARDWARE 0
#define load_half load_F16_F32
#define store_half store_F32_F16
#endif

/* ---- narrow types as they lie ---- */
#define AS_IT_LIES(size, type)                                                                                       \
    CLONES static void load_same_##size(int64_t n, void *dst, const char *src, int64_t stride) {                     \
        type *out = dst;                                                                                             \
        if (stride == size) memcpy(dst, src, (size_t)n * size);                                                      \
        else for (int64_t i = 0; i < n; i++) out[i] = *(const type *)(const void *)(src + i * stride);               \
    }                                                                                                                \
    CLONES static void store_same_##size(int64_t n, const void *src, char *dst, int64_t stride) {                    \
        const type *in = src;                                                                                        \
        if (stride == size) memcpy(dst, src, (size_t)n * size);                                                      \
        else for (int64_t i = 0; i < n; i++) *(type *)(void *)(dst + i * stride) = in[i];                            \
    }
AS_IT_LIES(1, unsigned char)
AS_IT_LIES(2, unsigned short)
AS_IT_LIES(4, unsigned)

/* A truth as float16 is one of two patterns: the general way through float does not vectorize. */
CLONES static void store_bool_half(int64_t n, const void *src, char *dst, int64_t stride) {
    const unsigned char *in = src;
    unsigned short *out = (unsigned short *)(void *)dst;
    if (stride != 2) {
        for (int64_t i = 0; i < n; i++) *(unsigned short *)(void *)(dst + i * stride) = in[i] ? 0x3c00 : 0;
        return;
    }
    for (int64_t i = 0; i < n; i++) out[i] = (unsigned short)(in[i] ? 0x3c00 : 0);
}

/* 0, 1, 2 for 1, 2, 4 bytes; -1 where the dtypes differ, or are a compute type. */
static int same_size(DType stored, DType other) { return stored != other || dtype_info[stored].compute == stored ? -1 : dtype_size(stored) >> 1; }

static int place_of(DType compute) { return compute == DTYPE_F32 ? 0 : compute == DTYPE_F64 ? 1 : compute == DTYPE_I64 ? 2 : 3; }

LoadFn load_function(DType stored, DType compute) {
#define LINE(id, c_type, own, from, to) [DTYPE_##id] = {load_##id##_F32, load_##id##_F64, load_##id##_I64, load_##id##_BOOL},
    static const LoadFn table[DTYPE_COUNT][4] = {STORED(LINE)};
#undef LINE
    static const LoadFn same[] = {load_same_1, load_same_2, load_same_4};
    if (same_size(stored, compute) >= 0) return same[same_size(stored, compute)];
    if (stored == DTYPE_F16 && compute == DTYPE_F32 && HALF_HARDWARE) return load_half;
    return table[stored][place_of(compute)];
}

StoreFn store_function(DType compute, DType stored) {
#define LINE(id, c_type, own, from, to) [DTYPE_##id] = {store_F32_##id, store_F64_##id, store_I64_##id, store_BOOL_##id},
    static const StoreFn table[DTYPE_COUNT][4] = {STORED(LINE)};
#undef LINE
    static const StoreFn same[] = {store_same_1, store_same_2, store_same_4};
    if (same_size(stored, compute) >= 0) return same[same_size(stored, compute)];
    if (stored == DTYPE_F16 && compute == DTYPE_F32 && HALF_HARDWARE) return store_half;
    if (stored == DTYPE_F16 && compute == DTYPE_BOOL) return store_bool_half;
    return table[stored][place_of(compute)];
}

double load_double(DType stored, const char *src) {
    double value;
    load_values(stored, DTYPE_F64, 1, &value, src, 0);
    return value;
}

int64_t load_int(DType stored, const char *src) {
    long value;
    load_values(stored, DTYPE_I64, 1, &value, src, 0);
    return value;
}
