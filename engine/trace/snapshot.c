/* Snapshot: filled by the stages' describe functions, read by viz and repl.
 *
 * In: items, rows, links, groups, any strings. Out: arrays of them, all of whose strings are the snapshot's own.
 * Invariant: `index` finds every item that snapshot_item added, so that linking a large graph is not quadratic. */
#include "trace/snapshot.h"
#include "base/intern.h"
#include "base/map.h"
#include <stdarg.h>
#include <string.h>

struct SnapshotIndex {
    Interner *ids;
    Map *place; /* interned id -> number of the item + 1 */
};

Snapshot *snapshot_new(Arena *arena, const char *stage, const char *title) {
    Snapshot *snapshot = ARENA_NEW(arena, Snapshot);
    snapshot->arena = arena;
    snapshot->stage = arena_strdup(arena, stage);
    snapshot->title = arena_strdup(arena, title);
    snapshot->index = ARENA_NEW(arena, SnapshotIndex);
    snapshot->index->ids = interner_new(arena);
    snapshot->index->place = map_new(arena);
    return snapshot;
}

/* Of two items with one id the first is the one that is found, as a linear search would. */
static void index_item(Snapshot *snapshot, const char *id) {
    const char *key = intern(snapshot->index->ids, id);
    if (!map_has(snapshot->index->place, key))
        map_put(snapshot->index->place, key, (void *)(intptr_t)snapshot->items.count);
}

SnapshotItem *snapshot_item(Snapshot *snapshot, const char *id, const char *kind, const char *title) {
    Arena *arena = snapshot->arena;
    SnapshotItem item = {.id = arena_strdup(arena, id), .kind = arena_strdup(arena, kind), .title = arena_strdup(arena, title)};
    vec_push_in(arena, &snapshot->items, item);
    index_item(snapshot, id);
    return &vec_last(&snapshot->items);
}

/* The array may have moved since the caller got `item`: then the one that counts is found by its id. */
static SnapshotItem *current(Snapshot *snapshot, SnapshotItem *item) {
    bool inside = item >= snapshot->items.at && item < snapshot->items.at + snapshot->items.count;
    SnapshotItem *found = inside ? item : snapshot_find(snapshot, item->id);
    return found ? found : item;
}

void snapshot_row(Snapshot *snapshot, SnapshotItem *item, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *row = arena_vprintf(snapshot->arena, format, arguments);
    va_end(arguments);
    vec_push_in(snapshot->arena, &current(snapshot, item)->rows, row);
}

SnapshotLink *snapshot_link(Snapshot *snapshot, const char *from, const char *to, const char *kind) {
    Arena *arena = snapshot->arena;
    SnapshotLink link = {.from = arena_strdup(arena, from), .to = arena_strdup(arena, to), .kind = arena_strdup(arena, kind)};
    vec_push_in(arena, &snapshot->links, link);
    return &vec_last(&snapshot->links);
}

SnapshotGroup *snapshot_group(Snapshot *snapshot, const char *id, const char *kind, const char *title, const char *parent) {
    Arena *arena = snapshot->arena;
    SnapshotGroup group = {.id = arena_strdup(arena, id), .title = arena_strdup(arena, title),
                           .kind = arena_strdup(arena, kind), .parent = arena_strdup(arena, parent)};
    vec_push_in(arena, &snapshot->groups, group);
    return &vec_last(&snapshot->groups);
}

static SnapshotItem *find_slowly(const Snapshot *snapshot, const char *id) {
    for (int i = 0; i < snapshot->items.count; i++)
        if (strcmp(snapshot->items.at[i].id, id) == 0) return &snapshot->items.at[i];
    return NULL;
}

SnapshotItem *snapshot_find(const Snapshot *snapshot, const char *id) {
    SnapshotIndex *index = snapshot->index;
    if (!index) return find_slowly(snapshot, id);
    intptr_t place = (intptr_t)map_get(index->place, intern(index->ids, id));
    return place ? &snapshot->items.at[place - 1] : find_slowly(snapshot, id);
}
