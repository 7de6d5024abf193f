/* Commands that run and set: load, device, set, reset, quit. */
#include "repl/cmd.h"
#include "repl/json.h"
#include <errno.h>
#include <string.h>

enum { LOAD_DEPTH = 16 };

static int on_command(void *state, const char *line, Span span) {
    Repl *repl = state;
    command_run(repl, line, span);
    return repl_ends(repl);
}

static bool run_load(CommandCall *call) {
    int open_error = 0;
    const char *path = call_word(call, 0);
    if (call->repl->load_depth >= LOAD_DEPTH) return command_error(call, call->span, "files load each other %d deep", LOAD_DEPTH);
    call->repl->load_depth++;
    int status = session_run_file(call->session, arena_strdup(call->repl->arena, path), on_command, call->repl, &open_error);
    call->repl->load_depth--;
    if (open_error) return command_error(call, call_span(call, 0), "cannot read %s: %s", path, strerror(open_error));
    repl_note_status(call->repl, status);
    return status == RUN_DONE || (status == RUN_EXIT && session_exit_code(call->session) == 0);
}

const Command command_load = {
    .name = "load", .group = "run", .usage = "FILE", .least = 1, .most = 1, .flags = COMMAND_NEEDS_FILES | COMMAND_OFFERS_FILES, .complete = COMPLETE_FILE, .run = run_load,
    .summary = "run a file in this session",
    .help = "The file's names stay defined. Its lines that start with #: are run as commands.",
};

static bool run_device(CommandCall *call) {
    Text text = {0};
    session_versions(call->session, &text);
    if (call->json) json_lines(call_document(call), "device", text_cstr(&text));
    else text_put(&call->out, text_cstr(&text));
    text_free(&text);
    return true;
}

const Command command_device = {
    .name = "device", .group = "run", .usage = "", .run = run_device,
    .summary = "what was found on this machine",
    .help = "The driver, the cards, NVRTC, cuBLAS and the C compiler, as far as they are there. :set device\n"
            "cuda makes new tensors there.",
};

typedef struct Settings { CommandCall *call; Table *table; cJSON *list; const char *only; bool found; } Settings;

static void show_setting(void *state, const char *name, const char *value, const char *meaning) {
    Settings *settings = state;
    if (settings->only && strcmp(settings->only, name) != 0) return;
    settings->found = true;
    if (settings->call->json) {
        cJSON *item = json_item(settings->list);
        json_put(item, "name", name);
        json_put(item, "value", value);
        json_put(item, "meaning", meaning);
        return;
    }
    table_cell(settings->table, "%s", name);
    table_cell(settings->table, "%s", value);
    table_cell(settings->table, "%s", meaning);
}

static bool list_settings(CommandCall *call, const char *only) {
    static const char *const heads[] = {"setting", "value", "meaning"};
    Settings settings = {call, table_new(call->arena, 3, heads), NULL, only, false};
    if (call->json) settings.list = json_list(call_document(call), "settings");
    session_settings(call->session, show_setting, &settings);
    if (only && !settings.found) return command_error(call, call_span(call, 0), "no setting %s: :set lists them", only);
    if (!call->json) table_print(&call->out, call->show, settings.table);
    return true;
}

static void find_setting(void *state, const char *name, const char *value, const char *meaning) {
    Settings *settings = state;
    (void)value;
    (void)meaning;
    if (strcmp(settings->only, name) == 0) settings->found = true;
}

static bool run_set(CommandCall *call) {
    const char *error = NULL;
    if (call->words.count < 2) return list_settings(call, call_word(call, 0));
    Settings wanted = {.only = call_word(call, 0)};
    session_settings(call->session, find_setting, &wanted);
    if (!wanted.found) return command_error(call, call_span(call, 0), "no setting %s: :set lists them", wanted.only);
    if (session_set(call->session, call_word(call, 0), call_word(call, 1), &error)) return true;
    return command_error(call, call_span(call, 1), "%s", error ? error : "not a value for this setting");
}

const Command command_set = {
    .name = "set", .group = "run", .usage = "[NAME [VALUE]]", .most = 2, .complete = COMPLETE_SETTING, .run = run_set,
    .summary = "show or change settings",
    .help = "policy best decides by speed, policy pytorch as PyTorch 2.11 would. A change holds for what is\n"
            "compiled from then on; :reset compiles anew.",
};

static bool run_reset(CommandCall *call) {
    session_reset(call->session);
    if (call->json) json_bool(call_document(call), "reset", true);
    return true;
}

const Command command_reset = {
    .name = "reset", .group = "run", .usage = "", .run = run_reset,
    .summary = "forget everything compiled",
    .help = "As torch._dynamo.reset(): the next call of a compiled function compiles it again. Names of the\n"
            "program stay.",
};

static bool run_quit(CommandCall *call) {
    call->repl->quit = true;
    return true;
}

const Command command_quit = {
    .name = "quit", .group = "run", .usage = "", .run = run_quit,
    .summary = "leave",
    .help = "As the end of the input (Ctrl-D).",
};
