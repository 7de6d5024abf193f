/* Layout: shapes, devices and strides of the outputs of ops that work element by element.
 *
 * In: operands' metas. Out: broadcast sizes, and strides in the order in which the operands lie in memory (TensorIterator's rule), so that
 * transposed operands give a transposed result.
 *
 *     broadcast_args(op, args, 2, &out, error) && (layout_pointwise(&out, metas, 2, syms), true)
 *
 * Invariant: the result is dense: some permutation of its dims is contiguous. */
#include "op/family.h"
#include <string.h>

bool broadcast_args(const Op *op, const Arg *args, int count, Meta *out, OpError *error) {
    (void)op;
    out->rank = 0;
    const Meta *first = NULL;
    for (int i = 0; i < count; i++) {
        if (!arg_is_tensor(&args[i])) continue;
        const Meta *meta = arg_meta(&args[i]);
        Meta before = *out;
        if (!sizes_broadcast(out->sizes, &out->rank, before.sizes, before.rank, meta->sizes, meta->rank)) {
            int dim = 0; /* the first dim, from the back, at which they differ */
            for (int k = 1; k <= before.rank && k <= meta->rank; k++) {
                Dim a = before.sizes[before.rank - k], b = meta->sizes[meta->rank - k];
                if (a != 1 && b != 1 && !dim_equal(a, b)) { dim = k; break; }
            }
            int rank = before.rank > meta->rank ? before.rank : meta->rank;
            return op_error(error, ERROR_RUNTIME, "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton dimension %d",
                            (long long)dim_hint(before.sizes[before.rank - dim]), (long long)dim_hint(meta->sizes[meta->rank - dim]), rank - dim);
        }
        first = first ? first : meta;
    }
    return true;
}

bool common_device(const Op *op, const Arg *args, int count, Device *device, OpError *error) {
    bool found = false, found_scalar = false;
    Device scalar = *device;
    for (int i = 0; i < count; i++) {
        if (!arg_is_tensor(&args[i])) continue;
        const Meta *meta = arg_meta(&args[i]);
        if (meta->rank == 0 && meta->device.kind == DEVICE_CPU) { /* goes along with any device */
            scalar = meta->device;
            found_scalar = true;
            continue;
        }
        if (found && !device_equal(*device, meta->device))
            return op_error(error, ERROR_RUNTIME, "Expected all tensors to be on the same device, but found at least two devices, %s and %s! (in %s)",
                            device->kind == DEVICE_CUDA ? "cuda:0" : "cpu", meta->device.kind == DEVICE_CUDA ? "cuda:0" : "cpu", op->name);
        *device = meta->device;
        found = true;
    }
    if (!found && found_scalar) *device = scalar;
    return true;
}

/* Stride of `operand` along dim i of the output: 0 where it is broadcast. */
static Dim stride_along(const Meta *operand, const Meta *out, int i) {
    int at = i - (out->rank - operand->rank);
    if (at < 0 || dim_is_one(operand->sizes[at])) return 0;
    return operand->strides[at];
}

/* -1: dim a goes inside dim b; 1: outside; 0: the operands do not say. */
static int compare_dims(const Meta *out, const Meta *const *operands, int count, int a, int b) {
    for (int i = 0; i < count; i++) {
        if (operands[i]->rank == 0) continue;
        Dim stride_a = stride_along(operands[i], out, a), stride_b = stride_along(operands[i], out, b);
        if (stride_a == 0 || stride_b == 0) continue;
        if (!dim_same(stride_a, stride_b)) return dim_is(SYM_LT, stride_a, stride_b) ? -1 : 1;
        if (dim_is(SYM_LT, out->sizes[b], out->sizes[a])) return 1;
    }
    return 0;
}

/* Insertion sort that tolerates "do not know", as TensorIterator's. order[0] is the innermost dim. */
static void order_dims(const Meta *out, const Meta *const *operands, int count, int *order) {
    for (int i = 0; i < out->rank; i++) order[i] = out->rank - 1 - i;
    for (int i = 1; i < out->rank; i++) {
        int here = i;
        for (int j = i - 1; j >= 0; j--) {
            int comparison = compare_dims(out, operands, count, order[j], order[here]);
            if (comparison < 0) break;
            if (comparison == 0) continue;
            int swap = order[j];
            order[j] = order[here];
            order[here] = swap;
            here = j;
        }
    }
}

/* All operands have the output's shape and the same dense strides: they are the output's. */
static bool same_dense_layout(const Meta *out, const Meta *const *operands, int count) {
    if (count == 0 || !meta_same_shape(operands[0], out) || !meta_is_dense(operands[0])) return false;
    for (int i = 1; i < count; i++) {
        if (!meta_same_shape(operands[i], out)) return false;
        for (int k = 0; k < out->rank; k++)
            if (!dim_equal(operands[i]->strides[k], operands[0]->strides[k])) return false;
    }
    return true;
}

static bool all_contiguous(const Meta *out, const Meta *const *operands, int count) {
    for (int i = 0; i < count; i++)
        if (!meta_same_shape(operands[i], out) || !meta_is_contiguous(operands[i])) return false;
    return true;
}

void layout_pointwise(Meta *out, const Meta *const *operands, int count, SymTable *syms) {
    out->offset = 0;
    if (count == 0 || all_contiguous(out, operands, count)) {
        meta_set_contiguous(out, syms);
        return;
    }
    if (same_dense_layout(out, operands, count)) {
        memcpy(out->strides, operands[0]->strides, sizeof out->strides);
        return;
    }
    int order[MAX_RANK];
    order_dims(out, operands, count, order);
    Dim stride = 1;
    for (int i = 0; i < out->rank; i++) {
        out->strides[order[i]] = stride;
        Dim size = out->sizes[order[i]];
        stride = dim_times(syms, stride, dim_is_int(size) && size < 1 ? 1 : size);
    }
}
