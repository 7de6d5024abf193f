/* CUDA: cards through the driver API, opened by dlopen when first asked for.
 *
 * In: memory, modules and functions by pointer. Out: the same, each call checked; an error names the call, the driver's word for it and its number.
 * Everything runs in the default stream of the card's primary context, which cuBLASLt and NCCL share.
 *
 * Invariant: a function that takes a card's index makes its context current first; those that take a handle alone rely on plan_run having done so.
 * To use one more function of the driver: CUDA_FUNCTIONS in cuda_api.h. */
#ifdef HAVE_CUDA_H
#include "run/cuda_api.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

bool cuda_failed(const Cuda *cuda, CUresult result, const char *call, OpError *error) {
    const char *name = NULL, *meaning = NULL;
    if (!error) return false;
    cuda->cuGetErrorName(result, &name);
    cuda->cuGetErrorString(result, &meaning);
    ErrorType type = result == CUDA_ERROR_OUT_OF_MEMORY ? ERROR_MEMORY : ERROR_RUNTIME;
    return op_error(error, type, "%s: %s (%s, %d)", call, meaning ? meaning : "unknown error", name ? name : "?", (int)result);
}

/* ---- opening ---- */

#define TEXT_OF(name) TEXT_OF_EXPANDED(name)
#define TEXT_OF_EXPANDED(name) #name

/* An older driver may have only an older version of a function, with the same arguments (cuEventElapsedTime): its name without "_v2". */
static void *driver_symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    char older[64];
    const char *version = strstr(name, "_v");
    if (found || !version) return found;
    snprintf(older, sizeof older, "%.*s", (int)(version - name), name);
    return dlsym(library, older);
}

static const char *bind_functions(Runtime *runtime, Cuda *cuda, void *library) {
#define CUDA_BIND(name) \
    if (!(*(void **)&cuda->name = driver_symbol(library, TEXT_OF(name)))) return arena_printf(runtime->arena, "the NVIDIA driver is too old: it has no %s", TEXT_OF(name));
    CUDA_FUNCTIONS(CUDA_BIND)
#undef CUDA_BIND
    return NULL;
}

static const char *start_driver(Runtime *runtime, Cuda *cuda) {
    OpError error;
    if (!CUDA_CALL(cuda, &error, cuInit, (0)) || !CUDA_CALL(cuda, &error, cuDriverGetVersion, (&cuda->version)) || !CUDA_CALL(cuda, &error, cuDeviceGetCount, (&cuda->count)))
        return arena_strdup(runtime->arena, error.message);
    if (cuda->count > MOST_CARDS) cuda->count = MOST_CARDS;
    for (int i = 0; i < cuda->count; i++) {
        cuda->cards[i].runtime = runtime;
        cuda->cards[i].index = i;
        if (!CUDA_CALL(cuda, &error, cuDeviceGet, (&cuda->cards[i].device, i))) return arena_strdup(runtime->arena, error.message);
    }
    return cuda->count ? NULL : "the NVIDIA driver is there, but no card";
}

Cuda *cuda_open(Runtime *runtime) {
    static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
    if (runtime->cuda) return runtime->cuda;
    Cuda *cuda = runtime->cuda = ARENA_NEW(runtime->arena, Cuda);
    cuda->owner = pthread_self();
    cuda->current = -1;
    void *library = library_open(names, NULL, NULL, 0);
    cuda->why_not = library ? bind_functions(runtime, cuda, library) : "no NVIDIA driver (libcuda.so.1 was not found)";
    if (!cuda->why_not) cuda->why_not = start_driver(runtime, cuda);
    if (cuda->why_not) cuda->count = 0;
    return cuda;
}

bool cuda_ready(Runtime *runtime) { return !cuda_open(runtime)->why_not; }
int cuda_device_count(Runtime *runtime) { return cuda_open(runtime)->count; }
int cuda_driver_version(Runtime *runtime) { return cuda_open(runtime)->version; }

bool cuda_available(Runtime *runtime, const char **why_not) {
    if (why_not) *why_not = cuda_open(runtime)->why_not;
    return cuda_ready(runtime);
}

void cuda_close(Runtime *runtime) {
    Cuda *cuda = runtime->cuda;
    for (int i = 0; cuda && i < cuda->count; i++) {
        Card *card = &cuda->cards[i];
        if (!card->context) continue;
        cuda->cuCtxSetCurrent(card->context);
        if (card->side) cuda->cuStreamDestroy(card->side);
        pool_free(card->pool);
        cuda->cuDevicePrimaryCtxRelease(card->device);
        card->context = NULL;
    }
}

/* ---- memory ---- */

static void *card_get(void *state, int64_t bytes) {
    Card *card = state;
    CUdeviceptr at = 0;
    if (!cuda_enter(card->runtime, card->index, NULL)) return NULL;
    return card->runtime->cuda->cuMemAlloc(&at, (size_t)bytes) == CUDA_SUCCESS ? (void *)(uintptr_t)at : NULL;
}

static void card_give_back(void *state, void *at, int64_t bytes) {
    Card *card = state;
    (void)bytes;
    if (cuda_enter(card->runtime, card->index, NULL)) card->runtime->cuda->cuMemFree((CUdeviceptr)(uintptr_t)at);
}

static bool card_start(Cuda *cuda, Card *card, OpError *error) {
    if (!CUDA_CALL(cuda, error, cuDevicePrimaryCtxRetain, (&card->context, card->device))) return false;
    PoolSource source = {.state = card, .get = card_get, .give_back = card_give_back, .cache_limit = INT64_MAX, .slab_bytes = 2 << 20};
    card->pool = pool_new(source);
    return true;
}

/* A thread's context stays until it is changed: the owner's, which launches most, is remembered. Libraries that change it put it back. */
static bool make_current(Cuda *cuda, const Card *card, OpError *error) {
    bool mine = pthread_equal(cuda->owner, pthread_self());
    if (mine && cuda->current == card->index) return true;
    if (!CUDA_CALL(cuda, error, cuCtxSetCurrent, (card->context))) return false;
    if (mine) cuda->current = card->index;
    return true;
}

Card *cuda_card(Runtime *runtime, int index, OpError *error) {
    Cuda *cuda = cuda_open(runtime);
    if (cuda->why_not || index < 0 || index >= cuda->count) {
        if (error && cuda->why_not) op_error(error, ERROR_RUNTIME, "CUDA is not available: %s", cuda->why_not);
        else if (error) op_error(error, ERROR_RUNTIME, "there is no cuda:%d: the machine has %d card%s", index, cuda->count, cuda->count == 1 ? "" : "s");
        return NULL;
    }
    Card *card = &cuda->cards[index];
    if (!card->context && !card_start(cuda, card, error)) return NULL;
    return make_current(cuda, card, error) ? card : NULL;
}

bool cuda_enter(Runtime *runtime, int index, OpError *error) { return cuda_card(runtime, index, error) != NULL; }

Pool *cuda_pool(Runtime *runtime, int index) {
    Cuda *cuda = cuda_open(runtime);
    if (index >= 0 && index < cuda->count && cuda->cards[index].context) return cuda->cards[index].pool;
    Card *card = cuda_card(runtime, index, NULL);
    return card ? card->pool : NULL;
}

bool cuda_copy_async(Runtime *runtime, void *dst, const void *src, int64_t bytes, void *stream, OpError *error) {
    if (bytes == 0) return true;
    return CUDA_CALL(runtime->cuda, error, cuMemcpyDtoDAsync, ((CUdeviceptr)(uintptr_t)dst, (CUdeviceptr)(uintptr_t)src, (size_t)bytes, stream));
}

bool cuda_copy(Runtime *runtime, void *dst, Device dst_device, const void *src, Device src_device, int64_t bytes, OpError *error) {
    bool to_card = dst_device.kind == DEVICE_CUDA, from_card = src_device.kind == DEVICE_CUDA;
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)dst, from = (CUdeviceptr)(uintptr_t)src;
    Card *other = to_card && from_card && dst_device.index != src_device.index ? cuda_card(runtime, src_device.index, error) : NULL;
    Card *card = cuda_card(runtime, to_card ? dst_device.index : src_device.index, error);
    Cuda *cuda = runtime->cuda;
    if (!card) return false;
    if (!from_card) return CUDA_CALL(cuda, error, cuMemcpyHtoD, (to, src, (size_t)bytes));
    if (!to_card) return CUDA_CALL(cuda, error, cuMemcpyDtoH, (dst, from, (size_t)bytes));
    if (dst_device.index != src_device.index)
        return other && CUDA_CALL(cuda, error, cuMemcpyPeer, (to, card->context, from, other->context, (size_t)bytes)) && cuda_synchronize(runtime, dst_device.index, error);
    return cuda_copy_async(runtime, dst, src, bytes, NULL, error) && CUDA_CALL(cuda, error, cuStreamSynchronize, (NULL));
}

bool cuda_fill(Runtime *runtime, int index, void *dst, int byte, int64_t bytes) {
    return cuda_enter(runtime, index, NULL) && CUDA_CALL(runtime->cuda, NULL, cuMemsetD8Async, ((CUdeviceptr)(uintptr_t)dst, (unsigned char)byte, (size_t)bytes, NULL));
}

bool cuda_synchronize(Runtime *runtime, int index, OpError *error) {
    return cuda_enter(runtime, index, error) && CUDA_CALL(runtime->cuda, error, cuCtxSynchronize, ());
}

/* ---- facts ---- */

static int attribute(const Cuda *cuda, CUdevice device, CUdevice_attribute which) {
    int value = 0;
    cuda->cuDeviceGetAttribute(&value, which, device);
    return value;
}

bool cuda_facts(Runtime *runtime, int index, DeviceFacts *facts) {
    Cuda *cuda = cuda_open(runtime);
    size_t bytes = 0;
    if (index < 0 || index >= cuda->count) return false;
    CUdevice device = cuda->cards[index].device;
    cuda->cuDeviceGetName(facts->name, sizeof facts->name, device);
    cuda->cuDeviceTotalMem(&bytes, device);
    facts->memory_bytes = (int64_t)bytes;
    facts->major = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    facts->minor = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    facts->sm_count = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    facts->shared_per_block = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    facts->shared_per_sm = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    facts->l2_bytes = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    return true;
}

/* From Hopper on, "a": code that may use what only that generation has (wgmma, setmaxnreg). */
const char *cuda_arch(Runtime *runtime) {
    DeviceFacts facts;
    if (!cuda_ready(runtime) || !cuda_facts(runtime, 0, &facts)) return runtime->arch ? runtime->arch : "sm_90a";
    if (!runtime->card_arch) runtime->card_arch = arena_printf(runtime->arena, "sm_%d%d%s", facts.major, facts.minor, facts.major >= 9 ? "a" : "");
    return runtime->card_arch;
}

/* ---- code ---- */

bool cuda_module_load(Runtime *runtime, int index, const void *cubin, void **module, OpError *error) {
    CUmodule loaded = NULL;
    if (!cuda_enter(runtime, index, error) || !CUDA_CALL(runtime->cuda, error, cuModuleLoadData, (&loaded, cubin))) return false;
    *module = loaded;
    return true;
}

void cuda_module_unload(Runtime *runtime, int index, void *module) {
    if (cuda_enter(runtime, index, NULL)) runtime->cuda->cuModuleUnload(module);
}

bool cuda_module_function(Runtime *runtime, void *module, const char *symbol, void **function, OpError *error) {
    CUfunction found = NULL;
    if (!CUDA_CALL(runtime->cuda, error, cuModuleGetFunction, (&found, module, symbol))) return false;
    *function = found;
    return true;
}

bool cuda_prepare(Runtime *runtime, const CudaLaunch *launch, OpError *error) {
    enum { FREE_SHARED = 48 << 10, PORTABLE_CLUSTER = 8 };
    Cuda *cuda = runtime->cuda;
    CUfunction function = launch->function;
    int fixed = 0;
    if (!CUDA_CALL(cuda, error, cuFuncGetAttribute, (&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function))) return false;
    if (launch->shared > 0 && fixed + (int)launch->shared > FREE_SHARED &&
        !CUDA_CALL(cuda, error, cuFuncSetAttribute, (function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->shared)))
        return false;
    return launch->cluster <= PORTABLE_CLUSTER || CUDA_CALL(cuda, error, cuFuncSetAttribute, (function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
}

static bool launch_cluster(Cuda *cuda, const CudaLaunch *l, CUstream stream, OpError *error) {
    CUlaunchAttribute attribute_list[1] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}};
    attribute_list[0].value.clusterDim.x = l->cluster;
    attribute_list[0].value.clusterDim.y = attribute_list[0].value.clusterDim.z = 1;
    CUlaunchConfig config = {
        .gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2], .blockDimX = l->block[0], .blockDimY = l->block[1], .blockDimZ = l->block[2],
        .sharedMemBytes = l->shared, .hStream = stream, .attrs = attribute_list, .numAttrs = 1,
    };
    return CUDA_CALL(cuda, error, cuLaunchKernelEx, (&config, l->function, l->params, NULL));
}

bool cuda_launch(Runtime *runtime, const CudaLaunch *l, void *stream, OpError *error) {
    Cuda *cuda = runtime->cuda;
    if (l->cluster > 1) return launch_cluster(cuda, l, stream, error);
    return CUDA_CALL(cuda, error, cuLaunchKernel, (l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared, stream, l->params, NULL));
}

/* ---- events ---- */

bool cuda_event_new(Runtime *runtime, void **event, OpError *error) {
    CUevent made = NULL;
    if (!CUDA_CALL(runtime->cuda, error, cuEventCreate, (&made, CU_EVENT_DEFAULT))) return false;
    *event = made;
    return true;
}

void cuda_event_free(Runtime *runtime, void *event) {
    if (event) runtime->cuda->cuEventDestroy(event);
}

bool cuda_event_record(Runtime *runtime, void *event, void *stream, OpError *error) {
    return CUDA_CALL(runtime->cuda, error, cuEventRecord, (event, stream));
}

bool cuda_event_us(Runtime *runtime, void *start, void *stop, double *us, OpError *error) {
    float ms = 0;
    if (!CUDA_CALL(runtime->cuda, error, cuEventSynchronize, (stop)) || !CUDA_CALL(runtime->cuda, error, cuEventElapsedTime, (&ms, start, stop))) return false;
    *us = (double)ms * 1e3;
    return true;
}
#else
typedef int vitrine_without_cuda;
#endif
