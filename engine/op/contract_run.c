/* Eager products: OpenBLAS where it takes the layout, packed copies where it does not, loops over rows for integers.
 *
 * In: a Product. Out: its result in memory.
 * 16-bit floats are widened to float32, multiplied, and rounded once. OpenBLAS gets its number of threads by the size of the product;
 * many small products are a thread each.
 *
 * Invariant: a matrix goes to BLAS with unit stride along one dim; the other becomes its leading dimension, or a transpose flag. */
#include "op/clones.h"
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

/* ---- integers ---- */

/* to += from * factor, wrapping. */
CLONES static void add_row(uint64_t *to, const uint64_t *from, uint64_t factor, int64_t n) {
    for (int64_t j = 0; j < n; j++) to[j] += from[j] * factor;
}

CLONES static void scale_row(uint64_t *to, uint64_t factor, int64_t n) {
    for (int64_t j = 0; j < n; j++) to[j] *= factor;
}

/* Row by row, over so many rows of b at a time that they stay in cache. */
static void integer_rows(const Product *p, const uint64_t *a, const uint64_t *b, const uint64_t *added, uint64_t *result, int threads) {
    int64_t step = p->n > 0 && p->n < 32768 ? 32768 / p->n : 1;
    memset(result, 0, (size_t)(p->m * p->n) * sizeof *result);
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t part = 0; part < threads; part++) {
        int64_t first = p->m * part / threads, last = p->m * (part + 1) / threads;
        for (int64_t begin = 0; begin < p->k; begin += step)
            for (int64_t i = first; i < last; i++)
                for (int64_t k = begin; k < begin + step && k < p->k; k++) add_row(result + i * p->n, b + k * p->n, a[i * p->k + k], p->n);
        if (p->alpha != 1) scale_row(result + first * p->n, (uint64_t)(int64_t)p->alpha, (last - first) * p->n);
        if (added) add_row(result + first * p->n, added + first * p->n, (uint64_t)(int64_t)p->beta, (last - first) * p->n);
    }
}

static bool integer_batch(const Product *p, int64_t batch, int threads) {
    void *a = pack(&p->a, batch, p->m, p->k, p->dtype, DTYPE_I64), *b = pack(&p->b, batch, p->k, p->n, p->dtype, DTYPE_I64);
    void *added = p->beta != 0 ? pack(&p->added, batch, p->m, p->n, p->dtype, DTYPE_I64) : NULL, *result = malloc((size_t)(p->m * p->n) * 8 + 1);
    bool ok = a && b && result && (added || p->beta == 0);
    if (ok) {
        integer_rows(p, a, b, added, result, threads);
        unpack(&p->out, batch, p->m, p->n, p->dtype, DTYPE_I64, result);
    }
    free(a), free(b), free(added), free(result);
    return ok;
}

/* ---- the whole ---- */

/* By size: a thread for each four million multiplications, so that the same product is cut the same way on every machine that has enough cores. */
static int blas_threads(const Product *p, int threads) {
    double work = (double)p->m * (double)p->n * (double)p->k / 4e6;
    int wanted = work < 1 ? 1 : work > 64 ? 64 : (int)work;
    return wanted < threads ? wanted : threads > 1 ? threads : 1;
}

static bool batch_run(const Product *product, int64_t batch, int threads) {
    return dtype_is_float(product->dtype) ? float_batch(product, batch) : integer_batch(product, batch, threads);
}

bool product_run(const Product *product, int threads) {
    if (product->m == 0 || product->n == 0 || product->batches == 0) return true;
    Product all = *product;
    all.m *= product->batches;
    int inside = blas_threads(product, threads), lanes = blas_threads(&all, threads);
    bool across = product->batches > 1 && inside < lanes, good = true; /* small products: a thread each */
    if (across) inside = 1;
    openblas_set_num_threads(inside);
    (void)lanes;
#pragma omp parallel for if (across) num_threads(lanes) schedule(static) reduction(&& : good)
    for (int64_t i = 0; i < product->batches; i++) good = batch_run(product, i, inside) && good;
    return good;
}
