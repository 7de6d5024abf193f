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

static bool is_backward(Opcode opcode) { return opcode == OPCODE_JUMP_BACKWARD || opcode == OPCODE_JUMP_BACKWARD_NO_INTERRUPT; }

bool break_has_backedge(const Code *code, int pc) {
    for (int i = pc + 1; i < code->instr_count; i++)
        if (is_backward((Opcode)code->instrs[i].opcode) && code->instrs[i].arg < pc) return true;
    return false;
}

/* The instruction that entered the block of an exception entry, if it is a `with`'s; -1 otherwise. */
static int with_start(const Code *code, const ExceptionEntry *entry) {
    if (entry->target + 1 >= code->instr_count || code->instrs[entry->target].opcode != OPCODE_PUSH_EXC_INFO || code->instrs[entry->target + 1].opcode != OPCODE_WITH_EXCEPT_START) return -1;
    int start = entry->start;
    for (int i = 0; i < code->exception_count; i++)
        if (code->exceptions[i].target == entry->target && code->exceptions[i].start < start) start = code->exceptions[i].start;
    return start > 0 && code->instrs[start - 1].opcode == OPCODE_BEFORE_WITH ? start - 1 : -1;
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
        int start = with_start(code, entry), slot = code_localsplus_count(code) + entry->depth - 1;
        if (start < 0 || slot >= root->sp || count == BREAK_MAX_WITHS || !manager_is_shipped(root->fast[slot])) return -1;
        entries[count++] = e;
        e = code_exception_at(code, start);
    }
    return count;
}

static BreakPlan skip(BreakPlan plan, const char *why) {
    plan.style = BREAK_SKIP;
    plan.why_skip = why;
    return plan;
}

BreakPlan break_plan(VM *vm, Arena *arena, const Frame *root, int64_t at, const BreakPoint *statement) {
    BreakPlan plan = {.style = BREAK_RESUME, .at = at, .pc = root->pc, .kind = arena_strdup(arena, vm->stop_kind), .text = arena_strdup(arena, vm->stop_text), .span = vm->stop_span};
    int entries[BREAK_MAX_WITHS], results;
    const Instr *instr = &root->code->instrs[root->pc];
    Opcode opcode = (Opcode)instr->opcode;
    if (break_operands(opcode, instr->arg, &results) < 0) {
        if (!statement->known) return skip(plan, "the instruction cannot stand between two graphs");
        plan.style = BREAK_STATEMENT;
        plan.at = statement->at;
        plan.pc = statement->pc;
        return plan;
    }
    int withs = break_with_blocks(root, root->pc, entries);
    if (withs < 0) return skip(plan, "it is inside a try or a context manager of the program");
    if (break_has_backedge(root->code, root->pc)) return skip(plan, "it is inside a loop");
    if (opcode == OPCODE_POP_JUMP_IF_TRUE || opcode == OPCODE_POP_JUMP_IF_FALSE) plan.style = BREAK_BRANCH;
    return plan;
}
