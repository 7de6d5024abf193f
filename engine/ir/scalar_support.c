/* Scalar support: the text that printed primitives call, out of the library in the binary.
 * Apart from scalar_print.c, since the program that makes the eager kernels is built before that library and includes the file itself. */
#include "ir/scalar.h"
#include "torch/library.h"
#include <assert.h>

const char *scalar_support_text(ScalarTarget target) {
    const EmbeddedFile *file = embedded_file(target == TARGET_C ? "op/vmath.h" : "op/vmath_cuda.h");
    assert(file && "embedded_files of Makefile.am must name engine/op/vmath.h and engine/op/vmath_cuda.h");
    return file->text;
}
