/* Generator: a frame that stops at `yield` and goes on later.
 *
 * RETURN_GENERATOR moves the values of the running frame into a frame that the generator owns; each resumption runs that frame until it
 * yields (frame->generator's `yielded` is set) or returns.
 *
 *     Value item = generator_resume(vm, g, VALUE_NONE, NULL);     // V_NULL: it has returned
 *
 * Invariant: frame is NULL exactly when the generator is finished; a running generator is never resumed. */
#include "vm/internal.h"
#include <string.h>

Value generator_new(VM *vm, Frame *frame) {
    Generator *g = (Generator *)object_new(vm, OBJ_GENERATOR, sizeof *g);
    g->frame = frame_new(vm, frame->function, frame->code, frame->globals);
    memcpy(g->frame->fast, frame->fast, (size_t)frame->sp * sizeof(Value));
    memset(frame->fast, 0, (size_t)frame->sp * sizeof(Value));
    g->frame->sp = frame->sp;
    g->frame->pc = frame->pc;
    g->frame->locals = frame->locals;
    g->frame->source = frame->source;
    g->frame->generator = value_object(g); /* borrowed: the generator owns the frame */
    g->function = frame->function ? value_ref(value_object(frame->function)) : VALUE_NONE;
    return value_object(g);
}

static void finish(VM *vm, Generator *g) {
    Frame *frame = g->frame;
    g->frame = NULL;
    if (frame) frame_free(vm, frame);
}

void generator_release(VM *vm, Generator *g) {
    finish(vm, g);
    value_unref(vm, g->function);
    value_unref(vm, g->handled);
}

/* Runs until the next yield. The exception that the generator itself is handling is the VM's `handled` while it runs. */
static Value run(VM *vm, Generator *g) {
    Value outer = vm->handled;
    vm->handled = g->handled;
    g->running = g->started = true;
    g->yielded = false;
    g->head.refs++;
    Value result = frame_run(vm, g->frame);
    g->running = false;
    g->handled = vm->handled;
    vm->handled = outer;
    if (!g->yielded && !vm->stopped) finish(vm, g);
    value_unref(vm, value_object(g));
    return result;
}

Value generator_resume(VM *vm, Generator *g, Value sent, Value *returned) {
    if (g->running) return vm_raise(vm, "ValueError", "generator already executing");
    if (!g->frame) {
        if (returned) *returned = VALUE_NONE;
        return VALUE_NULL;
    }
    if (!g->started && sent.tag != V_NONE) return vm_raise(vm, "TypeError", "can't send non-None value to a just-started generator");
    g->frame->fast[g->frame->sp++] = value_ref(sent);
    Value result = run(vm, g);
    if (value_is_error(result) || g->yielded) return result;
    if (returned) *returned = result;
    else value_unref(vm, result);
    return VALUE_NULL;
}

static Value stop_iteration(VM *vm, Value returned) {
    Value cls = value_object(exception_class(vm, "StopIteration"));
    Value exception = returned.tag == V_NONE ? vm_call0(vm, cls) : vm_call1(vm, cls, returned);
    value_unref(vm, returned);
    if (!value_is_error(exception)) exception_set(vm, exception);
    return VALUE_ERROR;
}

/* The iterator that a generator suspended in `yield from` delegates to, or V_NULL. */
static Value delegate(const Generator *g) {
    const Frame *frame = g->frame;
    const Instr *next = &frame->code->instrs[frame->pc];
    bool delegating = g->started && frame->pc >= 2 && next->opcode == OPCODE_RESUME && (next->arg & 3) == 2 && next[-2].opcode == OPCODE_SEND;
    return delegating ? frame->fast[frame->sp - 1] : VALUE_NULL;
}

static Value method_send(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    Value returned = VALUE_NONE;
    Generator *g = (Generator *)args[0].o;
    if (vm->domain->sent && g->frame && !g->running && delegate(g).tag != V_NULL && !vm->domain->sent(vm, g)) return VALUE_ERROR;
    Value item = generator_resume(vm, g, args[1], &returned);
    return item.tag == V_NULL ? stop_iteration(vm, returned) : item;
}

static Value method_next(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs;
    (void)kwnames;
    Value returned = VALUE_NONE;
    Value item = generator_resume(vm, (Generator *)args[0].o, VALUE_NONE, &returned);
    return item.tag == V_NULL ? stop_iteration(vm, returned) : item;
}

static Value throw_in(VM *vm, Generator *g, Value exception, Value *returned);

/* The inner generator gets the exception first; when it returns, the outer one goes on behind its `yield from`. */
static Value throw_deeper(VM *vm, Generator *g, Generator *inner, Value exception, Value *returned) {
    Value value = VALUE_NONE;
    Frame *frame = g->frame;
    g->running = true;
    Value item = throw_in(vm, inner, exception, &value);
    g->running = false;
    if (item.tag != V_NULL && !value_is_error(item)) return item;
    if (item.tag == V_NULL) {
        value_set(vm, &frame->fast[frame->sp - 1], value);
        frame->pc = frame->code->instrs[frame->pc - 2].arg + 1;
    }
    Value result = run(vm, g);
    if (value_is_error(result) || g->yielded) return result;
    *returned = result;
    return VALUE_NULL;
}

/* Takes the exception. frame_run begins by raising what is pending. */
static Value throw_in(VM *vm, Generator *g, Value exception, Value *returned) {
    if (g->running) return value_unref(vm, exception), vm_raise(vm, "ValueError", "generator already executing");
    Value inner = g->frame ? delegate(g) : VALUE_NULL;
    if (value_is(inner, OBJ_GENERATOR)) return throw_deeper(vm, g, (Generator *)inner.o, exception, returned);
    exception_set(vm, exception);
    if (!g->frame) return VALUE_ERROR;
    if (!g->started) return finish(vm, g), VALUE_ERROR;
    Value result = run(vm, g);
    if (value_is_error(result) || g->yielded) return result;
    *returned = result;
    return VALUE_NULL;
}

static Value method_throw(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    Value exception = exception_of(vm, args[nargs > 2 && args[2].tag != V_NONE ? 2 : 1]);
    if (value_is_error(exception)) return exception;
    Value returned = VALUE_NONE;
    Value item = throw_in(vm, (Generator *)args[0].o, exception, &returned);
    return item.tag == V_NULL ? stop_iteration(vm, returned) : item;
}

static Value method_close(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    Generator *g = (Generator *)args[0].o;
    if (!g->frame || !g->started) return finish(vm, g), VALUE_NONE;
    Value exception = exception_of(vm, value_object(exception_class(vm, "GeneratorExit")));
    Value returned = VALUE_NONE;
    Value item = throw_in(vm, g, exception, &returned);
    if (value_is_error(item)) {
        if (!vm_pending(vm, "GeneratorExit") && !vm_pending(vm, "StopIteration")) return item;
        vm_clear_exception(vm);
        return VALUE_NONE;
    }
    if (item.tag != V_NULL) return value_unref(vm, item), vm_raise(vm, "RuntimeError", "generator ignored GeneratorExit");
    value_unref(vm, returned);
    return VALUE_NONE;
}

static bool inside_handler(const Generator *g) {
    int at = g->frame->pc - 1;
    for (int i = 0; i < g->frame->code->exception_count; i++) {
        const ExceptionEntry *entry = &g->frame->code->exceptions[i];
        if (at >= entry->start && at < entry->end && entry->target != g->frame->code->exceptions[g->frame->code->exception_count - 1].target) return true;
    }
    return false;
}

/* Inside `try` or `with`, or delegating to one that is: closing it would run some code. */
bool generator_is_open(const Generator *g) {
    if (!g->frame || !g->started || g->running) return false;
    Value inner = delegate(g);
    return inside_handler(g) || (value_is(inner, OBJ_GENERATOR) && generator_is_open((const Generator *)inner.o));
}

Value generator_close(VM *vm, Generator *g) { return method_close(vm, &(Value){.tag = V_OBJECT, .o = &g->head}, 1, NULL); }

static Value method_iter(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    return vm_iterate(vm, args[0]);
}

static Value iterator_next(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    Value item = vm_next(vm, args[0]);
    return item.tag == V_NULL ? stop_iteration(vm, VALUE_NONE) : item;
}

const BuiltinDef iterator_methods[] = {
    {"__iter__", method_iter, 1, 1, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {"__next__", iterator_next, 1, 1, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {NULL, NULL, 0, 0, 0},
};

const BuiltinDef generator_methods[] = {
    {"__iter__", method_iter, 1, 1, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {"send", method_send, 2, 2, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {"throw", method_throw, 2, 4, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {"close", method_close, 1, 1, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {"__next__", method_next, 1, 1, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {NULL, NULL, 0, 0, 0},
};
