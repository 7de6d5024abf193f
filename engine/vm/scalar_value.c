/* Elements of a tensor as values of the language, and back: the one place that knows how a dtype lies in memory on the host.
 *
 *     Value v = element_as_value(DTYPE_BF16, at);             // 1.5
 *     element_store_double(DTYPE_F16, at, 3.25);
 *
 * Invariant: float64 -> 16-bit conversions round to float32 first, then to nearest even, as PyTorch's do. */
#include "vm/scalar_value.h"
#include <math.h>
#include <string.h>

float half_to_float(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, mantissa = bits & 1023u, out;
    if (exponent == 31) out = sign | 0x7f800000u | (mantissa << 13);
    else if (exponent) out = sign | ((exponent + 112) << 23) | (mantissa << 13);
    else if (!mantissa) out = sign;
    else { /* subnormal: normalize */
        int shift = 0;
        while (!(mantissa & 1024u)) { mantissa <<= 1; shift++; }
        out = sign | ((uint32_t)(113 - shift) << 23) | ((mantissa & 1023u) << 13);
    }
    float value;
    memcpy(&value, &out, sizeof value);
    return value;
}

uint16_t half_of_double(double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    if (f != f) return (uint16_t)(sign | 0x7e00u);
    float a = fabsf(f);
    if (a >= 65520.0f) return (uint16_t)(sign | 0x7c00u);
    if (a < 6.103515625e-05f) return (uint16_t)(sign | (uint16_t)nearbyintf(a * 16777216.0f)); /* subnormal: units of 2^-24 */
    uint32_t rounded = (bits & 0x7fffffffu) + 0xfffu + ((bits >> 13) & 1u);
    return (uint16_t)(sign | (uint16_t)((rounded >> 13) - (112u << 10)));
}

float bfloat16_to_float(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

uint16_t bfloat16_of_double(double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (f != f) return 0x7fc0u;
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#define READ(type) (*(const type *)at)
double element_as_double(DType dtype, const void *at) {
    switch (dtype) {
    case DTYPE_F64: return READ(double);
    case DTYPE_F32: return (double)READ(float);
    case DTYPE_F16: return (double)half_to_float(READ(uint16_t));
    case DTYPE_BF16: return (double)bfloat16_to_float(READ(uint16_t));
    default: return (double)element_as_int(dtype, at);
    }
}

int64_t element_as_int(DType dtype, const void *at) {
    switch (dtype) {
    case DTYPE_BOOL: return READ(uint8_t) != 0;
    case DTYPE_U8: return READ(uint8_t);
    case DTYPE_I8: return READ(int8_t);
    case DTYPE_I16: return READ(int16_t);
    case DTYPE_I32: return READ(int32_t);
    case DTYPE_I64: return READ(int64_t);
    default: break;
    }
    double d = element_as_double(dtype, at);
    return d >= -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MIN;
}

Value element_as_value(DType dtype, const void *at) {
    if (dtype == DTYPE_BOOL) return value_bool(element_as_int(dtype, at) != 0);
    if (dtype_is_float(dtype)) return value_float(element_as_double(dtype, at));
    return value_int(element_as_int(dtype, at));
}

void element_store_int(DType dtype, void *at, int64_t value) {
    switch (dtype) {
    case DTYPE_BOOL: *(uint8_t *)at = value != 0; break;
    case DTYPE_U8: case DTYPE_I8: *(uint8_t *)at = (uint8_t)(uint64_t)value; break;
    case DTYPE_I16: *(uint16_t *)at = (uint16_t)(uint64_t)value; break;
    case DTYPE_I32: *(uint32_t *)at = (uint32_t)(uint64_t)value; break;
    case DTYPE_I64: *(int64_t *)at = value; break;
    default: element_store_double(dtype, at, (double)value); break;
    }
}

void element_store_double(DType dtype, void *at, double value) {
    switch (dtype) {
    case DTYPE_F64: *(double *)at = value; break;
    case DTYPE_F32: *(float *)at = (float)value; break;
    case DTYPE_F16: *(uint16_t *)at = half_of_double(value); break;
    case DTYPE_BF16: *(uint16_t *)at = bfloat16_of_double(value); break;
    case DTYPE_BOOL: *(uint8_t *)at = value != 0; break;
    default: element_store_int(dtype, at, value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN); break;
    }
}

bool element_holds_int(DType dtype, int64_t value) {
    switch (dtype) {
    case DTYPE_U8: return value <= 255 && value >= -255;
    case DTYPE_I8: return value >= INT8_MIN && value <= INT8_MAX;
    case DTYPE_I16: return value >= INT16_MIN && value <= INT16_MAX;
    case DTYPE_I32: return value >= INT32_MIN && value <= INT32_MAX;
    default: return true;
    }
}
