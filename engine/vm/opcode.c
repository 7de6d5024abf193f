/* Opcodes of names, attributes, calls, generators, imports and exceptions. (Building of containers: opcode_build.c; the loop: vm.c.)
 *
 * In: the frame, with operands on its stack. Out: the result, or true with the stack changed.
 * Invariant: on failure nothing was popped. */
#include "vm/opcode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP(n) (frame->fast[frame->sp - (n)])

static void drop(VM *vm, Frame *frame, int count) {
    while (count-- > 0) value_unref(vm, frame->fast[--frame->sp]);
}

/* ---- constants ---- */

static Value constant_value(VM *vm, const Const *constant) {
    switch (constant->kind) {
    case CONST_NONE: return VALUE_NONE;
    case CONST_TRUE: return value_bool(true);
    case CONST_FALSE: return value_bool(false);
    case CONST_INT: return value_int(constant->i);
    case CONST_FLOAT: return value_float(constant->f);
    case CONST_ELLIPSIS: return (Value){.tag = V_ELLIPSIS};
    case CONST_STR: {
        Value s = str_new(vm, constant->s.text, constant->s.length);
        if (constant->s.length <= 64) str_intern(vm, str_of(s));
        return s;
    }
    case CONST_CODE: {
        CodeObject *code = (CodeObject *)object_new(vm, OBJ_CODE, sizeof *code);
        code->code = constant->code;
        return value_object(code);
    }
    case CONST_OBJECT: return value_ref(value_object(constant->object));
    case CONST_TUPLE: case CONST_FROZENSET: break;
    }
    Value tuple = tuple_take(vm, constant->tuple.count);
    for (int i = 0; i < constant->tuple.count; i++) tuple_of(tuple)->items[i] = constant_value(vm, &constant->tuple.items[i]);
    if (constant->kind == CONST_TUPLE) return tuple;
    Value set = set_new(vm, tuple_of(tuple)->items, constant->tuple.count, true);
    value_unref(vm, tuple);
    return set;
}

const Value *vm_constants(VM *vm, const Code *code) {
    struct VMPrivate *own = vm->own;
    while (own->constants.count <= code->id) vec_push(&own->constants, ((CodeConstants){0}));
    CodeConstants *known = &own->constants.at[code->id];
    if (known->code == code && known->count == code->const_count) return known->values;
    if (known->code) vec_push(&own->old_constants, *known); /* frames may still run with them */
    Value *values = calloc((size_t)code->const_count + 1, sizeof *values);
    if (!values) vm_out_of_memory();
    for (int i = 0; i < code->const_count; i++) values[i] = constant_value(vm, &code->consts[i]);
    own->constants.at[code->id] = (CodeConstants){code, values, code->const_count};
    return values;
}

/* ---- names ---- */

void opcode_unbound(VM *vm, const Code *code, int local) {
    vm_raise(vm, "UnboundLocalError", "cannot access local variable '%s' where it is not associated with a value", code->localsplus[local]);
}

static Value name_error(VM *vm, const char *name) { return vm_raise(vm, "NameError", "name '%s' is not defined", name); }

static Value builtin_or_error(VM *vm, const char *name) {
    Value found = dict_get_name(vm, vm->builtins, name);
    return found.tag == V_NULL ? name_error(vm, name) : value_ref(found);
}

Value opcode_load_global(VM *vm, Frame *frame, const char *name) {
    if (vm->domain->load_global) {
        Value found = vm->domain->load_global(vm, frame, name);
        return found.tag == V_NULL ? name_error(vm, name) : found;
    }
    Value found = dict_get_name(vm, frame->globals, name);
    return found.tag == V_NULL ? builtin_or_error(vm, name) : value_ref(found);
}

bool opcode_store_global(VM *vm, Frame *frame, const char *name, Value value) {
    if (vm->domain->store_global) return vm->domain->store_global(vm, frame, name, value);
    dict_set_name(vm, frame->globals, name, value);
    return true;
}

bool opcode_delete_global(VM *vm, Frame *frame, const char *name) {
    if (vm->domain->store_global) return vm->domain->store_global(vm, frame, name, VALUE_NULL);
    return opcode_delete_name(vm, frame->globals, name);
}

bool opcode_load_name(VM *vm, Frame *frame, const char *name) {
    Value found = frame->locals ? value_ref(dict_get_name(vm, frame->locals, name)) : VALUE_NULL;
    if (found.tag == V_NULL) found = opcode_load_global(vm, frame, name);
    if (value_is_error(found)) return false;
    frame->fast[frame->sp++] = found;
    return true;
}

bool opcode_store_name(VM *vm, Frame *frame, const char *name) {
    Dict *dict = frame->locals ? frame->locals : frame->globals;
    if (!vm_mutate(vm, dict)) return false;
    dict_set_name(vm, dict, name, TOP(1));
    drop(vm, frame, 1);
    return true;
}

bool opcode_delete_name(VM *vm, Dict *dict, const char *name) {
    bool found;
    if (dict_get_name(vm, dict, name).tag == V_NULL) return name_error(vm, name), false;
    if (!vm_mutate(vm, dict)) return false;
    Value key = str_interned(vm, name);
    bool ok = dict_delete(vm, dict, key, &found);
    value_unref(vm, key);
    return ok;
}

static Value unbound_cell(VM *vm, const Code *code, int local) {
    if (local < code->nlocals + code->ncells) opcode_unbound(vm, code, local);
    else vm_raise(vm, "NameError", "cannot access free variable '%s' where it is not associated with a value in enclosing scope", code->localsplus[local]);
    return VALUE_ERROR;
}

Value opcode_load_cell(VM *vm, const Code *code, Value *fast, int local) {
    Cell *cell = (Cell *)fast[local].o;
    Value found = vm->domain->load_cell ? vm->domain->load_cell(vm, cell) : value_ref(cell->value);
    return found.tag == V_NULL ? unbound_cell(vm, code, local) : found;
}

bool opcode_store_cell(VM *vm, Cell *cell, Value value) {
    if (vm->domain->store_cell) return vm->domain->store_cell(vm, cell, value);
    if (!vm_mutate(vm, cell)) return false;
    value_set(vm, &cell->value, value_ref(value));
    return true;
}

bool opcode_delete_cell(VM *vm, const Code *code, Value *fast, int local) {
    Value present = opcode_load_cell(vm, code, fast, local);
    if (value_is_error(present)) return false;
    value_unref(vm, present);
    return opcode_store_cell(vm, (Cell *)fast[local].o, VALUE_NULL);
}

Value opcode_load_from_dict(VM *vm, Frame *frame, const char *name, int cell) {
    Value mapping = vm_force(vm, TOP(1));
    Value found = value_is(mapping, OBJ_DICT) ? value_ref(dict_get_name(vm, dict_of(mapping), name)) : VALUE_NULL;
    if (found.tag != V_NULL) return found;
    return cell >= 0 ? opcode_load_cell(vm, frame->code, frame->fast, cell) : opcode_load_global(vm, frame, name);
}

void opcode_setup_annotations(VM *vm, Frame *frame) {
    Dict *dict = frame->locals ? frame->locals : frame->globals;
    if (dict_get_name(vm, dict, vm->own->names.annotations_).tag != V_NULL) return;
    Value empty = dict_new(vm);
    dict_set_name(vm, dict, vm->own->names.annotations_, empty);
    value_unref(vm, empty);
}

void opcode_copy_free_vars(Frame *frame, int count) {
    const Code *code = frame->code;
    Tuple *closure = tuple_of(frame->function->closure);
    int first = code_localsplus_count(code) - count;
    for (int i = 0; i < count; i++) frame->fast[first + i] = value_ref(closure->items[i]);
}

/* ---- attributes ---- */

bool opcode_load_super_attr(VM *vm, Frame *frame, const char *name, bool method) {
    Value cls = vm_force(vm, TOP(2)), self = vm_force(vm, TOP(1));
    if (value_is_error(cls) || value_is_error(self)) return false;
    if (!value_is(cls, OBJ_CLASS)) return vm_raise(vm, "TypeError", "super() argument 1 must be a type, not %s", type_name(vm, cls)), false;
    if (!class_is_subclass(value_is(self, OBJ_CLASS) ? (Class *)self.o : class_of(vm, self), (Class *)cls.o))
        return vm_raise(vm, "TypeError", "super(type, obj): obj must be an instance or subtype of type"), false;
    Value found = super_load_attr(vm, (Class *)cls.o, self, name);
    if (found.tag == V_NULL) vm_raise(vm, "AttributeError", "'super' object has no attribute '%s'", name);
    if (found.tag <= V_ERROR) return false;
    drop(vm, frame, 3);
    if (method) frame->fast[frame->sp++] = VALUE_NULL;
    frame->fast[frame->sp++] = found;
    return true;
}

/* ---- calls ---- */

bool opcode_call(VM *vm, Frame *frame, int count) {
    Value *base = &TOP(count + 2);
    bool method = base->tag != V_NULL;
    Tuple *kwnames = frame->kwnames;
    Value callee = method ? base[0] : base[1], *args = method ? base + 1 : base + 2;
    int nargs = count + method - (kwnames ? kwnames->count : 0);
    frame->kwnames = NULL;
    Value result = vm_call(vm, callee, args, nargs, kwnames);
    if (value_is_error(result)) {
        frame->kwnames = kwnames; /* a stopped capture sees the instruction as it was */
        return false;
    }
    drop(vm, frame, count + 2);
    frame->fast[frame->sp++] = result;
    return true;
}

static Value call_with_dict(VM *vm, Value callee, Value *items, int count, Dict *keywords) {
    int total = count + keywords->live, i = count;
    Value *args = malloc(((size_t)total + 1) * sizeof *args);
    Value names = tuple_take(vm, keywords->live), key, value;
    if (!args) vm_out_of_memory();
    if (count) memcpy(args, items, (size_t)count * sizeof *args);
    bool ok = true;
    for (int at = 0; ok && dict_next(keywords, &at, &key, &value); i++) {
        ok = value_is(key, OBJ_STR);
        if (!ok) vm_raise(vm, "TypeError", "keywords must be strings");
        tuple_of(names)->items[i - count] = value_ref(key);
        args[i] = value;
    }
    Value result = ok ? vm_call(vm, callee, args, count, keywords->live ? tuple_of(names) : NULL) : VALUE_ERROR;
    value_unref(vm, names);
    free(args);
    return result;
}

bool opcode_call_ex(VM *vm, Frame *frame, int flags) {
    int operands = 3 + (flags & 1);
    Value callee = TOP(operands - 1), given = vm_force(vm, TOP(operands - 2)), *items;
    Value keywords = flags & 1 ? vm_force(vm, TOP(1)) : VALUE_NULL;
    if (value_is_error(given) || value_is_error(keywords)) return false;
    Value list = VALUE_NULL;
    int count;
    if (!value_is(given, OBJ_TUPLE)) { /* a list is copied too: what is called may change it */
        list = opcode_star_list(vm, callee, given);
        if (value_is_error(list)) return false;
    }
    sequence_view(value_is(given, OBJ_TUPLE) ? given : list, &items, &count);
    Value plain = vm_unwrap(keywords);
    Value result = value_is(plain, OBJ_DICT) ? call_with_dict(vm, callee, items, count, dict_of(plain)) : vm_call(vm, callee, items, count, NULL);
    value_unref(vm, list);
    if (value_is_error(result)) return false;
    drop(vm, frame, operands);
    frame->fast[frame->sp++] = result;
    return true;
}

static Value display(VM *vm, Value v) {
    v = vm_force(vm, v);
    if (v.tag == V_NONE || v.tag == V_ERROR) return v;
    Value text = vm_repr(vm, v);
    if (value_is_error(text)) return text;
    vm_write(vm, vm->out, str_text(text), str_of(text)->length);
    vm_write(vm, vm->out, "\n", 1);
    value_unref(vm, text);
    dict_set_name(vm, vm->builtins, vm_intern(vm, "_"), v);
    return VALUE_NONE;
}

static Value import_star(VM *vm, Frame *frame, Value module) {
    if (!value_is(module, OBJ_MODULE)) return vm_raise(vm, "ImportError", "import * needs a module");
    Dict *from = ((ModuleObject *)module.o)->dict, *to = frame->locals ? frame->locals : frame->globals;
    Value all = dict_get_name(vm, from, vm->own->names.all_), key, value, *names;
    int count;
    if (!vm_mutate(vm, to)) return VALUE_ERROR;
    if (all.tag != V_NULL && sequence_view(all, &names, &count)) {
        for (int i = 0; i < count; i++) {
            Value found = vm_load_attr(vm, module, str_intern(vm, str_of(names[i])));
            if (value_is_error(found) || !dict_set(vm, to, names[i], found)) return VALUE_ERROR;
            value_unref(vm, found);
        }
        return VALUE_NONE;
    }
    for (int at = 0; dict_next(from, &at, &key, &value);)
        if (value_is(key, OBJ_STR) && str_text(key)[0] != '_' && !dict_set(vm, to, key, value)) return VALUE_ERROR;
    return VALUE_NONE;
}

/* PEP 479: StopIteration must not leave a generator. */
static Value stop_iteration_error(VM *vm, Value exception) {
    if (!exception_is(vm, exception, "StopIteration")) return value_ref(exception);
    vm_raise(vm, "RuntimeError", "generator raised StopIteration");
    Value error = exception_take(vm);
    ExceptionData *data = exception_data(error);
    value_set(vm, &data->cause, value_ref(exception));
    value_set(vm, &data->context, value_ref(exception));
    data->suppress_context = true;
    return error;
}

Value opcode_intrinsic(VM *vm, Frame *frame, int which, Value v) {
    switch ((Intrinsic1)which) {
    case INTRINSIC_PRINT: return display(vm, v);
    case INTRINSIC_IMPORT_STAR: return import_star(vm, frame, vm_force(vm, v));
    case INTRINSIC_STOPITERATION_ERROR: return stop_iteration_error(vm, v);
    case INTRINSIC_UNARY_POSITIVE: return vm_unary(vm, "pos", v);
    case INTRINSIC_LIST_TO_TUPLE: return tuple_new(vm, list_of(v)->items, list_of(v)->count);
    }
    return vm_raise(vm, "RuntimeError", "unknown intrinsic %d", which);
}

bool opcode_make_function(VM *vm, Frame *frame, int flags) {
    Value code = TOP(1);
    Value made = function_new(vm, ((CodeObject *)code.o)->code, frame->globals);
    Function *f = (Function *)made.o;
    int operand = 2;
    if (flags & MAKE_FUNCTION_CLOSURE) f->closure = value_ref(TOP(operand++));
    if (flags & MAKE_FUNCTION_KEYWORD_DEFAULTS) f->kwdefaults = value_ref(TOP(operand++));
    if (flags & MAKE_FUNCTION_DEFAULTS) f->defaults = value_ref(TOP(operand++));
    drop(vm, frame, operand - 1);
    frame->fast[frame->sp++] = made;
    return true;
}

/* ---- generators ---- */

Value opcode_yield_from_iterator(VM *vm, Value iterable) {
    Value v = vm_force(vm, iterable);
    return value_is(v, OBJ_GENERATOR) ? value_ref(v) : vm_iterate(vm, v);
}

/* The result of an exhausted iterator: a StopIteration's value. */
static Value value_of_stop(VM *vm) {
    Value exception = exception_take(vm);
    Value result = exception_load_attr(vm, exception, vm_intern(vm, "value"));
    value_unref(vm, exception);
    return result;
}

Value opcode_send(VM *vm, Value receiver, Value sent, bool *returned) {
    receiver = vm_force(vm, receiver);
    Value result = VALUE_NONE, item;
    if (value_is(receiver, OBJ_GENERATOR)) item = generator_resume(vm, (Generator *)receiver.o, sent, &result);
    else if (sent.tag == V_NONE && value_is(receiver, OBJ_INSTANCE)) item = vm_call_special(vm, receiver, vm->own->names.next_, NULL, 0);
    else if (sent.tag == V_NONE) item = vm_next(vm, receiver);
    else item = vm_call_method(vm, receiver, "send", &sent, 1);
    if (value_is_error(item) && vm_pending(vm, "StopIteration")) {
        result = value_of_stop(vm);
        item = VALUE_NULL;
    }
    *returned = item.tag == V_NULL;
    return *returned ? result : item;
}

bool opcode_cleanup_throw(VM *vm, Frame *frame) {
    Value exception = TOP(1);
    if (!exception_is(vm, exception, "StopIteration")) {
        value_set(vm, &vm->exception, value_ref(exception));
        return false;
    }
    Value result = exception_load_attr(vm, exception, vm_intern(vm, "value"));
    drop(vm, frame, 3);
    frame->fast[frame->sp++] = VALUE_NONE;
    frame->fast[frame->sp++] = result;
    return true;
}

/* ---- imports ---- */

Value opcode_import_name(VM *vm, const char *name, Value level, Value names, Span span) {
    if (level.tag == V_INT && level.i > 0) return vm_raise(vm, "ImportError", "attempted relative import with no known parent package");
    Value module = vm_import(vm, name, span);
    const char *dot = strchr(name, '.');
    if (value_is_error(module) || names.tag != V_NONE || !dot) return module;
    value_unref(vm, module);
    return vm_import(vm, intern_n(vm->lang->names, name, (size_t)(dot - name)), span); /* `import a.b` binds a */
}

Value opcode_import_from(VM *vm, Value module, const char *name, Span span) {
    module = vm_force(vm, module);
    if (value_is_error(module)) return module;
    Value found = vm_load_attr_generic(vm, module, name);
    if (value_is_error(found) && vm_pending(vm, "AttributeError")) { /* said by the module's __getattr__ */
        vm_clear_exception(vm);
        found = VALUE_NULL;
    }
    if (found.tag != V_NULL) return found;
    if (!value_is(module, OBJ_MODULE)) return vm_raise(vm, "ImportError", "cannot import name '%s'", name);
    const char *package = ((ModuleObject *)module.o)->name;
    char dotted[256];
    snprintf(dotted, sizeof dotted, "%s.%s", package, name);
    found = vm_import(vm, vm_intern(vm, dotted), span);
    if (!value_is_error(found)) return found;
    if (vm_pending(vm, "ModuleNotFoundError")) {
        vm_clear_exception(vm);
        vm_raise(vm, "ImportError", "cannot import name '%s' from '%s'", name, package);
    }
    return VALUE_ERROR;
}

/* ---- exceptions and with ---- */

static bool raise_again(VM *vm) {
    if (!value_is_exception(vm->handled)) return vm_raise(vm, "RuntimeError", "No active exception to reraise"), false;
    value_set(vm, &vm->exception, value_ref(vm->handled));
    return true;
}

bool opcode_raise(VM *vm, Frame *frame, int count) {
    if (count == 0) return raise_again(vm);
    Value exception = exception_of(vm, TOP(count));
    if (value_is_error(exception)) return false;
    if (count == 2) {
        Value given = vm_force(vm, TOP(1));
        Value cause = given.tag == V_NONE ? VALUE_NONE : exception_of(vm, given);
        if (value_is_error(cause)) {
            value_unref(vm, exception);
            vm_clear_exception(vm);
            return vm_raise(vm, "TypeError", "exception causes must derive from BaseException"), false;
        }
        value_set(vm, &exception_data(exception)->cause, cause);
        exception_data(exception)->suppress_context = true;
    }
    exception_set(vm, exception);
    return false;
}

int opcode_exception_matches(VM *vm, Value exception, Value wanted) {
    wanted = vm_force(vm, wanted);
    if (value_is(wanted, OBJ_TUPLE)) {
        for (int i = 0; i < tuple_of(wanted)->count; i++) {
            int match = opcode_exception_matches(vm, exception, tuple_of(wanted)->items[i]);
            if (match) return match;
        }
        return 0;
    }
    if (!value_is(wanted, OBJ_CLASS) || !((Class *)wanted.o)->is_exception)
        return vm_raise(vm, "TypeError", "catching classes that do not inherit from BaseException is not allowed"), -1;
    exception = vm_force(vm, exception);
    return value_is(exception, OBJ_INSTANCE) && class_is_subclass(((Instance *)exception.o)->cls, (Class *)wanted.o);
}

static Value manager_method(VM *vm, Value manager, const char *name) {
    Value found = value_is(manager, OBJ_INSTANCE) ? vm_lookup_special(vm, manager, name) : vm_load_attr_generic(vm, manager, name);
    if (found.tag == V_NULL) return vm_raise(vm, "TypeError", "'%s' object does not support the context manager protocol", type_name(vm, manager));
    return found;
}

bool opcode_before_with(VM *vm, Frame *frame) {
    Value manager = vm_force(vm, TOP(1));
    if (value_is_error(manager)) return false;
    Value enter = manager_method(vm, manager, vm->own->names.enter_);
    if (value_is_error(enter)) return false;
    Value leave = manager_method(vm, manager, vm->own->names.exit_);
    Value entered = value_is_error(leave) ? leave : vm_call0(vm, enter);
    value_unref(vm, enter);
    if (value_is_error(entered)) return value_unref(vm, leave), false;
    value_set(vm, &TOP(1), leave);
    frame->fast[frame->sp++] = entered;
    return true;
}

Value opcode_call_exit(VM *vm, Value exit, Value exception) {
    Value args[3] = {VALUE_NONE, exception, VALUE_NONE};
    if (value_is_exception(exception)) args[0] = value_object(((Instance *)exception.o)->cls);
    return vm_call(vm, exit, args, 3, NULL);
}
