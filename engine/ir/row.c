/* Row: names of families, errors of ops, and the printed form of an argument.
 *
 *     return op_error(error, ERROR_RUNTIME, "mm: shapes [%d, %d] ...", m, k);      // fills in, returns false
 *     arg_print(&text, &arg, name_of, state);                                      // "[1, 0]", "None", "torch.float32", "%x"
 *
 * Invariant: arg_print's text is what FX prints for the same argument. */
#include "ir/row.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *family_name(Family family) {
    static const char *const names[] = {
        [FAMILY_POINTWISE] = "pointwise", [FAMILY_REDUCE] = "reduce", [FAMILY_VIEW] = "view", [FAMILY_CONTRACT] = "contract",
        [FAMILY_INDEX] = "index", [FAMILY_CREATE] = "create", [FAMILY_MUTATE] = "mutate", [FAMILY_SCAN] = "scan",
        [FAMILY_RANDOM] = "random", [FAMILY_COMPOSITE] = "composite", [FAMILY_DECOMPOSED] = "decomposed",
    };
    return names[family];
}

bool op_error_dtype(OpError *error, const char *op, DType dtype) {
    static const char *const names[DTYPE_COUNT] = {"Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double"};
    return op_error(error, ERROR_NOT_IMPLEMENTED, "\"%s_cpu\" not implemented for '%s'", op, names[dtype]);
}

bool op_error(OpError *error, ErrorType type, const char *format, ...) {
    if (!error) return false;
    error->type = type;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

/* Python's repr of a float: the shortest digits that read back as the same value. */
static void print_float(Text *text, double value) {
    char digits[40];
    if (isnan(value) || isinf(value)) {
        text_put(text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    double size = fabs(value);
    if (strchr(digits, 'e') && size >= 1e-4 && size < 1e16) snprintf(digits, sizeof digits, "%.1f", value);
    text_put(text, digits);
    if (!strpbrk(digits, ".e")) text_put(text, ".0");
}

static void print_dim(Text *text, Dim dim) {
    if (dim_is_int(dim)) text_printf(text, "%lld", (long long)dim);
    else dim_print(text, dim);
}

static void print_string(Text *text, const char *string) {
    text_char(text, '\'');
    for (; *string; string++) {
        if (*string == '\'' || *string == '\\') text_char(text, '\\');
        text_char(text, *string);
    }
    text_char(text, '\'');
}

static void print_tensor(Text *text, const Arg *arg, const char *(*tensor_name)(void *owner, void *state), void *state) {
    const char *name = tensor_name ? tensor_name(arg->tensor.owner, state) : NULL;
    if (name) text_put(text, name);
    else meta_print(text, arg->tensor.meta, false, false);
}

static void print_device(Text *text, Device device) {
    if (device.kind == DEVICE_CPU) text_put(text, "device(type='cpu')");
    else text_printf(text, "device(type='cuda', index=%d)", device.index);
}

static void print_list(Text *text, const Arg *arg, const char *(*tensor_name)(void *owner, void *state), void *state) {
    int count = arg->tag == ARG_TENSORS ? arg->list.count : arg->tag == ARG_INTS ? arg->ints.count : arg->floats.count;
    text_char(text, '[');
    for (int i = 0; i < count; i++) {
        if (i > 0) text_put(text, ", ");
        if (arg->tag == ARG_TENSORS) arg_print(text, &arg->list.items[i], tensor_name, state);
        else if (arg->tag == ARG_INTS) print_dim(text, arg->ints.at[i]);
        else print_float(text, arg->floats.at[i]);
    }
    text_char(text, ']');
}

void arg_print(Text *text, const Arg *arg, const char *(*tensor_name)(void *owner, void *state), void *state) {
    switch (arg->tag) {
    case ARG_NONE: text_put(text, "None"); return;
    case ARG_TENSOR: print_tensor(text, arg, tensor_name, state); return;
    case ARG_BOOL: text_put(text, arg->b ? "True" : "False"); return;
    case ARG_INT: print_dim(text, arg->i); return;
    case ARG_FLOAT: print_float(text, arg->f); return;
    case ARG_STR: print_string(text, arg->s); return;
    case ARG_DTYPE: text_printf(text, "torch.%s", dtype_info[arg->dtype].name); return;
    case ARG_DEVICE: print_device(text, arg->device); return;
    case ARG_OBJECT: text_put(text, "<object>"); return;
    case ARG_TENSORS: case ARG_INTS: case ARG_FLOATS: print_list(text, arg, tensor_name, state); return;
    }
}
