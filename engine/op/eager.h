/* Eager kernels: contiguous loops over the meaning of each pointwise row, printed by gen_eager.c at build time from the same table and printers
 * as the compiler's kernels.
 *
 *     const EagerKernel *k = eager_kernels[op->first_kernel + variant][EAGER_F32];
 *     k->run(n, out, in, attributes);          // in[i]: n values of the operand's compute type; NULL where the expression does not read it
 *
 * Invariant: eager_kernels has one line for each variant of each pointwise row, in the table's order. A NULL run: not defined for that type. */
#ifndef VITRINE_OP_EAGER_H
#define VITRINE_OP_EAGER_H
#include "ir/meta.h"

typedef struct EagerNumber { double f; int64_t i; } EagerNumber;
/* In and out may be the same memory at the same place; they may not overlap otherwise. `in` is by parameter (operands first), numbers too. */
typedef void (*EagerLoop)(int64_t n, void *out, const void *const *in, const EagerNumber *numbers);
typedef struct EagerKernel { EagerLoop run; DType out; /* compute type of what it writes */ } EagerKernel;
enum { EAGER_F32, EAGER_F64, EAGER_I64, EAGER_BOOL, EAGER_TYPES };
extern const EagerKernel eager_kernels[][EAGER_TYPES];

static inline int eager_type(DType compute) {
    return compute == DTYPE_F32 ? EAGER_F32 : compute == DTYPE_F64 ? EAGER_F64 : compute == DTYPE_I64 ? EAGER_I64 : EAGER_BOOL;
}
#endif
