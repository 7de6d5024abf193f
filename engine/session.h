/* Session: what is behind engine.h. Only the files at the top of engine/ see this. */
#ifndef VITRINE_SESSION_H
#define VITRINE_SESSION_H
#include "engine.h"
#include "pipeline.h"

struct Session {
    Arena *arena;                   /* session */
    Arena *command;                 /* one command's strings; reset by session_collect */
    Interner *names;
    LangSession lang;
    Failure failure;
    int exit_code;                 /* of the last sys.exit */
    OpTable *ops;
    Runtime *runtime;
    VM *vm;
    Dynamo *dynamo;
    Policy policy;
    SessionOptions options;
    VEC(SourceFile *) files;
    int command_number;
    int64_t eager_launches, eager_bytes; /* counted by the executors */
    struct Stepper *stepper;       /* step.h: the call that is stepped, or NULL */
    VEC(LineBreakFacts) line_breaks;
    struct EagerPlans *eager_plans; /* of single ops on a card: see eager.h */
};

/* Evaluates a CALL text ("f(x, 2)") in two parts: the callee and its arguments, so that it can be run eagerly or compiled. */
typedef struct CallParts { Value callee; Value *args; int nargs; Tuple *kwnames; Value kwnames_value; } CallParts;
bool session_call_parts(Session *session, const char *text, CallParts *parts);
/* The same with names bound to values (borrowed), as in f(torch.ones(n)). */
bool session_call_parts_with(Session *session, const char *text, const char *const *names, const Value *values, int count, CallParts *parts);
void session_call_release(Session *session, CallParts *parts);
bool session_device(const char *text, Device *device);   /* "cpu", "cuda", "cuda:1"; NULL is cpu; false: none of these */
/* graph_run.c: the captured graph of an entry on real tensors, op by op (backend "eager"). args as compiled_run's. */
Value graph_run(Entry *entry, Value *args, int nargs);
/* Prints a pending exception or failure to notes. */
void session_report(Session *session);
void session_note(Session *session, const char *text);

/* eager_cuda.c: ops on cuda tensors through single-op kernels of the generator. */
bool eager_cuda_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error);
/* The plan that an op would have on a card, from arguments of any device; not loaded (no card needed). NULL with *error. */
const Plan *eager_cuda_plan(Session *session, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const char **error);
int eager_cuda_plans(const Session *session);            /* plans made so far: one for each class of calls */
void eager_cuda_close(Session *session);
/* eager_warm.c: session_warm with a program of the caller's. */
bool session_warm_program(Session *session, const char *text, Text *report);
#endif
