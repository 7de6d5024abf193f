/* Feed: text that comes line by line is run statement by statement; lines that start with a colon are commands.
 *
 *     Feed feed = {.repl = repl, .name = "<stdin>"};
 *     while ((line = next())) if (!feed_line(&feed, line)) break;
 *     feed_end(&feed);
 *
 * Invariant: a statement runs as soon as it is complete; a command only where no bracket or string is open. */
#ifndef VITRINE_REPL_FEED_H
#define VITRINE_REPL_FEED_H
#include "repl/repl.h"

typedef struct Feed {
    Repl *repl;
    const char *name;     /* as errors call the text */
    bool values;          /* values of expressions are printed, as at a prompt */
    bool echo;
    bool blank_ends;      /* at the prompt: an empty line ends a block */
    Text pending;         /* lines that are not run yet */
    int line, first_line; /* lines read; number of the first pending one */
} Feed;

/* `line` without its newline. False: the run is over. */
bool feed_line(Feed *feed, const char *line);
bool feed_end(Feed *feed);            /* runs what is left, complete or not */
bool feed_is_open(const Feed *feed);  /* is more needed? */
void feed_drop(Feed *feed);           /* forgets what is pending */
#endif
