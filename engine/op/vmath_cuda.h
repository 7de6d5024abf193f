/* vmath for CUDA: the scalar functions that printed CUDA calls and the compiler does not have itself. Needs no header: NVRTC knows expf, fmaf and
 * the intrinsics. Same names and meanings as op/vmath.h; compiled with --fmad=false, so nothing is contracted but what says fmaf. */
#ifndef VITRINE_OP_VMATH_CUDA_H
#define VITRINE_OP_VMATH_CUDA_H
#define V_INLINE static __device__ __forceinline__

/* ---- 16-bit floats: the hardware's conversions, round to nearest even ---- */
V_INLINE float v_f32_bf16(unsigned short h) { return __uint_as_float((unsigned)h << 16); }
V_INLINE unsigned short v_bf16_f32(float x) {
#if __CUDA_ARCH__ >= 900
    unsigned short h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
#else
    unsigned b = __float_as_uint(x);
    return x != x ? (unsigned short)0x7fc0 : (unsigned short)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
#endif
}
V_INLINE float v_f32_f16(unsigned short h) { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }
V_INLINE unsigned short v_f16_f32(float x) { unsigned short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }

/* ---- casts ---- */
V_INLINE long v_i64_f32(float x) { return x >= -0x1p63f && x < 0x1p63f ? (long)x : -0x7fffffffffffffffL - 1; }
V_INLINE long v_i64_f64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (long)x : -0x7fffffffffffffffL - 1; }

/* ---- integers ---- */
V_INLINE long v_abs_i64(long a) { return a < 0 ? (long)(0ul - (unsigned long)a) : a; }
V_INLINE long v_truncdiv_i64(long a, long b) { return b == 0 ? 0 : b == -1 ? (long)(0ul - (unsigned long)a) : a / b; }
V_INLINE long v_fmod_i64(long a, long b) { return b == 0 || b == -1 ? 0 : a % b; }
V_INLINE long v_gcd_i64(long a, long b) {
    a = v_abs_i64(a), b = v_abs_i64(b);
    while (b) { long r = v_fmod_i64(a, b); a = b, b = r; }
    return a;
}
V_INLINE long v_floordiv_i64(long a, long b) {
    long q = v_truncdiv_i64(a, b), r = v_fmod_i64(a, b);
    return q - (r != 0 && (r < 0) != (b < 0));
}
V_INLINE long v_mod_i64(long a, long b) {
    long r = v_fmod_i64(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
V_INLINE long v_shl_i64(long a, long n) { return n < 0 || n > 63 ? 0 : (long)((unsigned long)a << n); }
V_INLINE long v_shr_i64(long a, long n) { return a >> (n < 0 || n > 63 ? 63 : n); }
V_INLINE long v_pow_i64(long base, long exponent) {
    unsigned long result = 1, square = (unsigned long)base;
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1) result *= square;
    return (long)result;
}

/* ---- signs, extremes, rounding ---- */
V_INLINE float v_abs_f32(float x) { return fabsf(x); }
V_INLINE float v_copysign_f32(float x, float sign) { return copysignf(x, sign); }
V_INLINE float v_sign_f32(float x) { return (float)((x > 0) - (x < 0)); }
/* One instruction from sm_80 on; a NaN on either side wins. */
V_INLINE float v_maximum_f32(float a, float b) { float r; asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
V_INLINE float v_minimum_f32(float a, float b) { float r; asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
V_INLINE float v_fmax_f32(float a, float b) { return fmaxf(a, b); }
V_INLINE float v_fmin_f32(float a, float b) { return fminf(a, b); }
V_INLINE float v_trunc_f32(float x) { return truncf(x); }
V_INLINE float v_mod_f32(float a, float b) {
    float r = fmodf(a, b);
    return (r != 0) & ((r < 0) != (b < 0)) ? r + b : r;
}
V_INLINE float v_floordiv_f32(float a, float b) {
    float r = fmodf(a, b), q = (a - r) / b, whole;
    q = (r != 0) & ((r < 0) != (b < 0)) ? q - 1 : q;
    whole = floorf(q);
    whole = q - whole > 0.5f ? whole + 1 : whole;
    return b == 0 ? a / b : q != 0 ? whole : copysignf(0.0f, a / b);
}
V_INLINE double v_abs_f64(double x) { return fabs(x); }
V_INLINE double v_copysign_f64(double x, double sign) { return copysign(x, sign); }
V_INLINE double v_sign_f64(double x) { return (double)((x > 0) - (x < 0)); }
V_INLINE double v_maximum_f64(double a, double b) { return (a > b) | (a != a) ? a : b; }
V_INLINE double v_minimum_f64(double a, double b) { return (a < b) | (a != a) ? a : b; }
V_INLINE double v_fmax_f64(double a, double b) { return fmax(a, b); }
V_INLINE double v_fmin_f64(double a, double b) { return fmin(a, b); }
V_INLINE double v_trunc_f64(double x) { return trunc(x); }
V_INLINE double v_mod_f64(double a, double b) {
    double r = fmod(a, b);
    return (r != 0) & ((r < 0) != (b < 0)) ? r + b : r;
}
V_INLINE double v_floordiv_f64(double a, double b) {
    double r = fmod(a, b), q = (a - r) / b, whole;
    q = (r != 0) & ((r < 0) != (b < 0)) ? q - 1 : q;
    whole = floor(q);
    whole = q - whole > 0.5 ? whole + 1 : whole;
    return b == 0 ? a / b : q != 0 ? whole : copysign(0.0, a / b);
}
/* Digamma: the recurrence up to 10, then its asymptotic series; below zero by reflection. */
V_INLINE double v_digamma_f64(double x) {
    double sum = 0.0, pi = 3.14159265358979323846;
    if (x == 0.0) return copysign((__longlong_as_double(0x7ff0000000000000LL)), -x);
    if (x < 0.0) {
        if (x == floor(x)) return __longlong_as_double(0x7ff8000000000000LL);
        double part = x - floor(x);
        sum = -pi / tan(pi * part), x = 1.0 - x;
    }
    while (x < 10.0) sum -= 1.0 / x, x += 1.0;
    if (x == 10.0) return sum + 2.25175258906672110764;
    double z = 1.0 / (x * x), tail = x < 1e17 ? z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12)))))) : 0.0;
    return sum + log(x) - 0.5 / x - tail;
}
#endif
