/* Module _support: what the standard library's files (engine/torch/stdlib) need and the language has no words for.
 *
 *     effect(function, "logging.Logger.info")   a builtin with an effect that calls the function outside any capture
 *     stderr(text)                              writes to the notes
 *     format_exception(error, chain)            an exception with its traceback as Python prints it; chain: with those it came from
 *     shown_once(object, make)                  make(), or "..." where the object's text is being made already
 *     caller(level)                             (file, line, source line) of the level-th caller that is not shipped code
 *
 * To add one: a function, a row in the table; say here what it is for. */
#include "vm/modules.h"
#include <string.h>

/* Bound to the function. It runs as it would without a compiler around it. */
static Value run_effect(METHOD) {
    FrameEvaluator evaluator = vm->evaluator;
    vm->evaluator = NULL;
    Value result = vm_call(vm, args[0], args + 1, nargs - 1, kwnames);
    vm->evaluator = evaluator;
    return result;
}

static Value support_effect(METHOD) {
    UNUSED;
    if (!value_is(args[1], OBJ_STR)) return vm_raise(vm, "TypeError", "effect() needs a name");
    Value builtin = builtin_new(vm, str_text(args[1]), run_effect, 1, -1, BUILTIN_EFFECT);
    ((Builtin *)builtin.o)->self = value_ref(args[0]);
    return builtin;
}

static Value support_stderr(METHOD) {
    UNUSED;
    if (!value_is(args[0], OBJ_STR)) return vm_raise(vm, "TypeError", "stderr() needs a string");
    vm_write(vm, vm->notes, str_text(args[0]), str_of(args[0])->length);
    return VALUE_NONE;
}

static Value place_of(VM *vm, Span span, const char *function) {
    char *line = span.file ? span_source_line(span, vm->arena) : NULL;
    Value items[4] = {str_from(vm, span.file ? span.file->name : "<unknown>"), value_int(span_line(span)), str_from(vm, line ? line + strspn(line, " \t") : ""), str_from(vm, function)};
    Value place = tuple_new(vm, items, 4);
    for (int i = 0; i < 4; i++) value_unref(vm, items[i]);
    return place;
}

static Value support_caller(METHOD) {
    UNUSED;
    int64_t level = 1;
    if (nargs && !vm_as_int(vm, args[0], &level)) return VALUE_ERROR;
    Frame *last = NULL;
    Span last_span = {0};
    for (Frame *frame = vm->frame; frame; frame = frame->back) {
        int at = frame->pc > 0 ? frame->pc - 1 : 0;
        Span span = at < frame->code->instr_count ? frame->code->instrs[at].span : (Span){0};
        if (!span.file || span.file->shipped) continue;
        last = frame;
        last_span = span;
        if (--level <= 0) break;
    }
    return place_of(vm, last_span, last ? last->code->name : "<module>");
}

static Value support_format_exception(METHOD) {
    UNUSED;
    Text text = {0};
    if (!value_is_exception(args[0])) return vm_raise(vm, "TypeError", "format_exception() needs an exception, not '%s'", type_name(vm, args[0]));
    exception_text(vm, &text, args[0], vm_truth(vm, args[1]) > 0);
    return str_join_text(vm, &text);
}

static Value support_shown_once(METHOD) {
    UNUSED;
    if (value_is(args[0], OBJ_INSTANCE) && args[0].o->flags & FLAG_SHOWN) return str_from(vm, "...");
    if (args[0].tag == V_OBJECT) args[0].o->flags |= FLAG_SHOWN;
    Value text = vm_call0(vm, args[1]);
    if (args[0].tag == V_OBJECT) args[0].o->flags &= (uint8_t)~FLAG_SHOWN;
    return text;
}

static const BuiltinDef functions[] = {
    {"shown_once", support_shown_once, 2, 2, BUILTIN_POSITIONAL},
    {"format_exception", support_format_exception, 2, 2, BUILTIN_POSITIONAL | BUILTIN_EFFECT},
    {"effect", support_effect, 2, 2, BUILTIN_POSITIONAL}, {"stderr", support_stderr, 1, 1, BUILTIN_POSITIONAL | BUILTIN_EFFECT},
    {"caller", support_caller, 0, 1, BUILTIN_POSITIONAL},
};

void module_support(VM *vm, Dict *dict) { vm_define(vm, dict, "_support", functions, COUNT_OF(functions)); }
