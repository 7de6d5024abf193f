/* Plot: items that have two numbers become points over two axes, joined by steps in their order.
 *
 *     peak |  [1]__
 *          |       |[0.5]___[0]
 *          +--------------------  time
 *
 * In: a snapshot with x_axis and y_axis; an item's start is its x, its length its y, its title its label. Out: a Scene in points.
 * Invariant: labels of points that lie on one another stand side by side, so that each can be read. */
#include "viz/scene.h"
#include "viz/theme.h"
#include "viz/viz.h"
#include <math.h>
#include <string.h>

enum { LEFT = 90, CHART_WIDTH = 620, CHART_HEIGHT = 320, TICKS = 5, DOT = 8, LABEL_WIDTH = 34, LABEL_HEIGHT = 14 };

bool viz_is_plot(const Snapshot *snapshot) { return snapshot->x_axis != NULL; }

typedef struct Scale { double low, high, step; } Scale;

/* 1, 2 or 5 times a power of ten, so that about TICKS of them cover the range; its ends are multiples of it. */
static Scale scale_of(double low, double high) {
    if (!(high > low)) high = low + (low != 0 ? fabs(low) * 0.1 : 1);
    double rough = (high - low) / TICKS, power = pow(10, floor(log10(rough))), digit = rough / power;
    double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    return (Scale){floor(low / step) * step, ceil(high / step) * step, step};
}

static double share(Scale scale, double value) { return (value - scale.low) / (scale.high - scale.low); }

static void box(Scene *scene, double x, double y, double width, double height, const char *fill, const char *label, SceneAlign align, const SnapshotItem *item) {
    SceneBox one = {.x = x, .y = y, .width = width, .height = height, .fill = fill, .ink = "#374151", .label = label, .align = align, .item = item};
    vec_push_in(scene->arena, &scene->boxes, one);
}

static void add_axes(Scene *scene, const Snapshot *snapshot, Scale x, Scale y) {
    for (double at = x.low; at <= x.high + x.step / 2; at += x.step) {
        double place = LEFT + share(x, at) * CHART_WIDTH;
        box(scene, place, 0, 0.5, CHART_HEIGHT, "#e5e7eb", NULL, ALIGN_CENTER, NULL);
        box(scene, place - 30, CHART_HEIGHT + 4, 60, LABEL_HEIGHT, NULL, arena_printf(scene->arena, "%g", at), ALIGN_CENTER, NULL);
    }
    for (double at = y.low; at <= y.high + y.step / 2; at += y.step) {
        double place = CHART_HEIGHT * (1 - share(y, at));
        box(scene, LEFT, place, CHART_WIDTH, 0.5, "#e5e7eb", NULL, ALIGN_CENTER, NULL);
        box(scene, 0, place - LABEL_HEIGHT / 2.0, LEFT - 6, LABEL_HEIGHT, NULL, arena_printf(scene->arena, "%g", at), ALIGN_RIGHT, NULL);
    }
    box(scene, LEFT, CHART_HEIGHT + 20, CHART_WIDTH, LABEL_HEIGHT, NULL, snapshot->x_axis, ALIGN_CENTER, NULL);
    box(scene, 0, -22, LEFT + 120, LABEL_HEIGHT, NULL, snapshot->y_axis, ALIGN_LEFT, NULL);
}

/* Along x at the former height, then up or down. */
static void add_step(Scene *scene, double x0, double y0, double x1, double y1) {
    box(scene, fmin(x0, x1), y0 - 0.5, fmax(fabs(x1 - x0), 1), 1, "#0072b2", NULL, ALIGN_CENTER, NULL);
    box(scene, x1 - 0.5, fmin(y0, y1), 1, fmax(fabs(y1 - y0), 1), "#0072b2", NULL, ALIGN_CENTER, NULL);
}

Scene *plot_scene(Arena *arena, const Snapshot *snapshot) {
    Scene *scene = ARENA_NEW(arena, Scene);
    *scene = (Scene){.arena = arena, .width = LEFT + CHART_WIDTH, .height = CHART_HEIGHT};
    double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
    for (int i = 0; i < snapshot->items.count; i++) {
        const SnapshotItem *item = &snapshot->items.at[i];
        x_low = fmin(x_low, item->start), x_high = fmax(x_high, item->start);
        y_low = fmin(y_low, item->length), y_high = fmax(y_high, item->length);
    }
    Scale x = scale_of(isfinite(x_low) ? x_low : 0, isfinite(x_high) ? x_high : 1), y = scale_of(isfinite(y_low) ? y_low : 0, isfinite(y_high) ? y_high : 1);
    double former_x = 0, former_y = 0, label_end = 0;
    add_axes(scene, snapshot, x, y);
    for (int i = 0; i < snapshot->items.count; i++) {
        const SnapshotItem *item = &snapshot->items.at[i];
        double at_x = LEFT + share(x, item->start) * CHART_WIDTH, at_y = CHART_HEIGHT * (1 - share(y, item->length));
        if (i) add_step(scene, former_x, former_y, at_x, at_y);
        bool same = i && fabs(at_x - former_x) < DOT && fabs(at_y - former_y) < DOT;
        double label = same ? label_end : at_x + DOT / 2.0 + 1;
        box(scene, at_x - DOT / 2.0, at_y - DOT / 2.0, DOT, DOT, "#b34700", NULL, ALIGN_CENTER, item);
        box(scene, label, at_y - LABEL_HEIGHT - 1, LABEL_WIDTH, LABEL_HEIGHT, NULL, item->title, ALIGN_LEFT, item);
        label_end = label + LABEL_WIDTH;
        former_x = at_x, former_y = at_y;
    }
    return scene;
}
