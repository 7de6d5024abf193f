/* vmath of lanes: functions of which a few arguments take a way of their own (sines of large numbers, remainders of huge quotients, quotients of huge
 * integers). See vmath.h and vmath_f64.h, behind which it stands.
 *
 *     float v_sin_f32(float);  float v_fmod_f32(float, float);  double v_pow_f64(double, double);  long v_floordiv_i64(long, long);
 *
 * A function is three: NAME_fast, branch-free, for nearly all arguments; NAME_rare, which says that an argument is not of those; NAME_slow for it.
 * Where gcc compiles for x86-64, NAME is a function with versions for whole vectors (`simd` functions by the names of the x86-64 vector ABI): a loop calls
 * one with 2 to 16 lanes, the fast way is taken for all of them, and the slow one for lanes that are rare. Elsewhere NAME tests and branches.
 * A generated file compiles those that it uses: it defines USES_NAME for each.
 * Invariant: fast and slow agree where both hold. To add one: the three functions, a line that makes NAME, behind #ifdef USES_NAME. */
#ifndef VITRINE_OP_VMATH_LANES_H
#define VITRINE_OP_VMATH_LANES_H
#define V_SLOW static V_UNUSED __attribute__((noinline, cold))

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define V_VECTOR(type, bytes) __attribute__((vector_size(bytes))) type
/* mask: an integer as wide as the lanes */
#define V_LANES1(name, type, mask, vector, symbol)                                                              \
    static V_UNUSED __attribute__((used)) vector v_##name##_##symbol(vector x) __asm__("_ZGV" #symbol "v_v_" #name); \
    static V_UNUSED __attribute__((used)) vector v_##name##_##symbol(vector x) {                                \
        enum { LANES = sizeof(vector) / sizeof(type) };                                                         \
        union { vector all; type at[LANES]; } a = {x}, r;                                                       \
        mask rare = 0;                                                                                          \
        for (int k = 0; k < LANES; k++) r.at[k] = v_##name##_fast(a.at[k]), rare |= v_##name##_rare(a.at[k]);   \
        if (__builtin_expect(rare != 0, 0))                                                                     \
            for (int k = 0; k < LANES; k++)                                                                     \
                if (v_##name##_rare(a.at[k])) r.at[k] = v_##name##_slow(a.at[k]);                               \
        return r.all;                                                                                           \
    }
#define V_LANES2(name, type, mask, vector, symbol)                                                              \
    static V_UNUSED __attribute__((used)) vector v_##name##_##symbol(vector x, vector y) __asm__("_ZGV" #symbol "vv_v_" #name); \
    static V_UNUSED __attribute__((used)) vector v_##name##_##symbol(vector x, vector y) {                      \
        enum { LANES = sizeof(vector) / sizeof(type) };                                                         \
        union { vector all; type at[LANES]; } a = {x}, b = {y}, r;                                              \
        mask rare = 0;                                                                                          \
        for (int k = 0; k < LANES; k++) r.at[k] = v_##name##_fast(a.at[k], b.at[k]), rare |= v_##name##_rare(a.at[k], b.at[k]); \
        if (__builtin_expect(rare != 0, 0))                                                                     \
            for (int k = 0; k < LANES; k++)                                                                     \
                if (v_##name##_rare(a.at[k], b.at[k])) r.at[k] = v_##name##_slow(a.at[k], b.at[k]);             \
        return r.all;                                                                                           \
    }
typedef V_VECTOR(float, 16) v_4_floats;
typedef V_VECTOR(double, 16) v_2_doubles;
typedef V_VECTOR(long, 16) v_2_longs;
#ifdef __AVX__
typedef V_VECTOR(float, 32) v_8_floats;
typedef V_VECTOR(double, 32) v_4_doubles;
typedef V_VECTOR(long, 32) v_4_longs;
#endif
#ifdef __AVX512F__
typedef V_VECTOR(float, 64) v_16_floats;
typedef V_VECTOR(double, 64) v_8_doubles;
typedef V_VECTOR(long, 64) v_8_longs;
#define V_WIDEST(lanes, name, type, mask, vector, symbol) lanes(name, type, mask, vector, symbol)
#else
#define V_WIDEST(lanes, name, type, mask, vector, symbol)
#endif
/* AVX's own versions are those of AVX2 under another name, and of SSE for integers: gcc may ask for any that the processor has. */
#define V_SAME(alias, symbol) __asm__(".set " #alias ", " #symbol);
#define V_ALIAS(arguments, name, alias, symbol) V_SAME(_ZGV##alias##arguments##_v_##name, _ZGV##symbol##arguments##_v_##name)
#ifdef __AVX__
#define V_WIDER(lanes, arguments, name, type, mask, vector, symbol, alias) lanes(name, type, mask, vector, symbol) V_ALIAS(arguments, name, alias, symbol)
#define V_WIDER_LONGS(lanes, arguments, name) V_LANES_OF_AVX2(lanes, name) V_ALIAS(arguments, name, cN2, bN2)
#else
#define V_WIDER(lanes, arguments, name, type, mask, vector, symbol, alias)
#define V_WIDER_LONGS(lanes, arguments, name)
#endif
#ifdef __AVX2__
#define V_LANES_OF_AVX2(lanes, name) lanes(name, long, long, v_4_longs, dN4)
#else
#define V_LANES_OF_AVX2(lanes, name)
#endif
#define V_SIMD __attribute__((simd("notinbranch"), const, visibility("hidden")))
#define V_SCALAR1(name, type)                                                                                   \
    extern V_SIMD type v_##name(type);                                                                          \
    static V_UNUSED __attribute__((used)) type v_##name##_one(type x) __asm__("v_" #name);                      \
    static V_UNUSED __attribute__((used)) type v_##name##_one(type x) { return v_##name##_rare(x) ? v_##name##_slow(x) : v_##name##_fast(x); }
#define V_SCALAR2(name, type)                                                                                   \
    extern V_SIMD type v_##name(type, type);                                                                    \
    static V_UNUSED __attribute__((used)) type v_##name##_one(type x, type y) __asm__("v_" #name);              \
    static V_UNUSED __attribute__((used)) type v_##name##_one(type x, type y) { return v_##name##_rare(x, y) ? v_##name##_slow(x, y) : v_##name##_fast(x, y); }
#define V_ARGUMENTS1 v
#define V_ARGUMENTS2 vv
#define V_OF_FLOATS(n, name) V_SCALAR##n(name, float) V_LANES##n(name, float, int, v_4_floats, bN4)             \
    V_WIDER(V_LANES##n, V_ARGUMENTS##n, name, float, int, v_8_floats, dN8, cN8) V_WIDEST(V_LANES##n, name, float, int, v_16_floats, eN16)
#define V_OF_DOUBLES(n, name) V_SCALAR##n(name, double) V_LANES##n(name, double, long, v_2_doubles, bN2)        \
    V_WIDER(V_LANES##n, V_ARGUMENTS##n, name, double, long, v_4_doubles, dN4, cN4) V_WIDEST(V_LANES##n, name, double, long, v_8_doubles, eN8)
#define V_OF_LONGS(n, name) V_SCALAR##n(name, long) V_LANES##n(name, long, long, v_2_longs, bN2)                \
    V_WIDER_LONGS(V_LANES##n, V_ARGUMENTS##n, name) V_WIDEST(V_LANES##n, name, long, long, v_8_longs, eN8)
#else
#define V_BRANCH1(name, type) V_INLINE type v_##name(type x) { return v_##name##_rare(x) ? v_##name##_slow(x) : v_##name##_fast(x); }
#define V_BRANCH2(name, type) V_INLINE type v_##name(type x, type y) { return v_##name##_rare(x, y) ? v_##name##_slow(x, y) : v_##name##_fast(x, y); }
#define V_OF_FLOATS(n, name) V_BRANCH##n(name, float)
#define V_OF_DOUBLES(n, name) V_BRANCH##n(name, double)
#define V_OF_LONGS(n, name) V_BRANCH##n(name, long)
#endif

/* ---- quotients of integers: by 0 it is 0 (the eager op raises before) ---- */
#if defined USES_v_truncdiv_i64 || defined USES_v_fmod_i64 || defined USES_v_floordiv_i64 || defined USES_v_mod_i64
V_INLINE double v_f64_small_i64(long a) { return v_f64_bits((unsigned long)a + 0x4338000000000000ul) - 0x1.8p+52; } /* |a| < 2^51 */
V_INLINE _Bool v_truncdiv_i64_rare(long a, long b) { return (((unsigned long)a + (1ul << 51)) | ((unsigned long)b + (1ul << 51))) >> 52 != 0; }
V_INLINE long v_truncdiv_i64_fast(long a, long b) {
    double q = v_trunc_f64(v_f64_small_i64(a) / v_f64_small_i64(b == 0 ? 1 : b));
    return b == 0 ? 0 : (long)(v_bits_f64(q + 0x1.8p+52) - 0x4338000000000000ul);
}
V_SLOW long v_truncdiv_i64_slow(long a, long b) { return b == 0 ? 0 : b == -1 ? (long)(0ul - (unsigned long)a) : a / b; }
V_OF_LONGS(2, truncdiv_i64)
V_INLINE long v_fmod_i64(long a, long b) { long q = v_truncdiv_i64(a, b); return b == 0 ? 0 : (long)((unsigned long)a - (unsigned long)q * (unsigned long)b); }
V_INLINE long v_floordiv_i64(long a, long b) {
    long q = v_truncdiv_i64(a, b), r = (long)((unsigned long)a - (unsigned long)q * (unsigned long)b);
    return q - ((b != 0) & (r != 0) & ((r ^ b) < 0));
}
V_INLINE long v_mod_i64(long a, long b) {
    long r = v_fmod_i64(a, b);
    return (r != 0) & ((r ^ b) < 0) ? r + b : r;
}
#endif
/* The same of 32 and of 16 bits, whose quotients are exact in double and in float; the result wraps when it is stored. */
V_INLINE int v_truncdiv_i32(int a, int b) {
    double q = (double)a / (double)(b == 0 ? 1 : b);
    return b == 0 ? 0 : (int)(q > 2147483647.0 ? -2147483648.0 : q);
}
V_INLINE int v_truncdiv_i16(int a, int b) { return b == 0 ? 0 : (int)((float)a / (float)(b == 0 ? 1 : b)); }
#define V_INTEGERS(bits)                                                                                                                    \
    V_INLINE int v_fmod_##bits(int a, int b) { int q = v_truncdiv_##bits(a, b); return b == 0 ? 0 : (int)((unsigned)a - (unsigned)q * (unsigned)b); } \
    V_INLINE int v_floordiv_##bits(int a, int b) {                                                                                          \
        int q = v_truncdiv_##bits(a, b), r = (int)((unsigned)a - (unsigned)q * (unsigned)b);                                                \
        return q - ((b != 0) & (r != 0) & ((r ^ b) < 0));                                                                                   \
    }                                                                                                                                       \
    V_INLINE int v_mod_##bits(int a, int b) { int r = v_fmod_##bits(a, b); return (r != 0) & ((r ^ b) < 0) ? r + b : r; }
V_INTEGERS(i32)
V_INTEGERS(i16)

#ifdef USES_v_gcd_i64
V_INLINE long v_gcd_i64(long a, long b) {
    a = v_abs_i64(a), b = v_abs_i64(b);
    while (b) { long r = b == -1 ? 0 : a % b; a = b, b = r; } /* -1 is never there but for the lowest integer */
    return a;
}
#endif

/* ---- remainders of floats: the quotient is at most one too large, so that the remainder is exact ---- */
#if defined USES_v_fmod_f32 || defined USES_v_mod_f32 || defined USES_v_floordiv_f32
V_INLINE _Bool v_fmod_f32_rare(float x, float y) {
    float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    return !(a / b < 0x1p22f) | !(b < __builtin_inff());
}
V_INLINE float v_fmod_f32_fast(float x, float y) {
    float a = __builtin_fabsf(x), b = __builtin_fabsf(y), q = v_trunc_f32(a / b);
#ifdef __FP_FAST_FMAF
    float r = __builtin_fmaf(-q, b, a);
#else
    float r = (float)((double)a - (double)q * (double)b);
#endif
    r = r < 0 ? r + b : r;
    return __builtin_copysignf(r >= b ? r - b : r, x);
}
V_SLOW float v_fmod_f32_slow(float x, float y) { return __builtin_fmodf(x, y); }
V_OF_FLOATS(2, fmod_f32)
/* Python's float % and //: the remainder has the divisor's sign. */
V_INLINE float v_mod_f32(float a, float b) {
    float r = v_fmod_f32(a, b);
    return (r != 0) & ((r < 0) != (b < 0)) ? r + b : r;
}
V_INLINE float v_floordiv_f32(float a, float b) {
    float r = v_fmod_f32(a, b), q = (a - r) / b, whole;
    q = (r != 0) & ((r < 0) != (b < 0)) ? q - 1 : q;
    whole = v_floor_f32(q);
    whole = q - whole > 0.5f ? whole + 1 : whole;
    return b == 0 ? a / b : q != 0 ? whole : __builtin_copysignf(0.0f, a / b);
}
#endif
#if defined USES_v_fmod_f64 || defined USES_v_mod_f64 || defined USES_v_floordiv_f64
#ifdef __FP_FAST_FMA
V_INLINE _Bool v_fmod_f64_rare(double x, double y) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    return !(a / b < 0x1p51) | !(b < __builtin_inf());
}
V_INLINE double v_fmod_f64_fast(double x, double y) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y), q = v_trunc_f64(a / b), r = __builtin_fma(-q, b, a);
    r = r < 0 ? r + b : r;
    return __builtin_copysign(r >= b ? r - b : r, x);
}
V_SLOW double v_fmod_f64_slow(double x, double y) { return __builtin_fmod(x, y); }
V_OF_DOUBLES(2, fmod_f64)
#else
V_INLINE double v_fmod_f64(double x, double y) { return __builtin_fmod(x, y); }
#endif
V_INLINE double v_mod_f64(double a, double b) {
    double r = v_fmod_f64(a, b);
    return (r != 0) & ((r < 0) != (b < 0)) ? r + b : r;
}
V_INLINE double v_floordiv_f64(double a, double b) {
    double r = v_fmod_f64(a, b), q = (a - r) / b, whole;
    q = (r != 0) & ((r < 0) != (b < 0)) ? q - 1 : q;
    whole = v_floor_f64(q);
    whole = q - whole > 0.5 ? whole + 1 : whole;
    return b == 0 ? a / b : q != 0 ? whole : __builtin_copysign(0.0, a / b);
}
#endif

/* ---- trigonometry: reduction to |r| <= pi/4; of large numbers in double, by a table of 2^e mod 2pi, which is exact enough for every float ---- */
#if defined USES_v_sin_f32 || defined USES_v_cos_f32 || defined USES_v_tan_f32
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
/* (sin(r) - r) / r^3 and (cos(r) - 1 + z / 2) / z^2 by z = r^2. */
V_INLINE void v_sin_cos_rest(double z, double *sine, double *cosine) {
    double s = -2.480070624050586e-08, c = 2.0697074803485915e-09;
    s = v_muladd_f64(s, z, 2.7555937170259983e-06); s = v_muladd_f64(s, z, -0.00019841266737518747); s = v_muladd_f64(s, z, 0.008333333330892811); s = v_muladd_f64(s, z, -0.16666666666663596);
    c = v_muladd_f64(c, z, -2.755633125022941e-07); c = v_muladd_f64(c, z, 2.4801585082648883e-05); c = v_muladd_f64(c, z, -0.001388888888714404); c = v_muladd_f64(c, z, 0.04166666666666447);
    *sine = s, *cosine = c;
}
/* sin(x + quarter pi/2). x = m 2^e gives m hi[e] + m lo[e], of which n pi/2 is taken off in three pieces whose products are exact. */
static V_UNUSED __attribute__((noinline, cold)) double v_sin_core(float x, unsigned long quarter) {
    unsigned b = v_bits_f32(x) & 0x7fffffffu;
    long e = (long)(b >> 23) - 150, at = e < 0 ? 0 : e > 104 ? 104 : e; /* long: as wide as what is gathered by it */
    double m = __builtin_copysign((double)(int)((b & 0x7fffffu) | 0x800000u), (double)x), high = m * v_pi_high[at], low = m * v_pi_low[at];
    high = e < 0 ? (double)x : high;
    low = e < 0 ? 0.0 : low;
    double shifted = (high + low) * 0x1.45f306dc9c883p-1 + 0x1.8p+52, n = shifted - 0x1.8p+52;
    double r = (((high - n * 0x1.921fb5p+0) - n * 0x1.110b46p-26) + low) - n * 0x1.1a62633145c07p-54, z = r * r;
    double s, c;
    v_sin_cos_rest(z, &s, &c);
    s = r + r * (z * s);
    c = 1.0 - 0.5 * z + z * z * c;
    unsigned long quadrant = v_bits_f64(shifted) + quarter;
    double value = quadrant & 1 ? c : s;
    value = v_f64_bits(v_bits_f64(value) ^ ((quadrant & 2) << 62));
    return b < 0x7f800000u ? value : __builtin_nan("");
}
#endif
#if defined USES_v_sin_f32 || defined USES_v_cos_f32
V_INLINE float v_sin_small(float x, unsigned quarter) {
    float shifted = x * 0x1.45f306p-1f + 0x1.8p+23f, n = shifted - 0x1.8p+23f;
#ifdef __FP_FAST_FMAF
    float r = __builtin_fmaf(n, 0x1.777a5cp-25f, __builtin_fmaf(n, -0x1.921fb6p+0f, x));
    r = __builtin_fmaf(n, 0x1.ee59dap-50f, r);
#else
    float r = (float)((((double)x - (double)n * 0x1.921fb5p+0) - (double)n * 0x1.110b46p-26) - (double)n * 0x1.1a62633145c07p-54);
#endif
    float z = r * r, s = 2.71736671e-06f, c = -2.71986278e-07f;
    s = v_muladd_f32(s, z, -0.000198392327f); s = v_muladd_f32(s, z, 0.00833332906f); s = v_muladd_f32(s, z, -0.166666666f);
    c = v_muladd_f32(c, z, 2.47993727e-05f); c = v_muladd_f32(c, z, -0.00138888832f); c = v_muladd_f32(c, z, 0.0416666666f);
    s = v_muladd_f32(r * z, s, r);
    c = v_muladd_f32(z, v_muladd_f32(z, c, -0.5f), 1.0f);
    unsigned quadrant = v_bits_f32(shifted) + quarter;
    return v_f32_bits(v_bits_f32(quadrant & 1 ? c : s) ^ ((quadrant & 2) << 30));
}
#endif
#ifdef USES_v_sin_f32
V_INLINE _Bool v_sin_f32_rare(float x) { return !(__builtin_fabsf(x) < 65536.0f); }
V_INLINE float v_sin_f32_fast(float x) { float r = v_sin_small(x, 0); return x == 0 ? x : r; }
V_SLOW float v_sin_f32_slow(float x) { return (float)v_sin_core(x, 0); }
V_OF_FLOATS(1, sin_f32)
#endif
#ifdef USES_v_cos_f32
V_INLINE _Bool v_cos_f32_rare(float x) { return !(__builtin_fabsf(x) < 65536.0f); }
V_INLINE float v_cos_f32_fast(float x) { return v_sin_small(x, 1); }
V_SLOW float v_cos_f32_slow(float x) { return (float)v_sin_core(x, 1); }
V_OF_FLOATS(1, cos_f32)
#endif
#ifdef USES_v_tan_f32
V_INLINE _Bool v_tan_f32_rare(float x) { return !(__builtin_fabsf(x) < 65536.0f); }
V_INLINE float v_tan_f32_fast(float x) {
    double d = (double)x, shifted = d * 0x1.45f306dc9c883p-1 + 0x1.8p+52, n = shifted - 0x1.8p+52;
    double r = ((d - n * 0x1.921fb5p+0) - n * 0x1.110b46p-26) - n * 0x1.1a62633145c07p-54, z = r * r, s, c;
    v_sin_cos_rest(z, &s, &c);
    s = r + r * (z * s), c = 1.0 - 0.5 * z + z * z * c;
    unsigned long odd = v_bits_f64(shifted) & 1;
    return x == 0 ? x : (float)((odd ? -c : s) / (odd ? s : c));
}
V_SLOW float v_tan_f32_slow(float x) { return (float)(v_sin_core(x, 0) / v_sin_core(x, 1)); }
V_OF_FLOATS(1, tan_f32)
#endif
#if (defined USES_v_sin_f64 || defined USES_v_cos_f64) && defined __FP_FAST_FMA
V_INLINE double v_sin_small_f64(double x, unsigned long quarter) {
    double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p+52, n = shifted - 0x1.8p+52, s = -7.5785266859147452e-13, c = 4.7377424002533233e-14;
    double r = __builtin_fma(n, 0x1.f1976b7ed8fbcp-110, __builtin_fma(n, -0x1.1a62633145c07p-54, __builtin_fma(n, -0x1.921fb54442d18p+0, x))), z = r * r;
    s = v_muladd_f64(s, z, 1.6058362894610833e-10); s = v_muladd_f64(s, z, -2.5052104879763281e-08); s = v_muladd_f64(s, z, 2.755731921405696e-06);
    s = v_muladd_f64(s, z, -0.00019841269841254784); s = v_muladd_f64(s, z, 0.0083333333333333228); s = v_muladd_f64(s, z, -0.16666666666666666);
    c = v_muladd_f64(c, z, -1.1470284657607935e-11); c = v_muladd_f64(c, z, 2.0876754285445258e-09); c = v_muladd_f64(c, z, -2.7557319214992521e-07);
    c = v_muladd_f64(c, z, 2.4801587301570534e-05); c = v_muladd_f64(c, z, -0.0013888888888888872); c = v_muladd_f64(c, z, 0.041666666666666664);
    s = v_muladd_f64(r * z, s, r);
    c = v_muladd_f64(z, v_muladd_f64(z, c, -0.5), 1.0);
    unsigned long quadrant = v_bits_f64(shifted) + quarter;
    return v_f64_bits(v_bits_f64(quadrant & 1 ? c : s) ^ ((quadrant & 2) << 62));
}
#endif
#ifdef USES_v_sin_f64
#ifdef __FP_FAST_FMA
V_INLINE _Bool v_sin_f64_rare(double x) { return !(__builtin_fabs(x) < 0x1p20); }
V_INLINE double v_sin_f64_fast(double x) { double r = v_sin_small_f64(x, 0); return x == 0 ? x : r; }
V_SLOW double v_sin_f64_slow(double x) { return __builtin_sin(x); }
V_OF_DOUBLES(1, sin_f64)
#else
V_INLINE double v_sin_f64(double x) { return __builtin_sin(x); }
#endif
#endif
#ifdef USES_v_cos_f64
#ifdef __FP_FAST_FMA
V_INLINE _Bool v_cos_f64_rare(double x) { return !(__builtin_fabs(x) < 0x1p20); }
V_INLINE double v_cos_f64_fast(double x) { return v_sin_small_f64(x, 1); }
V_SLOW double v_cos_f64_slow(double x) { return __builtin_cos(x); }
V_OF_DOUBLES(1, cos_f64)
#else
V_INLINE double v_cos_f64(double x) { return __builtin_cos(x); }
#endif
#endif
V_INLINE double v_tan_f64(double x) { return __builtin_tan(x); }

/* ---- powers of doubles: the logarithm in two doubles ---- */
#ifdef USES_v_pow_f64
#ifdef __FP_FAST_FMA
V_INLINE double v_pow_log_f64(double x, double *low) {
    unsigned long b = v_bits_f64(x) - 0x3fe6a09e667f3bcdul;
    double e = v_exponent_f64(b), m = v_mantissa_f64(b), f = m - 1.0, d = m + 1.0, inverse = 1.0 / d;
    double s = f * inverse, s_low = (__builtin_fma(-s, d, f) - s * (m - (d - 1.0))) * inverse;
    double z = s * s, z_low = __builtin_fma(s, s, -z) + 2.0 * s * s_low, p = 0.11989003036395146; /* (2 atanh(s) - 2s - 2/3 s^3) / s^5 */
    p = v_muladd_f64(p, z, 0.11674819865605413); p = v_muladd_f64(p, z, 0.13336317344444762); p = v_muladd_f64(p, z, 0.15384556873148114);
    p = v_muladd_f64(p, z, 0.1818181887028); p = v_muladd_f64(p, z, 0.22222222217536772); p = v_muladd_f64(p, z, 0.28571428571445112);
    p = v_muladd_f64(p, z, 0.3999999999999998) * z;
    double t = 0x1.5555555555555p-1 + p, t_low = (p - (t - 0x1.5555555555555p-1)) + 0x1.5555555555555p-55;
    double w = s * z, w_low = __builtin_fma(s, z, -w) + (s * z_low + s_low * z);
    double u = w * t, u_low = __builtin_fma(w, t, -u) + (w * t_low + w_low * t);
    double h = 2.0 * s + u, h_low = (u - (h - 2.0 * s)) + (2.0 * s_low + u_low);
    double k = e * 0x1.62e42fefa3800p-1, sum = k + h;
    *low = (h - (sum - k)) + (h_low + e * 0x1.ef35793c76730p-45);
    return sum;
}
/* Not of those: a base that is no positive normal number, exponents and results near the end of the range. */
V_INLINE _Bool v_pow_f64_rare(double x, double y) {
    unsigned long b = v_bits_f64(x) - 0x3fe6a09e667f3bcdul;
    return !(x >= 0x1p-1022) | !(x < __builtin_inf()) | !(__builtin_fabs(y) * (__builtin_fabs(v_exponent_f64(b)) + 0.5) < 1000.0);
}
V_INLINE double v_pow_f64_fast(double x, double y) {
    double low, high = v_pow_log_f64(x, &low), p = y * high, p_low = __builtin_fma(y, high, -p) + y * low, shifted;
    double r = v_exp_reduce_f64(p, &shifted) + p_low;
    return v_scale_f64(1.0 + v_exp_less_one_f64(r), shifted);
}
V_SLOW double v_pow_f64_slow(double x, double y) { return __builtin_pow(x, y); }
V_OF_DOUBLES(2, pow_f64)
#else
V_INLINE double v_pow_f64(double x, double y) { return __builtin_pow(x, y); }
#endif
#endif
#endif
