/* Gen C: reductions. In: a group with columns. Out: its loops in C.
 *
 * ROW: the columns are contiguous. A row's passes run one after the other over its columns; a reduction keeps `lanes` accumulators, each
 * for every lanes-th element, combined in a fixed tree: the result depends on sizes alone.
 * COLUMN: the rows are contiguous. A block of `lanes` rows is reduced at once, its accumulators side by side in vectors.
 * Invariant: a pass uses results of earlier passes only. */
#include "inductor/gen.h"

static void open_axis(Emitter *e, int axis) {
    const char *name = e->axis_names[axis];
    emit_line(e, "for (long %s = 0; %s < %s; %s++) {", name, name, index_text(e, e->g->axes[axis].extent), name);
}

static void close_scope(Emitter *e, int mark) {
    scope_close(e, mark);
    emit_line(e, "}");
}

static bool in_pass(const Item *item, int pass) { return item->full && item->depth == pass; }

static void emit_pass_values(Emitter *e, int pass, int level) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass)) continue;
        emit_values(e, item->value, level, pass);
        if (item->kind == ITEM_STORE) emit_index_values(e, item->index, level, pass);
    }
}

static bool pass_reduces(const Emitter *e, int pass) {
    for (int i = 0; i < e->g->items.count; i++)
        if (in_pass(&e->g->items.at[i], pass) && e->g->items.at[i].kind == ITEM_REDUCE) return true;
    return false;
}

static const char *value_as(Emitter *e, const Item *item) { return emitted_cast(e, item->value->type, item->accumulate, value_name(e, item->value)); }

/* a[lane] takes one more value. */
static void emit_accumulate(Emitter *e, const Item *item, const char *lane) {
    const char *a = emitted_text(e, "a%d%s", item->reduction, lane), *value = value_as(e, item);
    note_line(e, item->value->node_id);
    if (!reducer_is_arg(item->reducer)) {
        emit_line(e, "%s = %s;", a, combined_text(e, item->reducer, item->accumulate, a, value));
        return;
    }
    const char *at = emitted_text(e, "n%d%s", item->reduction, lane), *position = emitted_text(e, "(long)(%s)", index_text(e, item->position));
    emit_line(e, "const _Bool b%d = %s;", item->reduction, better_text(e, item->reducer, item->accumulate, a, at, value, position));
    emit_line(e, "%s = b%d ? %s : %s;", a, item->reduction, value, a);
    emit_line(e, "%s = b%d ? %s : %s;", at, item->reduction, position, at);
}

static void emit_pass_items(Emitter *e, int pass, const char *lane) {
    for (int i = 0; i < e->g->items.count; i++)
        if (in_pass(&e->g->items.at[i], pass) && e->g->items.at[i].kind == ITEM_REDUCE) emit_accumulate(e, &e->g->items.at[i], lane);
    for (int i = 0; i < e->g->items.count; i++)
        if (in_pass(&e->g->items.at[i], pass) && e->g->items.at[i].kind == ITEM_STORE) emit_store(e, &e->g->items.at[i]);
}

/* lanes 0: a scalar. */
static void emit_accumulators(Emitter *e, int pass, int lanes) {
    const char *size = lanes ? emitted_text(e, "[%d]", lanes) : "";
    bool any = false;
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass) || item->kind != ITEM_REDUCE) continue;
        const char *start = identity_text(e, item->reducer, item->accumulate);
        any = true;
        if (lanes) emit_line(e, "%s a%d%s;", emitted_type(e, item->accumulate), item->reduction, size);
        else emit_line(e, "%s a%d = %s;", emitted_type(e, item->accumulate), item->reduction, start);
        if (reducer_is_arg(item->reducer)) emit_line(e, lanes ? "long n%d%s;" : "long n%d%s = 9223372036854775807L;", item->reduction, size);
    }
    if (!lanes || !any) return;
    emit_line(e, "for (int l = 0; l < %d; l++) {", lanes);
    int mark = scope_open(e);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass) || item->kind != ITEM_REDUCE) continue;
        emit_line(e, "a%d[l] = %s;", item->reduction, identity_text(e, item->reducer, item->accumulate));
        if (reducer_is_arg(item->reducer)) emit_line(e, "n%d[l] = 9223372036854775807L;", item->reduction);
    }
    close_scope(e, mark);
}

/* Halves the lanes until one is left. */
static void emit_combine(Emitter *e, int pass, int lanes) {
    emit_line(e, "for (int h = %d; h > 0; h /= 2) {", lanes / 2);
    int mark = scope_open(e);
    emit_line(e, "for (int l = 0; l < h; l++) {");
    int inner = scope_open(e);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass) || item->kind != ITEM_REDUCE) continue;
        const char *a = emitted_text(e, "a%d[l]", item->reduction), *b = emitted_text(e, "a%d[l + h]", item->reduction);
        if (!reducer_is_arg(item->reducer)) {
            emit_line(e, "%s = %s;", a, combined_text(e, item->reducer, item->accumulate, a, b));
            continue;
        }
        const char *at = emitted_text(e, "n%d[l]", item->reduction), *b_at = emitted_text(e, "n%d[l + h]", item->reduction);
        emit_line(e, "const _Bool b%d = %s;", item->reduction, better_text(e, item->reducer, item->accumulate, a, at, b, b_at));
        emit_line(e, "%s = b%d ? %s : %s;", a, item->reduction, b, a);
        emit_line(e, "%s = b%d ? %s : %s;", at, item->reduction, b_at, at);
    }
    close_scope(e, inner);
    close_scope(e, mark);
}

static void name_results(Emitter *e, int pass, const char *lane) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (in_pass(item, pass) && item->kind == ITEM_REDUCE) e->row_names[item->reduction] = emitted_text(e, "%c%d%s", reducer_is_arg(item->reducer) ? 'n' : 'a', item->reduction, lane);
    }
}

/* ---- ROW ---- */
static void emit_inner_loop(Emitter *e, int pass, int axis, const char *start, const char *end, const char *step_lanes) {
    const char *name = e->axis_names[axis];
    if (step_lanes) {
        emit_line(e, "#pragma omp simd");
        emit_line(e, "for (int l = 0; l < %s; l++) {", step_lanes);
    } else {
        if (!pass_reduces(e, pass)) emit_line(e, "#pragma omp simd");
        /* Unrolled whole into the loop around it, gcc 12 adds up a chain over elements read backwards in the wrong order: sums of flipped tensors. */
        else if (e->g->axis_count > e->g->rows + 1) emit_line(e, "#pragma GCC unroll 1");
        emit_line(e, "for (long %s = %s; %s < %s; %s++) {", name, start, name, end, name);
    }
    int mark = scope_open(e);
    if (step_lanes) emit_line(e, "const long %s = c + l;", name);
    emit_pass_values(e, pass, e->axis_level[axis]);
    emit_pass_items(e, pass, step_lanes ? "[l]" : "");
    close_scope(e, mark);
}

static void emit_lanes(Emitter *e, int pass, int axis, int lanes) {
    Dim extent = e->g->axes[axis].extent;
    const char *end = index_text(e, extent), *count = emitted_text(e, "%d", lanes);
    bool even = dim_is_int(extent) && extent % lanes == 0;
    emit_line(e, "long c = 0;");
    emit_line(e, "for (; c + %d <= %s; c += %d) {", lanes, end, lanes);
    int mark = scope_open(e);
    emit_inner_loop(e, pass, axis, NULL, NULL, count);
    close_scope(e, mark);
    if (!even) emit_inner_loop(e, pass, axis, NULL, NULL, emitted_text(e, "(int)(%s - c)", end));
}

static void emit_row_pass(Emitter *e, int pass) {
    const Group *g = e->g;
    int last = g->axis_count - 1, marks[MAX_AXES], lanes = pass_reduces(e, pass) && g->binding.lanes > 1 ? g->binding.lanes : 0;
    emit_accumulators(e, pass, lanes);
    if (g->axis_count > g->rows + 1 || lanes) emit_line(e, "{");
    int block = g->axis_count > g->rows + 1 || lanes ? scope_open(e) : -1;
    for (int i = g->rows; i < last; i++) {
        open_axis(e, i);
        marks[i] = scope_open(e);
        emit_pass_values(e, pass, e->axis_level[i]);
    }
    if (lanes) emit_lanes(e, pass, last, lanes);
    else emit_inner_loop(e, pass, last, "0", index_text(e, g->axes[last].extent), NULL);
    for (int i = last - 1; i >= g->rows; i--) close_scope(e, marks[i]);
    if (block >= 0) close_scope(e, block);
    if (lanes) emit_combine(e, pass, lanes);
    name_results(e, pass, lanes ? "[0]" : "");
}

/* Values and stores once a row, between the passes. */
static void emit_row_values(Emitter *e, int pass, int level) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (item->depth != pass) continue;
        emit_values(e, item->value, level, pass);
        if (item->kind == ITEM_STORE) emit_index_values(e, item->index, level, pass);
    }
}

static void emit_row_stores(Emitter *e, int pass) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (item->kind == ITEM_STORE && !item->full && item->depth == pass) emit_store(e, item);
    }
}

void generate_c_rows(Emitter *e) {
    const Group *g = e->g;
    int nest[MAX_AXES], marks[MAX_AXES], last_depth = g->passes;
    for (int i = 0; i < g->axis_count; i++) nest[i] = i;
    set_nest(e, nest, g->axis_count);
    e->row_level = g->rows;
    for (int i = 0; i < g->rows; i++) {
        if (i == 0) emit_parallel(e, g->binding.collapse, false);
        open_axis(e, i);
        marks[i] = scope_open(e);
    }
    for (int i = 0; i < g->items.count; i++)
        if (g->items.at[i].kind == ITEM_STORE && g->items.at[i].depth > last_depth) last_depth = g->items.at[i].depth;
    for (int pass = 0; pass <= last_depth; pass++) {
        emit_row_values(e, pass, g->rows);
        emit_row_stores(e, pass);
        if (pass < g->passes) emit_row_pass(e, pass);
    }
    for (int i = g->rows - 1; i >= 0; i--) close_scope(e, marks[i]);
}

/* ---- COLUMN ---- */
static void open_block(Emitter *e, const char *name) {
    emit_line(e, "#pragma omp simd");
    emit_line(e, "for (int l = 0; l < count; l++) {");
    (void)name;
}

static void emit_block_pass(Emitter *e, int pass, int inner) {
    const Group *g = e->g;
    int marks[MAX_AXES];
    emit_accumulators(e, pass, g->binding.lanes);
    for (int i = g->rows; i < g->axis_count; i++) {
        open_axis(e, i);
        marks[i] = scope_open(e);
        emit_pass_values(e, pass, e->axis_level[i]);
    }
    open_block(e, e->axis_names[inner]);
    int mark = scope_open(e);
    emit_line(e, "const long %s = block + l;", e->axis_names[inner]);
    emit_pass_values(e, pass, e->axis_level[inner]);
    emit_pass_items(e, pass, "[l]");
    close_scope(e, mark);
    for (int i = g->axis_count - 1; i >= g->rows; i--) close_scope(e, marks[i]);
    name_results(e, pass, "[l]");
}

static void emit_block_stores(Emitter *e, int pass, int inner) {
    bool any = false;
    for (int i = 0; i < e->g->items.count; i++) any |= e->g->items.at[i].kind == ITEM_STORE && !e->g->items.at[i].full && e->g->items.at[i].depth == pass;
    if (!any) return;
    open_block(e, e->axis_names[inner]);
    int mark = scope_open(e);
    emit_line(e, "const long %s = block + l;", e->axis_names[inner]);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (item->kind != ITEM_STORE || item->full || item->depth != pass) continue;
        emit_values(e, item->value, e->axis_level[inner], pass);
        emit_index_values(e, item->index, e->axis_level[inner], pass);
    }
    emit_row_stores(e, pass);
    close_scope(e, mark);
}

void generate_c_columns(Emitter *e) {
    const Group *g = e->g;
    int nest[MAX_AXES], marks[MAX_AXES], n = 0, inner = g->rows - 1, last_depth = g->passes;
    for (int i = 0; i < inner; i++) nest[n++] = i;
    for (int i = g->rows; i < g->axis_count; i++) nest[n++] = i;
    nest[n++] = inner;
    set_nest(e, nest, n);
    e->row_level = e->axis_level[inner];
    emit_parallel(e, g->rows, false);
    for (int i = 0; i < inner; i++) open_axis(e, i), marks[i] = scope_open(e);
    const char *end = index_text(e, g->axes[inner].extent);
    emit_line(e, "for (long block = 0; block < %s; block += %d) {", end, g->binding.lanes);
    marks[inner] = scope_open(e);
    emit_line(e, "const int count = %s - block < %d ? (int)(%s - block) : %d;", end, g->binding.lanes, end, g->binding.lanes);
    for (int i = 0; i < g->items.count; i++)
        if (g->items.at[i].kind == ITEM_STORE && g->items.at[i].depth > last_depth) last_depth = g->items.at[i].depth;
    for (int pass = 0; pass <= last_depth; pass++) {
        emit_block_stores(e, pass, inner);
        if (pass < g->passes) emit_block_pass(e, pass, inner);
    }
    for (int i = inner; i >= 0; i--) close_scope(e, marks[i]);
}
