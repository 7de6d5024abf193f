/* Eager pointwise: the printed loop of a row, run over tiles of strided, broadcast, mixed-dtype operands.
 *
 * In: an op, its arguments, an output with memory. Out: the output's elements.
 * A tile's operands go to the loop directly where they are dense and of the compute type; otherwise they are loaded into a buffer first. Numbers
 * and zero-dim tensors fill their buffer once a thread. The result is stored with conversion where the output's dtype or layout asks for it.
 * Where all that is read and written has one narrow integer dtype, a loop of that dtype runs over memory as it lies.
 *
 * Invariant: an output may be an operand itself (in place): each tile is read whole before it is written. */
#include "op/clones.h"
#include "op/convert.h"
#include "op/eager.h"
#include "op/family.h"
#include "op/scalar_row.h"
#include "op/walk.h"
#include <string.h>

enum { TILE = 2048, MAX_INPUTS = 6, MAX_PARAMS = 16 };

typedef struct Input { int param, operand; /* in the walk; -1: a number */ DType type; LoadFn load; int item; bool constant; } Input;
typedef struct Job {
    EagerLoop run;
    EagerNumber numbers[MAX_PARAMS];
    Walk walk;
    Input inputs[MAX_INPUTS]; int input_count;
    DType out_type; StoreFn store; bool out_direct;
} Job;
typedef struct Buffers { double at[MAX_INPUTS + 1][TILE]; } Buffers;

static void set_numbers(Job *job, const Op *op, const Arg *args, DType common) {
    for (int i = 0; i < op->nparams; i++) {
        job->numbers[i] = arg_is_number(&args[i]) ? (EagerNumber){arg_as_double(&args[i]), arg_as_int(&args[i])} : (EagerNumber){0, 0};
        if (i < op->tensor_inputs && i != op->bool_operand) job->numbers[i].i = dtype_wrap(common, job->numbers[i].i);
    }
    job->numbers[op->nparams] = (EagerNumber){dtype_limit(common, false), 0};
    job->numbers[op->nparams + 1] = (EagerNumber){dtype_limit(common, true), 0};
}

/* type: the kernel's. A constant of a narrow type is loaded by way of the compute type. */
static void add_input(Job *job, const Op *op, const Arg *args, int i, DType type) {
    Input *input = &job->inputs[job->input_count++];
    *input = (Input){.param = i, .operand = -1, .type = i == op->bool_operand ? DTYPE_BOOL : type, .constant = true};
    if (!arg_is_tensor(&args[i])) return;
    const Meta *meta = arg_meta(&args[i]);
    input->operand = job->walk.count;
    input->load = load_function(meta->dtype, meta->dtype == input->type ? input->type : dtype_info[input->type].compute);
    input->item = meta->dtype == input->type ? dtype_size(meta->dtype) : 0; /* 0: needs conversion */
    walk_add(&job->walk, meta, args[i].tensor.data);
    for (int d = 0; d < job->walk.logical_rank; d++) input->constant = input->constant && job->walk.strides[input->operand][d] == 0;
}

#define FILL(type, value) do { const type one = (type)(value); for (int64_t i = 0; i < n; i++) ((type *)(void *)buffer)[i] = one; } while (0)
/* Fills a whole buffer with one value. */
static void fill_constant(const Job *job, const Input *input, double *buffer, int64_t n) {
    EagerNumber number = job->numbers[input->param];
    if (input->operand >= 0 && (input->item || dtype_info[input->type].compute == input->type)) {
        input->load(n, buffer, job->walk.data[input->operand], 0);
        return;
    }
    if (input->operand >= 0) input->load(1, &number.i, job->walk.data[input->operand], 0);
    switch (input->type) {
    case DTYPE_F32: FILL(float, number.f); break;
    case DTYPE_F64: FILL(double, number.f); break;
    case DTYPE_I64: FILL(int64_t, number.i); break;
    case DTYPE_I32: FILL(int32_t, number.i); break;
    case DTYPE_I16: FILL(int16_t, number.i); break;
    case DTYPE_I8: case DTYPE_U8: memset(buffer, (int)(number.i & 255), (size_t)n); break;
    default: memset(buffer, number.i != 0 || number.f != 0, (size_t)n); break;
    }
}

static bool dense(const Tile *tile, int operand, int item) {
    return item && (tile->columns == 1 || tile->column_stride[operand] == item) && (tile->rows == 1 || tile->row_stride[operand] == item * tile->columns);
}

#define SPREAD(type) for (int64_t r = 0; r < rows; r++) *(type *)(void *)(to + r * stride) = ((const type *)values)[r]; break
static void spread(char *to, int64_t stride, const void *values, int64_t rows, int size) {
    switch (size) {
    case 1: SPREAD(uint8_t);
    case 2: SPREAD(uint16_t);
    case 4: SPREAD(uint32_t);
    default: SPREAD(uint64_t);
    }
}

#define REPEAT(type) for (int64_t i = 0; i < n; i++) ((type *)(void *)row)[i] = first.type##_value; break
static void repeat_first(char *row, int64_t n, int size) {
    union { uint8_t uint8_t_value; uint16_t uint16_t_value; uint32_t uint32_t_value; uint64_t uint64_t_value; } first;
    memcpy(&first, row, (size_t)size);
    switch (size) {
    case 1: REPEAT(uint8_t);
    case 2: REPEAT(uint16_t);
    case 4: REPEAT(uint32_t);
    default: REPEAT(uint64_t);
    }
}

/* Reads along the operand's denser direction: one that lies across the tile is read by columns and turned in the buffer. */
static void gather(const Input *input, const Tile *tile, char *buffer) {
    int k = input->operand, size = compute_size(input->type);
    int64_t down = tile->row_stride[k] < 0 ? -tile->row_stride[k] : tile->row_stride[k], along = tile->column_stride[k] < 0 ? -tile->column_stride[k] : tile->column_stride[k];
    if (tile->rows > 8 && down != 0 && down < along) {
        double column[TILE];
        tile_prefetch(tile, k);
        for (int64_t c = 0; c < tile->columns; c++) {
            input->load(tile->rows, column, tile->data[k] + c * tile->column_stride[k], tile->row_stride[k]);
            spread(buffer + c * size, tile->columns * size, column, tile->rows, size);
        }
        return;
    }
    for (int64_t r = 0; r < tile->rows; r++) {
        char *row = buffer + r * tile->columns * size;
        const char *src = tile->data[k] + r * tile->row_stride[k];
        input->load(along ? tile->columns : 1, row, src, tile->column_stride[k]);
        if (along == 0) repeat_first(row, tile->columns, size);
    }
}

/* Where an operand's rows are: in place (step: from row to row), or in a buffer of its own. */
typedef struct Rows { const char *at; int64_t step; } Rows;

static Rows input_rows(const Input *input, const Tile *tile, double *buffer, bool by_rows) {
    int size = compute_size(input->type);
    if (input->constant) return (Rows){(const char *)buffer, 0};
    if (dense(tile, input->operand, input->item)) return (Rows){tile->data[input->operand], size * tile->columns};
    if (by_rows && input->item && tile->column_stride[input->operand] == input->item) return (Rows){tile->data[input->operand], tile->row_stride[input->operand]};
    gather(input, tile, (char *)buffer);
    return (Rows){(const char *)buffer, size * tile->columns};
}

/* A tile runs at once where all lie dense, or else row by row with what can stay where it is. */
static void run_tile(const Job *job, int64_t index, Buffers *buffers) {
    Tile tile;
    Rows rows[MAX_INPUTS];
    const void *in[MAX_PARAMS];
    walk_tile(&job->walk, index, &tile);
    int size = compute_size(job->out_type);
    bool by_rows = tile.rows > 1 && tile.columns >= 32, whole = true;
    for (int i = 0; i < job->input_count; i++) {
        rows[i] = input_rows(&job->inputs[i], &tile, buffers->at[i], by_rows);
        whole = whole && (job->inputs[i].constant || rows[i].step == compute_size(job->inputs[i].type) * tile.columns);
    }
    bool to_place = job->out_direct && (dense(&tile, 0, size) || (by_rows && tile.column_stride[0] == size));
    whole = whole && (!to_place || dense(&tile, 0, size));
    char *result = to_place ? tile.data[0] : (char *)buffers->at[MAX_INPUTS];
    int64_t step = to_place ? tile.row_stride[0] : size * tile.columns, runs = whole ? 1 : tile.rows, n = whole ? tile.rows * tile.columns : tile.columns;
    for (int64_t r = 0; r < runs; r++) {
        for (int i = 0; i < job->input_count; i++) in[job->inputs[i].param] = rows[i].at + r * rows[i].step;
        job->run(n, result + r * step, in, job->numbers);
    }
    for (int64_t r = 0; r < tile.rows && !to_place; r++) job->store(tile.columns, result + r * tile.columns * size, tile.data[0] + r * tile.row_stride[0], tile.column_stride[0]);
}

static void run_tiles(const Job *job, int64_t first, int64_t last) {
    Buffers buffers;
    int64_t room = job->walk.columns * job->walk.rows;
    for (int i = 0; i < job->input_count; i++)
        if (job->inputs[i].constant) fill_constant(job, &job->inputs[i], buffers.at[i], room);
    for (int64_t t = first; t < last; t++) run_tile(job, t, &buffers);
}

/* One thread opens no parallel region: that alone would cost more than a small op. */
static void run_all(const Job *job, int threads) {
    if (threads <= 1) {
        run_tiles(job, 0, job->walk.tiles);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int part = 0; part < threads; part++) run_tiles(job, walk_part(&job->walk, part, threads), walk_part(&job->walk, part + 1, threads));
}

/* The parameter by which an expression divides integers, or -1. */
static int divisor_of(const ScalarExpr *e) {
    bool divides = e->kind == SCALAR_PRIM && (e->prim == PRIM_FLOORDIV || e->prim == PRIM_MOD || e->prim == PRIM_FMOD || e->prim == PRIM_TRUNCDIV);
    if (divides && e->args[1]->kind == SCALAR_INPUT) return e->args[1]->input;
    int found = -1;
    for (int i = 0; i < 3 && found < 0; i++)
        if (e->args[i]) found = divisor_of(e->args[i]);
    return found;
}

#define ANY_ZERO(name, type)                                                                          \
    CLONES static bool name(const type *x, int64_t n) {                                               \
        int found = 0;                                                                                \
        for (int64_t i = 0; i < n; i++) found |= x[i] == 0;                                           \
        return found != 0;                                                                            \
    }
ANY_ZERO(any_zero_16, uint16_t)
ANY_ZERO(any_zero_32, uint32_t)
ANY_ZERO(any_zero_64, uint64_t)

static bool any_zero(const void *x, int64_t n, int size) {
    switch (size) {
    case 1: return memchr(x, 0, (size_t)n) != NULL;
    case 2: return any_zero_16(x, n);
    case 4: return any_zero_32(x, n);
    default: return any_zero_64(x, n);
    }
}

static bool tiles_have_zero(const Walk *walk, DType dtype, int64_t first, int64_t last) {
    int size = dtype_size(dtype);
    LoadFn load = load_function(dtype, dtype);
    bool zero = false;
    for (int64_t t = first; t < last && !zero; t++) {
        Tile tile;
        walk_tile(walk, t, &tile);
        bool whole = dense(&tile, 0, size);
        for (int64_t r = 0; r < (whole ? 1 : tile.rows) && !zero; r++) {
            double row[TILE];
            const char *at = tile.data[0] + r * tile.row_stride[0];
            if (!whole) load(tile.columns, row, at, tile.column_stride[0]);
            zero = any_zero(whole ? (const void *)at : row, whole ? tile.rows * tile.columns : tile.columns, size);
        }
    }
    return zero;
}

static bool has_zero(const Arg *divisor, int threads) {
    Walk walk;
    bool zero = false;
    DType dtype = arg_meta(divisor)->dtype;
    walk_begin(&walk, arg_meta(divisor)->rank, arg_meta(divisor)->sizes);
    walk_add(&walk, arg_meta(divisor), divisor->tensor.data);
    walk_finish(&walk, TILE);
    int parts = walk_threads(&walk, threads);
    if (parts <= 1) return tiles_have_zero(&walk, dtype, 0, walk.tiles);
#pragma omp parallel for schedule(static) num_threads(parts) reduction(|| : zero)
    for (int part = 0; part < parts; part++) zero = tiles_have_zero(&walk, dtype, walk_part(&walk, part, parts), walk_part(&walk, part + 1, parts)) || zero;
    return zero;
}

/* Integer division by zero raises, as in PyTorch; nothing else that a loop computes can fail. */
static bool check_divisor(const ScalarVariant *variant, const Arg *args, const Meta *out, DType common, int threads, OpError *error) {
    int place = dtype_is_float(common) || meta_numel(out) == 0 ? -1 : divisor_of(variant->expr);
    if (place < 0) return true;
    const Arg *divisor = &args[place];
    bool zero = arg_is_number(divisor) ? arg_as_int(divisor) == 0 : arg_is_tensor(divisor) && divisor->tensor.data && has_zero(divisor, threads);
    return zero ? op_error(error, ERROR_RUNTIME, "ZeroDivisionError") : true;
}

/* Can a loop run over memory as it lies? All operands that vary, and the result, are of the kernel's dtype. */
static bool lies_as(const Op *op, const Arg *args, const Meta *out, const EagerKernel *kernel, DType common) {
    if (!kernel->run || kernel->out != out->dtype) return false;
    for (int i = 0; i < op->tensor_inputs; i++)
        if (i != op->bool_operand && arg_is_tensor(&args[i]) && arg_meta(&args[i])->dtype != common && arg_meta(&args[i])->rank > 0) return false;
    return true;
}

/* The loop for the operands; *type: what it reads. NULL: there is none. */
static const EagerKernel *choose_kernel(const Op *op, const Arg *args, const Meta *out, const ScalarVariant *variant, DType common, DType *type) {
    if (!variant) return NULL;
    const EagerKernel *kernels = eager_level()->kernels[op->first_kernel + (int)(variant - op->variants)];
    *type = dtype_info[common].compute;
    const EagerKernel *narrow = &kernels[eager_type(common)], *wide = &kernels[eager_type(*type)];
    if (narrow == wide || !lies_as(op, args, out, narrow, common)) return wide->run ? wide : NULL;
    *type = common;
    return narrow;
}

bool pointwise_run(const Op *op, const Arg *args, int nargs, const Arg *out, const OpContext *context, OpError *error) {
    (void)nargs;
    Job job;
    DType type = DTYPE_NONE;
    const Meta *out_meta = arg_meta(out);
    const ScalarVariant *variant = op_scalar(op, args);
    DType common = pointwise_common_type(op, args, context->default_dtype);
    const EagerKernel *kernel = choose_kernel(op, args, out_meta, variant, common, &type);
    if (!kernel) return op_error_dtype(error, op->name, common);
    if (!need_static(op, out_meta, error) || !check_divisor(variant, args, out_meta, common, context->threads, error)) return false;
    job.run = kernel->run;
    job.input_count = 0;
    job.out_type = kernel->out;
    job.out_direct = kernel->out == out_meta->dtype;
    job.store = store_function(kernel->out, out_meta->dtype);
    walk_begin(&job.walk, out_meta->rank, out_meta->sizes);
    walk_add(&job.walk, out_meta, out->tensor.data);
    set_numbers(&job, op, args, common);
    bool used[MAX_PARAMS + 2] = {0};
    scalar_row_uses(variant->expr, used);
    for (int i = 0; i < op->tensor_inputs; i++)
        if (used[i]) add_input(&job, op, args, i, type);
    walk_finish(&job.walk, TILE);
    run_all(&job, walk_threads(&job.walk, context->threads));
    return true;
}

bool pointwise_run_family(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)nouts;
    return pointwise_run(op, args, nargs, &outs[0], context, error);
}
