/* Sym: readers. Ranges, hints, evaluation, substitution, linear parts, and the two printed forms. */
#include "ir/sym_table.h"
#include <assert.h>

int64_t dim_low(Dim d) { return dim_is_int(d) ? d : dim_sym(d)->low; }
int64_t dim_high(Dim d) { return dim_is_int(d) ? d : dim_sym(d)->high; }
bool dim_equal(Dim a, Dim b) { return a == b; } /* one normal form: equal polynomials are one pointer */

static int64_t evaluate_node(const Sym *sym, const int64_t *args) {
    int64_t result = args[0];
    switch (sym->kind) {
    case SYM_ADD: for (int i = 1; i < sym->count; i++) result = (int64_t)((uint64_t)result + (uint64_t)args[i]); return result;
    case SYM_MUL: for (int i = 1; i < sym->count; i++) result = (int64_t)((uint64_t)result * (uint64_t)args[i]); return result;
    case SYM_FLOORDIV: return sym_quotient(args[0], args[1]);
    case SYM_MOD: return sym_remainder(args[0], args[1]);
    case SYM_MIN: return args[0] < args[1] ? args[0] : args[1];
    case SYM_MAX: return args[0] > args[1] ? args[0] : args[1];
    case SYM_EQ: return args[0] == args[1];
    case SYM_NE: return args[0] != args[1];
    case SYM_LT: return args[0] < args[1];
    case SYM_LE: return args[0] <= args[1];
    case SYM_AND: return args[0] && args[1];
    case SYM_OR: return args[0] || args[1];
    case SYM_NOT: return !args[0];
    case SYM_CONST: case SYM_VAR: break;
    }
    return sym->value;
}

int64_t dim_evaluate(Dim d, int64_t (*lookup)(const Sym *var, void *state), void *state) {
    if (dim_is_int(d)) return d;
    const Sym *sym = dim_sym(d);
    if (sym->kind == SYM_VAR) return lookup(sym, state);
    int64_t few[32] = {0}, *values = sym->count <= 32 ? few : calloc((size_t)sym->count, sizeof *values);
    for (int i = 0; values && i < sym->count; i++) values[i] = dim_evaluate(sym->args[i], lookup, state);
    int64_t result = values ? evaluate_node(sym, values) : 0;
    if (values != few) free(values);
    return result;
}

static int64_t hint_of(const Sym *var, void *state) {
    (void)state;
    return var->hint;
}

int64_t dim_hint(Dim d) { return dim_is_int(d) ? d : dim_evaluate(d, hint_of, NULL); }

bool dim_uses(Dim d, Dim var) {
    if (d == var) return true;
    if (dim_is_int(d)) return false;
    const Sym *sym = dim_sym(d);
    for (int i = 0; i < sym->count; i++)
        if (dim_uses(sym->args[i], var)) return true;
    return false;
}

void dim_each_var(Dim d, void (*visit)(const Sym *var, void *state), void *state) {
    if (dim_is_int(d)) return;
    const Sym *sym = dim_sym(d);
    if (sym->kind == SYM_VAR) visit(sym, state);
    for (int i = 0; i < sym->count; i++) dim_each_var(sym->args[i], visit, state);
}

Dim sym_rebuild(SymTable *table, const Sym *sym, const Dim *args) {
    Dim result = args[0];
    switch (sym->kind) {
    case SYM_ADD: for (int i = 1; i < sym->count; i++) result = dim_add(table, result, args[i]); return result;
    case SYM_MUL: for (int i = 1; i < sym->count; i++) result = dim_mul(table, result, args[i]); return result;
    case SYM_FLOORDIV: return dim_floordiv(table, args[0], args[1]);
    case SYM_MOD: return dim_mod(table, args[0], args[1]);
    case SYM_MIN: return dim_min(table, args[0], args[1]);
    case SYM_MAX: return dim_max(table, args[0], args[1]);
    default: return dim_relation(table, sym->kind, args[0], sym->count > 1 ? args[1] : 0);
    }
}

Dim dim_substitute(SymTable *table, Dim d, const Dim *from, const Dim *to, int count) {
    if (dim_is_int(d)) return d;
    for (int i = 0; i < count; i++)
        if (d == from[i]) return to[i];
    const Sym *sym = dim_sym(d);
    if (sym->kind == SYM_VAR) return d;
    bool changed = false;
    VEC(Dim) args = {0};
    for (int i = 0; i < sym->count; i++) {
        vec_push(&args, dim_substitute(table, sym->args[i], from, to, count));
        changed |= args.at[i] != sym->args[i];
    }
    Dim result = changed ? sym_rebuild(table, sym, args.at) : d;
    vec_free(&args);
    return result;
}

/* One term's part in coefficient * var + rest. */
static bool linear_term(SymTable *table, Dim term, Dim var, Dim *coefficient, Dim *rest) {
    if (!dim_uses(term, var)) return *rest = dim_add(table, *rest, term), true;
    if (term == var) return *coefficient = dim_add(table, *coefficient, 1), true;
    const Sym *sym = dim_sym(term);
    if (sym->kind != SYM_MUL) return false;
    Dim factor = 1;
    int times = 0;
    for (int i = 0; i < sym->count; i++) {
        if (sym->args[i] == var) times++;
        else if (dim_uses(sym->args[i], var)) return false;
        else factor = dim_mul(table, factor, sym->args[i]);
    }
    *coefficient = dim_add(table, *coefficient, factor);
    return times == 1;
}

bool dim_linear(SymTable *table, Dim d, Dim var, Dim *coefficient, Dim *rest) {
    *coefficient = 0;
    *rest = 0;
    if (dim_is_int(d) || dim_sym(d)->kind != SYM_ADD) return linear_term(table, d, var, coefficient, rest);
    for (int i = 0; i < dim_sym(d)->count; i++)
        if (!linear_term(table, dim_sym(d)->args[i], var, coefficient, rest)) return false;
    return true;
}

/* ---- printing ---- */
typedef struct Printer { Text *text; bool c; const char *(*name)(const Sym *var, void *state); void *state; } Printer;
enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_ATOM };

static void print(const Printer *p, Dim d, int level);

static void print_product(const Printer *p, const Sym *sym, bool negate) {
    Dim last = sym->args[sym->count - 1];
    int count = sym->count;
    if (dim_is_int(last)) {
        count--;
        int64_t coefficient = negate ? -last : last;
        if (coefficient == -1) text_put(p->text, "-");
        else if (coefficient != 1) text_printf(p->text, "%lld*", (long long)coefficient);
    }
    for (int i = 0; i < count; i++) {
        if (i) text_put(p->text, "*");
        print(p, sym->args[i], LEVEL_ATOM);
    }
}

static bool is_negative_product(Dim d) {
    if (dim_is_int(d)) return d < 0;
    const Sym *sym = dim_sym(d);
    return sym->kind == SYM_MUL && dim_is_int(sym->args[sym->count - 1]) && sym->args[sym->count - 1] < 0;
}

static void print_sum(const Printer *p, const Sym *sym) {
    for (int i = 0; i < sym->count; i++) {
        bool minus = i > 0 && is_negative_product(sym->args[i]);
        if (i) text_put(p->text, minus ? " - " : " + ");
        if (!minus) print(p, sym->args[i], LEVEL_SUM + 1);
        else if (dim_is_int(sym->args[i])) text_printf(p->text, "%lld", (long long)-sym->args[i]);
        else print_product(p, dim_sym(sym->args[i]), true);
    }
}

/* C divides toward zero: where the dividend may be negative, the remainder is made non-negative first. */
static void print_division_c(const Printer *p, const Sym *sym) {
    bool plain = dim_low(sym->args[0]) >= 0 && dim_low(sym->args[1]) >= 0, quotient = sym->kind == SYM_FLOORDIV;
    if (plain) {
        print(p, sym->args[0], LEVEL_ATOM);
        text_put(p->text, quotient ? "/" : "%");
        print(p, sym->args[1], LEVEL_ATOM);
        return;
    }
    if (quotient) text_put(p->text, "("), print(p, sym->args[0], LEVEL_SUM), text_put(p->text, " - ");
    text_put(p->text, "(");
    print(p, sym->args[0], LEVEL_ATOM), text_put(p->text, "%"), print(p, sym->args[1], LEVEL_ATOM);
    text_put(p->text, " + "), print(p, sym->args[1], LEVEL_SUM), text_put(p->text, ")%"), print(p, sym->args[1], LEVEL_ATOM);
    if (quotient) text_put(p->text, ")/"), print(p, sym->args[1], LEVEL_ATOM);
}

static void print_extreme(const Printer *p, const Sym *sym) {
    bool minimum = sym->kind == SYM_MIN;
    if (!p->c) {
        text_put(p->text, minimum ? "min(" : "max(");
        print(p, sym->args[0], LEVEL_OR), text_put(p->text, ", "), print(p, sym->args[1], LEVEL_OR), text_put(p->text, ")");
        return;
    }
    text_put(p->text, "("), print(p, sym->args[0], LEVEL_SUM), text_put(p->text, minimum ? " < " : " > "), print(p, sym->args[1], LEVEL_SUM);
    text_put(p->text, " ? "), print(p, sym->args[0], LEVEL_SUM), text_put(p->text, " : "), print(p, sym->args[1], LEVEL_SUM), text_put(p->text, ")");
}

static void print_binary(const Printer *p, const Sym *sym, const char *sign, int level) {
    print(p, sym->args[0], level + 1);
    text_put(p->text, sign);
    print(p, sym->args[1], level + 1);
}

static int level_of(const Printer *p, const Sym *sym) {
    switch (sym->kind) {
    case SYM_ADD: return LEVEL_SUM;
    case SYM_MUL: case SYM_FLOORDIV: case SYM_MOD: return LEVEL_PRODUCT;
    case SYM_EQ: case SYM_NE: case SYM_LT: case SYM_LE: return LEVEL_COMPARE;
    case SYM_AND: return LEVEL_AND;
    case SYM_OR: return LEVEL_OR;
    case SYM_NOT: return p->c ? LEVEL_ATOM : LEVEL_AND;
    default: return LEVEL_ATOM;
    }
}

static void print_bare(const Printer *p, const Sym *sym) {
    switch (sym->kind) {
    case SYM_CONST: text_printf(p->text, "%lld", (long long)sym->value); break;
    case SYM_VAR: text_put(p->text, p->name ? p->name(sym, p->state) : sym->name); break;
    case SYM_ADD: print_sum(p, sym); break;
    case SYM_MUL: print_product(p, sym, false); break;
    case SYM_FLOORDIV:
    case SYM_MOD:
        if (p->c) print_division_c(p, sym);
        else print(p, sym->args[0], LEVEL_ATOM), text_put(p->text, sym->kind == SYM_MOD ? "%" : "//"), print(p, sym->args[1], LEVEL_ATOM);
        break;
    case SYM_MIN: case SYM_MAX: print_extreme(p, sym); break;
    case SYM_EQ: print_binary(p, sym, " == ", LEVEL_COMPARE); break;
    case SYM_NE: print_binary(p, sym, " != ", LEVEL_COMPARE); break;
    case SYM_LT: print_binary(p, sym, " < ", LEVEL_COMPARE); break;
    case SYM_LE: print_binary(p, sym, " <= ", LEVEL_COMPARE); break;
    case SYM_AND: print_binary(p, sym, p->c ? " && " : " and ", LEVEL_AND); break;
    case SYM_OR: print_binary(p, sym, p->c ? " || " : " or ", LEVEL_OR); break;
    case SYM_NOT: text_put(p->text, p->c ? "!" : "not "), print(p, sym->args[0], LEVEL_ATOM); break;
    }
}

static void print(const Printer *p, Dim d, int level) {
    if (dim_is_int(d)) {
        text_printf(p->text, d < 0 && level > LEVEL_SUM ? "(%lld)" : "%lld", (long long)d);
        return;
    }
    bool bracket = level_of(p, dim_sym(d)) < level;
    if (bracket) text_put(p->text, "(");
    print_bare(p, dim_sym(d));
    if (bracket) text_put(p->text, ")");
}

void dim_print(Text *text, Dim d) { print(&(Printer){.text = text}, d, LEVEL_OR); }
void dim_print_c(Text *text, Dim d) { print(&(Printer){.text = text, .c = true}, d, LEVEL_OR); }

void dim_print_named(Text *text, Dim d, bool c, const char *(*name)(const Sym *var, void *state), void *state) {
    print(&(Printer){.text = text, .c = c, .name = name, .state = state}, d, LEVEL_OR);
}
