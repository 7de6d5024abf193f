/* Arena: memory that dies together.
 *
 * Four lifetimes exist: session, compile entry, command, scratch. Everything that is not refcounted
 * (tensor storage, language values, compile entries) lives in one of them.
 *
 *     Arena *arena = arena_new("scratch");
 *     int *counts = ARENA_ARRAY(arena, int, 8);        // zeroed
 *     arena_defer(arena, close_library, handle);       // runs when the arena is freed or reset
 *     arena_free(arena);
 *
 * Invariant: an allocation is zeroed, aligned to 16 bytes, and never moves. */
#ifndef VITRINE_BASE_ARENA_H
#define VITRINE_BASE_ARENA_H
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct Arena Arena;

Arena *arena_new(const char *name);
void arena_free(Arena *arena);  /* runs deferred closers in reverse order, then frees; NULL is fine */
void arena_reset(Arena *arena); /* as free, but the arena can be used again */
void *arena_alloc(Arena *arena, size_t bytes);
void *arena_array(Arena *arena, size_t count, size_t item_bytes); /* aborts where the product overflows */
void *arena_copy(Arena *arena, const void *src, size_t bytes);
char *arena_strdup(Arena *arena, const char *text); /* NULL gives NULL */
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list arguments);
void arena_defer(Arena *arena, void (*closer)(void *), void *subject);
size_t arena_bytes(const Arena *arena); /* bytes handed out so far */

/* Zeroed memory of the heap, for small things made and freed all the time: glibc's calloc goes past the thread's cache of freed blocks. NULL: none left. */
static inline void *heap_zeroed(size_t bytes) {
    void *at = bytes <= 1024 ? malloc(bytes ? bytes : 1) : calloc(1, bytes);
    return at && bytes <= 1024 ? memset(at, 0, bytes) : at;
}

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, n) ((Type *)arena_array((arena), (size_t)(n), sizeof(Type)))
#endif
