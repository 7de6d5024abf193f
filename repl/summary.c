/* Summary: the session's counts and listings as one JSON document.
 *
 *     {"graphs": 1, "ops_captured": 3, "frames": {"total": 1, "ok": 1}, "breaks": [], "recompiles": [],
 *      "compiles": {"0/0": {"function": "f", "dynamo": ["def forward(...):", ...], "guards": [...], "launches": [...]}}}
 *
 * In: a session. Out: the fields of cases/README. A stage that an entry does not have is left out. */
#include "repl/summary.h"
#include "repl/facts.h"
#include "repl/json.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void put_counts(cJSON *document, Session *session) {
    SessionCounts counts = {0};
    if (session) session_counts(session, &counts);
    json_integer(document, "graphs", counts.graphs);
    json_integer(document, "ops_captured", counts.ops_captured);
    cJSON *frames = json_object(document, "frames");
    json_integer(frames, "total", counts.frames_total);
    json_integer(frames, "ok", counts.frames_ok);
}

static void put_breaks(cJSON *document, Session *session, Arena *arena) {
    cJSON *list = json_list(document, "breaks");
    BreakList breaks = {0};
    if (session) breaks = facts_breaks(arena, session);
    for (int i = 0; i < breaks.count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "compile", breaks.at[i].compile);
        json_integer(item, "line", breaks.at[i].line);
        json_put(item, "kind", breaks.at[i].kind);
        json_put(item, "reason", breaks.at[i].reason);
    }
}

static void put_recompiles(cJSON *document, Session *session, Arena *arena) {
    cJSON *list = json_list(document, "recompiles");
    RecompileList recompiles = {0};
    if (session) recompiles = facts_recompiles(arena, session);
    for (int i = 0; i < recompiles.count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "compile", recompiles.at[i].compile);
        json_put(item, "kind", recompiles.at[i].kind);
        json_put(item, "reason", recompiles.at[i].reason);
    }
}

static void put_stage(cJSON *object, Entry *entry, const char *stage, Arena *arena) {
    const char *error;
    Snapshot *snapshot = entry_snapshot(entry, stage, NULL, arena, &error);
    if (snapshot && snapshot->text) json_lines(object, stage, snapshot->text);
}

/* The instructions of the user's code, one a line: the rows of its blocks. */
static void put_bytecode(cJSON *object, Entry *entry, Arena *arena) {
    const char *error;
    const Snapshot *snapshot = entry_snapshot(entry, "bytecode", NULL, arena, &error);
    cJSON *list = snapshot ? json_list(object, "bytecode") : NULL;
    for (int i = 0; snapshot && i < snapshot->items.count; i++)
        for (int row = 0; row < snapshot->items.at[i].rows.count; row++) json_add(list, snapshot->items.at[i].rows.at[row]);
}

static void put_guards(cJSON *object, Entry *entry, Arena *arena) {
    cJSON *list = json_list(object, "guards");
    GuardList guards = facts_guards(arena, entry);
    for (int i = 0; i < guards.count; i++) json_add(list, arena_printf(arena, "%s: %s", guards.at[i].kind, facts_guard_check(&guards.at[i])));
}

static void put_launches(cJSON *object, Entry *entry, Arena *arena) {
    cJSON *list = json_list(object, "launches");
    LaunchList launches = facts_launches(arena, entry);
    for (int i = 0; i < launches.count; i++) json_add(list, launches.at[i].name);
}

static void put_entry(cJSON *compiles, Entry *entry) {
    static const char *const stages[] = {"dynamo", "joint", "functional", "forward", "backward"};
    EntryFacts facts = {0};
    entry_facts(entry, &facts);
    if (facts.is_copy) return;
    Arena *arena = arena_new("summary");
    cJSON *object = json_object(compiles, facts.id);
    json_put(object, "function", facts.function);
    if (facts.failed) json_put(object, "failed", facts.failure);
    put_bytecode(object, entry, arena);
    for (size_t i = 0; !facts.failed && i < sizeof stages / sizeof *stages; i++) put_stage(object, entry, stages[i], arena);
    put_guards(object, entry, arena);
    put_launches(object, entry, arena);
    arena_free(arena);
}

void summary_text(Text *text, Session *session, Arena *arena) {
    cJSON *document = cJSON_CreateObject();
    put_counts(document, session);
    put_breaks(document, session, arena);
    put_recompiles(document, session, arena);
    cJSON *compiles = json_object(document, "compiles");
    for (int i = 0; session && i < session_entry_count(session); i++) put_entry(compiles, session_entry(session, i));
    json_print(text, document);
}

bool summary_prepare(const char *path, const char **error, Arena *arena) {
    FILE *file = fopen(path, "w");
    if (file && fclose(file) == 0) return true;
    *error = arena_printf(arena, "cannot write %s: %s", path, strerror(errno));
    return false;
}

bool summary_write(const char *path, Session *session, Arena *arena) {
    Text text = {0};
    summary_text(&text, session, arena);
    FILE *file = fopen(path, "w");
    bool written = file && fwrite(text.data, 1, text.length, file) == text.length;
    if (file) written = fclose(file) == 0 && written;
    text_free(&text);
    return written;
}
