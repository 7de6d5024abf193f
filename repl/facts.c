/* Facts: see facts.h. In: a session or an entry. Out: arrays in the given arena. */
#include "repl/facts.h"
#include <string.h>

#define LIST_OF(Function, List, Item, Subject, engine_list)                                \
    List Function(Arena *arena, Subject *subject) {                                        \
        List list = {.count = engine_list(subject, NULL, 0)};                              \
        list.at = ARENA_ARRAY(arena, Item, list.count + 1);                                \
        if (list.count) engine_list(subject, list.at, list.count);                         \
        return list;                                                                       \
    }
LIST_OF(facts_kernels, KernelList, KernelFacts, Entry, entry_kernels)
LIST_OF(facts_guards, GuardList, GuardFacts, Entry, entry_guards)
LIST_OF(facts_launches, LaunchList, LaunchFacts, Entry, entry_launches)
LIST_OF(facts_breaks, BreakList, BreakFacts, Session, session_breaks)
LIST_OF(facts_recompiles, RecompileList, RecompileFacts, Session, session_recompiles)

const char *facts_place(Arena *arena, Span span) {
    return span.file ? arena_printf(arena, "%s:%d", span.file->name, span_line(span)) : "";
}

const char *facts_guard_check(const GuardFacts *guard) {
    size_t length = strlen(guard->kind);
    bool repeats = strncmp(guard->text, guard->kind, length) == 0 && guard->text[length] == ':';
    return repeats ? guard->text + length + 1 + strspn(guard->text + length + 1, " ") : guard->text;
}

void facts_heading(CommandCall *call, const EntryFacts *facts) {
    const char *name = arena_printf(call->arena, "[%s] %s", facts->id, facts->function);
    const char *place = facts_place(call->arena, facts->span);
    text_printf(&call->out, "%s%s%s  %s, %s, policy %s%s\n", show_bold(call->show, call->arena, name), *place ? "  " : "", place,
                facts->training ? "training" : "inference", facts->device, facts->policy ? facts->policy : "--",
                facts->is_copy ? ", a command's copy" : "");
    if (facts->failed) text_printf(&call->out, "  not compiled: %s\n", facts->failure ? facts->failure : "see the note above");
}

Entry *facts_entry(CommandCall *call, Selection *selection) {
    if (!selection_read(call, 0, call->words.count, selection)) return NULL;
    return selection_entry(call, selection);
}
