/* Views at an index: which element of the input an element of the view is.
 *
 * In: a view op and a logical index of its output. Out: the input's value at the corresponding logical index.
 *
 *     select(x, 0, 2) at [j] -> x at [2, j];   view(x[2, 6], [3, 4]) at [i, j] -> x at [(4 i + j) // 6, (4 i + j) % 6]
 *
 * Invariant: only logical indices are used, never strides (as_strided excepted, which needs a contiguous input), so a view of a value that was
 * never stored is as good as one of memory. */
#include "ir/body.h"
#include "op/view.h"
#include <string.h>

typedef struct Place { BodyBuilder *builder; SymTable *syms; const Op *op; const Arg *args; const Meta *input, *out; const Dim *index; Dim at[MAX_RANK]; int which; } Place;

/* Splits a linear index over dims [first, last] of the input. */
static void delinearize(Place *p, Dim linear, int first, int last) {
    for (int i = last; i >= first; i--) {
        p->at[i] = i == first ? linear : dim_mod(p->syms, linear, p->input->sizes[i]);
        if (i > first) linear = dim_floordiv(p->syms, linear, p->input->sizes[i]);
    }
}

static Dim linearize(Place *p, int first, int last) {
    Dim linear = 0;
    for (int i = first; i <= last; i++) linear = dim_add(p->syms, dim_mul(p->syms, linear, p->out->sizes[i]), p->index[i]);
    return linear;
}

/* Dims are matched in the smallest groups of equal products, so that dims that were not touched keep their plain index. */
static bool place_reshape(Place *p) {
    int from = p->input->rank - 1, to = p->out->rank - 1;
    while (from >= 0 || to >= 0) {
        int from_last = from, to_last = to;
        Dim have = from >= 0 ? p->input->sizes[from--] : 1, want = to >= 0 ? p->out->sizes[to--] : 1;
        while (!dim_equal(have, want)) {
            bool grow_input = to < 0 || (from >= 0 && dim_hint(have) < dim_hint(want));
            if (from < 0 && to < 0) break; /* the rest is the same number of elements: the view was allowed */
            if (grow_input && from < 0) return false;
            if (!grow_input && to < 0) return false;
            if (grow_input) have = dim_mul(p->syms, have, p->input->sizes[from--]);
            else want = dim_mul(p->syms, want, p->out->sizes[to--]);
        }
        if (from_last >= 0) delinearize(p, linearize(p, to + 1, to_last), from + 1, from_last);
    }
    return true;
}

static bool place_expand(Place *p) {
    int lead = p->out->rank - p->input->rank;
    for (int i = 0; i < p->input->rank; i++) p->at[i] = p->input->sizes[i] == 1 ? 0 : p->index[i + lead];
    return true;
}

static bool place_permute(Place *p) {
    int dim;
    for (int i = 0; i < p->input->rank; i++) {
        if (!wrap_dim(p->args[1].ints.at[i], p->input->rank, &dim, NULL)) return false;
        p->at[dim] = p->index[i];
    }
    return true;
}

static bool place_transpose(Place *p) {
    int a = 0, b = p->input->rank - 1;
    for (int i = 0; i < p->input->rank; i++) p->at[i] = p->index[i];
    if (p->input->rank < 2) return true;
    if (strcmp(p->op->shared, "t") != 0 && (!read_dim(p->op, p->args, "dim0", p->input->rank, &a, NULL) || !read_dim(p->op, p->args, "dim1", p->input->rank, &b, NULL))) return false;
    p->at[a] = p->index[b];
    p->at[b] = p->index[a];
    return true;
}

static bool place_squeeze(Place *p) {
    bool marks[MAX_RANK], all;
    int from = 0;
    if (!read_dims(p->op, p->args, "dim", p->input->rank, marks, &all, NULL)) return false;
    for (int i = 0; i < p->input->rank; i++) p->at[i] = marks[i] && p->input->sizes[i] == 1 ? 0 : p->index[from++];
    return true;
}

static bool place_unsqueeze(Place *p) {
    int dim;
    if (!read_dim(p->op, p->args, "dim", p->out->rank, &dim, NULL)) return false;
    for (int i = 0; i < p->input->rank; i++) p->at[i] = p->index[i < dim ? i : i + 1];
    return true;
}

static void insert_index(Place *p, int dim, Dim value) {
    for (int i = 0; i < p->input->rank; i++) p->at[i] = i == dim ? value : p->index[i < dim ? i : i - 1];
}

static bool place_select(Place *p) {
    int dim;
    Dim index = op_arg(p->op, p->args, "index")->i;
    if (!read_dim(p->op, p->args, "dim", p->input->rank, &dim, NULL)) return false;
    if (dim_is(SYM_LT, index, 0)) index = dim_add(p->syms, index, p->input->sizes[dim]);
    insert_index(p, dim, index);
    return true;
}

static bool place_slice(Place *p) {
    int dim;
    Dim start, step, length;
    if (!read_dim(p->op, p->args, "dim", p->input->rank, &dim, NULL) || !slice_range(p->op, p->args, p->input, dim, p->syms, &start, &step, &length, NULL)) return false;
    for (int i = 0; i < p->input->rank; i++) p->at[i] = p->index[i];
    p->at[dim] = dim_add(p->syms, dim_mul(p->syms, p->index[dim], step), start);
    return true;
}

static bool place_diagonal(Place *p) {
    int dim1, dim2, from = 0;
    if (!diagonal_dims(p->op, p->args, p->input->rank, &dim1, &dim2, NULL)) return false;
    int64_t offset = arg_as_int(op_arg(p->op, p->args, "offset"));
    Dim along = p->index[p->out->rank - 1];
    for (int i = 0; i < p->input->rank; i++) {
        if (i == dim1) p->at[i] = dim_add(p->syms, along, offset < 0 ? -offset : 0);
        else if (i == dim2) p->at[i] = dim_add(p->syms, along, offset > 0 ? offset : 0);
        else p->at[i] = p->index[from++];
    }
    return true;
}

static bool place_unfold(Place *p) {
    int dim;
    if (p->input->rank == 0 || !read_dim(p->op, p->args, "dimension", p->input->rank, &dim, NULL)) return p->input->rank == 0;
    for (int i = 0; i < p->input->rank; i++) p->at[i] = p->index[i];
    p->at[dim] = dim_add(p->syms, dim_mul(p->syms, p->index[dim], op_arg(p->op, p->args, "step")->i), p->index[p->out->rank - 1]);
    return true;
}

static bool place_as_strided(Place *p) {
    if (!meta_is_contiguous(p->input)) return false;
    Dim linear = dim_sub(p->syms, p->out->offset, p->input->offset);
    for (int i = 0; i < p->out->rank; i++) linear = dim_add(p->syms, linear, dim_mul(p->syms, p->index[i], p->out->strides[i]));
    delinearize(p, linear, 0, p->input->rank - 1);
    return true;
}

static bool place_alias(Place *p) {
    for (int i = 0; i < p->input->rank; i++) p->at[i] = p->index[i];
    return true;
}

static bool place_split(Place *p) {
    int dim;
    Dim start = 0;
    if (!read_dim(p->op, p->args, "dim", p->input->rank, &dim, NULL)) return false;
    if (p->args[1].tag == ARG_INTS)
        for (int i = 0; i < p->which; i++) start = dim_add(p->syms, start, p->args[1].ints.at[i]);
    else start = dim_mul(p->syms, p->args[1].i, p->which);
    place_alias(p);
    p->at[dim] = dim_add(p->syms, p->index[dim], start);
    return true;
}

static bool place_unbind(Place *p) {
    int dim;
    if (!read_dim(p->op, p->args, "dim", p->input->rank, &dim, NULL)) return false;
    insert_index(p, dim, p->which);
    return true;
}

static const struct { const char *name; bool (*place)(Place *p); } kinds[] = {
    {"view", place_reshape}, {"reshape", place_reshape}, {"expand", place_expand}, {"permute", place_permute}, {"transpose", place_transpose},
    {"t", place_transpose}, {"squeeze", place_squeeze}, {"unsqueeze", place_unsqueeze}, {"select", place_select}, {"slice", place_slice},
    {"diagonal", place_diagonal}, {"unfold", place_unfold}, {"as_strided", place_as_strided}, {"alias", place_alias}, {"split", place_split}, {"unbind", place_unbind},
};

const struct Body *view_value_at(struct BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index) {
    (void)nargs;
    Place place = {.builder = builder, .syms = body_syms(builder), .op = op, .args = args, .input = arg_meta(&args[0]), .out = &outs[which], .index = index, .which = which};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, op->shared) == 0) return kinds[i].place(&place) ? body_load(builder, &args[0], place.at) : NULL;
    return NULL; /* a view of the bits as another dtype has no loop form */
}
