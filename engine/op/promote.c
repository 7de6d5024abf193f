/* Promotion: in which dtype the operands of a pointwise op meet.
 *
 * In: tensors, zero-dim tensors and Python numbers. Out: PyTorch's result_type: a higher category wins (bool < int < float), and within a category
 * tensors with dims outrank zero-dim tensors, which outrank Python numbers.
 *
 *     int64 tensor + 2.5 -> the default float;   float16 tensor + float64 zero-dim tensor -> float16
 *
 * Invariant: arguments that are None or no operands have no say. */
#include "op/family.h"
#include "op/scalar_row.h"

typedef struct Ranks { DType with_dims, zero_dim, number; } Ranks; /* DTYPE_NONE: none seen */

static DType promote_seen(DType a, DType b) { return a == DTYPE_NONE ? b : b == DTYPE_NONE ? a : dtype_promote(a, b); }

static DType number_dtype(const Arg *arg, DType default_dtype) {
    return arg->tag == ARG_BOOL ? DTYPE_BOOL : arg->tag == ARG_INT ? DTYPE_I64 : default_dtype;
}

static void see(Ranks *ranks, const Arg *arg, DType default_dtype) {
    if (arg_is_tensor(arg)) {
        DType *rank = arg_meta(arg)->rank > 0 ? &ranks->with_dims : &ranks->zero_dim;
        *rank = promote_seen(*rank, arg_meta(arg)->dtype);
    } else if (arg_is_number(arg)) {
        ranks->number = promote_seen(ranks->number, number_dtype(arg, default_dtype));
    }
}

static DType combine(DType higher, DType lower) {
    if (higher == DTYPE_NONE) return lower;
    if (lower == DTYPE_NONE || dtype_is_float(higher)) return higher;
    if (higher == DTYPE_BOOL || dtype_is_float(lower)) return dtype_promote(higher, lower);
    return higher;
}

static DType combine_all(const Ranks *ranks) { return combine(ranks->with_dims, combine(ranks->zero_dim, ranks->number)); }

DType op_result_type(const Arg *args, int count, DType default_dtype) {
    Ranks ranks = {DTYPE_NONE, DTYPE_NONE, DTYPE_NONE};
    for (int i = 0; i < count; i++) see(&ranks, &args[i], default_dtype);
    DType type = combine_all(&ranks);
    return type == DTYPE_NONE ? default_dtype : type;
}

DType pointwise_common_type(const Op *op, const Arg *args, DType default_dtype) {
    Ranks ranks = {DTYPE_NONE, DTYPE_NONE, DTYPE_NONE};
    int count = op->result_like_first ? 1 : op->tensor_inputs;
    for (int i = 0; i < count; i++)
        if (i != op->bool_operand) see(&ranks, &args[i], default_dtype);
    DType type = combine_all(&ranks);
    if (type == DTYPE_NONE) type = default_dtype;
    if (dtype_is_float(type) || !op_has(op, TRAIT_FLOAT_RESULT)) return type;
    const ScalarVariant *variant = op_scalar(op, args);
    return !variant || scalar_row_promotes(op, variant) ? default_dtype : type;
}

DType op_meeting_type(const Op *op, const Arg *args, DType default_dtype) { return pointwise_common_type(op, args, default_dtype); }
