/* Guard tree: a flat list of guards becomes a tree by the place they look at.
 *
 *     frame -> L['self'] -> .layers -> [0] -> .weight -> TENSOR_MATCH
 *
 * In: items of kind "guard" without links, whose title or rows name their source somewhere (`L['x'].shape[0]`, `G['n']`).
 * Out: the guards, an item of kind "source" for each prefix of a path, and links from each prefix to what stands under it.
 * Invariant: guards keep their ids, order and everything else; a guard that names no source hangs on the root. */
#include "viz/viz.h"
#include <string.h>

/* Length of `['x']` or `[0]`, brackets inside quotes aside; 0 where there is none. */
static size_t bracket(const char *at) {
    char quote = 0;
    if (*at != '[') return 0;
    for (const char *end = at + 1; *end; end++) {
        if (quote && *end == '\\' && end[1]) end++;
        else if (quote) quote = *end == quote ? 0 : quote;
        else if (*end == '\'' || *end == '"') quote = *end;
        else if (*end == ']') return (size_t)(end + 1 - at);
    }
    return 0;
}

/* Length of the next step of a path: `[0]`, `.shape`, `.size()`; 0 where the path ends. */
static size_t step(const char *at) {
    if (*at != '.') return bracket(at);
    size_t word = strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (word == 0) return 0;
    return 1 + word + (strncmp(at + 1 + word, "()", 2) == 0 ? 2 : 0);
}

static const char *find_source(const char *text) {
    for (const char *at = text; at && *at; at++)
        if ((*at == 'L' || *at == 'G') && at[1] == '[' && (at[2] == '\'' || at[2] == '"')) return at;
    return NULL;
}

static const char *source_of(const SnapshotItem *item) {
    const char *found = find_source(item->title);
    for (int i = 0; !found && i < item->rows.count; i++) found = find_source(item->rows.at[i]);
    return found;
}

static void ensure_item(Snapshot *tree, const char *id, const char *title, const char *parent) {
    if (snapshot_find(tree, id)) return;
    snapshot_item(tree, id, "source", title);
    if (parent) snapshot_link(tree, parent, id, "control");
}

/* Makes the items of a path; gives the id of its last one. */
static const char *ensure_path(Snapshot *tree, const char *path) {
    Arena *arena = tree->arena;
    const char *parent = "frame", *at = path;
    for (size_t length; path && (length = at == path ? 1 + bracket(at + 1) : step(at)) > 0; at += length) {
        const char *id = arena_strndup(arena, path, (size_t)(at + length - path));
        ensure_item(tree, id, arena_strndup(arena, at, length), parent);
        parent = id;
    }
    return parent;
}

const Snapshot *viz_guard_tree(Arena *arena, const Snapshot *snapshot) {
    if (snapshot->links.count > 0 || strcmp(snapshot->stage, "guards") != 0) return snapshot;
    Snapshot *tree = snapshot_new(arena, snapshot->stage, snapshot->title);
    tree->text = snapshot->text;
    ensure_item(tree, "frame", "frame", NULL);
    for (int i = 0; i < snapshot->items.count; i++) {
        const SnapshotItem *guard = &snapshot->items.at[i];
        const char *parent = ensure_path(tree, source_of(guard));
        SnapshotItem *copy = snapshot_item(tree, guard->id, guard->kind, guard->title);
        const char *id = copy->id;
        *copy = *guard;
        copy->id = id;
        copy->group = NULL;
        snapshot_link(tree, parent, id, "control");
    }
    return tree;
}
