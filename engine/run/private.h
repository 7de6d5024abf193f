/* Private: what the files of run/ share: the Runtime, and what each file gives the others, a section a file.
 *
 * Invariant: nothing is opened before it is needed; a thing that could not be opened keeps the reason (`why_not`) and is not tried again. */
#ifndef VITRINE_RUN_PRIVATE_H
#define VITRINE_RUN_PRIVATE_H
#include "run/diskcache.h"
#include "run/pool.h"
#include "run/dimcode.h"
#include "run/runtime.h"

typedef struct HostCompiler HostCompiler;
typedef struct Cuda Cuda;
typedef struct Nvrtc Nvrtc;
typedef struct CublasLt CublasLt;
typedef struct CodeTable CodeTable;
typedef struct Module Module;

struct Runtime {
    Arena *arena;
    const char *arch, *card_arch; /* as asked for, or NULL; that of the card, once known */
    volatile int *interrupt;
    void (*warn)(void *, const char *); void *warn_state;
    uint64_t storage_ids;
    Pool *host_pool;
    OpContext own_context; const OpContext *context; /* the VM's, once it is given: a generator and a default dtype of now */
    bool allow_tf32, tune_matmul, replay_graphs;
    const char *scratch; /* a folder of this process alone, made on first use */
    unsigned scratch_files;
    DiskCache *disk;
    uint64_t cache_salt, cache_salts; /* of keys while the caches are bypassed, 0: they are not; salts given out */
    HostCompiler *host;
    Cuda *cuda;
    Nvrtc *nvrtc;
    CublasLt *cublaslt;
    CodeTable *code;
    struct PlanState *plans; /* those loaded, a list */
    void *host_flush; /* see timing.c */
    bool warned_extern, warned_kernels;
    bool closed;
};

/* ---- runtime.c ---- */
Pool *runtime_pool(Runtime *runtime, Device device);                     /* NULL: no such device */
void runtime_warn(Runtime *runtime, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool runtime_interrupted(const Runtime *runtime);
/* A new name in the private folder; false when the folder cannot be made. Threads may call it. */
bool runtime_scratch(Runtime *runtime, const char *ending, char *path, size_t room);
int runtime_cores(void);
bool file_read(const char *path, void **data, int64_t *bytes);           /* malloc'ed, a NUL behind the data */
bool file_write(const char *path, const void *data, int64_t bytes);

/* ---- library.c: shared libraries by name, looked for in the usual places ---- */
void *library_open(const char *const *names, const char *const *folders, char *found, size_t room); /* NULL-terminated lists; folders may hold '*' */
extern const char *const cuda_folders[];
bool program_find(const char *name, const char *const *folders, char *path, size_t room); /* in PATH, then in the folders' ../bin */

/* ---- process.c ---- */
typedef struct ProcessResult { int status; bool started, interrupted; char *output; int64_t bytes; } ProcessResult; /* output: stdout and stderr, malloc'ed, NUL behind */
bool process_run(const char *const *arguments, volatile int *interrupt, ProcessResult *result); /* true: ended with status 0 */

/* ---- host.c ---- */
bool host_available(Runtime *runtime, const char **why_not);
const char *host_identity(Runtime *runtime);                              /* compiler, flags and processor: part of cache keys */
typedef struct CompilerOutput { void *binary; int64_t bytes; char *log; bool interrupted; } CompilerOutput; /* malloc'ed */
bool host_compile(Runtime *runtime, const char *source, bool assembly, CompilerOutput *output); /* threads may call it */

/* ---- nvrtc.c ---- */
bool nvrtc_compile_unit(Runtime *runtime, const char *source, const char *arch, bool cubin, bool verbose, CompilerOutput *output); /* threads may call it */
const char *nvrtc_identity(Runtime *runtime);
void nvrtc_close(Runtime *runtime);

/* ---- code.c: from kernels to loaded functions, through the disk cache ---- */
typedef struct LoadedKernel {   /* shared by all plans that have the same text */
    CacheKey key;
    char *symbol;
    Module *module;
    CKernelFn c;
    void *function;             /* CUfunction; NULL when compiled but no card is there */
    int refs, device;
} LoadedKernel;
/* loaded[i] for kernels[i], each with a reference. On false all are NULL. */
bool kernels_load(Runtime *runtime, const Kernel *const *kernels, int count, int device_index, LoadedKernel **loaded, CompileReport *report, OpError *error);
void kernel_release(Runtime *runtime, LoadedKernel *loaded);
void kernels_close(Runtime *runtime);

/* ---- copy.c: strided copies on the host ---- */
void strided_copy(void *dst, const Meta *dst_meta, const void *src, const Meta *src_meta); /* same sizes and dtype size; pointers to element 0 of the storages */
bool meta_layout_equal(const Meta *a, const Meta *b); /* same sizes and strides, dense: a copy is one block */

/* ---- blas.c ---- */
bool blas_matmul(const MatmulCall *call, const void *a, const void *b, void *out, const void *bias, const void *add, OpError *error);
bool blas_supports(const MatmulCall *call, const char **why_not);

/* ---- matmul.c: a call as BLAS sees it ---- */
typedef struct MatrixView { int64_t rows, cols, ld, batch_stride, offset; bool by_rows; } MatrixView; /* by_rows: a row's elements are neighbours, rows are ld apart; else columns are. offset: bytes */
typedef struct MatmulShape {
    int64_t m, n, k, batch;
    DType dtype;
    MatrixView a, b, out;
    int64_t bias_offset, bias_stride;
    bool has_bias, has_add;
} MatmulShape;
bool matmul_shape(const MatmulCall *call, MatmulShape *shape, const char **why_not);
bool matrix_view(const Meta *meta, MatrixView *view); /* false: neither rows nor columns lie together, or rows overlap */

/* ---- cuda.c: the driver ---- */
void cuda_close(Runtime *runtime);
bool cuda_ready(Runtime *runtime);
bool cuda_enter(Runtime *runtime, int index, OpError *error);             /* makes the card's primary context current */
Pool *cuda_pool(Runtime *runtime, int index);
bool cuda_copy(Runtime *runtime, void *dst, Device dst_device, const void *src, Device src_device, int64_t bytes, OpError *error);
bool cuda_copy_async(Runtime *runtime, void *dst, const void *src, int64_t bytes, void *stream, OpError *error); /* within a card */
bool cuda_fill(Runtime *runtime, int index, void *dst, int byte, int64_t bytes);
bool cuda_synchronize(Runtime *runtime, int index, OpError *error);
bool cuda_facts(Runtime *runtime, int index, DeviceFacts *facts);
bool cuda_module_load(Runtime *runtime, int index, const void *cubin, void **module, OpError *error);
void cuda_module_unload(Runtime *runtime, int index, void *module);
bool cuda_module_function(Runtime *runtime, void *module, const char *symbol, void **function, OpError *error);
typedef struct CudaLaunch { void *function; unsigned grid[3], block[3], shared, cluster; void **params; } CudaLaunch;
bool cuda_prepare(Runtime *runtime, const CudaLaunch *launch, OpError *error); /* attributes that large shared memory and clusters need */
bool cuda_launch(Runtime *runtime, const CudaLaunch *launch, void *stream, OpError *error);
int cuda_driver_version(Runtime *runtime);
/* events */
bool cuda_event_new(Runtime *runtime, void **event, OpError *error);
void cuda_event_free(Runtime *runtime, void *event);
bool cuda_event_record(Runtime *runtime, void *event, void *stream, OpError *error);
bool cuda_event_us(Runtime *runtime, void *start, void *stop, double *us, OpError *error); /* waits for stop */

/* ---- cuda_copy.c: copies by kernels of our own ---- */
bool cuda_vector_copy(Runtime *runtime, int index, void *dst, const void *src, int64_t bytes, OpError *error); /* default stream; a multiple of 16 bytes, aligned */
bool cuda_strided_copy(Runtime *runtime, int index, void *dst, const Meta *dst_meta, const void *src, const Meta *src_meta, void *stream, OpError *error);

/* ---- cublaslt.c ---- */
bool cublaslt_matmul(Runtime *runtime, int index, const MatmulCall *call, void *a, void *b, void *out, void *bias, void *add, void *stream, OpError *error);
bool cublaslt_supports(Runtime *runtime, const MatmulCall *call, const char **why_not);
bool cublaslt_version(Runtime *runtime, char *text, size_t room);
void cublaslt_close(Runtime *runtime);

/* ---- launch.c ---- */
void plans_close(Runtime *runtime); /* plans that are still loaded lose their code */
#endif
