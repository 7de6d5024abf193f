/* Breaks: what a stop of capture means for the frame. In: the root frame as the stop left it. Out: a plan for the second attempt.
 *
 *     print(y)  in a straight line      ->  BREAK_RESUME: graph, the instruction itself, a function for the rest
 *     if y.sum() > 0:                   ->  BREAK_BRANCH: graph, the jump, a function for each side
 *     f"{y}"                            ->  BREAK_STATEMENT: graph up to the statement, then the user's own instructions
 *     any of them in a loop or a try    ->  BREAK_SKIP: the frame runs eagerly, its callees are tried on their own
 *
 * The second attempt counts the root frame's instructions as the first did and ends where the plan says. */
#ifndef VITRINE_DYNAMO_BREAKS_H
#define VITRINE_DYNAMO_BREAKS_H
#include "dynamo/dynamo.h"

typedef enum BreakStyle { BREAK_SKIP, BREAK_RESUME, BREAK_BRANCH, BREAK_STATEMENT } BreakStyle;

typedef struct BreakPlan {
    BreakStyle style;
    int64_t at;                     /* instructions of the root frame that were run before it */
    int pc, end;                    /* of the root frame: the instructions [pc, end) are run between the graphs (a comprehension is one piece) */
    int operands, results;          /* items that they take from the stack and leave on it */
    const char *why_skip;           /* SKIP */
    bool in_loop;                   /* SKIP: because it stands in a loop */
    const char *kind, *cause;       /* cause: the kind of what stopped first, where `kind` is of the call around it */
    const char *text; Span span;    /* of the stop; in the session's arena */
} BreakPlan;

/* Where the root frame stood when it last could be cut between statements: an empty stack, no block, something captured. */
typedef struct BreakPoint { bool known; int64_t at; int pc; } BreakPoint;

/* A comprehension, which 3.12 has inlined: from the instruction that saves its variable to the one behind the last that restores it. */
typedef struct BreakRegion { int64_t at; int pc, end, results; } BreakRegion;
BreakRegion comprehension_region(const Code *code, int pc, int64_t at);

/* in_generator: it stopped in the body of a generator that the frame was consuming. */
BreakPlan break_plan(VM *vm, Arena *arena, const Frame *root, int64_t at, const BreakPoint *statement, const BreakRegion *region, bool in_generator);
/* How many operands an instruction takes from the stack, and gives back (0 or 1): for those that may stand between two graphs; -1: not such a one. */
int break_operands(Opcode opcode, int arg, int *results);
/* The `with` blocks around pc: indices of their exception entries, innermost first; -1 when another kind of block is there, or a manager of the program's own. */
enum { BREAK_MAX_WITHS = 20 };
int break_with_blocks(const Frame *root, int pc, int *entries);
bool break_has_backedge(Arena *arena, const Code *code, int pc, int end); /* [pc, end) is in a loop */
/* capture.c: symbolic execution of one frame, as far as `plan` (NULL: to its end). false: it stopped; the reason is in vm->stop_* (a break; *found says
 * what it means for the frame) or vm->exception (*raised: by the program, not by an op that refused its operands). */
/* told: the second attempt stopped for a reason of its own, which is counted as a break. */
typedef struct CaptureEnd { BreakPlan found; bool raised, told; Span span; } CaptureEnd;
bool capture_frame(Dynamo *dynamo, Entry *entry, Frame *frame, const BreakPlan *plan, CaptureEnd *end);
#endif
