/* Fold: what the loops of fold.c and fold_columns.c share: the types whose memory they read as it lies. */
#ifndef VITRINE_OP_FOLD_H
#define VITRINE_OP_FOLD_H
#include "op/clones.h"
#include "op/vmath.h"
#include <stdint.h>

#define AS_IT_IS(x) (x)
#define VALUE_f32(x) (x)
#define VALUE_f64(x) (x)
#define VALUE_bf16(x) v_f32_bf16(x)
/* LIST(suffix, C type, total of a block); LIST(suffix, C type, its value) */
#define FOLD_INTEGERS(LIST) LIST(u8, uint8_t, int32_t) LIST(i8, int8_t, int32_t) LIST(i16, int16_t, int32_t) LIST(i32, int32_t, int64_t) LIST(i64, int64_t, uint64_t)
#define FOLD_FLOATS(LIST) LIST(f32, float, VALUE_f32) LIST(f64, double, VALUE_f64) LIST(bf16, uint16_t, VALUE_bf16)
#endif
