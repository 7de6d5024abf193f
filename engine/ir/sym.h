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
#include "base/text.h"
#include "ir/dim.h"

typedef enum SymKind { SYM_CONST, SYM_VAR, SYM_ADD, SYM_MUL, SYM_FLOORDIV, SYM_MOD, SYM_MIN, SYM_MAX, SYM_EQ, SYM_NE, SYM_LT, SYM_LE, SYM_AND, SYM_OR, SYM_NOT } SymKind;
typedef enum SymVarKind { SYM_SIZE /* s0: a symbolic size or int */, SYM_AXIS /* loop axis */, SYM_LOADED /* an integer read from a tensor: indirect index */, SYM_UNBACKED } SymVarKind;

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
/* As Python and as C read it: "5*i0 + 3", "(i0 + 1)//2". In C floor division of non-negative operands prints as "/". */
void dim_print(Text *text, Dim d);
void dim_print_c(Text *text, Dim d);
/* Variables by the name that a generator gives them. */
void dim_print_named(Text *text, Dim d, bool c, const char *(*name)(const Sym *var, void *state), void *state);
#endif
