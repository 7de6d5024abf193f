/* Rank: a topological order of groups, kept while groups merge. In: two groups. Out: may they become one?
 *
 *     if (!groups_are_apart(f, a, b)) { ranks_merge(f, a, b); … }
 *
 * Edges go from a store to its readers, and to those who store there later (a scatter into a copy). Every edge goes from a lower rank to a
 * higher one, so a search between two groups never leaves the ranks between them; a merge moves what it must within that interval
 * (Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic graphs, 2006).
 * Invariant: ranks are distinct, and the graph of groups has no cycle. */
#include "inductor/fusing.h"
#include <stdlib.h>

typedef VEC(Group *) GroupList;

static void add_group(Fuser *f, GroupList *list, const Group *from, int loop) {
    Group *group = f->of_loop[loop];
    if (group != from) vec_push(list, group);
}

static void find_successors(Fuser *f, const Group *from, GroupList *list) {
    for (int m = 0; m < from->members.count; m++) {
        const Loop *loop = from->members.at[m].loop;
        for (int i = 0; i < loop->accesses.count; i++) {
            if (!loop->accesses.at[i].is_store) continue;
            const IntList *readers = &f->readers[loop->accesses.at[i].buffer], *writers = &f->writers[loop->accesses.at[i].buffer];
            for (int r = 0; r < readers->count; r++) add_group(f, list, from, readers->at[r]);
            for (int w = 0; w < writers->count; w++)
                if (writers->at[w] > loop->id) add_group(f, list, from, writers->at[w]);
        }
    }
}

static void find_predecessors(Fuser *f, const Group *from, GroupList *list) {
    for (int m = 0; m < from->members.count; m++) {
        const Loop *loop = from->members.at[m].loop;
        for (int i = 0; i < loop->accesses.count; i++) {
            const IntList *writers = &f->writers[loop->accesses.at[i].buffer];
            for (int w = 0; w < writers->count; w++)
                if (!loop->accesses.at[i].is_store || writers->at[w] < loop->id) add_group(f, list, from, writers->at[w]);
        }
    }
}

/* All that follows `low` (forward) or precedes `high`, with ranks strictly between them; *meets: is the other end met through one of those? */
static void search(Fuser *f, Group *low, Group *high, bool forward, GroupList *found, bool *meets) {
    GroupList next = {0};
    Group *start = forward ? low : high, *other = forward ? high : low;
    f->stamp++;
    for (int done = -1; done < found->count; done++) {
        const Group *from = done < 0 ? start : found->at[done];
        next.count = 0;
        if (forward) find_successors(f, from, &next);
        else find_predecessors(f, from, &next);
        for (int i = 0; i < next.count; i++) {
            Group *group = next.at[i];
            if (group == other && from != start) *meets = true;
            if (group->mark == f->stamp || group->rank <= low->rank || group->rank >= high->rank) continue;
            group->mark = f->stamp;
            vec_push(found, group);
        }
    }
    vec_free(&next);
}

bool groups_are_apart(Fuser *f, Group *a, Group *b) {
    GroupList found = {0};
    bool meets = false;
    search(f, a->rank < b->rank ? a : b, a->rank < b->rank ? b : a, true, &found, &meets);
    vec_free(&found);
    return meets;
}

static int rank_compare(const void *a, const void *b) { return (*(Group *const *)a)->rank - (*(Group *const *)b)->rank; }
static int int_compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* What precedes the merged group keeps the lowest of the ranks in question, what follows it the highest. */
void ranks_merge(Fuser *f, Group *a, Group *b) {
    Group *low = a->rank < b->rank ? a : b, *high = low == a ? b : a;
    GroupList before = {0}, after = {0};
    IntList ranks = {0};
    bool meets = false;
    search(f, low, high, true, &after, &meets);
    search(f, low, high, false, &before, &meets);
    if (before.count) qsort(before.at, (size_t)before.count, sizeof(Group *), rank_compare);
    if (after.count) qsort(after.at, (size_t)after.count, sizeof(Group *), rank_compare);
    for (int i = 0; i < before.count; i++) vec_push(&ranks, before.at[i]->rank);
    for (int i = 0; i < after.count; i++) vec_push(&ranks, after.at[i]->rank);
    vec_push(&ranks, low->rank);
    vec_push(&ranks, high->rank);
    qsort(ranks.at, (size_t)ranks.count, sizeof(int), int_compare);
    for (int i = 0; i < before.count; i++) before.at[i]->rank = ranks.at[i];
    low->rank = high->rank = ranks.at[before.count];
    for (int i = 0; i < after.count; i++) after.at[i]->rank = ranks.at[ranks.count - after.count + i];
    vec_free(&before), vec_free(&after), vec_free(&ranks);
}
