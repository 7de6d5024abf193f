/* Sym: construction. Sums of products in one normal form, hash-consed; divisions stand in sym_div.c, readers in sym_read.c.
 *
 * A sum is kept as terms (coefficient * monomial) ordered by the monomial's id, its constant last. A product is its factors
 * ordered by id, its coefficient last. Products distribute over sums, so two equal polynomials are one pointer. */
#include "ir/sym_table.h"
#include <assert.h>
#include <string.h>

SymTable *sym_table_new(Arena *arena) {
    SymTable *table = ARENA_NEW(arena, SymTable);
    table->arena = arena;
    return table;
}

/* ---- saturating arithmetic on range ends: INT64_MIN and INT64_MAX mean unbounded ---- */
static bool is_infinite(int64_t a) { return a == INT64_MIN || a == INT64_MAX; }

int64_t sym_range_add(int64_t a, int64_t b) {
    if (is_infinite(a)) return a;
    if (is_infinite(b)) return b;
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

int64_t sym_range_mul(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return 0;
    int64_t product;
    if (is_infinite(a) || is_infinite(b) || __builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
    return product;
}

int64_t sym_quotient(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t sym_remainder(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t checked_add(int64_t a, int64_t b) {
    int64_t sum;
    bool overflow = __builtin_add_overflow(a, b, &sum);
    assert(!overflow && "a size overflows 64 bits");
    (void)overflow;
    return sum;
}

static int64_t checked_mul(int64_t a, int64_t b) {
    int64_t product;
    bool overflow = __builtin_mul_overflow(a, b, &product);
    assert(!overflow && "a size overflows 64 bits");
    (void)overflow;
    return product;
}

/* ---- ranges of compound expressions ---- */
typedef struct Range { int64_t low, high; } Range;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static Range range_of_product(Range a, Range b) {
    int64_t p = sym_range_mul(a.low, b.low), q = sym_range_mul(a.low, b.high), r = sym_range_mul(a.high, b.low), s = sym_range_mul(a.high, b.high);
    return (Range){least(least(p, q), least(r, s)), most(most(p, q), most(r, s))};
}

static Range range_of_quotient(Range a, Range b) {
    if (b.low < 1) return (Range){INT64_MIN, INT64_MAX};
    int64_t low = a.low >= 0 ? (b.high == INT64_MAX ? 0 : sym_quotient(a.low, b.high)) : is_infinite(a.low) ? a.low : sym_quotient(a.low, b.low);
    int64_t high = a.high < 0 ? (b.high == INT64_MAX ? -1 : sym_quotient(a.high, b.high)) : is_infinite(a.high) ? a.high : sym_quotient(a.high, b.low);
    return (Range){low, high};
}

static Range range_of_modulo(Range a, Range b) {
    if (b.low < 1) return (Range){INT64_MIN, INT64_MAX};
    int64_t high = b.high == INT64_MAX ? INT64_MAX : b.high - 1;
    return (Range){0, a.low >= 0 ? least(a.high, high) : high};
}

static Range range_of(SymKind kind, const Dim *args, int count) {
    Range range = {dim_low(args[0]), dim_high(args[0])};
    for (int i = 1; i < count; i++) {
        Range next = {dim_low(args[i]), dim_high(args[i])};
        switch (kind) {
        case SYM_ADD: range = (Range){sym_range_add(range.low, next.low), sym_range_add(range.high, next.high)}; break;
        case SYM_MUL: range = range_of_product(range, next); break;
        case SYM_FLOORDIV: range = range_of_quotient(range, next); break;
        case SYM_MOD: range = range_of_modulo(range, next); break;
        case SYM_MIN: range = (Range){least(range.low, next.low), least(range.high, next.high)}; break;
        case SYM_MAX: range = (Range){most(range.low, next.low), most(range.high, next.high)}; break;
        default: break;
        }
    }
    if (kind >= SYM_EQ) range = (Range){0, 1};
    return range;
}

static const Sym *find_core(const SymTable *table, const Dim *args, int count);

/* A sum with a constant lies where the sum without it does, about which more may have been assumed than its terms say. */
static Range range_known(const SymTable *table, SymKind kind, const Dim *args, int count) {
    Range range = range_of(kind, args, count);
    const Sym *core = kind == SYM_ADD && count > 2 && dim_is_int(args[count - 1]) ? find_core(table, args, count - 1) : NULL;
    if (!core) return range;
    return (Range){most(range.low, sym_range_add(core->low, args[count - 1])), least(range.high, sym_range_add(core->high, args[count - 1]))};
}

void sym_update_range(Sym *sym) {
    if (sym->kind == SYM_VAR) return;
    Range range = range_known(sym->table, sym->kind, sym->args, sym->count);
    sym->low = most(sym->low, range.low);
    sym->high = least(sym->high, range.high);
}

/* ---- hash-consing ---- */
static size_t hash_of(SymKind kind, const Dim *args, int count) {
    uint64_t hash = UINT64_C(1469598103934665603) ^ (uint64_t)kind;
    for (int i = 0; i < count; i++) hash = (hash ^ (uint64_t)args[i]) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 29);
}

static bool is_same(const Sym *sym, SymKind kind, const Dim *args, int count) {
    return sym->kind == kind && sym->count == count && memcmp(sym->args, args, (size_t)count * sizeof *args) == 0;
}

static const Sym *find_core(const SymTable *table, const Dim *args, int count) {
    size_t mask = (size_t)(table->capacity - 1), at = hash_of(SYM_ADD, args, count) & mask;
    for (; table->capacity && table->slots[at]; at = (at + 1) & mask)
        if (is_same(table->slots[at], SYM_ADD, args, count)) return table->slots[at];
    return NULL;
}

static void table_grow(SymTable *table) {
    int old = table->capacity;
    Sym **slots = table->slots;
    table->capacity = old ? old * 2 : 256;
    table->slots = ARENA_ARRAY(table->arena, Sym *, table->capacity);
    for (int i = 0; i < old; i++) {
        if (!slots[i]) continue;
        size_t at = hash_of(slots[i]->kind, slots[i]->args, slots[i]->count) & (size_t)(table->capacity - 1);
        while (table->slots[at]) at = (at + 1) & (size_t)(table->capacity - 1);
        table->slots[at] = slots[i];
    }
}

/* A node as it is known now. */
static Dim sym_now(const Sym *sym) {
    if (sym->is_replaced) return sym->becomes;
    return sym->low == sym->high && !is_infinite(sym->low) ? sym->low : dim_of_sym(sym);
}

Dim sym_intern(SymTable *table, SymKind kind, const Dim *args, int count) {
    if (table->count * 2 >= table->capacity) table_grow(table);
    size_t mask = (size_t)(table->capacity - 1), at = hash_of(kind, args, count) & mask;
    for (; table->slots[at]; at = (at + 1) & mask)
        if (is_same(table->slots[at], kind, args, count)) return sym_now(table->slots[at]);
    Range range = range_known(table, kind, args, count);
    Sym *sym = ARENA_NEW(table->arena, Sym);
    *sym = (Sym){.kind = kind, .id = table->next_id++, .count = count, .low = range.low, .high = range.high, .table = table,
                 .args = arena_copy(table->arena, args, (size_t)count * sizeof *args)};
    table->slots[at] = sym;
    table->count++;
    vec_push_in(table->arena, &table->all, sym);
    return range.low == range.high && !is_infinite(range.low) ? range.low : dim_of_sym(sym);
}

Dim sym_var(SymTable *table, const char *name, int64_t low, int64_t high, SymVarKind kind) {
    Sym *sym = ARENA_NEW(table->arena, Sym);
    *sym = (Sym){.kind = SYM_VAR, .var_kind = kind, .id = table->next_id++, .name = arena_strdup(table->arena, name), .low = low, .high = high, .hint = low, .table = table};
    vec_push_in(table->arena, &table->all, sym);
    return dim_of_sym(sym);
}

Dim sym_axis(SymTable *table, const char *name, Dim extent) {
    if (extent == 1) return 0;
    int64_t high = dim_high(extent) == INT64_MAX ? INT64_MAX : dim_high(extent) - 1;
    Dim axis = sym_var(table, name, 0, high < 0 ? 0 : high, SYM_AXIS);
    Sym *sym = (Sym *)(intptr_t)dim_sym(axis);
    sym->payload = arena_copy(table->arena, &extent, sizeof extent);
    return axis;
}

/* ---- sums of products ---- */
static Dim product_of(SymTable *table, const Dim *factors, int count) { return count == 1 ? factors[0] : sym_intern(table, SYM_MUL, factors, count); }

SymTerm sym_term(SymTable *table, Dim d) {
    if (dim_is_int(d)) return (SymTerm){1, d};
    const Sym *sym = dim_sym(d);
    if (sym->kind == SYM_MUL && dim_is_int(sym->args[sym->count - 1]))
        return (SymTerm){product_of(table, sym->args, sym->count - 1), sym->args[sym->count - 1]};
    return (SymTerm){d, 1};
}

void sum_add_term(SymSum *sum, SymTerm term) {
    if (dim_is_int(term.monomial)) { /* 1, or a product whose range is one number (an axis of no elements) */
        sum->constant = checked_add(sum->constant, checked_mul(term.coefficient, term.monomial));
        return;
    }
    for (int i = 0; i < sum->terms.count; i++) {
        if (sum->terms.at[i].monomial != term.monomial) continue;
        sum->terms.at[i].coefficient = checked_add(sum->terms.at[i].coefficient, term.coefficient);
        return;
    }
    vec_push(&sum->terms, term);
}

void sum_add(SymSum *sum, Dim d, int64_t factor) {
    if (!dim_is_int(d) && dim_sym(d)->kind == SYM_ADD) {
        const Sym *sym = dim_sym(d);
        for (int i = 0; i < sym->count; i++) sum_add(sum, sym->args[i], factor);
        return;
    }
    SymTerm term = sym_term(sum->table, d);
    sum_add_term(sum, (SymTerm){term.monomial, checked_mul(term.coefficient, factor)});
}

Dim sym_scaled(SymTable *table, SymTerm term) {
    if (term.coefficient == 0) return 0;
    if (term.monomial == 1) return term.coefficient;
    if (term.coefficient == 1) return term.monomial;
    const Sym *sym = dim_sym(term.monomial);
    Dim few[16] = {0};
    int count = sym->kind == SYM_MUL ? sym->count : 1;
    assert(count < 15 && "a product of more than 14 sizes");
    for (int i = 0; i < count; i++) few[i] = sym->kind == SYM_MUL ? sym->args[i] : term.monomial;
    few[count] = term.coefficient;
    return sym_intern(table, SYM_MUL, few, count + 1);
}

/* k * (x % b) + (k * b) * (x // b) is k * x: what a reshape and its inverse leave behind. */
static bool sum_join_division(SymSum *sum) {
    for (int i = 0; i < sum->terms.count; i++) {
        SymTerm term = sum->terms.at[i];
        if (term.coefficient == 0 || dim_sym(term.monomial)->kind != SYM_MOD) continue;
        const Sym *mod = dim_sym(term.monomial);
        SymTerm quotient = sym_term(sum->table, dim_mul(sum->table, mod->args[1], dim_floordiv(sum->table, mod->args[0], mod->args[1])));
        for (int j = 0; j < sum->terms.count; j++) {
            SymTerm *other = &sum->terms.at[j];
            if (other->monomial != quotient.monomial || other->coefficient != checked_mul(term.coefficient, quotient.coefficient)) continue;
            other->coefficient = 0;
            sum->terms.at[i].coefficient = 0;
            sum_add(sum, mod->args[0], term.coefficient);
            return true;
        }
    }
    return false;
}

/* k * b * (x // b) is k * (x - r) where x % b is known to be r. */
static bool sum_join_quotient(SymSum *sum) {
    if (!sum->table->residues.count) return false;
    for (int i = 0; i < sum->terms.count; i++) {
        SymTerm term = sum->terms.at[i];
        const Sym *sym = dim_sym(term.monomial);
        int64_t residue;
        if (term.coefficient == 0 || sym->kind != SYM_FLOORDIV || !dim_is_int(sym->args[1]) || term.coefficient % sym->args[1] != 0) continue;
        if (!sym_known_residue(sum->table, sym->args[0], sym->args[1], &residue)) continue;
        sum->terms.at[i].coefficient = 0;
        sum_add(sum, dim_sub(sum->table, sym->args[0], residue), term.coefficient / sym->args[1]);
        return true;
    }
    return false;
}

static int term_compare(const void *a, const void *b) {
    const SymTerm *x = a, *y = b;
    int i = dim_sym(x->monomial)->id, j = dim_sym(y->monomial)->id;
    return (i > j) - (i < j);
}

Dim sum_take(SymSum *sum) {
    while (sum_join_division(sum) || sum_join_quotient(sum)) {}
    int kept = 0;
    for (int i = 0; i < sum->terms.count; i++)
        if (sum->terms.at[i].coefficient != 0) sum->terms.at[kept++] = sum->terms.at[i];
    if (kept > 1) qsort(sum->terms.at, (size_t)kept, sizeof *sum->terms.at, term_compare);
    Dim result = sum->constant;
    if (kept == 1 && sum->constant == 0) result = sym_scaled(sum->table, sum->terms.at[0]);
    else if (kept > 0) {
        VEC(Dim) parts = {0};
        for (int i = 0; i < kept; i++) vec_push(&parts, sym_scaled(sum->table, sum->terms.at[i]));
        if (sum->constant != 0) vec_push(&parts, sum->constant);
        result = sym_intern(sum->table, SYM_ADD, parts.at, parts.count);
        vec_free(&parts);
    }
    vec_free(&sum->terms);
    return result;
}

Dim dim_add(SymTable *table, Dim a, Dim b) {
    if (dim_is_int(a) && dim_is_int(b)) return checked_add(a, b);
    if (a == 0) return b;
    if (b == 0) return a;
    SymSum sum = {.table = table};
    sum_add(&sum, a, 1);
    sum_add(&sum, b, 1);
    return sum_take(&sum);
}

Dim dim_sub(SymTable *table, Dim a, Dim b) {
    if (dim_is_int(a) && dim_is_int(b)) return checked_add(a, -b);
    if (b == 0) return a;
    if (a == b) return 0;
    SymSum sum = {.table = table};
    sum_add(&sum, a, 1);
    sum_add(&sum, b, -1);
    return sum_take(&sum);
}

static int factor_list(Dim monomial, Dim *factors) {
    const Sym *sym = dim_sym(monomial);
    if (sym->kind != SYM_MUL) return factors[0] = monomial, 1;
    memcpy(factors, sym->args, (size_t)sym->count * sizeof *factors);
    return sym->count;
}

static Dim monomial_product(SymTable *table, Dim a, Dim b) {
    if (a == 1) return b;
    if (b == 1) return a;
    Dim left[16], right[16], merged[32];
    int n = factor_list(a, left), m = factor_list(b, right), i = 0, j = 0, count = 0;
    while (i < n || j < m) merged[count++] = j == m || (i < n && dim_sym(left[i])->id <= dim_sym(right[j])->id) ? left[i++] : right[j++];
    assert(count < 15 && "a product of more than 14 sizes");
    return product_of(table, merged, count);
}

static int term_count(Dim d) { return !dim_is_int(d) && dim_sym(d)->kind == SYM_ADD ? dim_sym(d)->count : 1; }
static Dim term_at(Dim d, int i) { return !dim_is_int(d) && dim_sym(d)->kind == SYM_ADD ? dim_sym(d)->args[i] : d; }

Dim dim_mul(SymTable *table, Dim a, Dim b) {
    if (dim_is_int(a) && dim_is_int(b)) return checked_mul(a, b);
    if (a == 0 || b == 0) return 0;
    if (a == 1) return b;
    if (b == 1) return a;
    SymSum sum = {.table = table};
    for (int i = 0; i < term_count(a); i++) {
        for (int j = 0; j < term_count(b); j++) {
            SymTerm x = sym_term(table, term_at(a, i)), y = sym_term(table, term_at(b, j));
            sum_add_term(&sum, (SymTerm){monomial_product(table, x.monomial, y.monomial), checked_mul(x.coefficient, y.coefficient)});
        }
    }
    return sum_take(&sum);
}

/* ---- minimum, maximum, relations ---- */
/* x // b as (x - x % b) / b: of x - b * (x // b) that leaves x % b, whose range says more. */
static Dim without_quotients(SymTable *table, Dim d) {
    if (dim_is_int(d) || dim_sym(d)->kind != SYM_ADD) return d;
    SymSum sum = {.table = table};
    bool found = false;
    for (int i = 0; i < dim_sym(d)->count; i++) {
        SymTerm term = sym_term(table, dim_sym(d)->args[i]);
        const Sym *sym = term.monomial == 1 ? NULL : dim_sym(term.monomial);
        bool divides = sym && sym->kind == SYM_FLOORDIV && dim_is_int(sym->args[1]) && sym->args[1] > 0 && term.coefficient % sym->args[1] == 0;
        found |= divides;
        if (!divides) sum_add_term(&sum, term);
        else sum_add(&sum, dim_sub(table, sym->args[0], dim_mod(table, sym->args[0], sym->args[1])), term.coefficient / sym->args[1]);
    }
    Dim result = sum_take(&sum);
    return found ? result : d;
}

static Range range_of_difference(SymTable *table, Dim a, Dim b) {
    Dim difference = dim_sub(table, a, b), other = without_quotients(table, difference);
    return (Range){most(dim_low(difference), dim_low(other)), least(dim_high(difference), dim_high(other))};
}

static Dim choose_extreme(SymTable *table, SymKind kind, Dim a, Dim b) {
    if (a == b) return a;
    Range difference = range_of_difference(table, a, b);
    if (difference.high <= 0 || dim_less(table, a, b)) return kind == SYM_MIN ? a : b;
    if (difference.low >= 0 || dim_less(table, b, a)) return kind == SYM_MIN ? b : a;
    bool swap = dim_is_int(a) || (!dim_is_int(b) && dim_sym(a)->id > dim_sym(b)->id);
    Dim args[2] = {swap ? b : a, swap ? a : b};
    return sym_intern(table, kind, args, 2);
}

Dim dim_min(SymTable *table, Dim a, Dim b) { return choose_extreme(table, SYM_MIN, a, b); }
Dim dim_max(SymTable *table, Dim a, Dim b) { return choose_extreme(table, SYM_MAX, a, b); }

static Dim logic(SymTable *table, SymKind relation, Dim a, Dim b) {
    Dim neutral = relation == SYM_AND, args[2] = {a, b};
    if (dim_is_int(a)) return (a != 0) == (neutral != 0) ? (dim_is_int(b) ? b != 0 : b) : !neutral;
    if (dim_is_int(b)) return (b != 0) == (neutral != 0) ? a : !neutral;
    if (a == b) return a;
    if (dim_sym(a)->id > dim_sym(b)->id) args[0] = b, args[1] = a;
    return sym_intern(table, relation, args, 2);
}

static bool is_choice(Dim d, SymKind kind) { return !dim_is_int(d) && dim_sym(d)->kind == kind; }

/* a <= b by what a minimum or maximum is of: min(n, m) <= n. */
static bool at_most(Dim a, Dim b, int depth) {
    if (a == b || dim_high(a) <= dim_low(b)) return true;
    if (depth == 0) return false;
    for (int i = 0; is_choice(a, SYM_MIN) && i < dim_sym(a)->count; i++)
        if (at_most(dim_sym(a)->args[i], b, depth - 1)) return true;
    for (int i = 0; is_choice(b, SYM_MAX) && i < dim_sym(b)->count; i++)
        if (at_most(a, dim_sym(b)->args[i], depth - 1)) return true;
    bool all = is_choice(a, SYM_MAX) || is_choice(b, SYM_MIN);
    for (int i = 0; is_choice(a, SYM_MAX) && i < dim_sym(a)->count; i++) all = all && at_most(dim_sym(a)->args[i], b, depth - 1);
    for (int i = 0; !is_choice(a, SYM_MAX) && is_choice(b, SYM_MIN) && i < dim_sym(b)->count; i++) all = all && at_most(a, dim_sym(b)->args[i], depth - 1);
    return all;
}

static Dim compare(SymTable *table, SymKind relation, Dim a, Dim b) {
    enum { DEPTH = 4 };
    Dim difference = dim_sub(table, a, b), args[2] = {a, b};
    Range range = range_of_difference(table, a, b);
    int64_t low = range.low, high = range.high;
    bool apart = low > 0 || high < 0 || dim_less(table, a, b) || dim_less(table, b, a);
    switch (relation) {
    case SYM_EQ: if (difference == 0) return 1; if (apart) return 0; break;
    case SYM_NE: if (difference == 0) return 0; if (apart) return 1; break;
    case SYM_LT: if (high < 0 || dim_less(table, a, b)) return 1; if (low >= 0 || at_most(b, a, DEPTH)) return 0; break;
    default: if (high <= 0 || dim_less(table, a, b) || at_most(a, b, DEPTH)) return 1; if (low > 0 || dim_less(table, b, a)) return 0; break;
    }
    bool symmetric = relation == SYM_EQ || relation == SYM_NE;
    if (symmetric && (dim_is_int(a) || (!dim_is_int(b) && dim_sym(a)->id > dim_sym(b)->id))) args[0] = b, args[1] = a;
    return sym_intern(table, relation, args, 2);
}

static Dim negate(SymTable *table, Dim a) {
    if (dim_is_int(a)) return a == 0;
    const Sym *sym = dim_sym(a);
    switch (sym->kind) {
    case SYM_NOT: return sym->args[0];
    case SYM_EQ: return compare(table, SYM_NE, sym->args[0], sym->args[1]);
    case SYM_NE: return compare(table, SYM_EQ, sym->args[0], sym->args[1]);
    case SYM_LT: return compare(table, SYM_LE, sym->args[1], sym->args[0]);
    case SYM_LE: return compare(table, SYM_LT, sym->args[1], sym->args[0]);
    default: return sym_intern(table, SYM_NOT, &a, 1);
    }
}

Dim dim_relation(SymTable *table, SymKind relation, Dim a, Dim b) {
    if (relation == SYM_NOT) return negate(table, a);
    if (relation == SYM_AND || relation == SYM_OR) return logic(table, relation, a, b);
    return compare(table, relation, a, b);
}
