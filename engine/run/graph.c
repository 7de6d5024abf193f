/* Graph: a static plan's launches recorded once and replayed as one CUDA graph.
 *
 * In: a plan whose addresses are set for this run. Out: *done when a graph did the run.
 * The first run of a plan is always launched step by step (it warms what the library allocates); later ones are recorded on a side stream under the
 * addresses they used. Inputs and outputs that move bring another recording, up to a few: a caching allocator hands out the same blocks in turn. A plan
 * that keeps moving is left to ordinary launches.
 *
 * Invariant: a graph is replayed only with all the addresses that it was recorded with, so it writes only what this run was given (decisions 20). */
#include "run/planstate.h"
#ifdef HAVE_CUDA_H
#include "run/cuda_api.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_GRAPHS = 4, MOST_RECORDINGS = 16, FEWEST_STEPS = 2 };

typedef struct Recording { CUgraphExec graph; void **address; } Recording;
struct GraphCache { int runs, recordings, count; bool off; Recording at[MOST_GRAPHS]; };

static bool recordable(const PlanState *state) {
    int steps = state->plan->launches.count;
    for (int i = 0; i < steps; i++)
        if (state->steps[i].launch->kind == LAUNCH_EXTERN_OP) return false; /* it waits for the card */
    return state->is_static && state->loose_count == 0 && steps >= FEWEST_STEPS;
}

static GraphCache *cache_of(PlanState *state) {
    if (state->graphs) return state->graphs;
    state->graphs = ARENA_NEW(state->arena, GraphCache);
    state->graphs->off = !recordable(state);
    return state->graphs;
}

static size_t address_bytes(const PlanState *state) { return (size_t)state->plan->buffers.count * sizeof *state->address; }

static bool record_steps(Runtime *runtime, PlanState *state, CUstream side, OpError *error) {
    for (int i = 0; i < state->plan->launches.count; i++)
        if (!step_run(runtime, state, &state->steps[i], side, error)) return false;
    return true;
}

static bool side_stream(Cuda *cuda, Card *card, OpError *error) {
    return card->side || CUDA_CALL(cuda, error, cuStreamCreate, (&card->side, CU_STREAM_NON_BLOCKING));
}

static bool record(Runtime *runtime, PlanState *state, Recording *recording, OpError *error) {
    Card *card = cuda_card(runtime, state->plan->device.index, error);
    Cuda *cuda = runtime->cuda;
    CUgraph graph = NULL;
    if (!card || !side_stream(cuda, card, error) || !CUDA_CALL(cuda, error, cuStreamBeginCapture, (card->side, CU_STREAM_CAPTURE_MODE_RELAXED))) return false;
    bool good = record_steps(runtime, state, card->side, error);
    good = CUDA_CALL(cuda, error, cuStreamEndCapture, (card->side, &graph)) && good;
    good = good && CUDA_CALL(cuda, error, cuGraphInstantiate, (&recording->graph, graph, 0));
    if (graph) cuda->cuGraphDestroy(graph);
    if (good) recording->address = arena_copy(state->arena, state->address, address_bytes(state));
    return good;
}

/* The oldest makes room: recordings are used in turn, and one that is not used is as good as another. */
static Recording *place_for_one(Cuda *cuda, GraphCache *cache) {
    if (cache->count < MOST_GRAPHS) return &cache->at[cache->count++];
    cuda->cuGraphExecDestroy(cache->at[0].graph);
    memmove(cache->at, cache->at + 1, (MOST_GRAPHS - 1) * sizeof *cache->at);
    return &cache->at[MOST_GRAPHS - 1];
}

static Recording *find_recording(PlanState *state, GraphCache *cache) {
    for (int i = 0; i < cache->count; i++)
        if (memcmp(cache->at[i].address, state->address, address_bytes(state)) == 0) return &cache->at[i];
    return NULL;
}

bool graph_replay(Runtime *runtime, PlanState *state, bool *done, OpError *error) {
    GraphCache *cache = cache_of(state);
    OpError ignored;
    *done = false;
    if (cache->off || cache->runs++ == 0) return true;
    Recording *found = find_recording(state, cache), fresh = {0};
    if (!found) {
        cache->off = cache->recordings++ >= MOST_RECORDINGS || !record(runtime, state, &fresh, &ignored);
        if (cache->off) return true;
        found = place_for_one(runtime->cuda, cache);
        *found = fresh;
    }
    *done = true;
    return CUDA_CALL(runtime->cuda, error, cuGraphLaunch, (found->graph, NULL));
}

void graph_cache_free(PlanState *state) {
    GraphCache *cache = state->graphs;
    for (int i = 0; cache && state->runtime && i < cache->count; i++) state->runtime->cuda->cuGraphExecDestroy(cache->at[i].graph);
    state->graphs = NULL;
}
#else
bool graph_replay(Runtime *runtime, PlanState *state, bool *done, OpError *error) {
    (void)runtime, (void)state, (void)error;
    *done = false;
    return true;
}

void graph_cache_free(PlanState *state) { state->graphs = NULL; }
#endif
