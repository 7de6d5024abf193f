/* Scene: boxes and words at fixed places: what a timeline or a plot becomes before anybody draws it. Units are points (1/72 inch). */
#ifndef VITRINE_VIZ_SCENE_H
#define VITRINE_VIZ_SCENE_H
#include "trace/snapshot.h"

typedef enum SceneAlign { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT } SceneAlign;

typedef struct SceneBox {
    double x, y, width, height;       /* left, top; y grows downwards */
    const char *fill, *border, *ink;  /* colours; NULL: none */
    const char *label;                /* plain text that fits, or NULL */
    SceneAlign align;
    const SnapshotItem *item;         /* for the tooltip, or NULL */
} SceneBox;

typedef struct Scene { Arena *arena; VEC(SceneBox) boxes; double width, height; } Scene;

/* Lanes of bars over a common axis, by the items' groups (or kinds, or each its own). timeline.c */
Scene *timeline_scene(Arena *arena, const Snapshot *snapshot);
/* Points over two axes. plot.c */
Scene *plot_scene(Arena *arena, const Snapshot *snapshot);
#endif
