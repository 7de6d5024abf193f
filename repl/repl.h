/* Repl: one run of the program: a session, how output is formed, and what has happened so far (for the exit status).
 *
 *     Repl repl = {.session = session, .show = show, .options = &options, .arena = arena, .interrupt = &interrupt};
 *     repl_file(&repl, "model.py"); repl_text(&repl, ":explain f(x)\n", "<command>");
 *     return repl_status(&repl);
 */
#ifndef VITRINE_REPL_REPL_H
#define VITRINE_REPL_REPL_H
#include "engine.h"
#include "repl/options.h"
#include "repl/progress.h"
#include "repl/show.h"

typedef struct Command Command;

typedef struct Repl {
    Session *session;
    Show show;
    const Options *options;
    Arena *arena;               /* as long as the run */
    volatile int *interrupt;
    bool program_failed, command_failed, interrupted, output_gone, file_missing;
    bool exited; int exit_code; /* the program ended itself: sys.exit */
    int output_error;           /* errno of a failed write, but for a closed pipe */
    bool interactive;           /* errors do not end the run */
    bool quit;                  /* :quit */
    const char *last_step;      /* the stepping command that an empty line repeats */
    int load_depth;             /* :load inside a loaded file */
    Progress *progress;         /* at the prompt, while something runs */
} Repl;

bool repl_file(Repl *repl, const char *path);                       /* false: the run is over; sys.exit(0) ends the file alone */
bool repl_text(Repl *repl, const char *text, const char *name);
bool repl_input(Repl *repl, int file);                              /* reads a descriptor to its end, statement by statement */
void repl_prompt(Repl *repl);                                       /* the interactive loop */
int repl_status(const Repl *repl);                                  /* 0, 1, 2, 3, 130, or what sys.exit said */
void repl_output_failed(Repl *repl, int reason);                    /* a write to stdout failed: its errno, 0 when it is not known */
bool repl_ends(const Repl *repl);                                   /* may nothing more be run? */
#endif
