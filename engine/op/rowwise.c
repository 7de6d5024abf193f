/* Rowwise: rows of the table that have a body in the language and, for the common layout on the CPU, a loop here too: one pass over memory where the
 * body takes one for each of its ops.
 *
 * In: contiguous operands, of which the last dims are reduced or normalized. Out: the row's outputs; the same numbers, bit by bit, as the body gives:
 * each step is rounded to the compute type where the body's ops round it, and sums are folded as reduce_run.c folds them.
 *
 *     _softmax(f32[64, 1000], -1, False)   ->  each row: its largest, exponentials, their sum, the quotients
 *
 * Invariant: rowwise_takes(op, args) says so before rowwise_run is called; other layouts run the body. To add one: a line in `kinds`, a case in run_row. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3,no-trapping-math,no-math-errno")
#endif
#include "op/rowwise.h"
#include "op/clones.h"
#include "op/convert.h"
#include "op/eager.h"
#include "op/reduce.h"
#include "op/walk.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, CHUNK = 1 << 16, FEW = 16 };
typedef enum Kind { SOFTMAX, LOG_SOFTMAX, SOFTMAX_BACK, LOG_SOFTMAX_BACK, LAYER_NORM, LOGSUMEXP, VAR, STD, VAR_MEAN, NORM, NO_KIND } Kind;
static const struct { const char *name; int operands; } kinds[] = {
    [SOFTMAX] = {"_softmax", 1}, [LOG_SOFTMAX] = {"_log_softmax", 1}, [SOFTMAX_BACK] = {"_softmax_backward_data", 2}, [LOG_SOFTMAX_BACK] = {"_log_softmax_backward_data", 2},
    [LAYER_NORM] = {"native_layer_norm", 1}, [LOGSUMEXP] = {"logsumexp", 1}, [VAR] = {"var", 1}, [STD] = {"std", 1}, [VAR_MEAN] = {"var_mean", 1}, [NORM] = {"linalg_vector_norm", 1},
};

static Kind kind_of(const Op *op) {
    Kind kind = 0;
    while (kind < NO_KIND && strcmp(kinds[kind].name, op->name) != 0) kind++;
    return kind;
}

/* ---- loops over a row: to[i] from a[i], b[i] and two numbers ---- */

typedef void (*RowLoop)(void *to, const void *a, const void *b, const void *e, double c, double d, int64_t n);
#define LOOP(name, type, suffix, expression)                                                                                                 \
    CLONES static void name##_##suffix(void *out, const void *in_a, const void *in_b, const void *in_e, double c_wide, double d_wide, int64_t n) { \
        type *to = out;                                                                                                                      \
        const type *a = in_a, *b = in_b, *e = in_e, c = (type)c_wide, d = (type)d_wide;                                                      \
        (void)a, (void)b, (void)e, (void)c, (void)d;                                                                                         \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) to[i] = expression;                                                             \
    }
#define LOOPS(type, suffix)                                                  \
    LOOP(quotient, type, suffix, a[i] / c)                                   \
    LOOP(shift, type, suffix, a[i] - c)                                      \
    LOOP(product, type, suffix, a[i] * b[i])                                 \
    LOOP(softmax_back, type, suffix, a[i] - b[i] * c)                        \
    LOOP(deviation, type, suffix, (a[i] - c) * (a[i] - c))                   \
    LOOP(standard, type, suffix, (a[i] - c) * d)                             \
    LOOP(standard_scaled, type, suffix, (a[i] - c) * d * b[i])               \
    LOOP(standard_shifted, type, suffix, (a[i] - c) * d + e[i])              \
    LOOP(standard_both, type, suffix, (a[i] - c) * d * b[i] + e[i])
LOOPS(float, f32)
LOOPS(double, f64)
#define PAIR(name) static const RowLoop name[2] = {name##_f32, name##_f64}
PAIR(quotient); PAIR(shift); PAIR(product); PAIR(softmax_back); PAIR(deviation);
PAIR(standard); PAIR(standard_scaled); PAIR(standard_shifted); PAIR(standard_both);

/* ---- what is asked for ---- */

typedef struct Job {
    Kind kind;
    int64_t rows, length;
    DType compute; int wide;          /* wide: 1 in float64 */
    const char *in[2]; LoadFn load[2]; int item[2]; bool direct[2];
    void *weight, *bias;              /* layer_norm: in the compute type, or NULL; owned */
    double eps, freedom;
    const EagerRows *loops;
    const Arg *outs; int out_count;
} Job;

static bool dense_cpu(const Arg *arg) {
    return arg_is_tensor(arg) && arg_meta(arg)->device.kind == DEVICE_CPU && arg->tensor.data && dtype_is_float(arg_meta(arg)->dtype) && meta_is_static(arg_meta(arg)) &&
           meta_numel(arg_meta(arg)) > 0 && meta_is_contiguous(arg_meta(arg));
}

/* Are the named dims the last ones? How many. 0: no. */
static int trailing_dims(const Op *op, const Arg *args, int rank) {
    bool marks[MAX_RANK], all;
    OpError error;
    if (!read_dims(op, args, "dim", rank, marks, &all, &error)) return 0;
    int count = 0;
    while (count < rank && marks[rank - 1 - count]) count++;
    for (int i = 0; i < rank - count; i++)
        if (marks[i]) return 0;
    return count;
}

static bool norm_is_euclidean(const Op *op, const Arg *args) {
    const Arg *order = op_arg(op, args, "ord");
    return arg_is_number(order) && arg_as_double(order) == 2 && op_arg(op, args, "dtype")->tag == ARG_NONE;
}

static bool parameter_fits(const Arg *arg, const Meta *input, int64_t length) {
    return arg->tag == ARG_NONE || (dense_cpu(arg) && arg_meta(arg)->dtype == input->dtype && meta_numel(arg_meta(arg)) == length);
}

/* Dims that a row of memory spans; 0: the body has to run. */
static int row_dims(const Op *op, const Arg *args, Kind kind) {
    const Meta *input = arg_meta(&args[0]);
    int dim;
    OpError error;
    switch (kind) {
    case SOFTMAX: case LOG_SOFTMAX: case SOFTMAX_BACK: case LOG_SOFTMAX_BACK:
        return input->rank > 0 && read_dim(op, args, "dim", input->rank, &dim, &error) && dim == input->rank - 1;
    case LAYER_NORM: {
        int count = args[1].tag == ARG_INTS ? args[1].ints.count : 1;
        int64_t length = 1;
        if (count < 1 || count > input->rank || !arg_is_number(&args[4])) return 0;
        for (int i = input->rank - count; i < input->rank; i++) length *= input->sizes[i];
        return parameter_fits(&args[2], input, length) && parameter_fits(&args[3], input, length) ? count : 0;
    }
    case NORM: return norm_is_euclidean(op, args) ? trailing_dims(op, args, input->rank) : 0;
    default: return trailing_dims(op, args, input->rank);
    }
}

bool rowwise_takes(const Op *op, const Arg *args) {
    if (op->family != FAMILY_DECOMPOSED) return false;
    Kind kind = kind_of(op);
    if (kind == NO_KIND || !dense_cpu(&args[0]) || arg_meta(&args[0])->rank == 0) return false;
    if (kinds[kind].operands == 2 && !(dense_cpu(&args[1]) && meta_same_shape(arg_meta(&args[0]), arg_meta(&args[1])) && dtype_info[arg_meta(&args[0])->dtype].compute == dtype_info[arg_meta(&args[1])->dtype].compute)) return false;
    return row_dims(op, args, kind) > 0;
}

/* ---- one row ---- */

/* Rounds to the compute type, as a tensor of it would. */
static double rounded(const Job *job, double x) { return job->wide ? x : (double)(float)x; }

static const void *row_operand(const Job *job, int operand, int64_t from, int64_t n, void *buffer) {
    const char *src = job->in[operand] + from * job->item[operand];
    if (job->direct[operand]) return src;
    job->load[operand](n, buffer, src, job->item[operand]);
    return buffer;
}

static int width(const Job *job) { return job->wide ? 8 : 4; }

/* Not rounded yet: a mean divides first. */
static double fold_values(const Job *job, Reducer reducer, const void *values, int64_t n) {
    Fold fold;
    fold_begin(&fold, reducer, job->compute, false);
    for (int64_t i = 0; i < n; i += BLOCK) fold_block(&fold, (const char *)values + i * width(job), n - i < BLOCK ? n - i : BLOCK, i);
    fold_finish(&fold);
    return fold.f;
}

static double logarithm(const Job *job, double x) { return job->loops->logarithm[job->wide](x); }

static void store_scalar(const Job *job, int out, int64_t row, double value) {
    const Meta *meta = arg_meta(&job->outs[out]);
    store_values(DTYPE_F64, meta->dtype, 1, &value, (char *)job->outs[out].tensor.data + (meta->offset + row) * dtype_size(meta->dtype), 0);
}

static void normalize_row(const Job *job, const void *x, void *to, int64_t row) {
    double mean = rounded(job, fold_values(job, REDUCE_SUM, x, job->length) / (double)job->length);
    deviation[job->wide](to, x, NULL, NULL, mean, 0, job->length);
    double variance = rounded(job, rounded(job, fold_values(job, REDUCE_SUM, to, job->length)) / rounded(job, (double)job->length));
    double sum = rounded(job, variance + rounded(job, job->eps)), root = rounded(job, sqrt(sum)), rstd = rounded(job, 1.0 / root);
    const RowLoop *loop = job->weight && job->bias ? standard_both : job->weight ? standard_scaled : job->bias ? standard_shifted : standard;
    loop[job->wide](to, x, job->weight, job->bias, mean, rstd, job->length);
    store_scalar(job, 1, row, mean);
    store_scalar(job, 2, row, rstd);
}

/* The values of an output row, from x (and y) into `to`. */
static void run_row(const Job *job, const void *x, const void *y, void *to, int64_t row) {
    int w = job->wide;
    int64_t n = job->length;
    double largest, total;
    switch (job->kind) {
    case SOFTMAX:
        job->loops->exponential[w](to, x, fold_values(job, REDUCE_MAX, x, n), n);
        quotient[w](to, to, NULL, NULL, fold_values(job, REDUCE_SUM, to, n), 0, n);
        break;
    case LOG_SOFTMAX:
        largest = fold_values(job, REDUCE_MAX, x, n);
        job->loops->exponential[w](to, x, largest, n);
        total = logarithm(job, rounded(job, fold_values(job, REDUCE_SUM, to, n)));
        shift[w](to, x, NULL, NULL, largest, 0, n);
        shift[w](to, to, NULL, NULL, total, 0, n);
        break;
    case SOFTMAX_BACK:
        product[w](to, x, y, NULL, 0, 0, n);
        softmax_back[w](to, to, y, NULL, fold_values(job, REDUCE_SUM, to, n), 0, n);
        break;
    case LOG_SOFTMAX_BACK: job->loops->log_softmax_back[w](to, x, y, fold_values(job, REDUCE_SUM, x, n), n); break;
    case LOGSUMEXP:
        largest = fold_values(job, REDUCE_MAX, x, n);
        largest = isinf(largest) ? 0 : largest;
        job->loops->exponential[w](to, x, largest, n);
        store_scalar(job, 0, row, rounded(job, logarithm(job, rounded(job, fold_values(job, REDUCE_SUM, to, n))) + largest));
        break;
    default: normalize_row(job, x, to, row); break;
    }
}

static bool run_some_rows(const Job *job, int64_t first, int64_t last) {
    const Meta *out = arg_meta(&job->outs[0]);
    StoreFn store = store_function(job->compute, out->dtype);
    int64_t item = dtype_size(out->dtype), room = job->length * width(job);
    char *target = (char *)job->outs[0].tensor.data + out->offset * item;
    bool writes = job->kind != LOGSUMEXP, direct = writes && out->dtype == job->compute;
    double small[3 * 128];
    char *memory = room > (int64_t)sizeof small / 3 ? malloc((size_t)room * 3) : (char *)small;
    if (!memory) return false;
    for (int64_t row = first; row < last; row++) {
        const void *x = row_operand(job, 0, row * job->length, job->length, memory + room);
        const void *y = job->in[1] ? row_operand(job, 1, row * job->length, job->length, memory + 2 * room) : NULL;
        char *place = target + row * job->length * item;
        run_row(job, x, y, direct ? place : memory, row);
        if (writes && !direct) store(job->length, memory, place, item);
    }
    if (memory != (char *)small) free(memory);
    return true;
}

static bool run_rows(const Job *job, int threads) {
    int64_t parts = threads < job->rows ? threads : job->rows;
    bool ok = true;
    if (parts <= 1) return run_some_rows(job, 0, job->rows);
#pragma omp parallel for schedule(static) num_threads((int)parts) reduction(&& : ok)
    for (int64_t part = 0; part < parts; part++) ok = run_some_rows(job, job->rows * part / parts, job->rows * (part + 1) / parts) && ok;
    return ok;
}

/* ---- variances and norms: sums over rows of any length, chunked as reduce_run.c does ---- */

typedef enum Term { TERM_VALUE, TERM_DEVIATION, TERM_SQUARE } Term;

static void fold_terms(const Job *job, Term term, double mean, int64_t from, int64_t to, int64_t index, Fold *fold) {
    double loaded[BLOCK], terms[BLOCK];
    for (int64_t i = from; i < to; i += BLOCK) {
        int64_t n = to - i < BLOCK ? to - i : BLOCK;
        const void *x = row_operand(job, 0, i, n, loaded);
        if (term == TERM_DEVIATION) deviation[job->wide](terms, x, NULL, NULL, mean, 0, n);
        else if (term == TERM_SQUARE) product[job->wide](terms, x, x, NULL, 0, 0, n);
        fold_block(fold, term == TERM_VALUE ? x : terms, n, index + i - from);
    }
}

typedef struct SumTask { const Job *job; Term term; const double *means; double *sums; Fold *folds; int64_t chunks, chunk; } SumTask;

/* One chunk of one row: into its own fold, or (a row in one chunk) its sum. */
static void sum_task(const SumTask *all, int64_t task) {
    const Job *job = all->job;
    int64_t row = task / all->chunks, from = task % all->chunks * all->chunk, to = from + all->chunk < job->length ? from + all->chunk : job->length;
    Fold own, *fold = all->folds ? &all->folds[task] : &own;
    fold_begin(fold, REDUCE_SUM, job->compute, false);
    fold_terms(job, all->term, all->means ? all->means[row] : 0, row * job->length + from, row * job->length + to, from, fold);
    if (all->folds) return;
    fold_finish(fold);
    all->sums[row] = fold->f;
}

/* sums[row] of all rows; means: of TERM_DEVIATION. */
static bool sum_terms(const Job *job, Term term, const double *means, double *sums, int threads) {
    int64_t chunks = job->rows < FEW && job->length > 2 * CHUNK ? (job->length + CHUNK - 1) / CHUNK : 1, chunk = chunks > 1 ? CHUNK : job->length;
    Fold *folds = chunks > 1 ? malloc((size_t)(job->rows * chunks) * sizeof *folds) : NULL;
    if (chunks > 1 && !folds) return false;
    SumTask all = {job, term, means, sums, folds, chunks, chunk};
    for (int64_t task = 0; threads <= 1 && task < job->rows * chunks; task++) sum_task(&all, task);
    if (threads > 1) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t task = 0; task < job->rows * chunks; task++) sum_task(&all, task);
    }
    for (int64_t row = 0; folds && row < job->rows; row++) {
        Fold total;
        fold_begin(&total, REDUCE_SUM, job->compute, false);
        for (int64_t c = 0; c < chunks; c++) fold_merge(&total, &folds[row * chunks + c]);
        fold_finish(&total);
        sums[row] = total.f;
    }
    free(folds);
    return true;
}

static bool run_sums(const Job *job, int threads) {
    double *means = malloc((size_t)job->rows * 2 * sizeof *means), *sums = means ? means + job->rows : NULL;
    bool norm = job->kind == NORM, ok = means && (norm || sum_terms(job, TERM_VALUE, NULL, means, threads));
    for (int64_t row = 0; ok && !norm && row < job->rows; row++) means[row] = rounded(job, means[row] / (double)job->length);
    ok = ok && sum_terms(job, norm ? TERM_SQUARE : TERM_DEVIATION, norm ? NULL : means, sums, threads);
    for (int64_t row = 0; ok && row < job->rows; row++) {
        double sum = rounded(job, sums[row]), variance = rounded(job, sum / rounded(job, job->freedom));
        store_scalar(job, 0, row, norm ? rounded(job, sqrt(sum)) : job->kind == STD ? rounded(job, sqrt(variance)) : variance);
        if (job->kind == VAR_MEAN) store_scalar(job, 1, row, means[row]);
    }
    free(means);
    return ok;
}

/* ---- the whole ---- */

/* What the sum of squares is divided by: the count less the correction, never negative. */
static double read_freedom(const Op *op, const Arg *args, int64_t length) {
    const Arg *correction = op_arg(op, args, "correction");
    double lost = arg_is_number(correction) ? arg_as_double(correction) : arg_truth(op_arg(op, args, "unbiased"), true) ? 1 : 0;
    return (double)length > lost ? (double)length - lost : 0;
}

static bool load_parameter(const Job *job, const Arg *arg, void **out) {
    if (!arg_is_tensor(arg)) return true;
    const Meta *meta = arg_meta(arg);
    int64_t item = dtype_size(meta->dtype);
    *out = malloc((size_t)(job->length * width(job)));
    if (*out) load_values(meta->dtype, job->compute, job->length, *out, (const char *)arg->tensor.data + meta->offset * item, item);
    return *out != NULL;
}

static void set_operand(Job *job, int operand, const Arg *arg) {
    const Meta *meta = arg_meta(arg);
    job->item[operand] = dtype_size(meta->dtype);
    job->in[operand] = (const char *)arg->tensor.data + meta->offset * job->item[operand];
    job->load[operand] = load_function(meta->dtype, job->compute);
    job->direct[operand] = meta->dtype == job->compute;
}

bool rowwise_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)nargs;
    if (!rowwise_takes(op, args)) return op_error(error, ERROR_NOT_IMPLEMENTED, "%s: these operands need the row's body", op->name);
    const Meta *input = arg_meta(&args[0]);
    Job job = {.kind = kind_of(op), .length = 1, .compute = dtype_info[input->dtype].compute, .outs = outs, .out_count = nouts, .loops = eager_level()->rows};
    int dims = row_dims(op, args, job.kind);
    for (int i = input->rank - dims; i < input->rank; i++) job.length *= input->sizes[i];
    job.rows = meta_numel(input) / job.length;
    job.wide = job.compute == DTYPE_F64;
    for (int i = 0; i < kinds[job.kind].operands; i++) set_operand(&job, i, &args[i]);
    int threads = threads_of(job.rows * job.length, context->threads);
    bool sums = job.kind >= VAR, ok = true;
    if (sums && job.kind != NORM) job.freedom = read_freedom(op, args, job.length);
    if (job.kind == LAYER_NORM) {
        job.eps = arg_as_double(&args[4]);
        ok = load_parameter(&job, &args[2], &job.weight) && load_parameter(&job, &args[3], &job.bias);
    }
    ok = ok && (sums ? run_sums(&job, threads) : run_rows(&job, threads));
    free(job.weight);
    free(job.bias);
    return ok ? true : op_error(error, ERROR_MEMORY, "%s(): no memory for intermediate results", op->name);
}
