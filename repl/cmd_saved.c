/* Commands about the partition: saved, cut, budget; and what :why adds about one value that is saved or computed again. */
#include "repl/facts.h"
#include "repl/json.h"
#include "viz/viz.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they share ---- */

/* The entry, if it has a partition; NULL after command_error. */
static Entry *trained_entry(CommandCall *call, Selection *selection, PartitionFacts *facts) {
    Entry *entry = selection_entry(call, selection);
    EntryFacts about;
    if (!entry) return NULL;
    if (entry_partition(entry, facts)) return entry;
    entry_facts(entry, &about);
    command_error(call, call->span, "[%s] has no training graph: %s", about.id,
                  about.failed ? "its compile stopped before" : about.training ? "it was not divided in forward and backward" : "no input required grad, so there is no backward to save for");
    return NULL;
}

static Entry *entry_of_words(CommandCall *call, int end, PartitionFacts *facts) {
    Selection selection;
    return selection_read(call, 0, end, &selection) ? trained_entry(call, &selection, facts) : NULL;
}

static void heading(CommandCall *call, Entry *entry) {
    EntryFacts facts;
    entry_facts(entry, &facts);
    if (call->json) json_put(call_document(call), "id", facts.id);
    else facts_heading(call, &facts);
}

static void put_number(cJSON *object, const char *name, double value) { json_number(object, name, isfinite(value) ? value : (double)NAN); }

/* ---- saved ---- */

static void saved_json(CommandCall *call, const PartitionFacts *p, const SavedFacts *saved, int count, const RecomputedFacts *again, int again_count) {
    cJSON *document = call_document(call);
    json_put(document, "partition", p->mode);
    json_put(document, "chosen", p->chosen);
    json_number(document, "memory_budget", p->memory_budget);
    json_integer(document, "saved_bytes", p->saved_bytes);
    json_integer(document, "storage_bytes", p->storage_bytes);
    json_integer(document, "allocated_bytes", p->allocated_bytes);
    json_integer(document, "saved_bytes_no_recompute", p->saved_bytes_no_recompute);
    cJSON *list = json_list(document, "saved");
    for (int i = 0; i < count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "name", saved[i].name);
        json_put(item, "dtype", saved[i].dtype);
        json_put(item, "shape", saved[i].shape);
        json_integer(item, "bytes", saved[i].bytes);
        json_integer(item, "storage_bytes", saved[i].storage_bytes);
        json_put(item, "held", saved[i].held);
        json_put(item, "readers", saved[i].readers);
        json_put(item, "code", saved[i].code);
        json_put(item, "why", saved[i].why);
        json_span(item, saved[i].span);
    }
    list = json_list(document, "recomputed");
    for (int i = 0; i < again_count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "name", again[i].name);
        json_put(item, "type", again[i].type);
        json_integer(item, "bytes", again[i].bytes);
        json_put(item, "readers", again[i].readers);
        json_put(item, "code", again[i].code);
        json_put(item, "why", again[i].why);
        json_span(item, again[i].span);
    }
}

static void saved_table(CommandCall *call, const SavedFacts *saved, int count) {
    static const char *const heads[] = {"saved", ">bytes", "shape", "dtype", "in memory for", "line", "read in backward by"};
    Table *table = table_new(call->arena, 7, heads);
    for (int i = 0; i < count; i++) {
        table_cell(table, "%s", saved[i].name);
        table_cell(table, "%s", show_bytes(call->arena, saved[i].bytes));
        table_cell(table, "%s", saved[i].shape);
        table_cell(table, "%s", saved[i].dtype);
        table_cell(table, "%s", saved[i].held);
        table_cell(table, "%s", facts_place(call->arena, saved[i].span));
        table_cell(table, "%s", saved[i].readers);
    }
    table_print(&call->out, call->show, table);
}

static void again_table(CommandCall *call, const RecomputedFacts *again, int count) {
    static const char *const heads[] = {"again", "type", "line", "read in backward by"};
    Table *table = table_new(call->arena, 4, heads);
    for (int i = 0; i < count; i++) {
        table_cell(table, "%s", again[i].name);
        table_cell(table, "%s", again[i].type);
        table_cell(table, "%s", facts_place(call->arena, again[i].span));
        table_cell(table, "%s", again[i].readers);
    }
    if (count) table_print(&call->out, call->show, table);
}

static bool run_saved(CommandCall *call) {
    PartitionFacts p;
    Entry *entry = entry_of_words(call, call->words.count, &p);
    if (!entry) return false;
    SavedFacts *saved = ARENA_ARRAY(call->arena, SavedFacts, p.saved + 1);
    RecomputedFacts *again = ARENA_ARRAY(call->arena, RecomputedFacts, p.recomputed + 1);
    entry_saved(entry, saved, p.saved, call->arena);
    entry_recomputed(entry, again, p.recomputed, call->arena);
    heading(call, entry);
    if (call->json) {
        saved_json(call, &p, saved, p.saved, again, p.recomputed);
        return true;
    }
    text_printf(&call->out, "  %s cross from forward to backward, of which the backward alone keeps %s alive; %s would cross if nothing were recomputed\n", show_bytes(call->arena, p.saved_bytes),
                show_bytes(call->arena, p.storage_bytes), show_bytes(call->arena, p.saved_bytes_no_recompute));
    saved_table(call, saved, p.saved);
    again_table(call, again, p.recomputed);
    return true;
}

const Command command_saved = {
    .name = "saved", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_saved,
    .summary = "list what is saved for backward, and what is computed again",
    .help = "For each saved tensor its bytes, who holds its memory after the forward (the caller, an output: then\n"
            "saving it costs nothing), the line that made it and who reads it in the backward; then what the\n"
            "backward computes again. :why saved %x and :why recomputed %x say why, :cut shows the network.",
};

/* ---- cut ---- */

static void cut_json(CommandCall *call, const PartitionFacts *p, const CutFacts *rows, int count) {
    cJSON *document = call_document(call);
    json_put(document, "partition", p->mode);
    json_put(document, "chosen", p->chosen);
    put_number(document, "cut", p->cut);
    cJSON *list = json_list(document, "values");
    for (int i = 0; i < count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "name", rows[i].name);
        json_put(item, "type", rows[i].type);
        json_integer(item, "bytes", rows[i].bytes);
        put_number(item, "capacity", rows[i].capacity);
        json_put(item, "source", rows[i].source);
        json_bool(item, "sink", rows[i].sink);
        json_bool(item, "again", rows[i].again);
        json_bool(item, "cut", rows[i].cut);
        json_span(item, rows[i].span);
    }
}

static void cut_table(CommandCall *call, const CutFacts *rows, int count) {
    static const char *const heads[] = {"value", "type", ">capacity", "cut", "backward reads it", "why it is not computed twice"};
    Table *table = table_new(call->arena, 6, heads);
    for (int i = 0; i < count; i++) {
        table_cell(table, "%s", rows[i].name);
        table_cell(table, "%s", rows[i].type);
        if (rows[i].again) table_cell(table, "again");
        else if (isfinite(rows[i].capacity)) table_cell(table, "%.0f", rows[i].capacity);
        else table_cell(table, "infinite");
        table_cell(table, "%s", rows[i].cut ? "saved" : "");
        table_cell(table, "%s", rows[i].sink ? "yes" : "");
        table_cell(table, "%s", rows[i].source ? rows[i].source : "");
    }
    table_print(&call->out, call->show, table);
}

static bool run_cut(CommandCall *call) {
    PartitionFacts p;
    Entry *entry = entry_of_words(call, call->words.count, &p);
    if (!entry) return false;
    int count = entry_cut(entry, NULL, 0, call->arena);
    CutFacts *rows = ARENA_ARRAY(call->arena, CutFacts, count + 1);
    entry_cut(entry, rows, count, call->arena);
    heading(call, entry);
    if (call->json) {
        cut_json(call, &p, rows, count);
        return true;
    }
    text_printf(&call->out, "  partition %s, by the rules \"%s\": the cut costs %.0f, %d of %d values are saved\n", p.mode, p.chosen, p.cut, p.saved, count);
    cut_table(call, rows, count);
    return true;
}

const Command command_cut = {
    .name = "cut", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_cut,
    .summary = "print the flow network and its minimum cut",
    .help = "A value is an edge whose capacity is what saving it costs: its bytes, dearer the farther it is from\n"
            "the backward (rules pytorch), or the bytes of memory that only the backward would keep alive (rules\n"
            "storages). What must not be computed twice hangs on the source, what the backward reads on the\n"
            "sink; the cheapest set of edges that parts the two is saved. :draw cut draws it.",
};

/* ---- budget ---- */

static void budget_json(CommandCall *call, const WhatIf *points, int count) {
    cJSON *list = json_list(call_document(call), "budgets");
    for (int i = 0; i < count; i++) {
        cJSON *item = json_item(list);
        json_number(item, "budget", points[i].budget);
        json_put(item, "chosen", points[i].chosen);
        json_integer(item, "saved", points[i].saved);
        json_integer(item, "recomputed", points[i].recomputed);
        json_integer(item, "saved_bytes", points[i].saved_bytes);
        json_integer(item, "storage_bytes", points[i].storage_bytes);
        json_integer(item, "peak_bytes", points[i].peak_bytes);
        json_number(item, "extra_flops", points[i].extra_flops);
        json_integer(item, "extra_bytes", points[i].extra_bytes);
        json_number(item, "forward_us", points[i].forward_us);
        json_number(item, "backward_us", points[i].backward_us);
    }
}

/* Predictions are the same on every run, so --plain shows them. */
static const char *predicted(Arena *arena, double us) { return us < 1e3 ? arena_printf(arena, "%.1f us", us) : arena_printf(arena, "%.2f ms", us / 1e3); }

static void budget_table(CommandCall *call, const WhatIf *points, int count) {
    static const char *const heads[] = {">budget", ">saved", ">kept alive", ">again", ">extra flop", ">extra bytes", ">peak", ">forward", ">backward"};
    Table *table = table_new(call->arena, 9, heads);
    for (int i = 0; i < count; i++) {
        table_cell(table, "%g", points[i].budget);
        table_cell(table, "%d", points[i].saved);
        table_cell(table, "%s", show_bytes(call->arena, points[i].storage_bytes));
        table_cell(table, "%d", points[i].recomputed);
        table_cell(table, "%.3g", points[i].extra_flops);
        table_cell(table, "%s", show_bytes(call->arena, points[i].extra_bytes));
        table_cell(table, "%s", show_bytes(call->arena, points[i].peak_bytes));
        table_cell(table, "%s", predicted(call->arena, points[i].forward_us));
        table_cell(table, "%s", predicted(call->arena, points[i].backward_us));
    }
    table_print(&call->out, call->show, table);
}

/* "0.5"; false: it is no number. */
static bool read_budget(const char *word, double *budget) {
    char *end;
    *budget = strtod(word, &end);
    return end != word && !*end;
}

/* The words behind the entry: a mode, a budget, a file, each or none. */
typedef struct BudgetAsk { const char *mode, *file; double budget; bool one; int words, file_word; } BudgetAsk;

static bool is_mode(const char *word) {
    static const char *const modes[] = {"best", "pytorch", "aggressive", "save_all"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(word, modes[i])) return true;
    return false;
}

/* The entry stands first. False after command_error. */
static bool read_ask(CommandCall *call, BudgetAsk *ask) {
    *ask = (BudgetAsk){0};
    while (ask->words < call->words.count && call_word(call, ask->words)[0] == '[') ask->words++;
    for (int i = ask->words; i < call->words.count; i++) {
        const char *word = call_word(call, i);
        if (!ask->file && viz_knows_ending(word)) ask->file = word, ask->file_word = i;
        else if (!ask->mode && is_mode(word)) ask->mode = word;
        else if (!ask->one && read_budget(word, &ask->budget)) ask->one = true;
        else return command_error(call, call_span(call, i), "%s: a budget from 0 to 1, a partition (best, pytorch, aggressive, save_all) or a file to draw is expected, each once", word);
    }
    return true;
}

static bool write_plot(CommandCall *call, Entry *entry, const BudgetAsk *ask, const WhatIf *points, int count) {
    const char *error = NULL;
    VizOptions options = {.interrupt = call->show->interrupt};
    if (call->show->safe) return command_error(call, call_span(call, ask->file_word), "--safe: commands do not write files");
    if (!viz_write(what_if_plot(entry, points, count, call->arena), ask->file, &options, &error)) return command_error(call, call_span(call, ask->file_word), "%s", error ? error : "it could not be drawn");
    if (call->json) json_put(call_document(call), "file", ask->file);
    return true;
}

static bool run_budget(CommandCall *call) {
    enum { STEPS = 11 };
    BudgetAsk ask;
    PartitionFacts p;
    double budgets[STEPS];
    WhatIf points[STEPS];
    const char *error;
    Entry *entry = read_ask(call, &ask) ? entry_of_words(call, ask.words, &p) : NULL;
    if (!entry) return false;
    int count = ask.one ? 1 : STEPS;
    for (int i = 0; i < count; i++) budgets[i] = ask.one ? ask.budget : 1 - i / 10.0;
    if (!entry_what_if(entry, ask.mode, budgets, count, points, call->arena, &error)) return command_error(call, call->span, "%s", error);
    heading(call, entry);
    if (call->json) {
        json_put(call_document(call), "partition", ask.mode ? ask.mode : p.mode);
        budget_json(call, points, count);
    } else {
        text_printf(&call->out, "  partition %s; times are predicted for a nominal machine, extras are the backward's against a budget of 1\n", ask.mode ? ask.mode : p.mode);
        budget_table(call, points, count);
    }
    return !ask.file || write_plot(call, entry, &ask, points, count);
}

const Command command_budget = {
    .name = "budget", .group = "change", .usage = "[ENTRY] [MODE] [BUDGET] [FILE]", .most = 4, .flags = COMMAND_OFFERS_FILES, .complete = COMPLETE_STAGE, .run = run_budget,
    .summary = "what another memory budget would save, and what it would cost",
    .help = "BUDGET is what torch._functorch.config.activation_memory_budget is: 1, the min-cut; 0, keep the inputs\n"
            "alone and compute everything again. Without it: a line for each tenth. MODE: best, pytorch,\n"
            "aggressive, save_all instead of the entry's partition. FILE (.svg, .png, .pdf, .dot) gets the plot of\n"
            "peak memory against time. Nothing is compiled; :set memory_budget 0.5 compiles so from then on.\n"
            "  :budget            :budget 0.5            :budget [0/1] pytorch 0.3            :budget plot.svg",
};

/* ---- :why saved %x, :why recomputed %x ---- */

static const char *side_words(Arena *arena, const CutSide *side) {
    Text text = {0};
    text_printf(&text, "costs %.0f and keeps %s alive", side->weight, show_bytes(arena, side->storage_bytes));
    if (*side->more) text_printf(&text, "; saved besides: %s", side->more);
    if (*side->less) text_printf(&text, "; no longer saved: %s", side->less);
    const char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

static void side_json(cJSON *object, const char *name, const CutSide *side) {
    cJSON *item = side->exists ? json_object(object, name) : NULL;
    if (!item) return;
    json_number(item, "weight", side->weight);
    json_integer(item, "storage_bytes", side->storage_bytes);
    json_put(item, "more", side->more);
    json_put(item, "less", side->less);
}

static void answer_json(CommandCall *call, const CutAnswer *answer) {
    cJSON *item = json_object(call_document(call), "cut");
    json_put(item, "name", answer->name);
    json_bool(item, "saved", answer->saved);
    json_bool(item, "recomputed", answer->recomputed);
    json_put(item, "ban", answer->ban);
    side_json(item, "with", &answer->with);
    side_json(item, "without", &answer->without);
    if (!answer->steps) return;
    cJSON *again = json_object(item, "again");
    json_put(again, "from", answer->from);
    json_put(again, "nodes", answer->nodes);
    json_number(again, "flops", answer->flops);
    json_integer(again, "bytes", answer->bytes);
    json_number(again, "us", answer->us);
}

void why_cut(CommandCall *call, Entry *entry, const char *name) {
    CutAnswer answer;
    const char *error;
    if (!entry_cut_of(entry, name, &answer, call->arena, &error)) return;
    if (call->json) {
        answer_json(call, &answer);
        return;
    }
    text_printf(&call->out, "  the cheapest cut that saves %s %s\n", answer.name, answer.with.exists ? side_words(call->arena, &answer.with) : "does not exist: it cannot be saved");
    if (answer.without.exists) text_printf(&call->out, "  the cheapest cut without it %s\n", side_words(call->arena, &answer.without));
    else text_printf(&call->out, "  there is no cut without it: %s\n", answer.ban ? answer.ban : "the backward needs it, and it cannot be made again");
    if (answer.steps)
        text_printf(&call->out, "  computing it again takes %d step%s (%s) from %s: %.3g flop, %s moved, %s predicted\n", answer.steps, answer.steps == 1 ? "" : "s", answer.nodes,
                    *answer.from ? answer.from : "nothing", answer.flops, show_bytes(call->arena, answer.bytes), predicted(call->arena, answer.us));
}
