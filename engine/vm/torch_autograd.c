/* torch.autograd's entries in C: grad and backward over lists of tensors, for torch/autograd.py.
 *
 *     torch._C._autograd_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)  ->  tuple
 *
 * In: tensors or sequences of them. Errors are RuntimeErrors in PyTorch's words. */
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/tensor_method.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"

/* Root gradients: None, a tensor, or a sequence with None in it. */
static bool read_gradients(VM *vm, Value v, int roots, Tensor **out) {
    Value *items = &v;
    int count = 1;
    if (v.tag == V_NONE || v.tag == V_NULL) return true;
    if (!value_is_tensor(v) && !sequence_view(v, &items, &count)) { vm_raise(vm, "TypeError", "gradients must be tensors or None, not %s", type_name(vm, v)); return false; }
    if (count != roots) { vm_raise(vm, "RuntimeError", "got %d tensors and %d gradients", roots, count); return false; }
    for (int i = 0; i < count; i++) {
        Value item = vm_force(vm, items[i]);
        if (item.tag == V_NONE) continue;
        if (!value_is_tensor(item)) { vm_raise(vm, "TypeError", "gradients can be either Tensors or None, but got %s", type_name(vm, item)); return false; }
        out[i] = tensor_of(item);
    }
    return true;
}

static bool truth_or(VM *vm, Value v, bool otherwise) { return v.tag == V_NONE || v.tag == V_NULL ? otherwise : vm_truth(vm, v) > 0; }

/* ---- backward ---- */

static bool add_to_grad(VM *vm, Tensor *leaf, Tensor *g) {
    if (!leaf->grad) { leaf->grad = tensor_of(value_ref(value_tensor(g))); return true; }
    Tensor *sum = tensor_add(vm, leaf->grad, g);
    if (!sum) return false;
    value_unref(vm, value_tensor(leaf->grad));
    leaf->grad = sum;
    return true;
}

static bool backward_into(VM *vm, Tensor **roots, Tensor **gradients, int count, const TensorList *inputs, bool retain, bool create) {
    Tensor **grads = calloc((size_t)inputs->count + 1, sizeof *grads);
    bool ok = autograd_run(vm, roots, gradients, count, inputs->at, grads, inputs->count, retain, create), former = vm->grad_enabled;
    vm->grad_enabled = create;
    for (int i = 0; ok && i < inputs->count; i++)
        if (grads[i]) ok = add_to_grad(vm, inputs->at[i], grads[i]);
    vm->grad_enabled = former;
    for (int i = 0; i < inputs->count; i++)
        if (grads[i]) value_unref(vm, value_tensor(grads[i]));
    free(grads);
    return ok;
}

bool autograd_backward(VM *vm, Tensor **roots, Tensor **gradients, int count, Value inputs, bool retain_graph, bool create_graph) {
    if (inputs.tag == V_NULL || inputs.tag == V_NONE) return autograd_run(vm, roots, gradients, count, NULL, NULL, 0, retain_graph, create_graph);
    TensorList list = {0};
    bool ok = tensor_list_read(vm, inputs, "inputs", &list);
    if (ok && list.count == 0) { vm_raise(vm, "RuntimeError", "`inputs` argument to `backward()` cannot be empty."); ok = false; }
    ok = ok && backward_into(vm, roots, gradients, count, &list, retain_graph, create_graph);
    vec_free(&list);
    return ok;
}

static Value native_backward(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"tensors", "grad_tensors", "retain_graph", "create_graph", "inputs"};
    Value out[5];
    TensorList roots = {0};
    if (!vm_parse_args(vm, "backward", args, nargs, kwnames, names, 5, 1, out) || !tensor_list_read(vm, out[0], "tensors", &roots)) return VALUE_ERROR;
    Tensor **gradients = calloc((size_t)roots.count + 1, sizeof *gradients);
    bool create = truth_or(vm, out[3], false);
    bool ok = read_gradients(vm, out[1], roots.count, gradients) && autograd_backward(vm, roots.at, gradients, roots.count, out[4], truth_or(vm, out[2], create), create);
    free(gradients);
    vec_free(&roots);
    return ok ? VALUE_NONE : VALUE_ERROR;
}

/* ---- grad ---- */

static Value unused_input(VM *vm, Tensor *input, bool allow, bool materialize) {
    Value args[] = {value_tensor(input)};
    if (materialize) return vm_op(vm, "zeros_like", args, 1);
    if (allow) return VALUE_NONE;
    return vm_raise(vm, "RuntimeError", "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
}

static bool check_inputs(VM *vm, const TensorList *inputs) {
    for (int i = 0; i < inputs->count; i++)
        if (!inputs->at[i]->requires_grad && !tensor_grad_node(vm, inputs->at[i])) {
            vm_raise(vm, "RuntimeError", "One of the differentiated Tensors does not require grad");
            return false;
        }
    return true;
}

typedef struct GradCall { TensorList outputs, inputs; Tensor **gradients, **grads; bool retain, create, allow, materialize; } GradCall;

static Value run_grad(VM *vm, GradCall *call) {
    if (!check_inputs(vm, &call->inputs)) return VALUE_ERROR;
    if (!autograd_run(vm, call->outputs.at, call->gradients, call->outputs.count, call->inputs.at, call->grads, call->inputs.count, call->retain, call->create)) return VALUE_ERROR;
    Value list = list_new(vm, NULL, 0);
    bool ok = true;
    for (int i = 0; i < call->inputs.count; i++) {
        Value g = call->grads[i] ? value_tensor(call->grads[i]) : ok ? unused_input(vm, call->inputs.at[i], call->allow, call->materialize) : VALUE_NONE;
        ok = ok && !value_is_error(g);
        if (ok) list_append(vm, (List *)list.o, g);
        if (!value_is_error(g)) value_unref(vm, g);
    }
    Value tuple = ok ? tuple_new(vm, ((List *)list.o)->items, ((List *)list.o)->count) : VALUE_ERROR;
    value_unref(vm, list);
    return tuple;
}

static Value native_grad(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "allow_unused", "materialize_grads"};
    Value out[7];
    GradCall call = {0};
    if (!vm_parse_args(vm, "grad", args, nargs, kwnames, names, 7, 2, out)) return VALUE_ERROR;
    if (!tensor_list_read(vm, out[0], "outputs", &call.outputs) || !tensor_list_read(vm, out[1], "inputs", &call.inputs)) return VALUE_ERROR;
    call.create = truth_or(vm, out[4], false);
    call.retain = truth_or(vm, out[3], call.create);
    call.materialize = truth_or(vm, out[6], false);
    call.allow = truth_or(vm, out[5], call.materialize);
    call.gradients = calloc((size_t)call.outputs.count + 1, sizeof *call.gradients);
    call.grads = calloc((size_t)call.inputs.count + 1, sizeof *call.grads);
    Value result = read_gradients(vm, out[2], call.outputs.count, call.gradients) ? run_grad(vm, &call) : VALUE_ERROR;
    free(call.gradients);
    free(call.grads);
    vec_free(&call.outputs);
    vec_free(&call.inputs);
    return result;
}

/* torch._C._grad_name(t, "MseLossBackward0"): what a composite's result shows as its grad_fn when PyTorch has one node there. */
static Value native_grad_name(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    if (value_is_tensor(args[0]) && tensor_of(args[0])->grad_fn && value_is(args[1], OBJ_STR)) tensor_of(args[0])->grad_fn->name = vm_intern(vm, str_text(args[1]));
    return value_ref(args[0]);
}

void torch_define_autograd(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {
        {"_grad_name", native_grad_name, 2, 2, 0},
        {"_autograd_grad", native_grad, 0, -1, BUILTIN_BREAK}, {"_autograd_backward", native_backward, 0, -1, BUILTIN_BREAK}};
    vm_define(vm, dict, "torch._C", functions, COUNT_OF(functions));
}
