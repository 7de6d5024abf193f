/* Exception: the classes, raising, chaining, and what an exception instance knows.
 *
 *     return vm_raise(vm, "ValueError", "expected %d", n);      // VALUE_ERROR, with an instance in vm->exception
 *
 * In: class names and messages, or instances from `raise`. Out: vm->exception.
 * Invariant: at most one exception is pending; an instance of an exception class always has ExceptionData.
 * To add a class: a row in `hierarchy`, behind its base. */
#include "vm/methods.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const hierarchy[][2] = {
    {"BaseException", NULL}, {"Exception", "BaseException"}, {"SystemExit", "BaseException"}, {"KeyboardInterrupt", "BaseException"},
    {"GeneratorExit", "BaseException"}, {"ArithmeticError", "Exception"}, {"ZeroDivisionError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"}, {"FloatingPointError", "ArithmeticError"}, {"AssertionError", "Exception"},
    {"AttributeError", "Exception"}, {"BufferError", "Exception"}, {"EOFError", "Exception"}, {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"}, {"LookupError", "Exception"}, {"IndexError", "LookupError"}, {"KeyError", "LookupError"},
    {"MemoryError", "Exception"}, {"NameError", "Exception"}, {"UnboundLocalError", "NameError"}, {"OSError", "Exception"},
    {"FileNotFoundError", "OSError"}, {"PermissionError", "OSError"}, {"TimeoutError", "OSError"}, {"ConnectionError", "OSError"},
    {"RuntimeError", "Exception"}, {"NotImplementedError", "RuntimeError"}, {"RecursionError", "RuntimeError"}, {"StopIteration", "Exception"},
    {"StopAsyncIteration", "Exception"}, {"SyntaxError", "Exception"}, {"IndentationError", "SyntaxError"}, {"TypeError", "Exception"},
    {"ValueError", "Exception"}, {"UnicodeError", "ValueError"}, {"Warning", "Exception"}, {"DeprecationWarning", "Warning"},
    {"FutureWarning", "Warning"}, {"PendingDeprecationWarning", "Warning"}, {"RuntimeWarning", "Warning"}, {"SyntaxWarning", "Warning"},
    {"UserWarning", "Warning"}, {"ImportWarning", "Warning"}, {"UnicodeWarning", "Warning"}, {"ResourceWarning", "Warning"},
};

Class *exception_class(VM *vm, const char *name) {
    Value found = dict_get_name(vm, vm->exceptions, vm_intern(vm, name));
    return value_is(found, OBJ_CLASS) ? (Class *)found.o : NULL;
}

void exception_data_free(VM *vm, ExceptionData *data) {
    value_unref(vm, data->args);
    value_unref(vm, data->cause);
    value_unref(vm, data->context);
    vec_free(&data->trace);
    free(data);
}

/* BaseException.__init__(self, *args) */
static Value exception_init(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    if (kwnames && kwnames->count) return vm_raise(vm, "TypeError", "%s() takes no keyword arguments", type_name(vm, args[0]));
    if (value_is_exception(args[0])) value_set(vm, &exception_data(args[0])->args, tuple_new(vm, args + 1, nargs - 1));
    return VALUE_NONE;
}

static Value exception_to_str(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    return exception_str(vm, args[0]);
}

static Value exception_to_repr(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    Text text = {0};
    Tuple *items = tuple_of(exception_data(args[0])->args);
    text_printf(&text, "%s(", type_name(vm, args[0]));
    for (int i = 0; i < items->count; i++) {
        if (i) text_put(&text, ", ");
        if (!text_put_repr(vm, &text, items->items[i])) return text_free(&text), VALUE_ERROR;
    }
    text_char(&text, ')');
    return str_join_text(vm, &text);
}

static Value exception_with_traceback(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)vm, (void)nargs, (void)kwnames;
    return value_ref(args[0]);
}

/* Notes are a list in the instance's own attribute __notes__, as Python keeps them. */
static Value exception_add_note(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    const char *name = vm->own->names.notes_;
    Dict *own = ((Instance *)args[0].o)->dict;
    if (!value_is(args[1], OBJ_STR)) return vm_raise(vm, "TypeError", "note must be a str, not '%s'", type_name(vm, args[1]));
    Value notes = dict_get_name(vm, own, name);
    if (notes.tag != V_NULL && !value_is(notes, OBJ_LIST)) return vm_raise(vm, "TypeError", "Cannot add note: __notes__ is not a list");
    if (notes.tag == V_NULL) {
        notes = list_new(vm, NULL, 0);
        dict_set_name(vm, own, name, notes);
        value_unref(vm, notes);
    }
    list_append(vm, list_of(notes), args[1]);
    return VALUE_NONE;
}

static const BuiltinDef methods[] = {
    {"add_note", exception_add_note, 2, 2, BUILTIN_METHOD | BUILTIN_POSITIONAL | BUILTIN_MUTATES},
    {"__init__", exception_init, 1, -1, BUILTIN_RAW | BUILTIN_METHOD},
    {"__str__", exception_to_str, 1, 1, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {"__repr__", exception_to_repr, 1, 1, BUILTIN_METHOD | BUILTIN_POSITIONAL},
    {"with_traceback", exception_with_traceback, 2, 2, BUILTIN_METHOD | BUILTIN_POSITIONAL},
};

void vm_exceptions_init(VM *vm) {
    vm->exceptions = dict_of(dict_new(vm));
    for (int i = 0; i < COUNT_OF(hierarchy); i++) {
        Class *base = hierarchy[i][1] ? exception_class(vm, hierarchy[i][1]) : vm->class_object;
        Class *cls = class_builtin(vm, hierarchy[i][0], base, -1);
        cls->is_exception = true;
        if (i == 0) vm_define_methods(vm, cls, methods, COUNT_OF(methods));
        dict_set_name(vm, vm->exceptions, cls->name, value_object(cls));
        value_unref(vm, value_object(cls));
    }
    const char *aliases[] = {"EnvironmentError", "IOError"};
    for (int i = 0; i < 2; i++) dict_set_name(vm, vm->exceptions, vm_intern(vm, aliases[i]), value_object(exception_class(vm, "OSError")));
}

/* A cycle of contexts would print for ever: where `exception` is in the chain, the chain is cut before it. */
static void set_context(VM *vm, Value exception, Value context) {
    if (!value_is_exception(context) || context.o == exception.o) return;
    bool odd = true;
    Value slow = context; /* a program may have made a circle: walked at half the speed, it is met */
    for (Value at = context; value_is_exception(at);) {
        ExceptionData *data = exception_data(at);
        if (value_is_exception(data->context) && data->context.o == exception.o) value_set(vm, &data->context, VALUE_NONE);
        at = data->context;
        if ((odd = !odd)) slow = exception_data(slow)->context;
        if (value_is_exception(at) && value_is_exception(slow) && at.o == slow.o) break;
    }
    value_set(vm, &exception_data(exception)->context, value_ref(context));
}

void exception_set(VM *vm, Value exception) {
    set_context(vm, exception, vm->handled);
    value_set(vm, &vm->exception, exception);
}

Value exception_take(VM *vm) {
    Value exception = vm->exception;
    vm->exception = VALUE_NULL;
    return exception;
}

void vm_clear_exception(VM *vm) {
    value_set(vm, &vm->exception, VALUE_NULL);
    vm->stopped = false;
}

bool exception_is(VM *vm, Value exception, const char *class_name) {
    Class *cls = exception_class(vm, class_name);
    return cls && value_is_exception(exception) && class_is_subclass(((Instance *)exception.o)->cls, cls);
}

bool vm_pending(VM *vm, const char *class_name) { return !vm->stopped && exception_is(vm, vm->exception, class_name); }

static Value raise_text(VM *vm, const char *class_name, Text *text) {
    Class *cls = exception_class(vm, class_name);
    if (!cls) cls = exception_class(vm, "RuntimeError");
    Value exception = instance_new(vm, cls);
    if (text->length || strcmp(class_name, "MemoryError") != 0) {
        Value message = str_new(vm, text_cstr(text), text->length);
        value_set(vm, &exception_data(exception)->args, tuple_new(vm, &message, 1));
        value_unref(vm, message);
    }
    text_free(text);
    exception_set(vm, exception);
    return VALUE_ERROR;
}

Value vm_raise(VM *vm, const char *class_name, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    return raise_text(vm, class_name, &text);
}

Value vm_raise_op_error(VM *vm, const OpError *error) {
    static const char *const names[] = {"RuntimeError", "TypeError", "ValueError", "IndexError", "NotImplementedError", "ZeroDivisionError", "MemoryError"};
    return vm_raise(vm, names[error->type], "%s", error->message);
}

Value vm_stop(VM *vm, const char *kind, Span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(vm->stop_text, sizeof vm->stop_text, format, arguments);
    va_end(arguments);
    snprintf(vm->stop_kind, sizeof vm->stop_kind, "%s", kind);
    vm->stop_span = span;
    vm->stopped = true;
    return VALUE_ERROR;
}

Value exception_of(VM *vm, Value v) {
    v = vm_force(vm, v);
    if (value_is_exception(v)) return value_ref(v);
    if (value_is(v, OBJ_CLASS) && ((Class *)v.o)->is_exception) {
        Value made = vm_call0(vm, v);
        if (value_is_error(made) || value_is_exception(made)) return made;
        value_unref(vm, made);
    }
    if (value_is_error(v)) return v;
    return vm_raise(vm, "TypeError", "exceptions must derive from BaseException");
}

void exception_add_trace(VM *vm, Frame *frame, int instr) {
    if (!value_is_exception(vm->exception)) return;
    ExceptionData *data = exception_data(vm->exception);
    if (data->trace.count < 4000) vec_push(&data->trace, ((TraceEntry){frame->code, instr}));
}

Value exception_load_attr(VM *vm, Value exception, const char *name) {
    const VMNames *n = &vm->own->names;
    ExceptionData *data = exception_data(exception);
    if (name == n->args) return value_ref(data->args);
    if (name == n->cause_) return value_ref(data->cause);
    if (name == n->context_) return value_ref(data->context);
    if (name == n->suppress_context_) return value_bool(data->suppress_context);
    if (name == n->traceback_) return VALUE_NONE;
    if (strcmp(name, "value") == 0 && exception_is(vm, exception, "StopIteration")) return tuple_of(data->args)->count ? value_ref(tuple_of(data->args)->items[0]) : VALUE_NONE;
    if (strcmp(name, "code") == 0 && exception_is(vm, exception, "SystemExit")) return tuple_of(data->args)->count ? value_ref(tuple_of(data->args)->items[0]) : VALUE_NONE;
    return VALUE_NULL;
}

bool exception_store_attr(VM *vm, Value exception, const char *name, Value value, bool *handled) {
    const VMNames *n = &vm->own->names;
    ExceptionData *data = exception_data(exception);
    *handled = true;
    if (name == n->args) {
        Value list = vm_list_of(vm, value);
        if (value_is_error(list)) return false;
        value_set(vm, &data->args, tuple_new(vm, list_of(list)->items, list_of(list)->count));
        value_unref(vm, list);
    } else if (name == n->cause_) {
        value_set(vm, &data->cause, value_ref(value));
        data->suppress_context = true;
    } else if (name == n->context_) value_set(vm, &data->context, value_ref(value));
    else if (name == n->suppress_context_) data->suppress_context = vm_truth(vm, value) > 0;
    else if (name != n->traceback_) *handled = false;
    return true;
}

Value exception_str(VM *vm, Value exception) {
    Tuple *args = tuple_of(exception_data(exception)->args);
    if (args->count == 0) return str_new(vm, "", 0);
    if (args->count > 1) return vm_repr(vm, value_object(args));
    return exception_is(vm, exception, "KeyError") ? vm_repr(vm, args->items[0]) : vm_str(vm, args->items[0]);
}
