/* Scalar support: the text that printed primitives call, out of the library in the binary.
 * Apart from scalar_print.c, since the program that makes the eager kernels is built before that library and includes the files itself. */
#include "ir/scalar.h"
#include "torch/library.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

static const char *const parts[2][4] = {[TARGET_C] = {"op/vmath.h", "op/vmath_f64.h", "op/vmath_lanes.h"}, [TARGET_CUDA] = {"op/vmath_cuda.h"}};

void scalar_support_put(Text *text, ScalarTarget target) {
    for (int i = 0; parts[target][i]; i++) {
        const EmbeddedFile *file = embedded_file(parts[target][i]);
        assert(file && "embedded_files of Makefile.am must name engine/op/vmath*.h");
        text_put(text, file->text);
    }
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

void scalar_support_uses(Text *text, ScalarTarget target, const char *source) {
    if (target != TARGET_C) return;
    for (const char *at = source; (at = strstr(at, "v_")); at++) {
        size_t length = 2;
        if (at > source && is_name(at[-1])) continue;
        while (is_name(at[length])) length++;
        if (at[length] == '(') text_printf(text, "#define USES_%.*s\n", (int)length, at);
    }
}
