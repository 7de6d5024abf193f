/* Rewrite: what the files that write the replacement code share. See rewrite.c (the code as a whole), emit.c (values), effects.c (side effects),
 * resume.c (continuations).
 *
 * Arguments of instructions while the code is being written: a local of the user's has the user's index, the k-th added local is -(k + 1), a cell or
 * free variable has the user's index; rewrite_finish gives all of them their places. Jumps count from the start of `instrs`, which the prologue and
 * the call of the graph are put before. */
#ifndef VITRINE_DYNAMO_REWRITE_H
#define VITRINE_DYNAMO_REWRITE_H
#include "dynamo/breaks.h"
#include "dynamo/capture.h"

typedef struct Rewrite {
    Capture *capture; VM *vm; Arena *arena;
    VEC(Instr) instrs;
    VEC(ExceptionEntry) exceptions;
    VEC(Const) consts;
    VEC(const char *) names;
    VEC(Node *) outputs;            /* graph outputs, in order; the tensor of outputs[i] is in output_tensors[i] */
    VEC(Tensor *) output_tensors;
    Map *built;                     /* object made in the frame -> added local + 1 */
    int locals;                     /* locals added behind the user's; the first is the tuple of the graph's outputs */
    int depth, max_depth;
    Span span;                      /* given to what is emitted */
    bool failed;
} Rewrite;

/* emit.c */
void emit(Rewrite *r, Opcode opcode, int arg);
int emit_store_new(Rewrite *r);                                          /* the top goes into a new local, which is returned */
void emit_load(Rewrite *r, int local);
void emit_held_object(Rewrite *r, Value value);
void emit_plain(Rewrite *r, Value v);                                    /* None, bool, int, float, … */
void emit_load_attr(Rewrite *r, const char *name);
void emit_subscript(Rewrite *r, Value key);
void emit_source(Rewrite *r, const Source *source);
void emit_value(Rewrite *r, Value v);
void emit_built(Rewrite *r, Value *items, int count, Opcode build);
void emit_dict_items(Rewrite *r, Dict *dict);                            /* as a plain dict */
void emit_set_items(Rewrite *r, Dict *dict);
void emit_call_builtin(Rewrite *r, const char *name, BuiltinFn fn, int nargs); /* PUSH_NULL, the builtin: its nargs arguments and CALL follow */
int rewrite_name(Rewrite *r, const char *name);
int rewrite_const(Rewrite *r, Const c);
const char *rewrite_intern(Rewrite *r, const char *text);
void rewrite_refuse(Rewrite *r, Value v);                                /* v cannot be rebuilt */
int rewrite_cell_slot(const Rewrite *r, Value cell);                     /* the user's slot that holds this cell in the frame, or -1 */

/* scalars.c: numbers as tensors, and those that are drawn at each call */
void emit_scalar(Rewrite *r, const Source *source);
void emit_draws(Rewrite *r);                                             /* into the first added locals behind the graph's outputs */

/* effects.c: in order: build what changed and what is carried over, then write. */
typedef struct Effect Effect;
Effect *effects_build(Rewrite *r);
void effects_write(Rewrite *r, const Effect *effects);
bool capture_has_effects(const Capture *capture);

/* resume.c: the continuation of `code` at instruction `pc`. */
typedef struct Resume {
    const Code *original; int pc;               /* the program's own code, also when a continuation broke; slots below are its */
    int line;                                   /* of the break, for the name */
    int stack_count; const bool *stack_null;    /* stack at pc; true: NULL, not passed */
    int local_count; const int *locals;         /* the user's slots that are passed, ascending */
    int cell_count; const int *cells;           /* the user's slots whose cells are its closure, ascending */
    int with_count; const int *withs;           /* stack items that are exit methods of `with` blocks, outermost first: entered again */
    Code *code;                                 /* arguments: ___stack0 …, then the locals */
} Resume;
/* wanted: original, pc, line, stack and withs. root: the frame at the break, for what is bound and what is a cell. */
/* written: by slot, what is bound before the continuation begins beside what root has; or NULL. */
int resume_slot(const Code *code, int original);                          /* a slot of the program's own code, in this one */
const Resume *resume_at(Dynamo *dynamo, Resume wanted, const Frame *root, const bool *written);
bool *code_live_slots(Arena *arena, const Code *code, int pc);           /* by slot: may be read from pc on before it is written */
bool *code_reachable(Arena *arena, const Code *code, int pc, bool handlers); /* by instruction; handlers: also by exceptions */
int code_exception_at(const Code *code, int pc);                         /* index of the innermost entry, or -1 */
#endif
