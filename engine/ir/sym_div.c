/* Sym: floor division and modulo, and the proofs that simplify them.
 *
 * What makes index arithmetic of reshapes collapse: multiples of the divisor come out; a common factor of divisor and terms
 * cancels, the rest staying below it; a dividend within one period needs no division at all. */
#include "ir/sym_table.h"
#include <assert.h>

static int64_t common_divisor(int64_t a, int64_t b) {
    if (a < 0) a = -a;
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static const Dim *term_list(const Dim *d, int *count) {
    if (dim_is_int(*d) || dim_sym(*d)->kind != SYM_ADD) return *count = 1, d;
    return *count = dim_sym(*d)->count, dim_sym(*d)->args;
}

/* An axis as large (or small) as it gets, for d's upper end: d linear in the axis with a coefficient of known sign. */
static Dim axis_to_bound(SymTable *table, Dim d, const Sym *axis) {
    Dim coefficient, rest, var = dim_of_sym(axis);
    if (!dim_linear(table, d, var, &coefficient, &rest)) return d;
    if (dim_low(coefficient) >= 0) {
        Dim last = dim_sub(table, *(const Dim *)axis->payload, 1);
        return dim_add(table, rest, dim_mul(table, coefficient, last));
    }
    return dim_high(coefficient) <= 0 ? rest : d;
}

static const Sym *find_symbolic_axis(Dim d) {
    if (dim_is_int(d)) return NULL;
    const Sym *sym = dim_sym(d);
    if (sym->kind == SYM_VAR) return sym->var_kind == SYM_AXIS && sym->payload && !dim_is_int(*(const Dim *)sym->payload) ? sym : NULL;
    if (sym->kind != SYM_ADD && sym->kind != SYM_MUL) return NULL;
    for (int i = 0; i < sym->count; i++) {
        const Sym *found = find_symbolic_axis(sym->args[i]);
        if (found) return found;
    }
    return NULL;
}

/* x % n < n, and x // n < b where x < b * n: what a flat index over symbolic sizes leaves. */
static bool division_less(SymTable *table, Dim a, Dim b) {
    if (dim_is_int(a) || dim_sym(a)->kind < SYM_FLOORDIV || dim_sym(a)->kind > SYM_MOD || dim_low(dim_sym(a)->args[1]) < 1) return false;
    const Sym *sym = dim_sym(a);
    return sym->kind == SYM_MOD ? sym->args[1] == b : dim_less(table, sym->args[0], dim_mul(table, b, sym->args[1]));
}

bool dim_less(SymTable *table, Dim a, Dim b) {
    if (division_less(table, a, b)) return true;
    Dim difference = dim_sub(table, a, b);
    for (int steps = 0; steps < 16; steps++) {
        if (dim_high(difference) < 0) return true;
        const Sym *axis = find_symbolic_axis(difference);
        Dim next = axis ? axis_to_bound(table, difference, axis) : difference;
        if (next == difference) return false;
        difference = next;
    }
    return false;
}

/* d = divisor * quotient + rest, by whole terms. */
static void split_by_int(SymTable *table, Dim d, int64_t divisor, Dim *quotient, Dim *rest) {
    int count;
    const Dim *terms = term_list(&d, &count);
    SymSum whole = {.table = table}, left = {.table = table};
    for (int i = 0; i < count; i++) {
        SymTerm term = sym_term(table, terms[i]);
        if (term.monomial == 1) { /* a constant gives as many periods as it holds */
            sum_add_term(&whole, (SymTerm){1, sym_quotient(term.coefficient, divisor)});
            sum_add_term(&left, (SymTerm){1, sym_remainder(term.coefficient, divisor)});
        } else if (term.coefficient % divisor == 0) sum_add_term(&whole, (SymTerm){term.monomial, term.coefficient / divisor});
        else sum_add_term(&left, term);
    }
    *quotient = sum_take(&whole);
    *rest = sum_take(&left);
}

/* A factor g of the divisor (1 < g) such that what is no multiple of g in d stays in [0, g): then d // g loses it. 0: none. */
static int64_t find_factor(SymTable *table, Dim d, int64_t divisor, Dim *quotient, Dim *rest) {
    int count;
    const Dim *terms = term_list(&d, &count);
    int64_t best = 0;
    for (int i = 0; i < count; i++) {
        SymTerm term = sym_term(table, terms[i]);
        int64_t g = term.monomial == 1 ? 1 : common_divisor(term.coefficient, divisor);
        if (g <= 1 || g == divisor || g <= best) continue;
        Dim whole, left;
        split_by_int(table, d, g, &whole, &left);
        if (dim_low(left) < 0 || dim_high(left) >= g) continue;
        best = g;
        *quotient = whole;
        *rest = left;
    }
    return best;
}

static Dim divide_rest(SymTable *table, Dim d, int64_t divisor) {
    int64_t low = dim_low(d), high = dim_high(d);
    if (low != INT64_MIN && high != INT64_MAX && sym_quotient(low, divisor) == sym_quotient(high, divisor)) return sym_quotient(low, divisor);
    Dim quotient, rest;
    int64_t factor = find_factor(table, d, divisor, &quotient, &rest);
    if (factor) return dim_floordiv(table, quotient, divisor / factor);
    if (!dim_is_int(d) && dim_sym(d)->kind == SYM_FLOORDIV && dim_is_int(dim_sym(d)->args[1]) && dim_sym(d)->args[1] > 0) {
        int64_t product;
        if (!__builtin_mul_overflow(dim_sym(d)->args[1], divisor, &product)) return dim_floordiv(table, dim_sym(d)->args[0], product);
    }
    Dim args[2] = {d, divisor};
    return sym_intern(table, SYM_FLOORDIV, args, 2);
}

static Dim divide_by_int(SymTable *table, Dim a, int64_t b) {
    if (b == 0) return 0;
    if (b == 1) return a;
    if (b < 0) return divide_by_int(table, dim_mul(table, a, -1), -b);
    Dim quotient, rest;
    split_by_int(table, a, b, &quotient, &rest);
    if (dim_is_int(rest)) return quotient;
    return dim_add(table, quotient, divide_rest(table, rest, b));
}

/* term / divisor when the divisor's factors are all among the term's; false otherwise. */
static bool divide_term(SymTable *table, SymTerm term, SymTerm divisor, SymTerm *quotient) {
    if (term.monomial == 1 || term.coefficient % divisor.coefficient != 0) return false;
    const Dim *have = dim_sym(term.monomial)->kind == SYM_MUL ? dim_sym(term.monomial)->args : &term.monomial;
    const Dim *want = dim_sym(divisor.monomial)->kind == SYM_MUL ? dim_sym(divisor.monomial)->args : &divisor.monomial;
    int have_count = dim_sym(term.monomial)->kind == SYM_MUL ? dim_sym(term.monomial)->count : 1;
    int want_count = dim_sym(divisor.monomial)->kind == SYM_MUL ? dim_sym(divisor.monomial)->count : 1, j = 0;
    Dim left = 1;
    for (int i = 0; i < have_count; i++) {
        if (j < want_count && have[i] == want[j]) j++;
        else left = dim_mul(table, left, have[i]);
    }
    *quotient = (SymTerm){left, term.coefficient / divisor.coefficient};
    return j == want_count;
}

static void split_by_sym(SymTable *table, Dim d, Dim divisor, Dim *quotient, Dim *rest) {
    SymTerm by = sym_term(table, divisor);
    int count;
    const Dim *terms = term_list(&d, &count);
    SymSum whole = {.table = table}, left = {.table = table};
    for (int i = 0; i < count; i++) {
        SymTerm term = sym_term(table, terms[i]), part;
        if (divide_term(table, term, by, &part)) sum_add(&whole, sym_scaled(table, part), 1);
        else sum_add_term(&left, term);
    }
    *quotient = sum_take(&whole);
    *rest = sum_take(&left);
}

static bool is_within_period(SymTable *table, Dim d, Dim period) { return dim_low(d) >= 0 && dim_less(table, d, period); }

/* b is x // c, and x a multiple of c: x and c. */
static bool is_exact_quotient(SymTable *table, Dim b, Dim *x, int64_t *c) {
    const Sym *sym = dim_sym(b);
    int64_t residue;
    if (sym->kind != SYM_FLOORDIV || !dim_is_int(sym->args[1]) || !sym_known_residue(table, sym->args[0], sym->args[1], &residue) || residue) return false;
    *x = sym->args[0];
    *c = sym->args[1];
    return true;
}

Dim dim_floordiv(SymTable *table, Dim a, Dim b) {
    Dim x;
    int64_t c;
    if (dim_is_int(a) && dim_is_int(b)) return sym_quotient(a, b);
    if (a == 0) return 0;
    if (dim_is_int(b)) return divide_by_int(table, a, b);
    if (a == b) return 1;
    if (is_exact_quotient(table, b, &x, &c)) return dim_floordiv(table, dim_mul(table, a, c), x);
    Dim quotient = 0, rest = a, args[2];
    if (dim_sym(b)->kind != SYM_ADD) split_by_sym(table, a, b, &quotient, &rest);
    if (is_within_period(table, rest, b)) return quotient;
    args[0] = rest, args[1] = b;
    return dim_add(table, quotient, sym_intern(table, SYM_FLOORDIV, args, 2));
}

static Dim modulo_by_int(SymTable *table, Dim a, int64_t b) {
    if (b == 1 || b == 0) return 0;
    Dim quotient, rest, args[2];
    if (b < 0) return dim_mul(table, modulo_by_int(table, dim_mul(table, a, -1), -b), -1);
    split_by_int(table, a, b, &quotient, &rest);
    if (dim_is_int(rest)) return rest;
    int64_t low = dim_low(rest), high = dim_high(rest);
    if (low != INT64_MIN && high != INT64_MAX && sym_quotient(low, b) == sym_quotient(high, b)) return dim_sub(table, rest, sym_quotient(low, b) * b);
    int64_t factor = find_factor(table, rest, b, &quotient, &args[0]);
    if (factor) return dim_add(table, dim_mul(table, dim_mod(table, quotient, b / factor), factor), args[0]);
    if (sym_known_residue(table, rest, b, &low)) return low;
    const Sym *sym = dim_sym(rest);
    if (sym->kind == SYM_MOD && dim_is_int(sym->args[1]) && sym->args[1] % b == 0) return dim_mod(table, sym->args[0], b);
    args[0] = rest, args[1] = b;
    return sym_intern(table, SYM_MOD, args, 2);
}

Dim dim_mod(SymTable *table, Dim a, Dim b) {
    if (dim_is_int(a) && dim_is_int(b)) return sym_remainder(a, b);
    Dim x;
    int64_t c;
    if (a == 0 || a == b) return 0;
    if (dim_is_int(b)) return modulo_by_int(table, a, b);
    if (is_exact_quotient(table, b, &x, &c)) return dim_floordiv(table, dim_mod(table, dim_mul(table, a, c), x), c);
    Dim quotient, rest = a, args[2];
    if (dim_sym(b)->kind != SYM_ADD) split_by_sym(table, a, b, &quotient, &rest);
    if (rest == 0 || is_within_period(table, rest, b)) return rest;
    args[0] = rest, args[1] = b;
    return sym_intern(table, SYM_MOD, args, 2);
}
