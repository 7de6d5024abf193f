/* Mutate: in-place ops. Each is the twin of a functional op, whose value it writes into its first argument.
 *
 * In: the twin's arguments. Out: args[0] changed; as meta, args[0]'s.
 *
 *     add_(x, y)   is   x.copy_(add(x, y))   with the shape and dtype of x
 *
 * Pointwise twins write while they compute; the others compute into a temporary and copy. Invariant: nothing is written when an error is reported.
 * To add one: TWIN in the functional row's traits, or a MUTATE row that names its `functional`. */
#include "ir/body.h"
#include "op/family.h"
#include "op/scalar_row.h"
#include "op/walk.h"
#include <stdlib.h>
#include <string.h>

static bool check_cast(const Op *op, DType from, DType to, OpError *error) {
    (void)op;
    if (dtype_info[from].category <= dtype_info[to].category) return true;
    static const char *const scalar_names[] = {"Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double"};
    return op_error(error, ERROR_RUNTIME, "result type %s can't be cast to the desired output type %s", scalar_names[from], scalar_names[to]);
}

bool op_writes_one_value(const Op *op, const Arg *args) {
    bool used[20] = {0};
    const ScalarVariant *variant = op->functional_op && op->functional_op->family == FAMILY_POINTWISE ? op_scalar(op->functional_op, args) : NULL;
    if (!variant) return false;
    scalar_row_uses(variant->expr, used);
    for (int i = 0; i < op->nparams; i++)
        if (used[i] && tensor_rank(&args[i]) > 0) return false;
    return true;
}

/* Expanded memory cannot be written element by element. */
static bool check_target(const Op *op, const Arg *args, OpError *error) {
    const Meta *target = arg_meta(&args[0]);
    if (op_writes_one_value(op, args)) return true;
    for (int i = 0; i < target->rank; i++)
        if (target->strides[i] == 0 && target->sizes[i] != 1 && target->sizes[i] != 0)
            return op_error(error, ERROR_RUNTIME, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
                            "Please clone() the tensor before performing the operation. (in %s)", op->name);
    return true;
}

static bool result_meta(const Op *op, const Arg *args, int nargs, Meta *result, const OpContext *context, OpError *error) {
    Meta outs[4];
    int count = 4;
    const Op *functional = op->functional_op;
    if (!functional->family_ops->infer(functional, args, nargs, outs, &count, context, error)) return false;
    *result = outs[0];
    return true;
}

/* A cast that cannot be is what PyTorch sees first, before it looks for a kernel. */
static bool check_common(const Op *op, const Arg *args, const OpContext *context, OpError *error) {
    const Op *row = op->functional_op;
    if (row->family != FAMILY_POINTWISE || row->result_like_first || op_has(row, TRAIT_BOOL_RESULT)) return true;
    return check_cast(op, pointwise_common_type(row, args, context->default_dtype), arg_meta(&args[0])->dtype, error);
}

static bool mutate_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    Meta result;
    if (!need_tensor(op, args, 0, error) || !check_common(op, args, context, error) || !result_meta(op, args, nargs, &result, context, error)) return false;
    const Meta *target = arg_meta(&args[0]);
    if (!meta_same_shape(&result, target)) {
        char have[128], want[128];
        shape_text(target, have, sizeof have);
        shape_text(&result, want, sizeof want);
        return op_error(error, ERROR_RUNTIME, "output with shape %s doesn't match the broadcast shape %s", have, want);
    }
    if (!op->functional_op->result_like_first && !check_cast(op, result.dtype, target->dtype, error)) return false;
    if (!check_target(op, args, error)) return false;
    outs[0] = *target;
    *count = 1;
    return true;
}

/* Do two dense tensors share some memory, but not lie exactly over each other? */
static bool overlap_partly(const Arg *a, const Arg *b) {
    const Meta *x = arg_meta(a), *y = arg_meta(b);
    if (!a->tensor.data || a->tensor.data != b->tensor.data || !meta_is_static(x) || !meta_is_static(y)) return false;
    if (!meta_is_dense(x) || !meta_is_dense(y)) return false; /* as PyTorch: other layouts are not looked into */
    if (x->offset == y->offset && meta_equal(x, y)) return false;
    int64_t x_start = x->offset * dtype_size(x->dtype), x_end = x_start + meta_bytes(x), y_start = y->offset * dtype_size(y->dtype), y_end = y_start + meta_bytes(y);
    return x_start < y_end && y_start < x_end;
}

static bool check_overlap(const Op *op, const Arg *args, OpError *error) {
    for (int i = 1; i < op->functional_op->tensor_inputs; i++)
        if (arg_is_tensor(&args[i]) && overlap_partly(&args[0], &args[i]))
            return op_error(error, ERROR_RUNTIME, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
                            "Please clone() the tensor before performing the operation. (in %s)", op->name);
    return true;
}

/* Operands in the target's memory, but read in another order than it is written, are copied first. */
static bool reads_target_crosswise(const Op *op, const Arg *args) {
    for (int i = 1; i < op->functional_op->tensor_inputs; i++)
        if (arg_is_tensor(&args[i]) && args[i].tensor.data && args[i].tensor.data == args[0].tensor.data && !(meta_equal(arg_meta(&args[i]), arg_meta(&args[0])) && arg_meta(&args[i])->offset == arg_meta(&args[0])->offset))
            return true;
    return false;
}

static bool run_through_temporary(const Op *op, const Arg *args, int nargs, const OpContext *context, OpError *error) {
    Meta result;
    if (!result_meta(op, args, nargs, &result, context, error)) return false;
    size_t bytes = (size_t)meta_bytes(&result);
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) return op_error(error, ERROR_MEMORY, "%s(): no memory for %zu bytes", op->name, bytes);
    Arg out = arg_tensor(&result, memory, NULL);
    bool ok = op->functional_op->family_ops->run_cpu(op->functional_op, args, nargs, &out, 1, context, error);
    if (ok) copy_elements(arg_meta(&args[0]), args[0].tensor.data, &result, memory, context->threads);
    free(memory);
    return ok;
}

static bool mutate_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)outs, (void)nouts;
    if (op->functional_op->family == FAMILY_POINTWISE) {
        if (!check_overlap(op, args, error)) return false;
        if (!reads_target_crosswise(op, args)) return pointwise_run(op->functional_op, args, nargs, &args[0], context, error);
    }
    return run_through_temporary(op, args, nargs, context, error);
}

static const struct Body *mutate_value_at(struct BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index) {
    const FamilyOps *functional = op->functional_op->family_ops;
    return functional->value_at ? functional->value_at(builder, op->functional_op, args, nargs, outs, which, index) : NULL;
}

const FamilyOps mutate_family = {.infer = mutate_infer, .run_cpu = mutate_run, .value_at = mutate_value_at};
