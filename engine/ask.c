/* Asking about a call: which entry would serve it (`:try`), how many entries a range of sizes makes (`:sweep`). See engine.h.
 *
 *     session_try_call(s, "f(x)", &result, arena);                     // f is not run
 *     session_sweep(s, "f(torch.ones(n))", variables, 1, SWEEP_AS_IS, &run, arena);
 *
 * A sweep really captures, with a backend that runs graphs op by op: no kernels are made. What the program prints meanwhile is not shown.
 * Invariant: both work on a copy of the cache; counts, guards' statistics and the current entry stay as they were. */
#include "dynamo/shapes.h"
#include "session.h"
#include <string.h>

/* ---- try ---- */

typedef struct Asked { Session *session; TryResult *result; Arena *arena; } Asked;

static TryEntry try_entry(Asked *asked, Entry *entry, const Frame *frame) {
    VM *vm = asked->session->vm;
    GuardFailures failures = {0};
    TryEntry row = {.entry = arena_strdup(asked->arena, entry->id), .hits = entry->hits, .holds = guards_hold_uncounted(&entry->guards, vm, frame)};
    if (!row.holds) guards_explain(&entry->guards, vm, frame, asked->arena, &failures);
    row.fails = ARENA_ARRAY(asked->arena, TryGuard, failures.count + 1);
    row.fail_count = failures.count;
    for (int i = 0; i < failures.count; i++) {
        const GuardFailure *f = &failures.at[i];
        row.fails[i] = (TryGuard){arena_strdup(asked->arena, f->guard->id), f->kind, f->text, f->guard->span};
    }
    return row;
}

static void on_ask(void *state, CodeCache *cache, const Frame *frame) {
    Asked *asked = state;
    TryResult *result = asked->result;
    if (result->asked) return;
    result->asked = true;
    result->function = cache->code->name;
    result->span = cache->code->span;
    result->skipped = cache->skipped;
    result->skip_reason = cache->skip_reason;
    result->limit = shapes_config(asked->session->dynamo).recompile_limit;
    result->entry_count = cache->entries.count;
    result->entries = ARENA_ARRAY(asked->arena, TryEntry, cache->entries.count + 1);
    for (int i = cache->entries.count - 1; i >= 0; i--) { /* in the order in which they are tried */
        TryEntry *row = &result->entries[cache->entries.count - 1 - i];
        *row = try_entry(asked, cache->entries.at[i], frame);
        row->serves = row->holds && !result->served && !result->skipped;
        if (row->serves) result->served = row->entry;
    }
}

bool session_try_call(Session *session, const char *text, TryResult *result, Arena *arena) {
    CallParts parts;
    *result = (TryResult){0};
    if (!session_call_parts(session, text, &parts)) return false;
    Dynamo *dynamo = session->dynamo;
    Asked asked = {session, result, arena};
    DynamoProbe probe = {&asked, on_ask};
    CompileOptions options = dynamo_options(parts.callee);
    dynamo_copy_begin(dynamo);
    dynamo->probe = &probe;
    Value value = dynamo_call(dynamo, &options, dynamo_inner(parts.callee), parts.args, parts.nargs, parts.kwnames);
    dynamo->probe = NULL;
    dynamo_copy_end(dynamo);
    bool failed = value_is_error(value) && !session->vm->stopped;
    if (failed) session_report(session);
    vm_clear_exception(session->vm);
    value_unref(session->vm, value);
    session_call_release(session, &parts);
    return !failed;
}

/* ---- sweep ---- */

enum { SWEEP_TENSORS = 64 };
static const double sweep_limit_us = 10e6;

typedef struct SweptTensor { int rank; int64_t sizes[MAX_RANK]; bool varied[MAX_RANK]; const char *name; } SweptTensor;

typedef struct Sweep {
    Session *session; Arena *arena;
    const char *call;
    const SweepVariable *variables; int variable_count;
    SweepMode mode;
    SweepRun *run;
    SweepMemory *memory;
} Sweep;

struct SweepMemory { SweptTensor tensors[SWEEP_TENSORS]; int count; bool seen; };

typedef struct Found { Tensor *at[SWEEP_TENSORS]; int count; } Found;

static void find_tensors(Found *found, Value v, int depth) {
    if (value_is(v, OBJ_TENSOR) && found->count < SWEEP_TENSORS) found->at[found->count++] = (Tensor *)v.o;
    bool tuple = value_is(v, OBJ_TUPLE), list = value_is(v, OBJ_LIST);
    if ((!tuple && !list) || depth > 4) return;
    int count = tuple ? ((Tuple *)v.o)->count : ((List *)v.o)->count;
    for (int i = 0; i < count; i++) find_tensors(found, tuple ? ((Tuple *)v.o)->items[i] : ((List *)v.o)->items[i], depth + 1);
}

static Found tensors_of(const CallParts *parts) {
    Found found = {.count = 0};
    int total = parts->nargs + (parts->kwnames ? parts->kwnames->count : 0);
    for (int i = 0; i < total; i++) find_tensors(&found, parts->args[i], 0);
    return found;
}

/* Which dims of the arguments differ from call to call. */
static void remember_sizes(Sweep *sweep, const CallParts *parts) {
    SweepMemory *memory = sweep->memory;
    Found found = tensors_of(parts);
    for (int i = 0; i < found.count; i++) {
        const Meta *meta = &found.at[i]->meta;
        SweptTensor *t = &memory->tensors[i];
        for (int d = 0; d < meta->rank && memory->seen && i < memory->count && t->rank == meta->rank; d++) t->varied[d] |= t->sizes[d] != meta->sizes[d];
        if (memory->seen) continue;
        t->rank = meta->rank;
        for (int d = 0; d < meta->rank; d++) t->sizes[d] = meta->sizes[d];
    }
    if (!memory->seen) memory->count = found.count;
    memory->seen = true;
}

/* torch._dynamo.mark_dynamic on every dim that varies; sizes 0 and 1 cannot be. */
static bool mark_sizes(Sweep *sweep, const CallParts *parts) {
    VM *vm = sweep->session->vm;
    Found found = tensors_of(parts);
    Value module = vm_import(vm, "torch._dynamo", (Span){0}), mark = vm_load_attr(vm, module, intern(sweep->session->names, "mark_dynamic"));
    bool ok = !value_is_error(mark);
    for (int i = 0; ok && i < found.count && i < sweep->memory->count; i++)
        for (int d = 0; ok && d < found.at[i]->meta.rank; d++) {
            if (!sweep->memory->tensors[i].varied[d] || found.at[i]->meta.sizes[d] < 2) continue;
            Value args[2] = {value_tensor(found.at[i]), value_int(d)}, done = vm_call(vm, mark, args, 2, NULL);
            ok = !value_is_error(done);
            value_unref(vm, done);
        }
    value_unref(vm, mark);
    value_unref(vm, module);
    return ok;
}

/* The machine takes an interrupt back when it raises it; one that came out of a call stands again. */
static void restore_interrupt(Session *session) {
    Value exception = session->vm->exception;
    bool ours = session->options.interrupt && value_is(exception, OBJ_INSTANCE) && !strcmp(((Instance *)exception.o)->cls->name, "KeyboardInterrupt");
    if (ours) *session->options.interrupt = 1;
}

static const char *error_text(Sweep *sweep) {
    VM *vm = sweep->session->vm;
    Text text = {0};
    restore_interrupt(sweep->session);
    if (vm->stopped) text_put(&text, vm->stop_text);
    else vm_print_exception(vm, &text);
    vm_clear_exception(vm);
    const char *whole = text_cstr(&text), *last = whole; /* the last line says what it was */
    for (const char *at = whole; *at; at++)
        if (*at == '\n' && at[1] && at[1] != ' ') last = at + 1;
    const char *copy = arena_strndup(sweep->arena, last, strcspn(last, "\n"));
    text_free(&text);
    return copy;
}

static void write_nothing(void *state, const char *text, size_t length) { (void)state, (void)text, (void)length; }

static Value call_silently(Session *session, const CompileOptions *options, const CallParts *parts) {
    VM *vm = session->vm;
    Output out = vm->out, notes = vm->notes;
    vm->out = vm->notes = (Output){NULL, write_nothing};
    Value value = dynamo_call(session->dynamo, options, dynamo_inner(parts->callee), parts->args, parts->nargs, parts->kwnames);
    vm->out = out, vm->notes = notes;
    return value;
}

static void note_reasons(Sweep *sweep, int point, const Entry *entry) {
    for (int i = 0; i < entry->compile.reasons.all.count; i++) {
        const Reason *reason = &entry->compile.reasons.all.at[i];
        if (reason->kind != REASON_RECOMPILE) continue;
        SweepReason row = {point, arena_strdup(sweep->arena, entry->id), entry->code->name, arena_strdup(sweep->arena, reason->text), reason->span};
        vec_push_in(sweep->arena, &sweep->run->reasons, row);
    }
}

/* One call. What it made is noted; false: it was interrupted. */
static bool sweep_point(Sweep *sweep, SweepPoint *point, int number) {
    Session *session = sweep->session;
    Dynamo *dynamo = session->dynamo;
    CallParts parts;
    const char *names[SWEEP_VARIABLES];
    Value values[SWEEP_VARIABLES];
    for (int i = 0; i < sweep->variable_count; i++) names[i] = intern(session->names, sweep->variables[i].name), values[i] = value_int(point->values[i]);
    if (!session_call_parts_with(session, sweep->call, names, values, sweep->variable_count, &parts)) return !(sweep->run->failed = true);
    CompileOptions options = dynamo_options(parts.callee);
    options.backend = "eager";
    options.function = VALUE_NULL;
    options.fullgraph = false;
    if (sweep->mode == SWEEP_DYNAMIC) options.dynamic_set = options.dynamic = true;
    remember_sizes(sweep, &parts);
    int before = dynamo->entries.count;
    dynamo->used.count = 0;
    bool marked = sweep->mode != SWEEP_MARKED || mark_sizes(sweep, &parts);
    Value value = marked ? call_silently(session, &options, &parts) : VALUE_ERROR;
    if (value_is_error(value)) point->error = error_text(sweep);
    for (int i = before; i < dynamo->entries.count; i++) {
        point->made += !dynamo->entries.at[i]->failed;
        note_reasons(sweep, number, dynamo->entries.at[i]);
    }
    point->entry = dynamo->used.count ? arena_strdup(sweep->arena, dynamo->used.at[0]->id) : NULL;
    value_unref(session->vm, value);
    session_call_release(session, &parts);
    return !(session->options.interrupt && *session->options.interrupt);
}

/* The n-th combination, the last variable running fastest. */
static void point_values(const Sweep *sweep, int number, SweepPoint *point) {
    for (int i = sweep->variable_count - 1; i >= 0; i--) {
        point->values[i] = sweep->variables[i].values[number % sweep->variables[i].count];
        number /= sweep->variables[i].count;
    }
}

static void count_caches(Sweep *sweep) {
    const Dynamo *dynamo = sweep->session->dynamo;
    SweepRun *run = sweep->run;
    run->limit = shapes_config(dynamo).recompile_limit;
    for (int i = 0; i < dynamo->copies.count; i++) {
        const CodeCache *copy = dynamo->copies.at[i];
        int before = copy->original && sweep->mode == SWEEP_AS_IS ? copy->original->entries.count : 0;
        run->entries_before += before;
        run->entries += copy->entries.count;
        run->limit_hit |= copy->limit_noted;
        SweepFunction row = {copy->code->name, copy->entries.count, before, copy->limit_noted, copy->skipped, copy->skip_reason};
        vec_push_in(sweep->arena, &run->functions, row);
    }
}

static void sweep_points(Sweep *sweep) {
    SweepRun *run = sweep->run;
    double start = clock_us();
    for (int i = 0; i < run->total; i++) {
        point_values(sweep, i, &run->points[i]);
        if (!sweep_point(sweep, &run->points[i], i)) {
            run->interrupted = !run->failed;
            break;
        }
        run->done++;
        if (run->limit_at < 0)
            for (int c = 0; c < sweep->session->dynamo->copies.count; c++)
                if (sweep->session->dynamo->copies.at[c]->limit_noted) run->limit_at = i;
        if (clock_us() - start < sweep_limit_us) continue;
        run->timed_out = run->done < run->total;
        break;
    }
    run->ms = (clock_us() - start) / 1000;
}

static void describe_marked(Sweep *sweep) {
    Text text = {0};
    for (int i = 0; i < sweep->memory->count; i++)
        for (int d = 0; d < sweep->memory->tensors[i].rank; d++)
            if (sweep->memory->tensors[i].varied[d]) text_printf(&text, "%sdim %d of tensor %d", text.length ? ", " : "", d, i);
    sweep->run->marked = text.length ? text_in(&text, sweep->arena) : NULL;
    text_free(&text);
}

bool session_sweep(Session *session, const char *call, const SweepVariable *variables, int variable_count, SweepMode mode, SweepMemory **memory, SweepRun *run, Arena *arena) {
    Sweep sweep = {session, arena, call, variables, variable_count, mode, run, NULL};
    Dynamo *dynamo = session->dynamo;
    if (!*memory) *memory = ARENA_NEW(arena, SweepMemory);
    sweep.memory = *memory;
    *run = (SweepRun){.total = 1, .limit_at = -1};
    for (int i = 0; i < variable_count; i++) run->total *= variables[i].count;
    run->points = ARENA_ARRAY(arena, SweepPoint, run->total + 1);
    Entry *current = dynamo->current;
    dynamo_copy_begin(dynamo);
    dynamo->copy_empty = mode != SWEEP_AS_IS;
    sweep_points(&sweep);
    count_caches(&sweep);
    dynamo_copy_end(dynamo);
    dynamo->copy_empty = false;
    dynamo->current = current;
    describe_marked(&sweep);
    return run->done > 0 && !run->failed;
}
