/* Gen CUDA: a bound group as one CUDA kernel, in text that needs no header. In: a group, the vector's width. Out: extern "C" __global__ void name(…).
 *
 *     const int i = ((int)blockIdx.x*256 + (int)threadIdx.x)*4;          one vector of 16 bytes a thread
 *     const fused_add_0_pack<float, 4> q3 = *(const …)(p0 + i);
 *     for (int v = 0; v < 4; v++) { const float t3 = q3.v[v]; …; o0.v[v] = t7; }
 *
 * Arguments are the pointers, then the symbolic sizes as long. Vectors need aligned pointers (Kernel.vector_bytes): else the scalar twin runs.
 * Indices are int where everything touched has less than 2^31 elements. */
#include "inductor/gen_cuda.h"
#include <string.h>

static bool stores_to(const Emitter *e, int pointer) {
    for (int k = 0; k < e->g->items.count; k++)
        if (e->g->items.at[k].kind == ITEM_STORE && pointer_of(e, e->g->items.at[k].buffer) == pointer) return true;
    return false;
}

/* Inputs are read-only for the whole launch unless the kernel writes into an input, which others may overlap. */
static bool may_restrict(const Emitter *e) {
    for (int i = 0; i < e->buffer_count; i++)
        if (stores_to(e, i) && e->l->buffers.at[e->buffers[i]].buffer.role == BUFFER_INPUT) return false;
    return true;
}

/* All that is stored is rounded to 16 bits, and nothing on the way is cut to whole numbers, where a unit of the last place would show. */
static void find_cut(const Body *value, void *state) {
    bool *cuts = state;
    if (value->kind == BODY_CAST && value->type == DTYPE_I64 && value->args[0]->type != DTYPE_BOOL && value->args[0]->type != DTYPE_I64) *cuts = true;
    if (value->kind != BODY_PRIM) return;
    switch (value->prim) {
    case PRIM_FLOOR: case PRIM_CEIL: case PRIM_ROUND: case PRIM_TRUNC: case PRIM_FLOORDIV: case PRIM_MOD: case PRIM_TRUNCDIV: case PRIM_FMOD: *cuts = true; break;
    default: break;
    }
}

static bool may_divide_quickly(const Emitter *e) {
    bool cuts = false;
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        body_each(item->value, find_cut, &cuts);
        if (item->kind == ITEM_REDUCE) continue;
        DType dtype = e->l->buffers.at[item->buffer].buffer.meta.dtype;
        if (!dtype_is_float(dtype) || dtype_size(dtype) != 2) return false;
    }
    return !cuts;
}

/* A size that fits 32 bits, in a kernel whose indices do: divisions by it are then of 32 bits, too. */
static bool is_narrow_size(const Emitter *e, int i) { return strcmp(e->index_type, "int") == 0 && dim_low(e->sizes[i]) >= 0 && dim_high(e->sizes[i]) <= INT32_MAX; }

static void emit_signature(Emitter *e, int threads) {
    const char *qualifier = may_restrict(e) ? "__restrict__ " : "";
    emit_random_helper(e);
    e->quick_division = may_divide_quickly(e);
    if (e->quick_division)
        emit_line(e, "static __device__ __forceinline__ float %s_divide(float a, float b) { float q; asm(\"div.full.f32 %%0, %%1, %%2;\" : \"=f\"(q) : \"f\"(a), \"f\"(b)); return q; }", e->g->name);
    if (cuda_state(e)->vector > 1)
        emit_line(e, "template <typename T, int N> struct __align__(sizeof(T)*N < 16 ? sizeof(T)*N : 16) %s_pack { T v[N]; };", e->g->name);
    emit_head_comment(e);
    emit_line(e, "extern \"C\" __global__ void __launch_bounds__(%d) %s(", threads, e->g->name);
    for (int i = 0; i < e->buffer_count; i++) {
        const char *type = dtype_info[e->l->buffers.at[e->buffers[i]].buffer.meta.dtype].c_type, *comma = i + 1 < e->buffer_count + e->size_count ? "," : "";
        if (stores_to(e, i)) emit_line(e, "    %s *p%d%s", type, i, comma);
        else emit_line(e, "    const %s *%sp%d%s", type, qualifier, i, comma);
    }
    for (int i = 0; i < e->size_count; i++) emit_line(e, "    const long s%d%s%s", i, is_narrow_size(e, i) ? "_" : "", i + 1 < e->size_count ? "," : "");
    emit_line(e, ") {");
    scope_open(e);
    for (int i = 0; i < e->size_count; i++)
        if (is_narrow_size(e, i)) emit_line(e, "const int s%d = (int)s%d_;", i, i);
}

void set_grid(Emitter *e, Dim blocks, int threads_x, int threads_y) {
    e->kernel->grid[0] = blocks;
    e->kernel->grid[1] = e->kernel->grid[2] = 1;
    e->kernel->block[0] = threads_x;
    e->kernel->block[1] = threads_y;
    e->kernel->block[2] = 1;
}

void emit_axes_of(Emitter *e, const char *flat, int first, int last) {
    Dim stride = 1;
    for (int i = last - 1; i >= first; i--) {
        Dim extent = e->g->axes[i].extent;
        const char *divided = stride == 1 ? flat : emitted_text(e, "%s/(%s)", flat, index_text(e, stride));
        if (i == first) emit_line(e, "const %s %s = %s;", e->index_type, e->axis_names[i], divided);
        else emit_line(e, "const %s %s = (%s)%%(%s);", e->index_type, e->axis_names[i], divided, index_text(e, extent));
        stride = dim_mul(e->l->syms, stride, extent);
    }
}

/* ---- packs ---- */
const char *pack_type(Emitter *e, int buffer) {
    return emitted_text(e, "%s_pack<%s, %d>", e->g->name, dtype_info[e->l->buffers.at[buffer].buffer.meta.dtype].c_type, cuda_state(e)->vector);
}

static void find_loaded(const Sym *var, void *state) { *(bool *)state |= var->var_kind == SYM_LOADED; }

/* Stride 1 along the vector axis, and the rest a multiple of the vector. */
bool is_packed(Emitter *e, Dim index) {
    CudaState *s = cuda_state(e);
    Dim coefficient, rest;
    bool gathered = false;
    if (s->vector < 2) return false;
    dim_each_var(index, find_loaded, &gathered);
    if (gathered || !dim_linear(e->l->syms, index, e->g->axes[s->vector_place].var, &coefficient, &rest)) return false;
    return coefficient == 1 && dim_mod(e->l->syms, rest, s->vector) == 0;
}

bool is_pack_store(Emitter *e, const Item *item) { return is_packed(e, item->index); }

const char *pack_address(Emitter *e, Dim index, int buffer) {
    CudaState *s = cuda_state(e);
    const char *former = e->axis_names[s->vector_place];
    e->axis_names[s->vector_place] = emitted_text(e, "%s_first", former);
    const char *text = emitted_text(e, "(p%d + (%s))", pointer_of(e, buffer), index_text(e, index));
    e->axis_names[s->vector_place] = former;
    return text;
}

/* Random words of the whole vector: four elements share a block. */
static void emit_words(Emitter *e, const Body *value) {
    CudaState *s = cuda_state(e);
    if (s->vector % 4 || map_has(s->packs, value) || map_has(s->kept, value) || !is_packed(e, value->index)) return;
    const char *former = e->axis_names[s->vector_place];
    e->axis_names[s->vector_place] = emitted_text(e, "%s_first", former);
    const char *first = index_text(e, value->index);
    e->axis_names[s->vector_place] = former;
    emit_line(e, "unsigned u%d[%d];", value->id, s->vector);
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int k = 0; k < %d; k += 4) %s_words(%s, %s, %lld, ((unsigned long)(%s) + k) >> 2, u%d + k);", s->vector, e->g->name, index_text(e, e->l->seed),
              index_text(e, e->l->offset), (long long)value->integer, first, value->id);
    map_put(s->packs, value, (void *)(uintptr_t)emitted_text(e, "u%d[v]", value->id));
}

/* From memory, or from shared memory once an earlier pass has put it there. */
static void emit_pack(const Body *value, void *state) {
    Emitter *e = state;
    CudaState *s = cuda_state(e);
    if (value->kind == BODY_RANDOM) emit_words(e, value);
    if (value->kind != BODY_LOAD || map_has(s->packs, value) || map_has(s->kept, value) || !is_packed(e, value->index)) return;
    const char *type = pack_type(e, value->buffer), *cache = map_get(s->cached, value);
    if (cache && map_has(s->filled, value)) emit_line(e, "const %s q%d = *(const %s *)(%s + c);", type, value->id, type, cache);
    else emit_line(e, "const %s q%d = *(const %s *)%s;", type, value->id, type, pack_address(e, value->index, value->buffer));
    if (cache && !map_has(s->filled, value)) emit_line(e, "*(%s *)(%s + c) = q%d;", type, cache, value->id);
    map_put(s->packs, value, (void *)(uintptr_t)emitted_text(e, "q%d.v[v]", value->id));
}

static void emit_single(const Body *value, void *state) {
    Emitter *e = state;
    CudaState *s = cuda_state(e);
    const char *cache = value->kind == BODY_LOAD ? map_get(s->cached, value) : NULL;
    if (!cache || map_has(s->packs, value)) return;
    if (!map_has(s->filled, value)) emit_line(e, "%s[c] = p%d[%s];", cache, pointer_of(e, value->buffer), index_text(e, value->index));
    map_put(s->packs, value, (void *)(uintptr_t)emitted_text(e, "%s[c]", cache));
}

void emit_packs(Emitter *e, bool (*wanted)(const Item *item, int pass), int pass) {
    CudaState *s = cuda_state(e);
    s->packs = map_new(e->arena);
    for (int i = 0; i < e->g->items.count; i++)
        if (wanted(&e->g->items.at[i], pass)) body_each(e->g->items.at[i].value, s->vector < 2 ? emit_single : emit_pack, e);
}

const char *pack_element(Emitter *e, const Body *load) { return map_get(cuda_state(e)->packs, load); }

/* ---- pointwise ---- */
static bool any_item(const Item *item, int pass) {
    (void)pass;
    return item->kind == ITEM_STORE;
}

static void emit_all_values(Emitter *e, int level) {
    for (int i = 0; i < e->g->items.count; i++) {
        emit_values(e, e->g->items.at[i].value, level, 0);
        emit_index_values(e, e->g->items.at[i].index, level, 0);
    }
}

static void emit_vector_body(Emitter *e) {
    CudaState *s = cuda_state(e);
    const char *name = e->axis_names[s->vector_place];
    emit_packs(e, any_item, 0);
    for (int i = 0; i < e->g->items.count; i++)
        if (is_pack_store(e, &e->g->items.at[i])) emit_line(e, "%s o%d;", pack_type(e, e->g->items.at[i].buffer), i);
    emit_line(e, "#pragma unroll");
    emit_line(e, "for (int v = 0; v < %d; v++) {", s->vector);
    int mark = scope_open(e);
    emit_line(e, "const %s %s = %s_first + v;", e->index_type, name, name);
    emit_all_values(e, 2);
    for (int i = 0; i < e->g->items.count; i++) {
        if (is_pack_store(e, &e->g->items.at[i])) emit_line(e, "o%d.v[v] = %s;", i, store_text(e, &e->g->items.at[i]));
        else emit_store(e, &e->g->items.at[i]);
    }
    scope_close(e, mark);
    emit_line(e, "}");
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (is_pack_store(e, item)) emit_line(e, "*(%s *)%s = o%d;", pack_type(e, item->buffer), pack_address(e, item->index, item->buffer), i);
    }
}

static void emit_stores(Emitter *e) {
    for (int i = 0; i < e->g->items.count; i++) emit_store(e, &e->g->items.at[i]);
}

/* The last vector of a flat axis may be cut short: then its elements one by one. */
static void emit_vector_or_tail(Emitter *e, Dim volume) {
    CudaState *s = cuda_state(e);
    const char *name = e->axis_names[s->vector_place];
    int vector = s->vector, mark;
    emit_line(e, "if (i + %d <= %s) {", vector, index_text(e, volume));
    mark = scope_open(e);
    emit_vector_body(e);
    scope_close(e, mark);
    emit_line(e, "} else for (%s %s = %s_first; %s < %s; %s++) {", e->index_type, name, name, name, index_text(e, volume), name);
    mark = scope_open(e);
    s->vector = 1;
    s->packs = map_new(e->arena);
    emit_all_values(e, 2);
    emit_stores(e);
    s->vector = vector;
    scope_close(e, mark);
    emit_line(e, "}");
}

static void emit_pointwise(Emitter *e) {
    CudaState *s = cuda_state(e);
    const Group *g = e->g;
    SymTable *syms = e->l->syms;
    int threads = g->binding.threads;
    Dim volume = axes_volume(syms, g->axes, g->axis_count), span = (Dim)threads * s->vector;
    set_grid(e, dim_floordiv(syms, dim_add(syms, volume, span - 1), span), threads, 1);
    e->kernel->vector_bytes = s->vector > 1 ? 16 : 1;
    for (int i = 0; i < g->axis_count; i++) e->axis_level[i] = i == s->vector_place && s->vector > 1 ? 2 : 1;
    if (s->vector > 1) emit_line(e, "const %s i = ((%s)blockIdx.x*%d + (%s)threadIdx.x)*%d;", e->index_type, e->index_type, threads, e->index_type, s->vector);
    else emit_line(e, "const %s i = (%s)blockIdx.x*%d + (%s)threadIdx.x;", e->index_type, e->index_type, threads, e->index_type);
    emit_line(e, "if (i >= %s) return;", index_text(e, volume));
    if (s->vector > 1) e->axis_names[s->vector_place] = emitted_text(e, "%s_first", e->axis_names[s->vector_place]);
    emit_axes_of(e, "i", 0, g->axis_count);
    if (s->vector > 1) e->axis_names[s->vector_place] = emitted_text(e, "i%d", s->vector_place);
    emit_all_values(e, 1);
    if (s->vector < 2) emit_stores(e);
    else if (dim_mod(syms, volume, s->vector) == 0) emit_vector_body(e);
    else emit_vector_or_tail(e, volume);
}

/* ---- scatter ---- */
static void emit_narrow_update(Emitter *e) {
    static const char *const lines[] = {
        "    const unsigned long at = (unsigned long)p;",
        "    unsigned *word = (unsigned *)(at & ~3ul);",
        "    const unsigned shift = (unsigned)(at & 3)*8, mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;",
        "    unsigned old = *word, seen;",
        "    do {",
        "        seen = old;",
        "        const T next = f((T)((seen & mask) >> shift));",
        "        old = atomicCAS(word, seen, (seen & ~mask) | (((unsigned)next << shift) & mask));",
        "    } while (old != seen);",
        "}",
    };
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        if (!item->adds || dtype_size(e->l->buffers.at[item->buffer].buffer.meta.dtype) > 2) continue;
        emit_line(e, "template <typename T, typename F> static __device__ void %s_update(T *p, F f) {", e->g->name);
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) emit_line(e, "%s", lines[k]);
        return;
    }
}

static void emit_atomic_add(Emitter *e, const Item *item) {
    DType stored = e->l->buffers.at[item->buffer].buffer.meta.dtype, compute = dtype_info[stored].compute;
    const char *value = emitted_cast(e, item->value->type, compute, value_name(e, item->value)), *address = emitted_text(e, "p%d + (%s)", pointer_of(e, item->buffer), index_text(e, item->index));
    if (stored == DTYPE_F32 || stored == DTYPE_F64) emit_line(e, "atomicAdd(%s, %s);", address, value);
    else if (stored == DTYPE_I64) emit_line(e, "atomicAdd((unsigned long long *)(%s), (unsigned long long)%s);", address, value);
    else if (stored == DTYPE_I32) emit_line(e, "atomicAdd(%s, (int)%s);", address, value);
    else {
        Text old = {0}, sum = {0};
        scalar_load_print(&old, e->target, stored, "now");
        scalar_store_print(&sum, e->target, stored, combined_text(e, REDUCE_SUM, compute, text_cstr(&old), value));
        const char *type = dtype_info[stored].c_type;
        emit_line(e, "%s_update(%s, [&](%s now) { return (%s)%s; });", e->g->name, address, type, type, text_cstr(&sum));
        text_free(&old), text_free(&sum);
    }
}

static void emit_scatter(Emitter *e) {
    const Group *g = e->g;
    SymTable *syms = e->l->syms;
    Dim volume = axes_volume(syms, g->axes, g->axis_count);
    set_grid(e, dim_floordiv(syms, dim_add(syms, volume, 255), 256), 256, 1);
    e->kernel->vector_bytes = 1;
    for (int i = 0; i < g->axis_count; i++) e->axis_level[i] = 1;
    emit_line(e, "const %s i = (%s)blockIdx.x*256 + (%s)threadIdx.x;", e->index_type, e->index_type, e->index_type);
    emit_line(e, "if (i >= %s) return;", index_text(e, volume));
    emit_axes_of(e, "i", 0, g->axis_count);
    emit_all_values(e, 1);
    for (int i = 0; i < g->items.count; i++) {
        if (g->items.at[i].adds) emit_atomic_add(e, &g->items.at[i]);
        else emit_store(e, &g->items.at[i]);
    }
}

Made generate_cuda(Compile *c, const Lowered *l, const Group *g, int vector) {
    Emitter *e = emitter_new(c, l, g, TARGET_CUDA);
    CudaState *s = ARENA_NEW(e->arena, CudaState);
    *s = (CudaState){.vector = vector, .vector_place = g->axis_count - 1, .packs = map_new(e->arena), .kept = map_new(e->arena),
                      .cached = map_new(e->arena), .filled = map_new(e->arena)};
    e->state = s;
    e->load_name = pack_element;
    e->index_type = g->binding.wide_index ? "long" : "int";
    e->kernel->vector_bytes = 1;
    Pattern pattern = g->binding.pattern;
    if (pattern == PATTERN_SCATTER) emit_narrow_update(e);
    emit_signature(e, pattern == PATTERN_ROW ? g->binding.threads * g->binding.rows_per_block : pattern == PATTERN_POINTWISE ? g->binding.threads : 256);
    if (pattern == PATTERN_ROW) generate_cuda_rows(e);
    else if (pattern == PATTERN_COLUMN) generate_cuda_columns(e);
    else if (pattern == PATTERN_TILED) generate_cuda_tiles(e);
    else if (pattern == PATTERN_SCATTER) emit_scatter(e);
    else emit_pointwise(e);
    scope_close(e, 0);
    emit_line(e, "}");
    return emitter_take(e);
}
