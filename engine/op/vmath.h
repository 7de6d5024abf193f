/* vmath: the scalar functions that printed C calls. Needs no #include; branch-free, so that loops over them vectorize (best with
 * -fno-math-errno -fno-trapping-math; the results are the same without). It stands at the head of every generated C file, and is compiled into
 * the eager kernels.
 *
 *     float v_exp_f32(float);  double v_exp_f64(double);  long v_floordiv_i64(long, long);  float v_f32_bf16(unsigned short);
 *
 * float functions are good to about one unit in the last place over their whole range, with NaN, infinities and signed zeros as IEEE has them;
 * most are evaluated in double inside. double functions are the compiler's (libm's). Polynomials are Chebyshev fits of relative error 1e-8 to
 * 1e-12; each names its interval. Nothing here depends on fused multiply-add.
 * Integers wrap; division by zero gives 0 (the eager op raises before); casts out of range give the lowest integer. */
#ifndef VITRINE_OP_VMATH_H
#define VITRINE_OP_VMATH_H
#define V_INLINE static inline __attribute__((always_inline, unused))
#define V_UNUSED __attribute__((unused))

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
V_INLINE float v_round_f32(float x) {
    float a = __builtin_fabsf(x), r = (a + 0x1p23f) - 0x1p23f;
    return a < 0x1p23f ? __builtin_copysignf(r, x) : x;
}
V_INLINE float v_floor_f32(float x) { float r = v_round_f32(x); return r > x ? r - 1 : r; }
V_INLINE float v_ceil_f32(float x) { float r = v_round_f32(x); return __builtin_copysignf(r < x ? r + 1 : r, x); }
V_INLINE float v_trunc_f32(float x) { return __builtin_copysignf(v_floor_f32(__builtin_fabsf(x)), x); }
/* Python's float % and //: the remainder has the divisor's sign. */
V_INLINE float v_mod_f32(float a, float b) {
    float r = __builtin_fmodf(a, b);
    return (r != 0) & ((r < 0) != (b < 0)) ? r + b : r;
}
V_INLINE float v_floordiv_f32(float a, float b) {
    float r = __builtin_fmodf(a, b), q = (a - r) / b, whole;
    q = (r != 0) & ((r < 0) != (b < 0)) ? q - 1 : q;
    whole = v_floor_f32(q);
    whole = q - whole > (float)0.5 ? whole + 1 : whole;
    return b == 0 ? a / b : q != 0 ? whole : __builtin_copysignf((float)0, a / b);
}
V_INLINE double v_abs_f64(double x) { return __builtin_fabs(x); }
V_INLINE double v_copysign_f64(double x, double sign) { return __builtin_copysign(x, sign); }
V_INLINE double v_sign_f64(double x) { return (double)((x > 0) - (x < 0)); }
V_INLINE double v_maximum_f64(double a, double b) { double r = a > b ? a : b; return a == a ? r : a; }
V_INLINE double v_minimum_f64(double a, double b) { double r = a < b ? a : b; return a == a ? r : a; }
V_INLINE double v_fmax_f64(double a, double b) { double r = a >= b ? a : b; return b == b ? r : a; }
V_INLINE double v_fmin_f64(double a, double b) { double r = a <= b ? a : b; return b == b ? r : a; }
V_INLINE double v_round_f64(double x) {
    double a = __builtin_fabs(x), r = (a + 0x1p52) - 0x1p52;
    return a < 0x1p52 ? __builtin_copysign(r, x) : x;
}
V_INLINE double v_floor_f64(double x) { double r = v_round_f64(x); return r > x ? r - 1 : r; }
V_INLINE double v_ceil_f64(double x) { double r = v_round_f64(x); return __builtin_copysign(r < x ? r + 1 : r, x); }
V_INLINE double v_trunc_f64(double x) { return __builtin_copysign(v_floor_f64(__builtin_fabs(x)), x); }
V_INLINE double v_mod_f64(double a, double b) {
    double r = __builtin_fmod(a, b);
    return (r != 0) & ((r < 0) != (b < 0)) ? r + b : r;
}
V_INLINE double v_floordiv_f64(double a, double b) {
    double r = __builtin_fmod(a, b), q = (a - r) / b, whole;
    q = (r != 0) & ((r < 0) != (b < 0)) ? q - 1 : q;
    whole = v_floor_f64(q);
    whole = q - whole > (double)0.5 ? whole + 1 : whole;
    return b == 0 ? a / b : q != 0 ? whole : __builtin_copysign((double)0, a / b);
}

/* ---- float: exponentials in float ---- */
/* e^x = 2^n e^r with |r| <= ln2/2; scaled in two steps so that subnormal results come out right. */
V_INLINE float v_scale_f32(float x, float shifted) {
    int n = (int)(v_bits_f32(shifted) - 0x4b400000u), half = n >> 1;
    return x * v_f32_bits((unsigned)(half + 127) << 23) * v_f32_bits((unsigned)(n - half + 127) << 23);
}
V_INLINE float v_exp_f32(float x) {
    float c = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    float shifted = c * 0x1.715476p+0f + 0x1.8p+23f, n = shifted - 0x1.8p+23f;
    float r = (c - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f;
    float p = 0.00019891981f;
    p = p * r + 0.0013934542f; p = p * r + 0.008333310f; p = p * r + 0.041666457f; p = p * r + 0.16666667f; p = p * r + 0.5f;
    return v_scale_f32((p * (r * r) + r) + 1.0f, c == c ? shifted : 0x1.8p+23f);
}
V_INLINE float v_exp2_f32(float x) {
    float c = x < -151.0f ? -151.0f : x > 129.0f ? 129.0f : x;
    float shifted = c + 0x1.8p+23f, r = c - (shifted - 0x1.8p+23f);
    float p = 0.00015454162f;
    p = p * r + 0.0013392018f; p = p * r + 0.009618081f; p = p * r + 0.05550355f; p = p * r + 0.24022651f; p = p * r + 0.6931472f;
    return v_scale_f32(p * r + 1.0f, c == c ? shifted : 0x1.8p+23f);
}
V_INLINE float v_tanh_f32(float x) {
    float a = __builtin_fabsf(x), z = x * x, p = -0.0060751666f;
    p = p * z + 0.020982298f; p = p * z - 0.053847758f; p = p * z + 0.13332749f; p = p * z - 0.33333329f;
    float small = a + a * (z * p), large = 1.0f - 2.0f / (v_exp_f32(a + a) + 1.0f); /* |x| <= 0.625; above */
    return __builtin_copysignf(a < 0.625f ? small : large, x);
}
/* Below 0.93 an odd polynomial; above, 1 - e^-q(|x|). */
V_INLINE float v_erf_f32(float x) {
    float a = __builtin_fabsf(x), z = x * x, p = 8.3347186e-05f, t = a > 4.0f ? 4.0f : a;
    p = p * z - 0.00081347093f; p = p * z + 0.0052003686f; p = p * z - 0.026859151f; p = p * z + 0.11283692f; p = p * z - 0.37612634f;
    p = p * z + 0.12837917f;
    float q = 2.5520100e-08f;
    q = q * t - 2.1581716e-06f; q = q * t + 5.0587916e-05f; q = q * t - 0.00061862883f; q = q * t + 0.0048229780f; q = q * t - 0.026533789f;
    q = q * t + 0.11019758f; q = q * t + 0.63176396f; q = q * t + 1.1302415f; q = q * t - 0.00031657853f;
    float large = __builtin_copysignf(1.0f - v_exp_f32(-q), x);
    return a < 0.93f ? x + x * p : a == a ? large : x;
}

/* ---- cores in double, relative error about 1e-11: exp in [-200, 200], log of any non-negative number ---- */
V_INLINE double v_exp_core(double x) {
    double c = x < -200.0 ? -200.0 : x > 200.0 ? 200.0 : x;
    double shifted = c * 0x1.71547652b82fep+0 + 0x1.8p+52, n = shifted - 0x1.8p+52;
    double r = (c - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
    double p = 2.761877702984587e-06;
    p = p * r + 2.486920416652337e-05; p = p * r + 0.00019841222761353435; p = p * r + 0.0013888837087667207; p = p * r + 0.008333333344872034;
    p = p * r + 0.04166666679362806; p = p * r + 0.16666666666662247; p = p * r + 0.49999999999951383;
    return (p * (r * r) + r + 1.0) * v_f64_bits((v_bits_f64(shifted) << 52) + 0x3ff0000000000000ul);
}
V_INLINE double v_log_core(double x) {
    unsigned long b = v_bits_f64(x) - 0x3fe6a09e667f3bcdul; /* exponent so that the mantissa lies in [sqrt(1/2), sqrt(2)) */
    double e = v_f64_bits(((b + 0x3ff0000000000000ul) >> 52) | 0x4330000000000000ul) - (0x1p52 + 1023.0);
    double f = v_f64_bits((b & 0xffffffffffffful) + 0x3fe6a09e667f3bcdul) - 1.0, p = 0.04429527217632426;
    p = p * f - 0.08509379965147924; p = p * f + 0.08659280832670745; p = p * f - 0.08290841285769406; p = p * f + 0.08971954094690189;
    p = p * f - 0.09992573516376989; p = p * f + 0.1111779707429133; p = p * f - 0.12500631730917805; p = p * f + 0.1428553236934878;
    p = p * f - 0.16666649660927707; p = p * f + 0.20000002158293692; p = p * f - 0.2500000014933147; p = p * f + 0.3333333332577315;
    p = p * f - 0.49999999999800643;
    double r = e * 0x1.62e42fefa39efp-1 + (p * (f * f) + f);
    r = x == 0.0 ? -__builtin_inf() : x < 0.0 ? __builtin_nan("") : r;
    return x < 0x1.fffffffffffffp+1023 ? r : x + x; /* infinity and NaN stay */
}
V_INLINE float v_log_f32(float x) { return (float)v_log_core((double)x); }
V_INLINE float v_log2_f32(float x) { return (float)(v_log_core((double)x) * 0x1.71547652b82fep+0); }
V_INLINE float v_log10_f32(float x) { return (float)(v_log_core((double)x) * 0x1.bcb7b1526e50ep-2); }
V_INLINE float v_log1p_f32(float x) {
    double d = (double)x, small = d - d * d * 0.5 + d * d * d * (1.0 / 3.0);
    return (float)(__builtin_fabs(d) < 1e-4 ? d == 0.0 ? d : small : v_log_core(1.0 + d));
}
V_INLINE float v_expm1_f32(float x) {
    double d = (double)x, p = 0.000199621762266955;
    p = p * d + 0.0013997773379590332; p = p * d + 0.008333182071584195; p = p * d + 0.041665304193438314; p = p * d + 0.16666667139493802;
    p = p * d + 0.5000000425920544; /* |x| <= 1/2 */
    return (float)(__builtin_fabs(d) < 0.5 ? d == 0.0 ? d : d + d * d * p : v_exp_core(d) - 1.0);
}
V_INLINE float v_pow_f32(float x, float y) {
    float a = __builtin_fabsf(x), whole = v_floor_f32(y), half = y * 0.5f;
    float r = (float)v_exp_core((double)y * v_log_core((double)a));
    _Bool integer = whole == y, odd = integer & (v_floor_f32(half) != half);
    r = (x != x) | (y != y) ? x + y : r;
    r = (x < 0) & !integer & (a < __builtin_inff()) ? __builtin_nanf("") : r;
    r = odd & (v_bits_f32(x) >> 31 != 0) ? -r : r;
    return (y == 0) | (x == 1) | ((x == -1) & (__builtin_fabsf(y) == __builtin_inff())) ? 1.0f : r;
}

/* ---- trigonometry: reduction to |r| <= pi/4 in double; beyond 2^23 by a table of 2^e mod 2pi, which is exact enough for every float ---- */
static const double v_pi_high[105] V_UNUSED = {
    0x1.0000000000000p+0, 0x1.0000000000000p+1, -0x1.243f6ac000000p+1, 0x1.b7812ac000000p+0, -0x1.6cbe3fc000000p+1,
    0x1.2b0bad4000000p-1, 0x1.2b0bad4000000p+0, 0x1.2b0bad4000000p+1, -0x1.9c501fc000000p+0, 0x1.87ef4ac000000p+1,
    -0x1.460d4f0000000p-3, -0x1.460d4f0000000p-2, -0x1.460d4f0000000p-1, -0x1.460d4f0000000p+0, -0x1.460d4f0000000p+1,
    0x1.304999c000000p+0, 0x1.304999c000000p+1, -0x1.87586e0000000p+0, -0x1.87586e0000000p+1, 0x1.58e8ec0000000p-3,
    0x1.58e8ec0000000p-2, 0x1.58e8ec0000000p-1, 0x1.58e8ec0000000p+0, 0x1.58e8ec0000000p+1, -0x1.c9b649c000000p-1,
    -0x1.c9b649c000000p+0, 0x1.5a8920c000000p+1, -0x1.bcb4a24000000p-1, -0x1.bcb4a24000000p+0, 0x1.678ac84000000p+1,
    -0x1.54a7680000000p-1, -0x1.54a7680000000p+0, -0x1.54a7680000000p+1, 0x1.ebc26b8000000p-1, 0x1.ebc26b8000000p+0,
    -0x1.387cff0000000p+1, 0x1.668ad94000000p+0, 0x1.668ad94000000p+1, -0x1.5ca6e00000000p-1, -0x1.5ca6e00000000p+0,
    -0x1.5ca6e00000000p+1, 0x1.abc6aac000000p-1, 0x1.abc6aac000000p+0, -0x1.7878bfc000000p+1, 0x1.9a6f588000000p-2,
    0x1.9a6f588000000p-1, 0x1.9a6f588000000p+0, -0x1.89d0124000000p+1, 0x1.09f4680000000p-3, 0x1.09f4680000000p-2,
    0x1.09f4680000000p-1, 0x1.09f4680000000p+0, 0x1.09f4680000000p+1, -0x1.10569a4000000p+1, 0x1.0392364000000p+1,
    -0x1.1d1afdc000000p+1, 0x1.d412de4000000p+0, -0x1.502c8c4000000p+1, 0x1.07cca40000000p+0, 0x1.07cca40000000p+1,
    -0x1.14a6224000000p+1, 0x1.f5e64c4000000p+0, -0x1.2e591e4000000p+1, 0x1.8f1a5c0000000p+0, 0x1.8f1a5c0000000p+1,
    -0x1.82ac838000000p-5, -0x1.82ac838000000p-4, -0x1.82ac838000000p-3, -0x1.82ac838000000p-2, -0x1.82ac838000000p-1,
    -0x1.82ac838000000p+0, -0x1.82ac838000000p+1, 0x1.ee66398000000p-3, 0x1.ee66398000000p-2, 0x1.ee66398000000p-1,
    0x1.ee66398000000p+0, -0x1.35d9314000000p+1, 0x1.711a110000000p+0, 0x1.711a110000000p+1, -0x1.082d21c000000p-1,
    -0x1.082d21c000000p+0, -0x1.082d21c000000p+1, 0x1.13e5274000000p+1, -0x1.f8ea380000000p+0, 0x1.2b55328000000p+1,
    -0x1.9b2a0a4000000p+0, 0x1.8915604000000p+1, -0x1.214a9bc000000p-3, -0x1.214a9bc000000p-2, -0x1.214a9bc000000p-1,
    -0x1.214a9bc000000p+0, -0x1.214a9bc000000p+1, 0x1.c35466c000000p+0, -0x1.60eb03c000000p+1, 0x1.89a58c4000000p-1,
    0x1.89a58c4000000p+0, 0x1.89a58c4000000p+1, -0x1.0f45208000000p-3, -0x1.0f45208000000p-2, -0x1.0f45208000000p-1,
    -0x1.0f45208000000p+0, -0x1.0f45208000000p+1, 0x1.05b529c000000p+1, -0x1.18d516c000000p+1, 0x1.e52a7a4000000p+0,
};
static const double v_pi_low[105] V_UNUSED = {
    0x0.0p+0, 0x0.0p+0, 0x1.bbd2e7b967673p-26, 0x1.77a5cf72cece6p-27, 0x1.3378b72c3635ap-26,
    0x1.58f434f828201p-29, 0x1.58f434f828201p-28, 0x1.58f434f828201p-27, 0x1.4c71cb18f8747p-30, 0x1.b6ed46a6de9d7p-28,
    0x1.7498b0cd6b5e8p-30, 0x1.7498b0cd6b5e8p-29, 0x1.7498b0cd6b5e8p-28, 0x1.7498b0cd6b5e8p-27, 0x1.7498b0cd6b5e8p-26,
    0x1.6af3cf0b7aae9p-29, 0x1.6af3cf0b7aae9p-28, 0x1.c5333cfc92f9ep-28, 0x1.c5333cfc92f9ep-27, 0x1.2c0aa86572557p-31,
    0x1.2c0aa86572557p-30, 0x1.2c0aa86572557p-29, 0x1.2c0aa86572557p-28, 0x1.2c0aa86572557p-27, 0x1.9f76407b66f28p-28,
    0x1.9f76407b66f28p-27, 0x1.e3a358c1ff8b5p-26, 0x1.8ccc9eb33ee4bp-33, 0x1.8ccc9eb33ee4bp-32, 0x1.424df4f0ca3fdp-28,
    0x1.73e788c7321c6p-28, 0x1.73e788c7321c6p-27, 0x1.73e788c7321c6p-26, 0x1.5fe14ea7e68c5p-29, 0x1.5fe14ea7e68c5p-28,
    0x1.af0e3c356ab57p-28, 0x1.bb436614df386p-30, 0x1.bb436614df386p-29, 0x1.551e09f4f9aa6p-29, 0x1.551e09f4f9aa6p-28,
    0x1.551e09f4f9aa6p-27, 0x1.94b223b92432cp-30, 0x1.94b223b92432cp-29, 0x1.07fb853d839f2p-29, 0x1.8afe657e60255p-32,
    0x1.8afe657e60255p-31, 0x1.8afe657e60255p-30, 0x1.ed32b469336bep-26, 0x1.e928118ff7087p-30, 0x1.e928118ff7087p-29,
    0x1.e928118ff7087p-28, 0x1.e928118ff7087p-27, 0x1.e928118ff7087p-26, 0x1.8e230ad955782p-26, 0x1.60732df943891p-26,
    0x1.f2e50eafb9e54p-28, 0x1.ecfcfcf3ac5b5p-29, 0x1.b89137b293f04p-29, 0x1.64a2cc667b29cp-27, 0x1.64a2cc667b29cp-26,
    0x1.0a31010cbb755p-27, 0x1.3978654d50385p-28, 0x1.623c69803e0d8p-28, 0x1.ea969a0d6f3f1p-27, 0x1.ea969a0d6f3f1p-26,
    0x1.001bd445e5556p-34, 0x1.001bd445e5556p-33, 0x1.001bd445e5556p-32, 0x1.001bd445e5556p-31, 0x1.001bd445e5556p-30,
    0x1.001bd445e5556p-29, 0x1.001bd445e5556p-28, 0x1.0ec09a62d0debp-32, 0x1.0ec09a62d0debp-31, 0x1.0ec09a62d0debp-30,
    0x1.0ec09a62d0debp-29, 0x1.ff830e521b9eep-26, 0x1.0cccd3ab3f5a4p-28, 0x1.0cccd3ab3f5a4p-27, 0x1.227eed929b05bp-28,
    0x1.227eed929b05bp-27, 0x1.227eed929b05bp-26, 0x1.1255e6d79d486p-27, 0x1.9c519d22095f2p-27, 0x1.e07eb568a1f7fp-26,
    0x1.f3414a2aad5c6p-28, 0x1.3dcdbd5bef470p-26, 0x1.76e627145f526p-30, 0x1.76e627145f526p-29, 0x1.76e627145f526p-28,
    0x1.76e627145f526p-27, 0x1.76e627145f526p-26, 0x1.8fcb337ab9ec9p-29, 0x1.fc5b49815e257p-30, 0x1.dc40bb622ebdap-33,
    0x1.dc40bb622ebdap-32, 0x1.dc40bb622ebdap-31, 0x1.996f36f8a530ep-30, 0x1.996f36f8a530ep-29, 0x1.996f36f8a530ep-28,
    0x1.996f36f8a530ep-27, 0x1.996f36f8a530ep-26, 0x1.770b8637e2fa9p-26, 0x1.53d3e8525ab89p-27, 0x1.30020131e6a2cp-27,
};
/* sin(x + quarter pi/2). x = m 2^e gives m hi[e] + m lo[e], of which n pi/2 is taken off in three pieces whose products are exact. */
V_INLINE double v_sin_core(float x, unsigned long quarter) {
    unsigned b = v_bits_f32(x) & 0x7fffffffu;
    long e = (long)(b >> 23) - 150, at = e < 0 ? 0 : e > 104 ? 104 : e; /* long: as wide as what is gathered by it */
    double m = __builtin_copysign((double)(int)((b & 0x7fffffu) | 0x800000u), (double)x), high = m * v_pi_high[at], low = m * v_pi_low[at];
    high = e < 0 ? (double)x : high;
    low = e < 0 ? 0.0 : low;
    double shifted = (high + low) * 0x1.45f306dc9c883p-1 + 0x1.8p+52, n = shifted - 0x1.8p+52;
    double r = (((high - n * 0x1.921fb5p+0) - n * 0x1.110b46p-26) + low) - n * 0x1.1a62633145c07p-54, z = r * r;
    double s = -2.480070624050586e-08, c = 2.0697074803485915e-09;
    s = s * z + 2.7555937170259983e-06; s = s * z - 0.00019841266737518747; s = s * z + 0.008333333330892811; s = s * z - 0.16666666666663596;
    c = c * z - 2.755633125022941e-07; c = c * z + 2.4801585082648883e-05; c = c * z - 0.001388888888714404; c = c * z + 0.04166666666666447;
    s = r + r * (z * s);
    c = 1.0 - 0.5 * z + z * z * c;
    unsigned long quadrant = v_bits_f64(shifted) + quarter;
    double value = quadrant & 1 ? c : s;
    value = v_f64_bits(v_bits_f64(value) ^ ((quadrant & 2) << 62));
    return b < 0x7f800000u ? value : __builtin_nan("");
}
V_INLINE float v_sin_f32(float x) { float r = (float)v_sin_core(x, 0); return x == 0 ? x : r; }
V_INLINE float v_cos_f32(float x) { return (float)v_sin_core(x, 1); }
V_INLINE float v_tan_f32(float x) { float r = (float)(v_sin_core(x, 0) / v_sin_core(x, 1)); return x == 0 ? x : r; }
/* atan(y / x) for y >= 0, x >= 0 in the first octant and a half: |t| <= tan(pi/8) after one subtraction. */
V_INLINE double v_atan_core(double y, double x) {
    _Bool high = y > 2.414213562373095 * x, middle = (y > 0.41421356237309503 * x) & !high;
    double top = high ? -x : middle ? y - x : y, bottom = high ? y : middle ? y + x : x;
    double t = top / bottom, z = t * t, p = 0.03062470728187845;
    p = p * z - 0.05872069647476112; p = p * z + 0.07563067294202694; p = p * z - 0.09078305942808919; p = p * z + 0.1111037862183058;
    p = p * z - 0.14285690165257398; p = p * z + 0.19999999599818502; p = p * z - 0.3333333333076586; p = p * z + 0.9999999999999728;
    return (high ? 0x1.921fb54442d18p+0 : middle ? 0x1.921fb54442d18p-1 : 0.0) + t * p;
}
V_INLINE float v_atan_f32(float x) {
    double a = __builtin_fabs((double)x), r = v_atan_core(a > 0x1p100 ? 0x1p100 : a, 1.0);
    return x == x ? __builtin_copysignf((float)r, x) : x;
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
    p = p * z - 0.0074189247325715645; p = p * z + 0.017979399736694105; p = p * z + 0.012535130392368678; p = p * z + 0.01755258911717879;
    p = p * z + 0.022354456815404197; p = p * z + 0.03038291366140234; p = p * z + 0.04464282637904095; p = p * z + 0.07500000049834252;
    p = p * z + 0.16666666666353117; p = p * z + 1.0000000000000033;
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
    p = p * z + 2.7551723954977596e-06; p = p * z + 0.0001984129918386081; p = p * z + 0.008333333263824386; p = p * z + 0.16666666667268623;
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
    p = p * t + 1.56689720432917e-06; p = p * t + 1.8230455070049324e-06; p = p * t - 8.404622551467894e-06; p = p * t - 1.2892383440554628e-05;
    p = p * t + 6.422683605475558e-05; p = p * t + 4.5310850819867764e-05; p = p * t - 0.0005970923727945003; p = p * t + 0.000707731713649311;
    p = p * t + 0.004269138826273645; p = p * t - 0.02439249769089548; p = p * t + 0.07166583711826695; p = p * t - 0.15011593657481803;
    p = p * t + 0.24560380171288226; p = p * t - 0.32623356004208154; p = p * t + 0.17900115118139068;
    double r = p * v_exp_core(-b * b);
    r = a > 10.25 ? 0.0 : r;
    return x == x ? (float)(x < 0 ? 2.0 - r : r) : x;
}
/* By w = -log(1 - x^2): a polynomial in w - 2.5 below 5, in sqrt(w) - 3 above. */
V_INLINE float v_erfinv_f32(float x) {
    double d = (double)x, w = -v_log_core((1.0 - d) * (1.0 + d)), u = w - 2.5, v = __builtin_sqrt(w) - 3.0;
    double p = -8.93192582952483e-09, q = -3.437390147420548e-05;
    p = p * u + 2.3335967135905405e-08; p = p * u + 4.681313461266795e-07; p = p * u - 3.463985266950262e-06; p = p * u - 4.97241968064598e-06;
    p = p * u + 0.00021834938623734778; p = p * u - 0.0012527263917881293; p = p * u - 0.004177392875200433; p = p * u + 0.24664027905464345;
    p = p * u + 1.5014093604503285;
    q = q * v + 0.000169035126126386; q = q * v - 0.0002736249463667079; q = q * v - 0.00013173649560769876; q = q * v + 0.0014752574201712515;
    q = q * v - 0.0035616019912898065; q = q * v + 0.005687101989482819; q = q * v - 0.007643744772015514; q = q * v + 0.0094453981683142;
    q = q * v + 1.0016752853193525; q = q * v + 2.83297679964746;
    double r = d * (w < 5.0 ? p : q), a = __builtin_fabs(d);
    return (float)(a < 1.0 ? r : a == 1.0 ? d * __builtin_inf() : __builtin_nan(""));
}

/* ---- double ---- */
V_INLINE double v_exp_f64(double x) { return __builtin_exp(x); }
V_INLINE double v_exp2_f64(double x) { return __builtin_exp2(x); }
V_INLINE double v_expm1_f64(double x) { return __builtin_expm1(x); }
V_INLINE double v_log_f64(double x) { return __builtin_log(x); }
V_INLINE double v_log2_f64(double x) { return __builtin_log2(x); }
V_INLINE double v_log10_f64(double x) { return __builtin_log10(x); }
V_INLINE double v_log1p_f64(double x) { return __builtin_log1p(x); }
V_INLINE double v_sin_f64(double x) { return __builtin_sin(x); }
V_INLINE double v_cos_f64(double x) { return __builtin_cos(x); }
V_INLINE double v_tan_f64(double x) { return __builtin_tan(x); }
V_INLINE double v_asin_f64(double x) { return __builtin_asin(x); }
V_INLINE double v_acos_f64(double x) { return __builtin_acos(x); }
V_INLINE double v_atan_f64(double x) { return __builtin_atan(x); }
V_INLINE double v_sinh_f64(double x) { return __builtin_sinh(x); }
V_INLINE double v_cosh_f64(double x) { return __builtin_cosh(x); }
V_INLINE double v_tanh_f64(double x) { return __builtin_tanh(x); }
V_INLINE double v_asinh_f64(double x) { return __builtin_asinh(x); }
V_INLINE double v_acosh_f64(double x) { return __builtin_acosh(x); }
V_INLINE double v_atanh_f64(double x) { return __builtin_atanh(x); }
V_INLINE double v_erf_f64(double x) { return __builtin_erf(x); }
V_INLINE double v_erfc_f64(double x) { return __builtin_erfc(x); }
V_INLINE double v_pow_f64(double x, double y) { return __builtin_pow(x, y); }
V_INLINE double v_atan2_f64(double y, double x) { return __builtin_atan2(y, x); }
/* The float answer, then Newton steps on erf, or near 1 on erfc, which keeps its digits there. */
static inline V_UNUSED double v_erfinv_f64(double x) {
    double a = __builtin_fabs(x), y = (double)v_erfinv_f32(a > 0.9999999 ? 0.9999999f : (float)a);
    if (!(a < 1.0)) return a == 1.0 ? x * __builtin_inf() : __builtin_nan("");
    for (int i = 0; i < 5; i++) {
        double error = a < 0.5 ? __builtin_erf(y) - a : (1.0 - a) - __builtin_erfc(y);
        y -= error * 0.886226925452758 * __builtin_exp(y * y);
    }
    return __builtin_copysign(y, x);
}
/* Digamma: the recurrence up to 10, then its asymptotic series; below zero by reflection. */
static inline V_UNUSED double v_digamma_f64(double x) {
    double sum = 0.0, pi = 3.14159265358979323846;
    if (x == 0.0) return __builtin_copysign(__builtin_inf(), -x);
    if (x < 0.0) {
        if (x == __builtin_floor(x)) return __builtin_nan("");
        double part = x - __builtin_floor(x);
        sum = -pi / __builtin_tan(pi * part), x = 1.0 - x;
    }
    while (x < 10.0) sum -= 1.0 / x, x += 1.0;
    if (x == 10.0) return sum + 2.25175258906672110764;
    double z = 1.0 / (x * x), tail = x < 1e17 ? z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12)))))) : 0.0;
    return sum + __builtin_log(x) - 0.5 / x - tail;
}
#endif
