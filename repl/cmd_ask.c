/* Commands that ask about calls: try (which entry would serve it), sweep (how many entries a range of sizes makes). */
#include "repl/facts.h"
#include "repl/json.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- try ---- */

static void put_try_json(CommandCall *call, const TryResult *result) {
    cJSON *document = call_document(call), *list;
    json_put(document, "function", result->function);
    json_put(document, "served_by", result->served);
    json_bool(document, "skipped", result->skipped);
    if (result->skipped) json_put(document, "skip_reason", result->skip_reason);
    json_integer(document, "limit", result->limit);
    list = json_list(document, "entries");
    for (int i = 0; i < result->entry_count; i++) {
        cJSON *item = json_item(list), *fails;
        json_put(item, "entry", result->entries[i].entry);
        json_bool(item, "holds", result->entries[i].holds);
        json_bool(item, "serves", result->entries[i].serves);
        fails = json_list(item, "fails");
        for (int j = 0; j < result->entries[i].fail_count; j++) {
            const TryGuard *guard = &result->entries[i].fails[j];
            cJSON *fail = json_item(fails);
            json_put(fail, "guard", guard->guard);
            json_put(fail, "kind", guard->kind);
            json_put(fail, "text", guard->text);
            json_span(fail, guard->span);
        }
    }
}

static const char *try_verdict(CommandCall *call, const TryResult *result) {
    if (!result->asked) return "no frame of the program would be compiled: nothing to serve";
    if (result->skipped) return arena_printf(call->arena, "%s would run eagerly: %s", result->function, result->skip_reason ? result->skip_reason : "it was given up");
    if (result->served) return arena_printf(call->arena, "%s would be served by [%s]", result->function, result->served);
    if (result->entry_count >= result->limit) return arena_printf(call->arena, "%s would run eagerly: it has %d entries, the limit, and none of them serves", result->function, result->entry_count);
    if (!result->entry_count) return arena_printf(call->arena, "%s would be compiled: it has no entries yet", result->function);
    return arena_printf(call->arena, result->entry_count == 1 ? "%s would be compiled anew: its only entry does not serve" : "%s would be compiled anew: none of its %d entries serves", result->function, result->entry_count);
}

static void put_try_entries(CommandCall *call, const TryResult *result) {
    static const char *const heads[] = {"entry", "verdict", "guard", "kind", "what it says"};
    Table *table = table_new(call->arena, 5, heads);
    for (int i = 0; i < result->entry_count; i++) {
        const TryEntry *entry = &result->entries[i];
        const char *verdict = entry->serves ? "serves" : entry->holds ? "holds too" : "no";
        for (int j = 0; j == 0 || j < entry->fail_count; j++) {
            const TryGuard *guard = j < entry->fail_count ? &entry->fails[j] : NULL;
            table_cell(table, j ? "" : "[%s]", entry->entry);
            table_cell(table, "%s", j ? "" : verdict);
            table_cell(table, "%s", guard ? guard->guard : "");
            table_cell(table, "%s", guard ? guard->kind : "");
            table_cell(table, "%s", guard ? guard->text : entry->holds ? "all guards hold" : "");
        }
    }
    if (result->entry_count) table_print(&call->out, call->show, table);
}

static bool run_try(CommandCall *call) {
    TryResult result;
    if (!session_try_call(call->session, call->rest.text, &result, call->arena)) return command_error(call, call->span, "the call cannot be made");
    if (call->json) {
        put_try_json(call, &result);
        return true;
    }
    text_visible(&call->out, try_verdict(call, &result));
    text_char(&call->out, '\n');
    put_try_entries(call, &result);
    return true;
}

const Command command_try = {
    .name = "try", .group = "ask", .usage = "CALL", .least = 1, .flags = COMMAND_TAKES_CODE, .complete = COMPLETE_CODE, .run = run_try,
    .summary = "which cache entry would serve a call, and which guards say no",
    .help = "Neither runs nor compiles it. Entries are listed in the order in which they are tried, each that\n"
            "does not serve with every guard that says no. After a graph break the resume functions have entries\n"
            "of their own, which depend on what runs before them: only the first frame is asked about.",
};

/* ---- sweep: reading ---- */

static bool read_number(const char **at, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    bool ok = end != *at && !errno;
    *at = end;
    return ok;
}

/* 1..256, 1..256:8 */
static bool read_range(CommandCall *call, SweepVariable *variable, int64_t first, const char *at) {
    int64_t last, step = 1;
    if (!read_number(&at, &last) || (*at == ':' && (at++, !read_number(&at, &step))) || *at || step < 1 || last < first || (last - first) / step >= SWEEP_POINTS) return false;
    variable->count = (int)((last - first) / step) + 1;
    variable->values = ARENA_ARRAY(call->arena, int64_t, variable->count);
    for (int i = 0; i < variable->count; i++) variable->values[i] = first + i * step;
    return true;
}

/* 1,2,4 */
static bool read_values(CommandCall *call, SweepVariable *variable, const char *at) {
    variable->values = ARENA_ARRAY(call->arena, int64_t, strlen(at) + 1);
    for (variable->count = 0;; at++) {
        if (!read_number(&at, &variable->values[variable->count++])) return false;
        if (!*at) return true;
        if (variable->count == 1 && at[0] == '.' && at[1] == '.') return read_range(call, variable, variable->values[0], at + 2);
        if (*at != ',') return false;
    }
}

static bool is_name(const char *word, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = word[i];
        if (c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(i && c >= '0' && c <= '9')) return false;
    }
    return length > 0;
}

static bool read_variables(CommandCall *call, SweepVariable *variables, int *count) {
    int64_t total = 1;
    *count = call->words.count - 1;
    if (*count > SWEEP_VARIABLES) return command_error(call, call_span(call, SWEEP_VARIABLES + 1), "at most %d variables", SWEEP_VARIABLES);
    for (int i = 0; i < *count; i++) {
        const char *word = call_word(call, i + 1);
        size_t length = strcspn(word, "=");
        variables[i].name = arena_strndup(call->arena, word, length);
        if (!word[length] || !is_name(word, length) || !read_values(call, &variables[i], word + length + 1))
            return command_error(call, call_span(call, i + 1), "a variable and its values are expected: n=1..256, n=1..256:8, n=1,2,4");
        total *= variables[i].count;
    }
    if (total > SWEEP_POINTS) return command_error(call, call->span, "these are %lld calls: at most %d", (long long)total, SWEEP_POINTS);
    return true;
}

/* ---- sweep: telling ---- */

typedef struct Swept { CommandCall *call; const SweepVariable *variables; int variable_count; SweepRun runs[3]; bool has[3]; } Swept;

static const char *values_text(const Swept *s, const SweepPoint *point) {
    Text text = {0};
    for (int i = 0; i < s->variable_count; i++) text_printf(&text, "%s%s=%lld", i ? " " : "", s->variables[i].name, (long long)point->values[i]);
    const char *copy = text_in(&text, s->call->arena);
    text_free(&text);
    return copy;
}

static bool same_fate(const SweepPoint *a, const SweepPoint *b) {
    if (a->error || b->error) return a->error && b->error && !strcmp(a->error, b->error);
    return a->entry && b->entry ? !strcmp(a->entry, b->entry) : a->entry == b->entry;
}

/* Why the entry of this point was made: the guards of the newest older entry. */
static const char *first_reason(const SweepRun *run, int point) {
    for (int i = 0; i < run->reasons.count; i++)
        if (run->reasons.at[i].point == point) return run->reasons.at[i].text;
    return "first call";
}

static const char *why_eager(const SweepRun *run) {
    if (run->limit_hit) return "over the limit";
    for (int i = 0; i < run->functions.count; i++)
        if (run->functions.at[i].skipped && run->functions.at[i].skip_reason) return run->functions.at[i].skip_reason;
    return "it was given up";
}

static void put_fates(const Swept *s, const SweepRun *run) {
    static const char *const heads[] = {"calls", "served by", "made because"};
    Table *table = table_new(s->call->arena, 3, heads);
    for (int i = 0; i < run->done;) {
        int end = i + 1;
        const SweepPoint *point = &run->points[i];
        while (end < run->done && same_fate(point, &run->points[end]) && !run->points[end].made) end++;
        const char *from = values_text(s, point), *to = values_text(s, &run->points[end - 1]);
        table_cell(table, end - i > 1 ? "%s to %s" : "%s", from, to);
        table_cell(table, point->error ? "error" : point->entry ? "[%s]" : "eager", point->entry);
        table_cell(table, "%s", point->error ? point->error : !point->entry ? why_eager(run) : point->made ? first_reason(run, i) : "");
        i = end;
    }
    table_print(&s->call->out, s->call->show, table);
}

static int recompiles_of(const SweepRun *run) {
    int count = 0;
    for (int i = 0; i < run->functions.count; i++) {
        int made = run->functions.at[i].entries - run->functions.at[i].before;
        count += run->functions.at[i].before ? made : made > 0 ? made - 1 : 0;
    }
    return count;
}

static const char *entries_text(const Swept *s, const SweepRun *run) {
    int made = run->entries - run->entries_before, again = recompiles_of(run);
    return arena_printf(s->call->arena, "%d entr%s, %d recompile%s%s", made, made == 1 ? "y" : "ies", again, again == 1 ? "" : "s", run->limit_hit ? ", and the limit" : "");
}

static void put_functions(const Swept *s, const SweepRun *run) {
    for (int i = 0; i < run->functions.count && run->functions.count > 1; i++) {
        const SweepFunction *f = &run->functions.at[i];
        text_printf(&s->call->out, "  %s: %d entr%s%s\n", f->name, f->entries, f->entries == 1 ? "y" : "ies", f->limit_hit ? ", the limit" : f->skipped ? ", runs eagerly" : "");
    }
}

static void put_ends(const Swept *s, const SweepRun *run) {
    Text *out = &s->call->out;
    if (run->limit_hit) text_printf(out, "  the limit of %d entries is hit at %s: from there on new sizes run eagerly\n", run->limit, values_text(s, &run->points[run->limit_at]));
    if (run->timed_out) text_printf(out, "  stopped after %d of %d calls: 10 s\n", run->done, run->total);
    if (run->interrupted) text_printf(out, "  interrupted after %d of %d calls\n", run->done, run->total);
}

static void put_alternative(const Swept *s, int mode, const char *label) {
    if (!s->has[mode]) return;
    const SweepRun *run = &s->runs[mode], *as_is = &s->runs[SWEEP_AS_IS];
    int less = as_is->entries - run->entries, errors = 0;
    const char *first = NULL;
    for (int i = 0; i < run->done; i++) {
        errors += run->points[i].error != NULL;
        if (!first) first = run->points[i].error;
    }
    text_printf(&s->call->out, "  %s: %s", label, entries_text(s, run));
    if (run->done < as_is->done) text_printf(&s->call->out, " (after %d calls)", run->done);
    else text_printf(&s->call->out, less > 0 ? ", %d less" : less < 0 ? ", %d more" : ", no less", less > 0 ? less : -less);
    if (errors) text_printf(&s->call->out, "; %d calls raise: %s", errors, first);
    text_char(&s->call->out, '\n');
}

static bool tell_sweep(const Swept *s) {
    const SweepRun *run = &s->runs[SWEEP_AS_IS];
    Text *out = &s->call->out;
    text_visible(out, call_word(s->call, 0));
    text_printf(out, ": %d calls, %s", run->done, entries_text(s, run));
    if (run->entries_before) text_printf(out, " (%d were there)", run->entries_before);
    text_char(out, '\n');
    put_fates(s, run);
    put_functions(s, run);
    put_ends(s, run);
    put_alternative(s, SWEEP_MARKED, arena_printf(s->call->arena, "with mark_dynamic on %s", run->marked));
    put_alternative(s, SWEEP_DYNAMIC, "with dynamic=True");
    if (!run->marked) text_put(out, "  no size of an argument varies: there is nothing to mark dynamic\n");
    text_put(out, "  (captured only, from here: later stages add guards of their own now and then)\n");
    return true;
}

static void put_run_json(const Swept *s, cJSON *object, const SweepRun *run) {
    json_integer(object, "calls", run->done);
    json_integer(object, "entries_before", run->entries_before);
    json_integer(object, "entries", run->entries);
    json_integer(object, "recompiles", recompiles_of(run));
    json_integer(object, "limit", run->limit);
    json_bool(object, "limit_hit", run->limit_hit);
    if (run->limit_hit) json_put(object, "limit_at", values_text(s, &run->points[run->limit_at]));
    json_bool(object, "timed_out", run->timed_out);
    json_time(object, "ms", s->call->show, run->ms);
    cJSON *functions = json_list(object, "functions"), *reasons = json_list(object, "reasons"), *points = json_list(object, "points");
    for (int i = 0; i < run->functions.count; i++) {
        cJSON *item = json_item(functions);
        json_put(item, "name", run->functions.at[i].name);
        json_integer(item, "entries", run->functions.at[i].entries);
    }
    for (int i = 0; i < run->reasons.count; i++) {
        cJSON *item = json_item(reasons);
        json_put(item, "at", values_text(s, &run->points[run->reasons.at[i].point]));
        json_put(item, "entry", run->reasons.at[i].entry);
        json_put(item, "function", run->reasons.at[i].function);
        json_put(item, "reason", run->reasons.at[i].text);
    }
    for (int i = 0; i < run->done; i++) {
        cJSON *item = json_item(points);
        for (int v = 0; v < s->variable_count; v++) json_integer(item, s->variables[v].name, run->points[i].values[v]);
        json_put(item, "entry", run->points[i].entry);
        json_integer(item, "made", run->points[i].made);
        if (run->points[i].error) json_put(item, "error", run->points[i].error);
    }
}

static bool tell_json(const Swept *s) {
    static const char *const names[] = {"as_is", "mark_dynamic", "dynamic"};
    cJSON *document = call_document(s->call);
    json_put(document, "call", call_word(s->call, 0));
    json_put(document, "varies", s->runs[SWEEP_AS_IS].marked);
    for (int mode = 0; mode < 3; mode++)
        if (s->has[mode]) put_run_json(s, json_object(document, names[mode]), &s->runs[mode]);
    return true;
}

static bool run_sweep(CommandCall *call) {
    SweepVariable variables[SWEEP_VARIABLES] = {0};
    Swept s = {.call = call, .variables = variables};
    SweepMemory *memory = NULL;
    if (!read_variables(call, variables, &s.variable_count)) return false;
    for (int mode = SWEEP_AS_IS; mode <= SWEEP_DYNAMIC; mode++) {
        const SweepRun *first = &s.runs[SWEEP_AS_IS];
        if (mode == SWEEP_MARKED && !first->marked) continue;
        if (mode != SWEEP_AS_IS && (first->interrupted || s.runs[SWEEP_MARKED].interrupted)) break;
        if (!session_sweep(call->session, call_word(call, 0), variables, s.variable_count, (SweepMode)mode, &memory, &s.runs[mode], call->arena)) return !s.runs[mode].interrupted && command_error(call, call->span, "the call cannot be made");
        s.has[mode] = true;
    }
    return call->json ? tell_json(&s) : tell_sweep(&s);
}

const Command command_sweep = {
    .name = "sweep", .group = "ask", .usage = "CALL n=1..256 [m=1,2,4]", .least = 2, .most = -1, .complete = COMPLETE_CODE, .run = run_sweep,
    .summary = "how many entries a range of sizes would make",
    .help = "Makes the call for each value (n=1..256, n=1..256:8 in steps, n=1,2,4; several variables: all\n"
            "combinations), on a copy of the cache, and says which entry serves which calls, why each was made,\n"
            "where the limit is hit, and what mark_dynamic or dynamic=True would save: both are done too, from an\n"
            "empty cache. Graphs are captured and run op by op; no kernels are made. What the calls print is not\n"
            "shown, what they change stays changed. 10 s at most, Ctrl-C stops it.\n"
            "Example: :sweep f(torch.randn(n, 8)) n=1..64",
};
