/* A small engine for test_repl: one compiled function f with a forward and a backward, and a "language" in which a line is a statement,
 * a line that ends in ':' opens a block, '(' opens a bracket, `raise` fails. What is run is written down. Never part of the program. */
#include "fake_engine.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct Session { Arena *arena, *command; SessionOptions options; Text ran; int entries, collected; bool reset; const SourceFile *source; };
struct Entry { int number; Session *session; };
static Session *fake;
static struct Entry entry_zero;

const char *fake_ran(void) { return text_cstr(&fake->ran); }

Session *session_open(const SessionOptions *options) {
    Arena *arena = arena_new("fake");
    fake = ARENA_NEW(arena, Session);
    *fake = (Session){.arena = arena, .command = arena_new("command"), .options = *options};
    entry_zero.session = fake;
    return fake;
}

void session_close(Session *session) {
    if (!session) return;
    text_free(&session->ran);
    arena_free(session->command);
    arena_free(session->arena);
}

void session_reset(Session *session) { session->reset = true; }
void session_collect(Session *session) { session->collected++; arena_reset(session->command); }
Arena *session_command_arena(Session *session) { return session->command; }

static int depth_of(const char *text, size_t length) {
    int depth = 0;
    for (size_t i = 0; i < length; i++) depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    return depth;
}

int session_input_state(const char *text) {
    size_t length = strlen(text);
    if (!text[strspn(text, " \n")]) return INPUT_EMPTY;
    if (depth_of(text, length) > 0) return INPUT_OPEN_BRACKET;
    const char *first_end = strchr(text, '\n');
    return first_end && first_end > text && first_end[-1] == ':' ? INPUT_OPEN_BLOCK : INPUT_COMPLETE;
}

size_t session_next_statement(const char *text, bool at_end) {
    size_t length = strcspn(text, "\n");
    if (at_end) return strlen(text);
    while (depth_of(text, length) > 0) {
        if (!text[length]) return 0;
        length += 1 + strcspn(text + length + 1, "\n");
    }
    if (!text[length]) return 0;
    length++;
    if (length < 2 || text[length - 2] != ':') return length;
    while (text[length] == ' ' || text[length] == '\n') length += strcspn(text + length, "\n") + (text[length + strcspn(text + length, "\n")] == '\n');
    return text[length] ? length : 0;
}

int session_run_text(Session *session, const char *text, const char *name, int first_line, bool interactive, CommandFn command, void *state) {
    session->source = source_new(session->arena, name, text, strlen(text), first_line);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        char *line = arena_strndup(session->arena, at, length);
        uint32_t start = (uint32_t)(at - text);
        if (strncmp(line, "#:", 2) == 0 && command) {
            int status = command(state, line + 1, (Span){session->source, start, start + (uint32_t)length});
            if (status) return status;
        } else if (*line) text_printf(&session->ran, "%s:%d:%s%s|", name, first_line, line, interactive ? "=" : "");
        if (strcmp(line, "raise") == 0) return RUN_ERROR;
        if (strncmp(line, "print ", 6) == 0) session->options.out.write(session->options.out.state, line + 6, length - 6);
        at += length + (at[length] == '\n');
        first_line++;
    }
    return RUN_DONE;
}

int session_run_file(Session *session, const char *path, CommandFn command, void *state, int *status_of_open) {
    FILE *file = fopen(path, "r");
    char text[4096];
    *status_of_open = file ? 0 : errno;
    if (!file) return RUN_ERROR;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return session_run_text(session, text, path, 1, false, command, state);
}

void session_complete(Session *session, const char *text, void (*offer)(void *, const char *), void *state) {
    (void)session;
    (void)text;
    offer(state, "torch.nn.Linear");
    offer(state, "torch.relu");
}

bool session_compile_call(Session *session, const char *call, bool run, CallResult *result) {
    if (strcmp(call, "bad()") == 0) return false;
    session->entries = 1;
    *result = (CallResult){true, 12.5, run ? "tensor(1.)" : NULL};
    return true;
}

int session_call_entries(Session *session, Entry **entries, int room) {
    if (room > 0 && session->entries) entries[0] = &entry_zero;
    return session->entries;
}

bool session_time_call(Session *session, const char *call, CallTiming *timing) {
    (void)session;
    *timing = (CallTiming){.eager_us = 40, .compiled_us = 10, .eager_wall_us = 5, .wall_us = 2, .first_ms = 3, .eager_launches = 4, .launches = 1, .runs = 30,
                           .bytes = 100000, .eager_bytes = 400000, .flops = 5000, .copy_gbs = 20, .max_difference = 1e-7, .device = "cpu"};
    return strcmp(call, "bad()") != 0;
}

bool session_bench(Session *session, const char *path, const char *device, BenchResult *result) {
    (void)session;
    (void)device;
    *result = (BenchResult){.file = "b.py", .mode = "default", .eager_us = 2, .compiled_us = 1, .kernels = 1, .bytes = 64};
    return strcmp(path, "missing.py") != 0;
}

int session_entry_count(Session *session) { return session->entries; }
Entry *session_entry(Session *session, int i) { (void)session; (void)i; return &entry_zero; }
Entry *session_find_entry(Session *session, const char *id) { return session->entries && (!id || strcmp(id, "0/0") == 0) ? &entry_zero : NULL; }

static Span span_at(void) {
    return (Span){source_new(fake->arena, "demo.py", "def f(x):\n    return torch.relu(x).sum()\n", 41, 1), 14, 40};
}

void entry_facts(Entry *entry, EntryFacts *facts) {
    (void)entry;
    *facts = (EntryFacts){.id = "0/0", .function = "f", .root = "f", .span = span_at(), .ops = 2, .guards = 1, .launches_forward = 1, .launches_backward = 1, .bytes_eager = 4096,
                          .bytes_compiled = 1024, .saved_bytes = 60, .saved_bytes_no_recompute = 120, .total_ms = 3.5, .kernels = 1, .policy = "best", .training = true, .device = "cpu"};
}

int entry_stages(Entry *entry, EntryStage *stages, int room) {
    (void)entry;
    if (room > 0) stages[0] = (EntryStage){"joint", 1.5};
    return 1;
}

const ReasonLog *entry_reasons(Entry *entry) {
    ReasonLog *log = ARENA_NEW(entry->session->command, ReasonLog);
    log->arena = entry->session->command;
    reason_add(log, REASON_SAVED, "saved.cut", "%relu", NULL, span_at(), "60 B cross: cheaper than 120 B")->policy = "best";
    reason_add(log, REASON_NOT_FUSED, "not_fused.extents", "%relu", "%sum", span_at(), "15 against 1 elements");
    return log;
}

static const char *const STAGES[] = {"bytecode", "dynamo", "guards", "joint", "forward", "backward", "schedule", NULL};
const char *const *stage_names(void) { return STAGES; }

Snapshot *entry_snapshot(Entry *entry, const char *stage, const char *side, Arena *arena, const char **error) {
    (void)entry;
    *error = "[0/0] has no such stage";
    if (strcmp(stage, "joint") && strcmp(stage, "dynamo") && strcmp(stage, "forward") && strcmp(stage, "schedule")) return NULL;
    Snapshot *snapshot = snapshot_new(arena, stage, arena_printf(arena, "[0/0] f: %s%s%s", stage, side ? " " : "", side ? side : ""));
    static const char *const items[][3] = {{"%x", "input", "x"}, {"%relu", "pointwise", "relu"}, {"%sum", "reduce", "sum"}, {"%out", "output", "out"}};
    for (int i = 0; i < 4; i++) {
        SnapshotItem *item = snapshot_item(snapshot, items[i][0], items[i][1], items[i][2]);
        item->span = i == 1 ? span_at() : (Span){0};
        if (i) snapshot_link(snapshot, items[i - 1][0], items[i][0], "data");
        snapshot_row(snapshot, &snapshot->items.at[i], "f32[%d]", 15);
    }
    if (strcmp(stage, "dynamo") == 0) snapshot->text = "def forward(self, L_x_):\n    relu = torch.relu(l_x_)\n    return (relu,)\n";
    return snapshot;
}

int entry_guards(Entry *entry, GuardFacts *guards, int room) {
    (void)entry;
    if (room > 0) guards[0] = (GuardFacts){.id = "g0", .kind = "TENSOR_MATCH", .text = "check_tensor(L['x'])", .why = "x is an input", .span = span_at(), .checks = 3, .failures = 1};
    return 1;
}

int entry_kernels(Entry *entry, KernelFacts *kernels, int room) {
    (void)entry;
    if (room > 0) kernels[0] = (KernelFacts){.id = "k0", .entry_symbol = "fused_relu_sum", .language = "c", .source = "void k(void) {}", .side = "forward", .nodes = "%relu %out", .bytes = 64, .launches = 1};
    return 1;
}

const char *entry_kernel_text(Entry *entry, const char *kernel, const char *what, Arena *arena, const char **error) {
    (void)entry;
    (void)kernel;
    (void)arena;
    *error = "k0 is a C kernel";
    return strcmp(what, "c") == 0 ? "void fused_relu_sum(const float *x) {}\n" : NULL;
}

int entry_launches(Entry *entry, LaunchFacts *launches, int room) {
    (void)entry;
    if (room > 0) launches[0] = (LaunchFacts){.name = "fused_relu_sum", .side = "forward"};
    return 1;
}

bool entry_partition(Entry *entry, PartitionFacts *facts) {
    (void)entry;
    *facts = (PartitionFacts){.mode = "best", .chosen = "pytorch", .memory_budget = 1, .saved_bytes = 60, .storage_bytes = 60, .saved_bytes_no_recompute = 120, .saved = 1, .recomputed = 1, .cut = 60};
    return true;
}

const char *engine_blas_kernels(void) { return NULL; }

int entry_diff(Entry *entry, const char *before, const char *after, Arena *arena, DiffLine **lines, const char **error) {
    (void)entry; (void)before; (void)after; (void)arena; (void)lines;
    *error = "the small engine compares nothing";
    return -1;
}

int entry_saved(Entry *entry, SavedFacts *saved, int room, Arena *arena) {
    (void)entry, (void)arena;
    if (room > 0) saved[0] = (SavedFacts){.name = "%relu", .type = "f32[15]", .dtype = "float32", .shape = "[15]", .held = "the backward", .readers = "%le", .code = "saved.cut", .why = "60 B cross", .bytes = 60, .storage_bytes = 60, .span = span_at()};
    return 1;
}

int entry_recomputed(Entry *entry, RecomputedFacts *recomputed, int room, Arena *arena) {
    (void)entry, (void)arena;
    if (room > 0) recomputed[0] = (RecomputedFacts){.name = "%exp", .type = "f32[15]", .readers = "%mul", .code = "recomputed.cheap", .why = "a cheap loop", .bytes = 60, .span = span_at()};
    return 1;
}

int entry_cut(Entry *entry, CutFacts *cut, int room, Arena *arena) {
    (void)entry, (void)arena;
    if (room > 0) cut[0] = (CutFacts){.name = "%relu", .type = "f32[15]", .source = "an output", .capacity = 60, .bytes = 60, .sink = true, .cut = true, .span = span_at()};
    if (room > 1) cut[1] = (CutFacts){.name = "%t", .type = "f32[3, 5]", .capacity = INFINITY, .bytes = 60, .span = span_at()};
    return 2;
}

bool entry_cut_of(Entry *entry, const char *name, CutAnswer *answer, Arena *arena, const char **error) {
    (void)entry, (void)arena;
    *error = "no such value";
    *answer = (CutAnswer){.name = "%relu", .type = "f32[15]", .saved = true, .with = {true, 60, 60, "", ""}, .without = {.exists = false}, .ban = "an output", .from = "%x", .nodes = "%relu", .steps = 1, .flops = 15, .us = 0.5, .bytes = 120};
    return strcmp(name + (*name == '%'), "relu") == 0;
}

bool entry_what_if(Entry *entry, const char *mode, const double *budgets, int count, WhatIf *results, Arena *arena, const char **error) {
    (void)entry, (void)mode, (void)arena;
    for (int i = 0; i < count; i++) {
        results[i] = (WhatIf){.budget = budgets[i], .chosen = "pytorch", .saved = 1, .saved_bytes = 60, .storage_bytes = 60, .peak_bytes = 1024, .forward_us = 1, .backward_us = 2};
        *error = "a memory budget is a number from 0 to 1";
        if (budgets[i] < 0 || budgets[i] > 1) return false;
    }
    return true;
}

Snapshot *what_if_plot(Entry *entry, const WhatIf *points, int count, Arena *arena) {
    (void)entry, (void)points, (void)count;
    return snapshot_new(arena, "budget", "plot");
}

void session_counts(Session *session, SessionCounts *counts) { *counts = (SessionCounts){session->entries, 2, 1, 1}; }

int session_breaks(Session *session, BreakFacts *breaks, int room) {
    (void)session;
    if (room > 0) breaks[0] = (BreakFacts){"0/0", "call", "print(\"x\")", 2, span_at()};
    return 1;
}

int session_recompiles(Session *session, RecompileFacts *recompiles, int room) {
    (void)session;
    (void)recompiles;
    (void)room;
    return 0;
}

int session_cache(Session *session, CacheFacts *cache, int room) {
    if (room > 0 && session->entries) cache[0] = (CacheFacts){"f", "0/0", 1, 8, 7};
    return session->entries;
}

bool session_set(Session *session, const char *name, const char *value, const char **error) {
    (void)session;
    *error = "policy is pytorch or best";
    return strcmp(name, "policy") == 0 && strcmp(value, "nonsense") != 0;
}

void session_settings(Session *session, void (*show)(void *, const char *, const char *, const char *), void *state) {
    (void)session;
    show(state, "policy", "best", "who decides");
}

bool session_op(Session *session, const char *name, OpFacts *facts, Arena *arena) {
    (void)session;
    (void)arena;
    *facts = (OpFacts){.name = "relu", .family = "pointwise", .grad = "where(y > 0, g, 0)", .flops = 1};
    return strcmp(name, "relu") == 0;
}

void session_op_names(Session *session, void (*offer)(void *, const char *), void *state) {
    (void)session;
    offer(state, "relu");
    offer(state, "sum");
}

void session_versions(Session *session, Text *text) {
    (void)session;
    text_put(text, "no card\n");
}

/* What test_repl.c does not ask for: the fake has none of it. */
double entry_guard_cost_ns(Entry *entry) {
    (void)entry;
    return 0;
}

int entry_symbols(Entry *entry, SymbolFacts *symbols, int room) {
    (void)entry;
    (void)symbols;
    (void)room;
    return 0;
}

int entry_shapes(Entry *entry, ShapeFacts *shapes, int room) {
    (void)entry;
    (void)shapes;
    (void)room;
    return 0;
}

Span entry_last_line(Entry *entry) {
    (void)entry;
    return (Span){0};
}

int session_exit_code(const Session *session) {
    (void)session;
    return 0;
}

bool session_compile_fresh(Session *session, const char *call, bool without_prints, CallResult *result) {
    (void)session;
    (void)call;
    (void)without_prints;
    (void)result;
    return false;
}

bool session_try_call(Session *session, const char *call, TryResult *result, Arena *arena) {
    (void)session;
    (void)call;
    (void)result;
    (void)arena;
    return false;
}

bool session_sweep(Session *session, const char *call, const SweepVariable *variables, int variable_count, SweepMode mode, SweepMemory **memory, SweepRun *run, Arena *arena) {
    (void)session;
    (void)call;
    (void)variables;
    (void)variable_count;
    (void)mode;
    (void)memory;
    (void)run;
    (void)arena;
    return false;
}

bool session_step_begin(Session *session, const char *call) {
    (void)session;
    (void)call;
    return false;
}

StepResult session_step(Session *session, const StepGoal *goal) {
    (void)session;
    (void)goal;
    return (StepResult)0;
}

bool session_step_facts(Session *session, StepFacts *facts, Arena *arena) {
    (void)session;
    (void)facts;
    (void)arena;
    return false;
}

void session_step_end(Session *session) {
    (void)session;
}

bool session_step_break(Session *session, const char *file_or_null, int line, bool on) {
    (void)session;
    (void)file_or_null;
    (void)line;
    (void)on;
    return false;
}

int session_step_breaks(Session *session, LineBreakFacts *breaks, int room) {
    (void)session;
    (void)breaks;
    (void)room;
    return 0;
}
