/* BLAS: matmuls on the CPU through OpenBLAS.
 *
 * In: a MatmulCall and element 0 of each storage. Out: D = epilogue(alpha A B + beta C + bias).
 * float32 and float64 go straight to gemm; 16-bit floats are widened into float32, multiplied, and rounded once.
 *
 * The number of threads follows from the size of the product (decisions 10). OpenBLAS divides rows and columns of the result among
 * threads, never the sum over k, so a result does not depend on how many there are.
 * Invariant: D is written once by gemm and, with an epilogue, passed over once more. To add an epilogue: a line in finish_row. */
#include "run/half.h"
#include "run/private.h"
#include <cblas.h>
#include <limits.h>
#include <stdlib.h>

enum { SERIAL_FLOPS = 1 << 19, PARALLEL_ELEMENTS = 1 << 16 };

static bool say(const char **why_not, const char *why) {
    if (why_not) *why_not = why;
    return false;
}

bool blas_supports(const MatmulCall *call, const char **why_not) {
    MatmulShape shape;
    if (!matmul_shape(call, &shape, why_not)) return false;
    if (call->epilogue & EPILOGUE_GELU_TANH) return say(why_not, "OpenBLAS has no gelu behind a matmul");
    int64_t largest = INT_MAX;
    if (shape.m > largest || shape.n > largest || shape.k > largest || shape.a.ld > largest || shape.b.ld > largest || shape.out.ld > largest)
        return say(why_not, "a dimension is larger than OpenBLAS's integers");
    return true;
}

static int threads_for(double flops) {
    int cores = runtime_cores(), wanted = 1;
    while (wanted < cores && flops > (double)SERIAL_FLOPS * wanted * 2) wanted *= 2;
    return wanted < cores ? wanted : cores;
}

/* ---- one product ---- */

typedef struct Gemm { int64_t m, n, k; const void *a, *b; void *out; int64_t lda, ldb, ldout; bool a_by_rows, b_by_rows, out_by_rows; double alpha, beta; } Gemm;

static void gemm_run(const Gemm *g, bool wide) {
    enum CBLAS_ORDER order = g->out_by_rows ? CblasRowMajor : CblasColMajor;
    enum CBLAS_TRANSPOSE ta = g->a_by_rows == g->out_by_rows ? CblasNoTrans : CblasTrans, tb = g->b_by_rows == g->out_by_rows ? CblasNoTrans : CblasTrans;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb, ldout = (int)g->ldout;
    if (wide) cblas_dgemm(order, ta, tb, m, n, k, g->alpha, g->a, lda, g->b, ldb, g->beta, g->out, ldout);
    else cblas_sgemm(order, ta, tb, m, n, k, (float)g->alpha, g->a, lda, g->b, ldb, (float)g->beta, g->out, ldout);
}

/* ---- 16-bit operands as float32 ---- */

static void widen(float *dst, const uint16_t *src, int64_t n, bool bf16) {
#pragma omp parallel for simd if (n > PARALLEL_ELEMENTS)
    for (int64_t i = 0; i < n; i++) dst[i] = bf16 ? bf16_to_float(src[i]) : f16_to_float(src[i]);
}

static void narrow(uint16_t *dst, const float *src, int64_t n, bool bf16) {
#pragma omp parallel for simd if (n > PARALLEL_ELEMENTS)
    for (int64_t i = 0; i < n; i++) dst[i] = bf16 ? float_to_bf16(src[i]) : float_to_f16(src[i]);
}

/* A dense copy as float32, by rows or by columns as the matrix itself; fill false: only the room for it. */
static float *widen_matrix(const MatrixView *view, const void *data, bool bf16, bool fill) {
    int64_t lines = view->by_rows ? view->rows : view->cols, length = view->by_rows ? view->cols : view->rows;
    float *wide = malloc((size_t)(lines * length + 1) * sizeof *wide);
    if (!wide || !fill) return wide;
    for (int64_t i = 0; i < lines && view->ld != length; i++) widen(wide + i * length, (const uint16_t *)data + i * view->ld, length, bf16);
    if (view->ld == length) widen(wide, data, lines * length, bf16);
    return wide;
}

static void narrow_matrix(const MatrixView *view, void *data, const float *wide, bool bf16) {
    int64_t lines = view->by_rows ? view->rows : view->cols, length = view->by_rows ? view->cols : view->rows;
    if (view->ld == length) narrow(data, wide, lines * length, bf16);
    else
        for (int64_t i = 0; i < lines; i++) narrow((uint16_t *)data + i * view->ld, wide + i * length, length, bf16);
}

/* ---- epilogue ---- */

#define FINISH(Type)                                                                                          \
    _Pragma("omp parallel for if (lines * length > PARALLEL_ELEMENTS)")                                       \
    for (int64_t i = 0; i < lines; i++) {                                                                     \
        Type *row = (Type *)out + i * ld;                                                                     \
        for (int64_t j = 0; j < length; j++) {                                                                \
            Type value = row[j];                                                                              \
            if (bias) value += ((const Type *)bias)[(by_rows ? j : i) * bias_stride];                         \
            row[j] = relu && value < 0 ? 0 : value;                                                           \
        }                                                                                                     \
    }

static void finish(const MatrixView *view, int64_t ld, void *out, const void *bias, int64_t bias_stride, bool relu, bool wide) {
    bool by_rows = view->by_rows;
    int64_t lines = by_rows ? view->rows : view->cols, length = by_rows ? view->cols : view->rows;
    if (wide) { FINISH(double) }
    else { FINISH(float) }
}

/* ---- the whole ---- */

typedef struct Product { const MatmulCall *call; const MatmulShape *shape; const char *a, *b, *bias; char *out; } Product;

static bool product_full(const Product *p) {
    const MatmulShape *s = p->shape;
    bool relu = p->call->epilogue & EPILOGUE_RELU, wide = s->dtype == DTYPE_F64;
    Gemm gemm = {s->m, s->n, s->k, p->a, p->b, p->out, s->a.ld, s->b.ld, s->out.ld, s->a.by_rows, s->b.by_rows, s->out.by_rows, p->call->alpha, s->has_add ? p->call->beta : 0};
    gemm_run(&gemm, wide);
    if (s->has_bias || relu) finish(&s->out, s->out.ld, p->out, p->bias, s->bias_stride, relu, wide);
    return true;
}

static bool product_half(const Product *p) {
    const MatmulShape *s = p->shape;
    bool bf16 = s->dtype == DTYPE_BF16, relu = p->call->epilogue & EPILOGUE_RELU;
    int64_t length = s->out.by_rows ? s->n : s->m, bias_count = s->has_bias ? s->n : 0;
    float *a = widen_matrix(&s->a, p->a, bf16, true), *b = widen_matrix(&s->b, p->b, bf16, true), *out = widen_matrix(&s->out, p->out, bf16, s->has_add);
    float *bias = malloc((size_t)(bias_count + 1) * sizeof *bias);
    bool good = a && b && out && bias;
    if (good) {
        for (int64_t j = 0; j < bias_count; j++) widen(bias + j, (const uint16_t *)(const void *)p->bias + j * s->bias_stride, 1, bf16);
        int64_t lda = s->a.by_rows ? s->k : s->m, ldb = s->b.by_rows ? s->n : s->k;
        Gemm gemm = {s->m, s->n, s->k, a, b, out, lda + (lda == 0), ldb + (ldb == 0), length, s->a.by_rows, s->b.by_rows, s->out.by_rows, p->call->alpha, s->has_add ? p->call->beta : 0};
        gemm_run(&gemm, false);
        finish(&s->out, length, out, s->has_bias ? bias : NULL, 1, relu, false);
        narrow_matrix(&s->out, p->out, out, bf16);
    }
    free(a), free(b), free(out), free(bias);
    return good;
}

/* Element `i` of the batch. */
static Product product_at(const Product *all, int64_t i) {
    Product p = *all;
    int64_t size = dtype_size(p.shape->dtype);
    p.a += i * p.shape->a.batch_stride * size;
    p.b += i * p.shape->b.batch_stride * size;
    p.out += i * p.shape->out.batch_stride * size;
    return p;
}

static bool batch_run(const Product *all) {
    const MatmulShape *s = all->shape;
    bool half = dtype_size(s->dtype) == 2, good = true;
    double flops = 2.0 * (double)s->m * (double)s->n * (double)s->k;
    int threads = threads_for(flops), lanes = threads_for(flops * (double)s->batch);
    bool across = s->batch > 1 && threads < lanes; /* small products: a thread each */
    openblas_set_num_threads(across ? 1 : threads);
#pragma omp parallel for if (across) num_threads(lanes) schedule(static) reduction(&& : good)
    for (int64_t i = 0; i < s->batch; i++) {
        Product p = product_at(all, i);
        good = (half ? product_half(&p) : product_full(&p)) && good;
    }
    return good;
}

bool blas_matmul(const MatmulCall *call, const void *a, const void *b, void *out, const void *bias, const void *add, OpError *error) {
    MatmulShape shape;
    const char *why;
    if (!blas_supports(call, &why) || !matmul_shape(call, &shape, &why)) return op_error(error, ERROR_RUNTIME, "matmul: %s", why);
    if (shape.m == 0 || shape.n == 0 || shape.batch == 0) return true;
    if (shape.has_add && !(add == out && meta_equal(&call->add_meta, &call->out_meta) && call->add_meta.offset == call->out_meta.offset))
        strided_copy(out, &call->out_meta, add, &call->add_meta);
    Product all = {call, &shape, (const char *)a + shape.a.offset, (const char *)b + shape.b.offset, shape.has_bias ? (const char *)bias + shape.bias_offset : NULL, (char *)out + shape.out.offset};
    return batch_run(&all) || op_error(error, ERROR_MEMORY, "matmul: out of memory for the operands as float32");
}

const char *blas_better_kernels(void) {
#if defined __x86_64__ && defined __GNUC__
    static const char *const without_avx2[] = {"Generic", "Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Sandybridge", "Atom", "Opteron", "Barcelona", "Bobcat"};
    const char *chosen = openblas_get_corename();
    bool old = false;
    for (size_t i = 0; i < sizeof without_avx2 / sizeof *without_avx2; i++) old |= strcasecmp(chosen, without_avx2[i]) == 0;
    if (!old || getenv("OPENBLAS_CORETYPE")) return NULL;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
    return NULL;
}
