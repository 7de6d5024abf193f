/* Assemble: blocks to a Code: locals joined, jumps resolved, exception table, stack size.
 *
 * In: a Unit whose code has been emitted. Out: its Code, complete.
 *
 *     locals [a, b], cells [a, c], frees [d]  ->  localsplus [a, b, c, d]; MAKE_CELL a; MAKE_CELL c; COPY_FREE_VARS 1
 *
 * Invariant: jump arguments are indices of instructions; FOR_ITER's is its END_FOR. */
#include "lang/emit.h"

/* The slot of each cell: a captured argument or local keeps its own. */
typedef struct Slots { int *cells; int cell_count; } Slots;

static Slots join_locals(Emitter *emitter, Unit *unit) {
    Code *code = unit->code;
    Slots slots = {ARENA_ARRAY(emitter->session->arena, int, unit->cells.names.count), unit->cells.names.count};
    code->nlocals = unit->locals.names.count;
    code->nfrees = unit->frees.names.count;
    code->localsplus = ARENA_ARRAY(emitter->keep, const char *, code->nlocals + slots.cell_count + code->nfrees);
    for (int i = 0; i < code->nlocals; i++) code->localsplus[i] = unit->locals.names.at[i];
    for (int i = 0; i < slots.cell_count; i++) {
        const char *name = unit->cells.names.at[i];
        intptr_t local = (intptr_t)map_get(unit->locals.index, name); /* index + 1 */
        slots.cells[i] = local ? (int)local - 1 : code->nlocals + code->ncells;
        if (!local) code->localsplus[code->nlocals + code->ncells++] = name;
    }
    for (int i = 0; i < code->nfrees; i++) code->localsplus[code->nlocals + code->ncells + i] = unit->frees.names.at[i];
    return slots;
}

static void resolve_slots(Unit *unit, const Slots *slots) {
    int frees = unit->code->nlocals + unit->code->ncells;
    for (Block *block = unit->flow.entry; block; block = block->next) {
        for (int i = 0; i < block->instrs.count; i++) {
            FlowInstr *instr = &block->instrs.at[i];
            if (instr->opcode >= OPCODE_COUNT || opcode_arg_kind((Opcode)instr->opcode) != ARGK_LOCAL) continue;
            if (instr->arg >= LOCAL_FREES) instr->arg = frees + instr->arg - LOCAL_FREES;
            else if (instr->arg >= LOCAL_CELLS) instr->arg = slots->cells[instr->arg - LOCAL_CELLS];
        }
    }
}

/* What runs before RESUME: free variables copied in, cells made in the order of their slots, the generator made. */
static void insert_prefix(Emitter *emitter, Unit *unit, const Slots *slots) {
    Block *entry = unit->flow.entry;
    Arena *arena = emitter->session->arena;
    int at = 0;
    if (unit->code->nfrees) flow_insert(arena, entry, at++, flow_instr(OPCODE_COPY_FREE_VARS, unit->code->nfrees, NOWHERE));
    bool *is_cell = ARENA_ARRAY(arena, bool, unit->code->nlocals + unit->code->ncells);
    for (int i = 0; i < slots->cell_count; i++) is_cell[slots->cells[i]] = true;
    for (int i = 0; i < unit->code->nlocals + unit->code->ncells; i++)
        if (is_cell[i]) flow_insert(arena, entry, at++, flow_instr(OPCODE_MAKE_CELL, i, NOWHERE));
    if (!(unit->code->flags & CODE_GENERATOR)) return;
    flow_insert(arena, entry, at++, flow_instr(OPCODE_RETURN_GENERATOR, 0, unit->first));
    flow_insert(arena, entry, at, flow_instr(OPCODE_POP_TOP, 0, unit->first));
}

static void reach(Flow *flow, BlockList *list, Block *block, int depth) {
    if (!block->visited) block->start_depth = depth;
    worklist_push(flow, list, block);
}

/* Depth behind the block's last instruction; `most` grows to the greatest on the way. */
static int scan_depths(Flow *flow, BlockList *list, Block *block, int *most) {
    int depth = block->start_depth;
    for (int i = 0; i < block->instrs.count; i++) {
        const FlowInstr *instr = &block->instrs.at[i];
        if (instr->target) {
            int there = depth + flow_stack_effect(instr, true);
            if (there > *most) *most = there;
            reach(flow, list, instr->target, there);
        }
        depth += flow_stack_effect(instr, false);
        if (depth > *most) *most = depth;
    }
    return depth;
}

int flow_stack_size(Flow *flow, bool generator) {
    BlockList list = flow_worklist(flow);
    int most = generator ? 1 : 0;
    reach(flow, &list, flow->entry, 0);
    while (list.items.count) {
        Block *block = vec_pop(&list.items);
        int depth = scan_depths(flow, &list, block, &most);
        if (block->next && block_falls_through(block)) reach(flow, &list, block->next, depth);
    }
    return most;
}

static int number_blocks(Flow *flow) {
    int offset = 0;
    for (Block *block = flow->entry; block; block = block->next) {
        block->offset = offset;
        offset += block->instrs.count;
    }
    return offset;
}

static Instr resolve_jump(const FlowInstr *instr, int index) {
    Instr result = {(uint16_t)instr->opcode, instr->arg, instr->span};
    if (!instr->target) return result;
    bool back = instr->target->offset <= index;
    if (instr->opcode == PSEUDO_JUMP) result.opcode = back ? OPCODE_JUMP_BACKWARD : OPCODE_JUMP_FORWARD;
    if (instr->opcode == PSEUDO_JUMP_NO_INTERRUPT) result.opcode = back ? OPCODE_JUMP_BACKWARD_NO_INTERRUPT : OPCODE_JUMP_FORWARD;
    result.arg = instr->target->offset;
    return result;
}

typedef VEC(ExceptionEntry) ExceptionList;

/* Runs of instructions with the same handler. */
static void extend_exceptions(Emitter *emitter, ExceptionList *list, const Block **current, const Block *handler, int index) {
    if (handler == *current) {
        if (handler) vec_last(list).end = index + 1;
        return;
    }
    *current = handler;
    if (!handler) return;
    int depth = handler->start_depth - 1 - handler->keeps_lasti;
    ExceptionEntry entry = {index, index + 1, handler->offset, depth, handler->keeps_lasti};
    vec_push_in(emitter->session->arena, list, entry);
}

static void write_instrs(Emitter *emitter, Unit *unit) {
    Code *code = unit->code;
    ExceptionList exceptions = {0};
    const Block *handler = NULL;
    code->instr_count = number_blocks(&unit->flow);
    code->instrs = ARENA_ARRAY(emitter->keep, Instr, code->instr_count);
    int index = 0;
    for (Block *block = unit->flow.entry; block; block = block->next) {
        for (int i = 0; i < block->instrs.count; i++, index++) {
            code->instrs[index] = resolve_jump(&block->instrs.at[i], index);
            extend_exceptions(emitter, &exceptions, &handler, block->instrs.at[i].handler, index);
        }
    }
    code->exceptions = arena_copy(emitter->keep, exceptions.at, (size_t)exceptions.count * sizeof *exceptions.at);
    code->exception_count = exceptions.count;
}

/* Names are interned; constants were made by the parser and go with its arena. */
static void keep_tables(Emitter *emitter, Unit *unit) {
    Code *code = unit->code;
    code->name_count = unit->names.names.count;
    code->names = arena_copy(emitter->keep, unit->names.names.at, (size_t)code->name_count * sizeof *code->names);
    code->const_count = unit->flow.consts.count;
    code->consts = ARENA_ARRAY(emitter->keep, Const, code->const_count);
    for (int i = 0; i < code->const_count; i++) code->consts[i] = const_copy(emitter->keep, &unit->flow.consts.at[i]);
    if (code->doc) code->doc = arena_strdup(emitter->keep, code->doc);
}

void assemble(Emitter *emitter, Unit *unit) {
    Code *code = unit->code;
    int parameters = code->argcount + code->kwonlyargcount + ((code->flags & CODE_VARARGS) != 0) + ((code->flags & CODE_VARKEYWORDS) != 0);
    flow_optimize(&unit->flow, unit->locals.names.count, parameters, unit->first);
    Slots slots = join_locals(emitter, unit);
    resolve_slots(unit, &slots);
    insert_prefix(emitter, unit, &slots);
    code->stacksize = flow_stack_size(&unit->flow, (code->flags & CODE_GENERATOR) != 0);
    flow_drop_pseudo(&unit->flow);
    flow_turn_jumps(&unit->flow);
    write_instrs(emitter, unit);
    keep_tables(emitter, unit);
}
