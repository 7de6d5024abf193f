/* Map: pointer (or interned string, or integer) -> pointer, iterated in order of insertion.
 *
 *     Map *map = map_new(arena);
 *     map_put(map, name, node);               // replaces an older value of the same key
 *     Node *found = map_get(map, name);       // NULL when absent
 *     for (int i = 0; i < map_count(map); i++) use(map_at(map, i).key, map_at(map, i).value);
 *
 * Keys compare by address: intern strings first. Integers go through map_key(n).
 * Invariant: iteration order is insertion order, so that output is the same on every run. */
#ifndef VITRINE_BASE_MAP_H
#define VITRINE_BASE_MAP_H
#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Map Map;
typedef struct MapEntry { const void *key; void *value; } MapEntry;

Map *map_new(Arena *arena);
void map_put(Map *map, const void *key, void *value);
void *map_get(const Map *map, const void *key);
bool map_has(const Map *map, const void *key);
int map_count(const Map *map);
MapEntry map_at(const Map *map, int i);
static inline const void *map_key(int64_t n) { return (const void *)(intptr_t)n; }
#endif
