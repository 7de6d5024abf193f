/* Commands' calls: `f(x, 2)` split in callee and arguments, run eagerly or compiled, compared and timed. See engine.h.
 *
 * Medians of repeated runs; on CUDA the time of a call is the device's, between two events, with a cold cache.
 * Invariant: a command's compile works on a copy of the cache (dynamo_copy_begin), so the counts of the session do not change. */
#include "session.h"
#include "vm/autograd.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- evaluating the text of a call ---- */
typedef struct ExpressionCall { Session *session; const char *text; const char **params; int param_count; Code *code; } ExpressionCall;
typedef struct Bound { const char *names[SWEEP_VARIABLES + 1]; Value values[SWEEP_VARIABLES + 1]; int count; } Bound; /* names of an expression; values borrowed */

static void expression_body(void *state) {
    ExpressionCall *call = state;
    Session *session = call->session;
    SourceFile *file = source_new(session->arena, "<command>", arena_strdup(session->arena, call->text), strlen(call->text), 1);
    call->code = lang_compile_expression(&session->lang, file, "<command>", call->params, call->param_count);
}

/* Value of an expression in the main namespace, with some names bound. Errors are reported. */
static Value evaluate_text(Session *session, const char *text, const Bound *bound) {
    const char *names[SWEEP_VARIABLES + 1];
    Value values[SWEEP_VARIABLES + 1];
    for (int i = 0; i < bound->count; i++) names[i] = intern(session->names, bound->names[i]), values[i] = bound->values[i];
    ExpressionCall call = {session, text, names, bound->count, NULL};
    if (!fail_catch(&session->failure, expression_body, &call)) {
        Text report = {0};
        span_report(&report, session->failure.span, "error", session->failure.message);
        session->options.notes.write(session->options.notes.state, report.data, report.length);
        text_free(&report);
        return VALUE_ERROR;
    }
    Value function = function_new(session->vm, call.code, session->vm->main->dict);
    Value result = vm_call(session->vm, function, values, bound->count, NULL);
    value_unref(session->vm, function);
    if (value_is_error(result)) session_report(session);
    return result;
}

/* ___arguments(x, k=2) -> ((x, 2), ("k",) or None) */
static Value take_arguments(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    int total = nargs + (kwnames ? kwnames->count : 0);
    Value parts[2] = {tuple_new(vm, args, total), kwnames ? value_ref(value_object(kwnames)) : VALUE_NONE};
    Value pair = tuple_new(vm, parts, 2);
    value_unref(vm, parts[0]);
    value_unref(vm, parts[1]);
    return pair;
}

/* Offset of the '(' that the text's last ')' closes; -1 when the text does not end in a call. */
static int last_open(const char *text, size_t length) {
    int open[256], depth = 0, found = -1;
    char quote = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (quote) {
            if (c == '\\') i++;
            else if (c == quote) quote = 0;
        } else if (c == '\'' || c == '"') quote = c;
        else if (strchr("([{", c)) {
            if (depth == 256) return -1;
            open[depth++] = (int)i;
        } else if (strchr(")]}", c)) {
            if (depth == 0) return -1;
            found = open[--depth];
            if (i == length - 1) return c == ')' && depth == 0 ? found : -1;
        }
    }
    return -1;
}

static size_t trimmed(const char *text) {
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1])) length--;
    return length;
}

static bool take_parts(Session *session, const char *arguments, const Bound *given, CallParts *parts) {
    Value builtin = builtin_new(session->vm, "___arguments", take_arguments, 0, -1, 0);
    Bound bound = *given;
    bound.names[bound.count] = "___arguments";
    bound.values[bound.count++] = builtin;
    Value pair = evaluate_text(session, arguments, &bound);
    value_unref(session->vm, builtin);
    if (value_is_error(pair)) return false;
    Tuple *both = (Tuple *)pair.o, *values = (Tuple *)both->items[0].o;
    parts->kwnames = value_is(both->items[1], OBJ_TUPLE) ? (Tuple *)both->items[1].o : NULL;
    parts->nargs = values->count - (parts->kwnames ? parts->kwnames->count : 0);
    parts->args = values->items;
    parts->kwnames_value = pair;
    return true;
}

bool session_call_parts(Session *session, const char *text, CallParts *parts) { return session_call_parts_with(session, text, NULL, NULL, 0, parts); }

bool session_call_parts_with(Session *session, const char *text, const char *const *names, const Value *values, int count, CallParts *parts) {
    Bound bound = {.count = count};
    for (int i = 0; i < count; i++) bound.names[i] = names[i], bound.values[i] = values[i];
    *parts = (CallParts){0};
    size_t length = trimmed(text);
    int open = last_open(text, length);
    if (open <= 0) {
        session_note(session, "a call is expected, like f(x, 2)");
        return false;
    }
    parts->callee = evaluate_text(session, arena_strndup(session->command, text, (size_t)open), &bound);
    if (value_is_error(parts->callee)) return false;
    char *arguments = arena_printf(session->command, "___arguments%.*s", (int)(length - (size_t)open), text + open);
    if (take_parts(session, arguments, &bound, parts)) return true;
    value_unref(session->vm, parts->callee);
    return false;
}

void session_call_release(Session *session, CallParts *parts) {
    value_unref(session->vm, parts->callee);
    value_unref(session->vm, parts->kwnames_value);
}

static Value call_eager(Session *session, const CallParts *parts) { return vm_call(session->vm, dynamo_inner(parts->callee), parts->args, parts->nargs, parts->kwnames); }

/* As torch.compile was told, through the whole compiler; a break is looked at, no error. */
static Value call_compiled(Session *session, const CallParts *parts) {
    CompileOptions options = dynamo_options(parts->callee);
    options.backend = "inductor";
    options.function = VALUE_NULL;
    options.fullgraph = false;
    return dynamo_call(session->dynamo, &options, dynamo_inner(parts->callee), parts->args, parts->nargs, parts->kwnames);
}

bool session_compile_call(Session *session, const char *text, bool run, CallResult *result) {
    CallParts parts;
    (void)run; /* the entry is made by running the call: capture needs its values */
    *result = (CallResult){0};
    if (!session_call_parts(session, text, &parts)) return false;
    dynamo_copy_begin(session->dynamo);
    double start = clock_us();
    Value value = call_compiled(session, &parts);
    result->first_ms = (clock_us() - start) / 1000;
    dynamo_copy_end(session->dynamo);
    if (value_is_error(value)) session_report(session);
    else {
        Value repr = vm_repr(session->vm, value);
        if (value_is(repr, OBJ_STR)) result->printed = arena_strdup(session->command, str_text(repr));
        value_unref(session->vm, repr);
        result->ok = true;
    }
    value_unref(session->vm, value);
    session_call_release(session, &parts);
    return result->ok;
}

bool session_compile_fresh(Session *session, const char *text, bool without_prints, CallResult *result) {
    session->dynamo->copy_empty = true;
    session->dynamo->no_effects = without_prints;
    runtime_bypass_cache(session->runtime, !session->dynamo->hide_times);
    bool ok = session_compile_call(session, text, true, result);
    session->dynamo->copy_empty = session->dynamo->no_effects = false;
    runtime_bypass_cache(session->runtime, false);
    return ok;
}

int session_call_entries(Session *session, Entry **entries, int room) {
    const Dynamo *d = session->dynamo;
    for (int i = 0; i < d->used.count && i < room; i++) entries[i] = d->used.at[i];
    return d->used.count;
}

/* ---- comparing ---- */
typedef struct Difference { VM *vm; double square, norm; bool comparable; } Difference;

static double *tensor_doubles(VM *vm, Tensor *t, int64_t *count) {
    Value args[2] = {value_tensor(t), dtype_new(vm, DTYPE_F64)};
    bool grad = vm->grad_enabled;
    vm->grad_enabled = false;
    Tensor *wide = vm_op_tensor(vm, "to", args, 2);
    vm->grad_enabled = grad;
    value_unref(vm, args[1]);
    if (!wide) return NULL;
    *count = meta_numel(&wide->meta);
    double *data = malloc(sizeof *data * (size_t)(*count + 1));
    if (data && !tensor_copy_to_host(vm, wide, data)) free(data), data = NULL;
    value_unref(vm, value_tensor(wide));
    return data;
}

static void compare_tensors(Difference *d, Tensor *a, Tensor *b) {
    int64_t na = 0, nb = 0;
    double *x = tensor_doubles(d->vm, a, &na), *y = tensor_doubles(d->vm, b, &nb);
    d->comparable = d->comparable && x && y && na == nb;
    for (int64_t i = 0; d->comparable && i < na; i++) {
        if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i]))) continue;
        d->square += (x[i] - y[i]) * (x[i] - y[i]);
        d->norm += x[i] * x[i];
    }
    for (int64_t i = 0; d->comparable && i < na; i++)
        if (x[i] == y[i] && isfinite(x[i])) d->norm += x[i] * x[i];
    free(x);
    free(y);
}

static void compare_values(Difference *d, Value a, Value b) {
    if (value_is(a, OBJ_TENSOR) && value_is(b, OBJ_TENSOR)) compare_tensors(d, (Tensor *)a.o, (Tensor *)b.o);
    bool tuples = value_is(a, OBJ_TUPLE) && value_is(b, OBJ_TUPLE), lists = value_is(a, OBJ_LIST) && value_is(b, OBJ_LIST);
    if (!tuples && !lists) return;
    Value *x = tuples ? ((Tuple *)a.o)->items : ((List *)a.o)->items, *y = tuples ? ((Tuple *)b.o)->items : ((List *)b.o)->items;
    int n = tuples ? ((Tuple *)a.o)->count : ((List *)a.o)->count, m = tuples ? ((Tuple *)b.o)->count : ((List *)b.o)->count;
    d->comparable = d->comparable && n == m;
    for (int i = 0; d->comparable && i < n; i++) compare_values(d, x[i], y[i]);
}

/* Relative norm of the difference; nan when the two cannot be compared. */
static double values_difference(VM *vm, Value a, Value b) {
    Difference d = {vm, 0, 0, true};
    compare_values(&d, a, b);
    if (!d.comparable) return NAN;
    return d.square == 0 ? 0 : sqrt(d.square / (d.norm > 0 ? d.norm : 1));
}

/* ---- timing ---- */
typedef struct Timed { Session *session; Value (*step)(void *state); void *state; Device device; } Timed;

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return count ? values[count / 2] : 0;
}

enum { MAX_RUNS = 30 };
static const double time_budget_us = 1.5e6;

static bool step_once(Timed *t) {
    Value value = t->step(t->state);
    bool ok = !value_is_error(value);
    value_unref(t->session->vm, value);
    return ok;
}

/* Median device time of a step over up to 30 runs or 1.5 s, cache flushed before each on a card. -1: a step failed. */
static double time_device(Timed *t, int *runs) {
    double times[MAX_RUNS], start = clock_us();
    int count = 0;
    bool card = t->device.kind == DEVICE_CUDA;
    for (int i = 0; i < 3; i++)
        if (!step_once(t)) return -1;
    while (count < MAX_RUNS && (count < 5 || clock_us() - start < time_budget_us)) {
        if (card) device_flush_cache(t->session->runtime, t->device);
        DeviceTimer *timer = timer_start(t->session->runtime, t->device);
        bool ok = step_once(t);
        times[count++] = timer_stop_us(timer);
        if (!ok) return -1;
    }
    *runs = count;
    return median(times, count);
}

/* Median host time to issue a step. */
static double time_host(Timed *t) {
    double times[100], start = clock_us();
    int count = 0;
    OpError error;
    while (count < 100 && (count < 5 || clock_us() - start < time_budget_us)) {
        device_synchronize(t->session->runtime, t->device, &error);
        double before = clock_us();
        if (!step_once(t)) return -1;
        times[count++] = clock_us() - before;
    }
    device_synchronize(t->session->runtime, t->device, &error);
    return median(times, count);
}

typedef struct CallStep { Session *session; const CallParts *parts; } CallStep;
static Value step_eager(void *state) { return call_eager(((CallStep *)state)->session, ((CallStep *)state)->parts); }
static Value step_compiled(void *state) { return call_compiled(((CallStep *)state)->session, ((CallStep *)state)->parts); }

static Device value_device(Value v) { return value_is(v, OBJ_TENSOR) ? ((Tensor *)v.o)->meta.device : (Device){DEVICE_CPU, 0}; }

static Device parts_device(const CallParts *parts, Value result) {
    Device device = value_device(result);
    for (int i = 0; i < parts->nargs && device.kind == DEVICE_CPU; i++) device = value_device(parts->args[i]);
    return device;
}

/* A call may change its arguments: eager and compiled runs each get tensors of their own, equal to the user's, which stay as they are. */
static Value copied(VM *vm, Value v, int depth) {
    if (value_is(v, OBJ_TENSOR)) {
        Tensor *from = (Tensor *)v.o;
        bool grad = vm->grad_enabled;
        vm->grad_enabled = false;
        Tensor *to = vm_op_tensor(vm, "clone", &v, 1);
        vm->grad_enabled = grad;
        if (!to) return VALUE_ERROR;
        to->requires_grad = tensor_needs_grad(from);
        return value_tensor(to);
    }
    bool tuple = value_is(v, OBJ_TUPLE), list = value_is(v, OBJ_LIST);
    if ((!tuple && !list) || depth > 8) return value_ref(v);
    int count = tuple ? ((Tuple *)v.o)->count : ((List *)v.o)->count;
    Value made = list_new(vm, NULL, 0);
    for (int i = 0; i < count; i++) {
        Value item = copied(vm, tuple ? ((Tuple *)v.o)->items[i] : ((List *)v.o)->items[i], depth + 1);
        list_append(vm, (List *)made.o, value_is_error(item) ? VALUE_NONE : item);
        value_unref(vm, item);
    }
    if (list) return made;
    Value as_tuple = tuple_new(vm, ((List *)made.o)->items, count);
    value_unref(vm, made);
    return as_tuple;
}

static CallParts parts_copied(Session *session, const CallParts *parts) {
    CallParts copy = *parts;
    int total = parts->nargs + (parts->kwnames ? parts->kwnames->count : 0);
    Value given = tuple_new(session->vm, parts->args, total);
    copy.kwnames_value = copied(session->vm, given, 0);
    copy.args = ((Tuple *)copy.kwnames_value.o)->items;
    value_unref(session->vm, given);
    return copy;
}

static bool time_parts(Session *session, const CallParts *parts, const CallParts *for_compiled, CallTiming *timing) {
    CallStep step = {session, parts}, other = {session, for_compiled};
    int64_t launches = session->eager_launches, bytes = session->eager_bytes;
    Value eager = call_eager(session, parts);
    timing->eager_launches = (int)(session->eager_launches - launches);
    timing->eager_bytes = session->eager_bytes - bytes;
    double start = clock_us();
    Value compiled = value_is_error(eager) ? VALUE_ERROR : call_compiled(session, for_compiled);
    timing->first_ms = (clock_us() - start) / 1000;
    bool ok = !value_is_error(compiled);
    if (ok) {
        Device device = parts_device(parts, compiled);
        Timed eager_step = {session, step_eager, &step, device}, compiled_step = {session, step_compiled, &other, device};
        timing->device = device.kind == DEVICE_CUDA ? "cuda" : "cpu";
        timing->max_difference = values_difference(session->vm, eager, compiled);
        timing->eager_us = time_device(&eager_step, &timing->runs);
        launches = session->dynamo->launches, bytes = session->dynamo->bytes;
        step_once(&compiled_step);
        timing->launches = (int)(session->dynamo->launches - launches);
        timing->bytes = session->dynamo->bytes - bytes;
        timing->compiled_us = time_device(&compiled_step, &timing->runs);
        timing->eager_wall_us = time_host(&eager_step);
        timing->wall_us = time_host(&compiled_step);
        timing->copy_gbs = device_copy_gbs(session->runtime, device);
        ok = timing->eager_us >= 0 && timing->compiled_us >= 0;
    }
    if (!ok) session_report(session);
    value_unref(session->vm, eager);
    value_unref(session->vm, compiled);
    return ok;
}

static bool time_both(Session *session, const CallParts *parts, CallTiming *timing) {
    CallParts first = parts_copied(session, parts), second = parts_copied(session, parts);
    bool ok = time_parts(session, &first, &second, timing);
    value_unref(session->vm, first.kwnames_value);
    value_unref(session->vm, second.kwnames_value);
    return ok;
}

bool session_time_call(Session *session, const char *text, CallTiming *timing) {
    CallParts parts;
    *timing = (CallTiming){0};
    if (!session_call_parts(session, text, &parts)) return false;
    dynamo_copy_begin(session->dynamo);
    bool ok = time_both(session, &parts, timing);
    Entry *entry = session->dynamo->current;
    const Artifacts *a = entry ? entry->artifacts : NULL;
    for (int i = 0; ok && a && a->forward.plan && i < a->forward.plan->launches.count; i++) timing->flops += a->forward.plan->launches.at[i].flops;
    dynamo_copy_end(session->dynamo);
    session_call_release(session, &parts);
    return ok;
}

/* ---- workload files ---- */
typedef struct Workload { Session *session; Dict *space; Value f, args, run, compiled; } Workload;

static Value workload_name(Workload *w, const char *name) { return dict_get_name(w->session->vm, w->space, intern(w->session->names, name)); }

static Value workload_step(Workload *w, Value f) {
    VM *vm = w->session->vm;
    if (w->run.tag != V_NULL) {
        Value args[2] = {f, w->args};
        return vm_call(vm, w->run, args, 2, NULL);
    }
    Tuple *args = (Tuple *)w->args.o;
    return vm_call(vm, f, args->items, args->count, NULL);
}

static Value workload_eager(void *state) { return workload_step(state, ((Workload *)state)->f); }
static Value workload_compiled(void *state) { return workload_step(state, ((Workload *)state)->compiled); }

typedef struct FileCall { Session *session; const SourceFile *file; Program *program; } FileCall;
static void file_body(void *state) {
    FileCall *call = state;
    call->program = lang_compile(&call->session->lang, call->file, false);
}

static bool workload_load(Workload *w, const char *path, const char *device) {
    Session *session = w->session;
    VM *vm = session->vm;
    FILE *file = fopen(path, "rb");
    Text text = {0};
    char block[4096];
    size_t got;
    while (file && (got = fread(block, 1, sizeof block, file)) > 0) text_put_n(&text, block, got);
    if (file) fclose(file);
    else session_note(session, arena_printf(session->command, "cannot read %s", path));
    FileCall call = {session, source_new(session->arena, arena_strdup(session->arena, path), text_in(&text, session->arena), text.length, 1), NULL};
    text_free(&text);
    if (!file) return false;
    if (!fail_catch(&session->failure, file_body, &call)) {
        session_note(session, session->failure.message);
        return false;
    }
    w->space = (Dict *)dict_new(vm).o;
    Value name = str_from(vm, "workload");
    dict_set_name(vm, w->space, intern(session->names, "__name__"), name);
    value_unref(vm, name);
    for (int i = 0; i < call.program->statement_count; i++) {
        Value value = vm_run_statement(vm, call.program->statements[i], w->space);
        if (value_is_error(value)) return session_report(session), false;
        value_unref(vm, value);
    }
    if (device) {
        Value text_value = str_from(vm, device);
        dict_set_name(vm, w->space, intern(session->names, "DEVICE"), text_value);
        value_unref(vm, text_value);
    }
    return true;
}

static bool workload_build(Workload *w) {
    VM *vm = w->session->vm;
    Value build = workload_name(w, "build"), pair = build.tag == V_NULL ? VALUE_NULL : vm_call0(vm, build);
    if (!value_is(pair, OBJ_TUPLE) || ((Tuple *)pair.o)->count != 2) {
        if (value_is_error(pair)) session_report(w->session);
        else session_note(w->session, "a workload defines build(), which returns (f, args)");
        return false;
    }
    w->f = value_ref(((Tuple *)pair.o)->items[0]);
    w->args = value_ref(((Tuple *)pair.o)->items[1]);
    value_unref(vm, pair);
    w->run = workload_name(w, "run");
    Value torch = vm_import(vm, "torch", (Span){0});
    Value compile = vm_load_attr(vm, torch, intern(w->session->names, "compile"));
    w->compiled = vm_call(vm, compile, &w->f, 1, NULL);
    value_unref(vm, compile);
    value_unref(vm, torch);
    return !value_is_error(w->compiled);
}

static double workload_number(Workload *w, const char *name) {
    Value v = workload_name(w, name);
    return v.tag == V_INT ? (double)v.i : v.tag == V_FLOAT ? v.f : 0;
}

static bool workload_measure(Workload *w, Device device, BenchResult *result) {
    Session *session = w->session;
    Timed eager = {session, workload_eager, w, device}, compiled = {session, workload_compiled, w, device};
    OpError error;
    int runs;
    device_synchronize(session->runtime, device, &error);
    double start = clock_us();
    Value b = workload_compiled(w);
    device_synchronize(session->runtime, device, &error);
    result->first_s = (clock_us() - start) / 1e6;
    if (value_is_error(b)) return false;
    Value a = workload_eager(w);
    result->max_difference = value_is_error(a) ? NAN : values_difference(session->vm, a, b);
    value_unref(session->vm, a);
    value_unref(session->vm, b);
    int64_t launches = session->dynamo->launches + session->eager_launches;
    if (!step_once(&compiled)) return false;
    result->kernels = (int)(session->dynamo->launches + session->eager_launches - launches);
    launches = session->eager_launches;
    if (!step_once(&eager)) return false;
    result->eager_kernels = (int)(session->eager_launches - launches);
    result->compiled_us = time_device(&compiled, &runs);
    result->eager_us = time_device(&eager, &runs);
    result->wall_us = time_host(&compiled);
    result->eager_wall_us = time_host(&eager);
    result->copy_gbs = device_copy_gbs(session->runtime, device);
    return result->compiled_us >= 0 && result->eager_us >= 0;
}

bool session_bench(Session *session, const char *path, const char *device_or_null, BenchResult *result) {
    Workload w = {.session = session};
    *result = (BenchResult){.file = path, .mode = "default"};
    bool ok = workload_load(&w, path, device_or_null) && workload_build(&w);
    if (ok) {
        Value device = workload_name(&w, "DEVICE");
        bool card = value_is(device, OBJ_STR) && !strncmp(str_text(device), "cuda", 4);
        result->bytes = workload_number(&w, "BYTES");
        result->flops = workload_number(&w, "FLOPS");
        ok = workload_measure(&w, (Device){card ? DEVICE_CUDA : DEVICE_CPU, 0}, result);
        if (!ok) session_report(session);
    }
    value_unref(session->vm, w.f);
    value_unref(session->vm, w.args);
    value_unref(session->vm, w.compiled);
    if (w.space) value_unref(session->vm, value_object(w.space));
    return ok;
}
