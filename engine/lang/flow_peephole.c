/* Flow peephole: small rewrites within a block, CPython 3.12's set.
 *
 * In: blocks without empty ones. Out: the same with constants folded into jumps, returns and tuples, and jumps threaded.
 *
 *     LOAD_CONST 1; LOAD_CONST 2; BUILD_TUPLE 2  ->  LOAD_CONST (1, 2)
 *     LOAD_CONST None; IS_OP 0; POP_JUMP_IF_FALSE  ->  POP_JUMP_IF_NOT_NONE
 *
 * Invariant: instructions are replaced one for one (by NOPs where they go), so indices stay.
 * To add a rewrite: a function, and its case in rewrite_at. */
#include "lang/flow.h"

static FlowInstr *at(const Block *block, int i) { return i < block->instrs.count ? &block->instrs.at[i] : NULL; }
static bool is_opcode(const FlowInstr *instr, int opcode) { return instr && instr->opcode == opcode; }

static void decide_jump(const Flow *flow, FlowInstr *load, int constant, FlowInstr *jump) {
    bool truth = const_truth(&flow->consts.at[constant]), taken = truth == (jump->opcode == OPCODE_POP_JUMP_IF_TRUE);
    instr_make_nop(load);
    if (taken) jump->opcode = PSEUDO_JUMP;
    else instr_make_nop(jump);
}

/* `is None` before a jump. */
static void fuse_none_test(const Flow *flow, FlowInstr *load, int constant, FlowInstr *is, FlowInstr *jump) {
    if (flow->consts.at[constant].kind != CONST_NONE) return;
    if (!is_opcode(jump, OPCODE_POP_JUMP_IF_FALSE) && !is_opcode(jump, OPCODE_POP_JUMP_IF_TRUE)) return;
    bool negated = (is->arg != 0) != (jump->opcode == OPCODE_POP_JUMP_IF_FALSE);
    instr_make_nop(load);
    instr_make_nop(is);
    jump->opcode = negated ? OPCODE_POP_JUMP_IF_NOT_NONE : OPCODE_POP_JUMP_IF_NONE;
}

/* A constant on top (loaded here, or copied from one loaded just before). */
static void rewrite_constant(Flow *flow, Block *block, int *i, int constant) {
    FlowInstr *load = at(block, *i), *next = at(block, *i + 1);
    if (is_opcode(next, OPCODE_POP_JUMP_IF_FALSE) || is_opcode(next, OPCODE_POP_JUMP_IF_TRUE)) {
        decide_jump(flow, load, constant, next);
    } else if (is_opcode(next, OPCODE_IS_OP)) {
        fuse_none_test(flow, load, constant, next, at(block, *i + 2));
    } else if (is_opcode(next, OPCODE_RETURN_VALUE)) {
        instr_make_nop(load);
        next->opcode = OPCODE_RETURN_CONST;
        next->arg = constant;
        ++*i;
    }
}

static void fold_tuple(Flow *flow, Block *block, int i) {
    int count = block->instrs.at[i].arg;
    if (i < count) return;
    FlowInstr *items = &block->instrs.at[i - count];
    for (int k = 0; k < count; k++)
        if (items[k].opcode != OPCODE_LOAD_CONST) return;
    Const *values = ARENA_ARRAY(flow->arena, Const, count);
    for (int k = 0; k < count; k++) {
        values[k] = flow->consts.at[items[k].arg];
        instr_make_nop(&items[k]);
    }
    items[count].opcode = OPCODE_LOAD_CONST;
    items[count].arg = flow_const(flow, (Const){.kind = CONST_TUPLE, .tuple = {values, count}});
}

static void rewrite_tuple(Flow *flow, Block *block, int i) {
    FlowInstr *build = at(block, i), *next = at(block, i + 1);
    if (is_opcode(next, OPCODE_UNPACK_SEQUENCE) && next->arg == build->arg && build->arg >= 1 && build->arg <= 3) {
        if (build->arg == 1) instr_make_nop(next);
        else next->opcode = OPCODE_SWAP; /* items two or three deep change places */
        instr_make_nop(build);
        return;
    }
    fold_tuple(flow, block, i);
}

/* A jump to a jump goes straight to the end, when no line is passed over. True when changed. */
static bool thread_jump(FlowInstr *jump) {
    const FlowInstr *second = &jump->target->instrs.at[0];
    if (second->opcode != PSEUDO_JUMP) return false;
    if ((second->line >= 0 && second->line != jump->line) || second->target == jump->target) return false;
    jump->target = second->target;
    return true;
}

static void rewrite_null(Block *block, int i) {
    FlowInstr *next = at(block, i + 1);
    if (!is_opcode(next, OPCODE_LOAD_GLOBAL)) return;
    instr_make_nop(at(block, i));
    next->arg |= 1;
}

static void rewrite_at(Flow *flow, Block *block, int *i) {
    FlowInstr *instr = at(block, *i);
    switch (instr->opcode) {
    case OPCODE_LOAD_CONST: rewrite_constant(flow, block, i, instr->arg); break;
    case OPCODE_BUILD_TUPLE: rewrite_tuple(flow, block, *i); break;
    case OPCODE_POP_JUMP_IF_FALSE: case OPCODE_POP_JUMP_IF_TRUE: case OPCODE_POP_JUMP_IF_NONE: case OPCODE_POP_JUMP_IF_NOT_NONE: case PSEUDO_JUMP:
        if (thread_jump(instr)) --*i;
        break;
    case OPCODE_SWAP:
        if (instr->arg == 1) instr_make_nop(instr);
        else flow_swaps(flow, block, i);
        break;
    case OPCODE_PUSH_NULL: rewrite_null(block, *i); break;
    default: break;
    }
}

void flow_peephole(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) {
        int constant = -1; /* of the LOAD_CONST just seen, for a COPY of it */
        for (int i = 0; i < block->instrs.count; i++) {
            const FlowInstr *instr = at(block, i);
            bool copy = constant >= 0 && instr->opcode == OPCODE_COPY && instr->arg == 1;
            if (copy) {
                rewrite_constant(flow, block, &i, constant);
                continue;
            }
            constant = instr->opcode == OPCODE_LOAD_CONST ? instr->arg : -1;
            rewrite_at(flow, block, &i);
        }
    }
}
