/* See second.h. In: a node CompiledFunctionBackward and gradients of its outputs. Out: gradients of its inputs that can be differentiated again.
 *
 *     leaf = identity(input)      a node of its own for each input, so that gradients stop there
 *     outputs = graph(leaves)     the captured graph, by the concrete domain; random ops take what the compiled call drew
 *     grads = autograd.grad(outputs, leaves, tangents, create_graph=True)
 *
 * Composite rows run as they do eagerly, custom Functions with their own backward. */
#include "second.h"
#include "vm/tracing.h"
#include "vm/torch_state.h"
#include <string.h>

typedef struct Second {
    VM *vm;
    Arena *arena;
    const CallState *call;
    const Graph *graph;
    Map *made;                      /* Node* -> Value*, owned */
    VEC(Value *) owned;
    Tensor **inputs;                /* as the call had them; owned */
    Tensor **leaves;                /* linked to them; NULL: no gradient. Borrowed from `made` */
    Value draws; int next_draw;     /* results of the random nodes still to come */
} Second;

/* ---- what the node keeps ---- */

static void mark_reached(Node *node, void *state) { map_put(state, node, node); }

static Node *new_value(const Graph *graph, int input) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].input == input) return graph->outputs.at[graph->mutations.at[i].output];
    return graph->inputs.at[input];
}

/* Does what the forward gives out depend on what this input held? Its own new value does not count. */
static bool forward_reads(const Graph *joint, const Graph *graph, int input) {
    Arena *arena = arena_new("reads");
    Map *reached = map_new(arena);
    for (int i = 0; i < graph->forward_outputs; i++)
        if (graph->outputs.at[i]) mark_reached(graph->outputs.at[i], reached);
    for (int i = 0; i < joint->regrads.count; i++) mark_reached(new_value(graph, joint->regrads.at[i].input), reached);
    for (int i = graph->nodes.count - 1; i >= 0; i--)
        if (map_has(reached, graph->nodes.at[i])) node_each_input(graph->nodes.at[i], mark_reached, reached);
    bool reads = map_has(reached, graph->inputs.at[input]);
    arena_free(arena);
    return reads;
}

static bool is_overwritten(const Graph *graph, int input) {
    for (int i = 0; i < graph->mutations.count; i++)
        if (graph->mutations.at[i].input == input) return true;
    return false;
}

/* For each input how it is kept; decided once for an entry. */
static const KeptAs *kept_as(const Entry *entry) {
    Artifacts *artifacts = entry->artifacts;
    if (artifacts->kept) return artifacts->kept;
    const Graph *graph = artifacts->decomposed;
    KeptAs *kept = ARENA_ARRAY(entry->arena, KeptAs, graph->inputs.count + 1);
    for (int i = 0; i < entry->graph->inputs.count; i++) kept[i] = !is_overwritten(graph, i) ? KEPT_ITSELF : forward_reads(artifacts->joint, graph, i) ? KEPT_NOT : KEPT_SHAPE;
    return artifacts->kept = kept;
}

void second_keep_inputs(VM *vm, GradNode *node, const Entry *entry, Tensor *const *inputs) {
    const KeptAs *kept = kept_as(entry);
    for (int i = 0; i < entry->graph->inputs.count; i++) {
        Value value = kept[i] == KEPT_ITSELF ? value_ref(value_tensor(inputs[i])) : kept[i] == KEPT_SHAPE ? value_tensor(tensor_fake(vm, &inputs[i]->meta, NULL)) : VALUE_NONE;
        autograd_save(vm, node, value);
        value_unref(vm, value);
    }
    node->nkept = entry->graph->inputs.count;
}

/* ---- inputs ---- */

static bool pass_gradient(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    (void)vm;
    if (node->edges[0].node) grads_in[0] = tensor_of(value_ref(value_tensor(grads_out[0])));
    return true;
}

static Tensor *linked_input(VM *vm, Tensor *input) {
    Tensor *leaf = tensor_alias(vm, input);
    GradNode *node = autograd_node(vm, "AliasBackward0", &input, 1, 1, pass_gradient);
    autograd_attach(vm, leaf, node, 0);
    grad_node_unref(vm, node);
    return leaf;
}

static void set_value(Second *s, const Node *node, Value value) {
    Value *slot = ARENA_NEW(s->arena, Value);
    *slot = value;
    map_put(s->made, node, slot);
    vec_push_in(s->arena, &s->owned, slot);
}

/* Only the shape was kept, since no output depends on the values. */
static Tensor *blank_input(VM *vm, Tensor *ghost) {
    Value arg = value_tensor(ghost);
    return vm_op_tensor(vm, "zeros_like", &arg, 1);
}

static bool load_input(Second *s, GradNode *node, int i) {
    VM *vm = s->vm;
    const Node *input = s->graph->inputs.at[i];
    int place = s->call->first_input + i;
    if (!node->released && node->saved[place].tag == V_NONE) {
        vm_raise(vm, "RuntimeError", "a second derivative through a compiled function that changes its input %s in place, and reads what it was: the old value is gone. "
                 "Give it a clone, or run it eagerly.", input->name);
        return false;
    }
    if (node->saved[place].tag == V_NULL) node->released = true; /* freed by a backward that needed nothing of it */
    Tensor *kept = autograd_saved(vm, node, place);
    if (!kept) return false;
    bool blank = kept_as(s->call->entry)[i] == KEPT_SHAPE;
    s->inputs[i] = blank ? blank_input(vm, kept) : tensor_of(value_ref(value_tensor(kept)));
    if (!s->inputs[i]) return false;
    bool wanted = !blank && input->metas[0].requires_grad && node->edges[i].node;
    if (wanted) s->leaves[i] = linked_input(vm, s->inputs[i]);
    set_value(s, input, value_tensor(wanted ? s->leaves[i] : tensor_of(value_ref(value_tensor(s->inputs[i])))));
    return true;
}

/* ---- arguments: nodes become tensors, symbolic sizes numbers ---- */

static int64_t size_now(const Sym *var, void *state) {
    const Second *s = state;
    const Entry *entry = s->call->entry;
    for (int i = 0; s->call->values && i < entry->bindings.count; i++)
        if (entry->bindings.at[i].defines && entry->bindings.at[i].dim == dim_of_sym(var)) return s->call->values[i];
    return var->hint;
}

static Dim dim_now(Second *s, Dim d) { return dim_is_int(d) ? d : dim_evaluate(dim_resolve(d), size_now, s); }

static Value object_now(Second *s, Value v);

static Value items_now(Second *s, Value *items, int count, bool list) {
    Value *now = ARENA_ARRAY(s->arena, Value, count + 1);
    for (int i = 0; i < count; i++) now[i] = object_now(s, items[i]);
    Value made = list ? list_new(s->vm, now, count) : tuple_new(s->vm, now, count);
    for (int i = 0; i < count; i++) value_unref(s->vm, now[i]);
    return made;
}

static Value slice_now(Second *s, const Slice *slice) {
    Value parts[] = {object_now(s, slice->start), object_now(s, slice->stop), object_now(s, slice->step)};
    Value made = slice_new(s->vm, parts[0], parts[1], parts[2]);
    for (int i = 0; i < 3; i++) value_unref(s->vm, parts[i]);
    return made;
}

/* A tensor of the capture stands for its node. Owned. */
static Value object_now(Second *s, Value v) {
    if (value_is(v, OBJ_SYM)) return value_int(dim_now(s, ((SymObject *)v.o)->dim));
    if (value_is(v, OBJ_TUPLE)) return items_now(s, ((Tuple *)v.o)->items, ((Tuple *)v.o)->count, false);
    if (value_is(v, OBJ_LIST)) return items_now(s, ((List *)v.o)->items, ((List *)v.o)->count, true);
    if (value_is(v, OBJ_SLICE)) return slice_now(s, (Slice *)v.o);
    Value *made = value_is(v, OBJ_TENSOR) && tensor_of(v)->node ? map_get(s->made, tensor_of(v)->node) : NULL;
    return value_ref(made ? *made : v);
}

static Arg arg_now(Second *s, const Arg *arg) {
    Arg now = *arg;
    if (arg->tag == ARG_TENSOR) return arg_of_tensor(tensor_of(*(Value *)map_get(s->made, arg->tensor.owner)));
    if (arg->tag == ARG_INT) now.i = dim_now(s, arg->i);
    if (arg->tag == ARG_INTS) {
        Dim *at = ARENA_ARRAY(s->arena, Dim, arg->ints.count + 1);
        for (int i = 0; i < arg->ints.count; i++) at[i] = dim_now(s, arg->ints.at[i]);
        now.ints.at = at;
    }
    if (arg->tag == ARG_TENSORS) {
        Arg *items = ARENA_ARRAY(s->arena, Arg, arg->list.count + 1);
        for (int i = 0; i < arg->list.count; i++) items[i] = arg_now(s, &arg->list.items[i]);
        now.list.items = items;
    }
    if (arg->tag == ARG_OBJECT) {
        Value *held = ARENA_NEW(s->arena, Value);
        *held = object_now(s, value_object(arg->object));
        vec_push_in(s->arena, &s->owned, held);
        now.object = held->o;
    }
    return now;
}

/* ---- random ops ---- */

static Value next_draw(Second *s) {
    const Tuple *all = (const Tuple *)s->draws.o;
    if (s->next_draw >= all->count) return vm_raise(s->vm, "RuntimeError", "a second derivative through a compiled function whose random numbers cannot be drawn again");
    return value_ref(all->items[s->next_draw++]);
}

/* Dropout is its mask applied to the input; what else is random does not depend on a gradient. */
static Value random_again(Second *s, const Op *op, const Arg *args) {
    VM *vm = s->vm;
    Value first = next_draw(s);
    if (value_is_error(first) || op->outputs == 1) return first;
    Value mask = next_draw(s);
    value_unref(vm, first);
    if (value_is_error(mask)) return mask;
    double p = args[1].tag == ARG_FLOAT ? args[1].f : (double)args[1].i;
    Value call[] = {value_tensor(args[0].tensor.owner), mask, value_float(p < 1 ? 1 / (1 - p) : 0)};
    Value dropped = vm_op(vm, "native_dropout_backward", call, 3), pair[] = {dropped, mask};
    Value result = value_is_error(dropped) ? dropped : tuple_new(vm, pair, 2);
    value_unref(vm, dropped);
    value_unref(vm, mask);
    return result;
}

static bool draws_nothing(const Op *op, const Arg *args) { return !strcmp(op->name, "native_dropout") && args[2].tag == ARG_BOOL && !args[2].b; }

static Value random_into(Second *s, const Arg *args) {
    Value drawn = next_draw(s), call[] = {value_tensor(args[0].tensor.owner), drawn};
    if (value_is_error(drawn)) return drawn;
    Value result = vm_op(s->vm, "copy_", call, 2);
    value_unref(s->vm, drawn);
    return result;
}

static Value second_op(VM *vm, const Op *op, const Arg *args, int nargs) {
    Second *s = vm->domain_state;
    bool random = op->family != FAMILY_COMPOSITE && op_has(op, TRAIT_RANDOM) && !draws_nothing(op, args);
    if (!random) return concrete_domain.op(vm, op, args, nargs);
    return op_has(op, TRAIT_INPLACE) ? random_into(s, args) : random_again(s, op, args);
}

static const Domain second_domain = {.name = "concrete", .op = second_op};

static bool has_random(const Graph *graph) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind == NODE_CALL && op_has(graph->nodes.at[i]->op, TRAIT_RANDOM)) return true;
    return false;
}

static bool draw_again(Second *s) {
    const Artifacts *artifacts = s->call->entry->artifacts;
    s->draws = has_random(artifacts->partition->forward) ? compiled_draws(s->vm, s->call, s->inputs, s->graph->inputs.count) : tuple_new(s->vm, NULL, 0);
    return !value_is_error(s->draws);
}

/* ---- the graph ---- */

static Value item_at(Value value, int index) {
    if (value_is(value, OBJ_TUPLE)) return value_ref(((Tuple *)value.o)->items[index]);
    if (value_is(value, OBJ_LIST)) return value_ref(((List *)value.o)->items[index]);
    return value_ref(value);
}

static Value run_call(Second *s, const Node *node) {
    Arg *args = ARENA_ARRAY(s->arena, Arg, node->nargs + 1);
    for (int i = 0; i < node->nargs; i++) args[i] = arg_now(s, &node->args[i]);
    s->vm->grad_enabled = !node->no_grad;
    s->vm->torch->autocast = node->autocast ? *node->autocast : (Autocast){0};
    Value result = vm_run_op_casting(s->vm, node->op, args, node->nargs);
    if (value_is_error(result) || node->noutputs != 1 || value_is_tensor(result)) return result;
    Value only = item_at(result, 0);
    value_unref(s->vm, result);
    return only;
}

static bool run_graph(Second *s) {
    for (int i = 0; i < s->graph->nodes.count; i++) {
        const Node *node = s->graph->nodes.at[i];
        Value value = VALUE_NULL;
        switch (node->kind) {
        case NODE_INPUT: case NODE_NUMBER: case NODE_EFFECT: continue;
        case NODE_CONSTANT: value = value_ref(value_tensor(node->constant)); break;
        case NODE_GETITEM: value = item_at(*(Value *)map_get(s->made, node->args[0].tensor.owner), node->index); break;
        case NODE_CALL: value = run_call(s, node); break;
        }
        if (value_is_error(value)) return false;
        set_value(s, node, value);
    }
    return true;
}

static const Modes *modes_of(const Entry *entry) {
    for (int i = 0; i < entry->guards.all.count; i++)
        if (entry->guards.all.at[i].kind == GUARD_GLOBAL_STATE) return &entry->guards.all.at[i].modes;
    return NULL;
}

/* As the call was made: its modes, no compiling on the way. */
static bool run_again(Second *s) {
    VM *vm = s->vm;
    const Domain *domain = vm->domain;
    void *state = vm->domain_state;
    FrameEvaluator evaluator = vm->evaluator;
    Modes former = modes_now(vm);
    const Modes *modes = modes_of(s->call->entry);
    if (modes) modes_set(vm, modes);
    vm->evaluator = NULL;
    vm->domain = &second_domain;
    vm->domain_state = s;
    bool ok = run_graph(s);
    vm->domain = domain;
    vm->domain_state = state;
    vm->evaluator = evaluator;
    modes_set(vm, &former);
    return ok;
}

/* ---- its gradients ---- */

/* The captured graph's outputs, then the inputs that it changed with gradients on. */
static const Node *forward_output(const Second *s, int i) {
    const Graph *joint = ((const Artifacts *)s->call->entry->artifacts)->joint;
    if (i < s->graph->outputs.count) return s->graph->outputs.at[i];
    return s->graph->inputs.at[joint->regrads.at[i - s->graph->outputs.count].input];
}

static bool differentiate(Second *s, Tensor **grads_out, Tensor **grads_in) {
    const Artifacts *artifacts = s->call->entry->artifacts;
    int inputs = s->graph->inputs.count, outputs = artifacts->joint->forward_outputs, roots_count = 0, leaf_count = 0;
    Tensor **roots = ARENA_ARRAY(s->arena, Tensor *, outputs + 1), **tangents = ARENA_ARRAY(s->arena, Tensor *, outputs + 1);
    Tensor **leaves = ARENA_ARRAY(s->arena, Tensor *, inputs + 1), **grads = ARENA_ARRAY(s->arena, Tensor *, inputs + 1);
    int *places = ARENA_ARRAY(s->arena, int, inputs + 1);
    for (int i = 0; i < outputs; i++) {
        Tensor *output = tensor_of(*(Value *)map_get(s->made, forward_output(s, i)));
        if (!grads_out[i] || !artifacts->tangents[i] || !tensor_needs_grad(output)) continue;
        roots[roots_count] = output;
        tangents[roots_count++] = grads_out[i];
    }
    for (int i = 0; i < inputs; i++) {
        if (!s->leaves[i]) continue;
        places[leaf_count] = i;
        leaves[leaf_count++] = s->leaves[i];
    }
    if (!roots_count || !leaf_count) return true;
    if (!autograd_run(s->vm, roots, tangents, roots_count, leaves, grads, leaf_count, true, true)) return false;
    for (int i = 0; i < leaf_count; i++) grads_in[places[i]] = grads[i];
    return true;
}

static void release(Second *s) {
    for (int i = 0; i < s->owned.count; i++) value_unref(s->vm, *s->owned.at[i]);
    for (int i = 0; i < s->graph->inputs.count; i++)
        if (s->inputs[i]) value_unref(s->vm, value_tensor(s->inputs[i]));
    value_unref(s->vm, s->draws);
    arena_free(s->arena);
}

bool second_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    const CallState *call = node->state;
    Arena *arena = arena_new("second derivative");
    Second s = {.vm = vm, .arena = arena, .call = call, .graph = call->entry->graph, .made = map_new(arena)};
    s.inputs = ARENA_ARRAY(arena, Tensor *, s.graph->inputs.count + 1);
    s.leaves = ARENA_ARRAY(arena, Tensor *, s.graph->inputs.count + 1);
    bool ok = true;
    for (int i = 0; ok && i < s.graph->inputs.count; i++) ok = load_input(&s, node, i);
    ok = ok && draw_again(&s) && run_again(&s) && differentiate(&s, grads_out, grads_in);
    release(&s);
    return ok;
}
