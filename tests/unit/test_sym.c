/* Unit tests of ir/sym: the normal form, division with ranges, and that simplifying never changes a value. */
#include "unit.h"
#include "ir/sym.h"
#include <stdint.h>
#include <string.h>

static Arena *arena;
static SymTable *syms;

static void open_table(void) {
    arena = arena_new("test");
    syms = sym_table_new(arena);
}
static void close_table(void) { arena_free(arena); }

static const char *shown(Dim d, bool c) {
    Text text = {0};
    if (c) dim_print_c(&text, d);
    else dim_print(&text, d);
    const char *result = text_in(&text, arena);
    text_free(&text);
    return result;
}

START_TEST(equal_polynomials_are_one_pointer) {
    Dim a = sym_var(syms, "a", 0, 9, SYM_AXIS), b = sym_var(syms, "b", 0, 9, SYM_AXIS);
    Dim left = dim_mul(syms, dim_add(syms, a, b), dim_sub(syms, a, b));
    Dim right = dim_sub(syms, dim_mul(syms, a, a), dim_mul(syms, b, b));
    ck_assert(dim_equal(left, right));
    ck_assert(!dim_equal(left, a));
    ck_assert_int_eq(dim_sub(syms, left, right), 0);
    ck_assert_str_eq(shown(dim_add(syms, dim_mul(syms, a, 5), 3), false), "5*a + 3");
    ck_assert_str_eq(shown(dim_sub(syms, dim_mul(syms, a, b), dim_mul(syms, b, 2)), false), "-2*b + a*b");
}
END_TEST

START_TEST(division_uses_ranges) {
    Dim i = sym_var(syms, "i", 0, 6, SYM_AXIS), j = sym_var(syms, "j", 0, 4, SYM_AXIS);
    Dim flat = dim_add(syms, dim_mul(syms, i, 5), j);
    ck_assert(dim_floordiv(syms, flat, 5) == i);
    ck_assert(dim_mod(syms, flat, 5) == j);
    ck_assert(dim_floordiv(syms, dim_add(syms, dim_mul(syms, i, 5), 3), 5) == i);
    ck_assert_int_eq(dim_floordiv(syms, j, 5), 0);
    /* a reshape to (35 / 10, 10) and back */
    Dim high = dim_floordiv(syms, flat, 10), low = dim_mod(syms, flat, 10);
    ck_assert(dim_add(syms, dim_mul(syms, high, 10), low) == flat);
    ck_assert_str_eq(shown(high, false), "i//2");
    ck_assert_str_eq(shown(low, false), "j + 5*(i%2)");
    ck_assert_int_eq(dim_floordiv(syms, -7, 2), -4);
    ck_assert_int_eq(dim_mod(syms, -7, 2), 1);
}
END_TEST

START_TEST(division_by_symbolic_sizes) {
    Dim s0 = sym_var(syms, "s0", 2, INT64_MAX, SYM_SIZE), s1 = sym_var(syms, "s1", 2, INT64_MAX, SYM_SIZE);
    Dim i = sym_axis(syms, "i", s0), j = sym_axis(syms, "j", s1);
    Dim flat = dim_add(syms, dim_mul(syms, i, s1), j);
    ck_assert(dim_floordiv(syms, flat, s1) == i);
    ck_assert(dim_mod(syms, flat, s1) == j);
    ck_assert(dim_less(syms, flat, dim_mul(syms, s0, s1)));
    ck_assert(!dim_less(syms, flat, s0));
    Dim k = sym_axis(syms, "k", dim_mul(syms, s0, s1));
    Dim back = dim_add(syms, dim_mul(syms, dim_floordiv(syms, k, s1), s1), dim_mod(syms, k, s1));
    ck_assert(back == k);
    ck_assert_int_eq(dim_relation(syms, SYM_LT, i, s0), 1);
    ck_assert_int_eq(dim_relation(syms, SYM_EQ, i, s0), 0);
    ck_assert(!dim_is_int(dim_relation(syms, SYM_EQ, s0, s1)));
    ck_assert(dim_relation(syms, SYM_NOT, dim_relation(syms, SYM_EQ, s0, s1), 0) == dim_relation(syms, SYM_NE, s0, s1));
}
END_TEST

START_TEST(axis_of_extent_one_is_zero) { ck_assert_int_eq(sym_axis(syms, "i", 1), 0); }
END_TEST

START_TEST(linear_parts) {
    Dim i = sym_var(syms, "i", 0, 9, SYM_AXIS), n = sym_var(syms, "n", 2, 100, SYM_SIZE), coefficient, rest;
    ck_assert(dim_linear(syms, dim_add(syms, dim_mul(syms, dim_mul(syms, i, n), 3), 7), i, &coefficient, &rest));
    ck_assert(coefficient == dim_mul(syms, n, 3));
    ck_assert_int_eq(rest, 7);
    ck_assert(!dim_linear(syms, dim_mul(syms, i, i), i, &coefficient, &rest));
    ck_assert(!dim_linear(syms, dim_floordiv(syms, i, 3), i, &coefficient, &rest));
    ck_assert(dim_linear(syms, n, i, &coefficient, &rest) && coefficient == 0 && rest == n);
}
END_TEST

/* ---- random expressions, beside a plain evaluation of the same tree ---- */
typedef struct Pair { Dim d; int64_t value[64]; } Pair;
enum { VARIABLES = 3, POINTS = 64 };
static Dim variables[VARIABLES];
static int64_t points[POINTS][VARIABLES];
static uint32_t seed;

static uint32_t draw(uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static Pair build(int depth) {
    Pair result = {0};
    if (depth == 0 || draw(5) == 0) {
        int which = (int)draw(VARIABLES + 2);
        int64_t constant = (int64_t)draw(25) - 8;
        result.d = which < VARIABLES ? variables[which] : constant;
        for (int p = 0; p < POINTS; p++) result.value[p] = which < VARIABLES ? points[p][which] : constant;
        return result;
    }
    Pair a = build(depth - 1), b = build(depth - 1);
    int64_t by = 1 + (int64_t)draw(12);
    uint32_t kind = draw(8);
    switch (kind) {
    case 0: case 1: result.d = dim_add(syms, a.d, b.d); break;
    case 2: result.d = dim_sub(syms, a.d, b.d); break;
    case 3: result.d = dim_mul(syms, a.d, by); break;
    case 4: result.d = dim_floordiv(syms, a.d, by); break;
    case 5: result.d = dim_mod(syms, a.d, by); break;
    case 6: result.d = dim_min(syms, a.d, b.d); break;
    default: result.d = dim_max(syms, a.d, b.d); break;
    }
    for (int p = 0; p < POINTS; p++) {
        int64_t x = a.value[p], y = b.value[p];
        switch (kind) {
        case 0: case 1: result.value[p] = x + y; break;
        case 2: result.value[p] = x - y; break;
        case 3: result.value[p] = x * by; break;
        case 4: result.value[p] = floor_div(x, by); break;
        case 5: result.value[p] = x - floor_div(x, by) * by; break;
        case 6: result.value[p] = x < y ? x : y; break;
        default: result.value[p] = x > y ? x : y; break;
        }
    }
    return result;
}

static int64_t at_point(const Sym *var, void *state) {
    const int64_t *point = state;
    for (int v = 0; v < VARIABLES; v++)
        if (dim_of_sym(var) == variables[v]) return point[v];
    ck_abort_msg("unknown variable");
    return 0;
}

START_TEST(simplifying_keeps_values_and_ranges) {
    seed = 7;
    for (int v = 0; v < VARIABLES; v++) variables[v] = sym_var(syms, v ? v == 1 ? "j" : "k" : "i", 0, v ? v == 1 ? 4 : 10 : 6, SYM_AXIS);
    for (int p = 0; p < POINTS; p++) points[p][0] = draw(7), points[p][1] = draw(5), points[p][2] = draw(11);
    for (int round = 0; round < 4000; round++) {
        Pair pair = build(5);
        Dim moved = dim_substitute(syms, pair.d, variables, variables, VARIABLES);
        ck_assert_msg(moved == pair.d, "%s", shown(pair.d, false));
        for (int p = 0; p < POINTS; p++) {
            int64_t got = dim_evaluate(pair.d, at_point, points[p]);
            ck_assert_msg(got == pair.value[p], "%s: %lld, should be %lld", shown(pair.d, false), (long long)got, (long long)pair.value[p]);
            ck_assert_msg(dim_low(pair.d) <= got && got <= dim_high(pair.d), "%s = %lld outside its range", shown(pair.d, false), (long long)got);
        }
        for (int p = 0; p < 4; p++) { /* substituting numbers folds to a number */
            Dim number = dim_substitute(syms, pair.d, variables, points[p], VARIABLES);
            ck_assert_int_eq(number, pair.value[p]);
        }
    }
}
END_TEST

START_TEST(negative_division_prints_floor_in_c) {
    Dim i = sym_var(syms, "i", -5, 5, SYM_AXIS), n = sym_var(syms, "n", 0, 5, SYM_AXIS);
    ck_assert_str_eq(shown(dim_floordiv(syms, n, 2), true), "n/2");
    ck_assert_str_eq(shown(dim_floordiv(syms, i, 2), true), "(i - (i%2 + 2)%2)/2");
    ck_assert_str_eq(shown(dim_mod(syms, i, 2), true), "(i%2 + 2)%2");
    ck_assert_str_eq(shown(dim_mul(syms, dim_mod(syms, i, 3), 4), true), "4*((i%3 + 3)%3)");
    ck_assert_str_eq(shown(dim_relation(syms, SYM_AND, dim_relation(syms, SYM_LT, i, 2), dim_relation(syms, SYM_NE, n, 3)), true), "n != 3 && i < 2");
    ck_assert_str_eq(shown(dim_max(syms, i, n), true), "(i > n ? i : n)");
}
END_TEST

/* ---- assumptions ---- */

static Dim size_var(const char *name, int64_t hint) {
    Dim var = sym_var(syms, name, 2, INT64_MAX, SYM_SIZE);
    var_set_hint(var, hint);
    return var;
}

static const Assumption *last_assumption(void) { return assumption_at(syms, assumption_count(syms) - 1); }

START_TEST(ranges_decide_without_an_assumption) {
    Dim n = size_var("n", 8), m = size_var("m", 5);
    ck_assert(dim_is(SYM_LT, 1, n) && !dim_is(SYM_EQ, n, 0) && !dim_is_one(n) && dim_is(SYM_LE, n, n) && dim_is(SYM_LT, n, dim_add(syms, n, 1)));
    ck_assert(dim_is(SYM_LT, n, dim_mul(syms, n, m)) && dim_is(SYM_LE, dim_mod(syms, n, 4), 3)); /* a common factor of at least 1 drops out */
    ck_assert_int_eq(assumption_count(syms), 0);
}
END_TEST

START_TEST(comparisons_narrow_ranges) {
    Dim n = size_var("n", 8);
    ck_assert(dim_is(SYM_LT, 5, n) && !dim_is(SYM_LT, 20, n));
    ck_assert(dim_low(n) == 6 && dim_high(n) == 20);
    ck_assert(assumption_count(syms) == 2 && last_assumption()->absorbed); /* the range says it all */
    ck_assert(dim_is(SYM_LT, 4, n) && dim_is(SYM_LE, dim_add(syms, dim_mul(syms, n, 2), 3), 43));
    ck_assert_int_eq(assumption_count(syms), 2);
    ck_assert(!dim_is(SYM_EQ, dim_floordiv(syms, n, 2), 3)); /* 3 is the low end of n // 2 */
    ck_assert(dim_low(n) == 8 && last_assumption()->absorbed);
    ck_assert(dim_is(SYM_LE, dim_add(syms, dim_mul(syms, n, -3), 10), -5));
    ck_assert_int_eq(dim_low(dim_mul(syms, n, 3)), 24); /* what was made before follows */
}
END_TEST

START_TEST(remainders_are_remembered) {
    Dim n = size_var("n", 8), half = dim_floordiv(syms, n, 2);
    ck_assert(dim_is(SYM_EQ, dim_mod(syms, n, 4), 0) && !last_assumption()->absorbed);
    ck_assert(dim_mod(syms, n, 2) == 0 && dim_mod(syms, dim_add(syms, n, 3), 4) == 3 && dim_mod(syms, dim_mul(syms, n, n), 4) == 0);
    ck_assert(dim_mul(syms, half, 2) == n && dim_mul(syms, dim_floordiv(syms, dim_add(syms, n, 1), 4), 4) == n);
    Dim odd = size_var("odd", 7);
    ck_assert(!dim_is(SYM_EQ, dim_mod(syms, odd, 2), 0));
    ck_assert(dim_mul(syms, dim_floordiv(syms, dim_add(syms, odd, 1), 2), 2) == dim_add(syms, odd, 1));
    Dim third = size_var("third", 9); /* from x == 3 * (x // 3) */
    ck_assert(dim_same(third, dim_mul(syms, dim_floordiv(syms, third, 3), 3)) && dim_mod(syms, third, 3) == 0);
}
END_TEST

START_TEST(equalities_replace_the_younger) {
    Dim n = size_var("n", 8), m = size_var("m", 8), k = size_var("k", 17), wide = size_var("wide", 16);
    ck_assert(dim_same(n, m) && dim_resolve(m) == n && dim_resolve(dim_mul(syms, m, 3)) == dim_mul(syms, n, 3));
    ck_assert(dim_same(k, dim_add(syms, dim_mul(syms, m, 2), 1)) && dim_resolve(k) == dim_add(syms, dim_mul(syms, n, 2), 1));
    ck_assert(dim_same(dim_mul(syms, n, 2), wide) && dim_resolve(wide) == dim_mul(syms, n, 2));
    int count = assumption_count(syms);
    ck_assert(dim_same(dim_sub(syms, k, 1), wide) && dim_is(SYM_LT, m, k) && assumption_count(syms) == count);
    Dim fixed = size_var("fixed", 5);
    ck_assert(dim_specialize(fixed, "a test needs it") == 5 && dim_resolve(fixed) == 5 && last_assumption()->absorbed);
    ck_assert_str_eq(last_assumption()->why, "a test needs it");
}
END_TEST

START_TEST(a_replaced_variable_keeps_its_range) {
    Dim n = size_var("n", 8), less = size_var("less", 5);
    ck_assert(dim_same(less, dim_sub(syms, n, 3)) && dim_low(n) == 5); /* less is at least 2 */
    Dim a = size_var("a", 6), b = size_var("b", 3);
    ck_assert(dim_same(a, dim_mul(syms, b, 2)) && dim_low(b) >= 1);
}
END_TEST

START_TEST(minima_are_compared_by_their_operands) {
    Dim n = size_var("n", 8), m = size_var("m", 5), least = dim_min(syms, n, m);
    ck_assert(dim_is(SYM_LT, least, n));
    ck_assert_str_eq(shown(last_assumption()->relation, false), "m < n");
    ck_assert(dim_resolve(least) == m && dim_resolve(dim_max(syms, n, m)) == n);
    ck_assert(dim_is(SYM_LT, m, dim_add(syms, n, 2)) && dim_is(SYM_LE, dim_add(syms, m, 1), n) && !dim_same(n, m));
    ck_assert_int_eq(assumption_count(syms), 1);
}
END_TEST

START_TEST(frozen_tables_only_list) {
    Dim n = size_var("n", 8);
    table_freeze(syms);
    ck_assert(dim_is(SYM_LT, 5, n) && dim_is(SYM_LT, 5, n));
    ck_assert(assumption_count(syms) == 1 && dim_low(n) == 2);
}
END_TEST

/* Whatever was assumed under the hints: at any other values of the variables that satisfy all assumptions, every answer given is the right one and
 * every resolved expression has its old value. */
static uint32_t noise(uint32_t *state) { return *state = *state * 1664525u + 1013904223u, *state >> 8; }

typedef struct Values { Dim vars[3]; int64_t at[3]; } Values;

static int64_t value_now(const Sym *var, void *state) {
    const Values *values = state;
    for (int i = 0; i < 3; i++)
        if (values->vars[i] == dim_of_sym(var)) return values->at[i];
    return 0;
}

static Dim random_size(uint32_t *state, const Values *values, int depth) {
    Dim a = values->vars[noise(state) % 3], b = values->vars[noise(state) % 3];
    if (depth > 1) a = random_size(state, values, depth - 1);
    switch (noise(state) % 7) {
    case 0: return dim_add(syms, a, (int64_t)(noise(state) % 5) - 2);
    case 1: return dim_mul(syms, a, noise(state) % 3 + 1);
    case 2: return dim_floordiv(syms, a, noise(state) % 4 + 1);
    case 3: return dim_mod(syms, a, noise(state) % 4 + 2);
    case 4: return dim_add(syms, a, b);
    case 5: return dim_min(syms, a, b);
    default: return dim_max(syms, a, dim_sub(syms, b, 3));
    }
}

START_TEST(what_is_assumed_decides_all_answers) {
    static const SymKind relations[] = {SYM_EQ, SYM_NE, SYM_LT, SYM_LE};
    for (uint32_t number = 1; number < 400; number++) {
        uint32_t state = number;
        Values values = {{0}, {0}};
        syms = sym_table_new(arena);
        for (int i = 0; i < 3; i++) values.vars[i] = size_var(i == 0 ? "n" : i == 1 ? "m" : "k", 2 + (int64_t)(noise(&state) % 8));
        Dim left[6], right[6];
        SymKind kinds[6];
        bool truth[6];
        for (int q = 0; q < 6; q++) {
            left[q] = random_size(&state, &values, 2), right[q] = noise(&state) % 2 ? random_size(&state, &values, 1) : (Dim)(noise(&state) % 9);
            kinds[q] = relations[noise(&state) % 4];
            truth[q] = dim_is(kinds[q], left[q], right[q]);
        }
        for (int trial = 0; trial < 200; trial++) {
            bool allowed = true;
            for (int i = 0; i < 3; i++) values.at[i] = 2 + (int64_t)(noise(&state) % 11);
            for (int i = 0; i < assumption_count(syms); i++) allowed = allowed && dim_evaluate(assumption_at(syms, i)->relation, value_now, &values);
            for (int i = 0; i < 3; i++) { /* what the guards say of absorbed ones */
                Dim now = dim_resolve(values.vars[i]);
                allowed = allowed && values.at[i] == dim_evaluate(now, value_now, &values) && values.at[i] >= dim_low(values.vars[i]) && values.at[i] <= dim_high(values.vars[i]);
            }
            for (int q = 0; q < 6 && allowed; q++) {
                int64_t a = dim_evaluate(left[q], value_now, &values), b = dim_evaluate(right[q], value_now, &values);
                bool right_answer = kinds[q] == SYM_EQ ? a == b : kinds[q] == SYM_NE ? a != b : kinds[q] == SYM_LT ? a < b : a <= b;
                ck_assert_msg(right_answer == truth[q], "seed %u: question %d", number, q);
                ck_assert_msg(dim_evaluate(dim_resolve(left[q]), value_now, &values) == a, "seed %u: expression %d", number, q);
            }
        }
    }
}
END_TEST

/* Ranges and replacements alone, without the list: all that an absorbed assumption says must be in them. */
START_TEST(absorbed_assumptions_are_said_by_ranges) {
    static const SymKind relations[] = {SYM_EQ, SYM_NE, SYM_LT, SYM_LE};
    for (uint32_t number = 1; number < 400; number++) {
        uint32_t state = number * 77;
        Values values = {{0}, {0}};
        syms = sym_table_new(arena);
        for (int i = 0; i < 3; i++) values.vars[i] = size_var(i == 0 ? "n" : i == 1 ? "m" : "k", 2 + (int64_t)(noise(&state) % 8));
        for (int q = 0; q < 6; q++) dim_is(relations[noise(&state) % 4], random_size(&state, &values, 2), noise(&state) % 2 ? random_size(&state, &values, 1) : (Dim)(noise(&state) % 9));
        for (int trial = 0; trial < 300; trial++) {
            bool allowed = true;
            for (int i = 0; i < 3; i++) values.at[i] = 2 + (int64_t)(noise(&state) % 11);
            for (int i = 0; i < 3; i++) {
                Dim now = dim_resolve(values.vars[i]);
                allowed = allowed && values.at[i] == dim_evaluate(now, value_now, &values);
                if (now == values.vars[i]) allowed = allowed && values.at[i] >= dim_low(now) && values.at[i] <= dim_high(now);
            }
            for (int i = 0; i < assumption_count(syms); i++) allowed = allowed && (assumption_at(syms, i)->absorbed || dim_evaluate(assumption_at(syms, i)->relation, value_now, &values));
            for (int i = 0; i < assumption_count(syms) && allowed; i++)
                ck_assert_msg(dim_evaluate(assumption_at(syms, i)->asked, value_now, &values) == dim_hint(assumption_at(syms, i)->asked), "seed %u: assumption %d", number, i);
        }
    }
}
END_TEST

int main(void) {
    const TTest *tests[] = {ranges_decide_without_an_assumption, comparisons_narrow_ranges, remainders_are_remembered, equalities_replace_the_younger,
                            a_replaced_variable_keeps_its_range, minima_are_compared_by_their_operands, frozen_tables_only_list, what_is_assumed_decides_all_answers,
                            absorbed_assumptions_are_said_by_ranges, equal_polynomials_are_one_pointer, division_uses_ranges, division_by_symbolic_sizes, axis_of_extent_one_is_zero,
                            linear_parts, simplifying_keeps_values_and_ranges, negative_division_prints_floor_in_c};
    return UNIT_RUN("sym", tests, open_table, close_table);
}
