/* Kernel: generated source of one launch, with what is needed to compile, launch, cost and explain it. */
#ifndef VITRINE_IR_KERNEL_H
#define VITRINE_IR_KERNEL_H
#include "base/span.h"
#include "base/vec.h"
#include "ir/meta.h"

typedef enum KernelLanguage { KERNEL_C, KERNEL_CUDA } KernelLanguage;

typedef struct KernelLine { int line; int node_id; Span span; } KernelLine; /* line of `source` -> graph node -> user's text */

typedef struct Kernel {
    const char *name;            /* "k0": unique in its plan side; shown */
    const char *entry;           /* symbol: "fused_add_relu_0": user names never reach it unescaped */
    KernelLanguage language;
    const char *source;          /* one function (plus static helpers); the support text is put in front when a unit is built */
    int pointer_count;           /* buffers in order, outputs included */
    int size_count;              /* trailing int64 sizes for symbolic extents, 0 when static */
    /* CUDA launch; a Dim may be symbolic */
    Dim grid[3]; int block[3]; int shared_bytes; int cluster;
    /* every pointer that the kernel accesses by vectors must be aligned to this many bytes; a scalar twin serves the rest */
    int vector_bytes;
    const struct Kernel *scalar_twin; /* NULL when vector_bytes is the element size */
    double flops; int64_t bytes_read, bytes_written; /* minimum traffic: each buffer once */
    const int *nodes; int node_count;               /* ids of the graph nodes computed here */
    VEC(KernelLine) lines;
    const char *schedule;        /* one line on how it is bound: "rows over blocks, row in registers, 256 threads x 16 B" */
    uint64_t body_hash;          /* name-free hash: identical bodies compile once */
} Kernel;

/* C kernel ABI:    void entry(void *const *pointers, const int64_t *sizes);  runs all of it, with OpenMP inside when worth it.
 * CUDA kernel ABI: extern "C" __global__ void entry(T0 *p0, T1 *p1, …, long s0, …): kernelParams are pointers to each. */
typedef void (*CKernelFn)(void *const *pointers, const int64_t *sizes);
#endif
