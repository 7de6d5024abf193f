/* Gen: names, scopes and values. In: the bodies of a group. Out: declarations, each at the level of the innermost axis that it uses.
 *
 *     emit_values(e, item->value, level, depth);     //  const float t5 = (t3 + t4);
 *     emit_store(e, item);                           //  p2[5*i0 + i1] = t5;
 *
 * Invariant: a value is declared before it is named, and no name outlives its scope. */
#include "inductor/gen.h"
#include <math.h>
#include <string.h>

void emit_line(Emitter *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    for (int i = 0; i < e->text.indent; i++) text_char(&e->text, ' ');
    text_vprintf(&e->text, format, list);
    text_char(&e->text, '\n');
    va_end(list);
}

const char *emitted_text(Emitter *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const char *text = arena_vprintf(e->arena, format, list);
    va_end(list);
    return text;
}

static const char *take_text(Emitter *e, Text *text) {
    const char *copy = text_in(text, e->arena);
    text_free(text);
    return copy;
}

const char *emitted_type(const Emitter *e, DType type) { return scalar_type_name(e->target, type); }

const char *emitted_cast(Emitter *e, DType from, DType to, const char *operand) {
    Text text = {0};
    scalar_cast_print(&text, e->target, from, to, operand);
    return take_text(e, &text);
}

const char *emitted_constant(Emitter *e, DType type, double value, int64_t integer) {
    Text text = {0};
    scalar_const_print(&text, e->target, type, value, integer);
    return take_text(e, &text);
}

/* ---- what the kernel takes ---- */
typedef struct Gather { Emitter *e; Map *seen; } Gather;

static int home_of(const Emitter *e, int buffer) { return e->l->buffers.at[buffer].placed_in >= 0 ? e->l->buffers.at[buffer].placed_in : buffer; }

static void gather_buffer(Emitter *e, int buffer) {
    buffer = home_of(e, buffer);
    for (int i = 0; i < e->buffer_count; i++)
        if (e->buffers[i] == buffer) return;
    e->buffers[e->buffer_count++] = buffer;
}

static void gather_var(const Sym *var, void *state) {
    Emitter *e = state;
    Dim d = dim_of_sym(var);
    if (var->var_kind != SYM_SIZE && var->var_kind != SYM_UNBACKED && var->var_kind != SYM_FLOAT) return;
    for (int i = 0; i < e->size_count; i++)
        if (e->sizes[i] == d) return;
    e->sizes[e->size_count++] = d;
}

static void count_var(const Sym *var, void *state) {
    (void)var;
    ++*(int *)state;
}

static void gather_size_dim(Emitter *e, Dim d) {
    int count = 0;
    dim_each_var(d, count_var, &count);
    Dim *wider = ARENA_ARRAY(e->arena, Dim, e->size_count + count + 1);
    memcpy(wider, e->sizes, sizeof(Dim) * (size_t)e->size_count);
    e->sizes = wider;
    dim_each_var(d, gather_var, e);
}

static void gather_value(const Body *value, void *state) {
    Gather *gather = state;
    Emitter *e = gather->e;
    if (value->kind == BODY_LOAD) gather_buffer(e, value->buffer);
    if (value->kind == BODY_LOAD || value->kind == BODY_INDEX || value->kind == BODY_RANDOM) gather_size_dim(e, value->index);
    if (value->kind == BODY_RANDOM) e->uses_random = true;
}

static void gather_loaded(const Sym *var, void *state) {
    if (var->var_kind == SYM_LOADED) body_each(var->payload, gather_value, state);
}

/* By age: as a rule s0 is then what the graph calls s0. */
static void sort_sizes(Emitter *e) {
    for (int i = 1; i < e->size_count; i++)
        for (int j = i; j > 0 && dim_sym(e->sizes[j])->id < dim_sym(e->sizes[j - 1])->id; j--) {
            Dim former = e->sizes[j];
            e->sizes[j] = e->sizes[j - 1];
            e->sizes[j - 1] = former;
        }
}

/* Inputs first, in the order of their buffers, then what is stored. */
static void gather_parameters(Emitter *e) {
    Gather gather = {e, NULL};
    e->buffers = ARENA_ARRAY(e->arena, int, e->l->buffers.count + 1);
    e->sizes = ARENA_ARRAY(e->arena, Dim, 1);
    for (int i = 0; i < e->g->items.count; i++) {
        const Item *item = &e->g->items.at[i];
        body_each(item->value, gather_value, &gather);
        if (item->kind == ITEM_STORE) dim_each_var(item->index, gather_loaded, &gather);
        gather_size_dim(e, item->kind == ITEM_STORE ? item->index : item->position);
    }
    for (int i = 0; i < e->g->items.count; i++)
        if (e->g->items.at[i].kind == ITEM_STORE) gather_buffer(e, e->g->items.at[i].buffer);
    for (int i = 0; i < e->g->axis_count; i++) gather_size_dim(e, e->g->axes[i].extent);
    if (e->uses_random) gather_size_dim(e, e->l->seed), gather_size_dim(e, e->l->offset);
    sort_sizes(e);
}

int pointer_of(const Emitter *e, int buffer) {
    buffer = home_of(e, buffer);
    for (int i = 0; i < e->buffer_count; i++)
        if (e->buffers[i] == buffer) return i;
    return -1;
}

Emitter *emitter_new(Compile *c, const Lowered *l, const Group *g, ScalarTarget target) {
    Arena *arena = arena_new("kernel text");
    Emitter *e = ARENA_NEW(arena, Emitter);
    *e = (Emitter){.c = c, .l = l, .g = g, .arena = arena, .target = target, .index_type = "long"};
    e->kernel = ARENA_NEW(c->arena, Kernel);
    int values = g->builder->count + 1;
    e->names = ARENA_ARRAY(arena, const char *, values);
    e->levels = ARENA_ARRAY(arena, int, values);
    e->depths = ARENA_ARRAY(arena, int, values);
    for (int i = 0; i < values; i++) e->levels[i] = e->depths[i] = -1;
    e->axis_names = ARENA_ARRAY(arena, const char *, g->axis_count + 1);
    e->axis_level = ARENA_ARRAY(arena, int, g->axis_count + 1);
    e->row_names = ARENA_ARRAY(arena, const char *, g->reductions + 1);
    for (int i = 0; i < g->axis_count; i++) e->axis_names[i] = emitted_text(e, "%c%d", i < g->rows ? 'i' : 'r', i < g->rows ? i : i - g->rows);
    gather_parameters(e);
    return e;
}

/* ---- levels ---- */
void set_nest(Emitter *e, const int *axes, int count) {
    for (int i = 0; i < count; i++) e->axis_level[axes[i]] = i + 1;
}

typedef struct LevelState { Emitter *e; int level, depth; } LevelState;

static void var_level(const Sym *var, void *state) {
    LevelState *s = state;
    int level = 0, depth = 0;
    if (var->var_kind == SYM_LOADED) {
        level = value_level(s->e, var->payload);
        depth = value_depth_of(s->e, var->payload);
    } else if (var->var_kind == SYM_AXIS)
        for (int i = 0; i < s->e->g->axis_count; i++)
            if (s->e->g->axes[i].var == dim_of_sym(var)) level = s->e->axis_level[i];
    if (level > s->level) s->level = level;
    if (depth > s->depth) s->depth = depth;
}

int index_level(Emitter *e, Dim index) {
    LevelState s = {e, 0, 0};
    dim_each_var(index, var_level, &s);
    return s.level;
}

static void measure_value(Emitter *e, const Body *value) {
    LevelState s = {e, 0, 0};
    if (value->kind == BODY_LOAD || value->kind == BODY_INDEX || value->kind == BODY_RANDOM) dim_each_var(value->index, var_level, &s);
    if (value->kind == BODY_ROW) {
        s.level = e->row_level;
        for (int i = 0; i < e->g->items.count; i++)
            if (e->g->items.at[i].kind == ITEM_REDUCE && e->g->items.at[i].reduction == value->buffer) s.depth = e->g->items.at[i].depth + 1;
    }
    for (int i = 0; i < 3 && value->args[i]; i++) {
        int level = value_level(e, value->args[i]), depth = value_depth_of(e, value->args[i]);
        if (level > s.level) s.level = level;
        if (depth > s.depth) s.depth = depth;
    }
    e->levels[value->id] = s.level;
    e->depths[value->id] = s.depth;
}

int value_level(Emitter *e, const Body *value) {
    if (e->levels[value->id] < 0) measure_value(e, value);
    return e->levels[value->id];
}

int value_depth_of(Emitter *e, const Body *value) {
    if (e->depths[value->id] < 0) measure_value(e, value);
    return e->depths[value->id];
}

/* ---- scopes ---- */
int scope_open(Emitter *e) {
    text_indent(&e->text, 4);
    return e->scope.count;
}

void scope_close(Emitter *e, int mark) {
    text_indent(&e->text, -4);
    while (e->scope.count > mark) e->names[e->scope.at[--e->scope.count]] = NULL;
}

static void set_name(Emitter *e, const Body *value, const char *name) {
    e->names[value->id] = name;
    vec_push_in(e->arena, &e->scope, value->id);
}

/* ---- indices ---- */
static const char *var_name(const Sym *var, void *state) {
    Emitter *e = state;
    Dim d = dim_of_sym(var);
    if (var->var_kind == SYM_LOADED) return value_name(e, var->payload);
    for (int i = 0; i < e->g->axis_count; i++)
        if (e->g->axes[i].var == d) return e->axis_names[i];
    for (int i = 0; i < e->size_count; i++)
        if (e->sizes[i] == d) return emitted_text(e, "s%d", i);
    return "0";
}

const char *index_text(Emitter *e, Dim index) {
    Text text = {0};
    dim_print_named(&text, index, true, var_name, e);
    return take_text(e, &text);
}

/* Positions fit an int where the index type is one; an index that is a value (arange's) may be anything. */
static bool computes_in_int(Dim d, int64_t limit) {
    if (dim_low(d) < -limit || dim_high(d) > limit) return false;
    if (dim_is_int(d)) return true;
    const Sym *sym = dim_sym(d);
    for (int i = 0; sym->kind != SYM_VAR && i < sym->count; i++)
        if (!computes_in_int(sym->args[i], limit / sym->count)) return false;
    return true;
}

static const char *long_var_name(const Sym *var, void *state) { return emitted_text(state, "(long)%s", var_name(var, state)); }

/* An expression of type long. */
static const char *index_value_text(Emitter *e, Dim index) {
    bool is_long = strcmp(e->index_type, "int") || dim_is_int(index) || dim_sym(index)->kind == SYM_VAR || computes_in_int(index, INT32_MAX);
    Text text = {0};
    dim_print_named(&text, index, true, is_long ? var_name : long_var_name, e);
    return emitted_text(e, "(long)(%s)", take_text(e, &text));
}

void print_index(Emitter *e, Dim index) { dim_print_named(&e->text, index, true, var_name, e); }

/* ---- values ---- */
static const char *literal_of(Emitter *e, const Body *value) { return emitted_constant(e, value->type, value->value, value->integer); }

const char *value_name(Emitter *e, const Body *value) {
    if (value->kind == BODY_CONST) return literal_of(e, value);
    if (value->kind == BODY_ROW) return e->row_names[value->buffer];
    return e->names[value->id] ? e->names[value->id] : "undeclared";
}

static const char *load_text(Emitter *e, const Body *value) {
    const char *kept = e->load_name ? e->load_name(e, value) : NULL;
    const char *element = kept ? kept : emitted_text(e, "p%d[%s]", pointer_of(e, value->buffer), index_text(e, value->index));
    Text text = {0};
    scalar_load_print(&text, e->target, value->stored, element);
    return take_text(e, &text);
}

static const char *cast_value_text(Emitter *e, const Body *value) {
    const char *operand = value_name(e, value->args[0]);
    if (!value->rounded) return emitted_cast(e, value->args[0]->type, value->type, operand);
    Text narrow = {0}, wide = {0};
    scalar_store_print(&narrow, e->target, value->stored, operand);
    scalar_load_print(&wide, e->target, value->stored, text_cstr(&narrow));
    text_free(&narrow);
    return take_text(e, &wide);
}

/* The dtype that both operands are loaded as, or DTYPE_NONE. */
static DType loaded_type(const Body *value) {
    const Body *a = value->args[0], *b = value->args[1];
    return b && a->kind == BODY_LOAD && b->kind == BODY_LOAD && a->stored == b->stored ? a->stored : DTYPE_NONE;
}

static const char *prim_text(Emitter *e, const Body *value) {
    const char *operands[3] = {0};
    for (int i = 0; i < 3 && value->args[i]; i++) operands[i] = value_name(e, value->args[i]);
    if (e->quick_division && value->prim == PRIM_DIV && value->stored == DTYPE_F32) return emitted_text(e, "%s_divide(%s, %s)", e->g->name, operands[0], operands[1]);
    Text text = {0};
    DType narrow = e->target == TARGET_C && value->stored == DTYPE_I64 ? loaded_type(value) : DTYPE_NONE;
    if (narrow == DTYPE_NONE || !prim_print_narrow(&text, value->prim, narrow, operands)) prim_print(&text, e->target, value->prim, value->stored, operands);
    return take_text(e, &text);
}

static const char *value_text(Emitter *e, const Body *value) {
    switch (value->kind) {
    case BODY_LOAD: return load_text(e, value);
    case BODY_INDEX:
        if (value->type == DTYPE_F64) return emitted_text(e, e->target == TARGET_C ? "((union { long bits; double number; }){%s}).number" : "__longlong_as_double(%s)", index_text(e, value->index));
        return index_value_text(e, value->index);
    case BODY_RANDOM: {
        const char *word = e->load_name ? e->load_name(e, value) : NULL;
        return word ? emitted_text(e, "((float)(%s >> 8) * 0x1p-24f)", word) : random_call(e, value, index_text(e, value->index));
    }
    case BODY_CAST: return cast_value_text(e, value);
    case BODY_PRIM: return prim_text(e, value);
    default: return literal_of(e, value);
    }
}

void note_line(Emitter *e, int node_id) {
    const Node *node = node_id < 0 ? NULL : map_get(e->l->nodes, map_key(node_id + 1));
    if (!node) return;
    for (; e->counted < e->text.length; e->counted++) e->lines += e->text.data[e->counted] == '\n';
    KernelLine entry = {.line = e->lines + 1, .node_id = node_id, .span = node->span};
    vec_push_in(e->c->arena, &e->kernel->lines, entry);
}

static void declare(Emitter *e, const Body *value, int level, int depth, Map *seen);

typedef struct DeclareVar { Emitter *e; int level, depth; Map *seen; } DeclareVar;

static void declare_var(const Sym *var, void *state) {
    DeclareVar *d = state;
    if (var->var_kind == SYM_LOADED) declare(d->e, var->payload, d->level, d->depth, d->seen);
}

static void declare(Emitter *e, const Body *value, int level, int depth, Map *seen) {
    if (value->kind == BODY_CONST || value->kind == BODY_ROW || e->names[value->id] || map_has(seen, value)) return;
    map_put(seen, value, e);
    for (int i = 0; i < 3 && value->args[i]; i++) declare(e, value->args[i], level, depth, seen);
    if (value->kind == BODY_LOAD || value->kind == BODY_INDEX || value->kind == BODY_RANDOM) dim_each_var(value->index, declare_var, &(DeclareVar){e, level, depth, seen});
    if (value_level(e, value) > level || value_depth_of(e, value) > depth) return;
    const char *name = emitted_text(e, "t%d", value->id), *text = value_text(e, value);
    note_line(e, value->node_id);
    emit_line(e, "const %s %s = %s;", emitted_type(e, value->type), name, text);
    set_name(e, value, name);
}

void emit_values(Emitter *e, const Body *value, int level, int depth) { declare(e, value, level, depth, map_new(e->arena)); }

void emit_index_values(Emitter *e, Dim index, int level, int depth) { dim_each_var(index, declare_var, &(DeclareVar){e, level, depth, map_new(e->arena)}); }

const char *store_text(Emitter *e, const Item *item) {
    DType stored = e->l->buffers.at[item->buffer].buffer.meta.dtype;
    const char *value = emitted_cast(e, item->value->type, dtype_info[stored].compute, value_name(e, item->value));
    Text text = {0};
    scalar_store_print(&text, e->target, stored, value);
    return take_text(e, &text);
}

void emit_store(Emitter *e, const Item *item) {
    note_line(e, item->value->node_id);
    emit_line(e, "p%d[%s] = %s;", pointer_of(e, item->buffer), index_text(e, item->index), store_text(e, item));
}

/* ---- reductions ---- */
const char *identity_text(Emitter *e, Reducer reducer, DType type) {
    bool is_float = type == DTYPE_F32 || type == DTYPE_F64, largest = reducer == REDUCE_MIN || reducer == REDUCE_ARGMIN;
    switch (reducer) {
    case REDUCE_PROD: case REDUCE_ALL: return emitted_constant(e, type, 1, 1);
    case REDUCE_MAX: case REDUCE_MIN: case REDUCE_ARGMAX: case REDUCE_ARGMIN:
        if (is_float) return emitted_constant(e, type, largest ? INFINITY : -INFINITY, 0);
        return emitted_constant(e, type, 0, type == DTYPE_BOOL ? largest : largest ? INT64_MAX : INT64_MIN);
    default: return emitted_constant(e, type, 0, 0);
    }
}

const char *combined_text(Emitter *e, Reducer reducer, DType type, const char *a, const char *b) {
    static const Prim prims[] = {[REDUCE_SUM] = PRIM_ADD, [REDUCE_PROD] = PRIM_MUL, [REDUCE_MAX] = PRIM_MAXIMUM, [REDUCE_MIN] = PRIM_MINIMUM, [REDUCE_ANY] = PRIM_OR, [REDUCE_ALL] = PRIM_AND,
                                 [REDUCE_ARGMAX] = PRIM_MAXIMUM, [REDUCE_ARGMIN] = PRIM_MINIMUM};
    const char *operands[] = {a, b};
    Text text = {0};
    prim_print(&text, e->target, prims[reducer], type, operands);
    return take_text(e, &text);
}

/* A NaN wins over everything, and of equals the one that stands first. */
const char *better_text(Emitter *e, Reducer reducer, DType type, const char *a, const char *at, const char *b, const char *b_at) {
    const char *sign = reducer == REDUCE_ARGMAX ? ">" : "<";
    if (type != DTYPE_F32 && type != DTYPE_F64) return emitted_text(e, "((%s %s %s) | ((%s == %s) & (%s < %s)))", b, sign, a, b, a, b_at, at);
    return emitted_text(e, "((%s %s %s) | ((%s != %s) & (%s == %s)) | (((%s == %s) | ((%s != %s) & (%s != %s))) & (%s < %s)))", b, sign, a, b, b, a, a, b, a, b, b, a, a, b_at, at);
}

/* ---- random numbers: Philox 4x32-10 (Salmon et al. 2011), counter (element / 4, draw and offset), key the seed ---- */
void emit_random_helper(Emitter *e) {
    if (!e->uses_random) return;
    static const char *const lines[] = {
        "    unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32), c2 = (unsigned)(offset + draw), c3 = (unsigned)((offset + draw) >> 32);",
        "    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);",
        "    for (int round = 0; round < 10; round++) {",
        "        const unsigned long m0 = 0xD2511F53ul * c0, m1 = 0xCD9E8D57ul * c2;",
        "        const unsigned n0 = (unsigned)(m1 >> 32) ^ c1 ^ k0, n2 = (unsigned)(m0 >> 32) ^ c3 ^ k1;",
        "        c1 = (unsigned)m1; c3 = (unsigned)m0; c0 = n0; c2 = n2;",
        "        k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;",
        "    }",
        "    words[0] = c0; words[1] = c1; words[2] = c2; words[3] = c3;",
        "}",
    };
    const char *where = e->target == TARGET_CUDA ? "__device__ " : "";
    emit_line(e, "static inline %svoid %s_words(unsigned long seed, unsigned long offset, unsigned long draw, unsigned long block, unsigned *words) {", where, e->g->name);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) emit_line(e, "%s", lines[i]);
    emit_line(e, "static inline %sfloat %s_uniform(unsigned long seed, unsigned long offset, unsigned long draw, unsigned long element) {", where, e->g->name);
    emit_line(e, "    unsigned words[4];");
    emit_line(e, "    %s_words(seed, offset, draw, element >> 2, words);", e->g->name);
    emit_line(e, "    const unsigned word = element & 2 ? (element & 1 ? words[3] : words[2]) : (element & 1 ? words[1] : words[0]);");
    emit_line(e, "    return (float)(word >> 8) * 0x1p-24f; /* [0, 1) */");
    emit_line(e, "}");
}

const char *random_call(Emitter *e, const Body *value, const char *element) {
    return emitted_text(e, "%s_uniform(%s, %s, %lld, %s)", e->g->name, index_text(e, e->l->seed), index_text(e, e->l->offset), (long long)value->integer, element);
}

void emit_head_comment(Emitter *e) {
    for (int i = 0; i < e->g->node_count; i++) {
        const Node *node = map_get(e->l->nodes, map_key(e->g->nodes[i] + 1));
        if (!node) continue;
        Text safe = {0}, shape = {0};
        text_identifier(&safe, node->name);
        if (node->noutputs) meta_print(&shape, &node->metas[0], false, false);
        emit_line(e, "// %%%s %s", text_cstr(&safe), text_cstr(&shape));
        text_free(&safe), text_free(&shape);
    }
}

/* ---- the kernel ---- */
static uint64_t hash_text(const char *text, const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t length = strlen(name);
    for (bool comment = false; *text; text++) {
        if (strncmp(text, name, length) == 0) text += length - 1;
        else if (text[0] == '/' && text[1] == '/') comment = true;
        else if (*text == '\n') comment = false;
        if (!comment) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return hash;
}

Made emitter_take(Emitter *e) {
    Kernel *k = e->kernel;
    k->entry = e->g->name;
    k->language = e->target == TARGET_C ? KERNEL_C : KERNEL_CUDA;
    k->source = text_in(&e->text, e->c->arena);
    k->pointer_count = e->buffer_count;
    k->size_count = e->size_count;
    k->flops = e->g->flops;
    k->bytes_read = e->g->bytes_read;
    k->bytes_written = e->g->bytes_written;
    k->nodes = e->g->nodes;
    k->node_count = e->g->node_count;
    k->body_hash = hash_text(k->source, k->entry);
    Made made = {k, arena_copy(e->c->arena, e->buffers, sizeof(int) * (size_t)(e->buffer_count + 1)), arena_copy(e->c->arena, e->sizes, sizeof(Dim) * (size_t)e->size_count)};
    text_free(&e->text);
    arena_free(e->arena);
    return made;
}
