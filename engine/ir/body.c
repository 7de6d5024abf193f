/* Body: building values. In: what op families say their ops mean at an index. Out: a DAG of typed scalar values, hash-consed.
 *
 *     const Body *x = body_load(builder, &args[0], index);
 *     body_prim(builder, PRIM_MUL, x, body_float(builder, DTYPE_F32, 2.0), NULL);
 *
 * Folded here: numbers, casts of numbers, x * 1, choices whose condition is known, and integer arithmetic and comparisons of
 * indices, which become Dims, so that ranges decide them. */
#include "ir/body.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

BodyBuilder *body_builder_new(Arena *arena, SymTable *syms) {
    BodyBuilder *builder = ARENA_NEW(arena, BodyBuilder);
    *builder = (BodyBuilder){.arena = arena, .syms = syms, .node_id = -1, .draw = -1, .indices = map_new(arena)};
    return builder;
}

SymTable *body_syms(BodyBuilder *builder) { return builder->syms; }

/* ---- hash-consing ---- */
static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * UINT64_C(1099511628211); }

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static size_t body_hash(const Body *b) {
    uint64_t hash = UINT64_C(14695981039346656037);
    hash = mix(mix(mix(hash, b->kind), (uint64_t)b->type), (uint64_t)b->buffer);
    hash = mix(mix(mix(hash, (uint64_t)b->index), (uint64_t)b->stored), bits_of(b->value));
    hash = mix(mix(mix(hash, (uint64_t)b->integer), b->prim), b->rounded);
    for (int i = 0; i < 3; i++) hash = mix(hash, (uint64_t)(uintptr_t)b->args[i]);
    return (size_t)(hash ^ hash >> 31);
}

static bool body_same(const Body *a, const Body *b) {
    return a->kind == b->kind && a->type == b->type && a->buffer == b->buffer && a->index == b->index && a->stored == b->stored &&
           bits_of(a->value) == bits_of(b->value) && a->integer == b->integer && a->prim == b->prim && a->rounded == b->rounded &&
           memcmp(a->args, b->args, sizeof a->args) == 0;
}

static void table_grow(BodyBuilder *builder) {
    int old = builder->capacity;
    Body **slots = builder->slots;
    builder->capacity = old ? old * 2 : 64;
    builder->slots = ARENA_ARRAY(builder->arena, Body *, builder->capacity);
    for (int i = 0; i < old; i++) {
        if (!slots[i]) continue;
        size_t mask = (size_t)(builder->capacity - 1), at = body_hash(slots[i]) & mask;
        while (builder->slots[at]) at = (at + 1) & mask;
        builder->slots[at] = slots[i];
    }
}

static const Body *make(BodyBuilder *builder, Body value) {
    if (builder->count * 2 >= builder->capacity) table_grow(builder);
    size_t mask = (size_t)(builder->capacity - 1), at = body_hash(&value) & mask;
    for (; builder->slots[at]; at = (at + 1) & mask)
        if (body_same(builder->slots[at], &value)) return builder->slots[at];
    value.id = builder->count++;
    value.node_id = builder->node_id;
    return builder->slots[at] = arena_copy(builder->arena, &value, sizeof value);
}

/* ---- leaves ---- */
const Body *body_float(BodyBuilder *builder, DType type, double value) {
    if (type == DTYPE_F32) value = (double)(float)value;
    if (type == DTYPE_I64) return body_int(builder, type, value >= 0x1p63 || value < -0x1p63 || isnan(value) ? INT64_MIN : (int64_t)value);
    if (type == DTYPE_BOOL) return body_int(builder, type, value != 0);
    return make(builder, (Body){.kind = BODY_CONST, .type = type, .value = value});
}

const Body *body_int(BodyBuilder *builder, DType type, int64_t value) {
    if (type == DTYPE_F32 || type == DTYPE_F64) return body_float(builder, type, type == DTYPE_F32 ? (double)(float)value : (double)value);
    return make(builder, (Body){.kind = BODY_CONST, .type = type, .integer = type == DTYPE_BOOL ? value != 0 : value});
}

const Body *body_of_index(BodyBuilder *builder, Dim index) {
    if (dim_is_int(index)) return body_int(builder, DTYPE_I64, index);
    const Sym *sym = dim_sym(index);
    if (sym->kind == SYM_VAR && sym->var_kind == SYM_LOADED) return sym->payload;
    if (sym->kind == SYM_VAR && sym->var_kind == SYM_FLOAT) return make(builder, (Body){.kind = BODY_INDEX, .type = DTYPE_F64, .index = index});
    return make(builder, (Body){.kind = BODY_INDEX, .type = DTYPE_I64, .index = index});
}

const Body *body_given(BodyBuilder *builder, const Arg *number) {
    const void *var = builder->scalars ? map_get(builder->scalars, number) : NULL;
    return var ? body_of_index(builder, (Dim)(intptr_t)var) : NULL;
}

const Body *body_load_buffer(BodyBuilder *builder, int buffer, Dim index, DType stored) {
    return make(builder, (Body){.kind = BODY_LOAD, .type = dtype_info[stored].compute, .buffer = buffer, .index = index, .stored = stored});
}

const Body *body_row(BodyBuilder *builder, DType type, int reduction) { return make(builder, (Body){.kind = BODY_ROW, .type = type, .buffer = reduction}); }

const Body *body_random(BodyBuilder *builder, int draw, Dim counter) {
    return make(builder, (Body){.kind = BODY_RANDOM, .type = DTYPE_F32, .index = counter, .integer = draw < 0 ? builder->draw : draw});
}

const Body *body_load(BodyBuilder *builder, const Arg *tensor, const Dim *index) {
    switch (tensor->tag) {
    case ARG_INT: return body_of_index(builder, tensor->i);
    case ARG_BOOL: return body_int(builder, DTYPE_BOOL, tensor->b);
    case ARG_FLOAT: return body_float(builder, DTYPE_F64, tensor->f);
    default: break;
    }
    assert(tensor->tag == ARG_TENSOR && builder->resolve);
    return builder->resolve(builder, tensor, index);
}

/* ---- casts ---- */
static const Body *convert(BodyBuilder *builder, const Body *value, DType compute) {
    if (value->type == compute) return value;
    bool from_float = value->type == DTYPE_F32 || value->type == DTYPE_F64;
    if (value->kind == BODY_CONST) return from_float ? body_float(builder, compute, value->value) : body_int(builder, compute, value->integer);
    return make(builder, (Body){.kind = BODY_CAST, .type = compute, .stored = compute, .args = {value}});
}

static bool fits_narrow(const Body *value, DType to) {
    if ((value->kind == BODY_LOAD || (value->kind == BODY_CAST && value->rounded)) && value->stored == to) return true;
    if (value->kind == BODY_CAST && value->args[0]->type == DTYPE_BOOL) return true;
    int bits = dtype_size(to) * 8;
    int64_t low = to == DTYPE_U8 ? 0 : -(INT64_C(1) << (bits - 1)), high = to == DTYPE_U8 ? 255 : (INT64_C(1) << (bits - 1)) - 1;
    if (value->kind == BODY_CONST) return low <= value->integer && value->integer <= high;
    return value->kind == BODY_INDEX && low <= dim_low(value->index) && dim_high(value->index) <= high;
}

const Body *body_cast(BodyBuilder *builder, const Body *value, DType to) {
    value = convert(builder, value, dtype_info[to].compute);
    bool narrow = dtype_is_int(to) && dtype_size(to) < 8, half = dtype_is_float(to) && dtype_size(to) == 2;
    bool is_rounded = (value->kind == BODY_LOAD || (value->kind == BODY_CAST && value->rounded)) && value->stored == to;
    if ((narrow && !fits_narrow(value, to)) || (half && builder->round16 && !is_rounded))
        return make(builder, (Body){.kind = BODY_CAST, .type = value->type, .stored = to, .rounded = true, .args = {value}});
    return value;
}

/* ---- primitives ---- */
static int type_rank(DType type) { return type == DTYPE_BOOL ? 0 : type == DTYPE_I64 ? 1 : type == DTYPE_F32 ? 2 : 3; }

static DType common_type(Prim prim, const Body *const *args) {
    int arity = prim_info[prim].arity, first = prim == PRIM_WHERE;
    DType type = args[first]->type;
    for (int i = first + 1; i < arity; i++)
        if (type_rank(args[i]->type) > type_rank(type)) type = args[i]->type;
    return prim_info[prim].result == PRIM_FLOATING && type_rank(type) < 2 ? DTYPE_F32 : type;
}

static bool as_dim(const Body *value, Dim *dim) {
    if (value->type != DTYPE_I64) return false;
    if (value->kind == BODY_CONST && value->integer > -(INT64_C(1) << 61) && value->integer < INT64_C(1) << 61) return *dim = value->integer, true;
    return value->kind == BODY_INDEX ? *dim = value->index, true : false;
}

static bool is_bounded(Dim d) { return dim_low(d) > -(INT64_C(1) << 40) && dim_high(d) < INT64_C(1) << 40; }

/* Comparisons and arithmetic of indices as Dims; NULL where it is no index arithmetic. */
static const Body *fold_index(BodyBuilder *b, Prim prim, const Body *left, const Body *right) {
    Dim x, y, decided = -1;
    if (!right || !as_dim(left, &x) || !as_dim(right, &y)) return NULL;
    switch (prim) {
    case PRIM_LT: decided = dim_relation(b->syms, SYM_LT, x, y); break;
    case PRIM_LE: decided = dim_relation(b->syms, SYM_LE, x, y); break;
    case PRIM_GT: decided = dim_relation(b->syms, SYM_LT, y, x); break;
    case PRIM_GE: decided = dim_relation(b->syms, SYM_LE, y, x); break;
    case PRIM_EQ: decided = dim_relation(b->syms, SYM_EQ, x, y); break;
    case PRIM_NE: decided = dim_relation(b->syms, SYM_NE, x, y); break;
    default: break;
    }
    if (decided == 0 || decided == 1) return body_int(b, DTYPE_BOOL, decided);
    if (!is_bounded(x) || !is_bounded(y)) return NULL;
    switch (prim) {
    case PRIM_ADD: return body_of_index(b, dim_add(b->syms, x, y));
    case PRIM_SUB: return body_of_index(b, dim_sub(b->syms, x, y));
    case PRIM_MUL: return dim_is_int(x) || dim_is_int(y) ? body_of_index(b, dim_mul(b->syms, x, y)) : NULL;
    case PRIM_FLOORDIV: return dim_is_int(y) && y > 0 ? body_of_index(b, dim_floordiv(b->syms, x, y)) : NULL;
    case PRIM_MOD: return dim_is_int(y) && y > 0 ? body_of_index(b, dim_mod(b->syms, x, y)) : NULL;
    default: return NULL;
    }
}

static bool is_number(const Body *value, double number) {
    return value->kind == BODY_CONST && (type_rank(value->type) >= 2 ? value->value == number : (double)value->integer == number);
}

static const Body *fold_logic(BodyBuilder *b, Prim prim, const Body *const *a) {
    if (prim == PRIM_NOT && a[0]->kind == BODY_CONST && a[0]->type == DTYPE_BOOL) return body_int(b, DTYPE_BOOL, !a[0]->integer);
    if (prim != PRIM_AND && prim != PRIM_OR) return NULL;
    for (int i = 0; i < 2; i++) {
        if (a[i]->kind != BODY_CONST || a[i]->type != DTYPE_BOOL) continue;
        bool absorbs = (a[i]->integer != 0) == (prim == PRIM_OR);
        return absorbs ? body_int(b, DTYPE_BOOL, prim == PRIM_OR) : convert(b, a[1 - i], DTYPE_BOOL);
    }
    return NULL;
}

static const Body *fold(BodyBuilder *b, Prim prim, const Body *const *a) {
    if (prim == PRIM_WHERE && a[0]->kind == BODY_CONST) return a[0]->integer ? a[1] : a[2];
    if (prim == PRIM_WHERE && a[1] == a[2]) return a[1];
    if (prim == PRIM_MUL && is_number(a[1], 1)) return a[0];
    if (prim == PRIM_MUL && is_number(a[0], 1)) return a[1];
    if (prim == PRIM_DIV && is_number(a[1], 1)) return a[0];
    if ((prim == PRIM_ADD || prim == PRIM_SUB) && a[1]->type == DTYPE_I64 && is_number(a[1], 0)) return a[0];
    const Body *logic = fold_logic(b, prim, a);
    return logic ? logic : fold_index(b, prim, a[0], a[1]);
}

const Body *body_prim(BodyBuilder *builder, Prim prim, const Body *a, const Body *b, const Body *c) {
    const Body *args[3] = {a, b, c};
    int arity = prim_info[prim].arity, first = prim == PRIM_WHERE;
    DType type = common_type(prim, args);
    if (first) args[0] = convert(builder, args[0], DTYPE_BOOL);
    for (int i = first; i < arity; i++) args[i] = convert(builder, args[i], type);
    for (int i = arity; i < 3; i++) args[i] = NULL;
    const Body *folded = fold(builder, prim, args);
    if (folded) return folded;
    DType result = prim_info[prim].result == PRIM_BOOLEAN ? DTYPE_BOOL : type;
    return make(builder, (Body){.kind = BODY_PRIM, .type = result, .prim = prim, .stored = type, .args = {args[0], args[1], args[2]}});
}

/* ---- expressions of op rows ---- */
typedef struct ScalarState { BodyBuilder *builder; const Body *const *inputs; const DType *types; } ScalarState;

static const Body *scalar_value(const ScalarState *s, const ScalarExpr *e, DType literal_type) {
    switch (e->kind) {
    case SCALAR_INPUT: return s->inputs[e->input];
    case SCALAR_CONST:
        if (literal_type == DTYPE_NONE) literal_type = scalar_type(e, s->types);
        return e->is_integer ? body_int(s->builder, literal_type, e->integer) : body_float(s->builder, literal_type, e->value);
    case SCALAR_CAST: return convert(s->builder, scalar_value(s, e->args[0], DTYPE_NONE), (DType)e->integer);
    case SCALAR_PRIM: break;
    }
    DType type = scalar_operand_type(e, s->types);
    const Body *args[3] = {0};
    for (int i = 0; i < prim_info[e->prim].arity; i++) {
        bool condition = e->prim == PRIM_WHERE && i == 0;
        args[i] = convert(s->builder, scalar_value(s, e->args[i], condition ? DTYPE_BOOL : type), condition ? DTYPE_BOOL : type);
    }
    return body_prim(s->builder, e->prim, args[0], args[1], args[2]);
}

const Body *body_scalar(BodyBuilder *builder, const ScalarExpr *expr, const Body *const *inputs, int count) {
    DType types[32];
    assert(count <= 32);
    for (int i = 0; i < count; i++) types[i] = inputs[i] ? inputs[i]->type : DTYPE_F32; /* NULL: a parameter that the expression does not use */
    return scalar_value(&(ScalarState){builder, inputs, types}, expr, DTYPE_NONE);
}

/* ---- indices read from tensors ---- */
typedef struct LoadedIndex { const Body *value; Dim size; Dim var; struct LoadedIndex *next; } LoadedIndex;

Dim body_as_index(BodyBuilder *b, const Body *value, Dim size, bool wrap_negative) {
    value = convert(b, value, DTYPE_I64);
    Dim known;
    bool is_known = as_dim(value, &known);
    if (is_known && dim_low(known) >= 0 && (dim_less(b->syms, known, size))) return known;
    if (is_known && wrap_negative && dim_high(known) < 0 && dim_low(dim_add(b->syms, known, size)) >= 0) return dim_add(b->syms, known, size);
    const Body *zero = body_int(b, DTYPE_I64, 0), *wrapped = value;
    if (wrap_negative) wrapped = body_prim(b, PRIM_WHERE, body_prim(b, PRIM_LT, value, zero, NULL), body_prim(b, PRIM_ADD, value, body_of_index(b, size), NULL), value);
    /* eager execution raises for an index out of range; a kernel cannot, and must not read outside the tensor */
    const Body *last = body_of_index(b, dim_sub(b->syms, size, 1));
    const Body *safe = body_prim(b, PRIM_MINIMUM, body_prim(b, PRIM_MAXIMUM, wrapped, zero, NULL), last, NULL);
    if (safe->kind == BODY_CONST) return safe->integer;
    LoadedIndex *first = map_get(b->indices, safe);
    for (LoadedIndex *i = first; i; i = i->next)
        if (i->size == size) return i->var;
    char name[24];
    snprintf(name, sizeof name, "t%d", safe->id);
    int64_t high = dim_high(size) == INT64_MAX ? INT64_MAX : dim_high(size) - 1;
    LoadedIndex *made = ARENA_NEW(b->arena, LoadedIndex);
    *made = (LoadedIndex){safe, size, sym_var(b->syms, name, 0, high < 0 ? 0 : high, SYM_LOADED), first};
    Sym *var = (Sym *)(intptr_t)dim_sym(made->var);
    var->payload = (void *)(uintptr_t)safe;
    map_put(b->indices, safe, made);
    return made->var;
}
