/* Flow swap: runs of SWAPs made minimal, and SWAPs done by reordering the stores behind them.
 *
 * In: a SWAP in a block. Out: fewer SWAPs.
 *
 *     SWAP 2; STORE_FAST a; STORE_FAST b  ->  NOP; STORE_FAST b; STORE_FAST a
 *
 * Invariant: the stack and all locals are the same behind the run as before. */
#include "lang/flow.h"

/* Length of the run of SWAPs and NOPs at `i`; its deepest reach; whether it has more than one SWAP. */
static int measure_run(const Block *block, int i, int *depth, bool *several) {
    int length = 1;
    *depth = block->instrs.at[i].arg;
    *several = false;
    for (; i + length < block->instrs.count; length++) {
        const FlowInstr *instr = &block->instrs.at[i + length];
        if (instr->opcode == OPCODE_SWAP) {
            *several = true;
            if (instr->arg > *depth) *depth = instr->arg;
        } else if (instr->opcode != OPCODE_NOP) {
            break;
        }
    }
    return length;
}

/* Writes the cycle through `start` of the permutation, from the run's end backwards; returns the new end. */
static int write_cycle(FlowInstr *run, int end, int *stack, int start) {
    for (int j = start;;) {
        if (j) {
            run[end].opcode = OPCODE_SWAP;
            run[end--].arg = j + 1;
        }
        if (stack[j] < 0) return end; /* been all round */
        int next = stack[j];
        stack[j] = -1;
        j = next;
    }
}

/* The run's effect is a permutation; each of its cycles is written once, which takes the fewest SWAPs. */
static void minimize_run(Flow *flow, FlowInstr *run, int length, int depth) {
    int *stack = ARENA_ARRAY(flow->arena, int, depth), end = length - 1;
    for (int i = 0; i < depth; i++) stack[i] = i;
    for (int i = 0; i < length; i++) {
        if (run[i].opcode != OPCODE_SWAP) continue;
        int top = stack[0];
        stack[0] = stack[run[i].arg - 1];
        stack[run[i].arg - 1] = top;
    }
    for (int i = 0; i < depth; i++)
        if (stack[i] >= 0 && stack[i] != i) end = write_cycle(run, end, stack, i);
    for (; end >= 0; end--) instr_make_nop(&run[end]);
}

static bool is_store(const FlowInstr *instr) { return instr->opcode == OPCODE_STORE_FAST || instr->opcode == PSEUDO_STORE_FAST_MAYBE_NULL; }
static bool is_swappable(const FlowInstr *instr) { return is_store(instr) || instr->opcode == OPCODE_POP_TOP; }
static int stores_to(const FlowInstr *instr) { return is_store(instr) ? instr->arg : -1; }

/* The next instruction behind `i` that only takes the top, on the given line (-1: any); -1 when there is none. */
static int next_swappable(const Block *block, int i, int line) {
    while (++i < block->instrs.count) {
        const FlowInstr *instr = &block->instrs.at[i];
        if (line >= 0 && instr->line != line) return -1;
        if (instr->opcode == OPCODE_NOP) continue;
        return is_swappable(instr) ? i : -1;
    }
    return -1;
}

/* Two stores may change places unless they, or one between them, store to the same local. */
static bool can_exchange(const Block *block, int first, int second) {
    int a = stores_to(&block->instrs.at[first]), b = stores_to(&block->instrs.at[second]);
    if (a < 0 && b < 0) return true;
    if (a == b) return false;
    for (int i = first + 1; i < second; i++) {
        int between = stores_to(&block->instrs.at[i]);
        if (between >= 0 && (between == a || between == b)) return false;
    }
    return true;
}

static bool apply_swap(Block *block, int i) {
    FlowInstr *swap = &block->instrs.at[i];
    int first = next_swappable(block, i, -1);
    if (first < 0) return false;
    int second = first, line = block->instrs.at[first].line;
    for (int count = swap->arg - 1; count > 0; count--) {
        second = next_swappable(block, second, line);
        if (second < 0) return false;
    }
    if (!can_exchange(block, first, second)) return false;
    instr_make_nop(swap);
    FlowInstr moved = block->instrs.at[first];
    block->instrs.at[first] = block->instrs.at[second];
    block->instrs.at[second] = moved;
    return true;
}

/* `i` ends on the last instruction of the run. */
void flow_swaps(Flow *flow, Block *block, int *i) {
    int depth;
    bool several;
    int length = measure_run(block, *i, &depth, &several);
    if (several) {
        minimize_run(flow, &block->instrs.at[*i], length, depth);
        *i += length - 1;
    }
    for (int k = *i; k >= 0; k--) {
        const FlowInstr *instr = &block->instrs.at[k];
        if (instr->opcode == OPCODE_NOP || is_swappable(instr)) continue;
        if (instr->opcode != OPCODE_SWAP || !apply_swap(block, k)) return;
    }
}
