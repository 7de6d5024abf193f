/* VM: the interpreter loop, one case for each opcode of lang/bytecode.def.
 *
 * In: a frame whose arguments are bound. Out: the value returned, or VALUE_ERROR with vm->exception (or vm->stopped) set.
 * Operands stay on the stack until an instruction has succeeded: when capture gives up in the middle of one, the frame still shows the
 * state before it, and frame->pc is that instruction. While an instruction runs frame->pc is the next one.
 *
 *     Value y = frame_run(vm, frame);
 *
 * Invariant: fast[0 .. sp) owns what it holds; frame_free drops it. To add an opcode: its row in bytecode.def, its case here; what takes
 * more than a few lines goes to opcode.c. */
#include "vm/opcode.h"
#include <math.h>

#define TOP(n) (fast[frame->sp - (n)])
#define PUSH(v) (fast[frame->sp++] = (v))
#define POP() (fast[--frame->sp])
#define DROP() (frame->sp--, value_unref(vm, fast[frame->sp]))
#define TRY(ok) if (!(ok)) goto error; break
/* A result computed from the n values on top takes their place. */
#define REPLACE(n, value)                                     \
    do {                                                      \
        Value result_ = (value);                              \
        if (value_is_error(result_)) goto error;              \
        for (int drop_ = 0; drop_ < (n); drop_++) DROP();     \
        PUSH(result_);                                        \
    } while (0)

static bool handle_exception(VM *vm, Frame *frame, int at) {
    const Code *code = frame->code;
    for (int i = 0; i < code->exception_count; i++) {
        const ExceptionEntry *entry = &code->exceptions[i];
        if (at < entry->start || at >= entry->end) continue;
        int depth = code_localsplus_count(code) + entry->depth;
        while (frame->sp > depth) value_unref(vm, frame->fast[--frame->sp]);
        if (entry->lasti) frame->fast[frame->sp++] = value_int(at);
        frame->fast[frame->sp++] = exception_take(vm);
        frame->pc = entry->target;
        return true;
    }
    return false;
}

static inline bool quick_binary(int op, Value a, Value b, Value *out) {
    if (a.tag == V_INT && b.tag == V_INT) {
        int64_t result;
        switch (op) {
        case BINARY_ADD: case BINARY_ADD + BINARY_INPLACE: if (__builtin_add_overflow(a.i, b.i, &result)) return false; break;
        case BINARY_SUBTRACT: case BINARY_SUBTRACT + BINARY_INPLACE: if (__builtin_sub_overflow(a.i, b.i, &result)) return false; break;
        case BINARY_MULTIPLY: case BINARY_MULTIPLY + BINARY_INPLACE: if (__builtin_mul_overflow(a.i, b.i, &result)) return false; break;
        default: return false;
        }
        *out = value_int(result);
        return true;
    }
    if (a.tag != V_FLOAT || b.tag != V_FLOAT) return false;
    switch (op) {
    case BINARY_ADD: case BINARY_ADD + BINARY_INPLACE: *out = value_float(a.f + b.f); return true;
    case BINARY_SUBTRACT: case BINARY_SUBTRACT + BINARY_INPLACE: *out = value_float(a.f - b.f); return true;
    case BINARY_MULTIPLY: case BINARY_MULTIPLY + BINARY_INPLACE: *out = value_float(a.f * b.f); return true;
    default: return false;
    }
}

static inline bool quick_compare(CompareOp op, Value a, Value b, bool *out) {
    if (a.tag != V_INT || b.tag != V_INT) return false;
    switch (op) {
    case COMPARE_LT: *out = a.i < b.i; return true;
    case COMPARE_LE: *out = a.i <= b.i; return true;
    case COMPARE_EQ: *out = a.i == b.i; return true;
    case COMPARE_NE: *out = a.i != b.i; return true;
    case COMPARE_GT: *out = a.i > b.i; return true;
    case COMPARE_GE: *out = a.i >= b.i; return true;
    }
    return false;
}

/* 1, 0, -1 of the value on top */
static inline int truth_of_top(VM *vm, Value v) { return v.tag == V_BOOL ? v.b : v.tag == V_NONE ? 0 : vm_truth(vm, v); }

static inline bool poll(VM *vm) {
    return ((++vm->own->steps & 1023) != 0 && !(vm->interrupt && *vm->interrupt)) || vm_poll(vm);
}

static Value interpret(VM *vm, Frame *frame) {
    const Code *const code = frame->code;
    const Instr *const instrs = code->instrs;
    Value *const fast = frame->fast;
    const Value *const consts = frame->consts;
    if (vm->exception.tag != V_NULL) { /* generator.throw() */
        frame->pc--;
        goto raised;
    }
    for (;;) {
        if (__builtin_expect(vm->own->finalizers.count != 0, 0)) vm_run_finalizers(vm);
        if (__builtin_expect(vm->instruction_hook != NULL, 0) && !vm->instruction_hook(vm, frame, vm->instruction_state)) {
            frame->pc++;
            goto error;
        }
        const Instr *const instr = &instrs[frame->pc++];
        const int32_t arg = instr->arg;
        vm->span = instr->span;
        switch ((Opcode)instr->opcode) {
        /* ---- frame ---- */
        case OPCODE_RESUME: TRY(poll(vm));
        case OPCODE_NOP: break;
        case OPCODE_MAKE_CELL: {
            Value cell = cell_new(vm, fast[arg]);
            value_set(vm, &fast[arg], cell);
            break;
        }
        case OPCODE_COPY_FREE_VARS: opcode_copy_free_vars(frame, arg); break;
        case OPCODE_RETURN_GENERATOR: return generator_new(vm, frame);
        case OPCODE_RETURN_VALUE: return POP();
        case OPCODE_RETURN_CONST: return value_ref(consts[arg]);
        case OPCODE_YIELD_VALUE: ((Generator *)frame->generator.o)->yielded = true; return POP();
        /* ---- stack ---- */
        case OPCODE_POP_TOP: DROP(); break;
        case OPCODE_PUSH_NULL: PUSH(VALUE_NULL); break;
        case OPCODE_COPY: {
            Value v = value_ref(TOP(arg));
            PUSH(v);
            break;
        }
        case OPCODE_SWAP: {
            Value v = TOP(1);
            TOP(1) = TOP(arg);
            TOP(arg) = v;
            break;
        }
        /* ---- constants and variables ---- */
        case OPCODE_LOAD_CONST: PUSH(value_ref(consts[arg])); break;
        case OPCODE_LOAD_FAST: PUSH(value_ref(fast[arg])); break;
        case OPCODE_LOAD_FAST_CHECK:
            if (fast[arg].tag == V_NULL) {
                opcode_unbound(vm, code, arg);
                goto error;
            }
            PUSH(value_ref(fast[arg]));
            break;
        case OPCODE_LOAD_FAST_AND_CLEAR: PUSH(fast[arg]); fast[arg] = VALUE_NULL; break;
        case OPCODE_STORE_FAST: {
            Value v = POP();
            value_set(vm, &fast[arg], v);
            break;
        }
        case OPCODE_DELETE_FAST:
            if (fast[arg].tag == V_NULL) {
                opcode_unbound(vm, code, arg);
                goto error;
            }
            value_set(vm, &fast[arg], VALUE_NULL);
            break;
        case OPCODE_LOAD_NAME: TRY(opcode_load_name(vm, frame, code->names[arg]));
        case OPCODE_STORE_NAME: TRY(opcode_store_name(vm, frame, code->names[arg]));
        case OPCODE_DELETE_NAME: TRY(opcode_delete_name(vm, frame->locals ? frame->locals : frame->globals, code->names[arg]));
        case OPCODE_LOAD_GLOBAL: {
            Value v = opcode_load_global(vm, frame, code->names[arg >> 1]);
            if (value_is_error(v)) goto error;
            if (arg & 1) PUSH(VALUE_NULL);
            PUSH(v);
            break;
        }
        case OPCODE_STORE_GLOBAL:
            if (!opcode_store_global(vm, frame, code->names[arg], TOP(1))) goto error;
            DROP();
            break;
        case OPCODE_DELETE_GLOBAL: TRY(opcode_delete_global(vm, frame, code->names[arg]));
        case OPCODE_LOAD_DEREF: REPLACE(0, opcode_load_cell(vm, code, fast, arg)); break;
        case OPCODE_STORE_DEREF:
            if (!opcode_store_cell(vm, (Cell *)fast[arg].o, TOP(1))) goto error;
            DROP();
            break;
        case OPCODE_DELETE_DEREF: TRY(opcode_delete_cell(vm, code, fast, arg));
        case OPCODE_LOAD_CLOSURE: PUSH(value_ref(fast[arg])); break;
        case OPCODE_LOAD_LOCALS: PUSH(value_ref(value_object(frame->locals))); break;
        case OPCODE_LOAD_FROM_DICT_OR_DEREF: REPLACE(1, opcode_load_from_dict(vm, frame, code->localsplus[arg], arg)); break;
        case OPCODE_LOAD_FROM_DICT_OR_GLOBALS: REPLACE(1, opcode_load_from_dict(vm, frame, code->names[arg], -1)); break;
        case OPCODE_LOAD_BUILD_CLASS: PUSH(value_ref(vm->own->build_class)); break;
        case OPCODE_LOAD_ASSERTION_ERROR: PUSH(value_ref(value_object(exception_class(vm, "AssertionError")))); break;
        case OPCODE_SETUP_ANNOTATIONS: opcode_setup_annotations(vm, frame); break;
        /* ---- attributes and items ---- */
        case OPCODE_LOAD_ATTR: {
            if (!(arg & 1)) {
                REPLACE(1, vm_load_attr(vm, TOP(1), code->names[arg >> 1]));
                break;
            }
            Value callable, self;
            if (!vm_load_method(vm, TOP(1), code->names[arg >> 1], &callable, &self)) goto error;
            DROP();
            PUSH(self.tag == V_NULL ? VALUE_NULL : callable);
            PUSH(self.tag == V_NULL ? callable : self);
            break;
        }
        case OPCODE_LOAD_SUPER_ATTR: TRY(opcode_load_super_attr(vm, frame, code->names[arg >> 2], arg & 1));
        case OPCODE_STORE_ATTR:
            if (!vm_store_attr(vm, TOP(1), code->names[arg], TOP(2))) goto error;
            DROP();
            DROP();
            break;
        case OPCODE_DELETE_ATTR:
            if (!vm_delete_attr(vm, TOP(1), code->names[arg])) goto error;
            DROP();
            break;
        case OPCODE_BINARY_SUBSCR: REPLACE(2, vm_subscript(vm, TOP(2), TOP(1))); break;
        case OPCODE_STORE_SUBSCR:
            if (!vm_store_subscript(vm, TOP(2), TOP(1), TOP(3))) goto error;
            DROP();
            DROP();
            DROP();
            break;
        case OPCODE_DELETE_SUBSCR:
            if (!vm_delete_subscript(vm, TOP(2), TOP(1))) goto error;
            DROP();
            DROP();
            break;
        case OPCODE_BINARY_SLICE: REPLACE(3, opcode_slice(vm, TOP(3), TOP(2), TOP(1))); break;
        case OPCODE_STORE_SLICE: TRY(opcode_store_slice(vm, frame));
        /* ---- operators ---- */
        case OPCODE_UNARY_NEGATIVE: REPLACE(1, vm_unary(vm, "neg", TOP(1))); break;
        case OPCODE_UNARY_INVERT: REPLACE(1, vm_unary(vm, "invert", TOP(1))); break;
        case OPCODE_UNARY_NOT: {
            int truth = truth_of_top(vm, TOP(1));
            if (truth < 0) goto error;
            REPLACE(1, value_bool(!truth));
            break;
        }
        case OPCODE_BINARY_OP: {
            Value result;
            if (quick_binary(arg, TOP(2), TOP(1), &result)) {
                frame->sp--;
                TOP(1) = result;
                break;
            }
            REPLACE(2, vm_binary(vm, arg, TOP(2), TOP(1)));
            break;
        }
        case OPCODE_COMPARE_OP: {
            bool result;
            if (quick_compare((CompareOp)(arg >> 4), TOP(2), TOP(1), &result)) {
                frame->sp--;
                TOP(1) = value_bool(result);
                break;
            }
            REPLACE(2, vm_compare(vm, (CompareOp)(arg >> 4), TOP(2), TOP(1)));
            break;
        }
        case OPCODE_IS_OP: {
            Value a = vm_force(vm, TOP(2)), b = vm_force(vm, TOP(1));
            if (value_is_error(a) || value_is_error(b)) goto error;
            if (vm->domain->compared && a.tag == V_OBJECT && b.tag == V_OBJECT) vm->domain->compared(vm, a, b);
            REPLACE(2, value_bool(value_identical(a, b) != (arg == 1)));
            break;
        }
        case OPCODE_CONTAINS_OP: {
            int found = vm_contains(vm, TOP(1), TOP(2));
            if (found < 0) goto error;
            REPLACE(2, value_bool(found != arg));
            break;
        }
        /* ---- jumps ---- */
        case OPCODE_JUMP_FORWARD: case OPCODE_JUMP_BACKWARD_NO_INTERRUPT: frame->pc = arg; break;
        case OPCODE_JUMP_BACKWARD:
            if (!poll(vm)) goto error;
            frame->pc = arg;
            break;
        case OPCODE_POP_JUMP_IF_FALSE: case OPCODE_POP_JUMP_IF_TRUE: {
            int truth = truth_of_top(vm, TOP(1));
            if (truth < 0) goto error;
            DROP();
            if (truth == (instr->opcode == OPCODE_POP_JUMP_IF_TRUE)) frame->pc = arg;
            break;
        }
        case OPCODE_POP_JUMP_IF_NONE: case OPCODE_POP_JUMP_IF_NOT_NONE: {
            Value v = vm_force(vm, TOP(1));
            if (value_is_error(v)) goto error;
            bool none = v.tag == V_NONE;
            DROP();
            if (none == (instr->opcode == OPCODE_POP_JUMP_IF_NONE)) frame->pc = arg;
            break;
        }
        /* ---- iteration ---- */
        case OPCODE_GET_ITER: REPLACE(1, vm_iterate(vm, TOP(1))); break;
        case OPCODE_FOR_ITER: {
            Value item = vm_next(vm, TOP(1));
            if (value_is_error(item)) goto error;
            if (item.tag != V_NULL) {
                PUSH(item);
                break;
            }
            DROP();
            frame->pc = arg + 1; /* behind END_FOR */
            break;
        }
        case OPCODE_END_FOR: DROP(); DROP(); break;
        case OPCODE_GET_YIELD_FROM_ITER: REPLACE(1, opcode_yield_from_iterator(vm, TOP(1))); break;
        case OPCODE_SEND: {
            bool returned = false;
            REPLACE(1, opcode_send(vm, TOP(2), TOP(1), &returned));
            if (returned) frame->pc = arg;
            break;
        }
        case OPCODE_END_SEND: {
            Value v = POP();
            value_set(vm, &TOP(1), v);
            break;
        }
        case OPCODE_CLEANUP_THROW:
            if (!opcode_cleanup_throw(vm, frame)) goto reraised;
            break;
        /* ---- calls ---- */
        case OPCODE_KW_NAMES: frame->kwnames = tuple_of(consts[arg]); break;
        case OPCODE_CALL: TRY(opcode_call(vm, frame, arg));
        case OPCODE_CALL_FUNCTION_EX: TRY(opcode_call_ex(vm, frame, arg));
        case OPCODE_CALL_INTRINSIC_1: REPLACE(1, opcode_intrinsic(vm, frame, arg, TOP(1))); break;
        case OPCODE_MAKE_FUNCTION: TRY(opcode_make_function(vm, frame, arg));
        /* ---- building ---- */
        case OPCODE_BUILD_TUPLE: opcode_build_tuple(vm, frame, arg); break;
        case OPCODE_BUILD_LIST: opcode_build_list(vm, frame, arg); break;
        case OPCODE_BUILD_SET: REPLACE(arg, set_new(vm, &TOP(arg), arg, false)); break;
        case OPCODE_BUILD_MAP: REPLACE(2 * arg, opcode_build_map(vm, &TOP(2 * arg), arg)); break;
        case OPCODE_BUILD_CONST_KEY_MAP: REPLACE(arg + 1, opcode_build_const_map(vm, &TOP(arg + 1), arg)); break;
        case OPCODE_BUILD_STRING: REPLACE(arg, opcode_build_string(vm, &TOP(arg), arg)); break;
        case OPCODE_BUILD_SLICE: REPLACE(arg, slice_new(vm, TOP(arg), TOP(arg - 1), arg == 3 ? TOP(1) : VALUE_NONE)); break;
        case OPCODE_FORMAT_VALUE: REPLACE(1 + !!(arg & FORMAT_SPEC), opcode_format(vm, arg, &TOP(1 + !!(arg & FORMAT_SPEC)))); break;
        case OPCODE_LIST_APPEND: {
            List *into = opcode_grown(vm, TOP(arg + 1));
            if (!into) goto error;
            list_append(vm, into, TOP(1));
            DROP();
            break;
        }
        case OPCODE_LIST_EXTEND: TRY(opcode_list_extend(vm, frame, arg));
        case OPCODE_SET_ADD: {
            Set *into = opcode_grown(vm, TOP(arg + 1));
            if (!into || !set_add(vm, into, TOP(1))) goto error;
            DROP();
            break;
        }
        case OPCODE_SET_UPDATE: {
            Set *into = opcode_grown(vm, TOP(arg + 1));
            if (!into || !set_update(vm, into, TOP(1))) goto error;
            DROP();
            break;
        }
        case OPCODE_MAP_ADD: {
            Dict *into = opcode_grown(vm, TOP(arg + 2));
            if (!into || !dict_set(vm, into, TOP(2), TOP(1))) goto error;
            DROP();
            DROP();
            break;
        }
        case OPCODE_DICT_UPDATE: TRY(opcode_dict_update(vm, frame, arg));
        case OPCODE_DICT_MERGE: TRY(opcode_dict_merge(vm, frame, arg));
        case OPCODE_UNPACK_SEQUENCE: TRY(opcode_unpack(vm, frame, arg));
        case OPCODE_UNPACK_EX: TRY(opcode_unpack_ex(vm, frame, arg & 255, arg >> 8));
        /* ---- imports ---- */
        case OPCODE_IMPORT_NAME: REPLACE(2, opcode_import_name(vm, code->names[arg], TOP(2), TOP(1), instr->span)); break;
        case OPCODE_IMPORT_FROM: REPLACE(0, opcode_import_from(vm, TOP(1), code->names[arg], instr->span)); break;
        /* ---- exceptions and with ---- */
        case OPCODE_RAISE_VARARGS:
            if (opcode_raise(vm, frame, arg)) goto reraised;
            goto error;
        case OPCODE_PUSH_EXC_INFO: {
            Value exception = POP();
            PUSH(vm->handled.tag == V_NULL ? VALUE_NONE : vm->handled);
            vm->handled = value_ref(exception);
            PUSH(exception);
            break;
        }
        case OPCODE_CHECK_EXC_MATCH: {
            int match = opcode_exception_matches(vm, TOP(2), TOP(1));
            if (match < 0) goto error;
            REPLACE(1, value_bool(match));
            break;
        }
        case OPCODE_POP_EXCEPT: {
            Value previous = POP();
            value_set(vm, &vm->handled, previous.tag == V_NONE ? VALUE_NULL : previous);
            break;
        }
        case OPCODE_RERAISE:
            value_set(vm, &vm->exception, POP()); /* the place saved below it is already in its traceback */
            goto reraised;
        case OPCODE_BEFORE_WITH: TRY(opcode_before_with(vm, frame));
        case OPCODE_WITH_EXCEPT_START: REPLACE(0, opcode_call_exit(vm, TOP(4), TOP(1))); break;
        case OPCODE_COUNT: break;
        }
        continue;
    error:
        if (vm->stopped) {
            frame->pc--;
            return VALUE_ERROR;
        }
        exception_add_trace(vm, frame, frame->pc - 1);
    reraised:
        frame->kwnames = NULL;
        if (!handle_exception(vm, frame, frame->pc - 1)) return VALUE_ERROR;
        continue;
    raised: /* by throw(), at the suspended yield */
        exception_add_trace(vm, frame, frame->pc);
        frame->pc++;
        goto reraised;
    }
}

Value frame_run(VM *vm, Frame *frame) {
    if (vm->depth >= vm->limits.recursion) return vm_raise(vm, "RecursionError", "maximum recursion depth exceeded");
    vm->depth++;
    frame->back = vm->frame;
    vm->frame = frame;
    if (!frame->consts) frame->consts = vm_constants(vm, frame->code);
    Span outer = vm->span;
    Value handled = value_ref(vm->handled);
    Value result = interpret(vm, frame);
    if (vm->stopped) value_set(vm, &vm->handled, value_ref(handled));
    value_unref(vm, handled);
    vm->span = outer;
    vm->frame = frame->back;
    vm->depth--;
    return result;
}
