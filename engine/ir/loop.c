/* Loop: helpers over loops and groups. In: loops made by lowering. Out: their accesses, volumes and sizes in bytes.
 *
 *     loop_collect_accesses(loop, arena);
 *     for (int i = 0; i < loop->accesses.count; i++) use(loop->accesses.at[i]);
 *
 * Invariant: a loop's accesses name each element expression once. */
#include "ir/loop.h"

typedef struct Collect { Loop *loop; Arena *arena; } Collect;

static void access_add(Collect *collect, int buffer, Dim index, bool is_store) {
    AccessList *list = &collect->loop->accesses;
    for (int i = 0; i < list->count; i++)
        if (list->at[i].buffer == buffer && list->at[i].index == index && list->at[i].is_store == is_store) return;
    Access access = {buffer, index, is_store, true};
    vec_push_in(collect->arena, list, access);
}

static void collect_value(const Body *value, void *state) {
    Collect *collect = state;
    if (value->kind == BODY_LOAD) access_add(collect, value->buffer, value->index, false);
    if (value->kind == BODY_PRIM) collect->loop->flops += prim_info[value->prim].flops;
    if (value->kind == BODY_RANDOM) collect->loop->flops += 60;
}

static void collect_loaded(const Sym *var, void *state) {
    if (var->var_kind == SYM_LOADED) body_each(var->payload, collect_value, state);
}

void loop_collect_accesses(Loop *loop, Arena *arena) {
    Collect collect = {loop, arena};
    loop->flops = loop->reduces ? 1 : 0;
    if (loop->reduced) body_each(loop->reduced, collect_value, &collect);
    for (int i = 0; i < loop->store_count; i++) {
        if (loop->stores[i].value) body_each(loop->stores[i].value, collect_value, &collect);
        dim_each_var(loop->stores[i].index, collect_loaded, &collect);
        access_add(&collect, loop->stores[i].buffer, loop->stores[i].index, true);
    }
}

Dim axes_volume(SymTable *syms, const Axis *axes, int count) {
    Dim volume = 1;
    for (int i = 0; i < count; i++) volume = dim_mul(syms, volume, axes[i].extent);
    return volume;
}

int64_t hint_volume(const Axis *axes, int count) {
    int64_t volume = 1;
    for (int i = 0; i < count; i++) volume *= dim_hint(axes[i].extent);
    return volume;
}

int64_t buffer_hint_bytes(const LoopBuffer *buffer) {
    const Meta *meta = &buffer->buffer.meta;
    int64_t bytes = dtype_size(meta->dtype);
    for (int i = 0; i < meta->rank; i++) bytes *= dim_hint(meta->sizes[i]);
    return bytes;
}
