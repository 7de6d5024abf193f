/* Gen CUDA: reductions whose rows lie side by side, and pointwise kernels between two layouts. In: a group. Out: its kernel's body.
 *
 * COLUMN: 32 x 8 threads: x along the contiguous rows, a vector of them each; y strided over the columns. The eight partial results are joined
 * in shared memory, always in one order.
 * TILED: 32 x 8 threads a tile of 32 x 32: what is contiguous along the other axis goes through shared memory, so that both sides are read and
 * written along whole lines.
 * Invariant: all threads of a block meet at every barrier. */
#include "inductor/gen_cuda.h"

static bool in_pass(const Item *item, int pass) { return item->full && item->depth == pass; }

static void close_brace(Emitter *e, int mark) {
    scope_close(e, mark);
    emit_line(e, "}");
}

static const char *element(Emitter *e, char letter, int reduction) { return emitted_text(e, "%c%d[v]", letter, reduction); }

static int open_lanes(Emitter *e, bool with_index) {
    int inner = e->g->rows - 1, vector = cuda_state(e)->vector;
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int v = 0; v < %d; v++) {", vector);
    int mark = scope_open(e);
    if (with_index) emit_line(e, "const %s %s = %s_first + v;", e->index_type, e->axis_names[inner], e->axis_names[inner]);
    return mark;
}

/* ---- COLUMN ---- */
static void emit_accumulators(Emitter *e, int pass) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        bool arg = reducer_is_arg(item->reducer);
        emit_line(e, "%s a%d[%d];", emitted_type(e, item->accumulate), item->reduction, cuda_state(e)->vector);
        if (arg) emit_line(e, "long n%d[%d];", item->reduction, cuda_state(e)->vector);
        emit_line(e, "#pragma unroll");
        emit_line(e, "for (int v = 0; v < %d; v++) a%d[v] = %s%s;", cuda_state(e)->vector, item->reduction, identity_text(e, item->reducer, item->accumulate),
                  arg ? emitted_text(e, ", n%d[v] = 9223372036854775807L", item->reduction) : "");
        e->row_names[item->reduction] = element(e, arg ? 'n' : 'a', item->reduction);
    }
}

static void emit_pass_lanes(Emitter *e, int pass) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass)) continue;
        emit_values(e, item->value, 3, pass);
        if (item->kind == ITEM_STORE) emit_index_values(e, item->index, 3, pass);
    }
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        note_line(e, item->value->node_id);
        emit_join(e, item, element(e, 'a', item->reduction), element(e, 'n', item->reduction), emitted_cast(e, item->value->type, item->accumulate, value_name(e, item->value)),
                  emitted_text(e, "(long)(%s)", index_text(e, item->position)));
    }
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass) || item->kind != ITEM_STORE) continue;
        if (is_pack_store(e, item)) emit_line(e, "o%d.v[v] = %s;", i, store_text(e, item));
        else emit_store(e, item);
    }
}

static void emit_pack_declarations(Emitter *e, bool full, int pass, bool store) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (item->kind != ITEM_STORE || item->full != full || item->depth != pass || !is_pack_store(e, item)) continue;
        if (store) emit_line(e, "*(%s *)%s = o%d;", pack_type(e, item->buffer), pack_address(e, item->index, item->buffer), i);
        else emit_line(e, "%s o%d;", pack_type(e, item->buffer), i);
    }
}

static void emit_column_pass(Emitter *e, int pass) {
    const Group *g = e->g;
    Dim volume = axes_volume(e->l->syms, g->axes + g->rows, g->axis_count - g->rows);
    emit_accumulators(e, pass);
    emit_line(e, "#pragma unroll 4");
    emit_line(e, "for (%s c = threadIdx.y; c < %s && row_ok; c += 8) {", e->index_type, index_text(e, volume));
    int mark = scope_open(e);
    emit_axes_of(e, "c", g->rows, g->axis_count);
    for (int i = 0; i < g->items.count; i++)
        if (in_pass(&g->items.at[i], pass)) emit_values(e, g->items.at[i].value, 2, pass);
    emit_packs(e, in_pass, pass);
    emit_pack_declarations(e, true, pass, false);
    int lanes = open_lanes(e, true);
    emit_pass_lanes(e, pass);
    close_brace(e, lanes);
    emit_pack_declarations(e, true, pass, true);
    close_brace(e, mark);
}

static void emit_shared_join(Emitter *e, int pass) {
    int width = 33 * cuda_state(e)->vector;
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        emit_line(e, "__shared__ %s w%d[8][%d];", emitted_type(e, item->accumulate), item->reduction, width);
        if (reducer_is_arg(item->reducer)) emit_line(e, "__shared__ long x%d[8][%d];", item->reduction, width);
    }
    int lanes = open_lanes(e, false);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        emit_line(e, "w%d[threadIdx.y][v*33 + threadIdx.x] = a%d[v];", item->reduction, item->reduction);
        if (reducer_is_arg(item->reducer)) emit_line(e, "x%d[threadIdx.y][v*33 + threadIdx.x] = n%d[v];", item->reduction, item->reduction);
    }
    close_brace(e, lanes);
    emit_line(e, "__syncthreads();");
    lanes = open_lanes(e, false);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        int r = item->reduction;
        emit_line(e, "a%d[v] = w%d[0][v*33 + threadIdx.x];", r, r);
        if (reducer_is_arg(item->reducer)) emit_line(e, "n%d[v] = x%d[0][v*33 + threadIdx.x];", r, r);
        emit_line(e, "for (int w = 1; w < 8; w++) {");
        int mark = scope_open(e);
        emit_join(e, item, element(e, 'a', r), element(e, 'n', r), emitted_text(e, "w%d[w][v*33 + threadIdx.x]", r), emitted_text(e, "x%d[w][v*33 + threadIdx.x]", r));
        close_brace(e, mark);
    }
    close_brace(e, lanes);
}

static bool row_store_at(const Item *item, int pass) { return item->kind == ITEM_STORE && !item->full && item->depth == pass; }

static void emit_row_stores(Emitter *e, int pass) {
    bool any = false;
    for (int i = 0; i < e->g->items.count; i++) any |= row_store_at(&e->g->items.at[i], pass);
    if (!any) return;
    emit_line(e, "if (threadIdx.y == 0 && row_ok) {");
    int mark = scope_open(e);
    emit_packs(e, row_store_at, pass);
    emit_pack_declarations(e, false, pass, false);
    int lanes = open_lanes(e, true);
    for (int i = 0; i < e->g->items.count; i++)
        if (row_store_at(&e->g->items.at[i], pass)) emit_values(e, e->g->items.at[i].value, 3, pass), emit_index_values(e, e->g->items.at[i].index, 3, pass);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!row_store_at(item, pass)) continue;
        if (is_pack_store(e, item)) emit_line(e, "o%d.v[v] = %s;", i, store_text(e, item));
        else emit_store(e, item);
    }
    close_brace(e, lanes);
    emit_pack_declarations(e, false, pass, true);
    close_brace(e, mark);
}

void generate_cuda_columns(Emitter *e) {
    const Group *g = e->g;
    SymTable *syms = e->l->syms;
    int inner = g->rows - 1, vector = cuda_state(e)->vector;
    const char *t = e->index_type;
    Dim extent = g->axes[inner].extent, span = 32 * vector, blocks = dim_floordiv(syms, dim_add(syms, extent, span - 1), span), outer = axes_volume(syms, g->axes, inner);
    set_grid(e, dim_mul(syms, blocks, outer), 32, 8);
    e->kernel->vector_bytes = vector > 1 ? 16 : 1;
    cuda_state(e)->vector_place = inner;
    for (int i = 0; i < g->axis_count; i++) e->axis_level[i] = i < inner ? 1 : i == inner ? 3 : 2;
    e->row_level = 3;
    emit_line(e, "const %s outer = (%s)blockIdx.x/(%s);", t, t, index_text(e, blocks));
    emit_line(e, "const %s wanted = ((%s)blockIdx.x%%(%s)*32 + (%s)threadIdx.x)*%d;", t, t, index_text(e, blocks), t, vector);
    emit_line(e, "const bool row_ok = wanted < %s; // all threads meet at the barriers", index_text(e, extent));
    emit_line(e, "const %s %s_first = row_ok ? wanted : 0;", t, e->axis_names[inner]);
    emit_axes_of(e, "outer", 0, inner);
    for (int pass = 0; pass <= group_last_depth(g); pass++) {
        emit_row_stores(e, pass);
        if (pass >= g->passes) continue;
        emit_column_pass(e, pass);
        if (pass_has_reduction(g, pass)) emit_shared_join(e, pass);
    }
}

/* ---- TILED ---- */
static bool is_staged(Emitter *e, const Body *load) {
    const Group *g = e->g;
    SymTable *syms = e->l->syms;
    Dim across, along, rest;
    return dim_linear(syms, load->index, g->axes[g->binding.tile_axis].var, &across, &rest) && dim_linear(syms, load->index, g->axes[g->axis_count - 1].var, &along, &rest) &&
           across == 1 && along != 1 && along != 0;
}

/* A line of the tile is `side` elements: 32 threads with `lanes` neighbours each. */
static void stage_load(const Body *value, void *state) {
    Emitter *e = state;
    CudaState *s = cuda_state(e);
    if (value->kind != BODY_LOAD || map_has(s->packs, value) || !is_staged(e, value)) return;
    int lanes = s->vector, side = 32 * lanes;
    const char *a = e->axis_names[e->g->binding.tile_axis], *b = e->axis_names[e->g->axis_count - 1], *t = e->index_type;
    emit_line(e, "__shared__ %s q%d[%d][%d];", dtype_info[value->stored].c_type, value->id, side, side + (lanes > 1 ? 4 / dtype_size(value->stored) : 1));
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int k = 0; k < %d; k += 8) {", side);
    int mark = scope_open(e);
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int v = 0; v < %d; v++) {", lanes);
    int inner = scope_open(e);
    emit_line(e, "const %s %s = %s_tile + (%s)threadIdx.x*%d + v, %s = %s_tile + (%s)threadIdx.y + k;", t, a, a, t, lanes, b, b, t);
    emit_line(e, "if (%s < %s && %s < %s) q%d[threadIdx.y + k][threadIdx.x*%d + v] = p%d[%s];", a, index_text(e, e->g->axes[e->g->binding.tile_axis].extent), b,
              index_text(e, e->g->axes[e->g->axis_count - 1].extent), value->id, lanes, pointer_of(e, value->buffer), index_text(e, value->index));
    close_brace(e, inner);
    close_brace(e, mark);
    map_put(s->packs, value, (void *)(uintptr_t)emitted_text(e, "q%d[threadIdx.x*%d + v][threadIdx.y + k]", value->id, lanes));
}

static void emit_tile_values(Emitter *e, int level) {
    for (int i = 0; i < e->g->items.count; i++) {
        emit_values(e, e->g->items.at[i].value, level, 0);
        emit_index_values(e, e->g->items.at[i].index, level, 0);
    }
}

static Dim emit_tile_frame(Emitter *e, int side) {
    const Group *g = e->g;
    SymTable *syms = e->l->syms;
    int across = g->binding.tile_axis, along = g->axis_count - 1;
    const char *t = e->index_type, *a = e->axis_names[across], *b = e->axis_names[along];
    Dim a_tiles = dim_floordiv(syms, dim_add(syms, g->axes[across].extent, side - 1), side), b_tiles = dim_floordiv(syms, dim_add(syms, g->axes[along].extent, side - 1), side);
    emit_line(e, "const %s %s_tile = (%s)blockIdx.x/(%s)%%(%s)*%d, %s_tile = (%s)blockIdx.x%%(%s)*%d;", t, a, t, index_text(e, b_tiles), index_text(e, a_tiles), side, b, t, index_text(e, b_tiles), side);
    Dim inside = dim_mul(syms, a_tiles, b_tiles);
    for (int i = g->axis_count - 1; i >= 0; i--) {
        e->axis_level[i] = i == across || i == along ? 2 : 1;
        if (i == across || i == along) continue;
        emit_line(e, "const %s %s = (%s)blockIdx.x/(%s)%%(%s);", t, e->axis_names[i], t, index_text(e, inside), index_text(e, g->axes[i].extent));
        inside = dim_mul(syms, inside, g->axes[i].extent);
    }
    return inside;
}

void generate_cuda_tiles(Emitter *e) {
    const Group *g = e->g;
    int across = g->binding.tile_axis, along = g->axis_count - 1, lanes = cuda_state(e)->vector, side = 32 * lanes;
    const char *t = e->index_type, *a = e->axis_names[across], *b = e->axis_names[along];
    set_grid(e, emit_tile_frame(e, side), 32, 8);
    emit_tile_values(e, 1);
    for (int i = 0; i < g->items.count; i++) body_each(g->items.at[i].value, stage_load, e);
    emit_line(e, "__syncthreads();");
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int k = 0; k < %d; k += 8) {", side);
    int mark = scope_open(e);
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int v = 0; v < %d; v++) {", lanes);
    int inner = scope_open(e);
    emit_line(e, "const %s %s = %s_tile + (%s)threadIdx.y + k, %s = %s_tile + (%s)threadIdx.x*%d + v;", t, a, a, t, b, b, t, lanes);
    emit_line(e, "if (%s >= %s || %s >= %s) continue;", a, index_text(e, g->axes[across].extent), b, index_text(e, g->axes[along].extent));
    emit_tile_values(e, 2);
    for (int i = 0; i < g->items.count; i++) emit_store(e, &g->items.at[i]);
    close_brace(e, inner);
    close_brace(e, mark);
}
