/* Readable: rewritten bytecode as Python text (readable.c). */
#ifndef VITRINE_READABLE_H
#define VITRINE_READABLE_H
#include "dynamo/cache.h"

/* `def compiled_f(x): …` of a code that belongs to the entry; its graph is called `graph`. Strings on the way are put in `arena`. */
void code_as_python(Text *out, const Entry *entry, const Code *code, Arena *arena);
/* An opaque constant (CONST_OBJECT) of such a code by name: graph, print, 'mid'. */
const char *const_object_text(const Entry *entry, const Const *c, Arena *arena);
#endif
