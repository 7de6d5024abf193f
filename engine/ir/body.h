/* Body: what a loop computes at one point, as a DAG of typed scalar values; and the builder through which op families say
 * what their ops mean at an index.
 *
 *     // relu at index: the family of pointwise ops, for every row at once
 *     const Body *a = body_load(builder, &args[0], index);
 *     return body_scalar(builder, op->expr, &a, 1);
 *
 * body_load gives the value of a tensor argument at a logical index: a LOAD of a buffer, or, when lowering decided not to
 * materialize the producer, the producer's own value at that index. Families do not know which.
 * Invariant: values are hash-consed in a builder (same load, same value), so common subexpressions are one node. */
#ifndef VITRINE_IR_BODY_H
#define VITRINE_IR_BODY_H
#include "ir/row.h"

typedef enum BodyKind { BODY_LOAD, BODY_CONST, BODY_INDEX /* a Dim over axes, as an i64 value */, BODY_PRIM, BODY_CAST, BODY_RANDOM /* Philox uniform in [0,1), or raw bits */, BODY_ROW /* the result of an earlier reduction of the same group */ } BodyKind;

typedef struct Body Body;
struct Body {
    BodyKind kind;
    int id;                         /* order of creation in its builder */
    DType type;                     /* compute type: F32, F64, I64, BOOL */
    /* LOAD */
    int buffer;                     /* index in the builder's table of buffers */
    Dim index;                      /* linear element index into the buffer's storage (strides and offset applied) */
    DType stored;                   /* dtype in memory */
    /* CONST */
    double value; int64_t integer;
    /* INDEX: `index`; RANDOM: `index` is the counter, `integer` the number of the draw */
    /* PRIM, CAST */
    Prim prim;
    const Body *args[3];
    bool rounded;                   /* CAST: value is rounded to `stored` and widened again (a real 16-bit result) */
    int node_id;                    /* graph node that it computes for; -1 */
};

typedef struct BodyBuilder BodyBuilder;

SymTable *body_syms(BodyBuilder *builder);
const Body *body_load(BodyBuilder *builder, const Arg *tensor, const Dim *index);        /* tensor: ARG_TENSOR, or a number (then a CONST) */
const Body *body_float(BodyBuilder *builder, DType type, double value);
const Body *body_int(BodyBuilder *builder, DType type, int64_t value);                   /* type may be a float: converted */
const Body *body_of_index(BodyBuilder *builder, Dim index);                              /* i64 */
const Body *body_prim(BodyBuilder *builder, Prim prim, const Body *a, const Body *b, const Body *c); /* casts operands to a common compute type first */
const Body *body_cast(BodyBuilder *builder, const Body *value, DType to);                /* to a dtype: computes in its compute type; narrow ints wrap, 16-bit floats round only where the policy says */
const Body *body_scalar(BodyBuilder *builder, const ScalarExpr *expr, const Body *const *inputs, int count);
/* An integer value used as an index: a SYM_LOADED variable in [low, high]; negative values wrap once by `size` when wrap_negative. */
Dim body_as_index(BodyBuilder *builder, const Body *value, Dim size, bool wrap_negative);
const Body *body_random(BodyBuilder *builder, int draw, Dim counter);                     /* f32 uniform [0, 1) from Philox */

/* A reduction as the family states it. Input index of output index `o` and reduced index `r` is built by reduction_value. */
typedef enum Reducer { REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL, REDUCE_ARGMAX, REDUCE_ARGMIN } Reducer;
typedef struct Reduction {
    Reducer reducer;
    int rank;                       /* of the input */
    bool reduced[MAX_RANK];         /* which input dims are reduced */
    bool keepdim;
    DType compute;                  /* accumulation type: F32, F64, I64, BOOL */
} Reduction;
#endif
