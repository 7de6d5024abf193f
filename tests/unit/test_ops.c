/* Unit tests of engine/op, made from the table itself: every pointwise row's eager kernel against a plain evaluation of its meaning in double,
 * over dtypes, layouts and shapes; every in-place twin against its functional op; the float functions against libm; shapes and promotion. */
#include "unit.h"
#include "op/family.h"
#include "op_fixture.h"
#define USES_v_gcd_i64
#define USES_v_sin_f32
#define USES_v_cos_f32
#define USES_v_tan_f32
#include "op/vmath.h"
#include "op/vmath_f64.h"
#include "op/vmath_lanes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a plain evaluation of scalar expressions ---- */

typedef struct Number { DType type; double f; int64_t i; } Number;

static Number as_type(Number n, DType to) {
    if (n.type == to) return n;
    bool from_int = n.type == DTYPE_I64 || n.type == DTYPE_BOOL;
    if (to == DTYPE_BOOL) return (Number){to, 0, from_int ? n.i != 0 : n.f != 0};
    if (to == DTYPE_I64) return (Number){to, 0, from_int ? n.i : (int64_t)n.f};
    return (Number){to, from_int ? (double)n.i : n.f, 0};
}

static double python_mod(double a, double b) {
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t integer_mod(int64_t a, int64_t b) {
    int64_t r = b == 0 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double float_prim(Prim prim, double a, double b, double c) {
    switch (prim) {
    case PRIM_ADD: return a + b;
    case PRIM_SUB: return a - b;
    case PRIM_MUL: return a * b;
    case PRIM_DIV: return a / b;
    case PRIM_FLOORDIV: return b == 0 ? a / b : floor((a - python_mod(a, b)) / b + 0.25);
    case PRIM_MOD: return python_mod(a, b);
    case PRIM_TRUNCDIV: return trunc(a / b);
    case PRIM_FMOD: return fmod(a, b);
    case PRIM_POW: return pow(a, b);
    case PRIM_NEG: return -a;
    case PRIM_ABS: return fabs(a);
    case PRIM_SIGN: return (a > 0) - (a < 0);
    case PRIM_MAXIMUM: return isnan(a) || isnan(b) ? NAN : fmax(a, b);
    case PRIM_MINIMUM: return isnan(a) || isnan(b) ? NAN : fmin(a, b);
    case PRIM_FMAX: return fmax(a, b);
    case PRIM_FMIN: return fmin(a, b);
    case PRIM_EXP: return exp(a);
    case PRIM_EXP2: return exp2(a);
    case PRIM_EXPM1: return expm1(a);
    case PRIM_LOG: return log(a);
    case PRIM_LOG2: return log2(a);
    case PRIM_LOG10: return log10(a);
    case PRIM_LOG1P: return log1p(a);
    case PRIM_SQRT: return sqrt(a);
    case PRIM_RSQRT: return 1 / sqrt(a);
    case PRIM_SIN: return sin(a);
    case PRIM_COS: return cos(a);
    case PRIM_TAN: return tan(a);
    case PRIM_ASIN: return asin(a);
    case PRIM_ACOS: return acos(a);
    case PRIM_ATAN: return atan(a);
    case PRIM_ATAN2: return atan2(a, b);
    case PRIM_SINH: return sinh(a);
    case PRIM_COSH: return cosh(a);
    case PRIM_TANH: return tanh(a);
    case PRIM_ASINH: return asinh(a);
    case PRIM_ACOSH: return acosh(a);
    case PRIM_ATANH: return atanh(a);
    case PRIM_ERF: return erf(a);
    case PRIM_ERFC: return erfc(a);
    case PRIM_ERFINV: return v_erfinv_f64(a);
    case PRIM_LGAMMA: return lgamma(a);
    case PRIM_DIGAMMA: return v_digamma_f64(a);
    case PRIM_FLOOR: return floor(a);
    case PRIM_CEIL: return ceil(a);
    case PRIM_ROUND: return rint(a);
    case PRIM_TRUNC: return trunc(a);
    case PRIM_COPYSIGN: return copysign(a, b);
    case PRIM_FMA: return fma(a, b, c);
    default: ck_abort_msg("no evaluation of primitive %s for floats", prim_info[prim].name);
    }
    return 0;
}

static int64_t integer_power(int64_t a, int64_t b) {
    uint64_t result = 1;
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    for (int64_t i = 0; i < b; i++) result *= (uint64_t)a;
    return (int64_t)result;
}

static int64_t integer_prim(Prim prim, int64_t a, int64_t b) {
    switch (prim) {
    case PRIM_ADD: return a + b;
    case PRIM_SUB: return a - b;
    case PRIM_MUL: return a * b;
    case PRIM_FLOORDIV: return b == 0 ? 0 : (a - integer_mod(a, b)) / b;
    case PRIM_MOD: return integer_mod(a, b);
    case PRIM_TRUNCDIV: return b == 0 ? 0 : a / b;
    case PRIM_FMOD: return b == 0 ? 0 : a % b;
    case PRIM_POW: return integer_power(a, b);
    case PRIM_NEG: return -a;
    case PRIM_ABS: return a < 0 ? -a : a;
    case PRIM_SIGN: return (a > 0) - (a < 0);
    case PRIM_BITAND: return a & b;
    case PRIM_BITOR: return a | b;
    case PRIM_BITXOR: return a ^ b;
    case PRIM_BITNOT: return ~a;
    case PRIM_GCD: return v_gcd_i64(a, b);
    case PRIM_SHL: return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
    case PRIM_SHR: return a >> (b < 0 || b > 63 ? 63 : b);
    case PRIM_MAXIMUM: case PRIM_FMAX: return a > b ? a : b;
    case PRIM_MINIMUM: case PRIM_FMIN: return a < b ? a : b;
    case PRIM_FLOOR: case PRIM_CEIL: case PRIM_ROUND: case PRIM_TRUNC: return a;
    default: ck_abort_msg("no evaluation of primitive %s for integers", prim_info[prim].name);
    }
    return 0;
}

static bool bool_prim(Prim prim, bool a, bool b) {
    switch (prim) {
    case PRIM_ADD: case PRIM_BITOR: case PRIM_MAXIMUM: case PRIM_FMAX: return a || b;
    case PRIM_MUL: case PRIM_BITAND: case PRIM_MINIMUM: case PRIM_FMIN: case PRIM_FLOORDIV: case PRIM_TRUNCDIV: return a && b;
    case PRIM_BITXOR: return a != b;
    case PRIM_BITNOT: return !a;
    case PRIM_MOD: case PRIM_FMOD: return false;
    case PRIM_POW: return a || !b;
    default: return a;
    }
}

static bool relation(Prim prim, Number a, Number b) {
    bool integral = a.type == DTYPE_I64 || a.type == DTYPE_BOOL;
    double x = integral ? (double)a.i : a.f, y = integral ? (double)b.i : b.f;
    switch (prim) {
    case PRIM_EQ: return x == y;
    case PRIM_NE: return x != y;
    case PRIM_LT: return x < y;
    case PRIM_LE: return x <= y;
    case PRIM_GT: return x > y;
    case PRIM_GE: return x >= y;
    case PRIM_AND: return x != 0 && y != 0;
    case PRIM_OR: return x != 0 || y != 0;
    case PRIM_NOT: return x == 0;
    case PRIM_ISNAN: return isnan(x);
    default: return isinf(x);
    }
}

static Number evaluate(const ScalarExpr *e, const Number *inputs, const DType *types, DType wanted) {
    if (e->kind == SCALAR_CONST) return as_type(e->is_integer ? (Number){DTYPE_I64, 0, e->integer} : (Number){DTYPE_F64, e->value, 0}, wanted);
    if (e->kind == SCALAR_INPUT) return as_type(inputs[e->input], wanted);
    if (e->kind == SCALAR_CAST) return as_type(as_type(evaluate(e->args[0], inputs, types, scalar_type(e->args[0], types)), (DType)e->integer), wanted);
    DType operand = scalar_operand_type(e, types);
    Number args[3] = {{0}};
    for (int i = 0; i < prim_info[e->prim].arity; i++) args[i] = evaluate(e->args[i], inputs, types, e->prim == PRIM_WHERE && i == 0 ? DTYPE_BOOL : operand);
    if (e->prim == PRIM_WHERE) return as_type(args[args[0].i ? 1 : 2], wanted);
    if (prim_info[e->prim].result == PRIM_BOOLEAN) return as_type((Number){DTYPE_BOOL, 0, relation(e->prim, args[0], args[1])}, wanted);
    if (operand == DTYPE_I64) return as_type((Number){operand, 0, integer_prim(e->prim, args[0].i, args[1].i)}, wanted);
    if (operand == DTYPE_BOOL) return as_type((Number){operand, 0, bool_prim(e->prim, args[0].i != 0, args[1].i != 0)}, wanted);
    return as_type((Number){operand, float_prim(e->prim, args[0].f, args[1].f, args[2].f), 0}, wanted);
}

/* ---- pointwise rows ---- */

typedef struct Layout { int rank; Dim sizes[3]; bool transposed, gaps; } Layout;
static const Layout layouts[][3] = { /* of the first, second and third operand */
    {{1, {7}, false, false}, {1, {7}, false, false}, {1, {7}, false, false}},
    {{2, {3, 4}, true, false}, {2, {3, 4}, false, false}, {1, {4}, false, false}},
    {{2, {5, 1}, false, true}, {1, {6}, false, true}, {0, {0}, false, false}},
    {{0, {0}, false, false}, {0, {0}, false, false}, {0, {0}, false, false}},
    {{2, {0, 3}, false, false}, {1, {3}, false, false}, {0, {0}, false, false}},
    {{2, {70, 65}, true, false}, {2, {70, 65}, false, false}, {2, {70, 65}, true, true}},
    {{1, {5000}, false, false}, {1, {1}, false, false}, {1, {5000}, false, true}},
    {{3, {3, 17, 40}, true, false}, {3, {1, 17, 1}, false, false}, {3, {3, 1, 40}, false, false}},
};
enum { LAYOUT_COUNT = sizeof layouts / sizeof layouts[0] };

static double tolerance_of(DType dtype) { return dtype == DTYPE_F64 ? 1e-12 : dtype == DTYPE_F32 ? 3e-6 : dtype == DTYPE_F16 ? 1e-3 : dtype == DTYPE_BF16 ? 8e-3 : 0; }

/* Arguments that choose the variant: conditions fulfilled, the other parameters their defaults. */
static void choose_variant(const Op *op, const ScalarVariant *variant, Arg *args) {
    fixture_defaults(op, args);
    for (int i = 0; i < variant->condition_count; i++) {
        const ScalarCondition *c = &variant->conditions[i];
        if (c->string) args[c->param] = (Arg){.tag = ARG_STR, .s = c->string};
        else if (c->is_number) args[c->param] = arg_int((int64_t)c->number);
        else args[c->param] = arg_float(c->param == 2 ? 2 : -1);
    }
}

static bool reads_param(const ScalarVariant *variant, int param) {
    for (int i = 0; i < variant->condition_count; i++)
        if (variant->conditions[i].param == param) return false; /* given as a number */
    return true;
}

static Number element_of(const Arg *arg, const Meta *out, const int64_t *at, DType compute) {
    if (!arg_is_tensor(arg)) return as_type(arg->tag == ARG_FLOAT ? (Number){DTYPE_F64, arg->f, 0} : (Number){DTYPE_I64, 0, arg_as_int(arg)}, compute);
    const Meta *meta = arg_meta(arg);
    int64_t place[MAX_RANK] = {0};
    for (int i = 0; i < meta->rank; i++) place[i] = meta->sizes[i] == 1 ? 0 : at[i + out->rank - meta->rank];
    bool integral = !dtype_is_float(meta->dtype);
    Number n = {integral ? DTYPE_I64 : DTYPE_F64, integral ? 0 : fixture_get(arg, place), integral ? (int64_t)fixture_get(arg, place) : 0};
    return as_type(n, compute);
}

static void compare_all(const Op *op, const ScalarVariant *variant, const Arg *args, const Arg *out, DType common) {
    int64_t at[MAX_RANK] = {0};
    const Meta *meta = arg_meta(out);
    DType types[20], compute = dtype_info[common].compute;
    for (int i = 0; i < op->nparams + 2; i++) types[i] = i == op->bool_operand ? DTYPE_BOOL : compute;
    double tolerance = fmax(tolerance_of(common), tolerance_of(meta->dtype));
    for (int64_t n = meta_numel(meta); n > 0; n--, fixture_step(meta, at)) {
        Number inputs[20] = {{0}};
        for (int i = 0; i < op->nparams; i++) inputs[i] = element_of(&args[i], meta, at, types[i]);
        inputs[op->nparams] = (Number){compute, dtype_limit(common, false), 0};
        inputs[op->nparams + 1] = (Number){compute, dtype_limit(common, true), 0};
        DType result = variant->expr->kind == SCALAR_CONST ? compute : scalar_type(variant->expr, types);
        Number wanted = evaluate(variant->expr, inputs, types, result);
        double want = result == DTYPE_I64 || result == DTYPE_BOOL ? (double)wanted.i : wanted.f, have = fixture_get(out, at);
        if (isnan(want) && isnan(have)) continue;
        if (isinf(want) && want == have) continue;
        if (tolerance == 0) { /* narrow integers wrap */
            int64_t whole = result == DTYPE_I64 || result == DTYPE_BOOL ? wanted.i : (int64_t)want;
            char cell[8];
            store_values(DTYPE_I64, meta->dtype, 1, &whole, cell, 0);
            want = load_double(meta->dtype, cell);
        }
        ck_assert_msg(fabs(want - have) <= tolerance * (1 + fabs(want)), "%s '%s' on %s: got %g, expected %g (first operand %g)", op->name, variant->text, dtype_info[common].name, have, want,
                      inputs[0].type == DTYPE_F32 || inputs[0].type == DTYPE_F64 ? inputs[0].f : (double)inputs[0].i);
    }
}

/* false: not defined for the dtype, and said so. */
static bool try_row(const Op *op, const ScalarVariant *variant, DType dtype, const Layout *layout) {
    Arg args[20];
    Meta outs[4];
    int count = 4;
    OpError error = {0};
    choose_variant(op, variant, args);
    for (int i = 0; i < op->tensor_inputs; i++)
        if (reads_param(variant, i) && (i >= op->signature->count || !op->signature->has_default[i]))
            args[i] = fixture_tensor(i == op->bool_operand ? DTYPE_BOOL : dtype, layout[i % 3].rank, layout[i % 3].sizes, layout[i % 3].transposed, layout[i % 3].gaps, i);
    if (op_scalar(op, args) != variant) return true; /* an earlier alternative takes these arguments */
    if (!op_infer(op, args, op->nparams, outs, &count, &fixture_context, &error)) {
        ck_assert_msg(error.message[0], "%s: no message", op->name);
        return false;
    }
    ck_assert_int_eq(count, 1);
    Arg out = fixture_output(&outs[0]);
    bool ok = op_run_cpu(op, args, op->nparams, &out, 1, &fixture_context, &error);
    if (!ok && strstr(error.message, "ZeroDivision")) return true;
    ck_assert_msg(ok, "%s: %s", op->name, error.message);
    compare_all(op, variant, args, &out, pointwise_common_type(op, args, DTYPE_F32));
    return true;
}

START_TEST(pointwise_rows_compute_their_meaning) {
    for (int i = 0; i < op_count(fixture_table); i++) {
        const Op *op = op_at(fixture_table, i);
        int defined = 0;
        for (int v = 0; op->family == FAMILY_POINTWISE && v < op->variant_count; v++)
            for (DType dtype = DTYPE_BOOL; dtype < DTYPE_COUNT; dtype++)
                for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                    fixture_reset();
                    defined += try_row(op, &op->variants[v], dtype, layouts[layout]);
                }
        ck_assert_msg(op->family != FAMILY_POINTWISE || defined >= 2 * LAYOUT_COUNT, "%s is defined for no dtype", op->name);
    }
}
END_TEST

/* x.op_(…) gives what op(x, …) gives, cast to x's dtype, in x's own layout. */
static void check_twin(const Op *twin, const Layout *layout) {
    const Op *op = twin->functional_op;
    Arg args[20], copy[20];
    Meta outs[2];
    int count = 2;
    OpError error = {0};
    fixture_defaults(op, args);
    for (int i = 0; i < op->tensor_inputs; i++)
        if (args[i].tag == ARG_NONE) args[i] = i == 0 || !op->signature->has_default[i] ? fixture_tensor(i == op->bool_operand ? DTYPE_BOOL : DTYPE_F32, layout->rank, layout->sizes, layout->transposed, layout->gaps && i == 0, i) : args[i];
    memcpy(copy, args, sizeof copy);
    if (!op_infer(twin, args, twin->nparams, outs, &count, &fixture_context, &error)) return;
    count = 2;
    ck_assert_msg(op_infer(op, args, op->nparams, outs, &count, &fixture_context, &error), "%s: %s", op->name, error.message);
    Arg expected = fixture_output(&outs[0]);
    ck_assert_msg(op_run_cpu(op, args, op->nparams, &expected, 1, &fixture_context, &error), "%s: %s", op->name, error.message);
    ck_assert_msg(op_run_cpu(twin, args, twin->nparams, NULL, 0, &fixture_context, &error), "%s: %s", twin->name, error.message);
    int64_t at[MAX_RANK] = {0};
    for (int64_t n = meta_numel(arg_meta(&args[0])); n > 0; n--, fixture_step(arg_meta(&args[0]), at)) {
        double want = fixture_get(&expected, at), have = fixture_get(&args[0], at);
        ck_assert_msg(want == have || (isnan(want) && isnan(have)), "%s: got %g, expected %g", twin->name, have, want);
    }
}

START_TEST(twins_write_what_their_ops_compute) {
    int checked = 0;
    for (int i = 0; i < op_count(fixture_table); i++) {
        const Op *op = op_at(fixture_table, i);
        if (op->family != FAMILY_MUTATE || op->functional_op->family != FAMILY_POINTWISE) continue;
        ck_assert(op_has(op, TRAIT_INPLACE) && op->functional_op->inplace_op == op);
        for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
            fixture_reset();
            check_twin(op, layouts[layout]);
        }
        checked++;
    }
    ck_assert_int_gt(checked, 50);
}
END_TEST

/* ---- float functions against libm ---- */

static double ulps(float have, double want) {
    float rounded = (float)want;
    if ((isnan(want) && isnan(have)) || have == rounded) return 0;
    if (isnan(want) || isnan(have) || isinf(have) || isinf(rounded)) return 1e9;
    int exponent;
    frexp(want, &exponent);
    return fabs((double)have - want) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

typedef struct Function { const char *name; float (*own)(float); double (*libm)(double); double low, high; } Function;
#define OWN(name) static float own_##name(float x) { return v_##name##_f32(x); }
OWN(exp) OWN(exp2) OWN(expm1) OWN(log) OWN(log2) OWN(log10) OWN(log1p) OWN(sin) OWN(cos) OWN(tan) OWN(asin) OWN(acos) OWN(atan) OWN(sinh) OWN(cosh) OWN(tanh) OWN(asinh) OWN(acosh)
OWN(atanh) OWN(erf) OWN(erfc) OWN(floor) OWN(ceil) OWN(round) OWN(trunc)
static const Function functions[] = {
    {"exp", own_exp, exp, -104, 89}, {"exp2", own_exp2, exp2, -150, 128}, {"expm1", own_expm1, expm1, -5, 5}, {"log", own_log, log, 0, 5}, {"log2", own_log2, log2, 0, 5},
    {"log10", own_log10, log10, 0, 5}, {"log1p", own_log1p, log1p, -1, 5}, {"sin", own_sin, sin, -100, 100}, {"cos", own_cos, cos, -100, 100}, {"tan", own_tan, tan, -100, 100},
    {"asin", own_asin, asin, -1, 1}, {"acos", own_acos, acos, -1, 1}, {"atan", own_atan, atan, -9, 9}, {"sinh", own_sinh, sinh, -9, 9}, {"cosh", own_cosh, cosh, -9, 9},
    {"tanh", own_tanh, tanh, -9, 9}, {"asinh", own_asinh, asinh, -9, 9}, {"acosh", own_acosh, acosh, 1, 9}, {"atanh", own_atanh, atanh, -1, 1}, {"erf", own_erf, erf, -5, 5},
    {"erfc", own_erfc, erfc, -3, 11}, {"floor", own_floor, floor, -9, 9}, {"ceil", own_ceil, ceil, -9, 9}, {"round", own_round, rint, -9, 9}, {"trunc", own_trunc, trunc, -9, 9},
};
static const float specials[] = {0.0f, -0.0f, 1, -1, 0.5f, -0.5f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 3.4e38f, -3.4e38f, 8388609.0f, 16777216.0f, 1e10f, 1e30f};

static void check_function(const Function *function, float x) {
    float have = function->own(x);
    double want = function->libm((double)x);
    ck_assert_msg(ulps(have, want) <= 1.5, "%s(%a) = %a, expected %a", function->name, (double)x, (double)have, want);
    ck_assert_msg(isnan(want) || !signbit(have) == !signbit((float)want), "%s(%a) has the wrong sign", function->name, (double)x);
}

START_TEST(float_functions_are_accurate) {
    uint32_t state = 1;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) check_function(&functions[f], specials[i]);
        for (int i = 0; i < 60000; i++) {
            state = state * 1664525u + 1013904223u;
            float random_bits = v_f32_bits(state ^ state >> 13);
            check_function(&functions[f], random_bits);
            check_function(&functions[f], (float)(functions[f].low + (functions[f].high - functions[f].low) * (double)state / 4294967296.0));
        }
    }
}
END_TEST

START_TEST(powers_keep_the_special_cases) {
    int count = sizeof specials / sizeof specials[0];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            double want = pow((double)specials[i], (double)specials[k]), angle = atan2((double)specials[i], (double)specials[k]);
            ck_assert_msg(ulps(v_pow_f32(specials[i], specials[k]), want) <= 1, "pow(%g, %g)", (double)specials[i], (double)specials[k]);
            ck_assert_msg(ulps(v_atan2_f32(specials[i], specials[k]), angle) <= 1, "atan2(%g, %g)", (double)specials[i], (double)specials[k]);
        }
}
END_TEST

START_TEST(half_floats_round_to_nearest_even) {
    for (unsigned h = 0; h < 0x10000; h++) {
        float x = v_f32_f16((unsigned short)h), y = v_f32_bf16((unsigned short)h);
        int exponent = (int)(h >> 10 & 31), mantissa = (int)(h & 1023);
        double want = exponent == 31 ? (mantissa ? NAN : INFINITY) : exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
        if (h & 0x8000) want = -want;
        ck_assert((double)x == want || (isnan(x) && isnan(want)));
        if (!isnan(x)) ck_assert_uint_eq(v_f16_f32(x), h);
        if (!isnan(y)) ck_assert_uint_eq(v_bf16_f32(y), h);
    }
    ck_assert_uint_eq(v_f16_f32(65520.0f), 0x7c00);
    ck_assert_uint_eq(v_f16_f32(65519.9f), 0x7bff);
    ck_assert_uint_eq(v_f16_f32(0x1p-25f), 0);
    ck_assert_uint_eq(v_f16_f32(0x1.000002p-25f), 1);
    ck_assert_uint_eq(v_bf16_f32(0x1.01p0f), 0x3f80);
    ck_assert_uint_eq(v_bf16_f32(0x1.03p0f), 0x3f82);
}
END_TEST

/* ---- shapes and dtypes ---- */

static const char *infer_text(const char *name, Arg *args) {
    static char text[512];
    Meta outs[8];
    int count = 8;
    OpError error = {0};
    Text printed = {0};
    const Op *op = op_find(fixture_table, name);
    if (!op_infer(op, args, op->nparams, outs, &count, &fixture_context, &error)) return strcpy(text, error.message);
    for (int i = 0; i < count; i++) {
        if (i) text_put(&printed, " ");
        meta_print(&printed, &outs[i], true, false);
    }
    snprintf(text, sizeof text, "%s", text_cstr(&printed));
    text_free(&printed);
    return text;
}

static Arg plain(DType dtype, int rank, Dim a, Dim b, Dim c) { return fixture_tensor(dtype, rank, (Dim[]){a, b, c}, false, false, 0); }
static Arg turned(DType dtype, Dim a, Dim b) { return fixture_tensor(dtype, 2, (Dim[]){a, b}, true, false, 0); }

static const char *binary_text(const char *name, Arg a, Arg b) {
    Arg args[20];
    const Op *op = op_find(fixture_table, name);
    fixture_defaults(op, args);
    args[0] = a;
    args[1] = b;
    return infer_text(name, args);
}

START_TEST(promotion_is_pytorchs) {
    ck_assert_str_eq(binary_text("add", plain(DTYPE_I64, 1, 3, 0, 0), arg_float(2.5)), "f32[3][1]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_BF16, 1, 3, 0, 0), arg_float(2.5)), "bf16[3][1]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_F16, 1, 3, 0, 0), plain(DTYPE_F64, 0, 0, 0, 0)), "f16[3][1]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_I32, 1, 3, 0, 0), plain(DTYPE_F64, 0, 0, 0, 0)), "f64[3][1]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_U8, 1, 3, 0, 0), plain(DTYPE_I8, 1, 3, 0, 0)), "i16[3][1]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_F16, 1, 3, 0, 0), plain(DTYPE_BF16, 1, 3, 0, 0)), "f32[3][1]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_U8, 1, 3, 0, 0), arg_int(300)), "u8[3][1]");
    ck_assert_str_eq(binary_text("mul", plain(DTYPE_BOOL, 1, 3, 0, 0), arg_int(2)), "i64[3][1]");
    ck_assert_str_eq(binary_text("div", plain(DTYPE_I64, 1, 3, 0, 0), arg_int(2)), "f32[3][1]");
    ck_assert_str_eq(binary_text("lt", plain(DTYPE_I64, 2, 2, 1, 0), plain(DTYPE_F32, 1, 3, 0, 0)), "b8[2, 3][3, 1]");
    ck_assert_str_eq(binary_text("sub", plain(DTYPE_BOOL, 1, 3, 0, 0), plain(DTYPE_BOOL, 1, 3, 0, 0)),
                     "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
}
END_TEST

START_TEST(outputs_keep_their_operands_layout) {
    ck_assert_str_eq(binary_text("add", turned(DTYPE_F32, 3, 4), arg_int(1)), "f32[3, 4][1, 3]");
    ck_assert_str_eq(binary_text("add", turned(DTYPE_F32, 3, 4), plain(DTYPE_F32, 2, 3, 4, 0)), "f32[3, 4][1, 3]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_F32, 2, 3, 4, 0), turned(DTYPE_F32, 3, 4)), "f32[3, 4][4, 1]");
    ck_assert_str_eq(binary_text("add", turned(DTYPE_F32, 3, 4), plain(DTYPE_F32, 1, 4, 0, 0)), "f32[3, 4][1, 3]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_F32, 2, 3, 1, 0), plain(DTYPE_F32, 2, 1, 4, 0)), "f32[3, 4][4, 1]");
    ck_assert_str_eq(binary_text("add", plain(DTYPE_F32, 2, 3, 4, 0), plain(DTYPE_F32, 1, 3, 0, 0)), "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1");
}
END_TEST

int main(void) {
    const TTest *tests[] = {pointwise_rows_compute_their_meaning, twins_write_what_their_ops_compute, float_functions_are_accurate, powers_keep_the_special_cases,
                            half_floats_round_to_nearest_even, promotion_is_pytorchs, outputs_keep_their_operands_layout};
    return UNIT_RUN("ops", tests, fixture_open, fixture_close);
}
