/* Complete: candidates for a word of a command or of the program.
 *
 *     :gr       -> :graph            a command's name
 *     :graph jo -> joint             a stage; %re -> names of nodes; k -> kernels; g -> guards
 *     torch.nn.Li -> torch.nn.Linear the session's names
 *
 * In: the line and the word under the cursor. Out: each candidate once, through `offer`. */
#include "repl/complete.h"
#include "repl/cmd.h"
#include <string.h>

typedef struct Offers {
    Repl *repl;
    const char *word;
    size_t length;
    void (*offer)(void *state, const char *candidate);
    void *state;
} Offers;

static void offer_name(void *state, const char *name) {
    Offers *o = state;
    if (strncmp(name, o->word, o->length) == 0) o->offer(o->state, name);
}

static void offer_all(Offers *o, const char *const *names) {
    for (int i = 0; names[i]; i++) offer_name(o, names[i]);
}

static void offer_commands(Offers *o, const char *prefix) {
    Arena *arena = session_command_arena(o->repl->session);
    for (int i = 0; command_table[i]; i++) offer_name(o, arena_printf(arena, "%s%s", prefix, command_table[i]->name));
}

static void offer_snapshot(Offers *o, Entry *entry, const char *stage, const char *side) {
    const char *error;
    Snapshot *snapshot = entry_snapshot(entry, stage, side, session_command_arena(o->repl->session), &error);
    for (int i = 0; snapshot && i < snapshot->items.count; i++) offer_name(o, snapshot->items.at[i].id);
}

static void offer_kernels(Offers *o, Entry *entry) {
    KernelFacts kernels[256];
    int count = entry_kernels(entry, kernels, 256);
    for (int i = 0; i < count && i < 256; i++) offer_name(o, kernels[i].id);
}

static void offer_guards(Offers *o, Entry *entry) {
    GuardFacts guards[256];
    int count = entry_guards(entry, guards, 256);
    for (int i = 0; i < count && i < 256; i++) offer_name(o, guards[i].id);
}

static void offer_nodes(Offers *o) {
    Entry *entry = session_find_entry(o->repl->session, NULL);
    if (!entry) return;
    static const char *const stages[] = {"dynamo", "joint", "forward", "backward"};
    for (size_t i = 0; o->word[0] == '%' && i < sizeof stages / sizeof *stages; i++) offer_snapshot(o, entry, stages[i], NULL);
    offer_kernels(o, entry);
    offer_guards(o, entry);
}

static void offer_setting(void *state, const char *name, const char *value, const char *meaning) {
    (void)value;
    (void)meaning;
    offer_name(state, name);
}

static void offer_entries(Offers *o) {
    Arena *arena = session_command_arena(o->repl->session);
    for (int i = 0; i < session_entry_count(o->repl->session); i++) {
        EntryFacts facts;
        entry_facts(session_entry(o->repl->session, i), &facts);
        offer_name(o, arena_printf(arena, "[%s]", facts.id));
    }
}

static void offer_for(Offers *o, const Command *command) {
    static const char *const whys[] = {"saved", "recomputed", "break", "recompile", NULL};
    static const char *const forms[] = {"cuda", "c", "ptx", "sass", "resources", "ops", NULL};
    switch (command->complete) {
    case COMPLETE_CODE: session_complete(o->repl->session, o->word, offer_name, o); return;
    case COMPLETE_STAGE:
        offer_all(o, stage_names());
        offer_entries(o);
        offer_nodes(o);
        return;
    case COMPLETE_NAME:
        offer_all(o, whys);
        offer_nodes(o);
        return;
    case COMPLETE_KERNEL:
        offer_all(o, forms);
        offer_nodes(o);
        return;
    case COMPLETE_OP: session_op_names(o->repl->session, offer_name, o); return;
    case COMPLETE_COMMAND: offer_commands(o, ""); return;
    case COMPLETE_SETTING: session_settings(o->repl->session, offer_setting, o); return;
    case COMPLETE_FILE:
    case COMPLETE_NONE: return;
    }
}

bool complete_line(Repl *repl, const char *line, size_t start, const char *word, void (*offer)(void *state, const char *candidate), void *state) {
    Offers o = {repl, word, strlen(word), offer, state};
    if (line[0] != ':') {
        session_complete(repl->session, word, offer_name, &o);
        return false;
    }
    if (start == 0) {
        offer_commands(&o, ":");
        return false;
    }
    const char *suggestion;
    const Command *command = command_find(line + 1, strcspn(line + 1, " \t"), &suggestion);
    if (command) offer_for(&o, command);
    return command && (command->flags & COMMAND_OFFERS_FILES) != 0;
}
