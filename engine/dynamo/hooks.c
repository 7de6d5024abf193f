/* Hooks: tensor.register_hook in a captured frame.
 *
 *     y = x * 2; y.register_hook(h)      ->   %y: a custom Function (torch.autograd._with_hooks) around the node, whose backward calls h
 *     x.register_hook(h), x an input     ->   done by the rewritten code, after the graph
 *
 * Only where the handle is dropped at once; all else ends the graph. What used the tensor before goes through the hook too, as it does eagerly. */
#include "dynamo/capture.h"
#include "vm/internal.h"
#include <string.h>

static bool handle_is_dropped(const VM *vm) {
    const Frame *frame = vm->frame;
    return frame && frame->pc < frame->code->instr_count && frame->code->instrs[frame->pc].opcode == OPCODE_POP_TOP;
}

static void replace_in(Arg *args, int count, const Node *from, Node *to) {
    for (int i = 0; i < count; i++) {
        if (args[i].tag == ARG_TENSORS) replace_in((Arg *)(uintptr_t)args[i].list.items, args[i].list.count, from, to);
        else if (args[i].tag == ARG_TENSOR && args[i].tensor.owner == from) args[i] = arg_node(to);
    }
}

/* What was recorded from `first` on goes right behind `node`, and what used that uses its last node. */
static void put_behind(Graph *graph, Arena *arena, const Node *node, int first) {
    int count = graph->nodes.count, made = count - first, at = 0;
    Node **moved = arena_copy(arena, graph->nodes.at + first, sizeof *moved * (size_t)made);
    while (graph->nodes.at[at] != node) at++;
    for (int i = first - 1; i > at; i--) graph->nodes.at[i + made] = graph->nodes.at[i];
    for (int i = 0; i < made; i++) graph->nodes.at[at + 1 + i] = moved[i];
    for (int i = at + 1 + made; i < count; i++) replace_in((Arg *)(uintptr_t)graph->nodes.at[i]->args, graph->nodes.at[i]->nargs, node, moved[made - 1]);
}

/* Written to before: which of its values had the gradient is not told by the node. */
static bool is_changed(const Graph *graph, const Node *node) {
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *at = graph->nodes.at[i];
        if (at->kind == NODE_CALL && op_has(at->op, TRAIT_INPLACE) && at->nargs && at->args[0].tag == ARG_TENSOR && at->args[0].tensor.owner == node) return true;
    }
    return false;
}

static Value hook_input(Capture *capture, const InputTensor *input, Value hook) {
    if (!input->real || input->written || !tensor_needs_grad(input->real)) return VALUE_NULL;
    vec_push_in(capture->entry->arena, &capture->entry->held, value_ref(hook));
    vec_push_in(capture->entry->arena, &capture->hooks, ((HookWrite){input->source, hook}));
    return VALUE_NONE;
}

static Value hook_made(Capture *capture, Tensor *tensor, Value hook) {
    VM *vm = capture->vm;
    if (!tensor->node || !tensor->requires_grad || is_changed(capture->entry->graph, tensor->node)) return VALUE_NULL;
    Graph *graph = capture->entry->graph;
    int first = graph->nodes.count;
    Object *known = map_get(capture->hooked, tensor->node);
    if (known) { /* a further one: called after those */
        list_append(vm, (List *)known, hook);
        return VALUE_NONE;
    }
    Value module = vm_import(vm, vm_intern(vm, "torch.autograd"), (Span){0});
    if (value_is_error(module)) return module;
    Value around = dict_get_name(vm, ((ModuleObject *)module.o)->dict, vm_intern(vm, "_with_hooks")), hooks = list_new(vm, &hook, 1), args[2] = {value_tensor(tensor), hooks};
    vec_push_in(capture->entry->arena, &capture->entry->held, hooks);
    Value hooked = vm_call(vm, around, args, 2, NULL);
    value_unref(vm, module);
    if (!value_is(hooked, OBJ_TENSOR)) return hooked;
    vec_push_in(capture->entry->arena, &capture->entry->held, hooked);
    put_behind(graph, capture->entry->arena, tensor->node, first);
    tensor->node = ((Tensor *)hooked.o)->node;
    map_put(capture->hooked, tensor->node, hooks.o);
    return VALUE_NONE;
}

/* Numbers, texts and functions: what a hook may read when it is traced, after the capture. */
static bool is_plain(Value v) { return v.tag != V_OBJECT || v.o->type == OBJ_STR || v.o->type == OBJ_FUNCTION || v.o->type == OBJ_CLASS || v.o->type == OBJ_MODULE; }

static bool cell_is_plain(Capture *capture, Cell *cell) {
    VM *vm = capture->vm;
    Value read = capture_load_cell(vm, cell), forced = vm_force(vm, read); /* guarded */
    bool plain = !value_is_error(forced) && is_plain(forced), made_here = !map_has(capture->known, cell);
    if (plain && made_here) value_set(vm, &cell->value, value_ref(forced));
    value_unref(vm, read);
    return plain;
}

static bool reads_plain_values(Capture *capture, const Function *hook) {
    const Tuple *closure = value_is(hook->closure, OBJ_TUPLE) ? (const Tuple *)hook->closure.o : NULL, *defaults = value_is(hook->defaults, OBJ_TUPLE) ? (const Tuple *)hook->defaults.o : NULL;
    for (int i = 0; defaults && i < defaults->count; i++)
        if (!is_plain(defaults->items[i])) return false;
    for (int i = 0; closure && i < closure->count; i++)
        if (!cell_is_plain(capture, (Cell *)closure->items[i].o)) return false;
    return !value_is(hook->kwdefaults, OBJ_DICT);
}

Value capture_register_hook(Capture *capture, Value *args, int nargs) {
    VM *vm = capture->vm;
    Value self = vm_force(vm, args[0]), hook = vm_force(vm, args[nargs - 1]);
    if (!value_is(self, OBJ_TENSOR) || !value_is(hook, OBJ_FUNCTION) || !handle_is_dropped(vm)) return VALUE_NULL;
    for (int i = 0; i < capture->inputs.count; i++)
        if (capture->inputs.at[i].fake == (Tensor *)self.o) return hook_input(capture, &capture->inputs.at[i], hook);
    return reads_plain_values(capture, (Function *)hook.o) ? hook_made(capture, (Tensor *)self.o, hook) : VALUE_NULL;
}
