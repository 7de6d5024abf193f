/* Dimcode: symbolic sizes as small programs, so that running needs no symbols. See dimcode.c. */
#ifndef VITRINE_RUN_DIMCODE_H
#define VITRINE_RUN_DIMCODE_H
#include "ir/meta.h"

typedef struct DimCode { int64_t constant; const struct DimStep *steps; int count; } DimCode; /* count 0: the constant */
bool dimcode_make(Arena *arena, Dim d, const Dim *vars, int var_count, DimCode *code); /* false: a variable that is not among vars */
int64_t dimcode_run(const DimCode *code, const int64_t *values);

/* A meta whose sizes, strides and offset are such programs. */
typedef struct MetaCode { Meta meta; bool is_static; DimCode sizes[MAX_RANK], strides[MAX_RANK], offset; } MetaCode;
bool metacode_make(Arena *arena, const Meta *meta, const Dim *vars, int var_count, MetaCode *code);
void metacode_run(const MetaCode *code, const int64_t *values, Meta *meta);
#endif
