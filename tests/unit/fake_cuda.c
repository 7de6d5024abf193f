/* A driver for tests: libcuda's functions over ordinary memory, with a few kernels known by name. test_run.c compiles and loads it.
 *
 * It checks what a driver checks (live pointers and handles, a current context, dynamic shared memory that was asked for first) and fails on request:
 * fake_failing names a function whose next call returns an error. Only an older cuEventElapsedTime is here, on purpose.
 * Invariant: fake_live counts what was made and not destroyed. */
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NOT_PERMITTED = 800, MOST_LAUNCHES = 256 };
typedef unsigned long long Pointer;
typedef struct Function { char symbol[128]; int shared_limit; } Function;
typedef struct Launch { Function *function; void *values[8]; unsigned char loop[512]; } Launch;
typedef struct Stream { int capturing; } Stream;
typedef struct Graph { Launch launches[MOST_LAUNCHES]; int count; } Graph;

const char *fake_failing;
int fake_live, fake_launches, fake_graph_launches, fake_frees;
static int context_current;
static Graph *recording;
static long long memory_left = 1ll << 32;

static int failing(const char *name) {
    if (!fake_failing || strcmp(fake_failing, name) != 0) return 0;
    fake_failing = NULL;
    return 1;
}
#define MAY_FAIL(name) do { if (failing(name)) return 999; } while (0)
#define NEEDS_CONTEXT() do { if (!context_current) return 201; } while (0)

int cuInit(unsigned flags) { (void)flags; MAY_FAIL("cuInit"); return OK; }
int cuDriverGetVersion(int *version) { *version = 13000; return OK; }
int cuGetErrorName(int result, const char **name) { *name = result == 999 ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR_OF_THE_TEST"; return OK; }
int cuGetErrorString(int result, const char **text) { *text = result == NO_MEMORY ? "out of memory" : "made to fail"; return OK; }
int cuDeviceGetCount(int *count) { *count = 2; return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return OK; }
int cuDeviceGetName(char *name, int room, int device) { (void)device; strncpy(name, "Card of the test", (size_t)room); return OK; }
int cuDeviceGetAttribute(int *value, int which, int device) { (void)device; *value = which == 75 ? 9 : which == 76 ? 0 : 132; return OK; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = 1ull << 32; return OK; }
int cuDevicePrimaryCtxRetain(void **context, int device) { MAY_FAIL("cuDevicePrimaryCtxRetain"); *context = (void *)(size_t)(device + 1); fake_live++; return OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; fake_live--; return OK; }
int cuCtxSetCurrent(void *context) { MAY_FAIL("cuCtxSetCurrent"); context_current = (int)(size_t)context; return OK; }
int cuCtxSynchronize(void) { NEEDS_CONTEXT(); MAY_FAIL("cuCtxSynchronize"); return OK; }

int cuMemAlloc_v2(Pointer *at, size_t bytes) {
    NEEDS_CONTEXT();
    if (failing("cuMemAlloc") || (long long)bytes > memory_left) return NO_MEMORY;
    void *block = NULL;
    if (posix_memalign(&block, 256, bytes + 256) != 0) return NO_MEMORY;
    *at = (Pointer)(size_t)block;
    fake_live++;
    return OK;
}
int cuMemFree_v2(Pointer at) { NEEDS_CONTEXT(); free((void *)(size_t)at); fake_live--; fake_frees++; return OK; }
int cuMemcpyHtoD_v2(Pointer dst, const void *src, size_t bytes) { NEEDS_CONTEXT(); MAY_FAIL("cuMemcpyHtoD"); memcpy((void *)(size_t)dst, src, bytes); return OK; }
int cuMemcpyDtoH_v2(void *dst, Pointer src, size_t bytes) { NEEDS_CONTEXT(); MAY_FAIL("cuMemcpyDtoH"); memcpy(dst, (void *)(size_t)src, bytes); return OK; }
int cuMemcpyDtoDAsync_v2(Pointer dst, Pointer src, size_t bytes, Stream *stream) { (void)stream; NEEDS_CONTEXT(); MAY_FAIL("cuMemcpyDtoDAsync"); memmove((void *)(size_t)dst, (void *)(size_t)src, bytes); return OK; }
int cuMemcpyPeer(Pointer dst, void *to, Pointer src, void *from, size_t bytes) { if (to == from) return INVALID; memcpy((void *)(size_t)dst, (void *)(size_t)src, bytes); return OK; }
int cuMemsetD8Async(Pointer dst, unsigned char byte, size_t bytes, Stream *stream) { (void)stream; NEEDS_CONTEXT(); memset((void *)(size_t)dst, byte, bytes); return OK; }
int cuStreamSynchronize(Stream *stream) { (void)stream; return OK; }

int cuModuleLoadData(void **module, const void *image) {
    NEEDS_CONTEXT();
    MAY_FAIL("cuModuleLoadData");
    if (memcmp(image, "\177ELF", 4) != 0) return INVALID;
    *module = malloc(1);
    fake_live++;
    return OK;
}
static Function *functions[64];
static void *owners[64];
int cuModuleUnload(void *module) {
    for (int i = 0; i < 64; i++)
        if (owners[i] == module) { free(functions[i]); functions[i] = NULL; owners[i] = NULL; }
    free(module);
    fake_live--;
    return OK;
}
int cuModuleGetFunction(Function **function, void *module, const char *symbol) {
    MAY_FAIL("cuModuleGetFunction");
    for (int i = 0; i < 64; i++)
        if (!functions[i]) {
            *function = functions[i] = calloc(1, sizeof(Function));
            owners[i] = module;
            strncpy((*function)->symbol, symbol, 127);
            (*function)->shared_limit = 48 << 10;
            return OK;
        }
    return NO_MEMORY;
}
int cuFuncSetAttribute(Function *function, int which, int value) { MAY_FAIL("cuFuncSetAttribute"); if (which == 8) function->shared_limit = value; return OK; }
int cuFuncGetAttribute(int *value, int which, Function *function) { (void)which, (void)function; *value = 0; return OK; }

struct Loop { int rank, unused; long sizes[12], dst[12], src[12]; };
static void run_strided(void *dst, const void *src, long count, const struct Loop *loop, size_t size) {
    for (long i = 0; i < count; i++) {
        long rest = i, to = 0, from = 0;
        for (int d = loop->rank - 1; d >= 0; d--) {
            long at = rest % loop->sizes[d];
            rest /= loop->sizes[d];
            to += at * loop->dst[d], from += at * loop->src[d];
        }
        memcpy((char *)dst + (size_t)to * size, (const char *)src + (size_t)from * size, size);
    }
}
static void run_launch(const Launch *l) {
    float *x = l->values[0], *y = l->values[1];
    long n = (long)(size_t)l->values[2];
    if (strncmp(l->function->symbol, "strided_copy", 12) == 0) run_strided(x, y, n, (const struct Loop *)(const void *)l->loop, (size_t)(l->function->symbol[14] - '0'));
    else if (strncmp(l->function->symbol, "vector_copy", 11) == 0) memcpy(x, y, (size_t)n * 16);
    else
        for (long i = 0; i < n; i++) y[i] = (strncmp(l->function->symbol, "triple", 6) == 0 ? 3.0f : 2.0f) * x[i];
}
static int launch(Function *function, unsigned shared, Stream *stream, void **params) {
    Launch l = {.function = function};
    NEEDS_CONTEXT();
    if ((int)shared > function->shared_limit) return INVALID;
    for (int i = 0; i < 3; i++) l.values[i] = *(void **)params[i];
    if (strncmp(function->symbol, "strided_copy", 12) == 0) memcpy(l.loop, params[3], sizeof(struct Loop));
    fake_launches++;
    if (stream && stream->capturing) {
        if (recording->count == MOST_LAUNCHES) return NO_MEMORY;
        recording->launches[recording->count++] = l;
    } else run_launch(&l);
    return OK;
}
int cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, Stream *stream, void **params, void **extra) {
    MAY_FAIL("cuLaunchKernel");
    if (!gx || !gy || !gz || !bx || !by || !bz || extra || (unsigned long long)bx * by * bz > 1024) return INVALID;
    return launch(function, shared, stream, params);
}
struct Config { unsigned grid[3], block[3], shared; Stream *stream; void *attributes; unsigned attribute_count; };
int cuLaunchKernelEx(const struct Config *config, Function *function, void **params, void **extra) {
    MAY_FAIL("cuLaunchKernelEx");
    if (config->attribute_count != 1 || extra) return INVALID;
    return launch(function, config->shared, config->stream, params);
}

int cuEventCreate(void **event, unsigned flags) { (void)flags; MAY_FAIL("cuEventCreate"); *event = calloc(1, sizeof(double)); fake_live++; return OK; }
int cuEventDestroy_v2(void *event) { free(event); fake_live--; return OK; }
int cuEventRecord(double *event, Stream *stream) { static double now; (void)stream; MAY_FAIL("cuEventRecord"); *event = ++now; return OK; }
int cuEventSynchronize(void *event) { (void)event; return OK; }
int cuEventElapsedTime(float *ms, double *start, double *stop) { *ms = (float)(*stop - *start); return OK; }

int cuStreamCreate(Stream **stream, unsigned flags) { if (flags != 1) return INVALID; *stream = calloc(1, sizeof **stream); fake_live++; return OK; }
int cuStreamDestroy_v2(Stream *stream) { free(stream); fake_live--; return OK; }
int cuStreamBeginCapture_v2(Stream *stream, int mode) { (void)mode; if (!stream || stream->capturing) return NOT_PERMITTED; stream->capturing = 1; recording = calloc(1, sizeof *recording); return OK; }
int cuStreamEndCapture(Stream *stream, Graph **graph) { MAY_FAIL("cuStreamEndCapture"); if (!stream->capturing) return NOT_PERMITTED; stream->capturing = 0; *graph = recording; fake_live++; return OK; }
int cuGraphInstantiateWithFlags(Graph **exec, Graph *graph, unsigned long long flags) { (void)flags; *exec = malloc(sizeof **exec); **exec = *graph; fake_live++; return OK; }
int cuGraphLaunch(Graph *exec, Stream *stream) { if (stream) return INVALID; fake_graph_launches++; for (int i = 0; i < exec->count; i++) run_launch(&exec->launches[i]); return OK; }
int cuGraphExecDestroy(Graph *exec) { free(exec); fake_live--; return OK; }
int cuGraphDestroy(Graph *graph) { free(graph); fake_live--; return OK; }
