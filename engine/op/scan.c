/* Scan: running totals, products and extremes along a dim.
 *
 * In: a tensor, a dim, the row's word (sum, prod, max, min, logsumexp). Out: a contiguous tensor of the same shape; max and min give indices too.
 *
 *     cumsum([1, 2, 3], 0) -> [1, 3, 6];   cummax([1, 3, 3], 0) -> [1, 3, 3], [0, 1, 2]
 *
 * Floats run in double (16-bit floats and float32 are rounded once an element). Invariant: each line is scanned by one thread, in order. */
#include "op/convert.h"
#include "op/family.h"
#include "op/lines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool scan_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    int dim;
    (void)nargs;
    if (!need_tensor(op, args, 0, error)) return false;
    Meta out = *arg_meta(&args[0]);
    if (!read_dim(op, args, "dim", out.rank, &dim, error)) return false;
    bool totals = strcmp(op->shared, "sum") == 0 || strcmp(op->shared, "prod") == 0;
    if (totals && !dtype_is_float(out.dtype)) out.dtype = DTYPE_I64;
    out.dtype = read_dtype(op, args, out.dtype);
    if (out.dtype == DTYPE_BOOL && op_param_index(op, "dtype") >= 0) return op_error_dtype(error, op->name, DTYPE_BOOL);
    if (strcmp(op->shared, "logsumexp") == 0 && !dtype_is_float(out.dtype)) return op_error_dtype(error, op->name, out.dtype);
    out.offset = 0;
    out.requires_grad = false;
    meta_set_contiguous(&out, context->syms);
    outs[0] = out;
    *count = op->outputs;
    if (op->outputs == 2) {
        outs[1] = out;
        outs[1].dtype = DTYPE_I64;
    }
    return true;
}

static double log_add(double a, double b) {
    double high = fmax(a, b);
    if (isnan(a) || isnan(b)) return NAN;
    return isinf(high) ? high : high + log1p(exp(fmin(a, b) - high));
}

static void scan_doubles(const char *word, double *x, int64_t *at, int64_t n) {
    if (n && strcmp(word, "sum") == 0) x[0] += 0.0; /* a total begins with 0, so that -0 becomes it */
    for (int64_t i = 1; i < n; i++) {
        if (strcmp(word, "sum") == 0) x[i] += x[i - 1];
        else if (strcmp(word, "prod") == 0) x[i] *= x[i - 1];
        else if (strcmp(word, "logsumexp") == 0) x[i] = log_add(x[i - 1], x[i]);
        else {
            bool wins = x[i - 1] == x[i - 1] && !(strcmp(word, "max") == 0 ? x[i] < x[i - 1] : x[i] > x[i - 1]);
            wins = wins || (x[i] != x[i]);
            at[i] = wins ? i : at[i - 1];
            if (!wins) x[i] = x[i - 1];
        }
    }
}

static void scan_integers(const char *word, int64_t *x, int64_t *at, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        if (strcmp(word, "sum") == 0) x[i] = (int64_t)((uint64_t)x[i] + (uint64_t)x[i - 1]);
        else if (strcmp(word, "prod") == 0) x[i] = (int64_t)((uint64_t)x[i] * (uint64_t)x[i - 1]);
        else {
            bool wins = strcmp(word, "max") == 0 ? x[i] >= x[i - 1] : x[i] <= x[i - 1];
            at[i] = wins ? i : at[i - 1];
            if (!wins) x[i] = x[i - 1];
        }
    }
}

typedef struct Scan { const char *word; Lines in, out, indices; DType from, to, compute; const char *src; char *dst, *places; } Scan;

static bool scan_line(const Scan *scan, int64_t number) {
    int64_t n = scan->in.length, *at = NULL;
    double *values = malloc((size_t)n * sizeof *values + 1);
    if (scan->places) at = calloc((size_t)n + 1, sizeof *at);
    bool ok = values && (at || !scan->places);
    if (ok) {
        load_values(scan->from, scan->compute, n, values, scan->src + line_offset(&scan->in, number), scan->in.stride);
        if (scan->compute == DTYPE_F64) scan_doubles(scan->word, values, at, n);
        else scan_integers(scan->word, (int64_t *)(void *)values, at, n);
        store_values(scan->compute, scan->to, n, values, scan->dst + line_offset(&scan->out, number), scan->out.stride);
        if (at) store_values(DTYPE_I64, DTYPE_I64, n, at, scan->places + line_offset(&scan->indices, number), scan->indices.stride);
    }
    free(values);
    free(at);
    return ok;
}

/* Totals and products along an outer dim: neighbouring lines run together, so that memory is read in order. */
enum { GROUP = 128 };

static void step_totals(const Scan *scan, void *running, const void *values, int64_t n) {
    bool sum = strcmp(scan->word, "sum") == 0;
    double *f = running;
    uint64_t *i = running;
    if (scan->compute == DTYPE_F64) for (int64_t k = 0; k < n; k++) f[k] = sum ? f[k] + ((const double *)values)[k] : f[k] * ((const double *)values)[k];
    else for (int64_t k = 0; k < n; k++) i[k] = sum ? i[k] + ((const uint64_t *)values)[k] : i[k] * ((const uint64_t *)values)[k];
}

static void scan_group(const Scan *scan, int64_t first, int64_t n) {
    double running[GROUP], values[GROUP];
    const char *src = scan->src + line_offset(&scan->in, first);
    char *dst = scan->dst + line_offset(&scan->out, first);
    int64_t src_step = scan->in.strides[scan->in.rank - 1], dst_step = scan->out.strides[scan->out.rank - 1];
    load_values(scan->from, scan->compute, n, running, src, src_step);
    for (int64_t k = 0; scan->compute == DTYPE_F64 && strcmp(scan->word, "sum") == 0 && k < n; k++) running[k] += 0.0;
    store_values(scan->compute, scan->to, n, running, dst, dst_step);
    for (int64_t i = 1; i < scan->in.length; i++) {
        load_values(scan->from, scan->compute, n, values, src + i * scan->in.stride, src_step);
        step_totals(scan, running, values, n);
        store_values(scan->compute, scan->to, n, running, dst + i * scan->out.stride, dst_step);
    }
}

static bool runs_in_groups(const Scan *scan) {
    bool totals = strcmp(scan->word, "sum") == 0 || strcmp(scan->word, "prod") == 0;
    return totals && scan->in.rank > 0 && scan->in.sizes[scan->in.rank - 1] >= 8 && scan->in.strides[scan->in.rank - 1] < scan->in.stride;
}

static bool scan_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    int dim;
    (void)nargs;
    const Meta *input = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    if (!need_static(op, input, error) || !read_dim(op, args, "dim", input->rank, &dim, error)) return false;
    Scan scan = {.word = op->shared, .in = lines_of(input, dim), .out = lines_of(out, dim), .from = input->dtype, .to = out->dtype,
                 .compute = dtype_is_float(out->dtype) ? DTYPE_F64 : DTYPE_I64, .src = args[0].tensor.data, .dst = outs[0].tensor.data};
    if (nouts > 1 && op->outputs == 2) scan.indices = lines_of(arg_meta(&outs[1]), dim), scan.places = outs[1].tensor.data;
    if (meta_numel(input) == 0) return true;
    bool ok = true;
    int threads = meta_numel(input) < 65536 || context->threads < 1 ? 1 : context->threads;
    (void)threads;
    if (runs_in_groups(&scan)) {
        int64_t width = scan.in.sizes[scan.in.rank - 1], groups = (width + GROUP - 1) / GROUP;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (int64_t g = 0; g < scan.in.count / width * groups; g++) {
            int64_t start = g % groups * GROUP;
            scan_group(&scan, g / groups * width + start, width - start < GROUP ? width - start : GROUP);
        }
        return true;
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(&& : ok)
    for (int64_t i = 0; i < scan.in.count; i++) ok = scan_line(&scan, i) && ok;
    return ok ? true : op_error(error, ERROR_MEMORY, "%s(): no memory for a line", op->name);
}

const FamilyOps scan_family = {.infer = scan_infer, .run_cpu = scan_run};
