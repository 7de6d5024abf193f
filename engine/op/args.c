/* Arguments: reading an op's Args as dims, sizes, dtypes and flags, with PyTorch's errors.
 *
 * In: Args in signature order. Out: plain values, wrapped and checked.
 *
 *     bool marks[MAX_RANK], all;
 *     if (!read_dims(op, args, "dim", rank, marks, &all, error)) return false;
 *
 * Invariant: a function that returns false has filled in the error. */
#include "op/family.h"
#include <stdio.h>
#include <string.h>

double arg_as_double(const Arg *arg) {
    if (arg->tag == ARG_FLOAT) return arg->f;
    if (arg->tag == ARG_BOOL) return arg->b ? 1 : 0;
    if (arg->tag == ARG_INT) return (double)dim_specialize(arg->i, "an op needs it as a plain number");
    return 0;
}

int64_t arg_as_int(const Arg *arg) {
    if (arg->tag == ARG_INT) return dim_specialize(arg->i, "an op needs it as a plain number");
    if (arg->tag == ARG_BOOL) return arg->b;
    if (arg->tag == ARG_FLOAT && arg->f >= -0x1p63 && arg->f < 0x1p63) return (int64_t)arg->f;
    return arg->tag == ARG_FLOAT ? INT64_MIN : 0;
}

bool arg_truth(const Arg *arg, bool absent) {
    if (arg->tag == ARG_NONE) return absent;
    return arg->tag == ARG_BOOL ? arg->b : arg_as_int(arg) != 0;
}

static const char *tag_name(ArgTag tag) {
    static const char *const names[] = {"None", "Tensor", "list of Tensors", "bool", "int", "float", "list of ints", "list of floats", "str", "torch.dtype", "torch.device", "object"};
    return names[tag];
}

bool need_tensor(const Op *op, const Arg *args, int index, OpError *error) {
    if (args[index].tag == ARG_TENSOR) return true;
    return op_error(error, ERROR_TYPE, "%s(): argument '%s' (position %d) must be Tensor, not %s", op->name, op_param(op, index), index + 1, tag_name(args[index].tag));
}

bool need_static(const Op *op, const Meta *meta, OpError *error) {
    if (meta_is_static(meta)) return true;
    return op_error(error, ERROR_NOT_IMPLEMENTED, "%s(): a symbolic shape is not supported here", op->name);
}

bool wrap_dim(int64_t dim, int rank, int *out, OpError *error) {
    int range = rank > 0 ? rank : 1;
    if (dim < -range || dim >= range)
        return op_error(error, ERROR_INDEX, "Dimension out of range (expected to be in range of [%d, %d], but got %lld)", -range, range - 1, (long long)dim);
    *out = (int)(dim < 0 ? dim + range : dim);
    return true;
}

bool read_dim(const Op *op, const Arg *args, const char *name, int rank, int *dim, OpError *error) {
    const Arg *arg = op_arg(op, args, name);
    if (arg->tag != ARG_INT && arg->tag != ARG_BOOL) return op_error(error, ERROR_TYPE, "%s(): argument '%s' must be int, not %s", op->name, name, tag_name(arg->tag));
    return wrap_dim(arg_as_int(arg), rank, dim, error);
}

bool read_integer(const Op *op, const Arg *args, const char *name, Dim *out, OpError *error) {
    const Arg *arg = op_arg(op, args, name);
    if (arg->tag != ARG_INT && arg->tag != ARG_BOOL) return op_error(error, ERROR_TYPE, "%s(): argument '%s' must be int, not %s", op->name, name, tag_name(arg->tag));
    *out = arg->tag == ARG_INT ? arg->i : (Dim)arg->b;
    return true;
}

static bool mark_dim(int64_t value, int rank, bool *marks, OpError *error) {
    int dim = 0;
    if (!wrap_dim(value, rank, &dim, error)) return false;
    if (rank > 0 && marks[dim]) return op_error(error, ERROR_RUNTIME, "dim %d appears multiple times in the list of dims", dim);
    if (rank > 0) marks[dim] = true;
    return true;
}

bool read_dims(const Op *op, const Arg *args, const char *name, int rank, bool *marks, bool *all, OpError *error) {
    const Arg *arg = op_arg(op, args, name);
    for (int i = 0; i < MAX_RANK; i++) marks[i] = false;
    *all = arg->tag == ARG_NONE || (arg->tag == ARG_INTS && arg->ints.count == 0) || (arg->tag == ARG_TENSORS && arg->list.count == 0) || (arg->tag == ARG_FLOATS && arg->floats.count == 0);
    if (*all) {
        for (int i = 0; i < rank; i++) marks[i] = true;
        return true;
    }
    if (arg->tag == ARG_INT || arg->tag == ARG_BOOL) return mark_dim(arg_as_int(arg), rank, marks, error);
    if (arg->tag != ARG_INTS) return op_error(error, ERROR_TYPE, "%s(): argument '%s' must be tuple of ints, not %s", op->name, name, tag_name(arg->tag));
    for (int i = 0; i < arg->ints.count; i++)
        if (!mark_dim(dim_specialize(arg->ints.at[i], "it names a dimension"), rank, marks, error)) return false;
    return true;
}

bool read_sizes(const Op *op, const Arg *arg, Dim *sizes, int *count, OpError *error) {
    if (arg->tag == ARG_INT) {
        sizes[0] = arg->i;
        *count = 1;
        return true;
    }
    if (arg->tag == ARG_NONE || (arg->tag == ARG_TENSORS && arg->list.count == 0) || (arg->tag == ARG_FLOATS && arg->floats.count == 0)) {
        *count = 0;
        return true;
    }
    if (arg->tag != ARG_INTS) return op_error(error, ERROR_TYPE, "%s(): sizes must be ints, not %s", op->name, tag_name(arg->tag));
    if (arg->ints.count > MAX_RANK) return op_error(error, ERROR_RUNTIME, "%s(): %d dimensions; at most %d are supported", op->name, arg->ints.count, MAX_RANK);
    for (int i = 0; i < arg->ints.count; i++) sizes[i] = arg->ints.at[i];
    *count = arg->ints.count;
    return true;
}

DType read_dtype(const Op *op, const Arg *args, DType otherwise) {
    const Arg *arg = op_arg(op, args, "dtype");
    return arg->tag == ARG_DTYPE ? arg->dtype : otherwise;
}

Device read_device(const Op *op, const Arg *args, Device otherwise) {
    const Arg *arg = op_arg(op, args, "device");
    return arg->tag == ARG_DEVICE ? arg->device : otherwise;
}

void shape_text(const Meta *meta, char *text, size_t size) {
    Text built = {0};
    text_char(&built, '[');
    for (int i = 0; i < meta->rank; i++) {
        if (i > 0) text_put(&built, ", ");
        if (dim_is_int(meta->sizes[i])) text_printf(&built, "%lld", (long long)meta->sizes[i]);
        else dim_print(&built, meta->sizes[i]);
    }
    text_char(&built, ']');
    snprintf(text, size, "%s", text_cstr(&built));
    text_free(&built);
}
