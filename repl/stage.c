/* Stage: see stage.h. In: words of a command. Out: the stage's text, items or JSON document. */
#include "repl/stage.h"
#include "repl/json.h"
#include "viz/viz.h"
#include <string.h>

/* ---- names ---- */

static const char *stage_of(const char *name) {
    const char *found = NULL;
    for (int i = 0; stage_names()[i]; i++) {
        if (strcmp(stage_names()[i], name) == 0) return stage_names()[i];
        if (strncmp(stage_names()[i], name, strlen(name)) != 0) continue;
        found = found ? "" : stage_names()[i]; /* "": several begin so */
    }
    return found && *found ? found : NULL;
}

static const char *no_stage(CommandCall *call, int word) {
    const char *name = call_word(call, word), *near = nearest_name(name, stage_names());
    if (near) command_error(call, call_span(call, word), "no stage %s: is it %s?", name, near);
    else command_error(call, call_span(call, word), "no stage %s: :help stages lists them", name);
    return NULL;
}

const char *stage_word(CommandCall *call, int word) {
    const char *stage = stage_of(call_word(call, word));
    return stage ? stage : no_stage(call, word);
}

const char *stage_read(CommandCall *call) {
    if (call->words.count > 1 && call_word(call, 0)[0] == '[') {
        Word first = call->words.at[0];
        call->words.at[0] = call->words.at[1];
        call->words.at[1] = first;
    }
    return stage_word(call, 0);
}

/* ---- snapshots ---- */

const Snapshot *stage_snapshot(CommandCall *call, Entry *entry, const char *stage, const char *side) {
    const char *error = NULL;
    Snapshot *snapshot = entry_snapshot(entry, stage, side, call->arena, &error);
    if (!snapshot) command_error(call, call->span, "%s", error ? error : arena_printf(call->arena, "it has no stage %s", stage));
    else if (side && stage_has_sides(entry, stage)) snapshot->title = arena_printf(call->arena, "%s (%s)", snapshot->title, side);
    return snapshot;
}

bool stage_has_sides(Entry *entry, const char *stage) {
    static const char *const stages[] = {"ir", "fusion", "schedule", "memory", "kernels", "wrapper", "timeline"};
    EntryFacts facts;
    entry_facts(entry, &facts);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strcmp(stages[i], stage) == 0) return facts.training;
    return false;
}

static void put_text(CommandCall *call, const Snapshot *snapshot, bool whole) {
    text_put(&call->out, show_bold(call->show, call->arena, snapshot->title));
    text_char(&call->out, '\n');
    VizOptions options = {.width = call->show->width, .unicode = call->show->unicode, .color = call->show->color};
    if (!whole || !snapshot->text || !*snapshot->text) {
        viz_list(&call->out, snapshot, &options);
        return;
    }
    text_visible(&call->out, snapshot->text);
    if (call->out.data[call->out.length - 1] != '\n') text_char(&call->out, '\n');
}

/* One side, as text or under `name` of the JSON document (NULL: as the document). */
static bool put_side(CommandCall *call, Entry *entry, const char *stage, const Selection *selection, const char *side, const char *name) {
    const Snapshot *snapshot = stage_snapshot(call, entry, stage, side);
    const Snapshot *part = snapshot ? selection_apply(call, snapshot, selection) : NULL;
    if (!part) return false;
    if (!call->json) put_text(call, part, part == snapshot);
    else if (name) cJSON_AddItemToObject(call_document(call), name, json_snapshot(part));
    else call->document = json_snapshot(part);
    return true;
}

bool stage_print(CommandCall *call, const char *stage, const Selection *selection) {
    Entry *entry = selection_entry(call, selection);
    if (!entry) return false;
    if (selection->side || !stage_has_sides(entry, stage)) return put_side(call, entry, stage, selection, selection->side, NULL);
    if (!put_side(call, entry, stage, selection, "forward", "forward")) return false;
    const char *error;
    bool both = selection->kind == SELECT_ALL && entry_snapshot(entry, stage, "backward", call->arena, &error);
    return !both || put_side(call, entry, stage, selection, "backward", "backward");
}
