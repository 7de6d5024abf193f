/* Module math. Numbers go through float(), so that a tensor of one element is a number too.
 *
 * To add a function of one float: a line UNARY(...) and a row in the table. */
#include "vm/modules.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

bool vm_number(VM *vm, Value v, double *out) {
    v = vm_force(vm, v);
    if (value_is_number(v)) return *out = number_of(v), true;
    bool convertible = value_is(v, OBJ_TENSOR) || value_is(v, OBJ_SYM) || (value_is(v, OBJ_INSTANCE) && (value_is_number(vm_unwrap(v)) || class_lookup(vm, ((Instance *)v.o)->cls, vm->own->names.float_).tag != V_NULL));
    if (!convertible) return value_is_error(v) ? false : (vm_raise(vm, "TypeError", "must be real number, not %s", type_name(vm, v)), false);
    Value f = vm_call1(vm, value_object(vm->class_float), v);
    if (value_is_error(f)) return false;
    Value forced = vm_force(vm, f);
    if (value_is_number(forced)) *out = number_of(forced);
    value_unref(vm, f);
    return true;
}

/* Python's view of C's results: a NaN made of no NaN is a domain error, an infinity made of none a range error. */
static Value checked(VM *vm, double result, bool finite_in, bool pole) {
    if (isnan(result) && finite_in) return vm_raise(vm, "ValueError", "math domain error");
    if (isinf(result) && finite_in) return pole ? vm_raise(vm, "ValueError", "math domain error") : vm_raise(vm, "OverflowError", "math range error");
    return value_float(result);
}

#define UNARY(name, function, pole)                                              \
    static Value math_##name(METHOD) {                                           \
        UNUSED;                                                                  \
        double x;                                                                \
        if (!vm_number(vm, args[0], &x)) return VALUE_ERROR;                      \
        return checked(vm, function(x), isfinite(x), pole);                      \
    }
UNARY(sqrt, sqrt, true) UNARY(exp, exp, false) UNARY(expm1, expm1, false) UNARY(log1p, log1p, true) UNARY(log2, log2, true) UNARY(log10, log10, true)
UNARY(sin, sin, true) UNARY(cos, cos, true) UNARY(tan, tan, true) UNARY(asin, asin, true) UNARY(acos, acos, true) UNARY(atan, atan, true)
UNARY(sinh, sinh, false) UNARY(cosh, cosh, false) UNARY(tanh, tanh, false) UNARY(asinh, asinh, true) UNARY(acosh, acosh, true) UNARY(atanh, atanh, true)
UNARY(fabs, fabs, true) UNARY(erf, erf, true) UNARY(erfc, erfc, true) UNARY(cbrt, cbrt, true) UNARY(exp2, exp2, false)

static double gamma_of(double x) { return x <= 0 && x == floor(x) ? NAN : tgamma(x); }
UNARY(gamma, gamma_of, false) UNARY(lgamma, lgamma, true)

static double to_degrees(double x) { return x * (180.0 / M_PI); }
static double to_radians(double x) { return x * (M_PI / 180.0); }
UNARY(degrees, to_degrees, false) UNARY(radians, to_radians, false)

#define BINARY(name, function)                                                              \
    static Value math_##name(METHOD) {                                                      \
        UNUSED;                                                                             \
        double x, y;                                                                        \
        if (!vm_number(vm, args[0], &x) || !vm_number(vm, args[1], &y)) return VALUE_ERROR;  \
        return checked(vm, function(x, y), isfinite(x) && isfinite(y), false);              \
    }
BINARY(atan2, atan2) BINARY(copysign, copysign) BINARY(fmod, fmod) BINARY(remainder, remainder) BINARY(nextafter, nextafter)

static Value math_pow(METHOD) {
    UNUSED;
    double x, y;
    if (!vm_number(vm, args[0], &x) || !vm_number(vm, args[1], &y)) return VALUE_ERROR;
    return checked(vm, pow(x, y), isfinite(x) && isfinite(y), x == 0 && y < 0);
}

static Value math_log(METHOD) {
    UNUSED;
    double x, base;
    if (!vm_number(vm, args[0], &x)) return VALUE_ERROR;
    if (nargs == 1) return checked(vm, log(x), isfinite(x), true);
    if (!vm_number(vm, args[1], &base)) return VALUE_ERROR;
    if (x <= 0 || base <= 0) return vm_raise(vm, "ValueError", "math domain error");
    return log(base) == 0 ? vm_raise(vm, "ZeroDivisionError", "float division by zero") : value_float(log(x) / log(base));
}

/* floor, ceil, trunc give ints */
static Value whole(VM *vm, Value v, double (*function)(double), const char *special) {
    double x;
    if (value_is_integer(v)) return value_int(integer_of(v));
    if (value_is(v, OBJ_SYM)) return value_ref(v);
    if (value_is(v, OBJ_INSTANCE)) {
        Value result = vm_call_special(vm, v, special, NULL, 0);
        if (result.tag != V_NULL) return result;
    }
    return vm_number(vm, v, &x) ? vm_call1(vm, value_object(vm->class_int), value_float(function(x))) : VALUE_ERROR;
}

static Value math_floor(METHOD) { UNUSED; return whole(vm, args[0], floor, vm->own->names.floor_); }
static Value math_ceil(METHOD) { UNUSED; return whole(vm, args[0], ceil, vm->own->names.ceil_); }
static Value math_trunc(METHOD) { UNUSED; return whole(vm, args[0], trunc, vm->own->names.trunc_); }

#define TEST(name, expression)                                  \
    static Value math_##name(METHOD) {                          \
        UNUSED;                                                 \
        double x;                                               \
        if (!vm_number(vm, args[0], &x)) return VALUE_ERROR;     \
        return value_bool(expression);                          \
    }
TEST(isnan, isnan(x)) TEST(isinf, isinf(x)) TEST(isfinite, isfinite(x))

static Value math_isclose(METHOD) {
    static const char *const names[] = {"a", "b", "rel_tol", "abs_tol"};
    Value out[4];
    double a, b, relative = 1e-9, absolute = 0;
    if (!vm_parse_args(vm, "isclose", args, nargs, kwnames, names, 4, 2, out) || !vm_number(vm, out[0], &a) || !vm_number(vm, out[1], &b)) return VALUE_ERROR;
    if ((out[2].tag != V_NULL && !vm_number(vm, out[2], &relative)) || (out[3].tag != V_NULL && !vm_number(vm, out[3], &absolute))) return VALUE_ERROR;
    if (relative < 0 || absolute < 0) return vm_raise(vm, "ValueError", "tolerances must be non-negative");
    if (a == b) return value_bool(true);
    if (isinf(a) || isinf(b)) return value_bool(false);
    double difference = fabs(b - a);
    return value_bool(difference <= fabs(relative * b) || difference <= fabs(relative * a) || difference <= absolute);
}

static uint64_t gcd_of(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static Value overflow(VM *vm, const char *name) { return vm_raise(vm, "OverflowError", "integer overflow in %s(): the result does not fit 64 bits", name); }

static Value gcd_or_lcm(VM *vm, Value *args, int nargs, bool lcm) {
    uint64_t result = lcm ? 1 : 0;
    for (int i = 0; i < nargs; i++) {
        int64_t n;
        if (!vm_as_int(vm, args[i], &n)) return VALUE_ERROR;
        uint64_t magnitude = n < 0 ? 0 - (uint64_t)n : (uint64_t)n, common = gcd_of(result, magnitude);
        if (!lcm) result = common;
        else if (magnitude == 0 || result == 0) result = 0;
        else if (__builtin_mul_overflow(result / common, magnitude, &result)) return overflow(vm, "lcm");
    }
    return result > INT64_MAX ? overflow(vm, lcm ? "lcm" : "gcd") : value_int((int64_t)result);
}

static Value math_gcd(METHOD) { UNUSED; return gcd_or_lcm(vm, args, nargs, false); }
static Value math_lcm(METHOD) { UNUSED; return gcd_or_lcm(vm, args, nargs, true); }

static Value math_factorial(METHOD) {
    UNUSED;
    int64_t n, result = 1;
    if (!vm_as_int(vm, args[0], &n)) return VALUE_ERROR;
    if (n < 0) return vm_raise(vm, "ValueError", "factorial() not defined for negative values");
    for (int64_t i = 2; i <= n; i++)
        if (__builtin_mul_overflow(result, i, &result)) return overflow(vm, "factorial");
    return value_int(result);
}

static Value math_comb(METHOD) {
    UNUSED;
    int64_t n, k;
    if (!vm_as_int(vm, args[0], &n) || !vm_as_int(vm, args[1], &k)) return VALUE_ERROR;
    if (n < 0 || k < 0) return vm_raise(vm, "ValueError", "%c must be a non-negative integer", n < 0 ? 'n' : 'k');
    if (k > n) return value_int(0);
    if (k > n - k) k = n - k;
    __int128 result = 1;
    for (int64_t i = 1; i <= k; i++) {
        result = result * (n - k + i) / i;
        if (result > INT64_MAX) return overflow(vm, "comb");
    }
    return value_int((int64_t)result);
}

static Value math_perm(METHOD) {
    UNUSED;
    int64_t n, k, result = 1;
    if (!vm_as_int(vm, args[0], &n)) return VALUE_ERROR;
    if (nargs < 2 || args[1].tag == V_NONE) k = n;
    else if (!vm_as_int(vm, args[1], &k)) return VALUE_ERROR;
    if (n < 0 || k < 0) return vm_raise(vm, "ValueError", "%c must be a non-negative integer", n < 0 ? 'n' : 'k');
    if (k > n) return value_int(0);
    for (int64_t i = 0; i < k; i++)
        if (__builtin_mul_overflow(result, n - i, &result)) return overflow(vm, "perm");
    return value_int(result);
}

static Value math_isqrt(METHOD) {
    UNUSED;
    int64_t n;
    if (!vm_as_int(vm, args[0], &n)) return VALUE_ERROR;
    if (n < 0) return vm_raise(vm, "ValueError", "isqrt() argument must be nonnegative");
    int64_t root = (int64_t)sqrt((double)n);
    while (root > 0 && root > n / root) root--;
    while ((root + 1) <= n / (root + 1)) root++;
    return value_int(root);
}

static bool multiply(VM *vm, void *state, Value item) {
    Value product = vm_binary(vm, BINARY_MULTIPLY, *(Value *)state, item);
    if (value_is_error(product)) return false;
    value_set(vm, state, product);
    return true;
}

/* The sum of two lists' products: floats as if in twice the precision, rounded once. */
static bool float_products(const List *a, const List *b, double *out) {
    double sum = 0, lost = 0;
    for (int i = 0; i < a->count; i++) {
        if (!value_is_number(a->items[i]) || !value_is_number(b->items[i])) return false;
        double x = number_of(a->items[i]), y = number_of(b->items[i]), product = x * y, total = sum + product, part = total - sum;
        lost += fma(x, y, -product) + ((sum - (total - part)) + (product - part));
        sum = total;
    }
    *out = isfinite(sum) ? sum + lost : sum;
    return true;
}

static Value plain_products(VM *vm, const List *a, const List *b) {
    Value sum = value_int(0);
    for (int i = 0; i < a->count && !value_is_error(sum); i++) {
        Value product = vm_binary(vm, BINARY_MULTIPLY, a->items[i], b->items[i]);
        Value next = value_is_error(product) ? product : vm_binary(vm, BINARY_ADD, sum, product);
        value_unref(vm, product);
        value_unref(vm, sum);
        sum = next;
    }
    return sum;
}

static bool any_float(const List *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].tag == V_FLOAT) return true;
    return false;
}

static Value math_sumprod(METHOD) {
    UNUSED;
    Value a = vm_list_of(vm, args[0]), b = value_is_error(a) ? a : vm_list_of(vm, args[1]), result = VALUE_ERROR;
    double sum;
    if (!value_is_error(b)) {
        List *x = list_of(a), *y = list_of(b);
        if (x->count != y->count) vm_raise(vm, "ValueError", "Inputs are not the same length");
        else if ((any_float(x) || any_float(y)) && float_products(x, y, &sum)) result = value_float(sum);
        else result = plain_products(vm, x, y);
        value_unref(vm, b);
    }
    value_unref(vm, a);
    return result;
}

static Value math_prod(METHOD) {
    static const char *const names[] = {"iterable", "start"};
    Value out[2];
    if (!vm_parse_args(vm, "prod", args, nargs, kwnames, names, 2, 1, out)) return VALUE_ERROR;
    Value product = out[1].tag == V_NULL ? value_int(1) : value_ref(out[1]);
    if (vm_each(vm, out[0], multiply, &product)) return product;
    value_unref(vm, product);
    return VALUE_ERROR;
}

/* Exact sum: partial sums that do not overlap. */
static Value math_fsum(METHOD) {
    UNUSED;
    Value list = vm_list_of(vm, args[0]);
    if (value_is_error(list)) return list;
    double *partials = malloc(((size_t)list_of(list)->count + 1) * sizeof(double)), special = 0;
    int count = 0;
    bool ok = partials != NULL;
    for (int i = 0; ok && i < list_of(list)->count; i++) {
        double x, y;
        int kept = 0;
        ok = vm_number(vm, list_of(list)->items[i], &x);
        if (!isfinite(x)) {
            special += x;
            continue;
        }
        for (int k = 0; k < count; k++) {
            y = partials[k];
            if (fabs(x) < fabs(y)) {
                double t = x;
                x = y;
                y = t;
            }
            double high = x + y, low = y - (high - x);
            if (low != 0) partials[kept++] = low;
            x = high;
        }
        partials[kept++] = x;
        count = kept;
    }
    long double total = 0;
    for (int k = 0; k < count; k++) total += (long double)partials[k];
    free(partials);
    value_unref(vm, list);
    return !ok ? VALUE_ERROR : special != 0 || isnan(special) ? value_float(special) : value_float((double)total);
}

static Value math_hypot(METHOD) {
    UNUSED;
    double sum = 0, x;
    for (int i = 0; i < nargs; i++) {
        if (!vm_number(vm, args[i], &x)) return VALUE_ERROR;
        sum = hypot(sum, x);
    }
    return value_float(sum);
}

static Value math_dist(METHOD) {
    UNUSED;
    Value p = vm_list_of(vm, args[0]), q = value_is_error(p) ? p : vm_list_of(vm, args[1]);
    double sum = 0, x, y;
    bool ok = !value_is_error(p) && !value_is_error(q);
    if (ok && list_of(p)->count != list_of(q)->count) ok = (vm_raise(vm, "ValueError", "both points must have the same number of dimensions"), false);
    for (int i = 0; ok && i < list_of(p)->count; i++) {
        ok = vm_number(vm, list_of(p)->items[i], &x) && vm_number(vm, list_of(q)->items[i], &y);
        if (ok) sum = hypot(sum, x - y);
    }
    value_unref(vm, p);
    value_unref(vm, q);
    return ok ? value_float(sum) : VALUE_ERROR;
}

static Value math_modf(METHOD) {
    UNUSED;
    double x, integral;
    if (!vm_number(vm, args[0], &x)) return VALUE_ERROR;
    double fraction = modf(x, &integral);
    return tuple_new(vm, (Value[]){value_float(fraction), value_float(integral)}, 2);
}

static Value math_frexp(METHOD) {
    UNUSED;
    double x;
    int exponent = 0;
    if (!vm_number(vm, args[0], &x)) return VALUE_ERROR;
    double m = frexp(x, &exponent);
    return tuple_new(vm, (Value[]){value_float(m), value_int(isfinite(x) ? exponent : 0)}, 2);
}

static Value math_ldexp(METHOD) {
    UNUSED;
    double x;
    int64_t exponent;
    if (!vm_number(vm, args[0], &x) || !vm_as_int(vm, args[1], &exponent)) return VALUE_ERROR;
    return checked(vm, ldexp(x, exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : (int)exponent), isfinite(x), false);
}

static Value math_ulp(METHOD) {
    UNUSED;
    double x;
    if (!vm_number(vm, args[0], &x)) return VALUE_ERROR;
    return value_float(isfinite(x) ? nextafter(fabs(x), INFINITY) - fabs(x) : fabs(x));
}

enum { P = BUILTIN_POSITIONAL };
#define ROW(name, n) {#name, math_##name, n, n, P}

static const BuiltinDef functions[] = {
    ROW(sqrt, 1), ROW(exp, 1), ROW(expm1, 1), ROW(log1p, 1), ROW(log2, 1), ROW(log10, 1), ROW(sin, 1), ROW(cos, 1), ROW(tan, 1), ROW(asin, 1), ROW(acos, 1),
    ROW(atan, 1), ROW(sinh, 1), ROW(cosh, 1), ROW(tanh, 1), ROW(asinh, 1), ROW(acosh, 1), ROW(atanh, 1), ROW(fabs, 1), ROW(erf, 1), ROW(erfc, 1), ROW(cbrt, 1),
    ROW(exp2, 1), ROW(gamma, 1), ROW(lgamma, 1), ROW(degrees, 1), ROW(radians, 1), ROW(atan2, 2), ROW(copysign, 2), ROW(fmod, 2), ROW(remainder, 2),
    ROW(nextafter, 2), ROW(pow, 2), ROW(floor, 1), ROW(ceil, 1), ROW(trunc, 1), ROW(isnan, 1), ROW(isinf, 1), ROW(isfinite, 1), ROW(factorial, 1), ROW(comb, 2),
    ROW(isqrt, 1), ROW(fsum, 1), ROW(modf, 1), ROW(frexp, 1), ROW(ldexp, 2), ROW(ulp, 1), ROW(dist, 2), {"log", math_log, 1, 2, P}, {"perm", math_perm, 1, 2, P},
    {"gcd", math_gcd, 0, -1, P}, {"lcm", math_lcm, 0, -1, P}, {"hypot", math_hypot, 0, -1, P}, {"prod", math_prod, 1, 2, 0}, {"sumprod", math_sumprod, 2, 2, P}, {"isclose", math_isclose, 2, 4, 0},
};

void module_math(VM *vm, Dict *dict) {
    vm_define(vm, dict, "math", functions, COUNT_OF(functions));
    module_set(vm, dict, "pi", value_float(M_PI));
    module_set(vm, dict, "e", value_float(M_E));
    module_set(vm, dict, "tau", value_float(2 * M_PI));
    module_set(vm, dict, "inf", value_float(INFINITY));
    module_set(vm, dict, "nan", value_float(NAN));
}
