/* Intern: one address for each distinct text, so that names compare by pointer. */
#ifndef VITRINE_BASE_INTERN_H
#define VITRINE_BASE_INTERN_H
#include "base/arena.h"

typedef struct Interner Interner;

Interner *interner_new(Arena *arena);
const char *intern(Interner *interner, const char *text);                  /* NUL-terminated; lives as long as the arena */
const char *intern_n(Interner *interner, const char *text, size_t length);
#endif
