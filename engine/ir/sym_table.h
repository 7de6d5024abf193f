/* What sym.c, sym_div.c and sym_read.c share. Others include ir/sym.h. */
#ifndef VITRINE_IR_SYM_TABLE_H
#define VITRINE_IR_SYM_TABLE_H
#include "base/vec.h"
#include "ir/sym.h"

typedef struct SymResidue { Dim d; int64_t modulus, residue; } SymResidue; /* d % modulus == residue, assumed */

struct SymTable {
    Arena *arena;
    Sym **slots;            /* open addressing */
    int capacity, count, next_id;
    VEC(Sym *) all;         /* compound ones and variables, operands first */
    VEC(Assumption) assumptions;
    VEC(SymResidue) residues;
    Span (*where)(void *state); void *where_state;
    const char *why;        /* of what is decided now, or NULL */
    bool frozen;
    bool asking;            /* a residue is being looked up: the sums made for that ask for none */
};

typedef struct SymTerm { Dim monomial; int64_t coefficient; } SymTerm;                  /* monomial 1: a constant */
typedef struct SymSum { SymTable *table; VEC(SymTerm) terms; int64_t constant; } SymSum; /* sum_take frees the terms */

Dim sym_intern(SymTable *table, SymKind kind, const Dim *args, int count);
SymTerm sym_term(SymTable *table, Dim d);             /* d, not a sum, as coefficient * monomial */
Dim sym_scaled(SymTable *table, SymTerm term);
void sum_add(SymSum *sum, Dim d, int64_t factor);
void sum_add_term(SymSum *sum, SymTerm term);
Dim sum_take(SymSum *sum);
Dim sym_rebuild(SymTable *table, const Sym *sym, const Dim *args); /* the same expression of other operands, simplified anew */

void sym_update_range(Sym *sym);                      /* from its operands; keeps what was assumed of it */
/* d % modulus where assumptions say so. */
bool sym_known_residue(SymTable *table, Dim d, int64_t modulus, int64_t *residue);

int64_t sym_range_add(int64_t a, int64_t b);
int64_t sym_range_mul(int64_t a, int64_t b);
int64_t sym_quotient(int64_t a, int64_t b);           /* Python's; by 0: 0 */
int64_t sym_remainder(int64_t a, int64_t b);
#endif
