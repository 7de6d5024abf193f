/* The command that draws: draw, to the terminal or to a file. */
#include "repl/facts.h"
#include "repl/json.h"
#include "repl/stage.h"
#include "viz/viz.h"
#include <string.h>

static VizOptions options_of(const CommandCall *call) {
    return (VizOptions){.width = call->show->width, .unicode = call->show->unicode, .color = call->show->color, .interrupt = call->show->interrupt};
}

/* A word is a file when it looks like one and could not be a selection; "k0.svg" is a file. */
static bool is_file(const char *word) {
    if (strcmp(word, "-") == 0) return true;
    if (word[0] == '%' || word[0] == '[' || strncmp(word, "mod:", 4) == 0) return false;
    return viz_knows_ending(word) || (!selection_is_word(word) && strpbrk(word, "./"));
}

static bool draw_file(CommandCall *call, const Snapshot *snapshot, int word) {
    VizOptions options = options_of(call);
    const char *path = call_word(call, word), *error = NULL;
    if (call->show->safe) return command_error(call, call_span(call, word), "--safe: commands do not write files");
    if (!viz_write(snapshot, path, &options, &error)) return command_error(call, call_span(call, word), "%s", error ? error : "it could not be drawn");
    if (call->json) json_put(call_document(call), "file", path);
    return true;
}

static bool draw_here(CommandCall *call, const Snapshot *snapshot) {
    VizOptions options = options_of(call);
    if (call->json) cJSON_AddItemToObject(call_document(call), snapshot->stage, json_snapshot(snapshot));
    else viz_terminal(&call->out, snapshot, &options);
    return true;
}

static bool draw_side(CommandCall *call, Entry *entry, const char *stage, const Selection *selection, const char *side, int file) {
    const Snapshot *snapshot = stage_snapshot(call, entry, stage, side);
    const Snapshot *part = snapshot ? selection_apply(call, snapshot, selection) : NULL;
    VizOptions options = options_of(call);
    if (!part) return false;
    if (file < 0) return draw_here(call, part);
    if (strcmp(call_word(call, file), "-") != 0) return draw_file(call, part, file);
    viz_dot(&call->out, part, &options);
    return true;
}

static bool run_draw(CommandCall *call) {
    Selection selection;
    const char *stage = stage_read(call);
    int end = call->words.count, file = -1;
    if (!stage) return false;
    if (end > 1 && is_file(call_word(call, end - 1))) file = --end;
    if (!selection_read(call, 1, end, &selection)) return false;
    Entry *entry = selection_entry(call, &selection);
    if (!entry) return false;
    bool both = file < 0 && !call->json && !selection.side && selection.kind == SELECT_ALL && stage_has_sides(entry, stage);
    if (!draw_side(call, entry, stage, &selection, both ? "forward" : selection.side, file)) return false;
    const char *error;
    return !both || !entry_snapshot(entry, stage, "backward", call->arena, &error) || draw_side(call, entry, stage, &selection, "backward", file);
}

const Command command_draw = {
    .name = "draw", .group = "draw", .usage = "STAGE [SELECTION] [FILE]", .least = 1, .most = -1, .flags = COMMAND_OFFERS_FILES, .complete = COMPLETE_STAGE,
    .run = run_draw,
    .summary = "draw a stage, in the terminal or to a file",
    .help = "FILE ends in .svg, .png, .pdf or .dot; - prints DOT. Without FILE it is drawn here. What is large\n"
            "is folded: pieces that repeat are drawn once. Dashed lines join what was not fused; saved values\n"
            "are drawn bold. Examples:\n"
            "  :draw joint            :draw fusion backward fusion.svg            :draw forward %relu~2",
};
