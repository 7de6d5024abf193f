/* Choose: which values the policy saves for the backward.
 *
 * In: facts of a joint graph. Out: a set of places, and by which rules it was found.
 *
 *   save_all     whatever the backward reads of what the forward computes (PyTorch's default_partition, backend aot_eager)
 *   pytorch      the minimum cut under PyTorch's bans and weights; below a budget of 1 its knapsack (budget.c)
 *   aggressive   the same without the bans that are about speed
 *   best         several cuts, each under fewer bans; the one that keeps fewest bytes alive among those whose backward is predicted to be no slower than
 *                1.005 times PyTorch's. PyTorch's cut is one of them, so no bytes more are kept and no time is lost.
 *
 * Invariant: the set is one from which the backward can be computed. */
#include "aot/recompute.h"
#include <math.h>
#include <string.h>

static const double WORTH = 0.99;     /* other bytes than PyTorch's are worth their recomputing where they are fewer by a hundredth */
static const double SLOWER = 1.005, HAIR_US = 0.03; /* the promise is 1.02: the rest is for what the prediction does not know; where all is launches, so little is nothing */

static bool no_slower(double us, double against) { return us <= SLOWER * against || us <= against + HAIR_US; }

void saved_all(const RecomputeFacts *facts, bool *saved) {
    const Graph *graph = facts->graph;
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        bool here = facts->at[i].order >= 0 || node->kind == NODE_INPUT || node->kind == NODE_CONSTANT;
        if (facts->at[i].needs_tangent || node->noutputs != 1) continue;
        if (node->kind == NODE_GETITEM) here |= facts->at[facts_place(facts, node->args[0].tensor.owner)].order >= 0; /* the tuple itself cannot be saved */
        saved[i] = here && facts->at[i].used_backward;
        for (int j = 0; here && j < facts->at[i].users.count; j++) saved[i] |= facts->at[facts->at[i].users.at[j]].order < 0;
    }
    cut_trim(facts, saved, NULL);
}

static void cut_under(RecomputeFacts *facts, const CutRules *rules, bool *saved) {
    recompute_rules(facts, rules);
    if (cut_find(facts, saved, -1, -1) >= FLOW_INFINITE)
        fail(facts->c->failure, (Span){0}, "partition: no cut between forward and backward exists (a value with several outputs is needed whole)");
    cut_trim(facts, saved, NULL);
}

/* ---- best ---- */

typedef struct Candidate { const char *name; CutRules rules; bool *saved; int64_t bytes; double us; } Candidate;

enum { CANDIDATES = 4, LARGE = 8000 /* nodes: from there on PyTorch's cut is taken as it is */ };

static int rules_of_candidates(const Policy *policy, Candidate *all) {
    CutRules pytorch = rules_of_policy(policy), storages = pytorch, again = pytorch, operands = pytorch;
    storages.storages = again.storages = operands.storages = true;
    again.reductions = operands.materialized = false; /* the bans on far users and long chains stay: without them kernels grow past all bounds */
    all[0] = (Candidate){.name = "pytorch", .rules = pytorch};
    all[1] = (Candidate){.name = "storages", .rules = storages};
    all[2] = (Candidate){.name = "reductions again", .rules = again};
    all[3] = (Candidate){.name = "operands again", .rules = operands};
    return CANDIDATES;
}

/* The same storages are kept: what differs is made by views alone. */
static bool same_storages(const RecomputeFacts *facts, const bool *a, const bool *b) {
    int count = facts->graph->nodes.count;
    bool same = true;
    signed char *seen = calloc((size_t)count + 1, sizeof *seen);
    for (int i = 0; i < count; i++) {
        if (a[i]) seen[facts->at[i].root] |= 1;
        if (b[i]) seen[facts->at[i].root] |= 2;
    }
    for (int i = 0; i < count && same; i++) same = seen[i] == 0 || seen[i] == 3;
    free(seen);
    return same;
}

/* Microseconds of the backward that a set leads to; infinite where it cannot be told. Made in memory of its own, with reasons of its own. */
static double predict_backward(const RecomputeFacts *facts, const bool *saved) {
    Compile *c = facts->c, scratch = *c;
    Arena *arena = arena_new("candidate");
    Prediction prediction = {.us = INFINITY};
    RecomputeFacts mine = *facts;
    Partition parts = {.joint = facts->graph, .forward_outputs = facts->graph->forward_outputs};
    scratch.arena = arena;
    scratch.reasons = (ReasonLog){.arena = arena};
    mine.c = &scratch;
    partition_list(&mine, saved, &parts);
    Graph *backward = side_backward(&mine, &parts);
    if (!c->predict(&scratch, backward, &prediction)) prediction.us = INFINITY;
    arena_free(arena);
    return prediction.us;
}

static bool is_met(const RecomputeFacts *facts, const Candidate *all, int i) {
    for (int j = 0; j < i; j++)
        if (same_storages(facts, all[i].saved, all[j].saved)) return true;
    return false;
}

/* Places of candidates worth a prediction: fewer bytes than PyTorch's cut, which is the first, and other storages than those before. */
static int choose_candidates(RecomputeFacts *facts, Candidate *all, int *places) {
    int count = rules_of_candidates(facts->c->policy, all), kept = 0;
    for (int i = 0; i < count; i++) {
        all[i].saved = ARENA_ARRAY(facts->c->arena, bool, facts->graph->nodes.count + 1);
        cut_under(facts, &all[i].rules, all[i].saved);
        all[i].bytes = cut_storage_bytes(facts, all[i].saved);
        if (i == 0 || ((double)all[i].bytes < WORTH * (double)all[0].bytes && !is_met(facts, all, i))) places[kept++] = i;
    }
    return kept;
}

/* The candidate with the fewest bytes that is no slower than PyTorch's cut; that one where there is none. They are tried by their bytes, since each prediction
 * takes a lowering and a fusion. */
static int choose_place(const RecomputeFacts *facts, Candidate *all, int *places, int count) {
    if (count < 2 || !facts->c->predict || facts->graph->nodes.count > LARGE) return 0;
    all[0].us = predict_backward(facts, all[0].saved);
    for (int tried = 1; tried < count; tried++) {
        int least = 1;
        for (int k = 1; k < count; k++)
            if (places[k] && (!places[least] || all[places[k]].bytes < all[places[least]].bytes)) least = k;
        Candidate *candidate = &all[places[least]];
        candidate->us = predict_backward(facts, candidate->saved);
        if (no_slower(candidate->us, all[0].us)) return places[least];
        places[least] = 0; /* tried */
    }
    return 0;
}

static const char *choose_best(RecomputeFacts *facts, bool *saved) {
    Candidate all[CANDIDATES];
    int places[CANDIDATES], count = choose_candidates(facts, all, places), best = choose_place(facts, all, places, count);
    memcpy(saved, all[best].saved, sizeof *saved * (size_t)facts->graph->nodes.count);
    recompute_rules(facts, &all[best].rules);
    return all[best].name;
}

/* ---- the policy's choice ---- */

static CutRules aggressive_rules(const Policy *policy) { return (CutRules){.reductions = policy->ban_recompute_reductions}; }

const char *saved_choose(RecomputeFacts *facts, bool *saved) {
    const Policy *policy = facts->c->policy;
    if (!(policy->memory_budget >= 0 && policy->memory_budget <= 1)) fail(facts->c->failure, (Span){0}, "a memory budget is a number from 0 to 1, and this one is %g (torch._functorch.config.activation_memory_budget)", policy->memory_budget);
    CutRules rules = policy->partition == PARTITION_AGGRESSIVE ? aggressive_rules(policy) : rules_of_policy(policy);
    if (policy->partition == PARTITION_SAVE_ALL) {
        recompute_rules(facts, &rules);
        saved_all(facts, saved);
        return "save all";
    }
    if (policy->memory_budget >= 1 && policy->partition == PARTITION_BEST) return choose_best(facts, saved);
    bool *best = NULL;
    if (policy->partition == PARTITION_BEST) {
        best = ARENA_ARRAY(facts->c->arena, bool, facts->graph->nodes.count + 1);
        choose_best(facts, best);
    }
    cut_under(facts, &rules, saved);
    if (policy->memory_budget >= 1) return policy->partition == PARTITION_AGGRESSIVE ? "aggressive" : "pytorch";
    return budget_apply(facts, policy->memory_budget, saved, best) ? "memory budget" : "best, within the budget";
}
