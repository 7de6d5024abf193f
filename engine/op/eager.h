/* Eager kernels: contiguous loops over the meaning of each pointwise row, printed by gen_eager.c at build time from the same table and printers
 * as the compiler's kernels, and compiled for several levels of processor.
 *
 *     const EagerKernel *k = &eager_level()->kernels[op->first_kernel + variant][EAGER_F32];
 *     k->run(n, out, in, attributes);          // in[i]: n values of the kernel's type (conditions: bool); NULL where the expression does not read it
 *
 * A kernel's type is a compute type, or a narrow integer: then it reads and writes memory of that dtype as it lies, and computes as the 64-bit one.
 * Invariant: a level's kernels have one line for each variant of each pointwise row, in the table's order. A NULL run: not defined for that type.
 * To add a level: a library in Makefile.am with its flags, a line in eager_level.c. */
#ifndef VITRINE_OP_EAGER_H
#define VITRINE_OP_EAGER_H
#include "ir/meta.h"

typedef struct EagerNumber { double f; int64_t i; } EagerNumber;
/* In and out may be the same memory at the same place; they may not overlap otherwise. `in` is by parameter (operands first), numbers too. */
typedef void (*EagerLoop)(int64_t n, void *out, const void *const *in, const EagerNumber *numbers);
typedef struct EagerKernel { EagerLoop run; DType out; /* type of what it writes: as for the operands */ } EagerKernel;
enum { EAGER_F32, EAGER_F64, EAGER_I64, EAGER_BOOL, EAGER_I32, EAGER_I16, EAGER_I8, EAGER_U8, EAGER_TYPES };

/* Loops of rowwise.c that call vmath: [0] float, [1] double. */
typedef struct EagerRows {
    void (*exponential[2])(void *to, const void *x, double largest, int64_t n);                       /* to = exp(x - largest) */
    void (*log_softmax_back[2])(void *to, const void *g, const void *y, double total, int64_t n);     /* to = g - exp(y) * total */
    double (*logarithm[2])(double x);                                                                 /* of the type */
} EagerRows;

typedef struct EagerLevel { const char *name; const EagerKernel (*kernels)[EAGER_TYPES]; const EagerRows *rows; } EagerLevel;
const EagerLevel *eager_level(void);      /* the highest that this processor has */
const EagerLevel *eager_level_at(int i);  /* 0: what every processor has; NULL from the first on that this one (or this build) has not */

static inline int eager_type(DType dtype) {
    static const signed char types[DTYPE_COUNT] = {[DTYPE_F32] = EAGER_F32, [DTYPE_F64] = EAGER_F64, [DTYPE_I64] = EAGER_I64, [DTYPE_BOOL] = EAGER_BOOL,
        [DTYPE_I32] = EAGER_I32, [DTYPE_I16] = EAGER_I16, [DTYPE_I8] = EAGER_I8, [DTYPE_U8] = EAGER_U8, [DTYPE_F16] = EAGER_F32, [DTYPE_BF16] = EAGER_F32};
    return types[dtype];
}
#endif
