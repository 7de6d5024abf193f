/* Complete: what Tab offers, by where the cursor is. Knows no terminal. */
#ifndef VITRINE_REPL_COMPLETE_H
#define VITRINE_REPL_COMPLETE_H
#include "repl/repl.h"

/* Offers what may stand for `word`, which begins at `start` of `line`. True: names of files may stand there too. */
bool complete_line(Repl *repl, const char *line, size_t start, const char *word, void (*offer)(void *state, const char *candidate), void *state);
#endif
