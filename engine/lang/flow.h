/* Flow: code as a list of basic blocks while it is emitted and tidied.
 *
 * In: instructions and labels from the emitter. Out: blocks in the order, and with the instructions, of CPython 3.12.
 *
 *     Block *end = flow_label(flow);
 *     flow_jump(flow, OPCODE_POP_JUMP_IF_FALSE, end, span);
 *     ...
 *     flow_place(flow, end);
 *
 * Invariant: a jump or an exit ends its block. Lines matter: a NOP stays where it alone carries a line (PEP 626).
 * The passes are in flow_optimize's order: flow_except, flow_clean, flow_peephole, flow_locals, flow_order. */
#ifndef VITRINE_LANG_FLOW_H
#define VITRINE_LANG_FLOW_H
#include "base/map.h"
#include "base/vec.h"
#include "lang/ast.h"
#include "lang/bytecode.h"

/* Opcodes that exist only before assembly. */
enum {
    PSEUDO_JUMP = OPCODE_COUNT, PSEUDO_JUMP_NO_INTERRUPT,
    PSEUDO_SETUP_FINALLY, /* exceptions go to the target; the handler starts with the exception */
    PSEUDO_SETUP_CLEANUP, /* the same, with lasti below the exception */
    PSEUDO_SETUP_WITH,    /* the same, and the value of __enter__ stays out of the handler's stack */
    PSEUDO_POP_BLOCK,
    PSEUDO_STORE_FAST_MAYBE_NULL
};

typedef struct Block Block;
typedef struct FlowInstr {
    int opcode, arg;
    int line;         /* -1: nowhere */
    Span span;
    Block *target;    /* of jumps and set-ups */
    Block *handler;   /* where an exception raised here goes; NULL: out of the frame */
} FlowInstr;

/* The handlers in force, innermost first; shared, never changed. */
typedef struct HandlerStack HandlerStack;
struct HandlerStack { Block *block; int depth; const HandlerStack *below; };

struct Block {
    VEC(FlowInstr) instrs;
    Block *next;                 /* in layout order */
    bool labelled, is_handler, keeps_lasti, cold, warm, visited;
    int predecessors, start_depth, offset;
    uint64_t unsafe;             /* bit i: local i may be unbound at the start */
    const HandlerStack *handlers; /* while handlers are being found */
};

typedef struct Flow {
    Arena *arena;
    Block *entry, *current;
    VEC(Const) consts;
    Map *const_index;            /* hash -> chain of indices */
} Flow;

Flow flow_new(Arena *arena);
Block *flow_label(Flow *flow);
void flow_place(Flow *flow, Block *label);
void flow_add(Flow *flow, int opcode, int arg, Span span);
void flow_jump(Flow *flow, int opcode, Block *target, Span span);
int flow_const(Flow *flow, Const value);                           /* index in the constant table */
void flow_insert(Arena *arena, Block *block, int at, FlowInstr instr);
FlowInstr flow_instr(int opcode, int arg, Span span);

bool instr_is_jump(const FlowInstr *instr);
bool instr_is_goto(const FlowInstr *instr);  /* an unconditional jump */
bool instr_is_exit(const FlowInstr *instr);  /* return, raise */
bool instr_is_setup(const FlowInstr *instr);
FlowInstr *block_last(const Block *block);   /* NULL when empty */
bool block_falls_through(const Block *block);
bool block_exits(const Block *block);
void instr_make_nop(FlowInstr *instr);
int flow_stack_effect(const FlowInstr *instr, bool jump);

/* A list of blocks to visit, each at most once unless put back. */
typedef struct BlockList { VEC(Block *) items; } BlockList;
BlockList flow_worklist(Flow *flow);         /* clears `visited` */
void worklist_push(Flow *flow, BlockList *list, Block *block); /* unless visited */

/* Passes. */
void flow_find_handlers(Flow *flow);         /* flow_except.c */
void flow_drop_pseudo(Flow *flow);           /* set-ups become NOPs, once handlers are known */
void flow_drop_empty(Flow *flow);            /* flow_clean.c */
void flow_drop_unreachable(Flow *flow);
void flow_drop_nops(Block *block);
void flow_drop_nops_and_pairs(Flow *flow);
void flow_drop_jumps(Flow *flow);
void flow_inline_exits(Flow *flow);
void flow_peephole(Flow *flow);              /* flow_peephole.c, flow_swap.c */
void flow_swaps(Flow *flow, Block *block, int *i);
void flow_check_locals(Flow *flow, int local_count, int parameter_count); /* flow_locals.c */
void flow_order(Flow *flow);                 /* flow_order.c */
void flow_turn_jumps(Flow *flow);
void flow_set_lines(Flow *flow, Span first);
void flow_optimize(Flow *flow, int local_count, int parameter_count, Span first);
int flow_stack_size(Flow *flow, bool generator); /* assemble.c; also sets start_depth */
#endif
