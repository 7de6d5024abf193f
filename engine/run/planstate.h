/* Plan state: what plan_load makes of a plan, so that running it allocates and looks up nothing. Private to run/.
 *
 * A step is one launch with its arguments laid out; what depends on sizes known only at run time is a list of patches.
 * Invariant: a plan runs in one thread at a time: steps hold the arguments of the run. */
#ifndef VITRINE_RUN_PLANSTATE_H
#define VITRINE_RUN_PLANSTATE_H
#include "run/private.h"

typedef struct GraphCache GraphCache;
typedef struct Patch { int64_t *target; DimCode code; } Patch;                      /* *target = code(sizes) before the step */
typedef struct TensorSlot { Arg *arg; int buffer; bool output; } TensorSlot;        /* an extern op's tensor */

/* A kernel with its arguments laid out. */
typedef struct KernelCall {
    const Kernel *kernel;        /* NULL: there is none */
    LoadedKernel *loaded;
    const int *buffers; int pointer_count;
    void **pointers, **params;   /* params: CUDA's array of pointers to arguments */
    int64_t *sizes, grid[3];
    CudaLaunch cuda;
} KernelCall;

typedef struct Step {
    const Launch *launch;
    VEC(Patch) patches;
    /* KERNEL */
    KernelCall call, scalar;     /* scalar: for pointers that are not aligned; loaded when first needed */
    uintptr_t misaligned;        /* bits of a pointer that must be 0 for `call` */
    /* EXTERN_OP */
    Arg *args, *outs;
    VEC(TensorSlot) tensors;
    /* MATMUL, COPY: metas with their sizes filled in */
    MatmulCall matmul;
    Meta copy_src, copy_dst;
} Step;

typedef struct PlanState {
    struct PlanState *next, *previous;
    Runtime *runtime;            /* NULL once it is closed */
    Arena *arena;
    const Plan *plan;
    Step *steps;
    void **address;              /* element 0 of each buffer, in this run */
    DimCode *temporary_bytes;    /* by buffer: size of a temporary that has no place in the block */
    int *loose; int loose_count; /* those temporaries */
    void *block;
    bool has_code;               /* false: compiled for a card that is not there */
    bool is_static;
    GraphCache *graphs;
} PlanState;

bool plan_begin(Runtime *runtime, PlanState *state, void *const *inputs, void *const *constants, void *const *outputs, const int64_t *sizes, OpError *error);
void plan_end(Runtime *runtime, PlanState *state, const int64_t *sizes);
bool step_run(Runtime *runtime, PlanState *state, Step *step, void *stream, OpError *error);

/* ---- graph.c ---- */
bool graph_replay(Runtime *runtime, PlanState *state, bool *done, OpError *error); /* *done false: run the steps instead */
void graph_cache_free(PlanState *state);
#endif
