/* See dynamo.h. In: frames about to run under torch.compile. Out: the same results, from compiled entries where there are some.
 *
 *     evaluate(frame): an entry's guards hold -> run its rewritten code
 *                      else capture -> backend -> new entry     (a stopped capture: the frame runs eagerly, its callees are tried on their own)
 *
 * Invariant: whatever goes wrong in capture or in the backend, the frame still runs, eagerly, and one note says why. */
#include "dynamo/breaks.h"
#include "dynamo/shapes.h"
#include "run/runtime.h"
#include "vm/tracing.h"
#include <string.h>

Dynamo *dynamo_new(VM *vm, Arena *arena, const DynamoBackend *backend, const Policy *policy) {
    Dynamo *dynamo = ARENA_NEW(arena, Dynamo);
    dynamo->vm = vm;
    dynamo->arena = arena;
    dynamo->backend = *backend;
    dynamo->policy = policy;
    dynamo->ops = vm->ops;
    dynamo->recompile_limit = 8;
    dynamo->node_limit = 100000;
    return dynamo;
}

static void cache_clear(CodeCache *cache) {
    for (int i = 0; i < cache->entries.count; i++) entry_unref(cache->entries.at[i]);
    vec_free(&cache->entries);
    cache->skipped = cache->limit_noted = false;
    cache->shapes = NULL;
}

void dynamo_reset(Dynamo *dynamo) {
    for (int i = 0; i < dynamo->caches.count; i++) cache_clear(dynamo->caches.at[i]);
}

static void entries_release(Dynamo *dynamo) {
    for (int i = 0; i < dynamo->entries.count; i++) entry_unref(dynamo->entries.at[i]);
    vec_free(&dynamo->entries);
    dynamo->used.count = 0;
    dynamo->current = NULL;
}

void dynamo_close(Dynamo *dynamo) {
    dynamo_reset(dynamo);
    entries_release(dynamo);
    vec_free(&dynamo->caches);
    vec_free(&dynamo->copies);
    vec_free(&dynamo->used);
    vec_free(&dynamo->breaks);
    vec_free(&dynamo->recompiles);
    vec_free(&dynamo->resumes);
}

void dynamo_copy_begin(Dynamo *dynamo) {
    dynamo->copying = true;
    dynamo->used.count = 0;
    dynamo->copy_frames = 0;
}

void dynamo_copy_end(Dynamo *dynamo) {
    for (int i = 0; i < dynamo->copies.count; i++) cache_clear(dynamo->copies.at[i]);
    dynamo->copies.count = 0;
    dynamo->copying = false;
}

/* Which frames are captured on their own: the program's functions, forward of a shipped module that was compiled itself, an optimizer's step; the rest of the library runs as it is, so
 * that the user's frames it calls are seen. Generators are left alone. */
static bool frame_is_eligible(const Dynamo *dynamo, const Frame *frame) {
    if (!frame->function || frame->code->flags & CODE_GENERATOR) return false;
    if (frame->code->resumed_from) return true;
    if (!frame->code->file || !frame->code->file->shipped) return true;
    if (!strcmp(frame->code->qualname, "Optimizer._change_all")) return true;
    return !strcmp(frame->code->name, "forward") && frame->code->argcount > 0 && value_is(frame->fast[0], OBJ_INSTANCE) && frame->fast[0].o == dynamo->module;
}

static void note_once(Dynamo *dynamo, CodeCache *cache, Span span, const char *text) {
    if (dynamo->abandoned) return;
    vm_note(dynamo->vm, span, "%s runs eagerly: %.*s", cache->code->name, (int)strcspn(text, "\n"), text); /* a compiler's log has more lines */
}

static void watch_tell(const Dynamo *dynamo, WatchEvent event, Entry *entry, const Frame *frame, const char *text, Span span) {
    if (dynamo->watch) dynamo->watch->tell(dynamo->watch->state, event, entry, frame, text, span);
}

static bool break_is_known(const Dynamo *dynamo, const BreakRecord *record) {
    for (int i = dynamo->told_from; i < dynamo->breaks.count; i++) {
        const BreakRecord *known = &dynamo->breaks.at[i];
        if (known->line == record->line && known->span.file == record->span.file && known->in_loop == record->in_loop && !strcmp(known->cause, record->cause)) return true;
    }
    return false;
}

/* A break is counted once for each place and consequence: the same line may break again in another entry, or when an inlined function is compiled by itself. */
static void record_break(Dynamo *dynamo, const Entry *entry, const BreakPlan *plan) {
    Span span = plan->span.file ? plan->span : entry->code->span;
    BreakRecord record = {.compile = arena_strdup(dynamo->arena, entry->id), .kind = plan->kind, .cause = plan->cause ? plan->cause : plan->kind, .reason = plan->text, .in_loop = plan->in_loop, .line = span_line(span), .span = span};
    if (!dynamo->copying && !break_is_known(dynamo, &record)) vec_push(&dynamo->breaks, record);
}

/* An entry whose guards hold, made for another backend, mode or `dynamic`. */
static void record_backend(Dynamo *dynamo, const CodeCache *cache, Entry *entry, const Entry *older) {
    const char *text = "BACKEND_MATCH failure: torch.compile was called with another backend, mode or dynamic";
    reason_add(&entry->compile.reasons, REASON_RECOMPILE, "recompile.backend", NULL, older->id, cache->code->span, "%s: %s", older->id, text);
    RecompileRecord record = {arena_strdup(dynamo->arena, entry->id), "identity", arena_printf(dynamo->arena, "%s: %s", older->id, text), cache->code->name, cache->code->span};
    if (!dynamo->copying) vec_push(&dynamo->recompiles, record);
}

static void record_recompile(Dynamo *dynamo, CodeCache *cache, Entry *entry, Frame *frame) {
    for (int i = cache->entries.count - 1; i >= 0; i--) {
        Entry *older = cache->entries.at[i];
        GuardFailures failures = {0};
        guards_explain(&older->guards, dynamo->vm, frame, entry->arena, &failures);
        if (!failures.count && !entry_is_of_backend(older, dynamo)) record_backend(dynamo, cache, entry, older);
        for (int j = 0; j < failures.count; j++) {
            const GuardFailure *f = &failures.at[j];
            reason_add(&entry->compile.reasons, REASON_RECOMPILE, "recompile.guard", f->guard->id, older->id, f->guard->span, "%s: %s", older->id, f->text);
            if (dynamo->copying) continue;
            RecompileRecord record = {arena_strdup(dynamo->arena, entry->id), f->kind, arena_printf(dynamo->arena, "%s: %s", older->id, f->text), cache->code->name, f->guard->span};
            vec_push(&dynamo->recompiles, record);
        }
    }
}

static void entry_name(Dynamo *dynamo, CodeCache *cache, Entry *entry) {
    if (cache->frame_id < 0) {
        cache->frame_id = dynamo->next_frame_id + (dynamo->copying ? dynamo->copy_frames : 0);
        if (dynamo->copying) dynamo->copy_frames++;
        else dynamo->next_frame_id++;
    }
    entry->frame_id = cache->frame_id;
    entry->index = cache->entries.count + cache->refused;
    entry->id = arena_printf(entry->arena, "%d/%d", entry->frame_id, entry->index);
    entry->compile.id = entry->id;
}

static bool needs_training(const Dynamo *dynamo, const Entry *entry) {
    for (int i = 0; i < entry->inputs.count; i++)
        if (entry->inputs.at[i].meta.requires_grad && dynamo->vm->grad_enabled) return true;
    return false;
}

typedef struct BackendCall { Dynamo *dynamo; Entry *entry; } BackendCall;

static void call_backend(void *state) {
    BackendCall *call = state;
    call->dynamo->backend.compile(call->dynamo->backend.state, call->entry);
}

/* The VM is put back as it was when a stage gave up in the middle of tracing. */
static bool compile_entry(Dynamo *dynamo, Entry *entry) {
    VM *vm = dynamo->vm;
    TraceState state = trace_state(vm);
    vm->evaluator = NULL;
    entry->compile.training = needs_training(dynamo, entry);
    BackendCall call = {dynamo, entry};
    bool ok = fail_catch(&entry->failure, call_backend, &call);
    if (!ok) entry->artifacts = NULL;
    trace_state_restore(vm, &state);
    return ok;
}

/* The object that the rewritten code calls. */
typedef struct GraphObject { Object head; Entry *entry; } GraphObject;

static void graph_object_make(Dynamo *dynamo, Entry *entry) {
    GraphObject *object = (GraphObject *)object_new(dynamo->vm, OBJ_GRAPH, sizeof *object);
    object->entry = entry;
    entry->graph_object = &object->head;
    vec_push_in(entry->arena, &entry->held, value_object(object));
}

static void entry_used(Dynamo *dynamo, Entry *entry) {
    if (!dynamo->copying) return;
    for (int i = 0; i < dynamo->used.count; i++)
        if (dynamo->used.at[i] == entry) return;
    vec_push(&dynamo->used, entry);
    if (dynamo->used.count == 1) dynamo->current = entry; /* the outermost frame of the call is what was asked about */
}

static void entry_keep(Dynamo *dynamo, Entry *entry) {
    vec_push(&dynamo->entries, entry_ref(entry));
    if (!dynamo->copying) dynamo->current = entry;
    entry_used(dynamo, entry);
}

static void count_graph(Dynamo *dynamo, const Entry *entry) {
    if (entry->empty && !dynamo->options.fullgraph && !entry->computes_sizes && !entry->works_on_symbols) return;
    dynamo->graphs++;
    for (int i = 0; i < entry->graph->nodes.count; i++)
        dynamo->ops_captured += node_is_operation(entry->graph->nodes.at[i]);
}

static void count_entry(Dynamo *dynamo, const Entry *entry) {
    if (dynamo->copying) return;
    dynamo->frames_ok++;
    count_graph(dynamo, entry);
}

/* One attempt at a frame. The VM is put back as it was. */
static bool capture_attempt(Dynamo *dynamo, Entry *entry, Frame *frame, const BreakPlan *plan, CaptureEnd *end) {
    VM *vm = dynamo->vm;
    FrameEvaluator evaluator = vm->evaluator;
    Frame *top = vm->frame;
    double start = clock_us();
    vm->evaluator = NULL;
    dynamo->capturing = true;
    graph_object_make(dynamo, entry);
    bool ok = capture_frame(dynamo, entry, frame, plan, end);
    dynamo->capturing = false;
    vm->evaluator = evaluator;
    vm->frame = top;
    entry->capture_ms += (clock_us() - start) / 1000;
    return ok;
}

static void entry_fails(Entry *entry, const char *text) {
    entry->failed = true;
    entry->failed_text = arena_strdup(entry->arena, text);
}

static void break_reason(Entry *entry, const BreakPlan *plan) {
    reason_add(&entry->compile.reasons, REASON_BREAK, arena_printf(entry->arena, "break.%s", plan->kind), entry->code->name, NULL, plan->span, "%s", plan->text);
}

/* The second attempt, on an entry of its own: what the failed instruction had begun (nodes, guards, effects) must not stay. */
static Entry *entry_again(Dynamo *dynamo, CodeCache *cache, Entry *first) {
    Entry *entry = entry_new(dynamo, cache);
    entry->frame_id = first->frame_id;
    entry->index = first->index;
    entry->id = entry->compile.id = arena_strdup(entry->arena, first->id);
    entry->capture_ms = first->capture_ms;
    for (int i = 0; i < first->compile.reasons.all.count; i++) {
        const Reason *reason = &first->compile.reasons.all.at[i];
        if (reason->kind == REASON_RECOMPILE) reason_add(&entry->compile.reasons, reason->kind, reason->code, reason->subject, reason->other, reason->span, "%s", reason->text);
    }
    entry_unref(first);
    return entry;
}

typedef enum Outcome { OUTCOME_COMPILED, OUTCOME_EAGER, OUTCOME_ERROR } Outcome;

static Outcome unsupported(Dynamo *dynamo, CodeCache *cache, Entry *entry, const BreakPlan *plan) {
    cache->refused++;
    dynamo->vm->stopped = false;
    entry_fails(entry, plan->text);
    break_reason(entry, plan);
    vm_raise(dynamo->vm, "Unsupported", "graph break under fullgraph=True: %s", plan->text);
    return OUTCOME_ERROR;
}

/* The frame runs eagerly, now and (unless only this call's inputs are to blame) from now on; functions it calls are tried by themselves. */
static Outcome skip_frame(Dynamo *dynamo, CodeCache *cache, Entry *entry, const BreakPlan *plan) {
    bool only_this_call = !strcmp(plan->kind, "alias"); /* other inputs may be compiled */
    const char *text = plan->why_skip ? arena_printf(dynamo->arena, "%s, and %s", plan->text, plan->why_skip) : plan->text;
    dynamo->vm->stopped = false;
    entry_fails(entry, text);
    break_reason(entry, plan);
    if (!only_this_call || !cache->alias_noted) note_once(dynamo, cache, plan->span.file ? plan->span : entry->code->span, text);
    if (only_this_call) {
        cache->alias_noted = true;
    } else {
        cache->skipped = true;
        cache->skip_reason = text;
    }
    return OUTCOME_EAGER;
}

/* The program (or an op) raises: the frame runs eagerly and raises with its own traceback; from then on, as in PyTorch, the function is left to eager. */
static Outcome raises(Dynamo *dynamo, CodeCache *cache, Entry *entry, const CaptureEnd *end) {
    VM *vm = dynamo->vm;
    entry_fails(entry, "the program raises an exception here");
    if (value_is(vm->exception, OBJ_INSTANCE) && !strcmp(((Instance *)vm->exception.o)->cls->name, "KeyboardInterrupt")) return OUTCOME_ERROR; /* no part of the program: the eager run would go on */
    if (end->raised && end->span.file) {
        BreakPlan plan = {.kind = "call", .text = arena_printf(dynamo->arena, "an exception leaves the function: %s", ((Instance *)vm->exception.o)->cls->name), .span = end->span};
        record_break(dynamo, entry, &plan);
        break_reason(entry, &plan);
    }
    vm_clear_exception(vm);
    if (end->raised) {
        cache->skipped = true;
        cache->skip_reason = "an exception left the function while it was captured";
    }
    return OUTCOME_EAGER;
}

/* "call of print, …: the graph ends here; …": what a stop means for the frame, in plain words. */
static const char *break_outcome(Dynamo *dynamo, const BreakPlan *plan) {
    const char *then = "";
    switch (plan->style) {
    case BREAK_SKIP: then = arena_printf(dynamo->arena, "the frame runs eagerly%s%s", plan->why_skip ? ": " : "", plan->why_skip ? plan->why_skip : ""); break;
    case BREAK_RESUME: then = "the graph ends before this instruction, which then runs by itself; a resume function takes the rest"; break;
    case BREAK_BRANCH: then = "the graph ends before this jump; each side gets a resume function of its own"; break;
    case BREAK_STATEMENT: then = "the graph ends before this statement; the rest of the frame runs as it is"; break;
    }
    return arena_printf(dynamo->arena, "%s: %s; %s", plan->kind, plan->text, then);
}

/* First attempt to the end of the frame; if it stops, a second one as far as it got. */
static Outcome capture_entry(Dynamo *dynamo, CodeCache *cache, Entry **entry, Frame *frame) {
    CaptureEnd end = {0};
    if (capture_attempt(dynamo, *entry, frame, NULL, &end)) return OUTCOME_COMPILED;
    if (!dynamo->vm->stopped) return raises(dynamo, cache, *entry, &end);
    BreakPlan plan = end.found;
    watch_tell(dynamo, WATCH_BREAK, *entry, frame, break_outcome(dynamo, &plan), plan.span);
    if (dynamo->options.fullgraph) return unsupported(dynamo, cache, *entry, &plan);
    if (strcmp(plan.kind, "alias")) record_break(dynamo, *entry, &plan);
    if (plan.style == BREAK_SKIP) return skip_frame(dynamo, cache, *entry, &plan);
    dynamo->vm->stopped = false;
    *entry = entry_again(dynamo, cache, *entry);
    if (capture_attempt(dynamo, *entry, frame, &plan, &end)) {
        break_reason(*entry, &plan);
        return OUTCOME_COMPILED;
    }
    if (!dynamo->vm->stopped) return raises(dynamo, cache, *entry, &end);
    if (end.told) record_break(dynamo, *entry, &end.found);
    return skip_frame(dynamo, cache, *entry, &end.found);
}

static Outcome compile_frame(Dynamo *dynamo, CodeCache *cache, Frame *frame, Entry **out) {
    Entry *entry = entry_new(dynamo, cache);
    double start = clock_us();
    if (!dynamo->copying) dynamo->frames_total++;
    entry_name(dynamo, cache, entry);
    record_recompile(dynamo, cache, entry, frame);
    watch_tell(dynamo, WATCH_FRAME, entry, frame, NULL, entry->code->span);
    Outcome outcome = capture_entry(dynamo, cache, &entry, frame);
    vec_push_in(entry->arena, &entry->compile.times, ((StageTime){"dynamo", entry->capture_ms}));
    entry_keep(dynamo, entry);
    if (outcome != OUTCOME_COMPILED) {
        watch_tell(dynamo, WATCH_EAGER, entry, frame, entry->failed_text, entry->code->span);
        entry_unref(entry);
        return outcome;
    }
    watch_tell(dynamo, WATCH_CAPTURED, entry, frame, NULL, entry->code->span);
    if (!entry->empty && !compile_entry(dynamo, entry)) {
        if (dynamo->vm->exception.tag != V_NULL) { /* raised by a backend of the program */
            entry_unref(entry);
            return OUTCOME_ERROR;
        }
        entry->failed = true;
        entry->failed_text = arena_strdup(entry->arena, entry->failure.message);
        bool interrupted = dynamo->abandoned || (dynamo->vm->interrupt && *dynamo->vm->interrupt); /* says nothing about the function: its next call compiles */
        if (!interrupted) {
            cache->skipped = true;
            cache->skip_reason = arena_strdup(dynamo->arena, entry->failure.message);
            note_once(dynamo, cache, entry->failure.span.file ? entry->failure.span : entry->code->span, entry->failure.message);
        }
        entry_unref(entry);
        return OUTCOME_EAGER;
    }
    if (!shapes_finish(entry)) { /* found when the guards are made: the graph is compiled, the frame is not */
        if (!dynamo->copying) count_graph(dynamo, entry);
        entry_unref(entry);
        return OUTCOME_ERROR;
    }
    entry->total_ms = (clock_us() - start) / 1000;
    count_entry(dynamo, entry);
    if (entry->empty && !entry->rewritten && !dynamo->options.fullgraph && !entry->works_on_symbols) { /* as PyTorch: a function that had nothing to compile is left alone from then on */
        cache->skipped = true;
        cache->skip_reason = "there was nothing to compile in it";
    }
    if (!dynamo->hide_times && !dynamo->abandoned) guards_cost(&entry->guards, dynamo->vm, frame);
    vec_push(&cache->entries, entry);
    *out = entry;
    return OUTCOME_COMPILED;
}

/* Runs an entry's code on the frame's locals. */
static Value run_entry(Dynamo *dynamo, Entry *entry, Frame *frame) {
    VM *vm = dynamo->vm;
    if (!dynamo->copying || entry->is_copy) entry->hits++;
    entry_used(dynamo, entry);
    watch_tell(dynamo, WATCH_RUN, entry, frame, NULL, entry->code->span);
    entry_ref(entry);
    Frame *mine = entry->rewritten ? frame_new(vm, frame->function, entry->rewritten, frame->globals) : frame;
    int count = mine == frame ? 0 : entry->code->nlocals;
    for (int i = 0; i < count; i++) mine->fast[i] = value_ref(frame->fast[i]);
    Value result = frame_run(vm, mine);
    if (mine != frame) frame_free(vm, mine);
    watch_tell(dynamo, WATCH_RETURN, entry, frame, NULL, entry->code->span);
    entry_unref(entry);
    return result;
}

/* torch.compiler.disable: neither the function nor what it calls. */
static Value run_disabled(VM *vm, Frame *frame) {
    FrameEvaluator evaluator = vm->evaluator;
    vm->evaluator = NULL;
    Value result = frame_run(vm, frame);
    vm->evaluator = evaluator;
    return result;
}

/* Who asks gets the frame instead of its being run. */
static Value probe_frame(Dynamo *dynamo, CodeCache *cache, const Frame *frame) {
    dynamo->probe->ask(dynamo->probe->state, cache, frame);
    return vm_stop(dynamo->vm, "other", frame->code->span, "the call was only asked about");
}

/* The entry that serves the frame, or NULL. Who looks on sees frames captured: there only entries of this call serve. */
static Entry *entry_serving(Dynamo *dynamo, CodeCache *cache, Frame *frame) {
    Entry *entry = cache_lookup(cache, dynamo->vm, frame);
    if (dynamo->watch && entry && !entry->is_copy) return NULL;
    if (entry) watch_tell(dynamo, WATCH_SERVED, entry, frame, NULL, entry->code->span);
    return entry;
}

/* Is there a tensor, or a module with some, in a value? */
static bool has_tensor(VM *vm, Value v, int depth) {
    Value key, item;
    int position = 0;
    if (v.tag != V_OBJECT || depth > 8) return false;
    switch (v.o->type) {
    case OBJ_TENSOR: return true;
    case OBJ_CELL: return has_tensor(vm, ((Cell *)v.o)->value, depth + 1);
    case OBJ_LIST:
        for (int i = 0; i < ((List *)v.o)->count; i++)
            if (has_tensor(vm, ((List *)v.o)->items[i], depth + 1)) return true;
        return false;
    case OBJ_TUPLE:
        for (int i = 0; i < ((Tuple *)v.o)->count; i++)
            if (has_tensor(vm, ((Tuple *)v.o)->items[i], depth + 1)) return true;
        return false;
    case OBJ_DICT:
        while (dict_next((Dict *)v.o, &position, &key, &item))
            if (has_tensor(vm, item, depth + 1)) return true;
        return false;
    case OBJ_INSTANCE: { /* modules */
        const Class *cls = ((Instance *)v.o)->cls;
        for (int i = 0; i < cls->mro_count; i++)
            if (!strcmp(cls->mro[i]->name, "Module") && value_is(cls->mro[i]->module_name, OBJ_STR) && !strncmp(str_text(cls->mro[i]->module_name), "torch", 5)) return true;
        return false;
    }
    default: return false;
    }
}

static bool names_torch(VM *vm, const Frame *frame) {
    for (int i = 0; i < frame->code->name_count; i++) {
        Value v = dict_get_name(vm, frame->globals, frame->code->names[i]);
        if (value_is(v, OBJ_MODULE) && !strncmp(((ModuleObject *)v.o)->name, "torch", 5)) return true;
    }
    return false;
}

/* As PyTorch: a function that was not compiled itself, is given no tensor and does not name torch is left alone. */
static bool concerns_tensors(const Dynamo *dynamo, const Frame *frame) {
    VM *vm = dynamo->vm;
    if (frame->code == dynamo->compiled_code || names_torch(vm, frame)) return true;
    for (int i = 0; i < frame->code->nlocals; i++)
        if (has_tensor(vm, frame->fast[i], 0)) return true;
    return frame->function && has_tensor(vm, frame->function->closure, 0);
}

static void leave_alone(Dynamo *dynamo, CodeCache *cache) {
    cache->skipped = true;
    cache->skip_reason = "no tensor comes into it";
    if (dynamo->copying) return;
    dynamo->frames_total++;
    dynamo->frames_ok++;
}

/* The compile that is one too many: it gets an id and its reasons, and fails. */
static bool meet_limit(Dynamo *dynamo, CodeCache *cache, Frame *frame) {
    static const char text[] = "the limit of recompiles is reached";
    Entry *entry = entry_new(dynamo, cache);
    if (!dynamo->copying) dynamo->frames_total++;
    entry_name(dynamo, cache, entry);
    record_recompile(dynamo, cache, entry, frame);
    entry_unref(entry);
    if (dynamo->options.fullgraph) {
        vm_raise(dynamo->vm, "FailOnRecompileLimitHit", "recompile_limit reached with fullgraph=True: %s has %d entries, and none serves this call", cache->code->name, cache->entries.count);
        return false;
    }
    cache->limit_noted = true;
    note_once(dynamo, cache, frame->code->span, text);
    return true;
}

/* As PyTorch: from now on the function and what it calls are served by entries that are there, or run eagerly. */
static Value run_beyond_limit(Dynamo *dynamo, CodeCache *cache, Frame *frame) {
    watch_tell(dynamo, WATCH_EAGER, NULL, frame, "the limit of recompiles is reached", frame->code->span);
    if (!cache->limit_noted && !meet_limit(dynamo, cache, frame)) return VALUE_ERROR;
    bool before = dynamo->only_cached;
    dynamo->only_cached = true;
    Value result = frame_run(dynamo->vm, frame);
    dynamo->only_cached = before;
    return result;
}

/* Where a compile, or another one, is an error to the program. */
static bool may_compile(const Dynamo *dynamo, const CodeCache *cache) {
    if (dynamo->copying) return true;
    if (dynamo->stance == STANCE_FAIL) {
        vm_raise(dynamo->vm, "RuntimeError", "Detected recompile when torch.compile stance is 'fail_on_recompile'. filename: '%s', function name: '%s', line number: %d", cache->code->file ? cache->code->file->name : "", cache->code->name, span_line(cache->code->span));
        return false;
    }
    if (!cache->entries.count || !shapes_config(dynamo).error_on_recompile) return true;
    vm_raise(dynamo->vm, "RecompileError", "Recompiling function %s: torch._dynamo.config.error_on_recompile is set", cache->code->name);
    return false;
}

static Value evaluate(VM *vm, Frame *frame, void *state) {
    Dynamo *dynamo = state;
    if (frame->function && frame->function->disabled) return frame->function->disabled_alone ? frame_run(vm, frame) : run_disabled(vm, frame);
    if (!frame_is_eligible(dynamo, frame)) return frame_run(vm, frame);
    CodeCache *cache = cache_of(dynamo, frame->code);
    if (dynamo->probe) return probe_frame(dynamo, cache, frame);
    if (cache->skipped) {
        watch_tell(dynamo, WATCH_EAGER, NULL, frame, cache->skip_reason, frame->code->span);
        return frame_run(vm, frame);
    }
    Entry *entry = entry_serving(dynamo, cache, frame);
    if (!entry && !cache->entries.count && !concerns_tensors(dynamo, frame)) {
        leave_alone(dynamo, cache);
        return frame_run(vm, frame);
    }
    if (!entry && dynamo->only_cached) return frame_run(vm, frame);
    if (!entry && !may_compile(dynamo, cache)) return VALUE_ERROR;
    if (!entry && (cache->limit_noted || cache->entries.count >= shapes_config(dynamo).recompile_limit)) return run_beyond_limit(dynamo, cache, frame);
    if (!entry) {
        Outcome outcome = compile_frame(dynamo, cache, frame, &entry);
        if (outcome == OUTCOME_ERROR) return VALUE_ERROR;
        if (outcome == OUTCOME_EAGER) return frame_run(vm, frame);
    }
    return run_entry(dynamo, entry, frame);
}

static const Code *code_of(Value callee) {
    if (value_is(callee, OBJ_METHOD)) callee = ((Method *)callee.o)->function;
    return value_is(callee, OBJ_FUNCTION) ? ((Function *)callee.o)->code : NULL;
}

Value dynamo_call(Dynamo *dynamo, const CompileOptions *options, Value callee, Value *args, int nargs, Tuple *kwnames) {
    VM *vm = dynamo->vm;
    FrameEvaluator evaluator = vm->evaluator;
    void *evaluator_state = vm->evaluator_state;
    CompileOptions former = dynamo->options;
    Object *module = dynamo->module;
    const Code *compiled_code = dynamo->compiled_code;
    bool only_cached = dynamo->only_cached;
    if (!dynamo->capturing && dynamo->stance == STANCE_EAGER) vm->evaluator = NULL;
    else if (!dynamo->capturing) {
        dynamo->only_cached |= dynamo->stance == STANCE_CACHED;
        vm->evaluator = evaluate;
        vm->evaluator_state = dynamo;
        dynamo->options = *options;
        if (value_is(callee, OBJ_INSTANCE)) dynamo->module = callee.o;
        dynamo->compiled_code = code_of(callee);
    }
    Value result = vm_call(vm, callee, args, nargs, kwnames);
    vm->evaluator = evaluator;
    vm->evaluator_state = evaluator_state;
    dynamo->only_cached = only_cached;
    dynamo->options = former;
    dynamo->module = module;
    dynamo->compiled_code = compiled_code;
    return result;
}

Value dynamo_graph_call(VM *vm, Object *self, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    (void)vm;
    Entry *entry = ((GraphObject *)self)->entry;
    return entry->dynamo->backend.run(entry->dynamo->backend.state, entry, args, nargs);
}
