/* Options: the command line. `vitrine [options] [FILE.py | -] [args...]` */
#ifndef VITRINE_REPL_OPTIONS_H
#define VITRINE_REPL_OPTIONS_H
#include "base/vec.h"
#include <stdbool.h>

typedef enum ColorChoice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorChoice;

typedef struct Options {
    VEC(const char *) texts;    /* -c, in order */
    const char *file;           /* NULL: none; "-": standard input */
    const char *device, *arch, *summary;
    bool stay, json, plain, keep_going, echo, no_cache, safe, warm, version, help;
    ColorChoice color;
    VEC(const char *) arguments; /* behind FILE */
} Options;

/* False with one line in *error for a use it does not know. Strings point into argv. */
bool options_read(Options *options, int argc, char **argv, Arena *arena, const char **error);
const char *options_help(void);
#endif
