/* Formulas: the language-side parts of op rows (gradients, inverses of views, bodies), compiled once on first use.
 *
 *     const Formulas *f = gradient_formulas(vm, op);           // NULL: the row has none
 *     f->at[0].function                                        // callable with one value for each of f->params
 *
 * Parameters of a gradient: the row's, then `g`, `y`, `needs` (a tuple: which parameters need a gradient), then g0 y0 g1 y1 … when the op
 * has several outputs (g and y are tuples then; an undefined gradient is None). Formulas `E[0]; E[1]; …` over one expression E share one call.
 * The namespace of all formulas: every row of the table by its name, the functions of torch/decompositions.py, inf, nan, pi. */
#ifndef VITRINE_VM_FORMULA_H
#define VITRINE_VM_FORMULA_H
#include "vm/vm.h"

typedef struct Formula {
    Value function;            /* V_NULL: no gradient */
    int source, pick;          /* the value is item `pick` of what formula `source` gives; pick -1: itself */
    uint64_t by_value, by_meta;/* parameters whose values it reads; parameters of which it reads shape, dtype … only */
} Formula;

/* order: in which gradients are computed: by the parameters' names in PyTorch, where the first is `self`; graphs then read as PyTorch's. */
typedef struct Formulas { Formula *at; int count; int *order; const char **params; int nparams; int g, y, needs, several; /* places of g, y, needs, g0 */ } Formulas;

enum { FORMULA_MAX_PARAMS = 64 };

const Formulas *gradient_formulas(VM *vm, const Op *op);   /* NULL: none, or (exception set) it does not compile */
const Formulas *inverse_formula(VM *vm, const Op *op);     /* parameters: the row's, then `src` */
/* The body of a row: its `made_of`, or the function of a composite. Borrowed; NULL: it has none. Parameters are the row's. */
Function *op_body(VM *vm, const Op *op);
Dict *formula_namespace(VM *vm);                           /* borrowed; NULL: exception set */
#endif
