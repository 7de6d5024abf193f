/* Iterators that are half used when the graph ends: how they leave a frame, how a continuation takes them up, how their progress is replayed.
 *
 *     it = iter([1, 2, 3]); next(it); print()   ->   the continuation is given an iterator over the same list that stands at 1
 *     g = numbers(x); next(g); print()          ->   the generator is run to its end while tracing; the continuation is given its other items
 *
 * Only iterators that rewritten code made (Iterator.carried) are taken up: one that the caller made may be anywhere, so it ends the graph. */
#ifndef VITRINE_DYNAMO_ITERATORS_H
#define VITRINE_DYNAMO_ITERATORS_H
#include "dynamo/rewrite.h"

/* The shadow of an iterator of the program, borrowed, with its guards; VALUE_ERROR: it is of no kind that can be taken up (vm_stop). */
Value capture_force_iterator(Capture *capture, Value real, const Source *source);
/* Domain.advanced: an iterator gave an item. false while a generator is run to its end, if that is a change that eager would not have seen yet. */
bool capture_advanced(VM *vm, Iterator *iterator);
bool capture_sent(VM *vm, Generator *generator);
/* How many items are left; -1: of a kind that does not know. */
int64_t iterator_left(const Iterator *iterator);
bool iterator_moved(const Shadow *shadow);                               /* since the frame got it */
void emit_iterator(Rewrite *r, Value v);
void emit_generator(Rewrite *r, Value v);
void emit_subject(Rewrite *r);                                           /* what the iterator on the stack goes over, in its place */
void emit_moved(Rewrite *r, const Shadow *shadow);                       /* the real iterator goes where its shadow stands */
#endif
