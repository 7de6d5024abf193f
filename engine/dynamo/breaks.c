/* See breaks.h.
 *
 * To let another opcode stand between two graphs: a line in break_operands. */
#include "dynamo/rewrite.h"
#include <string.h>

int code_exception_at(const Code *code, int pc) {
    for (int i = 0; i < code->exception_count; i++)
        if (pc >= code->exceptions[i].start && pc < code->exceptions[i].end) return i;
    return -1;
}

int break_operands(Opcode opcode, int arg, int *results) {
    *results = 1;
    switch (opcode) {
    case OPCODE_CALL: return arg + 2;
    case OPCODE_CALL_FUNCTION_EX: return 3 + (arg & 1);
    case OPCODE_BINARY_SUBSCR: return 2;
    case OPCODE_BINARY_SLICE: return 3;
    default: break;
    }
    *results = 0;
    switch (opcode) {
    case OPCODE_POP_JUMP_IF_TRUE: case OPCODE_POP_JUMP_IF_FALSE: return 1;
    case OPCODE_STORE_ATTR: return 2;
    case OPCODE_STORE_SUBSCR: return 3;
    case OPCODE_STORE_SLICE: return 4;
    default: return -1;
    }
}

static int saved_slots(const Code *code, int pc, int *slots, int max) {
    int count = 0;
    for (; pc < code->instr_count && count < max; pc++) {
        if (code->instrs[pc].opcode == OPCODE_LOAD_FAST_AND_CLEAR) slots[count++] = code->instrs[pc].arg;
        else if (code->instrs[pc].opcode != OPCODE_MAKE_CELL) break;
    }
    return count;
}

BreakRegion comprehension_region(const Code *code, int pc, int64_t at) {
    enum { MAX_SAVED = 16 };
    int slots[MAX_SAVED], count = saved_slots(code, pc, slots, MAX_SAVED), loop = pc;
    BreakRegion none = {.pc = -1, .end = -1};
    while (loop < code->instr_count && code->instrs[loop].opcode != OPCODE_FOR_ITER) loop++;
    if (loop >= code->instr_count) return none;
    int stores = 0, restored = 0;
    for (int i = code->instrs[loop].arg + 1; i < code->instr_count; i++) {
        const Instr *instr = &code->instrs[i];
        if (instr->opcode == OPCODE_SWAP) continue;
        if (instr->opcode != OPCODE_STORE_FAST) return none;
        stores++;
        for (int s = 0; s < count; s++) restored += slots[s] == instr->arg;
        if (restored == count) return (BreakRegion){at, pc, i + 1, count + 1 - stores};
    }
    return none;
}

/* A way from pc on, exceptions aside, leads back before it. */
static bool is_backward(Opcode opcode) { return opcode == OPCODE_JUMP_BACKWARD || opcode == OPCODE_JUMP_BACKWARD_NO_INTERRUPT; }

bool break_has_backedge(Arena *arena, const Code *code, int pc, int end) {
    const bool *reached = code_reachable(arena, code, pc, false);
    for (int i = end; i < code->instr_count; i++)
        if (reached[i] && is_backward((Opcode)code->instrs[i].opcode) && code->instrs[i].arg < pc) return true;
    return false;
}

/* The entry around a `with` block: that of the last instructions of its handler, which raise again. -2: the entry is no `with`'s. */
static int with_outer(const Code *code, const ExceptionEntry *entry) {
    int handler = entry->target;
    if (handler + 1 >= code->instr_count || code->instrs[handler].opcode != OPCODE_PUSH_EXC_INFO || code->instrs[handler + 1].opcode != OPCODE_WITH_EXCEPT_START) return -2;
    int cleanup = code_exception_at(code, handler);
    return cleanup < 0 ? -2 : code_exception_at(code, code->exceptions[cleanup].target);
}

/* Managers of the shipped library (no_grad, autocast …) only set modes: they can be left and entered again. One of the program's may do anything. */
static bool manager_is_shipped(Value exit) {
    if (!value_is(exit, OBJ_METHOD)) return false;
    Value function = ((Method *)exit.o)->function;
    if (!value_is(function, OBJ_FUNCTION) || !((Function *)function.o)->code->file || !((Function *)function.o)->code->file->shipped) return false;
    Value module = ((Function *)function.o)->module_name;
    return value_is(module, OBJ_STR) && !strncmp(str_text(module), "torch", 5);
}

int break_with_blocks(const Frame *root, int pc, int *entries) {
    const Code *code = root->code;
    int count = 0;
    for (int e = code_exception_at(code, pc); e >= 0;) {
        const ExceptionEntry *entry = &code->exceptions[e];
        int outer = with_outer(code, entry), slot = code_localsplus_count(code) + entry->depth - 1;
        if (outer == -2 || slot >= root->sp || count == BREAK_MAX_WITHS || !manager_is_shipped(root->fast[slot])) return -1;
        entries[count++] = e;
        e = outer;
    }
    return count;
}

static BreakPlan skip(BreakPlan plan, const char *why) {
    plan.style = BREAK_SKIP;
    plan.why_skip = why;
    return plan;
}

BreakPlan break_plan(VM *vm, Arena *arena, const Frame *root, int64_t at, const BreakPoint *statement, const BreakRegion *region, bool in_generator) {
    BreakPlan plan = {.style = BREAK_RESUME, .at = at, .pc = root->pc, .end = root->pc + 1, .kind = arena_strdup(arena, vm->stop_kind), .text = arena_strdup(arena, vm->stop_text), .span = vm->stop_span};
    int entries[BREAK_MAX_WITHS];
    const Instr *instr = &root->code->instrs[root->pc];
    Opcode opcode = (Opcode)instr->opcode;
    if (in_generator) return skip(plan, "it is inside a generator that the function consumes");
    plan.operands = break_operands(opcode, instr->arg, &plan.results);
    if (root->pc >= region->pc && root->pc < region->end) { /* all of it runs, with its iterator taken from the stack */
        plan.at = region->at;
        plan.pc = region->pc;
        plan.end = region->end;
        plan.operands = 1;
        plan.results = region->results;
    } else if (plan.operands < 0) {
        if (!statement->known) return skip(plan, "the instruction cannot stand between two graphs");
        plan.style = BREAK_STATEMENT;
        plan.at = statement->at;
        plan.pc = statement->pc;
        return plan;
    }
    int withs = break_with_blocks(root, plan.pc, entries);
    if (withs < 0) return skip(plan, "it is inside a try or a context manager of the program");
    plan.in_loop = break_has_backedge(arena, root->code, plan.pc, plan.end);
    if (plan.in_loop) return skip(plan, "it is inside a loop");
    if (plan.end > plan.pc + 1) return plan;
    if (opcode == OPCODE_POP_JUMP_IF_TRUE || opcode == OPCODE_POP_JUMP_IF_FALSE) plan.style = BREAK_BRANCH;
    return plan;
}
