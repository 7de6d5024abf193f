/* Pieces: a captured graph with numbers that only its run knows (dynamo/unbacked.h), compiled piece by piece.
 *
 *     x * 2 -> nonzero -> i * 3       ->   [0/0.1] x * 2;  nonzero by itself, u0 is read;  [0/0.2] i * 3, with u0 as a size given at its start
 *
 * A piece is an entry of its own ("0/0.1"), made of its whole's memory: everything that can be looked at of an entry can be of a piece. What the compile
 * assumed of an unbacked number is looked at when the number is known; where it does not hold, the rest runs op by op.
 * Invariant: a graph that changes a tensor in place is not cut: it runs op by op. */
#ifndef VITRINE_PIECES_H
#define VITRINE_PIECES_H
#include "pipeline.h"

bool pieces_needed(const Entry *entry);
void pieces_compile(Entry *entry);                       /* fills entry->pieces */
int pieces_count(const Entry *entry);                     /* 0: it is no such entry */
Entry *pieces_at(const Entry *entry, int index);         /* the compiled ones, in their order */
Value pieces_run(Entry *entry, Value *args, int nargs);  /* as compiled_run */

/* graph_run.c: a run of a captured graph on real tensors, node by node. */
typedef struct GraphRun { Entry *entry; VM *vm; Arena *scratch; Map *values; const int64_t *sizes; int64_t *late; bool *known /* by entry->unbacked */; VEC(Value) owned; bool grad; Autocast autocast; Value *args; } GraphRun;
GraphRun graph_run_begin(Entry *entry, Value *args, int nargs);
bool graph_run_node(GraphRun *run, const Node *node);    /* and reads the numbers that it tells */
void graph_run_keep(GraphRun *run, const Node *node, Value value); /* takes the reference */
Value graph_run_value(const GraphRun *run, const void *node);      /* borrowed */
void graph_run_read(GraphRun *run, const Node *node);
bool graph_run_size(GraphRun *run, Dim d, int64_t *value);         /* false: it is not known yet */
Value graph_run_end(GraphRun *run, bool ok);
#endif
