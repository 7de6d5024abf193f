/* Contract: matrix products. Shapes and dtypes; eager through OpenBLAS for float32 and float64, through float32 panels for 16-bit floats, and
 * plain loops for integers (which wrap).
 *
 * In: mm, bmm, addmm, baddbmm, mv, dot. Out: contiguous results.
 *
 *     mm(f32[2, 3], f32[3, 4]) -> f32[2, 4];   addmm(f32[4], f32[2, 3], f32[3, 4]) -> f32[2, 4]
 *
 * A product is one form for all: batches of [m, k] x [k, n] with any strides, out = alpha a b + beta added.
 * Invariant: results do not depend on the number of threads of the machine. To add one: a row, its shapes here. */
#include "op/contract.h"
#include <string.h>

static bool check_rank(const Op *op, const Arg *args, int index, int rank, OpError *error) {
    if (!need_tensor(op, args, index, error)) return false;
    if (arg_meta(&args[index])->rank == rank) return true;
    return op_error(error, ERROR_RUNTIME, "%s: argument '%s' must be a %dD tensor, got %dD", op->name, op_param(op, index), rank, arg_meta(&args[index])->rank);
}

static bool check_dtypes(const Op *op, const Arg *args, int first, int second, OpError *error) {
    const Meta *a = arg_meta(&args[first]), *b = arg_meta(&args[second]);
    if (a->rank == 3 && a->dtype == DTYPE_BOOL) return op_error_dtype(error, op->name, DTYPE_BOOL);
    if (first > 0 && arg_is_tensor(&args[0]) && arg_meta(&args[0])->dtype != b->dtype)
        return op_error(error, ERROR_RUNTIME, "self and mat2 must have the same dtype, but got %s and %s", dtype_info[arg_meta(&args[0])->dtype].name, dtype_info[b->dtype].name);
    if (a->dtype != b->dtype)
        return op_error(error, ERROR_RUNTIME, "expected m1 and m2 to have the same dtype, but got: %s != %s", dtype_info[a->dtype].c_type[0] ? dtype_info[a->dtype].name : "", dtype_info[b->dtype].name);
    if (!device_equal(a->device, b->device)) return op_error(error, ERROR_RUNTIME, "Expected all tensors to be on the same device, but found at least two devices (in %s)", op->name);
    if (a->dtype == DTYPE_BOOL) return op_error_dtype(error, op->name, DTYPE_BOOL);
    return true;
}

static bool shapes_clash(const Op *op, const Meta *a, const Meta *b, OpError *error) {
    int r = a->rank;
    return op_error(error, ERROR_RUNTIME, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)%s%s", (long long)dim_hint(a->sizes[r - 2]), (long long)dim_hint(a->sizes[r - 1]),
                    (long long)dim_hint(b->sizes[r - 2]), (long long)dim_hint(b->sizes[r - 1]), strcmp(op->name, "mm") == 0 ? "" : " in ", strcmp(op->name, "mm") == 0 ? "" : op->name);
}

static bool infer_matrices(const Op *op, const Arg *args, int first, int rank, Meta *out, OpError *error) {
    if (!check_rank(op, args, first, rank, error) || !check_rank(op, args, first + 1, rank, error)) return false;
    const Meta *a = arg_meta(&args[first]), *b = arg_meta(&args[first + 1]);
    if (!dim_same(a->sizes[rank - 1], b->sizes[rank - 2])) return shapes_clash(op, a, b, error);
    if (!check_dtypes(op, args, first, first + 1, error)) return false;
    if (rank == 3 && !dim_same(a->sizes[0], b->sizes[0]))
        return op_error(error, ERROR_RUNTIME, "%s: batch sizes differ: %lld and %lld", op->name, (long long)dim_hint(a->sizes[0]), (long long)dim_hint(b->sizes[0]));
    *out = *a;
    out->sizes[rank - 1] = b->sizes[rank - 1];
    return true;
}

/* What is added must broadcast to the product. */
static bool check_added(const Op *op, const Arg *args, const Meta *out, OpError *error) {
    Dim sizes[MAX_RANK];
    int rank;
    if (!need_tensor(op, args, 0, error)) return false;
    const Meta *added = arg_meta(&args[0]);
    bool fits = added->rank <= out->rank && sizes_broadcast(sizes, &rank, added->sizes, added->rank, out->sizes, out->rank);
    for (int i = 0; fits && i < rank; i++) fits = dim_same(sizes[i], out->sizes[i]);
    if (!fits) {
        char have[128], want[128];
        shape_text(added, have, sizeof have);
        shape_text(out, want, sizeof want);
        return op_error(error, ERROR_RUNTIME, "%s: the input of shape %s cannot be broadcast to the product's shape %s", op->name, have, want);
    }
    if (added->dtype == out->dtype) return true;
    return op_error(error, ERROR_RUNTIME, "self and mat2 must have the same dtype, but got %s and %s", dtype_info[added->dtype].name, dtype_info[out->dtype].name);
}

static bool infer_vectors(const Op *op, const Arg *args, Meta *out, OpError *error) {
    bool dot = strcmp(op->shared, "dot") == 0;
    if (!check_rank(op, args, 0, dot ? 1 : 2, error) || !check_rank(op, args, 1, 1, error)) return false;
    const Meta *a = arg_meta(&args[0]), *b = arg_meta(&args[1]);
    if (!dim_same(a->sizes[a->rank - 1], b->sizes[0])) {
        if (dot) return op_error(error, ERROR_RUNTIME, "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of elements, but got %lld and %lld elements respectively",
                                 (long long)dim_hint(a->sizes[0]), (long long)dim_hint(b->sizes[0]), (long long)dim_hint(a->sizes[0]), (long long)dim_hint(b->sizes[0]));
        return op_error(error, ERROR_RUNTIME, "size mismatch, got input (%lldx%lld), vec (%lld)", (long long)dim_hint(a->sizes[0]), (long long)dim_hint(a->sizes[1]), (long long)dim_hint(b->sizes[0]));
    }
    if (!check_dtypes(op, args, 0, 1, error)) return false;
    *out = *a;
    out->rank = a->rank - 1;
    return true;
}

static bool contract_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)nargs;
    bool adds = op->shared[0] == 'a' || strncmp(op->shared, "ba", 2) == 0, batched = strstr(op->shared, "bmm") != NULL, vectors = strcmp(op->shared, "dot") == 0 || strcmp(op->shared, "mv") == 0;
    bool ok = vectors ? infer_vectors(op, args, &outs[0], error) : infer_matrices(op, args, adds, batched ? 3 : 2, &outs[0], error);
    if (!ok || (adds && !check_added(op, args, &outs[0], error))) return false;
    outs[0].offset = 0;
    outs[0].requires_grad = false;
    meta_set_contiguous(&outs[0], context->syms);
    *count = 1;
    return true;
}

/* ---- any of them as one batched product ---- */

static Matrix matrix_of(const Arg *arg, int64_t row_stride, int64_t column_stride, int64_t batch_stride) {
    const Meta *meta = arg_meta(arg);
    return (Matrix){(char *)arg->tensor.data + meta->offset * dtype_size(meta->dtype), row_stride, column_stride, batch_stride};
}

static Matrix matrix_operand(const Arg *arg) {
    const Meta *meta = arg_meta(arg);
    int r = meta->rank;
    return matrix_of(arg, meta->strides[r - 2], meta->strides[r - 1], r == 3 ? meta->strides[0] : 0);
}

/* Broadcast: dims that the added term lacks, or has as 1, get stride 0. */
static Matrix added_operand(const Arg *arg, int out_rank) {
    const Meta *meta = arg_meta(arg);
    int64_t strides[3] = {0};
    for (int i = 0; i < out_rank; i++) {
        int at = i - (out_rank - meta->rank);
        strides[i + 3 - out_rank] = at < 0 || meta->sizes[at] == 1 ? 0 : meta->strides[at];
    }
    return matrix_of(arg, strides[1], strides[2], strides[0]);
}

static Product product_of_vectors(const Op *op, const Arg *args, const Arg *out) {
    const Meta *a = arg_meta(&args[0]), *b = arg_meta(&args[1]);
    bool dot = strcmp(op->shared, "dot") == 0;
    return (Product){.dtype = a->dtype, .batches = 1, .m = dot ? 1 : a->sizes[0], .n = 1, .k = b->sizes[0], .alpha = 1,
                     .a = matrix_of(&args[0], dot ? 0 : a->strides[0], a->strides[a->rank - 1], 0), .b = matrix_of(&args[1], b->strides[0], 1, 0),
                     .out = matrix_of(out, dot ? 0 : arg_meta(out)->strides[0], 1, 0)};
}

static Product product_of_matrices(const Op *op, const Arg *args, const Arg *out) {
    bool adds = op->shared[0] == 'a' || strncmp(op->shared, "ba", 2) == 0;
    const Meta *a = arg_meta(&args[adds]), *b = arg_meta(&args[adds + 1]);
    int r = a->rank;
    Product product = {.dtype = a->dtype, .batches = r == 3 ? a->sizes[0] : 1, .m = a->sizes[r - 2], .n = b->sizes[r - 1], .k = a->sizes[r - 1], .alpha = 1,
                       .a = matrix_operand(&args[adds]), .b = matrix_operand(&args[adds + 1]), .out = matrix_operand(out)};
    if (!adds) return product;
    const Arg *alpha = op_arg(op, args, "alpha"), *beta = op_arg(op, args, "beta");
    product.alpha = alpha->tag == ARG_NONE ? 1 : arg_as_double(alpha);
    product.beta = beta->tag == ARG_NONE ? 1 : arg_as_double(beta);
    product.added = added_operand(&args[0], r);
    return product;
}

static bool contract_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)nouts;
    for (int i = 0; i < nargs; i++)
        if (arg_is_tensor(&args[i]) && !need_static(op, arg_meta(&args[i]), error)) return false;
    bool vectors = strcmp(op->shared, "dot") == 0 || strcmp(op->shared, "mv") == 0;
    Product product = vectors ? product_of_vectors(op, args, &outs[0]) : product_of_matrices(op, args, &outs[0]);
    return product_run(&product, context->threads) ? true : op_error(error, ERROR_MEMORY, "%s(): no memory for its panels", op->name);
}

const FamilyOps contract_family = {.infer = contract_infer, .run_cpu = contract_run};
