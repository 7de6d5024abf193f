/* Eager level: which of the compiled sets of eager loops this processor can run.
 *
 * In: the processor. Out: a set.     eager_level()->name   ->  "x86-64-v4"
 *
 * Invariant: every set gives the same numbers but for the last place of what vmath.h computes by v_muladd.
 * To add a level: a library in Makefile.am that compiles the loops with its flags and -DEAGER_SUFFIX, and a line in `levels`. */
#include "op/eager.h"

extern const EagerKernel eager_kernels_base[][EAGER_TYPES];
extern const EagerRows eager_rows_base;
#ifdef EAGER_LEVELS
extern const EagerKernel eager_kernels_v3[][EAGER_TYPES], eager_kernels_v4[][EAGER_TYPES];
extern const EagerRows eager_rows_v3, eager_rows_v4;
#endif

static const EagerLevel levels[] = {
    {"base", eager_kernels_base, &eager_rows_base},
#ifdef EAGER_LEVELS
    {"x86-64-v3", eager_kernels_v3, &eager_rows_v3},
    {"x86-64-v4", eager_kernels_v4, &eager_rows_v4},
#endif
};

static int level_count(void) {
#ifdef EAGER_LEVELS
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
    return v4 ? 3 : v3 ? 2 : 1;
#else
    return 1;
#endif
}

const EagerLevel *eager_level(void) { return &levels[level_count() - 1]; }
const EagerLevel *eager_level_at(int i) { return i < level_count() ? &levels[i] : NULL; }
