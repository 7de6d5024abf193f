/* AOTAutograd: from the captured graph to a forward and a backward graph, ahead of time. In pipeline order. */
#ifndef VITRINE_AOT_AOT_H
#define VITRINE_AOT_AOT_H
#include "ir/compile.h"

/* Runs the captured graph over fake tensors with the tape on, then the tape's backward from one tangent for each output that needs grad:
 * forward and backward in one graph, composites expanded, in-place ops still there. Inputs: primals_1.., then tangents_1..; outputs: forward
 * outputs (graph->forward_outputs of them), then one gradient for each primal (NULL entry: none). Without training: no tangents, no gradients.
 * Needs: dynamo graph, verified. joint.c */
/* tangent_defined: NULL for the usual mask (every output that needs a gradient gets one), else one flag for each forward output: the backward is
 * traced for the tangents that are defined, the others stay undefined (never zeros: decisions.md 15). */
Graph *joint(Compile *c, const Graph *dynamo, const bool *tangent_defined);

/* Replaces in-place ops and writes through views by functional ones; what the caller must see becomes graph->mutations (output -> input) at the end.
 * Needs: joint graph. Gives: no op with TRAIT_INPLACE. functionalize.c */
Graph *functionalize(Compile *c, const Graph *joint);

/* Expands DECOMPOSED and made_of rows by running their bodies in the tracing domain, until only ops with a loop form, a library or an eager kernel
 * are left. Each new node's origins name what it came from. decompose.c */
Graph *decompose(Compile *c, const Graph *functional, const char *keep_whole /* names with commas between, or NULL */);

/* Folds constants, no-op views and casts, common subexpressions, dead nodes. simplify.c */
Graph *simplify(Compile *c, const Graph *graph);

/* Who holds the storage of a saved value after the forward: an input (or a constant of the entry), an output of the user's, or the backward alone. */
typedef enum HeldBy { HELD_FOR_BACKWARD, HELD_BY_INPUT, HELD_BY_OUTPUT } HeldBy;
/* One edge of the cut: what crosses from forward to backward. */
typedef struct SavedTensor {
    const Node *joint_node;         /* NULL: a pruned backward does not need it */
    const char *name;
    int64_t bytes;                  /* of its elements */
    bool is_input;
    HeldBy held;
    const Node *storage;            /* the node whose storage it shows: itself, or what it is a view of */
    int64_t storage_bytes;          /* kept alive for the backward by this value: 0 where it is held anyway, or by an earlier one of the list */
} SavedTensor;
typedef struct RecomputeFacts RecomputeFacts; /* aot/recompute.h: of this joint graph, under the rules by which it was cut */
typedef struct Partition {
    const Graph *joint;             /* what was cut */
    Graph *forward;                 /* inputs: primals; outputs: forward outputs, then mutated inputs' new values, then saved tensors */
    Graph *backward;                /* inputs: saved tensors, then tangents; outputs: gradients by primal (NULL: none). NULL in inference */
    int forward_outputs;            /* user's outputs */
    VEC(SavedTensor) saved;
    int64_t saved_bytes, saved_bytes_no_recompute; /* what crosses; what would without recomputing */
    int64_t storage_bytes;          /* what the backward keeps alive beyond inputs, parameters and outputs */
    const int *recomputed; int recomputed_count;   /* joint node ids computed on both sides */
    const char *chosen;             /* by what rules the set was found: "pytorch", "storages", … */
    const RecomputeFacts *facts;    /* NULL in inference */
} Partition;
/* Divides the joint graph in two: what forward must save and what backward computes again, by the policy (PartitionMode, memory_budget, bans). Random numbers get
 * the numbers of their draws here, so that both sides draw the same. Reasons: saved.*, recomputed.*. partition.c; choose.c and cut.c find the set. */
/* fixed: NULL, or the partition of the usual mask, whose saved tensors a pruned backward must make do with (its forward has already run). */
Partition *partition(Compile *c, Graph *simplified, const Partition *fixed);

void partition_describe(const Partition *partition, Snapshot *snapshot);

/* maxflow.c: s-t minimum cut. */
typedef struct FlowNetwork FlowNetwork;
FlowNetwork *network_new(Arena *arena, int nodes);
void network_edge(FlowNetwork *network, int from, int to, int64_t capacity); /* FLOW_INFINITE: cannot be cut */
#define FLOW_INFINITE (INT64_MAX / 4)
int64_t network_minimum_cut(FlowNetwork *network, int source, int sink, bool *source_side); /* source_side[nodes]; FLOW_INFINITE or more: no cut exists */
#endif
