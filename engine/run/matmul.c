/* Matmul: a MatmulCall in BLAS's words: which operand lies by rows or by columns, and how far apart.
 *
 * In: metas of rank 2 or 3 with any strides. Out: a MatmulShape, or why no BLAS can take it as it is.
 *
 *     MatmulShape shape; const char *why;
 *     if (!matmul_shape(call, &shape, &why)) ... "a's rows overlap" ...
 *
 * A batch whose second operand is shared becomes one taller matrix when the first and the result lie row after row.
 * Invariant: ld >= the length of what lies together, and >= 1; strides of dimensions of size 1 never matter. */
#include "run/private.h"

static bool say(const char **why_not, const char *why) {
    if (why_not) *why_not = why;
    return false;
}

bool matrix_view(const Meta *meta, MatrixView *view) {
    int rank = meta->rank;
    if (rank < 2 || rank > 3) return false;
    int64_t rows = meta->sizes[rank - 2], cols = meta->sizes[rank - 1], row_stride = meta->strides[rank - 2], col_stride = meta->strides[rank - 1];
    *view = (MatrixView){.rows = rows, .cols = cols, .offset = meta->offset * dtype_size(meta->dtype)};
    if (rank == 3 && meta->sizes[0] != 1) view->batch_stride = meta->strides[0];
    if ((col_stride == 1 || cols == 1) && (rows == 1 || row_stride >= cols)) {
        view->by_rows = true;
        view->ld = rows == 1 ? cols : row_stride;
    } else if ((row_stride == 1 || rows == 1) && (cols == 1 || col_stride >= rows)) view->ld = cols == 1 ? rows : col_stride;
    else return false;
    if (view->ld < 1) view->ld = 1;
    return true;
}

/* A bias is a row added to each row of the result: shape [n], or that expanded. */
static bool take_bias(const MatmulCall *call, MatmulShape *shape, const char **why_not) {
    const Meta *bias = &call->bias_meta;
    shape->has_bias = call->bias >= 0 && (call->epilogue & EPILOGUE_BIAS);
    if (!shape->has_bias) return call->epilogue & EPILOGUE_BIAS ? say(why_not, "no bias is given") : true;
    if (bias->rank < 1 || bias->sizes[bias->rank - 1] != shape->n) return say(why_not, "the bias is not one row");
    for (int i = 0; i < bias->rank - 1; i++)
        if (bias->sizes[i] != 1 && bias->strides[i] != 0) return say(why_not, "the bias is not one row");
    if (bias->dtype != shape->dtype) return say(why_not, "the bias has another dtype");
    shape->bias_offset = bias->offset * dtype_size(bias->dtype);
    shape->bias_stride = shape->n == 1 ? 1 : bias->strides[bias->rank - 1];
    return true;
}

static bool take_add(const MatmulCall *call, MatmulShape *shape, const char **why_not) {
    shape->has_add = call->add >= 0;
    if (!shape->has_add) return true;
    const Meta *add = &call->add_meta, *out = &call->out_meta;
    if (add->dtype != shape->dtype) return say(why_not, "the addend has another dtype");
    if (!meta_same_shape(add, out)) return say(why_not, "the addend has another shape than the result");
    return true;
}

static int64_t batch_of(const Meta *meta) { return meta->rank == 3 ? meta->sizes[0] : 1; }

static void merge_batch(MatmulShape *shape) {
    bool mergeable = shape->batch > 1 && shape->b.batch_stride == 0 && shape->a.by_rows && shape->out.by_rows &&
                     shape->a.batch_stride == shape->m * shape->a.ld && shape->out.batch_stride == shape->m * shape->out.ld;
    if (!mergeable) return;
    shape->m *= shape->batch;
    shape->a.rows = shape->out.rows = shape->m;
    shape->a.batch_stride = shape->out.batch_stride = 0;
    shape->batch = 1;
}

bool matmul_shape(const MatmulCall *call, MatmulShape *shape, const char **why_not) {
    const Meta *metas[3] = {&call->a_meta, &call->b_meta, &call->out_meta};
    MatrixView *views[3] = {&shape->a, &shape->b, &shape->out};
    *shape = (MatmulShape){.dtype = call->a_meta.dtype};
    for (int i = 0; i < 3; i++) {
        if (!meta_is_static(metas[i])) return say(why_not, "a size is symbolic");
        if (metas[i]->dtype != shape->dtype) return say(why_not, "the operands have different dtypes");
        if (!matrix_view(metas[i], views[i])) return say(why_not, "an operand's rows do not lie as BLAS wants them");
    }
    if (!dtype_is_float(shape->dtype)) return say(why_not, "BLAS has no integer matmul");
    shape->m = shape->out.rows, shape->n = shape->out.cols, shape->k = shape->a.cols;
    if (shape->a.rows != shape->m || shape->b.rows != shape->k || shape->b.cols != shape->n) return say(why_not, "the shapes do not fit together");
    shape->batch = batch_of(metas[2]);
    for (int i = 0; i < 2; i++)
        if (batch_of(metas[i]) != shape->batch && batch_of(metas[i]) != 1) return say(why_not, "the batches do not fit together");
    if (shape->batch > 1 && shape->m > 0 && shape->n > 0 && shape->out.batch_stride == 0) return say(why_not, "the batches of the result overlap");
    if (!take_bias(call, shape, why_not) || !take_add(call, shape, why_not)) return false;
    if (!shape->has_add) merge_batch(shape);
    return true;
}

bool matmul_supports(Runtime *runtime, Device device, const MatmulCall *call, const char **why_not) {
    return device.kind == DEVICE_CPU ? blas_supports(call, why_not) : cublaslt_supports(runtime, call, why_not);
}

bool matmul_run(Runtime *runtime, Device device, const MatmulCall *call, void *a, void *b, void *out, void *bias, void *add, OpError *error) {
    if (device.kind == DEVICE_CPU) return blas_matmul(call, a, b, out, bias, add, error);
    return cublaslt_matmul(runtime, device.index, call, a, b, out, bias, add, NULL, error);
}
