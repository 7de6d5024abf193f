/* Fold values: binary operators on two constants.
 *
 * In: an operator and two constants. Out: their result as Python computes it, or false where that raises, does not fit
 * 64 bits, or passes CPython's limits on the size of folded constants.
 *
 *     7 // -2 -> -4      2 ** -1 -> 0.5      "ab" * 2 -> "abab"      1 / 0 -> false
 *
 * Invariant: a folded value equals the value the VM would compute. */
#include "lang/ast.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { STRING_LIMIT = 4096, TUPLE_LIMIT = 256, TUPLE_TOTAL_LIMIT = 1024, CONCATENATION_LIMIT = 4096 };

static bool int_of(const Const *value, int64_t *i) {
    if (value->kind == CONST_INT) return *i = value->i, true;
    if (value->kind == CONST_TRUE || value->kind == CONST_FALSE) return *i = value->kind == CONST_TRUE, true;
    return false;
}

static bool give_int(Const *result, int64_t i) { return *result = (Const){.kind = CONST_INT, .i = i}, true; }
static bool give_float(Const *result, double f) { return *result = (Const){.kind = CONST_FLOAT, .f = f}, true; }

static int bit_length(int64_t value) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int bits = 0;
    for (; magnitude; magnitude >>= 1) bits++;
    return bits;
}

static int64_t floor_divide(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

static bool power_int(int64_t base, int64_t exponent, int64_t *result) {
    *result = 1;
    for (int64_t i = 0; i < exponent; i++) {
        if (__builtin_mul_overflow(*result, base, result)) return false;
        if (base == 0 || base == 1) break;
        if (base == -1) return *result = exponent % 2 ? -1 : 1, true;
    }
    return true;
}

static bool fold_power(int64_t a, int64_t b, Const *result) {
    if (b < 0) return a != 0 && give_float(result, pow((double)a, (double)b));
    int64_t value;
    return power_int(a, b, &value) && give_int(result, value);
}

static bool fold_shift(bool left, int64_t a, int64_t b, Const *result) {
    if (b < 0) return false;
    if (!left) return give_int(result, b > 63 ? (a < 0 ? -1 : 0) : a >> b);
    if (a == 0) return give_int(result, 0);
    if (b > 62 || bit_length(a) + b > 63) return false;
    return give_int(result, (int64_t)((uint64_t)a << b));
}

static bool fold_ints(BinaryOp op, int64_t a, int64_t b, Const *result) {
    int64_t value;
    bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    switch (op) {
    case BINARY_ADD: return !__builtin_add_overflow(a, b, &value) && give_int(result, value);
    case BINARY_SUBTRACT: return !__builtin_sub_overflow(a, b, &value) && give_int(result, value);
    case BINARY_MULTIPLY: return !__builtin_mul_overflow(a, b, &value) && give_int(result, value);
    case BINARY_FLOOR_DIVIDE: return divides && give_int(result, floor_divide(a, b));
    case BINARY_REMAINDER: return divides && give_int(result, a - floor_divide(a, b) * b);
    case BINARY_TRUE_DIVIDE: {
        int64_t exact = (int64_t)1 << 53; /* beyond it the operands themselves round: left to the VM */
        return b != 0 && a <= exact && a >= -exact && b <= exact && b >= -exact && give_float(result, (double)a / (double)b);
    }
    case BINARY_POWER: return fold_power(a, b, result);
    case BINARY_LSHIFT: case BINARY_RSHIFT: return fold_shift(op == BINARY_LSHIFT, a, b, result);
    case BINARY_AND: return give_int(result, a & b);
    case BINARY_OR: return give_int(result, a | b);
    case BINARY_XOR: return give_int(result, a ^ b);
    default: return false;
    }
}

/* Bitwise operators on two bools give a bool. */
static bool fold_bools(BinaryOp op, const Const *a, const Const *b, Const *result) {
    bool x = a->kind == CONST_TRUE, y = b->kind == CONST_TRUE, value;
    if (op == BINARY_AND) value = x && y;
    else if (op == BINARY_OR) value = x || y;
    else if (op == BINARY_XOR) value = x != y;
    else return fold_ints(op, x, y, result);
    *result = (Const){.kind = value ? CONST_TRUE : CONST_FALSE};
    return true;
}

/* Python's remainder has the sign of the divisor. */
static double float_remainder(double a, double b) {
    double value = fmod(a, b);
    if (fpclassify(value) == FP_ZERO) return copysign(0.0, b);
    return (value < 0) != (b < 0) ? value + b : value;
}

static double float_floor_divide(double a, double b) {
    double remainder = fmod(a, b), quotient = (a - remainder) / b;
    if (fpclassify(remainder) != FP_ZERO && (remainder < 0) != (b < 0)) quotient -= 1.0;
    if (fpclassify(quotient) == FP_ZERO) return copysign(0.0, a / b);
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

static bool fold_floats(BinaryOp op, double a, double b, Const *result) {
    bool zero = fpclassify(b) == FP_ZERO;
    switch (op) {
    case BINARY_ADD: return give_float(result, a + b);
    case BINARY_SUBTRACT: return give_float(result, a - b);
    case BINARY_MULTIPLY: return give_float(result, a * b);
    case BINARY_TRUE_DIVIDE: return !zero && give_float(result, a / b);
    case BINARY_REMAINDER: return !zero && give_float(result, float_remainder(a, b));
    case BINARY_FLOOR_DIVIDE: return !zero && give_float(result, float_floor_divide(a, b));
    case BINARY_POWER: {
        bool plain = a > 0 || (isfinite(a) && isfinite(b) && fpclassify(a) != FP_ZERO && floor(b) == b);
        double value = pow(a, b);
        return plain && isfinite(value) && give_float(result, value); /* complex results, overflow and zeros: the VM's */
    }
    default: return false;
    }
}

static bool number_of(const Const *value, double *number) {
    int64_t i;
    if (value->kind == CONST_FLOAT) return *number = value->f, true;
    if (!int_of(value, &i)) return false;
    return *number = (double)i, true;
}

static bool concatenate(LangSession *session, const Const *a, const Const *b, Const *result) {
    if (a->kind == CONST_STR) {
        uint32_t length = a->s.length + b->s.length;
        if (a->s.length > CONCATENATION_LIMIT || b->s.length > CONCATENATION_LIMIT) return false;
        char *text = arena_alloc(session->arena, (size_t)length + 1);
        memcpy(text, a->s.text, a->s.length);
        memcpy(text + a->s.length, b->s.text, b->s.length);
        *result = (Const){.kind = CONST_STR, .s = {text, length}};
        return true;
    }
    int count = a->tuple.count + b->tuple.count;
    if (count > CONCATENATION_LIMIT) return false;
    Const *items = ARENA_ARRAY(session->arena, Const, count);
    for (int i = 0; i < count; i++) items[i] = i < a->tuple.count ? a->tuple.items[i] : b->tuple.items[i - a->tuple.count];
    *result = (Const){.kind = CONST_TUPLE, .tuple = {items, count}};
    return true;
}

/* How many items a tuple holds with those of its tuples; over the limit counts as the limit. */
static int total_items(const Const *value, int limit) {
    if (value->kind != CONST_TUPLE) return 0;
    int total = value->tuple.count;
    for (int i = 0; i < value->tuple.count && total < limit; i++) total += total_items(&value->tuple.items[i], limit - total);
    return total;
}

static uint32_t characters(const Const *string) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < string->s.length; i++) count += (string->s.text[i] & 0xc0) != 0x80;
    return count;
}

static Const repeated_string(LangSession *session, const Const *string, int64_t times) {
    uint32_t length = string->s.length;
    char *text = arena_alloc(session->arena, (size_t)times * length + 1);
    for (int64_t i = 0; i < times; i++) memcpy(text + i * length, string->s.text, length);
    return (Const){.kind = CONST_STR, .s = {text, (uint32_t)times * length}};
}

static Const repeated_tuple(LangSession *session, const Const *tuple, int64_t times) {
    int count = tuple->tuple.count;
    Const *items = ARENA_ARRAY(session->arena, Const, times * count);
    for (int64_t i = 0; i < times * count; i++) items[i] = tuple->tuple.items[i % count];
    return (Const){.kind = CONST_TUPLE, .tuple = {items, (int)times * count}};
}

static bool repeat(LangSession *session, const Const *sequence, int64_t times, Const *result) {
    bool string = sequence->kind == CONST_STR;
    int64_t size = string ? (int64_t)characters(sequence) : (int64_t)sequence->tuple.count;
    if (times < 0 || size == 0) times = 0;
    if (size && times > (string ? STRING_LIMIT : TUPLE_LIMIT) / size) return false;
    if (!string && times > TUPLE_TOTAL_LIMIT / (1 + total_items(sequence, TUPLE_TOTAL_LIMIT))) return false;
    *result = string ? repeated_string(session, sequence, times) : repeated_tuple(session, sequence, times);
    return true;
}

bool fold_operation(LangSession *session, BinaryOp op, const Const *a, const Const *b, Const *result) {
    int64_t x, y;
    double f, g;
    bool sequence_a = a->kind == CONST_STR || a->kind == CONST_TUPLE, sequence_b = b->kind == CONST_STR || b->kind == CONST_TUPLE;
    if (op == BINARY_ADD && sequence_a && a->kind == b->kind) return concatenate(session, a, b, result);
    if (op == BINARY_MULTIPLY && sequence_a && int_of(b, &y)) return repeat(session, a, y, result);
    if (op == BINARY_MULTIPLY && sequence_b && int_of(a, &x)) return repeat(session, b, x, result);
    if (sequence_a || sequence_b) return false;
    if (int_of(a, &x) && int_of(b, &y))
        return a->kind != CONST_INT && b->kind != CONST_INT ? fold_bools(op, a, b, result) : fold_ints(op, x, y, result);
    return number_of(a, &f) && number_of(b, &g) && fold_floats(op, f, g, result);
}
