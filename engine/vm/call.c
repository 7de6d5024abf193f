/* Call: what happens when anything is called, from bytecode or from C.
 *
 *     Value y = vm_call(vm, f, args, nargs, NULL);      // args borrowed; positional values, then one for each name of kwnames
 *
 * Language functions get a frame, which runs through vm->evaluator when one is set (PEP 523); a leaf of functional.py goes to the
 * domain's `leaf`. Builtins get forced arguments, checked in number.
 * Invariant: a frame made here is freed here. */
#include "vm/dispatch.h"
#include "vm/internal.h"
#include <stdlib.h>
#include <string.h>

enum { SMALL = 12 /* arguments that need no heap */ };

/* Frames come and go with every call: small ones are kept by size. */
static int frame_size_class(const Code *code) { return (code_localsplus_count(code) + code->stacksize + 2 + FRAME_STEP - 1) / FRAME_STEP; }

static Frame *frame_take(VM *vm, int size) {
    struct VMPrivate *own = vm->own;
    if (size < FRAME_SIZES && own->spare_frames[size]) {
        Frame *frame = own->spare_frames[size];
        own->spare_frames[size] = frame->back;
        own->spare_counts[size]--;
        return frame;
    }
    Frame *frame = malloc(sizeof(Frame) + (size_t)size * FRAME_STEP * sizeof(Value));
    if (!frame) vm_out_of_memory();
    return frame;
}

Frame *frame_new(VM *vm, Function *function, const Code *code, Dict *globals) {
    int locals = code_localsplus_count(code);
    Frame *frame = frame_take(vm, frame_size_class(code));
    *frame = (Frame){.function = function, .code = code, .globals = globals, .fast = (Value *)(frame + 1), .sp = locals};
    memset(frame->fast, 0, (size_t)locals * sizeof(Value)); /* V_NULL is 0 */
    return frame;
}

static void frame_give(VM *vm, Frame *frame) {
    struct VMPrivate *own = vm->own;
    int size = frame_size_class(frame->code);
    if (size >= FRAME_SIZES || own->spare_counts[size] >= SPARE_FRAMES || own->closing) {
        free(frame);
        return;
    }
    frame->back = own->spare_frames[size];
    own->spare_frames[size] = frame;
    own->spare_counts[size]++;
}

void frame_free(VM *vm, Frame *frame) {
    for (int i = 0; i < frame->sp; i++) value_unref(vm, frame->fast[i]);
    frame_give(vm, frame);
}

Value frame_evaluate(VM *vm, Frame *frame) {
    return vm->evaluator ? vm->evaluator(vm, frame, vm->evaluator_state) : frame_run(vm, frame);
}

static Value call_leaf(VM *vm, Function *function, Frame *frame) {
    const Code *code = function->code;
    int count = code->argcount + code->kwonlyargcount + !!(code->flags & CODE_VARARGS) + !!(code->flags & CODE_VARKEYWORDS);
    return vm->domain->leaf(vm, function, frame->fast, count);
}

/* Eagerly a leaf is a function like others, but that autocast may have a rule for it. */
static Value run_leaf(VM *vm, Function *function, Frame *frame) {
    bool casts = vm->torch && autocast_enter_leaf(vm, function->leaf, frame->fast, function->code->argcount + function->code->kwonlyargcount);
    Value result = vm->exception.tag != V_NULL && casts ? VALUE_ERROR : frame_evaluate(vm, frame);
    if (casts) autocast_leave_leaf(vm);
    return result;
}

Value call_function(VM *vm, Function *function, Value *args, int nargs, Tuple *kwnames) {
    if (vm->domain->may_call && !vm->domain->may_call(vm, value_object(function))) return VALUE_ERROR;
    Frame *frame = frame_new(vm, function, function->code, function->globals);
    function->head.refs++;
    Value result = VALUE_ERROR;
    if (frame_bind(vm, frame, args, nargs, kwnames)) {
        if (function->leaf && vm->domain->leaf && function->leaf != vm->open_leaf) result = call_leaf(vm, function, frame);
        else result = function->leaf ? run_leaf(vm, function, frame) : frame_evaluate(vm, frame);
    }
    frame_free(vm, frame);
    value_unref(vm, value_object(function));
    return result;
}

static Value wrong_count(VM *vm, Builtin *b, int nargs) {
    int self = b->effects & (BUILTIN_METHOD | BUILTIN_NEW) || b->self.tag != V_NULL;
    int given = nargs - self, min = b->min - self, max = b->max < 0 ? -1 : b->max - self;
    const char *name = self ? b->qualname : b->name;
    if (given < 0) return vm_raise(vm, "TypeError", "unbound method %s() needs an argument", b->qualname);
    if (max == 0) return vm_raise(vm, "TypeError", "%s() takes no arguments (%d given)", name, given);
    if (min == max && max == 1) return vm_raise(vm, "TypeError", "%s() takes exactly one argument (%d given)", name, given);
    bool few = given < min;
    int bound = few ? min : max;
    return vm_raise(vm, "TypeError", "%s expected %s%d argument%s, got %d", b->name, min == max ? "" : few ? "at least " : "at most ", bound, bound == 1 ? "" : "s", given);
}

static bool is_raw(const Builtin *b) { return b->effects & BUILTIN_RAW; }

/* `list.append(5, 1)` reaches the function with a self that is no list. */
static bool fits_owner(VM *vm, const Builtin *b, Value self) {
    const Class *owner = b->owner;
    if (!owner || (self.tag == V_OBJECT && self.o->type == (uint8_t)owner->builtin_type && owner->mro_count == 2)) return true;
    if (class_is_subclass(class_of(vm, self), owner)) return true;
    vm_raise(vm, "TypeError", "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", b->name, owner->name, type_name(vm, self));
    return false;
}

static bool force_all(VM *vm, Value *args, int count) {
    for (int i = 0; i < count; i++) {
        args[i] = vm_force(vm, args[i]);
        if (value_is_error(args[i])) return false;
    }
    return true;
}

/* args may be changed. */
static Value run_builtin(VM *vm, Builtin *b, Value *args, int nargs, Tuple *kwnames) {
    if (kwnames && kwnames->count == 0) kwnames = NULL;
    int keywords = kwnames ? kwnames->count : 0;
    if ((b->max >= 0 && nargs > b->max) || nargs + keywords < b->min) return wrong_count(vm, b, nargs);
    if (keywords && b->effects & BUILTIN_POSITIONAL) return vm_no_keywords(vm, b->name, kwnames), VALUE_ERROR;
    if (vm->domain->number_call) {
        Value number = vm->domain->number_call(vm, b, args, nargs, kwnames);
        if (number.tag != V_NULL) return number;
    }
    if (b->effects & (BUILTIN_EFFECT | BUILTIN_BREAK) && vm->domain->replace_call) {
        Value replaced = vm->domain->replace_call(vm, b, args, nargs, kwnames);
        if (replaced.tag != V_NULL) return replaced;
    }
    if (b->effects && vm->domain->may_call && !vm->domain->may_call(vm, value_object(b))) return VALUE_ERROR;
    if (!is_raw(b)) {
        if (vm->domain->force && !force_all(vm, args, nargs + keywords)) return VALUE_ERROR;
        if (b->effects & BUILTIN_METHOD && nargs > 0) {
            if (!fits_owner(vm, b, args[0])) return VALUE_ERROR;
            if (value_is(args[0], OBJ_INSTANCE)) args[0] = vm_unwrap(args[0]); /* a subclass stands for the builtin value it carries */
        }
    } else if (b->owner && nargs > 0 && !fits_owner(vm, b, vm_force(vm, args[0]))) return VALUE_ERROR;
    return b->fn(vm, args, nargs, kwnames);
}

Value call_builtin(VM *vm, Builtin *b, Value *args, int nargs, Tuple *kwnames) {
    int count = nargs + (kwnames ? kwnames->count : 0), shift = b->self.tag != V_NULL;
    bool as_is = !shift && (is_raw(b) || (!vm->domain->force && !(b->effects & BUILTIN_METHOD && nargs > 0 && value_is(args[0], OBJ_INSTANCE))));
    if (as_is) return run_builtin(vm, b, args, nargs, kwnames);
    Value small[SMALL], *all = count + shift <= SMALL ? small : malloc((size_t)(count + shift) * sizeof(Value));
    if (!all) vm_out_of_memory();
    if (shift) all[0] = b->self;
    if (count) memcpy(all + shift, args, (size_t)count * sizeof(Value));
    Value result = run_builtin(vm, b, all, nargs + shift, kwnames);
    if (all != small) free(all);
    return result;
}

static Value call_with_self(VM *vm, Value function, Value self, Value *args, int nargs, Tuple *kwnames) {
    int count = nargs + (kwnames ? kwnames->count : 0);
    Value small[SMALL], *all = count < SMALL ? small : malloc(((size_t)count + 1) * sizeof(Value));
    if (!all) vm_out_of_memory();
    all[0] = self;
    if (count) memcpy(all + 1, args, (size_t)count * sizeof(Value));
    Value result = vm_call(vm, function, all, nargs + 1, kwnames);
    if (all != small) free(all);
    return result;
}

static Value call_instance(VM *vm, Value callee, Value *args, int nargs, Tuple *kwnames) {
    Value hook = class_lookup(vm, ((Instance *)callee.o)->cls, vm->own->names.call_);
    if (value_is(hook, OBJ_FUNCTION) || value_is(hook, OBJ_COMPILED)) return call_with_self(vm, hook, callee, args, nargs, kwnames);
    if (hook.tag == V_NULL) return vm_raise(vm, "TypeError", "'%s' object is not callable", type_name(vm, callee));
    Value bound = vm_bind(vm, hook, callee, ((Instance *)callee.o)->cls);
    Value result = value_is_error(bound) ? bound : vm_call(vm, bound, args, nargs, kwnames);
    value_unref(vm, bound);
    return result;
}

static Value call_object(VM *vm, Value callee, Value *args, int nargs, Tuple *kwnames) {
    const NativeType *native = vm->own->natives[callee.o->type];
    if (native && native->call) return native->call(vm, callee.o, args, nargs, kwnames);
    switch ((ObjectType)callee.o->type) {
    case OBJ_FUNCTION: return call_function(vm, (Function *)callee.o, args, nargs, kwnames);
    case OBJ_BUILTIN: return call_builtin(vm, (Builtin *)callee.o, args, nargs, kwnames);
    case OBJ_METHOD: return call_with_self(vm, ((Method *)callee.o)->function, ((Method *)callee.o)->self, args, nargs, kwnames);
    case OBJ_OP: return vm_call_op(vm, ((OpObject *)callee.o)->op, args, nargs, kwnames);
    case OBJ_CLASS:
        if (vm->domain->may_call && !vm->domain->may_call(vm, callee)) return VALUE_ERROR;
        return class_call(vm, (Class *)callee.o, args, nargs, kwnames);
    case OBJ_INSTANCE: return call_instance(vm, callee, args, nargs, kwnames);
    case OBJ_STATICMETHOD: return vm_call(vm, ((Wrapper *)callee.o)->inner, args, nargs, kwnames);
    default: return vm_raise(vm, "TypeError", "'%s' object is not callable", type_name(vm, callee));
    }
}

Value vm_call(VM *vm, Value callee, Value *args, int nargs, Tuple *kwnames) {
    callee = vm_force(vm, callee);
    if (callee.tag != V_OBJECT) return value_is_error(callee) ? callee : vm_raise(vm, "TypeError", "'%s' object is not callable", type_name(vm, callee));
    if (value_is(callee, OBJ_FUNCTION)) return call_function(vm, (Function *)callee.o, args, nargs, kwnames);
    if (!vm_enter(vm, " while calling a Python object")) return VALUE_ERROR;
    Value result = call_object(vm, callee, args, nargs, kwnames);
    vm_leave(vm);
    return result;
}

Value vm_call0(VM *vm, Value callee) { return vm_call(vm, callee, NULL, 0, NULL); }
Value vm_call1(VM *vm, Value callee, Value a) { return vm_call(vm, callee, (Value[]){a}, 1, NULL); }
Value vm_call2(VM *vm, Value callee, Value a, Value b) { return vm_call(vm, callee, (Value[]){a, b}, 2, NULL); }

bool vm_callable(VM *vm, Value v) {
    if (v.tag != V_OBJECT) return false;
    const NativeType *native = vm->own->natives[v.o->type];
    if (native) return native->call != NULL;
    if (value_is(v, OBJ_INSTANCE)) return class_lookup(vm, ((Instance *)v.o)->cls, vm->own->names.call_).tag != V_NULL;
    return value_is(v, OBJ_FUNCTION) || value_is(v, OBJ_BUILTIN) || value_is(v, OBJ_METHOD) || value_is(v, OBJ_OP) || value_is(v, OBJ_CLASS) || value_is(v, OBJ_STATICMETHOD);
}

Value vm_run_statement(VM *vm, Code *code, Dict *globals) {
    Frame *frame = frame_new(vm, NULL, code, globals);
    frame->locals = globals;
    Value result = frame_run(vm, frame);
    frame_free(vm, frame);
    if (vm->own->finalizers.count) vm_run_finalizers(vm);
    return result;
}
