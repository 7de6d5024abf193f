/* Random ops: shapes, eager draws (PyTorch's CPU streams to the digit), and their compiled form from counter-based uniforms.
 *
 * In: sizes or a tensor whose shape is filled; parameters of the distribution; the context's generator. Out: fresh tensors (in-place twins copy them).
 *
 *     rand(4) after manual_seed(0) -> 0.4963, 0.7682, 0.0885, 0.1320
 *
 * Invariant: eager draws happen in logical order of elements, by one thread. Compiled draws are a function of the call's number and the element.
 * To add one: a row, its filler in `fillers`, its body in random_value_at (or TRAIT_NO_LOWER). */
#include "ir/body.h"
#include "op/convert.h"
#include "op/family.h"
#include "op/lines.h"
#include "op/random.h"
#include "op/walk.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double two_pi = 6.283185307179586476925286766559;

static bool is_kind(const Op *op, const char *kind) { return strcmp(op->shared, kind) == 0; }
static const Arg *like_of(const Op *op, const Arg *args) { return op_param_index(op, "input") == 0 && arg_is_tensor(&args[0]) ? &args[0] : NULL; }

/* randint(high, size), randint(low, high, size), randint_like(x, high), randint_like(x, low, high): the bounds. */
static void read_bounds(const Op *op, const Arg *args, int64_t *low, int64_t *high) {
    const Arg *first = op_arg(op, args, "low"), *second = op_arg(op, args, "high");
    bool both = second->tag == ARG_INT;
    *low = both ? arg_as_int(first) : 0;
    *high = both ? arg_as_int(second) : arg_as_int(first);
}

static const Arg *size_argument(const Op *op, const Arg *args) {
    const Arg *high = op_arg(op, args, "high");
    return high->tag == ARG_INTS ? high : op_arg(op, args, "size");
}

static bool check_bounds(const Op *op, const Arg *args, OpError *error) {
    int64_t low, high;
    read_bounds(op, args, &low, &high);
    return low < high ? true : op_error(error, ERROR_RUNTIME, "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld", (long long)low, (long long)high);
}

static bool infer_multinomial(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    const Meta *input = arg_meta(&args[0]);
    int64_t samples = arg_as_int(&args[1]);
    if (input->rank < 1 || input->rank > 2) return op_error(error, ERROR_RUNTIME, "prob_dist must be 1 or 2 dim");
    if (samples <= 0) return op_error(error, ERROR_RUNTIME, "cannot sample n_sample <= 0 samples");
    if (!arg_truth(op_arg(op, args, "replacement"), false) && dim_is(SYM_LT, input->sizes[input->rank - 1], samples))
        return op_error(error, ERROR_RUNTIME, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    outs[0] = *input;
    outs[0].dtype = DTYPE_I64;
    outs[0].offset = 0;
    outs[0].sizes[input->rank - 1] = samples;
    meta_set_contiguous(&outs[0], context->syms);
    return true;
}

static bool infer_like(const Op *op, const Arg *args, const Arg *like, Meta *outs, int *count, const OpContext *context) {
    outs[0] = *arg_meta(like);
    outs[0].offset = 0;
    outs[0].requires_grad = false;
    outs[0].dtype = read_dtype(op, args, outs[0].dtype);
    outs[0].device = read_device(op, args, outs[0].device);
    meta_preserve_strides(&outs[0], arg_meta(like), context->syms);
    *count = op->outputs;
    if (op->outputs == 2) {
        outs[1] = outs[0];
        outs[1].dtype = DTYPE_BOOL;
    }
    return true;
}

static bool infer_normal_of_tensors(const Op *op, const Arg *args, Meta *outs, const OpContext *context, OpError *error) {
    Meta out = {.dtype = DTYPE_F32, .device = context->default_device};
    if (!broadcast_args(op, args, 2, &out, error) || !common_device(op, args, 2, &out.device, error)) return false;
    out.dtype = arg_meta(arg_is_tensor(&args[0]) ? &args[0] : &args[1])->dtype;
    meta_set_contiguous(&out, context->syms);
    outs[0] = out;
    return true;
}

/* Only whole numbers can be drawn into integers. */
static bool check_floating(const Op *op, const Meta *out, OpError *error) {
    bool continuous = is_kind(op, "uniform") || is_kind(op, "normal") || is_kind(op, "exponential");
    return !continuous || dtype_is_float(out->dtype) || op_error_dtype(error, op->name, out->dtype);
}

static bool random_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    (void)nargs;
    const Arg *like = like_of(op, args);
    *count = 1;
    if (op_param_index(op, "input") == 0 && !need_tensor(op, args, 0, error)) return false;
    if (is_kind(op, "randint") && !check_bounds(op, args, error)) return false;
    if (is_kind(op, "multinomial")) return infer_multinomial(op, args, outs, context, error);
    if (like) return infer_like(op, args, like, outs, count, context) && check_floating(op, &outs[0], error);
    if (strcmp(op->name, "normal") == 0 && (arg_is_tensor(&args[0]) || arg_is_tensor(&args[1]))) return infer_normal_of_tensors(op, args, outs, context, error);
    bool integers = is_kind(op, "randint") || is_kind(op, "randperm");
    Meta out = {.dtype = read_dtype(op, args, integers ? DTYPE_I64 : context->default_dtype), .device = read_device(op, args, context->default_device)};
    if (is_kind(op, "randperm")) {
        out.rank = 1;
        if (!read_integer(op, args, "n", &out.sizes[0], error)) return false;
    } else if (!read_sizes(op, size_argument(op, args), out.sizes, &out.rank, error)) return false;
    for (int i = 0; i < out.rank; i++)
        if (dim_is_int(out.sizes[i]) && out.sizes[i] < 0) return op_error(error, ERROR_RUNTIME, "Trying to create tensor with negative dimension %lld", (long long)out.sizes[i]);
    meta_set_contiguous(&out, context->syms);
    outs[0] = out;
    return true;
}

/* ---- eager draws: into an array of doubles (integers: of int64) in logical order ---- */

typedef struct Draw { Generator *generator; const Op *op; const Arg *args; DType dtype; int64_t n; double *f; int64_t *i;  bool refused; /* a probability outside 0 … 1 */ } Draw;

/* A uniform of the dtype's own precision. */
static double uniform_of(Generator *generator, DType dtype) {
    if (dtype == DTYPE_F64) return rng_uniform_double(generator);
    if (dtype == DTYPE_F32) return rng_uniform_float(generator);
    int digits = dtype == DTYPE_F16 ? 11 : 8;
    return (double)(rng_next(generator) & ((1u << digits) - 1)) / (double)(1u << digits);
}

static double in_precision(DType dtype, double x) { return dtype == DTYPE_F64 ? x : (double)(float)x; }

static void draw_uniform(Draw *d) {
    const Arg *from = op_arg(d->op, d->args, "from_"), *to = op_arg(d->op, d->args, "to");
    double low = arg_as_double(from), high = to->tag == ARG_NONE ? 1 : arg_as_double(to);
    for (int64_t k = 0; k < d->n; k++) {
        double u = uniform_of(d->generator, d->dtype);
        d->f[k] = d->dtype == DTYPE_F64 ? u * (high - low) + low : (double)((float)u * ((float)high - (float)low) + (float)low);
    }
}

/* Sixteen uniforms become sixteen normals: j and j + 8 are one pair. */
static void normal_block(double *x, DType dtype, double mean, double std) {
    for (int j = 0; j < 8; j++) {
        double u1 = in_precision(dtype, 1 - x[j]), radius = in_precision(dtype, sqrt(in_precision(dtype, -2 * log(u1)))), angle = in_precision(dtype, two_pi * x[j + 8]);
        x[j] = in_precision(dtype, radius * cos(angle)) * std + mean;
        x[j + 8] = in_precision(dtype, radius * sin(angle)) * std + mean;
    }
}

static void draw_normals(Draw *d, double mean, double std) {
    if (d->n < 16) {
        for (int64_t k = 0; k < d->n; k++) d->f[k] = rng_normal(d->generator) * std + mean;
        return;
    }
    for (int64_t k = 0; k < d->n; k++) d->f[k] = uniform_of(d->generator, d->dtype);
    for (int64_t k = 0; k + 16 <= d->n; k += 16) normal_block(d->f + k, d->dtype, mean, std);
    if (d->n % 16 == 0) return;
    double *last = d->f + d->n - 16; /* what is left over is drawn afresh, as a block that ends at the end */
    for (int k = 0; k < 16; k++) last[k] = uniform_of(d->generator, d->dtype);
    normal_block(last, d->dtype, mean, std);
}

static double parameter(const Draw *d, const char *name, double otherwise) {
    const Arg *arg = op_arg(d->op, d->args, name);
    return arg_is_number(arg) ? arg_as_double(arg) : otherwise;
}

static void draw_normal(Draw *d) {
    const Arg *mean = op_arg(d->op, d->args, "mean"), *std = op_arg(d->op, d->args, "std");
    if (!arg_is_tensor(mean) && !arg_is_tensor(std)) draw_normals(d, parameter(d, "mean", 0), parameter(d, "std", 1));
    else draw_normals(d, 0, 1); /* scaled by the tensors afterwards */
}

static int64_t below(Generator *generator, uint64_t range) {
    return (int64_t)(range <= UINT32_MAX ? rng_next(generator) % range : rng_next64(generator) % range);
}

static void draw_randint(Draw *d) {
    int64_t low, high;
    read_bounds(d->op, d->args, &low, &high);
    for (int64_t k = 0; k < d->n; k++) d->i[k] = (int64_t)((uint64_t)below(d->generator, (uint64_t)high - (uint64_t)low) + (uint64_t)low);
}

static void draw_random(Draw *d) {
    const Arg *from = op_arg(d->op, d->args, "from_"), *to = op_arg(d->op, d->args, "to");
    int64_t low = arg_as_int(from), high = arg_as_int(to);
    if (to->tag == ARG_NONE && low != 0) high = low, low = 0; /* random_(to) */
    else if (to->tag == ARG_NONE) {
        int bits = dtype_is_float(d->dtype) ? (d->dtype == DTYPE_F64 ? 53 : d->dtype == DTYPE_F32 ? 24 : d->dtype == DTYPE_F16 ? 11 : 8) : dtype_size(d->dtype) * 8 - (d->dtype != DTYPE_U8);
        high = d->dtype == DTYPE_BOOL ? 2 : bits == 63 ? INT64_MAX : (INT64_C(1) << bits) + dtype_is_float(d->dtype);
    }
    for (int64_t k = 0; k < d->n; k++) d->i[k] = (int64_t)((uint64_t)below(d->generator, high > low ? (uint64_t)high - (uint64_t)low : 1) + (uint64_t)low);
}

static void draw_randperm(Draw *d) {
    for (int64_t k = 0; k < d->n; k++) d->i[k] = k;
    for (int64_t k = 0; k + 1 < d->n; k++) {
        int64_t other = k + below(d->generator, (uint64_t)(d->n - k)), swap = d->i[k];
        d->i[k] = d->i[other];
        d->i[other] = swap;
    }
}

static void draw_exponential(Draw *d) {
    double rate = parameter(d, "lambd", 1);
    for (int64_t k = 0; k < d->n; k++) d->f[k] = -1 / rate * log1p(-rng_uniform_double(d->generator));
}

/* The elements of a tensor, in logical order, as doubles. */
static void read_all(const Arg *tensor, double *out) {
    Meta dense = *arg_meta(tensor);
    dense.dtype = DTYPE_F64;
    dense.offset = 0;
    meta_set_contiguous(&dense, NULL);
    copy_elements(&dense, out, arg_meta(tensor), tensor->tensor.data, 1);
}

/* Probabilities: a number, a tensor p, or the input itself. */
static void draw_bernoulli(Draw *d) {
    const Arg *p = op_arg(d->op, d->args, "p"), *input = &d->args[0];
    bool number = arg_is_number(p);
    const Arg *tensor = arg_is_tensor(p) ? p : input;
    if (!number && meta_numel(arg_meta(tensor)) == d->n) read_all(tensor, d->f);
    else for (int64_t k = 0; k < d->n; k++) d->f[k] = number ? arg_as_double(p) : load_double(arg_meta(tensor)->dtype, (const char *)tensor->tensor.data + arg_meta(tensor)->offset * dtype_size(arg_meta(tensor)->dtype));
    DType precision = number ? DTYPE_F64 : arg_meta(tensor)->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    for (int64_t k = 0; k < d->n; k++) {
        d->refused |= !(d->f[k] >= 0 && d->f[k] <= 1);
        d->f[k] = uniform_of(d->generator, precision) < d->f[k];
    }
}

static void draw_keep(Draw *d) { /* dropout's mask: 1 where kept */
    double keep = 1 - parameter(d, "p", 0.5);
    for (int64_t k = 0; k < d->n; k++) d->f[k] = rng_uniform_double(d->generator) < keep;
}

static const struct { const char *kind; void (*draw)(Draw *d); bool integers; } fillers[] = {
    {"uniform", draw_uniform, false}, {"normal", draw_normal, false}, {"randint", draw_randint, true}, {"random", draw_random, true},
    {"randperm", draw_randperm, true}, {"exponential", draw_exponential, false}, {"bernoulli", draw_bernoulli, false}, {"dropout", draw_keep, false},
};

static void write_all(const Arg *out, const void *values, DType compute) {
    Meta dense = *arg_meta(out);
    dense.dtype = compute;
    dense.offset = 0;
    meta_set_contiguous(&dense, NULL);
    copy_elements(arg_meta(out), out->tensor.data, &dense, values, 1);
}

/* normal(mean tensor, std): what was drawn, times std, plus mean. */
static bool scale_by_tensors(const Arg *args, const Meta *out, double *values, int64_t n) {
    double *factor = malloc((size_t)n * sizeof *factor + 1);
    if (!factor) return false;
    for (int which = 1; which >= 0; which--) {
        Meta dense = *out;
        dense.dtype = DTYPE_F64;
        dense.offset = 0;
        if (arg_is_tensor(&args[which])) copy_elements(&dense, factor, arg_meta(&args[which]), args[which].tensor.data, 1);
        else for (int64_t k = 0; k < n; k++) factor[k] = arg_as_double(&args[which]);
        for (int64_t k = 0; k < n; k++) values[k] = which ? values[k] * factor[k] : values[k] + factor[k];
    }
    free(factor);
    return true;
}

static bool apply_dropout(const Op *op, const Arg *args, const Arg *outs, double *mask, int64_t n) {
    double p = arg_as_double(op_arg(op, args, "p")), scale = p < 1 ? 1 / (1 - p) : 0;
    double *values = malloc((size_t)n * sizeof *values + 1);
    if (!values) return false;
    bool train = arg_truth(op_arg(op, args, "train"), true);
    read_all(&args[0], values);
    for (int64_t k = 0; k < n && !train; k++) mask[k] = 1;
    for (int64_t k = 0; k < n && train; k++) values[k] = mask[k] != 0 ? in_precision(arg_meta(&args[0])->dtype, values[k] * scale) : values[k] * 0;
    write_all(&outs[0], values, DTYPE_F64);
    write_all(&outs[1], mask, DTYPE_F64);
    free(values);
    return true;
}

/* ---- multinomial ---- */

static bool draw_from_row(Generator *generator, const double *weights, int64_t n, int64_t samples, bool replacement, int64_t *out, double *work, OpError *error) {
    double total = 0;
    for (int64_t k = 0; k < n; k++) {
        if (!(weights[k] >= 0) || isinf(weights[k])) return op_error(error, ERROR_RUNTIME, "probability tensor contains either `inf`, `nan` or element < 0");
        total += weights[k];
    }
    if (!(total > 0)) return op_error(error, ERROR_RUNTIME, "invalid multinomial distribution (sum of probabilities <= 0)");
    if (replacement) {
        double sum = 0;
        for (int64_t k = 0; k < n; k++) work[k] = sum += weights[k] / total;
        for (int64_t s = 0; s < samples; s++) {
            double u = rng_uniform_double(generator);
            for (out[s] = 0; out[s] < n - 1 && work[out[s]] < u;) out[s]++;
        }
        return true;
    }
    for (int64_t k = 0; k < n; k++) work[k] = weights[k] / -log1p(-rng_uniform_double(generator)); /* an exponential race: the largest ratios win */
    for (int64_t s = 0; s < samples; s++) {
        out[s] = 0;
        for (int64_t k = 1; k < n; k++)
            if (work[k] > work[out[s]]) out[s] = k;
        work[out[s]] = -1;
    }
    return true;
}

static bool run_multinomial(const Op *op, const Arg *args, const Arg *out, const OpContext *context, OpError *error) {
    const Meta *input = arg_meta(&args[0]);
    int64_t n = input->sizes[input->rank - 1], rows = input->rank == 2 ? input->sizes[0] : 1, samples = arg_as_int(&args[1]);
    double *weights = malloc((size_t)(rows * n) * sizeof *weights + 1), *work = malloc((size_t)n * sizeof *work + 1);
    int64_t *picks = malloc((size_t)(rows * samples) * sizeof *picks + 1);
    bool ok = weights && work && picks ? true : op_error(error, ERROR_MEMORY, "multinomial(): no memory"), replacement = arg_truth(op_arg(op, args, "replacement"), false);
    if (ok) read_all(&args[0], weights);
    for (int64_t r = 0; r < rows && ok; r++) ok = draw_from_row(context->generator, weights + r * n, n, samples, replacement, picks + r * samples, work, error);
    if (ok) write_all(out, picks, DTYPE_I64);
    free(weights);
    free(work);
    free(picks);
    return ok;
}

static bool random_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)nargs, (void)nouts;
    const Meta *out = arg_meta(&outs[0]);
    if (!need_static(op, out, error)) return false;
    if (!context->generator) return op_error(error, ERROR_RUNTIME, "%s(): no generator", op->name);
    if (is_kind(op, "multinomial")) return run_multinomial(op, args, &outs[0], context, error);
    int64_t n = meta_numel(out);
    void *values = malloc((size_t)n * sizeof(double) + 1);
    if (!values) return op_error(error, ERROR_MEMORY, "%s(): no memory for %lld numbers", op->name, (long long)n);
    Draw draw = {.generator = context->generator, .op = op, .args = args, .dtype = out->dtype, .n = n, .f = values, .i = values};
    bool integers = false, ok = true;
    for (size_t k = 0; k < sizeof fillers / sizeof fillers[0]; k++)
        if (is_kind(op, fillers[k].kind)) fillers[k].draw(&draw), integers = fillers[k].integers;
    if (draw.refused) {
        free(values);
        return op_error(error, ERROR_RUNTIME, "%s(): every probability must be in the range from 0 to 1", op->name);
    }
    if (strcmp(op->name, "normal") == 0 && (arg_is_tensor(&args[0]) || arg_is_tensor(&args[1]))) ok = scale_by_tensors(args, out, values, n);
    if (is_kind(op, "dropout")) ok = apply_dropout(op, args, outs, values, n);
    else if (ok) write_all(&outs[0], values, integers ? DTYPE_I64 : DTYPE_F64);
    free(values);
    return ok ? true : op_error(error, ERROR_MEMORY, "%s(): no memory", op->name);
}

/* ---- compiled ---- */

static const Body *float_op(BodyBuilder *b, Prim prim, const Body *x, double y) { return body_prim(b, prim, x, body_float(b, DTYPE_F32, y), NULL); }

static Dim counter_of(BodyBuilder *builder, const Meta *out, const Dim *index) {
    SymTable *syms = body_syms(builder);
    Dim linear = 0;
    for (int i = 0; i < out->rank; i++) linear = dim_add(syms, dim_mul(syms, linear, out->sizes[i]), index[i]);
    return linear;
}

/* Box-Muller on two uniforms of the element's own; 1 - u is never 0. */
static const Body *normal_body(BodyBuilder *b, Dim counter) {
    SymTable *syms = body_syms(b);
    const Body *u1 = body_random(b, -1, dim_mul(syms, counter, 2)), *u2 = body_random(b, -1, dim_add(syms, dim_mul(syms, counter, 2), 1));
    const Body *inside = body_prim(b, PRIM_LOG, body_prim(b, PRIM_SUB, body_float(b, DTYPE_F32, 1), u1, NULL), NULL, NULL);
    const Body *radius = body_prim(b, PRIM_SQRT, float_op(b, PRIM_MUL, inside, -2), NULL, NULL);
    return body_prim(b, PRIM_MUL, radius, body_prim(b, PRIM_COS, float_op(b, PRIM_MUL, u2, two_pi), NULL, NULL), NULL);
}

static const Body *scaled(BodyBuilder *b, const Body *x, double scale, double shift) {
    if (scale != 1) x = float_op(b, PRIM_MUL, x, scale);
    return shift != 0 ? float_op(b, PRIM_ADD, x, shift) : x;
}

static const Body *integer_body(BodyBuilder *b, const Op *op, const Arg *args, const Body *u) {
    int64_t low, high;
    read_bounds(op, args, &low, &high);
    const Body *at = body_cast(b, body_prim(b, PRIM_MUL, body_cast(b, u, DTYPE_F64), body_float(b, DTYPE_F64, (double)high - (double)low), NULL), DTYPE_I64);
    return body_prim(b, PRIM_ADD, at, body_int(b, DTYPE_I64, low), NULL);
}

/* random_(to), random_(from, to), as far as 24 bits choose evenly; without bounds the range is the dtype's, which they do not. */
static const Body *random_body(BodyBuilder *b, const Op *op, const Arg *args, const Body *u) {
    const Arg *to = op_arg(op, args, "to");
    int64_t low = arg_as_int(op_arg(op, args, "from_")), high = arg_as_int(to);
    if (to->tag == ARG_NONE && low == 0) return NULL;
    if (to->tag == ARG_NONE) high = low, low = 0;
    if (high <= low || (uint64_t)high - (uint64_t)low > 1 << 24) return NULL;
    const Body *at = body_cast(b, body_prim(b, PRIM_MUL, body_cast(b, u, DTYPE_F64), body_float(b, DTYPE_F64, (double)(high - low)), NULL), DTYPE_I64);
    return body_prim(b, PRIM_ADD, at, body_int(b, DTYPE_I64, low), NULL);
}

/* -log(1 - u) / lambda; 1 - u is never 0. */
static const Body *exponential_body(BodyBuilder *b, const Op *op, const Arg *args, const Body *u) {
    const Body *rest = body_prim(b, PRIM_SUB, body_float(b, DTYPE_F32, 1), u, NULL);
    return float_op(b, PRIM_MUL, body_prim(b, PRIM_LOG, rest, NULL, NULL), -1 / arg_as_double(op_arg(op, args, "lambd")));
}

static const Body *dropout_body(BodyBuilder *b, const Op *op, const Arg *args, int which, const Dim *index, const Body *u) {
    double p = arg_as_double(op_arg(op, args, "p"));
    if (!arg_truth(op_arg(op, args, "train"), true)) return which ? body_int(b, DTYPE_BOOL, 1) : body_load(b, &args[0], index);
    const Body *kept = float_op(b, PRIM_LT, u, 1 - p);
    if (which == 1) return kept;
    const Body *x = body_load(b, &args[0], index), *scale = body_float(b, x->type, p < 1 ? 1 / (1 - p) : 0);
    return body_prim(b, PRIM_MUL, body_prim(b, PRIM_MUL, x, body_cast(b, kept, x->type), NULL), scale, NULL);
}

static const Body *random_value_at(BodyBuilder *b, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index) {
    (void)nargs;
    const Meta *out = &outs[which];
    Dim counter = counter_of(b, out, index);
    const Arg *mean = op_arg(op, args, "mean"), *std = op_arg(op, args, "std"), *p = op_arg(op, args, "p");
    if (is_kind(op, "normal")) {
        if (arg_is_tensor(mean) || arg_is_tensor(std)) return NULL;
        return body_cast(b, scaled(b, normal_body(b, counter), arg_is_number(std) ? arg_as_double(std) : 1, arg_as_double(mean)), out->dtype);
    }
    const Body *u = body_random(b, -1, counter);
    if (is_kind(op, "uniform")) {
        const Arg *from = op_arg(op, args, "from_"), *to = op_arg(op, args, "to");
        double low = arg_as_double(from), high = arg_is_number(to) ? arg_as_double(to) : 1;
        return body_cast(b, scaled(b, u, high - low, low), out->dtype);
    }
    if (is_kind(op, "randint")) return body_cast(b, integer_body(b, op, args, u), out->dtype);
    if (is_kind(op, "exponential")) return body_cast(b, exponential_body(b, op, args, u), out->dtype);
    const Body *integer = is_kind(op, "random") ? random_body(b, op, args, u) : NULL;
    if (is_kind(op, "random")) return integer ? body_cast(b, integer, out->dtype) : NULL;
    if (is_kind(op, "dropout")) return dropout_body(b, op, args, which, index, u);
    if (is_kind(op, "bernoulli") && !arg_is_tensor(p)) {
        const Body *chance = arg_is_number(p) ? body_float(b, DTYPE_F32, arg_as_double(p)) : body_cast(b, body_load(b, &args[0], index), DTYPE_F32);
        return body_cast(b, body_prim(b, PRIM_LT, u, chance, NULL), out->dtype);
    }
    return NULL;
}

const FamilyOps random_family = {.infer = random_infer, .run_cpu = random_run, .value_at = random_value_at};
