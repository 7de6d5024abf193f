/* Vec: a growable array of any type, on the heap or in an arena.
 *
 *     VEC(int) widths = {0};
 *     vec_push(&widths, 3);                  // heap; free with vec_free
 *     vec_push_in(arena, &widths, 4);        // arena; never free
 *     for (int i = 0; i < widths.count; i++) use(widths.at[i]);
 *
 * Invariant: one Vec uses either the heap or one arena for its whole life. */
#ifndef VITRINE_BASE_VEC_H
#define VITRINE_BASE_VEC_H
#include "base/arena.h"
#include <stdlib.h>

#define VEC(Type) struct { Type *at; int count, capacity; }

void *vec_grow(void *at, int *capacity, size_t item_bytes);                           /* heap; aborts when out of memory */
void *vec_grow_in(Arena *arena, void *at, int count, int *capacity, size_t item_bytes);

#define vec_push(v, item)                                                                             \
    do {                                                                                              \
        if ((v)->count == (v)->capacity) (v)->at = vec_grow((v)->at, &(v)->capacity, sizeof *(v)->at); \
        (v)->at[(v)->count++] = (item);                                                               \
    } while (0)
#define vec_push_in(arena, v, item)                                                                              \
    do {                                                                                                         \
        if ((v)->count == (v)->capacity)                                                                         \
            (v)->at = vec_grow_in((arena), (v)->at, (v)->count, &(v)->capacity, sizeof *(v)->at);                \
        (v)->at[(v)->count++] = (item);                                                                          \
    } while (0)
#define vec_pop(v) ((v)->at[--(v)->count])
#define vec_last(v) ((v)->at[(v)->count - 1])
#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->count = (v)->capacity = 0)
#endif
