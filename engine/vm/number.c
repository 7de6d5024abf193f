/* Numbers: arithmetic of bool, int (64 bits, overflow is an error) and float with Python's rules, powers, rounding, hashes.
 *
 *     number_binary(vm, BINARY_FLOOR_DIVIDE, value_int(-7), value_int(2))      // -4
 *
 * Invariant: no undefined behaviour for any operands: whatever does not fit raises OverflowError that says so. */
#include "vm/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Value overflow(VM *vm, const char *what) {
    return vm_raise(vm, "OverflowError", "integer overflow in %s: the result does not fit 64 bits", what);
}

static int64_t floor_divide(int64_t a, int64_t b) {
    int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

static int64_t floor_modulo(int64_t a, int64_t b) {
    if (b == -1) return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Value int_power(VM *vm, int64_t base, int64_t exponent) {
    if (exponent < 0) {
        if (base == 0) return vm_raise(vm, "ZeroDivisionError", "0.0 cannot be raised to a negative power");
        return value_float(pow((double)base, (double)exponent));
    }
    int64_t result = 1;
    while (exponent) {
        if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) return overflow(vm, "**");
        exponent >>= 1;
        if (exponent && __builtin_mul_overflow(base, base, &base)) return overflow(vm, "**");
    }
    return value_int(result);
}

static Value shift_left(VM *vm, int64_t a, int64_t by) {
    if (by < 0) return vm_raise(vm, "ValueError", "negative shift count");
    if (a == 0) return value_int(0);
    if (by > 62) return by == 63 && a == -1 ? value_int(INT64_MIN) : overflow(vm, "<<");
    int64_t result;
    return __builtin_mul_overflow(a, INT64_C(1) << by, &result) ? overflow(vm, "<<") : value_int(result);
}

static Value shift_right(VM *vm, int64_t a, int64_t by) {
    if (by < 0) return vm_raise(vm, "ValueError", "negative shift count");
    return value_int(by > 63 ? (a < 0 ? -1 : 0) : a >> by);
}

/* Nearest double of a / b, also where a and b have more than 53 bits. */
static double true_divide(int64_t a, int64_t b) {
    const int64_t exact = INT64_C(1) << 53;
    if (a >= -exact && a <= exact && b >= -exact && b <= exact) return (double)a / (double)b;
    return (double)((long double)a / (long double)b);
}

static Value int_divide(VM *vm, int op, int64_t a, int64_t b) {
    if (b == 0) {
        if (op == BINARY_TRUE_DIVIDE) return vm_raise(vm, "ZeroDivisionError", "division by zero");
        return vm_raise(vm, "ZeroDivisionError", op == BINARY_REMAINDER ? "integer modulo by zero" : "integer division or modulo by zero");
    }
    if (op == BINARY_TRUE_DIVIDE) return value_float(true_divide(a, b));
    if (op == BINARY_REMAINDER) return value_int(floor_modulo(a, b));
    return a == INT64_MIN && b == -1 ? overflow(vm, "//") : value_int(floor_divide(a, b));
}

static Value int_binary(VM *vm, int op, int64_t a, int64_t b) {
    int64_t result;
    switch (op) {
    case BINARY_ADD: return __builtin_add_overflow(a, b, &result) ? overflow(vm, "+") : value_int(result);
    case BINARY_SUBTRACT: return __builtin_sub_overflow(a, b, &result) ? overflow(vm, "-") : value_int(result);
    case BINARY_MULTIPLY: return __builtin_mul_overflow(a, b, &result) ? overflow(vm, "*") : value_int(result);
    case BINARY_TRUE_DIVIDE: case BINARY_FLOOR_DIVIDE: case BINARY_REMAINDER: return int_divide(vm, op, a, b);
    case BINARY_POWER: return int_power(vm, a, b);
    case BINARY_AND: return value_int(a & b);
    case BINARY_OR: return value_int(a | b);
    case BINARY_XOR: return value_int(a ^ b);
    case BINARY_LSHIFT: return shift_left(vm, a, b);
    case BINARY_RSHIFT: return shift_right(vm, a, b);
    default: return (Value){.tag = V_NOTIMPLEMENTED};
    }
}

static double float_modulo(double a, double b) {
    double r = fmod(a, b);
    if (r == 0) return copysign(0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

static double float_floor_divide(double a, double b) {
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;
    if (q == 0) return copysign(0, a / b);
    double whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

static Value float_power(VM *vm, double a, double b) {
    if (a == 0 && b < 0) return vm_raise(vm, "ZeroDivisionError", "0.0 cannot be raised to a negative power");
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b)) return vm_raise(vm, "ValueError", "a negative number to a fractional power is complex, and complex numbers are not supported");
    double result = pow(a, b);
    if (isinf(result) && isfinite(a) && isfinite(b)) return vm_raise(vm, "OverflowError", "(34, 'Numerical result out of range')");
    return value_float(result);
}

static Value float_binary(VM *vm, int op, double a, double b) {
    switch (op) {
    case BINARY_ADD: return value_float(a + b);
    case BINARY_SUBTRACT: return value_float(a - b);
    case BINARY_MULTIPLY: return value_float(a * b);
    case BINARY_TRUE_DIVIDE: return b == 0 ? vm_raise(vm, "ZeroDivisionError", "float division by zero") : value_float(a / b);
    case BINARY_FLOOR_DIVIDE: return b == 0 ? vm_raise(vm, "ZeroDivisionError", "float floor division by zero") : value_float(float_floor_divide(a, b));
    case BINARY_REMAINDER: return b == 0 ? vm_raise(vm, "ZeroDivisionError", "float modulo") : value_float(float_modulo(a, b));
    case BINARY_POWER: return float_power(vm, a, b);
    default: return (Value){.tag = V_NOTIMPLEMENTED};
    }
}

Value number_binary(VM *vm, int op, Value a, Value b) {
    if (a.tag == V_FLOAT || b.tag == V_FLOAT) return float_binary(vm, op, number_of(a), number_of(b));
    Value result = int_binary(vm, op, integer_of(a), integer_of(b));
    bool logical = op == BINARY_AND || op == BINARY_OR || op == BINARY_XOR;
    return a.tag == V_BOOL && b.tag == V_BOOL && logical && result.tag == V_INT ? value_bool(result.i != 0) : result;
}

/* ---- hashes: equal numbers of different types hash alike ---- */

static const uint64_t hash_modulus = (UINT64_C(1) << 61) - 1;

static uint64_t signed_hash(uint64_t magnitude, bool negative) {
    int64_t hash = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return (uint64_t)(hash == -1 ? -2 : hash);
}

uint64_t hash_int(int64_t i) {
    uint64_t magnitude = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    return signed_hash(magnitude % hash_modulus, i < 0);
}

/* The value modulo 2^61 - 1, where a factor 2 is a rotation of 61 bits. */
uint64_t hash_float(double f) {
    if (isinf(f)) return f > 0 ? 314159 : (uint64_t)INT64_C(-314159);
    if (isnan(f)) return 0;
    int exponent;
    double m = frexp(fabs(f), &exponent);
    uint64_t x = 0;
    while (m != 0) {
        x = ((x << 28) & hash_modulus) | x >> 33;
        m *= 268435456.0;
        exponent -= 28;
        uint64_t y = (uint64_t)m;
        m -= (double)y;
        x += y;
        if (x >= hash_modulus) x -= hash_modulus;
    }
    int turn = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
    x = ((x << turn) & hash_modulus) | x >> (61 - turn);
    return signed_hash(x, f < 0);
}

/* ---- rounding ---- */

/* Correctly rounded through the decimal text of the number, as Python does. */
double float_round_to(double x, int digits) {
    if (!isfinite(x) || digits > 330) return x;
    if (digits < -310) return copysign(0, x);
    char text[400];
    if (digits >= 0) {
        snprintf(text, sizeof text, "%.*f", digits, x);
        return strtod(text, NULL);
    }
    double scale = pow(10, -digits), q = x / scale;
    double rounded = nearbyint(q);
    return rounded * scale;
}

static Value round_int(VM *vm, int64_t i, int64_t digits) {
    if (digits >= 0) return value_int(i);
    if (digits < -18) return value_int(0);
    int64_t scale = 1;
    for (int64_t d = digits; d < 0; d++) scale *= 10;
    int64_t rest = floor_modulo(i, scale), down;
    if (__builtin_sub_overflow(i, rest, &down)) return overflow(vm, "round()");
    bool up = rest * 2 > scale || (rest * 2 == scale && floor_divide(down, scale) % 2 != 0);
    int64_t result;
    return __builtin_add_overflow(down, up ? scale : 0, &result) ? overflow(vm, "round()") : value_int(result);
}

Value number_round(VM *vm, Value v, Value digits) {
    int64_t n = 0;
    bool given = digits.tag != V_NULL && digits.tag != V_NONE;
    if (given && !vm_as_int(vm, digits, &n)) return VALUE_ERROR;
    if (v.tag != V_FLOAT) return given ? round_int(vm, integer_of(v), n) : value_int(integer_of(v));
    if (given) return value_float(float_round_to(v.f, n > 1000 ? 1000 : n < -1000 ? -1000 : (int)n));
    if (isnan(v.f)) return vm_raise(vm, "ValueError", "cannot convert float NaN to integer");
    if (isinf(v.f)) return vm_raise(vm, "OverflowError", "cannot convert float infinity to integer");
    double whole = nearbyint(v.f);
    if (fabs(whole) >= 9223372036854775808.0) return overflow(vm, "round()");
    return value_int((int64_t)whole);
}
