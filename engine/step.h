/* Step: a call walked instruction by instruction through capture, then stage by stage. See engine.h for what commands see of it.
 *
 * The call runs on a thread of its own, and only ever one of the two runs: at a stop the thread waits, and the VM is put back as it was before, so that
 * the prompt can go on with anything. What each stop showed is recorded; going back reads the record, nothing is run again. */
#ifndef VITRINE_STEP_H
#define VITRINE_STEP_H
#include "dynamo/capture.h"
#include "session.h"
#include <pthread.h>

typedef struct Stop {
    StepKind kind;
    Entry *entry;                   /* held by the stepper; NULL: a frame that was never captured */
    const char *function;
    const Code *code; int pc;       /* INSTRUCTION */
    const void *frame;              /* which frame, for the breaks at lines; never followed */
    int depth;                      /* inlined calls around it; other kinds: 0 */
    Span span;
    const char *text;               /* what happened, what the stage changed; NULL */
    const char *stage;              /* STAGE */
    const char **stack; int stack_count;
    StepLocal *locals; int local_count;
    int nodes, guards;              /* of the entry, so far: nodes have smaller ids (what is not used is taken out at the end), guards smaller places */
} Stop;

/* What of the VM and of Dynamo belongs to the stepped call, and is exchanged at each pause. A field that a running call changes, and a pause may find
 * changed, belongs here. */
typedef struct Machine {
    Frame *frame;
    const Domain *domain; void *domain_state;
    FrameEvaluator evaluator; void *evaluator_state;
    InstructionHook hook; void *hook_state;
    Value exception, handled;
    bool stopped; char stop_kind[32], stop_text[512]; Span stop_span;
    int depth; Span span;
    const Op *open_leaf; SymTable *syms; int in_body;
    Dim (*unbacked)(void *state, int64_t least, int64_t most); void *unbacked_state;
    Modes modes;
    bool capturing, copying, only_cached; Stance stance;
    CompileOptions options;
    Object *module; const Code *compiled_code;
    const DynamoWatch *watch;
    CodeCache **copies; int copy_count, copy_capacity, copy_frames;
    Entry **used; int used_count, used_capacity;
} Machine;

typedef struct Stepper {
    Session *session;
    Arena *arena;
    Interner *texts;                /* of stacks and locals: most are the same from stop to stop */
    const char *call;
    CallParts parts;
    const SourceFile *file;         /* of the function that was called: lines of :break and :until are its */
    DynamoWatch watch;
    Machine machine;                /* the call's while it waits, the prompt's while it runs */
    pthread_t thread; pthread_mutex_t lock; pthread_cond_t turn;
    bool started, runs, finished, abandoned; /* runs: it is the call's turn */
    Value result;
    VEC(Stop) stops; int at;        /* the one that is shown */
    int dropped;                    /* stops that were forgotten at the front */
    VEC(Entry *) entries;           /* every entry met; each holds a reference */
    StepGoal goal; int start;       /* of the run: where it is to stop, from which stop */
    int reasons;                    /* of the entry whose stages run: those already told */
    const Entry *staged;
} Stepper;

/* step.c */
bool stop_is_wanted(const Stepper *stepper, int index);
/* step_stop.c: records. The strings are the stepper's. */
void stop_instruction(Stepper *stepper, const Capture *capture, const Frame *frame);
void stop_event(Stepper *stepper, WatchEvent event, Entry *entry, const Frame *frame, const char *text, Span span);
void stop_returned(Stepper *stepper);
/* A value as the symbolic machine holds it: L['x'] (f32[4, 3]), %matmul f32[4, 2], [%y f32[2], 3], NULL. No code of the program is run. */
void value_brief(Text *text, VM *vm, const Capture *capture, Value value, int depth);
/* step_stage.c: what a stage changed. */
void stop_stage(Stepper *stepper, Entry *entry, const char *stage);
#endif
