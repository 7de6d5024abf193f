/* Card: rows that a card runs as others. */
#ifndef VITRINE_VM_CARD_H
#define VITRINE_VM_CARD_H
#include "vm/vm.h"

/* Runs the body that torch/card.py has for the row, in the current domain and with gradients off. Owned; VALUE_NULL: the row goes on as it is, because
 * its tensors are on no card, it has no such body, or the body leaves the call to it. */
Value card_run(VM *vm, const Op *op, const Arg *args, int nargs);

/* x[mask] and x[mask] = v on a card: masks among the indices as the places where they are true. */
bool card_has_masks(const Op *op, const Arg *args, int nargs);
/* The call with that done. Owned, or an error. */
Value card_run_masks(VM *vm, const Op *op, const Arg *args, int nargs);
#endif
