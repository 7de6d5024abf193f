/* Cmd: commands. A command is one struct beside its function, in the file of its group; cmd_table.c lists them all.
 *
 *     static bool run_guards(CommandCall *call) { ... text_line(&call->out, ...); return true; }
 *     const Command command_guards = {.name = "guards", .group = "look", .usage = "[ENTRY]", .summary = "...", .run = run_guards};
 *
 * To add one: write the two, declare it in cmd_table.c, add its name to the frozen table of prefixes if it may be shortened.
 * A command writes into `out` (or `document`, when `json`); the caller prints. It returns false after command_error. */
#ifndef VITRINE_REPL_CMD_H
#define VITRINE_REPL_CMD_H
#include "repl/repl.h"
#include <cjson/cJSON.h>

typedef struct Word { const char *text; uint32_t start, end; } Word; /* offsets into the call's file */

typedef struct CommandCall {
    Repl *repl;
    Session *session;
    const Show *show;
    Arena *arena;                /* the session's command arena */
    const Command *command;
    const SourceFile *file;      /* in which the command stands */
    Span span;                   /* the whole command */
    Word rest;                   /* all behind the name */
    VEC(Word) words;             /* the same, split at blanks outside quotes and brackets */
    bool json;
    Text out;
    cJSON *document;             /* printed instead of `out` when json */
} CommandCall;

typedef enum Complete { COMPLETE_NONE, COMPLETE_CODE, COMPLETE_FILE, COMPLETE_STAGE, COMPLETE_NAME, COMPLETE_KERNEL, COMPLETE_OP, COMPLETE_COMMAND, COMPLETE_SETTING } Complete;

enum {
    COMMAND_TAKES_CODE = 1,      /* the rest is an expression of the language, not words */
    COMMAND_NEEDS_FILES = 2,     /* refused under --safe */
    COMMAND_OFFERS_FILES = 4,    /* Tab completes names of files too */
    COMMAND_STEPS = 8            /* an empty line at the prompt repeats it */
};

struct Command {
    const char *name, *group, *usage, *summary, *help;
    int flags, least, most;      /* numbers of words that it takes; most -1: any */
    Complete complete;
    bool (*run)(CommandCall *call);
};

extern const Command *const command_table[];        /* NULL-terminated, by groups in the order of :help */

/* Runs ":name rest". Failures are printed and noted in repl. */
void command_run(Repl *repl, const char *line, Span span);
/* By name or accepted prefix. NULL: *suggestion is the nearest name, or NULL. */
const Command *command_find(const char *name, size_t length, const char **suggestion);
/* Prefixes that scripts may use, frozen: those accepted once stay, whatever is added. */
bool command_prefix_is_frozen(const char *prefix, const char **name);

/* Reports at the span and returns false: `return command_error(call, word_span(call, i), "no stage %s", name);` */
bool command_error(CommandCall *call, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
Span call_span(const CommandCall *call, int word);  /* of a word; of the whole command when there is no such word */
const char *call_word(const CommandCall *call, int word); /* NULL behind the last */
void call_flush(CommandCall *call);                 /* prints what `out` or `document` holds so far */
cJSON *call_document(CommandCall *call);            /* the document, made on first use */
const char *nearest_name(const char *name, const char *const *names); /* NULL where none is near */

void repl_note_status(Repl *repl, int run_status);  /* RUN_* of a piece of the program */
#endif
