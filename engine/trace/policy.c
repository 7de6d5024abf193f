/* The two policies that ship. */
#include "trace/policy.h"

const Policy policy_pytorch = {
    .name = "pytorch", .memory_budget = 1.0, .recompute_views = true, .ban_recompute_reductions = true, .max_recompute_depth = 4,
    .fuse_horizontal = true, .fuse_vertical = true, .max_fusion_size = 64, .realize_reads = 4, .realize_ops = 100,
    .epilogue_in_library = false, .time_candidates = false,
};

const Policy policy_best = {
    .name = "best", .memory_budget = 1.0, .recompute_views = true, .ban_recompute_reductions = true, .max_recompute_depth = 4,
    .fuse_horizontal = true, .fuse_vertical = true, .max_fusion_size = 96, .realize_reads = 8, .realize_ops = 160,
    .epilogue_in_library = true, .time_candidates = true,
};
