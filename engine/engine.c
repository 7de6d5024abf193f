/* See engine.h. Puts the parts together: the only file that knows all of them. In: options. Out: a session that runs text.
 *
 * dynamo gets the pipeline as its backend, the VM gets executors for each device; neither includes the other.
 * Invariant: nothing is global; two sessions in one process do not meet. */
#include "engine.h"
#include "custom_backend.h"
#include "pieces.h"
#include "session.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- what is injected ---- */
static void backend_compile(void *state, Entry *entry) {
    Session *session = state;
    const char *backend = session->dynamo->options.backend;
    if (backend && !strcmp(backend, "eager")) return; /* the captured graph is run as it is */
    Value function = session->dynamo->options.function;
    if (function.tag == V_OBJECT) {
        if (!custom_backend_compile(entry, function)) fail(&entry->failure, entry->code->span, "the backend raised an exception");
        return;
    }
    if (pieces_needed(entry)) {
        pieces_compile(entry);
        return;
    }
    Artifacts *artifacts = ARENA_NEW(entry->arena, Artifacts);
    entry->artifacts = artifacts;
    pipeline(&entry->compile, entry->graph, artifacts);
}

static Value backend_run(void *state, Entry *entry, Value *args, int nargs) {
    (void)state;
    if (entry->runner.tag != V_NULL) return custom_backend_run(entry, args, nargs);
    if (entry->pieces) return pieces_run(entry, args, nargs);
    return entry->artifacts ? compiled_run(entry, args, nargs) : graph_run(entry, args, nargs);
}

static void release_artifacts(Session *session, const Artifacts *artifacts) {
    if (!artifacts) return;
    if (artifacts->forward.plan) plan_unload(session->runtime, artifacts->forward.plan);
    if (artifacts->backward.plan) plan_unload(session->runtime, artifacts->backward.plan);
    for (int i = 0; i < artifacts->pruned.count; i++) plan_unload(session->runtime, artifacts->pruned.at[i]->backward.plan);
}

static void backend_release(void *state, Entry *entry) {
    if (entry->captured.tag != V_NULL) custom_backend_release(entry);
    release_artifacts(state, entry->artifacts);
    for (int i = 0; i < pieces_count(entry); i++) release_artifacts(state, pieces_at(entry, i)->artifacts);
}

static int64_t outputs_bytes(const Arg *args, int count) {
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        if (args[i].tag == ARG_TENSOR) bytes += meta_bytes(args[i].tensor.meta);
    return bytes;
}

static void count_eager(Session *session, const Arg *args, int nargs, const Arg *outs, int nouts) {
    session->eager_launches++;
    session->eager_bytes += outputs_bytes(args, nargs) + outputs_bytes(outs, nouts);
}

static bool run_on_cpu(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    count_eager(state, args, nargs, outs, nouts);
    return op_run_cpu(op, args, nargs, outs, nouts, context, error);
}

static bool run_on_cuda(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    count_eager(state, args, nargs, outs, nouts);
    return eager_cuda_run(state, op, args, nargs, outs, nouts, context, error);
}

static void runtime_warn(void *state, const char *text) { session_note(state, text); }

void session_note(Session *session, const char *text) {
    Text line = {0};
    text_printf(&line, "note: %s\n", text);
    session->options.notes.write(session->options.notes.state, line.data, line.length);
    text_free(&line);
}

/* ---- opening and closing ---- */
bool session_device(const char *text, Device *device) {
    Device parsed = {DEVICE_CPU, 0};
    char rest;
    if (text && !strncmp(text, "cuda", 4)) {
        parsed.kind = DEVICE_CUDA;
        bool numbered = sscanf(text + 4, ":%d%c", &parsed.index, &rest) == 1 && parsed.index >= 0 && parsed.index < 64;
        if (text[4] != '\0' && !numbered) return false;
    } else if (text && strcmp(text, "cpu")) return false;
    *device = parsed;
    return true;
}

static void open_vm(Session *session) {
    VMSetup setup = {.lang = &session->lang, .ops = session->ops, .runtime = session->runtime, .interrupt = session->options.interrupt,
                     .out = {session->options.out.state, session->options.out.write}, .notes = {session->options.notes.state, session->options.notes.write}};
    session->vm = vm_new(session->arena, &setup);
    session->vm->executors[DEVICE_CPU] = (Executor){session, run_on_cpu, false};
    session->vm->executors[DEVICE_CUDA] = (Executor){session, run_on_cuda, true};
    session->vm->context.threads = runtime_threads();
    runtime_set_context(session->runtime, &session->vm->context);
    session_device(session->options.device, &session->vm->default_device);
}

Session *session_open(const SessionOptions *options) {
    Arena *arena = arena_new("session");
    Session *session = ARENA_NEW(arena, Session);
    session->arena = arena;
    session->command = arena_new("command");
    session->options = *options;
    session->names = interner_new(arena);
    session->lang = (LangSession){arena, session->names, &session->failure, 0};
    session->policy = policy_best;
    session->ops = op_table_new(arena, &session->lang);
    RuntimeOptions runtime = {.cache_dir = options->no_cache ? "" : options->cache_dir, .arch = options->arch, .interrupt = options->interrupt, .warn = runtime_warn, .warn_state = session};
    session->runtime = runtime_new(arena, &runtime);
    open_vm(session);
    DynamoBackend backend = {session, backend_compile, backend_run, backend_release};
    session->dynamo = dynamo_new(session->vm, arena, &backend, &session->policy);
    session->dynamo->hide_times = options->plain;
    session->vm->dynamo = session->dynamo;
    dynamo_define(session->dynamo);
    custom_backend_define(session->vm);
    return session;
}

void session_close(Session *session) {
    if (!session) return;
    session_step_end(session);
    vm_finish(session->vm);
    dynamo_close(session->dynamo);
    vm_close(session->vm);
    eager_cuda_close(session);
    runtime_close(session->runtime);
    arena_free(session->command);
    arena_free(session->arena);
}

void session_set_arguments(Session *session, const char *const *words, int count) { vm_set_argv(session->vm, words, count); }

int session_exit_code(const Session *session) { return session->exit_code; }

void session_reset(Session *session) { dynamo_reset(session->dynamo); }

void session_collect(Session *session) {
    vm_collect(session->vm);
    arena_reset(session->command);
}

Arena *session_command_arena(Session *session) { return session->command; }

/* ---- errors ---- */
static void notes_text(Session *session, Text *text) {
    if (text->length) session->options.notes.write(session->options.notes.state, text->data, text->length);
    text_free(text);
}

/* The machine takes an interrupt back when it raises it; one that nothing caught stands again, for the exit status. */
static void restore_interrupt(Session *session) {
    Value exception = session->vm->exception;
    bool ours = session->options.interrupt && value_is(exception, OBJ_INSTANCE) && !strcmp(((Instance *)exception.o)->cls->name, "KeyboardInterrupt");
    if (ours) *session->options.interrupt = 1;
}

void session_report(Session *session) {
    Text text = {0};
    restore_interrupt(session);
    if (session->vm->exception.tag == V_OBJECT) vm_print_exception(session->vm, &text);
    else if (session->vm->stopped) text_printf(&text, "error: %s\n", session->vm->stop_text);
    session->vm->stopped = false;
    notes_text(session, &text);
}

static void report_failure(Session *session) {
    Text text = {0};
    span_report(&text, session->failure.span, "error", session->failure.message);
    notes_text(session, &text);
}

/* ---- running text ---- */
typedef struct ParseCall { Session *session; const SourceFile *file; bool interactive; Program *program; } ParseCall;

static void parse_body(void *state) {
    ParseCall *call = state;
    call->program = lang_compile(&call->session->lang, call->file, call->interactive);
}

static int interrupted(Session *session) { return session->options.interrupt && *session->options.interrupt ? RUN_INTERRUPTED : RUN_ERROR; }

static int run_program(Session *session, const Program *program, CommandFn command, void *state) {
    int next = 0;
    for (int i = 0; i <= program->statement_count; i++) {
        for (; next < program->command_count && program->commands[next].before <= i; next++) {
            int status = command ? command(state, program->commands[next].text, program->commands[next].span) : 0;
            if (status) return status;
        }
        if (i == program->statement_count) break;
        Value value = vm_run_statement(session->vm, program->statements[i], session->vm->main->dict);
        if (value_is_error(value)) {
            if (vm_exit_status(session->vm, &session->exit_code)) return RUN_EXIT; /* no traceback */
            session_report(session);
            return interrupted(session);
        }
        value_unref(session->vm, value);
    }
    return RUN_DONE;
}

int session_run_text(Session *session, const char *text, const char *name, int first_line, bool interactive, CommandFn command, void *state) {
    SourceFile *file = source_new(session->arena, arena_strdup(session->arena, name), arena_strdup(session->arena, text), strlen(text), first_line);
    ParseCall call = {session, file, interactive, NULL};
    if (!fail_catch(&session->failure, parse_body, &call)) {
        report_failure(session);
        return RUN_ERROR;
    }
    return run_program(session, call.program, command, state);
}

static char *read_file(Session *session, const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    Text text = {0};
    char block[65536];
    size_t got;
    while ((got = fread(block, 1, sizeof block, file)) > 0 && text.length < (size_t)64 << 20) text_put_n(&text, block, got);
    bool bad = ferror(file);
    fclose(file);
    *length = text.length;
    char *copy = bad ? NULL : arena_strndup(session->arena, text.data ? text.data : "", text.length);
    text_free(&text);
    return copy;
}

int session_run_file(Session *session, const char *path, CommandFn command, void *state, int *status_of_open) {
    size_t length;
    errno = 0;
    char *text = read_file(session, path, &length);
    *status_of_open = text ? 0 : errno ? errno : EIO;
    if (!text) return RUN_ERROR;
    if (memchr(text, 0, length)) {
        session_note(session, "the file holds a NUL byte: it is not a text");
        *status_of_open = EINVAL;
        return RUN_ERROR;
    }
    return session_run_text(session, text, path, 1, false, command, state);
}

int session_input_state(const char *text) { return (int)lang_state(text); }
size_t session_next_statement(const char *text, bool at_end) { return lang_next_statement(text, at_end); }

/* ---- completion ---- */
static void offer_names(VM *vm, Dict *dict, const char *prefix, const char *stem, void (*offer)(void *, const char *), void *state) {
    Value key, value;
    int position = 0;
    Text text = {0};
    (void)vm;
    while (dict_next(dict, &position, &key, &value)) {
        if (!value_is(key, OBJ_STR) || strncmp(str_text(key), prefix, strlen(prefix))) continue;
        text_clear(&text);
        text_printf(&text, "%s%s", stem, str_text(key));
        offer(state, text_cstr(&text));
    }
    text_free(&text);
}

static void offer_attributes(Session *session, Value object, const char *prefix, const char *stem, void (*offer)(void *, const char *), void *state) {
    VM *vm = session->vm;
    if (value_is(object, OBJ_MODULE)) offer_names(vm, ((ModuleObject *)object.o)->dict, prefix, stem, offer, state);
    else if (value_is(object, OBJ_INSTANCE) && ((Instance *)object.o)->dict) offer_names(vm, ((Instance *)object.o)->dict, prefix, stem, offer, state);
    Class *cls = value_is(object, OBJ_CLASS) ? (Class *)object.o : class_of(vm, object);
    for (int i = 0; cls && i < cls->mro_count; i++) offer_names(vm, cls->mro[i]->dict, prefix, stem, offer, state);
}

/* Follows "a.b.c" by attributes that are plain data, so that completing runs no code of the program. */
static Value follow_path(Session *session, const char *path, size_t length) {
    VM *vm = session->vm;
    const char *dot = memchr(path, '.', length);
    size_t first = dot ? (size_t)(dot - path) : length;
    const char *name = intern_n(session->names, path, first);
    Value value = dict_get_name(vm, vm->main->dict, name);
    if (value.tag == V_NULL) value = dict_get_name(vm, vm->builtins, name);
    while (dot && value.tag == V_OBJECT) {
        const char *start = dot + 1;
        dot = memchr(start, '.', length - (size_t)(start - path));
        name = intern_n(session->names, start, dot ? (size_t)(dot - start) : length - (size_t)(start - path));
        if (value_is(value, OBJ_MODULE)) value = dict_get_name(vm, ((ModuleObject *)value.o)->dict, name);
        else if (value_is(value, OBJ_INSTANCE) && ((Instance *)value.o)->dict) value = dict_get_name(vm, ((Instance *)value.o)->dict, name);
        else value = VALUE_NULL;
    }
    return value;
}

void session_complete(Session *session, const char *text, void (*offer)(void *state, const char *candidate), void *state) {
    const char *dot = strrchr(text, '.');
    if (!dot) {
        offer_names(session->vm, session->vm->main->dict, text, "", offer, state);
        offer_names(session->vm, session->vm->builtins, text, "", offer, state);
        return;
    }
    Value object = follow_path(session, text, (size_t)(dot - text));
    if (object.tag == V_NULL) return;
    char *stem = arena_strndup(session->command, text, (size_t)(dot - text) + 1);
    offer_attributes(session, object, dot + 1, stem, offer, state);
}

const char *engine_blas_kernels(void) { return blas_better_kernels(); }
