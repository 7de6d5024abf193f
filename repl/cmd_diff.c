/* The command that compares two graphs of a compile: what a stage rewrote, and what is done behind the graph, in words.
 *
 *     add_ = x.add_(1)
 *       -> %add                changed in place: add gives a new value; %x is read as that from here on, and is written in the epilogue
 *     epilogue: input x takes the value of %add: copied into it when the graph has run
 */
#include "repl/facts.h"
#include "repl/json.h"
#include "repl/stage.h"
#include <string.h>

static void put_json(CommandCall *call, const DiffLine *lines, int count) {
    cJSON *list = json_list(call_document(call), "changes");
    for (int i = 0; i < count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "change", lines[i].change);
        if (*lines[i].before) json_put(item, "before", lines[i].before);
        if (*lines[i].after) json_put(item, "after", lines[i].after);
        json_put(item, "words", lines[i].words);
        if (lines[i].span.file) json_span(item, lines[i].span);
    }
}

static void put_line(CommandCall *call, const DiffLine *line) {
    if (!*line->before) {
        text_printf(&call->out, "  %s: ", line->change);
        text_visible(&call->out, line->words);
        text_char(&call->out, '\n');
        return;
    }
    text_put(&call->out, "  ");
    text_visible(&call->out, line->before);
    text_printf(&call->out, "\n    -> %s\n       ", *line->after ? line->after : "nothing");
    text_visible(&call->out, line->words);
    text_char(&call->out, '\n');
}

static bool run_diff(CommandCall *call) {
    Selection selection;
    DiffLine *lines = NULL;
    const char *error = NULL, *before = stage_read(call), *after = before ? stage_word(call, 1) : NULL;
    if (!after || !selection_read(call, 2, call->words.count, &selection)) return false;
    if (selection.kind != SELECT_ALL) return command_error(call, call_span(call, selection.word), ":diff takes two stages and a compile, as in :diff dynamo functional [0/1]");
    Entry *entry = selection_entry(call, &selection);
    if (!entry) return false;
    int count = entry_diff(entry, before, after, call->arena, &lines, &error);
    if (count < 0) return command_error(call, call_span(call, 0), "%s", error);
    EntryFacts facts;
    entry_facts(entry, &facts);
    if (call->json) {
        json_put(call_document(call), "id", facts.id);
        json_put(call_document(call), "before", before);
        json_put(call_document(call), "after", after);
        put_json(call, lines, count);
        return true;
    }
    text_printf(&call->out, "[%s] %s: %s -> %s\n", facts.id, facts.function, before, after);
    for (int i = 0; i < count; i++) put_line(call, &lines[i]);
    if (count == 0) text_put(&call->out, "  the same ops\n");
    return true;
}

const Command command_diff = {
    .name = "diff", .group = "look", .usage = "STAGE STAGE [ENTRY]", .least = 2, .most = -1, .complete = COMPLETE_STAGE, .run = run_diff,
    .summary = "what a stage rewrote, op by op, in words",
    .help = "Two graphs of a compile, the earlier one first: dynamo, joint, functional, decomposed, then forward or\n"
            "backward. Each op that did not simply go along is printed with what it became and why: a change in\n"
            "place that became a new value, a view that is taken again, a function or an op that was written out\n"
            "in simpler ones, what nobody reads. Then what is done behind the graph: inputs that are written,\n"
            "outputs that are views of inputs. Examples:\n"
            "  :diff dynamo functional        :diff functional decomposed        :diff joint forward [0/1]",
};
