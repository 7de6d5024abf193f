/* Describe: inductor's stages as snapshots. In: loops, schedules, plans. Out: items, links and listings that viz and repl show.
 *
 *     lowered_describe(l, snapshot_new(arena, "ir", "[0/0] f: loops"));
 *
 * Nothing here decides anything; every name shown is one that other views show too (%node, buf2, k0). */
#include "inductor/inductor.h"
#include <stdio.h>

static const char *loop_kind_name(const Loop *loop) {
    switch (loop->kind) {
    case LOOP_EXTERN: return "extern";
    case LOOP_MATMUL: return "contract";
    case LOOP_SCATTER: return "index";
    default: return loop->reduces ? "reduce" : "pointwise";
    }
}

static const char *loop_id(Arena *arena, const Loop *loop) { return arena_printf(arena, "loop%d", loop->id); }

static void put_axes(Text *text, const Axis *axes, int count) {
    for (int i = 0; i < count; i++) {
        text_put(text, i ? " x " : "");
        dim_print(text, axes[i].extent);
        if (axes[i].kind == AXIS_REDUCE) text_put(text, "r");
    }
    if (count == 0) text_put(text, "1");
}

static void row_text(Snapshot *snapshot, SnapshotItem *item, Text *text) {
    snapshot_row(snapshot, item, "%s", text_cstr(text));
    text_free(text);
}

static void input_items(const Lowered *l, Snapshot *snapshot) {
    for (int i = 0; i < l->buffers.count; i++) {
        const Buffer *b = &l->buffers.at[i].buffer;
        if (b->role != BUFFER_INPUT && b->role != BUFFER_CONSTANT) continue;
        Text meta = {0};
        meta_print(&meta, &b->meta, true, false);
        SnapshotItem *item = snapshot_item(snapshot, b->name, "input", b->name);
        row_text(snapshot, item, &meta);
    }
}

static const char *writer_id(const Lowered *l, Arena *arena, int buffer) {
    int writer = l->buffers.at[buffer].writer;
    return writer < 0 ? l->buffers.at[buffer].buffer.name : loop_id(arena, l->loops.at[writer]);
}

/* "add relu": the graph's nodes computed in the loop, itself last and left out. */
static void computed_row(const Lowered *l, const Loop *loop, Snapshot *snapshot, SnapshotItem *item) {
    Text names = {0};
    int shown = 0;
    for (int i = 0; i < loop->node_count; i++) {
        const Node *node = map_get(l->nodes, map_key(loop->nodes[i] + 1));
        if (!node || node == loop->node) continue;
        if (shown++ < 6) text_printf(&names, "%s%s", shown > 1 ? " " : "with ", node->name);
    }
    if (shown > 6) text_printf(&names, " and %d more", shown - 6);
    if (shown) row_text(snapshot, item, &names);
    else text_free(&names);
}

static void loop_item(const Lowered *l, const Loop *loop, Snapshot *snapshot, const char *group) {
    Text axes = {0}, title = {0}, listing = {0};
    text_printf(&title, "%%%s", loop->node->name);
    if (loop->kind == LOOP_EXTERN || loop->kind == LOOP_MATMUL) text_put(&axes, "a call of the library");
    else put_axes(&axes, loop->axes, loop->axis_count);
    loop_print(&listing, l, loop);
    SnapshotItem *item = snapshot_item(snapshot, loop_id(snapshot->arena, loop), loop_kind_name(loop), text_cstr(&title));
    item->group = group;
    item->span = loop->node->span;
    item->detail = text_in(&listing, snapshot->arena);
    row_text(snapshot, item, &axes);
    computed_row(l, loop, snapshot, item);
    text_free(&title), text_free(&listing);
    for (int i = 0; i < loop->accesses.count; i++)
        if (loop->accesses.at[i].is_store) snapshot_row(snapshot, item, "writes %s", l->buffers.at[loop->accesses.at[i].buffer].buffer.name);
}

static void loop_links(const Lowered *l, const Loop *loop, Snapshot *snapshot) {
    for (int i = 0; i < loop->accesses.count; i++) {
        const Access *access = &loop->accesses.at[i];
        bool known = access->is_store;
        for (int k = 0; k < i && !known; k++) known = !loop->accesses.at[k].is_store && loop->accesses.at[k].buffer == access->buffer;
        if (known) continue;
        SnapshotLink *link = snapshot_link(snapshot, writer_id(l, snapshot->arena, access->buffer), loop_id(snapshot->arena, loop), "data");
        link->label = l->buffers.at[access->buffer].buffer.name;
    }
}

static void output_items(const Lowered *l, Snapshot *snapshot) {
    for (int i = 0; i < l->outputs.count; i++) {
        const PlanOutput *output = &l->outputs.at[i];
        if (output->is_none || output->buffer < 0) continue;
        const char *id = arena_printf(snapshot->arena, "output%d", i);
        snapshot_item(snapshot, id, "output", id);
        snapshot_link(snapshot, writer_id(l, snapshot->arena, output->buffer), id, output->alias_input >= 0 ? "alias" : "data");
    }
}

void lowered_describe(const Lowered *l, Snapshot *snapshot) {
    Text text = {0};
    input_items(l, snapshot);
    for (int i = 0; i < l->loops.count; i++) loop_item(l, l->loops.at[i], snapshot, NULL);
    for (int i = 0; i < l->loops.count; i++) loop_links(l, l->loops.at[i], snapshot);
    output_items(l, snapshot);
    lowered_print(&text, l);
    snapshot->text = text_in(&text, snapshot->arena);
    text_free(&text);
}

void schedule_describe(const Schedule *s, Snapshot *snapshot) {
    const Lowered *l = s->lowered;
    Text text = {0};
    input_items(l, snapshot);
    for (int g = 0; g < s->groups.count; g++) {
        const Group *group = s->groups.at[g];
        const char *id = arena_printf(snapshot->arena, "g%d", group->id);
        const char *title = arena_printf(snapshot->arena, "g%d: %lld B read, %lld B written", group->id, (long long)group->bytes_read, (long long)group->bytes_written);
        snapshot_group(snapshot, id, group_is_extern(group) ? "extern" : "kernel", group_is_extern(group) ? group->name : title, NULL);
        for (int i = 0; i < group->members.count; i++) loop_item(l, group->members.at[i].loop, snapshot, id);
        group_print(&text, s, group);
    }
    for (int g = 0; g < s->groups.count; g++)
        for (int i = 0; i < s->groups.at[g]->members.count; i++) loop_links(l, s->groups.at[g]->members.at[i].loop, snapshot);
    output_items(l, snapshot);
    snapshot->text = text_in(&text, snapshot->arena);
    text_free(&text);
}

/* ---- plans ---- */
static const char *role_name(const Buffer *b) {
    static const char *const names[] = {"input", "output", "temporary", "constant"};
    return names[b->role];
}

static bool is_gone(const Buffer *b) { return b->first_launch < 0 && b->role == BUFFER_TEMPORARY; }

void memory_describe(const Plan *plan, Snapshot *snapshot) {
    Text text = {0};
    text_printf(&text, "temporaries: one block of %lld bytes\n", (long long)plan->block_bytes);
    for (int i = 0; i < plan->buffers.count; i++) {
        const Buffer *b = &plan->buffers.at[i];
        if (is_gone(b)) continue;
        Text meta = {0};
        meta_print(&meta, &b->meta, true, false);
        SnapshotItem *item = snapshot_item(snapshot, b->name, "buffer", b->name);
        item->start = b->first_launch, item->length = b->last_launch - b->first_launch + 1;
        snapshot_row(snapshot, item, "%s %s", role_name(b), text_cstr(&meta));
        snapshot_row(snapshot, item, "%lld B, launches %d to %d", (long long)b->bytes, b->first_launch, b->last_launch);
        text_printf(&text, "%-12s %-9s %-28s %10lld B  launches %d..%d", b->name, role_name(b), text_cstr(&meta), (long long)b->bytes, b->first_launch, b->last_launch);
        if (b->role == BUFFER_TEMPORARY) text_printf(&text, "  at %lld", (long long)b->offset);
        if (b->reuses >= 0) {
            text_printf(&text, "  takes over %s", plan->buffers.at[b->reuses].name);
            snapshot_link(snapshot, plan->buffers.at[b->reuses].name, b->name, "alias");
        }
        text_char(&text, '\n');
        text_free(&meta);
    }
    snapshot->text = text_in(&text, snapshot->arena);
    text_free(&text);
}

static void kernel_grid(Text *text, const Kernel *k) {
    if (k->language == KERNEL_C) return;
    text_put(text, ", grid ");
    dim_print(text, k->grid[0]);
    text_printf(text, ", block %d x %d", k->block[0], k->block[1]);
}

void kernels_describe(const Plan *plan, Snapshot *snapshot) {
    Text text = {0};
    for (int i = 0; i < plan->kernels.count; i++) {
        const Kernel *k = plan->kernels.at[i];
        Text grid = {0};
        kernel_grid(&grid, k);
        SnapshotItem *item = snapshot_item(snapshot, k->name, "kernel", k->entry);
        snapshot_row(snapshot, item, "%s%s", k->schedule, text_cstr(&grid));
        snapshot_row(snapshot, item, "%lld B read, %lld B written, %.3g flop", (long long)k->bytes_read, (long long)k->bytes_written, k->flops);
        text_printf(&text, "%s %s: %s%s\n%s\n", k->name, k->entry, k->schedule, text_cstr(&grid), k->source);
        text_free(&grid);
    }
    snapshot->text = text_in(&text, snapshot->arena);
    text_free(&text);
}

static void launch_call(Text *text, const Plan *plan, const Launch *launch) {
    if (launch->kind == LAUNCH_KERNEL) text_printf(text, "%s(", launch->kernel->entry);
    else if (launch->kind == LAUNCH_MATMUL) text_printf(text, "matmul%s%s%s(", launch->matmul.epilogue & EPILOGUE_BIAS ? "_bias" : "", launch->matmul.epilogue & EPILOGUE_RELU ? "_relu" : "",
                                                        launch->matmul.epilogue & EPILOGUE_GELU_TANH ? "_gelu" : "");
    else text_printf(text, "%s(", launch->kind == LAUNCH_COPY ? "copy" : launch->op->name);
    for (int i = 0; i < launch->buffer_count; i++) text_printf(text, "%s%s", i ? ", " : "", plan->buffers.at[launch->buffers[i]].name);
    for (int i = 0; i < launch->size_count; i++) text_put(text, ", "), dim_print(text, launch->sizes[i]);
    text_put(text, ")");
}

static void free_lines(Text *text, const Plan *plan, int launch) {
    for (int i = 0; i < plan->buffers.count; i++)
        if (plan->buffers.at[i].role == BUFFER_TEMPORARY && !is_gone(&plan->buffers.at[i]) && plan->buffers.at[i].last_launch == launch) text_line(text, "del %s", plan->buffers.at[i].name);
}

void wrapper_describe(const Plan *plan, Snapshot *snapshot) {
    Text text = {0};
    text_printf(&text, "def %s(", plan->name);
    for (int i = 0, first = 1; i < plan->buffers.count; i++)
        if (plan->buffers.at[i].role == BUFFER_INPUT) text_printf(&text, "%s%s", first ? "" : ", ", plan->buffers.at[i].name), first = 0;
    text_put(&text, "):\n");
    text_indent(&text, 4);
    text_line(&text, "block = empty(%lld)  # bytes of all temporaries", (long long)plan->block_bytes);
    const char *former = NULL;
    for (int i = 0; i < plan->launches.count; i++) {
        const Launch *launch = &plan->launches.at[i];
        const char *id = arena_printf(snapshot->arena, "launch%d", i);
        for (int b = 0; b < plan->buffers.count; b++)
            if (!is_gone(&plan->buffers.at[b]) && plan->buffers.at[b].first_launch == i && plan->buffers.at[b].role == BUFFER_TEMPORARY)
                text_line(&text, "%s = block[%lld:%lld]", plan->buffers.at[b].name, (long long)plan->buffers.at[b].offset, (long long)(plan->buffers.at[b].offset + plan->buffers.at[b].bytes));
        Text call = {0};
        launch_call(&call, plan, launch);
        text_line(&text, "%s  # %lld B", text_cstr(&call), (long long)launch->bytes);
        free_lines(&text, plan, i);
        SnapshotItem *item = snapshot_item(snapshot, id, launch->kind == LAUNCH_KERNEL ? "kernel" : "extern", launch->name);
        snapshot_row(snapshot, item, "%s", text_cstr(&call));
        if (former) snapshot_link(snapshot, former, id, "control");
        former = id;
        text_free(&call);
    }
    text_put(&text, "    return (");
    for (int i = 0; i < plan->outputs.count; i++) text_printf(&text, "%s%s", i ? ", " : "", plan->outputs.at[i].is_none ? "None" : plan->buffers.at[plan->outputs.at[i].buffer].name);
    text_put(&text, plan->outputs.count == 1 ? ",)\n" : ")\n");
    snapshot->text = text_in(&text, snapshot->arena);
    text_free(&text);
}
