/* The tape's nodes: made for ops, for leaves, for code in C; what they save; how they look in the language.
 *
 *     GradNode *node = autograd_node(vm, "MulBackward0", (Tensor *[]){a, b}, 2, 1, multiply_backward);
 *     autograd_save(vm, node, value_tensor(b));
 *     autograd_attach(vm, output, node, 0);          // output.grad_fn
 *     grad_node_unref(vm, node);
 *
 * A node points to the nodes of its inputs (edges), never to its outputs; a leaf has an AccumulateGrad node, made on demand, which
 * holds the leaf while the leaf knows it without holding it.
 * Invariant: a saved tensor comes back with the version it was saved with, or an exception is raised. */
#include "vm/autograd.h"
#include "vm/autograd_hooks.h"
#include "vm/internal.h"
#include "vm/native.h"
#include "vm/torch_state.h"
#include <stdio.h>
#include <string.h>

/* Metas and edges lie behind the node, in its block. */
static GradNode *node_new(VM *vm, const char *name, int ninputs, int noutputs) {
    size_t metas = (size_t)(noutputs ? noutputs : 1) * sizeof(Meta), edges = (size_t)ninputs * sizeof(GradEdge);
    GradNode *node = (GradNode *)object_new(vm, OBJ_GRAD_NODE, sizeof *node + metas + edges);
    node->name = name;
    node->sequence = vm->next_sequence++;
    node->ninputs = ninputs;
    node->noutputs = noutputs;
    node->output_metas = (Meta *)(void *)(node + 1);
    node->edges = ninputs ? (GradEdge *)(void *)((char *)node->output_metas + metas) : NULL;
    node->span = vm->span;
    return node;
}

void grad_node_unref(VM *vm, GradNode *node) { value_unref(vm, value_object(node)); }

/* ---- leaves ---- */

static bool accumulate_unreachable(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    (void)vm; (void)node; (void)grads_out; (void)grads_in; /* autograd_run adds to .grad itself */
    return true;
}
bool autograd_is_accumulator(const GradNode *node) { return node->backward == accumulate_unreachable; }

static GradNode *leaf_accumulator(VM *vm, Tensor *leaf) {
    if (leaf->accumulator) return grad_node_ref(leaf->accumulator);
    GradNode *node = node_new(vm, "AccumulateGrad", 0, 1);
    node->sequence = UINT64_MAX; /* as soon as possible: nothing comes behind it */
    node->backward = accumulate_unreachable;
    node->output_metas[0] = leaf->meta;
    node->object = value_ref(value_tensor(leaf));
    leaf->accumulator = node;
    return node;
}

GradEdge autograd_edge(VM *vm, Tensor *input) {
    GradNode *node = tensor_grad_node(vm, input);
    if (node) return (GradEdge){grad_node_ref(node), input->grad_index};
    if (input->requires_grad) return (GradEdge){leaf_accumulator(vm, input), 0};
    return (GradEdge){0};
}

/* ---- hooks ---- */

Value autograd_output_hooks(const GradNode *node, int output) { return node->output_hooks ? node->output_hooks[output] : VALUE_NULL; }

Value *autograd_hooks_slot(VM *vm, Tensor *t) {
    GradNode *node = tensor_grad_node(vm, t);
    if (!node) return &t->hooks;
    if (!node->output_hooks) node->output_hooks = calloc((size_t)node->noutputs, sizeof *node->output_hooks);
    return &node->output_hooks[t->grad_index];
}

void autograd_set_retainer(GradNode *node, int output, Tensor *t) {
    if (!node->retainers && !t) return;
    if (!node->retainers) node->retainers = calloc((size_t)node->noutputs, sizeof *node->retainers);
    node->retainers[output] = t;
}

/* ---- nodes in C ---- */

GradNode *autograd_node(VM *vm, const char *name, Tensor **inputs, int ninputs, int noutputs, BackwardFn backward) {
    GradNode *node = node_new(vm, name, ninputs, noutputs);
    node->backward = backward;
    for (int i = 0; i < ninputs; i++)
        if (inputs[i]) node->edges[i] = autograd_edge(vm, inputs[i]);
    return node;
}

void autograd_attach(VM *vm, Tensor *output, GradNode *node, int index) {
    GradNode *old = output->grad_fn;
    if (output->retains_grad && old) autograd_set_retainer(old, output->grad_index, NULL);
    if (output->retains_grad) autograd_set_retainer(node, index, output);
    output->grad_fn = grad_node_ref(node);
    output->grad_index = index;
    output->grad_version = output->storage->rebases;
    node->output_metas[index] = output->meta;
    if (old) grad_node_unref(vm, old);
}

/* ---- saved values ---- */

Tensor *tensor_alias(VM *vm, Tensor *t) {
    Tensor *alias = tensor_view(vm, t, &t->meta);
    alias->node = t->node;
    return alias;
}

/* The three arrays lie in one block, which begins with the values. */
enum { SAVED_STEP = 4 };
static void grow_saved(GradNode *node) {
    size_t n = (size_t)node->nsaved, room = n + SAVED_STEP;
    Value *block = malloc(room * (sizeof *block + sizeof *node->saved_versions + sizeof *node->saved_outputs));
    if (!block) vm_out_of_memory();
    uint32_t *versions = (uint32_t *)(block + room);
    int *outputs = (int *)(versions + room);
    if (n) {
        memcpy(block, node->saved, n * sizeof *block);
        memcpy(versions, node->saved_versions, n * sizeof *versions);
        memcpy(outputs, node->saved_outputs, n * sizeof *outputs);
    }
    free(node->saved);
    node->saved = block, node->saved_versions = versions, node->saved_outputs = outputs;
}

static void save(VM *vm, GradNode *node, Value owned, int output) {
    if (value_is_tensor(owned) && tensor_of(owned)->storage->inference && !vm->inference && vm->exception.tag == V_NULL)
        vm_raise(vm, "RuntimeError", "Inference tensors cannot be saved for backward: this one was made under inference_mode, and %s needs it. Use a clone() of it, or no_grad "
                 "instead of inference_mode.", node->name);
    if (node->nsaved % SAVED_STEP == 0) grow_saved(node);
    node->saved[node->nsaved] = owned;
    node->saved_versions[node->nsaved] = value_is_tensor(owned) ? tensor_of(owned)->storage->version : 0;
    node->saved_outputs[node->nsaved++] = output;
}

void autograd_save(VM *vm, GradNode *node, Value value) { save(vm, node, value_ref(value), -1); }

void autograd_save_output(VM *vm, GradNode *node, Value value, int index) {
    if (value_is_tensor(value)) save(vm, node, value_tensor(tensor_alias(vm, tensor_of(value))), index);
    else save(vm, node, value_ref(value), -1);
}

/* Instead of a version: the value is what a hook made of the tensor. */
#define VERSION_PACKED UINT32_MAX

void autograd_save_packed(VM *vm, GradNode *node, Tensor *t, int output) {
    Value packed = saved_pack(vm, t, output >= 0);
    if (value_is_error(packed)) { autograd_save(vm, node, VALUE_NONE); return; } /* the exception is pending: the node is not used */
    save(vm, node, packed, output);
    node->saved_versions[node->nsaved - 1] = VERSION_PACKED;
}

static bool refuse_changed(VM *vm, const GradNode *node, int i) {
    const Tensor *t = tensor_of(node->saved[i]);
    Text meta = {0};
    meta_print(&meta, &t->meta, false, false);
    const char *of = node->saved_outputs[i] >= 0 ? node->name : t->grad_fn ? t->grad_fn->name : NULL;
    vm_raise(vm, "RuntimeError",
             "one of the variables needed for gradient computation has been modified by an inplace operation: [%s]%s%s, is at version %u; expected version %u instead. "
             "It is needed by %s.", text_cstr(&meta), of ? ", which is an output of " : "", of ? of : "", t->storage->version, node->saved_versions[i], node->name);
    text_free(&meta);
    return false;
}

static bool check_saved(VM *vm, const GradNode *node, int i) {
    if (node->released) {
        vm_raise(vm, "RuntimeError", "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
                 "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                 "through the graph a second time or if you need to access saved tensors after calling backward.");
        return false;
    }
    Value v = node->saved[i];
    if (!value_is_tensor(v) || tensor_of(v)->storage->version == node->saved_versions[i]) return true;
    return refuse_changed(vm, node, i);
}

Tensor *autograd_saved(VM *vm, GradNode *node, int i) {
    return check_saved(vm, node, i) && value_is_tensor(node->saved[i]) ? tensor_of(node->saved[i]) : NULL;
}

Value autograd_saved_value(VM *vm, GradNode *node, int i) {
    if (!check_saved(vm, node, i)) return VALUE_ERROR;
    if (node->saved_versions[i] == VERSION_PACKED) return saved_unpack(vm, node->saved[i], node, node->saved_outputs[i]);
    if (node->saved_outputs[i] < 0 || !vm->grad_enabled) return value_ref(node->saved[i]);
    Tensor *linked = tensor_alias(vm, tensor_of(node->saved[i]));
    linked->grad_fn = grad_node_ref(node);
    linked->grad_index = node->saved_outputs[i];
    linked->grad_version = linked->storage->rebases;
    return value_tensor(linked);
}

void autograd_release_saved(VM *vm, GradNode *node) {
    for (int i = 0; i < node->nsaved; i++) {
        Value held = node->saved[i];
        node->saved[i] = VALUE_NULL;
        value_unref(vm, held);
    }
    if (node->nsaved > node->nkept) node->released = true;
}

/* ---- OBJ_GRAD_NODE in the language ---- */

static void node_visit(Object *self, ObjectVisit visit, void *state) {
    GradNode *node = (GradNode *)self;
    for (int i = 0; i < node->ninputs; i++)
        if (node->edges[i].node) visit(state, value_object(node->edges[i].node));
    for (int i = 0; i < node->nsaved; i++) visit(state, node->saved[i]);
    for (int i = 0; node->output_hooks && i < node->noutputs; i++) visit(state, node->output_hooks[i]);
    visit(state, node->hooks);
    visit(state, node->object);
}

static void node_clear(VM *vm, Object *self) {
    GradNode *node = (GradNode *)self;
    for (int i = 0; i < node->ninputs; i++) {
        GradNode *next = node->edges[i].node;
        node->edges[i].node = NULL;
        if (next) grad_node_unref(vm, next);
    }
    autograd_release_saved(vm, node);
    if (autograd_is_accumulator(node) && value_is_tensor(node->object)) tensor_of(node->object)->accumulator = NULL;
    for (int i = 0; node->output_hooks && i < node->noutputs; i++) {
        Value held = node->output_hooks[i];
        node->output_hooks[i] = VALUE_NULL;
        value_unref(vm, held);
    }
    Value hooks = node->hooks, object = node->object;
    node->hooks = node->object = VALUE_NULL;
    value_unref(vm, hooks);
    value_unref(vm, object);
}

static void node_free(VM *vm, Object *self) {
    GradNode *node = (GradNode *)self;
    node_clear(vm, self);
    if (node->release) node->release(vm, node->state);
    if (node->edges_apart) free(node->edges);
    free(node->output_hooks);
    free(node->retainers);
    free(node->saved);
}

/* A node with an object that is no leaf belongs to a custom Function. */
static bool is_custom(const GradNode *node) { return node->object.tag == V_OBJECT && !autograd_is_accumulator(node); }
static const char *node_class_name(const Object *self) { return ((const GradNode *)self)->name; }
static Value node_repr(VM *vm, Object *self) {
    const GradNode *node = (const GradNode *)self;
    return str_printf(vm, "<%s%s object at %p>", is_custom(node) ? "torch.autograd.function." : "", node->name, (void *)self);
}

/* Nodes that PyTorch writes by hand in C++ say where they are from. */
static Value node_name(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    static const char *const in_namespace[] = {"CopySlices", "CopyBackwards", "NotImplemented", "AccumulateGrad"};
    const char *name = ((GradNode *)args[0].o)->name;
    char text[64];
    for (size_t i = 0; i < sizeof in_namespace / sizeof *in_namespace; i++) {
        if (strcmp(name, in_namespace[i])) continue;
        snprintf(text, sizeof text, "torch::autograd::%s", name);
        return str_from(vm, text);
    }
    return str_from(vm, name);
}

static Value node_next_functions(VM *vm, const GradNode *node) {
    Value all = list_new(vm, NULL, 0);
    for (int i = 0; i < node->ninputs; i++) {
        GradNode *next = node->edges[i].node;
        Value pair[] = {next ? value_object(next) : VALUE_NONE, value_int(node->edges[i].output)};
        Value item = tuple_new(vm, pair, 2);
        list_append(vm, (List *)all.o, item);
        value_unref(vm, item);
    }
    Value result = tuple_new(vm, ((List *)all.o)->items, ((List *)all.o)->count);
    value_unref(vm, all);
    return result;
}

/* node.register_hook(hook): hook(grad_inputs, grad_outputs), run after the node. */
static Value node_register_hook(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    GradNode *node = (GradNode *)args[0].o;
    if (node->hooks.tag == V_NULL) node->hooks = list_new(vm, NULL, 0);
    list_append(vm, (List *)node->hooks.o, args[1]);
    return hook_handle_new(vm, node->hooks, args[1]);
}

static Value bound(VM *vm, Object *self, const char *name, BuiltinFn fn, int arguments) {
    Value method = builtin_new(vm, name, fn, arguments, arguments, 0);
    ((Builtin *)method.o)->self = value_ref(value_object(self));
    return method;
}

static Value node_load_attr(VM *vm, Object *self, const char *name) {
    GradNode *node = (GradNode *)self;
    if (strcmp(name, "next_functions") == 0) return node_next_functions(vm, node);
    if (strcmp(name, "name") == 0) return bound(vm, self, "name", node_name, 1);
    if (strcmp(name, "register_hook") == 0) return bound(vm, self, "register_hook", node_register_hook, 2);
    if (strcmp(name, "variable") == 0 && autograd_is_accumulator(node)) return value_ref(node->object);
    if (strcmp(name, "__name__") == 0) return str_from(vm, node->name);
    if (is_custom(node)) return vm_load_attr_generic(vm, node->object, name);
    return VALUE_NULL;
}

void autograd_native_init(VM *vm) {
    static const NativeType grad_node = {.name = "Node", .name_of = node_class_name, .load_attr = node_load_attr, .repr = node_repr,
                                         .free = node_free, .visit = node_visit, .clear = node_clear};
    vm_native_register(vm, OBJ_GRAD_NODE, &grad_node);
}
