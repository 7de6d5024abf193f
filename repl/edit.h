/* Edit: a line from the terminal, with history and completion (readline). Readline has one state for the whole process, and so has this. */
#ifndef VITRINE_REPL_EDIT_H
#define VITRINE_REPL_EDIT_H
#include "repl/repl.h"

void edit_open(Repl *repl);            /* reads the history file */
char *edit_line(const char *prompt);   /* malloc'ed; may hold newlines (pasted or recalled); NULL: end of input or Ctrl-C */
bool edit_was_interrupted(void);       /* was the last NULL a Ctrl-C? */
void edit_remember(const char *item);  /* one item of history, of any number of lines */
void edit_close(void);                 /* writes the history file */
#endif
