/* Fusion and schedule: two views of the same groups. In: a side's schedule and the entry's reasons. Out: snapshots.
 *
 *     :fusion     group 1 fused_relu_sum_0: %relu %sum           which loops went together, and why, or why not
 *                     fused %relu, %sum: 32 bytes need not be read again         and the loop that they have become
 *     :schedule   launch 1 fused_relu_sum_0: i1 < 2, r0 < 4 (reduced); columns        the launches in order, with axes and buffers
 *                     reads  buf2 f32[4, 2] 32 B
 *                     writes buf4 f32[2] 8 B
 *
 * Nothing here decides: the reasons are those that fuse.c left. */
#include "view.h"
#include <string.h>

/* ---- which group a node is in ---- */

typedef struct Places { const Schedule *schedule; Arena *arena; } Places;

static bool group_has(const Places *places, const Group *group, const char *name) {
    for (int i = 0; i < group->members.count; i++) {
        const Loop *loop = group->members.at[i].loop;
        if (!strcmp(loop->node->name, name)) return true;
        for (int j = 0; j < loop->node_count; j++) {
            const Node *node = map_get(places->schedule->lowered->nodes, map_key(loop->nodes[j] + 1));
            if (node && !strcmp(node->name, name)) return true;
        }
    }
    return false;
}

static int group_of(const Places *places, const char *name) {
    if (!name) return -1;
    for (int i = 0; i < places->schedule->groups.count; i++)
        if (group_has(places, places->schedule->groups.at[i], name + (*name == '%'))) return i;
    return -1;
}

/* A node that several loops compute is named once. */
static void put_nodes(Text *text, const Places *places, const Group *group) {
    Map *shown = map_new(places->arena);
    for (int i = 0; i < group->members.count; i++) {
        const Loop *loop = group->members.at[i].loop;
        for (int j = 0; j < loop->node_count; j++) {
            const Node *node = map_get(places->schedule->lowered->nodes, map_key(loop->nodes[j] + 1));
            if (!node || node->kind != NODE_CALL || map_has(shown, node)) continue;
            map_put(shown, node, (void *)(uintptr_t)node);
            text_printf(text, " %%%s", node->name);
        }
        if (!loop->node_count) text_printf(text, " %%%s", loop->node->name);
    }
}

/* The group's own listing, without its heading. */
static void put_body(Text *text, const Schedule *schedule, const Group *group) {
    Text body = {0};
    if (group_is_extern(group)) return;
    group_print(&body, schedule, group);
    const char *at = text_cstr(&body);
    for (at += strcspn(at, "\n"); *at && *++at;) {
        size_t length = strcspn(at, "\n");
        text_printf(text, "%.*s\n", (int)length, at);
        at += length;
    }
    text_free(&body);
}

/* ---- fusion ---- */

static bool is_about_fusion(ReasonKind kind) { return kind == REASON_FUSED || kind == REASON_NOT_FUSED || kind == REASON_EXTERN || kind == REASON_EPILOGUE || kind == REASON_MATERIALIZED; }

/* Said once: under the group of its subject, the pair's second being somewhere on this side too. */
static void put_reasons(Text *text, const View *view, const Places *places, int number) {
    const ReasonLog *log = &view->entry->compile.reasons;
    for (int i = 0; i < log->all.count; i++) {
        const Reason *reason = &log->all.at[i];
        if (!is_about_fusion(reason->kind) || group_of(places, reason->subject) != number) continue;
        int other = group_of(places, reason->other);
        if (reason->other && other < 0) continue;
        text_printf(text, "    %s %s%s%s%s: %s\n", reason_kind_name(reason->kind), reason->subject, reason->other ? ", " : "", reason->other ? reason->other : "",
                    other >= 0 && other != number ? arena_printf(places->arena, " (group %d)", other) : "", reason->text);
    }
}

bool view_fusion(View *view) {
    const Side *side = view_side(view);
    if (!side || !side->schedule) return false;
    Places places = {side->schedule, view->snapshot->arena};
    schedule_describe(side->schedule, view->snapshot);
    Text text = {0};
    text_printf(&text, "%d loop%s in %d group%s\n", side->lowered->loops.count, side->lowered->loops.count == 1 ? "" : "s", side->schedule->groups.count, side->schedule->groups.count == 1 ? "" : "s");
    for (int i = 0; i < side->schedule->groups.count; i++) {
        const Group *group = side->schedule->groups.at[i];
        text_printf(&text, "group %d %s:", i, group->name ? group->name : "");
        put_nodes(&text, &places, group);
        text_char(&text, '\n');
        put_reasons(&text, view, &places, i);
        put_body(&text, side->schedule, group);
    }
    view->snapshot->text = text_in(&text, view->snapshot->arena);
    text_free(&text);
    return true;
}

/* ---- schedule ---- */

void group_binding_print(Text *text, const Group *group) {
    static const char *const patterns[] = {"pointwise", "tiled", "rows", "columns", "scatter", "a library's call"};
    text_put(text, patterns[group->binding.pattern]);
    if (group->binding.threads > 1) text_printf(text, ", %d threads", group->binding.threads);
    if (group->binding.vector > 1) text_printf(text, ", vectors of %d", group->binding.vector);
    if (group->binding.parallel) text_printf(text, ", parallel over %d loop%s", group->binding.collapse, group->binding.collapse == 1 ? "" : "s");
}

/* "i0 < 8, r1 < 3 (reduced)": as the group's listing begins. */
static void put_axes(Text *text, const Schedule *schedule, const Group *group) {
    Text body = {0};
    group_print(&body, schedule, group);
    const char *colon = strchr(text_cstr(&body), ':');
    if (colon) text_printf(text, "%.*s; ", (int)strcspn(colon + 2, "\n"), colon + 2);
    text_free(&body);
}

static void put_buffer_line(Text *text, const Schedule *schedule, const Group *group, bool stores) {
    const Lowered *l = schedule->lowered;
    int shown = 0;
    text_put(text, stores ? "    writes " : "    reads  ");
    for (int i = 0; i < group->accesses.count; i++) {
        const Access *access = &group->accesses.at[i];
        const LoopBuffer *buffer = &l->buffers.at[access->buffer];
        bool repeated = access->is_store != stores;
        for (int k = 0; k < i && !repeated; k++) repeated = group->accesses.at[k].is_store == stores && group->accesses.at[k].buffer == access->buffer;
        if (repeated) continue;
        text_printf(text, "%s%s ", shown++ ? ", " : "", buffer->buffer.name);
        meta_print(text, &buffer->buffer.meta, false, false);
        text_printf(text, " %lld B", (long long)buffer_hint_bytes(buffer));
    }
    text_put(text, shown ? "\n" : "nothing\n");
}

static void put_buffers(Text *text, const Schedule *schedule, const Group *group, bool stores) {
    const Lowered *l = schedule->lowered;
    int shown = 0;
    for (int i = 0; i < group->accesses.count; i++) {
        const Access *access = &group->accesses.at[i];
        bool repeated = access->is_store != stores;
        for (int k = 0; k < i && !repeated; k++) repeated = group->accesses.at[k].is_store == stores && group->accesses.at[k].buffer == access->buffer;
        if (!repeated) text_printf(text, "%s%s", shown++ ? ", " : "", l->buffers.at[access->buffer].buffer.name);
    }
    if (!shown) text_put(text, "nothing");
}

static const char *buffers_text(const Schedule *schedule, const Group *group, bool stores, Arena *arena) {
    Text text = {0};
    put_buffers(&text, schedule, group, stores);
    const char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

static void describe_launch(Snapshot *snapshot, const Schedule *schedule, const Group *group) {
    Arena *arena = snapshot->arena;
    SnapshotItem *item = snapshot_item(snapshot, arena_printf(arena, "g%d", group->id), group_is_extern(group) ? "extern" : "kernel", arena_printf(arena, "%d %s", group->id, group->name ? group->name : ""));
    item->span = group->members.at[0].loop->node->span;
    snapshot_row(snapshot, item, "reads %s", buffers_text(schedule, group, false, arena));
    snapshot_row(snapshot, item, "writes %s", buffers_text(schedule, group, true, arena));
    snapshot_row(snapshot, item, "%lld B read, %lld B written", (long long)group->bytes_read, (long long)group->bytes_written);
}

/* The launch before this one that wrote a buffer; -1: it is an input. */
static int writer_before(const Schedule *schedule, int number, int buffer) {
    for (int g = number - 1; g >= 0; g--)
        for (int i = 0; i < schedule->groups.at[g]->accesses.count; i++) {
            const Access *access = &schedule->groups.at[g]->accesses.at[i];
            if (access->is_store && access->buffer == buffer) return g;
        }
    return -1;
}

static void link_launch(Snapshot *snapshot, const Schedule *schedule, int number) {
    const Group *group = schedule->groups.at[number];
    Arena *arena = snapshot->arena;
    for (int i = 0; i < group->accesses.count; i++) {
        const Access *access = &group->accesses.at[i];
        bool known = access->is_store;
        for (int k = 0; k < i && !known; k++) known = !group->accesses.at[k].is_store && group->accesses.at[k].buffer == access->buffer;
        int writer = known ? -1 : writer_before(schedule, number, access->buffer);
        const char *name = schedule->lowered->buffers.at[access->buffer].buffer.name;
        if (known) continue;
        if (writer < 0 && !snapshot_find(snapshot, name)) snapshot_item(snapshot, name, "input", name);
        SnapshotLink *link = snapshot_link(snapshot, writer < 0 ? name : arena_printf(arena, "g%d", schedule->groups.at[writer]->id), arena_printf(arena, "g%d", group->id), "data");
        if (writer >= 0) link->label = name;
    }
}

bool view_schedule(View *view) {
    const Side *side = view_side(view);
    if (!side || !side->schedule) return false;
    const Schedule *schedule = side->schedule;
    Text text = {0};
    for (int i = 0; i < schedule->groups.count; i++) describe_launch(view->snapshot, schedule, schedule->groups.at[i]);
    for (int i = 0; i < schedule->groups.count; i++) {
        const Group *group = schedule->groups.at[i];
        link_launch(view->snapshot, schedule, i);
        text_printf(&text, "launch %d %s: ", i, group->name ? group->name : "");
        if (!group_is_extern(group)) put_axes(&text, schedule, group);
        group_binding_print(&text, group);
        text_char(&text, '\n');
        put_buffer_line(&text, schedule, group, false);
        put_buffer_line(&text, schedule, group, true);
    }
    view->snapshot->text = text_in(&text, view->snapshot->arena);
    text_free(&text);
    return true;
}
