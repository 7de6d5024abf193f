/* Graph breaks: where each is, why, what would remove it, into how many pieces functions fell, and what that costs.
 *
 *     :breaks          those of the program so far          :breaks f(x)     those of one call, beside the same call without its prints
 *     :why break       each with its line and what would remove it
 */
#include "repl/facts.h"
#include "repl/hints.h"
#include "repl/json.h"
#include <string.h>

/* ---- one break ---- */

static void put_break_json(cJSON *list, const BreakFacts *b) {
    cJSON *item = json_item(list);
    json_put(item, "compile", b->compile);
    json_integer(item, "line", b->line);
    json_put(item, "file", b->span.file ? b->span.file->name : NULL);
    json_put(item, "kind", b->kind);
    json_put(item, "reason", b->reason);
    json_put(item, "hint", break_hint(b->kind, b->reason));
}

static void put_break(CommandCall *call, const BreakFacts *b) {
    const char *place = b->span.file ? facts_place(call->arena, b->span) : arena_printf(call->arena, "line %d", b->line);
    text_visible(&call->out, arena_printf(call->arena, "  [%s]  %s  %s: %s\n", b->compile, place, b->kind, b->reason));
    if (b->span.file) text_visible(&call->out, arena_printf(call->arena, "      %s\n", span_source_near(b->span, call->arena) + strspn(span_source_near(b->span, call->arena), " \t")));
    text_printf(&call->out, "      to remove it: %s\n", break_hint(b->kind, b->reason));
}

/* ---- which ones ---- */

typedef VEC(BreakFacts) Breaks;

static BreakList breaks_of_call(CommandCall *call) {
    Breaks breaks = {0};
    int count = session_call_entries(call->session, NULL, 0);
    Entry **entries = ARENA_ARRAY(call->arena, Entry *, count + 1);
    session_call_entries(call->session, entries, count);
    for (int i = 0; i < count; i++) {
        const ReasonLog *log = entry_reasons(entries[i]);
        EntryFacts facts;
        entry_facts(entries[i], &facts);
        for (int j = 0; log && j < log->all.count; j++) {
            const Reason *r = &log->all.at[j];
            if (r->kind != REASON_BREAK) continue;
            const char *dot = strchr(r->code, '.');
            vec_push_in(call->arena, &breaks, ((BreakFacts){facts.id, dot ? dot + 1 : r->code, r->text, span_line(r->span), r->span}));
        }
    }
    return (BreakList){breaks.at, breaks.count};
}

/* Those of the program; where it has none, those of the call that a command compiled last (:explain f(x)). */
static BreakList breaks_to_tell(CommandCall *call, bool *of_call) {
    BreakList breaks = facts_breaks(call->arena, call->session);
    Entry *current = breaks.count ? NULL : session_find_entry(call->session, NULL);
    EntryFacts facts = {0};
    if (current) entry_facts(current, &facts);
    *of_call = facts.is_copy;
    return facts.is_copy ? breaks_of_call(call) : breaks;
}

bool why_break(CommandCall *call) {
    bool of_call;
    BreakList breaks = breaks_to_tell(call, &of_call);
    cJSON *list = call->json ? json_list(call_document(call), "breaks") : NULL;
    for (int i = 0; i < breaks.count; i++) {
        const BreakFacts *b = &breaks.at[i];
        if (list) {
            put_break_json(list, b);
            json_span(cJSON_GetArrayItem(list, i), b->span);
            continue;
        }
        span_report(&call->out, b->span, NULL, arena_printf(call->arena, "[%s] %s: %s", b->compile, b->kind, b->reason));
        text_printf(&call->out, "to remove it: %s\n", break_hint(b->kind, b->reason));
    }
    if (!list && !breaks.count) text_put(&call->out, "no graph breaks\n");
    return true;
}

/* ---- pieces ---- */

typedef struct Pieces { EntryFacts *at; int count; } Pieces;

static Pieces pieces_of_session(CommandCall *call) {
    int count = session_entry_count(call->session);
    Pieces pieces = {ARENA_ARRAY(call->arena, EntryFacts, count + 1), 0};
    for (int i = 0; i < count; i++) {
        EntryFacts facts;
        entry_facts(session_entry(call->session, i), &facts);
        if (!facts.is_copy) pieces.at[pieces.count++] = facts;
    }
    return pieces;
}

static Pieces pieces_of_call(CommandCall *call) {
    int count = session_call_entries(call->session, NULL, 0);
    Entry **entries = ARENA_ARRAY(call->arena, Entry *, count + 1);
    Pieces pieces = {ARENA_ARRAY(call->arena, EntryFacts, count + 1), count};
    session_call_entries(call->session, entries, count);
    for (int i = 0; i < count; i++) entry_facts(entries[i], &pieces.at[i]);
    return pieces;
}

/* How many functions, compiles, graphs, ops and milliseconds the pieces of a function are; root NULL: of all. */
typedef struct Sum { int pieces, compiles, graphs, ops, eager; double ms, kernel_ms; } Sum;

/* Was the same piece compiled before (a recompile)? */
static bool is_again(const Pieces *pieces, int index) {
    for (int i = 0; i < index; i++)
        if (!strcmp(pieces->at[i].function, pieces->at[index].function) && !strcmp(pieces->at[i].root, pieces->at[index].root)) return true;
    return false;
}

static Sum sum_of(const Pieces *pieces, const char *root) {
    Sum sum = {0};
    for (int i = 0; i < pieces->count; i++) {
        const EntryFacts *p = &pieces->at[i];
        if (root && strcmp(p->root, root) != 0) continue;
        sum.compiles++;
        sum.pieces += !is_again(pieces, i);
        sum.eager += p->failed;
        sum.graphs += p->ops > 0 && !p->failed;
        sum.ops += p->failed ? 0 : p->ops;
        sum.ms += p->total_ms;
        sum.kernel_ms += p->compile_ms;
    }
    return sum;
}

static const char *ms_text(CommandCall *call, double ms) { return show_us(call->show, call->arena, ms * 1000); }

static void put_piece(CommandCall *call, Table *table, const EntryFacts *p) {
    table_cell(table, "[%s] %s", p->id, p->function);
    table_cell(table, "%d", p->ops);
    table_cell(table, "%s", ms_text(call, p->total_ms));
    table_cell(table, "%s", ms_text(call, p->compile_ms));
    table_cell(table, "%s", p->failed ? "eager" : p->ops ? "" : "no ops");
}

static bool is_first_of_root(const Pieces *pieces, int index) {
    for (int i = 0; i < index; i++)
        if (!strcmp(pieces->at[i].root, pieces->at[index].root)) return false;
    return true;
}

/* Functions in more than one piece, and those that run eagerly. */
static void put_pieces(CommandCall *call, const Pieces *pieces) {
    static const char *const heads[] = {"piece", ">ops", ">compiled in", ">kernels of that", ""};
    for (int i = 0; i < pieces->count; i++) {
        const char *root = pieces->at[i].root;
        if (!is_first_of_root(pieces, i)) continue;
        Sum sum = sum_of(pieces, root);
        if (sum.pieces < 2 && !sum.eager) continue;
        const char *again = sum.compiles > sum.pieces ? arena_printf(call->arena, " in %d compiles", sum.compiles) : "";
        text_printf(&call->out, "%s: %d piece%s%s, %d graph%s, %d op%s, compiled in %s\n", root, sum.pieces, sum.pieces == 1 ? "" : "s", again, sum.graphs, sum.graphs == 1 ? "" : "s", sum.ops, sum.ops == 1 ? "" : "s",
                    ms_text(call, sum.ms));
        Table *table = table_new(call->arena, 5, heads);
        for (int j = i; j < pieces->count; j++)
            if (!strcmp(pieces->at[j].root, root)) put_piece(call, table, &pieces->at[j]);
        table_print(&call->out, call->show, table);
    }
}

static void put_pieces_json(CommandCall *call, cJSON *object, const Pieces *pieces) {
    cJSON *list = json_list(object, "pieces");
    for (int i = 0; i < pieces->count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "entry", pieces->at[i].id);
        json_put(item, "function", pieces->at[i].function);
        json_put(item, "of", pieces->at[i].root);
        json_integer(item, "ops", pieces->at[i].ops);
        json_bool(item, "eager", pieces->at[i].failed);
        json_time(item, "ms", call->show, pieces->at[i].total_ms);
        json_time(item, "kernels_ms", call->show, pieces->at[i].compile_ms);
    }
    Sum sum = sum_of(pieces, NULL);
    json_integer(object, "graphs", sum.graphs);
    json_time(object, "ms", call->show, sum.ms);
}

/* ---- the breaks of a call, measured beside the same call without its prints ---- */

static void put_comparison(CommandCall *call, const Pieces *with, const Pieces *without, int left) {
    Sum a = sum_of(with, NULL), b = sum_of(without, NULL);
    text_printf(&call->out, "as it is:           %d graph%s, compiled in %s (%s of it kernels)\n", a.graphs, a.graphs == 1 ? "" : "s", ms_text(call, a.ms), ms_text(call, a.kernel_ms));
    text_printf(&call->out, "without its prints: %d graph%s, compiled in %s (%s of it kernels)%s\n", b.graphs, b.graphs == 1 ? "" : "s", ms_text(call, b.ms), ms_text(call, b.kernel_ms),
                left ? arena_printf(call->arena, ", %d break%s left", left, left == 1 ? "" : "s") : "");
    if (a.graphs > b.graphs && b.graphs) text_put(&call->out, "(each piece adds guards, a wrapper and launches; the work over the ops is about the same)\n");
}

static bool breaks_of(CommandCall *call) {
    CallResult result;
    if (!session_compile_fresh(call->session, call->rest.text, false, &result) || !result.ok) return command_error(call, call->span, "the call did not succeed");
    Pieces pieces = pieces_of_call(call), without = {0};
    BreakList breaks = breaks_of_call(call);
    bool prints = false;
    for (int i = 0; i < breaks.count; i++) prints |= break_only_prints(breaks.at[i].kind, breaks.at[i].reason);
    cJSON *list = call->json ? json_list(call_document(call), "breaks") : NULL;
    for (int i = 0; i < breaks.count; i++) {
        if (list) put_break_json(list, &breaks.at[i]);
        else put_break(call, &breaks.at[i]);
    }
    if (!list && !breaks.count) text_put(&call->out, "no graph breaks\n");
    if (list) put_pieces_json(call, call->document, &pieces);
    else put_pieces(call, &pieces);
    if (!prints || !session_compile_fresh(call->session, call->rest.text, true, &result)) return true;
    without = pieces_of_call(call);
    if (list) put_pieces_json(call, json_object(call->document, "without_prints"), &without);
    else put_comparison(call, &pieces, &without, breaks_of_call(call).count);
    return true;
}

static bool run_breaks(CommandCall *call) {
    if (*call->rest.text) return breaks_of(call);
    bool of_call;
    BreakList breaks = breaks_to_tell(call, &of_call);
    Pieces pieces = of_call ? pieces_of_call(call) : pieces_of_session(call);
    cJSON *list = call->json ? json_list(call_document(call), "breaks") : NULL;
    for (int i = 0; i < breaks.count; i++) {
        if (list) put_break_json(list, &breaks.at[i]);
        else put_break(call, &breaks.at[i]);
    }
    if (list) put_pieces_json(call, call->document, &pieces);
    else if (breaks.count) put_pieces(call, &pieces);
    else text_put(&call->out, "no graph breaks\n");
    return true;
}

const Command command_breaks = {
    .name = "breaks", .group = "look", .usage = "[CALL]", .flags = COMMAND_TAKES_CODE, .complete = COMPLETE_CODE, .run = run_breaks,
    .summary = "list the graph breaks, what would remove them, what they cost",
    .help = "Each break told once, at the innermost line of your file, with what would remove it; then the pieces\n"
            "into which functions fell, and what compiling each took. With CALL: the breaks of that call,\n"
            "compiled from an empty cache (the kernels' too); where one only prints, it is compiled a second time\n"
            "without its prints, so that both can be compared: the call is made twice then. :help breaks says\n"
            "what a break costs.",
};
