/* check_code: what must hold of every Code that the front end emits, for unit tests and the fuzz target.
 *
 *     const char *complaint = check_code(code);   // NULL when all is well; nested codes are checked too
 *
 * Indices are in range, jumps and handlers land inside the code, the stack never runs below zero nor above stacksize, every
 * way to an instruction brings the same depth, and the last instruction leaves the frame. */
#ifndef VITRINE_TESTS_CHECK_CODE_H
#define VITRINE_TESTS_CHECK_CODE_H
#include "lang/code.h"
#include <stdlib.h>

static inline bool check_exit(int opcode) {
    return opcode == OPCODE_RETURN_VALUE || opcode == OPCODE_RETURN_CONST || opcode == OPCODE_RAISE_VARARGS || opcode == OPCODE_RERAISE;
}

static inline bool check_goto(int opcode) {
    return opcode == OPCODE_JUMP_FORWARD || opcode == OPCODE_JUMP_BACKWARD || opcode == OPCODE_JUMP_BACKWARD_NO_INTERRUPT;
}

static inline const char *check_instr(const Code *code, const Instr *instr) {
    if (instr->opcode >= OPCODE_COUNT) return "no such opcode";
    int arg = instr->arg, limit = -1;
    switch (opcode_arg_kind((Opcode)instr->opcode)) {
    case ARGK_LOCAL: limit = code_localsplus_count(code); break;
    case ARGK_NAME: limit = code->name_count; break;
    case ARGK_NAME_SHIFT1: arg >>= 1, limit = code->name_count; break;
    case ARGK_NAME_SHIFT2: arg >>= 2, limit = code->name_count; break;
    case ARGK_CONST: case ARGK_CONST_NAMES: limit = code->const_count; break;
    case ARGK_JUMP: limit = code->instr_count; break;
    default: return arg < 0 ? "negative argument" : NULL;
    }
    return arg < 0 || arg >= limit ? "argument out of range" : NULL;
}

typedef struct DepthCheck { const Code *code; int *depths; int *work; int work_count; const char *complaint; } DepthCheck;

static inline void check_reach(DepthCheck *check, int index, int depth) {
    if (index >= check->code->instr_count) { check->complaint = "runs off the end"; return; }
    if (depth < 0 || depth > check->code->stacksize) { check->complaint = "stack out of bounds"; return; }
    if (check->depths[index] == depth) return;
    if (check->depths[index] >= 0) { check->complaint = "two depths at one instruction"; return; }
    check->depths[index] = depth;
    check->work[check->work_count++] = index;
}

static inline void check_step(DepthCheck *check, int index) {
    const Instr *instr = &check->code->instrs[index];
    int depth = check->depths[index];
    for (int i = 0; i < check->code->exception_count && !check->complaint; i++) {
        const ExceptionEntry *entry = &check->code->exceptions[i];
        if (index < entry->start || index >= entry->end) continue;
        if (depth < entry->depth) check->complaint = "handler wants more stack than there is";
        else check_reach(check, entry->target, entry->depth + 1 + entry->lasti);
        break;
    }
    int after = depth + opcode_stack_effect((Opcode)instr->opcode, instr->arg, false);
    if (!check->complaint && opcode_arg_kind((Opcode)instr->opcode) == ARGK_JUMP)
        check_reach(check, instr->arg, depth + opcode_stack_effect((Opcode)instr->opcode, instr->arg, true));
    if (!check->complaint && !check_exit(instr->opcode) && !check_goto(instr->opcode)) check_reach(check, index + 1, after);
}

static inline const char *check_depths(const Code *code) {
    DepthCheck check = {code, malloc(sizeof(int) * (size_t)code->instr_count), malloc(sizeof(int) * (size_t)code->instr_count), 0, NULL};
    for (int i = 0; i < code->instr_count; i++) check.depths[i] = -1;
    check_reach(&check, 0, 0);
    while (check.work_count && !check.complaint) check_step(&check, check.work[--check.work_count]);
    free(check.depths);
    free(check.work);
    return check.complaint;
}

static inline const char *check_code(const Code *code) {
    if (code->instr_count == 0) return "no instructions";
    for (int i = 0; i < code->instr_count; i++) {
        const char *complaint = check_instr(code, &code->instrs[i]);
        if (complaint) return complaint;
    }
    for (int i = 0; i < code->exception_count; i++) {
        const ExceptionEntry *entry = &code->exceptions[i];
        if (entry->start < 0 || entry->start >= entry->end || entry->end > code->instr_count || entry->target >= code->instr_count) return "exception entry out of range";
    }
    const char *complaint = check_depths(code);
    for (int i = 0; i < code->const_count && !complaint; i++)
        if (code->consts[i].kind == CONST_CODE) complaint = check_code(code->consts[i].code);
    return complaint;
}
#endif
