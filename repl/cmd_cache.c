/* Commands that look at capture and its cache: breaks, guards, recompiles, cache. */
#include "repl/facts.h"
#include "repl/json.h"
#include <string.h>

static bool run_breaks(CommandCall *call) {
    static const char *const heads[] = {"compile", "line", "kind", "why"};
    BreakList breaks = facts_breaks(call->arena, call->session);
    Table *table = table_new(call->arena, 4, heads);
    cJSON *list = call->json ? json_list(call_document(call), "breaks") : NULL;
    for (int i = 0; i < breaks.count; i++) {
        const BreakFacts *b = &breaks.at[i];
        if (list) {
            cJSON *item = json_item(list);
            json_put(item, "compile", b->compile);
            json_integer(item, "line", b->line);
            json_put(item, "file", b->span.file ? b->span.file->name : NULL);
            json_put(item, "kind", b->kind);
            json_put(item, "reason", b->reason);
            continue;
        }
        table_cell(table, "[%s]", b->compile);
        table_cell(table, "%s", b->span.file ? facts_place(call->arena, b->span) : arena_printf(call->arena, "line %d", b->line));
        table_cell(table, "%s", b->kind);
        table_cell(table, "%s", b->reason);
    }
    if (list) return true;
    if (breaks.count) table_print(&call->out, call->show, table);
    else text_put(&call->out, "no graph breaks\n");
    return true;
}

const Command command_breaks = {
    .name = "breaks", .group = "look", .usage = "", .run = run_breaks,
    .summary = "list the graph breaks",
    .help = "Each once a compile, at the innermost line of your file. :why break shows the lines; :help breaks\n"
            "says what a break costs.",
};

static void put_guard(CommandCall *call, Table *table, cJSON *list, const GuardFacts *guard) {
    if (list) {
        cJSON *item = json_item(list);
        json_put(item, "id", guard->id);
        json_put(item, "kind", guard->kind);
        json_put(item, "guard", facts_guard_check(guard));
        json_put(item, "why", guard->why);
        json_span(item, guard->span);
        json_integer(item, "checks", guard->checks);
        json_integer(item, "failures", guard->failures);
        return;
    }
    table_cell(table, "%s", guard->id);
    table_cell(table, "%s", guard->kind);
    table_cell(table, "%lld", (long long)guard->failures);
    table_cell(table, "%s", facts_place(call->arena, guard->span));
    table_cell(table, "%s", facts_guard_check(guard));
}

static bool run_guards(CommandCall *call) {
    static const char *const heads[] = {"guard", "kind", ">failed", "line", "check"};
    Selection selection;
    Entry *entry = facts_entry(call, &selection);
    if (!entry) return false;
    EntryFacts facts;
    entry_facts(entry, &facts);
    GuardList guards = facts_guards(call->arena, entry);
    Table *table = table_new(call->arena, 5, heads);
    cJSON *list = NULL;
    if (call->json) {
        json_put(call_document(call), "id", facts.id);
        list = json_list(call_document(call), "guards");
    } else facts_heading(call, &facts);
    for (int i = 0; i < guards.count; i++) put_guard(call, table, list, &guards.at[i]);
    if (list) return true;
    if (guards.count) table_print(&call->out, call->show, table);
    else text_put(&call->out, "  no guards\n");
    return true;
}

const Command command_guards = {
    .name = "guards", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_guards,
    .summary = "list what must hold to use a compile again",
    .help = "All are checked on every call, in this order, until one fails. :draw guards shows them by the\n"
            "value that they look at; :why g3 says what made one necessary.",
};

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
    .help = "A line for each guard of each older entry that did not hold. A changed size recompiles:\n"
            "sizes are static here, up to :set recompile_limit.\n"
            "(PyTorch recompiles once and is dynamic from then on.)",
};

static bool run_cache(CommandCall *call) {
    static const char *const heads[] = {"function", "entry", ">hits", ">entries", ">limit"};
    int count = session_cache(call->session, NULL, 0);
    CacheFacts *cache = ARENA_ARRAY(call->arena, CacheFacts, count + 1);
    if (count) session_cache(call->session, cache, count);
    Table *table = table_new(call->arena, 5, heads);
    cJSON *list = call->json ? json_list(call_document(call), "cache") : NULL;
    for (int i = 0; i < count; i++) {
        if (list) {
            cJSON *item = json_item(list);
            json_put(item, "function", cache[i].function);
            json_put(item, "entry", cache[i].entry);
            json_integer(item, "hits", cache[i].hits);
            json_integer(item, "entries", cache[i].entries);
            json_integer(item, "limit", cache[i].limit);
            continue;
        }
        table_cell(table, "%s", cache[i].function);
        table_cell(table, strchr(cache[i].entry, '/') ? "[%s]" : "%s", cache[i].entry); /* ids; "skipped" is none */
        table_cell(table, "%lld", (long long)cache[i].hits);
        table_cell(table, "%d", cache[i].entries);
        table_cell(table, "%d", cache[i].limit);
    }
    if (list) return true;
    if (count) table_print(&call->out, call->show, table);
    else text_put(&call->out, "no function is compiled yet (what commands compile is kept apart)\n");
    return true;
}

const Command command_cache = {
    .name = "cache", .group = "look", .usage = "", .run = run_cache,
    .summary = "list the compiled entries of each function",
    .help = "Entries belong to the function's code. The guards of each are tried in turn; when none holds it is\n"
            "compiled again, up to the limit, and from then on the function runs eagerly.",
};
