/* Budget: PyTorch's activation_memory_budget: how much of what the min-cut saves, beyond the inputs, may be saved.
 *
 * In: facts, a budget between 0 (the inputs alone, everything is computed again) and 1 (the min-cut), and the min-cut's set. Out: the set for that budget.
 * First bans are dropped: those about speed, then the list of cheap ops. Where that is still too much, each value that a ban had saved is an item of a
 * 0-1 knapsack, its weight its bytes, its worth the FLOPs that making it again costs; what does not fit loses its ban, and the cut is found once more.
 *
 *     budget 0.5, mm of 128 B worth 768 and tanh of 128 B worth 1, 128 B allowed   ->   save mm, compute tanh again
 *
 * Source: Beaumont et al. 2021 are near; the steps are those of PyTorch's choose_saved_values_set, the knapsack is solved by dynamic programming over
 * 10,000 steps of memory (Bellman 1957), as there.
 * Invariant: whatever is asked, the backward can be computed: inputs are always at hand, and a random op is only run again where it gives the same numbers. */
#include "aot/recompute.h"
#include <math.h>
#include <string.h>

enum { STEPS = 10000 };

typedef struct Budget { RecomputeFacts *facts; double least, most; /* bytes of the inputs; of the min-cut */ } Budget;

static double set_bytes(const RecomputeFacts *facts, const bool *saved) {
    double bytes = 0;
    for (int i = 0; i < facts->graph->nodes.count; i++)
        if (saved[i]) bytes += (double)facts->at[i].bytes;
    return bytes;
}

static bool is_primal(const Node *node) { return (node->kind == NODE_INPUT && !node->is_tangent) || node->kind == NODE_CONSTANT; }

/* A call whose random numbers cannot be drawn a second time. */
static bool is_drawn_once(const RecomputeFacts *facts, const Node *node) {
    return node->kind == NODE_CALL && op_has(node->op, TRAIT_RANDOM) && !facts_draws_again(facts, node) && facts->at[facts_place(facts, node)].order >= 0;
}

/* The inputs, and what cannot be made from them a second time. */
static void save_inputs(RecomputeFacts *facts, bool *saved) {
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        const Node *node = facts->graph->nodes.at[i];
        bool drawn = is_drawn_once(facts, node->kind == NODE_GETITEM ? node->args[0].tensor.owner : node);
        saved[i] = is_primal(node) || facts->at[i].must_save || (drawn && node->noutputs == 1);
    }
    cut_trim(facts, saved, NULL);
}

/* Of what may be saved beyond the inputs, the share that a set takes. */
static double share_of(const Budget *budget, const bool *saved) { return (set_bytes(budget->facts, saved) - budget->least) / (budget->most - budget->least); }

static bool cut_under(RecomputeFacts *facts, const CutRules *rules, bool *saved) {
    recompute_rules(facts, rules);
    bool found = cut_find(facts, saved, -1, -1) < FLOW_INFINITE;
    cut_trim(facts, saved, NULL);
    return found;
}

/* ---- the knapsack ---- */

/* Values that a ban saves, that the backward needs, and that are not an input's memory; largest first. */
static int find_items(const RecomputeFacts *facts, int *items) {
    int count = 0;
    for (int i = 0; i < facts->graph->nodes.count; i++) {
        const NodeFacts *fact = &facts->at[i];
        const Node *node = facts->graph->nodes.at[i];
        if (!fact->banned || fact->must_save || is_drawn_once(facts, node) || is_primal(node) || fact->distance >= (1 << 28) || fact->held == HELD_BY_INPUT) continue;
        int at = count++;
        for (; at > 0 && facts->at[items[at - 1]].bytes < fact->bytes; at--) items[at] = items[at - 1];
        items[at] = i;
    }
    return count;
}

/* Item i of n, taken so that any first part of them is spread evenly over all: by its place read backwards in binary. What is computed again then lies
 * between saved values, and lives shortly; PyTorch takes equal items as they come. */
static int spread_rank(int i, int n) {
    int reversed = 0;
    for (int bit = 1; bit < n; bit <<= 1) reversed = reversed << 1 | (i & bit ? 1 : 0);
    return reversed;
}

typedef struct Spread { int item, rank; } Spread;
static int by_rank(const void *a, const void *b) { return ((const Spread *)a)->rank - ((const Spread *)b)->rank; }

static void spread_equals(const RecomputeFacts *facts, int *items, int count) {
    Spread *run = calloc((size_t)count + 1, sizeof *run);
    for (int first = 0, end; first < count; first = end) {
        for (end = first; end < count && facts->at[items[end]].bytes == facts->at[items[first]].bytes; end++) run[end - first] = (Spread){items[end], spread_rank(end - first, count)};
        qsort(run, (size_t)(end - first), sizeof *run, by_rank);
        for (int i = first; i < end; i++) items[i] = run[i - first].item;
    }
    free(run);
}

/* Marks in `lifted` the items that do not fit. best[w]: the most worth that w steps can hold; taken: one bit an item and step. */
static void solve(const RecomputeFacts *facts, const int *items, int count, const int *weights, int room, bool *lifted) {
    double *best = calloc((size_t)room + 1, sizeof *best);
    size_t row = (size_t)room / 8 + 1;
    unsigned char *taken = calloc((size_t)count + 1, row);
    for (int i = 0; i < count && best && taken; i++) {
        double worth = facts_flops(facts->graph->nodes.at[items[i]]);
        for (int w = room; w >= weights[i]; w--) {
            if (best[w - weights[i]] + worth <= best[w]) continue;
            best[w] = best[w - weights[i]] + worth;
            taken[(size_t)i * row + (size_t)w / 8] |= (unsigned char)(1 << w % 8);
        }
    }
    for (int i = count - 1, w = room; i >= 0; i--) {
        bool in = taken && taken[(size_t)i * row + (size_t)w / 8] >> w % 8 & 1;
        lifted[i] = !in;
        if (in) w -= weights[i];
    }
    free(best);
    free(taken);
}

static void lift_by_knapsack(Budget *budget, double share) {
    RecomputeFacts *facts = budget->facts;
    Arena *scratch = arena_new("budget");
    int *items = ARENA_ARRAY(scratch, int, facts->graph->nodes.count + 1), count = find_items(facts, items);
    int *weights = ARENA_ARRAY(scratch, int, count + 1);
    if (facts->c->policy->partition == PARTITION_BEST) spread_equals(facts, items, count);
    bool *lifted = ARENA_ARRAY(scratch, bool, count + 1);
    for (int i = 0; i < count; i++) {
        double steps = (double)facts->at[items[i]].bytes / (budget->most - budget->least) * STEPS;
        weights[i] = steps < 2 * STEPS ? (int)lround(steps) : 2 * STEPS;
    }
    solve(facts, items, count, weights, (int)(share * STEPS), lifted);
    for (int i = 0; i < count; i++) facts->at[items[i]].lifted = lifted[i];
    arena_free(scratch);
}

bool budget_apply(RecomputeFacts *facts, double share, bool *saved, const bool *best) {
    int count = facts->graph->nodes.count;
    Arena *scratch = arena_new("budget");
    bool *inputs = ARENA_ARRAY(scratch, bool, count + 1), *tried = ARENA_ARRAY(scratch, bool, count + 1);
    CutRules rules = facts->rules;
    save_inputs(facts, inputs);
    Budget budget = {facts, 0, set_bytes(facts, saved)};
    for (int i = 0; i < count; i++)
        if (is_primal(facts->graph->nodes.at[i])) budget.least += (double)facts->at[i].bytes;
    const bool *result = share <= 0 ? inputs : NULL;
    if (!result && best && (budget.most <= budget.least || share_of(&budget, best) < share)) result = best;
    if (!result && budget.most <= budget.least) result = saved; /* the min-cut keeps less than the inputs are */
    rules.used_far_apart = rules.long_chains = rules.materialized = false;
    if (!result && cut_under(facts, &rules, tried) && share_of(&budget, tried) < share) result = tried;
    rules.not_in_allowlist = false;
    if (!result && cut_under(facts, &rules, tried) && share_of(&budget, tried) < share) result = tried;
    if (!result) {
        lift_by_knapsack(&budget, share);
        result = cut_under(facts, &rules, tried) ? tried : inputs;
    }
    if (result != saved) memcpy(saved, result, sizeof *saved * (size_t)count);
    arena_free(scratch);
    return result != best;
}
