/* Capture: the symbolic domain. The frame's bytecode is run by the VM's own handlers; inputs are tracked, ops become nodes.
 *
 * What is behind an input is looked at only when the program does (Domain.force): a tensor becomes a graph input with its guard, a number or string an
 * equality guard, a container or object a *shadow*: an ordinary container or object of the language whose items are tracked in turn. All builtins
 * and methods work on shadows as they are. A shadow that was changed is written back by the rewritten code, after the graph.
 *
 * Invariant: capture never changes an object of the program; everything it reads of one is guarded. */
#ifndef VITRINE_DYNAMO_CAPTURE_H
#define VITRINE_DYNAMO_CAPTURE_H
#include "dynamo/breaks.h"
#include "dynamo/modes.h"
#include "vm/tracing.h"

typedef struct Shadow {
    Value shadow, real; const Source *source;
    bool mutated;
    Value original;                 /* a copy of the shadow's first content: what is written back is the difference */
    VEC(const char *) deleted;      /* attributes that were deleted, in order */
    bool whole;                     /* a dict: its keys are guarded, all of them and in order; until then only those that were asked for */
} Shadow;
typedef struct InputTensor { Tensor *real /* NULL: a number */, *fake; Node *node; const Source *source; bool written; /* by an op in place */ } InputTensor;
typedef struct NameWrite { Dict *dict; const char *name; Value value; } NameWrite;  /* a global as the frame leaves it; value held by the entry */
typedef struct TensorWrite { Tensor *fake; const Source *source; const char *name; Value value; } TensorWrite; /* an attribute of an input tensor (grad, one of the program's) */
typedef struct HookWrite { const Source *source; Value hook; } HookWrite;            /* x.register_hook(hook) of an input; held by the entry */
typedef struct Draw { Value builtin; const Value *args; int count; } Draw;         /* random.randint(1, 3), drawn before the graph at each call */
/* assert on a tensor, or torch._check of a relation (condition NULL; raises: what makes the message, or V_NULL): looked at after the graph */
typedef struct TensorCheck { Tensor *condition; const Const *message; Dim relation; Value raises; Span span; } TensorCheck;
typedef struct CellWrite { Cell *cell; Value value; } CellWrite;                    /* a cell of a function of the program, as the frame leaves it */

typedef struct Constant { Tensor *given, *copy; } Constant; /* copy NULL: so far it is only read */
typedef struct AutocastEntered { Node *node; Autocast before; } AutocastEntered;
typedef struct BlockModes { int depth; bool grad_enabled; int autocasts; } BlockModes; /* what was when a `with` block of the root frame was entered */

typedef struct Capture {
    Tracer tracer;                  /* first: the tracing domain's state is this */
    Dynamo *dynamo;
    VM *vm;
    Entry *entry;
    Frame *real;                    /* the program's frame, untouched */
    Frame *root;                    /* the shadow frame that is run */
    VEC(Shadow *) shadows;
    Map *by_real, *by_shadow;       /* Object* -> Shadow* */
    VEC(InputTensor) inputs;
    Map *namespaces;                /* Dict*, the __dict__ of an object that was read as a whole -> Object* */
    Map *known;                     /* Object* -> Source* */
    Map *constants;                 /* real Tensor* that no source names -> Constant* */
    VEC(NameWrite) globals;
    VEC(CellWrite) cells;
    VEC(TensorWrite) tensors;
    VEC(HookWrite) hooks;
    Map *hooked;                    /* Node* that register_hook put around a tensor -> the List of its hooks */
    VEC(Draw) draws;
    VEC(TensorCheck) checks;
    VEC(Node *) boxes;              /* by index of SOURCE_NUMBER: numbers of the graph that are constants of this compile */
    Map *box_by_value;              /* a float's bits -> its box's node */
    VEC(Node *) looked_at;          /* of them, those that the running instruction took the values of */
    VEC(Tensor *) scalars;          /* zero-dimensional tensors of the graph that stand for Python floats and bools (unbacked.h) */
    int unbacked_count;
    Modes modes;                    /* as the frame found them */
    Modes noted;                    /* as the graph's nodes have them so far: grad_enabled and autocast */
    VEC(AutocastEntered) autocasts; /* entered and not left, outermost first */
    VEC(BlockModes) blocks;
    bool casting;                   /* an op is run for what it gives, not for the graph */
    const BreakPlan *plan;          /* where this attempt ends, or NULL: at the end of the frame */
    bool at_plan, op_failed;        /* op_failed: an op refused its operands (an error of shapes or dtypes, not one that the program raises) */
    const char *cause;              /* the kind of a stop inside what an op runs; NULL: none */
    bool in_generator;
    int op_count;                   /* ops recorded by the root frame and what it called */
    bool overfull;                  /* as many nodes as a graph may have: the frame is left to eager as a whole */
    bool exhausting, told;          /* a generator is run to its end (iterators.c); the stop that ended the second attempt is one that is told */
    int checkpoint, checkpoints;    /* the checkpoint region that runs now (0: none); how many began so far */
    Span raised_at;                 /* the last raise statement that was run */
    int64_t steps;                  /* instructions of the root frame begun */
    BreakPoint statement;
    BreakRegion region;             /* the comprehension that the root frame runs, or ran last */
    InstructionHook outer_hook; void *outer_state;
} Capture;

static inline Capture *capture_of(VM *vm) { return vm->domain_state; }
Capture *capture_now(VM *vm);           /* the capture whose domain is the current one, or NULL */
const Source *capture_source(Capture *capture, SourceKind kind, const Source *base, const char *name, int index, Value key);
void capture_guard(Capture *capture, GuardKind kind, const Source *source, Value expected, const char *why);
/* A value read from `source`, not yet looked at; owned. */
Value capture_track(Capture *capture, Value value, const Source *source);
Shadow *capture_shadow(Capture *capture, Value object);                  /* NULL: no shadow */

/* shadow.c */
Shadow *shadow_add(Capture *capture, Value shadow, Value real, const Source *source); /* takes the reference of `shadow` */
Value capture_force(VM *vm, Tracked *tracked);
/* An input that is a key of a dict of the program's: the program's own tensor, which it then has to be in every call. */
Value capture_key(VM *vm, Value tensor);
Value capture_force_keyed(VM *vm, Tracked *tracked);
Value capture_type_only(VM *vm, Tracked *tracked);
void capture_looked_up(VM *vm, Dict *dict, Value key, bool found);
void capture_dict_whole(Capture *capture, Shadow *shadow);               /* the program depends on all keys of a dict */
void capture_drop_lookups(Capture *capture);                             /* at the end: guards of keys whose values are guarded anyway */
/* Fake for a tensor that no source names; copied: the program, an alias or a change in place may get hold of it. */
Tensor *capture_constant(Capture *capture, Tensor *real, bool copied);
/* scope.c: attributes, globals, cells, mutation, calls */
Value capture_load_attr(VM *vm, Value object, const char *name);
Value capture_load_global(VM *vm, Frame *frame, const char *name);
Value capture_load_cell(VM *vm, Cell *cell);
bool capture_store_cell(VM *vm, Cell *cell, Value value);
bool capture_store_global(VM *vm, Frame *frame, const char *name, Value value);
void capture_know_cells(Capture *capture, const Function *function, const Source *source); /* its closure's; source NULL: the captured function itself */
Value capture_load_tensor_attr(VM *vm, Tensor *tensor, const char *name);
int capture_store_tensor_attr(VM *vm, Tensor *tensor, const char *name, Value value);
void capture_compared(VM *vm, Value a, Value b);
bool capture_will_mutate(VM *vm, Object *object);
bool capture_delete_attr(VM *vm, Object *object, const char *name);
bool shadow_deleted(const Shadow *shadow, const char *name);
bool capture_may_call(VM *vm, Value callee);
bool capture_is_pythons(VM *vm, Value builtin);                          /* one of Python's own functions: print, id … */
/* The object whose namespace this dict is, or V_NULL; and whether the call that frame is about to make takes one where Dynamo cannot (vm_stop). */
Value capture_namespace_owner(Capture *capture, Value dict);
bool capture_calls_on_namespace(Capture *capture, const Frame *frame);
Value capture_identity(Capture *capture, Value object);                  /* id(object): of the program's own, guarded; V_NULL: of another */
bool capture_exhausting_stop(VM *vm);                                    /* iterators.c: a change while a generator is run to its end: stops */
/* computed.c: numbers that follow from symbolic sizes. V_NULL: none of these */
Value capture_arithmetic(VM *vm, int binary_op, Value a, Value b);
Value capture_number_call(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames);
/* scalars.c: numbers as tensors */
bool capture_float_stays(Capture *capture, const Tracked *tracked);        /* a float that changes from call to call: guarded by its type only */
void capture_operands(VM *vm, int op, Value *a, Value *b);
/* hooks.c: t.register_hook(hook) whose handle nobody keeps; owned. V_NULL: not taken, the call ends the graph. */
Value capture_register_hook(Capture *capture, Value *args, int nargs);
Value capture_unchanged(VM *vm, int op, Value a, Value b);
Value capture_computes(VM *vm, int op, Value a, Value b);
Value capture_replace_call(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames);
bool capture_modes_changed(const Capture *capture);
/* rewrite.c: the code that calls the graph, replays side effects and rebuilds the result. false: a value cannot be rebuilt (vm_stop). */
bool capture_rewrite(Capture *capture, Value result);
/* … or goes on as the plan says, from the state of the root frame. */
bool capture_rewrite_break(Capture *capture);
#endif
