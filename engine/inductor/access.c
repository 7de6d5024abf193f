/* Access: may two groups of loops run as one? In: two groups. Out: how the axes of one map to the other's, or a reason why not.
 *
 *     producer   buf2[5*i0 + i1] = …           consumer   buf3[i0] = sum(buf2[5*i0 + r1])
 *     Alignment: i0 -> i0, i1 -> r1; the read and the store of buf2 meet at one index, so buf2 never leaves the registers.
 *
 * Three ways of mapping are tried: axis by axis in order; by equal strides in what both touch (a transposed consumer); by cutting a flat index
 * into the other's axes. Whatever way, it holds only when every read of a stored buffer is at the index of its store. */
#include "inductor/fusing.h"
#include <stdio.h>
#include <string.h>

static bool refuse(Alignment *a, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(Alignment *a, const char *code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    a->code = code;
    vsnprintf(a->why, sizeof a->why, format, list);
    va_end(list);
    return false;
}

static void space_text(const Group *group, char *text, size_t room) {
    Text printed = {0};
    for (int i = 0; i < group->axis_count; i++) {
        text_printf(&printed, "%s%s", i ? " x " : "", i == group->rows ? "reduce " : "");
        dim_print(&printed, group->axes[i].extent);
    }
    snprintf(text, room, "%s", printed.length ? text_cstr(&printed) : "1");
    text_free(&printed);
}

static Dim mapped(const Lowered *l, const Alignment *a, Dim index) {
    Dim from[MAX_AXES];
    for (int i = 0; i < a->other->axis_count; i++) from[i] = a->other->axes[i].var;
    return dim_substitute(l->syms, index, from, a->to, a->other->axis_count);
}

/* ---- do reads and stores meet? ---- */
static bool meets(const Lowered *l, Alignment *a, const Access *base, const Access *other) {
    if (mapped(l, a, other->index) == base->index) return true;
    Text x = {0}, y = {0};
    dim_print(&x, base->index), dim_print(&y, other->index);
    const char *name = l->buffers.at[base->buffer].buffer.name;
    refuse(a, "not_fused.index", "%s is %s at %.80s and %s at %.80s", name, base->is_store ? "stored" : "read", text_cstr(&x), other->is_store ? "stored" : "read", text_cstr(&y));
    text_free(&x), text_free(&y);
    return false;
}

static int64_t access_bytes(const Lowered *l, const Alignment *a, const Access *access) {
    int64_t all = buffer_hint_bytes(&l->buffers.at[access->buffer]), touched = hint_volume(a->base->axes, a->base->axis_count) * dtype_size(l->buffers.at[access->buffer].buffer.meta.dtype);
    return all < touched ? all : touched;
}

static bool accesses_meet(const Lowered *l, Alignment *a) {
    a->shared_bytes = 0;
    for (int i = 0; i < a->other->accesses.count; i++) {
        const Access *other = &a->other->accesses.at[i];
        bool counted = false;
        for (int j = 0; j < a->base->accesses.count; j++) {
            const Access *base = &a->base->accesses.at[j];
            if (base->buffer != other->buffer) continue;
            if ((base->is_store || other->is_store) && !meets(l, a, base, other)) return false;
            a->depends |= base->is_store || other->is_store;
            if (!counted && (base->is_store || other->is_store || mapped(l, a, other->index) == base->index)) {
                a->shared_bytes += access_bytes(l, a, other);
                counted = true;
            }
        }
    }
    return true;
}

/* ---- ways of mapping ---- */
static bool same_extents(const Group *base, const int *places, int count, const Group *other) {
    if (other->axis_count != count) return false;
    for (int i = 0; i < count; i++)
        if (base->axes[places[i]].extent != other->axes[other->logical[i]].extent) return false;
    return true;
}

static bool map_in_order(Alignment *a, const int *places, int count) {
    if (!same_extents(a->base, places, count, a->other)) return false;
    for (int i = 0; i < count; i++) a->to[a->other->logical[i]] = a->base->axes[places[i]].var;
    return true;
}

/* Axis `axis` of other has this stride in an access: the unused base axis of equal stride and extent. */
static int find_by_stride(const Lowered *l, const Alignment *a, const Access *base, Dim stride, Dim extent, const bool *used, int count) {
    Dim coefficient, rest;
    for (int i = 0; i < count; i++)
        if (!used[i] && a->base->axes[i].extent == extent && dim_linear(l->syms, base->index, a->base->axes[i].var, &coefficient, &rest) && coefficient == stride) return i;
    return -1;
}

static void match_access(const Lowered *l, Alignment *a, const Access *base, const Access *other, bool *done, bool *used, int count) {
    Dim coefficient, rest;
    for (int k = 0; k < a->other->axis_count; k++) {
        if (done[k] || !dim_linear(l->syms, other->index, a->other->axes[k].var, &coefficient, &rest) || coefficient == 0) continue;
        int place = find_by_stride(l, a, base, coefficient, a->other->axes[k].extent, used, count);
        if (place < 0) continue;
        a->to[k] = a->base->axes[place].var;
        done[k] = used[place] = true;
    }
}

static bool map_by_strides(const Lowered *l, Alignment *a, int count) {
    bool done[MAX_AXES] = {0}, used[MAX_AXES] = {0};
    if (a->other->axis_count != count) return false;
    for (int pass = 0; pass < 2; pass++) /* what one stores and the other reads decides before what both read */
        for (int i = 0; i < a->other->accesses.count; i++)
            for (int j = 0; j < a->base->accesses.count; j++) {
                const Access *other = &a->other->accesses.at[i], *base = &a->base->accesses.at[j];
                if (other->buffer == base->buffer && (other->is_store || base->is_store) == (pass == 0)) match_access(l, a, base, other, done, used, count);
            }
    for (int k = 0; k < a->other->axis_count; k++)
        for (int place = 0; place < count && !done[k]; place++)
            if (!used[place] && a->base->axes[place].extent == a->other->axes[k].extent) {
                a->to[k] = a->base->axes[place].var;
                done[k] = used[place] = true;
            }
    for (int k = 0; k < a->other->axis_count; k++)
        if (!done[k]) return false;
    return true;
}

/* A flat index over base's `places`, cut into other's axes `targets` (both in logical order). */
static bool map_flat(const Lowered *l, Alignment *a, const int *places, int count, const int *targets, int target_count) {
    SymTable *syms = l->syms;
    Dim flat = 0, volume = 1, wanted = 1, stride = 1;
    for (int i = 0; i < count; i++) {
        const Axis *axis = &a->base->axes[places[i]];
        flat = dim_add(syms, dim_mul(syms, flat, axis->extent), axis->var);
        volume = dim_mul(syms, volume, axis->extent);
    }
    for (int i = 0; i < target_count; i++) wanted = dim_mul(syms, wanted, a->other->axes[targets[i]].extent);
    if (volume != wanted) return false;
    for (int i = target_count - 1; i >= 0; i--) {
        const Axis *axis = &a->other->axes[targets[i]];
        a->to[targets[i]] = dim_mod(syms, dim_floordiv(syms, flat, stride), axis->extent);
        stride = dim_mul(syms, stride, axis->extent);
    }
    return true;
}

/* ---- spaces ---- */
typedef enum Part { PART_ROWS = 1, PART_COLUMNS = 2, PART_ALL = 3 } Part;

static void logical_places(const Group *group, Part part, int *places, int *count) {
    *count = 0;
    for (int i = 0; i < group->axis_count; i++)
        if (part & (group->logical[i] < group->rows ? PART_ROWS : PART_COLUMNS)) places[(*count)++] = group->logical[i];
}

/* other without columns, over all of base's space or over its rows. */
static bool align_pointwise(const Lowered *l, Alignment *a, bool full) {
    int places[MAX_AXES], count, targets[MAX_AXES], target_count;
    logical_places(a->base, full ? PART_ALL : PART_ROWS, places, &count);
    logical_places(a->other, PART_ALL, targets, &target_count);
    a->full = full;
    if (map_in_order(a, places, count) && accesses_meet(l, a)) return true;
    if (map_by_strides(l, a, full ? a->base->axis_count : a->base->rows) && accesses_meet(l, a)) return true;
    return map_flat(l, a, places, count, targets, target_count) && accesses_meet(l, a);
}

/* Rows to rows and columns to columns. */
static bool align_reductions(const Lowered *l, Alignment *a) {
    int places[MAX_AXES], count, targets[MAX_AXES], target_count;
    a->full = true;
    for (Part part = PART_ROWS; part <= PART_COLUMNS; part++) {
        logical_places(a->base, part, places, &count);
        logical_places(a->other, part, targets, &target_count);
        if (!map_flat(l, a, places, count, targets, target_count)) return false;
    }
    return accesses_meet(l, a);
}

static bool has_columns(const Group *group) { return group->axis_count > group->rows; }

bool groups_align(const Lowered *l, Group *x, Group *y, Alignment *a) {
    bool swap = has_columns(y) && !has_columns(x);
    if (has_columns(x) == has_columns(y) && y->axis_count > x->axis_count) swap = true; /* the finer space needs no division */
    memset(a, 0, sizeof *a);
    a->base = swap ? y : x;
    a->other = swap ? x : y;
    char base[120], other[120];
    space_text(x, base, sizeof base), space_text(y, other, sizeof other);
    refuse(a, "not_fused.space", "iteration spaces differ: %s and %s", base, other);
    if (has_columns(a->base) && has_columns(a->other)) return align_reductions(l, a);
    if (!has_columns(a->base)) return align_pointwise(l, a, true);
    return align_pointwise(l, a, true) || align_pointwise(l, a, false);
}
