/* Watch: who looks on while frames are captured, compiled and run (stepping), and who asks what the cache would say (`:try`).
 *
 *     DynamoWatch watch = {state, tell};
 *     dynamo->watch = &watch;                  // tell(state, WATCH_FRAME, entry, frame, NULL, span) …
 *
 * With a watch on, entries from before the call serve no frame, so that every capture can be seen; those made in it do.
 * To add an event: a line in WatchEvent, one watch_tell where it happens, its stop in engine/step_stop.c. */
#ifndef VITRINE_DYNAMO_WATCH_H
#define VITRINE_DYNAMO_WATCH_H
#include "base/span.h"

typedef struct Entry Entry;
typedef struct CodeCache CodeCache;
typedef struct Frame Frame;

typedef enum WatchEvent {
    WATCH_FRAME,        /* a frame is about to be captured into `entry` */
    WATCH_SERVED,       /* an entry's guards hold: it serves the frame */
    WATCH_BREAK,        /* capture stopped; text: why and what becomes of the frame */
    WATCH_EAGER,        /* the frame runs eagerly; text: why */
    WATCH_CAPTURED,     /* graph, guards and rewritten code are there; the backend is next */
    WATCH_RUN,          /* the entry's code begins to run: from here on effects happen */
    WATCH_RETURN        /* it has returned (or raised) */
} WatchEvent;

/* entry may be NULL (EAGER). frame: the program's, about to run. The callee may pause for as long as it likes. */
typedef struct DynamoWatch { void *state; void (*tell)(void *state, WatchEvent event, Entry *entry, const Frame *frame, const char *text, Span span); } DynamoWatch;

/* Called with the first frame that dynamo would look at, instead of running it; the call ends there, as after vm_stop. */
typedef struct DynamoProbe { void *state; void (*ask)(void *state, CodeCache *cache, const Frame *frame); } DynamoProbe;
#endif
