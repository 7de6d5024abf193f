/* Eager reductions over strided memory.
 *
 * In: an input of any layout, which dims are reduced. Out: one value (and for arg reductions an index) for each kept position.
 * Where the reduced dims are the denser ones, each output folds its own run of memory; where the kept ones are, strips of columns are folded
 * together, row after row. Few outputs over many values are cut into chunks by size alone and merged in order: the number of threads changes nothing.
 *
 * Invariant: kept and reduced dims are sorted by the input's strides and merged before anything is read. */
#include "op/convert.h"
#include "op/reduce.h"
#include "op/walk.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, CHUNK = 1 << 16, FEW = 16, AT_ONCE = 8, MANY = 1024, GROUP = 64 };

typedef struct Axis { int64_t size, in, out; /* strides in bytes; for reduced axes `out` is the weight in the logical index */ } Axis;
typedef struct Job {
    Axis kept[MAX_RANK], reduced[MAX_RANK]; int kept_count, reduced_count;
    int64_t outputs, values;              /* values: reduced for each output */
    const char *data; LoadFn load; DType type; /* of the values that are folded */ bool direct, indexed; int item;
    Reduce spec;
    const Arg *outs; int out_count;
} Job;

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

static void insert_axis(Axis *axes, int *count, Axis axis) {
    int place = (*count)++;
    for (; place > 0 && magnitude(axes[place - 1].in) > magnitude(axis.in); place--) axes[place] = axes[place - 1];
    axes[place] = axis;
}

static void merge_axes(Axis *axes, int *count) {
    for (int i = 0; i + 1 < *count;) {
        if (axes[i + 1].in == axes[i].in * axes[i].size && axes[i + 1].out == axes[i].out * axes[i].size) {
            axes[i].size *= axes[i + 1].size;
            memmove(&axes[i + 1], &axes[i + 2], (size_t)(*count - i - 2) * sizeof *axes);
            (*count)--;
        } else i++;
    }
}

/* Arg reductions along more than one dim count in logical order: their reduced axes keep that order. */
static void read_axes(Job *job, const Meta *input, const Meta *out) {
    int64_t weight = 1;
    int out_dim = out->rank - 1;
    bool indexed = job->indexed;
    for (int i = input->rank - 1; i >= 0; i--) {
        bool reduced = job->spec.marks[i];
        Axis axis = {input->sizes[i], input->strides[i] * dtype_size(input->dtype), reduced ? weight : out->strides[out_dim]};
        if (reduced) {
            job->values *= axis.size;
            weight *= axis.size;
            if (axis.size != 1 && indexed) job->reduced[job->reduced_count++] = axis;
            else if (axis.size != 1) insert_axis(job->reduced, &job->reduced_count, axis);
        } else {
            job->outputs *= axis.size;
            if (axis.size != 1) insert_axis(job->kept, &job->kept_count, axis);
        }
        if (!reduced || job->spec.keepdim) out_dim--;
    }
    if (!indexed)
        for (int i = 0; i < job->reduced_count; i++) job->reduced[i].out = 0;
    merge_axes(job->kept, &job->kept_count);
    if (indexed) merge_axes(job->reduced, &job->reduced_count);
    else for (int i = 0; i + 1 < job->reduced_count;) { /* weights do not matter */
        if (job->reduced[i + 1].in != job->reduced[i].in * job->reduced[i].size) { i++; continue; }
        job->reduced[i].size *= job->reduced[i + 1].size;
        memmove(&job->reduced[i + 1], &job->reduced[i + 2], (size_t)(job->reduced_count - i - 2) * sizeof(Axis));
        job->reduced_count--;
    }
    if (job->kept_count == 0) job->kept[job->kept_count++] = (Axis){1, 0, 0};
    if (job->reduced_count == 0) job->reduced[job->reduced_count++] = (Axis){1, 0, 0};
}

/* A place in the reduced space, stepped through in order. */
typedef struct Cursor { int64_t at[MAX_RANK], offset; } Cursor;

static void cursor_set(Cursor *cursor, const Axis *axes, int count, int first, int64_t linear) {
    cursor->offset = 0;
    for (int i = first; i < count; i++) {
        cursor->at[i] = linear % axes[i].size;
        cursor->offset += cursor->at[i] * axes[i].in;
        linear /= axes[i].size;
    }
}

static void cursor_step(Cursor *cursor, const Axis *axes, int count, int first) {
    for (int i = first; i < count; i++) {
        cursor->offset += axes[i].in;
        if (++cursor->at[i] < axes[i].size) return;
        cursor->offset -= axes[i].in * axes[i].size;
        cursor->at[i] = 0;
    }
}

static int64_t out_offset(const Job *job, int64_t linear, int64_t *in_offset, int first) {
    int64_t out = 0;
    for (int i = first; i < job->kept_count; i++) {
        int64_t at = linear % job->kept[i].size;
        *in_offset += at * job->kept[i].in;
        out += at * job->kept[i].out;
        linear /= job->kept[i].size;
    }
    return out;
}

/* Results of outputs that lie `step` elements apart from `place` on. */
typedef struct Results { int count; double f[GROUP]; int64_t i[GROUP], at[GROUP]; } Results;

static void store_results(const Job *job, int64_t place, int64_t step, Results *results) {
    bool indices_only = job->spec.reducer >= REDUCE_ARGMAX, integral = !dtype_is_float(job->type) || job->spec.compute == DTYPE_BOOL;
    int n = results->count;
    const Meta *out = arg_meta(&job->outs[0]);
    int64_t item = dtype_size(out->dtype);
    char *dst = (char *)job->outs[0].tensor.data + (out->offset + place) * item;
    for (int k = 0; job->spec.mean && k < n; k++) results->f[k] /= (double)job->values;
    if (indices_only) store_values(DTYPE_I64, out->dtype, n, results->at, dst, step * item);
    else if (integral) store_values(DTYPE_I64, out->dtype, n, results->i, dst, step * item);
    else store_values(DTYPE_F64, out->dtype, n, results->f, dst, step * item);
    if (job->out_count < 2) return;
    const Meta *indices = arg_meta(&job->outs[1]);
    item = dtype_size(indices->dtype);
    store_values(DTYPE_I64, indices->dtype, n, results->at, (char *)job->outs[1].tensor.data + (indices->offset + place) * item, step * item);
}

static void take_fold(Results *results, Fold *fold) {
    int k = results->count++;
    fold_finish(fold);
    results->f[k] = fold->f, results->i[k] = fold->i, results->at[k] = fold->at;
}

/* ---- rows: each output folds values [from, to) of its own ---- */

static void fold_range(const Job *job, const char *data, int64_t from, int64_t to, Fold *fold) {
    double buffer[BLOCK];
    Cursor cursor;
    const Axis *inner = &job->reduced[0];
    if (from >= to) return; /* nothing to reduce: the neutral element */
    int64_t at = from % inner->size;
    cursor_set(&cursor, job->reduced, job->reduced_count, 1, from / inner->size);
    for (int64_t done = from; done < to;) {
        int64_t n = inner->size - at;
        if (n > to - done) n = to - done;
        if (n > BLOCK) n = BLOCK;
        const char *src = data + cursor.offset + at * inner->in;
        bool direct = job->direct && inner->in == job->item;
        if (!direct) job->load(n, buffer, src, inner->in);
        fold_block(fold, direct ? (const void *)src : buffer, n, done);
        done += n;
        at += n;
        if (at == inner->size) at = 0, cursor_step(&cursor, job->reduced, job->reduced_count, 1);
    }
}

/* Outputs [first, first + n), which are neighbours along the densest kept axis. */
static void run_group(const Job *job, int64_t first, int n) {
    int64_t in = 0, place = out_offset(job, first, &in, 0);
    bool block = job->reduced_count == 1 && job->direct && job->reduced[0].in == job->item && job->values <= BLOCK;
    Results results = {.count = 0};
    for (int k = 0; k < n; k++) {
        Fold fold;
        const char *row = job->data + in + k * job->kept[0].in;
        fold_begin(&fold, job->spec.reducer, job->type, job->indexed);
        if (block) fold_block(&fold, row, job->values, 0);
        else fold_range(job, row, 0, job->values, &fold);
        take_fold(&results, &fold);
    }
    store_results(job, place, job->kept[0].out, &results);
}

static void run_some_rows(const Job *job, int64_t first, int64_t last) {
    for (int64_t output = first; output < last;) {
        int64_t n = job->kept[0].size - output % job->kept[0].size;
        if (n > last - output) n = last - output;
        if (n > GROUP) n = GROUP;
        run_group(job, output, (int)n);
        output += n;
    }
}

static bool run_chunked_rows(const Job *job, int threads) {
    int64_t chunks = (job->values + CHUNK - 1) / CHUNK, tasks = chunks * job->outputs;
    Fold *folds = malloc((size_t)tasks * sizeof *folds);
    if (!folds) return false;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t task = 0; task < tasks; task++) {
        int64_t in = 0, from = task % chunks * CHUNK, to = from + CHUNK < job->values ? from + CHUNK : job->values;
        out_offset(job, task / chunks, &in, 0);
        fold_begin(&folds[task], job->spec.reducer, job->type, job->indexed);
        fold_range(job, job->data + in, from, to, &folds[task]);
    }
    for (int64_t output = 0; output < job->outputs; output++) {
        int64_t in = 0, place = out_offset(job, output, &in, 0);
        Fold *fold = &folds[output * chunks];
        Fold total;
        fold_begin(&total, fold->reducer, fold->type, fold->indexed);
        for (int64_t c = 0; c < chunks; c++) fold_merge(&total, &fold[c]);
        Results results = {.count = 0};
        take_fold(&results, &total);
        store_results(job, place, 1, &results);
    }
    free(folds);
    return true;
}

static bool run_rows(const Job *job, int threads) {
    if (job->outputs < FEW && job->values > 2 * CHUNK) return run_chunked_rows(job, threads);
    if (threads <= 1) { /* without a parallel region, which costs more than a small op */
        run_some_rows(job, 0, job->outputs);
        return true;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int part = 0; part < threads; part++) run_some_rows(job, job->outputs * part / threads, job->outputs * (part + 1) / threads);
    return true;
}

/* ---- columns: strips of the densest kept axis ---- */

typedef struct Strips { int64_t per_row, count, chunks, chunk; } Strips;

/* Rows [from, to) of a strip: as many at once as lie a stride apart, or fit the buffer. */
static void fold_rows(const Job *job, const char *data, int count, int64_t from, int64_t to, Columns *columns) {
    double buffer[AT_ONCE * STRIP];
    const Axis *inner = &job->kept[0], *outer = &job->reduced[0];
    Cursor cursor;
    bool direct = job->direct && inner->in == job->item;
    int64_t at = from % outer->size, width = (int64_t)count * dtype_size(job->type);
    cursor_set(&cursor, job->reduced, job->reduced_count, 1, from / outer->size);
    for (int64_t r = from; r < to;) {
        int64_t n = outer->size - at < to - r ? outer->size - at : to - r, most = direct ? MANY : AT_ONCE;
        if (n > most) n = most;
        const char *src = data + cursor.offset + at * outer->in;
        for (int64_t k = 0; !direct && k < n; k++) job->load(count, (char *)buffer + k * width, src + k * outer->in, inner->in);
        columns_rows(columns, direct ? src : (const char *)buffer, direct ? outer->in : width, (int)n, r);
        r += n;
        at += n;
        if (at == outer->size) at = 0, cursor_step(&cursor, job->reduced, job->reduced_count, 1);
    }
}

static void fold_strip(const Job *job, const Strips *strips, int64_t task, Columns *columns) {
    int64_t strip = task / strips->chunks, from = task % strips->chunks * strips->chunk, to = from + strips->chunk < job->values ? from + strips->chunk : job->values;
    const Axis *inner = &job->kept[0];
    int64_t first = strip % strips->per_row * STRIP, in = first * inner->in;
    int count = (int)(inner->size - first < STRIP ? inner->size - first : STRIP);
    out_offset(job, strip / strips->per_row, &in, 1);
    columns_begin(columns, job->spec.reducer, job->type, job->indexed, count);
    fold_rows(job, job->data + in, count, from, to, columns);
}

static void store_strip(const Job *job, const Strips *strips, int64_t strip, const Columns *columns) {
    int64_t in = 0, first = strip % strips->per_row * STRIP, place = out_offset(job, strip / strips->per_row, &in, 1) + first * job->kept[0].out;
    for (int j = 0; j < columns->count;) {
        Results results = {.count = 0};
        for (int k = 0; k < GROUP && j < columns->count; k++, j++, results.count++) columns_value(columns, j, &results.f[k], &results.i[k], &results.at[k]);
        store_results(job, place, job->kept[0].out, &results);
        place += results.count * job->kept[0].out;
    }
}

static bool run_chunked_columns(const Job *job, const Strips *strips, int threads) {
    Columns *parts = malloc((size_t)(strips->count * strips->chunks) * sizeof *parts);
    if (!parts) return false;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t task = 0; task < strips->count * strips->chunks; task++) fold_strip(job, strips, task, &parts[task]);
    for (int64_t strip = 0; strip < strips->count; strip++) {
        Columns *first = &parts[strip * strips->chunks];
        for (int64_t c = 1; c < strips->chunks; c++) columns_merge(first, &first[c]);
        store_strip(job, strips, strip, first);
    }
    free(parts);
    return true;
}

static void run_strip(const Job *job, const Strips *strips, int64_t strip) {
    Columns columns;
    fold_strip(job, strips, strip, &columns);
    store_strip(job, strips, strip, &columns);
}

static bool run_columns(const Job *job, int threads) {
    Strips strips = {.per_row = (job->kept[0].size + STRIP - 1) / STRIP, .chunks = 1, .chunk = job->values};
    strips.count = strips.per_row * (job->outputs / job->kept[0].size);
    int64_t rows = CHUNK / (job->kept[0].size < STRIP ? job->kept[0].size : STRIP);
    if (strips.count < FEW && job->values > 2 * rows) {
        strips.chunk = rows;
        strips.chunks = (job->values + rows - 1) / rows;
        return run_chunked_columns(job, &strips, threads);
    }
    for (int64_t strip = 0; threads <= 1 && strip < strips.count; strip++) run_strip(job, &strips, strip);
    if (threads <= 1) return true;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t strip = 0; strip < strips.count; strip++) run_strip(job, &strips, strip);
    return true;
}

/* Rows pay when an output's own values lie dense and are not too few. */
static bool prefers_columns(const Job *job) {
    const Axis *kept = &job->kept[0], *reduced = &job->reduced[0];
    if (kept->size < 8 || kept->in == 0) return false;
    return magnitude(kept->in) < magnitude(reduced->in) || (reduced->size < 32 && job->reduced_count == 1 && kept->size >= 64);
}

/* Values are folded as they lie where that means the same as in the compute type; float16 has no loops of its own. */
static DType folded_type(DType stored, const Reduce *spec) {
    bool as_it_lies = dtype_info[stored].compute == spec->compute || (!dtype_is_float(stored) && spec->compute == DTYPE_I64) || spec->compute == DTYPE_BOOL;
    return as_it_lies && stored != DTYPE_F16 ? stored : spec->compute;
}

bool reduce_run(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    if (reduce_is_binary(op, args)) return pointwise_run(op->binary_op, args, nargs, &outs[0], context, error);
    const Meta *input = arg_meta(&args[0]);
    if (!need_static(op, input, error)) return false;
    Job job = {.outputs = 1, .values = 1, .outs = outs, .out_count = nouts};
    if (!reduce_read(op, args, &job.spec, error)) return false;
    job.type = folded_type(input->dtype, &job.spec);
    job.item = dtype_size(input->dtype);
    job.load = load_function(input->dtype, job.type);
    job.direct = input->dtype == job.type;
    job.indexed = job.spec.reducer >= REDUCE_ARGMAX || nouts > 1;
    job.data = (const char *)args[0].tensor.data + input->offset * job.item;
    read_axes(&job, input, arg_meta(&outs[0]));
    if (job.outputs == 0) return true;
    int threads = threads_of(job.outputs * job.values, context->threads);
    bool ok = job.values > 0 && prefers_columns(&job) ? run_columns(&job, threads) : run_rows(&job, threads);
    return ok ? true : op_error(error, ERROR_MEMORY, "%s(): no memory for partial results", op->name);
}
