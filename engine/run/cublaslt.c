/* cuBLASLt: matmuls on a card with what the library can do behind them: bias, relu, gelu, adding a matrix.
 *
 * In: a MatmulCall over row-major or column-major views. Out: D = epilogue(alpha A B + beta C).
 * The library thinks in columns. A result that lies by rows is therefore computed as D^T = B^T A^T: a matrix by rows is its transpose by columns,
 * so nothing moves, and the bias of D's columns is the bias of D^T's rows, which is the one that the library has.
 *
 * The descriptors and the algorithm of a call are kept under its key (shape, strides, types, epilogue, alignment); on request the algorithms that
 * the heuristic offers are timed once. Invariant: after a shape's first call nothing is allocated or looked for.
 * To add an epilogue: a case in epilogue_of. */
#ifdef HAVE_CUDA_H
#include "run/cuda_api.h"
#include <cublasLt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LT_FUNCTIONS(F)                                                                                                          \
    F(cublasLtCreate) F(cublasLtDestroy) F(cublasLtGetVersion) F(cublasLtGetStatusString) F(cublasLtMatmulDescCreate)             \
    F(cublasLtMatmulDescDestroy) F(cublasLtMatmulDescSetAttribute) F(cublasLtMatrixLayoutCreate) F(cublasLtMatrixLayoutDestroy)   \
    F(cublasLtMatrixLayoutSetAttribute) F(cublasLtMatmulPreferenceCreate) F(cublasLtMatmulPreferenceDestroy)                      \
    F(cublasLtMatmulPreferenceSetAttribute) F(cublasLtMatmulAlgoGetHeuristic) F(cublasLtMatmul)

enum { WORKSPACE_BYTES = 32 << 20, TUNED_ALGORITHMS = 8, TUNING_RUNS = 5, TABLE_SIZE = 512 };

/* One operand by columns, as the library wants it. */
typedef struct Operand { int64_t rows, cols, ld, batch_stride; int32_t transposed, alignment; } Operand;
typedef struct LtKey {
    Operand a, b, c, d;
    int64_t m, n, k, batch;
    int32_t dtype, epilogue, card, tf32, adds, tuned;
} LtKey;

typedef struct LtCall {
    struct LtCall *next;
    LtKey key;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t layouts[4];
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace;
} LtCall;

struct CublasLt {
    const char *why_not;
    cublasLtHandle_t handles[MOST_CARDS];
    void *workspaces[MOST_CARDS];
    LtCall *table[TABLE_SIZE];
#define LT_FIELD(name) __typeof__(&name) name;
    LT_FUNCTIONS(LT_FIELD)
#undef LT_FIELD
};

/* ---- opening ---- */

static const char *bind_functions(Runtime *runtime, CublasLt *lt, void *library) {
#define LT_BIND(name) \
    if (!(*(void **)&lt->name = dlsym(library, #name))) return arena_printf(runtime->arena, "cuBLASLt is too old: it has no %s", #name);
    LT_FUNCTIONS(LT_BIND)
#undef LT_BIND
    return NULL;
}

static CublasLt *lt_open(Runtime *runtime) {
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL};
    if (runtime->cublaslt) return runtime->cublaslt;
    CublasLt *lt = runtime->cublaslt = ARENA_NEW(runtime->arena, CublasLt);
    void *library = library_open(names, cuda_folders, NULL, 0);
    lt->why_not = library ? bind_functions(runtime, lt, library) : "libcublasLt.so was not found";
    return lt;
}

bool cublaslt_version(Runtime *runtime, char *text, size_t room) {
    const CublasLt *lt = lt_open(runtime);
    size_t version = lt->why_not ? 0 : lt->cublasLtGetVersion();
    if (lt->why_not) snprintf(text, room, "%s", lt->why_not);
    else snprintf(text, room, "%zu.%zu.%zu", version / 10000, version % 10000 / 100, version % 100);
    return !lt->why_not;
}

static bool lt_ok(const CublasLt *lt, cublasStatus_t status, const char *call, OpError *error) {
    return status == CUBLAS_STATUS_SUCCESS || op_error(error, ERROR_RUNTIME, "%s: %s (%d)", call, lt->cublasLtGetStatusString(status), (int)status);
}
#define LT_CALL(lt, error, name, arguments) lt_ok((lt), (lt)->name arguments, #name, (error))

static void call_free(const CublasLt *lt, LtCall *call) {
    if (call->operation) lt->cublasLtMatmulDescDestroy(call->operation);
    for (int i = 0; i < 4; i++)
        if (call->layouts[i]) lt->cublasLtMatrixLayoutDestroy(call->layouts[i]);
    free(call);
}

void cublaslt_close(Runtime *runtime) {
    CublasLt *lt = runtime->cublaslt;
    if (!lt || lt->why_not) return;
    for (int i = 0; i < TABLE_SIZE; i++)
        while (lt->table[i]) {
            LtCall *call = lt->table[i];
            lt->table[i] = call->next;
            call_free(lt, call);
        }
    for (int i = 0; i < MOST_CARDS; i++)
        if (lt->handles[i] && cuda_enter(runtime, i, NULL)) {
            pool_release(cuda_pool(runtime, i), lt->workspaces[i], WORKSPACE_BYTES);
            lt->cublasLtDestroy(lt->handles[i]);
            lt->handles[i] = NULL;
        }
}

static bool handle_make(Runtime *runtime, CublasLt *lt, int card, OpError *error) {
    if (lt->handles[card]) return true;
    lt->workspaces[card] = pool_alloc(cuda_pool(runtime, card), WORKSPACE_BYTES);
    if (!lt->workspaces[card]) return op_error(error, ERROR_MEMORY, "out of memory: cuBLASLt's workspace of %d bytes", WORKSPACE_BYTES);
    return LT_CALL(lt, error, cublasLtCreate, (&lt->handles[card]));
}

/* ---- what it can do ---- */

static bool say(const char **why_not, const char *why) {
    if (why_not) *why_not = why;
    return false;
}

static int32_t epilogue_of(unsigned flags) {
    switch (flags) {
    case EPILOGUE_NONE: return CUBLASLT_EPILOGUE_DEFAULT;
    case EPILOGUE_BIAS: return CUBLASLT_EPILOGUE_BIAS;
    case EPILOGUE_RELU: return CUBLASLT_EPILOGUE_RELU;
    case EPILOGUE_RELU | EPILOGUE_BIAS: return CUBLASLT_EPILOGUE_RELU_BIAS;
    case EPILOGUE_GELU_TANH: return CUBLASLT_EPILOGUE_GELU;
    case EPILOGUE_GELU_TANH | EPILOGUE_BIAS: return CUBLASLT_EPILOGUE_GELU_BIAS;
    default: return -1;
    }
}

/* What follows from the call alone: so a plan made without a card is the plan for a card. */
static bool call_supported(const MatmulCall *call, MatmulShape *shape, const char **why_not) {
    if (!matmul_shape(call, shape, why_not)) return false;
    if (epilogue_of(call->epilogue) < 0) return say(why_not, "cuBLASLt has no such epilogue");
    if (call->epilogue && shape->dtype == DTYPE_F64) return say(why_not, "cuBLASLt has no epilogues for float64");
    if (shape->has_bias && !shape->out.by_rows) return say(why_not, "the bias runs across the result's lines");
    if (shape->has_bias && shape->bias_stride != 1) return say(why_not, "the bias is not dense");
    if (shape->k == 0 && (call->epilogue || shape->has_add)) return say(why_not, "the sum is empty");
    return true;
}

bool cublaslt_supports(Runtime *runtime, const MatmulCall *call, const char **why_not) {
    MatmulShape shape;
    if (!call_supported(call, &shape, why_not)) return false;
    const char *why = cuda_ready(runtime) ? lt_open(runtime)->why_not : NULL;
    return why ? say(why_not, why) : true;
}

/* ---- describing a call ---- */

static cudaDataType data_type(DType dtype) {
    return dtype == DTYPE_F64 ? CUDA_R_64F : dtype == DTYPE_BF16 ? CUDA_R_16BF : dtype == DTYPE_F16 ? CUDA_R_16F : CUDA_R_32F;
}

static cublasComputeType_t compute_type(const LtKey *key) {
    if (key->dtype == DTYPE_F64) return CUBLAS_COMPUTE_64F;
    return key->dtype == DTYPE_F32 && key->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

static int32_t alignment_of(const void *at) {
    uintptr_t bits = (uintptr_t)at | 256;
    return (int32_t)(bits & (~bits + 1));
}

/* A factor of a product whose result lies by columns (flip false) or by rows (flip true: the transposed factor is meant). */
static Operand operand_of(const MatrixView *view, bool flip, const void *at) {
    Operand o = {.ld = view->ld, .batch_stride = view->batch_stride, .alignment = alignment_of(at)};
    o.rows = view->by_rows ? view->cols : view->rows; /* as it lies in memory, by columns */
    o.cols = view->by_rows ? view->rows : view->cols;
    o.transposed = view->by_rows != flip;
    return o;
}

typedef struct Pointers { const char *a, *b, *c, *bias; char *d; } Pointers;

/* add_view: where the addend can be read in place, else it was copied into the result, which is then the addend. */
static LtKey key_make(const Runtime *runtime, int card, const MatmulCall *call, const MatmulShape *s, const MatrixView *add_view, const Pointers *p) {
    LtKey key;
    memset(&key, 0, sizeof key); /* it is hashed and compared as bytes */
    bool flip = s->out.by_rows;
    Operand a = operand_of(&s->a, flip, p->a), b = operand_of(&s->b, flip, p->b);
    key.a = flip ? b : a;
    key.b = flip ? a : b;
    key.c = operand_of(add_view, flip, p->c);
    key.d = operand_of(&s->out, flip, p->d);
    key.m = flip ? s->n : s->m, key.n = flip ? s->m : s->n, key.k = s->k, key.batch = s->batch;
    key.dtype = (int32_t)s->dtype, key.epilogue = epilogue_of(call->epilogue), key.card = card;
    key.tf32 = runtime->allow_tf32, key.adds = s->has_add, key.tuned = runtime->tune_matmul;
    return key;
}

static bool layout_make(const CublasLt *lt, const LtKey *key, const Operand *o, cublasLtMatrixLayout_t *layout, OpError *error) {
    if (!LT_CALL(lt, error, cublasLtMatrixLayoutCreate, (layout, data_type((DType)key->dtype), (uint64_t)o->rows, (uint64_t)o->cols, o->ld))) return false;
    int32_t batch = (int32_t)key->batch;
    if (batch == 1) return true;
    return LT_CALL(lt, error, cublasLtMatrixLayoutSetAttribute, (*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch)) &&
           LT_CALL(lt, error, cublasLtMatrixLayoutSetAttribute, (*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &o->batch_stride, sizeof o->batch_stride));
}

static bool operation_make(const CublasLt *lt, const LtKey *key, LtCall *call, OpError *error) {
    cublasOperation_t ta = key->a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, tb = key->b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = (cublasLtEpilogue_t)key->epilogue;
    cudaDataType scale = key->dtype == DTYPE_F64 ? CUDA_R_64F : CUDA_R_32F;
    return LT_CALL(lt, error, cublasLtMatmulDescCreate, (&call->operation, compute_type(key), scale)) &&
           LT_CALL(lt, error, cublasLtMatmulDescSetAttribute, (call->operation, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta)) &&
           LT_CALL(lt, error, cublasLtMatmulDescSetAttribute, (call->operation, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb)) &&
           LT_CALL(lt, error, cublasLtMatmulDescSetAttribute, (call->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
}

static bool bias_set(const CublasLt *lt, const LtCall *call, const void *bias, OpError *error) {
    return !bias || LT_CALL(lt, error, cublasLtMatmulDescSetAttribute, (call->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
}

/* ---- choosing an algorithm ---- */

static bool preference_make(const CublasLt *lt, const LtKey *key, cublasLtMatmulPreference_t *preference, OpError *error) {
    static const cublasLtMatmulPreferenceAttributes_t names[4] = {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                                                                  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const Operand *operands[4] = {&key->a, &key->b, &key->c, &key->d};
    uint64_t workspace = WORKSPACE_BYTES;
    bool good = LT_CALL(lt, error, cublasLtMatmulPreferenceCreate, (preference)) &&
                LT_CALL(lt, error, cublasLtMatmulPreferenceSetAttribute, (*preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace));
    for (int i = 0; i < 4 && good; i++) {
        uint32_t alignment = (uint32_t)operands[i]->alignment;
        good = LT_CALL(lt, error, cublasLtMatmulPreferenceSetAttribute, (*preference, names[i], &alignment, sizeof alignment));
    }
    return good;
}

static int algorithms_find(const CublasLt *lt, const LtKey *key, const LtCall *call, cublasLtMatmulHeuristicResult_t *found, int wanted, OpError *error) {
    cublasLtMatmulPreference_t preference = NULL;
    int count = 0, usable = 0;
    bool good = preference_make(lt, key, &preference, error) &&
                LT_CALL(lt, error, cublasLtMatmulAlgoGetHeuristic, (lt->handles[key->card], call->operation, call->layouts[0], call->layouts[1], call->layouts[2], call->layouts[3], preference, wanted, found, &count));
    if (preference) lt->cublasLtMatmulPreferenceDestroy(preference);
    for (int i = 0; i < count && good; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS) found[usable++] = found[i];
    if (good && usable == 0) op_error(error, ERROR_RUNTIME, "cuBLASLt has no algorithm for this matmul");
    return usable;
}

typedef union Scale { float f; double d; } Scale;
static Scale scale_of(const LtKey *key, double value) {
    Scale scale = {0};
    if (key->dtype == DTYPE_F64) scale.d = value;
    else scale.f = (float)value;
    return scale;
}

typedef struct Run { Runtime *runtime; const LtCall *call; const Pointers *pointers; Scale alpha, beta; void *stream; } Run;

static bool run_with(const CublasLt *lt, const Run *run, const cublasLtMatmulAlgo_t *algorithm, size_t workspace, void *d, OpError *error) {
    const LtCall *call = run->call;
    const Pointers *p = run->pointers;
    return LT_CALL(lt, error, cublasLtMatmul, (lt->handles[call->key.card], call->operation, &run->alpha, p->a, call->layouts[0], p->b, call->layouts[1], &run->beta, p->c, call->layouts[2], d, call->layouts[3], algorithm,
                                               lt->workspaces[call->key.card], workspace, run->stream));
}

/* Device time of one algorithm, the best of some runs; into `d`. */
static double algorithm_us(const CublasLt *lt, const Run *run, const cublasLtMatmulHeuristicResult_t *found, void *d) {
    double best = 1e30;
    OpError ignored;
    for (int i = 0; i < TUNING_RUNS; i++) {
        DeviceTimer *timer = timer_start(run->runtime, (Device){DEVICE_CUDA, run->call->key.card});
        bool good = run_with(lt, run, &found->algo, found->workspaceSize, d, &ignored);
        double us = timer_stop_us(timer);
        if (!good) return 1e30;
        if (i > 0 && us < best) best = us; /* the first one loads code */
    }
    return best;
}

/* Runs that are timed write the result; where it is also the addend, they write elsewhere. */
static int algorithm_fastest(const CublasLt *lt, const Run *run, const cublasLtMatmulHeuristicResult_t *found, int count) {
    const LtKey *key = &run->call->key;
    Pool *pool = cuda_pool(run->runtime, key->card);
    int64_t bytes = (key->d.ld * key->d.cols + (key->batch - 1) * key->d.batch_stride) * dtype_size((DType)key->dtype);
    void *scratch = key->adds ? pool_alloc(pool, bytes) : NULL;
    int best = 0;
    double least = 1e30;
    for (int i = 0; i < count && (scratch || !key->adds); i++) {
        double us = algorithm_us(lt, run, &found[i], scratch ? scratch : run->pointers->d);
        if (us < least) least = us, best = i;
    }
    if (scratch) pool_release(pool, scratch, bytes);
    return best;
}

static bool call_make(const CublasLt *lt, Run *run, LtCall *call, OpError *error) {
    const LtKey *key = &call->key;
    const Operand *operands[4] = {&key->a, &key->b, &key->c, &key->d};
    cublasLtMatmulHeuristicResult_t found[TUNED_ALGORITHMS];
    if (!operation_make(lt, key, call, error)) return false;
    for (int i = 0; i < 4; i++)
        if (!layout_make(lt, key, operands[i], &call->layouts[i], error)) return false;
    if (!bias_set(lt, call, run->pointers->bias, error)) return false;
    int count = algorithms_find(lt, key, call, found, key->tuned ? TUNED_ALGORITHMS : 1, error);
    if (count == 0) return false;
    run->call = call;
    int chosen = count > 1 ? algorithm_fastest(lt, run, found, count) : 0;
    call->algorithm = found[chosen].algo;
    call->workspace = found[chosen].workspaceSize;
    return true;
}

static unsigned key_hash(const LtKey *key) {
    const unsigned char *at = (const unsigned char *)key;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof *key; i += 4) {
        uint32_t word;
        memcpy(&word, at + i, sizeof word);
        hash = (hash ^ word) * 1099511628211u;
    }
    return (unsigned)(hash >> 32) % TABLE_SIZE;
}

static LtCall *call_find(CublasLt *lt, Run *run, const LtKey *key, OpError *error) {
    LtCall **place = &lt->table[key_hash(key)];
    for (LtCall *call = *place; call; call = call->next)
        if (memcmp(&call->key, key, sizeof *key) == 0) return call;
    LtCall *call = calloc(1, sizeof *call);
    if (!call) abort();
    call->key = *key;
    if (!call_make(lt, run, call, error)) {
        call_free(lt, call);
        return NULL;
    }
    call->next = *place;
    *place = call;
    return call;
}

/* ---- the whole ---- */

/* C in place where it lies as D does; else it is first copied into D. */
static bool take_addend(Runtime *runtime, int card, const MatmulCall *call, const MatmulShape *shape, void *out, const void *add, void *stream, MatrixView *view, const char **c, OpError *error) {
    *view = shape->out;
    *c = (char *)out + shape->out.offset;
    if (!shape->has_add) return true;
    bool fits = matrix_view(&call->add_meta, view) && view->by_rows == shape->out.by_rows && (shape->batch == 1 || call->add_meta.rank == 3);
    if (fits) *c = (const char *)add + view->offset;
    else *view = shape->out;
    return fits || cuda_strided_copy(runtime, card, out, &call->out_meta, add, &call->add_meta, stream, error);
}

static bool empty_sum(Runtime *runtime, int card, const MatmulCall *call, void *out, OpError *error) {
    int64_t size = dtype_size(call->out_meta.dtype);
    if (!meta_is_dense(&call->out_meta)) return op_error(error, ERROR_RUNTIME, "matmul: an empty sum into a result with gaps");
    return cuda_fill(runtime, card, (char *)out + call->out_meta.offset * size, 0, meta_numel(&call->out_meta) * size) || op_error(error, ERROR_RUNTIME, "matmul: the result cannot be filled");
}

bool cublaslt_matmul(Runtime *runtime, int index, const MatmulCall *call, void *a, void *b, void *out, void *bias, void *add, void *stream, OpError *error) {
    MatmulShape shape;
    MatrixView add_view;
    const char *why;
    CublasLt *lt = lt_open(runtime);
    if (!call_supported(call, &shape, &why)) return op_error(error, ERROR_RUNTIME, "matmul: %s", why);
    if (lt->why_not) return op_error(error, ERROR_RUNTIME, "matmul on CUDA: %s", lt->why_not);
    if (shape.m == 0 || shape.n == 0 || shape.batch == 0) return true;
    if (!cuda_enter(runtime, index, error) || !handle_make(runtime, lt, index, error)) return false;
    if (shape.k == 0) return empty_sum(runtime, index, call, out, error);
    Pointers p = {.a = (char *)a + shape.a.offset, .b = (char *)b + shape.b.offset, .d = (char *)out + shape.out.offset, .bias = shape.has_bias ? (char *)bias + shape.bias_offset : NULL};
    if (!take_addend(runtime, index, call, &shape, out, add, stream, &add_view, &p.c, error)) return false;
    LtKey key = key_make(runtime, index, call, &shape, &add_view, &p);
    if (shape.out.by_rows) {
        const char *first = p.a;
        p.a = p.b, p.b = first; /* D^T = B^T A^T */
    }
    Run run = {.runtime = runtime, .pointers = &p, .alpha = scale_of(&key, call->alpha), .beta = scale_of(&key, shape.has_add ? call->beta : 0), .stream = stream};
    LtCall *found = call_find(lt, &run, &key, error);
    if (!found || !bias_set(lt, found, p.bias, error)) return false;
    run.call = found;
    return run_with(lt, &run, &found->algorithm, found->workspace, p.d, error);
}
#else
typedef int vitrine_without_cublaslt;
#endif
