/* View: what view.c, its values at an index, and the scatters that undo views share. */
#ifndef VITRINE_OP_VIEW_H
#define VITRINE_OP_VIEW_H
#include "op/family.h"

/* A slice's bound (None: `absent`), wrapped and clamped into [0, size]. */
Dim diagonal_length(const Meta *input, int dim1, int dim2, int64_t offset);
Dim slice_bound(SymTable *syms, const Arg *arg, Dim size, Dim absent);
/* start, step and number of elements of a slice of `input` along `dim`, from the row's start, end, step. */
bool slice_range(const Op *op, const Arg *args, const Meta *input, int dim, SymTable *syms, Dim *start, Dim *step, Dim *length, OpError *error);
bool diagonal_dims(const Op *op, const Arg *args, int rank, int *dim1, int *dim2, OpError *error);
struct BodyBuilder;
const struct Body *view_value_at(struct BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index);
#endif
