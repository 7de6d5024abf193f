/* The two policies that ship. */
#include "trace/policy.h"

#define BANS                                                                                                                                   \
    .ban_recompute_used_far_apart = true, .ban_recompute_long_fusible_chains = true, .ban_recompute_materialized_backward = true,               \
    .ban_recompute_not_in_allowlist = true, .ban_recompute_reductions = true

const Policy policy_pytorch = {
    .name = "pytorch", .partition = PARTITION_PYTORCH, .memory_budget = 1.0, BANS,
    .fuse_horizontal = true, .fuse_vertical = true, .max_fusion_size = 64, .realize_reads = 4, .realize_ops = 100,
    .epilogue_in_library = false, .time_candidates = false,
};

const Policy policy_best = {
    .name = "best", .partition = PARTITION_BEST, .memory_budget = 1.0, BANS,
    .fuse_horizontal = true, .fuse_vertical = true, .max_fusion_size = 96, .realize_reads = 8, .realize_ops = 160,
    .epilogue_in_library = true, .time_candidates = true,
};
