/* Flow: building blocks, and the order of the passes.
 *
 * In: instructions. Out: tidied blocks, ready for assemble.c.
 *
 *     flow_optimize(&flow, locals, parameters, first_span);
 *
 * Invariant: `current` is the last block in layout order. */
#include "lang/flow.h"

static Block *block_new(Flow *flow) { return ARENA_NEW(flow->arena, Block); }

Flow flow_new(Arena *arena) {
    Flow flow = {.arena = arena, .const_index = map_new(arena)};
    flow.entry = flow.current = block_new(&flow);
    return flow;
}

Block *flow_label(Flow *flow) { return block_new(flow); }

void flow_place(Flow *flow, Block *label) {
    label->labelled = true;
    flow->current->next = label;
    flow->current = label;
}

FlowInstr flow_instr(int opcode, int arg, Span span) {
    return (FlowInstr){.opcode = opcode, .arg = arg, .span = span, .line = span.file ? span_line(span) : -1};
}

static void add(Flow *flow, FlowInstr instr) {
    const FlowInstr *last = block_last(flow->current);
    if (last && (instr_is_jump(last) || instr_is_exit(last))) {
        Block *block = block_new(flow);
        flow->current->next = block;
        flow->current = block;
    }
    vec_push_in(flow->arena, &flow->current->instrs, instr);
}

void flow_add(Flow *flow, int opcode, int arg, Span span) { add(flow, flow_instr(opcode, arg, span)); }

void flow_jump(Flow *flow, int opcode, Block *target, Span span) {
    FlowInstr instr = flow_instr(opcode, 0, span);
    instr.target = target;
    add(flow, instr);
}

void flow_insert(Arena *arena, Block *block, int at, FlowInstr instr) {
    vec_push_in(arena, &block->instrs, instr);
    for (int i = block->instrs.count - 1; i > at; i--) block->instrs.at[i] = block->instrs.at[i - 1];
    block->instrs.at[at] = instr;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++) hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

static uint64_t const_hash(const Const *value) {
    uint64_t hash = hash_bytes(14695981039346656037u, &value->kind, sizeof value->kind);
    switch (value->kind) {
    case CONST_INT: return hash_bytes(hash, &value->i, sizeof value->i);
    case CONST_FLOAT: return hash_bytes(hash, &value->f, sizeof value->f);
    case CONST_STR: return hash_bytes(hash, value->s.text, value->s.length);
    case CONST_CODE: return hash_bytes(hash, &value->code, sizeof value->code);
    case CONST_TUPLE: case CONST_FROZENSET:
        for (int i = 0; i < value->tuple.count; i++) {
            uint64_t item = const_hash(&value->tuple.items[i]);
            hash = hash_bytes(hash, &item, sizeof item);
        }
        return hash;
    default: return hash;
    }
}

typedef struct ConstLink ConstLink;
struct ConstLink { int index; ConstLink *next; };

int flow_const(Flow *flow, Const value) {
    const void *key = map_key((int64_t)(const_hash(&value) | 1));
    ConstLink *first = map_get(flow->const_index, key);
    for (ConstLink *link = first; link; link = link->next)
        if (const_equal(&flow->consts.at[link->index], &value)) return link->index;
    ConstLink *link = ARENA_NEW(flow->arena, ConstLink);
    *link = (ConstLink){flow->consts.count, first};
    map_put(flow->const_index, key, link);
    vec_push_in(flow->arena, &flow->consts, value);
    return link->index;
}

bool instr_is_goto(const FlowInstr *instr) {
    return instr->opcode == PSEUDO_JUMP || instr->opcode == PSEUDO_JUMP_NO_INTERRUPT || instr->opcode == OPCODE_JUMP_FORWARD ||
           instr->opcode == OPCODE_JUMP_BACKWARD || instr->opcode == OPCODE_JUMP_BACKWARD_NO_INTERRUPT;
}

bool instr_is_jump(const FlowInstr *instr) {
    return instr_is_goto(instr) || (instr->opcode < OPCODE_COUNT && opcode_arg_kind((Opcode)instr->opcode) == ARGK_JUMP);
}

bool instr_is_exit(const FlowInstr *instr) {
    return instr->opcode == OPCODE_RETURN_VALUE || instr->opcode == OPCODE_RETURN_CONST || instr->opcode == OPCODE_RAISE_VARARGS || instr->opcode == OPCODE_RERAISE;
}

bool instr_is_setup(const FlowInstr *instr) {
    return instr->opcode == PSEUDO_SETUP_FINALLY || instr->opcode == PSEUDO_SETUP_CLEANUP || instr->opcode == PSEUDO_SETUP_WITH;
}

FlowInstr *block_last(const Block *block) { return block->instrs.count ? &block->instrs.at[block->instrs.count - 1] : NULL; }

bool block_falls_through(const Block *block) {
    const FlowInstr *last = block_last(block);
    return !last || !(instr_is_goto(last) || instr_is_exit(last));
}

bool block_exits(const Block *block) {
    const FlowInstr *last = block_last(block);
    return last && instr_is_exit(last);
}

void instr_make_nop(FlowInstr *instr) {
    instr->opcode = OPCODE_NOP;
    instr->arg = 0;
    instr->target = NULL;
}

int flow_stack_effect(const FlowInstr *instr, bool jump) {
    switch (instr->opcode) {
    case PSEUDO_JUMP: case PSEUDO_JUMP_NO_INTERRUPT: case PSEUDO_POP_BLOCK: return 0;
    case PSEUDO_SETUP_FINALLY: return jump ? 1 : 0;
    case PSEUDO_SETUP_CLEANUP: return jump ? 2 : 0;
    case PSEUDO_SETUP_WITH: return jump ? 1 : 0; /* the value of __enter__ goes, lasti and the exception come */
    case PSEUDO_STORE_FAST_MAYBE_NULL: return -1;
    default: return opcode_stack_effect((Opcode)instr->opcode, instr->arg, jump);
    }
}

BlockList flow_worklist(Flow *flow) {
    for (Block *block = flow->entry; block; block = block->next) block->visited = false;
    return (BlockList){0};
}

void worklist_push(Flow *flow, BlockList *list, Block *block) {
    if (block->visited) return;
    block->visited = true;
    vec_push_in(flow->arena, &list->items, block);
}

void flow_optimize(Flow *flow, int local_count, int parameter_count, Span first) {
    flow_find_handlers(flow);
    flow_drop_empty(flow);
    flow_inline_exits(flow);
    flow_peephole(flow);
    flow_drop_nops_and_pairs(flow);
    flow_inline_exits(flow);
    flow_drop_unreachable(flow);
    for (Block *block = flow->entry; block; block = block->next) flow_drop_nops(block);
    flow_drop_empty(flow);
    flow_drop_jumps(flow);
    flow_check_locals(flow, local_count, parameter_count);
    flow_order(flow);
    flow_set_lines(flow, first);
}
