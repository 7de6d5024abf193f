/* Loop printing: loops and groups as text. In: lowered loops or a schedule. Out: one assignment an element, values that several read on lines of their own.
 *
 *     loop 0 %relu: i0 < 3, i1 < 5
 *         t2 = buf0[5*i0 + i1] + arg1[i1]
 *         buf2[5*i0 + i1] = where(t2 <= 0, 0, t2)
 *
 * Names are buffers' and axes'; nothing here is parsed again. */
#include "ir/loop.h"
#include <stdio.h>
#include <string.h>

typedef struct Printer { Text *text; const Lowered *l; Map *uses, *names; Arena *scratch; } Printer;

static void count_uses(const Body *value, void *state) {
    Printer *p = state;
    for (int i = 0; i < 3 && value->args[i]; i++) map_put(p->uses, value->args[i], (void *)((intptr_t)map_get(p->uses, value->args[i]) + 1));
}

static void put_value(Printer *p, const Body *value);

static const char *name_of_var(const Sym *var, void *state) {
    Printer *p = state;
    const char *known = var->var_kind == SYM_LOADED ? map_get(p->names, var->payload) : NULL;
    return known ? known : var->name;
}

static void put_dim(Printer *p, Dim d) { dim_print_named(p->text, d, false, name_of_var, p); }

static bool is_infix(const char *name) { return strchr("+-*/%=!<>&|^", name[0]) != NULL || strcmp(name, "and") == 0 || strcmp(name, "or") == 0; }

static void put_operation(Printer *p, const Body *value) {
    if (value->kind == BODY_CAST) {
        text_printf(p->text, "%s(", dtype_info[value->rounded ? value->stored : value->type].short_name);
        put_value(p, value->args[0]);
        text_put(p->text, ")");
        return;
    }
    const PrimInfo *info = &prim_info[value->prim];
    bool infix = info->arity == 2 && is_infix(info->name);
    text_printf(p->text, infix ? "(" : "%s(", info->name);
    for (int i = 0; i < info->arity; i++) {
        if (i) text_printf(p->text, infix ? " %s " : ", ", info->name);
        put_value(p, value->args[i]);
    }
    text_put(p->text, ")");
}

static void put_bare(Printer *p, const Body *value) {
    switch (value->kind) {
    case BODY_LOAD:
        text_printf(p->text, "%s[", p->l->buffers.at[value->buffer].buffer.name);
        put_dim(p, value->index);
        text_put(p->text, "]");
        break;
    case BODY_CONST:
        if (value->type == DTYPE_F32 || value->type == DTYPE_F64) text_printf(p->text, "%.9g", value->value);
        else text_printf(p->text, "%lld", (long long)value->integer);
        break;
    case BODY_INDEX: put_dim(p, value->index); break;
    case BODY_RANDOM:
        text_printf(p->text, "random%lld[", (long long)value->integer);
        put_dim(p, value->index);
        text_put(p->text, "]");
        break;
    case BODY_ROW: text_printf(p->text, "r%d", value->buffer); break;
    case BODY_PRIM: case BODY_CAST: put_operation(p, value); break;
    }
}

static void put_value(Printer *p, const Body *value) {
    const char *name = map_get(p->names, value);
    if (name) text_put(p->text, name);
    else put_bare(p, value);
}

/* Values used more than once, and those that are indices, get a line. */
static void put_shared(const Body *value, void *state) {
    Printer *p = state;
    bool leaf = value->kind == BODY_CONST || value->kind == BODY_ROW || value->kind == BODY_INDEX;
    if (leaf || map_has(p->names, value) || (intptr_t)map_get(p->uses, value) < 2) return;
    for (int i = 0; i < p->text->indent; i++) text_char(p->text, ' ');
    text_printf(p->text, "t%d = ", value->id);
    put_bare(p, value);
    text_char(p->text, '\n');
    map_put(p->names, value, arena_printf(p->scratch, "t%d", value->id));
}

static void note_loaded(const Sym *var, void *state) {
    Printer *p = state;
    if (var->var_kind == SYM_LOADED) map_put(p->uses, var->payload, (void *)2);
}

static void note_loaded_below(const Body *value, void *state) {
    if (value->kind == BODY_LOAD || value->kind == BODY_INDEX || value->kind == BODY_RANDOM) dim_each_var(value->index, note_loaded, state);
}

static Printer printer_of(Text *text, const Lowered *l, Arena *scratch) { return (Printer){text, l, map_new(scratch), map_new(scratch), scratch}; }

static void prepare(Printer *p, const Body *value) {
    body_each(value, note_loaded_below, p);
    body_each(value, count_uses, p);
}

static void start_line(Printer *p) {
    for (int i = 0; i < p->text->indent; i++) text_char(p->text, ' ');
}

static void put_store(Printer *p, int buffer, Dim index, const Body *value, bool adds) {
    body_each(value, put_shared, p);
    start_line(p);
    text_printf(p->text, "%s[", p->l->buffers.at[buffer].buffer.name);
    put_dim(p, index);
    text_put(p->text, adds ? "] += " : "] = ");
    put_value(p, value);
    text_char(p->text, '\n');
}

static void put_reduction(Printer *p, const char *name, Reducer reducer, const Body *value) {
    body_each(value, put_shared, p);
    start_line(p);
    text_printf(p->text, "%s = %s(", name, reducer_name(reducer));
    put_value(p, value);
    text_put(p->text, ")\n");
}

static void put_axes(Text *text, const Axis *axes, int count) {
    for (int i = 0; i < count; i++) {
        text_put(text, i ? ", " : "");
        dim_print(text, axes[i].var);
        text_put(text, " < ");
        dim_print(text, axes[i].extent);
        if (axes[i].kind == AXIS_REDUCE) text_put(text, " (reduced)");
    }
}

static void put_call(Printer *p, const Loop *loop) {
    const char *separator = "";
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < loop->accesses.count; i++) {
            const Access *access = &loop->accesses.at[i];
            if (access->is_store != (pass == 0)) continue;
            text_printf(p->text, "%s%s", separator, p->l->buffers.at[access->buffer].buffer.name);
            separator = ", ";
        }
    text_printf(p->text, " (written first) by %s\n", loop->node->op->name);
}

void loop_print(Text *text, const Lowered *lowered, const Loop *loop) {
    Arena *scratch = arena_new("loop print");
    Printer p = printer_of(text, lowered, scratch);
    text_printf(text, "loop %d %%%s: ", loop->id, loop->node->name);
    if (loop->kind == LOOP_EXTERN || loop->kind == LOOP_MATMUL) {
        put_call(&p, loop);
        arena_free(scratch);
        return;
    }
    put_axes(text, loop->axes, loop->axis_count);
    text_char(text, '\n');
    text_indent(text, 4);
    if (loop->reduced) prepare(&p, loop->reduced);
    for (int i = 0; i < loop->store_count; i++) {
        dim_each_var(loop->stores[i].index, note_loaded, &p);
        prepare(&p, loop->stores[i].value);
    }
    if (loop->reduces) put_reduction(&p, "r0", loop->reducer, loop->reduced);
    for (int i = 0; i < loop->store_count; i++) put_store(&p, loop->stores[i].buffer, loop->stores[i].index, loop->stores[i].value, loop->stores[i].accumulate);
    text_indent(text, -4);
    arena_free(scratch);
}

void lowered_print(Text *text, const Lowered *lowered) {
    for (int i = 0; i < lowered->loops.count; i++) loop_print(text, lowered, lowered->loops.at[i]);
}

static void put_items(Printer *p, const Group *group) {
    for (int i = 0; i < group->items.count; i++) {
        if (group->items.at[i].kind == ITEM_STORE) dim_each_var(group->items.at[i].index, note_loaded, p);
        prepare(p, group->items.at[i].value);
    }
    for (int pass = 0; pass <= group->passes + 1; pass++)
        for (int i = 0; i < group->items.count; i++) {
            const Item *item = &group->items.at[i];
            if (item->depth != pass) continue;
            char name[24];
            snprintf(name, sizeof name, "r%d", item->reduction);
            if (item->kind == ITEM_REDUCE) put_reduction(p, name, item->reducer, item->value);
            else put_store(p, item->buffer, item->index, item->value, item->adds);
        }
}

void group_print(Text *text, const Schedule *schedule, const Group *group) {
    Arena *scratch = arena_new("group print");
    Printer p = printer_of(text, schedule->lowered, scratch);
    text_printf(text, "group %d %s: ", group->id, group->name ? group->name : "");
    if (group_is_extern(group)) put_call(&p, group->members.at[0].loop);
    else {
        put_axes(text, group->axes, group->axis_count);
        text_printf(text, "%s\n", group->passes > 1 ? ", several passes" : "");
        text_indent(text, 4);
        put_items(&p, group);
        text_indent(text, -4);
    }
    arena_free(scratch);
}
