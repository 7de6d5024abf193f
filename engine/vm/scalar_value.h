/* Elements of a tensor as values of the language, and back. */
#ifndef VITRINE_VM_SCALAR_VALUE_H
#define VITRINE_VM_SCALAR_VALUE_H
#include "ir/meta.h"
#include "vm/value.h"

double element_as_double(DType dtype, const void *at);
int64_t element_as_int(DType dtype, const void *at);        /* floats are cut toward zero, out of range gives INT64_MIN */
Value element_as_value(DType dtype, const void *at);        /* bool, int or float; never owned */
void element_store_double(DType dtype, void *at, double value);
void element_store_int(DType dtype, void *at, int64_t value);
bool element_holds_int(DType dtype, int64_t value);         /* false where PyTorch says "without overflow" (negative wraps once) */
float half_to_float(uint16_t bits);
uint16_t half_of_double(double value);                      /* through float, round to nearest even */
float bfloat16_to_float(uint16_t bits);
uint16_t bfloat16_of_double(double value);
#endif
