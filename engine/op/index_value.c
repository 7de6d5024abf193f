/* The index family at an index: what an element of the output is, as the compiler sees it; and where scatters store.
 *
 * In: an op, a logical index of its output (or of a scatter's source). Out: a value; for a scatter the target's index, the value, and whether it adds.
 *
 *     flip(x, [0]) at [i, j] -> x at [n - 1 - i, j];   embedding(w, ids) at [i, j] -> w at [ids[i], j]
 *     cat([a, b], 0) at [i, j] -> i < len(a) ? a[i, j] : b[i - len(a), j]          (a load that is not taken is clamped)
 *
 * NULL: the row has no such form, and its eager kernel is called. To add a row: a function and its line in `kinds`. */
#include "op/index.h"
#include "op/view.h"
#include <string.h>

typedef struct At { BodyBuilder *b; SymTable *syms; const Op *op; const Arg *args; const Meta *input, *out; const Dim *index; } At;

static const Body *load(At *at, const Arg *tensor, const Dim *index) { return body_load(at->b, tensor, index); }

static const Body *zero(At *at) { return body_int(at->b, dtype_info[at->out->dtype].compute, 0); }

static const Body *choose(At *at, const Body *condition, const Body *yes, const Body *no) { return body_prim(at->b, PRIM_WHERE, condition, yes, no); }

static const Body *compare(At *at, Prim relation, Dim a, Dim b) { return body_prim(at->b, relation, body_of_index(at->b, a), body_of_index(at->b, b), NULL); }

static const Body *both(At *at, const Body *a, const Body *b) { return a && b ? body_prim(at->b, PRIM_AND, a, b, NULL) : a ? a : b; }

/* index[dim] replaced. */
static void with(At *at, Dim *out, int dim, Dim value) {
    for (int i = 0; i < at->out->rank; i++) out[i] = i == dim ? value : at->index[i];
}

/* index without dim. */
static void without(const At *at, Dim *out, int dim) {
    for (int i = 0, n = 0; i < at->out->rank; i++)
        if (i != dim) out[n++] = at->index[i];
}

static Dim loaded(At *at, const Arg *indices, const Dim *index, Dim size) { return body_as_index(at->b, load(at, indices, index), size, true); }

static int dim_of(const At *at, const char *name, int rank) {
    int dim;
    return read_dim(at->op, at->args, name, rank, &dim, NULL) ? dim : -1;
}

/* ---- picks ---- */

/* x's index at a place of the result: indexed dims from their tensors, the others from the result's dims that are left. */
static bool fancy_index(At *at, const Meta *x, const Dim *index, Dim *out) {
    Fancy fancy;
    OpContext context = {.syms = at->syms};
    if (at->args[1].tag != ARG_TENSORS || has_mask(&at->args[1]) || !fancy_read(at->op, at->args, &fancy, &context, NULL)) return false;
    int rest = 0;
    for (int i = 0; i < x->rank; i++) {
        if (!fancy.indices[i]) {
            out[i] = index[rest < fancy.place ? rest : rest + fancy.rank];
            rest++;
            continue;
        }
        const Meta *meta = arg_meta(fancy.indices[i]);
        Dim place[MAX_RANK];
        for (int k = 0; k < meta->rank; k++) place[k] = meta->sizes[k] == 1 ? 0 : index[fancy.place + fancy.rank - meta->rank + k];
        out[i] = loaded(at, fancy.indices[i], place, x->sizes[i]);
    }
    return true;
}

static const Body *value_index(At *at) {
    Dim place[MAX_RANK];
    return fancy_index(at, at->input, at->index, place) ? load(at, &at->args[0], place) : NULL;
}

static const Body *value_gather(At *at) {
    int dim = dim_of(at, "dim", at->input->rank);
    Dim place[MAX_RANK];
    if (at->out->rank == 0) return load(at, &at->args[0], NULL);
    with(at, place, dim, loaded(at, &at->args[2], at->index, at->input->sizes[dim]));
    return load(at, &at->args[0], place);
}

static const Body *value_index_select(At *at) {
    int dim = dim_of(at, "dim", at->input->rank);
    Dim place[MAX_RANK];
    if (at->out->rank == 0) return load(at, &at->args[0], NULL);
    with(at, place, dim, loaded(at, &at->args[2], &at->index[dim], at->input->sizes[dim]));
    return load(at, &at->args[0], place);
}

static const Body *value_embedding(At *at) {
    int last = at->out->rank - 1;
    Dim place[2] = {loaded(at, &at->args[1], at->index, at->input->sizes[0]), at->index[last]};
    return load(at, &at->args[0], place);
}

static const Body *value_index_fill(At *at) {
    const Arg *index = &at->args[2], *value = &at->args[3];
    int dim = dim_of(at, "dim", at->input->rank);
    const Meta *meta = arg_meta(index);
    if (at->out->rank == 0 || !meta_is_static(meta) || meta_numel(meta) > 16) return NULL;
    const Body *hit = NULL, *here = body_of_index(at->b, at->index[dim]);
    for (Dim k = 0; k < meta_numel(meta); k++) {
        Dim place = loaded(at, index, &k, at->input->sizes[dim]);
        const Body *same = body_prim(at->b, PRIM_EQ, here, body_of_index(at->b, place), NULL);
        hit = hit ? body_prim(at->b, PRIM_OR, hit, same, NULL) : same;
    }
    const Body *old = load(at, &at->args[0], at->index);
    if (!hit) return old;
    return choose(at, hit, body_cast(at->b, load(at, value, NULL), at->out->dtype), old);
}

/* ---- arrangements ---- */

static const Body *value_cat(At *at) {
    const Arg *list = &at->args[0];
    bool stacks = strcmp(at->op->shared, "stack") == 0;
    int dim = dim_of(at, "dim", at->out->rank);
    Dim start = 0, place[MAX_RANK], starts[64];
    int kept[64], count = 0;
    for (int i = 0; i < list->list.count; i++) {
        const Meta *meta = arg_meta(&list->list.items[i]);
        if (!stacks && meta->rank == 1 && meta->sizes[0] == 0) continue;
        if (count == 64) return NULL;
        kept[count] = i;
        starts[count++] = start;
        start = dim_add(at->syms, start, stacks ? 1 : meta->sizes[dim]);
    }
    const Body *value = NULL;
    for (int i = count - 1; i >= 0; i--) {
        if (stacks) without(at, place, dim);
        else with(at, place, dim, dim_sub(at->syms, at->index[dim], starts[i]));
        const Body *item = body_cast(at->b, load(at, &list->list.items[kept[i]], place), at->out->dtype);
        value = value ? choose(at, compare(at, PRIM_LT, at->index[dim], starts[i + 1]), item, value) : item;
    }
    return value;
}

static const Body *value_flip(At *at) {
    bool marks[MAX_RANK], all;
    Dim place[MAX_RANK];
    if (!read_dims(at->op, at->args, "dims", at->input->rank, marks, &all, NULL)) return NULL;
    for (int i = 0; i < at->input->rank; i++)
        place[i] = marks[i] && !all ? dim_sub(at->syms, dim_sub(at->syms, at->input->sizes[i], 1), at->index[i]) : at->index[i];
    return load(at, &at->args[0], place);
}

static const Body *value_roll(At *at) {
    Dim shifts[MAX_RANK], dims[MAX_RANK], place[MAX_RANK];
    int shift_count, dim_count, dim;
    if (!read_sizes(at->op, &at->args[1], shifts, &shift_count, NULL) || !read_sizes(at->op, &at->args[2], dims, &dim_count, NULL) || shift_count != dim_count) return NULL;
    memcpy(place, at->index, sizeof(Dim) * (size_t)at->out->rank);
    for (int i = 0; i < dim_count; i++) {
        if (!wrap_dim(dims[i], at->out->rank, &dim, NULL)) return NULL;
        place[dim] = dim_mod(at->syms, dim_sub(at->syms, place[dim], shifts[i]), at->out->sizes[dim]);
    }
    return load(at, &at->args[0], place);
}

static const Body *value_pad(At *at) {
    Dim place[MAX_RANK];
    const Body *inside = NULL;
    memcpy(place, at->index, sizeof(Dim) * (size_t)at->out->rank);
    for (int i = 0; i < at->args[1].ints.count / 2; i++) {
        int dim = at->out->rank - 1 - i;
        Dim lead = at->args[1].ints.at[2 * i], trail = at->args[1].ints.at[2 * i + 1];
        place[dim] = dim_sub(at->syms, at->index[dim], lead);
        if (dim_is(SYM_LT, 0, lead)) inside = both(at, inside, compare(at, PRIM_GE, place[dim], 0));
        if (dim_is(SYM_LT, 0, trail)) inside = both(at, inside, compare(at, PRIM_LT, place[dim], at->input->sizes[dim]));
    }
    const Body *value = load(at, &at->args[0], place);
    if (!inside) return value;
    return choose(at, inside, value, body_cast(at->b, load(at, op_arg(at->op, at->args, "value"), NULL), at->out->dtype));
}

static const Body *value_repeat(At *at) {
    Dim place[MAX_RANK];
    int lead = at->out->rank - at->input->rank;
    for (int i = 0; i < at->input->rank; i++) {
        Dim size = at->input->sizes[i];
        place[i] = size == 1 ? 0 : dim_equal(size, at->out->sizes[i + lead]) ? at->index[i + lead] : dim_mod(at->syms, at->index[i + lead], size);
    }
    return load(at, &at->args[0], place);
}

static const Body *value_triangle(At *at) {
    int r = at->out->rank;
    Dim edge = dim_add(at->syms, at->index[r - 2], op_arg(at->op, at->args, "diagonal")->i);
    return choose(at, compare(at, strcmp(at->op->shared, "tril") == 0 ? PRIM_LE : PRIM_GE, at->index[r - 1], edge), load(at, &at->args[0], at->index), zero(at));
}

/* ---- a piece put where a view was: into a copy of the base, or into zeros ---- */

static bool into_base(const At *at) { return strstr(at->op->shared, "_scatter") != NULL; }

static const Body *put(At *at, const Body *inside, const Dim *place) {
    bool scatters = into_base(at);
    const Body *piece = body_cast(at->b, load(at, &at->args[scatters ? 1 : 0], place), at->out->dtype);
    if (!inside) return piece;
    return choose(at, inside, piece, scatters ? load(at, &at->args[0], at->index) : zero(at));
}

static const Body *value_put_select(At *at) {
    int dim = dim_of(at, "dim", at->out->rank);
    Dim chosen = op_arg(at->op, at->args, "index")->i, place[MAX_RANK];
    if (dim_is(SYM_LT, chosen, 0)) chosen = dim_add(at->syms, chosen, at->out->sizes[dim]);
    without(at, place, dim);
    return put(at, compare(at, PRIM_EQ, at->index[dim], chosen), place);
}

static const Body *value_put_slice(At *at) {
    int dim = dim_of(at, "dim", at->out->rank);
    Dim start, step, length, place[MAX_RANK];
    if (!slice_range(at->op, at->args, at->out, dim, at->syms, &start, &step, &length, NULL)) return NULL;
    const Body *inside = NULL;
    Dim from = dim_sub(at->syms, at->index[dim], start), reach = dim_mul(at->syms, length, step);
    if (!(dim_is_int(start) && start == 0)) inside = compare(at, PRIM_GE, from, 0);
    if (!dim_equal(dim_add(at->syms, start, reach), at->out->sizes[dim])) inside = both(at, inside, compare(at, PRIM_LT, from, reach));
    if (step != 1) inside = both(at, inside, compare(at, PRIM_EQ, dim_mod(at->syms, from, step), 0));
    with(at, place, dim, step == 1 ? from : dim_floordiv(at->syms, from, step));
    return put(at, inside, place);
}

static const Body *value_put_diagonal(At *at) {
    int dim1, dim2, n = 0;
    Dim place[MAX_RANK];
    if (!diagonal_dims(at->op, at->args, at->out->rank, &dim1, &dim2, NULL)) return NULL;
    int64_t offset = arg_as_int(op_arg(at->op, at->args, "offset"));
    for (int i = 0; i < at->out->rank; i++)
        if (i != dim1 && i != dim2) place[n++] = at->index[i];
    place[n] = offset >= 0 ? at->index[dim1] : at->index[dim2];
    return put(at, compare(at, PRIM_EQ, dim_sub(at->syms, at->index[dim2], at->index[dim1]), offset), place);
}

static const struct { const char *name; const Body *(*value)(At *at); } kinds[] = {
    {"index", value_index}, {"gather", value_gather}, {"index_select", value_index_select}, {"embedding", value_embedding}, {"index_fill", value_index_fill},
    {"cat", value_cat}, {"stack", value_cat}, {"flip", value_flip}, {"roll", value_roll}, {"constant_pad_nd", value_pad}, {"repeat", value_repeat},
    {"tril", value_triangle}, {"triu", value_triangle}, {"select_scatter", value_put_select}, {"select_backward", value_put_select},
    {"slice_scatter", value_put_slice}, {"slice_backward", value_put_slice}, {"diagonal_scatter", value_put_diagonal},
    {"diagonal_backward", value_put_diagonal}, {"diag_embed", value_put_diagonal},
};

const Body *index_value_at(BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index) {
    (void)nargs;
    At at = {builder, body_syms(builder), op, args, args[0].tag == ARG_TENSOR ? arg_meta(&args[0]) : NULL, &outs[which], index};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, op->shared) == 0) return kinds[i].value(&at);
    return NULL;
}

/* ---- scatters: one store for each element of a source ---- */

bool scatter_space(const Op *op, const Arg *args, int nargs, const Meta *out, int *rank, Dim *sizes, bool *zeros) {
    (void)nargs, (void)out;
    const Meta *space = NULL;
    Fancy fancy;
    OpContext context = {0};
    *zeros = strcmp(op->shared, "embedding_dense_backward") == 0;
    if (strcmp(op->shared, "index_put") == 0) {
        if (args[1].tag != ARG_TENSORS || has_mask(&args[1]) || !fancy_read(op, args, &fancy, &context, NULL)) return false;
        *rank = fancy.result_rank;
        memcpy(sizes, fancy.result, sizeof fancy.result);
        return true;
    }
    if (*zeros) space = arg_truth(op_arg(op, args, "scale_grad_by_freq"), false) ? NULL : arg_meta(&args[0]);
    else if (strncmp(op->shared, "scatter", 7) == 0) space = op_arg(op, args, "reduce")->tag == ARG_NONE ? arg_meta(&args[2]) : NULL;
    else space = arg_meta(&args[3]);
    if (!space || (space->rank == 0 && !*zeros)) return false;
    *rank = space->rank;
    memcpy(sizes, space->sizes, sizeof space->sizes);
    return true;
}

static const Body *scaled(BodyBuilder *b, const Body *value, const Arg *factor) {
    if (!arg_is_number(factor) || arg_as_double(factor) == 1) return value;
    return body_prim(b, PRIM_MUL, value, body_float(b, value->type, arg_as_double(factor)), NULL);
}

/* A source element that must not be stored (padding) goes to a place of its own value: it adds zero. */
static bool store_embedding(At *at, const Dim *source, Dim *target, const Body **value) {
    const Arg *weights = op_arg(at->op, at->args, "num_weights"), *padding = op_arg(at->op, at->args, "padding_idx");
    int last = at->input->rank - 1;
    const Body *id = load(at, &at->args[1], source);
    target[0] = body_as_index(at->b, id, weights->i, true);
    target[1] = source[last];
    *value = load(at, &at->args[0], source);
    if (arg_as_int(padding) < 0) return true;
    const Body *padded = body_prim(at->b, PRIM_EQ, body_cast(at->b, id, DTYPE_I64), body_int(at->b, DTYPE_I64, arg_as_int(padding)), NULL);
    *value = choose(at, padded, body_int(at->b, (*value)->type, 0), *value);
    return true;
}

bool scatter_store(BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Dim *source_index, Dim *target_index, const Body **value, bool *accumulate) {
    (void)nargs;
    At at = {builder, body_syms(builder), op, args, arg_meta(&args[0]), arg_meta(&args[0]), source_index};
    *accumulate = strcmp(op->shared, "scatter_add") == 0 || strcmp(op->shared, "index_add") == 0 || strcmp(op->shared, "embedding_dense_backward") == 0 ||
                  (strcmp(op->shared, "index_put") == 0 && arg_truth(op_arg(op, args, "accumulate"), false));
    if (strcmp(op->shared, "embedding_dense_backward") == 0) return store_embedding(&at, source_index, target_index, value);
    if (strcmp(op->shared, "index_put") == 0) {
        const Meta *values = arg_meta(&args[2]);
        Fancy fancy;
        OpContext context = {.syms = at.syms};
        if (!fancy_read(op, args, &fancy, &context, NULL) || !fancy_index(&at, at.input, source_index, target_index)) return false;
        Dim place[MAX_RANK];
        for (int i = 0; i < values->rank; i++) place[i] = values->sizes[i] == 1 ? 0 : source_index[fancy.result_rank - values->rank + i];
        *value = load(&at, &args[2], place);
        return true;
    }
    int dim = dim_of(&at, "dim", at.input->rank);
    bool along = strncmp(op->shared, "index_", 6) == 0; /* the index is a vector along dim */
    with(&at, target_index, dim, loaded(&at, &args[2], along ? &source_index[dim] : source_index, at.input->sizes[dim]));
    *value = scaled(builder, load(&at, &args[3], source_index), op_arg(op, args, "alpha"));
    return true;
}
