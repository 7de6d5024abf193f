/* Snapshot: a neutral picture of any stage: what viz draws and repl lists. Neither sees the compiler's own types.
 *
 * A stage offers `void X_describe(const X *, Snapshot *)`; it is called when somebody looks, never before.
 * Invariant: every string is plain user-visible text; escaping is the writer's work (dot, json, terminal). */
#ifndef VITRINE_TRACE_SNAPSHOT_H
#define VITRINE_TRACE_SNAPSHOT_H
#include "base/span.h"
#include "base/vec.h"

typedef struct SnapshotItem {
    const char *id;       /* unique in the snapshot: "%relu_1", "g3", "k0", "buf2", "b12" */
    const char *kind;     /* looked up in viz/theme: "input" "pointwise" "reduce" "view" "contract" "index" "create" "mutate"
                             "random" "scan" "composite" "output" "guard" "kernel" "extern" "buffer" "block" "saved" … */
    const char *title;    /* first line: "relu" */
    VEC(const char *) rows; /* further lines: "f32[3, 5]", "60 B" */
    const char *group;    /* id of the group it stands in, or NULL */
    const char *mark;     /* NULL, or "forward" "backward" "changed" "added" "removed" "saved" "recomputed" "library" "first" */
    const char *detail;   /* tooltip: source line, reason … or NULL */
    Span span;
    double start, length; /* timelines only: microseconds */
} SnapshotItem;

typedef struct SnapshotLink {
    const char *from, *to; /* item ids */
    const char *label;     /* or NULL */
    const char *kind;      /* "data" "control" "true" "false" "saved" "alias" "origin" "exception" "not-fused" */
} SnapshotLink;

typedef struct SnapshotGroup { const char *id, *title, *kind, *parent; } SnapshotGroup;

typedef struct SnapshotIndex SnapshotIndex; /* snapshot.c's own: id -> item */

typedef struct Snapshot {
    Arena *arena;
    const char *stage;    /* "dynamo", "joint", … */
    const char *title;    /* "[0/0] f: captured graph" */
    const char *x_axis, *y_axis; /* of a plot (an item's start is its x, its length its y); NULL: it is none */
    VEC(SnapshotItem) items;
    VEC(SnapshotLink) links;
    VEC(SnapshotGroup) groups;
    const char *text;     /* the stage's own listing (graph code, bytecode, kernel source …) or NULL */
    SnapshotIndex *index;
} Snapshot;

Snapshot *snapshot_new(Arena *arena, const char *stage, const char *title);
/* What the next three return is for setting the other fields at once: the next call of the same function may move it. */
SnapshotItem *snapshot_item(Snapshot *snapshot, const char *id, const char *kind, const char *title);      /* strings copied */
void snapshot_row(Snapshot *snapshot, SnapshotItem *item, const char *format, ...) __attribute__((format(printf, 3, 4)));
SnapshotLink *snapshot_link(Snapshot *snapshot, const char *from, const char *to, const char *kind);
SnapshotGroup *snapshot_group(Snapshot *snapshot, const char *id, const char *kind, const char *title, const char *parent);
SnapshotItem *snapshot_find(const Snapshot *snapshot, const char *id);
#endif
