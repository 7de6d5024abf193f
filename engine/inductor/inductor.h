/* Inductor: from one functional, decomposed graph to a plan of kernels. In pipeline order; each is one file.
 *
 *     Lowered *l = lower(c, graph);            // graph -> loops over buffers
 *     Schedule *s = fuse(c, l);                // loops -> groups, in order
 *     order(c, s); memplan(c, s);              // order of groups; lifetimes and reuse
 *     bind_axes(c, s, device);                 // axes -> blocks, threads, vectors
 *     Plan *plan = generate(c, s, device);     // kernels and launches
 */
#ifndef VITRINE_INDUCTOR_INDUCTOR_H
#define VITRINE_INDUCTOR_INDUCTOR_H
#include "ir/body.h"
#include "ir/compile.h"
#include "ir/loop.h"
#include "ir/plan.h"

Lowered *lower(Compile *c, const Graph *graph);
Schedule *fuse(Compile *c, Lowered *lowered);
void order(Compile *c, Schedule *schedule);
void memplan(Compile *c, Schedule *schedule);
void bind_axes(Compile *c, Schedule *schedule, Device device);
Plan *generate(Compile *c, const Schedule *schedule, Device device, const char *name);

/* What the graph's kernels would cost; reasons go to c. false: it cannot be lowered. predict.c */
bool predict(Compile *c, const Graph *graph, Device device, Prediction *prediction);

/* All of the above. */
Plan *inductor_compile_graph(Compile *c, const Graph *graph, Device device, const char *name);
/* One op, its tensor arguments (lists' too) being the plan's inputs in order; outs: op_infer's. Metas may have symbolic sizes (SYM_SIZE), and then
 * the plan serves all of them: plan->size_vars says which values plan_run wants. A DECOMPOSED op is given as a graph to inductor_compile_graph. */
Plan *inductor_compile_op(Compile *c, const Op *op, const Arg *args, int nargs, const Meta *outs, int nouts, Device device);

void lowered_describe(const Lowered *lowered, Snapshot *snapshot);     /* stage `ir` */
void schedule_describe(const Schedule *schedule, Snapshot *snapshot);  /* stages `fusion`, `schedule`: groups as clusters, buffers between */
void memory_describe(const Plan *plan, Snapshot *snapshot);            /* stage `memory`: buffers with lifetimes and reuse */
void kernels_describe(const Plan *plan, Snapshot *snapshot);           /* stage `kernels` */
void wrapper_describe(const Plan *plan, Snapshot *snapshot);           /* stage `wrapper`: the launches as readable code */
#endif
