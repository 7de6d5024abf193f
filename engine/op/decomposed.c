/* Decomposed and composite: rows whose body is in the language. What is here: the metas of a decomposed row's outputs.
 *
 * In: arguments; the row's `shared` word:
 *   first          one output like the first argument (softmax)
 *   inputs 1 5 6   outputs like those arguments (a None argument gives an output of no elements)
 *   reduce         as a reduction over `dim`
 *   half           like the first, `dim` half as long (glu)
 *   square         like the first, square matrices; determinant: without its last two dims
 *   layer_norm, group_norm, batch_norm, nll_loss, loss
 *   and the words of windows.c: convolution, pool 2 …
 * Invariant: metas are those that running the body would give. */
#include "op/family.h"
#include "op/rowwise.h"
#include "op/windows.h"
#include <stdlib.h>
#include <string.h>

static Meta contiguous_like(const Meta *like, SymTable *syms) {
    Meta meta = *like;
    meta.offset = 0;
    meta_set_contiguous(&meta, syms);
    return meta;
}

static Meta preserved_like(const Meta *like, SymTable *syms) {
    Meta meta = *like;
    meta.offset = 0;
    meta_preserve_strides(&meta, like, syms);
    return meta;
}

static Meta empty_like(const Meta *like) { return meta_new(like->dtype, like->device, 1, (Dim[]){0}); }

static bool infer_first(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    int dim;
    if (!need_tensor(op, args, 0, error)) return false;
    bool forward = op_param_index(op, "half_to_float") >= 0; /* contiguous, as PyTorch's */
    outs[0] = forward ? contiguous_like(arg_meta(&args[0]), context->syms) : preserved_like(arg_meta(&args[0]), context->syms);
    if (!read_dim(op, args, "dim", outs[0].rank, &dim, error)) return false;
    const Arg *input_dtype = op_arg(op, args, "input_dtype");
    if (input_dtype->tag == ARG_DTYPE) outs[0].dtype = input_dtype->dtype;
    if (arg_truth(op_arg(op, args, "half_to_float"), false)) outs[0].dtype = DTYPE_F32;
    if (dtype_is_float(outs[0].dtype)) return true;
    return op_error_dtype(error, op->name, outs[0].dtype);
}

static bool infer_inputs(const Op *op, const Arg *args, Meta *outs, int *count, const OpContext *context, OpError *error) {
    const char *at = op->shared + strlen("inputs");
    const Meta *main_input = arg_meta(&args[1]);
    for (*count = 0; *at; (*count)++) {
        char *end;
        long which = strtol(at, &end, 10);
        at = end;
        if (*count == 0 && !need_tensor(op, args, (int)which, error)) return false;
        if (arg_is_tensor(&args[which])) outs[*count] = preserved_like(arg_meta(&args[which]), context->syms);
        else outs[*count] = empty_like(main_input);
    }
    return true;
}

static bool infer_reduce(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    bool marks[MAX_RANK], all, keep = arg_truth(op_arg(op, args, "keepdim"), false);
    if (!need_tensor(op, args, 0, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    if (!read_dims(op, args, "dim", input->rank, marks, &all, error)) return false;
    DType dtype = read_dtype(op, args, op_has(op, TRAIT_FLOAT_RESULT) && !dtype_is_float(input->dtype) ? context->default_dtype : input->dtype);
    if (!dtype_is_float(dtype)) return op_error(error, ERROR_RUNTIME, "%s and related ops only support floating point and complex dtypes", op->name);
    Meta out = {.dtype = dtype, .device = input->device};
    for (int i = 0; i < input->rank; i++)
        if (!marks[i] || keep) out.sizes[out.rank++] = marks[i] ? 1 : input->sizes[i];
    meta_set_contiguous(&out, context->syms);
    for (int i = 0; i < op->outputs; i++) outs[i] = out;
    return true;
}

/* y like x (contiguous); mean and rstd with the normalized dims as 1. */
static bool infer_layer_norm(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    Dim shape[MAX_RANK];
    int count;
    if (!need_tensor(op, args, 0, error) || !read_sizes(op, &args[1], shape, &count, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    bool fits = count >= 1 && count <= input->rank;
    for (int i = 0; fits && i < count; i++) fits = dim_same(input->sizes[input->rank - count + i], shape[i]);
    if (!fits) {
        char have[128];
        shape_text(input, have, sizeof have);
        return op_error(error, ERROR_RUNTIME, "layer_norm: the input's shape %s does not end in the normalized shape (%d dims given)", have, count);
    }
    outs[0] = contiguous_like(input, context->syms);
    Meta statistics = outs[0];
    if (input->device.kind == DEVICE_CUDA && dtype_info[input->dtype].size == 2) statistics.dtype = DTYPE_F32;
    for (int i = input->rank - count; i < input->rank; i++) statistics.sizes[i] = 1;
    meta_set_contiguous(&statistics, context->syms);
    outs[1] = outs[2] = statistics;
    return true;
}

static bool infer_group_norm(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    if (!need_tensor(op, args, 0, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    outs[0] = contiguous_like(input, context->syms);
    Dim sizes[2];
    if (!read_integer(op, args, "N", &sizes[0], error) || !read_integer(op, args, "group", &sizes[1], error)) return false;
    if (dim_is(SYM_LT, sizes[0], 0) || dim_is(SYM_LT, sizes[1], 1)) return op_error(error, ERROR_RUNTIME, "%s(): Expected at least one group, and no negative batch", op->name);
    Meta statistics = {.dtype = input->dtype, .device = input->device, .rank = 2, .sizes = {sizes[0], sizes[1]}};
    meta_set_contiguous(&statistics, context->syms);
    outs[1] = outs[2] = statistics;
    return true;
}

static bool infer_batch_norm(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    if (!need_tensor(op, args, 0, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    if (input->rank < 2) return op_error(error, ERROR_RUNTIME, "batch_norm: expected an input of at least 2 dims, got %d", input->rank);
    outs[0] = preserved_like(input, context->syms);
    Meta statistics = {.dtype = dtype_size(input->dtype) == 2 ? DTYPE_F32 : input->dtype, .device = input->device, .rank = 1, .sizes = {input->sizes[1]}};
    if (!arg_truth(op_arg(op, args, "training"), false)) statistics.sizes[0] = 0;
    meta_set_contiguous(&statistics, context->syms);
    outs[1] = outs[2] = statistics;
    return true;
}

/* Of rows and classes; "nll_loss 4": of images, whose classes are their channels. */
static bool infer_nll_loss(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    if (!need_tensor(op, args, 0, error) || !need_tensor(op, args, 1, error)) return false;
    const Meta *input = arg_meta(&args[0]), *target = arg_meta(&args[1]);
    bool image = strchr(op->shared, '4') != NULL;
    if (image ? input->rank != 4 : input->rank < 1 || input->rank > 2) return op_error(error, ERROR_RUNTIME, "input tensor should be %s", image ? "4D" : "1D or 2D");
    bool fits = target->rank == input->rank - 1;
    for (int i = 0; fits && i < target->rank; i++) fits = dim_same(target->sizes[i], input->sizes[i == 0 ? 0 : i + 1]);
    if (!fits) {
        char have[128], want[128];
        shape_text(input, have, sizeof have);
        shape_text(target, want, sizeof want);
        return op_error(error, ERROR_VALUE, "size mismatch (got input: %s, target: %s)", have, want);
    }
    Meta scalar = {.dtype = input->dtype, .device = input->device};
    outs[0] = outs[1] = scalar;
    if (arg_as_int(&args[3]) == 0 && input->rank >= 2) {
        outs[0].rank = target->rank;
        memcpy(outs[0].sizes, target->sizes, sizeof outs[0].sizes);
        meta_set_contiguous(&outs[0], context->syms);
    }
    return true;
}

/* reduction 0: none, 1: mean, 2: sum. */
static bool infer_loss(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    if (!need_tensor(op, args, 0, error) || !need_tensor(op, args, 1, error)) return false;
    Meta out = {.dtype = op_result_type(args, 2, context->default_dtype), .device = arg_meta(&args[0])->device};
    if (!broadcast_args(op, args, 2, &out, error)) return false;
    if (arg_as_int(op_arg(op, args, "reduction")) != 0) out.rank = 0;
    meta_set_contiguous(&out, context->syms);
    outs[0] = out;
    return true;
}

static bool infer_half(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    int dim;
    if (!need_tensor(op, args, 0, error)) return false;
    outs[0] = contiguous_like(arg_meta(&args[0]), context->syms);
    if (!read_dim(op, args, "dim", outs[0].rank, &dim, error)) return false;
    if (outs[0].rank == 0) return op_error(error, ERROR_RUNTIME, "glu does not support 0-dimensional tensors");
    if (dim_is_int(outs[0].sizes[dim]) && outs[0].sizes[dim] % 2)
        return op_error(error, ERROR_RUNTIME, "Halving dimension must be even, but dimension %d is size %lld", dim, (long long)outs[0].sizes[dim]);
    outs[0].sizes[dim] = dim_floordiv(context->syms, outs[0].sizes[dim], 2);
    meta_set_contiguous(&outs[0], context->syms);
    return true;
}

static bool infer_square(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    if (!need_tensor(op, args, 0, error)) return false;
    outs[0] = contiguous_like(arg_meta(&args[0]), context->syms);
    int rank = outs[0].rank;
    if (!dtype_is_float(outs[0].dtype)) return op_error(error, ERROR_RUNTIME, "%s: expected a floating point tensor, got %s", op->name, dtype_info[outs[0].dtype].name);
    if (rank < 2) return op_error(error, ERROR_RUNTIME, "%s: the input must have at least 2 dimensions", op->name);
    if (!dim_equal(outs[0].sizes[rank - 1], outs[0].sizes[rank - 2])) {
        char have[128];
        shape_text(&outs[0], have, sizeof have);
        return op_error(error, ERROR_RUNTIME, "%s: the input must be a batch of square matrices, but its shape is %s", op->name, have);
    }
    if (strcmp(op->shared, "determinant") == 0) outs[0].rank -= 2;
    meta_set_contiguous(&outs[0], context->syms);
    return true;
}

static bool decomposed_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)nargs;
    *count = op->outputs;
    if (strcmp(op->shared, "first") == 0) return infer_first(op, args, outs, context, error);
    if (strncmp(op->shared, "inputs", 6) == 0) return infer_inputs(op, args, outs, count, context, error);
    if (strcmp(op->shared, "reduce") == 0) return infer_reduce(op, args, outs, context, error);
    if (strcmp(op->shared, "layer_norm") == 0) return infer_layer_norm(op, args, outs, context, error);
    if (strcmp(op->shared, "group_norm") == 0) return infer_group_norm(op, args, outs, context, error);
    if (strcmp(op->shared, "batch_norm") == 0) return infer_batch_norm(op, args, outs, context, error);
    if (strcmp(op->shared, "half") == 0) return infer_half(op, args, outs, context, error);
    if (strcmp(op->shared, "square") == 0 || strcmp(op->shared, "determinant") == 0) return infer_square(op, args, outs, context, error);
    if (strncmp(op->shared, "nll_loss", 8) == 0) return infer_nll_loss(op, args, outs, context, error);
    bool known, good = windows_infer(op, args, outs, context, error, &known);
    if (known) return good;
    return infer_loss(op, args, outs, context, error);
}

static bool composite_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)args, (void)nargs, (void)outs, (void)count, (void)context;
    return op_error(error, ERROR_NOT_IMPLEMENTED, "%s: its shape is found by running its body", op->name);
}

const FamilyOps decomposed_family = {.infer = decomposed_infer, .run_cpu = rowwise_run, .runs_natively = rowwise_takes};
const FamilyOps composite_family = {.infer = composite_infer};
