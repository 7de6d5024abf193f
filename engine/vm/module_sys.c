/* Modules sys and time, as far as scripts look at them.
 *
 * sys.stdout and sys.stderr are objects with write(); what they write goes to the VM's outputs. Clocks are effects: dynamo breaks on them. */
#include "vm/modules.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- sys ---- */

static Value stream_write(METHOD) {
    UNUSED;
    Value self = vm_force(vm, args[0]), text = vm_force(vm, args[1]);
    if (!value_is(text, OBJ_STR)) return value_is_error(text) ? text : vm_raise(vm, "TypeError", "write() argument must be str, not %s", type_name(vm, text));
    Value number = dict_get_name(vm, ((Instance *)self.o)->dict, vm_intern(vm, "_stream"));
    vm_write(vm, number.tag == V_INT && number.i == 2 ? vm->notes : vm->out, str_text(text), str_of(text)->length);
    return value_int(str_count(str_of(text)));
}

/* Writing no bytes lets out what is held back. */
static Value stream_flush(METHOD) {
    (void)nargs, (void)kwnames, (void)args;
    vm_write(vm, vm->out, "", 0);
    return VALUE_NONE;
}
static Value stream_isatty(METHOD) { UNUSED; return value_bool(false); }

static const BuiltinDef stream_methods[] = {
    {"write", stream_write, 2, 2, BUILTIN_METHOD | BUILTIN_RAW | BUILTIN_EFFECT}, {"flush", stream_flush, 1, 1, BUILTIN_METHOD | BUILTIN_RAW | BUILTIN_EFFECT},
    {"isatty", stream_isatty, 1, 1, BUILTIN_METHOD | BUILTIN_RAW},
};

Value builtin_exit(METHOD) {
    UNUSED;
    Value cls = value_object(exception_class(vm, "SystemExit"));
    Value exception = nargs ? vm_call1(vm, cls, args[0]) : vm_call0(vm, cls);
    if (!value_is_error(exception)) exception_set(vm, exception);
    return VALUE_ERROR;
}

static Value sys_getrecursionlimit(METHOD) { UNUSED; return value_int(vm->limits.recursion); }

static Value sys_setrecursionlimit(METHOD) {
    UNUSED;
    int64_t n;
    if (!vm_as_int(vm, args[0], &n)) return VALUE_ERROR;
    if (n < 1) return vm_raise(vm, "ValueError", "recursion limit must be greater or equal than 1");
    if (n > 3000) return vm_raise(vm, "RecursionError", "a recursion limit above 3000 is not supported");
    vm->limits.recursion = (int)n;
    return VALUE_NONE;
}

static Value sys_getsizeof(METHOD) { UNUSED; return value_int(64); }

static Value sys_exc_info(METHOD) {
    UNUSED;
    Value items[3] = {VALUE_NONE, VALUE_NONE, VALUE_NONE};
    if (value_is_exception(vm->handled)) items[0] = value_object(((Instance *)vm->handled.o)->cls), items[1] = vm->handled;
    return tuple_new(vm, items, 3);
}

static const BuiltinDef sys_functions[] = {
    {"exit", builtin_exit, 0, 1, BUILTIN_POSITIONAL | BUILTIN_BREAK}, {"getrecursionlimit", sys_getrecursionlimit, 0, 0, BUILTIN_POSITIONAL},
    {"setrecursionlimit", sys_setrecursionlimit, 1, 1, BUILTIN_EFFECT}, {"getsizeof", sys_getsizeof, 1, 2, BUILTIN_POSITIONAL},
    {"exc_info", sys_exc_info, 0, 0, BUILTIN_POSITIONAL},
};

static Value stream_new(VM *vm, Class *cls, const char *name, int64_t number) {
    Value stream = instance_new(vm, cls);
    Dict *dict = ((Instance *)stream.o)->dict;
    module_set(vm, dict, "name", str_from(vm, name));
    module_set(vm, dict, "_stream", value_int(number));
    return stream;
}

static void set_version(VM *vm, Dict *dict) {
    const char *const fields[] = {"major", "minor", "micro", "releaselevel", "serial"};
    Class *cls = namedtuple_class(vm, "version_info", "sys", fields, 5);
    Value items[5] = {value_int(3), value_int(12), value_int(0), str_from(vm, "final"), value_int(0)};
    module_set(vm, dict, "version_info", namedtuple_new(vm, cls, items, 5));
    value_unref(vm, items[3]);
    value_unref(vm, value_object(cls));
}

void module_sys(VM *vm, Dict *dict) {
    vm_define(vm, dict, "sys", sys_functions, COUNT_OF(sys_functions));
    Class *cls = class_builtin(vm, "TextIOWrapper", vm->class_object, -1);
    value_set(vm, &cls->module_name, str_from(vm, "_io"));
    vm_define_methods(vm, cls, stream_methods, COUNT_OF(stream_methods));
    module_set(vm, dict, "stdout", stream_new(vm, cls, "<stdout>", 1));
    module_set(vm, dict, "stderr", stream_new(vm, cls, "<stderr>", 2));
    value_unref(vm, value_object(cls));
    set_version(vm, dict);
    module_set(vm, dict, "version", str_from(vm, "3.12.0 (vitrine)"));
    module_set(vm, dict, "maxsize", value_int(INT64_MAX));
    module_set(vm, dict, "platform", str_from(vm, "linux"));
    module_set(vm, dict, "byteorder", str_from(vm, "little"));
    module_set(vm, dict, "modules", value_ref(value_object(vm->modules)));
    if (vm->own->argv.tag == V_NULL) vm_set_argv(vm, (const char *const[]){""}, 1);
    module_set(vm, dict, "argv", value_ref(vm->own->argv));
}

void vm_set_argv(VM *vm, const char *const *words, int count) {
    Value list = list_new(vm, NULL, count);
    for (int i = 0; i < count; i++) list_of(list)->items[i] = str_from(vm, words[i]);
    value_set(vm, &vm->own->argv, list);
}

bool vm_exit_status(VM *vm, int *status) {
    if (!vm_pending(vm, "SystemExit")) return false;
    Value exception = exception_take(vm), code = exception_load_attr(vm, exception, vm_intern(vm, "code"));
    *status = code.tag == V_NONE ? 0 : value_is_integer(code) ? (int)(integer_of(code) & 255) : 1;
    if (code.tag != V_NONE && !value_is_integer(code)) {
        Text text = {0};
        if (text_put_str(vm, &text, code)) text_char(&text, '\n');
        vm_write(vm, vm->notes, text_cstr(&text), text.length);
        text_free(&text);
    }
    value_unref(vm, code);
    value_unref(vm, exception);
    vm_clear_exception(vm);
    return true;
}

/* ---- time ---- */

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static Value time_time(METHOD) { UNUSED; return value_float(seconds(CLOCK_REALTIME)); }
static Value time_time_ns(METHOD) { UNUSED; return value_int(nanoseconds(CLOCK_REALTIME)); }
static Value time_monotonic(METHOD) { UNUSED; return value_float(seconds(CLOCK_MONOTONIC)); }
static Value time_perf_counter_ns(METHOD) { UNUSED; return value_int(nanoseconds(CLOCK_MONOTONIC)); }
static Value time_process_time(METHOD) { UNUSED; return value_float(seconds(CLOCK_PROCESS_CPUTIME_ID)); }

/* In pieces, so that an interrupt ends it. */
static Value time_sleep(METHOD) {
    UNUSED;
    double left;
    if (!vm_number(vm, args[0], &left)) return VALUE_ERROR;
    if (left < 0) return vm_raise(vm, "ValueError", "sleep length must be non-negative");
    double until = seconds(CLOCK_MONOTONIC) + left;
    while ((left = until - seconds(CLOCK_MONOTONIC)) > 0) {
        double piece = left < 0.05 ? left : 0.05;
        nanosleep(&(struct timespec){.tv_nsec = (long)(piece * 1e9)}, NULL);
        if (!vm_poll(vm)) return VALUE_ERROR;
    }
    return VALUE_NONE;
}

static Value time_strftime(METHOD) {
    UNUSED;
    char text[256];
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    if (!value_is(args[0], OBJ_STR)) return vm_raise(vm, "TypeError", "strftime() argument 1 must be str, not %s", type_name(vm, args[0]));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    size_t length = strftime(text, sizeof text, str_text(args[0]), &parts);
#pragma GCC diagnostic pop
    return str_new(vm, text, length);
}

enum { CLOCK = BUILTIN_EFFECT | BUILTIN_POSITIONAL };

static const BuiltinDef time_functions[] = {
    {"time", time_time, 0, 0, CLOCK}, {"time_ns", time_time_ns, 0, 0, CLOCK}, {"monotonic", time_monotonic, 0, 0, CLOCK},
    {"perf_counter", time_monotonic, 0, 0, CLOCK}, {"perf_counter_ns", time_perf_counter_ns, 0, 0, CLOCK}, {"monotonic_ns", time_perf_counter_ns, 0, 0, CLOCK},
    {"process_time", time_process_time, 0, 0, CLOCK}, {"sleep", time_sleep, 1, 1, CLOCK}, {"strftime", time_strftime, 1, 1, CLOCK},
};

void module_time(VM *vm, Dict *dict) { vm_define(vm, dict, "time", time_functions, COUNT_OF(time_functions)); }
