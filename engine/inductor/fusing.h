/* Fusing: what the files of the fuse pass share. Others include inductor/inductor.h.
 *
 * fuse.c: candidates and their order; access.c: can two groups share one iteration space, and do their reads and stores meet at one index;
 * group.c: the fused body. */
#ifndef VITRINE_INDUCTOR_FUSING_H
#define VITRINE_INDUCTOR_FUSING_H
#include "inductor/inductor.h"

typedef VEC(int) IntList;

typedef struct Candidate { int a, b; int64_t bytes; bool vertical, twins; } Candidate; /* loops; twins: two outputs of one node */

typedef struct Fuser {
    Compile *c; Lowered *l; Schedule *s;
    Group **of_loop;
    IntList *readers, *writers;     /* by buffer: loops, in order */
    int stamp;                      /* of the last search */
    Map *said;                      /* pairs of groups whose refusal is recorded */
    VEC(Candidate) candidates;
} Fuser;

/* rank.c: the order of groups while they merge (Pearce and Kelly 2006): a search stays between the ranks of its two ends. */
bool groups_are_apart(Fuser *f, Group *a, Group *b);  /* must a third group run between them? */
void ranks_merge(Fuser *f, Group *a, Group *b);       /* before they become one: both get the rank of the merged group */

/* `other` seen in the space of `base`: its axis k is to[k]. */
typedef struct Alignment {
    Group *base, *other;
    Dim to[MAX_AXES];
    bool full;                      /* over base's columns too */
    bool depends;                   /* one reads what the other stores */
    int64_t shared_bytes;           /* reads of one element that both make, and reads of what the other stores */
    const char *code;               /* refused: "not_fused.space" …, and why */
    char why[320];
} Alignment;

/* Fills `alignment`; false with a reason. depends: one reads what the other stores. */
bool groups_align(const Lowered *l, Group *a, Group *b, Alignment *alignment);
/* Puts `other`'s members into `base`. */
void groups_merge(const Lowered *l, Arena *arena, const Alignment *alignment);
Group *group_of_loop(const Lowered *l, Arena *arena, Loop *loop);
void group_normalize(const Lowered *l, Group *group);             /* orders and collapses axes */
typedef bool (*IsNeeded)(int buffer, const Group *group, void *state); /* is the buffer read outside the group? */
void group_build(Compile *c, const Lowered *l, Group *group, IsNeeded needed, void *state);
#endif
