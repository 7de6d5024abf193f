/* torch._check and its relatives: conditions of the program about sizes and numbers, which a graph may take for granted.
 *
 *     k = n.item(); torch._check(k >= 0); torch.ones(k)
 *
 * A condition that is not known while the graph is captured is assumed there and looked at when the graph has run (unbacked.h). */
#include "dynamo/unbacked.h"
#include "vm/internal.h"

/* The error of a check that failed: message is None or makes the text. */
static Value check_error(VM *vm, Value message, const char *type) {
    Value made = message.tag == V_NONE || message.tag == V_NULL ? VALUE_NULL : vm_call0(vm, message), forced = vm_force(vm, made);
    if (value_is_error(made)) return made;
    if (value_is(forced, OBJ_STR)) vm_raise(vm, type, "%s", str_text(forced));
    else vm_raise(vm, type, "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to PyTorch.)");
    value_unref(vm, made);
    return VALUE_ERROR;
}

Value vm_check_error(VM *vm, Value message) { return check_error(vm, message, "RuntimeError"); }

static bool is_open(VM *vm, Value condition) {
    Dim relation = value_is(condition, OBJ_SYM) ? ((SymObject *)condition.o)->dim : 0;
    return vm->domain->undecided && relation && !dim_is_int(relation) && dim_sym(relation)->kind >= SYM_EQ && vm->domain->undecided(vm, relation);
}

static Value check(VM *vm, Value condition, Value message, const char *type) {
    if (is_open(vm, condition)) {
        capture_check_later(capture_of(vm), ((SymObject *)condition.o)->dim, message);
        return VALUE_NONE;
    }
    int truth = value_is(condition, OBJ_TENSOR) ? (vm_raise(vm, "TypeError", "cond must be a bool, but got <class 'torch.Tensor'>"), -1) : vm_truth(vm, condition);
    if (truth < 0) return VALUE_ERROR;
    return truth ? VALUE_NONE : check_error(vm, message, type);
}

static Value take(VM *vm, Value *args, int nargs, Tuple *kwnames, const char *name, const char *first, const char *type, bool is_size) {
    const char *const names[] = {first, "message"};
    Value v[2];
    if (!vm_parse_args(vm, name, args, nargs, kwnames, names, 2, 1, v)) return VALUE_ERROR;
    Value condition = is_size ? vm_compare(vm, COMPARE_GE, v[0], value_int(0)) : value_ref(v[0]);
    if (value_is_error(condition)) return condition;
    Value result = check(vm, vm_force(vm, condition), v[1], type);
    value_unref(vm, condition);
    return result;
}

static Value torch_check(VM *vm, Value *args, int nargs, Tuple *kwnames) { return take(vm, args, nargs, kwnames, "_check", "cond", "RuntimeError", false); }
static Value torch_check_value(VM *vm, Value *args, int nargs, Tuple *kwnames) { return take(vm, args, nargs, kwnames, "_check_value", "cond", "ValueError", false); }
static Value torch_check_index(VM *vm, Value *args, int nargs, Tuple *kwnames) { return take(vm, args, nargs, kwnames, "_check_index", "cond", "IndexError", false); }
static Value torch_check_type(VM *vm, Value *args, int nargs, Tuple *kwnames) { return take(vm, args, nargs, kwnames, "_check_type", "cond", "TypeError", false); }
static Value torch_check_is_size(VM *vm, Value *args, int nargs, Tuple *kwnames) { return take(vm, args, nargs, kwnames, "_check_is_size", "i", "RuntimeError", true); }

void checks_define(VM *vm, Dict *torch) {
    static const BuiltinDef checks[] = {{"_check", torch_check, 1, 2, 0}, {"_check_value", torch_check_value, 1, 2, 0}, {"_check_index", torch_check_index, 1, 2, 0},
                                        {"_check_type", torch_check_type, 1, 2, 0}, {"_check_is_size", torch_check_is_size, 1, 2, 0}};
    vm_define(vm, torch, "torch", checks, (int)(sizeof checks / sizeof *checks));
}
