/* Reduce: sum, max, any … over some dims: shapes and dtypes, and the reduction as the compiler sees it.
 *
 * In: a row whose `shared` names the reducer; dim= (None, an int, a list), keepdim=, dtype=. Out: metas; a Reduction.
 *
 *     sum(f16[3, 4], dim=1) -> f16[3];   max(f32[3, 4], dim=0) -> f32[4] and i64[4];   mean(f32[3, 4]) -> f32[]
 *
 * Invariant: outputs are contiguous. To add one: a row, its word in `words`, its fold in fold.c. */
#include "op/reduce.h"
#include <string.h>

static const struct { const char *word; Reducer reducer; } words[] = {
    {"sum", REDUCE_SUM}, {"mean", REDUCE_SUM}, {"prod", REDUCE_PROD}, {"max", REDUCE_MAX}, {"min", REDUCE_MIN},
    {"any", REDUCE_ANY}, {"all", REDUCE_ALL}, {"argmax", REDUCE_ARGMAX}, {"argmin", REDUCE_ARGMIN},
};

static DType compute_of(const Op *op, const Arg *args, Reducer reducer) {
    DType input = arg_meta(&args[0])->dtype;
    if (reducer == REDUCE_ANY || reducer == REDUCE_ALL) return DTYPE_BOOL;
    if (reducer == REDUCE_SUM || reducer == REDUCE_PROD) {
        DType compute = dtype_info[read_dtype(op, args, input)].compute;
        return compute == DTYPE_BOOL ? DTYPE_I64 : compute;
    }
    return dtype_info[input].compute;
}

bool reduce_read(const Op *op, const Arg *args, Reduce *reduce, OpError *error) {
    bool all;
    const Meta *input = arg_meta(&args[0]);
    memset(reduce, 0, sizeof *reduce);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, op->shared) == 0) reduce->reducer = words[i].reducer;
    reduce->mean = strcmp(op->shared, "mean") == 0;
    reduce->compute = compute_of(op, args, reduce->reducer);
    reduce->keepdim = arg_truth(op_arg(op, args, "keepdim"), false);
    return read_dims(op, args, "dim", input->rank, reduce->marks, &all, error);
}

static DType result_dtype(const Op *op, const Arg *args, Reducer reducer) {
    DType input = arg_meta(&args[0])->dtype;
    switch (reducer) {
    case REDUCE_SUM: case REDUCE_PROD: return read_dtype(op, args, dtype_is_float(input) ? input : DTYPE_I64);
    case REDUCE_ANY: case REDUCE_ALL: return input == DTYPE_U8 ? DTYPE_U8 : DTYPE_BOOL;
    case REDUCE_ARGMAX: case REDUCE_ARGMIN: return DTYPE_I64;
    default: return input;
    }
}

/* Reducers without a neutral element need something to reduce. */
static bool check_empty(const Op *op, const Arg *args, const Reduce *reduce, OpError *error) {
    const Meta *input = arg_meta(&args[0]);
    if (reduce->reducer == REDUCE_SUM || reduce->reducer == REDUCE_PROD || reduce->reducer == REDUCE_ANY || reduce->reducer == REDUCE_ALL) return true;
    bool all = op_arg(op, args, "dim")->tag == ARG_NONE;
    for (int i = 0; i < input->rank; i++) {
        if (!dim_same(input->sizes[i], 0)) continue;
        if (all) return op_error(error, strncmp(op->name, "arg", 3) == 0 ? ERROR_INDEX : ERROR_RUNTIME, "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.", op->name);
        if (reduce->marks[i]) return op_error(error, ERROR_INDEX, "%s(): Expected reduction dim %d to have non-zero size.", op->name, i);
    }
    return true;
}

static bool check_mean(const Op *op, const Arg *args, OpError *error) {
    static const char *const scalar_names[] = {"Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double"};
    DType dtype = read_dtype(op, args, arg_meta(&args[0])->dtype);
    if (dtype_is_float(dtype)) return true;
    return op_error(error, ERROR_RUNTIME, "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: %s", scalar_names[dtype]);
}

static bool reduce_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    Reduce reduce;
    if (!need_tensor(op, args, 0, error)) return false;
    if (reduce_is_binary(op, args)) return pointwise_infer(op->binary_op, args, nargs, outs, count, context, error);
    if (!reduce_read(op, args, &reduce, error) || !check_empty(op, args, &reduce, error)) return false;
    if (reduce.mean && !check_mean(op, args, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    Meta out = {.dtype = result_dtype(op, args, reduce.reducer), .device = input->device};
    for (int i = 0; i < input->rank; i++)
        if (!reduce.marks[i] || reduce.keepdim) out.sizes[out.rank++] = reduce.marks[i] ? 1 : input->sizes[i];
    meta_set_contiguous(&out, context->syms);
    outs[0] = out;
    *count = 1;
    if (op->outputs != 0 || op_arg(op, args, "dim")->tag == ARG_NONE) return true;
    outs[1] = out;
    outs[1].dtype = DTYPE_I64;
    *count = 2;
    return true;
}

/* What is reduced, at an index of the *input*. */
static const Body *reduce_value_at(BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index) {
    Reduce reduce;
    if (reduce_is_binary(op, args)) return op->binary_op->family_ops->value_at(builder, op->binary_op, args, nargs, outs, which, index);
    if (!reduce_read(op, args, &reduce, NULL) || reduce.mean) return NULL;
    const Body *value = body_load(builder, &args[0], index);
    const Arg *dtype = op_arg(op, args, "dtype");
    if (dtype->tag == ARG_DTYPE) value = body_cast(builder, value, dtype->dtype);
    return body_cast(builder, value, reduce.compute);
}

static bool reduce_reduction(const Op *op, const Arg *args, int nargs, Reduction *reduction) {
    Reduce reduce;
    (void)nargs;
    if (reduce_is_binary(op, args) || !reduce_read(op, args, &reduce, NULL) || reduce.mean) return false;
    *reduction = (Reduction){.reducer = reduce.reducer, .rank = arg_meta(&args[0])->rank, .keepdim = reduce.keepdim, .compute = reduce.compute};
    memcpy(reduction->reduced, reduce.marks, sizeof reduce.marks);
    return true;
}

const FamilyOps reduce_family = {.infer = reduce_infer, .run_cpu = reduce_run, .value_at = reduce_value_at, .reduction = reduce_reduction};
