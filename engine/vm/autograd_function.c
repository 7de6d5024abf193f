/* torch.autograd.Function: a forward and a backward written by the program, as one node of the tape.
 *
 *     class Square(torch.autograd.Function): forward(ctx, x) …, backward(ctx, g) …
 *     y = Square.apply(x)          # y.grad_fn = <SquareBackward>
 *
 * A call is one composite op (autograd_function_apply), so that a captured graph keeps it whole: when the joint graph is built, forward and
 * backward are traced as they are written. ctx is an instance of torch.autograd.FunctionCtx (torch/autograd), the node's object.
 * Invariant: the forward runs with gradients off; what it returns is a new tensor for the tape, also when it returns an input. */
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"
#include <stdio.h>
#include <string.h>

static Value attribute(VM *vm, Value object, const char *name) {
    Value found = vm_load_attr_generic(vm, object, vm_intern(vm, name));
    if (found.tag == V_NULL || value_is_error(found)) {
        if (value_is_error(found)) vm_clear_exception(vm);
        return VALUE_NONE;
    }
    return found;
}

/* ---- backward ---- */

static Tensor *zeros_of(VM *vm, const Meta *meta) {
    Arg args[] = {{.tag = ARG_INTS, .ints = {meta->sizes, meta->rank}}, {.tag = ARG_DTYPE, .dtype = meta->dtype}, arg_none(), {.tag = ARG_DEVICE, .device = meta->device}};
    Value zeros = vm_op_args(vm, "zeros", args, 4);
    return value_is_tensor(zeros) ? tensor_of(zeros) : NULL;
}

static bool materializes(VM *vm, Value ctx) {
    Value flag = attribute(vm, ctx, "_materialize");
    bool yes = flag.tag == V_NONE || (flag.tag == V_BOOL && flag.b);
    value_unref(vm, flag);
    return yes;
}

static bool gradient_arguments(VM *vm, GradNode *node, Tensor **grads_out, Value *args) {
    bool zeros = materializes(vm, node->object);
    for (int i = 0; i < node->noutputs; i++) {
        if (grads_out[i]) args[i + 1] = value_ref(value_tensor(grads_out[i]));
        else if (zeros && dtype_is_float(node->output_metas[i].dtype)) {
            Tensor *made = zeros_of(vm, &node->output_metas[i]);
            if (!made) return false;
            args[i + 1] = value_tensor(made);
        } else args[i + 1] = VALUE_NONE;
    }
    return true;
}

static bool take_gradient(VM *vm, const GradNode *node, int i, Value gradient, Tensor **grads_in) {
    if (gradient.tag == V_NONE) return true;
    if (!value_is_tensor(gradient)) { vm_raise(vm, "TypeError", "expected Variable or None (got %s)", type_name(vm, gradient)); return false; }
    if (i < node->ninputs && node->edges[i].node) grads_in[i] = tensor_of(value_ref(gradient));
    return true;
}

static bool take_gradients(VM *vm, GradNode *node, Value result, Tensor **grads_in) {
    Value *items = &result;
    int count = 1;
    if (!value_is_tensor(result)) sequence_view(result, &items, &count);
    bool extra = false;
    for (int i = node->ninputs; i < count; i++) extra |= items[i].tag != V_NONE;
    if (count < node->ninputs || extra) {
        vm_raise(vm, "RuntimeError", "function %s returned an incorrect number of gradients (expected %d, got %d)", node->name, node->ninputs, count);
        return false;
    }
    for (int i = 0; i < node->ninputs; i++)
        if (!take_gradient(vm, node, i, items[i], grads_in)) return false;
    return true;
}

typedef struct CustomState { Value cls; } CustomState;

static void release_custom(VM *vm, void *state) {
    value_unref(vm, ((CustomState *)state)->cls);
    free(state);
}

static bool custom_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    Value *args = calloc((size_t)node->noutputs + 1, sizeof *args);
    args[0] = node->object;
    bool ok = gradient_arguments(vm, node, grads_out, args);
    Value backward = ok ? vm_load_attr(vm, ((CustomState *)node->state)->cls, vm_intern(vm, "backward")) : VALUE_ERROR;
    Value result = value_is_error(backward) ? VALUE_ERROR : vm_call(vm, backward, args, node->noutputs + 1, NULL);
    ok = !value_is_error(result) && take_gradients(vm, node, result, grads_in);
    value_unref(vm, result);
    value_unref(vm, backward);
    for (int i = 1; i <= node->noutputs; i++) value_unref(vm, args[i]);
    free(args);
    return ok;
}

/* ---- forward ---- */

static Value needs_input_grad(VM *vm, Value *args, int nargs) {
    Value *flags = calloc((size_t)nargs + 1, sizeof *flags);
    for (int i = 0; i < nargs; i++) flags[i] = value_bool(value_is_tensor(args[i]) && (tensor_of(args[i])->requires_grad || tensor_grad_node(vm, tensor_of(args[i]))));
    Value tuple = tuple_new(vm, flags, nargs);
    free(flags);
    return tuple;
}

static Value new_context(VM *vm, Value *args, int nargs) {
    Value module = vm_import(vm, vm_intern(vm, "torch.autograd"), (Span){0});
    if (value_is_error(module)) return module;
    Value cls = dict_get_name(vm, ((ModuleObject *)module.o)->dict, vm_intern(vm, "FunctionCtx"));
    Value ctx = vm_call0(vm, cls);
    value_unref(vm, module);
    if (value_is_error(ctx)) return ctx;
    Value needs = needs_input_grad(vm, args, nargs);
    vm_store_attr(vm, ctx, vm_intern(vm, "needs_input_grad"), needs);
    value_unref(vm, needs);
    return ctx;
}

/* forward(ctx, *args), or forward(*args) and then setup_context(ctx, inputs, output). */
static Value call_forward(VM *vm, Value cls, Value ctx, Value *args, int nargs) {
    Value setup = attribute(vm, cls, "setup_context"), forward = vm_load_attr(vm, cls, vm_intern(vm, "forward"));
    if (value_is_error(forward)) return forward;
    bool split = value_is(setup, OBJ_FUNCTION) && !((Function *)setup.o)->code->file->shipped;
    Value *all = calloc((size_t)nargs + 1, sizeof *all);
    all[0] = ctx;
    for (int i = 0; i < nargs; i++) all[i + 1] = args[i];
    Value result = split ? vm_call(vm, forward, args, nargs, NULL) : vm_call(vm, forward, all, nargs + 1, NULL);
    if (split && !value_is_error(result)) {
        Value call[] = {ctx, tuple_new(vm, args, nargs), result}, done = vm_call(vm, setup, call, 3, NULL);
        value_unref(vm, call[1]);
        if (value_is_error(done)) { value_unref(vm, result); result = done; }
        value_unref(vm, done);
    }
    free(all);
    value_unref(vm, setup);
    value_unref(vm, forward);
    return result;
}

/* Tensors are saved as they are when the forward returns. */
static void note_versions(VM *vm, Value ctx) {
    Value saved = attribute(vm, ctx, "_saved"), *items;
    int count = 0;
    if (sequence_view(saved, &items, &count)) {
        Value versions = list_new(vm, NULL, 0);
        for (int i = 0; i < count; i++) list_append(vm, (List *)versions.o, value_int(value_is_tensor(items[i]) ? (int64_t)tensor_of(items[i])->storage->version : -1));
        vm_store_attr(vm, ctx, vm_intern(vm, "_versions"), versions);
        value_unref(vm, versions);
    }
    value_unref(vm, saved);
}

static bool among(VM *vm, Value ctx, const char *name, const Tensor *t) {
    Value listed = attribute(vm, ctx, name), *items;
    int count = 0;
    bool found = false;
    if (sequence_view(listed, &items, &count))
        for (int i = 0; i < count; i++) found |= items[i].tag == V_OBJECT && items[i].o == &t->head;
    value_unref(vm, listed);
    return found;
}

static bool is_argument(Value *args, int nargs, const Tensor *t) {
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == V_OBJECT && args[i].o == &t->head) return true;
    return false;
}

/* What the caller gets for one output; owned. */
static Value link_output(VM *vm, GradNode *node, int i, Value output, Value ctx, Value *args, int nargs) {
    if (!value_is_tensor(output)) return value_ref(output);
    Tensor *t = tensor_of(output);
    bool dirty = among(vm, ctx, "_dirty", t);
    Tensor *given = is_argument(args, nargs, t) && !dirty ? tensor_alias(vm, t) : tensor_of(value_ref(output));
    if (!node || !dtype_is_float(t->meta.dtype) || among(vm, ctx, "_non_differentiable", t)) return value_tensor(given);
    if (dirty) autograd_rebase(vm, given, node, i);
    else autograd_attach(vm, given, node, i);
    return value_tensor(given);
}

static GradNode *custom_node(VM *vm, Value cls, Value ctx, Value *args, int nargs, int noutputs) {
    Tensor **inputs = calloc((size_t)nargs + 1, sizeof *inputs);
    bool any = false;
    for (int i = 0; i < nargs; i++) {
        inputs[i] = value_is_tensor(args[i]) ? tensor_of(args[i]) : NULL;
        any |= inputs[i] && (inputs[i]->requires_grad || tensor_grad_node(vm, inputs[i]));
    }
    GradNode *node = NULL;
    if (any && vm->grad_enabled) {
        const char *name = arena_printf(vm->arena, "%sBackward", ((Class *)cls.o)->name);
        node = autograd_node(vm, vm_intern(vm, name), inputs, nargs, noutputs, custom_backward);
        CustomState *state = calloc(1, sizeof *state);
        state->cls = value_ref(cls);
        node->state = state;
        node->release = release_custom;
        node->object = value_ref(ctx);
    }
    free(inputs);
    return node;
}

static Value link_outputs(VM *vm, Value cls, Value ctx, Value *args, int nargs, Value result) {
    Value *items = &result;
    int count = 1;
    bool several = !value_is_tensor(result) && sequence_view(result, &items, &count);
    GradNode *node = custom_node(vm, cls, ctx, args, nargs, count);
    Value *linked = calloc((size_t)count + 1, sizeof *linked);
    for (int i = 0; i < count; i++) linked[i] = link_output(vm, node, i, items[i], ctx, args, nargs);
    Value out = several ? tuple_new(vm, linked, count) : value_ref(linked[0]);
    for (int i = 0; i < count; i++) value_unref(vm, linked[i]);
    free(linked);
    if (node) grad_node_unref(vm, node);
    return out;
}

Value autograd_function_apply(VM *vm, Value cls, Value *args, int nargs) {
    if (!value_is(cls, OBJ_CLASS)) return vm_raise(vm, "TypeError", "apply() of %s, which is no Function", type_name(vm, cls));
    Value ctx = new_context(vm, args, nargs);
    if (value_is_error(ctx)) return ctx;
    bool former = vm->grad_enabled;
    vm->grad_enabled = false;
    Value result = call_forward(vm, cls, ctx, args, nargs);
    vm->grad_enabled = former;
    if (!value_is_error(result)) note_versions(vm, ctx);
    Value out = value_is_error(result) ? result : link_outputs(vm, cls, ctx, args, nargs, result);
    if (!value_is_error(result)) value_unref(vm, result);
    value_unref(vm, ctx);
    return out;
}

/* ---- as an op ---- */

static Value apply_body(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    return autograd_function_apply(vm, args[0], args + 1, nargs - 1);
}

/* One composite for each number of arguments: its signature names them. */
static const Op *apply_op(VM *vm, int nargs) {
    char key[64];
    snprintf(key, sizeof key, "autograd_function_apply.%d", nargs);
    const Op *known = op_find(vm->ops, key);
    if (known) return known;
    Text signature = {0};
    text_put(&signature, "function");
    for (int i = 0; i < nargs; i++) text_printf(&signature, ", a%d", i);
    Op *op = op_add_composite(vm->ops, vm_intern(vm, key), lang_parse_signature(vm->lang, arena_strdup(vm->arena, text_cstr(&signature))), NULL);
    text_free(&signature);
    op->name = vm_intern(vm, "autograd_function_apply");
    op->body_function = builtin_new(vm, "autograd_function_apply", apply_body, 1, -1, 0).o;
    op->traits = TRAIT_EFFECT;
    return op;
}

/* torch._C._function_apply(cls, args) */
Value function_apply_call(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Value *items;
    int count;
    if (!sequence_view(args[1], &items, &count)) return vm_raise(vm, "TypeError", "_function_apply takes a class and a tuple");
    if (count + 1 >= DISPATCH_MAX_PARAMS) return vm_raise(vm, "NotImplementedError", "a Function with more than %d arguments", DISPATCH_MAX_PARAMS - 2);
    Value *all = calloc((size_t)count + 1, sizeof *all);
    all[0] = args[0];
    for (int i = 0; i < count; i++) all[i + 1] = items[i];
    Value result = vm_call_op(vm, apply_op(vm, count), all, count + 1, NULL);
    free(all);
    return result;
}
