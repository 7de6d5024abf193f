/* Policy: the thresholds of every pass that decides. Two ship: `pytorch` predicts PyTorch 2.11, `best` runs fastest. Passed as a parameter;
 * every Reason names it. `:set` changes fields of a copy. */
#ifndef VITRINE_TRACE_POLICY_H
#define VITRINE_TRACE_POLICY_H
#include <stdbool.h>
#include <stdint.h>

typedef struct Policy {
    const char *name;
    /* partition */
    double memory_budget;            /* 1.0: the plain min-cut; below: recompute more */
    bool recompute_views, ban_recompute_reductions;
    int max_recompute_depth;         /* distance over which a fusible chain is recomputed without a saved value in between */
    /* fusion */
    bool fuse_horizontal, fuse_vertical;
    int max_fusion_size;             /* nodes of one kernel (Inductor: 64) */
    int realize_reads;               /* a value with more reads than this is materialized (Inductor: 4 reads, 100 ops) */
    int realize_ops;
    /* matmul */
    bool epilogue_in_library;        /* let choose consider a cuBLASLt epilogue */
    bool time_candidates;            /* time them when a card is there, else estimate */
    /* numbers */
    bool emulate_precision_casts;    /* round 16-bit values after each op */
    bool fallback_random;
} Policy;

extern const Policy policy_pytorch, policy_best;
#endif
