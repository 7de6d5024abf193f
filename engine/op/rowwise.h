/* Rowwise: loops for decomposed rows over contiguous memory of the CPU (softmax, layer norm, variance …).
 *
 *     if (rowwise_takes(op, args)) rowwise_run(op, args, nargs, outs, nouts, context, &error);
 *
 * Invariant: outputs are those that op_infer says, contiguous. */
#ifndef VITRINE_OP_ROWWISE_H
#define VITRINE_OP_ROWWISE_H
#include "op/family.h"

bool rowwise_takes(const Op *op, const Arg *args);
bool rowwise_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error);
#endif
