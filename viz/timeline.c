/* Timeline: items that start and last become bars on lanes over one axis.
 *
 *     forward    |##k0##|####k1####|
 *     backward                      |##k2##|
 *                0        5        10 us
 *
 * In: items with start and length (a lane for each group, else for each kind when several items share it, else for each item).
 * Out: a Scene in points. Invariant: a bar is never narrower than a hair, so that nothing short vanishes. */
#include "viz/scene.h"
#include "viz/theme.h"
#include "viz/viz.h"
#include <math.h>
#include <string.h>

enum { LABEL_WIDTH = 150, CHART_WIDTH = 720, LANE_HEIGHT = 22, GAP = 4, TICKS = 6, CHARACTER = 6 };

bool viz_is_timeline(const Snapshot *snapshot) {
    if (viz_is_plot(snapshot)) return false;
    for (int i = 0; i < snapshot->items.count; i++)
        if (snapshot->items.at[i].length > 0) return true;
    return false;
}

static const char *lane_of(const Snapshot *snapshot, const SnapshotItem *item) {
    for (int i = 0; item->group && i < snapshot->groups.count; i++)
        if (strcmp(snapshot->groups.at[i].id, item->group) == 0) return snapshot->groups.at[i].title;
    return item->group ? item->group : item->id;
}

static int find_lane(Arena *arena, const char ***names, int *count, int *room, const char *name) {
    for (int i = 0; i < *count; i++)
        if (strcmp((*names)[i], name) == 0) return i;
    if (*count == *room) *names = vec_grow_in(arena, *names, *count, room, sizeof **names);
    (*names)[*count] = name;
    return (*count)++;
}

static double end_of(const Snapshot *snapshot) {
    double end = 0;
    for (int i = 0; i < snapshot->items.count; i++) {
        const SnapshotItem *item = &snapshot->items.at[i];
        if (isfinite(item->start) && isfinite(item->length)) end = fmax(end, item->start + fmax(item->length, 0));
    }
    return end > 0 ? end : 1;
}

/* What of `label` fits into `width` points: all, the start of it, or nothing. */
static const char *fit(Arena *arena, const char *label, double width) {
    int room = (int)(width / CHARACTER);
    int length = (int)strlen(label);
    if (length <= room) return label;
    if (room < 3) return NULL;
    while (room > 1 && ((unsigned char)label[room - 1] & 0xc0) == 0x80) room--; /* not inside a character */
    return arena_printf(arena, "%.*s\xe2\x80\xa6", room - 1, label);
}

/* A bar says its title, or, where its lane says that already, its first row. */
static const char *bar_label(const SnapshotItem *item, const char *lane) {
    const char *title = *item->title ? item->title : item->id;
    return strcmp(title, lane) == 0 && item->rows.count ? item->rows.at[0] : title;
}

static void add_bar(Scene *scene, const SnapshotItem *item, int lane, const char *lane_name, double scale) {
    const ItemTheme *theme = theme_item(item->kind);
    const MarkTheme *mark = theme_mark(item->mark);
    SceneBox box = {.x = LABEL_WIDTH + item->start * scale, .y = lane * (LANE_HEIGHT + GAP), .height = LANE_HEIGHT, .item = item};
    box.width = fmax(item->length * scale, 1);
    box.fill = theme->fill;
    box.border = mark ? mark->color : theme->border;
    box.label = fit(scene->arena, bar_label(item, lane_name), box.width - 6);
    box.align = ALIGN_CENTER;
    vec_push_in(scene->arena, &scene->boxes, box);
}

/* 1, 2 or 5 times a power of ten, so that about TICKS of them cover `end`. */
static double tick_step(double end) {
    double rough = end / TICKS, power = pow(10, floor(log10(rough))), digit = rough / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void add_axis(Scene *scene, double end, double scale) {
    double step = tick_step(end);
    for (int i = 0; i * step <= end * 1.0001; i++) {
        double x = LABEL_WIDTH + i * step * scale;
        const char *label = arena_printf(scene->arena, "%g", i * step);
        vec_push_in(scene->arena, &scene->boxes, ((SceneBox){.x = x, .y = -2, .width = 0.5, .height = scene->height + 4, .fill = "#d5d9df"}));
        vec_push_in(scene->arena, &scene->boxes,
                    ((SceneBox){.x = x - 28, .y = scene->height + 4, .width = 56, .height = 14, .label = label, .align = ALIGN_CENTER, .ink = "#4b5563"}));
    }
}

Scene *timeline_scene(Arena *arena, const Snapshot *snapshot) {
    Scene *scene = ARENA_NEW(arena, Scene);
    scene->arena = arena;
    const char **lanes = NULL;
    int lane_count = 0, room = 0;
    int *lane = ARENA_ARRAY(arena, int, snapshot->items.count + 1);
    for (int i = 0; i < snapshot->items.count; i++)
        lane[i] = find_lane(arena, &lanes, &lane_count, &room, lane_of(snapshot, &snapshot->items.at[i]));
    double end = end_of(snapshot), scale = CHART_WIDTH / end;
    scene->width = LABEL_WIDTH + CHART_WIDTH;
    scene->height = lane_count * (LANE_HEIGHT + GAP);
    add_axis(scene, end, scale);
    for (int i = 0; i < lane_count; i++)
        vec_push_in(arena, &scene->boxes, ((SceneBox){.x = 0, .y = i * (LANE_HEIGHT + GAP), .width = LABEL_WIDTH - 6, .height = LANE_HEIGHT,
                                                      .label = fit(arena, lanes[i], LABEL_WIDTH - 10), .align = ALIGN_RIGHT}));
    for (int i = 0; i < snapshot->items.count; i++) add_bar(scene, &snapshot->items.at[i], lane[i], lanes[lane[i]], scale);
    return scene;
}
