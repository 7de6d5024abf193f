/* Windows: shape rules of convolution, pooling, resizing and padding; see windows.c. */
#ifndef VITRINE_OP_WINDOWS_H
#define VITRINE_OP_WINDOWS_H
#include "op/family.h"

/* Metas of a row whose `shared` word is one of windows.c's; *known false (and nothing done) where it is not. false: the error says why. */
bool windows_infer(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error, bool *known);
#endif
