/* vmath: the scalar functions that printed C calls. Needs no #include; branch-free, so that loops over them vectorize (best with
 * -fno-math-errno -fno-trapping-math; the results are the same without). It stands at the head of every generated C file with vmath_f64.h and
 * vmath_lanes.h behind it, and is compiled into the eager kernels.
 *
 *     float v_exp_f32(float);  long v_i64_f32(float);  float v_f32_bf16(unsigned short);
 *
 * float functions are good to about one unit in the last place over their whole range, with NaN, infinities and signed zeros as IEEE has them;
 * the rarer ones are evaluated in double inside. Polynomials are minimax fits; each names its interval.
 * v_muladd is fused where the processor has that (the code is compiled for several levels of processor), and is two roundings elsewhere: results of
 * the functions below may differ in the last place from one level to another, never between eager and compiled code on one machine. All that is not
 * written as v_muladd is rounded as it stands (-ffp-contract=off).
 * Integers wrap; casts out of range give the lowest integer. */
#ifndef VITRINE_OP_VMATH_H
#define VITRINE_OP_VMATH_H
#define V_INLINE static inline __attribute__((always_inline, unused))
#define V_UNUSED __attribute__((unused))

/* ---- a * b + c ---- */
#ifdef __FP_FAST_FMAF
V_INLINE float v_muladd_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
V_INLINE float v_muladd_f32(float a, float b, float c) { return a * b + c; }
#endif
#ifdef __FP_FAST_FMA
V_INLINE double v_muladd_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
V_INLINE double v_muladd_f64(double a, double b, double c) { return a * b + c; }
#endif

/* ---- bits ---- */
V_INLINE unsigned v_bits_f32(float x) { unsigned b; __builtin_memcpy(&b, &x, sizeof b); return b; }
V_INLINE float v_f32_bits(unsigned b) { float x; __builtin_memcpy(&x, &b, sizeof x); return x; }
V_INLINE unsigned long v_bits_f64(double x) { unsigned long b; __builtin_memcpy(&b, &x, sizeof b); return b; }
V_INLINE double v_f64_bits(unsigned long b) { double x; __builtin_memcpy(&x, &b, sizeof x); return x; }

/* ---- 16-bit floats: round to nearest even ---- */
V_INLINE float v_f32_bf16(unsigned short h) { return v_f32_bits((unsigned)h << 16); }
V_INLINE unsigned short v_bf16_f32(float x) {
    unsigned b = v_bits_f32(x), rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return (unsigned short)(x != x ? 0x7fc0u : rounded);
}
V_INLINE float v_f32_f16(unsigned short h) {
    unsigned sign = (unsigned)(h & 0x8000) << 16, em = h & 0x7fffu;
    float small = (float)(int)em * 0x1p-24f, normal = v_f32_bits((em << 13) + (em >= 0x7c00u ? 0x70000000u : 0x38000000u));
    return v_f32_bits(v_bits_f32(em < 0x400u ? small : normal) | sign);
}
V_INLINE unsigned short v_f16_f32(float x) {
    unsigned b = v_bits_f32(x), sign = (b >> 16) & 0x8000u, em = b & 0x7fffffffu;
    unsigned small = v_bits_f32(v_f32_bits(em) + 0.5f) - 0x3f000000u, normal = (em + 0xc8000fffu + ((em >> 13) & 1u)) >> 13;
    unsigned high = em > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return (unsigned short)(sign | (em >= 0x47800000u ? high : em < 0x38800000u ? small : normal));
}

/* ---- casts ---- */
/* gcc makes (float)(long)x a trunc(x), whose -0 no integer has: what lies around zero is told apart. */
V_INLINE long v_i64_f32(float x) { return x > -1.0f && x < 1.0f ? 0 : x >= -0x1p63f && x < 0x1p63f ? (long)x : -0x7fffffffffffffffL - 1; }
V_INLINE long v_i64_f64(double x) { return x > -1.0 && x < 1.0 ? 0 : x >= -0x1p63 && x < 0x1p63 ? (long)x : -0x7fffffffffffffffL - 1; }

/* ---- integers ---- */
V_INLINE long v_abs_i64(long a) { return a < 0 ? (long)(0ul - (unsigned long)a) : a; }
V_INLINE long v_shl_i64(long a, long n) { return n < 0 || n > 63 ? 0 : (long)((unsigned long)a << n); }
V_INLINE long v_shr_i64(long a, long n) { return a >> (n < 0 || n > 63 ? 63 : n); }
static inline V_UNUSED long v_pow_i64(long base, long exponent) {
    unsigned long result = 1, square = (unsigned long)base;
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1) result *= square;
    return (long)result;
}

/* ---- signs, extremes, rounding ---- */
V_INLINE float v_abs_f32(float x) { return __builtin_fabsf(x); }
V_INLINE float v_copysign_f32(float x, float sign) { return __builtin_copysignf(x, sign); }
V_INLINE float v_sign_f32(float x) { return (float)((x > 0) - (x < 0)); }
V_INLINE float v_maximum_f32(float a, float b) { float r = a > b ? a : b; return a == a ? r : a; }
V_INLINE float v_minimum_f32(float a, float b) { float r = a < b ? a : b; return a == a ? r : a; }
V_INLINE float v_fmax_f32(float a, float b) { float r = a >= b ? a : b; return b == b ? r : a; }
V_INLINE float v_fmin_f32(float a, float b) { float r = a <= b ? a : b; return b == b ? r : a; }
#ifdef __SSE4_1__
V_INLINE float v_round_f32(float x) { return __builtin_rintf(x); }
V_INLINE float v_floor_f32(float x) { return __builtin_floorf(x); }
V_INLINE float v_ceil_f32(float x) { return __builtin_ceilf(x); }
V_INLINE float v_trunc_f32(float x) { return __builtin_truncf(x); }
#else
V_INLINE float v_round_f32(float x) {
    float a = __builtin_fabsf(x), r = (a + 0x1p23f) - 0x1p23f;
    return a < 0x1p23f ? __builtin_copysignf(r, x) : x;
}
V_INLINE float v_floor_f32(float x) { float r = v_round_f32(x); return r > x ? r - 1 : r; }
V_INLINE float v_ceil_f32(float x) { float r = v_round_f32(x); return __builtin_copysignf(r < x ? r + 1 : r, x); }
V_INLINE float v_trunc_f32(float x) { return __builtin_copysignf(v_floor_f32(__builtin_fabsf(x)), x); }
#endif
V_INLINE double v_abs_f64(double x) { return __builtin_fabs(x); }
V_INLINE double v_copysign_f64(double x, double sign) { return __builtin_copysign(x, sign); }
V_INLINE double v_sign_f64(double x) { return (double)((x > 0) - (x < 0)); }
V_INLINE double v_maximum_f64(double a, double b) { double r = a > b ? a : b; return a == a ? r : a; }
V_INLINE double v_minimum_f64(double a, double b) { double r = a < b ? a : b; return a == a ? r : a; }
V_INLINE double v_fmax_f64(double a, double b) { double r = a >= b ? a : b; return b == b ? r : a; }
V_INLINE double v_fmin_f64(double a, double b) { double r = a <= b ? a : b; return b == b ? r : a; }
#ifdef __SSE4_1__
V_INLINE double v_round_f64(double x) { return __builtin_rint(x); }
V_INLINE double v_floor_f64(double x) { return __builtin_floor(x); }
V_INLINE double v_ceil_f64(double x) { return __builtin_ceil(x); }
V_INLINE double v_trunc_f64(double x) { return __builtin_trunc(x); }
#else
V_INLINE double v_round_f64(double x) {
    double a = __builtin_fabs(x), r = (a + 0x1p52) - 0x1p52;
    return a < 0x1p52 ? __builtin_copysign(r, x) : x;
}
V_INLINE double v_floor_f64(double x) { double r = v_round_f64(x); return r > x ? r - 1 : r; }
V_INLINE double v_ceil_f64(double x) { double r = v_round_f64(x); return __builtin_copysign(r < x ? r + 1 : r, x); }
V_INLINE double v_trunc_f64(double x) { return __builtin_copysign(v_floor_f64(__builtin_fabs(x)), x); }
#endif

/* ---- float: exponentials in float ---- */
/* e^x = 2^n e^r with |r| <= ln2/2; scaled in two steps so that subnormal results come out right. */
V_INLINE float v_scale_f32(float x, float shifted) {
    int n = (int)(v_bits_f32(shifted) - 0x4b400000u), half = n >> 1;
    return x * v_f32_bits((unsigned)(half + 127) << 23) * v_f32_bits((unsigned)(n - half + 127) << 23);
}
/* (e^r - 1 - r) / r^2 for |r| <= 0.347. */
V_INLINE float v_exp_rest_f32(float r) {
    float p = 0.000199538025f;
    p = v_muladd_f32(p, r, 0.00139394541f); p = v_muladd_f32(p, r, 0.00833323513f); p = v_muladd_f32(p, r, 0.0416663723f); p = v_muladd_f32(p, r, 0.166666669f); p = v_muladd_f32(p, r, 0.5f);
    return p;
}
V_INLINE float v_exp_f32(float x) {
    float c = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    float shifted = c * 0x1.715476p+0f + 0x1.8p+23f, n = shifted - 0x1.8p+23f;
    float r = v_muladd_f32(n, 0x1.bd0106p-13f, c - n * 0x1.63p-1f), p = v_exp_rest_f32(r);
    return v_scale_f32(v_muladd_f32(p, r * r, r) + 1.0f, c == c ? shifted : 0x1.8p+23f);
}
/* 2^r for |r| <= 1/2. */
V_INLINE float v_exp2_rest_f32(float r) {
    float p = 0.00015454162f;
    p = v_muladd_f32(p, r, 0.0013392018f); p = v_muladd_f32(p, r, 0.009618081f); p = v_muladd_f32(p, r, 0.05550355f); p = v_muladd_f32(p, r, 0.24022651f); p = v_muladd_f32(p, r, 0.6931472f);
    return v_muladd_f32(p, r, 1.0f);
}
V_INLINE float v_exp2_f32(float x) {
    float c = x < -151.0f ? -151.0f : x > 129.0f ? 129.0f : x;
    float shifted = c + 0x1.8p+23f, r = c - (shifted - 0x1.8p+23f);
    return v_scale_f32(v_exp2_rest_f32(r), c == c ? shifted : 0x1.8p+23f);
}
/* 2^n (e^r - 1) + 2^n - 1, halved on the way, so that n = 128 fits. */
V_INLINE float v_expm1_f32(float x) {
    float c = x < -18.0f ? -18.0f : x > 89.0f ? 89.0f : x;
    float shifted = c * 0x1.715476p+0f + 0x1.8p+23f, n = shifted - 0x1.8p+23f;
    float r = v_muladd_f32(n, 0x1.bd0106p-13f, c - n * 0x1.63p-1f), p = v_exp_rest_f32(r);
    float half = v_f32_bits((v_bits_f32(c == c ? shifted : 0x1.8p+23f) - 0x4b400000u + 126u) << 23);
    float value = v_muladd_f32(half, v_muladd_f32(p, r * r, r), half - 0.5f) * 2.0f;
    return x == 0.0f ? x : value;
}
V_INLINE float v_tanh_f32(float x) {
    float a = __builtin_fabsf(x), z = x * x, p = -0.0060751666f;
    p = v_muladd_f32(p, z, 0.020982298f); p = v_muladd_f32(p, z, -0.053847758f); p = v_muladd_f32(p, z, 0.13332749f); p = v_muladd_f32(p, z, -0.33333329f);
    float small = v_muladd_f32(a, z * p, a), large = 1.0f - 2.0f / (v_exp_f32(a + a) + 1.0f); /* |x| <= 0.625; above */
    return __builtin_copysignf(a < 0.625f ? small : large, x);
}
/* Below 0.93 an odd polynomial; above, 1 - e^-q(|x|). */
V_INLINE float v_erf_f32(float x) {
    float a = __builtin_fabsf(x), z = x * x, p = 8.3347186e-05f, t = a > 4.0f ? 4.0f : a;
    p = v_muladd_f32(p, z, -0.00081347093f); p = v_muladd_f32(p, z, 0.0052003686f); p = v_muladd_f32(p, z, -0.026859151f); p = v_muladd_f32(p, z, 0.11283692f); p = v_muladd_f32(p, z, -0.37612634f);
    p = v_muladd_f32(p, z, 0.12837917f);
    float q = 2.5520100e-08f;
    q = v_muladd_f32(q, t, -2.1581716e-06f); q = v_muladd_f32(q, t, 5.0587916e-05f); q = v_muladd_f32(q, t, -0.00061862883f); q = v_muladd_f32(q, t, 0.0048229780f); q = v_muladd_f32(q, t, -0.026533789f);
    q = v_muladd_f32(q, t, 0.11019758f); q = v_muladd_f32(q, t, 0.63176396f); q = v_muladd_f32(q, t, 1.1302415f); q = v_muladd_f32(q, t, -0.00031657853f);
    float large = __builtin_copysignf(1.0f - v_exp_f32(-q), x);
    return a < 0.93f ? v_muladd_f32(x, p, x) : a == a ? large : x;
}

/* ---- float: logarithms ---- */
/* (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f < sqrt(2). */
V_INLINE float v_log_rest_f32(float f) {
    float p = 0.0674664253f;
    p = v_muladd_f32(p, f, -0.116756527f); p = v_muladd_f32(p, f, 0.118881618f); p = v_muladd_f32(p, f, -0.124055888f); p = v_muladd_f32(p, f, 0.142195524f); p = v_muladd_f32(p, f, -0.166679959f);
    p = v_muladd_f32(p, f, 0.200021187f); p = v_muladd_f32(p, f, -0.250000096f); p = v_muladd_f32(p, f, 0.333333126f);
    return p;
}
/* log(1 + f) + e ln2. */
V_INLINE float v_log_sum_f32(float f, float e) {
    float z = f * f, y = f * z * v_log_rest_f32(f);
    y = v_muladd_f32(e, -0x1.bd0106p-13f, y);
    y = v_muladd_f32(z, -0.5f, y);
    return (f + y) + e * 0x1.63p-1f;
}
V_INLINE float v_log_f32(float x) {
    _Bool small = x < 0x1p-126f;
    unsigned b = v_bits_f32(small ? x * 0x1p23f : x) - 0x3f3504f3u; /* exponent so that the mantissa lies in [sqrt(1/2), sqrt(2)) */
    float e = (float)(((int)b >> 23) - (small ? 23 : 0)), f = v_f32_bits((b & 0x7fffffu) + 0x3f3504f3u) - 1.0f, r = v_log_sum_f32(f, e);
    r = x > 0.0f ? r : x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
    return x < __builtin_inff() ? r : x + x; /* infinity and NaN stay */
}
/* By 1 + x, and what its rounding lost. */
V_INLINE float v_log1p_f32(float x) {
    float u = 1.0f + x, lost = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
    unsigned b = v_bits_f32(u) - 0x3f3504f3u;
    int e = (int)b >> 23;
    float scale = v_f32_bits((unsigned)(127 - (e > 126 ? 126 : e)) << 23), f = v_muladd_f32(lost, scale, v_f32_bits((b & 0x7fffffu) + 0x3f3504f3u) - 1.0f);
    float r = v_log_sum_f32(f, (float)e);
    r = x > -1.0f ? r : x == -1.0f ? -__builtin_inff() : __builtin_nanf("");
    return x == 0.0f ? x : x < __builtin_inff() ? r : x + x;
}

/* ---- cores in double, relative error about 2e-11: exp in [-200, 200], log of any non-negative number ---- */
V_INLINE double v_exp_core(double x) {
    double c = x < -200.0 ? -200.0 : x > 200.0 ? 200.0 : x;
    double shifted = c * 0x1.71547652b82fep+0 + 0x1.8p+52, n = shifted - 0x1.8p+52;
    double r = v_muladd_f64(n, -0x1.cf79abc9e3b3ap-40, c - n * 0x1.62e42fefa0000p-1);
    double p = 2.761877702984587e-06;
    p = v_muladd_f64(p, r, 2.486920416652337e-05); p = v_muladd_f64(p, r, 0.00019841222761353435); p = v_muladd_f64(p, r, 0.0013888837087667207); p = v_muladd_f64(p, r, 0.008333333344872034);
    p = v_muladd_f64(p, r, 0.04166666679362806); p = v_muladd_f64(p, r, 0.16666666666662247); p = v_muladd_f64(p, r, 0.49999999999951383);
    return (v_muladd_f64(p, r * r, r) + 1.0) * v_f64_bits((v_bits_f64(shifted) << 52) + 0x3ff0000000000000ul);
}
V_INLINE double v_log_core(double x) {
    unsigned long b = v_bits_f64(x) - 0x3fe6a09e667f3bcdul; /* exponent so that the mantissa lies in [sqrt(1/2), sqrt(2)) */
    double e = v_f64_bits(((b + 0x3ff0000000000000ul) >> 52) | 0x4330000000000000ul) - (0x1p52 + 1023.0);
    double f = v_f64_bits((b & 0xffffffffffffful) + 0x3fe6a09e667f3bcdul) - 1.0, p = 0.053946750945624178;
    p = v_muladd_f64(p, f, -0.098675324212162574); p = v_muladd_f64(p, f, 0.099869467377955795); p = v_muladd_f64(p, f, -0.099234804535121054); p = v_muladd_f64(p, f, 0.1101488593472232);
    p = v_muladd_f64(p, f, -0.12498376620103856); p = v_muladd_f64(p, f, 0.14290172665721992); p = v_muladd_f64(p, f, -0.16666851954180972); p = v_muladd_f64(p, f, 0.19999911243629323);
    p = v_muladd_f64(p, f, -0.24999997112659264); p = v_muladd_f64(p, f, 0.33333333892764494); p = v_muladd_f64(p, f, -0.5);
    double r = v_muladd_f64(e, 0x1.62e42fefa39efp-1, v_muladd_f64(p, f * f, f));
    r = x == 0.0 ? -__builtin_inf() : x < 0.0 ? __builtin_nan("") : r;
    return x < 0x1.fffffffffffffp+1023 ? r : x + x; /* infinity and NaN stay */
}
V_INLINE float v_log2_f32(float x) { return (float)(v_log_core((double)x) * 0x1.71547652b82fep+0); }
V_INLINE float v_log10_f32(float x) { return (float)(v_log_core((double)x) * 0x1.bcb7b1526e50ep-2); }
/* 2^(y log2|x|): the product in double, its fraction's power in float. */
V_INLINE float v_pow_f32(float x, float y) {
    float a = __builtin_fabsf(x), whole = v_floor_f32(y), half = y * 0.5f;
    double t = (double)y * (v_log_core((double)a) * 0x1.71547652b82fep+0), c = t < -151.0 ? -151.0 : t > 129.0 ? 129.0 : t, n = (c + 0x1.8p+52) - 0x1.8p+52;
    float r = v_scale_f32(v_exp2_rest_f32((float)(c - n)), (float)n + 0x1.8p+23f);
    _Bool integer = whole == y, odd = integer & (v_floor_f32(half) != half);
    r = (x != x) | (y != y) ? x + y : r;
    r = (x < 0) & !integer & (a < __builtin_inff()) ? __builtin_nanf("") : r;
    r = odd & (v_bits_f32(x) >> 31 != 0) ? -r : r;
    return (y == 0) | (x == 1) | ((x == -1) & (__builtin_fabsf(y) == __builtin_inff())) ? 1.0f : r;
}

/* ---- inverse trigonometry ---- */
/* atan(y / x) for y >= 0, x >= 0 in the first octant and a half: |t| <= tan(pi/8) after one subtraction. */
V_INLINE double v_atan_core(double y, double x) {
    _Bool high = y > 2.414213562373095 * x, middle = (y > 0.41421356237309503 * x) & !high;
    double top = high ? -x : middle ? y - x : y, bottom = high ? y : middle ? y + x : x;
    double t = top / bottom, z = t * t, p = 0.03062470728187845;
    p = v_muladd_f64(p, z, -0.05872069647476112); p = v_muladd_f64(p, z, 0.07563067294202694); p = v_muladd_f64(p, z, -0.09078305942808919); p = v_muladd_f64(p, z, 0.1111037862183058);
    p = v_muladd_f64(p, z, -0.14285690165257398); p = v_muladd_f64(p, z, 0.19999999599818502); p = v_muladd_f64(p, z, -0.3333333333076586); p = v_muladd_f64(p, z, 0.9999999999999728);
    return (high ? 0x1.921fb54442d18p+0 : middle ? 0x1.921fb54442d18p-1 : 0.0) + t * p;
}
/* atan in float: below 1 an odd polynomial, above by the reciprocal. */
V_INLINE float v_atan_f32(float x) {
    float a = __builtin_fabsf(x), t = a > 1.0f ? 1.0f / a : a, z = t * t, p = -0.00179362372f;
    p = v_muladd_f32(p, z, 0.0109146173f); p = v_muladd_f32(p, z, -0.0311778727f); p = v_muladd_f32(p, z, 0.0579576267f); p = v_muladd_f32(p, z, -0.0840345269f); p = v_muladd_f32(p, z, 0.109521867f);
    p = v_muladd_f32(p, z, -0.142642419f); p = v_muladd_f32(p, z, 0.199985483f); p = v_muladd_f32(p, z, -0.333332991f);
    float r = v_muladd_f32(t, z * p, t);
    return __builtin_copysignf(a > 1.0f ? 0x1.921fb6p+0f - (r + 0x1.777a5cp-25f) : r, x);
}
V_INLINE float v_atan2_f32(float y, float x) {
    double a = __builtin_fabs((double)y), b = __builtin_fabs((double)x);
    _Bool both = (a > 0x1p200) & (b > 0x1p200); /* two infinities meet at 45 degrees */
    double r = v_atan_core(both ? 1.0 : a > 0x1p200 ? 0x1p200 : a, both ? 1.0 : b > 0x1p200 ? 0x1p800 : b);
    r = a == 0.0 ? 0.0 : r;
    r = v_bits_f32(x) >> 31 ? 0x1.921fb54442d18p+1 - r : r;
    return (x != x) | (y != y) ? x + y : __builtin_copysignf((float)r, y);
}
V_INLINE double v_asin_core(double a, _Bool cosine) { /* 0 <= a; beyond 1/2 by the half angle */
    _Bool large = a > 0.5;
    double z = large ? (1.0 - a) * 0.5 : a * a, t = large ? __builtin_sqrt(z) : a, p = 0.03159362750031693;
    p = v_muladd_f64(p, z, -0.0074189247325715645); p = v_muladd_f64(p, z, 0.017979399736694105); p = v_muladd_f64(p, z, 0.012535130392368678); p = v_muladd_f64(p, z, 0.01755258911717879);
    p = v_muladd_f64(p, z, 0.022354456815404197); p = v_muladd_f64(p, z, 0.03038291366140234); p = v_muladd_f64(p, z, 0.04464282637904095); p = v_muladd_f64(p, z, 0.07500000049834252);
    p = v_muladd_f64(p, z, 0.16666666666353117); p = v_muladd_f64(p, z, 1.0000000000000033);
    double r = t * p;
    return large ? (cosine ? 2.0 * r : 0x1.921fb54442d18p+0 - 2.0 * r) : cosine ? 0x1.921fb54442d18p+0 - r : r;
}
V_INLINE float v_asin_f32(float x) { return __builtin_copysignf((float)v_asin_core(__builtin_fabs((double)x), 0), x); }
V_INLINE float v_acos_f32(float x) {
    double r = v_asin_core(__builtin_fabs((double)x), 1);
    return (float)(x < 0 ? 0x1.921fb54442d18p+1 - r : r);
}

/* ---- hyperbolic functions and their inverses ---- */
V_INLINE float v_sinh_f32(float x) {
    double d = (double)x, z = d * d, e = v_exp_core(d), p = 2.5543110122971636e-08;
    p = v_muladd_f64(p, z, 2.7551723954977596e-06); p = v_muladd_f64(p, z, 0.0001984129918386081); p = v_muladd_f64(p, z, 0.008333333263824386); p = v_muladd_f64(p, z, 0.16666666667268623);
    return (float)(__builtin_fabs(d) < 1.0 ? d + d * (z * p) : (e - 1.0 / e) * 0.5);
}
V_INLINE float v_cosh_f32(float x) { double e = v_exp_core((double)x); return (float)((e + 1.0 / e) * 0.5); }
V_INLINE float v_asinh_f32(float x) {
    double d = __builtin_fabs((double)x), r = v_log_core(d + __builtin_sqrt(d * d + 1.0));
    return __builtin_copysignf((float)(d < 1e-4 ? d - d * d * d * (1.0 / 6.0) : r), x);
}
V_INLINE float v_acosh_f32(float x) { double d = (double)x; return (float)(d < 1.0 ? __builtin_nan("") : v_log_core(d + __builtin_sqrt((d - 1.0) * (d + 1.0)))); }
V_INLINE float v_atanh_f32(float x) {
    double d = (double)x, r = 0.5 * v_log_core((1.0 + d) / (1.0 - d));
    return (float)(__builtin_fabs(d) < 1e-4 ? d == 0.0 ? d : d + d * d * d * (1.0 / 3.0) : r);
}

/* ---- error function's relatives ---- */
V_INLINE float v_erfc_f32(float x) {
    double d = (double)x, a = __builtin_fabs(d), b = a > 10.25 ? 10.25 : a, t = (b - 3.0) / (b + 3.0), p = 2.4665796636982384e-07;
    p = v_muladd_f64(p, t, 1.56689720432917e-06); p = v_muladd_f64(p, t, 1.8230455070049324e-06); p = v_muladd_f64(p, t, -8.404622551467894e-06); p = v_muladd_f64(p, t, -1.2892383440554628e-05);
    p = v_muladd_f64(p, t, 6.422683605475558e-05); p = v_muladd_f64(p, t, 4.5310850819867764e-05); p = v_muladd_f64(p, t, -0.0005970923727945003); p = v_muladd_f64(p, t, 0.000707731713649311);
    p = v_muladd_f64(p, t, 0.004269138826273645); p = v_muladd_f64(p, t, -0.02439249769089548); p = v_muladd_f64(p, t, 0.07166583711826695); p = v_muladd_f64(p, t, -0.15011593657481803);
    p = v_muladd_f64(p, t, 0.24560380171288226); p = v_muladd_f64(p, t, -0.32623356004208154); p = v_muladd_f64(p, t, 0.17900115118139068);
    double r = p * v_exp_core(-b * b);
    r = a > 10.25 ? 0.0 : r;
    return x == x ? (float)(x < 0 ? 2.0 - r : r) : x;
}
/* By w = -log(1 - x^2): a polynomial in w - 2.5 below 5, in sqrt(w) - 3 above. */
V_INLINE float v_erfinv_f32(float x) {
    double d = (double)x, w = -v_log_core((1.0 - d) * (1.0 + d)), u = w - 2.5, v = __builtin_sqrt(w) - 3.0;
    double p = -8.93192582952483e-09, q = -3.437390147420548e-05;
    p = v_muladd_f64(p, u, 2.3335967135905405e-08); p = v_muladd_f64(p, u, 4.681313461266795e-07); p = v_muladd_f64(p, u, -3.463985266950262e-06); p = v_muladd_f64(p, u, -4.97241968064598e-06);
    p = v_muladd_f64(p, u, 0.00021834938623734778); p = v_muladd_f64(p, u, -0.0012527263917881293); p = v_muladd_f64(p, u, -0.004177392875200433); p = v_muladd_f64(p, u, 0.24664027905464345);
    p = v_muladd_f64(p, u, 1.5014093604503285);
    q = v_muladd_f64(q, v, 0.000169035126126386); q = v_muladd_f64(q, v, -0.0002736249463667079); q = v_muladd_f64(q, v, -0.00013173649560769876); q = v_muladd_f64(q, v, 0.0014752574201712515);
    q = v_muladd_f64(q, v, -0.0035616019912898065); q = v_muladd_f64(q, v, 0.005687101989482819); q = v_muladd_f64(q, v, -0.007643744772015514); q = v_muladd_f64(q, v, 0.0094453981683142);
    q = v_muladd_f64(q, v, 1.0016752853193525); q = v_muladd_f64(q, v, 2.83297679964746);
    double r = d * (w < 5.0 ? p : q), a = __builtin_fabs(d);
    return (float)(a < 1.0 ? r : a == 1.0 ? d * __builtin_inf() : __builtin_nan(""));
}
#endif
