/* Policy: the thresholds of every pass that decides. Two ship: `pytorch` predicts PyTorch 2.11, `best` runs fastest. Passed as a parameter;
 * every Reason names it. `:set` changes fields of a copy. */
#ifndef VITRINE_TRACE_POLICY_H
#define VITRINE_TRACE_POLICY_H
#include <stdbool.h>
#include <stdint.h>

/* What the partition saves for backward: `best`, as few bytes as PyTorch or fewer, no slower; `pytorch`, what PyTorch's min-cut saves; `aggressive`, what is left
 * when only heavy and random ops may not be computed twice; `save_all`, whatever the backward reads (backend aot_eager). */
typedef enum PartitionMode { PARTITION_BEST, PARTITION_PYTORCH, PARTITION_AGGRESSIVE, PARTITION_SAVE_ALL } PartitionMode;

typedef struct Policy {
    const char *name;
    /* partition (aot/recompute.h); the bans have PyTorch's names: torch._functorch.config */
    PartitionMode partition;
    double memory_budget;            /* 1.0: the plain min-cut; below: recompute more, down to the inputs alone at 0 */
    bool ban_recompute_used_far_apart, ban_recompute_long_fusible_chains, ban_recompute_materialized_backward, ban_recompute_not_in_allowlist, ban_recompute_reductions;
    /* decomposition */
    const char *keep_whole;          /* names of ops, with commas between, that stay one node until they are lowered; NULL: none */
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
