/* Pool: a caching allocator of one memory (the host's, or one card's).
 *
 *     Pool *pool = pool_new(source);                 // source: how fresh memory is got and given back
 *     void *at = pool_alloc(pool, bytes);            // NULL: refused
 *     pool_release(pool, at, bytes);                 // the same number of bytes; kept for the next request of its class
 *
 * Requests are rounded up to a size class (an eighth of a power of two apart), so that a freed block serves the next request
 * of about its size. Invariant: a block is either handed out or in the list of its class; `cached` counts the bytes of the lists. */
#ifndef VITRINE_RUN_POOL_H
#define VITRINE_RUN_POOL_H
#include <stdbool.h>
#include <stdint.h>

typedef struct Pool Pool;
typedef struct PoolSource {
    void *state;
    void *(*get)(void *state, int64_t bytes);          /* NULL when there is none left; 64-byte aligned */
    void (*give_back)(void *state, void *at, int64_t bytes);
    int64_t cache_limit;                               /* a freed block that would make the cache larger goes straight back */
    int64_t slab_bytes;                                /* > 0: small blocks are cut from slabs of this size, which go back with the pool */
    bool host;                                         /* its memory may be touched (hidden from use while cached, under ASan) */
} PoolSource;

Pool *pool_new(PoolSource source);
void pool_free(Pool *pool);                            /* gives everything back; blocks handed out and not of a slab are lost */
void *pool_alloc(Pool *pool, int64_t bytes);           /* bytes >= 1. On refusal by the source the cache is emptied and it is asked again */
void pool_release(Pool *pool, void *at, int64_t bytes);
void pool_trim(Pool *pool);                            /* gives all cached blocks back */
int64_t pool_used(const Pool *pool);                   /* bytes handed out, as rounded */
int64_t pool_cached(const Pool *pool);

PoolSource pool_source_host(void);                     /* 64-byte aligned memory of the process; refuses more than the machine has free */
#endif
