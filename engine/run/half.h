/* Half: 16-bit floats to float32 and back, round to nearest even; branch-free, so that loops over them vectorize. */
#ifndef VITRINE_RUN_HALF_H
#define VITRINE_RUN_HALF_H
#include <stdint.h>
#include <string.h>

static inline float bits_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline uint32_t float_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static inline float bf16_to_float(uint16_t h) { return bits_float((uint32_t)h << 16); }
static inline uint16_t float_to_bf16(float f) {
    uint32_t bits = float_bits(f), rounded = bits + 0x7fff + (bits >> 16 & 1);
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded >> 16);
}
/* The exponent is moved by a multiplication, which is exact and makes subnormals right. */
static inline float f16_to_float(uint16_t h) {
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t finite = float_bits(bits_float(magnitude) * 0x1p112f);
    return bits_float(sign | (magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : finite));
}
static inline uint16_t float_to_f16(float f) {
    uint32_t bits = float_bits(f), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;    /* 0x38000000: the difference of the biases */
    uint32_t small = float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000;              /* below 2^-14: adding 0.5 rounds to 2^-24 */
    uint32_t large = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;                           /* NaN, or infinity */
    uint32_t result = magnitude < 0x38800000 ? small : magnitude >= 0x477ff000 ? large : normal;
    return (uint16_t)(sign | result);
}
#endif
