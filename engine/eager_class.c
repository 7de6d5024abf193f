/* Eager class: what a call of one op has in common with calls that the same kernel serves. See eager.h.
 *
 * In: an op and its arguments. Out: the key, and the values that its kernel is given.
 *
 *     add(f32[6, 4], f32[6, 4])     dims joined: f32[24]                    key: add, f32 C[a], f32 C[a], f32 C[a]; a a multiple of 4
 *     sum(f32[6, 4], dim=1)                                                 key: sum, f32 C[a, b], dim 1; b a multiple of 4, in 3 … 32
 *
 * Pointwise ops: the dims of all operands and the result are put in the result's order of memory, and neighbours that every one of them walks as
 * one dim are joined, so that one kernel serves every rank.
 * Invariant: nothing here reads data. To let one more integer parameter of a family differ inside a class: `free_of_shape`. */
#include "eager.h"
#include "op/family.h"
#include "op/scalar_row.h"
#include <string.h>

void op_class_free(OpClass *class) {
    vec_free(&class->key);
    vec_free(&class->forms);
    vec_free(&class->given);
    vec_free(&class->inputs);
}

/* ---- the key ---- */
static void put(OpClass *class, int byte) { vec_push(&class->key, (unsigned char)byte); }

static void put_bytes(OpClass *class, const void *data, size_t count) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < count; i++) vec_push(&class->key, bytes[i]);
}

static void put_int(OpClass *class, int64_t n) { put_bytes(class, &n, sizeof n); }

static uint64_t hash_bytes(const unsigned char *bytes, int count) {
    uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)count, word;
    for (; count > 0; bytes += 8, count -= 8) {
        word = 0;
        memcpy(&word, bytes, count < 8 ? (size_t)count : 8);
        hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- values that are given ---- */
/* Sizes between which a kernel over rows may be bound in another way: the innermost dim by powers of two up to 16384, the others by powers of four. */
static int bucket_of(int64_t size, bool innermost) {
    if (size <= 32) return 1;
    int power = 64 - __builtin_clzll((unsigned long long)(size - 1)); /* size <= 2^power */
    if (innermost && power <= 14) return power;
    return power < 62 ? (power + 1) / 2 * 2 : 62;
}

static int give(OpClass *class, GivenKind kind, int64_t value, bool may_be_multiple, int bucket) {
    int multiple = may_be_multiple && value % class->vector == 0 ? class->vector : 1;
    vec_push(&class->given, ((Given){value, (uint8_t)kind, (uint8_t)multiple, (uint8_t)bucket}));
    return class->given.count - 1 + 2;
}

static int find_size(const OpClass *class, int64_t size) {
    for (int i = 0; i < class->given.count; i++)
        if (class->given.at[i].kind == GIVEN_SIZE && class->given.at[i].value == size) return i + 2;
    return -1;
}

/* Equal sizes are one value. */
static uint8_t size_code(OpClass *class, int64_t size, bool innermost) {
    if (size <= 1) return (uint8_t)(size < 0 ? 0 : size);
    int known = find_size(class, size);
    if (known >= 0) return (uint8_t)known;
    return (uint8_t)give(class, GIVEN_SIZE, size, innermost, class->pointwise ? 0 : bucket_of(size, innermost));
}

static uint8_t stride_code(OpClass *class, int64_t stride) { return (uint8_t)(stride == 0 || stride == 1 ? stride : give(class, GIVEN_STRIDE, stride, true, 0)); }

/* ---- tensors ---- */
/* Dims from outermost to innermost in a dense layout other than the contiguous one. */
static bool dense_order(int rank, const Dim *sizes, const Dim *strides, uint8_t *order) {
    int64_t expected = 1;
    for (int i = 0; i < rank; i++) {
        int j = i;
        for (; j > 0 && strides[order[j - 1]] < strides[i]; j--) order[j] = order[j - 1];
        order[j] = (uint8_t)i;
    }
    for (int i = rank - 1; i >= 0; i--) {
        if (sizes[order[i]] == 1) continue;
        if (strides[order[i]] != expected) return false;
        expected *= sizes[order[i]];
    }
    return true;
}

static bool is_contiguous(int rank, const Dim *sizes, const Dim *strides) {
    int64_t expected = 1;
    for (int i = rank - 1; i >= 0; i--) {
        if (sizes[i] == 1) continue;
        if (strides[i] != expected) return false;
        expected *= sizes[i];
    }
    return true;
}

static void put_form(OpClass *class, DType dtype, int rank, const Dim *sizes, const Dim *strides) {
    TensorForm form = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
    for (int i = 0; i < rank; i++) form.sizes[i] = size_code(class, sizes[i], false);
    if (is_contiguous(rank, sizes, strides)) form.layout = FORM_CONTIGUOUS;
    else if (dense_order(rank, sizes, strides, form.strides)) form.layout = FORM_ORDERED;
    else {
        form.layout = FORM_STRIDED;
        for (int i = 0; i < rank; i++) form.strides[i] = form.sizes[i] == 1 ? 0 : stride_code(class, strides[i]);
    }
    put(class, form.dtype), put(class, form.rank), put(class, form.layout);
    put_bytes(class, form.sizes, (size_t)rank);
    if (form.layout != FORM_CONTIGUOUS) put_bytes(class, form.strides, (size_t)rank);
    vec_push(&class->forms, form);
}

static void put_exact(OpClass *class, const Meta *meta) {
    put(class, meta->dtype), put(class, meta->rank), put(class, FORM_EXACT);
    put_bytes(class, meta->sizes, sizeof(Dim) * (size_t)meta->rank);
    put_bytes(class, meta->strides, sizeof(Dim) * (size_t)meta->rank);
    vec_push(&class->forms, ((TensorForm){.dtype = (uint8_t)meta->dtype, .rank = (uint8_t)meta->rank, .layout = FORM_EXACT}));
}

static void add_input(OpClass *class, const Arg *tensor) {
    const Meta *meta = tensor->tensor.meta;
    char *data = tensor->tensor.data;
    vec_push(&class->inputs, data ? data + meta->offset * dtype_size(meta->dtype) : NULL);
}

/* ---- what the whole call says ---- */
typedef struct Survey { int narrowest; bool wide; } Survey;

static void survey_tensor(Survey *survey, const Meta *meta) {
    int64_t span = meta_storage_span(meta) - meta->offset;
    if (dtype_size(meta->dtype) < survey->narrowest) survey->narrowest = dtype_size(meta->dtype);
    if (span >= (INT64_C(1) << 31) - (1 << 16)) survey->wide = true; /* the last block may count past the end */
}

static void survey_args(Survey *survey, const Arg *args, int count) {
    for (int i = 0; i < count; i++) {
        if (args[i].tag == ARG_TENSOR) survey_tensor(survey, args[i].tensor.meta);
        if (args[i].tag == ARG_TENSORS) survey_args(survey, args[i].list.items, args[i].list.count);
    }
}

static void survey(OpClass *class) {
    Survey all = {16, false};
    survey_args(&all, class->args, class->nargs);
    survey_args(&all, class->outs, class->nouts);
    class->vector = 16 / all.narrowest;
    class->narrow = !all.wide;
}

/* ---- pointwise ---- */
enum { MAX_SIDES = 10 };
typedef struct WalkSide { const Meta *meta; int64_t strides[MAX_RANK]; } WalkSide;
typedef struct Walk { int rank, count; int64_t sizes[MAX_RANK]; WalkSide sides[MAX_SIDES]; /* [0]: the result */ } Walk;

static void walk_side(WalkSide *side, const Meta *out) {
    const Meta *meta = side->meta;
    int lead = out->rank - meta->rank;
    for (int i = 0; i < out->rank; i++) side->strides[i] = i < lead || (meta->sizes[i - lead] == 1 && out->sizes[i] != 1) ? 0 : meta->strides[i - lead];
}

static void swap_dims(Walk *walk, int a, int b) {
    int64_t size = walk->sizes[a];
    walk->sizes[a] = walk->sizes[b], walk->sizes[b] = size;
    for (int s = 0; s < walk->count; s++) {
        int64_t stride = walk->sides[s].strides[a];
        walk->sides[s].strides[a] = walk->sides[s].strides[b], walk->sides[s].strides[b] = stride;
    }
}

static void move_dim(Walk *walk, int to, int from) {
    if (to == from) return;
    walk->sizes[to] = walk->sizes[from];
    for (int s = 0; s < walk->count; s++) walk->sides[s].strides[to] = walk->sides[s].strides[from];
}

static bool walks_as_one(const Walk *walk, int outer, int inner) {
    for (int s = 0; s < walk->count; s++)
        if (walk->sides[s].strides[outer] != walk->sides[s].strides[inner] * walk->sizes[inner]) return false;
    return true;
}

/* Sizes of 1 dropped, in the result's order of memory, neighbours joined. */
static void walk_join(Walk *walk, const Meta *out) {
    int kept = 0;
    for (int i = 0; i < out->rank; i++)
        if (out->sizes[i] != 1) {
            walk->sizes[i] = out->sizes[i];
            move_dim(walk, kept++, i);
        }
    for (int i = 1; i < kept; i++)
        for (int j = i; j > 0 && walk->sides[0].strides[j - 1] < walk->sides[0].strides[j]; j--) swap_dims(walk, j - 1, j);
    walk->rank = 0;
    for (int i = 0; i < kept; i++) {
        if (walk->rank > 0 && walks_as_one(walk, walk->rank - 1, i)) {
            int64_t size = walk->sizes[walk->rank - 1] * walk->sizes[i];
            move_dim(walk, walk->rank - 1, i);
            walk->sizes[walk->rank - 1] = size;
        } else move_dim(walk, walk->rank++, i);
    }
}

/* Whole vectors along the innermost dim: the result lies along it, and every row of a side that does too begins on one. */
static bool walk_takes_vectors(const Walk *walk, int vector) {
    int inner = walk->rank - 1;
    if (inner < 0 || walk->sizes[inner] % vector || walk->sides[0].strides[inner] != 1) return false;
    for (int s = 0; s < walk->count; s++)
        for (int i = 0; i < inner && walk->sides[s].strides[inner] == 1; i++)
            if (walk->sides[s].strides[i] % vector) return false;
    return true;
}

/* A tensor of rank 0 keeps that rank: promotion asks for it. Broadcast dims have size 1. */
static void put_side(OpClass *class, const Walk *walk, const WalkSide *side) {
    Dim sizes[MAX_RANK], strides[MAX_RANK];
    int rank = side->meta->rank == 0 ? 0 : walk->rank ? walk->rank : 1;
    for (int i = 0; i < rank; i++) {
        bool moves = walk->rank > 0 && side->strides[i] != 0;
        sizes[i] = moves ? walk->sizes[i] : 1;
        strides[i] = moves ? side->strides[i] : 0;
    }
    put_form(class, side->meta->dtype, rank, sizes, strides);
}

static bool walk_begin_call(OpClass *class, Walk *walk) {
    const Meta *out = class->outs[0].tensor.meta;
    walk->count = 0;
    walk->sides[walk->count++].meta = out;
    for (int i = 0; i < class->nargs; i++) {
        if (class->args[i].tag == ARG_TENSORS || walk->count == MAX_SIDES) return false;
        if (class->args[i].tag == ARG_TENSOR) walk->sides[walk->count++].meta = class->args[i].tensor.meta;
    }
    for (int s = 0; s < walk->count; s++) {
        if (walk->sides[s].meta->rank > out->rank) return false;
        walk_side(&walk->sides[s], out);
    }
    walk_join(walk, out);
    return true;
}

/* Numbers that the row's expression reads differ inside the class, but for those left at their defaults. */
static bool is_default(const Op *op, int i) {
    return i < op->signature->count && !op->signature->varargs && op->signature->has_default[i];
}

static bool is_given_number(const OpClass *class, int i, const bool *used) {
    const Arg *arg = &class->args[i];
    if ((arg->tag != ARG_INT && arg->tag != ARG_FLOAT) || !used[i]) return false;
    if (!is_default(class->op, i)) return true;
    const Const *standard = &class->op->signature->defaults[i];
    if (standard->kind == CONST_INT) return !(arg->tag == ARG_INT && arg->i == standard->i);
    if (standard->kind == CONST_FLOAT) return !(arg->tag == ARG_FLOAT && arg->f == standard->f);
    return true;
}

static void give_number(OpClass *class, const Arg *arg, int place) {
    int64_t value = arg->i;
    if (arg->tag == ARG_FLOAT) memcpy(&value, &arg->f, sizeof value);
    give(class, arg->tag == ARG_INT ? GIVEN_INT : GIVEN_FLOAT, value, false, 0);
    class->given_args |= 1u << place;
}

static void put_constant(OpClass *class, const Arg *arg);

static void put_plain_args(OpClass *class) {
    for (int i = 0; i < class->nargs; i++) {
        put(class, class->args[i].tag);
        if (class->args[i].tag == ARG_TENSOR) continue;
        if (class->given_args & 1u << i) put(class, 255);
        else put_constant(class, &class->args[i]);
    }
}

static bool classify_pointwise(OpClass *class) {
    Walk walk;
    bool used[32] = {0};
    const ScalarVariant *variant = op_scalar(class->op, class->args);
    if (!variant || class->nargs > 30 || class->nouts != 1 || !walk_begin_call(class, &walk)) return false;
    class->variant = (int)(variant - class->op->variants);
    put(class, class->variant), put(class, class->variant >> 8);
    for (int i = 0; i < walk.rank; i++) class->empty |= walk.sizes[i] == 0;
    if (walk_takes_vectors(&walk, class->vector)) size_code(class, walk.sizes[walk.rank - 1], true);
    else class->vector = 1;
    for (int s = 1; s < walk.count; s++) put_side(class, &walk, &walk.sides[s]);
    put_side(class, &walk, &walk.sides[0]);
    scalar_row_uses(variant->expr, used);
    for (int i = 0; i < class->nargs; i++)
        if (is_given_number(class, i, used)) give_number(class, &class->args[i], i);
    put_plain_args(class);
    for (int i = 0; i < class->nargs; i++)
        if (class->args[i].tag == ARG_TENSOR) add_input(class, &class->args[i]);
    return class->given.count < MAX_GIVEN;
}

/* ---- other ops ---- */
static bool name_among(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

/* Integer parameters that choose a kernel, and say nothing of sizes. */
static const char *const free_of_shape[] = {"dim", "dims", "reduction", "ignore_index", "padding_idx", "correction", "ord", "diagonal", "dim0", "dim1", "low", "high", "from_", "to", "shifts", "repeats", "pad", "output_mask", NULL};
/* Those that are a size of the result or of the input, and that no kernel reads but as that. */
static const char *const sizes_of_shape[] = {"size", "normalized_shape", "input_sizes", NULL};

static bool is_place(const Op *op, const Arg *args, int i) { return args[i].tag == ARG_INT && args[i].i >= 0 && strcmp(op_param(op, i), "index") == 0; }

/* Numbers of a creation op that its kernel can be given. */
static bool is_free_number(const Op *op, const Arg *args, int i) {
    if (op->family != FAMILY_CREATE || (args[i].tag != ARG_INT && args[i].tag != ARG_FLOAT)) return false;
    static const char *const values[] = {"fill_value", "s", NULL}, *const bounds[] = {"start", "end", "step", NULL};
    if (name_among(op_param(op, i), values)) return true;
    bool whole = name_among(op_param(op, i), bounds);
    for (int k = 0; whole && k < op->nparams; k++) whole = args[k].tag != ARG_FLOAT;
    return whole;
}

/* A tensor of equal elements: its shape does not matter. */
static bool is_fill(const Op *op, const Meta *out) {
    static const char *const words[] = {"zeros", "ones", "full", "empty", NULL};
    return op->family == FAMILY_CREATE && name_among(op->shared, words) && meta_is_dense(out);
}

static bool has_general_form(const Op *op, const Arg *args, int nargs) {
    if (op->family == FAMILY_CONTRACT || op->family == FAMILY_VIEW || op->family == FAMILY_COMPOSITE || op_has(op, TRAIT_NO_LOWER)) return false;
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag != ARG_INT && args[i].tag != ARG_INTS) continue;
        const char *name = op_param(op, i);
        if (!name_among(name, sizes_of_shape) && !name_among(name, free_of_shape) && !is_free_number(op, args, i) && !is_place(op, args, i)) return false;
    }
    return true;
}

static void put_constant(OpClass *class, const Arg *arg) {
    switch (arg->tag) {
    case ARG_BOOL: put(class, arg->b); break;
    case ARG_INT: put_int(class, arg->i); break;
    case ARG_FLOAT: put_bytes(class, &arg->f, sizeof arg->f); break;
    case ARG_INTS:
        put(class, arg->ints.count);
        put_bytes(class, arg->ints.at, sizeof(Dim) * (size_t)arg->ints.count);
        break;
    case ARG_FLOATS:
        put(class, arg->floats.count);
        put_bytes(class, arg->floats.at, sizeof(double) * (size_t)arg->floats.count);
        break;
    case ARG_STR: put_bytes(class, arg->s, strlen(arg->s) + 1); break;
    case ARG_DTYPE: put(class, arg->dtype); break;
    default: break; /* a device is the class's */
    }
}

static void put_tensor(OpClass *class, const Arg *arg) {
    const Meta *meta = arg->tensor.meta;
    if (class->exact) put_exact(class, meta);
    else put_form(class, meta->dtype, meta->rank, meta->sizes, meta->strides);
}

static void put_argument(OpClass *class, const Arg *arg, int place, bool in_list) {
    put(class, arg->tag);
    if (arg->tag == ARG_TENSOR) {
        put_tensor(class, arg);
        add_input(class, arg);
    } else if (arg->tag == ARG_TENSORS) {
        put_int(class, arg->list.count);
        for (int i = 0; i < arg->list.count; i++) put_argument(class, &arg->list.items[i], place, true);
    } else if (!class->exact && !in_list && arg->tag == ARG_INTS && name_among(op_param(class->op, place), sizes_of_shape)) {
        put(class, arg->ints.count);
        for (int i = 0; i < arg->ints.count; i++) put(class, size_code(class, arg->ints.at[i], false));
    } else if (!class->exact && !in_list && is_place(class->op, class->args, place)) {
        class->index_arg = place;
        class->index_given = give(class, GIVEN_INDEX, arg->i, false, 0) - 2;
    } else if (!in_list && place < 30 && class->given_args & 1u << place) put(class, 255);
    else put_constant(class, arg);
}

/* The innermost dims first, so that what vectors need is known of them. */
static void note_innermost(OpClass *class, const Arg *args, int count) {
    for (int i = 0; i < count; i++) {
        if (args[i].tag == ARG_TENSORS) note_innermost(class, args[i].list.items, args[i].list.count);
        if (args[i].tag != ARG_TENSOR) continue;
        const Meta *meta = args[i].tensor.meta;
        for (int d = meta->rank - 1; d >= 0; d--)
            if (meta->sizes[d] > 1 && meta->strides[d] == 1) {
                size_code(class, meta->sizes[d], true);
                break;
            }
    }
}

static void put_fill_form(OpClass *class, DType dtype, int64_t count) {
    Dim one = 1;
    size_code(class, count, true);
    put_form(class, dtype, 1, &count, &one);
}

/* Inputs of a fill are not read: they stand in its graph with the result's size. */
static void classify_fill(OpClass *class) {
    const Meta *out = class->outs[0].tensor.meta;
    int64_t count = meta_numel(out);
    class->empty = count == 0 || strcmp(class->op->shared, "empty") == 0;
    for (int i = 0; i < class->nargs && i < 30; i++)
        if (is_free_number(class->op, class->args, i)) give_number(class, &class->args[i], i);
    for (int i = 0; i < class->nargs; i++) {
        if (class->args[i].tag == ARG_TENSOR) {
            put_fill_form(class, class->args[i].tensor.meta->dtype, count);
            add_input(class, &class->args[i]);
        } else if (class->args[i].tag != ARG_INTS) {
            put(class, class->args[i].tag);
            if (!(class->given_args & 1u << i)) put_constant(class, &class->args[i]);
        }
    }
    put_fill_form(class, out->dtype, count);
}

static void classify_general(OpClass *class) {
    if (!class->exact) {
        note_innermost(class, class->args, class->nargs);
        if (class->given.count == 0) note_innermost(class, class->outs, class->nouts);
    }
    for (int i = 0; i < class->nargs && i < 30 && !class->exact; i++)
        if (is_free_number(class->op, class->args, i)) give_number(class, &class->args[i], i);
    for (int i = 0; i < class->nargs; i++) put_argument(class, &class->args[i], i, false);
    for (int i = 0; i < class->nouts; i++) put_tensor(class, &class->outs[i]);
}

/* ---- the whole ---- */
static void begin(OpClass *class, const Op *op, bool exact) {
    class->key.count = class->forms.count = class->given.count = class->inputs.count = 0;
    class->op = op;
    class->exact = exact;
    class->pointwise = class->empty = false;
    class->given_args = 0;
    class->index_arg = class->index_given = -1;
    put(class, op->index), put(class, op->index >> 8);
    put(class, class->device.kind), put(class, class->device.index);
    put(class, class->narrow | exact << 1);
}

static void end(OpClass *class) {
    for (int i = 0; i < class->given.count; i++) put(class, class->given.at[i].kind), put(class, class->given.at[i].multiple), put(class, class->given.at[i].bucket);
    class->hash = hash_bytes(class->key.at, class->key.count);
}

/* Operands in the target's memory, read in another order than it is written. */
static bool reads_target_crosswise(const Arg *args, int nargs) {
    const Meta *target = args[0].tensor.meta;
    for (int i = 1; i < nargs; i++) {
        if (args[i].tag != ARG_TENSOR || args[i].tensor.data != args[0].tensor.data || !args[0].tensor.data) continue;
        const Meta *meta = args[i].tensor.meta;
        if (!meta_equal(meta, target) || meta->offset != target->offset) return true;
    }
    return false;
}

void op_classify(OpClass *class, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, Device device, bool exact) {
    bool inplace = op_has(op, TRAIT_INPLACE) && op->functional_op;
    const Op *row = inplace ? op->functional_op : op;
    class->args = args, class->nargs = nargs, class->outs = outs, class->nouts = nouts, class->device = device;
    survey(class);
    if (!exact && row->family == FAMILY_POINTWISE && nouts == 1 && !(inplace && reads_target_crosswise(args, nargs))) {
        begin(class, row, false);
        class->pointwise = true;
        if (classify_pointwise(class)) {
            put(class, 'p');
            end(class);
            return;
        }
    }
    bool fills = !exact && nouts == 1 && is_fill(row, outs[0].tensor.meta);
    begin(class, op, !fills && (exact || !has_general_form(row, args, nargs)));
    if (fills) classify_fill(class);
    else classify_general(class);
    if (!class->exact && class->given.count >= MAX_GIVEN) {
        begin(class, op, true);
        classify_general(class);
    }
    end(class);
}
