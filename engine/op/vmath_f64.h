/* vmath in double: see vmath.h, behind which it stands. Where multiply-add is fused, functions of our own that vectorize, good to about one unit in
 * the last place (tanh and pow of results near the end of the range: two); elsewhere, and for the rarer ones, the compiler's, which are libm's.
 *
 *     double v_exp_f64(double);  double v_log_f64(double);  double v_erf_f64(double);
 *
 * Invariant: NaN, infinities, signed zeros and subnormal results are IEEE's. To add one: a minimax fit that names its interval, and a line in
 * tests/unit/test_vmath.c. */
#ifndef VITRINE_OP_VMATH_F64_H
#define VITRINE_OP_VMATH_F64_H
#ifdef __FP_FAST_FMA
/* 2^n of a number in which n stands behind 0x1.8p+52, in two factors. */
V_INLINE double v_scale_f64(double x, double shifted) {
    unsigned long n = v_bits_f64(shifted) - 0x4338000000000000ul + 4096, half = n >> 1;
    return x * v_f64_bits((half - 2048 + 1023) << 52) * v_f64_bits((n - half - 2048 + 1023) << 52);
}
/* x less its multiple of ln2, which goes to *shifted: |r| <= ln2 / 2. */
V_INLINE double v_exp_reduce_f64(double x, double *shifted) {
    double n;
    *shifted = v_muladd_f64(x, 0x1.71547652b82fep+0, 0x1.8p+52), n = *shifted - 0x1.8p+52;
    return v_muladd_f64(n, -0x1.abc9e3b39803fp-56, v_muladd_f64(n, -0x1.62e42fefa39efp-1, x));
}
/* e^r - 1 for |r| <= 0.347. */
V_INLINE double v_exp_less_one_f64(double r) {
    double p = 2.0879839589030468e-09;
    p = v_muladd_f64(p, r, 2.5108836990314183e-08); p = v_muladd_f64(p, r, 2.755738473613594e-07); p = v_muladd_f64(p, r, 2.7557244898936481e-06); p = v_muladd_f64(p, r, 2.4801587200106642e-05);
    p = v_muladd_f64(p, r, 0.00019841269885295112); p = v_muladd_f64(p, r, 0.0013888888888942117); p = v_muladd_f64(p, r, 0.0083333333333220384); p = v_muladd_f64(p, r, 0.041666666666666581);
    p = v_muladd_f64(p, r, 0.16666666666666677); p = v_muladd_f64(p, r, 0.5);
    return v_muladd_f64(r * r, p, r);
}
V_INLINE double v_exp_f64(double x) {
    double c = x < -746.0 ? -746.0 : x > 710.0 ? 710.0 : x, shifted, r = v_exp_reduce_f64(c, &shifted);
    return v_scale_f64(1.0 + v_exp_less_one_f64(r), c == c ? shifted : 0x1.8p+52);
}
V_INLINE double v_exp2_f64(double x) {
    double c = x < -1076.0 ? -1076.0 : x > 1025.0 ? 1025.0 : x, shifted = c + 0x1.8p+52, f = c - (shifted - 0x1.8p+52);
    return v_scale_f64(1.0 + v_exp_less_one_f64(f * 0x1.62e42fefa39efp-1), c == c ? shifted : 0x1.8p+52);
}
/* 2^n (e^r - 1) + 2^n - 1, halved on the way, so that n = 1024 fits. */
V_INLINE double v_expm1_f64(double x) {
    double c = x < -40.0 ? -40.0 : x > 710.0 ? 710.0 : x, shifted, r = v_exp_reduce_f64(c, &shifted);
    double half = v_f64_bits((v_bits_f64(c == c ? shifted : 0x1.8p+52) - 0x4338000000000000ul + 1022) << 52);
    double value = v_muladd_f64(half, v_exp_less_one_f64(r), half - 0.5) * 2.0;
    return x == 0.0 ? x : value;
}
V_INLINE double v_tanh_f64(double x) {
    double a = __builtin_fabs(x), t = v_expm1_f64(a > 22.0 ? 44.0 : a + a);
    return x == x ? __builtin_copysign(t / (t + 2.0), x) : x;
}
/* log(1 + f) + e ln2 for sqrt(1/2) <= 1 + f < sqrt(2): by atanh of s = f / (2 + f). */
V_INLINE double v_log_sum_f64(double f, double e) {
    double s = f / (2.0 + f), z = s * s, square = 0.5 * f * f;
    double p = 0.14795630009734778;
    p = v_muladd_f64(p, z, 0.15314084214756374); p = v_muladd_f64(p, z, 0.18183562941661452); p = v_muladd_f64(p, z, 0.2222219860116669); p = v_muladd_f64(p, z, 0.28571428742101929);
    p = v_muladd_f64(p, z, 0.39999999999416019); p = v_muladd_f64(p, z, 0.6666666666666734);
    double low = v_muladd_f64(s, v_muladd_f64(z, p, square), e * 0x1.ef35793c76730p-45);
    return e * 0x1.62e42fefa3800p-1 - ((square - low) - f);
}
/* The exponent behind the mantissa's interval [sqrt(1/2), sqrt(2)), of bits less 0x3fe6a09e667f3bcd. */
V_INLINE double v_exponent_f64(unsigned long b) { return v_f64_bits(((b + 0x3ff0000000000000ul) >> 52) | 0x4330000000000000ul) - (0x1p52 + 1023.0); }
V_INLINE double v_mantissa_f64(unsigned long b) { return v_f64_bits((b & 0xffffffffffffful) + 0x3fe6a09e667f3bcdul); }
V_INLINE double v_log_f64(double x) {
    _Bool small = x < 0x1p-1022;
    unsigned long b = v_bits_f64(small ? x * 0x1p54 : x) - 0x3fe6a09e667f3bcdul;
    double r = v_log_sum_f64(v_mantissa_f64(b) - 1.0, v_exponent_f64(b) - (small ? 54.0 : 0.0));
    r = x > 0.0 ? r : x == 0.0 ? -__builtin_inf() : __builtin_nan("");
    return x < __builtin_inf() ? r : x + x;
}
/* By 1 + x, and what its rounding lost. */
V_INLINE double v_log1p_f64(double x) {
    double u = 1.0 + x, lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
    unsigned long b = v_bits_f64(u) - 0x3fe6a09e667f3bcdul;
    double e = v_exponent_f64(b), scale = v_f64_bits((v_bits_f64(0x1p52 + 1023.0 - (e > 1000.0 ? 1000.0 : e)) & 0x7ff) << 52);
    double r = v_log_sum_f64(v_muladd_f64(lost, scale, v_mantissa_f64(b) - 1.0), e);
    r = x > -1.0 ? r : x == -1.0 ? -__builtin_inf() : __builtin_nan("");
    return x == 0.0 ? x : x < __builtin_inf() ? r : x + x;
}
/* Below 1 an odd polynomial; above, 1 - e^-q(|x|), where q fits -log(erfc). */
V_INLINE double v_erf_f64(double x) {
    double a = __builtin_fabs(x), z = x * x, t = a > 6.0 ? 6.0 : a;
    double p = 5.9452594631684821e-11;
    p = v_muladd_f64(p, z, -1.1365664593832797e-09); p = v_muladd_f64(p, z, 1.4657879485750012e-08); p = v_muladd_f64(p, z, -1.6350025169593869e-07); p = v_muladd_f64(p, z, 1.646097281204752e-06);
    p = v_muladd_f64(p, z, -1.4925593506583579e-05); p = v_muladd_f64(p, z, 0.00012055331036887057); p = v_muladd_f64(p, z, -0.00085483269787418653); p = v_muladd_f64(p, z, 0.005223977624780861);
    p = v_muladd_f64(p, z, -0.026866170645072893); p = v_muladd_f64(p, z, 0.11283791670954857); p = v_muladd_f64(p, z, -0.37612638903183748); p = v_muladd_f64(p, z, 0.12837916709551259);
    double q = -1.049670131352464e-12;
    q = v_muladd_f64(q, t, 4.7962279455603229e-11); q = v_muladd_f64(q, t, -1.0257349409660769e-09); q = v_muladd_f64(q, t, 1.3627077352281496e-08); q = v_muladd_f64(q, t, -1.2570778608696455e-07);
    q = v_muladd_f64(q, t, 8.5059032672225325e-07); q = v_muladd_f64(q, t, -4.3271145399055874e-06); q = v_muladd_f64(q, t, 1.6514206751573146e-05); q = v_muladd_f64(q, t, -4.5038186308215781e-05);
    q = v_muladd_f64(q, t, 7.0368599708121597e-05); q = v_muladd_f64(q, t, 4.4818707307764052e-05); q = v_muladd_f64(q, t, -0.00064116704339381078); q = v_muladd_f64(q, t, 0.001768993921889204);
    q = v_muladd_f64(q, t, -0.00028048231514545322); q = v_muladd_f64(q, t, -0.019078160244070073); q = v_muladd_f64(q, t, 0.10274725484220179); q = v_muladd_f64(q, t, 0.63662848795476779);
    q = v_muladd_f64(q, t, 1.1283773294744273); q = v_muladd_f64(q, t, 1.7959885670180385e-07);
    double large = __builtin_copysign(1.0 - v_exp_f64(-q), x);
    return a < 1.0 ? v_muladd_f64(x, p, x) : a == a ? large : x;
}
#else
V_INLINE double v_exp_f64(double x) { return __builtin_exp(x); }
V_INLINE double v_exp2_f64(double x) { return __builtin_exp2(x); }
V_INLINE double v_expm1_f64(double x) { return __builtin_expm1(x); }
V_INLINE double v_log_f64(double x) { return __builtin_log(x); }
V_INLINE double v_log1p_f64(double x) { return __builtin_log1p(x); }
V_INLINE double v_tanh_f64(double x) { return __builtin_tanh(x); }
V_INLINE double v_erf_f64(double x) { return __builtin_erf(x); }
#endif
V_INLINE double v_log2_f64(double x) { return __builtin_log2(x); }
V_INLINE double v_log10_f64(double x) { return __builtin_log10(x); }
V_INLINE double v_asin_f64(double x) { return __builtin_asin(x); }
V_INLINE double v_acos_f64(double x) { return __builtin_acos(x); }
V_INLINE double v_atan_f64(double x) { return __builtin_atan(x); }
V_INLINE double v_sinh_f64(double x) { return __builtin_sinh(x); }
V_INLINE double v_cosh_f64(double x) { return __builtin_cosh(x); }
V_INLINE double v_asinh_f64(double x) { return __builtin_asinh(x); }
V_INLINE double v_acosh_f64(double x) { return __builtin_acosh(x); }
V_INLINE double v_atanh_f64(double x) { return __builtin_atanh(x); }
V_INLINE double v_erfc_f64(double x) { return __builtin_erfc(x); }
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
