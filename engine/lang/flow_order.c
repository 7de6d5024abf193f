/* Flow order: handlers move behind the code that runs without exceptions; every exit gets a line.
 *
 * In: cleaned blocks. Out: the final order of blocks; lines and spans on instructions that had none.
 *
 *     try: a  except E: b ; c   ->   a, c, then the handler with b and a jump back
 *
 * Invariant: a warm block is one that can be reached without an exception; the first block is warm. */
#include "lang/flow.h"

static void mark_warm(Flow *flow) {
    BlockList list = flow_worklist(flow);
    worklist_push(flow, &list, flow->entry);
    while (list.items.count) {
        Block *block = vec_pop(&list.items);
        block->warm = true;
        if (block->next && block_falls_through(block)) worklist_push(flow, &list, block->next);
        for (int i = 0; i < block->instrs.count; i++)
            if (instr_is_jump(&block->instrs.at[i])) worklist_push(flow, &list, block->instrs.at[i].target);
    }
}

static void push_cold(Flow *flow, BlockList *list, Block *block) {
    if (!block->warm) worklist_push(flow, list, block);
}

static void mark_cold(Flow *flow) {
    mark_warm(flow);
    BlockList list = flow_worklist(flow);
    for (Block *block = flow->entry; block; block = block->next)
        if (block->is_handler) push_cold(flow, &list, block);
    while (list.items.count) {
        Block *block = vec_pop(&list.items);
        block->cold = true;
        if (block->next && block_falls_through(block)) push_cold(flow, &list, block->next);
        for (int i = 0; i < block->instrs.count; i++)
            if (instr_is_jump(&block->instrs.at[i])) push_cold(flow, &list, block->instrs.at[i].target);
    }
}

/* Where a cold block ran on into a warm one, it jumps there now. */
static void add_jumps_back(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) {
        if (!block->cold || !block_falls_through(block) || !block->next || !block->next->warm) continue;
        Block *jump = flow_label(flow);
        FlowInstr instr = flow_instr(PSEUDO_JUMP, 0, (Span){0});
        instr.target = block->next;
        vec_push_in(flow->arena, &jump->instrs, instr);
        jump->cold = true;
        jump->predecessors = 1;
        jump->next = block->next;
        block->next = jump;
    }
}

void flow_order(Flow *flow) {
    if (!flow->entry->next) return;
    mark_cold(flow);
    add_jumps_back(flow);
    Block *cold = NULL, **cold_tail = &cold, **link = &flow->entry;
    while (*link) {
        Block *block = *link;
        if (!block->cold) {
            link = &block->next;
            continue;
        }
        *link = block->next;
        block->next = NULL;
        *cold_tail = block;
        cold_tail = &block->next;
    }
    *link = cold;
    if (cold) flow_drop_jumps(flow);
}

static bool is_exit_without_line(const Block *block) {
    if (!block_exits(block)) return false;
    for (int i = 0; i < block->instrs.count; i++)
        if (block->instrs.at[i].line >= 0) return false;
    return true;
}

static void copy_place(FlowInstr *to, const FlowInstr *from) {
    to->line = from->line;
    to->span = from->span;
}

/* Each jump to a shared exit gets an exit of its own, so that it can carry the line it came from. */
static void copy_exits(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) {
        FlowInstr *last = block_last(block);
        if (!last || !instr_is_jump(last)) continue;
        Block *target = last->target;
        if (!is_exit_without_line(target) || target->predecessors <= 1) continue;
        Block *copy = flow_label(flow);
        for (int i = 0; i < target->instrs.count; i++) vec_push_in(flow->arena, &copy->instrs, target->instrs.at[i]);
        copy_place(&copy->instrs.at[0], last);
        copy->cold = target->cold;
        copy->predecessors = 1;
        target->predecessors--;
        last->target = copy;
        copy->next = target->next;
        target->next = copy;
    }
    for (Block *block = flow->entry; block; block = block->next)
        if (block->next && block->instrs.count && block_falls_through(block) && is_exit_without_line(block->next))
            copy_place(&block->next->instrs.at[0], block_last(block));
}

static void give_line(Block *block, const FlowInstr *from) {
    if (block->predecessors == 1 && block->instrs.count && block->instrs.at[0].line < 0) copy_place(&block->instrs.at[0], from);
}

/* Instructions without a line take that of the one before; a block's first one, that of its only predecessor. */
static void spread_lines(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) {
        FlowInstr previous = {.line = -1};
        for (int i = 0; i < block->instrs.count; i++) {
            FlowInstr *instr = &block->instrs.at[i];
            if (instr->line < 0) copy_place(instr, &previous);
            else previous = *instr;
        }
        const FlowInstr *last = block_last(block);
        if (!last) continue;
        if (block_falls_through(block) && block->next) give_line(block->next, &previous);
        if (instr_is_jump(last)) give_line(last->target, &previous);
    }
}

/* Returns that still have none take the line of the code before them in the listing. */
static void place_returns(Flow *flow, Span first) {
    FlowInstr place = flow_instr(OPCODE_NOP, 0, first);
    for (Block *block = flow->entry; block; block = block->next) {
        const FlowInstr *last = block_last(block);
        if (!last) continue;
        if (last->line >= 0) place = *last;
        else if (last->opcode == OPCODE_RETURN_VALUE)
            for (int i = 0; i < block->instrs.count; i++) copy_place(&block->instrs.at[i], &place);
    }
}

void flow_set_lines(Flow *flow, Span first) {
    copy_exits(flow);
    spread_lines(flow);
    place_returns(flow, first);
}

static int opposite_jump(int opcode) {
    switch (opcode) {
    case OPCODE_POP_JUMP_IF_FALSE: return OPCODE_POP_JUMP_IF_TRUE;
    case OPCODE_POP_JUMP_IF_TRUE: return OPCODE_POP_JUMP_IF_FALSE;
    case OPCODE_POP_JUMP_IF_NONE: return OPCODE_POP_JUMP_IF_NOT_NONE;
    case OPCODE_POP_JUMP_IF_NOT_NONE: return OPCODE_POP_JUMP_IF_NONE;
    default: return -1;
    }
}

/* Conditional jumps only go forward: one that went back now skips a jump that does. */
void flow_turn_jumps(Flow *flow) {
    flow_worklist(flow);
    for (Block *block = flow->entry; block; block = block->next) {
        block->visited = true;
        FlowInstr *last = block_last(block);
        int opposite = last ? opposite_jump(last->opcode) : -1;
        if (opposite < 0 || !last->target->visited) continue;
        Block *jump = flow_label(flow);
        FlowInstr back = flow_instr(PSEUDO_JUMP, 0, last->span);
        back.target = last->target;
        vec_push_in(flow->arena, &jump->instrs, back);
        last->opcode = opposite;
        last->target = block->next;
        jump->next = block->next;
        block->next = jump;
    }
}
