/* Reduce: what the rules (reduce.c), the eager loops (reduce_run.c) and their folds (fold.c) share. */
#ifndef VITRINE_OP_REDUCE_H
#define VITRINE_OP_REDUCE_H
#include "ir/body.h"
#include "op/family.h"

/* A running reduction of one output element. Sums of floats are kept in double, by pairs of blocks. */
enum { CASCADE_LEVELS = 40 };
typedef struct Fold {
    Reducer reducer;
    DType type;                    /* compute type of the values */
    double f; int64_t i, at;       /* best or total so far; index of the best */
    bool seen, mean;
    int64_t blocks; double levels[CASCADE_LEVELS]; /* partial sums of 2^k blocks, as a binary counter */
} Fold;
void fold_begin(Fold *fold, Reducer reducer, DType type);
void fold_block(Fold *fold, const void *values, int64_t n, int64_t first_index); /* n <= 2048 values of the type; their indices count from first_index */
void fold_merge(Fold *fold, const Fold *later);                                  /* later's values come after fold's */
void fold_finish(Fold *fold);                                                    /* f or i holds the result */

/* The same for many columns at once: column j takes values[j] of each row. */
enum { STRIP = 512 };
typedef struct Columns { Reducer reducer; DType type; int count; bool seen; double f[STRIP]; int64_t i[STRIP], at[STRIP]; } Columns;
void columns_begin(Columns *columns, Reducer reducer, DType type, int count);
void columns_row(Columns *columns, const void *values, int64_t index);
void columns_merge(Columns *columns, const Columns *later);

/* What a row and its arguments ask for. */
typedef struct Reduce { Reducer reducer; DType compute; bool marks[MAX_RANK], keepdim, mean; int64_t divisor; } Reduce;
bool reduce_read(const Op *op, const Arg *args, Reduce *reduce, OpError *error);
bool reduce_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error);
static inline bool reduce_is_binary(const Op *op, const Arg *args) { return op->binary_op && arg_is_tensor(&args[1]); }
#endif
