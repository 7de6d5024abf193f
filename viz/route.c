/* Route: the lines between ranks, as wires on tracks; then every row is known.
 *
 *     [ a ]   [ b ]        rank r
 *       |       |
 *       +-------|---+      track 0 of the channel
 *       |   +---+   |      track 1
 *       v   v       v
 *     [ c   ]    [ d  ]    rank r + 1
 *
 * In: boxes and bends with columns. Out: for each channel its wires, each with a column at its top, pins at its bottom, a track.
 * Invariants: on a track wires do not overlap; a wire that comes down into a column lies above one that leaves that column. */
#include "viz/layout.h"
#include <limits.h>
#include <string.h>

typedef struct Router {
    Arena *arena;
    Layout *layout;
    const LayoutLink *links;
    int link_count;
    int *const *bends;
} Router;

static int center(const LayoutNode *node) { return node->x + node->width / 2; }

static LayoutWire *find_wire(Router *r, int rank, int from, int net, int style) {
    LayoutChannel *channel = &r->layout->channels[rank];
    for (int i = 0; i < channel->wires.count; i++)
        if (channel->wires.at[i].from == from && channel->wires.at[i].net == net) return &channel->wires.at[i];
    LayoutWire wire = {.from = from, .net = net, .style = style, .track = -1};
    vec_push_in(r->arena, &channel->wires, wire);
    return &vec_last(&channel->wires);
}

static void add_pin(Router *r, LayoutWire *wire, int node, int link) {
    for (int i = 0; i < wire->pins.count; i++)
        if (wire->pins.at[i].node == node) return;
    vec_push_in(r->arena, &wire->pins, ((LayoutPin){node, 0, link}));
}

static void add_wires(Router *r) {
    for (int i = 0; i < r->link_count; i++) {
        const LayoutLink *link = &r->links[i];
        if (link->backward) continue;
        int net = r->bends[i][r->layout->rank_count], upper = link->from, last = r->layout->nodes.at[link->to].rank;
        for (int rank = r->layout->nodes.at[upper].rank; rank < last; rank++) {
            int lower = rank + 1 < last ? r->bends[i][rank + 1] : link->to;
            add_pin(r, find_wire(r, rank, upper, net, link->style), lower, rank + 1 < last ? -1 : i);
            upper = lower;
        }
    }
}

/* ---- columns of the ends ---- */

typedef struct End { int *column; int wish; } End;

/* Ends on one border: sorted by wish, at least two columns apart, inside [low, high] as long as there is room. */
static void spread(End *ends, int count, int low, int high) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && ends[j - 1].wish > ends[j].wish; j--) {
            End swap = ends[j];
            ends[j] = ends[j - 1];
            ends[j - 1] = swap;
        }
    int step = count > 1 && (high - low) / (count - 1) < 2 ? 1 : 2;
    for (int i = 0; i < count; i++) {
        int least = i ? *ends[i - 1].column + step : low;
        *ends[i].column = ends[i].wish > least ? ends[i].wish : least;
    }
    for (int i = count - 1, most = high; i >= 0 && *ends[i].column > most; i--, most -= step) *ends[i].column = most;
}

static int mean_target(const Router *r, const LayoutWire *wire) {
    int sum = 0;
    for (int i = 0; i < wire->pins.count; i++) sum += center(&r->layout->nodes.at[wire->pins.at[i].node]);
    return wire->pins.count ? sum / wire->pins.count : 0;
}

/* Where wires leave a node: in the middle when there is one, else spread towards where they go. */
static void place_tops(Router *r, int rank) {
    LayoutChannel *channel = &r->layout->channels[rank];
    End *ends = ARENA_ARRAY(r->arena, End, channel->wires.count + 1);
    for (int i = 0; i < channel->wires.count; i++) {
        int from = channel->wires.at[i].from, count = 0;
        const LayoutNode *node = &r->layout->nodes.at[from];
        for (int j = 0; j < channel->wires.count; j++)
            if (channel->wires.at[j].from == from) ends[count++] = (End){&channel->wires.at[j].column, mean_target(r, &channel->wires.at[j])};
        if (count == 1) ends[0].wish = center(node);
        int low = node->width > 2 ? node->x + 1 : node->x, high = node->width > 2 ? node->x + node->width - 2 : node->x;
        spread(ends, count, low, high);
    }
}

/* Where wires enter a node: straight below where they come from, as far as its width allows. */
static void place_pins(Router *r, int rank) {
    LayoutChannel *channel = &r->layout->channels[rank];
    End *ends = ARENA_ARRAY(r->arena, End, channel->wires.count + 1);
    for (int n = 0; n < r->layout->nodes.count; n++) {
        const LayoutNode *node = &r->layout->nodes.at[n];
        int count = 0;
        if (node->rank != rank + 1) continue;
        for (int i = 0; i < channel->wires.count; i++)
            for (int j = 0; j < channel->wires.at[i].pins.count; j++)
                if (channel->wires.at[i].pins.at[j].node == n)
                    ends[count++] = (End){&channel->wires.at[i].pins.at[j].column, channel->wires.at[i].column};
        int low = node->width > 2 ? node->x + 1 : node->x, high = node->width > 2 ? node->x + node->width - 2 : node->x;
        if (count == 1 && (ends[0].wish < low || ends[0].wish > high)) ends[0].wish = center(node);
        spread(ends, count, low, high);
    }
}

/* ---- tracks ---- */

static void reach(const LayoutWire *wire, int *low, int *high) {
    *low = *high = wire->column;
    for (int i = 0; i < wire->pins.count; i++) {
        if (wire->pins.at[i].column < *low) *low = wire->pins.at[i].column;
        if (wire->pins.at[i].column > *high) *high = wire->pins.at[i].column;
    }
}

static bool has_pin(const LayoutWire *wire, int column) {
    for (int i = 0; i < wire->pins.count; i++)
        if (wire->pins.at[i].column == column) return true;
    return false;
}

static bool overlap(const LayoutWire *a, const LayoutWire *b) {
    int a_low, a_high, b_low, b_high;
    reach(a, &a_low, &a_high);
    reach(b, &b_low, &b_high);
    return a_low <= b_high + 1 && b_low <= a_high + 1;
}

/* The first track that is free over the wire's reach and below every wire that must lie above it. */
static int free_track(const LayoutChannel *channel, const LayoutWire *wire) {
    int track = 0;
    for (int i = 0; i < channel->wires.count; i++) {
        const LayoutWire *other = &channel->wires.at[i];
        bool above = other != wire && other->track >= 0 && has_pin(wire, other->column); /* it comes down where we go down */
        if (above && other->track >= track) track = other->track + 1;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < channel->wires.count; i++) {
            const LayoutWire *other = &channel->wires.at[i];
            if (other == wire || other->track != track || !overlap(other, wire)) continue;
            track++;
            moved = true;
        }
    }
    return track;
}

/* Must `other` be placed before `wire`? It starts in a column in which `wire` ends. */
static bool waits(const LayoutChannel *channel, const LayoutWire *wire, const bool *placed) {
    for (int i = 0; i < channel->wires.count; i++)
        if (!placed[i] && &channel->wires.at[i] != wire && has_pin(wire, channel->wires.at[i].column)) return true;
    return false;
}

static void assign_tracks(Router *r, int rank) {
    LayoutChannel *channel = &r->layout->channels[rank];
    bool *placed = ARENA_ARRAY(r->arena, bool, channel->wires.count + 1);
    int left = channel->wires.count;
    for (int patience = 0; left > 0; patience++) {
        for (int i = 0; i < channel->wires.count; i++) {
            LayoutWire *wire = &channel->wires.at[i];
            int low, high;
            if (placed[i] || (patience < channel->wires.count && waits(channel, wire, placed))) continue;
            reach(wire, &low, &high);
            if (low < high) wire->track = free_track(channel, wire);
            if (wire->track >= channel->tracks) channel->tracks = wire->track + 1;
            placed[i] = true;
            left--;
        }
    }
}

/* ---- rows ---- */

static void place_rows(Layout *layout) {
    int y = 0;
    for (int rank = 0; rank < layout->rank_count; rank++) {
        layout->rank_y[rank] = y;
        for (int i = 0; i < layout->nodes.count; i++) {
            LayoutNode *node = &layout->nodes.at[i];
            if (node->rank != rank) continue;
            node->y = y;
            if (node->height > layout->rank_height[rank]) layout->rank_height[rank] = node->height;
        }
        layout->channels[rank].y = y + layout->rank_height[rank];
        y = layout->channels[rank].y + layout->channels[rank].tracks + (layout->channels[rank].wires.count ? 1 : 0);
    }
    layout->height = y;
}

void layout_route(Arena *arena, Layout *layout, const LayoutLink *links, int link_count, int *const *bends) {
    Router r = {arena, layout, links, link_count, bends};
    layout->channels = ARENA_ARRAY(arena, LayoutChannel, layout->rank_count + 1);
    layout->rank_y = ARENA_ARRAY(arena, int, layout->rank_count + 1);
    layout->rank_height = ARENA_ARRAY(arena, int, layout->rank_count + 1);
    add_wires(&r);
    for (int rank = 0; rank + 1 < layout->rank_count; rank++) {
        place_tops(&r, rank);
        place_pins(&r, rank);
        assign_tracks(&r, rank);
    }
    place_rows(layout);
}
