/* Eager advanced indexing: index, index_put, and what masks become.
 *
 * In: x[i0, None, i1, …] with index tensors of any integer dtype, or masks. Out: gathered elements, or x with values put.
 * The index tensors are read once into dense arrays of element offsets; each broadcast place then moves one block of the dims that are not indexed.
 *
 * Invariant: every index is checked before anything is moved. */
#include "op/convert.h"
#include "op/index.h"
#include "op/walk.h"
#include <stdlib.h>
#include <string.h>

/* ---- masks ---- */

enum { STRETCH = 2048 }; /* a multiple of 8 */

static int64_t count_true(const _Bool *nonzero, int64_t n) {
    int64_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t eight;
        memcpy(&eight, nonzero + i, sizeof eight);
        count += (int64_t)(eight * UINT64_C(0x0101010101010101) >> 56);
    }
    for (; i < n; i++) count += nonzero[i];
    return count;
}

/* The places of one stretch of the last dim; `at` holds its coordinates, of which the last is where it starts. */
static int64_t stretch_places(const _Bool *nonzero, int64_t n, const int64_t *at, int rank, int64_t *out) {
    int64_t found[STRETCH + 1], count = 0;
    if (!out) return count_true(nonzero, n);
    for (int64_t i = 0; i < n; i++) { /* without a branch: masks are hard to predict */
        found[count] = i;
        count += nonzero[i];
    }
    for (int64_t k = 0; k < count; k++, out += rank) {
        for (int d = 0; d + 1 < rank; d++) out[d] = at[d];
        if (rank) out[rank - 1] = at[rank - 1] + found[k];
    }
    return count;
}

int64_t nonzero_places(const Arg *tensor, int64_t *out) {
    const Meta *meta = arg_meta(tensor);
    int rank = meta->rank, item = dtype_size(meta->dtype);
    int64_t total = meta_numel(meta), count = 0, at[MAX_RANK] = {0}, length = rank ? meta->sizes[rank - 1] : 1, stride = rank ? meta->strides[rank - 1] : 0;
    const char *data = (const char *)tensor->tensor.data + meta->offset * item;
    LoadFn load = load_function(meta->dtype, DTYPE_BOOL);
    _Bool nonzero[STRETCH];
    for (int64_t done = 0; done < total; done += length) {
        int64_t offset = 0;
        for (int i = 0; i + 1 < rank; i++) offset += at[i] * meta->strides[i];
        for (int64_t from = 0; from < length; from += STRETCH) {
            int64_t n = length - from < STRETCH ? length - from : STRETCH;
            load(n, nonzero, data + (offset + from * stride) * item, stride * item);
            if (rank) at[rank - 1] = from;
            count += stretch_places(nonzero, n, at, rank, out ? out + count * rank : NULL);
        }
        for (int i = rank - 2; i >= 0 && ++at[i] == meta->sizes[i]; i--) at[i] = 0;
    }
    return count;
}

static bool mask_data_ok(const Op *op, const Arg *mask, OpError *error) {
    if (mask->tensor.data && arg_meta(mask)->device.kind == DEVICE_CPU && meta_is_static(arg_meta(mask))) return true;
    return op_error(error, ERROR_NOT_IMPLEMENTED, "%s(): the shape of indexing by a mask depends on data that is not at hand", op->name);
}

/* One mask of rank r becomes r index tensors. */
static bool expand_mask(const Op *op, const Arg *mask, Masks *masks, int *next, OpError *error) {
    const Meta *meta = arg_meta(mask);
    if (!mask_data_ok(op, mask, error)) return false;
    int64_t count = nonzero_places(mask, NULL);
    int64_t *places = malloc((size_t)(count * (meta->rank ? meta->rank : 1)) * sizeof *places + 1);
    if (!places) return op_error(error, ERROR_MEMORY, "%s(): no memory for a mask's indices", op->name);
    masks->memory[masks->count++] = places;
    nonzero_places(mask, places);
    for (int i = 0; i < meta->rank; i++) {
        masks->metas[*next] = (Meta){.dtype = DTYPE_I64, .device = meta->device, .rank = 1, .sizes = {count}, .strides = {meta->rank}, .offset = i};
        masks->items[*next] = arg_tensor(&masks->metas[*next], places, NULL);
        (*next)++;
    }
    return true;
}

bool masks_expand(const Op *op, const Arg *indices, Masks *masks, Arg *expanded, OpError *error) {
    int next = 0;
    masks->items = calloc(MAX_RANK * 2, sizeof *masks->items);
    masks->metas = calloc(MAX_RANK * 2, sizeof *masks->metas);
    bool ok = masks->items && masks->metas;
    for (int i = 0; i < indices->list.count && ok; i++) {
        const Arg *item = &indices->list.items[i];
        bool is_mask = item->tag == ARG_TENSOR && (arg_meta(item)->dtype == DTYPE_BOOL || arg_meta(item)->dtype == DTYPE_U8);
        if (next + (is_mask ? arg_meta(item)->rank : 1) > MAX_RANK) ok = op_error(error, ERROR_INDEX, "too many indices for a tensor of at most %d dimensions", MAX_RANK);
        else if (is_mask) ok = expand_mask(op, item, masks, &next, error);
        else masks->items[next++] = *item;
    }
    *expanded = (Arg){.tag = ARG_TENSORS, .list = {masks->items, next}};
    if (!ok) masks_free(masks);
    return ok;
}

void masks_free(Masks *masks) {
    for (int i = 0; i < masks->count; i++) free(masks->memory[i]);
    free(masks->items);
    free(masks->metas);
    *masks = (Masks){0};
}

/* ---- offsets ---- */

/* The element offset into x of each place of the broadcast index. */
static int64_t *read_offsets(const Fancy *fancy, const Meta *input, int64_t count, OpError *error) {
    int64_t *offsets = calloc((size_t)count + 1, sizeof *offsets), *values = malloc((size_t)count * sizeof *values + 1);
    bool ok = offsets && values ? true : op_error(error, ERROR_MEMORY, "index: no memory for %lld offsets", (long long)count);
    Meta dense = {.dtype = DTYPE_I64, .rank = fancy->rank};
    memcpy(dense.sizes, fancy->sizes, sizeof dense.sizes);
    meta_set_contiguous(&dense, NULL);
    for (int i = 0; i < input->rank && ok; i++) {
        if (!fancy->indices[i]) continue;
        copy_elements(&dense, values, arg_meta(fancy->indices[i]), fancy->indices[i]->tensor.data, 1);
        for (int64_t n = 0; n < count && ok; n++) {
            int64_t at = values[n] < 0 ? values[n] + input->sizes[i] : values[n];
            if (at < 0 || at >= input->sizes[i]) ok = op_error(error, ERROR_INDEX, "index %lld is out of bounds for dimension %d with size %lld", (long long)values[n], i, (long long)input->sizes[i]);
            offsets[n] += at * input->strides[i];
        }
    }
    free(values);
    if (ok) return offsets;
    free(offsets);
    return NULL;
}

/* x at one place: the dims that are not indexed. */
static Meta block_of(const Fancy *fancy, const Meta *input) {
    Meta block = {.dtype = input->dtype, .offset = input->offset};
    for (int i = 0; i < input->rank; i++) {
        if (fancy->indices[i]) continue;
        block.sizes[block.rank] = input->sizes[i];
        block.strides[block.rank++] = input->strides[i];
    }
    return block;
}

/* The same block in a tensor of the result's shape (which may be broadcast: stride 0), and its strides along the broadcast dims. */
static Meta result_block(const Fancy *fancy, const Meta *result, int64_t *strides) {
    Meta block = {.dtype = result->dtype, .offset = result->offset};
    for (int i = 0; i < fancy->result_rank; i++) {
        int at = i - (fancy->result_rank - result->rank);
        int64_t stride = at < 0 || result->sizes[at] == 1 ? 0 : result->strides[at];
        if (i >= fancy->place && i < fancy->place + fancy->rank) strides[i - fancy->place] = stride;
        else {
            block.sizes[block.rank] = fancy->result[i];
            block.strides[block.rank++] = stride;
        }
    }
    return block;
}

static int64_t place_offset(const Fancy *fancy, const int64_t *strides, int64_t place) {
    int64_t offset = 0;
    for (int i = fancy->rank - 1; i >= 0; i--) {
        offset += place % fancy->sizes[i] * strides[i];
        place /= fancy->sizes[i];
    }
    return offset;
}

typedef struct Move { Fancy fancy; Meta x_block, result_block; int64_t *offsets, count, strides[MAX_RANK]; Masks masks; } Move;

static bool move_begin(const Op *op, const Arg *args, const Meta *x, const Meta *result, Move *move, const OpContext *context, OpError *error) {
    Arg replaced[8], expanded;
    memset(move, 0, sizeof *move);
    memcpy(replaced, args, sizeof(Arg) * (size_t)(op->nparams < 8 ? op->nparams : 8));
    if (args[1].tag == ARG_TENSORS && has_mask(&args[1])) {
        if (!masks_expand(op, &args[1], &move->masks, &expanded, error)) return false;
        replaced[1] = expanded;
    }
    if (fancy_read(op, replaced, &move->fancy, context, error)) {
        move->count = 1;
        for (int i = 0; i < move->fancy.rank; i++) move->count *= move->fancy.sizes[i];
        move->offsets = read_offsets(&move->fancy, x, move->count, error);
        move->x_block = block_of(&move->fancy, x);
        move->result_block = result_block(&move->fancy, result, move->strides);
    }
    if (!move->offsets) masks_free(&move->masks);
    return move->offsets != NULL;
}

static void move_end(Move *move) {
    free(move->offsets);
    masks_free(&move->masks);
}

/* ---- element by element: blocks of one element, or whose elements lie apart ---- */

static bool rows_lie_dense(const Meta *block) { return block->rank > 0 && block->strides[block->rank - 1] == 1 && block->sizes[block->rank - 1] >= 8; }

#define MOVE_PLACES(type)                                                                                                         \
    for (int64_t n = from; n < to; n++) {                                                                                         \
        int64_t there = block + (stepped ? place_offset(&move->fancy, move->strides, n) : n * step);       \
        if (into) ((type *)(void *)x)[x_at + move->offsets[n]] = ((const type *)(const void *)result)[there];                     \
        else ((type *)(void *)result)[there] = ((const type *)(const void *)x)[x_at + move->offsets[n]];                          \
    }                                                                                                                             \
    break

/* One element of the block at all places [from, to), in order. into: from the result's tensor to x. */
static void move_places(const Move *move, int item, char *x, int64_t x_at, char *result, int64_t block, int64_t from, int64_t to, bool into) {
    bool stepped = move->fancy.rank > 1;
    int64_t step = move->fancy.rank == 1 ? move->strides[0] : 0;
    switch (item) {
    case 1: MOVE_PLACES(uint8_t);
    case 2: MOVE_PLACES(uint16_t);
    case 4: MOVE_PLACES(uint32_t);
    default: MOVE_PLACES(uint64_t);
    }
}

/* Offsets of a block's element in both tensors. */
static void block_element(const Meta *x, const Meta *result, int64_t number, int64_t *x_at, int64_t *result_at) {
    *x_at = x->offset, *result_at = result->offset;
    for (int i = x->rank - 1; i >= 0; i--) {
        *x_at += number % x->sizes[i] * x->strides[i];
        *result_at += number % x->sizes[i] * result->strides[i];
        number /= x->sizes[i];
    }
}

/* false: blocks are better moved whole. */
static bool move_elements(const Move *move, char *x, char *result, int threads, bool into) {
    int64_t elements = meta_numel(&move->x_block), pieces = elements > 1 || into ? 1 : (move->count + 16383) / 16384;
    if (elements > 1 && (rows_lie_dense(&move->x_block) || elements * move->count < 2)) return false;
    int item = dtype_size(move->x_block.dtype);
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t task = 0; task < elements * pieces; task++) {
        int64_t x_at, result_at, from = task % pieces * 16384, to = pieces == 1 || from + 16384 > move->count ? move->count : from + 16384;
        block_element(&move->x_block, &move->result_block, task / pieces, &x_at, &result_at);
        move_places(move, item, x, x_at, result, result_at, from, to, into);
    }
    return true;
}

bool run_index(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    Move move;
    if (!move_begin(op, args, arg_meta(&args[0]), arg_meta(&outs[0]), &move, context, error)) return false;
    int threads = meta_numel(arg_meta(&outs[0])) < 65536 || context->threads < 1 ? 1 : context->threads;
    if (move_elements(&move, (void *)(uintptr_t)args[0].tensor.data, outs[0].tensor.data, threads, false)) {
        move_end(&move);
        return true;
    }
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t n = 0; n < move.count; n++) {
        Meta from = move.x_block, to = move.result_block;
        from.offset += move.offsets[n];
        to.offset += place_offset(&move.fancy, move.strides, n);
        copy_elements(&to, outs[0].tensor.data, &from, args[0].tensor.data, 1);
    }
    move_end(&move);
    return true;
}

bool run_index_put(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    Move move;
    const Meta *out = arg_meta(&outs[0]), *values = arg_meta(&args[2]);
    bool accumulate = arg_truth(op_arg(op, args, "accumulate"), false);
    copy_elements(out, outs[0].tensor.data, arg_meta(&args[0]), args[0].tensor.data, context->threads);
    if (!move_begin(op, args, out, values, &move, context, error)) return false;
    Dim sizes[MAX_RANK];
    int rank;
    bool fits = sizes_broadcast(sizes, &rank, values->sizes, values->rank, move.fancy.result, move.fancy.result_rank) && rank == move.fancy.result_rank;
    for (int i = 0; fits && i < rank; i++) fits = sizes[i] == move.fancy.result[i];
    bool moved = fits && !accumulate && values->dtype == out->dtype && move_elements(&move, outs[0].tensor.data, (void *)(uintptr_t)args[2].tensor.data, context->threads < 1 ? 1 : context->threads, true);
    for (int64_t n = 0; n < move.count && fits && !moved; n++) {
        Meta to = move.x_block, from = move.result_block;
        to.offset += move.offsets[n];
        from.offset += place_offset(&move.fancy, move.strides, n);
        if (accumulate) add_elements(&to, outs[0].tensor.data, &from, args[2].tensor.data, 1);
        else copy_elements(&to, outs[0].tensor.data, &from, args[2].tensor.data, 1);
    }
    move_end(&move);
    return fits ? true : op_error(error, ERROR_RUNTIME, "shape mismatch: the value tensor cannot be broadcast to the indexing result");
}

/* ---- nonzero, masked_select, masked_scatter ---- */

static void run_nonzero(const Arg *args, const Arg *outs) {
    const Meta *out = arg_meta(&outs[0]);
    int64_t rows = out->sizes[0];
    if (rows == 0 || out->sizes[1] == 0) return;
    int64_t *places = malloc((size_t)(rows * out->sizes[1]) * sizeof *places);
    if (!places) return;
    nonzero_places(&args[0], places);
    Meta dense = meta_new(DTYPE_I64, out->device, 2, out->sizes);
    copy_elements(out, outs[0].tensor.data, &dense, places, 1);
    free(places);
}

/* One step through the broadcast shape of input and mask: their offsets in bytes. */
typedef struct Pair { int rank; int64_t sizes[MAX_RANK], at[MAX_RANK], a[MAX_RANK], b[MAX_RANK], offset_a, offset_b; } Pair;

static Pair pair_begin(const Meta *shape, const Meta *a, const Meta *b) {
    Pair pair = {.rank = shape->rank, .offset_a = a->offset * dtype_size(a->dtype), .offset_b = b->offset * dtype_size(b->dtype)};
    for (int i = 0; i < shape->rank; i++) {
        int at = i - (shape->rank - a->rank), bt = i - (shape->rank - b->rank);
        pair.sizes[i] = shape->sizes[i];
        pair.a[i] = at < 0 || a->sizes[at] == 1 ? 0 : a->strides[at] * dtype_size(a->dtype);
        pair.b[i] = bt < 0 || b->sizes[bt] == 1 ? 0 : b->strides[bt] * dtype_size(b->dtype);
    }
    return pair;
}

static void pair_step(Pair *pair) {
    for (int i = pair->rank - 1; i >= 0; i--) {
        pair->offset_a += pair->a[i];
        pair->offset_b += pair->b[i];
        if (++pair->at[i] < pair->sizes[i]) return;
        pair->offset_a -= pair->a[i] * pair->sizes[i];
        pair->offset_b -= pair->b[i] * pair->sizes[i];
        pair->at[i] = 0;
    }
}

static void select_masked(const Op *op, const Arg *args, const Arg *outs) {
    Meta shape = {0};
    broadcast_args(op, args, 2, &shape, NULL);
    const Meta *input = arg_meta(&args[0]), *out = arg_meta(&outs[0]);
    int item = dtype_size(input->dtype);
    char *to = (char *)outs[0].tensor.data + out->offset * item;
    Pair pair = pair_begin(&shape, input, arg_meta(&args[1]));
    for (int64_t n = 0, count = meta_numel(&shape); n < count; n++, pair_step(&pair)) {
        if (!((const char *)args[1].tensor.data)[pair.offset_b]) continue;
        memcpy(to, (const char *)args[0].tensor.data + pair.offset_a, (size_t)item);
        to += out->strides[0] * item;
    }
}

static bool scatter_masked(const Arg *args, const Arg *outs, OpError *error) {
    const Meta *out = arg_meta(&outs[0]), *source = arg_meta(&args[2]);
    int64_t room = meta_numel(source), used = 0;
    Meta dense = meta_new(out->dtype, out->device, 1, (Dim[]){room}), flat = *source;
    char *values = malloc((size_t)meta_bytes(&dense) + 1);
    if (!values) return op_error(error, ERROR_MEMORY, "masked_scatter(): no memory");
    flat.dtype = source->dtype;
    Meta like = flat;
    like.dtype = out->dtype;
    like.offset = 0;
    meta_set_contiguous(&like, NULL);
    copy_elements(&like, values, source, args[2].tensor.data, 1);
    copy_elements(out, outs[0].tensor.data, arg_meta(&args[0]), args[0].tensor.data, 1);
    int item = dtype_size(out->dtype);
    bool ok = true;
    Pair pair = pair_begin(out, out, arg_meta(&args[1]));
    for (int64_t n = 0, count = meta_numel(out); n < count && ok; n++, pair_step(&pair)) {
        if (!((const char *)args[1].tensor.data)[pair.offset_b]) continue;
        if (used == room) ok = op_error(error, ERROR_RUNTIME, "masked_scatter: the source has fewer elements than the mask has ones");
        else memcpy((char *)outs[0].tensor.data + pair.offset_a, values + used++ * item, (size_t)item);
    }
    free(values);
    return ok;
}

bool run_masked(const Op *op, const Arg *args, const Arg *outs, const OpContext *context, OpError *error) {
    (void)context;
    if (strcmp(op->shared, "nonzero") == 0) run_nonzero(args, outs);
    else if (strcmp(op->shared, "masked_select") == 0) select_masked(op, args, outs);
    else return scatter_masked(args, outs, error);
    return true;
}
