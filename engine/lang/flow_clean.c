/* Flow clean: taking out what does nothing: empty blocks, dead blocks, NOPs, jumps to the next block.
 *
 * In: blocks. Out: the same code, shorter.
 *
 *     JUMP end; end: RETURN_VALUE  ->  RETURN_VALUE
 *
 * Invariant: the line of every instruction that is taken out is still passed, on its own or a neighbour's instruction. */
#include "lang/flow.h"

enum { SMALL_EXIT = 4 };

static Block *skip_empty(Block *block) {
    while (block && !block->instrs.count) block = block->next;
    return block;
}

void flow_drop_empty(Flow *flow) {
    /* Targets first: they may be chains of empty blocks that the list below forgets. */
    for (Block *block = flow->entry; block; block = block->next)
        for (int i = 0; i < block->instrs.count; i++)
            if (block->instrs.at[i].target) block->instrs.at[i].target = skip_empty(block->instrs.at[i].target);
    flow->entry = skip_empty(flow->entry);
    for (Block *block = flow->entry; block; block = block->next) block->next = skip_empty(block->next);
}

static void count_predecessor(Flow *flow, BlockList *list, Block *block) {
    block->predecessors++;
    worklist_push(flow, list, block);
}

static void mark_reachable(Flow *flow) {
    BlockList list = flow_worklist(flow);
    for (Block *block = flow->entry; block; block = block->next) block->predecessors = 0;
    count_predecessor(flow, &list, flow->entry);
    while (list.items.count) {
        Block *block = vec_pop(&list.items);
        if (block->next && block_falls_through(block)) count_predecessor(flow, &list, block->next);
        for (int i = 0; i < block->instrs.count; i++) {
            const FlowInstr *instr = &block->instrs.at[i];
            if (instr_is_jump(instr) || instr_is_setup(instr)) count_predecessor(flow, &list, instr->target);
        }
    }
}

void flow_drop_unreachable(Flow *flow) {
    mark_reachable(flow);
    for (Block *block = flow->entry; block; block = block->next)
        if (!block->predecessors) block->instrs.count = 0;
}

/* Can the NOP at `i` go? The next instruction may take over its line. */
static bool nop_is_redundant(Block *block, int i, int previous_line) {
    FlowInstr *nop = &block->instrs.at[i];
    if (nop->line < 0 || nop->line == previous_line) return true;
    if (i + 1 < block->instrs.count) {
        FlowInstr *next = &block->instrs.at[i + 1];
        if (next->line >= 0) return next->line == nop->line;
        next->line = nop->line;
        next->span = nop->span;
        return true;
    }
    const Block *next = skip_empty(block->next);
    return next && next->instrs.at[0].line == nop->line;
}

void flow_drop_nops(Block *block) {
    int kept = 0, previous_line = -1;
    for (int i = 0; i < block->instrs.count; i++) {
        if (block->instrs.at[i].opcode == OPCODE_NOP && nop_is_redundant(block, i, previous_line)) continue;
        previous_line = block->instrs.at[i].line;
        block->instrs.at[kept++] = block->instrs.at[i];
    }
    block->instrs.count = kept;
}

/* A value pushed only to be popped. */
static bool is_idle_pair(const FlowInstr *first, const FlowInstr *second) {
    if (!first || second->opcode != OPCODE_POP_TOP) return false;
    return first->opcode == OPCODE_LOAD_CONST || (first->opcode == OPCODE_COPY && first->arg == 1);
}

static bool drop_pairs(Flow *flow) {
    bool changed = false;
    FlowInstr *previous = NULL;
    for (Block *block = flow->entry; block; block = block->next) {
        flow_drop_nops(block);
        if (block->labelled) previous = NULL;
        for (int i = 0; i < block->instrs.count; i++) {
            FlowInstr *instr = &block->instrs.at[i];
            if (is_idle_pair(previous, instr)) {
                instr_make_nop(previous);
                instr_make_nop(instr);
                changed = true;
            }
            previous = instr;
        }
        if ((previous && instr_is_jump(previous)) || !block_falls_through(block)) previous = NULL;
    }
    return changed;
}

void flow_drop_nops_and_pairs(Flow *flow) {
    while (drop_pairs(flow)) continue;
}

void flow_drop_jumps(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) {
        FlowInstr *last = block_last(block);
        if (last && instr_is_goto(last) && last->target == block->next) instr_make_nop(last);
    }
}

/* A jump to a few instructions that leave the frame is replaced by a copy of them. */
void flow_inline_exits(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) {
        FlowInstr *last = block_last(block);
        if (!last || !instr_is_goto(last)) continue;
        const Block *target = last->target;
        if (!block_exits(target) || target->instrs.count > SMALL_EXIT) continue;
        instr_make_nop(last);
        for (int i = 0; i < target->instrs.count; i++) vec_push_in(flow->arena, &block->instrs, target->instrs.at[i]);
    }
}
