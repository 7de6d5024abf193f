/* Scalar rows: reading the `scalar` column of a pointwise row, and choosing among its alternatives. Inputs of an expression: the op's parameters, then dtype_max, dtype_min. */
#ifndef VITRINE_OP_SCALAR_ROW_H
#define VITRINE_OP_SCALAR_ROW_H
#include "op/op.h"

/* Fills in variants and expr. A row that does not parse is our own mistake: it aborts with the text. */
void scalar_row_parse(Arena *arena, Op *op);
/* Do integers promote to the default float first? For rows with TRAIT_FLOAT_RESULT, except in an alternative that a word chose and that integers
 * have a meaning for: div(…, rounding_mode='floor'). */
bool scalar_row_promotes(const Op *op, const ScalarVariant *variant);
/* Has the variant a meaning when its operands meet in this compute type? Integers have none where the value would turn into a float on the way. */
bool scalar_row_defined(const Op *op, const ScalarVariant *variant, DType compute);
/* Marks the inputs that the expression reads. */
void scalar_row_uses(const ScalarExpr *e, bool *used);
#endif
