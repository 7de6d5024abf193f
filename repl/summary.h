/* Summary: what was compiled, as JSON: --summary FILE. */
#ifndef VITRINE_REPL_SUMMARY_H
#define VITRINE_REPL_SUMMARY_H
#include "repl/repl.h"

/* graphs, ops_captured, frames, breaks, recompiles, compiles; commands' copies are left out. A NULL session gives zeros. */
void summary_text(Text *text, Session *session, Arena *arena);
/* Can it be written? Makes the file, empty. */
bool summary_prepare(const char *path, const char **error, Arena *arena);
bool summary_write(const char *path, Session *session, Arena *arena);
#endif
