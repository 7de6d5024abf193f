/* Running the language-side body of a row: composites (functional.py), decompositions, and rows made of others. A body is a function
 * of the language, or a builtin of ours (autograd_function_apply).
 *
 *     F.silu(x)  ->  body `input * sigmoid(input)` called with one value for each parameter
 *
 * Invariant: the body runs in the domain that is current, so the same text computes, traces and infers shapes. */
#include "vm/body.h"
#include "vm/dispatch.h"
#include "vm/tensor.h"
#include "vm/torch_state.h"

bool op_runs_body(const Op *op) {
    if (op->family == FAMILY_COMPOSITE || op->family == FAMILY_DECOMPOSED) return true;
    return op->made_of && !op->scalar && !op->family_ops->run_cpu;
}

/* A composite with a gradient is one node of the eager tape, though graphs see what it is made of. */
bool op_records_itself(const Op *op) { return op->family == FAMILY_COMPOSITE ? op->grad && *op->grad : op->grad != NULL; }

typedef struct Call { VEC(Value) values, names; } Call;

static void push_list(VM *vm, Call *call, const Arg *arg) {
    Value list = value_of_arg(vm, arg);
    for (int k = 0; value_is(list, OBJ_LIST) && k < ((List *)list.o)->count; k++) vec_push(&call->values, value_ref(((List *)list.o)->items[k]));
    value_unref(vm, list);
}

/* Parameters that the function takes by position go so, the others by name; a `*rest` is spread when the function has one, too. */
static void gather_arguments(VM *vm, const Op *op, const Code *code, const Arg *args, int nargs, Call *call) {
    int rest = op->signature->varargs ? op->signature->positional : -1;
    for (int i = 0; i < nargs; i++) {
        if (i == rest && code && (code->flags & CODE_VARARGS)) { push_list(vm, call, &args[i]); continue; }
        if (code && i >= code->argcount) vec_push(&call->names, str_interned(vm, intern(vm->lang->names, op_param(op, i))));
        vec_push(&call->values, value_of_arg(vm, &args[i]));
    }
}

Value op_call_function(VM *vm, const Op *op, Object *body, const Arg *args, int nargs) {
    Call call = {0};
    gather_arguments(vm, op, body->type == OBJ_FUNCTION ? ((Function *)body)->code : NULL, args, nargs, &call);
    Value kwnames = call.names.count ? tuple_new(vm, call.names.at, call.names.count) : VALUE_NULL;
    bool opaque = op->family != FAMILY_COMPOSITE || (vm->domain != &concrete_domain && autocast_has_rule(vm, op)); /* what a composite is made of, autocast sees */
    vm->torch->in_body += opaque;
    Value result = vm_call(vm, value_object(body), call.values.at, call.values.count - call.names.count, call.names.count ? (Tuple *)kwnames.o : NULL);
    vm->torch->in_body -= opaque;
    for (int i = 0; i < call.values.count; i++) value_unref(vm, call.values.at[i]);
    for (int i = 0; i < call.names.count; i++) value_unref(vm, call.names.at[i]);
    value_unref(vm, kwnames);
    vec_free(&call.values);
    vec_free(&call.names);
    return result;
}

Value op_call_body(VM *vm, const Op *op, const Arg *args, int nargs) {
    Object *body = op->body_function ? op->body_function : (Object *)op_body(vm, op);
    return body ? op_call_function(vm, op, body, args, nargs) : VALUE_ERROR;
}

Value op_call_body_without_grad(VM *vm, const Op *op, const Arg *args, int nargs) {
    bool former = vm->grad_enabled;
    vm->grad_enabled = false;
    Value result = op_call_body(vm, op, args, nargs);
    vm->grad_enabled = former;
    return result;
}
