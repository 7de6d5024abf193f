/* Commands that look at what is launched and kept: kernels, kernel, saved. */
#include "repl/facts.h"
#include "repl/json.h"
#include "repl/stage.h"
#include <string.h>

/* ---- kernels ---- */

static const char *shape(Arena *arena, const int *size) {
    if (size[0] <= 0) return "";
    if (size[2] > 1) return arena_printf(arena, "%dx%dx%d", size[0], size[1], size[2]);
    return size[1] > 1 ? arena_printf(arena, "%dx%d", size[0], size[1]) : arena_printf(arena, "%d", size[0]);
}

static void put_json_kernel(cJSON *list, const KernelFacts *k) {
    cJSON *item = json_item(list);
    json_put(item, "id", k->id);
    json_put(item, "symbol", k->entry_symbol);
    json_put(item, "language", k->language);
    json_put(item, "side", k->side);
    json_put(item, "schedule", k->schedule);
    json_put(item, "nodes", k->nodes);
    json_integer(item, "launches", k->launches);
    json_integer(item, "bytes", k->bytes);
    json_number(item, "flops", k->flops);
    json_bool(item, "extern", k->is_extern);
    cJSON *grid = json_list(item, "grid"), *block = json_list(item, "block");
    for (int i = 0; i < 3; i++) {
        cJSON_AddItemToArray(grid, cJSON_CreateNumber(k->grid[i]));
        cJSON_AddItemToArray(block, cJSON_CreateNumber(k->block[i]));
    }
    json_integer(item, "shared_bytes", k->shared_bytes);
}

static void put_kernel(CommandCall *call, Table *table, const KernelFacts *k) {
    table_cell(table, "%s", k->id);
    table_cell(table, "%s", k->entry_symbol);
    table_cell(table, "%s", k->side ? k->side : "");
    table_cell(table, "%s", k->language);
    table_cell(table, "%d", k->launches);
    table_cell(table, "%s", show_bytes(call->arena, k->bytes));
    table_cell(table, "%s", shape(call->arena, k->grid));
    table_cell(table, "%s", shape(call->arena, k->block));
    table_cell(table, "%s", k->nodes ? k->nodes : "");
}

static bool run_kernels(CommandCall *call) {
    static const char *const heads[] = {"kernel", "name", "side", "in", ">launches", ">bytes", ">grid", ">block", "nodes"};
    Selection selection;
    Entry *entry = facts_entry(call, &selection);
    if (!entry) return false;
    EntryFacts facts;
    entry_facts(entry, &facts);
    KernelList kernels = facts_kernels(call->arena, entry);
    Table *table = table_new(call->arena, 9, heads);
    cJSON *list = NULL;
    if (call->json) {
        json_put(call_document(call), "id", facts.id);
        list = json_list(call_document(call), "kernels");
    } else facts_heading(call, &facts);
    for (int i = 0; i < kernels.count; i++) {
        const KernelFacts *k = &kernels.at[i];
        if (selection.side && k->side && strcmp(k->side, selection.side) != 0) continue;
        if (list) put_json_kernel(list, k);
        else put_kernel(call, table, k);
    }
    if (list) return true;
    if (kernels.count) table_print(&call->out, call->show, table);
    else text_put(&call->out, "  no kernels of its own: :graph wrapper shows what is launched\n");
    return true;
}

const Command command_kernels = {
    .name = "kernels", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_kernels,
    .summary = "list the generated kernels",
    .help = "With the nodes that each computes, the bytes that it must read and write, and how it is launched.\n"
            "Calls of libraries are launches without a kernel here: :graph wrapper lists all launches in order.",
};

/* ---- one kernel ---- */

static const KernelFacts *find_kernel(const KernelList *kernels, const char *name) {
    for (int i = 0; i < kernels->count; i++)
        if (strcmp(kernels->at[i].id, name) == 0 || strcmp(kernels->at[i].entry_symbol, name) == 0) return &kernels->at[i];
    return NULL;
}

static bool no_kernel(CommandCall *call, const KernelList *kernels, int word) {
    if (!kernels->count) return command_error(call, call_span(call, word), "this entry has no kernels: :graph wrapper shows what is launched");
    if (kernels->count == 1) return command_error(call, call_span(call, word), "no kernel %s: there is only k0", call_word(call, word));
    return command_error(call, call_span(call, word), "no kernel %s: they are k0 to k%d", call_word(call, word), kernels->count - 1);
}

/* The nodes of the kernel with what each is, from the graph of its side. */
static bool put_ops(CommandCall *call, Entry *entry, const KernelFacts *kernel) {
    static const char *const heads[] = {"node", "op", "meta"};
    const Snapshot *graph = stage_snapshot(call, entry, kernel->side && strcmp(kernel->side, "backward") == 0 ? "backward" : "forward", NULL);
    Table *table = table_new(call->arena, 3, heads);
    cJSON *list = call->json ? json_list(call_document(call), "ops") : NULL;
    if (!graph) return false;
    char *nodes = arena_strdup(call->arena, kernel->nodes ? kernel->nodes : ""), *rest;
    for (char *node = strtok_r(nodes, " ", &rest); node; node = strtok_r(NULL, " ", &rest)) {
        const SnapshotItem *item = snapshot_find(graph, node);
        if (list) {
            json_add(list, node);
            continue;
        }
        table_cell(table, "%s", node);
        table_cell(table, "%s", item ? item->title : "");
        table_cell(table, "%s", item && item->rows.count ? item->rows.at[0] : "");
    }
    if (!list) table_print(&call->out, call->show, table);
    return true;
}

static bool is_form(const char *what) {
    static const char *const forms[] = {"cuda", "c", "ptx", "sass", "asm", "resources"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i], what) == 0) return true;
    return false;
}

static bool put_code(CommandCall *call, Entry *entry, const KernelFacts *kernel, int word) {
    const char *what = call_word(call, word), *error = NULL;
    if (what && !is_form(what)) return command_error(call, call_span(call, word), "a kernel is shown as cuda, c, ptx, sass, asm, resources or ops");
    const char *code = entry_kernel_text(entry, kernel->id, what ? what : kernel->language, call->arena, &error);
    if (!code) return command_error(call, call_span(call, what ? word : 0), "%s", error ? error : "this kernel has no such form");
    if (call->json) {
        json_put(call_document(call), "form", what ? what : kernel->language);
        json_put(call->document, "text", code);
        return true;
    }
    text_visible(&call->out, code);
    if (call->out.length && call->out.data[call->out.length - 1] != '\n') text_char(&call->out, '\n');
    return true;
}

static bool run_kernel(CommandCall *call) {
    Selection selection = {.word = -1};
    int word = call_word(call, 0)[0] == '[' ? 1 : 0;
    if (word == 1 && (call->words.count < 2 || !selection_read(call, 0, 1, &selection)))
        return call->words.count < 2 ? command_error(call, call->span, "which kernel? :kernels lists them") : false;
    Entry *entry = selection_entry(call, &selection);
    if (!entry) return false;
    KernelList kernels = facts_kernels(call->arena, entry);
    const KernelFacts *kernel = find_kernel(&kernels, call_word(call, word));
    const char *what = call_word(call, word + 1);
    if (!kernel) return no_kernel(call, &kernels, word);
    if (call->json) json_put(call_document(call), "id", kernel->id);
    return what && strcmp(what, "ops") == 0 ? put_ops(call, entry, kernel) : put_code(call, entry, kernel, word + 1);
}

const Command command_kernel = {
    .name = "kernel", .group = "look", .usage = "[ENTRY] KERNEL [cuda|c|ptx|sass|asm|resources|ops]", .least = 1, .most = 3, .complete = COMPLETE_KERNEL,
    .run = run_kernel,
    .summary = "print a kernel's code",
    .help = "Its source, as it was compiled; ptx, sass or asm, what the compiler made of it; resources, its\n"
            "registers, shared memory and spills; ops, the nodes that it computes. Example: :kernel k0 ptx",
};
