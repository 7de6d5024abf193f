/* Viz: pictures of snapshots. It knows no stage and no compiler type: whatever describes itself as a Snapshot can be drawn.
 *
 *     VizOptions options = {.width = 100, .unicode = true};
 *     const char *error;
 *     if (!viz_write(snapshot, "joint.svg", &options, &error)) report(error);   // svg, png, pdf, dot by the ending
 *     viz_terminal(&text, snapshot, &options);                                  // boxes and lines, or a list where they would not fit
 *
 * Invariants: equal snapshots give equal bytes; no text of a program can end what it is quoted in; a drawing never hangs
 * (large snapshots are folded, layout runs in a child process with a time limit). */
#ifndef VITRINE_VIZ_H
#define VITRINE_VIZ_H
#include "base/text.h"
#include "trace/snapshot.h"

typedef struct VizOptions {
    int width;               /* of the terminal, in columns; 0: 100 */
    bool unicode, color;     /* of the terminal drawing */
    bool unfolded;           /* draw every item, however many */
    int limit_ms;            /* for layout; 0: 20 s */
    volatile int *interrupt; /* or NULL: stops the wait when set */
} VizOptions;

/* Writes the drawing to `path`, whole or not at all. False with *error (in the snapshot's arena). */
bool viz_write(const Snapshot *snapshot, const char *path, const VizOptions *options, const char **error);
void viz_dot(Text *text, const Snapshot *snapshot, const VizOptions *options); /* as viz_write to a .dot file */
void viz_terminal(Text *text, const Snapshot *snapshot, const VizOptions *options);
void viz_list(Text *text, const Snapshot *snapshot, const VizOptions *options); /* a line an item, with what it reads */
bool viz_knows_ending(const char *path);                                        /* .svg .png .pdf .dot .gv */
void viz_version(Text *text);                                                   /* "Graphviz 2.43.0: svg png pdf dot" */

/* The same snapshot with repeated pieces drawn once (x12), then whole groups and runs as one item, until at most `limit` items are
 * left. Gives `snapshot` itself where nothing had to be folded. */
const Snapshot *viz_fold(Arena *arena, const Snapshot *snapshot, int limit);
const Snapshot *viz_fold_repeats(Arena *arena, const Snapshot *snapshot, int limit); /* the first of the three only */
/* Guards without links become a tree by where they look: L -> L['x'] -> its guards. Other snapshots come back as they are. */
const Snapshot *viz_guard_tree(Arena *arena, const Snapshot *snapshot);
/* Marks "forward" and "backward" say nothing where only one of them is there: then without them. */
const Snapshot *viz_without_lone_side(Arena *arena, const Snapshot *snapshot);
/* Is it a timeline: does an item last for some time? Those are drawn as bars on lanes. */
bool viz_is_timeline(const Snapshot *snapshot);
/* Is it a plot: points over two axes? */
bool viz_is_plot(const Snapshot *snapshot);
#endif
