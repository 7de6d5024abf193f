/* The printed loops of every level of processor that this one can run, against libm in long double: dense ranges, random bits, special values; narrow
 * integers against the 64-bit loop; remainders and quotients against the C library's. */
#include "unit.h"
#include "op_fixture.h"
#include "op/eager.h"
#include <math.h>
#include <stdio.h>

enum { COUNT = 1 << 12, ROUNDS = 24 };

typedef struct Case { const char *op; long double (*libm)(long double); double low, high, ulps_f32, ulps_f64; } Case;
static long double rsqrt_of(long double x) { return 1.0L / sqrtl(x); }
/* Limits: of a unit in the last place of the result. Double functions that are libm's own get what glibc states. */
static const Case cases[] = {
    {"exp", expl, -104, 89, 1.5, 1.5},      {"exp2", exp2l, -150, 128, 1.5, 1.5},  {"expm1", expm1l, -5, 5, 1.5, 2},      {"log", logl, 0, 5, 1.5, 1.5},
    {"log2", log2l, 0, 5, 1.5, 2},          {"log10", log10l, 0, 5, 1.5, 2.5},     {"log1p", log1pl, -1, 5, 1.5, 1.5},    {"sin", sinl, -100, 100, 1.5, 1.5},
    {"cos", cosl, -100, 100, 1.5, 1.5},     {"tan", tanl, -100, 100, 1.5, 1.5},    {"asin", asinl, -1, 1, 1.5, 1.5},      {"acos", acosl, -1, 1, 1.5, 1.5},
    {"atan", atanl, -9, 9, 1.5, 1.5},       {"sinh", sinhl, -9, 9, 1.5, 2.5},      {"cosh", coshl, -9, 9, 1.5, 2.5},      {"tanh", tanhl, -9, 9, 1.5, 3},
    {"asinh", asinhl, -9, 9, 1.5, 2.5},     {"acosh", acoshl, 1, 9, 1.5, 2.5},     {"atanh", atanhl, -1, 1, 1.5, 2.5},    {"erf", erfl, -6, 6, 1.5, 1.5},
    {"erfc", erfcl, -3, 11, 1.5, 5},        {"sqrt", sqrtl, 0, 9, 0.51, 0.51},     {"rsqrt", rsqrt_of, 0, 9, 1.5, 1.5},
    {"floor", floorl, -9, 9, 0, 0},         {"ceil", ceill, -9, 9, 0, 0},          {"round", rintl, -9, 9, 0, 0},         {"trunc", truncl, -9, 9, 0, 0},
};
static const double specials[] = {0.0, -0.0, 1, -1, 0.5, -0.5, INFINITY, -INFINITY, NAN, 1e-40, -1e-40, 3.4e38, -3.4e38, 8388609.0, 16777216.0, 1e10, 1e30, 65535.9, 65536.1,
    5e-324, -5e-324, 1e-310, -1e-310, 1e300, -1e300, 709.7, 709.8, -745.0, -746.0, 88.72, 88.73, -103.9, 1.5707963267948966, 3.141592653589793, 1e5, 1048575.9, 1048577.0};
enum { SPECIALS = sizeof specials / sizeof *specials };

static uint64_t state = 88172645463325252u;
static uint64_t random_bits(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
static double random_between(double low, double high) { return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53); }

static double any_value(bool wide) {
    uint64_t bits = random_bits();
    uint32_t low = (uint32_t)bits;
    double d;
    float f;
    if (wide) return memcpy(&d, &bits, sizeof d), d;
    return memcpy(&f, &low, sizeof f), (double)f;
}

/* Units in the last place of the type between what a loop gave and what is right. A wrong sign of zero, a NaN that is none: very many. */
static double ulps(bool wide, double have, long double want) {
    double rounded = wide ? (double)want : (double)(float)want;
    int exponent, least = wide ? -1021 : -125;
    if (isnan(want) && isnan(have)) return 0;
    if (have == rounded) return want == 0 && !signbit(have) != !signbit(want) ? 1e9 : 0;
    if (isnan(want) || isnan(have) || isinf(have) || isinf(rounded)) return 1e9;
    frexpl(want, &exponent);
    return (double)(fabsl((long double)have - want) / ldexpl(1, (exponent < least ? least : exponent) - (wide ? 53 : 24)));
}

static const Op *row(const char *name) {
    const Op *op = op_find(fixture_table, name);
    ck_assert_msg(op != NULL, "no row %s", name);
    return op;
}

/* Of the general variant, which is the last; but for round, whose last one has decimals. */
static const EagerKernel *kernel_of(const EagerLevel *level, const Op *op, int type) {
    return &level->kernels[op->first_kernel + (strcmp(op->name, "round") == 0 ? 0 : op->variant_count - 1)][type];
}

static void run_loop(const EagerLevel *level, const char *name, int type, void *to, const void *a, const void *b, int64_t n) {
    const Op *op = row(name);
    const EagerKernel *kernel = kernel_of(level, op, type);
    const void *in[32] = {a, b};
    EagerNumber numbers[32] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
    ck_assert_msg(kernel->run != NULL, "%s has no loop of type %d", name, type);
    kernel->run(n, to, in, numbers);
}

static void put(void *at, bool wide, int i, double value) {
    if (wide) ((double *)at)[i] = value;
    else ((float *)at)[i] = (float)value;
}
static double get(const void *at, bool wide, int i) { return wide ? ((const double *)at)[i] : (double)((const float *)at)[i]; }

static void check_case(const EagerLevel *level, const Case *c, bool wide) {
    static double x[COUNT], y[COUNT];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++) put(x, wide, i, i < SPECIALS ? specials[i] : i & 1 ? any_value(wide) : random_between(c->low, c->high));
        run_loop(level, c->op, wide ? EAGER_F64 : EAGER_F32, y, x, NULL, COUNT - round); /* all counts of what is left behind whole vectors */
        for (int i = 0; i < COUNT - round; i++) {
            double have = get(y, wide, i), at = get(x, wide, i), limit = wide ? c->ulps_f64 : c->ulps_f32;
            long double want = c->libm((long double)at);
            double miss = ulps(wide, have, want);
            ck_assert_msg(miss <= limit, "%s, %s: %s(%a) = %a, expected %La: %g ulp", level->name, wide ? "double" : "float", c->op, at, have, want, miss);
        }
    }
}

START_TEST(functions_are_accurate_on_every_level) {
    const EagerLevel *level;
    for (int l = 0; (level = eager_level_at(l)); l++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) check_case(level, &cases[c], false), check_case(level, &cases[c], true);
    ck_assert_ptr_nonnull(eager_level_at(0));
}
END_TEST

/* ---- two operands ---- */

static void two_values(bool wide, int i, double *a, double *b) {
    switch (i % 6) {
    case 0: *a = specials[i / 6 % SPECIALS], *b = specials[i / 6 / SPECIALS % SPECIALS]; break;
    case 1: *a = any_value(wide), *b = any_value(wide); break;
    case 2: *a = floor(random_between(-1000, 1000)), *b = floor(random_between(-20, 20)); break;
    case 3: *a = exp(random_between(-20, 20)), *b = random_between(-4, 4); break;
    case 4: *a = random_between(-100, 100), *b = random_between(-1, 1) * *a; break;
    default: *a = random_between(0, 1e9), *b = random_between(0, 1e-6); break;
    }
}

static long double python_mod(bool wide, double a, double b) {
    double r = fmod(a, b);
    if (r == 0 || (r < 0) == (b < 0)) return r;
    return wide ? r + b : (double)((float)r + (float)b);
}

static long double wanted_of(int which, bool wide, double a, double b) {
    if (which == 0) return powl((long double)a, (long double)b);
    if (which == 1) return atan2l((long double)a, (long double)b);
    return which == 2 ? (long double)fmod(a, b) : python_mod(wide, a, b);
}

static void check_pairs(const EagerLevel *level, int which, bool wide) {
    static const char *const names[] = {"pow", "atan2", "fmod", "remainder"};
    static double a[COUNT], b[COUNT], y[COUNT];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++) {
            double first, second;
            two_values(wide, i + round * COUNT, &first, &second);
            put(a, wide, i, first), put(b, wide, i, second);
        }
        run_loop(level, names[which], wide ? EAGER_F64 : EAGER_F32, y, a, b, COUNT);
        for (int i = 0; i < COUNT; i++) {
            double first = get(a, wide, i), second = get(b, wide, i), have = get(y, wide, i);
            long double want = wanted_of(which, wide, first, second);
            double miss = ulps(wide, have, want);
            ck_assert_msg(miss <= (which < 2 ? 1.5 : 0), "%s, %s: %s(%a, %a) = %a, expected %La", level->name, wide ? "double" : "float", names[which], first, second, have, want);
        }
    }
}

START_TEST(powers_angles_and_remainders_are_right_on_every_level) {
    const EagerLevel *level;
    for (int l = 0; (level = eager_level_at(l)); l++)
        for (int which = 0; which < 4; which++) check_pairs(level, which, false), check_pairs(level, which, true);
}
END_TEST

/* ---- integers ---- */

static const struct { int type; DType dtype; } narrow[] = {{EAGER_I32, DTYPE_I32}, {EAGER_I16, DTYPE_I16}, {EAGER_I8, DTYPE_I8}, {EAGER_U8, DTYPE_U8}, {EAGER_I64, DTYPE_I64}};

static int64_t some_integer(DType dtype, int i) {
    static const int64_t edges[] = {0, 1, -1, 2, 127, -128, 255, 32767, -32768, 2147483647, -2147483647 - 1, INT64_MAX, INT64_MIN, (INT64_C(1) << 51) - 1, INT64_C(1) << 51, -(INT64_C(1) << 51)};
    int64_t value = i % 3 == 0 ? edges[random_bits() % 16] : i % 3 == 1 ? (int64_t)random_bits() >> (random_bits() & 63) : (int64_t)(random_bits() % 201) - 100;
    return dtype_wrap(dtype, value);
}

/* Whatever a narrow loop gives, the 64-bit one on the same numbers gives, wrapped. */
static void check_narrow(const EagerLevel *level, const Op *op, int variant, int which) {
    enum { N = 331 };
    static int64_t wide[8][N], from_wide[N], packed[8][N], from_narrow[N];
    const EagerKernel *kernels = level->kernels[op->first_kernel + variant];
    const EagerKernel *kernel = &kernels[narrow[which].type], *full = &kernels[EAGER_I64];
    DType dtype = narrow[which].dtype;
    const void *wide_in[32] = {0}, *narrow_in[32] = {0};
    EagerNumber numbers[32];
    ck_assert_msg((kernel->run == NULL) == (full->run == NULL), "%s: loops of one type only", op->name);
    if (!full->run) return;
    for (int p = 0; p < 32; p++) numbers[p] = (EagerNumber){3, 3};
    numbers[op->nparams] = (EagerNumber){0, dtype_wrap(dtype, 100)}, numbers[op->nparams + 1] = (EagerNumber){0, 0};
    for (int p = 0; p < op->tensor_inputs; p++) {
        DType own = p == op->bool_operand ? DTYPE_BOOL : dtype;
        for (int i = 0; i < N; i++) {
            int64_t value = own == DTYPE_BOOL ? (int64_t)(random_bits() & 1) : some_integer(dtype, i + p);
            if (own == DTYPE_BOOL) ((unsigned char *)wide[p])[i] = (unsigned char)value;
            else wide[p][i] = value;
            store_values(DTYPE_I64, own, 1, &value, (char *)packed[p] + i * dtype_size(own), 0);
        }
        wide_in[p] = wide[p], narrow_in[p] = packed[p];
    }
    full->run(N, from_wide, wide_in, numbers);
    kernel->run(N, from_narrow, narrow_in, numbers);
    bool truth = full->out == DTYPE_BOOL;
    for (int i = 0; i < N; i++) {
        int64_t want = truth ? ((unsigned char *)from_wide)[i] : dtype_wrap(dtype, from_wide[i]), have = load_int(kernel->out, (const char *)from_narrow + i * dtype_size(kernel->out));
        ck_assert_msg(have == want, "%s, %s[%d] of %s: %ld, expected %ld", level->name, op->name, variant, dtype_info[dtype].name, (long)have, (long)want);
    }
}

START_TEST(narrow_integers_are_as_wide_ones) {
    const EagerLevel *level;
    int rows = 0;
    for (int l = 0; (level = eager_level_at(l)); l++)
        for (int i = 0; i < op_count(fixture_table); i++) {
            const Op *op = op_at(fixture_table, i);
            if (op->family != FAMILY_POINTWISE) continue;
            rows++;
            for (int v = 0; v < op->variant_count; v++)
                for (int which = 0; which < 4; which++) check_narrow(level, op, v, which);
        }
    ck_assert_int_gt(rows, 50);
}
END_TEST

static int64_t floor_quotient(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

START_TEST(quotients_of_integers_are_floored) {
    const EagerLevel *level;
    static int64_t a[COUNT], b[COUNT], q[COUNT], r[COUNT];
    for (int l = 0; (level = eager_level_at(l)); l++)
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < COUNT; i++) a[i] = some_integer(DTYPE_I64, i), b[i] = some_integer(DTYPE_I64, i / 3);
            run_loop(level, "floor_divide", EAGER_I64, q, a, b, COUNT);
            run_loop(level, "remainder", EAGER_I64, r, a, b, COUNT);
            for (int i = 0; i < COUNT; i++) {
                int64_t want = floor_quotient(a[i], b[i]), rest = b[i] == 0 ? 0 : (int64_t)((uint64_t)a[i] - (uint64_t)want * (uint64_t)b[i]);
                ck_assert_msg(q[i] == want && r[i] == rest, "%s: %ld // %ld = %ld, %% = %ld; expected %ld and %ld", level->name, (long)a[i], (long)b[i], (long)q[i], (long)r[i], (long)want, (long)rest);
            }
        }
}
END_TEST

int main(void) {
    const TTest *tests[] = {functions_are_accurate_on_every_level, powers_angles_and_remainders_are_right_on_every_level, narrow_integers_are_as_wide_ones, quotients_of_integers_are_floored};
    return UNIT_RUN("vmath", tests, fixture_open, fixture_close);
}
