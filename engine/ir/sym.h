/* Sym: integer expressions, hash-consed (equal means same pointer): shapes, guards, loop indices, grid sizes.
 *
 *     SymTable *syms = sym_table_new(arena);
 *     Dim i = sym_var(syms, "i0", 0, 6, SYM_AXIS);           // 0 <= i0 < 7
 *     Dim j = dim_add(syms, dim_mul(syms, i, 5), 3);
 *     dim_floordiv(syms, j, 5)  ->  i0          // ranges let division simplify: (5 i0 + 3) // 5
 *
 * Floor division and modulo are Python's. Every constructor folds and normalizes (sums of products, constants last), so that
 * structural equality is pointer equality. Overflow of 64 bits while folding is an assertion: sizes are checked before.
 * Invariant: range(e) = [low, high] holds for every value that the variables can take. */
#ifndef VITRINE_IR_SYM_H
#define VITRINE_IR_SYM_H
#include "base/arena.h"
#include "base/span.h"
#include "base/text.h"
#include "ir/dim.h"

typedef enum SymKind { SYM_CONST, SYM_VAR, SYM_ADD, SYM_MUL, SYM_FLOORDIV, SYM_MOD, SYM_MIN, SYM_MAX, SYM_EQ, SYM_NE, SYM_LT, SYM_LE, SYM_AND, SYM_OR, SYM_NOT } SymKind;
typedef enum SymVarKind { SYM_SIZE /* s0: a symbolic size or int */, SYM_AXIS /* loop axis */, SYM_LOADED /* an integer read from a tensor: indirect index */, SYM_UNBACKED,
    SYM_FLOAT /* a float given at each run: the value is its 64 bits; only whole, as the index of a BODY_INDEX of type F64 */ } SymVarKind;

struct Sym {
    SymKind kind;
    SymVarKind var_kind;
    int id;                 /* order of creation: the canonical order of operands, and the number in "s0" */
    int count;              /* operands */
    const Dim *args;
    int64_t value;          /* CONST never appears as a Dim; used inside relations */
    const char *name;       /* VAR */
    int64_t hint;           /* VAR of kind SIZE: the value seen at compile time */
    int64_t low, high;      /* range, inclusive */
    void *payload;          /* VAR: SYM_LOADED -> the body expression that yields it (ir/loop.h); SYM_SIZE -> its source;
                             * SYM_AXIS -> its extent (Dim *), or NULL */
    SymTable *table;
    Dim becomes; bool is_replaced; /* an assumption made it equal to something simpler: see dim_resolve */
};

SymTable *sym_table_new(Arena *arena);
Dim sym_var(SymTable *table, const char *name, int64_t low, int64_t high, SymVarKind kind); /* a fresh variable each call */
/* A loop axis 0 <= name < extent; 0 when extent is 1. An extent may be symbolic, and then proofs (dim_less) know it. */
Dim sym_axis(SymTable *table, const char *name, Dim extent);
Dim dim_add(SymTable *table, Dim a, Dim b);
Dim dim_sub(SymTable *table, Dim a, Dim b);
Dim dim_mul(SymTable *table, Dim a, Dim b);
Dim dim_floordiv(SymTable *table, Dim a, Dim b);
Dim dim_mod(SymTable *table, Dim a, Dim b);
Dim dim_min(SymTable *table, Dim a, Dim b);
Dim dim_max(SymTable *table, Dim a, Dim b);
Dim dim_relation(SymTable *table, SymKind relation, Dim a, Dim b); /* 0/1 when ranges decide it */
/* Replaces variables: from[i] (a VAR) by to[i], simplifying anew. */
Dim dim_substitute(SymTable *table, Dim d, const Dim *from, const Dim *to, int count);
int64_t dim_low(Dim d);
int64_t dim_high(Dim d);
bool dim_equal(Dim a, Dim b);              /* provably equal */
int64_t dim_hint(Dim d);                   /* value under the hints of its variables; the integer itself otherwise */
int64_t dim_evaluate(Dim d, int64_t (*lookup)(const Sym *var, void *state), void *state);
bool dim_uses(Dim d, Dim var);
bool dim_less(SymTable *table, Dim a, Dim b); /* provably a < b, for all values of the variables */
void dim_each_var(Dim d, void (*visit)(const Sym *var, void *state), void *state); /* a variable may be visited more than once */
/* d = coefficient * var + rest, with rest free of var; false when d is not linear in var. */
bool dim_linear(SymTable *table, Dim d, Dim var, Dim *coefficient, Dim *rest);
/* ---- assumptions (sym_assume.c): what a compile took for granted about its sizes ----
 *
 *     dim_is(SYM_LT, n, 10)     ->  true under the hint 7; from now on n is in [2, 9], and the compile is good for such n only
 *
 * Every decision about sizes that changes what is computed goes through dim_decide, in whatever stage; decisions of speed alone ask dim_hint.
 * dynamo makes guards of the list. A relation between integers, or one that ranges decide, is no assumption. */
typedef struct Assumption {
    Dim relation;               /* holds (it is the negation where the answer was no) */
    Dim asked;                  /* as it was asked */
    bool absorbed;              /* ranges, and variables that became something simpler, say all of it */
    const char *why;
    Span span;
} Assumption;
/* Truth of a relation (a Dim that is 0 or 1), decided by ranges, by what is assumed already, else by the hints: then it is assumed. */
bool dim_decide(Dim relation);
bool dim_is(SymKind relation, Dim a, Dim b);                /* EQ, NE, LT, LE */
bool dim_surely(SymKind relation, Dim a, Dim b);            /* known to hold already; nothing is assumed */
static inline bool dim_same(Dim a, Dim b) { return a == b || dim_is(SYM_EQ, a, b); }
static inline bool dim_is_one(Dim d) { return dim_is_int(d) ? d == 1 : dim_is(SYM_EQ, d, 1); }
/* Is it an integer in every call this compile will serve? It is from now on. */
int64_t dim_specialize(Dim d, const char *why);
Dim dim_resolve(Dim d);                                     /* what assumptions made equal, replaced */
int assumption_count(const SymTable *table);
const Assumption *assumption_at(const SymTable *table, int index);
/* Where the question comes from: called for each new assumption. table_freeze: later assumptions are listed, but change no range (a backward that is
 * compiled when its entry runs already). */
void table_on_assume(SymTable *table, Span (*where)(void *state), void *state);
void table_freeze(SymTable *table);
void var_set_hint(Dim var, int64_t hint);
/* Products where either may be symbolic; the table is the operands' own. */
Dim dim_product(Dim a, Dim b);
Dim dim_less_by(Dim a, int64_t b); /* a - b */

/* As Python and as C read it: "5*i0 + 3", "(i0 + 1)//2". In C floor division of non-negative operands prints as "/". */
void dim_print(Text *text, Dim d);
void dim_print_c(Text *text, Dim d);
/* Variables by the name that a generator gives them. */
void dim_print_named(Text *text, Dim d, bool c, const char *(*name)(const Sym *var, void *state), void *state);
#endif
