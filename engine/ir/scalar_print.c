/* Scalar printing: primitives, casts and literals as C and CUDA text.
 *
 * In: a primitive, a compute type, operands as text. Out: an expression in parentheses or a call, so that texts nest.
 *
 *     const char *operands[] = {"x", "y"};
 *     prim_print(&text, TARGET_C, PRIM_MAXIMUM, DTYPE_F32, operands);       // v_maximum_f32(x, y)
 *
 * Invariant: what is printed needs what scalar_support_uses and scalar_support_put put in front of it, and nothing else. */
#include "ir/scalar.h"
#include <assert.h>
#include <math.h>

static const char *c_text(const PrimInfo *info, DType compute) {
    switch (compute) {
    case DTYPE_F32: return info->c_f32;
    case DTYPE_F64: return info->c_f64;
    case DTYPE_I64: return info->c_i64;
    default: return info->c_bool;
    }
}

static const char *cuda_text(const PrimInfo *info, DType compute) {
    const char *text = compute == DTYPE_F32 ? info->cuda_f32 : compute == DTYPE_F64 ? info->cuda_f64 : compute == DTYPE_I64 ? info->cuda_i64 : info->cuda_bool;
    return text ? text : c_text(info, compute);
}

void prim_print(Text *text, ScalarTarget target, Prim prim, DType compute, const char *const *operands) {
    const char *at = target == TARGET_C ? c_text(&prim_info[prim], compute) : cuda_text(&prim_info[prim], compute);
    assert(at && "primitive is not defined for this type");
    for (; *at; at++) {
        if (*at == '$') text_put(text, operands[*++at - '0']);
        else text_char(text, *at);
    }
}

const char *scalar_type_name(ScalarTarget target, DType compute) {
    if (compute == DTYPE_BOOL) return target == TARGET_C ? "_Bool" : "bool";
    return compute == DTYPE_F32 ? "float" : compute == DTYPE_F64 ? "double" : "long";
}

bool prim_print_narrow(Text *text, Prim prim, DType narrow, const char *const *operands) {
    const char *name = prim == PRIM_FLOORDIV ? "floordiv" : prim == PRIM_MOD ? "mod" : prim == PRIM_TRUNCDIV ? "truncdiv" : prim == PRIM_FMOD ? "fmod" : NULL;
    if (!name || dtype_is_float(narrow) || narrow == DTYPE_BOOL || narrow == DTYPE_I64) return false;
    text_printf(text, "(long)v_%s_%s((int)%s, (int)%s)", name, narrow == DTYPE_I32 ? "i32" : "i16", operands[0], operands[1]);
    return true;
}

void scalar_cast_print(Text *text, ScalarTarget target, DType from, DType to, const char *operand) {
    if (from == to) text_put(text, operand);
    else if (to == DTYPE_BOOL) text_printf(text, "(%s != 0)", operand);
    else if (to == DTYPE_I64 && from == DTYPE_F32) text_printf(text, "v_i64_f32(%s)", operand);
    else if (to == DTYPE_I64 && from == DTYPE_F64) text_printf(text, "v_i64_f64(%s)", operand);
    else text_printf(text, "((%s)%s)", scalar_type_name(target, to), operand);
}

void scalar_load_print(Text *text, ScalarTarget target, DType stored, const char *operand) {
    DType compute = dtype_info[stored].compute;
    if (stored == DTYPE_F16) text_printf(text, "v_f32_f16(%s)", operand);
    else if (stored == DTYPE_BF16) text_printf(text, "v_f32_bf16(%s)", operand);
    else if (stored == DTYPE_BOOL) text_printf(text, "(%s != 0)", operand);
    else if (stored == compute) text_put(text, operand);
    else text_printf(text, "((%s)%s)", scalar_type_name(target, compute), operand);
}

void scalar_store_print(Text *text, ScalarTarget target, DType stored, const char *operand) {
    (void)target;
    if (stored == DTYPE_F16) text_printf(text, "v_f16_f32(%s)", operand);
    else if (stored == DTYPE_BF16) text_printf(text, "v_bf16_f32(%s)", operand);
    else if (stored == dtype_info[stored].compute && stored != DTYPE_BOOL) text_put(text, operand);
    else text_printf(text, "((%s)%s)", dtype_info[stored].c_type, operand);
}

static void print_special(Text *text, ScalarTarget target, DType compute, double value) {
    bool single = compute == DTYPE_F32;
    if (target == TARGET_C) {
        const char *suffix = single ? "f" : "";
        if (isnan(value)) text_printf(text, "__builtin_nan%s(\"\")", suffix);
        else text_printf(text, "(%s__builtin_inf%s())", value < 0 ? "-" : "", suffix);
        return;
    }
    const char *bits = isnan(value) ? (single ? "0x7fffffff" : "0x7fffffffffffffffLL")
                       : value < 0  ? (single ? "0xff800000" : "0xfff0000000000000LL")
                                    : (single ? "0x7f800000" : "0x7ff0000000000000LL");
    text_printf(text, "%s(%s)", single ? "__int_as_float" : "__longlong_as_double", bits);
}

static void print_float(Text *text, ScalarTarget target, DType compute, double value) {
    bool single = compute == DTYPE_F32;
    if (single) value = (double)(float)value;
    if (isnan(value) || isinf(value)) print_special(text, target, compute, value);
    else if (value == (double)(int)value && fabs(value) < 1e6) text_printf(text, signbit(value) ? "(%.1f%s)" : "%.1f%s", value, single ? "f" : "");
    else text_printf(text, value < 0 ? "(%a%s)" : "%a%s", value, single ? "f" : "");
}

void scalar_const_print(Text *text, ScalarTarget target, DType compute, double value, int64_t integer) {
    if (compute == DTYPE_F32 || compute == DTYPE_F64) print_float(text, target, compute, value);
    else if (compute == DTYPE_BOOL) text_put(text, integer || value != 0 ? "1" : "0");
    else if (integer == INT64_MIN) text_put(text, "(-9223372036854775807L - 1)");
    else text_printf(text, integer < 0 ? "(%lldL)" : "%lldL", (long long)integer);
}
