/* Layout: ranks, order and columns (layout.h says after whom).
 *
 * In: sizes of boxes, links. Out: a rank, a place in it and a column for each box and each bend.
 * A box's links of one style share one line (a net), which has one bend in each rank that it passes.
 * Invariants: `to` stands in a lower rank than `from` for each link that is not backward; boxes of a rank do not overlap. */
#include "viz/layout.h"
#include <limits.h>
#include <math.h>
#include <string.h>

enum { SWEEPS = 12, BOX_GAP = 3, BEND_GAP = 2 };

typedef struct Maker {
    Arena *arena;
    Layout *layout;
    LayoutLink *links;
    int link_count;
    int **bends;          /* link -> bend of its net in each rank (-1: none); shared by the links of a net */
    VEC(int) *above, *below; /* node -> its neighbours in the adjacent rank */
    VEC(int) *ranks;      /* rank -> nodes in order */
} Maker;

/* ---- cycles: a link to a box that is still open in a depth-first walk goes backward ---- */

static void walk(Maker *m, int node, char *state) {
    state[node] = 1;
    for (int i = 0; i < m->link_count; i++) {
        LayoutLink *link = &m->links[i];
        if (link->from != node) continue;
        if (state[link->to] == 1) link->backward = true;
        else if (state[link->to] == 0) walk(m, link->to, state);
    }
    state[node] = 2;
}

static void cut_cycles(Maker *m) {
    char *state = arena_alloc(m->arena, (size_t)m->layout->box_count + 1);
    for (int i = 0; i < m->layout->box_count; i++)
        if (!state[i]) walk(m, i, state);
}

/* ---- ranks ---- */

static bool push_down(Maker *m) {
    bool moved = false;
    for (int i = 0; i < m->link_count; i++) {
        const LayoutLink *link = &m->links[i];
        LayoutNode *from = &m->layout->nodes.at[link->from], *to = &m->layout->nodes.at[link->to];
        if (link->backward || to->rank > from->rank) continue;
        to->rank = from->rank + 1;
        moved = true;
    }
    return moved;
}

/* A box that nothing leads to (an input) stands just above its first reader. */
static void pull_sources(Maker *m) {
    for (int node = m->layout->box_count - 1; node >= 0; node--) {
        int nearest = INT_MAX;
        bool source = true;
        for (int i = 0; i < m->link_count; i++) {
            const LayoutLink *link = &m->links[i];
            if (link->backward) continue;
            if (link->to == node) source = false;
            if (link->from == node && m->layout->nodes.at[link->to].rank < nearest) nearest = m->layout->nodes.at[link->to].rank;
        }
        if (source && nearest != INT_MAX) m->layout->nodes.at[node].rank = nearest - 1;
    }
}

static void rank_nodes(Maker *m) {
    while (push_down(m)) {}
    pull_sources(m);
    for (int i = 0; i < m->layout->box_count; i++)
        if (m->layout->nodes.at[i].rank >= m->layout->rank_count) m->layout->rank_count = m->layout->nodes.at[i].rank + 1;
}

/* ---- bends ---- */

static int *net_bends(Maker *m, int i) {
    for (int earlier = 0; earlier < i; earlier++)
        if (m->links[earlier].from == m->links[i].from && m->links[earlier].style == m->links[i].style && m->bends[earlier])
            return m->bends[earlier];
    int *bends = ARENA_ARRAY(m->arena, int, m->layout->rank_count + 1);
    for (int rank = 0; rank <= m->layout->rank_count; rank++) bends[rank] = -1;
    bends[m->layout->rank_count] = i; /* the net is called after its first link */
    return bends;
}

static void join(Maker *m, int upper, int lower) {
    for (int i = 0; i < m->below[upper].count; i++)
        if (m->below[upper].at[i] == lower) return;
    vec_push_in(m->arena, &m->below[upper], lower);
    vec_push_in(m->arena, &m->above[lower], upper);
}

static int add_bend(Maker *m, int rank, int net) {
    LayoutNode bend = {.width = 1, .height = 1, .rank = rank, .net = net};
    vec_push_in(m->arena, &m->layout->nodes, bend);
    return m->layout->nodes.count - 1;
}

static void bend_links(Maker *m) {
    for (int i = 0; i < m->link_count; i++) {
        const LayoutLink *link = &m->links[i];
        if (link->backward) continue;
        m->bends[i] = net_bends(m, i);
        int upper = link->from, last = m->layout->nodes.at[link->to].rank;
        for (int rank = m->layout->nodes.at[upper].rank + 1; rank < last; rank++) {
            if (m->bends[i][rank] < 0) m->bends[i][rank] = add_bend(m, rank, m->bends[i][m->layout->rank_count]);
        }
    }
}

static void join_links(Maker *m) {
    m->above = arena_array(m->arena, (size_t)m->layout->nodes.count, sizeof *m->above);
    m->below = arena_array(m->arena, (size_t)m->layout->nodes.count, sizeof *m->below);
    for (int i = 0; i < m->link_count; i++) {
        const LayoutLink *link = &m->links[i];
        if (link->backward) continue;
        int upper = link->from, last = m->layout->nodes.at[link->to].rank;
        for (int rank = m->layout->nodes.at[upper].rank + 1; rank < last; rank++) {
            join(m, upper, m->bends[i][rank]);
            upper = m->bends[i][rank];
        }
        join(m, upper, link->to);
    }
}

/* ---- order ---- */

static void fill_ranks(Maker *m) {
    m->ranks = arena_array(m->arena, (size_t)m->layout->rank_count + 1, sizeof *m->ranks);
    for (int i = 0; i < m->layout->nodes.count; i++) {
        LayoutNode *node = &m->layout->nodes.at[i];
        node->order = m->ranks[node->rank].count;
        vec_push_in(m->arena, &m->ranks[node->rank], i);
    }
}

static int crossings_below(Maker *m, int rank) {
    int crossings = 0;
    for (int i = 0; i < m->ranks[rank].count; i++)
        for (int j = i + 1; j < m->ranks[rank].count; j++) {
            int left = m->ranks[rank].at[i], right = m->ranks[rank].at[j];
            for (int a = 0; a < m->below[left].count; a++)
                for (int b = 0; b < m->below[right].count; b++)
                    crossings += m->layout->nodes.at[m->below[left].at[a]].order > m->layout->nodes.at[m->below[right].at[b]].order;
        }
    return crossings;
}

static int crossings(Maker *m) {
    int all = 0;
    for (int rank = 0; rank < m->layout->rank_count; rank++) all += crossings_below(m, rank);
    return all;
}

/* Mean place of a node's neighbours; its own where it has none. */
static double barycenter(Maker *m, int node, bool down) {
    const int count = down ? m->above[node].count : m->below[node].count;
    const int *at = down ? m->above[node].at : m->below[node].at;
    double sum = 0;
    for (int i = 0; i < count; i++) sum += m->layout->nodes.at[at[i]].order;
    return count ? sum / count : m->layout->nodes.at[node].order;
}

/* Insertion sort: stable, so that equal centres keep their order. */
static void sort_rank(Maker *m, int rank, bool down) {
    int count = m->ranks[rank].count, *at = m->ranks[rank].at;
    double *center = ARENA_ARRAY(m->arena, double, count + 1);
    for (int i = 0; i < count; i++) {
        int node = at[i], j = i;
        double own = barycenter(m, node, down);
        for (; j > 0 && center[j - 1] > own; j--) {
            center[j] = center[j - 1];
            at[j] = at[j - 1];
        }
        center[j] = own;
        at[j] = node;
    }
    for (int i = 0; i < count; i++) m->layout->nodes.at[at[i]].order = i;
}

static void keep_order(Maker *m, int *best) {
    for (int i = 0; i < m->layout->nodes.count; i++) best[i] = m->layout->nodes.at[i].order;
}

static void restore_order(Maker *m, const int *best) {
    for (int i = 0; i < m->layout->nodes.count; i++) {
        LayoutNode *node = &m->layout->nodes.at[i];
        node->order = best[i];
        m->ranks[node->rank].at[best[i]] = i;
    }
}

static void order_nodes(Maker *m) {
    int *best = ARENA_ARRAY(m->arena, int, m->layout->nodes.count + 1), fewest = crossings(m);
    keep_order(m, best);
    for (int sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
        bool down = sweep % 2 == 0;
        for (int i = 0; i < m->layout->rank_count; i++) sort_rank(m, down ? i : m->layout->rank_count - 1 - i, down);
        int now = crossings(m);
        if (now >= fewest) continue;
        fewest = now;
        keep_order(m, best);
    }
    restore_order(m, best);
}

/* ---- columns: each node wants the mean of its neighbours, but not to overlap ---- */

static int separation(const LayoutNode *left, const LayoutNode *right) {
    int gap = left->net >= 0 || right->net >= 0 ? BEND_GAP : BOX_GAP;
    return left->width - left->width / 2 + right->width / 2 + gap;
}

static double wanted(Maker *m, int node, bool down) {
    int count = down ? m->above[node].count : m->below[node].count;
    const int *at = down ? m->above[node].at : m->below[node].at;
    double sum = 0;
    for (int i = 0; i < count; i++) sum += m->layout->nodes.at[at[i]].x;
    return count ? sum / count : m->layout->nodes.at[node].x;
}

typedef struct Block { double sum, weight; int count; } Block;

/* Pool adjacent violators: the nearest columns (least squares) to the wanted ones that keep all separations. x holds centres. */
static void place_rank(Maker *m, int rank, bool down) {
    int count = m->ranks[rank].count, blocks = 0, offset = 0, node = 0;
    Block *block = ARENA_ARRAY(m->arena, Block, count + 1);
    for (int i = 0; i < count; i++) {
        LayoutNode *here = &m->layout->nodes.at[m->ranks[rank].at[i]];
        if (i > 0) offset += separation(&m->layout->nodes.at[m->ranks[rank].at[i - 1]], here);
        double weight = here->net >= 0 ? 4 : 1;
        block[blocks++] = (Block){(wanted(m, m->ranks[rank].at[i], down) - offset) * weight, weight, 1};
        while (blocks > 1 && block[blocks - 2].sum / block[blocks - 2].weight > block[blocks - 1].sum / block[blocks - 1].weight) {
            blocks--;
            block[blocks - 1].sum += block[blocks].sum;
            block[blocks - 1].weight += block[blocks].weight;
            block[blocks - 1].count += block[blocks].count;
        }
    }
    offset = 0;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < block[b].count; i++, node++) {
            LayoutNode *here = &m->layout->nodes.at[m->ranks[rank].at[node]];
            if (node > 0) offset += separation(&m->layout->nodes.at[m->ranks[rank].at[node - 1]], here);
            here->x = (int)floor(block[b].sum / block[b].weight + 0.5) + offset;
        }
}

static void pack_left(Maker *m) {
    for (int rank = 0; rank < m->layout->rank_count; rank++)
        for (int i = 0; i < m->ranks[rank].count; i++) {
            LayoutNode *here = &m->layout->nodes.at[m->ranks[rank].at[i]];
            LayoutNode *left = i ? &m->layout->nodes.at[m->ranks[rank].at[i - 1]] : NULL;
            here->x = left ? left->x + separation(left, here) : here->width / 2;
        }
}

static void place_nodes(Maker *m) {
    pack_left(m);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool down = sweep % 2 == 0;
        for (int i = 0; i < m->layout->rank_count; i++) place_rank(m, down ? i : m->layout->rank_count - 1 - i, down);
    }
    int left = INT_MAX;
    for (int i = 0; i < m->layout->nodes.count; i++) {
        LayoutNode *node = &m->layout->nodes.at[i];
        node->x -= node->width / 2; /* from centres to left edges */
        if (node->x < left) left = node->x;
    }
    for (int i = 0; i < m->layout->nodes.count; i++) {
        LayoutNode *node = &m->layout->nodes.at[i];
        node->x -= left;
        if (node->x + node->width > m->layout->width) m->layout->width = node->x + node->width;
    }
}

Layout *layout_make(Arena *arena, const int *widths, const int *heights, int count, LayoutLink *links, int link_count) {
    Maker m = {.arena = arena, .layout = ARENA_NEW(arena, Layout), .links = links, .link_count = link_count};
    m.layout->box_count = count;
    m.bends = ARENA_ARRAY(arena, int *, link_count + 1);
    for (int i = 0; i < count; i++)
        vec_push_in(arena, &m.layout->nodes, ((LayoutNode){.width = widths[i], .height = heights[i], .net = -1}));
    cut_cycles(&m);
    rank_nodes(&m);
    bend_links(&m);
    join_links(&m);
    fill_ranks(&m);
    order_nodes(&m);
    place_nodes(&m);
    layout_route(arena, m.layout, links, link_count, m.bends);
    return m.layout;
}
