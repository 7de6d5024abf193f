/* Commands that look at capture and its cache: guards, cache. */
#include "repl/facts.h"
#include "repl/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *cost_text(CommandCall *call, double ns) { return call->show->plain || ns <= 0 ? "--" : arena_printf(call->arena, "%.0f ns", ns); }

/* As they are checked. */
static int by_order(const void *a, const void *b) { return ((const GuardFacts *)a)->order - ((const GuardFacts *)b)->order; }

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
        json_put(item, "source", guard->source);
        json_integer(item, "order", guard->order);
        json_time(item, "cost_ns", call->show, guard->cost_ns);
        if (guard->span.file) json_put(item, "code", span_source_line(guard->span, call->arena));
        return;
    }
    table_cell(table, "%s", guard->id);
    table_cell(table, "%s", guard->kind);
    table_cell(table, "%lld", (long long)guard->failures);
    table_cell(table, "%s", cost_text(call, guard->cost_ns));
    table_cell(table, "%s", facts_place(call->arena, guard->span));
    table_cell(table, "%s%s%s", facts_guard_check(guard), guard->why ? "; " : "", guard->why ? guard->why : "");
}

static bool run_guards(CommandCall *call) {
    static const char *const heads[] = {"guard", "kind", ">failed", ">cost", "line", "check, and why"};
    Selection selection;
    Entry *entry = facts_entry(call, &selection);
    if (!entry) return false;
    EntryFacts facts;
    entry_facts(entry, &facts);
    GuardList guards = facts_guards(call->arena, entry);
    Table *table = table_new(call->arena, 6, heads);
    cJSON *list = NULL;
    if (call->json) {
        json_put(call_document(call), "id", facts.id);
        list = json_list(call_document(call), "guards");
    } else facts_heading(call, &facts);
    if (guards.count) qsort(guards.at, (size_t)guards.count, sizeof *guards.at, by_order);
    for (int i = 0; i < guards.count; i++) put_guard(call, table, list, &guards.at[i]);
    double cost = entry_guard_cost_ns(entry);
    if (list) {
        json_time(call->document, "cost_ns", call->show, cost > 0 ? cost : (double)NAN);
        return true;
    }
    if (guards.count) table_print(&call->out, call->show, table);
    else text_put(&call->out, "  no guards\n");
    if (guards.count) text_printf(&call->out, "  a check of all of them: %s, measured when it was compiled\n", cost_text(call, cost));
    return true;
}

const Command command_guards = {
    .name = "guards", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_guards,
    .summary = "list what must hold to use a compile again",
    .help = "In the order in which they are checked on every call, until one fails: tensors first, then ranges of\n"
            "sizes, then the rest. For each: what it cost alone (measured, on the arguments that were compiled\n"
            "for), the line that caused it, what it checks, and why. :draw guards shows them by the value that\n"
            "they look at; :why g3 says what made one necessary; :try CALL which would say no.",
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
