/* Terminal: a snapshot drawn with characters.
 *
 *     +- x ------+  +- w ------+
 *     | f32[3,5] |  | f32[5,2] |
 *     +----------+  +----------+
 *          +----+  +----+
 *               v  v
 *          +- matmul --+
 *
 * In: a snapshot, the width of the terminal. Out: boxes and lines where they fit into the width and there are at most 60 items;
 * else the list form, a line an item. Links that close a cycle, and those that do not order anything (origin, not-fused), are
 * told in words. Timelines become bars. */
#include "viz/canvas.h"
#include "viz/layout.h"
#include "viz/theme.h"
#include "viz/viz.h"
#include "base/intern.h"
#include "base/map.h"
#include <math.h>
#include <string.h>

enum { DRAWN_ITEMS = 60, MAX_ROWS = 4, MAX_CODE_ROWS = 40, ROW_COLUMNS = 44, DEFAULT_WIDTH = 100 };

typedef struct Sketch {
    const Snapshot *snapshot;
    const VizOptions *options;
    Arena *arena;
    int width;
    bool compact;             /* titles only, no rows */
    int *from, *to;           /* link -> items, -1: not there */
    LayoutLink *links;        /* those that are drawn */
    int *origin;              /* drawn link -> link of the snapshot */
    int link_count;
    Layout *layout;
    Canvas *canvas;
} Sketch;

static int options_width(const VizOptions *options) { return options->width > 0 ? options->width : DEFAULT_WIDTH; }

/* ---- what stands in a box ---- */

static const char *head_of(const Sketch *s, const SnapshotItem *item) {
    const char *bare = item->id + (*item->id == '%');
    if (!*item->title || strcmp(bare, item->title) == 0) return item->id;
    return arena_printf(s->arena, "%s  %s", item->title, item->id);
}

/* The halves of a joint graph: the badges say already which one it is. */
static bool is_side(const Snapshot *snapshot, const char *id) {
    for (int i = 0; i < snapshot->groups.count; i++)
        if (strcmp(snapshot->groups.at[i].id, id) == 0) return strcmp(snapshot->groups.at[i].kind, "side") == 0;
    return false;
}

static const char *tag_of(const Sketch *s, const SnapshotItem *item) {
    const MarkTheme *mark = theme_mark(item->mark);
    const char *badge = mark ? mark->ascii : "", *group = item->group && !is_side(s->snapshot, item->group) ? item->group : "";
    return arena_printf(s->arena, "%s%s%s", badge, *badge && *group ? " " : "", group);
}

static int shown_rows(const Sketch *s, const SnapshotItem *item) {
    int most = theme_item(item->kind)->code ? MAX_CODE_ROWS : MAX_ROWS;
    if (s->compact) return 0;
    return item->rows.count < most ? item->rows.count : most;
}

static int box_width(const Sketch *s, const SnapshotItem *item) {
    int widest = text_columns(head_of(s, item)), tag = text_columns(tag_of(s, item));
    for (int i = 0; i < shown_rows(s, item); i++) {
        int columns = text_columns(item->rows.at[i]);
        if (columns > widest) widest = columns;
    }
    if (tag + 2 > widest) widest = tag + 2;
    if (widest > ROW_COLUMNS) widest = ROW_COLUMNS;
    return widest + 4;
}

static void paint_box(Sketch *s, int i) {
    const SnapshotItem *item = &s->snapshot->items.at[i];
    const LayoutNode *node = &s->layout->nodes.at[i];
    const ItemTheme *theme = theme_item(item->kind);
    const MarkTheme *mark = theme_mark(item->mark);
    const char *tag = tag_of(s, item);
    int tag_columns = text_columns(tag), inside = node->width - 4;
    canvas_box(s->canvas, node->x, node->y, node->width, node->height, mark && mark->terminal ? mark->terminal : theme->terminal);
    if (tag_columns > 0) {
        int shown = tag_columns < inside - 2 ? tag_columns : inside - 2;
        canvas_text(s->canvas, node->x + node->width - shown - 3, node->y, " ", 1, 0);
        canvas_text(s->canvas, node->x + node->width - shown - 2, node->y, tag, shown, mark ? mark->terminal : 0);
    }
    canvas_text(s->canvas, node->x + 2, node->y + 1, head_of(s, item), inside, 1);
    for (int row = 0; row < shown_rows(s, item); row++)
        canvas_text(s->canvas, node->x + 2, node->y + 2 + row, item->rows.at[row], inside, 0);
}

/* ---- links ---- */

static void find_ends(Sketch *s) {
    Interner *names = interner_new(s->arena);
    Map *place = map_new(s->arena);
    int count = s->snapshot->links.count;
    for (int i = 0; i < s->snapshot->items.count; i++)
        map_put(place, intern(names, s->snapshot->items.at[i].id), (void *)(intptr_t)(i + 1));
    s->from = ARENA_ARRAY(s->arena, int, count + 1);
    s->to = ARENA_ARRAY(s->arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        s->from[i] = (int)(intptr_t)map_get(place, intern(names, s->snapshot->links.at[i].from)) - 1;
        s->to[i] = (int)(intptr_t)map_get(place, intern(names, s->snapshot->links.at[i].to)) - 1;
    }
}

static const char *style_of(const SnapshotLink *link) { return link->label && *link->label ? link->label : link->kind ? link->kind : ""; }

static void choose_links(Sketch *s) {
    int count = s->snapshot->links.count;
    Interner *styles = interner_new(s->arena);
    Map *numbers = map_new(s->arena);
    s->links = ARENA_ARRAY(s->arena, LayoutLink, count + 1);
    s->origin = ARENA_ARRAY(s->arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        const SnapshotLink *link = &s->snapshot->links.at[i];
        if (s->from[i] < 0 || s->to[i] < 0 || !theme_link(link->kind)->ranks) continue;
        const char *style = intern(styles, style_of(link));
        if (!map_has(numbers, style)) map_put(numbers, style, (void *)(intptr_t)map_count(numbers));
        s->origin[s->link_count] = i;
        s->links[s->link_count++] = (LayoutLink){.from = s->from[i], .to = s->to[i], .style = (int)(intptr_t)map_get(numbers, style)};
    }
}

static bool try_layout(Sketch *s) {
    int count = s->snapshot->items.count;
    int *widths = ARENA_ARRAY(s->arena, int, count + 1), *heights = ARENA_ARRAY(s->arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        widths[i] = box_width(s, &s->snapshot->items.at[i]);
        heights[i] = 3 + shown_rows(s, &s->snapshot->items.at[i]);
    }
    for (int i = 0; i < s->link_count; i++) s->links[i].backward = false;
    s->layout = layout_make(s->arena, widths, heights, count, s->links, s->link_count);
    return s->layout->width <= s->width;
}

static int wire_color(const Sketch *s, const LayoutWire *wire) {
    return theme_link(s->snapshot->links.at[s->origin[wire->net]].kind)->terminal;
}

static void paint_pin(Sketch *s, const LayoutChannel *channel, const LayoutWire *wire, const LayoutPin *pin, int color) {
    int bottom = channel->y + channel->tracks;
    canvas_down(s->canvas, pin->column, channel->y + (wire->track < 0 ? 0 : wire->track), bottom, wire->track < 0, wire->net, color);
    if (pin->link >= 0) canvas_arrow(s->canvas, pin->column, bottom, color);
}

static void paint_wire(Sketch *s, int rank, const LayoutWire *wire) {
    const LayoutChannel *channel = &s->layout->channels[rank];
    const LayoutNode *from = &s->layout->nodes.at[wire->from];
    int color = wire_color(s, wire), start = from->net >= 0 ? from->y : from->y + from->height, low = wire->column, high = wire->column;
    for (int i = 0; i < wire->pins.count; i++) {
        if (wire->pins.at[i].column < low) low = wire->pins.at[i].column;
        if (wire->pins.at[i].column > high) high = wire->pins.at[i].column;
    }
    canvas_down(s->canvas, wire->column, start, channel->y + (wire->track < 0 ? channel->tracks : wire->track), true, wire->net, color);
    if (wire->track >= 0) canvas_across(s->canvas, channel->y + wire->track, low, high, wire->net, color);
    for (int i = 0; i < wire->pins.count; i++) paint_pin(s, channel, wire, &wire->pins.at[i], color);
}

/* Labels stand behind their arrow, where there is room. */
static void paint_labels(Sketch *s, int rank) {
    const LayoutChannel *channel = &s->layout->channels[rank];
    for (int i = 0; i < channel->wires.count; i++)
        for (int j = 0; j < channel->wires.at[i].pins.count; j++) {
            const LayoutPin *pin = &channel->wires.at[i].pins.at[j];
            const SnapshotLink *link = pin->link >= 0 ? &s->snapshot->links.at[s->origin[pin->link]] : NULL;
            const char *label = link && link->label && strcmp(link->label, link->from) ? link->label : NULL;
            int columns = label ? text_columns(label) : 0, y = channel->y + channel->tracks;
            if (columns > 0 && columns < 24 && canvas_is_free(s->canvas, pin->column + 1, y, columns + 1))
                canvas_text(s->canvas, pin->column + 2, y, label, columns, wire_color(s, &channel->wires.at[i]));
        }
}

/* A bend carries its line through the whole height of its rank. */
static void paint_bends(Sketch *s) {
    for (int i = s->layout->box_count; i < s->layout->nodes.count; i++) {
        const LayoutNode *bend = &s->layout->nodes.at[i];
        int color = theme_link(s->snapshot->links.at[s->origin[bend->net]].kind)->terminal;
        canvas_down(s->canvas, bend->x, bend->y - 1, bend->y + s->layout->rank_height[bend->rank] - 1, true, bend->net, color);
    }
}

static void tell_links(Text *text, const Sketch *s) {
    const char *arrow = s->options->unicode ? " \xe2\x86\x92 " : " -> ";
    for (int i = 0; i < s->link_count; i++) {
        const SnapshotLink *link = &s->snapshot->links.at[s->origin[i]];
        if (s->links[i].backward) text_line(text, "back: %s%s%s", link->from, arrow, link->to);
    }
    for (int i = 0; i < s->snapshot->links.count; i++) {
        const SnapshotLink *link = &s->snapshot->links.at[i];
        if (s->from[i] < 0 || s->to[i] < 0 || theme_link(link->kind)->ranks) continue;
        text_line(text, "%s: %s%s%s%s%s", link->kind, link->from, strcmp(link->kind, "not-fused") ? arrow : ", ", link->to,
                  link->label && *link->label ? ": " : "", link->label ? link->label : "");
    }
}

static void paint(Text *text, Sketch *s) {
    s->canvas = canvas_new(s->arena, s->layout->width, s->layout->height);
    for (int i = 0; i < s->layout->box_count; i++) paint_box(s, i);
    paint_bends(s);
    for (int rank = 0; rank < s->layout->rank_count; rank++)
        for (int i = 0; i < s->layout->channels[rank].wires.count; i++) paint_wire(s, rank, &s->layout->channels[rank].wires.at[i]);
    for (int rank = 0; rank < s->layout->rank_count; rank++) paint_labels(s, rank);
    canvas_print(text, s->canvas, s->options->unicode, s->options->color);
    tell_links(text, s);
}

/* ---- list form ---- */

static const char *reads_of(const Sketch *s, int item) {
    Text text = {0};
    for (int i = 0; i < s->snapshot->links.count; i++)
        if (s->to[i] == item && theme_link(s->snapshot->links.at[i].kind)->ranks)
            text_printf(&text, "%s%s", text.length ? ", " : "", s->snapshot->links.at[i].from);
    const char *reads = text_in(&text, s->arena);
    text_free(&text);
    return reads;
}

static void pad(Text *text, const char *string, int columns, int most) {
    Text visible = {0};
    text_visible(&visible, string);
    text_put(text, text_cstr(&visible));
    for (int i = text_columns(text_cstr(&visible)); i < columns && i < most; i++) text_char(text, ' ');
    text_free(&visible);
}

static void list_item(Text *text, const Sketch *s, int i, int id_width, int title_width) {
    const SnapshotItem *item = &s->snapshot->items.at[i];
    const MarkTheme *mark = theme_mark(item->mark);
    Text line = {0};
    pad(&line, item->id, id_width, 32);
    text_put(&line, "  ");
    pad(&line, item->title, title_width, 32);
    for (int row = 0; row < item->rows.count; row++) {
        text_put(&line, row ? " | " : "  ");
        pad(&line, item->rows.at[row], 0, 0);
    }
    const char *reads = reads_of(s, i);
    if (*reads) text_printf(&line, "  %s %s", s->options->unicode ? "\xe2\x86\x90" : "<-", reads);
    if (mark) text_printf(&line, "  (%s)", item->mark);
    while (line.length && line.data[line.length - 1] == ' ') line.data[--line.length] = 0;
    text_printf(text, "%s%s\n", item->group ? "  " : "", text_cstr(&line));
    text_free(&line);
}

static const char *group_title(const Snapshot *snapshot, const char *id) {
    for (int i = 0; i < snapshot->groups.count; i++)
        if (strcmp(snapshot->groups.at[i].id, id) == 0) return snapshot->groups.at[i].title;
    return id;
}

static void list_items(Text *text, const Sketch *s) {
    int id_width = 0, title_width = 0;
    const char *group = NULL;
    for (int i = 0; i < s->snapshot->items.count; i++) {
        int id = text_columns(s->snapshot->items.at[i].id), title = text_columns(s->snapshot->items.at[i].title);
        if (id > id_width) id_width = id;
        if (title > title_width) title_width = title;
    }
    for (int i = 0; i < s->snapshot->items.count; i++) {
        const char *own = s->snapshot->items.at[i].group;
        if (own && (!group || strcmp(own, group) != 0)) text_line(text, "%s:", group_title(s->snapshot, own));
        group = own;
        list_item(text, s, i, id_width, title_width);
    }
}

/* ---- tree form: where each item has one parent, and the places that guards look at are among them ---- */

static bool is_tree(const Sketch *s) {
    bool source = false;
    for (int i = 0; i < s->snapshot->items.count; i++) {
        int parents = 0;
        source = source || strcmp(s->snapshot->items.at[i].kind, "source") == 0;
        for (int j = 0; j < s->snapshot->links.count; j++) parents += s->to[j] == i && s->from[j] >= 0;
        if (parents > 1) return false;
    }
    return source;
}

static bool is_root(const Sketch *s, int item) {
    for (int i = 0; i < s->snapshot->links.count; i++)
        if (s->to[i] == item && s->from[i] >= 0) return false;
    return true;
}

static int children_of(const Sketch *s, int item) {
    int count = 0;
    for (int i = 0; i < s->snapshot->links.count; i++) count += s->from[i] == item && s->to[i] >= 0;
    return count;
}

static void print_tree(Text *text, const Sketch *s, int item, const char *before, int depth) {
    static const char *const joints[2][4] = {{"|- ", "`- ", "|  ", "   "},
                                             {"\xe2\x94\x9c\xe2\x94\x80 ", "\xe2\x94\x94\xe2\x94\x80 ", "\xe2\x94\x82  ", "   "}};
    const char *const *joint = joints[s->options->unicode];
    int left = depth < 64 ? children_of(s, item) : 0;
    for (int i = 0; left > 0 && i < s->snapshot->links.count; i++) {
        if (s->from[i] != item || s->to[i] < 0) continue;
        const SnapshotItem *child = &s->snapshot->items.at[s->to[i]];
        left--;
        text_printf(text, "%s%s", before, joint[left == 0]);
        if (strcmp(child->kind, "source") && strncmp(child->title, child->id, strlen(child->id))) text_printf(text, "%s ", child->id);
        text_visible(text, child->title);
        for (int row = 0; row < child->rows.count; row++) {
            text_put(text, "  ");
            text_visible(text, child->rows.at[row]);
        }
        text_char(text, '\n');
        print_tree(text, s, s->to[i], arena_printf(s->arena, "%s%s", before, joint[2 + (left == 0)]), depth + 1);
    }
}

static void print_trees(Text *text, const Sketch *s) {
    for (int i = 0; i < s->snapshot->items.count; i++) {
        if (!is_root(s, i)) continue;
        text_visible(text, s->snapshot->items.at[i].title);
        text_char(text, '\n');
        print_tree(text, s, i, "", 0);
    }
}

/* ---- timelines ---- */

static void draw_bars(Text *text, const Sketch *s) {
    double end = 0;
    int label = 4, room;
    for (int i = 0; i < s->snapshot->items.count; i++) {
        const SnapshotItem *item = &s->snapshot->items.at[i];
        if (isfinite(item->start + item->length) && item->start + item->length > end) end = item->start + item->length;
        if (text_columns(item->title) > label) label = text_columns(item->title);
    }
    if (label > 32) label = 32;
    room = s->width - label - 14;
    if (room < 10) room = 10;
    for (int i = 0; i < s->snapshot->items.count; i++) {
        const SnapshotItem *item = &s->snapshot->items.at[i];
        bool placed = isfinite(item->start) && isfinite(item->length);
        int from = placed ? (int)floor(item->start / end * room) : 0, to = placed ? (int)ceil((item->start + item->length) / end * room) : 0;
        pad(text, *item->title ? item->title : item->id, label, label);
        text_char(text, ' ');
        for (int x = 0; x < room; x++) text_put(text, x < from || x >= (to > from ? to : from + 1) ? " " : s->options->unicode ? "\xe2\x96\x88" : "#");
        text_printf(text, " %g\n", item->length);
    }
}

/* ---- the two doors ---- */

static Sketch sketch_open(const Snapshot *snapshot, const VizOptions *options) {
    Sketch s = {.snapshot = snapshot, .options = options, .arena = arena_new("sketch"), .width = options_width(options)};
    find_ends(&s);
    return s;
}

static void put_title(Text *text, const Snapshot *snapshot) {
    if (!snapshot->title || !*snapshot->title) return;
    text_visible(text, snapshot->title);
    text_char(text, '\n');
}

void viz_list(Text *text, const Snapshot *snapshot, const VizOptions *options) {
    Arena *arena = arena_new("list");
    Sketch s = sketch_open(viz_without_lone_side(arena, snapshot), options);
    list_items(text, &s);
    arena_free(s.arena);
    arena_free(arena);
}

static void draw(Text *text, Sketch *s) {
    choose_links(s);
    bool fits = s->snapshot->items.count <= DRAWN_ITEMS && try_layout(s);
    if (!fits && s->snapshot->items.count <= DRAWN_ITEMS) {
        s->compact = true;
        fits = try_layout(s);
    }
    if (fits) paint(text, s);
    else {
        list_items(text, s);
        text_put(text, s->snapshot->items.count > DRAWN_ITEMS ? "(too many items to draw here: draw to a .svg file, or select a part)\n"
                                                              : "(too wide to draw here: draw to a .svg file, or select a part)\n");
    }
}

void viz_terminal(Text *text, const Snapshot *snapshot, const VizOptions *options) {
    Arena *arena = arena_new("fold");
    const Snapshot *tree = viz_guard_tree(arena, viz_without_lone_side(arena, snapshot));
    bool timeline = viz_is_timeline(tree);
    if (!timeline && !options->unfolded) tree = viz_fold_repeats(arena, tree, DRAWN_ITEMS);
    Sketch s = sketch_open(tree, options);
    put_title(text, tree);
    if (timeline) draw_bars(text, &s);
    else if (is_tree(&s)) print_trees(text, &s);
    else draw(text, &s);
    arena_free(s.arena);
    arena_free(arena);
}
