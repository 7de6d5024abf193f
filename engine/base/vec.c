/* Vec: how a growable array grows; vec.h holds the rest.
 *
 * In: the array and its capacity. Out: an array of at least twice the capacity (8 at first), same contents.
 * Invariant: `capacity` is what was really allocated, also after a failure (there is none: it aborts). */
#include "base/vec.h"
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int grown(int capacity, size_t item_bytes) {
    int wanted = capacity ? capacity : 4;
    if (wanted > INT_MAX / 2 || (size_t)wanted * 2 > SIZE_MAX / 4 / item_bytes) {
        fprintf(stderr, "vitrine: an array of %d items of %zu bytes cannot grow\n", capacity, item_bytes);
        abort();
    }
    return wanted * 2;
}

void *vec_grow(void *at, int *capacity, size_t item_bytes) {
    int wanted = grown(*capacity, item_bytes);
    void *larger = realloc(at, (size_t)wanted * item_bytes);
    if (!larger) {
        fprintf(stderr, "vitrine: out of memory: an array of %d items of %zu bytes\n", wanted, item_bytes);
        abort();
    }
    *capacity = wanted;
    return larger;
}

void *vec_grow_in(Arena *arena, void *at, int count, int *capacity, size_t item_bytes) {
    int wanted = grown(*capacity, item_bytes);
    void *larger = arena_array(arena, (size_t)wanted, item_bytes);
    if (count) memcpy(larger, at, (size_t)count * item_bytes);
    *capacity = wanted;
    return larger;
}
