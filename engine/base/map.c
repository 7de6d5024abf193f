/* Map: an array of entries in order of insertion, and an open-addressed table of places in it.
 *
 * In: keys compared by address. Out: values, and the entries in their order.
 * The slots hold entry number + 1 (0: free), so a key may be NULL and rehashing touches no entry.
 *
 * Invariant: slot_count is a power of two and at most half of the slots are taken, so a probe always ends. */
#include "base/map.h"
#include "base/vec.h"
#include <assert.h>

struct Map {
    Arena *arena;
    VEC(MapEntry) entries;
    int *slots;
    size_t slot_count;
};

/* Fibonacci-style mixing: addresses differ in few middle bits, and the high bits of a product depend on them all. */
static size_t hash_of(const void *key) {
    uint64_t bits = (uint64_t)(uintptr_t)key;
    bits = (bits ^ (bits >> 32)) * 0x9e3779b97f4a7c15u;
    return (size_t)(bits ^ (bits >> 29));
}

Map *map_new(Arena *arena) {
    Map *map = ARENA_NEW(arena, Map);
    map->arena = arena;
    return map;
}

/* The slot that holds `key`, or the free one where it would go. Needs slots. */
static int *slot_of(const Map *map, const void *key) {
    size_t mask = map->slot_count - 1, i = hash_of(key) & mask;
    while (map->slots[i] && map->entries.at[map->slots[i] - 1].key != key) i = (i + 1) & mask;
    return &map->slots[i];
}

static MapEntry *entry_of(const Map *map, const void *key) {
    int place = map->slot_count ? *slot_of(map, key) : 0;
    return place ? &map->entries.at[place - 1] : NULL;
}

static void grow_slots(Map *map) {
    map->slot_count = map->slot_count ? map->slot_count * 2 : 16;
    map->slots = ARENA_ARRAY(map->arena, int, map->slot_count);
    for (int i = 0; i < map->entries.count; i++) *slot_of(map, map->entries.at[i].key) = i + 1;
}

void map_put(Map *map, const void *key, void *value) {
    MapEntry *entry = entry_of(map, key);
    if (entry) {
        entry->value = value;
        return;
    }
    if ((size_t)map->entries.count * 2 >= map->slot_count) grow_slots(map);
    vec_push_in(map->arena, &map->entries, ((MapEntry){key, value}));
    *slot_of(map, key) = map->entries.count;
}

void *map_get(const Map *map, const void *key) {
    const MapEntry *entry = entry_of(map, key);
    return entry ? entry->value : NULL;
}

bool map_has(const Map *map, const void *key) { return entry_of(map, key) != NULL; }

int map_count(const Map *map) { return map->entries.count; }

MapEntry map_at(const Map *map, int i) {
    assert(i >= 0 && i < map->entries.count);
    return map->entries.at[i];
}
