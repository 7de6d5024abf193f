/* Flow except: which handler is in force at each instruction.
 *
 * In: blocks with set-ups and POP_BLOCKs. Out: `handler` of each instruction; handlers marked; YIELD_VALUE's depth.
 *
 *     SETUP_FINALLY h; CALL; POP_BLOCK; CALL   ->   the first CALL's handler is h, the second's is none
 *
 * Invariant: every way to a block brings the same handlers, since statements nest. */
#include "lang/flow.h"

static const HandlerStack *push_handler(Flow *flow, const HandlerStack *below, Block *block) {
    HandlerStack *stack = ARENA_NEW(flow->arena, HandlerStack);
    *stack = (HandlerStack){block, below ? below->depth + 1 : 1, below};
    return stack;
}

static void go_to(Flow *flow, BlockList *list, Block *block, const HandlerStack *handlers) {
    if (!block->visited) block->handlers = handlers;
    worklist_push(flow, list, block);
}

static void scan_block(Flow *flow, BlockList *list, Block *block) {
    const HandlerStack *handlers = block->handlers;
    for (int i = 0; i < block->instrs.count; i++) {
        FlowInstr *instr = &block->instrs.at[i];
        if (instr_is_setup(instr)) {
            go_to(flow, list, instr->target, handlers);
            instr->target->is_handler = true;
            if (instr->opcode != PSEUDO_SETUP_FINALLY) instr->target->keeps_lasti = true;
            handlers = push_handler(flow, handlers, instr->target);
            continue;
        }
        if (instr->opcode == PSEUDO_POP_BLOCK) {
            handlers = handlers ? handlers->below : NULL;
            continue;
        }
        instr->handler = handlers ? handlers->block : NULL;
        if (instr->opcode == OPCODE_YIELD_VALUE) instr->arg = handlers ? handlers->depth : 0;
        if (instr_is_jump(instr)) go_to(flow, list, instr->target, handlers);
    }
    if (block_falls_through(block) && block->next) go_to(flow, list, block->next, handlers);
}

static void mark_handlers(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next)
        for (int i = 0; i < block->instrs.count; i++)
            if (instr_is_setup(&block->instrs.at[i])) block->instrs.at[i].target->is_handler = true;
}

void flow_find_handlers(Flow *flow) {
    mark_handlers(flow); /* those in dead code too */
    BlockList list = flow_worklist(flow);
    go_to(flow, &list, flow->entry, NULL);
    while (list.items.count) scan_block(flow, &list, vec_pop(&list.items));
}

void flow_drop_pseudo(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) {
        for (int i = 0; i < block->instrs.count; i++) {
            FlowInstr *instr = &block->instrs.at[i];
            if (instr_is_setup(instr) || instr->opcode == PSEUDO_POP_BLOCK) instr_make_nop(instr);
            else if (instr->opcode == PSEUDO_STORE_FAST_MAYBE_NULL) instr->opcode = OPCODE_STORE_FAST;
        }
    }
    for (Block *block = flow->entry; block; block = block->next) flow_drop_nops(block);
}
