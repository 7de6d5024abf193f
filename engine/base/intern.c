/* Intern: a hash set of texts; each distinct text has one copy in the arena.
 *
 * In: any bytes. Out: the one address of that text, NUL-terminated.
 * Invariant: equal length and bytes, and only then, give the same address; the set is at most half full. */
#include "base/intern.h"
#include <stdint.h>
#include <string.h>

typedef struct Entry {
    const char *text; /* NULL: free */
    size_t length;
    uint64_t hash;
} Entry;

struct Interner {
    Arena *arena;
    Entry *entries;
    size_t capacity, count;
};

Interner *interner_new(Arena *arena) {
    Interner *interner = ARENA_NEW(arena, Interner);
    interner->arena = arena;
    interner->capacity = 64;
    interner->entries = ARENA_ARRAY(arena, Entry, interner->capacity);
    return interner;
}

/* FNV-1a, 64 bits, with a last mix since the table uses the low bits. */
static uint64_t hash_of(const char *text, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash ^ (hash >> 32);
}

static Entry *entry_of(const Interner *interner, const char *text, size_t length, uint64_t hash) {
    size_t mask = interner->capacity - 1, i = (size_t)hash & mask;
    for (;; i = (i + 1) & mask) {
        Entry *entry = &interner->entries[i];
        if (!entry->text) return entry;
        if (entry->hash == hash && entry->length == length && memcmp(entry->text, text, length) == 0) return entry;
    }
}

static void grow(Interner *interner) {
    Entry *old = interner->entries;
    size_t old_capacity = interner->capacity;
    interner->capacity *= 2;
    interner->entries = ARENA_ARRAY(interner->arena, Entry, interner->capacity);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].text) *entry_of(interner, old[i].text, old[i].length, old[i].hash) = old[i];
}

const char *intern_n(Interner *interner, const char *text, size_t length) {
    if (!length) text = "";
    uint64_t hash = hash_of(text, length);
    Entry *entry = entry_of(interner, text, length, hash);
    if (entry->text) return entry->text;
    const char *copy = arena_strndup(interner->arena, text, length);
    *entry = (Entry){copy, length, hash};
    if (++interner->count * 2 > interner->capacity) grow(interner);
    return copy;
}

const char *intern(Interner *interner, const char *text) { return intern_n(interner, text, strlen(text)); }
