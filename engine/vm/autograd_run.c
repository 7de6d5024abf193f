/* Running the tape backwards: gradients flow from roots through nodes, latest op first, and meet at leaves or at the inputs asked for.
 *
 *     autograd_run(vm, &loss, NULL, 1, NULL, NULL, 0, false, false);                       // loss.backward()
 *     autograd_run(vm, &loss, NULL, 1, (Tensor *[]){x}, grads, 1, false, true);            // torch.autograd.grad(loss, x, create_graph=True)
 *
 * A node runs when all nodes that send it gradients have run; among the ready ones the one made last runs first. Everything is computed
 * through the domain, so that on fake tensors the whole backward becomes graph nodes.
 * Invariants: a gradient has the shape, dtype and device of what it is the gradient of; gradients that are given out are tensors of
 * their own (no two share a tensor); undefined gradients stay undefined. */
#include "vm/autograd.h"
#include "vm/torch_state.h"
#include <string.h>

typedef struct Task {            /* a node of this run */
    GradNode *node;
    Tensor **grads;              /* one buffer for each output of the node; owned */
    int waiting;                 /* nodes that will still send gradients */
    bool reached, needed;        /* needed: on a way to something that is wanted */
    bool captured;               /* some input that was asked for is an output of this node */
} Task;

typedef struct Run {
    VM *vm;
    Arena *arena;
    Map *tasks;                  /* GradNode* -> Task* */
    VEC(Task *) ready, order;    /* order: in order of discovery */
    Tensor **inputs, **grads;
    int ninputs;
    bool retain_graph, create_graph;
} Run;

static Task *task_of(Run *run, GradNode *node) {
    Task *task = map_get(run->tasks, node);
    if (task) return task;
    task = ARENA_NEW(run->arena, Task);
    task->node = grad_node_ref(node);
    task->grads = ARENA_ARRAY(run->arena, Tensor *, node->noutputs);
    map_put(run->tasks, node, task);
    return task;
}

/* Finds every node that can be reached and counts who sends to whom. Iterative: tapes can be very long. */
static void discover(Run *run, GradNode *root) {
    VEC(Task *) stack = {0};
    Task *first = task_of(run, root);
    if (!first->reached) { first->reached = true; vec_push_in(run->arena, &stack, first); vec_push_in(run->arena, &run->order, first); }
    while (stack.count) {
        Task *task = vec_pop(&stack);
        for (int i = 0; i < task->node->ninputs; i++) {
            GradNode *next = task->node->edges[i].node;
            if (!next) continue;
            Task *to = task_of(run, next);
            to->waiting++;
            if (to->reached) continue;
            to->reached = true;
            vec_push_in(run->arena, &stack, to);
            vec_push_in(run->arena, &run->order, to);
        }
    }
}

/* With inputs given only nodes on a way to one of them run. A node's need follows from its successors', which were made before it: going
 * up in order of sequence settles all (leaves first). */
static int by_sequence(const void *a, const void *b) {
    uint64_t x = (*(Task *const *)a)->node->sequence + 1, y = (*(Task *const *)b)->node->sequence + 1; /* leaves' UINT64_MAX becomes 0 */
    return x < y ? -1 : x > y;
}
static void find_needed(Run *run) {
    if (run->order.count) qsort(run->order.at, (size_t)run->order.count, sizeof(Task *), by_sequence);
    for (int i = 0; i < run->order.count; i++) {
        Task *task = run->order.at[i];
        if (!run->inputs) { task->needed = true; continue; }
        for (int k = 0; k < task->node->ninputs; k++) {
            GradNode *next = task->node->edges[k].node;
            Task *to = next ? map_get(run->tasks, next) : NULL;
            if (to && (to->needed || to->captured)) task->needed = true;
        }
    }
}

static void drop(VM *vm, Tensor **slot) {
    Tensor *held = *slot;
    *slot = NULL;
    if (held) value_unref(vm, value_tensor(held));
}

/* ---- gradients on their way ---- */

/* Shape, dtype and device as the value has them; takes and returns an owned tensor. */
static Tensor *fit_gradient(VM *vm, const GradNode *node, int output, Tensor *g) {
    const Meta *want = &node->output_metas[output];
    if (want->rank == 0 && want->dtype == DTYPE_BOOL && want->sizes[0] == 0) return g; /* an output that was never attached */
    if (!meta_same_shape(&g->meta, want)) g = tensor_sum_to(vm, g, want->sizes, want->rank);
    if (g && g->meta.dtype != want->dtype && dtype_is_float(want->dtype)) {
        Value args[] = {value_tensor(g), dtype_new(vm, want->dtype)};
        Tensor *cast = vm_op_tensor(vm, "_to_copy", args, 2);
        value_unref(vm, args[0]);
        value_unref(vm, args[1]);
        g = cast;
    }
    return g;
}

/* Adds an owned gradient to a buffer. */
static bool send(Run *run, GradEdge edge, Tensor *g) {
    Task *to = map_get(run->tasks, edge.node);
    if (!to || !(to->needed || to->captured)) { drop(run->vm, &g); return true; }
    g = fit_gradient(run->vm, edge.node, edge.output, g);
    if (!g) return false;
    Tensor **slot = &to->grads[edge.output];
    if (!*slot) { *slot = g; return true; }
    Tensor *sum = tensor_add(run->vm, *slot, g);
    drop(run->vm, slot);
    drop(run->vm, &g);
    return (*slot = sum) != NULL;
}

/* A gradient given out must not be the same tensor as another one given out. */
static Tensor *own_gradient(Run *run, Tensor *g) {
    for (int i = 0; i < run->ninputs; i++)
        if (run->grads[i] && run->grads[i]->storage == g->storage && !g->node) {
            Value args[] = {value_tensor(g)};
            return vm_op_tensor(run->vm, "clone", args, 1);
        }
    value_ref(value_tensor(g));
    return g;
}

static bool capture(Run *run, Task *task) {
    for (int i = 0; task->captured && i < run->ninputs; i++) {
        GradEdge edge = autograd_edge(run->vm, run->inputs[i]);
        if (edge.node) grad_node_unref(run->vm, edge.node);
        if (edge.node != task->node || !task->grads[edge.output]) continue;
        if (!(run->grads[i] = own_gradient(run, task->grads[edge.output]))) return false;
    }
    return true;
}

/* ---- hooks ---- */

/* Calls each hook of a list with g; a value returned (a tensor) takes g's place. Takes and gives owned. */
static Tensor *run_tensor_hooks(VM *vm, Value hooks, Tensor *g) {
    for (int i = 0; hooks.tag != V_NULL && i < ((List *)hooks.o)->count; i++) {
        Value arg = value_tensor(g), result = vm_call(vm, ((List *)hooks.o)->items[i], &arg, 1, NULL);
        if (value_is_error(result)) { drop(vm, &g); return NULL; }
        if (!value_is_tensor(result)) { value_unref(vm, result); continue; }
        drop(vm, &g);
        g = tensor_of(result);
    }
    return g;
}

/* Hooks of the tensors that a node made are kept in the node (object: list by output), those of a leaf in the leaf. */
static bool run_output_hooks(Run *run, Task *task) {
    GradNode *node = task->node;
    for (int i = 0; i < node->noutputs; i++) {
        Value hooks = autograd_is_accumulator(node) ? tensor_of(node->object)->hooks : autograd_output_hooks(node, i);
        if (!task->grads[i] || hooks.tag == V_NULL) continue;
        if (!(task->grads[i] = run_tensor_hooks(run->vm, hooks, task->grads[i]))) return false;
    }
    return true;
}

static Value tuple_of_tensors(VM *vm, Tensor **tensors, int count) {
    VEC(Value) items = {0};
    for (int i = 0; i < count; i++) vec_push(&items, tensors[i] ? value_tensor(tensors[i]) : VALUE_NONE);
    Value tuple = tuple_new(vm, items.at, items.count);
    vec_free(&items);
    return tuple;
}

static bool run_node_hooks(Run *run, GradNode *node, Tensor **grads_in, Tensor **grads_out) {
    VM *vm = run->vm;
    for (int i = 0; node->hooks.tag != V_NULL && i < ((List *)node->hooks.o)->count; i++) {
        Value args[] = {tuple_of_tensors(vm, grads_in, node->ninputs), tuple_of_tensors(vm, grads_out, node->noutputs)};
        Value result = vm_call(vm, ((List *)node->hooks.o)->items[i], args, 2, NULL);
        value_unref(vm, args[0]);
        value_unref(vm, args[1]);
        if (value_is_error(result)) return false;
        for (int k = 0; value_is(result, OBJ_TUPLE) && k < node->ninputs && k < ((Tuple *)result.o)->count; k++) {
            Value item = ((Tuple *)result.o)->items[k];
            drop(vm, &grads_in[k]);
            if (value_is_tensor(item)) grads_in[k] = tensor_of(value_ref(item));
        }
        value_unref(vm, result);
    }
    return true;
}

/* ---- leaves ---- */

static bool may_steal(const Run *run, const Tensor *leaf, const Tensor *g) {
    return !run->create_graph && g->head.refs == 1 && g->storage->refs == 1 && meta_equal(&g->meta, &leaf->meta) && !g->grad_fn && !g->requires_grad;
}

/* A gradient of its own for the leaf: the incoming tensor when nobody else has it, else a copy laid out as the leaf is. */
static Tensor *first_gradient(Run *run, Tensor *leaf, Tensor *g) {
    if (may_steal(run, leaf, g)) { value_ref(value_tensor(g)); return g; }
    Value from = value_tensor(g), like = value_tensor(leaf);
    if (run->create_graph) return vm_op_tensor(run->vm, "clone", &from, 1);
    Tensor *copy = vm_op_tensor(run->vm, "empty_like", &like, 1);
    if (!copy) return NULL;
    Value args[] = {value_tensor(copy), from}, done = vm_op(run->vm, "copy_", args, 2);
    if (value_is_error(done)) drop(run->vm, &copy);
    value_unref(run->vm, done);
    return copy;
}

static bool run_post_hooks(VM *vm, Tensor *leaf) {
    for (int i = 0; leaf->post_hooks.tag != V_NULL && i < ((List *)leaf->post_hooks.o)->count; i++) {
        Value arg = value_tensor(leaf), result = vm_call(vm, ((List *)leaf->post_hooks.o)->items[i], &arg, 1, NULL);
        if (value_is_error(result)) return false;
        value_unref(vm, result);
    }
    return true;
}

static bool add_to_leaf(Run *run, Tensor *leaf, Tensor *g) {
    VM *vm = run->vm;
    if (!leaf->grad) { leaf->grad = first_gradient(run, leaf, g); return leaf->grad != NULL; }
    Value args[] = {value_tensor(leaf->grad), value_tensor(g)};
    if (!run->create_graph) { /* in place: whoever holds .grad sees the sum */
        Value sum = vm_op(vm, "add_", args, 2);
        bool ok = !value_is_error(sum);
        value_unref(vm, sum);
        return ok;
    }
    Tensor *sum = tensor_add(vm, leaf->grad, g);
    if (!sum) return false;
    drop(vm, &leaf->grad);
    leaf->grad = sum;
    return true;
}

static bool accumulate(Run *run, Task *task) {
    Tensor *leaf = tensor_of(task->node->object), *g = task->grads[0];
    return !g || (add_to_leaf(run, leaf, g) && run_post_hooks(run->vm, leaf));
}

/* retain_grad() of tensors that are not leaves: the tape knows them by weak links in the node. */
static bool retain_gradients(Run *run, Task *task) {
    for (int i = 0; i < task->node->noutputs; i++) {
        Tensor *t = autograd_retainer(task->node, i);
        if (!t || !task->grads[i]) continue;
        if (t->grad) {
            Tensor *sum = tensor_add(run->vm, t->grad, task->grads[i]);
            if (!sum) return false;
            drop(run->vm, &t->grad);
            t->grad = sum;
        } else {
            value_ref(value_tensor(task->grads[i]));
            t->grad = task->grads[i];
        }
    }
    return true;
}

/* ---- the loop ---- */

static bool any_defined(const Task *task) {
    for (int i = 0; i < task->node->noutputs; i++)
        if (task->grads[i]) return true;
    return false;
}

static bool run_backward(Run *run, Task *task, Tensor **grads_in) {
    VM *vm = run->vm;
    Span span = vm->span;
    vm->span = task->node->span;
    if (vm->torch) vm->torch->backward_of = task->node->made_by;
    bool ok = task->node->backward(vm, task->node, task->grads, grads_in) && run_node_hooks(run, task->node, grads_in, task->grads);
    vm->span = span;
    if (vm->torch) vm->torch->backward_of = 0;
    return ok;
}

static bool run_task(Run *run, Task *task) {
    GradNode *node = task->node;
    bool defined = any_defined(task), ok = true;
    if (defined) ok = run_output_hooks(run, task) && retain_gradients(run, task) && capture(run, task);
    Tensor **grads_in = ARENA_ARRAY(run->arena, Tensor *, node->ninputs);
    if (ok && defined && task->needed) {
        if (autograd_is_accumulator(node)) ok = run->inputs || accumulate(run, task);
        else ok = run_backward(run, task, grads_in);
        if (!run->retain_graph) autograd_release_saved(run->vm, node);
    }
    for (int i = 0; i < node->noutputs; i++) drop(run->vm, &task->grads[i]);
    for (int i = 0; i < node->ninputs; i++) {
        GradEdge edge = node->edges[i];
        if (ok && grads_in[i] && edge.node) { ok = send(run, edge, grads_in[i]); grads_in[i] = NULL; }
        drop(run->vm, &grads_in[i]);
        Task *to = edge.node ? map_get(run->tasks, edge.node) : NULL;
        if (to && --to->waiting == 0) vec_push_in(run->arena, &run->ready, to);
    }
    return ok;
}

static Task *take_latest(Run *run) {
    int best = 0;
    for (int i = 1; i < run->ready.count; i++)
        if (run->ready.at[i]->node->sequence > run->ready.at[best]->node->sequence) best = i;
    Task *task = run->ready.at[best];
    run->ready.at[best] = vec_last(&run->ready);
    run->ready.count--;
    return task;
}

static bool run_tasks(Run *run) {
    for (int i = 0; i < run->order.count; i++)
        if (!run->order.at[i]->waiting) vec_push_in(run->arena, &run->ready, run->order.at[i]);
    while (run->ready.count)
        if (!run_task(run, take_latest(run))) return false;
    return true;
}

/* ---- roots ---- */

static Tensor *implicit_gradient(VM *vm, Tensor *root) {
    if (!meta_is_static(&root->meta) || meta_numel(&root->meta) != 1) { vm_raise(vm, "RuntimeError", "grad can be implicitly created only for scalar outputs"); return NULL; }
    if (!dtype_is_float(root->meta.dtype)) {
        vm_raise(vm, "RuntimeError", "grad can be implicitly created only for real scalar outputs but got torch.%s", dtype_info[root->meta.dtype].name);
        return NULL;
    }
    Value args[] = {value_tensor(root), value_float(1.0)};
    return vm_op_tensor(vm, "full_like", args, 2);
}

static bool check_root_gradient(VM *vm, int i, const Tensor *root, const Tensor *g) {
    if (meta_same_shape(&root->meta, &g->meta)) return true;
    Text got = {0}, want = {0};
    meta_print(&got, &g->meta, false, false);
    meta_print(&want, &root->meta, false, false);
    vm_raise(vm, "RuntimeError", "Mismatch in shape: grad_output[%d] is %s and output[%d] is %s", i, text_cstr(&got), i, text_cstr(&want));
    text_free(&got);
    text_free(&want);
    return false;
}

static bool seed(Run *run, Tensor **roots, Tensor **root_grads, int nroots) {
    VM *vm = run->vm;
    for (int i = 0; i < nroots; i++) {
        GradEdge edge = autograd_edge(vm, roots[i]);
        if (!edge.node) {
            vm_raise(vm, "RuntimeError", "element %d of tensors does not require grad and does not have a grad_fn", i);
            return false;
        }
        discover(run, edge.node);
        grad_node_unref(vm, edge.node); /* its task holds it */
    }
    for (int i = 0; i < run->ninputs && run->inputs; i++) {
        GradEdge edge = autograd_edge(vm, run->inputs[i]);
        Task *task = edge.node ? map_get(run->tasks, edge.node) : NULL;
        if (edge.node) grad_node_unref(vm, edge.node);
        if (task) task->captured = true;
    }
    find_needed(run);
    for (int i = 0; i < nroots; i++) {
        Tensor *g = root_grads && root_grads[i] ? tensor_of(value_ref(value_tensor(root_grads[i]))) : implicit_gradient(vm, roots[i]);
        if (!g) return false;
        if (!check_root_gradient(vm, i, roots[i], g)) { drop(vm, &g); return false; }
        GradEdge edge = autograd_edge(vm, roots[i]);
        bool ok = send(run, edge, g);
        grad_node_unref(vm, edge.node);
        if (!ok) return false;
    }
    return true;
}

static void finish(Run *run) {
    for (int i = 0; i < map_count(run->tasks); i++) {
        Task *task = map_at(run->tasks, i).value;
        for (int k = 0; k < task->node->noutputs; k++) drop(run->vm, &task->grads[k]);
        grad_node_unref(run->vm, task->node);
    }
    arena_free(run->arena);
}

bool autograd_run(VM *vm, Tensor **roots, Tensor **root_grads, int nroots, Tensor **inputs, Tensor **grads, int ninputs, bool retain_graph, bool create_graph) {
    Arena *arena = arena_new("backward");
    Run run = {.vm = vm, .arena = arena, .tasks = map_new(arena), .inputs = inputs, .grads = grads, .ninputs = inputs ? ninputs : 0,
               .retain_graph = retain_graph, .create_graph = create_graph};
    for (int i = 0; i < run.ninputs; i++) grads[i] = NULL;
    bool former = vm->grad_enabled;
    vm->grad_enabled = create_graph;
    bool ok = seed(&run, roots, root_grads, nroots) && run_tasks(&run);
    vm->grad_enabled = former;
    for (int i = 0; !ok && i < run.ninputs; i++) drop(vm, &grads[i]);
    finish(&run);
    return ok;
}
