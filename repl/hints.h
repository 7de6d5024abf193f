/* Hints: what would remove a graph break, in plain words. */
#ifndef VITRINE_REPL_HINTS_H
#define VITRINE_REPL_HINTS_H
#include <stdbool.h>

/* By the break's kind and reason (BreakFacts); never NULL. */
const char *break_hint(const char *kind, const char *reason);
/* Is it only there for what it prints? Then the program is the same without it. */
bool break_only_prints(const char *kind, const char *reason);
#endif
