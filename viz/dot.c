/* Dot: Snapshot -> cgraph -> DOT text, or -> Graphviz's layout -> SVG, PNG, PDF.
 *
 * In: a snapshot, folded already. Out: bytes. Items become nodes with HTML-like labels, groups become clusters, links edges;
 * a timeline or a plot becomes nodes pinned at their places. How things look is theme.c's, what stands in labels label.c's business.
 *
 * Rendering happens in a child process: a layout that does not end is ended, and Graphviz's memory goes with it.
 * Invariant: nodes, clusters and edges are made in the snapshot's order, so equal snapshots give equal bytes. */
#include "viz/dot.h"
#include "viz/label.h"
#include "viz/scene.h"
#include "viz/theme.h"
#include "base/intern.h"
#include "base/map.h"
#include <errno.h>
#include <graphviz/gvc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Drawing {
    const Snapshot *snapshot;
    Agraph_t *graph;
    Arena *arena;
    Interner *names;
    Map *nodes;    /* interned item id -> Agnode_t */
    Map *clusters; /* interned group id -> Agraph_t */
    Map *drawn;    /* interned description of a link -> itself */
    Text scratch;
    Agiodisc_t io; /* writes to a Text */
    Agdisc_t disc;
} Drawing;

/* ---- cgraph takes char *, and changes none of it ---- */

static void put(void *object, const char *name, const char *value) {
    agsafeset(object, (char *)name, (char *)value, (char *)"");
}

static void put_html(Drawing *d, void *object, const char *name, const char *value) {
    char *html = agstrdup_html(d->graph, (char *)value);
    agsafeset(object, (char *)name, html, (char *)"");
    agstrfree(d->graph, html); /* the object holds its own reference */
}

static void put_default(Drawing *d, int kind, const char *name, const char *value) {
    agattr(d->graph, kind, (char *)name, (char *)value);
}

static const char *number(Drawing *d, double value) { return arena_printf(d->arena, "%.4g", value); }

static const char *plain(Drawing *d, const char *string) {
    text_clear(&d->scratch);
    label_plain(&d->scratch, string);
    return text_in(&d->scratch, d->arena);
}

/* ---- names ---- */

/* An id that reads well and needs no escape stands as it is, without its % (cgraph keeps names with % for itself); any other, and
 * one that another item already has, gets a number. */
static const char *node_name(Drawing *d, const char *id, int i) {
    const char *bare = id + (*id == '%');
    size_t length = strspn(bare, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:~/-");
    bool usable = length > 0 && length < 64 && !bare[length] && !agnode(d->graph, (char *)bare, 0);
    return usable ? bare : arena_printf(d->arena, "item %d", i); /* no usable name has a blank */
}

/* ---- groups ---- */

static const SnapshotGroup *find_group(const Snapshot *snapshot, const char *id) {
    for (int i = 0; id && i < snapshot->groups.count; i++)
        if (strcmp(snapshot->groups.at[i].id, id) == 0) return &snapshot->groups.at[i];
    return NULL;
}

static Agraph_t *cluster(Drawing *d, const char *id, int depth);

static bool is_used(const Snapshot *snapshot, const char *group) {
    for (int i = 0; i < snapshot->items.count; i++)
        if (snapshot->items.at[i].group && strcmp(snapshot->items.at[i].group, group) == 0) return true;
    return false;
}

/* A group that nobody declared is a path (nn.Module's "layers.0.fc") and lies in the nearest module above that has items of its own. */
static SnapshotGroup path_group(Drawing *d, const char *id) {
    char *parent = arena_strdup(d->arena, id), *dot;
    while ((dot = strrchr(parent, '.'))) {
        *dot = 0;
        if (is_used(d->snapshot, parent)) return (SnapshotGroup){.id = id, .title = id, .kind = "module", .parent = parent};
    }
    return (SnapshotGroup){.id = id, .title = id, .kind = "module"};
}

static Agraph_t *make_cluster(Drawing *d, const SnapshotGroup *group, int depth) {
    Agraph_t *parent = cluster(d, group->parent, depth + 1);
    Agraph_t *made = agsubg(parent, arena_printf(d->arena, "cluster_%d", map_count(d->clusters)), 1);
    text_clear(&d->scratch);
    text_put(&d->scratch, "<B>");
    label_html(&d->scratch, *group->title ? group->title : group->id, 64);
    text_put(&d->scratch, "</B>");
    put_html(d, made, "label", text_cstr(&d->scratch));
    put(made, "tooltip", plain(d, group->title));
    put(made, "margin", "10");
    put(made, "bgcolor", theme_group_fill(group->kind, parent == d->graph ? 0 : 1));
    return made;
}

/* The cluster of a group, or the whole graph for none. Depth stops a group that is its own ancestor. */
static Agraph_t *cluster(Drawing *d, const char *id, int depth) {
    if (!id || !*id || depth >= 32) return d->graph;
    const char *key = intern(d->names, id);
    Agraph_t *made = map_get(d->clusters, key);
    if (!made) {
        const SnapshotGroup *group = find_group(d->snapshot, id);
        SnapshotGroup path = group ? *group : path_group(d, id);
        made = make_cluster(d, &path, depth);
        map_put(d->clusters, key, made);
    }
    return made;
}

/* ---- items and links ---- */

static void style_item(Agnode_t *node, const SnapshotItem *item) {
    const ItemTheme *theme = theme_item(item->kind);
    const MarkTheme *mark = theme_mark(item->mark);
    bool strong = mark && (strcmp(item->mark, "changed") == 0 || strcmp(item->mark, "added") == 0 || strcmp(item->mark, "saved") == 0);
    put(node, "shape", theme->shape);
    put(node, "style", mark && strcmp(item->mark, "removed") == 0 ? "dashed" : theme->style);
    put(node, "fillcolor", theme->fill);
    put(node, "color", mark ? mark->color : theme->border);
    if (strong) put(node, "penwidth", "2.5");
    if (strcmp(theme->shape, "box3d") == 0 || strcmp(theme->shape, "cylinder") == 0) put(node, "margin", "0.1,0.09"); /* lid */
}

static void add_item(Drawing *d, int i) {
    const SnapshotItem *item = &d->snapshot->items.at[i];
    const char *key = intern(d->names, item->id);
    if (map_has(d->nodes, key)) return;
    Agnode_t *node = agnode(cluster(d, item->group, 0), (char *)node_name(d, item->id, i), 1);
    map_put(d->nodes, key, node);
    style_item(node, item);
    text_clear(&d->scratch);
    label_item(&d->scratch, item);
    put_html(d, node, "label", text_cstr(&d->scratch));
    text_clear(&d->scratch);
    label_tooltip(&d->scratch, item);
    put(node, "tooltip", text_cstr(&d->scratch));
}

static bool has_mark(const Drawing *d, const char *id, const char *mark) {
    const SnapshotItem *item = snapshot_find(d->snapshot, id);
    return item && item->mark && strcmp(item->mark, mark) == 0;
}

/* What crosses the cut is drawn as saved, whoever drew the graph. */
static const char *link_kind(const Drawing *d, const SnapshotLink *link) {
    return has_mark(d, link->from, "saved") && has_mark(d, link->to, "backward") ? "saved" : link->kind;
}

static void style_link(Drawing *d, Agedge_t *edge, const SnapshotLink *link) {
    const LinkTheme *theme = theme_link(link_kind(d, link));
    put(edge, "color", theme->color);
    put(edge, "style", theme->style);
    put(edge, "arrowhead", theme->arrow);
    put(edge, "penwidth", number(d, theme->width));
    if (!theme->ranks) put(edge, "constraint", "false");
    if (!link->label || !*link->label || strcmp(link->label, link->from) == 0) return;
    text_clear(&d->scratch);
    label_html(&d->scratch, link->label, 40);
    put_html(d, edge, "label", text_cstr(&d->scratch));
    put(edge, "fontcolor", theme->color);
    put(edge, "tooltip", plain(d, link->label));
}

/* Equal links (`x * x` reads x twice) are drawn once. */
static bool is_drawn(Drawing *d, const SnapshotLink *link) {
    const char *key = intern(d->names, arena_printf(d->arena, "%s\x1f%s\x1f%s\x1f%s", link->from, link->to,
                                                    link->kind ? link->kind : "", link->label ? link->label : ""));
    if (map_has(d->drawn, key)) return true;
    map_put(d->drawn, key, (void *)key);
    return false;
}

static void add_link(Drawing *d, const SnapshotLink *link) {
    Agnode_t *from = map_get(d->nodes, intern(d->names, link->from)), *to = map_get(d->nodes, intern(d->names, link->to));
    if (!from || !to || is_drawn(d, link)) return;
    style_link(d, agedge(d->graph, from, to, NULL, 1), link);
}

/* ---- whole drawings ---- */

static void set_title(Drawing *d) {
    text_clear(&d->scratch);
    text_put(&d->scratch, "<B>");
    label_html(&d->scratch, d->snapshot->title && *d->snapshot->title ? d->snapshot->title : d->snapshot->stage, 120);
    text_put(&d->scratch, "</B>");
    put_html(d, d->graph, "label", text_cstr(&d->scratch));
    put(d->graph, "tooltip", plain(d, d->snapshot->title ? d->snapshot->title : ""));
}

static void set_defaults(Drawing *d) {
    static const char *const graph[][2] = {
        {"linelength", "0"}, {"charset", "UTF-8"}, {"fontname", "sans-serif"}, {"fontsize", "11"}, {"fontcolor", "#111827"},
        {"labelloc", "t"}, {"labeljust", "l"}, {"bgcolor", "#ffffff"}, {"color", "#c3c9d1"}, {"style", "rounded"},
        {"nodesep", "0.25"}, {"ranksep", "0.32"}, {"pad", "0.2"}};
    static const char *const node[][2] = {{"fontname", "sans-serif"}, {"fontsize", "11"}, {"fontcolor", "#111827"}, {"margin", "0.07,0.035"},
                                          {"height", "0.2"}, {"width", "0.3"}};
    static const char *const edge[][2] = {{"fontname", "sans-serif"}, {"fontsize", "9"}, {"arrowsize", "0.65"}};
    for (size_t i = 0; i < sizeof graph / sizeof *graph; i++) put_default(d, AGRAPH, graph[i][0], graph[i][1]);
    for (size_t i = 0; i < sizeof node / sizeof *node; i++) put_default(d, AGNODE, node[i][0], node[i][1]);
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) put_default(d, AGEDGE, edge[i][0], edge[i][1]);
}

/* Trees of guards are bushy: they read better from left to right. */
static bool is_bushy(const Snapshot *snapshot) {
    for (int i = 0; i < snapshot->items.count; i++)
        if (strcmp(snapshot->items.at[i].kind, "source") == 0) return true;
    return false;
}

static void build_graph(Drawing *d) {
    if (is_bushy(d->snapshot)) put(d->graph, "rankdir", "LR");
    for (int i = 0; i < d->snapshot->items.count; i++) add_item(d, i);
    for (int i = 0; i < d->snapshot->links.count; i++) add_link(d, &d->snapshot->links.at[i]);
}

static void box_label(Drawing *d, Agnode_t *node, const SceneBox *box) {
    static const char *const align[] = {"LEFT", "CENTER", "RIGHT"};
    text_clear(&d->scratch);
    if (box->label && *box->label) {
        text_printf(&d->scratch, "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\"><TR><TD FIXEDSIZE=\"TRUE\" "
                                 "WIDTH=\"%.0f\" HEIGHT=\"%.0f\" ALIGN=\"%s\">", box->width - 4, box->height - 2, align[box->align]);
        label_html(&d->scratch, box->label, 0);
        text_put(&d->scratch, "</TD></TR></TABLE>");
    }
    put_html(d, node, "label", text_cstr(&d->scratch));
}

static void add_box(Drawing *d, const SceneBox *box, int i) {
    Agnode_t *node = agnode(d->graph, arena_printf(d->arena, "b%d", i), 1);
    put(node, "shape", "box");
    put(node, "fixedsize", "true");
    put(node, "margin", "0");
    put(node, "style", box->fill ? "filled" : "solid");
    put(node, "fillcolor", box->fill ? box->fill : "#ffffff");
    put(node, "color", box->border ? box->border : box->fill ? box->fill : "#ffffff");
    put(node, "penwidth", box->border ? "0.75" : "0");
    put(node, "fontcolor", box->ink ? box->ink : "#111827");
    put(node, "fontsize", "9");
    put(node, "width", number(d, box->width / 72));
    put(node, "height", number(d, box->height / 72));
    put(node, "pos", arena_printf(d->arena, "%.2f,%.2f!", box->x + box->width / 2, -(box->y + box->height / 2)));
    box_label(d, node, box);
    text_clear(&d->scratch);
    if (box->item) label_tooltip(&d->scratch, box->item);
    else label_plain(&d->scratch, box->label ? box->label : " ");
    put(node, "tooltip", text_cstr(&d->scratch));
}

static bool is_placed(const Snapshot *snapshot) { return viz_is_timeline(snapshot) || viz_is_plot(snapshot); }

static void build_scene(Drawing *d) {
    Scene *scene = viz_is_plot(d->snapshot) ? plot_scene(d->arena, d->snapshot) : timeline_scene(d->arena, d->snapshot);
    put(d->graph, "layout", "neato");
    put(d->graph, "inputscale", "72");
    for (int i = 0; i < scene->boxes.count; i++) add_box(d, &scene->boxes.at[i], i);
}

static int put_string(void *channel, const char *string) {
    text_put(channel, string);
    return 0;
}

static int flush_nothing(void *channel) { return channel ? 0 : EOF; }

static void drawing_open(Drawing *d, const Snapshot *snapshot) {
    *d = (Drawing){.snapshot = snapshot, .arena = arena_new("drawing")};
    d->io = (Agiodisc_t){AgIoDisc.afread, put_string, flush_nothing};
    d->disc = (Agdisc_t){&AgMemDisc, &AgIdDisc, &d->io};
    d->names = interner_new(d->arena);
    d->nodes = map_new(d->arena);
    d->clusters = map_new(d->arena);
    d->drawn = map_new(d->arena);
    agseterr(AGMAX); /* messages are asked for, not printed */
    d->graph = agopen((char *)"vitrine", Agdirected, &d->disc);
    set_defaults(d);
    set_title(d);
    if (is_placed(snapshot)) build_scene(d);
    else build_graph(d);
}

static void drawing_close(Drawing *d) {
    agclose(d->graph);
    text_free(&d->scratch);
    arena_free(d->arena);
}

/* ---- DOT text ---- */

void dot_text(Text *text, const Snapshot *snapshot) {
    Drawing d;
    drawing_open(&d, snapshot);
    agwrite(d.graph, text);
    drawing_close(&d);
}

/* ---- rendering, in a child ---- */

static void write_all(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t n = write(file, bytes, length);
        if (n <= 0) _exit(3);
        bytes += n;
        length -= (size_t)n;
    }
}

typedef struct Job { const Snapshot *snapshot; const char *format; } Job; /* no snapshot: the version */

static _Noreturn void render_in_child(int file, const Job *job) {
    Drawing d;
    drawing_open(&d, job->snapshot);
    GVC_t *context = gvContext();
    char *bytes = NULL;
    unsigned length = 0;
    if (strcmp(job->format, "png") == 0) put(d.graph, "dpi", "144");
    bool done = context && gvLayout(context, d.graph, is_placed(job->snapshot) ? "neato" : "dot") == 0 &&
                gvRenderData(context, d.graph, job->format, &bytes, &length) == 0;
    if (!done) _exit(2);
    write_all(file, bytes, length);
    _exit(0);
}

static _Noreturn void version_in_child(int file) {
    GVC_t *context = gvContext();
    if (!context) _exit(2);
    write_all(file, gvcVersion(context), strlen(gvcVersion(context)));
    _exit(0);
}

static _Noreturn void be_child(int file, const Job *job) {
    signal(SIGINT, SIG_DFL);
    if (!freopen("/dev/null", "w", stderr)) _exit(3); /* remarks about fonts are nobody's business */
    if (job->snapshot) render_in_child(file, job);
    version_in_child(file);
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads until the child closes its end; false when time is up or the user interrupts. */
static bool read_all(int file, Text *bytes, int64_t until, volatile int *interrupt) {
    for (;;) {
        int64_t left = until - now_ms();
        if (left <= 0 || (interrupt && *interrupt)) return false;
        struct pollfd wait = {.fd = file, .events = POLLIN};
        if (poll(&wait, 1, left < 100 ? (int)left : 100) <= 0) continue;
        char buffer[65536];
        ssize_t n = read(file, buffer, sizeof buffer);
        if (n == 0) return true;
        if (n > 0) text_put_n(bytes, buffer, (size_t)n);
        else if (errno != EINTR) return false;
    }
}

static const char *finish_child(pid_t child, bool complete, volatile int *interrupt) {
    int status = 0;
    if (!complete) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (!complete) return interrupt && *interrupt ? "interrupted" : "Graphviz took too long to lay it out: select a part of it, or write .dot";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
    if (WIFSIGNALED(status)) return "Graphviz crashed on it: select a part of it, or write .dot";
    return "Graphviz could not lay it out or render this format";
}

static bool run_job(Text *bytes, const Job *job, int limit_ms, volatile int *interrupt, const char **error) {
    int ends[2];
    *error = "no process could be started for Graphviz";
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(ends[1], job);
    }
    close(ends[1]);
    if (child > 0) {
        bool complete = read_all(ends[0], bytes, now_ms() + limit_ms, interrupt);
        *error = finish_child(child, complete, interrupt);
    }
    close(ends[0]);
    return *error == NULL;
}

bool dot_render(Text *bytes, const Snapshot *snapshot, const char *format, int limit_ms, volatile int *interrupt, const char **error) {
    return run_job(bytes, &(Job){snapshot, format}, limit_ms, interrupt, error);
}

void dot_version(Text *text) {
    Text version = {0};
    const char *error;
    if (run_job(&version, &(Job){0}, 5000, NULL, &error)) text_printf(text, "Graphviz %s: svg png pdf dot", text_cstr(&version));
    else text_printf(text, "Graphviz is not usable (%s): dot", error);
    text_free(&version);
}
