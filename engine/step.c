/* See step.h. In: a call's text, then moves. Out: stops, as facts.
 *
 *     session_step_begin(s, "f(x)");                          // the first stop: f is about to be captured
 *     session_step(s, &(StepGoal){.move = STEP_NEXT});        // the next instruction of the frame
 *     session_step_facts(s, &facts, arena);
 *
 * Invariant: between two calls of these functions the thread of the call waits or has ended, and the VM is the prompt's. */
#include "step.h"
#include <signal.h>
#include <stddef.h>
#include <string.h>

enum { MAX_STOPS = 200000, STACK_BYTES = 256 << 20 };

/* ---- whose machine it is ---- */

static Machine machine_take(Session *session) {
    VM *vm = session->vm;
    Dynamo *d = session->dynamo;
    Machine m = {.frame = vm->frame, .domain = vm->domain, .domain_state = vm->domain_state, .evaluator = vm->evaluator, .evaluator_state = vm->evaluator_state, .hook = vm->instruction_hook,
                 .hook_state = vm->instruction_state, .exception = vm->exception, .handled = vm->handled, .stopped = vm->stopped, .stop_span = vm->stop_span, .depth = vm->depth, .span = vm->span,
                 .open_leaf = vm->open_leaf, .syms = vm->context.syms, .unbacked = vm->context.unbacked, .unbacked_state = vm->context.unbacked_state, .in_body = vm->torch->in_body, .modes = modes_now(vm), .capturing = d->capturing, .copying = d->copying, .only_cached = d->only_cached, .stance = d->stance, .options = d->options, .module = d->module, .compiled_code = d->compiled_code, .watch = d->watch, .copies = d->copies.at, .copy_count = d->copies.count,
                 .copy_capacity = d->copies.capacity, .copy_frames = d->copy_frames, .used = d->used.at, .used_count = d->used.count, .used_capacity = d->used.capacity};
    memcpy(m.stop_kind, vm->stop_kind, sizeof m.stop_kind);
    memcpy(m.stop_text, vm->stop_text, sizeof m.stop_text);
    return m;
}

static void machine_put(Session *session, const Machine *m) {
    VM *vm = session->vm;
    Dynamo *d = session->dynamo;
    vm->frame = m->frame;
    vm->domain = m->domain, vm->domain_state = m->domain_state;
    vm->evaluator = m->evaluator, vm->evaluator_state = m->evaluator_state;
    vm->instruction_hook = m->hook, vm->instruction_state = m->hook_state;
    vm->exception = m->exception, vm->handled = m->handled;
    vm->stopped = m->stopped, vm->stop_span = m->stop_span;
    memcpy(vm->stop_kind, m->stop_kind, sizeof m->stop_kind);
    memcpy(vm->stop_text, m->stop_text, sizeof m->stop_text);
    vm->depth = m->depth, vm->span = m->span;
    vm->open_leaf = m->open_leaf, vm->context.syms = m->syms, vm->context.unbacked = m->unbacked, vm->context.unbacked_state = m->unbacked_state, vm->torch->in_body = m->in_body;
    modes_set(vm, &m->modes);
    d->capturing = m->capturing, d->copying = m->copying, d->only_cached = m->only_cached, d->stance = m->stance;
    d->options = m->options, d->watch = m->watch;
    d->module = m->module, d->compiled_code = m->compiled_code;
    d->copies.at = m->copies, d->copies.count = m->copy_count, d->copies.capacity = m->copy_capacity, d->copy_frames = m->copy_frames;
    d->used.at = m->used, d->used.count = m->used_count, d->used.capacity = m->used_capacity;
}

static void machine_exchange(Stepper *stepper) {
    Machine mine = machine_take(stepper->session);
    machine_put(stepper->session, &stepper->machine);
    stepper->machine = mine;
}

/* The prompt's machine, as a call that is about to begin finds it: nothing is copied, used or watched yet. */
static Machine machine_fresh(Session *session) {
    Machine m = machine_take(session);
    m.copies = NULL, m.copy_count = m.copy_capacity = 0;
    m.used = NULL, m.used_count = m.used_capacity = 0;
    return m;
}

/* ---- turns ---- */

/* The thread's side: gives the turn back and waits for the next. */
static void pause_here(Stepper *stepper) {
    pthread_mutex_lock(&stepper->lock);
    machine_exchange(stepper);
    stepper->runs = false;
    pthread_cond_broadcast(&stepper->turn);
    while (!stepper->runs) pthread_cond_wait(&stepper->turn, &stepper->lock);
    machine_exchange(stepper);
    pthread_mutex_unlock(&stepper->lock);
}

/* The prompt's side: until the call stops or ends. */
static void let_run(Stepper *stepper) {
    pthread_mutex_lock(&stepper->lock);
    stepper->runs = true;
    pthread_cond_broadcast(&stepper->turn);
    while (stepper->runs) pthread_cond_wait(&stepper->turn, &stepper->lock);
    pthread_mutex_unlock(&stepper->lock);
}

static bool is_interrupted(const Stepper *stepper) { return stepper->session->options.interrupt && *stepper->session->options.interrupt; }

/* After a stop was recorded. An interrupt stops here too: what runs is then looked at, not lost. */
static void consider(Stepper *stepper) {
    if (stepper->abandoned || !stepper->stops.count) return;
    if (stop_is_wanted(stepper, stepper->stops.count - 1) || is_interrupted(stepper)) pause_here(stepper);
}

static void forget_old(Stepper *stepper) {
    if (stepper->stops.count < MAX_STOPS) return;
    stepper->dropped += stepper->stops.count;
    arena_reset(stepper->arena);
    stepper->texts = interner_new(stepper->arena);
    memset(&stepper->stops, 0, sizeof stepper->stops);
    stepper->start = -1;
}

static bool raise_abandoned(VM *vm) {
    if (vm->exception.tag == V_NULL) vm_raise(vm, "KeyboardInterrupt", "the stepped call was given up");
    return false;
}

/* Before each instruction of the call. Only those of a first attempt are stops: the second goes the same way, to cut the graph. */
static bool on_instruction(VM *vm, Frame *frame, void *state) {
    Stepper *stepper = state;
    if (stepper->abandoned) return raise_abandoned(vm);
    if (!stepper->session->dynamo->capturing || strcmp(vm->domain->name, "symbolic")) return true;
    Capture *capture = capture_of(vm);
    if (capture->plan) return true;
    forget_old(stepper);
    stop_instruction(stepper, capture, frame);
    consider(stepper);
    return !stepper->abandoned || raise_abandoned(vm);
}

static void on_stage(void *state, Compile *c, const char *stage) {
    Stepper *stepper = state;
    Entry *entry = (Entry *)((char *)c - offsetof(Entry, compile));
    if (!stepper->abandoned) {
        stop_stage(stepper, entry, stage);
        consider(stepper);
    }
    if (stepper->abandoned) fail(c->failure, (Span){0}, "the stepped call was given up");
}

static void meet(Stepper *stepper, Entry *entry) {
    for (int i = 0; i < stepper->entries.count; i++)
        if (stepper->entries.at[i] == entry) return;
    vec_push(&stepper->entries, entry_ref(entry));
}

static void on_event(void *state, WatchEvent event, Entry *entry, const Frame *frame, const char *text, Span span) {
    Stepper *stepper = state;
    if (stepper->abandoned) return;
    if (entry) meet(stepper, entry);
    if (event == WATCH_CAPTURED) {
        entry->compile.stage_done = on_stage;
        entry->compile.stage_state = stepper;
    }
    forget_old(stepper);
    stop_event(stepper, event, entry, frame, text, span);
    consider(stepper);
}

static void *thread_body(void *state) {
    Stepper *stepper = state;
    Session *session = stepper->session;
    pthread_mutex_lock(&stepper->lock);
    while (!stepper->runs) pthread_cond_wait(&stepper->turn, &stepper->lock);
    machine_exchange(stepper);
    pthread_mutex_unlock(&stepper->lock);
    CompileOptions options = dynamo_options(stepper->parts.callee);
    options.backend = "inductor";
    options.function = VALUE_NULL;
    options.fullgraph = false;
    session->vm->instruction_hook = on_instruction;
    session->vm->instruction_state = stepper;
    session->dynamo->watch = &stepper->watch;
    dynamo_copy_begin(session->dynamo);
    if (!stepper->abandoned) stepper->result = dynamo_call(session->dynamo, &options, dynamo_inner(stepper->parts.callee), stepper->parts.args, stepper->parts.nargs, stepper->parts.kwnames);
    dynamo_copy_end(session->dynamo);
    pthread_mutex_lock(&stepper->lock);
    machine_exchange(stepper);
    if (!stepper->abandoned) modes_set(session->vm, &stepper->machine.modes); /* what the program set stays set */
    stepper->finished = true;
    stepper->runs = false;
    pthread_cond_broadcast(&stepper->turn);
    pthread_mutex_unlock(&stepper->lock);
    return NULL;
}

static bool thread_start(Stepper *stepper) {
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_mutex_init(&stepper->lock, NULL);
    pthread_cond_init(&stepper->turn, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the prompt's */
    stepper->started = pthread_create(&stepper->thread, &attributes, thread_body, stepper) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return stepper->started;
}

/* ---- where to stop ---- */

static int stop_line(const Stop *stop) { return span_line(stop->span); }

/* Is this the first instruction of its line, or the first after the frame was on another one? */
static bool enters_line(const Stepper *stepper, int index) {
    const Stop *stop = &stepper->stops.at[index];
    for (int i = index - 1; i >= 0; i--) {
        const Stop *before = &stepper->stops.at[i];
        if (before->kind != STEP_INSTRUCTION || before->depth < stop->depth) return true;
        if (before->frame == stop->frame) return stop_line(before) != stop_line(stop);
    }
    return true;
}

/* Files are compared by name: each statement of standard input is one of its own. */
static bool is_at_line(const Stepper *stepper, int index, const char *file, int line) {
    const Stop *stop = &stepper->stops.at[index];
    if (stop->kind != STEP_INSTRUCTION || !stop->span.file || stop_line(stop) != line) return false;
    if (!file) file = stepper->file ? stepper->file->name : "";
    return !strcmp(stop->span.file->name, file) && enters_line(stepper, index);
}

static bool is_at_break(const Stepper *stepper, int index) {
    const Session *session = stepper->session;
    for (int i = 0; i < session->line_breaks.count; i++)
        if (is_at_line(stepper, index, session->line_breaks.at[i].file, session->line_breaks.at[i].line)) return true;
    return false;
}

static bool is_stage(const Stop *stop, const char *stage) {
    if (stop->kind == STEP_STAGE) return !strcmp(stop->stage, stage);
    if (stop->kind == STEP_CAPTURED) return !strcmp(stage, "dynamo");
    if (stop->kind == STEP_BREAK) return !strcmp(stage, "break");
    if (stop->kind == STEP_FRAME) return !strcmp(stage, "bytecode");
    if (stop->kind == STEP_RUN) return !strcmp(stage, "run");
    return false;
}

static int depth_at(const Stepper *stepper, int index) { return index >= 0 && index < stepper->stops.count ? stepper->stops.at[index].depth : 0; }

bool stop_is_wanted(const Stepper *stepper, int index) {
    const Stop *stop = &stepper->stops.at[index];
    const StepGoal *goal = &stepper->goal;
    if (stop->kind == STEP_RETURNED) return true;
    switch (goal->move) {
    case STEP_INTO: return true;
    case STEP_NEXT: case STEP_BACK: return stop->kind != STEP_INSTRUCTION || stop->depth <= depth_at(stepper, stepper->start);
    case STEP_CONTINUE: return is_at_break(stepper, index) || stop->kind == STEP_BREAK;
    case STEP_UNTIL: return is_at_break(stepper, index) || (goal->stage ? is_stage(stop, goal->stage) : is_at_line(stepper, index, NULL, goal->line));
    }
    return true;
}

/* ---- the session's side ---- */

static const SourceFile *file_of_call(Session *session, Value callee) {
    callee = dynamo_inner(callee);
    if (value_is(callee, OBJ_METHOD)) callee = ((Method *)callee.o)->function;
    if (value_is(callee, OBJ_INSTANCE)) {
        Value forward = attribute_value(session->vm, callee, intern(session->names, "forward"));
        callee = forward.tag == V_NULL ? attribute_value(session->vm, callee, intern(session->names, "__call__")) : forward;
    }
    return value_is(callee, OBJ_FUNCTION) ? ((Function *)callee.o)->code->span.file : NULL;
}

bool session_step_begin(Session *session, const char *call) {
    session_step_end(session);
    CallParts parts;
    if (!session_call_parts(session, call, &parts)) return false;
    Stepper *stepper = calloc(1, sizeof *stepper);
    if (!stepper) abort();
    stepper->session = session;
    stepper->arena = arena_new("stepping");
    stepper->texts = interner_new(stepper->arena);
    stepper->call = arena_strdup(session->arena, call);
    stepper->parts = parts;
    stepper->file = file_of_call(session, parts.callee);
    stepper->watch = (DynamoWatch){stepper, on_event};
    stepper->machine = machine_fresh(session);
    stepper->result = VALUE_NONE;
    stepper->at = stepper->start = -1;
    session->stepper = stepper;
    if (!thread_start(stepper)) {
        session_note(session, "no thread could be started for the call");
        session_step_end(session);
        return false;
    }
    StepGoal first = {.move = STEP_INTO};
    return session_step(session, &first) != STEP_FAILED;
}

/* The end of the call: its result is a last stop, or its error is reported. */
static StepResult end_of_call(Stepper *stepper) {
    if (!value_is_error(stepper->result)) {
        stop_returned(stepper);
        stepper->at = stepper->stops.count - 1;
        return STEP_STOPPED;
    }
    Session *session = stepper->session;
    machine_exchange(stepper); /* the exception is the call's */
    session_report(session);
    vm_clear_exception(session->vm);
    machine_exchange(stepper);
    stepper->at = stepper->stops.count - 1;
    return STEP_FAILED;
}

static bool is_over(const Stepper *stepper) { return stepper->finished && stepper->at == stepper->stops.count - 1; }

/* Looking commands show the entry that is being made. */
static StepResult stopped_at(Stepper *stepper, int index) {
    stepper->at = index;
    Entry *entry = stepper->stops.at[index].entry;
    if (entry) stepper->session->dynamo->current = entry;
    return STEP_STOPPED;
}

static StepResult step_live(Stepper *stepper) {
    if (stepper->finished) return STEP_ENDED;
    let_run(stepper);
    return stepper->finished ? end_of_call(stepper) : stopped_at(stepper, stepper->stops.count - 1);
}

static StepResult step_back(Stepper *stepper) {
    for (int i = stepper->at - 1; i >= 0; i--) {
        if (!stop_is_wanted(stepper, i)) continue;
        return stopped_at(stepper, i);
    }
    return STEP_AT_START;
}

StepResult session_step(Session *session, const StepGoal *goal) {
    Stepper *stepper = session->stepper;
    if (!stepper) return STEP_NOTHING;
    stepper->goal = *goal;
    stepper->start = stepper->at;
    if (goal->move == STEP_BACK) return step_back(stepper);
    if (is_over(stepper)) return STEP_ENDED;
    for (int i = stepper->at + 1; i < stepper->stops.count; i++) {
        if (!stop_is_wanted(stepper, i)) continue;
        return stopped_at(stepper, i);
    }
    return step_live(stepper);
}

/* The call is unwound: at its next instruction or stage it finds that it was given up. */
static void abandon(Stepper *stepper) {
    stepper->abandoned = true;
    stepper->session->dynamo->abandoned = true;
    let_run(stepper);
    stepper->session->dynamo->abandoned = false;
}

/* Entries of attempts that failed go with the stepper: the one that is looked at from now on must stay. */
static void settle_current(Dynamo *dynamo) {
    for (int i = 0; i < dynamo->entries.count; i++)
        if (dynamo->entries.at[i] == dynamo->current) return;
    dynamo->current = dynamo->entries.count ? vec_last(&dynamo->entries) : NULL;
}

void session_step_end(Session *session) {
    Stepper *stepper = session->stepper;
    if (!stepper) return;
    if (stepper->started && !stepper->finished) {
        abandon(stepper);
        machine_exchange(stepper);
        vm_clear_exception(session->vm);
        session->vm->stopped = false;
        machine_exchange(stepper);
    }
    if (stepper->started) pthread_join(stepper->thread, NULL);
    session->stepper = NULL;
    free(stepper->machine.copies);
    free(stepper->machine.used);
    value_unref(session->vm, stepper->result);
    session_call_release(session, &stepper->parts);
    for (int i = 0; i < stepper->entries.count; i++) {
        stepper->entries.at[i]->compile.stage_done = NULL;
        entry_unref(stepper->entries.at[i]);
    }
    settle_current(session->dynamo);
    vec_free(&stepper->entries);
    arena_free(stepper->arena);
    free(stepper);
}

/* ---- lines to stop at ---- */

static bool same_place(const LineBreakFacts *a, const char *file, int line) { return a->line == line && (a->file && file ? !strcmp(a->file, file) : a->file == file); }

bool session_step_break(Session *session, const char *file, int line, bool on) {
    int kept = 0;
    for (int i = 0; i < session->line_breaks.count; i++)
        if (!same_place(&session->line_breaks.at[i], file, line)) session->line_breaks.at[kept++] = session->line_breaks.at[i];
    bool was = kept < session->line_breaks.count;
    session->line_breaks.count = kept;
    if (on) vec_push_in(session->arena, &session->line_breaks, ((LineBreakFacts){arena_strdup(session->arena, file), line}));
    return on || was;
}

int session_step_breaks(Session *session, LineBreakFacts *breaks, int room) {
    for (int i = 0; i < session->line_breaks.count && i < room; i++) breaks[i] = session->line_breaks.at[i];
    return session->line_breaks.count;
}
