/* Guards of shapes. In: what a compile assumed of its symbols (ir/sym.h), and the places where they stand. Out: rows of the guard set, as PyTorch words them.
 *
 *     a second place of a symbol      L['y'].size()[0] == L['x'].size()[0]
 *     an assumption                   (L['x'].size()[0] % 2) == 0
 *     what is left of a range         2 <= L['x'].size()[0]
 *
 * A symbol that became an integer needs no row: the tensor's own guard compares that size, an int gets its EQUALS_MATCH. */
#include "dynamo/shapes.h"
#include "dynamo/unbacked.h"
#include <string.h>

/* ---- printing ---- */

typedef struct Printer { Text *text; const char *(*name)(const Sym *var, void *state); void *state; } Printer;

static void print_term(const Printer *p, Dim d);

static void print_operands(const Printer *p, const Sym *sym, const char *sign) {
    text_char(p->text, '(');
    for (int i = 0; i < sym->count; i++) {
        if (i) text_put(p->text, sign);
        print_term(p, sym->args[i]);
    }
    text_char(p->text, ')');
}

/* Constants stand first in sums and products. */
static void print_reordered(const Printer *p, const Sym *sym, const char *sign) {
    Dim last = sym->args[sym->count - 1];
    int count = sym->count;
    text_char(p->text, '(');
    if (dim_is_int(last)) {
        text_printf(p->text, last < 0 && sym->kind == SYM_MUL ? "(%lld)" : "%lld", (long long)last);
        text_put(p->text, sign);
        count--;
    }
    for (int i = 0; i < count; i++) {
        if (i) text_put(p->text, sign);
        print_term(p, sym->args[i]);
    }
    text_char(p->text, ')');
}

static void print_call(const Printer *p, const Sym *sym, const char *function) {
    text_put(p->text, function);
    text_char(p->text, '(');
    print_term(p, sym->args[0]);
    text_put(p->text, ", ");
    print_term(p, sym->args[1]);
    text_char(p->text, ')');
}

static void print_relation(const Printer *p, const Sym *sym, const char *sign) {
    print_term(p, sym->args[0]);
    text_put(p->text, sign);
    print_term(p, sym->args[1]);
}

static void print_term(const Printer *p, Dim d) {
    if (dim_is_int(d)) {
        text_printf(p->text, "%lld", (long long)d);
        return;
    }
    const Sym *sym = dim_sym(d);
    switch (sym->kind) {
    case SYM_VAR: text_put(p->text, p->name(sym, p->state)); break;
    case SYM_ADD: print_reordered(p, sym, " + "); break;
    case SYM_MUL: print_reordered(p, sym, "*"); break;
    case SYM_FLOORDIV: print_operands(p, sym, " // "); break;
    case SYM_MOD: print_operands(p, sym, " % "); break;
    case SYM_MIN: print_call(p, sym, "min"); break;
    case SYM_MAX: print_call(p, sym, "max"); break;
    case SYM_EQ: print_relation(p, sym, " == "); break;
    case SYM_NE: print_relation(p, sym, " != "); break;
    case SYM_LT: print_relation(p, sym, " < "); break;
    case SYM_LE: print_relation(p, sym, " <= "); break;
    case SYM_AND: print_operands(p, sym, " and "); break;
    case SYM_OR: print_operands(p, sym, " or "); break;
    case SYM_NOT: text_put(p->text, "not "); print_term(p, sym->args[0]); break;
    case SYM_CONST: text_printf(p->text, "%lld", (long long)sym->value); break;
    }
}

void guard_size_print(Text *text, Dim d, const char *(*name)(const Sym *var, void *state), void *state) {
    print_term(&(Printer){text, name, state}, d);
}

/* ---- rows ---- */

typedef struct Rows {
    Entry *entry; Arena *arena;
    const char **places;            /* by binding: "L['x'].size()[0]" */
    Dim *vars;                      /* by slot: the symbol that stands there, or 0 */
    bool final;                     /* reasons are given too */
} Rows;

static const char *place_text(Arena *arena, const SizeSource *at) {
    Text text = {0};
    source_print(&text, at->source);
    if (at->property != VALUE_OF) text_printf(&text, ".%s()[%d]", at->property == SIZE_OF ? "size" : "stride", at->dim);
    const char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

static const char *name_of_var(const Sym *var, void *state) {
    const Rows *rows = state;
    for (int i = 0; i < rows->entry->bindings.count; i++)
        if (rows->vars[i] == dim_of_sym(var)) return rows->places[i];
    return var->name;
}

/* L['x'] is x in reasons. */
static const char *without_scope(Arena *arena, const char *text) {
    char *copy = arena_strdup(arena, text), *to = copy;
    for (const char *c = text; *c;) {
        const char *end = !strncmp(c, "L['", 3) ? strstr(c, "']") : NULL;
        if (!end) *to++ = *c++;
        else {
            for (c += 3; c < end; c++) *to++ = *c;
            c += 2;
        }
    }
    *to = '\0';
    return copy;
}

typedef struct Mention { Rows *rows; const char *guard, *text; Span span; } Mention;

/* For :why: the symbol's part in this guard. */
static void mention_symbol(const Sym *var, void *state) {
    const Mention *m = state;
    ReasonLog *log = &m->rows->entry->compile.reasons;
    for (int i = log->all.count - 1; i >= 0; i--) /* once a guard */
        if (log->all.at[i].kind == REASON_DYNAMIC && log->all.at[i].other && !strcmp(log->all.at[i].other, m->guard) && !strcmp(log->all.at[i].subject, var->name)) return;
    reason_add(log, REASON_DYNAMIC, "dynamic.guard", var->name, m->guard, m->span, "%s", m->text);
}

static void mention(Rows *rows, Dim d, const char *why) {
    const Guard *guard = &vec_last(&rows->entry->guards.all);
    Mention m = {rows, guard->id, arena_printf(rows->arena, "%s: %s", guard->expression ? guard->expression : "its value", why), guard->span};
    dim_each_var(d, mention_symbol, &m);
}

static void row_add(Rows *rows, int slot, Dim d, const char *expression, Span span, const char *why) {
    Entry *entry = rows->entry;
    Guard guard = {.kind = GUARD_SHAPE_EXPR, .expression = expression, .slot = slot, .span = span, .why = why};
    guard.brief = without_scope(rows->arena, expression);
    if (!dimcode_make(rows->arena, d, rows->vars, entry->bindings.count, &guard.code)) guard.code = (DimCode){.constant = 1}, guard.slot = -1;
    guard_add(&entry->guards, entry->dynamo->vm, guard);
    if (rows->final) mention(rows, d, why);
}

static const char *expression_text(Rows *rows, const char *left, Dim d) {
    Text text = {0};
    if (left) text_printf(&text, "%s == ", left);
    guard_size_print(&text, d, name_of_var, rows);
    const char *copy = text_in(&text, rows->arena);
    text_free(&text);
    return copy;
}

/* A place whose value follows from symbols that stand elsewhere; one that became an integer. */
static void add_equality(Rows *rows, int place) {
    const ShapeBinding *b = &rows->entry->bindings.at[place];
    Dim now = dim_resolve(b->dim);
    if (now == b->dim && b->defines) return;
    if (!dim_is_int(now)) {
        row_add(rows, place, now, expression_text(rows, rows->places[place], now), b->span, b->defines ? "the code needs them equal" : b->why);
        return;
    }
    if (b->at.property != VALUE_OF) return;
    Guard guard = {.kind = GUARD_EQUALS, .source = b->at.source, .expected = value_int(now), .span = b->span, .why = "the code needs the value of this int"};
    guard_add(&rows->entry->guards, rows->entry->dynamo->vm, guard);
    if (rows->final) mention(rows, b->dim, guard.why);
}

static void add_assumption(Rows *rows, const Assumption *assumption) {
    if (assumption->absorbed || dim_has_unbacked(assumption->relation)) return; /* those are looked at when the graph runs */
    row_add(rows, -1, assumption->relation, expression_text(rows, NULL, assumption->relation), assumption->span, assumption->why ? assumption->why : "the code asked this of a size");
}

/* The line that narrowed a symbol's range last, for the guard on it. */
static const Assumption *last_about(const SymTable *syms, Dim var) {
    for (int i = assumption_count(syms) - 1; i >= 0; i--)
        if (assumption_at(syms, i)->absorbed && dim_uses(assumption_at(syms, i)->relation, var)) return assumption_at(syms, i);
    return NULL;
}

static void add_range(Rows *rows, int place) {
    Entry *entry = rows->entry;
    const ShapeBinding *b = &entry->bindings.at[place];
    Dim now = dim_resolve(b->dim);
    if (!b->defines || now != b->dim) return;
    int64_t low = dim_low(now), high = dim_high(now);
    const char *name = rows->places[place], *text = NULL;
    if (low != INT64_MIN && high != INT64_MAX) text = arena_printf(rows->arena, "%lld <= %s <= %lld", (long long)low, name, (long long)high);
    else if (low != INT64_MIN) text = arena_printf(rows->arena, "%lld <= %s", (long long)low, name);
    else if (high != INT64_MAX) text = arena_printf(rows->arena, "%s <= %lld", name, (long long)high);
    if (!text) return;
    const Assumption *cause = last_about(entry->compile.syms, now);
    const char *why = cause ? "the code asked this of a size" : "sizes 0 and 1 are constants of compiles of their own";
    Guard guard = {.kind = GUARD_SHAPE_EXPR, .expression = text, .brief = without_scope(rows->arena, text), .slot = place, .span = cause ? cause->span : b->span, .why = why};
    guard.low = low, guard.high = high, guard.is_range = true;
    guard_add(&entry->guards, entry->dynamo->vm, guard);
    if (rows->final) mention(rows, now, why);
}

/* A symbol that the code made an integer: the question that did it. */
static void explain_constant(Rows *rows, int place) {
    Entry *entry = rows->entry;
    const ShapeBinding *b = &entry->bindings.at[place];
    Dim now = dim_resolve(b->dim);
    if (!b->defines || !dim_is_int(now)) return;
    const char *name = dim_sym(b->dim)->name;
    for (int i = 0; i < assumption_count(entry->compile.syms); i++) {
        const Assumption *a = assumption_at(entry->compile.syms, i);
        if (!dim_uses(a->relation, b->dim)) continue;
        reason_add(&entry->compile.reasons, REASON_SPECIALIZED, "specialized.size", name, NULL, a->span, "%s is the constant %lld: %s", rows->places[place], (long long)now,
                   a->why ? a->why : arena_printf(rows->arena, "%s was asked", expression_text(rows, NULL, a->asked)));
    }
}

static void tensor_guards_settle(Entry *entry) {
    for (int i = 0; i < entry->guards.all.count; i++)
        if (entry->guards.all.at[i].kind == GUARD_TENSOR) entry->guards.all.at[i].meta = meta_resolved(&entry->guards.all.at[i].meta);
}

void shapes_guards(Entry *entry, bool final) {
    Rows rows = {.entry = entry, .arena = entry->arena, .final = final};
    int count = entry->bindings.count;
    SizeSource *slots = ARENA_ARRAY(entry->arena, SizeSource, count + 1);
    rows.places = ARENA_ARRAY(entry->arena, const char *, count + 1);
    rows.vars = ARENA_ARRAY(entry->arena, Dim, count + 1);
    for (int i = 0; i < count; i++) {
        slots[i] = entry->bindings.at[i].at;
        rows.places[i] = place_text(entry->arena, &slots[i]);
        rows.vars[i] = entry->bindings.at[i].defines ? entry->bindings.at[i].dim : 0;
    }
    guards_drop(&entry->guards, entry->dynamo->vm, GUARD_SHAPE_EXPR);
    tensor_guards_settle(entry);
    entry->guards.slots = slots;
    entry->guards.slot_count = count;
    for (int i = 0; i < count; i++) add_equality(&rows, i);
    for (int i = 0; i < assumption_count(entry->compile.syms); i++) add_assumption(&rows, assumption_at(entry->compile.syms, i));
    for (int i = 0; i < count; i++) add_range(&rows, i);
    for (int i = 0; final && i < count; i++) explain_constant(&rows, i);
}
