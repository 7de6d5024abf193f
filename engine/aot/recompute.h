/* Facts about the nodes of a joint graph that the partition decides with: who depends on tangents, what may be recomputed, what a save costs. */
#ifndef VITRINE_AOT_RECOMPUTE_H
#define VITRINE_AOT_RECOMPUTE_H
#include "aot/aot.h"

typedef struct NodeFacts {
    bool needs_tangent;      /* depends on an incoming gradient: backward only */
    bool needed_forward;     /* some output of the forward needs it */
    bool used_backward;      /* a node that needs a tangent, or a gradient, reads it */
    bool banned;             /* must not be recomputed */
    const char *ban_code, *ban_text;
    int distance;            /* least number of steps to a user in the backward */
    int64_t bytes;
    int64_t weight;          /* cost of saving it */
    VEC(int) users;          /* places of the nodes that read it */
} NodeFacts;

typedef struct RecomputeFacts { Compile *c; const Graph *graph; NodeFacts *at; Map *places; } RecomputeFacts;

void recompute_facts(RecomputeFacts *facts, Compile *c, const Graph *graph);
/* The node is an input that the graph overwrites, or a view of one: what the backward would find there is not what the forward read. */
bool facts_overwritten(const Graph *graph, const Node *node);
static inline int facts_place(const RecomputeFacts *facts, const Node *node) { return (int)(intptr_t)map_get(facts->places, node) - 1; }
#endif
