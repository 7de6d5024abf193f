/* Disk cache: compiled code by the hash of what it was made from.
 *
 *     DiskCache *cache = diskcache_open(folder, warn, state);
 *     if (!diskcache_get(cache, &key, "so", &data, &bytes)) { ...compile...; diskcache_put(cache, &key, "so", data, bytes); }
 *
 * Files are FOLDER/aa/bb….so: a header (magic, version, key, length, SHA-256 of the contents, CRC of the header) and the contents. They are
 * written beside their place and renamed into it; whoever reads one checks all of it, and what does not fit is a miss and is removed.
 * Invariant: what diskcache_get gives is what some diskcache_put of the same key wrote. Threads and processes may share a folder. */
#ifndef VITRINE_RUN_DISKCACHE_H
#define VITRINE_RUN_DISKCACHE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct CacheKey { unsigned char at[32]; } CacheKey;
typedef struct DiskCache DiskCache;

enum { CACHE_LIMIT_MB = 512 };

/* folder NULL or "": a cache that never has anything. warn is called once, when the folder cannot be written. */
DiskCache *diskcache_open(const char *folder, void (*warn)(void *state, const char *text), void *state);
void diskcache_close(DiskCache *cache);
bool diskcache_get(DiskCache *cache, const CacheKey *key, const char *ending, void **data, int64_t *bytes); /* malloc'ed, a NUL behind the data */
void diskcache_put(DiskCache *cache, const CacheKey *key, const char *ending, const void *data, int64_t bytes);
void diskcache_evict(DiskCache *cache, int64_t limit); /* removes files used least recently until the rest fits; one process at a time, others skip */
void diskcache_bypass(DiskCache *cache, bool on);     /* while on, nothing is found and nothing kept: for measuring what compiling takes */
const char *diskcache_folder(const DiskCache *cache);  /* "" when there is none */
#endif
