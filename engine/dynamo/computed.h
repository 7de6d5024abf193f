/* Computed: numbers that follow from symbolic sizes and ints, and are no integer expressions of them: n / 2, 1 / x.shape[0] ** 0.5, int(n * 1.5).
 * See computed.c. */
#ifndef VITRINE_DYNAMO_COMPUTED_H
#define VITRINE_DYNAMO_COMPUTED_H
#include "dynamo/rewrite.h"

typedef enum ComputedKind { COMPUTED_DIM, COMPUTED_NUMBER, COMPUTED_BINARY, COMPUTED_CALL } ComputedKind;

typedef struct Computed {
    ComputedKind kind;
    Dim dim; DimCode code;          /* DIM: over the places of the entry's bindings */
    int op;                         /* BINARY */
    Value callee;                   /* CALL: of one or two arguments; held by the entry */
    const struct Computed *args[2]; int count;
    Node *node;                     /* BINARY and CALL: of the captured graph */
    Value hint;                     /* NUMBER: the number itself; otherwise its value in the call that is captured */
} Computed;

/* In a call: the places of the bindings have been read (values->slots). V_NULL: it cannot be computed. */
Value computed_value(const SourceValues *values, const Computed *computed);
void computed_emit(Rewrite *r, const Computed *computed);
/* The program needs it as a plain number: the sizes that it follows from become constants. */
void computed_specialize(const Computed *computed);
#endif
