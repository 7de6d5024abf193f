/* Eager products: OpenBLAS where it takes the layout, packed copies where it does not, plain loops for integers.
 *
 * In: a Product. Out: its result in memory.
 * 16-bit floats are widened to float32, multiplied, and rounded once. OpenBLAS gets its number of threads by the size of the product.
 *
 * Invariant: a matrix goes to BLAS with unit stride along one dim; the other becomes its leading dimension, or a transpose flag. */
#include "op/contract.h"
#include "op/convert.h"
#include "op/walk.h"
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* Dense copies in the compute type: [rows, columns] row-major. */
static void *pack(const Matrix *matrix, int64_t batch, int64_t rows, int64_t columns, DType dtype, DType compute) {
    Device cpu = {DEVICE_CPU, 0};
    Meta dst = meta_new(compute, cpu, 2, (Dim[]){rows, columns}), src = dst;
    void *memory = malloc((size_t)(rows * columns * compute_size(compute)) + 1);
    if (!memory) return NULL;
    src.dtype = dtype;
    src.strides[0] = matrix->row;
    src.strides[1] = matrix->column;
    copy_elements(&dst, memory, &src, matrix->data + batch * matrix->batch * dtype_size(dtype), 1);
    return memory;
}

static void unpack(const Matrix *matrix, int64_t batch, int64_t rows, int64_t columns, DType dtype, DType compute, const void *from) {
    Device cpu = {DEVICE_CPU, 0};
    Meta src = meta_new(compute, cpu, 2, (Dim[]){rows, columns}), dst = src;
    dst.dtype = dtype;
    dst.strides[0] = matrix->row;
    dst.strides[1] = matrix->column;
    copy_elements(&dst, matrix->data + batch * matrix->batch * dtype_size(dtype), &src, from, 1);
}

/* An operand as BLAS takes it. `owned` is to be freed. */
typedef struct BlasMatrix { const void *data; CBLAS_TRANSPOSE transpose; blasint leading; void *owned; } BlasMatrix;

static bool leading_fits(int64_t unit, int64_t other, int64_t unit_size, int64_t other_size, int64_t *leading) {
    if (unit != 1 && unit_size != 1) return false;
    *leading = other_size == 1 ? (unit_size > 1 ? unit_size : 1) : other;
    return *leading >= (unit_size > 1 ? unit_size : 1) && *leading < INT32_MAX;
}

static bool blas_operand(const Matrix *matrix, int64_t batch, int64_t rows, int64_t columns, DType dtype, DType compute, BlasMatrix *out) {
    int64_t leading;
    const char *data = matrix->data + batch * matrix->batch * dtype_size(dtype);
    if (dtype == compute && leading_fits(matrix->column, matrix->row, columns, rows, &leading)) {
        *out = (BlasMatrix){data, CblasNoTrans, (blasint)leading, NULL};
        return true;
    }
    if (dtype == compute && leading_fits(matrix->row, matrix->column, rows, columns, &leading)) {
        *out = (BlasMatrix){data, CblasTrans, (blasint)leading, NULL};
        return true;
    }
    void *packed = pack(matrix, batch, rows, columns, dtype, compute);
    *out = (BlasMatrix){packed, CblasNoTrans, (blasint)(columns > 1 ? columns : 1), packed};
    return packed != NULL;
}

static void multiply(const Product *p, DType compute, const BlasMatrix *a, const BlasMatrix *b, double beta, void *out, blasint leading) {
    blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    if (compute == DTYPE_F64) cblas_dgemm(CblasRowMajor, a->transpose, b->transpose, m, n, k, p->alpha, a->data, a->leading, b->data, b->leading, beta, out, leading);
    else cblas_sgemm(CblasRowMajor, a->transpose, b->transpose, m, n, k, (float)p->alpha, a->data, a->leading, b->data, b->leading, (float)beta, out, leading);
}

static bool float_batch(const Product *p, int64_t batch) {
    DType compute = dtype_info[p->dtype].compute;
    int64_t leading;
    bool direct = p->dtype == compute && leading_fits(p->out.column, p->out.row, p->n, p->m, &leading);
    BlasMatrix a = {0}, b = {0};
    char *target = p->out.data + batch * p->out.batch * dtype_size(p->dtype);
    void *result = direct ? target : malloc((size_t)(p->m * p->n * compute_size(compute)) + 1);
    bool ok = result && blas_operand(&p->a, batch, p->m, p->k, p->dtype, compute, &a) && blas_operand(&p->b, batch, p->k, p->n, p->dtype, compute, &b);
    if (!direct) leading = p->n > 1 ? p->n : 1;
    if (ok && p->beta != 0) { /* the added term is laid out first, where BLAS adds to it */
        Device cpu = {DEVICE_CPU, 0};
        Meta dst = meta_new(compute, cpu, 2, (Dim[]){p->m, p->n}), src = dst;
        src.dtype = p->dtype;
        src.strides[0] = p->added.row, src.strides[1] = p->added.column;
        dst.strides[0] = leading, dst.strides[1] = 1;
        copy_elements(&dst, result, &src, p->added.data + batch * p->added.batch * dtype_size(p->dtype), 1);
    }
    if (ok) multiply(p, compute, &a, &b, p->beta, result, (blasint)leading);
    if (ok && !direct) unpack(&p->out, batch, p->m, p->n, p->dtype, compute, result);
    if (!direct) free(result);
    free(a.owned);
    free(b.owned);
    return ok;
}

static int64_t element(const Product *p, const Matrix *matrix, int64_t batch, int64_t i, int64_t j) {
    return load_int(p->dtype, matrix->data + (batch * matrix->batch + i * matrix->row + j * matrix->column) * dtype_size(p->dtype));
}

static void integer_batch(const Product *p, int64_t batch) {
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            uint64_t sum = 0;
            for (int64_t k = 0; k < p->k; k++) sum += (uint64_t)element(p, &p->a, batch, i, k) * (uint64_t)element(p, &p->b, batch, k, j);
            sum *= (uint64_t)(int64_t)p->alpha;
            if (p->beta != 0) sum += (uint64_t)(int64_t)p->beta * (uint64_t)element(p, &p->added, batch, i, j);
            int64_t result = (int64_t)sum;
            store_values(DTYPE_I64, p->dtype, 1, &result, p->out.data + (batch * p->out.batch + i * p->out.row + j * p->out.column) * dtype_size(p->dtype), 0);
        }
}

/* By size: a thread for each four million multiplications, so that the same product is cut the same way on every machine that has enough cores. */
static int blas_threads(const Product *p, int threads) {
    double work = (double)p->m * (double)p->n * (double)p->k / 4e6;
    int wanted = work < 1 ? 1 : work > 64 ? 64 : (int)work;
    return wanted < threads ? wanted : threads > 1 ? threads : 1;
}

bool product_run(const Product *product, int threads) {
    if (product->m == 0 || product->n == 0 || product->batches == 0) return true;
    if (!dtype_is_float(product->dtype)) {
        for (int64_t i = 0; i < product->batches; i++) integer_batch(product, i);
        return true;
    }
    openblas_set_num_threads(blas_threads(product, threads));
    for (int64_t i = 0; i < product->batches; i++)
        if (!float_batch(product, i)) return false;
    return true;
}
