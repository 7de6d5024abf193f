/* Group: the body of fused loops. In: member loops with their axes mapped to the group's. Out: items (reductions and stores) over one DAG of values.
 *
 *     softmax over rows:   r0 = max(x)  |  r1 = sum(exp(x - r0))  |  out = exp(x - r0) / r1       three passes over the columns
 *
 * All members are moved into one builder, so that what two of them compute alike is one value; a load of what a member stored is the value itself.
 * A store survives only when somebody outside reads it. An item's depth is the pass over the columns in which it can run.
 * Invariant: values of pass p need reductions of passes before p only. */
#include "inductor/fusing.h"
#include <string.h>

Group *group_of_loop(const Lowered *l, Arena *arena, Loop *loop) {
    (void)l;
    Group *group = ARENA_NEW(arena, Group);
    Member member = {.loop = loop, .full = true};
    int place[MAX_AXES] = {0};
    for (int kind = AXIS_PARALLEL; kind <= AXIS_REDUCE; kind++)
        for (int i = 0; i < loop->axis_count; i++)
            if ((int)loop->axes[i].kind == kind) {
                place[i] = group->axis_count;
                group->axes[group->axis_count++] = loop->axes[i];
                group->rows += kind == AXIS_PARALLEL;
            }
    for (int i = 0; i < loop->axis_count; i++) {
        group->logical[i] = place[i];
        member.to[i] = loop->axes[i].var;
    }
    vec_push_in(arena, &group->members, member);
    for (int i = 0; i < loop->accesses.count; i++) vec_push_in(arena, &group->accesses, loop->accesses.at[i]);
    return group;
}

static void merge_access(Arena *arena, Group *group, Access access) {
    for (int i = 0; i < group->accesses.count; i++) {
        Access *old = &group->accesses.at[i];
        if (old->buffer == access.buffer && old->index == access.index && old->is_store == access.is_store) return;
    }
    vec_push_in(arena, &group->accesses, access);
}

static int member_compare(const void *a, const void *b) { return ((const Member *)a)->loop->id - ((const Member *)b)->loop->id; }

void groups_merge(const Lowered *l, Arena *arena, const Alignment *a) {
    Dim from[MAX_AXES];
    int count = a->other->axis_count;
    for (int i = 0; i < count; i++) from[i] = a->other->axes[i].var;
    for (int i = 0; i < a->other->members.count; i++) {
        Member member = a->other->members.at[i];
        for (int k = 0; k < member.loop->axis_count; k++) member.to[k] = dim_substitute(l->syms, member.to[k], from, a->to, count);
        member.full = a->full;
        vec_push_in(arena, &a->base->members, member);
    }
    for (int i = 0; i < a->other->accesses.count; i++) {
        Access access = a->other->accesses.at[i];
        access.index = dim_substitute(l->syms, access.index, from, a->to, count);
        merge_access(arena, a->base, access);
    }
    qsort(a->base->members.at, (size_t)a->base->members.count, sizeof(Member), member_compare);
}

/* ---- axes in memory order, as few as can be ---- */
static int division_count(Dim d) {
    if (dim_is_int(d)) return 0;
    const Sym *sym = dim_sym(d);
    int count = sym->kind == SYM_FLOORDIV || sym->kind == SYM_MOD;
    for (int i = 0; i < sym->count; i++) count += division_count(sym->args[i]);
    return count;
}

typedef VEC(Dim) DimList;
typedef struct IndexWalk { const Lowered *l; DimList *list; const Member *member; } IndexWalk;

static void collect_index(const Body *value, void *state) {
    IndexWalk *walk = state;
    if (value->kind != BODY_LOAD && value->kind != BODY_INDEX && value->kind != BODY_RANDOM) return;
    Dim from[MAX_AXES];
    for (int i = 0; i < walk->member->loop->axis_count; i++) from[i] = walk->member->loop->axes[i].var;
    vec_push(walk->list, dim_substitute(walk->l->syms, value->index, from, walk->member->to, walk->member->loop->axis_count));
}

/* Every index expression of the group: accesses, and indices used as values. */
static void collect_indices(const Lowered *l, const Group *group, DimList *list) {
    for (int i = 0; i < group->members.count; i++) {
        const Loop *loop = group->members.at[i].loop;
        IndexWalk walk = {l, list, &group->members.at[i]};
        if (loop->reduced) body_each(loop->reduced, collect_index, &walk);
        collect_index(&(Body){.kind = BODY_INDEX, .index = loop->position}, &walk);
        for (int s = 0; s < loop->store_count; s++) {
            body_each(loop->stores[s].value, collect_index, &walk);
            collect_index(&(Body){.kind = BODY_INDEX, .index = loop->stores[s].index}, &walk);
        }
    }
}

/* Stride of an axis where it counts most: in the largest buffer that moves with it. */
static int64_t axis_stride(const Lowered *l, const Group *group, Dim var) {
    int64_t best_bytes = -1, stride = 0;
    Dim coefficient, rest;
    for (int i = 0; i < group->accesses.count; i++) {
        const Access *access = &group->accesses.at[i];
        int64_t bytes = 2 * buffer_hint_bytes(&l->buffers.at[access->buffer]) + access->is_store;
        if (bytes <= best_bytes || !dim_linear(l->syms, access->index, var, &coefficient, &rest) || coefficient == 0) continue;
        best_bytes = bytes;
        stride = dim_hint(coefficient);
    }
    return stride < 0 ? -stride : stride;
}

static void sort_axes(const Lowered *l, Group *group, int first, int last) {
    int64_t strides[MAX_AXES];
    for (int i = first; i < last; i++) strides[i] = axis_stride(l, group, group->axes[i].var);
    for (int i = first + 1; i < last; i++)
        for (int j = i; j > first && strides[j - 1] < strides[j] && strides[j] != 0 && strides[j - 1] != 0; j--) {
            Axis axis = group->axes[j];
            int64_t stride = strides[j];
            group->axes[j] = group->axes[j - 1], group->axes[j - 1] = axis;
            strides[j] = strides[j - 1], strides[j - 1] = stride;
        }
}

static void substitute_axes(const Lowered *l, Group *group, const Dim *from, const Dim *to, int count) {
    for (int i = 0; i < group->members.count; i++)
        for (int k = 0; k < group->members.at[i].loop->axis_count; k++)
            group->members.at[i].to[k] = dim_substitute(l->syms, group->members.at[i].to[k], from, to, count);
    for (int i = 0; i < group->accesses.count; i++) group->accesses.at[i].index = dim_substitute(l->syms, group->accesses.at[i].index, from, to, count);
}

/* Axes place and place + 1 as one, when no index gets a division by it. */
static bool collapse_pair(const Lowered *l, Group *group, int place) {
    SymTable *syms = l->syms;
    Axis *outer = &group->axes[place], *inner = outer + 1;
    Dim extent = dim_mul(syms, outer->extent, inner->extent);
    Dim both = sym_axis(syms, dim_sym(outer->var)->name, extent);
    Dim from[2] = {outer->var, inner->var}, to[2] = {dim_floordiv(syms, both, inner->extent), dim_mod(syms, both, inner->extent)};
    DimList indices = {0};
    collect_indices(l, group, &indices);
    bool good = true;
    for (int i = 0; i < indices.count && good; i++) good = division_count(dim_substitute(syms, indices.at[i], from, to, 2)) <= division_count(indices.at[i]);
    vec_free(&indices);
    if (!good) return false;
    substitute_axes(l, group, from, to, 2);
    *outer = (Axis){both, extent, outer->kind, BIND_SERIAL};
    memmove(inner, inner + 1, sizeof(Axis) * (size_t)(group->axis_count - place - 2));
    group->axis_count--;
    return true;
}

static int collapse_range(const Lowered *l, Group *group, int first, int last) {
    for (int place = first; place + 1 < last;) {
        if (collapse_pair(l, group, place)) {
            last--;
            if (place > first) place--;
        } else place++;
    }
    return last;
}

void group_normalize(const Lowered *l, Group *group) {
    if (group->members.at[0].loop->kind != LOOP_COMPUTE) return;
    sort_axes(l, group, 0, group->rows);
    sort_axes(l, group, group->rows, group->axis_count);
    group->rows = collapse_range(l, group, 0, group->rows);
    collapse_range(l, group, group->rows, group->axis_count);
    for (int i = 0; i < group->axis_count; i++) group->logical[i] = i;
}

/* ---- the body ---- */
typedef struct Build {
    Compile *c; const Lowered *l; Group *group;
    Map *forward;                   /* buffer + 1 -> the value stored there by an earlier member */
    Map *depths;                    /* value -> depth + 1 */
    Map *row_only;
    int *numbers;                   /* by member: its reduction */
    int member;
    VEC(int) nodes;
} Build;

static const Body *forward_load(BodyMove *move, const Body *load, Dim index) {
    (void)index;
    Build *b = move->state;
    return map_get(b->forward, map_key(load->buffer + 1));
}

static const Body *forward_row(BodyMove *move, const Body *row) {
    Build *b = move->state;
    return body_row(b->group->builder, row->type, b->numbers[b->member]);
}

typedef struct DepthState { Build *build; int depth; } DepthState;

static int value_depth(Build *b, const Body *value);

static void index_depth(const Sym *var, void *state) {
    DepthState *s = state;
    if (var->var_kind != SYM_LOADED) return;
    int depth = value_depth(s->build, var->payload);
    if (depth > s->depth) s->depth = depth;
}

static int value_depth(Build *b, const Body *value) {
    intptr_t known = (intptr_t)map_get(b->depths, value);
    if (known) return (int)known - 1;
    DepthState s = {b, 0};
    if (value->kind == BODY_ROW) {
        for (int i = 0; i < b->group->items.count; i++)
            if (b->group->items.at[i].kind == ITEM_REDUCE && b->group->items.at[i].reduction == value->buffer) s.depth = b->group->items.at[i].depth + 1;
    } else if (value->kind == BODY_LOAD || value->kind == BODY_INDEX || value->kind == BODY_RANDOM) dim_each_var(value->index, index_depth, &s);
    for (int i = 0; i < 3 && value->args[i]; i++) {
        int depth = value_depth(b, value->args[i]);
        if (depth > s.depth) s.depth = depth;
    }
    map_put(b->depths, value, (void *)(intptr_t)(s.depth + 1));
    return s.depth;
}

static int find_reduction(const Group *group, const Body *value, const Loop *loop, Dim position) {
    for (int i = 0; i < group->items.count; i++) {
        const Item *item = &group->items.at[i];
        if (item->kind == ITEM_REDUCE && item->value == value && item->reducer == loop->reducer && item->accumulate == loop->accumulate &&
            (item->position == position || !reducer_is_arg(loop->reducer))) return item->reduction;
    }
    return -1;
}

static void build_reduction(Build *b, BodyMove *move, const Loop *loop) {
    const Body *value = body_move(move, loop->reduced);
    Dim position = body_move_index(move, loop->position);
    int number = find_reduction(b->group, value, loop, position);
    if (number < 0) {
        number = b->group->reductions++;
        Item item = {.kind = ITEM_REDUCE, .value = value, .reducer = loop->reducer, .accumulate = loop->accumulate, .position = position, .reduction = number,
                     .full = true, .depth = value_depth(b, value), .loop = loop->id};
        vec_push_in(b->c->arena, &b->group->items, item);
        if (item.depth + 1 > b->group->passes) b->group->passes = item.depth + 1;
    }
    b->numbers[b->member] = number;
}

/* What the group's other loops read in place of the buffer. A value of 16 bits that is written to memory is rounded for them too: the forward
 * must not go on with another number than the one it saves for the backward. */
static const Body *forwarded_value(Build *b, const Body *value, DType dtype, bool is_written) {
    BodyBuilder *builder = b->group->builder;
    bool former = builder->round16;
    builder->round16 = former || is_written;
    const Body *forwarded = body_cast(builder, value, dtype);
    builder->round16 = former;
    return forwarded;
}

static void build_stores(Build *b, BodyMove *move, const Member *member, IsNeeded needed, void *state) {
    const Loop *loop = member->loop;
    bool columns = b->group->axis_count > b->group->rows;
    for (int i = 0; i < loop->store_count; i++) {
        const Store *store = &loop->stores[i];
        const Body *value = body_move(move, store->value);
        DType dtype = b->l->buffers.at[store->buffer].buffer.meta.dtype;
        bool is_written = needed(store->buffer, b->group, state);
        map_put(b->forward, map_key(store->buffer + 1), (void *)(uintptr_t)forwarded_value(b, value, dtype, is_written));
        if (!is_written) continue;
        Item item = {.kind = ITEM_STORE, .value = value, .buffer = store->buffer, .index = body_move_index(move, store->index), .adds = store->accumulate,
                     .full = columns && member->full && !loop->reduces, .depth = value_depth(b, value), .loop = loop->id};
        vec_push_in(b->c->arena, &b->group->items, item);
        if (item.full && item.depth + 1 > b->group->passes) b->group->passes = item.depth + 1;
    }
}

static void add_nodes(Build *b, const Loop *loop) {
    for (int i = 0; i < loop->node_count; i++) {
        bool known = false;
        for (int j = 0; j < b->nodes.count && !known; j++) known = b->nodes.at[j] == loop->nodes[i];
        if (!known) vec_push(&b->nodes, loop->nodes[i]);
    }
}

static int id_compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Traffic with each buffer once, and operations: from what is left in the body. */
typedef struct Cost { const Lowered *l; Group *group; Map *seen; double flops; } Cost;

static void count_value(const Body *value, void *state) {
    Cost *cost = state;
    if (map_has(cost->seen, value)) return;
    map_put(cost->seen, value, cost);
    if (value->kind == BODY_PRIM) cost->flops += prim_info[value->prim].flops;
    if (value->kind != BODY_LOAD || map_has(cost->seen, map_key(value->buffer + 1))) return;
    map_put(cost->seen, map_key(value->buffer + 1), cost);
    int64_t all = buffer_hint_bytes(&cost->l->buffers.at[value->buffer]);
    int64_t touched = hint_volume(cost->group->axes, cost->group->axis_count) * dtype_size(value->stored);
    cost->group->bytes_read += all < touched ? all : touched;
}

static void group_cost(const Lowered *l, Group *group) {
    Arena *scratch = arena_new("cost");
    Cost cost = {l, group, map_new(scratch), 0};
    for (int i = 0; i < group->items.count; i++) {
        const Item *item = &group->items.at[i];
        double before = cost.flops;
        body_each(item->value, count_value, &cost);
        double each = cost.flops - before + (item->kind == ITEM_REDUCE);
        int64_t points = item->full ? hint_volume(group->axes, group->axis_count) : hint_volume(group->axes, group->rows);
        group->flops += each * (double)points;
        if (item->kind == ITEM_STORE) group->bytes_written += buffer_hint_bytes(&l->buffers.at[item->buffer]);
    }
    arena_free(scratch);
}

void group_build(Compile *c, const Lowered *l, Group *group, IsNeeded needed, void *state) {
    Build b = {.c = c, .l = l, .group = group, .forward = map_new(c->arena), .depths = map_new(c->arena)};
    b.numbers = ARENA_ARRAY(c->arena, int, group->members.count);
    group->builder = body_builder_new(c->arena, l->syms);
    group->builder->round16 = c->policy->emulate_precision_casts;
    for (int i = 0; i < group->members.count; i++) {
        const Member *member = &group->members.at[i];
        Dim from[MAX_AXES];
        for (int k = 0; k < member->loop->axis_count; k++) from[k] = member->loop->axes[k].var;
        BodyMove move = {.builder = group->builder, .from = from, .to = member->to, .count = member->loop->axis_count, .load = forward_load, .row = forward_row,
                         .state = &b, .memo = map_new(c->arena)};
        b.member = i;
        if (member->loop->reduces) build_reduction(&b, &move, member->loop);
        if (member->loop->kind == LOOP_COMPUTE || member->loop->kind == LOOP_SCATTER) build_stores(&b, &move, member, needed, state);
        add_nodes(&b, member->loop);
    }
    if (b.nodes.count) qsort(b.nodes.at, (size_t)b.nodes.count, sizeof(int), id_compare);
    group->nodes = arena_copy(c->arena, b.nodes.at, sizeof(int) * (size_t)b.nodes.count);
    group->node_count = b.nodes.count;
    vec_free(&b.nodes);
    if (!group_is_extern(group)) group_cost(l, group);
}
