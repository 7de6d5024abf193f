/* Bind: axes to threads, vectors, blocks. In: built groups and the kind of device. Out: each group's Binding, one line on it in the kernel.
 *
 * What decides: which axis is contiguous in what the group touches most, and how long it is (docs: performance of each pattern).
 *   POINTWISE  no columns: CPU the outer loops over threads, the inner one in vectors; CUDA 16 bytes of the narrowest operand a thread
 *   TILED      no columns, but a large operand is contiguous along another axis than the result
 *   ROW        columns contiguous: CPU a row a thread; CUDA a warp or a block a row, the row in registers while it fits
 *   COLUMN     rows contiguous: CPU blocks of rows; CUDA 32 x 8 threads
 * Invariant: a choice depends on sizes, strides and the kind of device, never on the number of threads or processors. */
#include "inductor/inductor.h"

enum { WORTH_THREADS = 262144 }; /* below it a fork and join costs more than the loop, and on a busy machine far more */

static bool has_columns(const Group *g) { return g->axis_count > g->rows; }

/* Stride of the group's axis in an access, 0 when it does not move with it, INT64_MAX when it is no stride. */
static int64_t stride_in(const Lowered *l, Dim index, Dim var) {
    Dim coefficient, rest;
    if (!dim_linear(l->syms, index, var, &coefficient, &rest)) return INT64_MAX;
    int64_t stride = dim_hint(coefficient);
    return stride < 0 ? -stride : stride;
}

/* Bytes that the group moves with unit stride along an axis. */
static int64_t unit_bytes(const Lowered *l, const Group *g, Dim var) {
    int64_t bytes = 0;
    for (int i = 0; i < g->accesses.count; i++)
        if (stride_in(l, g->accesses.at[i].index, var) == 1) bytes += buffer_hint_bytes(&l->buffers.at[g->accesses.at[i].buffer]);
    return bytes;
}

static Pattern choose_pattern(const Lowered *l, Group *g) {
    LoopKind kind = g->members.at[0].loop->kind;
    if (kind == LOOP_EXTERN || kind == LOOP_MATMUL) return PATTERN_EXTERN;
    if (kind == LOOP_SCATTER) return PATTERN_SCATTER;
    if (has_columns(g)) {
        int64_t rows = g->rows ? unit_bytes(l, g, g->axes[g->rows - 1].var) : 0, columns = unit_bytes(l, g, g->axes[g->axis_count - 1].var);
        return rows > columns && dim_hint(g->axes[g->rows - 1].extent) >= 4 ? PATTERN_COLUMN : PATTERN_ROW;
    }
    if (g->axis_count < 2) return PATTERN_POINTWISE;
    int64_t along = unit_bytes(l, g, g->axes[g->axis_count - 1].var), most = 0;
    for (int i = 0; i < g->axis_count - 1; i++) {
        int64_t bytes = unit_bytes(l, g, g->axes[i].var);
        if (bytes <= most || dim_hint(g->axes[i].extent) < 16 || dim_hint(g->axes[g->axis_count - 1].extent) < 16) continue;
        most = bytes;
        g->binding.tile_axis = i;
    }
    return most > 0 && along > 0 && most >= along / 8 && hint_volume(g->axes, g->axis_count) >= 4096 ? PATTERN_TILED : PATTERN_POINTWISE;
}

/* Number of outer loops that give at least 64 pieces; all of them when they do not, and the innermost then shares itself out. */
static int choose_collapse(const Group *g, int loops) {
    int64_t pieces = 1;
    for (int i = 0; i < loops; i++) {
        pieces *= dim_hint(g->axes[i].extent);
        if (pieces >= 64) return i + 1;
    }
    return loops;
}

static double work_of(const Group *g) {
    double points = (double)hint_volume(g->axes, g->axis_count);
    return points > g->flops / 4 ? points : g->flops / 4;
}

static void bind_cpu(Group *g) {
    Binding *b = &g->binding;
    b->parallel = work_of(g) >= WORTH_THREADS;
    int64_t columns = hint_volume(g->axes + g->rows, g->axis_count - g->rows), inner = g->axis_count ? dim_hint(g->axes[g->axis_count - 1].extent) : 1;
    switch (b->pattern) {
    case PATTERN_POINTWISE: {
        int64_t outer = g->axis_count ? hint_volume(g->axes, g->axis_count - 1) : 1;
        b->collapse = g->axis_count < 2 || (outer < 16 && inner >= WORTH_THREADS / 4) ? g->axis_count : choose_collapse(g, g->axis_count - 1);
        break;
    }
    case PATTERN_ROW:
        b->collapse = choose_collapse(g, g->rows);
        b->parallel &= g->rows > 0;
        b->lanes = inner >= 512 ? 64 : inner >= 48 ? 16 : inner >= 16 ? 8 : 1;
        break;
    case PATTERN_COLUMN: b->lanes = columns >= 8 && dim_hint(g->axes[g->rows - 1].extent) >= 1024 ? 256 : 64; break;
    default: break;
    }
}

/* ---- CUDA ---- */
typedef struct Width { const Lowered *l; const Group *g; int narrowest; bool wide, narrow; } Width;

static void measure_buffer(Width *w, int buffer) {
    const Meta *meta = &w->l->buffers.at[buffer].buffer.meta;
    int size = dtype_size(meta->dtype);
    if (size < w->narrowest) w->narrowest = size;
    if (meta_is_static(meta) ? meta_storage_span(meta) >= INT64_C(1) << 31 : !w->narrow) w->wide = true;
}

static void measure_value(const Body *value, void *state) {
    Width *w = state;
    if (value->kind == BODY_LOAD) measure_buffer(w, value->buffer);
}

/* Largest vector of the innermost axis: every access along it has stride 1 or 0, whole vectors fit rows and strides. */
static bool is_vectorizable(const Lowered *l, const Group *g, Dim var, Dim index, int vector) {
    Dim coefficient, rest;
    if (!dim_linear(l->syms, index, var, &coefficient, &rest)) return false;
    if (coefficient == 0) return true;
    if (coefficient != 1) return false;
    return dim_mod(l->syms, rest, vector) == 0;
    (void)g;
}

typedef struct VectorCheck { const Lowered *l; const Group *g; Dim var; int vector; bool good, level_only; } VectorCheck;

static void check_loaded(const Sym *var, void *state) {
    VectorCheck *check = state;
    if (var->var_kind == SYM_LOADED) check->level_only = true;
}

static void check_value(const Body *value, void *state) {
    VectorCheck *check = state;
    if (value->kind != BODY_LOAD || !check->good) return;
    check->level_only = false;
    dim_each_var(value->index, check_loaded, check);
    if (check->level_only) return; /* gathered: element by element */
    Dim coefficient, rest;
    bool linear = dim_linear(check->l->syms, value->index, check->var, &coefficient, &rest);
    if (linear && coefficient == 1 && !is_vectorizable(check->l, check->g, check->var, value->index, check->vector)) check->good = false;
}

/* One flat axis of symbolic extent: what is left over of it is done element by element. */
static bool may_have_tail(const Group *g, Dim extent) { return g->binding.pattern == PATTERN_POINTWISE && g->axis_count == 1 && !dim_is_int(extent); }

/* Loads with other strides are made element by element; what has stride 1 must be aligned. A store must be whole. */
static bool vector_fits(const Lowered *l, const Group *g, Dim var, Dim extent, int vector) {
    if (dim_mod(l->syms, extent, vector) != 0 && !may_have_tail(g, extent)) return false;
    VectorCheck check = {l, g, var, vector, true, false};
    for (int i = 0; i < g->items.count && check.good; i++) {
        body_each(g->items.at[i].value, check_value, &check);
        if (g->items.at[i].kind != ITEM_STORE) continue;
        Dim coefficient, rest;
        bool linear = dim_linear(l->syms, g->items.at[i].index, var, &coefficient, &rest);
        if (!linear || (coefficient == 1 && !is_vectorizable(l, g, var, g->items.at[i].index, vector))) check.good = false;
    }
    return check.good;
}

static int choose_vector(const Lowered *l, const Group *g, int axis, int narrowest) {
    for (int vector = 16 / narrowest; vector > 1; vector /= 2)
        if (vector_fits(l, g, g->axes[axis].var, g->axes[axis].extent, vector)) return vector;
    return 1;
}

/* Bytes and number of full loads that more than one pass reads. */
typedef struct Again { int *passes; int pass, values, bytes; } Again;

static void note_load_pass(const Body *value, void *state) {
    Again *again = state;
    if (value->kind == BODY_LOAD) again->passes[value->id] |= 1 << (again->pass > 30 ? 30 : again->pass);
}

static void count_again(const Body *value, void *state) {
    Again *again = state;
    int *passes = value->kind == BODY_LOAD ? &again->passes[value->id] : NULL;
    if (!passes || !(*passes & (*passes - 1))) return;
    *passes = 0;
    again->values++;
    again->bytes += dtype_size(value->stored);
}

static Again find_again(const Group *g) {
    Arena *scratch = arena_new("bind");
    Again again = {.passes = ARENA_ARRAY(scratch, int, g->builder->count + 1)};
    for (int i = 0; i < g->items.count; i++) {
        again.pass = g->items.at[i].depth;
        if (g->items.at[i].full) body_each(g->items.at[i].value, note_load_pass, &again);
    }
    for (int i = 0; i < g->items.count; i++)
        if (g->items.at[i].full) body_each(g->items.at[i].value, count_again, &again);
    again.passes = NULL;
    arena_free(scratch);
    return again;
}

static int threads_for(int64_t vectors, int64_t volume) {
    if (vectors <= 8) return 8;
    if (vectors <= 16) return 16;
    if (volume <= 1024) return 32;
    return vectors <= 512 ? 128 : vectors <= 2048 ? 256 : vectors <= 4096 ? 512 : 1024;
}

/* Threads a row and vectors a thread: the row in registers while they suffice (32 values a thread, 64 where threads are few), else what is read
 * again in shared memory, else read again. */
static void bind_cuda_row(const Lowered *l, Binding *b, const Group *g) {
    enum { SHARED_BYTES = 200 * 1024 };
    int64_t most = dim_high(axes_volume(l->syms, g->axes + g->rows, g->axis_count - g->rows));
    bool is_static = most < INT64_C(1) << 31; /* or as good: symbolic, with a bound */
    int64_t volume = is_static ? most : hint_volume(g->axes + g->rows, g->axis_count - g->rows), vectors = (volume + b->vector - 1) / b->vector, each;
    Again again = find_again(g);
    int arrays = again.values > 1 ? again.values : 1;
    b->threads = threads_for(vectors, volume);
    each = (vectors + b->threads - 1) / b->threads;
    while (b->threads >= 128 && b->threads < 1024 && each * b->vector * arrays > 32) {
        b->threads *= 2;
        each = (vectors + b->threads - 1) / b->threads;
    }
    b->unroll = is_static && each * b->vector * arrays <= (b->threads < 1024 ? 64 : 32) ? (int)each : 0;
    if (b->unroll == 0 && b->threads < 256) b->threads = 256;
    b->shared_row = is_static && b->unroll == 0 && g->passes > 1 && again.values > 0 && volume * again.bytes <= SHARED_BYTES;
    b->rows_per_block = b->threads <= 32 ? 128 / b->threads : 1;
}

static void bind_cuda(const Compile *c, const Lowered *l, Group *g) {
    Binding *b = &g->binding;
    Width width = {l, g, 16, false, c->narrow};
    for (int i = 0; i < g->items.count; i++) {
        body_each(g->items.at[i].value, measure_value, &width);
        if (g->items.at[i].kind == ITEM_STORE) measure_buffer(&width, g->items.at[i].buffer);
    }
    int64_t volume = hint_volume(g->axes, g->axis_count);
    bool is_static = true;
    for (int i = 0; i < g->axis_count; i++) is_static &= dim_is_int(g->axes[i].extent);
    b->wide_index = width.wide || (is_static ? volume >= INT64_C(1) << 31 : !c->narrow);
    b->vector = 1;
    b->threads = 256;
    if (b->pattern == PATTERN_POINTWISE && g->axis_count) {
        b->vector = choose_vector(l, g, g->axis_count - 1, width.narrowest);
        if (is_static && volume * width.narrowest < 8 << 20) b->threads = 128;
    }
    if (b->pattern == PATTERN_TILED) b->vector = width.narrowest >= 4 ? 1 : 4 / width.narrowest; /* lines of 128 bytes */
    if (b->pattern == PATTERN_COLUMN) b->vector = choose_vector(l, g, g->rows - 1, width.narrowest);
    if (b->pattern == PATTERN_ROW) {
        b->vector = choose_vector(l, g, g->axis_count - 1, width.narrowest);
        bind_cuda_row(l, b, g);
    }
}

static void mark_axes(Group *g, Device device) {
    for (int i = 0; i < g->axis_count; i++) {
        bool row = i < g->rows, inner = i == g->axis_count - 1;
        if (device.kind == DEVICE_CUDA) g->axes[i].bind = row && g->binding.pattern != PATTERN_COLUMN ? BIND_BLOCK : BIND_THREAD;
        else if (inner && g->binding.pattern != PATTERN_COLUMN) g->axes[i].bind = BIND_VECTOR;
        else g->axes[i].bind = g->binding.parallel && row && i < (g->binding.collapse ? g->binding.collapse : g->rows) ? BIND_CPU_THREAD : BIND_SERIAL;
    }
}

void bind_axes(Compile *c, Schedule *s, Device device) {
    for (int i = 0; i < s->groups.count; i++) {
        Group *g = s->groups.at[i];
        g->binding = (Binding){0};
        g->binding.pattern = choose_pattern(s->lowered, g);
        if (g->binding.pattern == PATTERN_EXTERN) continue;
        if (device.kind == DEVICE_CUDA) bind_cuda(c, s->lowered, g);
        else bind_cpu(g);
        mark_axes(g, device);
    }
}
