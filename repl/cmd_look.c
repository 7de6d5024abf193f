/* Commands that print stages: stages, bytecode, graph, and the stages that have a command of their own. */
#include "repl/facts.h"
#include "repl/json.h"
#include "repl/stage.h"
#include <string.h>

static bool run_graph(CommandCall *call) {
    Selection selection;
    const char *stage = stage_read(call);
    return stage && selection_read(call, 1, call->words.count, &selection) && stage_print(call, stage, &selection);
}

const Command command_graph = {
    .name = "graph", .group = "look", .usage = "STAGE [SELECTION]", .least = 1, .most = -1, .complete = COMPLETE_STAGE, .run = run_graph,
    .summary = "print a stage, or a part of it",
    .help = "Stages: :help stages. A selection names the compile, [0/1] or [0/1]:backward, and a part: %relu~2,\n"
            "%a..%b, k0, line:12 (:help selection).",
};

static bool print_stage(CommandCall *call, const char *stage) {
    Selection selection;
    return selection_read(call, 0, call->words.count, &selection) && stage_print(call, stage, &selection);
}

static bool run_bytecode(CommandCall *call) { return print_stage(call, "bytecode"); }
const Command command_bytecode = {
    .name = "bytecode", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_bytecode,
    .summary = "print the frame's bytecode, before and after",
    .help = "CPython 3.12's instructions of the function beside those that it was replaced by: the call of the\n"
            "compiled graph, what the frame's side effects need, and the calls of the functions that resume\n"
            "after a graph break. Below, the replacement as Python.",
};

static bool run_fusion(CommandCall *call) { return print_stage(call, "fusion"); }
const Command command_fusion = {
    .name = "fusion", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_fusion,
    .summary = "print which loops became one kernel",
    .help = "Each group is one kernel or one call of a library: the nodes whose loops it holds, why they went\n"
            "together or stayed apart, and the loop that they have become. :draw fusion draws the groups as\n"
            "clusters; :why A B asks about two nodes.",
};

static bool run_schedule(CommandCall *call) { return print_stage(call, "schedule"); }
const Command command_schedule = {
    .name = "schedule", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_schedule,
    .summary = "print the launches in order, with their buffers",
    .help = "For each launch: its axes, how they are bound to blocks, threads and vectors, and the buffers that\n"
            "it reads and writes.",
};

static bool run_memory(CommandCall *call) { return print_stage(call, "memory"); }
const Command command_memory = {
    .name = "memory", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_memory,
    .summary = "print the buffers, their lifetimes and who reuses them",
    .help = "A buffer lives from the launch that writes it to the last that reads it; one that is dead gives\n"
            "its memory to a later one.",
};

/* ---- all stages ---- */

static const char *stage_meaning(const char *stage) {
    static const char *const meanings[][2] = {
        {"bytecode", "the frame's instructions, before and after"}, {"dynamo", "what symbolic execution captured"},
        {"guards", "what must hold to use it again"}, {"joint", "forward and backward in one graph"},
        {"functional", "the same without changes in place"}, {"decomposed", "the same in few simple ops"},
        {"cut", "the flow network, and what its minimum cut saves"}, {"partition", "both sides, and what crosses between them"}, {"forward", "the forward graph"}, {"backward", "the backward graph"},
        {"ir", "a loop for each value, before fusion"}, {"fusion", "which loops go together"}, {"schedule", "the groups in order"},
        {"memory", "buffers and their reuse"}, {"kernels", "the generated code"}, {"wrapper", "the launches"}, {"timeline", "the launches over time"}};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i][0], stage) == 0) return meanings[i][1];
    return "";
}

typedef struct StageList { CommandCall *call; Entry *entry; Table *table; cJSON *list; } StageList;

static void put_stage_line(StageList *s, const char *stage) {
    const char *error;
    Snapshot *snapshot = entry_snapshot(s->entry, stage, NULL, s->call->arena, &error);
    if (s->call->json) {
        cJSON *item = json_item(s->list);
        json_put(item, "stage", stage);
        json_bool(item, "present", snapshot != NULL);
        if (snapshot) json_integer(item, "items", snapshot->items.count);
        return;
    }
    table_cell(s->table, "%s", stage);
    table_cell(s->table, "%s", snapshot ? arena_printf(s->call->arena, "%d", snapshot->items.count) : "none");
    table_cell(s->table, "%s", stage_meaning(stage));
}

static void put_times(CommandCall *call, Entry *entry, cJSON *document) {
    EntryStage times[64];
    int count = entry_stages(entry, times, 64);
    cJSON *list = document ? json_list(document, "times") : NULL;
    for (int i = 0; i < count && i < 64; i++) {
        if (!list) {
            text_printf(&call->out, "%s%s %s", i ? ", " : "  took: ", times[i].stage, show_us(call->show, call->arena, times[i].ms * 1000));
            continue;
        }
        cJSON *item = json_item(list);
        json_put(item, "step", times[i].stage);
        json_time(item, "ms", call->show, times[i].ms);
    }
    if (!list && count) text_char(&call->out, '\n');
}

static bool run_stages(CommandCall *call) {
    static const char *const heads[] = {"stage", ">items", "what it is"};
    Selection selection;
    Entry *entry = facts_entry(call, &selection);
    if (!entry) return false;
    EntryFacts facts;
    entry_facts(entry, &facts);
    StageList s = {call, entry, table_new(call->arena, 3, heads), NULL};
    if (call->json) {
        json_put(call_document(call), "id", facts.id);
        s.list = json_list(call_document(call), "stages");
    } else facts_heading(call, &facts);
    for (int i = 0; stage_names()[i]; i++) put_stage_line(&s, stage_names()[i]);
    if (!call->json) table_print(&call->out, call->show, s.table);
    put_times(call, entry, call->json ? call->document : NULL);
    return true;
}

const Command command_stages = {
    .name = "stages", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_stages,
    .summary = "list the stages of a compile",
    .help = "Print one with :graph STAGE, draw it with :draw STAGE. :help stages says what each is.",
};
