/* Facts: the lists of engine.h as arrays, and the lines that several commands print about an entry. */
#ifndef VITRINE_REPL_FACTS_H
#define VITRINE_REPL_FACTS_H
#include "repl/selection.h"

typedef struct KernelList { KernelFacts *at; int count; } KernelList;
typedef struct GuardList { GuardFacts *at; int count; } GuardList;
typedef struct LaunchList { LaunchFacts *at; int count; } LaunchList;
typedef struct BreakList { BreakFacts *at; int count; } BreakList;
typedef struct RecompileList { RecompileFacts *at; int count; } RecompileList;

KernelList facts_kernels(Arena *arena, Entry *entry);
GuardList facts_guards(Arena *arena, Entry *entry);
LaunchList facts_launches(Arena *arena, Entry *entry);
BreakList facts_breaks(Arena *arena, Session *session);
RecompileList facts_recompiles(Arena *arena, Session *session);

const char *facts_place(Arena *arena, Span span);                    /* "demo.py:5", or "" */
const char *facts_guard_check(const GuardFacts *guard);               /* its text, without the kind in front */
void facts_heading(CommandCall *call, const EntryFacts *facts);      /* "[0/0] f  demo.py:5  training, cpu, policy best" */
/* The entry of a command whose words are all a selection; NULL after command_error. */
Entry *facts_entry(CommandCall *call, Selection *selection);
/* Forms of :why that have a file of their own (cmd_breaks.c, cmd_recompile.c). named: NULL, all of the program. */
bool why_break(CommandCall *call);
bool why_recompile(CommandCall *call, Entry *named);
void why_cut(CommandCall *call, Entry *entry, const char *name); /* of a saved or recomputed value: the cuts with and without it (cmd_saved.c) */
#endif
