/* Reduce: what the rules (reduce.c), the eager loops (reduce_run.c) and their folds (fold.c, fold_columns.c) share. */
#ifndef VITRINE_OP_REDUCE_H
#define VITRINE_OP_REDUCE_H
#include "ir/body.h"
#include "op/family.h"

/* A running reduction of one output element. Types of values: F32, F64, BF16, integers, BOOL. Sums of floats are kept in double, by pairs of blocks. */
enum { CASCADE_LEVELS = 40 };
typedef struct Fold {
    Reducer reducer;
    DType type;                    /* of the values */
    double f; int64_t i, at;       /* best or total so far (f of floats, i of others and of any and all); index of the best */
    bool seen, indexed;
    int64_t blocks; double levels[CASCADE_LEVELS]; /* partial sums of 2^k blocks, as a binary counter; those of bits not set in blocks are unset */
} Fold;
void fold_begin(Fold *fold, Reducer reducer, DType type, bool indexed);          /* indexed: is `at` wanted? */
void fold_block(Fold *fold, const void *values, int64_t n, int64_t first_index); /* n <= 2048 values of the type; their indices count from first_index */
void fold_merge(Fold *fold, const Fold *later);                                  /* later's values come after fold's */
void fold_finish(Fold *fold);                                                    /* f or i holds the result */

/* The same for many columns at once: column j takes value j of each row. */
enum { STRIP = 512 };
typedef struct Columns {
    Reducer reducer; DType type; int count; bool seen, indexed;
    union { double f[STRIP]; uint64_t i[STRIP]; char best[STRIP * 8]; /* extremes, in the type */ };
    int32_t at[STRIP]; int64_t base; /* indices of the best less the base */
} Columns;
void columns_begin(Columns *columns, Reducer reducer, DType type, bool indexed, int count);
void columns_rows(Columns *columns, const char *x, int64_t stride, int rows, int64_t index); /* dense rows, a stride of bytes apart; the first one's index */
void columns_merge(Columns *columns, const Columns *later);
void columns_value(const Columns *columns, int j, double *f, int64_t *i, int64_t *at);

/* What a row and its arguments ask for. */
typedef struct Reduce { Reducer reducer; DType compute; bool marks[MAX_RANK], keepdim, mean; int64_t divisor; } Reduce;
bool reduce_read(const Op *op, const Arg *args, Reduce *reduce, OpError *error);
bool reduce_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error);
static inline bool reduce_is_binary(const Op *op, const Arg *args) { return op->binary_op && arg_is_tensor(&args[1]); }
#endif
