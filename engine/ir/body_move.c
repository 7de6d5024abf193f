/* Body: walking and rebuilding. A value is moved to another builder when loops are fused: its axes are renamed, loads of buffers
 * made in the same group become the values stored there.
 *
 *     BodyMove move = {.builder = group, .from = axes, .to = others, .count = 2, .load = forward, .memo = map_new(arena)};
 *     const Body *moved = body_move(&move, value);
 *
 * Invariant: a move never changes what a value is worth; each value is visited once. */
#include "ir/body.h"
#include <stdio.h>
#include <string.h>

/* ---- moving ---- */
typedef struct VarList { Dim from[8], to[8]; int count; BodyMove *move; } VarList;

static Dim move_loaded(BodyMove *move, const Sym *var) {
    BodyBuilder *b = move->builder;
    const Body *value = body_move(move, var->payload);
    Dim size = var->high == INT64_MAX ? INT64_MAX : var->high + 1;
    /* the value is clamped already: only a variable for it is needed */
    if (value->kind == BODY_INDEX) return value->index;
    if (value->kind == BODY_CONST) return value->integer;
    typedef struct Known { Dim var; } Known;
    const void *key = (const char *)value + 1; /* apart from body_as_index's own keys */
    Known *known = map_get(b->indices, key);
    if (known) return known->var;
    char name[24];
    snprintf(name, sizeof name, "t%d", value->id);
    known = ARENA_NEW(b->arena, Known);
    known->var = sym_var(b->syms, name, 0, size == INT64_MAX ? size : size - 1, SYM_LOADED);
    ((Sym *)(intptr_t)dim_sym(known->var))->payload = (void *)(uintptr_t)value;
    map_put(b->indices, key, known);
    return known->var;
}

static void collect_loaded(const Sym *var, void *state) {
    VarList *list = state;
    if (var->var_kind != SYM_LOADED || list->count == 8) return;
    for (int i = 0; i < list->count; i++)
        if (list->from[i] == dim_of_sym(var)) return;
    list->from[list->count] = dim_of_sym(var);
    list->to[list->count++] = move_loaded(list->move, var);
}

Dim body_move_index(BodyMove *move, Dim index) {
    if (dim_is_int(index)) return index;
    VarList list = {.move = move};
    dim_each_var(index, collect_loaded, &list);
    Dim from[40], to[40];
    int count = 0;
    for (int i = 0; i < move->count && count < 32; i++, count++) from[count] = move->from[i], to[count] = move->to[i];
    for (int i = 0; i < list.count; i++, count++) from[count] = list.from[i], to[count] = list.to[i];
    return dim_substitute(move->builder->syms, index, from, to, count);
}

static const Body *move_operation(BodyMove *move, const Body *value) {
    const Body *args[3] = {0};
    for (int i = 0; i < 3 && value->args[i]; i++) args[i] = body_move(move, value->args[i]);
    if (value->kind == BODY_PRIM) return body_prim(move->builder, value->prim, args[0], args[1], args[2]);
    if (!value->rounded) return body_cast(move->builder, args[0], value->type);
    bool former = move->builder->round16;
    move->builder->round16 = true; /* it was rounded where it was made: it stays so */
    const Body *moved = body_cast(move->builder, args[0], value->stored);
    move->builder->round16 = former;
    return moved;
}

static const Body *move_leaf(BodyMove *move, const Body *value) {
    BodyBuilder *b = move->builder;
    switch (value->kind) {
    case BODY_LOAD: {
        Dim index = body_move_index(move, value->index);
        const Body *other = move->load ? move->load(move, value, index) : NULL;
        return other ? other : body_load_buffer(b, value->buffer, index, value->stored);
    }
    case BODY_CONST: return value->type == DTYPE_F32 || value->type == DTYPE_F64 ? body_float(b, value->type, value->value) : body_int(b, value->type, value->integer);
    case BODY_INDEX: return body_of_index(b, body_move_index(move, value->index));
    case BODY_RANDOM: return body_random(b, (int)value->integer, body_move_index(move, value->index));
    default: {
        const Body *other = move->row ? move->row(move, value) : NULL;
        return other ? other : body_row(b, value->type, value->buffer);
    }
    }
}

const Body *body_move(BodyMove *move, const Body *value) {
    const Body *known = map_get(move->memo, value);
    if (known) return known;
    int former = move->builder->node_id;
    move->builder->node_id = value->node_id;
    const Body *moved = value->kind == BODY_PRIM || value->kind == BODY_CAST ? move_operation(move, value) : move_leaf(move, value);
    move->builder->node_id = former;
    map_put(move->memo, value, (void *)(uintptr_t)moved);
    return moved;
}

/* ---- walking ---- */
typedef struct Walk { Map *seen; void (*visit)(const Body *, void *); void *state; } Walk;

static void walk(Walk *w, const Body *value);

static void walk_loaded(const Sym *var, void *state) {
    if (var->var_kind == SYM_LOADED) walk(state, var->payload);
}

static void walk(Walk *w, const Body *value) {
    if (map_has(w->seen, value)) return;
    map_put(w->seen, value, w);
    for (int i = 0; i < 3 && value->args[i]; i++) walk(w, value->args[i]);
    if (value->kind == BODY_LOAD || value->kind == BODY_INDEX || value->kind == BODY_RANDOM) dim_each_var(value->index, walk_loaded, w);
    w->visit(value, w->state);
}

void body_each(const Body *value, void (*visit)(const Body *value, void *state), void *state) {
    Arena *scratch = arena_new("body walk");
    walk(&(Walk){map_new(scratch), visit, state}, value);
    arena_free(scratch);
}

/* ---- printing ---- */
static bool is_infix(const char *name) { return strchr("+-*/%=!<>&|^", name[0]) != NULL; }

static void print_call(Text *text, const Body *value, const char *(*buffer_name)(int, void *), void *state) {
    const char *name = value->kind == BODY_CAST ? (value->rounded ? dtype_info[value->stored].short_name : dtype_info[value->type].short_name) : prim_info[value->prim].name;
    bool infix = value->kind == BODY_PRIM && prim_info[value->prim].arity == 2 && is_infix(name);
    text_printf(text, "%s(", infix ? "" : name);
    for (int i = 0; i < 3 && value->args[i]; i++) {
        if (i) text_printf(text, infix ? " %s " : ", ", name);
        body_print(text, value->args[i], buffer_name, state);
    }
    text_put(text, ")");
}

void body_print(Text *text, const Body *value, const char *(*buffer_name)(int buffer, void *state), void *state) {
    switch (value->kind) {
    case BODY_LOAD: text_printf(text, "%s[", buffer_name(value->buffer, state)), dim_print(text, value->index), text_put(text, "]"); break;
    case BODY_CONST:
        if (value->type == DTYPE_F32 || value->type == DTYPE_F64) text_printf(text, "%.9g", value->value);
        else text_printf(text, "%lld", (long long)value->integer);
        break;
    case BODY_INDEX: text_put(text, "("), dim_print(text, value->index), text_put(text, ")"); break;
    case BODY_RANDOM: text_printf(text, "random%lld[", (long long)value->integer), dim_print(text, value->index), text_put(text, "]"); break;
    case BODY_ROW: text_printf(text, "r%d", value->buffer); break;
    case BODY_PRIM: case BODY_CAST: print_call(text, value, buffer_name, state); break;
    }
}

const char *reducer_name(Reducer reducer) {
    static const char *const names[] = {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"};
    return names[reducer];
}
