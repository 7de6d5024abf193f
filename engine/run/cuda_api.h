/* CUDA API: the driver's functions by name, opened when the program runs, and what is kept of each card.
 *
 *     CUDA_CALL(cuda, error, cuMemsetD8Async, (pointer, 0, bytes, stream))     // true, or error says which call failed and why
 *
 * The names of <cuda.h> are macros for the version that the headers stand for (cuMemAlloc -> cuMemAlloc_v2); fields and symbols follow them.
 * To use one more function: its name in CUDA_FUNCTIONS. Only with HAVE_CUDA_H. */
#ifndef VITRINE_RUN_CUDA_API_H
#define VITRINE_RUN_CUDA_API_H
#ifdef HAVE_CUDA_H
#include "run/private.h"
#include <cuda.h>
#include <pthread.h>

#define CUDA_FUNCTIONS(F)                                                                                                        \
    F(cuInit) F(cuDriverGetVersion) F(cuGetErrorName) F(cuGetErrorString) F(cuDeviceGetCount) F(cuDeviceGet) F(cuDeviceGetName)   \
    F(cuDeviceGetAttribute) F(cuDeviceTotalMem) F(cuDevicePrimaryCtxRetain) F(cuDevicePrimaryCtxRelease) F(cuCtxSetCurrent)       \
    F(cuCtxSynchronize) F(cuMemAlloc) F(cuMemFree) F(cuMemcpyHtoD) F(cuMemcpyDtoH) F(cuMemcpyDtoDAsync) F(cuMemcpyPeer)           \
    F(cuMemsetD8Async) F(cuStreamSynchronize) F(cuModuleLoadData) F(cuModuleUnload) F(cuModuleGetFunction) F(cuFuncSetAttribute)  \
    F(cuFuncGetAttribute) F(cuLaunchKernel) F(cuLaunchKernelEx) F(cuEventCreate) F(cuEventDestroy) F(cuEventRecord)               \
    F(cuEventSynchronize) F(cuEventElapsedTime) F(cuStreamCreate) F(cuStreamDestroy) F(cuStreamBeginCapture)                      \
    F(cuStreamEndCapture) F(cuGraphInstantiate) F(cuGraphLaunch) F(cuGraphExecDestroy) F(cuGraphDestroy)

enum { MOST_CARDS = 16 };

typedef struct Card {
    Runtime *runtime;
    int index;
    CUdevice device;
    CUcontext context; /* NULL until the card is first used */
    Pool *pool;
    LoadedKernel *strided[4], *vector_copy; /* see cuda_copy.c; strided: by log2 of the element size */
    CUstream side;            /* for recording graphs */
} Card;

struct Cuda {
    const char *why_not; /* NULL: the driver is there and has a card */
    int count, version;
    pthread_t owner;     /* the thread that opened the driver */
    int current;         /* the card whose context is current in that thread, -1: none yet */
    Card cards[MOST_CARDS];
#define CUDA_FIELD(name) __typeof__(&name) name;
    CUDA_FUNCTIONS(CUDA_FIELD)
#undef CUDA_FIELD
};

Cuda *cuda_open(Runtime *runtime);
Card *cuda_card(Runtime *runtime, int index, OpError *error); /* its context current; NULL with the error */
bool cuda_failed(const Cuda *cuda, CUresult result, const char *call, OpError *error); /* false; error may be NULL */

#define CUDA_CALL(cuda, error, name, arguments) cuda_ok((cuda), (cuda)->name arguments, #name, (error))
static inline bool cuda_ok(const Cuda *cuda, CUresult result, const char *call, OpError *error) {
    return result == CUDA_SUCCESS || cuda_failed(cuda, result, call, error);
}
#endif
#endif
