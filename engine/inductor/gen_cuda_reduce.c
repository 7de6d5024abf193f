/* Gen CUDA: reductions. In: a group with columns. Out: its kernel's body.
 *
 * ROW: `threads` threads a row (a part of a warp, or a block); a thread takes every threads-th vector of the row, and keeps what a later pass
 * needs in registers (unroll > 0) or reads it again. Partial results are joined by shuffles, then over warps in shared memory, always in one order.
 * Columns along which rows lie side by side: gen_cuda_column.c.
 * Invariant: every thread of a row knows a reduction's result after its pass. */
#include "inductor/gen_cuda.h"

static bool in_pass(const Item *item, int pass) { return item->full && item->depth == pass; }
bool reduces_in_pass(const Item *item, int pass) { return in_pass(item, pass) && item->kind == ITEM_REDUCE; }

static const char *value_as(Emitter *e, const Item *item) { return emitted_cast(e, item->value->type, item->accumulate, value_name(e, item->value)); }

static void close_brace(Emitter *e, int mark) {
    scope_close(e, mark);
    emit_line(e, "}");
}

/* ---- accumulators ---- */
static void emit_accumulators(Emitter *e, int pass) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        emit_line(e, "%s a%d = %s;", emitted_type(e, item->accumulate), item->reduction, identity_text(e, item->reducer, item->accumulate));
        if (reducer_is_arg(item->reducer)) emit_line(e, "long n%d = 9223372036854775807L;", item->reduction);
        e->row_names[item->reduction] = emitted_text(e, "%c%d", reducer_is_arg(item->reducer) ? 'n' : 'a', item->reduction);
    }
}

void emit_join(Emitter *e, const Item *item, const char *a, const char *at, const char *b, const char *b_at) {
    if (!reducer_is_arg(item->reducer)) {
        emit_line(e, "%s = %s;", a, combined_text(e, item->reducer, item->accumulate, a, b));
        return;
    }
    emit_line(e, "if (%s) { %s = %s; %s = %s; }", better_text(e, item->reducer, item->accumulate, a, at, b, b_at), a, b, at, b_at);
}

static void join_accumulator(Emitter *e, const Item *item, const char *b, const char *b_at) {
    emit_join(e, item, emitted_text(e, "a%d", item->reduction), emitted_text(e, "n%d", item->reduction), b, b_at);
}

static void emit_accumulate(Emitter *e, int pass) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        note_line(e, item->value->node_id);
        join_accumulator(e, item, value_as(e, item), emitted_text(e, "(long)(%s)", index_text(e, item->position)));
    }
}

bool pass_has_reduction(const Group *g, int pass) {
    for (int i = 0; i < g->items.count; i++)
        if (reduces_in_pass(&g->items.at[i], pass)) return true;
    return false;
}

static const char *shuffled(Emitter *e, DType type, const char *name) {
    if (type == DTYPE_BOOL) return emitted_text(e, "(__shfl_xor_sync(0xffffffffu, (int)%s, o) != 0)", name);
    return emitted_text(e, "__shfl_xor_sync(0xffffffffu, %s, o)", name);
}

static void emit_shuffles(Emitter *e, int pass, int width) {
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int o = %d; o > 0; o /= 2) {", width / 2);
    int mark = scope_open(e);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        int r = item->reduction;
        emit_line(e, "const %s b%d = %s;", emitted_type(e, item->accumulate), r, shuffled(e, item->accumulate, emitted_text(e, "a%d", r)));
        if (reducer_is_arg(item->reducer)) emit_line(e, "const long m%d = %s;", r, shuffled(e, DTYPE_I64, emitted_text(e, "n%d", r)));
        join_accumulator(e, item, emitted_text(e, "b%d", r), emitted_text(e, "m%d", r));
    }
    close_brace(e, mark);
}

static void emit_warp_partials(Emitter *e, int pass, int warps) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        emit_line(e, "__shared__ %s w%d[%d];", emitted_type(e, item->accumulate), item->reduction, warps);
        if (reducer_is_arg(item->reducer)) emit_line(e, "__shared__ long x%d[%d];", item->reduction, warps);
        emit_line(e, "if (threadIdx.x%%32 == 0) w%d[threadIdx.x/32] = a%d;", item->reduction, item->reduction);
        if (reducer_is_arg(item->reducer)) emit_line(e, "if (threadIdx.x%%32 == 0) x%d[threadIdx.x/32] = n%d;", item->reduction, item->reduction);
    }
    emit_line(e, "__syncthreads();");
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!reduces_in_pass(item, pass)) continue;
        emit_line(e, "a%d = w%d[0];", item->reduction, item->reduction);
        if (reducer_is_arg(item->reducer)) emit_line(e, "n%d = x%d[0];", item->reduction, item->reduction);
    }
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int w = 1; w < %d; w++) {", warps);
    int mark = scope_open(e);
    for (int i = 0; i < e->g->items.count; i++)
        if (reduces_in_pass(&e->g->items.at[i], pass)) join_accumulator(e, &e->g->items.at[i], emitted_text(e, "w%d[w]", e->g->items.at[i].reduction), emitted_text(e, "x%d[w]", e->g->items.at[i].reduction));
    close_brace(e, mark);
}

/* ---- values kept from pass to pass ---- */
typedef struct KeepWalk { Emitter *e; int *passes; int pass; } KeepWalk;

static void note_pass(const Body *value, void *state) {
    KeepWalk *walk = state;
    walk->passes[value->id] |= 1 << (walk->pass > 30 ? 30 : walk->pass);
}

static bool is_costly(const Body *value) { return value->kind == BODY_LOAD || value->kind == BODY_RANDOM || (value->kind == BODY_PRIM && prim_info[value->prim].flops >= 8); }

static void declare_kept(const Body *value, void *state) {
    KeepWalk *walk = state;
    Emitter *e = walk->e;
    int passes = walk->passes[value->id];
    if (!(passes & (passes - 1)) || !is_costly(value) || value_level(e, value) <= e->row_level || map_has(cuda_state(e)->kept, value)) return;
    const char *name = emitted_text(e, "x%d_", value->id);
    emit_line(e, "%s %s[%d];", emitted_type(e, value->type), name, e->g->binding.unroll * cuda_state(e)->vector);
    map_put(cuda_state(e)->kept, value, (void *)(uintptr_t)name);
}

/* kept holds those that are in their arrays already; declared ones wait in `later`. */
static Map *find_kept(Emitter *e) {
    CudaState *s = cuda_state(e);
    if (e->g->binding.unroll == 0 || e->g->passes < 2) return map_new(e->arena);
    KeepWalk walk = {e, ARENA_ARRAY(e->arena, int, e->g->builder->count + 1), 0};
    for (int i = 0; i < e->g->items.count; i++) {
        walk.pass = e->g->items.at[i].depth;
        if (e->g->items.at[i].full) body_each(e->g->items.at[i].value, note_pass, &walk);
    }
    for (int i = 0; i < e->g->items.count; i++)
        if (e->g->items.at[i].full) body_each(e->g->items.at[i].value, declare_kept, &walk);
    Map *declared = s->kept;
    s->kept = map_new(e->arena);
    return declared;
}

static const char *kept_element(Emitter *e, const char *array) {
    return cuda_state(e)->vector > 1 ? emitted_text(e, "%s[k*%d + v]", array, cuda_state(e)->vector) : emitted_text(e, "%s[k]", array);
}

static void name_kept(Emitter *e) {
    CudaState *s = cuda_state(e);
    for (int i = 0; i < map_count(s->kept); i++) {
        MapEntry entry = map_at(s->kept, i);
        const Body *value = entry.key;
        e->names[value->id] = kept_element(e, entry.value);
        vec_push_in(e->arena, &e->scope, value->id);
    }
}

/* Fills the arrays of what this pass computed. */
static void keep_values(Emitter *e, Map *declared, Map *computed) {
    CudaState *s = cuda_state(e);
    for (int i = 0; i < map_count(declared); i++) {
        MapEntry entry = map_at(declared, i);
        const Body *value = entry.key;
        if (map_has(s->kept, value) || map_has(computed, value) || !e->names[value->id]) continue;
        emit_line(e, "%s = %s;", kept_element(e, entry.value), e->names[value->id]);
        map_put(computed, value, entry.value);
    }
}

/* ---- what is read again, in shared memory (a thread reads back what it wrote itself: no barrier) ---- */
typedef struct CacheWalk { Emitter *e; int *passes; int64_t volume /* at most */; } CacheWalk;

static void find_loaded(const Sym *var, void *state) { *(bool *)state |= var->var_kind == SYM_LOADED; }

static void declare_cached(const Body *value, void *state) {
    CacheWalk *walk = state;
    Emitter *e = walk->e;
    CudaState *s = cuda_state(e);
    int passes = walk->passes[value->id];
    bool gathered = false;
    if (value->kind != BODY_LOAD || !(passes & (passes - 1)) || map_has(s->cached, value) || value_level(e, value) <= e->row_level) return;
    dim_each_var(value->index, find_loaded, &gathered);
    if (gathered || (s->vector > 1 && !is_packed(e, value->index))) return;
    const char *type = dtype_info[value->stored].c_type, *name = emitted_text(e, "row%d", value->id);
    emit_line(e, "%s *%s = (%s *)(shared + %d);", type, name, type, e->kernel->shared_bytes);
    e->kernel->shared_bytes += (int)((walk->volume * dtype_size(value->stored) + 15) / 16 * 16);
    map_put(s->cached, value, (void *)(uintptr_t)name);
}

static void declare_shared_row(Emitter *e) {
    if (!e->g->binding.shared_row) return;
    KeepWalk keep = {e, ARENA_ARRAY(e->arena, int, e->g->builder->count + 1), 0};
    for (int i = 0; i < e->g->items.count; i++) {
        keep.pass = e->g->items.at[i].depth;
        if (e->g->items.at[i].full) body_each(e->g->items.at[i].value, note_pass, &keep);
    }
    CacheWalk walk = {e, keep.passes, dim_high(axes_volume(e->l->syms, e->g->axes + e->g->rows, e->g->axis_count - e->g->rows))};
    emit_line(e, "extern __shared__ __align__(16) unsigned char shared[];");
    for (int i = 0; i < e->g->items.count; i++)
        if (e->g->items.at[i].full) body_each(e->g->items.at[i].value, declare_cached, &walk);
}

/* Which of them this pass has put there. */
static void note_filled(Emitter *e) {
    CudaState *s = cuda_state(e);
    for (int i = 0; i < map_count(s->cached); i++)
        if (map_has(s->packs, map_at(s->cached, i).key)) map_put(s->filled, map_at(s->cached, i).key, s);
}

/* ---- ROW ---- */
static void emit_pass_body(Emitter *e, int pass, int level, Map *declared, Map *computed) {
    name_kept(e);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass)) continue;
        emit_values(e, item->value, level, pass);
        if (item->kind == ITEM_STORE) emit_index_values(e, item->index, level, pass);
    }
    keep_values(e, declared, computed);
    emit_accumulate(e, pass);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!in_pass(item, pass) || item->kind != ITEM_STORE) continue;
        if (is_pack_store(e, item)) emit_line(e, "o%d.v[v] = %s;", i, store_text(e, item));
        else emit_store(e, item);
    }
}

/* The part of the row that one thread takes at once: its vector's packs, lanes and stores. */
static void emit_vector(Emitter *e, int pass, int level, Map *declared, Map *computed) {
    CudaState *s = cuda_state(e);
    const char *name = e->axis_names[s->vector_place];
    if (s->vector > 1) e->axis_names[s->vector_place] = emitted_text(e, "%s_first", name);
    emit_axes_of(e, "c", e->g->rows, e->g->axis_count);
    e->axis_names[s->vector_place] = name;
    emit_packs(e, in_pass, pass);
    if (s->vector < 2) {
        emit_pass_body(e, pass, level, declared, computed);
        return;
    }
    for (int i = 0; i < e->g->items.count; i++)
        if (in_pass(&e->g->items.at[i], pass) && e->g->items.at[i].kind == ITEM_STORE && is_pack_store(e, &e->g->items.at[i])) emit_line(e, "%s o%d;", pack_type(e, e->g->items.at[i].buffer), i);
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int v = 0; v < %d; v++) {", s->vector);
    int mark = scope_open(e);
    emit_line(e, "const %s %s = %s_first + v;", e->index_type, name, name);
    emit_pass_body(e, pass, level, declared, computed);
    close_brace(e, mark);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (in_pass(item, pass) && item->kind == ITEM_STORE && is_pack_store(e, item)) emit_line(e, "*(%s *)%s = o%d;", pack_type(e, item->buffer), pack_address(e, item->index, item->buffer), i);
    }
}

static void emit_row_pass(Emitter *e, int pass, Map *declared) {
    const Binding *b = &e->g->binding;
    CudaState *s = cuda_state(e);
    Dim volume = axes_volume(e->l->syms, e->g->axes + e->g->rows, e->g->axis_count - e->g->rows);
    const char *end = index_text(e, volume);
    Map *computed = map_new(e->arena);
    emit_accumulators(e, pass);
    bool exact = dim_is_int(volume) && volume == (Dim)b->unroll * b->threads * s->vector;
    bool guard_rows = b->rows_per_block > 1;
    if (b->unroll) {
        emit_line(e, "#pragma unroll");
        emit_line(e, "for (int k = 0; k < %d; k++) {", b->unroll);
    } else emit_line(e, "for (%s c = (%s)lane*%d; c < %s; c += %d) {", e->index_type, e->index_type, s->vector, end, b->threads * s->vector);
    int mark = scope_open(e);
    if (b->unroll) emit_line(e, "const %s c = (k*%d + (%s)lane)*%d;", e->index_type, b->threads, e->index_type, s->vector);
    bool stores = false;
    for (int i = 0; i < e->g->items.count; i++) stores |= in_pass(&e->g->items.at[i], pass) && e->g->items.at[i].kind == ITEM_STORE;
    const char *inside = !b->unroll || exact ? NULL : emitted_text(e, "c < %s", end), *row_ok = guard_rows && stores ? "row_ok" : NULL;
    int inner = -1;
    if (inside || row_ok) {
        emit_line(e, "if (%s%s%s) {", inside ? inside : "", inside && row_ok ? " && " : "", row_ok ? row_ok : "");
        inner = scope_open(e);
    }
    emit_vector(e, pass, e->axis_level[e->g->axis_count - 1], declared, computed);
    if (inner >= 0) close_brace(e, inner);
    close_brace(e, mark);
    note_filled(e);
    for (int i = 0; i < map_count(computed); i++) map_put(s->kept, map_at(computed, i).key, map_at(computed, i).value);
    if (!pass_has_reduction(e->g, pass)) return;
    emit_shuffles(e, pass, b->threads < 32 ? b->threads : 32);
    if (b->threads > 32) emit_warp_partials(e, pass, b->threads / 32);
}

static void emit_row_values(Emitter *e, int pass) {
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!item->full || item->depth != pass) continue;
        emit_values(e, item->value, e->row_level, pass);
        if (item->kind == ITEM_STORE) emit_index_values(e, item->index, e->row_level, pass);
    }
}

static void emit_row_stores(Emitter *e, int pass, const char *condition) {
    bool any = false;
    for (int i = 0; i < e->g->items.count; i++) any |= e->g->items.at[i].kind == ITEM_STORE && !e->g->items.at[i].full && e->g->items.at[i].depth == pass;
    if (!any) return;
    emit_line(e, "if (%s) {", condition);
    int mark = scope_open(e);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (item->kind != ITEM_STORE || item->full || item->depth != pass) continue;
        emit_values(e, item->value, e->row_level, pass);
        emit_index_values(e, item->index, e->row_level, pass);
    }
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (item->kind == ITEM_STORE && !item->full && item->depth == pass) emit_store(e, item);
    }
    close_brace(e, mark);
}

int group_last_depth(const Group *g) {
    int depth = g->passes;
    for (int i = 0; i < g->items.count; i++)
        if (g->items.at[i].kind == ITEM_STORE && g->items.at[i].depth > depth) depth = g->items.at[i].depth;
    return depth;
}

static void emit_row_frame(Emitter *e, Dim rows) {
    const Binding *b = &e->g->binding;
    const char *t = e->index_type;
    bool shared = b->rows_per_block > 1;
    emit_line(e, shared ? "const int lane = (int)threadIdx.x%%%d;" : "const int lane = (int)threadIdx.x;", b->threads);
    if (!shared) emit_line(e, "const %s row = (%s)blockIdx.x;", t, t);
    else {
        emit_line(e, "const %s row_wanted = (%s)blockIdx.x*%d + (%s)threadIdx.x/%d;", t, t, b->rows_per_block, t, b->threads);
        emit_line(e, "const bool row_ok = row_wanted < %s; // all lanes of a warp take part in its shuffles", index_text(e, rows));
        emit_line(e, "const %s row = row_ok ? row_wanted : %s - 1;", t, index_text(e, rows));
    }
    emit_axes_of(e, "row", 0, e->g->rows);
}

void generate_cuda_rows(Emitter *e) {
    const Group *g = e->g;
    const Binding *b = &g->binding;
    SymTable *syms = e->l->syms;
    Dim rows = axes_volume(syms, g->axes, g->rows);
    set_grid(e, dim_floordiv(syms, dim_add(syms, rows, b->rows_per_block - 1), b->rows_per_block), b->threads * b->rows_per_block, 1);
    e->kernel->vector_bytes = cuda_state(e)->vector > 1 ? 16 : 1;
    for (int i = 0; i < g->axis_count; i++) e->axis_level[i] = i < g->rows ? 1 : 2;
    e->row_level = 1;
    emit_row_frame(e, rows);
    Map *declared = find_kept(e);
    declare_shared_row(e);
    for (int pass = 0; pass <= group_last_depth(g); pass++) {
        emit_row_values(e, pass);
        emit_row_stores(e, pass, b->rows_per_block > 1 ? "lane == 0 && row_ok" : "lane == 0");
        if (pass < g->passes) emit_row_pass(e, pass, declared);
    }
}
