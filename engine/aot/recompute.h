/* Facts about the nodes of a joint graph that the partition decides with: who depends on tangents, whose storage is whose, and, under given rules, what
 * may be computed a second time and what saving it costs.
 *
 *     RecomputeFacts facts; recompute_facts(&facts, c, graph);
 *     recompute_rules(&facts, &rules);                       // bans and weights; again for other rules
 *     cut_find(&facts, saved);                               // cut.c
 *
 * The bans are PyTorch's (min_cut_rematerialization_partition), under the names that torch._functorch.config gives them. Nothing here names an op:
 * family and traits decide.
 * Invariant: what recompute_facts finds does not depend on the rules. */
#ifndef VITRINE_AOT_RECOMPUTE_H
#define VITRINE_AOT_RECOMPUTE_H
#include "aot/aot.h"

typedef struct CutRules {
    bool used_far_apart;     /* users of a value behind one that cannot be fused with it */
    bool long_chains;        /* the end of a chain of more than 100 fusible nodes */
    bool materialized;       /* what a node of the backward that is no loop (a matmul) reads: it has to be in memory there */
    bool not_in_allowlist;   /* what is not known to be cheap; without it: heavy and random ops alone */
    bool reductions;         /* what is over four times smaller than what it is made from */
    bool storages;           /* weights are storages, and what an input or an output holds anyway costs nothing; views are not saved but made again; what
                              * is cheap and fusible is what our lowering makes a loop of. Else PyTorch's weights and lists */
} CutRules;

typedef struct NodeFacts {
    bool needs_tangent;      /* depends on an incoming gradient, or is computed for gradients alone and handed out as one: backward only */
    bool needed_forward;     /* some output of the forward needs it */
    bool used_backward;      /* a node that needs a tangent, or a gradient, reads it */
    bool is_output;          /* of the forward, or a gradient */
    bool must_save, must_recompute; /* said by checkpoint regions */
    bool from_nothing;       /* made from no input */
    int distance;            /* least number of steps to a user in the backward */
    int order;               /* among the nodes of the forward; -1: not one of them */
    int root;                /* place of the node whose storage it shows; its own where it is no view */
    HeldBy held;             /* who holds that storage after the forward anyway */
    int64_t bytes;           /* of all its outputs */
    int64_t storage_bytes;   /* what the backward keeps alive by it: 0 where it is held anyway */
    VEC(int) users;          /* places of the nodes that read it */
    /* under the rules */
    bool banned;             /* must not be recomputed */
    bool lifted;             /* a ban that a memory budget took back */
    const char *ban_code, *ban_text;
    int64_t weight;          /* capacity of its edge */
} NodeFacts;

struct RecomputeFacts { Compile *c; const Graph *graph; NodeFacts *at; Map *places; CutRules rules; int forward_count; int *by_order; /* places */ };

void recompute_facts(RecomputeFacts *facts, Compile *c, const Graph *graph);
void recompute_rules(RecomputeFacts *facts, const CutRules *rules);
/* The rules of the policy's fields; storages off. */
CutRules rules_of_policy(const Policy *policy);
/* The node is an input that the graph overwrites, or a view of one: what the backward would find there is not what the forward read. */
bool facts_overwritten(const Graph *graph, const Node *node);
bool facts_is_view(const Node *node);
static inline int facts_place(const RecomputeFacts *facts, const Node *node) { return (int)(intptr_t)map_get(facts->places, node) - 1; }
/* Can a random op be run again and give the same numbers? Where they are a function of a seed and its place: not where an eager kernel draws them. */
bool facts_draws_again(const RecomputeFacts *facts, const Node *node);
/* FLOPs of matmuls and convolutions, as PyTorch's counter has them; 1 for anything else. */
double facts_flops(const Node *node);

/* cut.c: the cheapest set to save under the rules that were applied, by place. forced, avoided: a place that must, must not be saved; -1: none. Returns the
 * sum of the weights; FLOW_INFINITE or more: there is no such cut. */
int64_t cut_find(const RecomputeFacts *facts, bool *saved, int forced, int avoided);
/* Storage bytes kept alive by a set: each storage once. */
int64_t cut_storage_bytes(const RecomputeFacts *facts, const bool *saved);
/* Takes out of the set what the backward does not reach before it reaches other saved values; marks in `computed` (or NULL) what the backward computes
 * that does not need a tangent. */
void cut_trim(const RecomputeFacts *facts, bool *saved, bool *computed);

/* partition.c: the set as the list of a partition. */
void partition_list(const RecomputeFacts *facts, const bool *saved, Partition *out);
/* choose.c: what the policy saves. `chosen`: by what rules, for explanations. */
const char *saved_choose(RecomputeFacts *facts, bool *saved);
/* What the backward reads of what the forward computes, so that nothing is computed twice. */
void saved_all(const RecomputeFacts *facts, bool *saved);
/* budget.c: the knapsack of PyTorch's activation_memory_budget, from `saved`, PyTorch's set of a budget of 1. best: a set to be taken where it is small enough,
 * or NULL; then false. */
bool budget_apply(RecomputeFacts *facts, double budget, bool *saved, const bool *best);

/* sides.c. again: a graph that computes one value from saved ones, as the backward would. */
Graph *side_again(const RecomputeFacts *facts, const Partition *partition, int place);
Graph *side_forward(const RecomputeFacts *facts, const Partition *partition);
Graph *side_backward(const RecomputeFacts *facts, const Partition *partition);
#endif
