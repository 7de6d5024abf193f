/* Create: tensors made from numbers: full, zeros_like, arange, eye …
 *
 * In: sizes (given, or those of a first argument `input`), dtype= and device=. Out: a tensor, dense; its value at an index is a formula of the index.
 *
 *     full([2, 3], 7) -> i64[2, 3];   arange(5) -> i64[5];   zeros_like(f16[3, 4]ᵗ) -> f16 with the same strides
 *
 * Invariant: the eager loop and value_at give the same numbers. To add one: a row, its sizes in create_infer, its value in both. */
#include "ir/body.h"
#include "op/convert.h"
#include "op/family.h"
#include "op/walk.h"
#include <math.h>
#include <string.h>

static bool is_kind(const Op *op, const char *kind) { return strcmp(op->shared, kind) == 0; }
static const Arg *input_of(const Op *op, const Arg *args) {
    return op_param_index(op, "input") == 0 && arg_is_tensor(&args[0]) ? &args[0] : NULL;
}

static DType number_dtype(const Arg *arg, DType default_dtype) { return arg->tag == ARG_BOOL ? DTYPE_BOOL : arg->tag == ARG_INT ? DTYPE_I64 : default_dtype; }

/* ---- ranges ---- */

typedef struct Range { Dim count; double start, step; int64_t start_int, step_int; bool integral; } Range;

/* An end that is symbolic: the count is an expression of it. */
static bool read_symbolic_range(const Op *op, Dim end, Range *range, OpError *error) {
    SymTable *syms = dim_sym(end)->table;
    int64_t by = range->step_int;
    Dim span = dim_sub(syms, end, range->start_int);
    if (by == 0) return op_error(error, ERROR_RUNTIME, "step must be nonzero");
    if (by < 0) span = dim_mul(syms, span, -1), by = -by;
    if (dim_is(SYM_LT, span, 0)) return op_error(error, ERROR_RUNTIME, "%s(): upper bound and lower bound inconsistent with step sign", op->name);
    range->count = dim_floordiv(syms, dim_add(syms, span, by - 1), by);
    range->integral = true;
    return true;
}

static bool refuse_count(const Op *op, double elements, OpError *error) {
    return op_error(error, ERROR_RUNTIME, "%s(): %.3g elements are more than memory can hold", op->name, elements);
}

static bool read_range(const Op *op, const Arg *args, Range *range, OpError *error) {
    static const Arg zero = {.tag = ARG_INT, .i = 0};
    const Arg *start = &args[0], *end = &args[1], *step = &args[2];
    if (end->tag == ARG_NONE) end = start, start = &zero;
    if (!arg_is_number(start) || !arg_is_number(end) || !arg_is_number(step)) return op_error(error, ERROR_TYPE, "%s(): start, end and step must be numbers", op->name);
    *range = (Range){.start = arg_as_double(start), .step = arg_as_double(step), .start_int = arg_as_int(start), .step_int = arg_as_int(step)};
    if (end->tag == ARG_INT && !dim_is_int(end->i) && start->tag != ARG_FLOAT && step->tag != ARG_FLOAT) return read_symbolic_range(op, end->i, range, error);
    range->integral = start->tag != ARG_FLOAT && end->tag != ARG_FLOAT && step->tag != ARG_FLOAT;
    double distance = arg_as_double(end) - range->start;
    if (range->step == 0) return op_error(error, ERROR_RUNTIME, "step must be nonzero");
    if (!isfinite(distance)) return op_error(error, ERROR_RUNTIME, "unsupported range: %g -> %g", range->start, arg_as_double(end));
    if (distance != 0 && (distance > 0) != (range->step > 0)) return op_error(error, ERROR_RUNTIME, "upper bound and lower bound inconsistent with step sign");
    if (range->integral) {
        int64_t span, by = range->step_int;
        if (__builtin_sub_overflow(arg_as_int(end), range->start_int, &span)) return refuse_count(op, distance, error);
        range->count = span / by + (span % by != 0);
    } else if (distance / range->step < 0x1p62) range->count = (Dim)ceil(distance / range->step);
    else return refuse_count(op, distance / range->step, error);
    return true;
}

static bool infer_indices(const Op *op, const Arg *args, Meta *out, OpError *error) {
    int64_t rows = arg_as_int(&args[0]), columns = arg_as_int(&args[1]), offset = arg_as_int(&args[2]), count = 0;
    if (rows < 0 || columns < 0) return op_error(error, ERROR_RUNTIME, "row and col must be non-negative, got %lld and %lld", (long long)rows, (long long)columns);
    for (int64_t i = 0; i < rows; i++) {
        int64_t lower = i + offset + 1 < 0 ? 0 : i + offset + 1 > columns ? columns : i + offset + 1;
        int64_t upper = i + offset < 0 ? columns : i + offset > columns ? 0 : columns - (i + offset);
        count += is_kind(op, "tril_indices") ? lower : upper;
    }
    out->rank = 2;
    out->sizes[0] = 2;
    out->sizes[1] = count;
    return true;
}

static bool infer_own_shape(const Op *op, const Arg *args, Meta *out, DType *natural, const OpContext *context, OpError *error) {
    Range range;
    *natural = context->default_dtype;
    if (is_kind(op, "arange")) {
        if (!read_range(op, args, &range, error)) return false;
        out->rank = 1;
        out->sizes[0] = range.count;
        if (range.integral) *natural = DTYPE_I64;
    } else if (is_kind(op, "linspace") || is_kind(op, "logspace")) {
        out->rank = 1;
        out->sizes[0] = arg_as_int(&args[2]);
        if (out->sizes[0] < 0) return op_error(error, ERROR_RUNTIME, "number of steps must be non-negative");
    } else if (is_kind(op, "eye")) {
        out->rank = 2;
        if (!read_integer(op, args, args[1].tag == ARG_NONE ? "n" : "m", &out->sizes[1], error) || !read_integer(op, args, "n", &out->sizes[0], error)) return false;
    } else {
        *natural = DTYPE_I64;
        return infer_indices(op, args, out, error);
    }
    return true;
}

static bool infer_sized(const Op *op, const Arg *args, Meta *out, const Arg *input, const Arg *size, OpError *error) {
    const Arg *value = op_arg(op, args, "fill_value");
    if (!read_sizes(op, size, out->sizes, &out->rank, error)) return false;
    (void)input;
    if (op_param_index(op, "fill_value") >= 0 && !arg_is_number(value)) return op_error(error, ERROR_TYPE, "%s(): argument 'fill_value' must be Number", op->name);
    return true;
}

static bool check_size(const Op *op, const Meta *out, OpError *error) {
    bool counts = is_kind(op, "arange") || is_kind(op, "linspace") || is_kind(op, "logspace");
    if (counts && out->dtype == DTYPE_BOOL) return op_error_dtype(error, op->name, DTYPE_BOOL);
    double elements = 1;
    for (int i = 0; i < out->rank; i++)
        if (dim_is(SYM_LT, out->sizes[i], 0)) return op_error(error, ERROR_RUNTIME, "Trying to create tensor with negative dimension %lld", (long long)dim_hint(out->sizes[i]));
    for (int i = 0; i < out->rank; i++) elements *= (double)dim_hint(out->sizes[i]);
    return elements * dtype_size(out->dtype) < 0x1p62 || refuse_count(op, elements, error);
}

/* memory_format=: contiguous, or channels last for images; else as it is. */
static void choose_format(const Op *op, const Arg *args, Meta *out, SymTable *syms) {
    static const int order[] = {1, 3, 2, 0};
    const Arg *format = op_arg(op, args, "memory_format");
    if (format->tag != ARG_STR) return;
    if (strstr(format->s, "contiguous")) meta_set_contiguous(out, syms);
    if (!strstr(format->s, "channels_last") || out->rank != 4) return;
    Dim stride = 1;
    for (int i = 0; i < 4; i++) {
        out->strides[order[i]] = stride;
        stride = dim_mul(syms, stride, dim_max(syms, out->sizes[order[i]], 1));
    }
}

static bool create_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)nargs;
    const Arg *input = input_of(op, args), *size = op_arg(op, args, "size"), *value = op_arg(op, args, "fill_value");
    bool has_size = op_param_index(op, "size") >= 0, is_scalar = op_param_index(op, "s") == 0;
    Meta out = {.device = read_device(op, args, input ? arg_meta(input)->device : context->default_device)};
    DType natural = input ? arg_meta(input)->dtype : context->default_dtype;
    if (op_param_index(op, "input") == 0 && !need_tensor(op, args, 0, error)) return false;
    if (is_scalar) out.rank = 0;
    else if (has_size && !infer_sized(op, args, &out, input, size, error)) return false;
    else if (!has_size && input) memcpy(out.sizes, arg_meta(input)->sizes, sizeof out.sizes), out.rank = arg_meta(input)->rank;
    else if (!has_size && !infer_own_shape(op, args, &out, &natural, context, error)) return false;
    if (has_size && !input && value->tag != ARG_NONE) natural = number_dtype(value, context->default_dtype);
    out.dtype = read_dtype(op, args, natural);
    if (!check_size(op, &out, error)) return false;
    if (!has_size && input) meta_preserve_strides(&out, arg_meta(input), context->syms);
    else meta_set_contiguous(&out, context->syms);
    choose_format(op, args, &out, context->syms);
    if (is_kind(op, "empty_strided")) {
        int strides;
        if (!read_sizes(op, &args[1], out.strides, &strides, error)) return false;
        bool fits = strides == out.rank;
        for (int i = 0; fits && i < strides; i++) fits = dim_is(SYM_LE, 0, out.strides[i]);
        if (!fits) return op_error(error, ERROR_RUNTIME, "empty_strided: size and stride must have the same length, and no stride may be negative");
    }
    outs[0] = out;
    *count = 1;
    return true;
}

/* ---- values ---- */

static const Body *number_body(BodyBuilder *builder, const Arg *arg, DType compute) {
    const Body *given = body_given(builder, arg);
    if (given) return body_cast(builder, given, compute);
    if (arg->tag == ARG_INT && !dim_is_int(arg->i)) return body_cast(builder, body_of_index(builder, arg->i), compute);
    if (arg->tag == ARG_FLOAT && (compute == DTYPE_F32 || compute == DTYPE_F64)) return body_float(builder, compute, arg->f);
    return body_int(builder, compute, arg_as_int(arg));
}

static const Body *range_at(BodyBuilder *builder, const Op *op, const Arg *args, Dim i) {
    Range range;
    if (!read_range(op, args, &range, NULL)) return NULL;
    const Body *at = body_of_index(builder, i), *start = args[1].tag == ARG_NONE ? NULL : body_given(builder, &args[0]), *step = body_given(builder, &args[2]);
    bool whole = range.start == floor(range.start) && range.step == floor(range.step) && fabs(range.start) < 0x1p53 && fabs(range.step) < 0x1p53;
    if (whole) {
        at = body_prim(builder, PRIM_MUL, at, step ? step : body_int(builder, DTYPE_I64, (int64_t)range.step), NULL);
        return body_prim(builder, PRIM_ADD, at, start ? start : body_int(builder, DTYPE_I64, (int64_t)range.start), NULL);
    }
    at = body_prim(builder, PRIM_MUL, body_cast(builder, at, DTYPE_F64), body_float(builder, DTYPE_F64, range.step), NULL);
    return body_prim(builder, PRIM_ADD, at, body_float(builder, DTYPE_F64, range.start), NULL);
}

/* From both ends towards the middle, so that both ends are exact. */
static const Body *linspace_at(BodyBuilder *builder, const Arg *args, const Meta *out, Dim i) {
    DType type = out->dtype == DTYPE_F64 || !dtype_is_float(out->dtype) ? DTYPE_F64 : DTYPE_F32;
    int64_t steps = arg_as_int(&args[2]);
    if (steps == 1) return body_float(builder, type, arg_as_double(&args[0]));
    double start = arg_as_double(&args[0]), end = arg_as_double(&args[1]), step = steps > 1 ? (end - start) / (double)(steps - 1) : 0;
    if (type == DTYPE_F32 && steps > 1) step = (double)(((float)end - (float)start) / (float)(steps - 1));
    const Body *at = body_of_index(builder, i), *by = body_float(builder, type, step);
    const Body *first = body_prim(builder, PRIM_ADD, body_float(builder, type, start), body_prim(builder, PRIM_MUL, by, body_cast(builder, at, type), NULL), NULL);
    const Body *back = body_prim(builder, PRIM_SUB, body_int(builder, DTYPE_I64, steps - 1), at, NULL);
    const Body *last = body_prim(builder, PRIM_SUB, body_float(builder, type, end), body_prim(builder, PRIM_MUL, by, body_cast(builder, back, type), NULL), NULL);
    return body_prim(builder, PRIM_WHERE, body_prim(builder, PRIM_LT, at, body_int(builder, DTYPE_I64, steps / 2), NULL), first, last);
}

static const Body *create_value_at(BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index) {
    (void)nargs;
    const Meta *out = &outs[which];
    DType compute = dtype_info[out->dtype].compute;
    if (is_kind(op, "zeros") || is_kind(op, "empty") || is_kind(op, "empty_strided")) return body_int(builder, compute, 0);
    if (is_kind(op, "ones")) return body_int(builder, compute, 1);
    if (is_kind(op, "full")) return body_cast(builder, number_body(builder, op_arg(op, args, op_param_index(op, "s") == 0 ? "s" : "fill_value"), compute), out->dtype);
    if (is_kind(op, "arange")) return body_cast(builder, range_at(builder, op, args, index[0]), out->dtype);
    if (is_kind(op, "linspace")) return body_cast(builder, linspace_at(builder, args, out, index[0]), out->dtype);
    if (!is_kind(op, "eye")) return NULL;
    const Body *same = body_prim(builder, PRIM_EQ, body_of_index(builder, index[0]), body_of_index(builder, index[1]), NULL);
    return body_cast(builder, same, out->dtype);
}

/* ---- eager ---- */

enum { FILL_ROOM = 1024 };

static void fill_tiles(const Walk *walk, StoreFn store, const double *values, int64_t first, int64_t last) {
    for (int64_t t = first; t < last; t++) {
        Tile tile;
        walk_tile(walk, t, &tile);
        for (int64_t r = 0; r < tile.rows; r++) store(tile.columns, values, tile.data[0] + r * tile.row_stride[0], tile.column_stride[0]);
    }
}

void fill_elements(const Meta *meta, void *data, double value, int64_t integer, int threads) {
    double values[FILL_ROOM];
    DType compute = dtype_info[meta->dtype].compute;
    Walk walk;
    walk_begin(&walk, meta->rank, meta->sizes);
    walk_add(&walk, meta, data);
    walk_finish(&walk, FILL_ROOM);
    int64_t room = walk.columns < FILL_ROOM ? walk.columns : FILL_ROOM;
    if (compute == DTYPE_F32) for (int64_t i = 0; i < room; i++) ((float *)values)[i] = (float)value;
    else if (compute == DTYPE_F64) for (int64_t i = 0; i < room; i++) values[i] = value;
    else if (compute == DTYPE_I64) for (int64_t i = 0; i < room; i++) ((int64_t *)(void *)values)[i] = integer;
    else memset(values, integer != 0 || value != 0, sizeof values);
    StoreFn store = store_function(compute, meta->dtype);
    int parts = walk_threads(&walk, threads);
    if (parts <= 1) {
        fill_tiles(&walk, store, values, 0, walk.tiles);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(parts)
    for (int part = 0; part < parts; part++) fill_tiles(&walk, store, values, walk_part(&walk, part, parts), walk_part(&walk, part + 1, parts));
}

static void store_number(const Meta *meta, char *data, int64_t place, double value) {
    store_values(DTYPE_F64, meta->dtype, 1, &value, data + place * dtype_size(meta->dtype), 0);
}

static void store_integer(const Meta *meta, char *data, int64_t place, int64_t value) {
    store_values(DTYPE_I64, meta->dtype, 1, &value, data + place * dtype_size(meta->dtype), 0);
}

static bool run_range(const Op *op, const Arg *args, const Meta *out, char *data, OpError *error) {
    Range range;
    if (!read_range(op, args, &range, error)) return false;
    for (int64_t i = 0; i < out->sizes[0]; i++) {
        if (range.integral) store_integer(out, data, i, range.start_int + i * range.step_int);
        else store_number(out, data, i, range.start + (double)i * range.step);
    }
    return true;
}

static double space_at(double start, double end, int64_t steps, int64_t i, bool single) {
    if (single) {
        float a = (float)start, b = (float)end, step = steps > 1 ? (b - a) / (float)(steps - 1) : 0;
        return (double)(i < steps / 2 ? a + step * (float)i : b - step * (float)(steps - 1 - i));
    }
    double step = steps > 1 ? (end - start) / (double)(steps - 1) : 0;
    return i < steps / 2 ? start + step * (double)i : end - step * (double)(steps - 1 - i);
}

static void run_space(const Op *op, const Arg *args, const Meta *out, char *data) {
    double start = arg_as_double(&args[0]), end = arg_as_double(&args[1]);
    int64_t steps = out->sizes[0];
    bool single = dtype_is_float(out->dtype) && out->dtype != DTYPE_F64;
    for (int64_t i = 0; i < steps; i++) {
        double x = steps == 1 ? start : space_at(start, end, steps, i, single);
        store_number(out, data, i, is_kind(op, "logspace") ? pow(arg_as_double(op_arg(op, args, "base")), x) : x);
    }
}

static void run_indices(const Op *op, const Arg *args, const Meta *out, char *data) {
    int64_t rows = arg_as_int(&args[0]), columns = arg_as_int(&args[1]), offset = arg_as_int(&args[2]), n = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            if (is_kind(op, "tril_indices") ? j > i + offset : j < i + offset) continue;
            store_integer(out, data, n, i);
            store_integer(out, data, out->sizes[1] + n++, j);
        }
}

static bool create_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)nargs, (void)nouts;
    const Meta *out = arg_meta(&outs[0]);
    if (!need_static(op, out, error)) return false;
    char *data = (char *)outs[0].tensor.data;
    if (is_kind(op, "full")) {
        const Arg *value = op_arg(op, args, op_param_index(op, "s") == 0 ? "s" : "fill_value");
        fill_elements(out, data, arg_as_double(value), arg_as_int(value), context->threads);
        return true;
    }
    if (!data) return true; /* no elements */
    if (is_kind(op, "arange")) return run_range(op, args, out, data + out->offset * dtype_size(out->dtype), error);
    if (is_kind(op, "linspace") || is_kind(op, "logspace")) run_space(op, args, out, data + out->offset * dtype_size(out->dtype));
    else if (is_kind(op, "tril_indices") || is_kind(op, "triu_indices")) run_indices(op, args, out, data + out->offset * dtype_size(out->dtype));
    else fill_elements(out, data, is_kind(op, "ones"), is_kind(op, "ones"), context->threads); /* empty: zeros, the same on every run */
    if (is_kind(op, "eye"))
        for (int64_t i = 0; i < out->sizes[0] && i < out->sizes[1]; i++) store_number(out, data, out->offset + i * (out->sizes[1] + 1), 1);
    return true;
}

const FamilyOps create_family = {.infer = create_infer, .run_cpu = create_run, .value_at = create_value_at};
