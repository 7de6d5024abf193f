/* Gen C: a bound group as one C function with OpenMP inside. In: a group. Out: void name(void *const *pointers, const long *sizes).
 *
 *     #pragma omp parallel for schedule(static)
 *     for (long i0 = 0; i0 < 64; i0++) {
 *         const float t3 = p1[i0];
 *         #pragma omp simd
 *         for (long i1 = 0; i1 < 512; i1++) { const float t4 = p0[512*i0 + i1]; …; p2[512*i0 + i1] = t6; }
 *     }
 *
 * Pointwise and scatter loops are here, reductions in gen_c_reduce.c.
 * Invariant: in a pass all values are computed before its first store, so that an input may be its own output. */
#include "inductor/gen.h"

static Dim work_of(Emitter *e) { return axes_volume(e->l->syms, e->g->axes, e->g->axis_count); }

/* Worth threads? Under about 64k operations it is not; a symbolic size decides when the kernel runs. */
void emit_parallel(Emitter *e, int collapse, bool simd) {
    if (!e->g->binding.parallel) {
        if (simd) emit_line(e, "#pragma omp simd");
        return;
    }
    Text text = {0};
    text_printf(&text, "#pragma omp parallel for%s schedule(static)", simd ? " simd" : "");
    if (collapse > 1) text_printf(&text, " collapse(%d)", collapse);
    Dim work = work_of(e);
    if (!dim_is_int(work)) text_printf(&text, " if(parallel: %s > 262144)", index_text(e, work));
    emit_line(e, "%s", text_cstr(&text));
    text_free(&text);
}

static void emit_signature(Emitter *e) {
    emit_random_helper(e);
    emit_head_comment(e);
    emit_line(e, "void %s(void *const *pointers, const long *sizes) {", e->g->name);
    scope_open(e);
    for (int i = 0; i < e->buffer_count; i++) {
        bool stored = false;
        for (int k = 0; k < e->g->items.count; k++) stored |= e->g->items.at[k].kind == ITEM_STORE && pointer_of(e, e->g->items.at[k].buffer) == i;
        emit_line(e, "%s%s *p%d = pointers[%d];", stored ? "" : "const ", dtype_info[e->l->buffers.at[e->buffers[i]].buffer.meta.dtype].c_type, i, i);
    }
    for (int i = 0; i < e->size_count; i++) emit_line(e, "const long s%d = sizes[%d];", i, i);
    if (e->size_count == 0) emit_line(e, "(void)sizes;");
}

static void emit_item_values(Emitter *e, int level, int depth) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        emit_values(e, item->value, level, depth);
        if (item->kind == ITEM_STORE) emit_index_values(e, item->index, level, depth);
    }
}

static void emit_stores(Emitter *e) {
    for (int i = 0; i < e->g->items.count; i++) emit_store(e, &e->g->items.at[i]);
}

static void open_loop(Emitter *e, int axis) {
    const char *name = e->axis_names[axis];
    emit_line(e, "for (long %s = 0; %s < %s; %s++) {", name, name, index_text(e, e->g->axes[axis].extent), name);
}

static void close_loop(Emitter *e, int mark) {
    scope_close(e, mark);
    emit_line(e, "}");
}

/* Which loops run in parallel: the outer `collapse`, or, where those are few, the innermost. */
static void emit_pointwise(Emitter *e) {
    int count = e->g->axis_count, collapse = e->g->binding.collapse, nest[MAX_AXES], marks[MAX_AXES];
    bool inner_parallel = e->g->binding.parallel && collapse >= count;
    for (int i = 0; i < count; i++) nest[i] = i;
    set_nest(e, nest, count);
    emit_item_values(e, 0, 0);
    for (int i = 0; i < count; i++) {
        bool last = i == count - 1;
        if (i == 0 && !last && !inner_parallel) emit_parallel(e, collapse, false);
        else if (last && inner_parallel) emit_parallel(e, 1, true);
        else if (last) emit_line(e, "#pragma omp simd");
        open_loop(e, i);
        marks[i] = scope_open(e);
        if (last || inner_parallel || i + 1 >= collapse) emit_item_values(e, i + 1, 0);
    }
    emit_stores(e);
    for (int i = count - 1; i >= 0; i--) close_loop(e, marks[i]);
}

/* Two layouts meet: in tiles of 32 x 32, what is contiguous along the other axis is first read into a small array, line by line, so that no cache line
 * is fetched twice however far apart the lines lie. */
typedef struct Tile { Emitter *e; int across, along; Map *staged; } Tile;

static bool is_staged(const Tile *t, const Body *load) {
    Dim across, along, rest;
    const Group *g = t->e->g;
    SymTable *syms = t->e->l->syms;
    return dim_linear(syms, load->index, g->axes[t->across].var, &across, &rest) && dim_linear(syms, load->index, g->axes[t->along].var, &along, &rest) && across == 1 && along != 1 && along != 0;
}

static void stage_load(const Body *value, void *state) {
    Tile *t = state;
    Emitter *e = t->e;
    if (value->kind != BODY_LOAD || map_has(t->staged, value) || !is_staged(t, value)) return;
    const char *a = e->axis_names[t->across], *b = e->axis_names[t->along];
    emit_line(e, "%s q%d[32][33];", dtype_info[value->stored].c_type, value->id);
    emit_line(e, "for (long %s = %s_tile; %s < %s_end; %s++) {", b, b, b, b, b);
    int mark = scope_open(e);
    emit_line(e, "#pragma omp simd");
    emit_line(e, "for (long %s = %s_tile; %s < %s_end; %s++) q%d[%s - %s_tile][%s - %s_tile] = p%d[%s];", a, a, a, a, a, value->id, b, b, a, a, pointer_of(e, value->buffer), index_text(e, value->index));
    scope_close(e, mark);
    emit_line(e, "}");
    map_put(t->staged, value, (void *)(uintptr_t)emitted_text(e, "q%d[%s - %s_tile][%s - %s_tile]", value->id, b, b, a, a));
}

static const char *staged_name(Emitter *e, const Body *load) { return map_get(((Tile *)e->state)->staged, load); }

static void emit_tiled(Emitter *e) {
    int count = e->g->axis_count, across = e->g->binding.tile_axis, along = count - 1, nest[MAX_AXES], n = 0, marks[MAX_AXES + 4], depth = 0;
    for (int i = 0; i < count; i++)
        if (i != across && i != along) nest[n++] = i;
    int outer = n;
    nest[n++] = across, nest[n++] = along;
    set_nest(e, nest, count);
    Tile tile = {e, across, along, map_new(e->arena)};
    e->state = &tile;
    e->load_name = staged_name;
    emit_item_values(e, 0, 0);
    emit_parallel(e, outer + 1, false);
    for (int i = 0; i < outer; i++) open_loop(e, nest[i]), marks[depth++] = scope_open(e);
    const char *a = e->axis_names[across], *b = e->axis_names[along], *a_extent = index_text(e, e->g->axes[across].extent), *b_extent = index_text(e, e->g->axes[along].extent);
    emit_line(e, "for (long %s_tile = 0; %s_tile < %s; %s_tile += 32) {", a, a, a_extent, a);
    marks[depth++] = scope_open(e);
    emit_line(e, "for (long %s_tile = 0; %s_tile < %s; %s_tile += 32) {", b, b, b_extent, b);
    marks[depth++] = scope_open(e);
    emit_line(e, "const long %s_end = %s_tile + 32 < %s ? %s_tile + 32 : %s, %s_end = %s_tile + 32 < %s ? %s_tile + 32 : %s;", a, a, a_extent, a, a_extent, b, b, b_extent, b, b_extent);
    for (int i = 0; i < e->g->items.count; i++) body_each(e->g->items.at[i].value, stage_load, &tile);
    emit_line(e, "for (long %s = %s_tile; %s < %s_end; %s++) {", a, a, a, a, a);
    marks[depth++] = scope_open(e);
    emit_item_values(e, outer + 1, 0);
    emit_line(e, "#pragma omp simd");
    emit_line(e, "for (long %s = %s_tile; %s < %s_end; %s++) {", b, b, b, b, b);
    marks[depth++] = scope_open(e);
    emit_item_values(e, count, 0);
    emit_stores(e);
    while (depth > 0) close_loop(e, marks[--depth]);
}

/* In the order of the source's elements: with equal targets the last store wins, and sums add in that order. */
static void emit_scatter(Emitter *e) {
    int count = e->g->axis_count, nest[MAX_AXES], marks[MAX_AXES];
    for (int i = 0; i < count; i++) nest[i] = i;
    set_nest(e, nest, count);
    emit_item_values(e, 0, 0);
    for (int i = 0; i < count; i++) {
        open_loop(e, i);
        marks[i] = scope_open(e);
        emit_item_values(e, i + 1, 0);
    }
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!item->adds) {
            emit_store(e, item);
            continue;
        }
        DType stored = e->l->buffers.at[item->buffer].buffer.meta.dtype, compute = dtype_info[stored].compute;
        const char *element = emitted_text(e, "p%d[%s]", pointer_of(e, item->buffer), index_text(e, item->index));
        Text old = {0}, sum = {0};
        scalar_load_print(&old, e->target, stored, element);
        const char *added = combined_text(e, REDUCE_SUM, compute, text_cstr(&old), emitted_cast(e, item->value->type, compute, value_name(e, item->value)));
        scalar_store_print(&sum, e->target, stored, added);
        emit_line(e, "%s = %s;", element, text_cstr(&sum));
        text_free(&old), text_free(&sum);
    }
    for (int i = count - 1; i >= 0; i--) close_loop(e, marks[i]);
}

Made generate_c(Compile *c, const Lowered *l, const Group *g) {
    Emitter *e = emitter_new(c, l, g, TARGET_C);
    emit_signature(e);
    switch (g->binding.pattern) {
    case PATTERN_ROW: generate_c_rows(e); break;
    case PATTERN_COLUMN: generate_c_columns(e); break;
    case PATTERN_SCATTER: emit_scatter(e); break;
    case PATTERN_TILED: emit_tiled(e); break;
    default: emit_pointwise(e); break;
    }
    scope_close(e, 0);
    emit_line(e, "}");
    return emitter_take(e);
}
