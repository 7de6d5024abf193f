/* See capture.h. In: a frame about to run, an entry to fill. Out: the captured graph, guards and rewritten code in the entry.
 *
 *     def f(x): return torch.relu(x @ w)     ->     %matmul, %relu; TENSOR_MATCH L['x'], G['w']; code: graph(L['x'], G['w'])[0]
 */
#include "dynamo/iterators.h"
#include "dynamo/numbers.h"
#include "dynamo/shapes.h"
#include "dynamo/unbacked.h"
#include "vm/concrete.h"
#include "vm/dispatch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After an op was recorded: names its node after the local it is about to be stored in, as Dynamo does. */
static void name_after_variable(Capture *capture, Value result) {
    VM *vm = capture->vm;
    const Frame *frame = vm->frame;
    if (!value_is(result, OBJ_TENSOR) || !frame || frame->pc >= frame->code->instr_count) return;
    if (frame->code->file && frame->code->file->shipped) return;
    const Instr *next = &frame->code->instrs[frame->pc];
    Node *node = ((Tensor *)result.o)->node;
    if (next->opcode == OPCODE_STORE_FAST && node && node->kind == NODE_CALL) node_rename(capture->entry->graph, node, frame->code->localsplus[next->arg]);
}

static bool is_argument(const Arg *args, int nargs, const Tensor *tensor) {
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && args[i].tensor.owner == tensor) return true;
    return false;
}

/* Does gradient reach what an op made? An argument that comes back as it is keeps its flag, unless it was detached in place. */
static void mark_gradient(VM *vm, const Op *op, const Arg *args, int nargs, Value result) {
    bool needs = false, detaches = !strncmp(op->name, "detach", 6);
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSOR) needs |= tensor_needs_grad(args[i].tensor.owner);
        for (int j = 0; args[i].tag == ARG_TENSORS && j < args[i].list.count; j++)
            if (args[i].list.items[j].tag == ARG_TENSOR) needs |= tensor_needs_grad(args[i].list.items[j].tensor.owner);
    }
    Value *items = &result;
    int count = 1;
    if (value_is(result, OBJ_TUPLE)) items = ((Tuple *)result.o)->items, count = ((Tuple *)result.o)->count;
    if (value_is(result, OBJ_LIST)) items = ((List *)result.o)->items, count = ((List *)result.o)->count;
    for (int i = 0; i < count; i++) {
        if (!value_is(items[i], OBJ_TENSOR) || !dtype_is_float(((Tensor *)items[i].o)->meta.dtype)) continue;
        if (is_argument(args, nargs, (Tensor *)items[i].o) && !detaches && !op_has(op, TRAIT_INPLACE)) continue;
        ((Tensor *)items[i].o)->requires_grad = needs && vm->grad_enabled && !detaches;
    }
}

/* Any other argument of a composite (a nested tuple of dims, a slice …) with everything in it looked at; owned. */
static Value plain_value(VM *vm, Value v, int depth) {
    v = vm_force(vm, v);
    bool tuple = value_is(v, OBJ_TUPLE), list = value_is(v, OBJ_LIST);
    if (v.tag == V_ERROR || depth > 16 || (!tuple && !list)) return value_ref(v);
    int count = tuple ? ((Tuple *)v.o)->count : ((List *)v.o)->count;
    Value *items = calloc((size_t)count + 1, sizeof *items);
    bool ok = items != NULL;
    for (int i = 0; ok && i < count; i++) {
        items[i] = plain_value(vm, tuple ? ((Tuple *)v.o)->items[i] : ((List *)v.o)->items[i], depth + 1);
        ok = !value_is_error(items[i]);
    }
    Value made = !ok ? VALUE_ERROR : tuple ? tuple_new(vm, items, count) : list_new(vm, items, count);
    for (int i = 0; items && i < count; i++) value_unref(vm, items[i]);
    free(items);
    return made;
}

static bool hold_object(Capture *capture, Arg *arg) {
    Value plain = plain_value(capture->vm, (Value){.tag = V_OBJECT, .o = arg->object}, 0);
    if (plain.tag != V_OBJECT) return false;
    vec_push_in(capture->entry->arena, &capture->entry->held, plain);
    arg->object = plain.o;
    return true;
}

/* May the op write its argument, or hand it on? */
static bool takes_hold(const Op *op, int argument) {
    if (op->family == FAMILY_COMPOSITE) return true;
    return argument == 0 && (op_has(op, TRAIT_INPLACE) || op_has(op, TRAIT_ALIAS) || op->family == FAMILY_VIEW || op->family == FAMILY_MUTATE);
}

static bool arg_fake(Capture *capture, bool copied, Arg *arg) {
    if (arg->tag == ARG_OBJECT) return hold_object(capture, arg);
    if (arg->tag == ARG_TENSOR) {
        Tensor *tensor = arg->tensor.owner;
        if (tensor->node) return true;
        Tensor *fake = capture_constant(capture, tensor, copied);
        if (fake) *arg = arg_of_tensor(fake);
        return fake != NULL;
    }
    if (arg->tag != ARG_TENSORS) return true;
    Arg *items = ARENA_ARRAY(capture->entry->arena, Arg, arg->list.count + 1);
    for (int i = 0; i < arg->list.count; i++) {
        items[i] = arg->list.items[i];
        if (!arg_fake(capture, copied, &items[i])) return false;
    }
    arg->list.items = items;
    return true;
}

/* Would eager execution refuse to change this input where gradients are on? Leaves that want one, their views, views made without gradients … */
static bool eager_refuses(const Tensor *real) {
    const Tensor *root = real;
    while (root->base) root = root->base;
    return root->requires_grad || (real->base && real->view_kind != VIEW_NORMAL && (real->grad_fn || root->grad_fn));
}

/* In-place on an input: the error, where there is one, is eager's. */
static bool all_static(const Arg *args, int nargs) {
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && !meta_is_static(args[i].tensor.meta)) return false;
    return true;
}

static bool inplace_allowed(Capture *capture, const Op *op, const Arg *args, int nargs) {
    VM *vm = capture->vm;
    if (!op_has(op, TRAIT_INPLACE) || args[0].tag != ARG_TENSOR) return true;
    const Tensor *target = args[0].tensor.owner;
    if (all_static(args, nargs) && !inplace_check_overlap(vm, op, args, nargs, target)) {
        capture->op_failed = true;
        return false;
    }
    for (int i = 0; i < capture->inputs.count; i++) {
        if (capture->inputs.at[i].fake->storage != target->storage) continue;
        capture->inputs.at[i].written = true;
        bool on_tape = tensor_root(args[0].tensor.owner) == capture->inputs.at[i].fake; /* detached ones are not */
        if (!vm->grad_enabled || !on_tape || !eager_refuses(capture->inputs.at[i].real)) continue;
        vm_stop(vm, "other", vm_user_span(vm), "an input that requires grad is changed in place");
        return false;
    }
    return true;
}

/* L['self'].layers[0].fc -> "layers.0.fc": where in the module tree a source points. NULL: it is the root, or no local's part. */
static const char *module_path_of(Capture *capture, const Source *source) {
    Text text = {0}, path = {0};
    source_print(&text, source);
    const char *at = strchr(text_cstr(&text), ']');
    for (at = at ? at + 1 : ""; *at; at++) {
        bool word = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_';
        if (word) text_char(&path, *at);
        else if (path.length && path.data[path.length - 1] != '.' && strpbrk(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")) text_char(&path, '.');
    }
    const char *copy = path.length ? text_in(&path, capture->entry->arena) : NULL;
    text_free(&text);
    text_free(&path);
    return copy;
}

/* The nn.Module whose forward is running: the innermost frame named forward on a shadowed object. */
static const char *module_path_now(Capture *capture) {
    for (const Frame *frame = capture->vm->frame; frame; frame = frame->back) {
        if (strcmp(frame->code->name, "forward") || frame->code->argcount < 1) continue;
        Value self = frame->fast[0];
        if (value_is(self, OBJ_TRACKED)) return module_path_of(capture, ((Tracked *)self.o)->source);
        const Shadow *shadow = capture_shadow(capture, self);
        return shadow ? module_path_of(capture, shadow->source) : NULL;
    }
    return NULL;
}

/* How the program wrote it: the instruction that runs, and for a call whether a method is under its arguments. */
static void note_spelling(const Frame *frame, Node *node) {
    if (!frame || frame->pc < 1 || node->kind != NODE_CALL) return;
    const Instr *instr = &frame->code->instrs[frame->pc - 1];
    int callee = frame->sp - instr->arg - 2;
    node->is_operator = instr->opcode != OPCODE_CALL && instr->opcode != OPCODE_CALL_FUNCTION_EX;
    bool known = instr->opcode == OPCODE_CALL && callee >= code_localsplus_count(frame->code);
    node->is_method = known && (frame->fast[callee].tag != V_NULL || value_is(frame->fast[callee + 1], OBJ_METHOD));
}

/* What stops in the forward of a custom Function breaks at the call as a whole. */
static void stop_of_function(Capture *capture) {
    VM *vm = capture->vm;
    capture->cause = arena_strdup(capture->dynamo->arena, vm->stop_kind);
    snprintf(vm->stop_kind, sizeof vm->stop_kind, "call");
}

/* FX names nodes after functions of the operator module where an operator was written. */
static const char *operator_name(const Frame *frame, const Op *op) {
    if (!frame || frame->pc < 1) return NULL;
    const Instr *instr = &frame->code->instrs[frame->pc - 1];
    if (instr->opcode == OPCODE_UNARY_INVERT) return "invert";
    if ((instr->opcode == OPCODE_BINARY_SUBSCR || instr->opcode == OPCODE_BINARY_SLICE) && op->family != FAMILY_COMPOSITE) return "getitem";
    if (instr->opcode != OPCODE_BINARY_OP || op_has(op, TRAIT_INPLACE)) return strcmp(op->name, "lift_fresh_copy") ? NULL : "tensor";
    return capture_operator_name(instr->arg % BINARY_INPLACE);
}

static Value capture_op(VM *vm, const Op *op, const Arg *args, int nargs) {
    Capture *capture = capture_of(vm);
    if (vm->stopped) return VALUE_ERROR; /* an argument could not be looked at */
    capture->overfull = capture->entry->graph->nodes.count >= capture->dynamo->node_limit;
    if (capture->overfull)
        return vm_stop(vm, "other", vm_user_span(vm), "the graph has %d nodes already, as many as :set node_limit allows", capture->dynamo->node_limit);
    bool sized = op->family != FAMILY_COMPOSITE && vm->context.unbacked;
    if (op_has(op, TRAIT_SYNC) && !sized) return vm_stop(vm, "data_dependent_shape", vm_user_span(vm), "the shape of %s depends on the data", op->name);
    Arg *mine = ARENA_ARRAY(capture->entry->arena, Arg, nargs ? nargs : 1);
    for (int i = 0; i < nargs; i++) {
        mine[i] = args[i];
        if (!arg_fake(capture, takes_hold(op, i), &mine[i])) return VALUE_ERROR;
    }
    if (!inplace_allowed(capture, op, mine, nargs)) return VALUE_ERROR;
    capture->tracer.span = vm_user_span(vm);
    int before = capture->entry->graph->nodes.count;
    capture->entry->graph->call_name = operator_name(vm->frame, op);
    Value result = trace_op(vm, op, mine, nargs);
    capture->op_failed = value_is_error(result) && !vm->stopped;
    capture->op_count++;
    if (vm->stopped && op_has(op, TRAIT_EFFECT)) stop_of_function(capture);
    if (value_is_error(result)) return result;
    if (vm->context.unbacked && !capture_bind_unbacked(capture, result)) {
        value_unref(vm, result);
        return VALUE_ERROR;
    }
    const char *path = module_path_now(capture);
    for (int i = before; i < capture->entry->graph->nodes.count; i++) {
        Node *node = capture->entry->graph->nodes.at[i];
        node->no_grad = !vm->grad_enabled;
        if (node->op && (node->op->family == FAMILY_COMPOSITE || autocast_has_rule(vm, node->op)) && autocast_is_on(vm) && !vm->torch->in_body) node->autocast = arena_copy(capture->entry->arena, &vm->torch->autocast, sizeof vm->torch->autocast);
        node->module_path = path;
        node->region = capture->checkpoint;
        capture_number_operands(capture, node);
        note_spelling(vm->frame, node);
    }
    mark_gradient(vm, op, mine, nargs, result);
    if (!capture->casting) name_after_variable(capture, result);
    return result;
}

/* A leaf's arguments as a frame holds them (positional, keyword-only, *rest), for its row's signature: the keyword-only ones last, by name. */
static bool bind_leaf(VM *vm, const Function *function, const Value *args, int nargs, Arg *bound, Arena *arena) {
    const Code *code = function->code;
    Value *forced = ARENA_ARRAY(arena, Value, nargs + 1), *names = ARENA_ARRAY(arena, Value, code->kwonlyargcount + 1); /* borrowed; args stay the caller's */
    int named = code->kwonlyargcount, given = 0;
    for (int i = 0; i < nargs; i++)
        if (i < code->argcount || i >= code->argcount + named) forced[given++] = vm_force(vm, args[i]);
    for (int i = 0; i < named; i++) {
        forced[given + i] = vm_force(vm, args[code->argcount + i]);
        names[i] = str_interned(vm, intern(vm->lang->names, code->localsplus[code->argcount + i]));
    }
    Value kwnames = named ? tuple_new(vm, names, named) : VALUE_NULL;
    for (int i = 0; i < named; i++) value_unref(vm, names[i]);
    bool ok = vm_bind_op(vm, function->leaf, forced, given, named ? (Tuple *)kwnames.o : NULL, bound, arena);
    value_unref(vm, kwnames);
    return ok;
}

/* A cast that autocast asks for is no node: the graph says in which autocast the op stands that takes it. */
static Value capture_cast(VM *vm, Tensor *tensor, DType dtype) {
    Capture *capture = capture_of(vm);
    Arg args[] = {arg_of_tensor(tensor), {.tag = ARG_DTYPE, .dtype = dtype}};
    if (!arg_fake(capture, false, &args[0])) return VALUE_ERROR;
    Graph *graph = capture->entry->graph;
    int before = graph->nodes.count;
    capture->casting = true;
    Value cast = vm_op_args(vm, "_to_copy", args, 2);
    capture->casting = false;
    graph->nodes.count = before;
    if (value_is_error(cast)) return cast;
    ((Tensor *)cast.o)->node = ((Tensor *)args[0].tensor.owner)->node;
    return cast;
}

/* A function of functional.py is one node; its body is expanded when the joint graph is built. */
static Value capture_leaf(VM *vm, Function *function, Value *args, int nargs) {
    Capture *capture = capture_of(vm);
    Arg *bound = ARENA_ARRAY(capture->entry->arena, Arg, function->leaf->nparams + 1);
    if (!bind_leaf(vm, function, args, nargs, bound, capture->entry->arena)) return VALUE_ERROR;
    Casts casts = {0};
    Value result = VALUE_ERROR;
    if (autocast_apply(vm, function->leaf, bound, function->leaf->nparams, &casts, capture->entry->arena)) result = capture_op(vm, function->leaf, bound, function->leaf->nparams);
    for (int i = 0; i < casts.count; i++) value_unref(vm, casts.tensors[i]);
    return result;
}

/* assert tensor, "a constant": holds as far as capture is concerned; the rewritten code looks when the graph has run. */
static bool is_assertion(VM *vm, const Const **message) {
    const Code *code = vm->frame->code;
    int pc = vm->frame->pc;
    *message = NULL;
    if (pc < 1 || pc + 3 >= code->instr_count || code->instrs[pc - 1].opcode != OPCODE_POP_JUMP_IF_TRUE || code->instrs[pc].opcode != OPCODE_LOAD_ASSERTION_ERROR) return false;
    if (code->instrs[pc + 1].opcode == OPCODE_RAISE_VARARGS) return true;
    if (code->instrs[pc + 1].opcode != OPCODE_LOAD_CONST || code->instrs[pc + 2].opcode != OPCODE_CALL || code->instrs[pc + 3].opcode != OPCODE_RAISE_VARARGS) return false;
    *message = &code->consts[code->instrs[pc + 1].arg];
    return true;
}

static const char *assertion_text(Capture *capture, const Tensor *condition, const Const *message) {
    Text text = {0};
    text_printf(&text, "torch._assert_async(%s, ", condition->node ? ((const Node *)condition->node)->name : "?");
    Value said = message && message->kind == CONST_STR ? str_new(capture->vm, message->s.text, message->s.length) : str_new(capture->vm, "assertion error", 15), repr = vm_repr(capture->vm, said);
    text_printf(&text, "%s)", str_text(repr));
    value_unref(capture->vm, said);
    value_unref(capture->vm, repr);
    const char *copy = text_in(&text, capture->entry->arena);
    text_free(&text);
    return copy;
}

static int capture_truth(VM *vm, Tensor *tensor) {
    const Const *message;
    if (is_assertion(vm, &message)) {
        Capture *capture = capture_of(vm);
        vec_push_in(capture->entry->arena, &capture->entry->held, value_ref(value_tensor(tensor)));
        vec_push_in(capture->entry->arena, &capture->checks, ((TensorCheck){.condition = tensor, .message = message, .span = vm->span}));
        Arg condition = tensor->node ? arg_node(tensor->node) : arg_none();
        graph_effect(capture->entry->graph, "_assert_async", assertion_text(capture, tensor, message), &condition, 1, vm_user_span(vm));
        return 1;
    }
    Opcode opcode = vm->frame && vm->frame->pc > 0 ? (Opcode)vm->frame->code->instrs[vm->frame->pc - 1].opcode : OPCODE_NOP;
    bool by_call = opcode == OPCODE_CALL || opcode == OPCODE_CALL_FUNCTION_EX; /* bool(t), any(…): a value is asked for */
    vm_stop(vm, by_call ? "data_dependent_value" : opcode == OPCODE_UNARY_NOT ? "data_dependent_shape" : "data_dependent_branch", vm_user_span(vm), "Data-dependent branching");
    return -1;
}

static Value capture_item(VM *vm, Tensor *tensor) {
    Value number = capture_unbacked_item(capture_of(vm), tensor);
    if (number.tag != V_NULL) return number;
    return vm_stop(vm, "data_dependent_value", vm_user_span(vm), "the value of a tensor is needed as a Python number");
}

/* Arithmetic on symbolic numbers is a graph of its own, as in PyTorch, where its nodes are there until the graph is cleaned. */
static void capture_computed(VM *vm) { capture_of(vm)->entry->works_on_symbols = true; }

static bool capture_undecided(VM *vm, Dim relation) {
    (void)vm;
    return dim_has_unbacked(dim_resolve(relation));
}

static const Domain symbolic_domain = {
    .name = "symbolic", .op = capture_op, .leaf = capture_leaf, .force = capture_force, .force_keyed = capture_force_keyed, .looked_up = capture_looked_up, .type_only = capture_type_only, .arithmetic = capture_arithmetic, .number_call = capture_number_call, .truth = capture_truth, .item = capture_item,
    .load_attr = capture_load_attr, .load_global = capture_load_global, .load_cell = capture_load_cell, .store_cell = capture_store_cell, .store_global = capture_store_global,
    .load_tensor_attr = capture_load_tensor_attr, .store_tensor_attr = capture_store_tensor_attr, .compared = capture_compared, .operands = capture_operands, .computes = capture_computes, .unchanged = capture_unchanged, .replace_call = capture_replace_call,
    .will_mutate = capture_will_mutate, .delete_attr = capture_delete_attr, .key = capture_key, .advanced = capture_advanced, .sent = capture_sent, .computed = capture_computed, .undecided = capture_undecided, .decide = capture_decide, .specialize = capture_specialize, .may_call = capture_may_call,
    .cast = capture_cast, .number = capture_number, .sized = capture_sized,
};

Capture *capture_now(VM *vm) { return vm->domain == &symbolic_domain ? capture_of(vm) : NULL; }

/* Items of the stack at a break are looked at on both sides of it, as PyTorch does; locals only when the program does. */
static Value look_at(Capture *capture, Value tracked) {
    if (!value_is(tracked, OBJ_TRACKED) || ((Tracked *)tracked.o)->source->kind == SOURCE_NUMBER || capture_float_stays(capture, (Tracked *)tracked.o)) return tracked;
    Value forced = vm_force(capture->vm, tracked);
    if (value_is_error(forced)) { /* it stops where the program needs it */
        capture->vm->stopped = false;
        return tracked;
    }
    value_ref(forced);
    value_unref(capture->vm, tracked);
    return forced;
}

static bool came_by_stack(const Code *code, int slot) { return code->resumed_from && !strncmp(code->localsplus[slot], "___stack", 8); }

/* The frame that is run: the same code, with every bound local tracked. */
static Frame *root_frame(Capture *capture) {
    VM *vm = capture->vm;
    Frame *real = capture->real, *root = frame_new(vm, real->function, real->code, real->globals);
    for (int i = 0; i < code_localsplus_count(real->code); i++) {
        if (real->fast[i].tag == V_NULL) continue;
        root->fast[i] = capture_track(capture, real->fast[i], capture_source(capture, SOURCE_LOCAL, NULL, real->code->localsplus[i], i, VALUE_NULL));
        if (came_by_stack(real->code, i)) root->fast[i] = look_at(capture, root->fast[i]);
    }
    return root;
}

static void global_guards(Capture *capture) {
    VM *vm = capture->vm;
    guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_GLOBAL_STATE, .modes = capture->modes, .span = capture->entry->code->span, .why = "the graph was captured in this mode"});
}

/* Written by an op in place, or by what a composite is made of. */
static bool is_written(const InputTensor *input) { return input->written || input->fake->storage->version > 0; }

/* Those that are written first, then the others; how many are. */
static int written_first(const Capture *capture, const InputTensor **order) {
    int written = 0, n = 0;
    for (int first = 1; first >= 0; first--)
        for (int i = 0; i < capture->inputs.count; i++) {
            if (is_written(&capture->inputs.at[i]) != first) continue;
            order[n++] = &capture->inputs.at[i];
            written += first;
        }
    return written;
}

/* An input that is changed must not share memory with another: which of the two is read first would matter. Such calls run eagerly. */
static bool overlap_guard(Capture *capture) {
    VM *vm = capture->vm;
    Arena *arena = capture->entry->arena;
    int count = capture->inputs.count;
    const InputTensor **order = ARENA_ARRAY(arena, const InputTensor *, count);
    const Source **sources = ARENA_ARRAY(arena, const Source *, count);
    int written = written_first(capture, order);
    for (int i = 0; i < count; i++) {
        sources[i] = order[i]->source;
        for (int j = 0; j < i && j < written; j++)
            if (order[i]->real && order[j]->real && tensors_meet(order[i]->real, order[j]->real)) {
                vm_stop(vm, "alias", capture->entry->code->span, "two inputs share memory and one of them is changed in place");
                return false;
            }
    }
    if (!written) return true;
    guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_NO_OVERLAP, .sources = sources, .source_count = count, .length = written, .span = capture->entry->code->span, .why = "an input is changed in place"});
    return true;
}

static bool alias_guard(Capture *capture) {
    int count = capture->inputs.count;
    if (count < 2) return true;
    const Source **sources = ARENA_ARRAY(capture->entry->arena, const Source *, count);
    for (int i = 0; i < count; i++) sources[i] = capture->inputs.at[i].source;
    guard_add(&capture->entry->guards, capture->vm, (Guard){.kind = GUARD_NO_ALIAS, .sources = sources, .source_count = count, .span = capture->entry->code->span, .why = "every input was a tensor of its own"});
    return overlap_guard(capture);
}

bool capture_modes_changed(const Capture *capture) {
    Modes now = modes_now(capture->vm);
    return !modes_equal(&now, &capture->modes);
}

/* Is a generator's frame between this one and the root? */
static bool inside_generator(const Capture *capture, const Frame *frame) {
    for (; frame && frame != capture->root; frame = frame->back)
        if (frame->code->flags & CODE_GENERATOR && frame->generator.tag != V_NULL) return true;
    return false;
}

/* Before each instruction: counts those of the root frame, remembers where it can be cut between statements, and ends the attempt where the plan says. */
static bool before_instruction(VM *vm, Frame *frame, void *state) {
    Capture *capture = state;
    capture->looked_at.count = 0;
    if (capture->outer_hook && !capture->outer_hook(vm, frame, capture->outer_state)) return false;
    if (frame->code->instrs[frame->pc].opcode == OPCODE_RAISE_VARARGS) capture->raised_at = frame->code->instrs[frame->pc].span;
    if (vm->domain == &symbolic_domain) capture_note_modes(capture, frame); /* bodies of ops are run on stand-ins */
    if (frame != capture->root) {
        capture->in_generator = inside_generator(capture, frame);
        return !capture_calls_on_namespace(capture, frame);
    }
    capture->in_generator = false;
    if (capture->plan && capture->steps == capture->plan->at) {
        capture->at_plan = true;
        vm_stop(vm, capture->plan->kind, capture->plan->span, "%s", capture->plan->text);
        return false;
    }
    capture_note_block(capture);
    if (frame->code->instrs[frame->pc].opcode == OPCODE_LOAD_FAST_AND_CLEAR && (frame->pc < capture->region.pc || frame->pc >= capture->region.end))
        capture->region = comprehension_region(frame->code, frame->pc, capture->steps);
    if (capture->op_count > 1 && frame->sp == code_localsplus_count(frame->code) && code_exception_at(frame->code, frame->pc) < 0)
        capture->statement = (BreakPoint){true, capture->steps, frame->pc};
    capture->steps++;
    return !capture_calls_on_namespace(capture, frame);
}

/* sum(…), list(…) of a generator whose body stops: the call is the break. next() and send() leave the frame to eager, as a `for` does. */
static bool consumes_whole(const Frame *root) {
    const Instr *instr = &root->code->instrs[root->pc];
    int callee = root->sp - instr->arg - 2;
    if (instr->opcode != OPCODE_CALL || callee < code_localsplus_count(root->code)) return false;
    Value called = root->fast[callee].tag == V_NULL ? root->fast[callee + 1] : root->fast[callee];
    if (!value_is(called, OBJ_BUILTIN)) return false;
    const char *name = ((Builtin *)called.o)->name;
    return strcmp(name, "next") && strcmp(name, "send") && strcmp(name, "__next__") && strcmp(name, "throw");
}

static bool finish_at_plan(Capture *capture) {
    Frame *root = capture->root;
    capture->vm->stopped = false;
    for (int i = code_localsplus_count(root->code); i < root->sp; i++) root->fast[i] = look_at(capture, root->fast[i]);
    return capture_rewrite_break(capture) && alias_guard(capture); /* a generator that is run to its end may read more inputs */
}

/* A stop at an instruction says what it means for the frame; one that concerns the inputs only (alias) comes after the last of them. */
static void describe_end(Capture *capture, bool ran, CaptureEnd *end) {
    VM *vm = capture->vm;
    if (!vm->stopped) {
        end->raised = !capture->op_failed;
        end->span = capture->raised_at; /* without a file: no statement of the program raised it */
        return;
    }
    end->told = capture->told;
    if (ran || capture->plan || capture->overfull) end->found = (BreakPlan){.style = BREAK_SKIP, .kind = arena_strdup(capture->dynamo->arena, vm->stop_kind), .text = arena_strdup(capture->dynamo->arena, vm->stop_text), .span = vm->stop_span};
    else end->found = break_plan(vm, capture->dynamo->arena, capture->root, capture->steps - 1, &capture->statement, &capture->region, capture->in_generator && !consumes_whole(capture->root));
    end->found.cause = capture->cause;
}

static void capture_begin(Capture *capture) {
    VM *vm = capture->vm;
    Arena *arena = capture->entry->arena;
    capture->by_real = map_new(arena);
    capture->by_shadow = map_new(arena);
    capture->namespaces = map_new(arena);
    capture->hooked = map_new(arena);
    capture->known = map_new(arena);
    capture->constants = map_new(arena);
    capture->box_by_value = map_new(arena);
    capture->modes = capture->noted = modes_now(vm);
    capture->outer_hook = vm->instruction_hook;
    capture->outer_state = vm->instruction_state;
    trace_begin(&capture->tracer, vm, capture->entry->graph);
    vm->torch->autocast = capture->modes.autocast;
    vm->domain = &symbolic_domain;
    vm->context.unbacked = capture_takes_shapes(capture) ? capture_new_unbacked : NULL;
    vm->context.unbacked_state = capture;
    vm->domain_state = capture;
    vm->grad_enabled = capture->modes.grad_enabled;
    vm->instruction_hook = before_instruction;
    vm->instruction_state = capture;
}

/* A backend of the program is shown the inputs; a number stands as a tensor without a value. */
static void keep_examples(Capture *capture) {
    Entry *entry = capture->entry;
    for (int i = 0; i < capture->inputs.count; i++) {
        const InputTensor *input = &capture->inputs.at[i];
        Value example = input->real ? value_ref(value_tensor(input->real)) : value_tensor(tensor_new(capture->vm, &input->node->metas[0]));
        vec_push_in(entry->arena, &entry->examples, example);
        vec_push_in(entry->arena, &entry->held, example);
    }
}

static void capture_end(Capture *capture) {
    VM *vm = capture->vm;
    shapes_settle(capture);
    capture_drop_lookups(capture);
    if (capture->dynamo->options.function.tag == V_OBJECT) keep_examples(capture);
    capture->entry->guards.source_count = source_count(capture->entry->sources);
    trace_end(&capture->tracer);
    vm->context.unbacked = NULL;
    vm->instruction_hook = capture->outer_hook;
    vm->instruction_state = capture->outer_state;
    modes_set(vm, &capture->modes);
}

bool capture_frame(Dynamo *dynamo, Entry *entry, Frame *frame, const BreakPlan *plan, CaptureEnd *end) {
    VM *vm = dynamo->vm;
    Capture capture = {.dynamo = dynamo, .vm = vm, .entry = entry, .real = frame, .plan = plan};
    capture_begin(&capture);
    global_guards(&capture);
    capture.root = root_frame(&capture);
    if (frame->function) capture_know_cells(&capture, frame->function, NULL);
    Value result = frame_run(vm, capture.root);
    bool ran = !value_is_error(result), ok = false;
    vm->instruction_hook = capture.outer_hook;
    if (ran && !plan) ok = capture_rewrite(&capture, result) && alias_guard(&capture);
    else if (capture.at_plan) ok = finish_at_plan(&capture);
    else if (ran) vm_stop(vm, "other", entry->code->span, "the frame did not take the same way twice");
    if (!ok) describe_end(&capture, ran, end);
    value_unref(vm, result);
    frame_free(vm, capture.root);
    capture_end(&capture);
    return ok;
}
