/* Order: in which order groups run. In: groups. Out: the same, sorted so that each runs after what it needs, numbered and named.
 *
 * Among those that can run, the one that comes first in the program; a reader of an input that is changed in place runs before its writer
 * where that makes no cycle, so that the new value can be stored in the input itself.
 * Invariant: a buffer's writer stands before its readers. */
#include "inductor/inductor.h"
#include <stdlib.h>
#include <string.h>

typedef VEC(int) IntList;
typedef struct Sorter { Schedule *s; Arena *scratch; IntList *next; int *waiting; int count; } Sorter;

static void add_edge(Sorter *sorter, int from, int to) {
    if (from == to) return;
    for (int i = 0; i < sorter->next[from].count; i++)
        if (sorter->next[from].at[i] == to) return;
    vec_push_in(sorter->scratch, &sorter->next[from], to);
    sorter->waiting[to]++;
}

static bool touches(const Group *g, int buffer, bool store) {
    for (int i = 0; i < g->accesses.count; i++)
        if (g->accesses.at[i].buffer == buffer && g->accesses.at[i].is_store == store) return true;
    return false;
}

typedef struct Writer { int group, loop; } Writer;
typedef VEC(Writer) WriterList;

/* Edges from a buffer's writers to its readers, and from an earlier writer to a later one (a copy, and the scatter into it). */
static void add_edges_of(Sorter *sorter, const WriterList *writers, int g, const Loop *loop) {
    for (int i = 0; i < loop->accesses.count; i++) {
        const Access *access = &loop->accesses.at[i];
        const WriterList *list = &writers[access->buffer];
        for (int w = 0; w < list->count; w++)
            if (!access->is_store || list->at[w].loop < loop->id) add_edge(sorter, list->at[w].group, g);
    }
}

static void add_data_edges(Sorter *sorter) {
    const Lowered *l = sorter->s->lowered;
    WriterList *writers = ARENA_ARRAY(sorter->scratch, WriterList, l->buffers.count + 1);
    for (int pass = 0; pass < 2; pass++)
        for (int g = 0; g < sorter->count; g++)
            for (int m = 0; m < sorter->s->groups.at[g]->members.count; m++) {
                const Loop *loop = sorter->s->groups.at[g]->members.at[m].loop;
                for (int i = 0; i < loop->accesses.count && pass == 0; i++)
                    if (loop->accesses.at[i].is_store) vec_push_in(sorter->scratch, &writers[loop->accesses.at[i].buffer], ((Writer){g, loop->id}));
                if (pass == 1) add_edges_of(sorter, writers, g, loop);
            }
}

static bool sort_groups(Sorter *sorter, Group **sorted) {
    int *waiting = arena_copy(sorter->scratch, sorter->waiting, sizeof(int) * (size_t)(sorter->count + 1));
    bool *done = ARENA_ARRAY(sorter->scratch, bool, sorter->count + 1);
    for (int placed = 0, from = 0; placed < sorter->count; placed++) {
        while (from < sorter->count && done[from]) from++;
        int pick = from;
        while (pick < sorter->count && (done[pick] || waiting[pick] > 0)) pick++;
        if (pick == sorter->count) return false;
        done[pick] = true;
        sorted[placed] = sorter->s->groups.at[pick];
        for (int i = 0; i < sorter->next[pick].count; i++) waiting[sorter->next[pick].at[i]]--;
    }
    return true;
}

/* Readers of a mutated input before the group that makes its new value. */
static void add_mutation_edges(Sorter *sorter) {
    const Lowered *l = sorter->s->lowered;
    for (int b = 0; b < l->buffers.count; b++) {
        if (l->buffers.at[b].mutates < 0) continue;
        for (int w = 0; w < sorter->count; w++) {
            if (!touches(sorter->s->groups.at[w], b, true)) continue;
            for (int g = 0; g < sorter->count; g++)
                if (g != w && touches(sorter->s->groups.at[g], l->buffers.at[b].mutates, false)) add_edge(sorter, g, w);
        }
    }
}

/* "fused_add_relu_0": the ops in the order of the graph, repetitions left out. */
static void name_group(Compile *c, const Lowered *l, Group *group, int number) {
    Text text = {0};
    const char *last = "";
    int count = 0;
    text_put(&text, group_is_extern(group) ? "extern" : "fused");
    for (int i = 0; i < group->node_count && count < 8 && text.length < 60; i++) {
        const Node *node = map_get(l->nodes, map_key(group->nodes[i] + 1));
        if (!node || node->kind != NODE_CALL || node->op->family == FAMILY_VIEW || strcmp(last, node->op->name) == 0) continue;
        text_printf(&text, "_%s", node->op->name);
        last = node->op->name;
        count++;
    }
    text_printf(&text, "_%d", number);
    Text safe = {0};
    text_identifier(&safe, text_cstr(&text));
    group->name = text_in(&safe, c->arena);
    text_free(&text), text_free(&safe);
}

void order(Compile *c, Schedule *s) {
    Sorter sorter = {.s = s, .scratch = arena_new("order"), .count = s->groups.count};
    sorter.next = ARENA_ARRAY(sorter.scratch, IntList, sorter.count + 1);
    sorter.waiting = ARENA_ARRAY(sorter.scratch, int, sorter.count + 1);
    Group **sorted = ARENA_ARRAY(sorter.scratch, Group *, sorter.count + 1);
    add_data_edges(&sorter);
    Sorter plain = sorter;
    plain.next = ARENA_ARRAY(sorter.scratch, IntList, sorter.count + 1);
    for (int i = 0; i < sorter.count; i++)
        for (int k = 0; k < sorter.next[i].count; k++) vec_push_in(sorter.scratch, &plain.next[i], sorter.next[i].at[k]);
    plain.waiting = arena_copy(sorter.scratch, sorter.waiting, sizeof(int) * (size_t)(sorter.count + 1));
    add_mutation_edges(&sorter);
    if (sort_groups(&sorter, sorted) || sort_groups(&plain, sorted))
        for (int i = 0; i < sorter.count; i++) s->groups.at[i] = sorted[i];
    for (int i = 0; i < s->groups.count; i++) {
        s->groups.at[i]->id = i;
        name_group(c, s->lowered, s->groups.at[i], i);
    }
    arena_free(sorter.scratch);
}
