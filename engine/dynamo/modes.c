/* Modes as nodes of the captured graph. In: grad mode and autocast, looked at before each instruction. Out: a node where one changed.
 *
 *     with torch.no_grad(): y = x + 1        ->   _set_grad_enabled = torch._C._set_grad_enabled(False);  y = x + 1;  _set_grad_enabled_1 = …(True)
 *
 * At a break the `with` blocks are left, so the graph ends in the mode that was before the outermost of them. Later stages do not read these nodes:
 * each node of a tensor has its mode (`no_grad`, `autocast`). Invariant: an autocast that is left is the one that was entered last. */
#include "dynamo/numbers.h"
#include "dynamo/rewrite.h"
#include "vm/torch_state.h"
#include <string.h>

static void note_grad(Capture *capture, bool enabled) {
    if (capture->noted.grad_enabled == enabled) return;
    capture->noted.grad_enabled = enabled;
    graph_effect(capture->entry->graph, "_set_grad_enabled", enabled ? "torch._C._set_grad_enabled(True)" : "torch._C._set_grad_enabled(False)", (Arg[]){arg_bool(enabled)}, 1, vm_user_span(capture->vm));
}

static void note_enter(Capture *capture, const Autocast *now) {
    Arena *arena = capture->entry->arena;
    const Autocast *before = &capture->noted.autocast;
    DeviceKind kind = before->enabled[DEVICE_CUDA] != now->enabled[DEVICE_CUDA] || before->dtype[DEVICE_CUDA] != now->dtype[DEVICE_CUDA] ? DEVICE_CUDA : DEVICE_CPU;
    bool on = now->enabled[kind];
    const char *dtype = on ? arena_printf(arena, "torch.%s", dtype_info[now->dtype[kind]].name) : "None";
    const char *text = arena_printf(arena, "torch.amp.autocast_mode._enter_autocast('%s', %s, %s, None)", kind == DEVICE_CUDA ? "cuda" : "cpu", dtype, on ? "True" : "False");
    Arg args[] = {{.tag = ARG_STR, .s = kind == DEVICE_CUDA ? "cuda" : "cpu"}, on ? (Arg){.tag = ARG_DTYPE, .dtype = now->dtype[kind]} : arg_none(), arg_bool(on), arg_none()};
    AutocastEntered entered = {graph_effect(capture->entry->graph, "_enter_autocast", text, args, 4, vm_user_span(capture->vm)), *before};
    vec_push_in(arena, &capture->autocasts, entered);
    capture->noted.autocast = *now;
}

static void note_exit(Capture *capture) {
    AutocastEntered entered = vec_pop(&capture->autocasts);
    const char *text = arena_printf(capture->entry->arena, "torch.amp.autocast_mode._exit_autocast(%s)", entered.node->name);
    graph_effect(capture->entry->graph, "_exit_autocast", text, NULL, 0, vm_user_span(capture->vm));
    capture->noted.autocast = entered.before;
}

void capture_note_modes(Capture *capture, const Frame *frame) {
    const VM *vm = capture->vm;
    note_grad(capture, vm->grad_enabled);
    if (autocast_equal(&capture->noted.autocast, &vm->torch->autocast)) return;
    bool leaves = frame && !strcmp(frame->code->name, "__exit__") && capture->autocasts.count > 0;
    if (leaves) note_exit(capture);
    else note_enter(capture, &vm->torch->autocast);
    capture->noted.autocast = vm->torch->autocast;
}

/* A continuation enters the blocks that were left at the break before it puts their exit methods back on the stack. -1: it is at no such place. */
static int depth_entered_again(const Capture *capture, const Instr *instr) {
    const Code *code = capture->root->code;
    if (!code->resumed_from || instr->opcode != OPCODE_LOAD_ATTR || instr->arg != ((code->name_count - 1) << 1 | 1)) return -1;
    const Dynamo *dynamo = capture->dynamo;
    for (int i = 0; i < dynamo->resumes.count; i++) {
        const Resume *resume = dynamo->resumes.at[i];
        if (resume->code == code) return capture->blocks.count < resume->with_count ? resume->withs[capture->blocks.count] + 1 : -1;
    }
    return -1;
}

/* The root frame is about to enter a `with` block: its exit method will lie where the manager lies now. */
void capture_note_block(Capture *capture) {
    const Frame *root = capture->root;
    const Instr *instr = &root->code->instrs[root->pc];
    int depth = instr->opcode == OPCODE_BEFORE_WITH ? root->sp - code_localsplus_count(root->code) : depth_entered_again(capture, instr);
    if (depth < 0) return;
    BlockModes block = {depth, capture->noted.grad_enabled, capture->autocasts.count};
    while (capture->blocks.count && vec_last(&capture->blocks).depth >= depth) (void)vec_pop(&capture->blocks);
    vec_push_in(capture->entry->arena, &capture->blocks, block);
}

void capture_leave_blocks(Capture *capture, int depth) {
    for (int i = 0; i < capture->blocks.count; i++) {
        const BlockModes *block = &capture->blocks.at[i];
        if (block->depth != depth) continue;
        while (capture->autocasts.count > block->autocasts) note_exit(capture);
        note_grad(capture, block->grad_enabled);
        return;
    }
}

/* Off and at once on again (or on and off): both go, as PyTorch has it. */
static bool is_switch(const Node *node, bool enabled) { return node->kind == NODE_EFFECT && strstr(node->spelled, enabled ? "_set_grad_enabled(True)" : "_set_grad_enabled(False)"); }

static bool has_calls(const Graph *graph) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind == NODE_CALL) return true;
    return false;
}

void capture_settle_modes(Capture *capture) {
    Graph *graph = capture->entry->graph;
    bool empty = !has_calls(graph); /* nothing is computed in any of them */
    bool grad = capture->modes.grad_enabled;
    int kept = 0;
    for (int i = 0; i < graph->nodes.count; i++) {
        Node *node = graph->nodes.at[i];
        bool pair = i + 1 < graph->nodes.count && is_switch(node, !grad) && is_switch(graph->nodes.at[i + 1], grad);
        if (pair) i++;
        else if (!empty || node->kind != NODE_EFFECT) graph->nodes.at[kept++] = node;
        if (!pair && is_switch(node, !grad)) grad = !grad;
    }
    graph->nodes.count = kept;
}
