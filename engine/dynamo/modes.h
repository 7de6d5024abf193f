/* Modes: the session-wide settings that change what a frame means: guarded when a frame is captured, set again by rewritten code when it changed them. */
#ifndef VITRINE_DYNAMO_MODES_H
#define VITRINE_DYNAMO_MODES_H
#include "vm/torch_library.h"
#include "vm/torch_state.h"

/* The last three cannot be changed in a captured frame. */
typedef struct Modes { bool grad_enabled, inference; DType default_dtype; Autocast autocast; bool deterministic, tf32; int threads; } Modes;

static inline Modes modes_now(const VM *vm) { 
    return (Modes){vm->grad_enabled, vm->inference, vm->default_dtype, vm->torch->autocast, vm->torch->deterministic, torch_allows_tf32((VM *)(uintptr_t)vm), vm->context.threads};
}

static inline void modes_set(VM *vm, const Modes *modes) {
    vm->grad_enabled = modes->grad_enabled;
    vm->inference = modes->inference;
    vm->default_dtype = modes->default_dtype;
    vm->torch->autocast = modes->autocast;
}

static inline bool autocast_equal(const Autocast *a, const Autocast *b) {
    for (int kind = 0; kind < 2; kind++)
        if (a->enabled[kind] != b->enabled[kind] || (a->enabled[kind] && a->dtype[kind] != b->dtype[kind])) return false;
    return true;
}

static inline bool modes_equal(const Modes *a, const Modes *b) {
    return a->grad_enabled == b->grad_enabled && a->inference == b->inference && a->default_dtype == b->default_dtype && autocast_equal(&a->autocast, &b->autocast);
}

/* Are the modes these? */
static inline bool modes_hold(const VM *vm, const Modes *modes) {
    return vm->grad_enabled == modes->grad_enabled && vm->default_dtype == modes->default_dtype && vm->inference == modes->inference &&
           vm->torch->deterministic == modes->deterministic && vm->context.threads == modes->threads && torch_allows_tf32((VM *)(uintptr_t)vm) == modes->tf32 &&
           autocast_equal(&vm->torch->autocast, &modes->autocast);
}
#endif
