/* Replay: runs a graph again, node by node, over fake tensors in the tracing domain, so that a new graph is recorded.
 *
 * joint, functionalize and decompose are replays that differ in what they do at a node.
 *
 *     Replay r; replay_begin(&r, c, from, "decomposed");
 *     for (int i = 0; i < from->nodes.count; i++) replay_node(&r, from->nodes.at[i]);
 *     return replay_end(&r);
 *
 * Invariant: every value in `values` is a fake Tensor (or a tuple of them) whose node is in `to`. */
#ifndef VITRINE_AOT_REPLAY_H
#define VITRINE_AOT_REPLAY_H
#include "aot/aot.h"
#include "vm/tracing.h"

typedef struct Replay { Compile *c; const Graph *from; Graph *to; Tracer tracer; Map *values; VEC(Value *) owned; } Replay;

void replay_begin(Replay *replay, Compile *c, const Graph *from, const char *stage);
/* Value of a node of `from`: borrowed. */
Value replay_value(const Replay *replay, const Node *node);
Tensor *replay_tensor(const Replay *replay, const Node *node);
void replay_set(Replay *replay, const Node *node, Value value);          /* moves the reference in; replaces an older one */
/* Arguments of a node with its nodes replaced by their fake tensors, in the compile's arena. */
const Arg *replay_args(const Replay *replay, const Node *node);
/* Inputs and constants are made anew; calls run through the tracing domain; getitems select. */
void replay_node(Replay *replay, const Node *node);
/* Checks an owned result: on an exception the compile fails with its text at the node's span. */
Value replay_check(Replay *replay, const Node *node, Value result);
Node *replay_result_node(Replay *replay, Tensor *tensor);                /* the node that yields a fake tensor */
Graph *replay_end(Replay *replay);
/* Runs a formula of a row (its inverse) with the row's arguments and extra named values; owned Tensor. */
Value replay_formula(Replay *replay, const Op *op, const char *formula, const Arg *args, int nargs, const char *extra, Value extra_value);
#endif
