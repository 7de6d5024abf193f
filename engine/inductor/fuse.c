/* Fuse: which loops become one kernel. In: lowered loops. Out: groups, each built and in an order that can run.
 *
 * Candidates are pairs that touch one buffer: its writer with its readers, and its readers among each other (at most CAP of them), so that their
 * number grows with the graph's edges. They are taken by the bytes that a merge saves, largest first. A merge is refused when the iteration spaces
 * do not align, a read and its store do not meet, a third group must run in between, or the kernel would grow beyond the policy's size.
 * Each merge and each last refusal leaves a Reason.
 * Invariant: the graph of groups has no cycle. */
#include "inductor/fusing.h"
#include <stdio.h>
#include <stdlib.h>

enum { CAP = 16, ROUNDS = 4 };

static int group_key(const Group *g) { return g->members.at[0].loop->id; }
static int group_last(const Group *g) { return g->members.at[g->members.count - 1].loop->id; }

/* ---- candidates ---- */
static void add_candidate(Fuser *f, int a, int b, int buffer, bool vertical) {
    if (a == b) return;
    Candidate candidate = {a < b ? a : b, a < b ? b : a, buffer_hint_bytes(&f->l->buffers.at[buffer]), vertical, false};
    vec_push(&f->candidates, candidate);
}

static void collect_candidates(Fuser *f) {
    for (int i = 1; i < f->l->loops.count; i++) {
        const Loop *former = f->l->loops.at[i - 1], *loop = f->l->loops.at[i];
        Candidate candidate = {i - 1, i, 0, false, true};
        if (former->node == loop->node && !former->split && former->kind == LOOP_COMPUTE && loop->kind == LOOP_COMPUTE) vec_push(&f->candidates, candidate);
    }
    for (int buffer = 0; buffer < f->l->buffers.count; buffer++) {
        const IntList *readers = &f->readers[buffer];
        int count = readers->count < CAP ? readers->count : CAP;
        for (int i = 0; i < count; i++) {
            for (int w = 0; w < f->writers[buffer].count; w++) add_candidate(f, f->writers[buffer].at[w], readers->at[i], buffer, true);
            if (i > 0) add_candidate(f, readers->at[i - 1], readers->at[i], buffer, false);
            if (i > 1) add_candidate(f, readers->at[0], readers->at[i], buffer, false);
        }
    }
}

/* Stored values first (they save a write too), then by bytes, then by place in the program. */
static int candidate_compare(const void *x, const void *y) {
    const Candidate *a = x, *b = y;
    int64_t left = a->bytes * (a->vertical ? 2 : 1), right = b->bytes * (b->vertical ? 2 : 1);
    if (left != right) return left > right ? -1 : 1;
    if (a->vertical != b->vertical) return a->vertical ? -1 : 1;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static void index_accesses(Fuser *f) {
    f->readers = ARENA_ARRAY(f->c->arena, IntList, f->l->buffers.count + 1);
    f->writers = ARENA_ARRAY(f->c->arena, IntList, f->l->buffers.count + 1);
    for (int i = 0; i < f->l->loops.count; i++) {
        const Loop *loop = f->l->loops.at[i];
        for (int k = 0; k < loop->accesses.count; k++) {
            const Access *access = &loop->accesses.at[k];
            IntList *list = access->is_store ? &f->writers[access->buffer] : &f->readers[access->buffer];
            if (list->count == 0 || vec_last(list) != i) vec_push_in(f->c->arena, list, i);
        }
    }
}

/* ---- one candidate ---- */
static bool refuse(Alignment *a, const char *code, const char *why) {
    a->code = code;
    snprintf(a->why, sizeof a->why, "%s", why);
    return false;
}

/* Graph nodes computed in a group: what makes its kernel long to compile. */
static int group_nodes(const Group *g) {
    int count = 0;
    for (int i = 0; i < g->members.count; i++) count += g->members.at[i].loop->node_count;
    return count;
}

static bool can_fuse(Fuser *f, Group *a, Group *b, const Candidate *candidate, Alignment *alignment) {
    bool vertical = candidate->vertical;
    const Policy *policy = f->c->policy;
    if (group_is_extern(a) || group_is_extern(b)) return refuse(alignment, "not_fused.extern", "one of them is a call");
    if (a->members.at[0].loop->kind == LOOP_SCATTER || b->members.at[0].loop->kind == LOOP_SCATTER)
        return refuse(alignment, "not_fused.scatter", "one of them stores where indices say");
    if (vertical ? !policy->fuse_vertical : !policy->fuse_horizontal) return refuse(alignment, "not_fused.policy", "the policy does not fuse this way");
    if (a->members.count + b->members.count > policy->max_fusion_size) {
        refuse(alignment, "not_fused.size", "");
        snprintf(alignment->why, sizeof alignment->why, "the kernel would have %d loops (limit %d)", a->members.count + b->members.count, policy->max_fusion_size);
        return false;
    }
    if (group_nodes(a) + group_nodes(b) > 4 * policy->max_fusion_size) {
        refuse(alignment, "not_fused.size", "");
        snprintf(alignment->why, sizeof alignment->why, "the kernel would compute %d nodes (limit %d)", group_nodes(a) + group_nodes(b), 4 * policy->max_fusion_size);
        return false;
    }
    if (!groups_align(f->l, a, b, alignment)) return false;
    if (alignment->shared_bytes == 0 && !candidate->twins) return refuse(alignment, "not_fused.nothing_shared", "they read common buffers at different places: no byte would be saved");
    if (groups_are_apart(f, a, b)) return refuse(alignment, "not_fused.cycle", "another kernel must run between them");
    return true;
}

static const char *group_label(Fuser *f, const Group *g) { return arena_printf(f->c->arena, "%%%s", g->members.at[g->members.count - 1].loop->node->name); }

static void note_fused(Fuser *f, const Group *a, const Group *b, bool vertical, int64_t bytes) {
    const char *first = group_label(f, a), *second = group_label(f, b);
    Reason *reason = reason_add(&f->c->reasons, REASON_FUSED, vertical ? "fused.vertical" : "fused.horizontal", first, second, b->members.at[0].loop->node->span,
                                "%s and %s are one kernel: %lld bytes %s", first, second, (long long)bytes, vertical ? "need not be read again" : "are read once instead of twice");
    reason->policy = f->c->policy->name;
}

static void note_refused(Fuser *f, const Group *a, const Group *b, const Alignment *alignment) {
    const char *first = group_label(f, a), *second = group_label(f, b);
    Reason *reason = reason_add(&f->c->reasons, REASON_NOT_FUSED, alignment->code, first, second, b->members.at[0].loop->node->span, "%s and %s stay apart: %s", first, second,
                                alignment->why);
    reason->policy = f->c->policy->name;
}

static bool try_candidate(Fuser *f, const Candidate *candidate) {
    Group *a = f->of_loop[candidate->a], *b = f->of_loop[candidate->b];
    Alignment alignment;
    if (a == b || !can_fuse(f, a, b, candidate, &alignment)) return false;
    note_fused(f, a, b, alignment.depends, alignment.shared_bytes);
    f->s->saved_bytes += alignment.shared_bytes;
    ranks_merge(f, a, b);
    groups_merge(f->l, f->c->arena, &alignment);
    for (int i = 0; i < alignment.base->members.count; i++) f->of_loop[alignment.base->members.at[i].loop->id] = alignment.base;
    return true;
}

static void fuse_candidates(Fuser *f) {
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (int i = 0; i < f->candidates.count; i++) changed |= try_candidate(f, &f->candidates.at[i]);
    }
    for (int i = 0; i < f->candidates.count; i++) {
        Candidate *candidate = &f->candidates.at[i];
        Group *a = f->of_loop[candidate->a], *b = f->of_loop[candidate->b];
        Alignment alignment;
        if (a == b || group_is_extern(a) || group_is_extern(b) || can_fuse(f, a, b, candidate, &alignment)) continue;
        const void *pair = map_key((int64_t)group_key(a) << 32 | group_key(b));
        if (map_has(f->said, pair)) continue;
        map_put(f->said, pair, f);
        note_refused(f, a, b, &alignment);
    }
}

/* ---- what outlives a group ---- */
static bool is_needed(int buffer, const Group *group, void *state) {
    Fuser *f = state;
    const LoopBuffer *b = &f->l->buffers.at[buffer];
    if (b->is_output || b->mutates >= 0) return true;
    for (int i = 0; i < f->l->copies.count; i++)
        if (f->l->copies.at[i].from == buffer) return true;
    for (int i = 0; i < f->readers[buffer].count; i++)
        if (f->of_loop[f->readers[buffer].at[i]] != group) return true;
    return f->writers[buffer].count > 1; /* a scatter goes on writing it */
}

Schedule *fuse(Compile *c, Lowered *l) {
    Schedule *s = ARENA_NEW(c->arena, Schedule);
    s->lowered = l;
    Fuser f = {.c = c, .l = l, .s = s, .said = map_new(c->arena)};
    f.of_loop = ARENA_ARRAY(c->arena, Group *, l->loops.count + 1);
    for (int i = 0; i < l->loops.count; i++) {
        f.of_loop[i] = group_of_loop(l, c->arena, l->loops.at[i]);
        f.of_loop[i]->rank = i;
    }
    index_accesses(&f);
    collect_candidates(&f);
    if (f.candidates.count) qsort(f.candidates.at, (size_t)f.candidates.count, sizeof(Candidate), candidate_compare);
    fuse_candidates(&f);
    vec_free(&f.candidates);
    for (int i = 0; i < l->loops.count; i++) {
        Group *group = f.of_loop[i];
        if (group_last(group) != i) continue; /* at its last member */
        group_normalize(l, group);
        group_build(c, l, group, is_needed, &f);
        bool empty = !group_is_extern(group) && (group->items.count == 0 || axes_volume(l->syms, group->axes, group->rows) == 0);
        if (!empty) vec_push_in(c->arena, &s->groups, group);
    }
    order(c, s);
    return s;
}
