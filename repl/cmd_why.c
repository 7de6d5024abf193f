/* The command that asks: why. It searches the Reasons that the deciding passes left in the entry; it decides nothing itself. */
#include "repl/facts.h"
#include "repl/json.h"
#include <string.h>

typedef struct Question {
    CommandCall *call;
    Entry *entry;
    int kind;               /* a ReasonKind, or -1: any */
    const char *subject, *other;
    Table *table;
    cJSON *list;
    int found;
} Question;

/* "%relu" and "relu" are the same thing. */
static bool same_name(const char *a, const char *b) {
    return a && b && strcmp(a + (*a == '%'), b + (*b == '%')) == 0;
}

static bool answers(const Question *q, const Reason *reason) {
    if (q->kind >= 0 && (int)reason->kind != q->kind) return false;
    if (!q->subject) return true;
    if (q->other)
        return (same_name(reason->subject, q->subject) && same_name(reason->other, q->other)) ||
               (same_name(reason->subject, q->other) && same_name(reason->other, q->subject));
    return same_name(reason->subject, q->subject) || same_name(reason->other, q->subject);
}

static void put_reason(Question *q, const Reason *reason) {
    Arena *arena = q->call->arena;
    q->found++;
    if (q->list) {
        cJSON *item = json_item(q->list);
        json_put(item, "verdict", reason_kind_name(reason->kind));
        json_put(item, "code", reason->code);
        json_put(item, "subject", reason->subject);
        json_put(item, "other", reason->other);
        json_put(item, "why", reason->text);
        json_put(item, "policy", reason->policy);
        json_span(item, reason->span);
        return;
    }
    const char *pair = reason->other && *reason->other ? arena_printf(arena, "%s, %s", reason->subject, reason->other) : reason->subject ? reason->subject : "";
    const char *policy = reason->policy ? arena_printf(arena, " (policy %s)", reason->policy) : "";
    const char *place = facts_place(arena, reason->span);
    table_cell(q->table, "%s", reason_kind_name(reason->kind));
    table_cell(q->table, "%s", pair);
    table_cell(q->table, "%s%s%s%s", place, *place ? ": " : "", reason->text, policy);
}

static void search(Question *q) {
    const ReasonLog *log = entry_reasons(q->entry);
    for (int i = 0; log && i < log->all.count; i++)
        if (answers(q, &log->all.at[i])) put_reason(q, &log->all.at[i]);
}

static Question ask(CommandCall *call, Entry *entry, int kind, const char *subject, const char *other) {
    static const char *const heads[] = {"verdict", "about", "why"};
    Question q = {call, entry, kind, subject, other, table_new(call->arena, 3, heads), NULL, 0};
    if (call->json) q.list = json_list(call_document(call), "reasons");
    return q;
}

static bool tell(Question *q) {
    if (q->found && !q->list) table_print(&q->call->out, q->call->show, q->table);
    return q->found > 0;
}

/* ---- fused or not ---- */

static bool has_node(const KernelFacts *kernel, const char *node) {
    const char *bare = node + (*node == '%'), *at = kernel->nodes;
    size_t length = strlen(bare);
    for (; at && (at = strstr(at, bare)); at += length) {
        bool starts = at > kernel->nodes && at[-1] == '%', ends = !at[length] || at[length] == ' ';
        if (starts && ends) return true;
    }
    return false;
}

static const KernelFacts *kernel_of(const KernelList *kernels, const char *name) {
    for (int i = 0; i < kernels->count; i++)
        if (same_name(kernels->at[i].id, name) || same_name(kernels->at[i].entry_symbol, name) || has_node(&kernels->at[i], name)) return &kernels->at[i];
    return NULL;
}

static void put_together(Question *q, const KernelFacts *kernel) {
    Reason together = {.kind = REASON_FUSED, .code = "fused.same_kernel", .subject = q->subject, .other = q->other};
    together.text = arena_printf(q->call->arena, "both are computed by %s (%s): %s", kernel->id, kernel->entry_symbol, kernel->nodes);
    put_reason(q, &together);
}

/* What was decided between the kernels of the two, or inside the one that holds both. */
static void search_kernels(Question *q) {
    KernelList kernels = facts_kernels(q->call->arena, q->entry);
    const KernelFacts *a = kernel_of(&kernels, q->subject), *b = kernel_of(&kernels, q->other);
    const ReasonLog *log = entry_reasons(q->entry);
    if (!a || !b) return;
    if (a == b) put_together(q, a);
    for (int i = 0; log && i < log->all.count; i++) {
        const Reason *reason = &log->all.at[i];
        if (reason->kind != (a == b ? REASON_FUSED : REASON_NOT_FUSED) || !reason->other) continue;
        const KernelFacts *c = kernel_of(&kernels, reason->subject), *d = kernel_of(&kernels, reason->other);
        if ((c == a && d == b) || (c == b && d == a)) put_reason(q, reason);
    }
}

/* What keeps either of two apart from all others: it is a call, it was stored for a reason. */
static void search_apart(Question *q) {
    const ReasonLog *log = entry_reasons(q->entry);
    for (int i = 0; log && i < log->all.count; i++) {
        const Reason *reason = &log->all.at[i];
        if (reason->kind != REASON_EXTERN && reason->kind != REASON_EPILOGUE && reason->kind != REASON_MATERIALIZED) continue;
        if (same_name(reason->subject, q->subject) || same_name(reason->subject, q->other)) put_reason(q, reason);
    }
}

static void search_kernel(Question *q) {
    KernelList kernels = facts_kernels(q->call->arena, q->entry);
    const KernelFacts *kernel = kernel_of(&kernels, q->subject);
    if (!kernel) return;
    Reason inside = {.kind = REASON_FUSED, .code = "fused.same_kernel", .subject = q->subject};
    inside.text = arena_printf(q->call->arena, "computed by %s (%s): %s", kernel->id, kernel->entry_symbol, kernel->nodes);
    put_reason(q, &inside);
}

static bool exists(Question *q, const char *name) {
    static const char *const stages[] = {"dynamo", "joint", "functional", "decomposed", "forward", "backward", "ir", "fusion", "kernels", "memory", "guards"};
    const char *error;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (int side = 0; side < 2; side++) {
            Snapshot *snapshot = entry_snapshot(q->entry, stages[i], side ? "backward" : NULL, q->call->arena, &error);
            for (int j = 0; snapshot && j < snapshot->items.count; j++)
                if (same_name(snapshot->items.at[j].id, name)) return true;
            for (int j = 0; snapshot && j < snapshot->groups.count; j++)
                if (same_name(snapshot->groups.at[j].id, name)) return true;
        }
    KernelList kernels = facts_kernels(q->call->arena, q->entry);
    return kernel_of(&kernels, name) != NULL;
}

static bool nothing_found(Question *q, int word) {
    for (int i = 0; i < 2; i++) {
        const char *name = i ? q->other : q->subject;
        if (name && !exists(q, name))
            return command_error(q->call, call_span(q->call, word + i), "no %s in this entry: names are those that :graph and :kernels print", name);
    }
    if (q->other) return command_error(q->call, q->call->span, "nothing was decided about %s and %s: no pass compared them", q->subject, q->other);
    return command_error(q->call, q->call->span, "nothing was decided about %s", q->subject);
}

/* ---- the forms of the question ---- */

static bool why_pair(CommandCall *call, Entry *entry, int word) {
    Question q = ask(call, entry, -1, call_word(call, word), call_word(call, word + 1));
    search(&q);
    if (!q.found) search_kernels(&q);
    if (!q.found && exists(&q, q.subject) && exists(&q, q.other)) search_apart(&q);
    return tell(&q) || nothing_found(&q, word);
}

static void put_guard(Question *q, const GuardFacts *guard) {
    Reason reason = {.kind = REASON_GUARD, .code = "guard", .subject = guard->id, .text = guard->why ? guard->why : facts_guard_check(guard), .span = guard->span};
    if (guard->why) reason.text = arena_printf(q->call->arena, "%s: %s", facts_guard_check(guard), guard->why);
    put_reason(q, &reason);
}

/* Behind a guard on sizes stand its symbols: why each of them is one. */
static void search_symbols(Question *q) {
    const ReasonLog *log = entry_reasons(q->entry);
    for (int i = 0; log && i < log->all.count; i++) {
        const Reason *about = &log->all.at[i];
        if (about->kind != REASON_DYNAMIC || !same_name(about->other, q->subject)) continue;
        for (int k = 0; k < log->all.count; k++)
            if (log->all.at[k].kind == REASON_DYNAMIC && !log->all.at[k].other && same_name(log->all.at[k].subject, about->subject)) put_reason(q, &log->all.at[k]);
    }
}

static bool why_name(CommandCall *call, Entry *entry, int kind, int word) {
    Question q = ask(call, entry, kind, call_word(call, word), NULL);
    GuardList guards = facts_guards(call->arena, entry);
    bool about_guard = kind < 0 || kind == REASON_GUARD;
    for (int i = 0; about_guard && i < guards.count; i++)
        if (same_name(guards.at[i].id, q.subject)) put_guard(&q, &guards.at[i]), search_symbols(&q);
    search(&q);
    bool about_cut = kind == REASON_SAVED || kind == REASON_RECOMPUTED;
    if (kind < 0 && !q.found) search_kernel(&q);
    if (tell(&q)) {
        if (about_cut) why_cut(call, entry, q.subject);
        return true;
    }
    if (kind < 0 || !exists(&q, q.subject)) return nothing_found(&q, word);
    return command_error(call, call_span(call, word), "%s was not %s: :why %s says what became of it", q.subject, reason_kind_name((ReasonKind)kind), q.subject);
}

static bool why_kind(CommandCall *call, Entry *entry, ReasonKind kind) {
    Question q = ask(call, entry, (int)kind, NULL, NULL);
    search(&q);
    if (!tell(&q) && !q.list) text_printf(&call->out, "no decision was '%s'\n", reason_kind_name(kind));
    return true;
}

/* "extern", "fused", "not_fused" …: the verdicts as :explain counts them; -1: none. */
static int verdict_named(const char *word) {
    for (int kind = 0; kind <= REASON_NOTE; kind++) {
        const char *name = reason_kind_name((ReasonKind)kind);
        size_t i = 0;
        while (word[i] && (word[i] == name[i] || (word[i] == '_' && name[i] == ' '))) i++;
        if (!word[i] && !name[i]) return kind;
    }
    return -1;
}

static bool run_why(CommandCall *call) {
    Selection selection = {.word = -1};
    int first = call_word(call, 0)[0] == '[' ? 1 : 0, left = call->words.count - first;
    if (first && !selection_read(call, 0, 1, &selection)) return false;
    const char *word = call_word(call, first);
    if (left == 1 && strcmp(word, "break") == 0) return why_break(call);
    if (left == 1 && strcmp(word, "recompile") == 0 && !first) return why_recompile(call, NULL);
    Entry *entry = selection_entry(call, &selection);
    if (!entry) return false;
    if (left == 0) return command_error(call, call->span, "why what? :help why");
    if (left == 1 && strcmp(word, "recompile") == 0) return why_recompile(call, entry);
    int kind = verdict_named(word);
    if (kind >= 0 && left == 1) return why_kind(call, entry, (ReasonKind)kind);
    if (left == 2) return kind >= 0 ? why_name(call, entry, kind, first + 1) : why_pair(call, entry, first);
    return left == 1 ? why_name(call, entry, -1, first) : command_error(call, call_span(call, first + 2), "too many names: :help why");
}

const Command command_why = {
    .name = "why", .group = "ask", .usage = "A B | saved %x | recomputed %x | dynamic s0 | guard g3 | break | recompile | NAME", .least = 1, .most = 4, .complete = COMPLETE_NAME,
    .run = run_why,
    .summary = "ask for the reason of a decision",
    .help = "  :why %a %b          fused? and if not, every reason with its numbers (also k0 k1)\n"
            "  :why saved %x       why it crosses to the backward; :why saved lists all\n"
            "  :why recomputed %x  why it is computed twice instead\n"
            "  :why dynamic s0     why a size is a symbol, and what the code asked of it\n"
            "  :why guard g3       the line that made a guard necessary, and the symbols in it\n"
            "  :why break          all graph breaks, at their lines, and what would remove each\n"
            "  :why recompile      all recompiles: guards that failed, old and new entry side by side\n"
            "  :why VERDICT        all such decisions: extern epilogue fused not_fused materialized …\n"
            "  :why NAME           all that was decided about a node, guard, kernel or buffer\n"
            "An entry may stand in front: :why [0/1] %a %b",
};
