/* Windows: the metas of rows that move a window over an image (convolution, pooling), resize its dims, or pad them.
 *
 * In: arguments; the row's `shared` word:
 *   convolution, convolution_backward
 *   pool 2         over the last two dims, by kernel_size, stride, padding, dilation, ceil_mode; a second output holds indices
 *   adaptive 2     the last two dims become output_size
 *   pad 2          the last two dims grow by `padding`, last dim first
 *   columns, image im2col and col2im
 * Out: metas, in the input's memory format where that is channels_last.
 *
 *     convolution of f32[1, 3, 8, 8] by f32[6, 3, 3, 3], stride 2, padding 1   ->   f32[1, 6, 4, 4]
 *
 * Invariant: metas are those that running the body (torch/decompositions/windows.py) would give. */
#include "op/windows.h"
#include <stdlib.h>
#include <string.h>

enum { SPATIAL = 3 };
typedef struct Window { Dim kernel[SPATIAL], stride[SPATIAL], padding[SPATIAL], dilation[SPATIAL]; bool ceil; } Window;

/* One number for each of `dims`, or one for all; a list of none, or no such parameter: `absent`. */
static bool read_spatial(const Op *op, const Arg *args, const char *name, int dims, const Dim *absent, Dim *out, OpError *error) {
    Dim given[MAX_RANK];
    int count = 0;
    if (op_param_index(op, name) >= 0 && !read_sizes(op, op_arg(op, args, name), given, &count, error)) return false;
    if (count != 0 && count != 1 && count != dims) return op_error(error, ERROR_RUNTIME, "%s: %s must either be a single int, or a tuple of %d ints", op->name, name, dims);
    for (int i = 0; i < dims; i++) out[i] = count == 0 ? absent[i] : given[count == 1 ? 0 : i];
    return true;
}

static bool read_window(const Op *op, const Arg *args, int dims, const Dim *kernel, Window *w, OpError *error) {
    static const Dim ones[SPATIAL] = {1, 1, 1}, zeros[SPATIAL] = {0, 0, 0};
    memcpy(w->kernel, kernel, sizeof w->kernel);
    w->ceil = op_param_index(op, "ceil_mode") >= 0 && arg_truth(op_arg(op, args, "ceil_mode"), false);
    bool pools = op_param_index(op, "kernel_size") >= 0;
    bool ok = read_spatial(op, args, "stride", dims, pools ? w->kernel : ones, w->stride, error) && read_spatial(op, args, "padding", dims, zeros, w->padding, error) &&
              read_spatial(op, args, "dilation", dims, ones, w->dilation, error);
    for (int i = 0; ok && i < dims; i++) {
        if (dim_is(SYM_LT, w->stride[i], 1)) return op_error(error, ERROR_RUNTIME, "%s: stride should be greater than zero", op->name);
        if (dim_is(SYM_LT, w->dilation[i], 1)) return op_error(error, ERROR_RUNTIME, "%s: dilation should be greater than zero", op->name);
        if (dim_is(SYM_LT, w->padding[i], 0)) return op_error(error, ERROR_RUNTIME, "%s: negative padding is not supported", op->name);
        if (pools && dim_is(SYM_LT, w->kernel[i], 1)) return op_error(error, ERROR_RUNTIME, "%s: kernel size should be greater than zero", op->name);
    }
    return ok;
}

/* What a window reaches over: dilation * (kernel - 1) + 1. */
static Dim reach_of(const Window *w, int i, SymTable *syms) { return dim_plus(syms, dim_times(syms, w->dilation[i], dim_minus(syms, w->kernel[i], 1)), 1); }

static Dim divided(SymTable *syms, Dim a, Dim b) { return dim_is_int(a) && dim_is_int(b) ? (a - (((a % b) + b) % b)) / b : dim_floordiv(syms, a, b); }

static Dim windows_along(const Window *w, int i, Dim size, SymTable *syms) {
    Dim padded = dim_plus(syms, size, dim_times(syms, w->padding[i], 2)), room = dim_minus(syms, padded, reach_of(w, i, syms));
    if (!w->ceil) return dim_plus(syms, divided(syms, room, w->stride[i]), 1);
    Dim out = dim_plus(syms, divided(syms, dim_plus(syms, room, dim_minus(syms, w->stride[i], 1)), w->stride[i]), 1);
    /* The last window must begin inside the input or its left padding. */
    bool outside = !dim_is(SYM_LT, dim_times(syms, dim_minus(syms, out, 1), w->stride[i]), dim_plus(syms, size, w->padding[i]));
    return outside ? dim_minus(syms, out, 1) : out;
}

/* Strides of a result with the format of `like`: channels_last where that is, else contiguous. */
static void set_format(Meta *out, const Meta *like, SymTable *syms) {
    meta_set_contiguous(out, syms);
    if (out->rank != 4 || meta_is_contiguous(like) || !meta_is_channels_last(like)) return;
    static const int order[] = {1, 3, 2, 0};
    Dim stride = 1;
    for (int i = 0; i < 4; i++) {
        out->strides[order[i]] = stride;
        stride = dim_times(syms, stride, dim_is_int(out->sizes[order[i]]) && out->sizes[order[i]] < 1 ? 1 : out->sizes[order[i]]);
    }
}

static bool too_small(const Op *op, const Meta *input, OpError *error) {
    char have[128];
    shape_text(input, have, sizeof have);
    return op_error(error, ERROR_RUNTIME, "%s: given input size %s, the output size is too small", op->name, have);
}

/* ---- convolution ---- */

static bool infer_convolution(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    static const Dim zeros[SPATIAL] = {0, 0, 0};
    Window w;
    Dim extra[SPATIAL], groups, kernel[SPATIAL] = {1, 1, 1};
    if (!need_tensor(op, args, 0, error) || !need_tensor(op, args, 1, error) || !read_integer(op, args, "groups", &groups, error)) return false;
    const Meta *input = arg_meta(&args[0]), *weight = arg_meta(&args[1]);
    int dims = input->rank - 2;
    if (dims < 1 || dims > SPATIAL || weight->rank != input->rank) return op_error(error, ERROR_RUNTIME, "convolution: the input has %d dims and the weight %d; 3 to 5 of both are expected", input->rank, weight->rank);
    for (int i = 0; i < dims; i++) kernel[i] = weight->sizes[2 + i];
    if (!read_window(op, args, dims, kernel, &w, error) || !read_spatial(op, args, "output_padding", dims, zeros, extra, error)) return false;
    if (dim_is(SYM_LT, groups, 1)) return op_error(error, ERROR_RUNTIME, "non-positive groups is not supported");
    bool transposed = arg_truth(op_arg(op, args, "transposed"), false);
    SymTable *syms = context->syms;
    if (!dim_same(input->sizes[1], transposed ? weight->sizes[0] : dim_times(syms, weight->sizes[1], groups))) return op_error(error, ERROR_RUNTIME, "convolution: the weight does not fit the input's channels");
    Meta out = {.dtype = input->dtype, .device = input->device, .rank = input->rank, .sizes = {input->sizes[0], transposed ? dim_times(syms, weight->sizes[1], groups) : weight->sizes[0]}};
    for (int i = 0; i < dims; i++) {
        Dim size = input->sizes[2 + i], spread = dim_times(syms, dim_minus(syms, size, 1), w.stride[i]);
        Dim back = dim_minus(syms, dim_plus(syms, dim_plus(syms, spread, reach_of(&w, i, syms)), extra[i]), dim_times(syms, w.padding[i], 2));
        if (dim_is(SYM_LT, size, 1)) return op_error(error, ERROR_RUNTIME, "convolution: expected an input of which only the batch may be empty, got size 0 at dimension %d", 2 + i);
        out.sizes[2 + i] = transposed ? back : windows_along(&w, i, size, syms);
        if (dim_is(SYM_LT, out.sizes[2 + i], 0) || (!transposed && dim_is(SYM_LT, out.sizes[2 + i], 1))) return too_small(op, input, error);
    }
    set_format(&out, input, syms);
    outs[0] = out;
    return true;
}

static bool infer_convolution_backward(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    for (int i = 0; i < 3; i++)
        if (!need_tensor(op, args, i, error)) return false;
    const Meta *g = arg_meta(&args[0]);
    for (int i = 0; i < 2; i++) {
        outs[i] = *arg_meta(&args[1 + i]);
        outs[i].offset = 0;
        set_format(&outs[i], i == 0 ? arg_meta(&args[1]) : &(Meta){.rank = 0}, context->syms);
    }
    outs[2] = meta_new(g->dtype, g->device, 1, (Dim[]){0});
    outs[2].sizes[0] = g->sizes[1];
    meta_set_contiguous(&outs[2], context->syms);
    return true;
}

/* ---- pooling, resizing, padding ---- */

static bool read_image(const Op *op, const Arg *args, int dims, Meta *out, OpError *error) {
    if (!need_tensor(op, args, 0, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    if (input->rank != dims + 1 && input->rank != dims + 2) return op_error(error, ERROR_RUNTIME, "%s: expected an input of %d or %d dims, got %d", op->name, dims + 1, dims + 2, input->rank);
    *out = *input;
    out->offset = 0;
    return true;
}

static bool infer_pool(const Op *op, const Arg *args, int dims, Meta *outs, const OpContext *context, OpError *error) {
    static const Dim ones[SPATIAL] = {1, 1, 1};
    Window w;
    Dim kernel[SPATIAL] = {1, 1, 1};
    if (!read_image(op, args, dims, &outs[0], error) || !read_spatial(op, args, "kernel_size", dims, ones, kernel, error) || !read_window(op, args, dims, kernel, &w, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    for (int i = 0; i < dims; i++) {
        Dim *size = &outs[0].sizes[input->rank - dims + i];
        if (dim_is(SYM_LT, reach_of(&w, i, context->syms), dim_times(context->syms, w.padding[i], 2)))
            return op_error(error, ERROR_RUNTIME, "%s: pad should be at most half of effective kernel size", op->name);
        *size = windows_along(&w, i, *size, context->syms);
        if (dim_is(SYM_LT, *size, 1)) return too_small(op, input, error);
    }
    set_format(&outs[0], input, context->syms);
    if (op->outputs == 2) outs[1] = outs[0], outs[1].dtype = DTYPE_I64;
    return true;
}

static bool infer_adaptive(const Op *op, const Arg *args, int dims, Meta *outs, const OpContext *context, OpError *error) {
    Dim wanted[SPATIAL];
    if (!read_image(op, args, dims, &outs[0], error)) return false;
    const Meta *input = arg_meta(&args[0]);
    if (!read_spatial(op, args, "output_size", dims, &input->sizes[input->rank - dims], wanted, error)) return false;
    for (int i = 0; i < dims; i++) {
        if (dim_is(SYM_LT, wanted[i], 0)) return op_error(error, ERROR_RUNTIME, "%s: elements of output_size must be greater than or equal to 0", op->name);
        outs[0].sizes[input->rank - dims + i] = wanted[i];
    }
    set_format(&outs[0], input, context->syms);
    if (op->outputs == 2) outs[1] = outs[0], outs[1].dtype = DTYPE_I64;
    return true;
}

static bool infer_pad(const Op *op, const Arg *args, int dims, Meta *outs, const OpContext *context, OpError *error) {
    Dim pads[MAX_RANK];
    int count;
    if (!read_image(op, args, dims, &outs[0], error) || !read_sizes(op, op_arg(op, args, "padding"), pads, &count, error)) return false;
    if (count != 2 * dims) return op_error(error, ERROR_RUNTIME, "%s: padding must hold %d numbers, got %d", op->name, 2 * dims, count);
    const Meta *input = arg_meta(&args[0]);
    bool reflects = strncmp(op->name, "reflection", 10) == 0;
    for (int i = 0; i < dims; i++) {
        Dim *size = &outs[0].sizes[input->rank - 1 - i], before = pads[2 * i], after = pads[2 * i + 1];
        if (reflects && (!dim_is(SYM_LT, before, *size) || !dim_is(SYM_LT, after, *size))) {
            char have[128];
            shape_text(input, have, sizeof have);
            return op_error(error, ERROR_RUNTIME, "Padding size should be less than the corresponding input dimension, but got: padding (%lld, %lld) at dimension %d of input %s",
                            (long long)dim_hint(before), (long long)dim_hint(after), input->rank - 1 - i, have);
        }
        *size = dim_plus(context->syms, *size, dim_plus(context->syms, before, after));
        if (dim_is(SYM_LT, *size, 1)) return too_small(op, input, error);
    }
    set_format(&outs[0], input, context->syms);
    return true;
}

/* ---- windows as columns ---- */

static bool infer_columns(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    static const Dim ones[SPATIAL] = {1, 1, 1};
    Window w;
    Dim kernel[SPATIAL] = {1, 1, 1}, places = 1, size = 1;
    if (!need_tensor(op, args, 0, error) || !read_spatial(op, args, "kernel_size", 2, ones, kernel, error) || !read_window(op, args, 2, kernel, &w, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    if (input->rank != 3 && input->rank != 4) return op_error(error, ERROR_RUNTIME, "im2col: expected an input of 3 or 4 dims, got %d", input->rank);
    int at = input->rank - 3;
    for (int i = 0; i < 2; i++) {
        Dim along = windows_along(&w, i, input->sizes[at + 1 + i], context->syms);
        if (dim_is(SYM_LT, along, 1)) return too_small(op, input, error);
        places = dim_times(context->syms, places, along);
        size = dim_times(context->syms, size, kernel[i]);
    }
    outs[0] = *input;
    outs[0].offset = 0;
    outs[0].rank = at + 2;
    outs[0].sizes[at] = dim_times(context->syms, input->sizes[at], size);
    outs[0].sizes[at + 1] = places;
    meta_set_contiguous(&outs[0], context->syms);
    return true;
}

static bool infer_image(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    static const Dim ones[SPATIAL] = {1, 1, 1};
    Window w;
    Dim kernel[SPATIAL] = {1, 1, 1}, out[SPATIAL], places = 1;
    if (!need_tensor(op, args, 0, error) || !read_spatial(op, args, "kernel_size", 2, ones, kernel, error) || !read_spatial(op, args, "output_size", 2, ones, out, error) ||
        !read_window(op, args, 2, kernel, &w, error)) return false;
    const Meta *input = arg_meta(&args[0]);
    if (input->rank != 2 && input->rank != 3) return op_error(error, ERROR_RUNTIME, "col2im: expected an input of 2 or 3 dims, got %d", input->rank);
    int at = input->rank - 2;
    for (int i = 0; i < 2; i++) places = dim_times(context->syms, places, windows_along(&w, i, out[i], context->syms));
    Dim size = dim_times(context->syms, kernel[0], kernel[1]), channels = divided(context->syms, input->sizes[at], size);
    if (!dim_same(dim_times(context->syms, channels, size), input->sizes[at]))
        return op_error(error, ERROR_RUNTIME, "Expected size of input's dimension 1 to be divisible by the product of kernel_size");
    if (!dim_same(places, input->sizes[at + 1])) return op_error(error, ERROR_RUNTIME, "Given output_size and kernel_size, expected size of input's last dimension to match the calculated number of sliding blocks");
    outs[0] = *input;
    outs[0].offset = 0;
    outs[0].rank = at + 3;
    outs[0].sizes[at] = channels;
    outs[0].sizes[at + 1] = out[0];
    outs[0].sizes[at + 2] = out[1];
    meta_set_contiguous(&outs[0], context->syms);
    return true;
}

bool windows_infer(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error, bool *known) {
    const char *word = op->shared;
    const char *number = strchr(word, ' ');
    int dims = number ? atoi(number) : 0;
    *known = true;
    if (strcmp(word, "convolution") == 0) return infer_convolution(op, args, outs, context, error);
    if (strcmp(word, "convolution_backward") == 0) return infer_convolution_backward(op, args, outs, context, error);
    if (strncmp(word, "pool ", 5) == 0) return infer_pool(op, args, dims, outs, context, error);
    if (strncmp(word, "adaptive ", 9) == 0) return infer_adaptive(op, args, dims, outs, context, error);
    if (strncmp(word, "pad ", 4) == 0) return infer_pad(op, args, dims, outs, context, error);
    if (strcmp(word, "columns") == 0) return infer_columns(op, args, outs, context, error);
    if (strcmp(word, "image") == 0) return infer_image(op, args, outs, context, error);
    *known = false;
    return false;
}
