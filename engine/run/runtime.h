/* Runtime: devices, memory, compilers of kernels, libraries, the disk cache; loading and running plans.
 *
 * Everything outside the process is opened when first needed: libcuda, NVRTC, cuBLASLt and cc. One binary runs with and without a card.
 *
 *     Runtime *rt = runtime_new(arena, &options);
 *     if (!plan_load(rt, plan, &report, &error)) ...               // compiles or finds in the cache
 *     plan_run(rt, plan, inputs, constants, outputs, sizes, &error);
 */
#ifndef VITRINE_RUN_RUNTIME_H
#define VITRINE_RUN_RUNTIME_H
#include "ir/plan.h"
#include "run/storage.h"

typedef struct RuntimeOptions {
    const char *cache_dir;          /* NULL: the default under the XDG cache home; "" : no cache */
    const char *arch;               /* "sm_90a": what CUDA code is made for when no card is there; NULL: the card's, else sm_90a */
    volatile int *interrupt;
    void (*warn)(void *state, const char *text); void *warn_state; /* an unwritable cache, a missing compiler: said once */
} RuntimeOptions;

Runtime *runtime_new(Arena *arena, const RuntimeOptions *options);   /* opens nothing yet */
void runtime_close(Runtime *runtime);                                 /* every storage must be gone before; plans lose their code */
int runtime_threads(void);                                              /* of eager loops on the CPU, at the start: OMP_NUM_THREADS, or the processors that this process may use */
void runtime_set_context(Runtime *runtime, const OpContext *context); /* what extern ops of a plan run with (generator, default dtype); borrowed */
void runtime_allow_tf32(Runtime *runtime, bool allow);                /* float32 matmuls on CUDA; off at the start */
void runtime_tune_matmul(Runtime *runtime, bool tune);                /* time the library's algorithms at a shape's first use; off at the start */
void runtime_replay_graphs(Runtime *runtime, bool replay);            /* record a static plan's launches as a CUDA graph and replay it; off at the start */

/* Devices */
int cuda_device_count(Runtime *runtime);                              /* 0 without a driver */
bool cuda_available(Runtime *runtime, const char **why_not);          /* opens the driver on first use */
bool nvrtc_available(Runtime *runtime, const char **why_not);
const char *cuda_arch(Runtime *runtime);                              /* "sm_90a" */
typedef struct DeviceFacts { char name[128]; int major, minor, sm_count; int64_t memory_bytes; int shared_per_block, shared_per_sm, l2_bytes; double copy_gbs; /* measured once a process on request, else 0 */ } DeviceFacts;
bool device_facts(Runtime *runtime, Device device, DeviceFacts *facts, bool measure);
bool device_copy(Runtime *runtime, void *dst, Device dst_device, const void *src, Device src_device, int64_t bytes, OpError *error); /* synchronous */
bool device_fill(Runtime *runtime, Device device, void *dst, int byte, int64_t bytes);
bool device_synchronize(Runtime *runtime, Device device, OpError *error);
void runtime_versions(Runtime *runtime, Text *text);                  /* for --version: driver, NVRTC, cuBLAS, NCCL, cc; what was found */
int64_t device_memory_used(Runtime *runtime, Device device);

/* Compiling */
typedef struct CompileReport { int kernels, cached; double seconds; } CompileReport;
/* While on, kernels are compiled though they are cached or loaded already: for measuring. */
void runtime_bypass_cache(Runtime *runtime, bool on);
/* Into the disk cache, nothing kept loaded. */
bool kernels_compile(Runtime *runtime, const Kernel *const *kernels, int count, CompileReport *report, OpError *error);
bool plan_load(Runtime *runtime, Plan *plan, CompileReport *report, OpError *error); /* all kernels, in few compiler calls, through the disk cache */
void plan_unload(Runtime *runtime, Plan *plan);
/* Compiles CUDA source for an arch without loading it (no card needed): "ptx", "cubin"; the log on failure. Results in arena. */
typedef struct CudaBuild { const char *ptx; const void *cubin; int64_t cubin_bytes; const char *log; } CudaBuild;
bool nvrtc_compile(Runtime *runtime, const char *source, const char *arch, bool cubin, Arena *arena, CudaBuild *build);
/* What ptxas says; shared_bytes is what the source declares: the launch's dynamic kernel->shared_bytes come on top. */
bool kernel_cuda_resources(Runtime *runtime, const Kernel *kernel, Arena *arena, int *registers, int *shared_bytes, int *spill_bytes, const char **error);
bool kernel_disassemble(Runtime *runtime, const Kernel *kernel, const char *what /* "ptx" "sass" "asm" */, Arena *arena, const char **text);

/* Running. inputs, constants: element 0 of each storage; outputs: allocated storages by Buffer.index. Asynchronous on CUDA (default stream). */
bool plan_run(Runtime *runtime, const Plan *plan, void *const *inputs, void *const *constants, void *const *outputs, const int64_t *sizes, OpError *error);

/* Matmul D = epilogue(alpha A B + beta C) on either device; metas may be any strides that BLAS takes, others are refused (returns false, error). */
bool matmul_run(Runtime *runtime, Device device, const MatmulCall *call, void *a, void *b, void *out, void *bias, void *add, OpError *error);
bool matmul_supports(Runtime *runtime, Device device, const MatmulCall *call, const char **why_not); /* can the library take it as is */

/* Timing */
typedef struct LaunchTime { int launch; double start_us, length_us; } LaunchTime;
double clock_us(void);
/* Times each launch of a plan in one run (CUDA events; clock on the CPU). times has plan->launches.count entries. */
bool plan_profile(Runtime *runtime, const Plan *plan, void *const *inputs, void *const *constants, void *const *outputs, const int64_t *sizes, LaunchTime *times, OpError *error);
typedef struct DeviceTimer DeviceTimer;                               /* device time of a region: events on CUDA, the clock on the CPU */
DeviceTimer *timer_start(Runtime *runtime, Device device);
double timer_stop_us(DeviceTimer *timer);                             /* waits; frees the timer */
void device_flush_cache(Runtime *runtime, Device device);             /* so that the next run starts with a cold L2 */
double device_copy_gbs(Runtime *runtime, Device device);              /* measured now: read + write, large buffers, median */
/* ---- blas.c ---- */
/* OpenBLAS chooses its kernels when it is loaded, and takes the oldest for a processor that it does not know yet. The name of better ones that this
 * processor has (for OPENBLAS_CORETYPE, before the program starts); NULL: its choice is right, or was made by the user. */
const char *blas_better_kernels(void);
#endif
