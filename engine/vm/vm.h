/* VM: runs bytecode in a domain. One a session; nothing is global.
 *
 *     VM *vm = vm_new(arena, &setup);
 *     Value result = vm_run_statement(vm, code, main_module->dict);
 *     if (value_is_error(result)) vm_print_exception(vm, &text);
 *
 * Invariant: between two calls from outside, the frame stack is empty and `exception` is V_NULL. */
#ifndef VITRINE_VM_VM_H
#define VITRINE_VM_VM_H
#include "op/op.h"
#include "trace/policy.h"
#include "vm/domain.h"

struct Frame {
    Frame *back;
    Function *function;            /* borrowed; NULL for module statements and class bodies */
    const Code *code;
    Dict *globals;
    Dict *locals;                  /* module and class bodies; NULL in functions */
    Value *fast;                   /* localsplus, then the value stack; owned */
    int sp;                        /* index of the next free slot of `fast` */
    int pc;                        /* next instruction */
    Tuple *kwnames;                /* set by KW_NAMES for the next CALL; borrowed from consts */
    Value generator;               /* the generator it belongs to, or NULL */
    struct Source *source;         /* dynamo: where its function came from */
    void *state;                   /* dynamo: per-frame data */
    const Value *consts;           /* the code's constants as values; filled in by frame_run */
};

/* PEP 523: called instead of running a function's frame, after arguments are bound. The default is frame_run. */
typedef Value (*FrameEvaluator)(VM *vm, Frame *frame, void *state);

/* How an op is run on real tensors of one device; injected by engine.c. outs have storage allocated by the VM from inferred metas. */
typedef struct Executor {
    void *state;
    bool (*run)(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error);
    bool runs_bodies;               /* rows with a body in the language (softmax, layer norm) come whole, not op by op */
} Executor;

/* Called before each instruction when set (stepping, copies of the frame): frame->pc is the instruction about to run. false: VALUE_ERROR
 * is returned from frame_run as after vm_stop, or the pending exception is raised there. */
typedef bool (*InstructionHook)(VM *vm, Frame *frame, void *state);

typedef struct VMLimits { int recursion; int64_t steps; int64_t memory; } VMLimits;

/* write with length 0: what is held back goes out now (flush). */
typedef struct Output { void *state; void (*write)(void *state, const char *text, size_t length); } Output;

struct VM {
    Arena *arena;
    LangSession *lang;
    OpTable *ops;
    struct Runtime *runtime;       /* run/runtime.h: storage, devices */
    Executor executors[2];         /* by DeviceKind */
    Output out, notes;             /* stdout, stderr of the program */
    Frame *frame;                  /* innermost */
    const Domain *domain;
    void *domain_state;
    const struct Op *open_leaf;    /* a function of the library that is run as it is, though the domain records such as one node */
    FrameEvaluator evaluator; void *evaluator_state;
    InstructionHook instruction_hook; void *instruction_state;
    Value exception;               /* pending exception instance, or V_NULL */
    Value handled;                 /* exception being handled (sys.exc_info), for bare raise and chaining */
    bool stopped;                  /* capture gave up: V_ERROR without an exception; see stop_* */
    char stop_kind[32]; char stop_text[512]; Span stop_span;
    volatile int *interrupt;       /* set by SIGINT; polled between instructions */
    int depth; VMLimits limits;
    bool grad_enabled, inference; DType default_dtype; Device default_device; bool deterministic;
    OpContext context;             /* generator, default dtype, threads: for infer and kernels */
    Dict *modules; Dict *builtins; /* sys.modules, builtins namespace */
    ModuleObject *main;
    Class *classes[OBJ_TYPE_COUNT], *class_object, *class_type, *class_none, *class_bool, *class_int, *class_float, *class_ellipsis, *class_notimplemented, *class_parameter;
    Dict *exceptions;              /* name -> class */
    Object objects;                /* head of the ring of all objects */
    int64_t object_count;
    uint64_t next_sequence;        /* autograd order */
    Span span;                     /* of the instruction being run: where a tensor was made */
    struct VMPrivate *own;
    uint64_t dict_changes;         /* to all dicts so far */
    uint64_t guard_check;          /* number of the check of guards that runs, or ran last */
    void *dynamo;                  /* the session's Dynamo (dynamo/dynamo.h): torch.compile finds it here */
    struct TorchState *torch;      /* vm/torch_state.h: print options, autocast, formulas of rows, method tables */
};

typedef struct VMSetup { LangSession *lang; OpTable *ops; struct Runtime *runtime; Output out, notes; volatile int *interrupt; } VMSetup;
VM *vm_new(Arena *arena, const VMSetup *setup);
void vm_close(VM *vm);
void vm_collect(VM *vm);                                             /* sweeps unreachable cycles; called at the prompt */

/* Running */
Value vm_run_statement(VM *vm, Code *code, Dict *globals);           /* a piece of a module body */
/* sys.argv; before the first import of sys. words are copied. */
void vm_set_argv(VM *vm, const char *const *words, int count);
/* The end of the program: what it still holds goes, with its finalizers (__del__, finally blocks of unfinished generators). */
void vm_finish(VM *vm);
/* Is a SystemExit pending? Then its exit status, its message (if it has one) on the notes, and it is cleared. */
bool vm_exit_status(VM *vm, int *status);
Value frame_run(VM *vm, Frame *frame);                               /* the interpreter loop; the value returned or VALUE_ERROR */
Frame *frame_new(VM *vm, Function *function, const Code *code, Dict *globals);
void frame_free(VM *vm, Frame *frame);
/* Binds arguments as Python does into frame->fast[0..argcount…); TypeError with Python's wording. */
bool frame_bind(VM *vm, Frame *frame, Value *args, int nargs, Tuple *kwnames);
Value vm_call(VM *vm, Value callee, Value *args, int nargs, Tuple *kwnames); /* args: positional, then keyword values */
Value vm_call0(VM *vm, Value callee);
Value vm_call_method(VM *vm, Value object, const char *name, Value *args, int nargs);
Value vm_call_op(VM *vm, const Op *op, Value *args, int nargs, Tuple *kwnames); /* binds to the signature, promotes through the domain */
/* Values -> Args by the signature (defaults filled in); the storage of lists is in `arena`. false: TypeError set. */
bool vm_bind_op(VM *vm, const Op *op, Value *args, int nargs, Tuple *kwnames, Arg *out, Arena *arena);
Value value_of_arg(VM *vm, const Arg *arg);                          /* owned */

static inline Value vm_force(VM *vm, Value v) { return value_is(v, OBJ_TRACKED) ? vm->domain->force(vm, (Tracked *)v.o) : v; } /* borrowed */

/* For d[key], key in d, d.get(key): borrowed. */
static inline Value vm_force_keyed(VM *vm, Value v) {
    if (!value_is(v, OBJ_TRACKED)) return v;
    return (vm->domain->force_keyed ? vm->domain->force_keyed : vm->domain->force)(vm, (Tracked *)v.o);
}

/* Protocols (arguments borrowed, need not be forced; results owned) */
Value vm_load_attr(VM *vm, Value object, const char *name);          /* interned name; AttributeError with Python's words */
Value vm_load_attr_generic(VM *vm, Value object, const char *name);  /* without the domain's hook; V_NULL when absent */
bool vm_store_attr(VM *vm, Value object, const char *name, Value value);
Value vm_binary(VM *vm, int binary_op, Value a, Value b);
Value vm_compare(VM *vm, CompareOp op, Value a, Value b);
Value vm_subscript(VM *vm, Value object, Value key);
bool vm_store_subscript(VM *vm, Value object, Value key, Value value);
Value vm_iterate(VM *vm, Value object);                              /* an OBJ_ITERATOR or OBJ_GENERATOR or instance with __next__ */
Value vm_next(VM *vm, Value iterator);                               /* V_NULL at the end */
int vm_truth(VM *vm, Value v);                                       /* 1, 0, -1 */
int vm_equal(VM *vm, Value a, Value b);                              /* 1, 0, -1 */
int vm_same_or_equal(VM *vm, Value a, Value b);                      /* the same: one object, or equal, as containers compare their items */
bool vm_hash(VM *vm, Value v, uint64_t *hash);
int vm_isinstance(VM *vm, Value v, Value class_or_tuple);
int64_t vm_length(VM *vm, Value v);                                  /* -1: error */
Value vm_repr(VM *vm, Value v);
Value vm_str(VM *vm, Value v);
bool vm_as_int(VM *vm, Value v, int64_t *out);                       /* __index__; TypeError otherwise */
int64_t class_changes(const Class *cls);                             /* of the whole mro: what was looked up in it is good while this stays */
Value vm_list_of(VM *vm, Value iterable);                            /* list(iterable) */
Value vm_import(VM *vm, const char *dotted_name, Span span);         /* a module the VM has; ImportError names the feature otherwise */

/* Errors */
Value vm_raise(VM *vm, const char *class_name, const char *format, ...) __attribute__((format(printf, 3, 4))); /* returns VALUE_ERROR */
Value vm_raise_op_error(VM *vm, const OpError *error);
Value vm_stop(VM *vm, const char *kind, Span span, const char *format, ...) __attribute__((format(printf, 4, 5))); /* capture cannot go on; returns VALUE_ERROR */
void vm_print_exception(VM *vm, Text *text);                         /* Python's traceback form, then clears it */
void vm_clear_exception(VM *vm);
void vm_note(VM *vm, Span span, const char *format, ...) __attribute__((format(printf, 3, 4))); /* a note line to stderr */
Span vm_user_span(VM *vm);                                           /* innermost span that is not in the shipped library */

/* Modules in C: adds functions to a namespace. */
typedef struct BuiltinDef { const char *name; BuiltinFn fn; int min, max; unsigned effects; } BuiltinDef;
void vm_define(VM *vm, Dict *dict, const char *qualifier, const BuiltinDef *defs, int count);
/* Reads keyword arguments of a builtin: fills out[i] for names[i] from positional and keyword values (borrowed, V_NULL when absent). */
bool vm_parse_args(VM *vm, const char *function, Value *args, int nargs, Tuple *kwnames, const char *const *names, int name_count, int required, Value *out);
#endif
