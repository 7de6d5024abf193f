/* Loop verification: what must hold between passes. In: lowered loops or a schedule. Out: true, or what is wrong with the first that is.
 *
 * Checked: axes used are the loop's own; what is read was stored by an earlier loop or comes from the caller; indices stay in their buffer where
 * ranges decide it; each stored buffer has its writer. */
#include "ir/loop.h"

typedef struct Verify { const Lowered *l; const Axis *axes; int axis_count; int last_writer; const char *error; bool only_before; } Verify;

static void say(Verify *v, const char *format, const char *name) {
    if (!v->error) v->error = arena_printf(v->l->arena, format, name);
}

static void check_var(const Sym *var, void *state) {
    Verify *v = state;
    if (var->var_kind != SYM_AXIS) return;
    for (int i = 0; i < v->axis_count; i++)
        if (v->axes[i].var == dim_of_sym(var)) return;
    say(v, "axis %s is not the loop's", var->name);
}

static void check_range(Verify *v, int buffer, Dim index) {
    const Buffer *b = &v->l->buffers.at[buffer].buffer;
    if (!meta_is_static(&b->meta) || meta_numel(&b->meta) == 0) return;
    /* ranges of quotients and remainders are wider than what they take: only what is outside for certain is an error */
    if (dim_low(index) != INT64_MIN && dim_low(index) >= meta_storage_span(&b->meta)) say(v, "an index runs over the end of %s", b->name);
    if (dim_high(index) != INT64_MAX && dim_high(index) < 0) say(v, "an index of %s is negative", b->name);
}

static void check_value(const Body *value, void *state) {
    Verify *v = state;
    if (value->kind == BODY_LOAD || value->kind == BODY_INDEX || value->kind == BODY_RANDOM) dim_each_var(value->index, check_var, v);
    if (value->kind != BODY_LOAD) return;
    check_range(v, value->buffer, value->index);
    if (v->only_before && v->l->buffers.at[value->buffer].writer >= v->last_writer) say(v, "%s is read before it is written", v->l->buffers.at[value->buffer].buffer.name);
}

static bool is_empty(const Axis *axes, int count) {
    for (int i = 0; i < count; i++)
        if (axes[i].extent == 0) return true;
    return false;
}

static void verify_loop(Verify *v, const Loop *loop) {
    if (is_empty(loop->axes, loop->axis_count)) return;
    v->axes = loop->axes;
    v->axis_count = loop->axis_count;
    v->last_writer = loop->id;
    v->only_before = true;
    if (loop->reduced) body_each(loop->reduced, check_value, v);
    for (int i = 0; i < loop->store_count; i++) {
        body_each(loop->stores[i].value, check_value, v);
        dim_each_var(loop->stores[i].index, check_var, v);
        check_range(v, loop->stores[i].buffer, loop->stores[i].index);
    }
    for (int i = 0; i < loop->accesses.count; i++) {
        const LoopBuffer *b = &v->l->buffers.at[loop->accesses.at[i].buffer];
        if (!loop->accesses.at[i].is_store && b->writer >= loop->id) say(v, "%s is read before it is written", b->buffer.name);
    }
}

bool lowered_verify(const Lowered *lowered, const char **error) {
    Verify v = {.l = lowered};
    for (int i = 0; i < lowered->loops.count && !v.error; i++) verify_loop(&v, lowered->loops.at[i]);
    *error = v.error;
    return !v.error;
}

static bool has_no_elements(const Meta *meta) {
    for (int i = 0; i < meta->rank; i++)
        if (meta->sizes[i] == 0) return true;
    return false;
}

static void verify_group(Verify *v, const Group *group, const bool *written) {
    v->axes = group->axes;
    v->axis_count = group->axis_count;
    for (int i = 0; i < group->items.count; i++) {
        const Item *item = &group->items.at[i];
        body_each(item->value, check_value, v);
        if (item->kind == ITEM_STORE) dim_each_var(item->index, check_var, v), check_range(v, item->buffer, item->index);
    }
    for (int i = 0; i < group->accesses.count; i++) {
        const Access *access = &group->accesses.at[i];
        const LoopBuffer *b = &v->l->buffers.at[access->buffer];
        bool own = has_no_elements(&b->buffer.meta); /* nothing to write: its loop makes no kernel */
        for (int k = 0; k < group->accesses.count; k++) own |= group->accesses.at[k].buffer == access->buffer && group->accesses.at[k].is_store;
        if (!access->is_store && !own && b->writer >= 0 && !written[access->buffer]) say(v, "%s is read before its kernel has run", b->buffer.name);
    }
}

bool schedule_verify(const Schedule *schedule, const char **error) {
    const Lowered *l = schedule->lowered;
    Verify v = {.l = l};
    bool *written = ARENA_ARRAY(l->arena, bool, l->buffers.count + 1);
    for (int g = 0; g < schedule->groups.count && !v.error; g++) {
        const Group *group = schedule->groups.at[g];
        if (!is_empty(group->axes, group->axis_count)) verify_group(&v, group, written);
        for (int i = 0; i < group->accesses.count; i++)
            if (group->accesses.at[i].is_store) written[group->accesses.at[i].buffer] = true;
    }
    *error = v.error;
    return !v.error;
}
