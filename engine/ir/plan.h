/* Plan: a compiled graph: ordered launches over buffers. Runs with no IR in reach.
 *
 * Buffers are numbered: inputs first, then outputs, constants and temporaries. Temporaries share one block of memory through offsets
 * (memplan); outputs are separate storages that the caller allocates, unless an output is an alias of an input or of another output.
 * Invariant: no pointer in a plan leads to a graph; strings and metas are the plan's own. */
#ifndef VITRINE_IR_PLAN_H
#define VITRINE_IR_PLAN_H
#include "ir/kernel.h"
#include "ir/row.h"

typedef enum BufferRole { BUFFER_INPUT, BUFFER_OUTPUT, BUFFER_TEMPORARY, BUFFER_CONSTANT } BufferRole;
typedef struct Buffer {
    const char *name;            /* "buf3", or the input's name */
    BufferRole role;
    Meta meta;                   /* as stored: offset 0, dense */
    int index;                   /* INPUT, CONSTANT: position in the caller's array; OUTPUT: position in the allocated outputs */
    int64_t offset;              /* TEMPORARY: bytes from the start of the block */
    int64_t bytes;
    int first_launch, last_launch;
    int reuses;                  /* buffer whose memory it takes over, or -1 (shown by :memory) */
    int node_id;
    void *constant;              /* CONSTANT: Tensor*, held by the compile entry */
} Buffer;

/* What the caller gets: output i is buffer `buffer` seen through `meta` (an output can be a view of an input or of another output). */
typedef struct PlanOutput { int buffer; Meta meta; int alias_input /* index of the input it is a view of, or -1 */; bool is_none; } PlanOutput;

typedef enum LaunchKind { LAUNCH_KERNEL, LAUNCH_EXTERN_OP /* the op's eager kernel on views of buffers */, LAUNCH_MATMUL /* OpenBLAS or cuBLASLt with an epilogue */, LAUNCH_COPY /* to a mutated input */ } LaunchKind;

typedef enum Epilogue { EPILOGUE_NONE = 0, EPILOGUE_BIAS = 1, EPILOGUE_RELU = 2, EPILOGUE_GELU_TANH = 4 } Epilogue; /* flags */
typedef struct MatmulCall {
    int a, b, out, bias, add;    /* buffers; bias and add (D = A B + C) may be -1 */
    Meta a_meta, b_meta, out_meta, bias_meta, add_meta; /* views: any strides of rank 2 or 3 (batch first) that BLAS can take with a transpose flag */
    unsigned epilogue;
    double alpha, beta;
} MatmulCall;

typedef struct Launch {
    LaunchKind kind;
    const char *name;            /* "fused_add_relu_0", "extern mm", … as listed */
    const Kernel *kernel;        /* KERNEL */
    const int *buffers; int buffer_count; /* KERNEL: by pointer order. COPY: {src, dst input}. EXTERN_OP: the last nouts are the buffers of its outputs */
    const Dim *sizes; int size_count;
    const int *scalar_buffers; const Dim *scalar_sizes; /* KERNEL: those of its scalar twin; NULL: the same as above */
    const Op *op; const Arg *args; int nargs; const Meta *out_metas; int nouts; /* EXTERN_OP: ARG_TENSOR.owner is map_key(buffer + 1), meta the view */
    MatmulCall matmul;
    Meta copy_src, copy_dst;
    const int *nodes; int node_count; double flops; int64_t bytes;
} Launch;

typedef struct Plan {
    Arena *arena;
    Device device;
    const char *name;            /* "forward", "backward" */
    VEC(Buffer) buffers;
    VEC(Launch) launches;
    VEC(PlanOutput) outputs;
    VEC(const Kernel *) kernels; /* distinct, in order of first use */
    int input_count, constant_count, allocated_outputs;
    int64_t block_bytes;         /* temporaries' block */
    int64_t bytes_moved;         /* sum over launches */
    int size_inputs;             /* symbolic sizes passed by the caller; 0 when static */
    int random_draws;            /* Philox calls: the caller passes seed and offset as two extra sizes when > 0 */
    /* The variables to which plan_run's `sizes` give values, in order: size_inputs of them, and behind them those of seed and offset when
     * random_draws > 0. Sizes, grids and metas of launches are expressions over these. A TEMPORARY with a symbolic meta has no place in the
     * block: it is allocated by itself for each run. */
    const Dim *size_vars;
    void *loaded;                /* filled in by run/: what plan_load made; NULL before */
} Plan;
#endif
