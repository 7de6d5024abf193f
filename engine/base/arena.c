/* Arena: blocks of zeroed memory, handed out front to back.
 *
 * In: a name (for the message when memory runs out) and sizes. Out: zeroed memory that never moves.
 * Blocks double in size up to a cap, so that a small arena costs little and a large one few mallocs; a request larger
 * than a block gets a block of its own behind the current one, whose rest stays in use.
 *
 * Invariant: `blocks` is the block being filled; all memory behind `used` is zero, since calloc made it or
 * a reset cleared it. Under ASan what was not handed out is poisoned, with a gap after each allocation. */
#include "base/arena.h"
#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define ARENA_GAP 16
#define hide(at, bytes) ASAN_POISON_MEMORY_REGION((at), (bytes))
#define show(at, bytes) ASAN_UNPOISON_MEMORY_REGION((at), (bytes))
#else
#define ARENA_GAP 0
#define hide(at, bytes) ((void)(at), (void)(bytes))
#define show(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

typedef struct Block {
    struct Block *next;
    size_t size, used;
    _Alignas(ALIGNMENT) unsigned char data[];
} Block;

typedef struct Deferred {
    struct Deferred *older;
    void (*closer)(void *);
    void *subject;
} Deferred;

struct Arena {
    const char *name;
    Block *blocks;
    Deferred *deferred; /* newest first */
    size_t next_size, bytes;
};

static _Noreturn void out_of_memory(const char *name, size_t bytes) {
    fprintf(stderr, "vitrine: out of memory: arena '%s' asked for %zu bytes\n", name, bytes);
    abort();
}

Arena *arena_new(const char *name) {
    Arena *arena = heap_zeroed(sizeof *arena);
    if (!arena) out_of_memory(name, sizeof *arena);
    arena->name = name ? name : "unnamed";
    arena->next_size = FIRST_BLOCK;
    return arena;
}

/* A closer may allocate and may defer again, so the list is popped one by one until it is empty. */
static void run_deferred(Arena *arena) {
    while (arena->deferred) {
        Deferred newest = *arena->deferred;
        arena->deferred = newest.older;
        newest.closer(newest.subject);
    }
}

static void free_blocks(Arena *arena) {
    for (Block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        show(block->data, block->size);
        free(block);
    }
    arena->blocks = NULL;
}

/* A single first block stays, zeroed where it was used: arenas that are reset again and again (one a call) then cost no malloc. */
void arena_reset(Arena *arena) {
    run_deferred(arena);
    Block *kept = arena->blocks && !arena->blocks->next && arena->blocks->size == FIRST_BLOCK ? arena->blocks : NULL;
    if (kept) {
        show(kept->data, kept->used);
        memset(kept->data, 0, kept->used);
        hide(kept->data, kept->used);
        kept->used = 0;
    } else free_blocks(arena);
    arena->next_size = kept ? 2 * FIRST_BLOCK : FIRST_BLOCK;
    arena->bytes = 0;
}

void arena_free(Arena *arena) {
    if (!arena) return;
    run_deferred(arena);
    free_blocks(arena);
    free(arena);
}

static Block *block_new(Arena *arena, size_t size) {
    Block *block = calloc(1, sizeof(Block) + size);
    if (!block) out_of_memory(arena->name, size);
    block->size = size;
    hide(block->data, size);
    return block;
}

static void *block_take(Block *block, size_t bytes, size_t padded) {
    void *at = block->data + block->used;
    block->used += padded;
    show(at, bytes);
    return at;
}

static void *alloc_in_new_block(Arena *arena, size_t bytes, size_t padded) {
    if (padded > arena->next_size / 2) { /* own block, behind the current one */
        Block *own = block_new(arena, padded);
        Block **link = arena->blocks ? &arena->blocks->next : &arena->blocks;
        own->next = *link;
        *link = own;
        return block_take(own, bytes, padded);
    }
    Block *block = block_new(arena, arena->next_size);
    if (arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
    block->next = arena->blocks;
    arena->blocks = block;
    return block_take(block, bytes, padded);
}

void *arena_alloc(Arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 4) out_of_memory(arena->name, bytes);
    size_t wanted = bytes ? bytes : 1; /* distinct addresses even for empty things */
    size_t padded = (wanted + ARENA_GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    arena->bytes += bytes;
    Block *block = arena->blocks;
    if (block && block->size - block->used >= padded) return block_take(block, bytes, padded);
    return alloc_in_new_block(arena, bytes, padded);
}

void *arena_array(Arena *arena, size_t count, size_t item_bytes) {
    if (item_bytes && count > SIZE_MAX / 4 / item_bytes) out_of_memory(arena->name, count);
    return arena_alloc(arena, count * item_bytes);
}

void *arena_copy(Arena *arena, const void *src, size_t bytes) {
    void *copy = arena_alloc(arena, bytes);
    if (bytes) memcpy(copy, src, bytes);
    return copy;
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_vprintf(Arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

void arena_defer(Arena *arena, void (*closer)(void *), void *subject) {
    size_t bytes = arena->bytes;
    Deferred *deferred = ARENA_NEW(arena, Deferred);
    arena->bytes = bytes; /* bookkeeping is not memory that anybody asked for */
    *deferred = (Deferred){arena->deferred, closer, subject};
    arena->deferred = deferred;
}

size_t arena_bytes(const Arena *arena) { return arena->bytes; }
