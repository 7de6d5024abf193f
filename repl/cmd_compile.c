/* Commands that compile a call: compile, explain. Both work on a copy of the cache, so that looking changes no counts. */
#include "repl/facts.h"
#include "repl/json.h"
#include <string.h>

enum { REASON_KINDS = REASON_NOTE + 1 };

typedef struct Entries { Entry **at; int count; } Entries;

/* Evaluates the call; its printed errors are the session's. */
static bool compile(CommandCall *call, bool run, CallResult *result, Entries *entries) {
    *result = (CallResult){0};
    if (!session_compile_call(call->session, call->rest.text, run, result) || !result->ok)
        return command_error(call, call->span, "the call did not succeed");
    entries->count = session_call_entries(call->session, NULL, 0);
    entries->at = ARENA_ARRAY(call->arena, Entry *, entries->count + 1);
    session_call_entries(call->session, entries->at, entries->count);
    return true;
}

static void count_reasons(Entry *entry, int *counts) {
    const ReasonLog *log = entry_reasons(entry);
    for (int i = 0; log && i < log->all.count; i++)
        if (log->all.at[i].kind <= REASON_NOTE) counts[log->all.at[i].kind]++;
}

static int count_breaks(const Entries *entries) {
    int counts[REASON_KINDS] = {0};
    for (int i = 0; i < entries->count; i++) count_reasons(entries->at[i], counts);
    return counts[REASON_BREAK];
}

static int count_graphs(const Entries *entries, int *ops) {
    int graphs = 0;
    for (int i = 0; i < entries->count; i++) {
        EntryFacts facts;
        entry_facts(entries->at[i], &facts);
        graphs += facts.ops > 0;
        *ops += facts.ops;
    }
    return graphs;
}

/* ---- text ---- */

static const char *plural(int count) { return count == 1 ? "" : "s"; }

static void put_launches(CommandCall *call, const EntryFacts *facts) {
    text_printf(&call->out, "  graph      %d op%s -> %d launch%s forward", facts->ops, plural(facts->ops), facts->launches_forward,
                facts->launches_forward == 1 ? "" : "es");
    if (facts->training) text_printf(&call->out, ", %d backward", facts->launches_backward);
    text_printf(&call->out, "; %d kernel%s", facts->kernels, plural(facts->kernels));
    if (!call->show->plain) text_printf(&call->out, " (%d from the cache)", facts->kernels_cached);
    text_char(&call->out, '\n');
    text_printf(&call->out, "  guards     %d\n", facts->guards);
}

static void put_memory(CommandCall *call, const EntryFacts *facts) {
    text_printf(&call->out, "  moved      %s eager, %s compiled\n", show_bytes(call->arena, facts->bytes_eager), show_bytes(call->arena, facts->bytes_compiled));
    if (facts->training)
        text_printf(&call->out, "  saved      %s for backward (%s if nothing were recomputed)\n", show_bytes(call->arena, facts->saved_bytes),
                    show_bytes(call->arena, facts->saved_bytes_no_recompute));
}

static void put_stages(CommandCall *call, Entry *entry, const EntryFacts *facts) {
    EntryStage stages[64];
    int count = entry_stages(entry, stages, 64);
    text_printf(&call->out, "  compiled   in %s", show_us(call->show, call->arena, facts->total_ms * 1000));
    for (int i = 0; i < count && i < 64 && !call->show->plain; i++)
        text_printf(&call->out, "%s%s %s", i ? ", " : ": ", stages[i].stage, show_us(call->show, call->arena, stages[i].ms * 1000));
    text_char(&call->out, '\n');
}

static void put_decisions(CommandCall *call, Entry *entry) {
    int counts[REASON_KINDS] = {0}, shown = 0;
    count_reasons(entry, counts);
    for (int kind = 0; kind < REASON_KINDS; kind++) {
        if (!counts[kind] || kind == REASON_BREAK || kind == REASON_NOTE) continue;
        text_printf(&call->out, "%s%d %s", shown++ ? ", " : "  decided    ", counts[kind], reason_kind_name((ReasonKind)kind));
    }
    if (shown) text_put(&call->out, " (ask :why)\n");
}

/* "break.call" -> "call" */
static const char *break_kind(const Reason *reason) {
    const char *dot = reason->code ? strchr(reason->code, '.') : NULL;
    return dot ? dot + 1 : "break";
}

static void put_breaks(CommandCall *call, Entry *entry) {
    const ReasonLog *log = entry_reasons(entry);
    for (int i = 0; log && i < log->all.count; i++) {
        const Reason *reason = &log->all.at[i];
        if (reason->kind != REASON_BREAK) continue;
        text_put(&call->out, "  break      ");
        text_visible(&call->out, arena_printf(call->arena, "%s %s: %s", facts_place(call->arena, reason->span), break_kind(reason), reason->text));
        text_char(&call->out, '\n');
    }
}

static void put_entry(CommandCall *call, Entry *entry) {
    EntryFacts facts;
    entry_facts(entry, &facts);
    facts_heading(call, &facts);
    if (!facts.failed && facts.ops > 0) {
        put_launches(call, &facts);
        put_memory(call, &facts);
    } else if (!facts.failed) text_put(&call->out, "  graph      no ops\n");
    put_breaks(call, entry);
    put_stages(call, entry, &facts);
    put_decisions(call, entry);
}

/* ---- JSON ---- */

static void put_json_stages(CommandCall *call, cJSON *object, Entry *entry) {
    EntryStage stages[64];
    int count = entry_stages(entry, stages, 64);
    cJSON *list = json_list(object, "stages");
    for (int i = 0; i < count && i < 64; i++) {
        cJSON *item = json_item(list);
        json_put(item, "stage", stages[i].stage);
        json_time(item, "ms", call->show, stages[i].ms);
    }
}

static void put_json_reasons(cJSON *object, Entry *entry) {
    int counts[REASON_KINDS] = {0};
    count_reasons(entry, counts);
    cJSON *decided = json_object(object, "decided");
    for (int kind = 0; kind < REASON_KINDS; kind++)
        if (counts[kind]) json_integer(decided, reason_kind_name((ReasonKind)kind), counts[kind]);
    const ReasonLog *log = entry_reasons(entry);
    cJSON *breaks = json_list(object, "breaks");
    for (int i = 0; log && i < log->all.count; i++) {
        if (log->all.at[i].kind != REASON_BREAK) continue;
        cJSON *item = json_item(breaks);
        json_span(item, log->all.at[i].span);
        json_put(item, "kind", break_kind(&log->all.at[i]));
        json_put(item, "reason", log->all.at[i].text);
    }
}

static void put_json_entry(CommandCall *call, cJSON *list, Entry *entry) {
    EntryFacts facts;
    entry_facts(entry, &facts);
    cJSON *object = json_item(list);
    json_put(object, "id", facts.id);
    json_put(object, "function", facts.function);
    json_span(object, facts.span);
    json_bool(object, "training", facts.training);
    json_put(object, "device", facts.device);
    json_put(object, "policy", facts.policy);
    if (facts.failed) json_put(object, "failed", facts.failure);
    json_integer(object, "ops", facts.ops);
    json_integer(object, "guards", facts.guards);
    json_integer(object, "launches_forward", facts.launches_forward);
    json_integer(object, "launches_backward", facts.launches_backward);
    json_integer(object, "kernels", facts.kernels);
    json_integer(object, "bytes_eager", facts.bytes_eager);
    json_integer(object, "bytes_compiled", facts.bytes_compiled);
    json_integer(object, "saved_bytes", facts.saved_bytes);
    json_integer(object, "saved_bytes_no_recompute", facts.saved_bytes_no_recompute);
    json_time(object, "compile_ms", call->show, facts.total_ms);
    put_json_stages(call, object, entry);
    put_json_reasons(object, entry);
}

static bool put_json(CommandCall *call, const CallResult *result, const Entries *entries) {
    int ops = 0;
    cJSON *document = call_document(call);
    json_put(document, "call", call->rest.text);
    json_put(document, "value", result->printed);
    json_integer(document, "graphs", count_graphs(entries, &ops));
    json_integer(document, "graph_breaks", count_breaks(entries));
    json_integer(document, "ops", ops);
    json_time(document, "first_ms", call->show, result->first_ms);
    cJSON *list = json_list(document, "entries");
    for (int i = 0; i < entries->count; i++) put_json_entry(call, list, entries->at[i]);
    return true;
}

/* ---- commands ---- */

static bool run_explain(CommandCall *call) {
    CallResult result;
    Entries entries;
    if (!compile(call, true, &result, &entries)) return false;
    if (call->json) return put_json(call, &result, &entries);
    int ops = 0, graphs = count_graphs(&entries, &ops), breaks = count_breaks(&entries);
    text_visible(&call->out, call->rest.text);
    text_printf(&call->out, ": %d graph%s, %d break%s, %d op%s captured\n", graphs, plural(graphs), breaks, plural(breaks), ops, plural(ops));
    for (int i = 0; i < entries.count; i++) put_entry(call, entries.at[i]);
    return true;
}

const Command command_explain = {
    .name = "explain", .group = "run", .usage = "CALL", .least = 1, .flags = COMMAND_TAKES_CODE, .complete = COMPLETE_CODE, .run = run_explain,
    .summary = "run a call compiled and say what was made of it",
    .help = "For each graph: its ops, guards and launches, the bytes that eager and compiled execution move,\n"
            "what is saved for backward, what the stages took, how many decisions can be asked about. The\n"
            "function need not be decorated. A copy of the cache is used: counts stay, but what the call prints\n"
            "or changes is done. Example: :explain f(x)",
};

static bool run_compile(CommandCall *call) {
    CallResult result;
    Entries entries;
    if (!compile(call, false, &result, &entries)) return false;
    if (call->json) return put_json(call, &result, &entries);
    for (int i = 0; i < entries.count; i++) {
        EntryFacts facts;
        entry_facts(entries.at[i], &facts);
        text_printf(&call->out, "[%s] %s: %d op%s, %d guard%s, %d launch%s forward", facts.id, facts.function, facts.ops, plural(facts.ops), facts.guards,
                    plural(facts.guards), facts.launches_forward, facts.launches_forward == 1 ? "" : "es");
        if (facts.training) text_printf(&call->out, ", %d backward", facts.launches_backward);
        text_printf(&call->out, "; %s\n", facts.failed ? "not compiled" : show_us(call->show, call->arena, facts.total_ms * 1000));
    }
    return true;
}

const Command command_compile = {
    .name = "compile", .group = "run", .usage = "CALL", .least = 1, .flags = COMMAND_TAKES_CODE, .complete = COMPLETE_CODE, .run = run_compile,
    .summary = "compile a call, to look at its stages",
    .help = "What it compiles becomes what the looking commands show: :graph, :guards, :kernels, :draw ...\n"
            "Example: :compile f(x)",
};
