/* The compiler between dynamo's captured graph and what runs: artifacts of all stages, and the compiled graph as the VM calls it. */
#ifndef VITRINE_PIPELINE_H
#define VITRINE_PIPELINE_H
#include "aot/aot.h"
#include "dynamo/dynamo.h"
#include "inductor/inductor.h"
#include "run/runtime.h"

/* One side of the partition, from graph to plan. */
typedef struct Side { const Graph *graph; Lowered *lowered; Schedule *schedule; Plan *plan; CompileReport report; const struct SideSizes *sizes; /* sizes.h; made at the first run */ } Side;
typedef struct SideSizes SideSizes;
/* A backward for fewer tangents than usual, made at first use. */
typedef struct Pruned { bool *defined; Partition *partition; Side backward; int first_assumption, assumptions; /* about sizes, made by this compile */ } Pruned;

/* What a call keeps of an input for a second derivative: one that the graph overwrites is gone, unless nothing that is given out depends on it. */
typedef enum KeptAs { KEPT_ITSELF, KEPT_SHAPE, KEPT_NOT } KeptAs;

typedef struct Artifacts {
    Graph *joint, *functional, *decomposed;
    Partition *partition;
    Side forward, backward;
    bool *tangents;                 /* which outputs have a tangent in the usual backward */
    VEC(Pruned *) pruned;
    const KeptAs *kept;             /* by input; second.c */
    Side *draws;                    /* the forward's random numbers again, for second derivatives; made at first use */
    Device device;
} Artifacts;

/* Compiles a captured graph: the whole compiler. Fails through c->failure. What each stage made is in `out` (zeroed) as soon as it is done. */
void pipeline(Compile *c, const Graph *dynamo, Artifacts *out);
/* The backward for a given mask of defined tangents, from the same captured graph; same saved tensors. */
Pruned *pipeline_pruned(Compile *c, const Graph *dynamo, Artifacts *artifacts, const bool *defined);
/* A plan whose outputs are those of the forward's random nodes, in order, for the same seed. Fails where some are drawn by other means. */
Side *pipeline_draws(Compile *c, const Artifacts *artifacts);

/* compiled.c: runs the forward, saves what backward needs, links the outputs to the tape. A tuple of the outputs. */
Value compiled_run(Entry *entry, Value *args, int nargs);
#endif
