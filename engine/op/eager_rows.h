/* Eager rows: the loops of rowwise.c that call vmath, compiled once for each level beside the printed kernels, so that a row gives what the ops of its
 * body give. Included by the file that gen_eager prints, and by nothing else.
 *
 *     rows->exponential[0](to, x, largest, n);
 *
 * Invariant: each loop is one expression of the compute type, rounded as the ops round it. To add one: a line here and in eager.h. */
#include "op/eager.h"
#include "op/vmath.h"
#include "op/vmath_f64.h"

#define LOOPS(type, suffix)                                                                                                  \
    static void exponential_##suffix(void *out, const void *in, double largest, int64_t n) {                                 \
        type *to = out;                                                                                                      \
        const type *x = in, c = (type)largest;                                                                               \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) to[i] = v_exp_##suffix(x[i] - c);                               \
    }                                                                                                                        \
    static void log_softmax_back_##suffix(void *out, const void *in_g, const void *in_y, double total, int64_t n) {          \
        type *to = out;                                                                                                      \
        const type *g = in_g, *y = in_y, c = (type)total;                                                                    \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) to[i] = g[i] - v_exp_##suffix(y[i]) * c;                        \
    }                                                                                                                        \
    static double logarithm_##suffix(double x) { return (double)v_log_##suffix((type)x); }
LOOPS(float, f32)
LOOPS(double, f64)

#define NAMED(name, suffix) name##suffix
#define OF_LEVEL(name, suffix) NAMED(name, suffix)
extern const EagerRows OF_LEVEL(eager_rows, EAGER_SUFFIX);
const EagerRows OF_LEVEL(eager_rows, EAGER_SUFFIX) = {
    {exponential_f32, exponential_f64}, {log_softmax_back_f32, log_softmax_back_f64}, {logarithm_f32, logarithm_f64},
};
