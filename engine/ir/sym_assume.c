/* Sym: assumptions. In: a question about sizes. Out: its answer in this compile, and what the compile thereby takes for granted.
 *
 *     n in [2, ...), hint 8:   dim_is(SYM_EQ, n % 2, 0)  ->  true; n % 2 is 0 from now on, and 2 * (n // 2) is n
 *                              dim_is(SYM_LT, 5, n)      ->  true; n in [6, ...)
 *                              dim_is(SYM_EQ, m, n)      ->  true; m is n from now on (dim_resolve)
 *
 * What an assumption teaches: bounds of variables, residues, and equalities solved for a variable, which replace it by what it is equal to.
 * Invariant: an assumption is true under the hints, and everything derived from it is true whenever it is. */
#include "ir/sym_table.h"
#include <assert.h>

int assumption_count(const SymTable *table) { return table->assumptions.count; }
const Assumption *assumption_at(const SymTable *table, int index) { return &table->assumptions.at[index]; }
void table_freeze(SymTable *table) { table->frozen = true; }

void table_on_assume(SymTable *table, Span (*where)(void *state), void *state) {
    table->where = where;
    table->where_state = state;
}

void var_set_hint(Dim var, int64_t hint) { ((Sym *)(uintptr_t)dim_sym(var))->hint = hint; }

Dim dim_product(Dim a, Dim b) {
    if (dim_is_int(a) && dim_is_int(b)) return a * b;
    return dim_mul(dim_is_int(a) ? dim_sym(b)->table : dim_sym(a)->table, a, b);
}

Dim dim_less_by(Dim a, int64_t b) { return dim_is_int(a) ? a - b : dim_sub(dim_sym(a)->table, a, b); }

static Sym *sym_of(Dim d) { return (Sym *)(uintptr_t)dim_sym(d); }

/* ---- resolving ---- */

Dim dim_resolve(Dim d) {
    if (dim_is_int(d)) return d;
    const Sym *sym = dim_sym(d);
    if (sym->table->assumptions.count == 0) return d;
    if (sym->is_replaced) return dim_resolve(sym->becomes);
    if (sym->kind == SYM_VAR) return sym->low == sym->high ? sym->low : d;
    Dim args[32];
    if (sym->count > 32) return d;
    for (int i = 0; i < sym->count; i++) args[i] = dim_resolve(sym->args[i]);
    return sym_rebuild(sym->table, sym, args); /* anew in any case: what is known has grown since it was made */
}

/* ---- residues ---- */

/* Of a product: one factor that is a multiple makes it one; of a sum: when all terms are known. */
static bool compound_residue(SymTable *table, const Sym *sym, int64_t modulus, int64_t *residue) {
    bool all = true;
    int64_t result = sym->kind == SYM_MUL ? sym_remainder(1, modulus) : 0;
    for (int i = 0; i < sym->count; i++) {
        int64_t part = dim_is_int(sym->args[i]) ? sym_remainder(sym->args[i], modulus) : 0;
        bool known = dim_is_int(sym->args[i]) || sym_known_residue(table, sym->args[i], modulus, &part);
        if (known && part == 0 && sym->kind == SYM_MUL) return *residue = 0, true;
        all = all && known;
        if (known) result = sym->kind == SYM_MUL ? (int64_t)((__int128)result * part % modulus) : sym_remainder(result + part, modulus);
    }
    *residue = result;
    return all;
}

bool sym_known_residue(SymTable *table, Dim d, int64_t modulus, int64_t *residue) {
    if (table->residues.count == 0 || table->asking) return false;
    for (int i = 0; i < table->residues.count; i++) {
        const SymResidue *fact = &table->residues.at[i];
        if (fact->modulus % modulus != 0) continue;
        table->asking = true;
        Dim difference = dim_sub(table, d, fact->d);
        table->asking = false;
        if (!dim_is_int(difference)) continue;
        *residue = sym_remainder(fact->residue + difference, modulus);
        return true;
    }
    const Sym *sym = dim_is_int(d) ? NULL : dim_sym(d);
    return sym && (sym->kind == SYM_MUL || sym->kind == SYM_ADD) && compound_residue(table, sym, modulus, residue);
}

static void learn_residue(SymTable *table, Dim d, int64_t modulus, int64_t residue) {
    SymResidue fact = {d, modulus, residue};
    vec_push_in(table->arena, &table->residues, fact);
}

/* ---- bounds ---- */

static void ranges_update(SymTable *table) {
    for (int i = 0; i < table->all.count; i++) sym_update_range(table->all.at[i]);
}

static int64_t ceiling(int64_t a, int64_t b) { return -sym_quotient(-a, b); }

/* What no variable's range can say is kept at the expression itself, and at its negative. */
static void narrow(Sym *sym, int64_t low, int64_t high) {
    Dim negative = dim_mul(sym->table, dim_of_sym(sym), -1), last = sym->args[sym->count - 1];
    if (sym->kind == SYM_ADD && sym->count > 2 && dim_is_int(last)) { /* without its constant: other constants beside the same terms follow */
        Dim core = dim_sub(sym->table, dim_of_sym(sym), last);
        if (!dim_is_int(core)) narrow(sym_of(core), low == INT64_MIN ? low : low - last, high == INT64_MAX ? high : high - last);
    }
    if (low > sym->low) sym->low = low;
    if (high < sym->high) sym->high = high;
    if (dim_is_int(negative)) return;
    Sym *other = sym_of(negative);
    if (high != INT64_MAX && -high > other->low) other->low = -high;
    if (low != INT64_MIN && -low < other->high) other->high = -low;
}

/* low <= d <= high, with INT64_MIN and INT64_MAX for no bound. True: the variables' ranges now say exactly this. */
static bool bound(Dim d, int64_t low, int64_t high) {
    if (dim_is_int(d)) return d >= low && d <= high;
    Sym *sym = sym_of(d);
    SymTable *table = sym->table;
    if (low <= sym->low && high >= sym->high) return true;
    bool none_low = low == INT64_MIN, none_high = high == INT64_MAX, exact = true;
    if (sym->kind == SYM_VAR && sym->var_kind != SYM_AXIS) {
        if (low > sym->low) sym->low = low;
        if (high < sym->high) sym->high = high;
    } else if (sym->kind == SYM_ADD) {
        SymTerm term = sym_term(table, sym->args[0]);
        if (sym->count != 2 || !dim_is_int(sym->args[1])) return narrow(sym, low, high), false;
        int64_t c = sym->args[1], k = term.coefficient;
        if ((!none_low && low < INT64_MIN / 2) || (!none_high && high > INT64_MAX / 2) || c < INT64_MIN / 2 || c > INT64_MAX / 2) return false;
        int64_t from = none_low ? low : low - c, to = none_high ? high : high - c;
        if (k < 0) {
            int64_t swapped = none_low ? INT64_MAX : -from;
            from = none_high ? INT64_MIN : -to;
            to = swapped;
            k = -k;
        }
        exact = bound(term.monomial, from == INT64_MIN ? from : ceiling(from, k), to == INT64_MAX ? to : sym_quotient(to, k));
    } else if (sym->kind == SYM_MUL && sym->count == 2 && dim_is_int(sym->args[1])) {
        int64_t k = sym->args[1], from = low, to = high;
        if (k < 0) from = none_high ? INT64_MIN : -high, to = none_low ? INT64_MAX : -low, k = -k;
        exact = bound(sym->args[0], from == INT64_MIN ? from : ceiling(from, k), to == INT64_MAX ? to : sym_quotient(to, k));
    } else if (sym->kind == SYM_FLOORDIV && dim_is_int(sym->args[1]) && sym->args[1] > 0) {
        int64_t k = sym->args[1], from = INT64_MIN, to = INT64_MAX;
        if (!none_low && __builtin_mul_overflow(low, k, &from)) return false;
        if (!none_high && (__builtin_mul_overflow(high, k, &to) || __builtin_add_overflow(to, k - 1, &to))) return false;
        exact = bound(sym->args[0], from, to);
    } else exact = false;
    if (!exact) narrow(sym, low, high);
    return exact;
}

/* ---- equalities ---- */

typedef struct Solve { SymTable *table; Dim difference, var, value; } Solve;

static bool is_input(const Sym *var) { return var->var_kind == SYM_SIZE || var->var_kind == SYM_UNBACKED; }

/* The last variable (by age) of `difference` == 0 that stands in it alone with a coefficient of 1 or -1. */
static void try_var(const Sym *var, void *state) {
    Solve *s = state;
    Dim coefficient, rest, d = dim_of_sym(var);
    if (!is_input(var) || (s->var && dim_sym(s->var)->id >= var->id)) return;
    if (!dim_linear(s->table, s->difference, d, &coefficient, &rest) || dim_uses(rest, d)) return;
    if (coefficient != 1 && coefficient != -1) return;
    s->var = d;
    s->value = coefficient == 1 ? dim_mul(s->table, rest, -1) : rest;
}

static void replace(Dim var, Dim value) {
    Sym *sym = sym_of(var);
    sym->is_replaced = true;
    sym->becomes = value;
}

/* x == b * (x // b), however it is written: x % b is 0. */
static bool learn_division(SymTable *table, Dim difference) {
    if (dim_is_int(difference) || dim_sym(difference)->kind != SYM_ADD) return false;
    const Sym *sum = dim_sym(difference);
    for (int i = 0; i < sum->count; i++) {
        SymTerm term = sym_term(table, sum->args[i]);
        if (term.monomial == 1 || dim_sym(term.monomial)->kind != SYM_FLOORDIV) continue;
        Dim x = dim_sym(term.monomial)->args[0], b = dim_sym(term.monomial)->args[1];
        if (!dim_is_int(b) || term.coefficient % b != 0) continue;
        Dim rest = dim_sub(table, difference, sum->args[i]);
        if (rest != dim_mul(table, x, -(term.coefficient / b))) continue;
        learn_residue(table, x, b, 0);
        return true;
    }
    return false;
}

/* a == b. True: ranges and replaced variables say all of it. */
static bool learn_equal(SymTable *table, Dim a, Dim b) {
    Dim other = dim_is_int(a) ? a : b, tested = dim_is_int(a) ? b : a;
    if (dim_is_int(other) && !dim_is_int(tested) && dim_sym(tested)->kind == SYM_MOD && dim_is_int(dim_sym(tested)->args[1])) {
        learn_residue(table, dim_sym(tested)->args[0], dim_sym(tested)->args[1], other);
        return false;
    }
    Solve solve = {.table = table, .difference = dim_sub(table, a, b)};
    if (learn_division(table, solve.difference)) return false;
    dim_each_var(solve.difference, try_var, &solve);
    if (!solve.var) return dim_is_int(other) && bound(tested, other, other);
    const Sym *var = dim_sym(solve.var);
    int64_t low = var->low, high = var->high;
    replace(solve.var, solve.value);
    if (dim_is_int(solve.value)) {
        sym_of(solve.var)->low = sym_of(solve.var)->high = solve.value;
        return true;
    }
    bool exact = bound(solve.value, low, high); /* what was known of the variable holds of its value */
    if (!exact && low > dim_low(solve.value)) dim_is(SYM_LE, low, solve.value);
    if (!exact && high < dim_high(solve.value)) dim_is(SYM_LE, solve.value, high);
    return true; /* the place where the variable stands is compared with its value */
}

static bool learn_unequal(SymTable *table, Dim a, Dim b) {
    Dim value = dim_is_int(a) ? a : b, tested = dim_is_int(a) ? b : a;
    if (!dim_is_int(value)) return false;
    const Sym *sym = dim_sym(tested);
    if (sym->kind == SYM_MOD && sym->args[1] == 2 && (value == 0 || value == 1)) learn_residue(table, sym->args[0], 2, 1 - value);
    if (dim_low(tested) == value) return bound(tested, value + 1, INT64_MAX);
    if (dim_high(tested) == value) return bound(tested, INT64_MIN, value - 1);
    return false;
}

/* a < b or a <= b, as a bound of what stands on one side when the other is an integer, else of their difference. */
static bool learn_order(SymTable *table, Dim a, Dim b, int64_t gap) {
    if (dim_is_int(a)) return bound(b, a + gap, INT64_MAX);
    if (dim_is_int(b)) return bound(a, INT64_MIN, b - gap);
    return bound(dim_sub(table, b, a), gap, INT64_MAX);
}

static bool learn(SymTable *table, Dim relation) {
    const Sym *sym = dim_sym(relation);
    switch (sym->kind) {
    case SYM_EQ: return learn_equal(table, sym->args[0], sym->args[1]);
    case SYM_NE: return learn_unequal(table, sym->args[0], sym->args[1]);
    case SYM_LT: return learn_order(table, sym->args[0], sym->args[1], 1);
    case SYM_LE: return learn_order(table, sym->args[0], sym->args[1], 0);
    case SYM_AND: {
        bool first = dim_decide(sym->args[0]), second = dim_decide(sym->args[1]);
        return first && second;
    }
    default: return false;
    }
}

/* ---- deciding ---- */

static void assume(SymTable *table, Dim relation, Dim asked) {
    Assumption assumption = {.relation = relation, .asked = asked, .why = table->why};
    if (table->where) assumption.span = table->where(table->where_state);
    int place = table->assumptions.count;
    vec_push_in(table->arena, &table->assumptions, assumption);
    if (table->frozen) return;
    table->assumptions.at[place].absorbed = learn(table, relation);
    replace(relation, 1);
    Dim opposite = dim_relation(table, SYM_NOT, relation, 0);
    if (!dim_is_int(opposite)) replace(opposite, 0);
    ranges_update(table);
}

/* f * x and f * y compare as x and y do, for a factor f of at least 1. */
static void drop_common_factor(SymTable *table, Dim *a, Dim *b) {
    if (dim_is_int(*a) || dim_is_int(*b)) return;
    SymTerm x = sym_term(table, *a), y = sym_term(table, *b);
    if (dim_sym(x.monomial)->kind == SYM_ADD || dim_sym(y.monomial)->kind == SYM_ADD) return;
    const Sym *left = dim_sym(x.monomial), *right = dim_sym(y.monomial);
    const Dim *have = left->kind == SYM_MUL ? left->args : &x.monomial, *other = right->kind == SYM_MUL ? right->args : &y.monomial;
    int count = left->kind == SYM_MUL ? left->count : 1, others = right->kind == SYM_MUL ? right->count : 1;
    bool used[16] = {0};
    Dim p = x.coefficient, q = y.coefficient;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < others && (used[k] || other[k] != have[i])) k++;
        if (k < others && dim_low(have[i]) >= 1) used[k] = true;
        else p = dim_mul(table, p, have[i]);
    }
    for (int k = 0; k < others; k++)
        if (!used[k]) q = dim_mul(table, q, other[k]);
    *a = p;
    *b = q;
}

static void note_loop_var(const Sym *var, void *state) {
    if (!is_input(var)) *(bool *)state = true;
}

/* Loop indices have no hints: nothing can be assumed of them. */
static bool is_about_inputs(Dim d) {
    bool loops = false;
    dim_each_var(d, note_loop_var, &loops);
    return !loops;
}

static bool is_listed(const SymTable *table, Dim relation) {
    for (int i = 0; i < table->assumptions.count; i++)
        if (table->assumptions.at[i].relation == relation) return true;
    return false;
}

/* The operand of a minimum or maximum beside `operand`; 0: it is none, or has another. */
static Dim other_operand(Dim extreme, SymKind kind, Dim operand) {
    if (dim_is_int(extreme) || dim_sym(extreme)->kind != kind) return 0;
    const Dim *args = dim_sym(extreme)->args;
    return args[0] == operand ? args[1] : args[1] == operand ? args[0] : 0;
}

/* min(a, b) < a is b < a; a <= min(a, b) is a <= b; a < max(a, b) is a < b; max(a, b) <= a is b <= a. */
static Dim without_extreme(SymTable *table, const Sym *sym) {
    Dim a = sym->args[0], b = sym->args[1], other;
    if (sym->kind == SYM_LT && (other = other_operand(a, SYM_MIN, b))) return dim_relation(table, SYM_LT, other, b);
    if (sym->kind == SYM_LT && (other = other_operand(b, SYM_MAX, a))) return dim_relation(table, SYM_LT, a, other);
    if (sym->kind == SYM_LE && (other = other_operand(b, SYM_MIN, a))) return dim_relation(table, SYM_LE, a, other);
    if (sym->kind == SYM_LE && (other = other_operand(a, SYM_MAX, b))) return dim_relation(table, SYM_LE, other, b);
    return 0;
}

static Dim simpler(SymTable *table, Dim relation) {
    if (dim_is_int(relation)) return relation;
    const Sym *sym = dim_sym(relation);
    if (sym->kind < SYM_EQ || sym->kind > SYM_LE) return relation;
    Dim a = sym->args[0], b = sym->args[1], plain = without_extreme(table, sym);
    if (plain) return plain;
    drop_common_factor(table, &a, &b);
    return a == sym->args[0] && b == sym->args[1] ? relation : dim_relation(table, sym->kind, a, b);
}

bool dim_decide(Dim relation) {
    if (dim_is_int(relation)) return relation != 0;
    SymTable *table = dim_sym(relation)->table;
    Dim now = simpler(table, dim_resolve(relation));
    if (dim_is_int(now)) return now != 0;
    bool truth = dim_hint(now) != 0;
    Dim holds = truth ? now : dim_relation(table, SYM_NOT, now, 0);
    if (dim_is_int(holds) || !is_about_inputs(holds) || is_listed(table, holds)) return truth;
    assume(table, holds, relation);
    return truth;
}

bool dim_surely(SymKind relation, Dim a, Dim b) {
    if (dim_is_int(a) && dim_is_int(b)) return dim_is(relation, a, b);
    SymTable *table = dim_is_int(a) ? dim_sym(b)->table : dim_sym(a)->table;
    return simpler(table, dim_resolve(dim_relation(table, relation, a, b))) == 1;
}

bool dim_is(SymKind relation, Dim a, Dim b) {
    if (dim_is_int(a) && dim_is_int(b)) return relation == SYM_EQ ? a == b : relation == SYM_NE ? a != b : relation == SYM_LT ? a < b : a <= b;
    if (a == b) return relation == SYM_EQ || relation == SYM_LE;
    SymTable *table = dim_is_int(a) ? dim_sym(b)->table : dim_sym(a)->table;
    return dim_decide(dim_relation(table, relation, a, b));
}

int64_t dim_specialize(Dim d, const char *why) {
    if (dim_is_int(d)) return d;
    SymTable *table = dim_sym(d)->table;
    int64_t value = dim_hint(d);
    const char *former = table->why;
    table->why = why;
    dim_is(SYM_EQ, d, value);
    table->why = former;
    return value;
}
