/* Fold: large snapshots made small enough to be read.
 *
 * In: a snapshot and the number of items that may be left. Out: a snapshot in which
 *   1. a piece that comes several times in a row (the layers of a model) stands once, in a group "x12";
 *   2. if that is not enough, each group is one item;
 *   3. if that is not enough, stretches of neighbours are one item each ("37 items: 20 pointwise, 17 view").
 *
 *     relu mm relu mm relu mm sum   ->   [x3: relu mm] sum
 *
 * Invariant: each item of the snapshot is one of the result or inside exactly one, and links follow their ends. */
#include "viz/viz.h"
#include "base/intern.h"
#include "base/map.h"
#include <string.h>

enum { MAX_PERIOD = 1000, MIN_PERIOD = 2, MIN_TIMES = 3, MAX_ROUNDS = 12 };

typedef struct Repeat { int start, period, times; } Repeat;

typedef struct Fold {
    const Snapshot *from;
    Snapshot *to;
    Interner *names;
    Map *place;      /* interned id of an item of `from` -> its number + 1 */
    int *owner;      /* item of `from` -> the item of `from` that stands for it */
    int *size;       /* how many an owner stands for */
    Repeat repeat;   /* times 0: none */
    const char *repeat_group;
} Fold;

/* ---- finding what repeats ---- */

/* "linear_4" and "linear", "layers_0_weight" and "layers_7_weight" are alike: numbers do not count. */
static void put_alike(Text *text, const char *title) {
    size_t length = strlen(title), end = length;
    while (end > 0 && title[end - 1] >= '0' && title[end - 1] <= '9') end--;
    if (end > 1 && end < length && title[end - 1] == '_') length = end - 1;
    for (size_t i = 0; i < length; i++) {
        bool digit = title[i] >= '0' && title[i] <= '9', again = digit && text->data[text->length - 1] == '#';
        if (!again) text_char(text, digit ? '#' : title[i]);
    }
}

static const char **shapes(Fold *f) {
    const char **shape = ARENA_ARRAY(f->to->arena, const char *, f->from->items.count + 1);
    Text text = {0};
    for (int i = 0; i < f->from->items.count; i++) {
        const SnapshotItem *item = &f->from->items.at[i];
        text_clear(&text);
        text_printf(&text, "%s\x1f%s\x1f", item->kind, item->rows.count ? item->rows.at[0] : ""); /* the first row is its shape */
        put_alike(&text, item->title);
        shape[i] = intern(f->names, text_cstr(&text));
    }
    text_free(&text);
    return shape;
}

/* The longest stretch with this period: items that equal the one a period later. */
static Repeat longest_with(const char *const *shape, int count, int period) {
    Repeat best = {.period = period};
    int run = 0;
    for (int i = 0; i + period < count; i++) {
        run = shape[i] == shape[i + period] ? run + 1 : 0;
        if (run / period + 1 > best.times) best = (Repeat){i + 1 - run, period, run / period + 1};
    }
    return best;
}

static Repeat best_repeat(Fold *f) {
    const char **shape = shapes(f);
    Repeat best = {0};
    int count = f->from->items.count;
    for (int period = MIN_PERIOD; period <= count / 2 && period <= MAX_PERIOD; period++) {
        Repeat found = longest_with(shape, count, period);
        if (found.times >= MIN_TIMES && (found.times - 1) * found.period > (best.times - 1) * best.period) best = found;
    }
    return best;
}

/* ---- building the folded snapshot ---- */

static Fold fold_open(Arena *arena, const Snapshot *from) {
    Fold f = {.from = from, .to = snapshot_new(arena, from->stage, from->title)};
    f.to->text = from->text;
    f.names = interner_new(arena);
    f.place = map_new(arena);
    f.owner = ARENA_ARRAY(arena, int, from->items.count + 1);
    f.size = ARENA_ARRAY(arena, int, from->items.count + 1);
    for (int i = 0; i < from->items.count; i++) {
        f.owner[i] = i;
        map_put(f.place, intern(f.names, from->items.at[i].id), (void *)(intptr_t)(i + 1));
    }
    return f;
}

static int place_of(Fold *f, const char *id) { return (int)(intptr_t)map_get(f->place, intern(f->names, id)) - 1; }

static bool in_repeat(const Fold *f, int i) {
    return f->repeat.times && i >= f->repeat.start && i < f->repeat.start + f->repeat.period * f->repeat.times;
}

/* "20 pointwise, 17 view" of what `owner` stands for. */
static const char *kinds_inside(Fold *f, int owner) {
    Map *counts = map_new(f->to->arena);
    for (int i = owner; i < f->from->items.count; i++) {
        if (f->owner[i] != owner) continue;
        const char *kind = intern(f->names, f->from->items.at[i].kind);
        map_put(counts, kind, (void *)((intptr_t)map_get(counts, kind) + 1));
    }
    Text text = {0};
    for (int i = 0; i < map_count(counts) && i < 4; i++)
        text_printf(&text, "%s%d %s", i ? ", " : "", (int)(intptr_t)map_at(counts, i).value, (const char *)map_at(counts, i).key);
    char *result = text_in(&text, f->to->arena);
    text_free(&text);
    return result;
}

static void add_folded(Fold *f, int i, const char *title) {
    const SnapshotItem *first = &f->from->items.at[i];
    SnapshotItem *item = snapshot_item(f->to, first->id, "folded", title ? title : arena_printf(f->to->arena, "%d items", f->size[i]));
    item->span = first->span;
    snapshot_row(f->to, item, "%s", kinds_inside(f, i));
    snapshot_row(f->to, item, "%s ...", first->id);
}

static void add_copy(Fold *f, int i) {
    const SnapshotItem *first = &f->from->items.at[i];
    SnapshotItem *item = snapshot_item(f->to, first->id, first->kind, first->title);
    const char *id = item->id;
    *item = *first;
    item->id = id;
    if (in_repeat(f, i) && !item->group) item->group = f->repeat_group;
}

static const char *group_title(const Snapshot *snapshot, const char *id) {
    for (int i = 0; id && i < snapshot->groups.count; i++)
        if (strcmp(snapshot->groups.at[i].id, id) == 0) return snapshot->groups.at[i].title;
    return NULL;
}

static void add_items(Fold *f, bool by_group) {
    for (int i = 0; i < f->from->items.count; i++) f->size[f->owner[i]]++;
    for (int i = 0; i < f->from->items.count; i++) {
        if (f->owner[i] != i) continue;
        if (f->size[i] == 1 || in_repeat(f, i)) add_copy(f, i);
        else add_folded(f, i, by_group ? group_title(f->from, f->from->items.at[i].group) : NULL);
    }
}

static void add_links(Fold *f) {
    Map *seen = map_new(f->to->arena);
    for (int i = 0; i < f->from->links.count; i++) {
        const SnapshotLink *link = &f->from->links.at[i];
        int from = place_of(f, link->from), to = place_of(f, link->to);
        if (from < 0 || to < 0) continue;
        int a = f->owner[from], b = f->owner[to];
        bool wraps = in_repeat(f, from) && in_repeat(f, to) && a >= b && from < to; /* from one turn to the next */
        const char *key = intern(f->names, arena_printf(f->to->arena, "%d %d %s", a, b, link->kind ? link->kind : ""));
        if (a == b || wraps || map_has(seen, key)) continue;
        map_put(seen, key, (void *)key);
        snapshot_link(f->to, f->from->items.at[a].id, f->from->items.at[b].id, link->kind)->label = link->label;
    }
}

static void add_groups(Fold *f) {
    for (int i = 0; i < f->from->groups.count; i++) {
        const SnapshotGroup *group = &f->from->groups.at[i];
        snapshot_group(f->to, group->id, group->kind, group->title, group->parent);
    }
    if (!f->repeat.times) return;
    snapshot_group(f->to, f->repeat_group, "folded",
                   arena_printf(f->to->arena, "x%d: %d times these %d", f->repeat.times, f->repeat.times, f->repeat.period), NULL);
}

static const Snapshot *finish(Fold *f, bool by_group) {
    add_items(f, by_group);
    add_groups(f);
    add_links(f);
    return f->to;
}

/* ---- the three ways ---- */

/* "x12", or "x12'" where a group is called so already. */
static const char *free_group_id(Arena *arena, const Snapshot *from, int times) {
    const char *id = arena_printf(arena, "x%d", times);
    while (group_title(from, id)) id = arena_printf(arena, "%s'", id);
    return id;
}

static const Snapshot *fold_repeat(Arena *arena, const Snapshot *from) {
    Fold f = fold_open(arena, from);
    f.repeat = best_repeat(&f);
    if (f.repeat.times < MIN_TIMES) return from;
    f.repeat_group = free_group_id(arena, from, f.repeat.times);
    for (int i = 0; i < from->items.count; i++)
        if (in_repeat(&f, i)) f.owner[i] = f.repeat.start + (i - f.repeat.start) % f.repeat.period;
    return finish(&f, false);
}

static const Snapshot *fold_groups(Arena *arena, const Snapshot *from) {
    Fold f = fold_open(arena, from);
    Map *first = map_new(arena);
    for (int i = 0; i < from->items.count; i++) {
        if (!from->items.at[i].group) continue;
        const char *group = intern(f.names, from->items.at[i].group);
        if (!map_has(first, group)) map_put(first, group, (void *)(intptr_t)(i + 1));
        f.owner[i] = (int)(intptr_t)map_get(first, group) - 1;
    }
    return finish(&f, true);
}

static const Snapshot *fold_stretches(Arena *arena, const Snapshot *from, int limit) {
    Fold f = fold_open(arena, from);
    int length = (from->items.count + limit - 1) / limit;
    for (int i = 0; i < from->items.count; i++) f.owner[i] = i / length * length;
    return finish(&f, false);
}

static const Snapshot *retitled(Arena *arena, const Snapshot *folded, const Snapshot *from) {
    if (folded == from) return from;
    Snapshot *titled = arena_copy(arena, folded, sizeof *folded);
    titled->title = arena_printf(arena, "%s (%d items, folded to %d)", from->title ? from->title : from->stage, from->items.count,
                                 folded->items.count);
    return titled;
}

static const Snapshot *fold_repeats(Arena *arena, const Snapshot *snapshot, int limit) {
    const Snapshot *folded = snapshot;
    if (snapshot->items.count <= limit) return snapshot;
    for (int round = 0; round < MAX_ROUNDS; round++) { /* all of them, once it is too large */
        const Snapshot *before = folded;
        folded = fold_repeat(arena, folded);
        if (folded == before) break;
    }
    return folded;
}

const Snapshot *viz_fold_repeats(Arena *arena, const Snapshot *snapshot, int limit) {
    return retitled(arena, fold_repeats(arena, snapshot, limit), snapshot);
}

const Snapshot *viz_fold(Arena *arena, const Snapshot *snapshot, int limit) {
    if (limit < 1) limit = 1;
    const Snapshot *folded = fold_repeats(arena, snapshot, limit);
    if (folded->items.count > limit && folded->groups.count > 0) folded = fold_groups(arena, folded);
    if (folded->items.count > limit) folded = fold_stretches(arena, folded, limit);
    return retitled(arena, folded, snapshot);
}
