/* Sizes: what the symbolic sizes of a compile are in one call, and what follows from them for a plan's outputs.
 *
 *     int64_t *values = sizes_of_call(entry, inputs, args, scratch);       // s0 = x.shape[0], …
 *     const SideSizes *sizes = side_sizes(entry, side);                    // made at the side's first run
 *     metacode_run(&sizes->outputs[i], values, &meta);
 *
 * Invariant: without symbols nothing is made and nothing is computed: values is NULL. */
#ifndef VITRINE_SIZES_H
#define VITRINE_SIZES_H
#include "pipeline.h"
#include "run/dimcode.h"

struct SideSizes {
    int var_count;
    const DimCode *vars;            /* by plan->size_vars */
    const MetaCode *outputs;        /* by the plan's outputs */
    const MetaCode *buffers;        /* by the plan's allocated outputs */
    const MetaCode *inputs;         /* by the graph's inputs */
    const MetaCode *aliases;        /* by graph->aliases */
};

/* Values by entry->bindings (those that define a symbol); NULL: the compile has no symbols. inputs: the graph's tensors; ints: the numbers behind them. */
int64_t *sizes_of_call(const Entry *entry, Tensor *const *inputs, const Value *ints, Arena *arena);
/* NULL: something is no expression of the entry's symbols; an exception is set. */
const SideSizes *side_sizes(Entry *entry, Side *side);
/* The values that plan_run wants, seed and offset left 0. */
int64_t *sizes_of_plan(const SideSizes *sizes, const Plan *plan, const int64_t *values, Arena *arena);
/* Do assumptions [first, first + count) hold for these values? */
bool sizes_allow(const Entry *entry, int first, int count, const int64_t *values);
void sizes_as_hints(const Entry *entry, const int64_t *values);
#endif
