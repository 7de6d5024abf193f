/* Memplan: where buffers live. In: groups in order. Out: lifetimes, mutated inputs written in place where that is safe, temporaries in one block.
 *
 *     buf2 lives from launch 0 to 3, buf5 from 4 on: buf5 takes over buf2's bytes
 *
 * A new value of an input is stored in the input itself when nobody reads the old one later, and its own kernel reads each element no later than
 * it stores it; otherwise it is a buffer of its own, copied at the end. Offsets are multiples of 256 bytes. A buffer of symbolic size gets
 * offset -1: the runtime allocates it alone.
 * Invariant: buffers that are alive at the same time do not overlap. */
#include "inductor/inductor.h"
#include <string.h>

enum { ALIGNMENT = 256 };

/* ---- mutated inputs ---- */
typedef struct InPlace { const Lowered *l; int target; Dim index; int depth; bool full, bad, seen; } InPlace;

static void check_load(const Body *value, void *state) {
    InPlace *p = state;
    if (value->kind != BODY_LOAD || value->buffer != p->target) return;
    p->seen = true;
    if (value->index != p->index) p->bad = true;
}

/* Every read of the target in the group that stores its new value is of the same element, and not in a later pass. */
static bool reads_before_store(const Lowered *l, const Group *group, int buffer, int target) {
    InPlace p = {.l = l, .target = target};
    for (int i = 0; i < group->items.count; i++)
        if (group->items.at[i].kind == ITEM_STORE && group->items.at[i].buffer == buffer) {
            p.index = group->items.at[i].index;
            p.depth = group->items.at[i].depth;
            p.full = group->items.at[i].full;
        }
    for (int i = 0; i < group->items.count && !p.bad; i++) {
        const Item *item = &group->items.at[i];
        p.seen = false;
        body_each(item->value, check_load, &p);
        if (!p.seen) continue;
        if (item->kind == ITEM_STORE && item->buffer == buffer) continue;
        if (item->depth > p.depth || (item->full && !p.full) || (!item->full && p.full)) p.bad = true;
        if (item->full && p.full && item->depth == p.depth && item->kind == ITEM_STORE) continue; /* values of a pass are computed before its stores */
    }
    return !p.bad;
}

static bool group_reads(const Group *g, int buffer) {
    for (int i = 0; i < g->accesses.count; i++)
        if (g->accesses.at[i].buffer == buffer && !g->accesses.at[i].is_store) return true;
    return false;
}

static bool group_stores(const Group *g, int buffer) {
    for (int i = 0; i < g->accesses.count; i++)
        if (g->accesses.at[i].buffer == buffer && g->accesses.at[i].is_store) return true;
    return false;
}

static bool can_store_in_place(const Schedule *s, int buffer, int target) {
    const Lowered *l = s->lowered;
    int first = s->groups.count;
    for (int g = 0; g < s->groups.count; g++)
        if (group_stores(s->groups.at[g], buffer) && g < first) first = g;
    if (first == s->groups.count) return false;
    for (int g = first; g < s->groups.count; g++) {
        const Group *group = s->groups.at[g];
        if (!group_reads(group, target)) continue;
        if (g > first || group_is_extern(group) || group->members.at[0].loop->kind == LOOP_SCATTER || !reads_before_store(l, group, buffer, target)) return false;
    }
    for (int i = 0; i < l->copies.count; i++)
        if (l->copies.at[i].from == target) return false;
    return true;
}

static void place_mutation(Compile *c, Schedule *s, int buffer) {
    Lowered *l = s->lowered;
    LoopBuffer *b = &l->buffers.at[buffer];
    const char *name = b->buffer.name, *target = l->buffers.at[b->mutates].buffer.name;
    bool in_place = !b->is_output && can_store_in_place(s, buffer, b->mutates);
    if (in_place) b->placed_in = b->mutates;
    else {
        FinalCopy copy = {buffer, b->mutates, b->buffer.meta, l->buffers.at[b->mutates].buffer.meta};
        vec_push_in(c->arena, &l->copies, copy);
    }
    Reason *reason = reason_add(&c->reasons, REASON_NOTE, in_place ? "mutation.in_place" : "mutation.copied", name, target, (Span){0},
                                in_place ? "the new value of %s is stored in its own memory" : "%s is still read when its new value is made: it is copied there at the end",
                                target);
    reason->policy = c->policy->name;
}

/* A mutated input's new value that begins as its old one (a scatter's copy) needs no copy. */
static bool copies_onto_itself(const Lowered *l, const Item *item) {
    return item->kind == ITEM_STORE && item->value->kind == BODY_LOAD && l->buffers.at[item->buffer].placed_in == item->value->buffer && item->value->index == item->index;
}

static void drop_idle_stores(Schedule *s) {
    int kept_groups = 0;
    for (int g = 0; g < s->groups.count; g++) {
        Group *group = s->groups.at[g];
        int kept = 0;
        for (int i = 0; i < group->items.count; i++)
            if (!copies_onto_itself(s->lowered, &group->items.at[i])) group->items.at[kept++] = group->items.at[i];
        bool emptied = kept == 0 && group->items.count > 0;
        group->items.count = kept;
        if (!emptied) s->groups.at[kept_groups++] = group;
    }
    s->groups.count = kept_groups;
}

/* ---- lifetimes ---- */
static int home_of(const Lowered *l, int buffer) { return l->buffers.at[buffer].placed_in >= 0 ? l->buffers.at[buffer].placed_in : buffer; }

static void note_use(Lowered *l, int buffer, int launch) {
    if (buffer < 0) return;
    Buffer *b = &l->buffers.at[home_of(l, buffer)].buffer;
    if (b->first_launch < 0 || launch < b->first_launch) b->first_launch = launch;
    if (launch > b->last_launch) b->last_launch = launch;
}

typedef struct LaunchUse { Lowered *l; int launch; } LaunchUse;

static void note_load(const Body *value, void *state) {
    LaunchUse *use = state;
    if (value->kind == BODY_LOAD) note_use(use->l, value->buffer, use->launch);
}

static void note_var(const Sym *var, void *state) {
    if (var->var_kind == SYM_LOADED) body_each(var->payload, note_load, state);
}

static void find_lifetimes(Schedule *s) {
    Lowered *l = s->lowered;
    for (int i = 0; i < l->buffers.count; i++) l->buffers.at[i].buffer.first_launch = l->buffers.at[i].buffer.last_launch = -1;
    for (int g = 0; g < s->groups.count; g++) {
        const Group *group = s->groups.at[g];
        LaunchUse use = {l, g};
        for (int i = 0; group_is_extern(group) && i < group->accesses.count; i++) note_use(l, group->accesses.at[i].buffer, g);
        for (int i = 0; i < group->items.count; i++) {
            const Item *item = &group->items.at[i];
            body_each(item->value, note_load, &use);
            if (item->kind != ITEM_STORE) continue;
            dim_each_var(item->index, note_var, &use);
            note_use(l, item->buffer, g);
        }
    }
    for (int i = 0; i < l->copies.count; i++) note_use(l, l->copies.at[i].from, s->groups.count + i), note_use(l, l->copies.at[i].to, s->groups.count + i);
}

/* ---- one block: free pieces by offset, the smallest that fits ---- */
typedef struct Piece { int64_t offset, bytes; int owner; } Piece;
typedef struct Block { VEC(Piece) free; int64_t top; } Block;

static int64_t block_take(Block *block, int64_t bytes, int *reuses) {
    int best = -1;
    for (int i = 0; i < block->free.count; i++)
        if (block->free.at[i].bytes >= bytes && (best < 0 || block->free.at[i].bytes < block->free.at[best].bytes)) best = i;
    *reuses = -1;
    if (best < 0) {
        int64_t offset = block->top;
        if (block->free.count && vec_last(&block->free).offset + vec_last(&block->free).bytes == block->top) { /* grow the last hole */
            offset = vec_last(&block->free).offset;
            *reuses = vec_last(&block->free).owner;
            block->free.count--;
        }
        block->top = offset + bytes;
        return offset;
    }
    Piece *piece = &block->free.at[best];
    int64_t offset = piece->offset;
    *reuses = piece->owner;
    piece->offset += bytes;
    piece->bytes -= bytes;
    if (piece->bytes == 0) memmove(piece, piece + 1, sizeof(Piece) * (size_t)(--block->free.count - best));
    return offset;
}

static void block_give(Block *block, int64_t offset, int64_t bytes, int owner) {
    int place = 0;
    while (place < block->free.count && block->free.at[place].offset < offset) place++;
    Piece piece = {offset, bytes, owner};
    vec_push(&block->free, piece);
    memmove(&block->free.at[place + 1], &block->free.at[place], sizeof(Piece) * (size_t)(block->free.count - 1 - place));
    block->free.at[place] = piece;
    for (int i = place > 0 ? place - 1 : 0; i + 1 < block->free.count && i <= place;) {
        Piece *left = &block->free.at[i], *right = left + 1;
        if (left->offset + left->bytes != right->offset) {
            i++;
            continue;
        }
        left->bytes += right->bytes;
        left->owner = owner;
        memmove(right, right + 1, sizeof(Piece) * (size_t)(--block->free.count - i - 1));
    }
}

static int64_t rounded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static void note_reuse(Compile *c, const Lowered *l, int buffer, int former) {
    const Buffer *b = &l->buffers.at[buffer].buffer, *old = &l->buffers.at[former].buffer;
    Reason *reason = reason_add(&c->reasons, REASON_REUSED_BUFFER, "reused.dead", b->name, old->name, (Span){0}, "%s (%lld bytes) takes over memory of %s, last read by launch %d",
                                b->name, (long long)b->bytes, old->name, old->last_launch);
    reason->policy = c->policy->name;
}

static void place_temporary(Compile *c, Schedule *s, Block *block, int buffer) {
    Buffer *b = &s->lowered->buffers.at[buffer].buffer;
    b->offset = -1;
    if (!meta_is_static(&b->meta)) return;
    b->bytes = meta_bytes(&b->meta);
    b->offset = block_take(block, rounded(b->bytes ? b->bytes : 1), &b->reuses);
    if (b->reuses >= 0) note_reuse(c, s->lowered, buffer, b->reuses);
}

static bool is_temporary(const LoopBuffer *b) { return b->buffer.role == BUFFER_TEMPORARY && b->placed_in < 0 && b->buffer.first_launch >= 0; }

void memplan(Compile *c, Schedule *s) {
    Lowered *l = s->lowered;
    for (int i = 0; i < l->buffers.count; i++)
        if (l->buffers.at[i].mutates >= 0 && l->buffers.at[i].placed_in < 0) place_mutation(c, s, i);
    drop_idle_stores(s);
    find_lifetimes(s);
    int launches = s->groups.count + l->copies.count;
    Arena *scratch = arena_new("memplan");
    typedef VEC(int) IntList;
    IntList *born = ARENA_ARRAY(scratch, IntList, launches + 1), *dead = ARENA_ARRAY(scratch, IntList, launches + 1);
    Block block = {0};
    for (int i = 0; i < l->buffers.count; i++) {
        LoopBuffer *b = &l->buffers.at[i];
        if (meta_is_static(&b->buffer.meta)) b->buffer.bytes = b->buffer.role == BUFFER_INPUT ? meta_storage_span(&b->buffer.meta) * dtype_size(b->buffer.meta.dtype) : meta_bytes(&b->buffer.meta);
        if (!is_temporary(b)) continue;
        vec_push_in(scratch, &born[b->buffer.first_launch], i);
        vec_push_in(scratch, &dead[b->buffer.last_launch], i);
    }
    for (int launch = 0; launch < launches; launch++) {
        for (int i = 0; i < born[launch].count; i++) place_temporary(c, s, &block, born[launch].at[i]);
        for (int i = 0; i < dead[launch].count; i++) {
            const Buffer *b = &l->buffers.at[dead[launch].at[i]].buffer;
            if (b->offset >= 0) block_give(&block, b->offset, rounded(b->bytes ? b->bytes : 1), dead[launch].at[i]);
        }
    }
    s->block_bytes = block.top;
    vec_free(&block.free);
    arena_free(scratch);
}
