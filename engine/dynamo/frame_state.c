/* Frame state: sizes, strides and numbers that a code object's inputs had in its compiles so far. See shapes.h.
 *
 *     compile 1: L['x'] is [4, 3]      compile 2: L['x'] is [8, 3]      ->  dim 0 is dynamic from now on
 *
 * A stride that is the product of an inner dim's size and stride is remembered as that, so that a changed size does not make strides dynamic. */
#include "dynamo/shapes.h"
#include <string.h>

typedef struct FrameStates { VEC(FrameState *) all; } FrameStates;

FrameState *frame_state(CodeCache *cache, Arena *arena, const char *name) {
    if (!cache->shapes) cache->shapes = ARENA_NEW(arena, FrameStates);
    FrameStates *states = cache->shapes;
    for (int i = 0; i < states->all.count; i++)
        if (!strcmp(states->all.at[i]->name, name)) return states->all.at[i];
    FrameState *state = ARENA_NEW(arena, FrameState);
    state->name = arena_strdup(arena, name);
    state->rank = -1;
    vec_push_in(arena, &states->all, state);
    return state;
}

void *frame_states_copy(Arena *arena, const CodeCache *cache) {
    const FrameStates *states = cache->shapes;
    if (!states) return NULL;
    FrameStates *copy = ARENA_NEW(arena, FrameStates);
    for (int i = 0; i < states->all.count; i++) vec_push_in(arena, &copy->all, (FrameState *)arena_copy(arena, states->all.at[i], sizeof(FrameState)));
    return copy;
}

static int64_t remembered_stride(const Meta *meta, int i) {
    for (int d = 0; d < meta->rank; d++)
        if (d != i && meta->strides[d] <= meta->strides[i] && meta->sizes[d] > 1 && meta->strides[i] == meta->sizes[d] * meta->strides[d]) return -(d + 1);
    return meta->strides[i];
}

void frame_state_see_tensor(FrameState *state, const Meta *meta) {
    bool first = state->rank < 0;
    if (!first && state->rank != meta->rank) state->all_dynamic = true;
    if (first) state->rank = meta->rank;
    if (state->rank != meta->rank) return;
    for (int i = 0; i < meta->rank; i++) {
        int64_t stride = remembered_stride(meta, i);
        if (!first && state->sizes[i] != meta->sizes[i] && !state->size_dynamic[i]) state->size_dynamic[i] = true, state->former[i] = state->sizes[i];
        if (!first && state->strides[i] != stride) state->stride_dynamic[i] = true;
        state->sizes[i] = meta->sizes[i];
        state->strides[i] = stride;
    }
}

static bool same_number(Value a, Value b) { return a.tag == b.tag && (a.tag == V_INT ? a.i == b.i : memcmp(&a.f, &b.f, sizeof a.f) == 0); }

void frame_state_see_number(FrameState *state, Value number) {
    if (state->has_number && !same_number(state->number, number)) {
        state->number_dynamic = true;
        if (state->number.tag == V_INT) state->former_number = state->number.i;
    }
    state->has_number = true;
    state->number = number;
}
