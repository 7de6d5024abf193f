/* Pointwise: one output element from the elements of the operands at the same place.
 *
 * In: a row with a scalar meaning, operands that broadcast. Out: shape, dtype and layout of the result; its value at an index for the compiler.
 * (Eager loops: pointwise_run.c.)
 *
 *     relu of f16[3, 4] -> f16[3, 4];   add of i64[3] and 2.5 -> f32[3];   lt of f32[2, 1] and f32[3] -> b8[2, 3]
 *
 * Invariant: all operands but a condition are cast to one dtype (pointwise_common_type), in whose compute type the row's expression is evaluated;
 * the result is cast to the output's dtype. To add an op: a row in ops.def. */
#include "ir/body.h"
#include "op/family.h"
#include "op/scalar_row.h"
#include <math.h>
#include <string.h>

static bool some_tensor(const Op *op, const Arg *args, OpError *error) {
    for (int i = 0; i < op->tensor_inputs; i++)
        if (arg_is_tensor(&args[i])) return true;
    return need_tensor(op, args, 0, error);
}

static bool check_operands(const Op *op, const Arg *args, OpError *error) {
    for (int i = 0; i < op->tensor_inputs; i++) {
        bool optional = i < op->signature->count && op->signature->has_default[i];
        if (arg_is_tensor(&args[i]) || arg_is_number(&args[i]) || (optional && args[i].tag == ARG_NONE)) continue;
        return op_error(error, ERROR_TYPE, "%s(): argument '%s' (position %d) must be Tensor or Number", op->name, op_param(op, i), i + 1);
    }
    return some_tensor(op, args, error);
}

/* A float that stands for an integer: may it be cast? */
static bool fits_integer(DType dtype, double value) {
    static const double highest[] = {[DTYPE_BOOL] = HUGE_VAL, [DTYPE_U8] = 255, [DTYPE_I8] = 127, [DTYPE_I16] = 32767, [DTYPE_I32] = 2147483647.0, [DTYPE_I64] = 0x1p63};
    double lowest = dtype == DTYPE_U8 ? 0 : dtype == DTYPE_BOOL ? -HUGE_VAL : -highest[dtype] - 1;
    return value >= lowest && value <= highest[dtype];
}

/* Does the row's meaning exist for this dtype (sigmoid of integers does, after promotion; minus of booleans does not)? */
static bool check_meaning(const Op *op, const Arg *args, DType common, OpError *error) {
    const ScalarVariant *variant = op_scalar(op, args);
    if (!variant) return op_error(error, ERROR_RUNTIME, "%s(): no meaning for these arguments", op->name);
    bool integral = !dtype_is_float(common), used[20] = {0};
    scalar_row_uses(variant->expr, used);
    for (int i = op->tensor_inputs; i < op->nparams && integral; i++)
        if (used[i] && op->tensor_inputs > 1 && strcmp(op_param(op, i), "alpha") == 0 && args[i].tag == ARG_FLOAT && args[i].f != floor(args[i].f))
            return op_error(error, ERROR_RUNTIME, "For integral input tensors, argument %s must not be a floating point number. (in %s)", op_param(op, i), op->name);
    for (int i = 0; i < op->nparams && integral; i++)
        if (used[i] && args[i].tag == ARG_FLOAT && !fits_integer(common, args[i].f))
            return op_error(error, ERROR_RUNTIME, "value cannot be converted to type %s without overflow", dtype_info[common].name);
    if (scalar_row_defined(op, variant, dtype_info[common].compute)) return op_takes_dtypes(op, args, common, error);
    if (common == DTYPE_BOOL && op->tensor_inputs == 2 && strcmp(op->name, "sub") == 0)
        return op_error(error, ERROR_RUNTIME, "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
    if (common == DTYPE_BOOL && strcmp(op->name, "neg") == 0)
        return op_error(error, ERROR_RUNTIME, "Negation, the `-` operator, on a bool tensor is not supported. Use the `~` or `logical_not()` operator instead.");
    return op_error_dtype(error, op->name, common);
}

/* PyTorch refuses integers to negative integer powers, and integer division by zero where it would trap: those are checked when run. */
static bool check_power(const Op *op, const Arg *args, DType common, OpError *error) {
    if (op->tensor_inputs != 2 || strcmp(op->name, "pow") != 0 || dtype_is_float(common)) return true;
    if (args[1].tag == ARG_INT && dim_is_int(args[1].i) && args[1].i < 0)
        return op_error(error, ERROR_RUNTIME, "Integers to negative integer powers are not allowed.");
    return true;
}

static int tensor_metas(const Op *op, const Arg *args, const Meta **metas) {
    int count = 0;
    for (int i = 0; i < op->tensor_inputs; i++)
        if (arg_is_tensor(&args[i])) metas[count++] = arg_meta(&args[i]);
    return count;
}

static void choose_layout(const Op *op, const Arg *args, Meta *out, SymTable *syms) {
    const Meta *metas[8];
    const Arg *format = op_arg(op, args, "memory_format");
    bool dense = op->shared && strstr(op->shared, "dense");
    if (dense || (format->tag == ARG_STR && strstr(format->s, "contiguous"))) meta_set_contiguous(out, syms);
    else if (format->tag == ARG_STR && strstr(format->s, "channels_last") && out->rank == 4) {
        static const int order[] = {1, 3, 2, 0};
        Dim stride = 1;
        for (int i = 0; i < 4; i++) {
            out->strides[order[i]] = stride;
            stride = dim_times(syms, stride, out->sizes[order[i]]);
        }
    } else layout_pointwise(out, metas, tensor_metas(op, args, metas), syms);
}

/* A condition is of bools (or, as PyTorch still takes it for where, of bytes): numbers there are most often a forgotten comparison. */
static bool check_condition(const Op *op, const Arg *args, OpError *error) {
    int at = op->bool_operand;
    if (at < 0 || !op_has(op, TRAIT_FUNCTION) || !arg_is_tensor(&args[at])) return true;
    DType dtype = arg_meta(&args[at])->dtype;
    if (dtype == DTYPE_BOOL || (dtype == DTYPE_U8 && strcmp(op->name, "where") == 0)) return true;
    return op_error(error, ERROR_RUNTIME, "%s(): '%s' must be a boolean tensor, but got dtype %s", op->name, op_param(op, at), dtype_info[dtype].name);
}

bool pointwise_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)nargs;
    if (!check_operands(op, args, error) || !check_condition(op, args, error)) return false;
    DType common = pointwise_common_type(op, args, context->default_dtype);
    Meta out = {.dtype = op_has(op, TRAIT_BOOL_RESULT) ? DTYPE_BOOL : common, .device = context->default_device};
    out.dtype = read_dtype(op, args, out.dtype);
    if (!broadcast_args(op, args, op->tensor_inputs, &out, error) || !common_device(op, args, op->tensor_inputs, &out.device, error)) return false;
    if (!check_meaning(op, args, common, error) || !check_power(op, args, common, error)) return false;
    out.device = read_device(op, args, out.device);
    choose_layout(op, args, &out, context->syms);
    outs[0] = out;
    *count = 1;
    return true;
}

/* ---- the value at an index ---- */

static const Body *load_broadcast(BodyBuilder *builder, const Arg *tensor, const Meta *out, const Dim *index) {
    const Meta *meta = arg_meta(tensor);
    Dim at[MAX_RANK];
    for (int i = 0; i < meta->rank; i++) at[i] = meta->sizes[i] == 1 ? 0 : index[i + out->rank - meta->rank];
    return body_load(builder, tensor, at);
}

static const Body *number_body(BodyBuilder *builder, const Arg *arg, DType compute) {
    const Body *given = body_given(builder, arg);
    if (given) return body_cast(builder, given, compute);
    if (arg->tag == ARG_INT && !dim_is_int(arg->i)) return body_cast(builder, body_of_index(builder, arg->i), compute);
    if (arg->tag == ARG_FLOAT && (compute == DTYPE_F32 || compute == DTYPE_F64)) return body_float(builder, compute, arg->f);
    if (arg->tag == ARG_FLOAT) return body_int(builder, compute, arg_as_int(arg));
    return body_int(builder, compute, arg_as_int(arg));
}

static const Body *parameter_body(BodyBuilder *builder, const Op *op, const Arg *args, int i, DType common, const Meta *out, const Dim *index) {
    DType type = i == op->bool_operand ? DTYPE_BOOL : common;
    if (i < op->tensor_inputs && arg_is_tensor(&args[i])) {
        const Body *value = load_broadcast(builder, &args[i], out, index);
        bool former = builder->round16;
        builder->round16 |= op_has(op, TRAIT_BOOL_RESULT); /* a comparison sees what eager sees: a 16-bit maximum is found among 16-bit values */
        const Body *cast = body_cast(builder, value, type);
        builder->round16 = former;
        return cast;
    }
    if (i < op->tensor_inputs && args[i].tag == ARG_INT && dtype_info[type].compute == DTYPE_I64) { /* a number wraps as the operand it stands for */
        const Body *given = body_given(builder, &args[i]);
        if (given) return body_cast(builder, given, type);
        if (dim_is_int(args[i].i)) return body_int(builder, DTYPE_I64, dtype_wrap(type, args[i].i));
    }
    if (arg_is_number(&args[i])) return number_body(builder, &args[i], dtype_info[type].compute);
    return body_int(builder, dtype_info[type].compute, 0); /* None, or a word: no expression reads it, or it means 0 */
}

int64_t dtype_wrap(DType dtype, int64_t value) {
    switch (dtype) {
    case DTYPE_U8: return (uint8_t)value;
    case DTYPE_I8: return (int8_t)value;
    case DTYPE_I16: return (int16_t)value;
    case DTYPE_I32: return (int32_t)value;
    default: return value;
    }
}

double dtype_limit(DType dtype, bool low) {
    static const double highest[] = {[DTYPE_F16] = 65504.0, [DTYPE_BF16] = 0x1.fep127, [DTYPE_F32] = 0x1.fffffep127, [DTYPE_F64] = 0x1.fffffffffffffp1023};
    if (!dtype_is_float(dtype)) return 0;
    return low ? -highest[dtype] : highest[dtype];
}

static const Body *pointwise_value_at(BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index) {
    const Body *inputs[18];
    const ScalarVariant *variant = op_scalar(op, args);
    if (!variant || nargs + 2 > 18) return NULL;
    const Meta *out = &outs[which];
    DType common = pointwise_common_type(op, args, dtype_is_float(out->dtype) ? out->dtype : DTYPE_F32), compute = dtype_info[common].compute;
    bool used[18] = {0};
    scalar_row_uses(variant->expr, used);
    for (int i = 0; i < op->nparams; i++) inputs[i] = used[i] ? parameter_body(builder, op, args, i, common, out, index) : NULL;
    inputs[op->nparams] = body_float(builder, compute, dtype_limit(common, false));
    inputs[op->nparams + 1] = body_float(builder, compute, dtype_limit(common, true));
    return body_cast(builder, body_scalar(builder, variant->expr, inputs, op->nparams + 2), out->dtype);
}

const FamilyOps pointwise_family = {.infer = pointwise_infer, .run_cpu = pointwise_run_family, .value_at = pointwise_value_at};
