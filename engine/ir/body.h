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
struct BodyBuilder {
    Arena *arena; SymTable *syms;
    /* What a tensor argument is at an index: lowering's answer to body_load. */
    const Body *(*resolve)(BodyBuilder *builder, const Arg *tensor, const Dim *index);
    void *state;
    const struct Map *scalars;      /* Compile.scalars, or NULL */
    bool round16;                   /* policy emulate_precision_casts: body_cast to a 16-bit float rounds */
    int node_id, draw;              /* given to what is made now: the graph node, and its draw of random numbers */
    Body **slots; int capacity, count; /* hash-cons table */
    struct Map *indices;            /* value -> the SYM_LOADED variables made of it */
};
BodyBuilder *body_builder_new(Arena *arena, SymTable *syms);

SymTable *body_syms(BodyBuilder *builder);
const Body *body_load(BodyBuilder *builder, const Arg *tensor, const Dim *index);        /* tensor: ARG_TENSOR, or a number (then a CONST) */
const Body *body_float(BodyBuilder *builder, DType type, double value);
const Body *body_int(BodyBuilder *builder, DType type, int64_t value);                   /* type may be a float: converted */
const Body *body_of_index(BodyBuilder *builder, Dim index);                              /* i64; f64 for a SYM_FLOAT variable */
/* The variable that stands for this number of an op (Compile.scalars), as a value; NULL: it is a constant. */
const Body *body_given(BodyBuilder *builder, const Arg *number);
const Body *body_prim(BodyBuilder *builder, Prim prim, const Body *a, const Body *b, const Body *c); /* casts operands to a common compute type first */
const Body *body_cast(BodyBuilder *builder, const Body *value, DType to);                /* to a dtype: computes in its compute type; narrow ints wrap, 16-bit floats round only where the policy says */
const Body *body_scalar(BodyBuilder *builder, const ScalarExpr *expr, const Body *const *inputs, int count);
/* An integer value used as an index: a SYM_LOADED variable in [low, high]; negative values wrap once by `size` when wrap_negative. */
Dim body_as_index(BodyBuilder *builder, const Body *value, Dim size, bool wrap_negative);
const Body *body_random(BodyBuilder *builder, int draw, Dim counter);                     /* f32 uniform [0, 1) from Philox; draw -1: that of the node being lowered */

/* A load of buffer's element `index` (linear), and the value of reduction number `reduction` of the same group. */
const Body *body_load_buffer(BodyBuilder *builder, int buffer, Dim index, DType stored);
const Body *body_row(BodyBuilder *builder, DType type, int reduction);
/* Rebuilds a value of another builder (or this one) in `builder`: axes from[i] become to[i]; load(…) may give another value for a load (its index
 * already moved), or NULL to keep it; row likewise for BODY_ROW. memo: from old to new values; must be a fresh map for each different substitution. */
typedef struct BodyMove {
    BodyBuilder *builder;
    const Dim *from, *to; int count;
    const Body *(*load)(struct BodyMove *move, const Body *load, Dim index);
    const Body *(*row)(struct BodyMove *move, const Body *row);
    void *state;
    struct Map *memo;
} BodyMove;
const Body *body_move(BodyMove *move, const Body *value);
Dim body_move_index(BodyMove *move, Dim index);
/* Visits every value below `value` once (operands first), those that yield SYM_LOADED indices too. */
void body_each(const Body *value, void (*visit)(const Body *value, void *state), void *state);
void body_print(Text *text, const Body *value, const char *(*buffer_name)(int buffer, void *state), void *state);

/* A reduction as the family states it. Input index of output index `o` and reduced index `r` is built by reduction_value. */
typedef enum Reducer { REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL, REDUCE_ARGMAX, REDUCE_ARGMIN } Reducer;
typedef struct Reduction {
    Reducer reducer;
    int rank;                       /* of the input */
    bool reduced[MAX_RANK];         /* which input dims are reduced */
    bool keepdim;
    DType compute;                  /* accumulation type: F32, F64, I64, BOOL */
} Reduction;
const char *reducer_name(Reducer reducer);               /* "sum" … */
static inline bool reducer_is_arg(Reducer r) { return r == REDUCE_ARGMAX || r == REDUCE_ARGMIN; }
#endif
