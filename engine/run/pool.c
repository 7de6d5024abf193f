/* Pool: lists of free blocks by size class, in front of a source of memory.
 *
 * In: sizes. Out: blocks of at least that size, aligned as the source aligns (64 bytes or more). See pool.h.
 * A class is (power of two, eighth): 8 classes between 2^k and 2^(k+1), so at most 12.5 % is wasted; below 512 bytes, steps of 64.
 *
 * Invariant: class_bytes(class_of(n)) >= n, and equal sizes have equal classes. To add a kind of memory: fill in a PoolSource. */
#include "run/pool.h"
#include "base/vec.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define POOL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_ASAN 1
#endif
#endif
#ifdef POOL_ASAN
#include <sanitizer/asan_interface.h>
#define hide(at, bytes) ASAN_POISON_MEMORY_REGION((at), (size_t)(bytes))
#define show(at, bytes) ASAN_UNPOISON_MEMORY_REGION((at), (size_t)(bytes))
#else
#define hide(at, bytes) ((void)(at), (void)(bytes))
#define show(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { SMALLEST = 64, LINEAR_LIMIT = 512, LINEAR_CLASSES = LINEAR_LIMIT / SMALLEST, CLASS_COUNT = LINEAR_CLASSES + 8 * 51 }; /* up to 2^60 */

typedef VEC(void *) Blocks;

struct Pool {
    PoolSource source;
    pthread_mutex_t lock; /* simulated ranks may run in threads of their own */
    Blocks free[CLASS_COUNT];
    VEC(void *) slabs;
    char *slab;
    int64_t slab_left, used, cached;
};

/* ---- size classes ---- */

static int class_of(int64_t bytes) {
    if (bytes <= LINEAR_LIMIT) return (int)((bytes - 1) / SMALLEST);
    int power = 63 - __builtin_clzll((unsigned long long)(bytes - 1)); /* 2^power <= bytes - 1 < 2^(power + 1) */
    int eighth = (int)(((bytes - 1) >> (power - 3)) & 7);
    return LINEAR_CLASSES + (power - 9) * 8 + eighth;
}

static int64_t class_bytes(int class) {
    if (class < LINEAR_CLASSES) return (int64_t)(class + 1) * SMALLEST;
    int power = 9 + (class - LINEAR_CLASSES) / 8, eighth = (class - LINEAR_CLASSES) % 8;
    return (INT64_C(1) << power) + (INT64_C(1) << (power - 3)) * (eighth + 1);
}

/* ---- the host's memory ---- */

/* Bytes that the machine can still give, or -1 where it does not say. */
static int64_t host_available(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file) return -1;
    char line[128];
    long long kilobytes = -1;
    while (kilobytes < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) != 1) kilobytes = -1;
    fclose(file);
    return kilobytes < 0 ? -1 : (int64_t)kilobytes * 1024;
}

/* Overcommit would hand out a block that kills the process when touched: a large request is checked first. */
static void *host_get(void *state, int64_t bytes) {
    (void)state;
    int64_t available = bytes >= INT64_C(1) << 28 ? host_available() : -1;
    if (available >= 0 && bytes > available) return NULL;
    if (bytes > INT64_C(1) << 56) return NULL;
    void *at = NULL;
    return posix_memalign(&at, 64, (size_t)bytes) == 0 ? at : NULL;
}

static void host_give_back(void *state, void *at, int64_t bytes) {
    (void)state;
    show(at, bytes);
    free(at);
}

PoolSource pool_source_host(void) {
    int64_t pages = (int64_t)sysconf(_SC_PHYS_PAGES), page = (int64_t)sysconf(_SC_PAGESIZE);
    return (PoolSource){.get = host_get, .give_back = host_give_back, .cache_limit = pages > 0 ? pages / 4 * page : INT64_C(1) << 30, .host = true};
}

/* ---- the pool ---- */

Pool *pool_new(PoolSource source) {
    Pool *pool = calloc(1, sizeof *pool);
    if (!pool) abort();
    pool->source = source;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

static bool in_slab(const Pool *pool, int class) { return pool->source.slab_bytes > 0 && class_bytes(class) <= pool->source.slab_bytes / 8; }

static void trim_locked(Pool *pool) {
    for (int class = 0; class < CLASS_COUNT; class++) {
        if (in_slab(pool, class)) continue;
        Blocks *list = &pool->free[class];
        while (list->count) {
            pool->source.give_back(pool->source.state, vec_pop(list), class_bytes(class));
            pool->cached -= class_bytes(class);
        }
    }
}

void pool_trim(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    trim_locked(pool);
    pthread_mutex_unlock(&pool->lock);
}

void pool_free(Pool *pool) {
    if (!pool) return;
    trim_locked(pool);
    for (int i = 0; i < pool->slabs.count; i++) pool->source.give_back(pool->source.state, pool->slabs.at[i], pool->source.slab_bytes);
    vec_free(&pool->slabs);
    for (int class = 0; class < CLASS_COUNT; class++) vec_free(&pool->free[class]);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static void *source_get(Pool *pool, int64_t bytes) {
    void *at = pool->source.get(pool->source.state, bytes);
    if (at || pool->cached == 0) return at;
    trim_locked(pool);
    return pool->source.get(pool->source.state, bytes);
}

/* Cut from the front of the current slab; every class is a multiple of 64, and slabs are aligned to more, so pieces are aligned. */
static void *slab_cut(Pool *pool, int64_t bytes) {
    if (pool->slab_left < bytes) {
        char *slab = source_get(pool, pool->source.slab_bytes);
        if (!slab) return NULL;
        vec_push(&pool->slabs, slab);
        pool->slab = slab;
        pool->slab_left = pool->source.slab_bytes;
    }
    void *at = pool->slab;
    int64_t step = (bytes + 255) / 256 * 256; /* what a card's vector loads and TMA ask for */
    pool->slab += step <= pool->slab_left ? step : pool->slab_left;
    pool->slab_left -= step <= pool->slab_left ? step : pool->slab_left;
    return at;
}

static void *alloc_locked(Pool *pool, int class) {
    Blocks *list = &pool->free[class];
    if (list->count) {
        pool->cached -= class_bytes(class);
        return vec_pop(list);
    }
    return in_slab(pool, class) ? slab_cut(pool, class_bytes(class)) : source_get(pool, class_bytes(class));
}

void *pool_alloc(Pool *pool, int64_t bytes) {
    if (bytes <= 0 || bytes > INT64_C(1) << 60) return NULL;
    int class = class_of(bytes);
    pthread_mutex_lock(&pool->lock);
    void *at = alloc_locked(pool, class);
    if (at) pool->used += class_bytes(class);
    pthread_mutex_unlock(&pool->lock);
    if (at && pool->source.host) {
        hide(at, class_bytes(class));
        show(at, bytes);
    }
    return at;
}

void pool_release(Pool *pool, void *at, int64_t bytes) {
    if (!at) return;
    int class = class_of(bytes);
    int64_t size = class_bytes(class);
    pthread_mutex_lock(&pool->lock);
    pool->used -= size;
    if (!in_slab(pool, class) && pool->cached + size > pool->source.cache_limit) pool->source.give_back(pool->source.state, at, size);
    else {
        if (pool->source.host) hide(at, size);
        vec_push(&pool->free[class], at);
        pool->cached += size;
    }
    pthread_mutex_unlock(&pool->lock);
}

int64_t pool_used(const Pool *pool) { return pool->used; }
int64_t pool_cached(const Pool *pool) { return pool->cached; }
