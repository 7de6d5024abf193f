/* Tracing: runs language code over fake tensors and records what it does as graph nodes.
 *
 *     Tracer tracer; trace_begin(&tracer, vm, graph);           // vm->domain is now the tracing domain
 *     Value y = trace_call(&tracer, function, args, nargs);     // nodes appear in graph
 *     trace_end(&tracer);                                       // the former domain is back
 *
 * Used by the joint graph (the forward's nodes, then the tape's backward), by decompositions, and to find the shape of a language-side body. */
#ifndef VITRINE_VM_TRACING_H
#define VITRINE_VM_TRACING_H
#include "ir/graph.h"
#include "vm/autograd.h"
#include "vm/torch_state.h"

typedef struct Tracer {
    VM *vm; Graph *graph;
    const Domain *former; void *former_state;
    NodeSide side; Span span; const Node *origin;   /* given to every node recorded */
    bool expand_decomposed;        /* run the bodies of DECOMPOSED rows (the decompose stage) instead of recording them */
    const char *keep_whole;        /* but not of these: names with commas between, or NULL */
    FrameEvaluator former_evaluator; bool former_grad; SymTable *former_syms;
    Object *marker;                /* the VM's newest object when the trace began: what is newer was made by it. Held */
    Autocast former_autocast;      /* off while a graph is built: casts are nodes. Capture turns it on again */
} Tracer;

/* What a trace changes in the VM: kept before stages that may fail in its middle, put back after. */
typedef struct TraceState {
    const Domain *domain; void *domain_state; FrameEvaluator evaluator; Frame *frame; SymTable *syms; Autocast autocast;
    bool grad_enabled; int depth, in_body;
} TraceState;
TraceState trace_state(const VM *vm);
void trace_state_restore(VM *vm, const TraceState *state);

void trace_begin(Tracer *tracer, VM *vm, Graph *graph);
void trace_end(Tracer *tracer);
Tensor *trace_tensor(Tracer *tracer, Node *node, int output);          /* a fake tensor standing for a node's output; owned */
/* tracing_effects.c: hooks of the tracing domain for code of the program. */
/* In capture: what an op is made of asks for a tensor's value or has a shape that depends on one; stops. what: the op, or NULL. false: not in capture. */
bool tracing_stops_at_data(VM *vm, const char *what);
bool tracing_may_call(VM *vm, Value callee);
bool tracing_will_mutate(VM *vm, Object *object);
bool tracing_store_global(VM *vm, Frame *frame, const char *name, Value value);
Value tracing_load_global(VM *vm, Frame *frame, const char *name);
/* Records one op on fake tensors: infers, adds the node, links aliases; the tracing domain's `op`, without autograd. */
Value trace_op(VM *vm, const Op *op, const Arg *args, int nargs);
/* Runs a graph node's op (row, composite or decomposed body) in the current domain, with tensors given for its node arguments. Owned. */
Value vm_run_op(VM *vm, const Op *op, const Arg *args, int nargs);
/* The same, with the casts of the autocast that is on: of a node of a captured graph. autocast.c */
Value vm_run_op_casting(VM *vm, const Op *op, const Arg *args, int nargs);
/* Evaluates a formula of a row (an expression of the language in which every op row and the helpers of torch/decompositions.py are in scope by bare
 * name) with named values, in the current domain. Compiled once for each (op, formula). values are borrowed; owned result. */
Value vm_run_formula(VM *vm, const Op *op, const char *formula, const char *const *names, const Value *values, int count);
#endif
