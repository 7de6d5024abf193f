/* Recompiles: their list, and old and new entry side by side. */
#include "repl/facts.h"
#include "repl/json.h"
#include <stdio.h>
#include <string.h>

static bool run_recompiles(CommandCall *call) {
    static const char *const heads[] = {"compile", "function", "kind", "the guard that failed"};
    RecompileList recompiles = facts_recompiles(call->arena, call->session);
    Table *table = table_new(call->arena, 4, heads);
    cJSON *list = call->json ? json_list(call_document(call), "recompiles") : NULL;
    for (int i = 0; i < recompiles.count; i++) {
        const RecompileFacts *r = &recompiles.at[i];
        if (list) {
            cJSON *item = json_item(list);
            json_put(item, "compile", r->compile);
            json_put(item, "function", r->function);
            json_put(item, "kind", r->kind);
            json_put(item, "reason", r->reason);
            continue;
        }
        table_cell(table, "[%s]", r->compile);
        table_cell(table, "%s", r->function);
        table_cell(table, "%s", r->kind);
        table_cell(table, "%s", r->reason);
    }
    if (list) return true;
    if (recompiles.count) table_print(&call->out, call->show, table);
    else text_put(&call->out, "no recompiles\n");
    return true;
}

const Command command_recompiles = {
    .name = "recompiles", .group = "look", .usage = "", .run = run_recompiles,
    .summary = "list the recompiles, with every guard that failed",
    .help = "A line for each guard of each older entry that did not hold. A size that changes recompiles once and\n"
            "is dynamic from then on. :why recompile lays old and new entry side by side; :sweep f(x) n=1..64\n"
            "says how many entries a range makes; :set recompile_limit is how many a function may have.",
};

/* ---- what changed between two lists of lines ---- */

typedef struct Line { const char *key, *label, *text; } Line; /* key: what makes two of them the same thing; label: what it is called; text: what it says */
typedef struct Lines { Line *at; int count; } Lines;
typedef struct Changed { const char *label, *old, *new_one; } Changed; /* NULL: there was, there is none */
typedef struct Changes { VEC(Changed) all; int same; } Changes;

static Lines lines_of_guards(Arena *arena, Entry *entry) {
    GuardList guards = facts_guards(arena, entry);
    Lines lines = {ARENA_ARRAY(arena, Line, guards.count + 1), guards.count};
    for (int i = 0; i < guards.count; i++) {
        const GuardFacts *g = &guards.at[i];
        bool by_text = !g->source; /* relations between sizes */
        const char *label = by_text ? g->kind : arena_printf(arena, "%s %s", g->kind, g->source);
        lines.at[i] = (Line){by_text && strcmp(g->kind, "GLOBAL_STATE") != 0 ? g->text : label, label, facts_guard_check(g)};
    }
    return lines;
}

/* "def forward(self, a, b):" -> "a, b" */
static const char *without_def(Arena *arena, const char *line) {
    static const char head[] = "def forward(self, ";
    size_t length = strlen(line), skip = sizeof head - 1;
    bool is_def = strncmp(line, head, skip) == 0 && length > skip + 2;
    return is_def ? arena_strndup(arena, line + skip, length - skip - 2) : line;
}

/* A node by what stands before the colon. */
static Lines lines_of_graph(Arena *arena, Entry *entry) {
    const char *error;
    Snapshot *snapshot = entry_snapshot(entry, "dynamo", NULL, arena, &error);
    const char *text = snapshot && snapshot->text ? snapshot->text : "";
    Lines lines = {ARENA_ARRAY(arena, Line, strlen(text) + 1), 0};
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n"), blank = strspn(at, " ");
        const char *line = arena_strndup(arena, at + blank, length - blank);
        const char *key = strncmp(line, "def ", 4) == 0 ? "inputs" : strncmp(line, "return", 6) == 0 ? "return" : arena_strndup(arena, line, strcspn(line, ":"));
        if (length > blank) lines.at[lines.count++] = (Line){key, key, without_def(arena, line)};
        at += length + (at[length] == '\n');
    }
    return lines;
}

static int find_key(const Lines *lines, const char *key, const bool *taken) {
    for (int i = 0; i < lines->count; i++)
        if (!taken[i] && !strcmp(lines->at[i].key, key)) return i;
    return -1;
}

static Changes changes_between(Arena *arena, const Lines *before, const Lines *after) {
    Changes changes = {0};
    bool *taken = ARENA_ARRAY(arena, bool, after->count + 1);
    for (int i = 0; i < before->count; i++) {
        const Line *old = &before->at[i];
        int j = find_key(after, old->key, taken);
        if (j >= 0) taken[j] = true;
        if (j >= 0 && !strcmp(after->at[j].text, old->text)) changes.same++;
        else vec_push_in(arena, &changes.all, ((Changed){old->label, old->text, j >= 0 ? after->at[j].text : NULL}));
    }
    for (int j = 0; j < after->count; j++)
        if (!taken[j]) vec_push_in(arena, &changes.all, ((Changed){after->at[j].label, NULL, after->at[j].text}));
    return changes;
}

/* ---- only the parts that differ ---- */

/* The end of the part that begins at `at`: a comma outside of brackets and quotes. */
static size_t part_length(const char *at) {
    int depth = 0;
    char quote = 0;
    size_t i = 0;
    for (; at[i]; i++) {
        if (quote) quote = at[i] == quote ? 0 : quote;
        else if (at[i] == '"' || at[i] == '\'') quote = at[i];
        else if (strchr("[{", at[i])) depth++;
        else if (strchr("]}", at[i])) depth--;
        else if (at[i] == ',' && depth <= 0) return i;
    }
    return i;
}

/* "check_tensor(L['x'], …, size=[4, 3], stride=[3, 1])" against the same with size=[6, 3]: "size=[4, 3]". Texts of unlike form stay whole. */
static bool only_differing(Arena *arena, const char **a, const char **b) {
    Text x = {0}, y = {0};
    const char *p = *a, *q = *b;
    while (*p && *q) {
        size_t m = part_length(p), n = part_length(q);
        bool same = m == n && !strncmp(p, q, m);
        if (!same) {
            text_printf(&x, "%s%.*s", x.length ? ", " : "", (int)m, p);
            text_printf(&y, "%s%.*s", y.length ? ", " : "", (int)n, q);
        }
        p += m + (p[m] == ',') , q += n + (q[n] == ',');
        p += strspn(p, " "), q += strspn(q, " ");
    }
    bool alike = !*p && !*q && x.length && y.length;
    if (alike) *a = text_in(&x, arena), *b = text_in(&y, arena);
    text_free(&x), text_free(&y);
    return alike;
}

/* ---- telling ---- */

static void put_changes(CommandCall *call, const char *what, const char *old_id, const char *new_id, const Changes *changes) {
    const char *heads[] = {"", what, arena_printf(call->arena, "[%s]", old_id), arena_printf(call->arena, "[%s]", new_id)};
    Table *table = table_new(call->arena, 4, heads);
    for (int i = 0; i < changes->all.count; i++) {
        const Changed *c = &changes->all.at[i];
        const char *old = c->old ? c->old : "", *new_one = c->new_one ? c->new_one : "";
        if (c->old && c->new_one) only_differing(call->arena, &old, &new_one);
        table_cell(table, "%s", !c->old ? "+" : !c->new_one ? "-" : "~");
        table_cell(table, "%s", c->label);
        table_cell(table, "%s", old);
        table_cell(table, "%s", new_one);
    }
    if (changes->all.count) table_print(&call->out, call->show, table);
    text_printf(&call->out, "  %s: %d the same%s\n", what, changes->same, changes->all.count ? "" : ", none differs");
}

static void put_changes_json(cJSON *object, const char *name, const Changes *changes) {
    cJSON *list = json_list(object, name);
    for (int i = 0; i < changes->all.count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "what", changes->all.at[i].label);
        json_put(item, "old", changes->all.at[i].old);
        json_put(item, "new", changes->all.at[i].new_one);
    }
}

static bool has_reasons(Entry *entry) {
    const ReasonLog *log = entry_reasons(entry);
    for (int i = 0; log && i < log->all.count; i++)
        if (log->all.at[i].kind == REASON_RECOMPILE) return true;
    return false;
}

/* The entry of the same frame that was made before it. */
static Entry *older_entry(CommandCall *call, const EntryFacts *facts) {
    int frame, index;
    if (sscanf(facts->id, "%d/%d", &frame, &index) != 2 || index == 0) return NULL;
    return session_find_entry(call->session, arena_printf(call->arena, "%d/%d", frame, index - 1));
}

static void put_reasons(CommandCall *call, Entry *entry, cJSON *list) {
    const ReasonLog *log = entry_reasons(entry);
    for (int i = 0; i < log->all.count; i++) {
        const Reason *r = &log->all.at[i];
        if (r->kind != REASON_RECOMPILE) continue;
        if (list) {
            cJSON *item = json_item(list);
            json_put(item, "guard", r->subject);
            json_put(item, "of", r->other);
            json_put(item, "text", r->text);
            json_span(item, r->span);
        } else text_visible(&call->out, arena_printf(call->arena, "  %s of [%s] failed: %s   (%s)\n", r->subject, r->other, r->text + strlen(r->other) + 2, facts_place(call->arena, r->span)));
    }
}

static void tell_entry(CommandCall *call, Entry *entry, cJSON *list) {
    EntryFacts facts, old_facts;
    entry_facts(entry, &facts);
    Entry *older = older_entry(call, &facts);
    cJSON *item = list ? json_item(list) : NULL;
    if (item) {
        json_put(item, "compile", facts.id);
        json_put(item, "function", facts.function);
        put_reasons(call, entry, json_list(item, "reasons"));
    } else {
        text_printf(&call->out, "[%s] %s was compiled because no older entry served:\n", facts.id, facts.function);
        put_reasons(call, entry, NULL);
    }
    if (!older) return;
    entry_facts(older, &old_facts);
    Lines old_guards = lines_of_guards(call->arena, older), new_guards = lines_of_guards(call->arena, entry), old_graph = lines_of_graph(call->arena, older), new_graph = lines_of_graph(call->arena, entry);
    Changes guards = changes_between(call->arena, &old_guards, &new_guards), graph = changes_between(call->arena, &old_graph, &new_graph);
    if (item) {
        json_put(item, "older", old_facts.id);
        put_changes_json(item, "guards", &guards);
        put_changes_json(item, "graph", &graph);
        return;
    }
    put_changes(call, "guards", old_facts.id, facts.id, &guards);
    put_changes(call, "nodes", old_facts.id, facts.id, &graph);
}

/* Of one entry when it is named or a command's copy; else of all that the program has. */
bool why_recompile(CommandCall *call, Entry *named) {
    cJSON *list = call->json ? json_list(call_document(call), "recompiles") : NULL;
    Entry *current = named ? named : session_find_entry(call->session, NULL);
    EntryFacts facts = {0};
    if (current) entry_facts(current, &facts);
    if (named || (current && facts.is_copy && has_reasons(current))) {
        if (!has_reasons(current)) return command_error(call, call->span, "[%s] is no recompile: no older entry was in its way", facts.id);
        tell_entry(call, current, list);
        return true;
    }
    int told = 0;
    for (int i = 0; i < session_entry_count(call->session); i++) {
        Entry *entry = session_entry(call->session, i);
        entry_facts(entry, &facts);
        if (facts.is_copy || !has_reasons(entry)) continue;
        tell_entry(call, entry, list);
        told++;
    }
    if (!list && !told) text_put(&call->out, "no recompiles\n");
    return true;
}
