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

typedef struct Tracer {
    VM *vm; Graph *graph;
    const Domain *former; void *former_state;
    NodeSide side; Span span; const Node *origin;   /* given to every node recorded */
    bool expand_decomposed;        /* run the bodies of DECOMPOSED rows (the decompose stage) instead of recording them */
    FrameEvaluator former_evaluator; bool former_grad; SymTable *former_syms;
} Tracer;

void trace_begin(Tracer *tracer, VM *vm, Graph *graph);
void trace_end(Tracer *tracer);
Tensor *trace_tensor(Tracer *tracer, Node *node, int output);          /* a fake tensor standing for a node's output; owned */
/* Records one op on fake tensors: infers, adds the node, links aliases; the tracing domain's `op`, without autograd. */
Value trace_op(VM *vm, const Op *op, const Arg *args, int nargs);
/* Runs a graph node's op (row, composite or decomposed body) in the current domain, with tensors given for its node arguments. Owned. */
Value vm_run_op(VM *vm, const Op *op, const Arg *args, int nargs);
/* Evaluates a formula of a row (an expression of the language in which every op row and the helpers of torch/decompositions.py are in scope by bare
 * name) with named values, in the current domain. Compiled once for each (op, formula). values are borrowed; owned result. */
Value vm_run_formula(VM *vm, const Op *op, const char *formula, const char *const *names, const Value *values, int count);
#endif
