/* What can be looked at of a compile entry: facts, stages as snapshots, guards, kernels, launches. See engine.h.
 *
 * To add a stage: a row in `stages`, whose function writes a snapshot from the artifacts. Views and commands need no change. */
#include "pieces.h"
#include "view.h"
#include <string.h>

static const Artifacts *artifacts_of(const Entry *entry) { return entry->artifacts; }

int session_entry_count(Session *session) { return session->dynamo->entries.count; }
Entry *session_entry(Session *session, int i) { return session->dynamo->entries.at[i]; }

Entry *session_find_entry(Session *session, const char *id) {
    if (!id) return session->dynamo->current;
    Entry *found = NULL;
    for (int i = 0; i < session->dynamo->entries.count; i++) {
        Entry *entry = session->dynamo->entries.at[i];
        if (!strcmp(entry->id, id) && (!found || !entry->is_copy)) found = entry;
    }
    return found;
}

/* What eager execution of the captured ops would move: each op reads its inputs and writes its outputs; views move nothing. */
static void add_bytes(Node *input, void *state) { *(int64_t *)state += meta_bytes(&input->metas[0]); }

static int64_t eager_bytes(const Graph *graph) {
    int64_t bytes = 0;
    for (int i = 0; graph && i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        if (node->kind != NODE_CALL || node->op->family == FAMILY_VIEW) continue;
        node_each_input(node, add_bytes, &bytes);
        for (int j = 0; j < node->noutputs; j++) bytes += meta_bytes(&node->metas[j]);
    }
    return bytes;
}

static int plan_launches(const Plan *plan) { return plan ? plan->launches.count : 0; }

static int count_calls(const Graph *graph) {
    int count = 0;
    for (int i = 0; i < graph->nodes.count; i++) count += node_is_operation(graph->nodes.at[i]);
    return count;
}

/* Of a graph in pieces: what they come to together. */
static void add_pieces(const Entry *entry, EntryFacts *facts) {
    for (int i = 0; i < pieces_count(entry); i++) {
        EntryFacts piece;
        entry_facts(pieces_at(entry, i), &piece);
        facts->launches_forward += piece.launches_forward;
        facts->launches_backward += piece.launches_backward;
        facts->kernels += piece.kernels;
        facts->compile_ms += piece.compile_ms;
        facts->bytes_eager += piece.bytes_eager;
        facts->bytes_compiled += piece.bytes_compiled;
    }
}

void entry_facts(Entry *entry, EntryFacts *facts) {
    const Artifacts *a = artifacts_of(entry);
    *facts = (EntryFacts){.id = entry->id, .function = entry->code->name, .span = entry->code->span, .is_copy = entry->is_copy, .failed = entry->failed, .failure = entry->failed_text,
                          .ops = count_calls(entry->graph), .guards = entry->guards.all.count, .hits = (int)entry->hits, .total_ms = entry->total_ms, .capture_ms = entry->capture_ms, .root = entry->code->resumed_from ? entry->code->resumed_from->name : entry->code->name, .policy = entry->policy.name,
                          .training = entry->compile.training, .device = "cpu"};
    for (int i = 0; i < entry->compile.times.count; i++)
        if (!strcmp(entry->compile.times.at[i].stage, "compile kernels")) facts->compile_ms += entry->compile.times.at[i].ms;
    add_pieces(entry, facts);
    if (!a) return;
    facts->launches_forward = plan_launches(a->forward.plan);
    facts->launches_backward = plan_launches(a->backward.plan);
    facts->bytes_eager = eager_bytes(a->joint);
    facts->bytes_compiled = (a->forward.plan ? a->forward.plan->bytes_moved : 0) + (a->backward.plan ? a->backward.plan->bytes_moved : 0);
    if (a->partition) facts->saved_bytes = a->partition->saved_bytes, facts->saved_bytes_no_recompute = a->partition->saved_bytes_no_recompute;
    facts->block_bytes = (a->forward.plan ? a->forward.plan->block_bytes : 0) + (a->backward.plan ? a->backward.plan->block_bytes : 0);
    facts->kernels = a->forward.report.kernels + a->backward.report.kernels;
    facts->kernels_cached = a->forward.report.cached + a->backward.report.cached;
    facts->device = a->device.kind == DEVICE_CUDA ? "cuda" : "cpu";
}

int entry_stages(Entry *entry, EntryStage *stages, int room) {
    int count = 0;
    for (int i = 0; i < entry->compile.times.count && count < room; i++) {
        int same = 0;
        while (same < count && strcmp(stages[same].stage, entry->compile.times.at[i].stage)) same++;
        if (same == count) stages[count++] = (EntryStage){entry->compile.times.at[i].stage, 0};
        stages[same].ms += entry->compile.times.at[i].ms;
    }
    return count;
}

const ReasonLog *entry_reasons(Entry *entry) { return &entry->compile.reasons; }

/* ---- stages ---- */
typedef bool (*StageView)(View *view);

static char *text_taken(Text *text, Arena *arena) {
    char *copy = text_in(text, arena);
    text_free(text);
    return copy;
}

static bool view_dynamo(View *view) {
    graph_describe(view->entry->graph, view->snapshot);
    return true;
}

/* Guards hang under the part of the source path that they look at. */
static void describe_source(Snapshot *snapshot, const Source *source, const char **id) {
    Text text = {0};
    source_print(&text, source);
    *id = text_taken(&text, snapshot->arena);
    if (snapshot_find(snapshot, *id)) return;
    text = (Text){0};
    Source alone = *source;
    alone.base = NULL;
    source_print(&text, source->base && source->kind != SOURCE_CELL ? &alone : source);
    snapshot_item(snapshot, *id, "source", text_taken(&text, snapshot->arena));
    if (!source->base) return;
    const char *base;
    describe_source(snapshot, source->base, &base);
    snapshot_link(snapshot, base, *id, "data");
}

static void describe_guard(View *view, const Guard *guard) {
    Snapshot *snapshot = view->snapshot;
    Text text = {0};
    guard_print(&text, view->entry->dynamo->vm, guard);
    const char *full = text_taken(&text, snapshot->arena);
    SnapshotItem *item = snapshot_item(snapshot, guard->id, "guard", arena_printf(snapshot->arena, "%s %s", guard->id, guard_kind_name(guard->kind)));
    item->detail = full;
    item->span = guard->span;
    snapshot_row(snapshot, item, "%s", guard->why);
    const char *source;
    if (!guard->source) return;
    describe_source(snapshot, guard->source, &source);
    snapshot_link(snapshot, source, guard->id, "control");
}

static bool view_guards(View *view) {
    const GuardSet *set = &view->entry->guards;
    Text text = {0};
    for (int i = 0; i < set->all.count; i++) {
        describe_guard(view, &set->all.at[i]);
        text_printf(&text, "%-4s ", set->all.at[i].id);
        guard_print(&text, view->entry->dynamo->vm, &set->all.at[i]);
        text_char(&text, '\n');
    }
    view->snapshot->text = text_taken(&text, view->snapshot->arena);
    return true;
}

static bool view_graph(View *view, const Graph *graph) {
    if (!graph) return false;
    graph_describe(graph, view->snapshot);
    return true;
}

static bool view_joint(View *view) { return view->artifacts && view_graph(view, view->artifacts->joint); }

/* Marks what a stage changed: nodes whose op differs from that of the node they came from, and nodes that came from several or from none. */
static const Node *node_by_id(const Graph *graph, int id) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->id == id) return graph->nodes.at[i];
    return NULL;
}

static void mark_changes(Snapshot *snapshot, const Graph *before, const Graph *after) {
    for (int i = 0; i < after->nodes.count; i++) {
        const Node *node = after->nodes.at[i];
        SnapshotItem *item = snapshot_find(snapshot, arena_printf(snapshot->arena, "%%%s", node->name));
        if (!item || node->kind != NODE_CALL) continue;
        const Node *origin = NULL;
        for (int j = 0; j < node->origin_count && !origin; j++) origin = node_by_id(before, node->origins[j]);
        if (!origin) continue;
        if (origin->op == node->op) continue;
        item->mark = "changed";
        snapshot_row(snapshot, item, "from %%%s", origin->name);
    }
}

static bool view_functional(View *view) {
    if (!view->artifacts || !view_graph(view, view->artifacts->functional)) return false;
    mark_changes(view->snapshot, view->artifacts->joint, view->artifacts->functional);
    return true;
}

static bool view_decomposed(View *view) {
    if (!view->artifacts || !view_graph(view, view->artifacts->decomposed)) return false;
    mark_changes(view->snapshot, view->artifacts->functional, view->artifacts->decomposed);
    return true;
}

static bool view_partition(View *view) {
    if (!view->artifacts || !view->artifacts->partition) return false;
    partition_describe(view->artifacts->partition, view->snapshot);
    return true;
}

static bool view_forward(View *view) { return view->artifacts && view_graph(view, view->artifacts->forward.graph); }
static bool view_backward(View *view) { return view->artifacts && view_graph(view, view->artifacts->backward.graph); }

const Side *view_side(const View *view) {
    if (!view->artifacts) return NULL;
    const Side *side = view->side && !strcmp(view->side, "backward") ? &view->artifacts->backward : &view->artifacts->forward;
    return side->plan ? side : NULL;
}

#define SIDE_VIEW(name, field, describe)                  \
    static bool name(View *view) {                        \
        const Side *side = view_side(view);               \
        if (!side || !side->field) return false;          \
        describe(side->field, view->snapshot);            \
        return true;                                      \
    }
SIDE_VIEW(view_ir, lowered, lowered_describe)
SIDE_VIEW(view_memory, plan, memory_describe)
SIDE_VIEW(view_kernels, plan, kernels_describe)
SIDE_VIEW(view_wrapper, plan, wrapper_describe)

/* ---- timeline ---- */
typedef struct Dummies { Storage **all; int count; void **inputs, **constants, **outputs; } Dummies;

/* Memory of a plan's inputs and outputs, in the layout it was made for: floats hold a constant other than zero, indices zero. */
static bool dummies_make(Runtime *runtime, const Plan *plan, Arena *arena, Dummies *d) {
    int count = plan->buffers.count + 1;
    *d = (Dummies){ARENA_ARRAY(arena, Storage *, count), 0, ARENA_ARRAY(arena, void *, count), ARENA_ARRAY(arena, void *, count), ARENA_ARRAY(arena, void *, count)};
    for (int i = 0; i < plan->buffers.count; i++) {
        const Buffer *buffer = &plan->buffers.at[i];
        if (buffer->role == BUFFER_CONSTANT) d->constants[buffer->index] = ((Tensor *)buffer->constant)->storage->data;
        if (buffer->role != BUFFER_INPUT && buffer->role != BUFFER_OUTPUT) continue;
        int64_t bytes = meta_storage_span(&buffer->meta) * dtype_size(buffer->meta.dtype);
        Storage *storage = storage_new(runtime, plan->device, bytes > buffer->bytes ? bytes : buffer->bytes);
        if (!storage) return false;
        device_fill(runtime, plan->device, storage->data, dtype_is_float(buffer->meta.dtype) ? 0x3c : 0, storage->bytes);
        d->all[d->count++] = storage;
        (buffer->role == BUFFER_INPUT ? d->inputs : d->outputs)[buffer->index] = storage->data;
    }
    return true;
}

/* Each launch's start and length in microseconds, measured now on memory of its own; false: not here (no card, symbolic sizes, hidden by --plain). */
static bool timeline_measure(const View *view, const Plan *plan, LaunchTime *times) {
    Runtime *runtime = view->entry->compile.runtime;
    if (view->entry->dynamo->hide_times || plan->size_inputs || plan->random_draws || (plan->device.kind == DEVICE_CUDA && !cuda_available(runtime, NULL))) return false;
    Arena *scratch = arena_new("timeline");
    Dummies d;
    OpError error = {0};
    bool ok = dummies_make(runtime, plan, scratch, &d);
    for (int run = 0; ok && run < 3; run++) ok = plan_profile(runtime, plan, d.inputs, d.constants, d.outputs, NULL, times, &error); /* the last one is warm */
    for (int i = 0; i < d.count; i++) storage_unref(d.all[i]);
    arena_free(scratch);
    return ok;
}

/* Launches on a line of time as measured; where nothing can be measured their lengths stand for the bytes moved, and the title says so. */
static bool view_timeline(View *view) {
    const Side *side = view_side(view);
    if (!side) return false;
    const Plan *plan = side->plan;
    Arena *arena = view->snapshot->arena;
    LaunchTime *times = ARENA_ARRAY(arena, LaunchTime, plan->launches.count + 1);
    bool measured = timeline_measure(view, plan, times);
    double at = 0;
    for (int i = 0; i < plan->launches.count; i++) {
        const Launch *launch = &plan->launches.at[i];
        SnapshotItem *item = snapshot_item(view->snapshot, arena_printf(arena, "launch%d", i), launch->kind == LAUNCH_KERNEL ? "kernel" : "extern", launch->name);
        item->start = measured ? times[i].start_us : at;
        item->length = measured ? times[i].length_us : (double)launch->bytes / 1e3;
        at += (double)launch->bytes / 1e3;
        snapshot_row(view->snapshot, item, "%lld B", (long long)launch->bytes);
    }
    view->snapshot->title = arena_printf(arena, "[%s] %s: launches, %s", view->entry->id, view->entry->code->name, measured ? "microseconds measured on this machine" : "length by bytes moved");
    return true;
}

typedef struct StageRow { const char *name; StageView view; } StageRow;
static const StageRow stage_rows[] = {
    {"bytecode", view_bytecode}, {"dynamo", view_dynamo}, {"guards", view_guards}, {"joint", view_joint}, {"functional", view_functional}, {"decomposed", view_decomposed},
    {"cut", view_cut}, {"partition", view_partition}, {"forward", view_forward}, {"backward", view_backward}, {"ir", view_ir}, {"fusion", view_fusion}, {"schedule", view_schedule}, {"memory", view_memory},
    {"kernels", view_kernels}, {"wrapper", view_wrapper}, {"timeline", view_timeline},
};
enum { STAGE_COUNT = sizeof stage_rows / sizeof *stage_rows };

const char *const *stage_names(void) {
    static const char *const names[STAGE_COUNT + 1] = {"bytecode", "dynamo", "guards", "joint", "functional", "decomposed", "cut", "partition", "forward", "backward", "ir", "fusion", "schedule",
                                                       "memory", "kernels", "wrapper", "timeline", NULL};
    return names;
}

Snapshot *entry_snapshot(Entry *entry, const char *stage, const char *side, Arena *arena, const char **error) {
    *error = NULL;
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (strcmp(stage_rows[i].name, stage)) continue;
        Snapshot *snapshot = snapshot_new(arena, stage_rows[i].name, arena_printf(arena, "[%s] %s: %s", entry->id, entry->code->name, stage));
        View view = {entry, artifacts_of(entry), side, snapshot};
        if (stage_rows[i].view(&view)) return snapshot;
        *error = arena_printf(arena, "[%s] has no stage '%s'%s", entry->id, stage,
                              entry->failed ? ": its compile stopped before" : entry->empty ? ": it captured no ops" : entry->compile.training ? "" : ": nothing required grad, so there is no backward");
        return NULL;
    }
    *error = arena_printf(arena, "there is no stage '%s'", stage);
    return NULL;
}

/* ---- lists ---- */
static const char *guard_source(Entry *entry, const Guard *guard) {
    if (!guard->source) return NULL;
    Text text = {0};
    source_print(&text, guard->source);
    return text_taken(&text, entry->arena);
}

double entry_guard_cost_ns(Entry *entry) { return entry->guards.cost_ns; }

int entry_guards(Entry *entry, GuardFacts *guards, int room) {
    int *order = ARENA_ARRAY(entry->arena, int, entry->guards.all.count + 1);
    if (room) guards_order(&entry->guards, order);
    for (int i = 0; i < entry->guards.all.count && i < room; i++) {
        const Guard *guard = &entry->guards.all.at[i];
        Text text = {0};
        guard_print(&text, entry->dynamo->vm, guard);
        guards[i] = (GuardFacts){guard->id, guard_kind_name(guard->kind), text_taken(&text, entry->arena), guard->why, guard->span, entry->guards.checks, guard->failures, guard_source(entry, guard), order[i], guard->cost_ns};
    }
    return entry->guards.all.count;
}

static const char *node_list(Entry *entry, const Graph *graph, const int *ids, int count) {
    Text text = {0};
    for (int i = 0; i < count; i++) {
        const Node *node = node_by_id(graph, ids[i]);
        if (node) text_printf(&text, "%s%%%s", text.length ? " " : "", node->name);
    }
    return text_taken(&text, entry->arena);
}

static int count_launches(const Plan *plan, const Kernel *kernel) {
    int count = 0;
    for (int i = 0; i < plan->launches.count; i++) count += plan->launches.at[i].kernel == kernel;
    return count;
}

static int dim_or_zero(Dim d) { return dim_is_int(d) ? (int)d : 0; }

static KernelFacts kernel_facts(Entry *entry, const Side *side, const char *name, const Kernel *k) {
    KernelFacts facts = {.id = k->name, .entry_symbol = k->entry, .language = k->language == KERNEL_C ? "c" : "cuda", .source = k->source, .schedule = k->schedule, .side = name,
                         .nodes = node_list(entry, side->graph, k->nodes, k->node_count), .bytes = k->bytes_read + k->bytes_written, .flops = k->flops, .launches = count_launches(side->plan, k),
                         .shared_bytes = k->shared_bytes};
    for (int i = 0; i < 3; i++) facts.grid[i] = dim_or_zero(k->grid[i]), facts.block[i] = k->block[i];
    return facts;
}

typedef struct KernelVisit { Entry *entry; KernelFacts *out; int room, count; const char *wanted; const Kernel *found; const Plan *plan; } KernelVisit;

static void visit_side(KernelVisit *visit, const Side *side, const char *name) {
    for (int i = 0; side->plan && i < side->plan->kernels.count; i++) {
        const Kernel *kernel = side->plan->kernels.at[i];
        KernelFacts facts = kernel_facts(visit->entry, side, name, kernel);
        facts.id = arena_printf(visit->entry->arena, "k%d", visit->count);
        if (visit->wanted && (!strcmp(visit->wanted, facts.id) || !strcmp(visit->wanted, kernel->entry))) visit->found = kernel, visit->plan = side->plan;
        if (visit->out && visit->count < visit->room) visit->out[visit->count] = facts;
        visit->count++;
    }
}

int entry_kernels(Entry *entry, KernelFacts *kernels, int room) {
    const Artifacts *a = artifacts_of(entry);
    KernelVisit visit = {entry, kernels, room, 0, NULL, NULL, NULL};
    if (!a) return 0;
    visit_side(&visit, &a->forward, "forward");
    visit_side(&visit, &a->backward, "backward");
    return visit.count;
}

static const char *resources_text(Entry *entry, const Kernel *kernel, Arena *arena, const char **error) {
    int registers = 0, shared = 0, spills = 0;
    if (kernel->language == KERNEL_C) {
        *error = "resources are those of a CUDA kernel; this one is C";
        return NULL;
    }
    if (!kernel_cuda_resources(entry->compile.runtime, kernel, arena, &registers, &shared, &spills, error)) return NULL;
    return arena_printf(arena, "registers a thread  %d\nshared memory       %d B\nspills              %d B\n", registers, shared + kernel->shared_bytes, spills);
}

const char *entry_kernel_text(Entry *entry, const char *name, const char *what, Arena *arena, const char **error) {
    const Artifacts *a = artifacts_of(entry);
    KernelVisit visit = {entry, NULL, 0, 0, name, NULL, NULL};
    *error = NULL;
    if (a) visit_side(&visit, &a->forward, "forward"), visit_side(&visit, &a->backward, "backward");
    if (!visit.found) {
        *error = arena_printf(arena, "[%s] has no kernel '%s'", entry->id, name);
        return NULL;
    }
    const char *language = visit.found->language == KERNEL_C ? "c" : "cuda", *text = NULL;
    if (!what || !strcmp(what, language)) return visit.found->source;
    if (!strcmp(what, "resources")) return resources_text(entry, visit.found, arena, error);
    if (!strcmp(what, "c") || !strcmp(what, "cuda")) {
        *error = arena_printf(arena, "%s is a %s kernel", name, visit.found->language == KERNEL_C ? "C" : "CUDA");
        return NULL;
    }
    if (!kernel_disassemble(entry->compile.runtime, visit.found, what, arena, &text)) {
        *error = text ? text : arena_printf(arena, "no %s of this kernel can be had here", what);
        return NULL;
    }
    return text;
}

static int side_launches(const Side *side, const char *name, LaunchFacts *launches, int room, int count) {
    for (int i = 0; side->plan && i < side->plan->launches.count; i++, count++) {
        const Launch *launch = &side->plan->launches.at[i];
        if (count < room) launches[count] = (LaunchFacts){launch->name, name, launch->kernel ? launch->kernel->name : NULL, launch->bytes, launch->flops, 0};
    }
    return count;
}

int entry_launches(Entry *entry, LaunchFacts *launches, int room) {
    const Artifacts *a = artifacts_of(entry);
    if (!a) return 0;
    return side_launches(&a->backward, "backward", launches, room, side_launches(&a->forward, "forward", launches, room, 0));
}

/* ---- the session's counts ---- */
void session_counts(Session *session, SessionCounts *counts) {
    const Dynamo *d = session->dynamo;
    *counts = (SessionCounts){d->graphs, d->ops_captured, d->frames_total, d->frames_ok};
}

int session_breaks(Session *session, BreakFacts *breaks, int room) {
    const Dynamo *d = session->dynamo;
    for (int i = 0; i < d->breaks.count && i < room; i++) {
        const BreakRecord *b = &d->breaks.at[i];
        breaks[i] = (BreakFacts){b->compile, b->kind, b->reason, b->line, b->span};
    }
    return d->breaks.count;
}

int session_recompiles(Session *session, RecompileFacts *recompiles, int room) {
    const Dynamo *d = session->dynamo;
    for (int i = 0; i < d->recompiles.count && i < room; i++) {
        const RecompileRecord *r = &d->recompiles.at[i];
        recompiles[i] = (RecompileFacts){r->compile, r->kind, r->reason, r->function, r->span};
    }
    return d->recompiles.count;
}

static void cache_row(CacheFacts *rows, int room, int *count, CacheFacts row) {
    if (*count < room) rows[*count] = row;
    (*count)++;
}

/* A line an entry; a function without entries has one line that says so. */
int session_cache(Session *session, CacheFacts *cache, int room) {
    const Dynamo *d = session->dynamo;
    int count = 0;
    for (int i = 0; i < d->caches.count; i++) {
        const CodeCache *c = d->caches.at[i];
        CacheFacts row = {c->code->name, c->skipped ? "skipped" : "-", c->entries.count, d->recompile_limit, 0};
        for (int j = 0; j < c->entries.count; j++) {
            row.entry = c->entries.at[j]->id, row.hits = c->entries.at[j]->hits;
            cache_row(cache, room, &count, row);
        }
        if (c->skipped || !c->entries.count) cache_row(cache, room, &count, (CacheFacts){c->code->name, c->skipped ? "skipped" : "-", c->entries.count, d->recompile_limit, 0});
    }
    return count;
}
