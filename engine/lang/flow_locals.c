/* Flow locals: which loads of locals may find them unbound (LOAD_FAST_CHECK).
 *
 * In: blocks. Out: LOAD_FASTs that are safe stay, the others become LOAD_FAST_CHECK.
 *
 *     if c: x = 1
 *     return x          ->  LOAD_FAST_CHECK x
 *
 * Invariant: a set of unsafe locals only grows at a block, so the search ends. Locals beyond the first 64 are followed
 * within their block alone, as in CPython, so that time stays linear. */
#include "lang/flow.h"

static void spread(Flow *flow, BlockList *list, Block *block, uint64_t unsafe) {
    uint64_t both = block->unsafe | unsafe;
    if (both == block->unsafe) return;
    block->unsafe = both;
    worklist_push(flow, list, block);
}

static uint64_t scan_instr(FlowInstr *instr, uint64_t unsafe) {
    if (instr->arg < 0 || instr->arg >= 64) return unsafe;
    uint64_t bit = (uint64_t)1 << instr->arg;
    switch (instr->opcode) {
    case OPCODE_DELETE_FAST: case OPCODE_LOAD_FAST_AND_CLEAR: case PSEUDO_STORE_FAST_MAYBE_NULL: return unsafe | bit;
    case OPCODE_LOAD_FAST:
        if (unsafe & bit) instr->opcode = OPCODE_LOAD_FAST_CHECK;
        return unsafe & ~bit;
    case OPCODE_STORE_FAST: case OPCODE_LOAD_FAST_CHECK: return unsafe & ~bit;
    default: return unsafe;
    }
}

static void scan_block(Flow *flow, BlockList *list, Block *block) {
    uint64_t unsafe = block->unsafe;
    for (int i = 0; i < block->instrs.count; i++) {
        FlowInstr *instr = &block->instrs.at[i];
        if (instr->handler) spread(flow, list, instr->handler, unsafe);
        unsafe = scan_instr(instr, unsafe);
    }
    if (block->next && block_falls_through(block)) spread(flow, list, block->next, unsafe);
    const FlowInstr *last = block_last(block);
    if (last && instr_is_jump(last)) spread(flow, list, last->target, unsafe);
}

/* Locals from 64 on: safe where an earlier instruction of the same block bound or checked them. */
static void scan_high_locals(Flow *flow, int local_count) {
    int *seen = ARENA_ARRAY(flow->arena, int, local_count), number = 0;
    for (Block *block = flow->entry; block; block = block->next) {
        number++;
        for (int i = 0; i < block->instrs.count; i++) {
            FlowInstr *instr = &block->instrs.at[i];
            bool clears = instr->opcode == OPCODE_DELETE_FAST || instr->opcode == OPCODE_LOAD_FAST_AND_CLEAR || instr->opcode == PSEUDO_STORE_FAST_MAYBE_NULL;
            bool binds = instr->opcode == OPCODE_STORE_FAST || instr->opcode == OPCODE_LOAD_FAST;
            if (instr->arg < 64 || (!clears && !binds)) continue;
            if (instr->opcode == OPCODE_LOAD_FAST && seen[instr->arg] != number) instr->opcode = OPCODE_LOAD_FAST_CHECK;
            seen[instr->arg] = clears ? 0 : number;
        }
    }
}

void flow_check_locals(Flow *flow, int local_count, int parameter_count) {
    if (!local_count) return;
    if (local_count > 64) scan_high_locals(flow, local_count);
    BlockList list = flow_worklist(flow);
    uint64_t unsafe = 0;
    for (int i = parameter_count; i < local_count && i < 64; i++) unsafe |= (uint64_t)1 << i;
    spread(flow, &list, flow->entry, unsafe);
    for (Block *block = flow->entry; block; block = block->next) scan_block(flow, &list, block);
    while (list.items.count) {
        Block *block = vec_pop(&list.items);
        block->visited = false;
        scan_block(flow, &list, block);
    }
}
