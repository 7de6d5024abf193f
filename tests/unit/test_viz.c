/* Unit tests of viz/: escaping of hostile text in every form, same bytes every time, folding, layout and terminal drawings. */
#include "unit.h"
#include "viz/canvas.h"
#include "viz/layout.h"
#include "viz/viz.h"
#include <graphviz/cgraph.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Arena *arena;
static char folder[] = "/tmp/vitrine-viz-XXXXXX";

static void open_arena(void) {
    arena = arena_new("test");
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (!mkdtemp(folder)) abort();
}

static void close_arena(void) {
    arena_free(arena);
    rmdir(folder);
}

static const char *const HOSTILE[] = {
    "plain", "a\"b", "</TABLE>>", "a<b>&c;", "&lt;&amp;&#0;", "\\N\\G\\L", "ends in \\", "line\nbreak", "tab\there\r", "\x01\x1b[31mred\x7f", "\xff\xfe bad bytes", "\xe2\x80\xaeover",
    "]]>", "<!--", "--> -- ", "cluster_0", "%node", "digraph", "graph { a -> b }", "\xe4\xbd\xa0\xe5\xa5\xbd", "", " ", "'\"`$(rm)`", "<script>alert(1)</script>", "{a|b}", "n0", "item 0"};
enum { HOSTILE_COUNT = sizeof HOSTILE / sizeof *HOSTILE };

/* Everything that can be hostile is: ids, titles, rows, details, groups, labels. */
static Snapshot *hostile_snapshot(bool timeline) {
    Snapshot *s = snapshot_new(arena, "dynamo", "t\"<&>\n\\N");
    char *endless = arena_alloc(arena, 5001);
    memset(endless, 'x', 5000);
    for (int i = 0; i < HOSTILE_COUNT; i++) {
        SnapshotItem *item = snapshot_item(s, HOSTILE[i], i % 2 ? "pointwise" : "block", HOSTILE[(i + 1) % HOSTILE_COUNT]);
        item->detail = HOSTILE[(i + 2) % HOSTILE_COUNT];
        item->group = i % 3 ? HOSTILE[i % 7] : NULL;
        item->mark = i % 4 ? "changed" : HOSTILE[i];
        if (timeline) item->start = i, item->length = 2;
        snapshot_row(s, item, "%s", HOSTILE[(i + 3) % HOSTILE_COUNT]);
        snapshot_row(s, snapshot_find(s, HOSTILE[i]), "%s", endless);
    }
    for (int i = 0; i < 7; i++) snapshot_group(s, HOSTILE[i], "kernel", HOSTILE[i + 4], HOSTILE[(i + 1) % 7]); /* parents go in a circle */
    for (int i = 1; i < HOSTILE_COUNT; i++) snapshot_link(s, HOSTILE[i - 1], HOSTILE[i], i % 2 ? "data" : HOSTILE[i])->label = HOSTILE[i];
    snapshot_link(s, "nobody", HOSTILE[0], "data");
    return s;
}

static Snapshot *chain(int length, bool repeats) {
    static const char *const titles[] = {"mm", "add", "relu"};
    Snapshot *s = snapshot_new(arena, "dynamo", "chain");
    for (int i = 0; i < length; i++) {
        const char *title = repeats ? titles[i % 3] : arena_printf(arena, "op_%c%c%c", 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676); /* numbers would not tell them apart */
        snapshot_item(s, arena_printf(arena, "%%v%d", i), "pointwise", title);
        if (i) snapshot_link(s, arena_printf(arena, "%%v%d", i - 1), arena_printf(arena, "%%v%d", i), "data");
    }
    return s;
}

static char *dot_of(const Snapshot *snapshot) {
    Text text = {0};
    viz_dot(&text, snapshot, &(VizOptions){0});
    char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

static char *terminal_of(const Snapshot *snapshot, VizOptions options) {
    Text text = {0};
    viz_terminal(&text, snapshot, &options);
    char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

static char *file_of(const Snapshot *snapshot, const char *name, size_t *length) {
    const char *error = NULL;
    char *path = arena_printf(arena, "%s/%s", folder, name);
    ck_assert_msg(viz_write(snapshot, path, &(VizOptions){0}, &error), "%s", error);
    FILE *file = fopen(path, "rb");
    char *bytes = arena_alloc(arena, 1 << 22);
    *length = fread(bytes, 1, (1 << 22) - 1, file);
    fclose(file);
    unlink(path);
    return bytes;
}

/* ---- escaping ---- */

START_TEST(hostile_dot_is_read_back_whole) {
    Snapshot *s = hostile_snapshot(false);
    Agraph_t *graph = agmemread(dot_of(s));
    ck_assert_ptr_nonnull(graph);
    ck_assert_int_eq(agnnodes(graph), HOSTILE_COUNT);
    ck_assert_int_eq(agnedges(graph), HOSTILE_COUNT - 1);
    agclose(graph);
}
END_TEST

START_TEST(hostile_dot_is_valid_utf8_without_controls) {
    const char *dot = dot_of(hostile_snapshot(false));
    for (const char *at = dot; *at;) {
        uint32_t code;
        int bytes = utf8_decode(at, strnlen(at, 4), &code);
        ck_assert_int_gt(bytes, 0);
        ck_assert_msg(code >= 0x20 || code == '\n' || code == '\t', "control %02x", (unsigned)code);
        at += bytes;
    }
}
END_TEST

/* A small reader of XML: tags nest, attributes are quoted, & begins an entity, no control characters. */
static void check_xml(const char *xml, size_t length) {
    const char *open[256];
    int depth = 0;
    for (const char *at = xml, *end = xml + length; at < end;) {
        ck_assert_msg((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t' || *at == '\r', "control %02x", (unsigned char)*at);
        if (*at == '&') ck_assert_msg(strcspn(at, ";") < 12 && strcspn(at, "<>\" ") > strcspn(at, ";"), "entity %.12s", at);
        if (*at != '<') {
            at++;
            continue;
        }
        const char *stop = strncmp(at, "<!--", 4) == 0 ? strstr(at, "-->") : at;
        bool quoted = false;
        while (*stop && (quoted || *stop != '>')) quoted = (*stop++ == '"') ? !quoted : quoted;
        ck_assert(*stop == '>');
        if (at[1] == '/') {
            ck_assert_int_gt(depth, 0);
            size_t name = strcspn(at + 2, ">");
            depth--;
            ck_assert_msg(strncmp(open[depth] + 1, at + 2, name) == 0, "%.20s closes %.20s", at, open[depth]);
        } else if (at[1] != '?' && at[1] != '!' && stop[-1] != '/') {
            ck_assert_int_lt(depth, 255);
            open[depth++] = at;
        }
        at = stop + 1;
    }
    ck_assert_int_eq(depth, 0);
}

START_TEST(hostile_svg_is_well_formed) {
    for (int timeline = 0; timeline < 2; timeline++) {
        size_t length;
        char *svg = file_of(hostile_snapshot(timeline), "h.svg", &length);
        ck_assert(strstr(svg, "<svg"));
        check_xml(svg, length);
        ck_assert_ptr_null(strstr(svg, "<script"));
    }
}
END_TEST

START_TEST(backslashes_name_nothing) {
    Snapshot *s = snapshot_new(arena, "dynamo", "t");
    snapshot_item(s, "secret", "pointwise", "\\N and \\G");
    size_t length;
    char *svg = file_of(s, "b.svg", &length);
    ck_assert_ptr_null(strstr(svg, ">secret and"));
    ck_assert_ptr_nonnull(strstr(svg, "\\\xe2\x81\xa0N and \\\xe2\x81\xa0G"));
}
END_TEST

START_TEST(hostile_terminal_has_no_escapes) {
    const char *drawn = terminal_of(hostile_snapshot(false), (VizOptions){.width = 80, .unicode = true});
    for (const char *at = drawn; *at; at++) ck_assert(*at != '\x1b' && *at != '\r' && *at != '\x01');
}
END_TEST

/* ---- files ---- */

START_TEST(each_ending_has_its_form) {
    size_t length;
    Snapshot *s = chain(4, false);
    ck_assert_int_eq(memcmp(file_of(s, "a.png", &length), "\x89PNG", 4), 0);
    ck_assert_int_eq(memcmp(file_of(s, "a.pdf", &length), "%PDF", 4), 0);
    ck_assert_int_eq(memcmp(file_of(s, "a.dot", &length), "digraph", 7), 0);
    ck_assert_int_eq(memcmp(file_of(s, "a.gv", &length), "digraph", 7), 0);
}
END_TEST

START_TEST(errors_are_said) {
    const char *error = NULL;
    VizOptions options = {0};
    ck_assert(!viz_write(chain(2, false), "a.gif", &options, &error));
    ck_assert_ptr_nonnull(strstr(error, ".svg"));
    ck_assert(!viz_write(chain(2, false), "/nonexistent/a.svg", &options, &error));
    ck_assert_ptr_nonnull(strstr(error, "cannot write /nonexistent/a.svg: No such file"));
    ck_assert(!viz_write(chain(2, false), folder, &options, &error));
}
END_TEST

START_TEST(a_failed_write_leaves_the_old_file) {
    const char *error = NULL;
    char *path = arena_printf(arena, "%s/old.svg", folder);
    FILE *file = fopen(path, "w");
    fputs("old", file);
    fclose(file);
    VizOptions options = {.limit_ms = 1, .unfolded = true};
    ck_assert(!viz_write(chain(3000, false), path, &options, &error));
    ck_assert_ptr_nonnull(strstr(error, "too long"));
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_size, 3);
    unlink(path);
}
END_TEST

START_TEST(an_interrupt_stops_the_layout) {
    const char *error = NULL;
    volatile int interrupt = 1;
    VizOptions options = {.interrupt = &interrupt};
    ck_assert(!viz_write(chain(5, false), arena_printf(arena, "%s/i.svg", folder), &options, &error));
    ck_assert_str_eq(error, "interrupted");
}
END_TEST

START_TEST(same_snapshot_same_bytes) {
    size_t first_length, second_length;
    ck_assert_str_eq(dot_of(hostile_snapshot(false)), dot_of(hostile_snapshot(false)));
    char *first = file_of(hostile_snapshot(false), "1.svg", &first_length), *second = file_of(hostile_snapshot(false), "2.svg", &second_length);
    ck_assert_uint_eq(first_length, second_length);
    ck_assert_int_eq(memcmp(first, second, first_length), 0);
}
END_TEST

/* ---- what is drawn ---- */

START_TEST(dot_has_clusters_marks_and_dashes) {
    Snapshot *s = chain(3, false);
    snapshot_group(s, "k0", "kernel", "k0: fused", NULL);
    s->items.at[0].group = s->items.at[1].group = "k0";
    s->items.at[0].mark = "forward";
    s->items.at[2].mark = "backward";
    snapshot_link(s, "%v0", "%v2", "not-fused");
    const char *dot = dot_of(s);
    ck_assert_ptr_nonnull(strstr(dot, "subgraph cluster_0"));
    ck_assert_ptr_nonnull(strstr(dot, "k0: fused"));
    ck_assert_ptr_nonnull(strstr(dot, "style=dashed"));
    ck_assert_ptr_nonnull(strstr(dot, "<B>B</B>"));
    ck_assert_ptr_nonnull(strstr(dot, "v0 -> v1"));
}
END_TEST

START_TEST(equal_links_are_drawn_once) {
    Snapshot *s = chain(2, false);
    snapshot_link(s, "%v0", "%v1", "data");
    const char *first = strstr(dot_of(s), "v0 -> v1");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "v0 -> v1"));
}
END_TEST

/* ---- folding ---- */

START_TEST(small_snapshots_are_not_folded) {
    Snapshot *s = chain(20, true);
    ck_assert_ptr_eq(viz_fold(arena, s, 20), s);
}
END_TEST

START_TEST(repeats_are_drawn_once) {
    Snapshot *s = chain(600, true);
    const Snapshot *folded = viz_fold(arena, s, 100);
    ck_assert_int_eq(folded->items.count, 3);
    ck_assert_int_eq(folded->links.count, 2);
    ck_assert_ptr_nonnull(strstr(folded->groups.at[0].title, "200 times these 3"));
    ck_assert_ptr_nonnull(strstr(folded->title, "600 items, folded to 3"));
}
END_TEST

START_TEST(numbers_in_names_do_not_hide_repeats) {
    Snapshot *s = snapshot_new(arena, "dynamo", "layers");
    for (int i = 0; i < 50; i++) {
        snapshot_item(s, arena_printf(arena, "%%w%d", i), "input", arena_printf(arena, "l_layers_%d_weight_", i));
        snapshot_item(s, arena_printf(arena, "%%mm%d", i), "contract", i ? arena_printf(arena, "mm_%d", i) : "mm");
        snapshot_link(s, arena_printf(arena, "%%w%d", i), arena_printf(arena, "%%mm%d", i), "data");
        if (i) snapshot_link(s, arena_printf(arena, "%%mm%d", i - 1), arena_printf(arena, "%%mm%d", i), "data");
    }
    const Snapshot *folded = viz_fold_repeats(arena, s, 20);
    ck_assert_int_eq(folded->items.count, 2);
    ck_assert_int_eq(folded->links.count, 1);
    ck_assert_str_eq(folded->groups.at[0].id, "x50");
}
END_TEST

START_TEST(what_does_not_repeat_becomes_stretches) {
    const Snapshot *folded = viz_fold(arena, chain(1000, false), 50);
    ck_assert_int_eq(folded->items.count, 50);
    ck_assert_int_eq(folded->links.count, 49);
    ck_assert_str_eq(folded->items.at[0].title, "20 items");
    ck_assert_str_eq(folded->items.at[0].rows.at[0], "20 pointwise");
}
END_TEST

START_TEST(groups_become_items) {
    Snapshot *s = chain(300, false);
    for (int g = 0; g < 10; g++) snapshot_group(s, arena_printf(arena, "k%d", g), "kernel", arena_printf(arena, "k%d: fused", g), NULL);
    for (int i = 0; i < 300; i++) s->items.at[i].group = s->groups.at[i / 30].id;
    const Snapshot *folded = viz_fold(arena, s, 20);
    ck_assert_int_eq(folded->items.count, 10);
    ck_assert_str_eq(folded->items.at[3].title, "k3: fused");
}
END_TEST

/* ---- layout ---- */

START_TEST(layout_keeps_its_promises) {
    enum { N = 40 };
    unsigned seed = 7;
    for (int round = 0; round < 50; round++) {
        int widths[N], heights[N], count = 0;
        LayoutLink links[N * 3];
        for (int i = 0; i < N; i++) widths[i] = 5 + (int)((seed = seed * 1664525 + 1013904223) >> 28), heights[i] = 3;
        for (int i = 0; i < N * 2; i++) {
            int from = (int)((seed = seed * 1664525 + 1013904223) >> 16) % N, to = (int)((seed = seed * 1664525 + 1013904223) >> 16) % N;
            links[count++] = (LayoutLink){.from = from, .to = to, .style = i % 2};
        }
        Layout *layout = layout_make(arena, widths, heights, N, links, count);
        for (int i = 0; i < count; i++)
            if (!links[i].backward) ck_assert_int_lt(layout->nodes.at[links[i].from].rank, layout->nodes.at[links[i].to].rank);
        for (int i = 0; i < layout->nodes.count; i++)
            for (int j = 0; j < i; j++) {
                const LayoutNode *a = &layout->nodes.at[i], *b = &layout->nodes.at[j];
                if (a->rank == b->rank) ck_assert(a->x + a->width <= b->x || b->x + b->width <= a->x);
            }
    }
}
END_TEST

START_TEST(terminal_drawing_of_a_diamond) {
    Snapshot *s = snapshot_new(arena, "dynamo", "[0/0] f");
    static const char *const ids[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) snapshot_item(s, ids[i], "pointwise", ids[i]);
    snapshot_link(s, "a", "b", "data");
    snapshot_link(s, "a", "c", "data");
    snapshot_link(s, "b", "d", "data");
    snapshot_link(s, "c", "d", "data");
    ck_assert_str_eq(terminal_of(s, (VizOptions){.width = 60}),
                     "[0/0] f\n"
                     "     +----+\n"
                     "     | a  |\n"
                     "     +----+\n"
                     "   +----+---+\n"
                     "   v        v\n"
                     "+----+   +----+\n"
                     "| b  |   | c  |\n"
                     "+----+   +----+\n"
                     "   +-+  +---+\n"
                     "     v  v\n"
                     "    +----+\n"
                     "    | d  |\n"
                     "    +----+\n");
}
END_TEST

START_TEST(terminal_falls_back_to_a_list) {
    const char *wide = terminal_of(chain(3, false), (VizOptions){.width = 4}), *many = terminal_of(chain(90, false), (VizOptions){.width = 100});
    ck_assert_ptr_nonnull(strstr(wide, "too wide to draw here"));
    ck_assert_ptr_nonnull(strstr(many, "too many items"));
    ck_assert_ptr_nonnull(strstr(many, "<- %v88"));
}
END_TEST

START_TEST(crossing_is_not_branching) {
    Canvas *canvas = canvas_new(arena, 5, 3);
    Text text = {0};
    canvas_down(canvas, 2, 0, 2, true, 1, 0);
    canvas_across(canvas, 1, 0, 4, 2, 0);
    canvas_print(&text, canvas, false, false);
    ck_assert_str_eq(text_cstr(&text), "  |\n--|--\n  |\n");
    text_clear(&text);
    canvas_across(canvas, 0, 2, 4, 1, 0);
    canvas_print(&text, canvas, false, false);
    ck_assert_str_eq(text_cstr(&text), "  +--\n--|--\n  |\n");
    text_free(&text);
}
END_TEST

START_TEST(guards_become_a_tree) {
    Snapshot *s = snapshot_new(arena, "guards", "[0/0] f: guards");
    snapshot_row(s, snapshot_item(s, "g0", "guard", "TENSOR_MATCH"), "check_tensor(L['self'].layers[0].weight, Tensor)");
    snapshot_row(s, snapshot_item(s, "g1", "guard", "GRAD_MODE"), "grad mode on");
    ck_assert_str_eq(terminal_of(s, (VizOptions){.width = 100}),
                     "[0/0] f: guards\n"
                     "frame\n"
                     "|- L['self']\n"
                     "|  `- .layers\n"
                     "|     `- [0]\n"
                     "|        `- .weight\n"
                     "|           `- g0 TENSOR_MATCH  check_tensor(L['self'].layers[0].weight, Tensor)\n"
                     "`- g1 GRAD_MODE  grad mode on\n");
}
END_TEST

START_TEST(plots_are_points_over_axes) {
    Snapshot *s = snapshot_new(arena, "budget", "t");
    s->x_axis = "time <us>";
    s->y_axis = "peak & more";
    for (int i = 0; i < 4; i++) {
        SnapshotItem *item = snapshot_item(s, arena_printf(arena, "p%d", i), "kernel", arena_printf(arena, "b%d", i));
        item->start = 10 * i, item->length = 100 - i * i;
    }
    ck_assert(viz_is_plot(s) && !viz_is_timeline(s));
    size_t length;
    char *svg = file_of(s, "p.svg", &length);
    ck_assert(strstr(svg, "time &lt;us&gt;") && strstr(svg, "peak &amp; more") && strstr(svg, ">b3<") && strstr(svg, ">90<"));
    Snapshot *one = snapshot_new(arena, "budget", "one point");
    one->x_axis = one->y_axis = "none";
    ck_assert(file_of(one, "p.svg", &length));
}
END_TEST

START_TEST(timelines_are_bars) {
    Snapshot *s = snapshot_new(arena, "timeline", "t");
    for (int i = 0; i < 2; i++) {
        SnapshotItem *item = snapshot_item(s, arena_printf(arena, "l%d", i), "kernel", arena_printf(arena, "k%d", i));
        item->start = i * 10;
        item->length = 10;
    }
    ck_assert(viz_is_timeline(s));
    ck_assert_str_eq(terminal_of(s, (VizOptions){.width = 38}), "t\nk0   ##########           10\nk1             ########## 10\n");
    ck_assert_ptr_nonnull(strstr(dot_of(s), "pos="));
}
END_TEST

START_TEST(empty_snapshots_are_no_trouble) {
    Snapshot *s = snapshot_new(arena, "dynamo", "");
    size_t length;
    ck_assert_str_eq(terminal_of(s, (VizOptions){0}), "");
    ck_assert_ptr_nonnull(strstr(file_of(s, "e.svg", &length), "<svg"));
}
END_TEST

int main(void) {
    const TTest *tests[] = {
        hostile_dot_is_read_back_whole, hostile_dot_is_valid_utf8_without_controls, hostile_svg_is_well_formed, backslashes_name_nothing, hostile_terminal_has_no_escapes,
        each_ending_has_its_form, errors_are_said, a_failed_write_leaves_the_old_file, an_interrupt_stops_the_layout, same_snapshot_same_bytes,
        dot_has_clusters_marks_and_dashes, equal_links_are_drawn_once, small_snapshots_are_not_folded, repeats_are_drawn_once, numbers_in_names_do_not_hide_repeats, what_does_not_repeat_becomes_stretches,
        groups_become_items, layout_keeps_its_promises, terminal_drawing_of_a_diamond, terminal_falls_back_to_a_list, crossing_is_not_branching, guards_become_a_tree,
        plots_are_points_over_axes, timelines_are_bars, empty_snapshots_are_no_trouble};
    return UNIT_RUN("viz", tests, open_arena, close_arena);
}
