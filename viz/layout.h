/* Layout: ranks, order and columns for a drawing from top to bottom, in character cells. Knows sizes and links, no text.
 *
 *     LayoutLink links[] = {{.from = 0, .to = 1}};
 *     Layout *layout = layout_make(arena, widths, heights, 2, links, 1);
 *     // layout->nodes.at[0].x, .y: left top corner of box 0; layout->channels: the lines between the ranks
 *
 * After Sugiyama, Tagawa and Toda 1981: cycles are cut, nodes ranked by longest path, long links bent once a rank, crossings
 * reduced by barycenters, columns chosen by isotonic regression (pool adjacent violators), lines routed on tracks. */
#ifndef VITRINE_VIZ_LAYOUT_H
#define VITRINE_VIZ_LAYOUT_H
#include "base/vec.h"
#include <stdbool.h>

typedef struct LayoutLink {
    int from, to;
    int style;      /* links of one box with equal styles share their line */
    bool backward;  /* out: closes a cycle, and is not drawn */
} LayoutLink;

typedef struct LayoutNode {
    int width, height, rank, order, x, y; /* y after routing */
    int net;                              /* of a bend: whose line it carries; -1: a box */
} LayoutNode;

typedef struct LayoutPin { int node, column, link; } LayoutPin; /* link -1: a bend */

/* A line from one node of a rank to nodes of the next: down from `from`, along its track, down to each pin. */
typedef struct LayoutWire { int from, net, style, column; VEC(LayoutPin) pins; int track; /* -1: straight down */ } LayoutWire;
typedef struct LayoutChannel { VEC(LayoutWire) wires; int tracks, y; } LayoutChannel;

typedef struct Layout {
    VEC(LayoutNode) nodes;       /* the boxes first, in the caller's order; then bends */
    int box_count, rank_count, width, height;
    int *rank_y, *rank_height;
    LayoutChannel *channels;     /* channel r lies between ranks r and r + 1 */
} Layout;

Layout *layout_make(Arena *arena, const int *widths, const int *heights, int count, LayoutLink *links, int link_count);
/* Second half of layout_make: wires, tracks and rows. route.c */
void layout_route(Arena *arena, Layout *layout, const LayoutLink *links, int link_count, int *const *bends);
#endif
