/* Subscripts of tensors: every kind of key becomes view rows (select, slice, unsqueeze) and, where tensors or lists are in it, one `index`.
 *
 *     x[0, 1:, None]      ->  unsqueeze(slice(select(x, 0, 0), 0, 1, None, 1), 1)
 *     x[mask], x[:, [2, 0]]  ->  index(x, [mask]), index(x, [None, [2, 0]])
 *     x[1:] = y           ->  copy_(x[1:], y)         x[idx] = y  ->  index_put_(x, [idx], y)
 *
 * The key is read from the left; `dim` is the dimension of the present view that the next item takes. Errors are IndexErrors in PyTorch's words.
 * Invariant: a key of ints, slices, None and `...` alone gives a view of the same storage. */
#include "vm/autograd_record.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_state.h"

typedef struct Reading {
    VM *vm;
    Value view;                     /* owned: what the items read so far gave */
    int dim, place;                 /* the dimension that the next item takes, and its place in the index list (a mask is one item of several dims) */
    Value indices[MAX_RANK];        /* by place: owned index tensors, V_NULL where the dimension is taken whole */
    bool advanced, assigning;
} Reading;

static Tensor *view_of(const Reading *r) { return tensor_of(r->view); }

static bool step(Reading *r, const char *row, const Arg *args, int nargs) {
    Value next = vm_op_args(r->vm, row, args, nargs);
    if (value_is_error(next)) return false;
    value_unref(r->vm, r->view);
    r->view = next;
    return true;
}

/* Dimensions of the tensor that an item of the key takes: a mask takes as many as it has. */
static bool is_mask(Value v) { return value_is_tensor(v) && (tensor_of(v)->meta.dtype == DTYPE_BOOL || tensor_of(v)->meta.dtype == DTYPE_U8); }
static int dims_taken(Value v) {
    if (v.tag == V_NONE || v.tag == V_BOOL || v.tag == V_ELLIPSIS) return 0;
    return is_mask(v) ? tensor_of(v)->meta.rank : 1;
}

/* ---- basic items ---- */

static bool refuse_index(Reading *r, int64_t index) {
    const Meta *meta = &view_of(r)->meta;
    vm_raise(r->vm, "IndexError", "index %lld is out of bounds for dimension %d with size %lld", (long long)index, r->dim, (long long)meta->sizes[r->dim]);
    return false;
}

static bool take_int(Reading *r, Value v) {
    Arg index = v.tag == V_INT ? arg_int(dim_clamped(v.i)) : arg_of_value(r->vm, v, NULL);
    const Meta *meta = &view_of(r)->meta;
    Dim size = meta->sizes[r->dim];
    if (dim_is_int(index.i) && dim_is_int(size) && (index.i >= size || index.i < -size)) return refuse_index(r, index.i);
    return step(r, "select", (Arg[]){arg_of_tensor(view_of(r)), arg_int(r->dim), index}, 3);
}

/* A bound of a slice: None, an int, or a tensor of one element. */
static bool slice_bound(VM *vm, Value v, Arg *out) {
    v = vm_force(vm, v);
    if (v.tag == V_NONE) { *out = arg_none(); return true; }
    if (value_is(v, OBJ_SYM)) { *out = arg_int(((SymObject *)v.o)->dim); return true; }
    int64_t i;
    if (!vm_as_int(vm, v, &i)) return false;
    *out = arg_int(dim_clamped(i));
    return true;
}

static bool take_slice(Reading *r, const Slice *slice) {
    Arg args[5] = {arg_of_tensor(view_of(r)), arg_int(r->dim)};
    if (!slice_bound(r->vm, slice->start, &args[2]) || !slice_bound(r->vm, slice->stop, &args[3]) || !slice_bound(r->vm, slice->step, &args[4])) return false;
    if (args[4].tag == ARG_NONE) args[4] = arg_int(1);
    if (dim_is_int(args[4].i) && args[4].i <= 0) { vm_raise(r->vm, "ValueError", "step must be greater than zero"); return false; }
    bool whole = args[4].i == 1 && (args[2].tag == ARG_NONE || args[2].i == 0) && args[3].tag == ARG_NONE;
    if (!whole && !step(r, "slice", args, 5)) return false;
    r->dim++;
    r->place++;
    return true;
}

static bool add_dim(Reading *r) {
    if (!step(r, "unsqueeze", (Arg[]){arg_of_tensor(view_of(r)), arg_int(r->dim)}, 2)) return false;
    r->dim++;
    r->place++;
    return true;
}

/* ---- advanced items ---- */

static bool put_index(Reading *r, Value owned, int dims) {
    if (r->place >= MAX_RANK) { value_unref(r->vm, owned); vm_raise(r->vm, "IndexError", "too many indices"); return false; }
    r->indices[r->place++] = owned;
    r->dim += dims;
    r->advanced = true;
    return true;
}

static bool check_mask(Reading *r, const Tensor *mask) {
    const Meta *meta = &view_of(r)->meta;
    for (int i = 0; i < mask->meta.rank; i++)
        if (r->dim + i >= meta->rank || !dim_same(mask->meta.sizes[i], meta->sizes[r->dim + i])) {
            Text want = {0}, got = {0};
            meta_print(&want, &mask->meta, false, false);
            meta_print(&got, meta, false, false);
            vm_raise(r->vm, "IndexError", "The shape of the mask %s at index %d does not match the shape of the indexed tensor %s at index %d", text_cstr(&want), i, text_cstr(&got), r->dim + i);
            text_free(&want);
            text_free(&got);
            return false;
        }
    return true;
}

/* A mask becomes the positions of its true elements, one index tensor for each of its dimensions. In an assignment it stays a mask: then no
 * shape depends on it. */
static bool take_mask(Reading *r, Tensor *mask) {
    if (!check_mask(r, mask)) return false;
    if (r->assigning) return put_index(r, value_ref(value_tensor(mask)), mask->meta.rank);
    Value positions = vm_op_args(r->vm, "nonzero", (Arg[]){arg_of_tensor(mask)}, 1);
    if (!value_is_tensor(positions)) { value_unref(r->vm, positions); return false; }
    bool ok = true;
    for (int i = 0; ok && i < mask->meta.rank; i++) {
        Value column = vm_op_args(r->vm, "select", (Arg[]){arg_of_tensor(tensor_of(positions)), arg_int(1), arg_int(i)}, 3);
        ok = !value_is_error(column) && put_index(r, column, 1);
    }
    value_unref(r->vm, positions);
    return ok;
}

/* x[True] and x[False]: a dimension of length 1 or 0 in front. */
static bool take_bool(Reading *r, bool b) {
    if (!add_dim(r)) return false;
    r->dim--;
    r->place--;
    Value data = list_new(r->vm, &(Value){.tag = V_INT, .i = 0}, b ? 1 : 0);
    Tensor *index = tensor_from_value(r->vm, data, DTYPE_I64, view_of(r)->meta.device);
    value_unref(r->vm, data);
    return index && put_index(r, value_tensor(index), 1);
}

static bool take_tensor(Reading *r, Tensor *t) {
    if (is_mask(value_tensor(t))) {
        if (t->meta.rank) return take_mask(r, t);
        int truth = vm_truth(r->vm, value_tensor(t));
        return truth >= 0 && take_bool(r, truth > 0);
    }
    if (!dtype_is_int(t->meta.dtype)) {
        vm_raise(r->vm, "IndexError", "tensors used as indices must be long, int, byte or bool tensors");
        return false;
    }
    if (t->meta.rank == 0 && !t->node && !tensor_is_fake(t) && !r->advanced) { /* one element: as an int, a view */
        Value item = tensor_item(r->vm, t);
        return !value_is_error(item) && take_int(r, item);
    }
    return put_index(r, value_ref(value_tensor(t)), 1);
}

/* A list of ints or bools (or lists of them) is an index tensor written out. */
static bool take_sequence(Reading *r, Value v) {
    Tensor *index = tensor_from_value(r->vm, v, DTYPE_NONE, view_of(r)->meta.device);
    if (!index) return false;
    if (meta_numel(&index->meta) == 0 && dtype_is_float(index->meta.dtype)) { /* [] */
        value_unref(r->vm, value_tensor(index));
        index = tensor_from_value(r->vm, v, DTYPE_I64, view_of(r)->meta.device);
    }
    Value held = value_tensor(index);
    bool ok = take_tensor(r, index);
    value_unref(r->vm, held);
    return ok;
}

/* ---- the key ---- */

static bool take_item(Reading *r, Value v, int after) {
    if (v.tag == V_ELLIPSIS) {
        int next = view_of(r)->meta.rank - after;
        r->place += next - r->dim;
        r->dim = next;
        return true;
    }
    if (v.tag == V_NONE) return add_dim(r);
    if (v.tag == V_BOOL) return take_bool(r, v.b);
    if (value_is_tensor(v)) return take_tensor(r, tensor_of(v));
    if (value_is(v, OBJ_SLICE)) return take_slice(r, (const Slice *)v.o);
    if (v.tag == V_INT || value_is(v, OBJ_SYM)) return take_int(r, v);
    if (value_is(v, OBJ_LIST) || value_is(v, OBJ_TUPLE) || value_is(v, OBJ_RANGE)) return take_sequence(r, v);
    vm_raise(r->vm, value_is(v, OBJ_STR) ? "TypeError" : "IndexError", "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)", type_name(r->vm, v));
    return false;
}

static bool take_items(Reading *r, Value *items, int count) {
    int taken = 0;
    bool ellipsis = false;
    for (int i = 0; i < count; i++) {
        Value v = vm_force(r->vm, items[i]);
        taken += dims_taken(v);
        if (v.tag == V_ELLIPSIS && ellipsis) { vm_raise(r->vm, "IndexError", "an index can only have a single ellipsis ('...')"); return false; }
        ellipsis |= v.tag == V_ELLIPSIS;
    }
    if (taken > view_of(r)->meta.rank) {
        if (view_of(r)->meta.rank == 0) vm_raise(r->vm, "IndexError", "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number");
        else vm_raise(r->vm, "IndexError", "too many indices for tensor of dimension %d", view_of(r)->meta.rank);
        return false;
    }
    int left = taken;
    for (int i = 0; i < count; i++) {
        Value v = vm_force(r->vm, items[i]);
        left -= dims_taken(v);
        if (!take_item(r, v, left)) return false;
    }
    return true;
}

/* A tuple is a key of several items; anything else is one item. */
static bool read_key(Reading *r, Value key) {
    key = vm_force(r->vm, key);
    if (value_is(key, OBJ_TUPLE)) return take_items(r, ((Tuple *)key.o)->items, ((Tuple *)key.o)->count);
    return take_items(r, &key, 1);
}

static Reading reading_of(VM *vm, Tensor *t) { return (Reading){.vm = vm, .view = value_ref(value_tensor(t))}; }

static void finish(Reading *r) {
    for (int i = 0; i < MAX_RANK; i++) value_unref(r->vm, r->indices[i]);
    value_unref(r->vm, r->view);
}

/* The index list up to its last tensor. */
static int index_list(const Reading *r, Arg *out) {
    int count = 0;
    for (int i = 0; i < MAX_RANK; i++) {
        out[i] = r->indices[i].tag == V_NULL ? arg_none() : arg_of_tensor(tensor_of(r->indices[i]));
        if (r->indices[i].tag != V_NULL) count = i + 1;
    }
    return count;
}

static Value alias_when_same(VM *vm, const Reading *r, Tensor *t) {
    if (r->view.o != (Object *)t) return value_ref(r->view);
    return vm_op_args(vm, "alias", (Arg[]){arg_of_tensor(t)}, 1); /* x[:], x[...] are new tensors */
}

Value tensor_subscript(VM *vm, Tensor *t, Value key) {
    Reading r = reading_of(vm, t);
    Value result = VALUE_ERROR;
    if (read_key(&r, key)) {
        Arg list[MAX_RANK];
        int count = index_list(&r, list);
        if (r.advanced) result = vm_op_args(vm, "index", (Arg[]){arg_of_tensor(view_of(&r)), {.tag = ARG_TENSORS, .list = {list, count}}}, 2);
        else result = alias_when_same(vm, &r, t);
    }
    finish(&r);
    return result;
}

/* ---- assignment ---- */

/* The value as a tensor: numbers become one of the target's dtype. Owned; NULL: exception set. */
static Tensor *value_as_tensor(VM *vm, Value v, const Tensor *like) {
    v = vm_force(vm, v);
    if (value_is_tensor(v)) return tensor_of(value_ref(v));
    if (v.tag != V_BOOL && v.tag != V_INT && v.tag != V_FLOAT && !value_is(v, OBJ_SYM)) {
        vm_raise(vm, "TypeError", "can't assign a %s to a torch.%s tensor", type_name(vm, v), dtype_info[like->meta.dtype].name);
        return NULL;
    }
    Arg args[] = {arg_of_value(vm, v, NULL), {.tag = ARG_DTYPE, .dtype = like->meta.dtype}, arg_none(), {.tag = ARG_DEVICE, .device = like->meta.device}};
    Value made = vm_op_args(vm, "scalar_tensor", args, 4);
    return value_is_tensor(made) ? tensor_of(made) : NULL;
}

static bool is_same_memory(const Tensor *a, const Tensor *b) {
    return a->storage == b->storage && dim_equal(a->meta.offset, b->meta.offset) && meta_equal(&a->meta, &b->meta);
}

static bool assign_view(VM *vm, const Reading *r, Value value) {
    Value done, v = vm_force(vm, value);
    bool number = v.tag == V_BOOL || v.tag == V_INT || v.tag == V_FLOAT || value_is(v, OBJ_SYM);
    if (number) done = vm_op_args(vm, "fill_", (Arg[]){arg_of_tensor(view_of(r)), arg_of_value(vm, v, NULL)}, 2);
    else {
        Tensor *src = value_as_tensor(vm, v, view_of(r));
        if (!src) return false;
        while (src && src->meta.rank > view_of(r)->meta.rank && dim_is_one(src->meta.sizes[0])) { /* leading ones of the value do not count */
            Value squeezed = vm_op_args(vm, "squeeze", (Arg[]){arg_of_tensor(src), arg_int(0)}, 2);
            value_unref(vm, value_tensor(src));
            src = value_is_tensor(squeezed) ? tensor_of(squeezed) : NULL;
        }
        if (!src) return false;
        if (is_same_memory(src, view_of(r))) { value_unref(vm, value_tensor(src)); return true; } /* x[1:] += y: written already */
        done = vm_op_args(vm, "copy_", (Arg[]){arg_of_tensor(view_of(r)), arg_of_tensor(src)}, 2);
        value_unref(vm, value_tensor(src));
    }
    bool ok = !value_is_error(done);
    value_unref(vm, done);
    return ok;
}

/* One number for all that masks choose is cast to the tensor's dtype; other values must have it. */
static Tensor *cast_for_masks(VM *vm, Tensor *src, const Tensor *target, const Arg *list, int count) {
    bool masks = meta_is_static(&src->meta) && meta_numel(&src->meta) == 1 && src->meta.dtype != target->meta.dtype;
    for (int i = 0; i < count; i++) masks = masks && (list[i].tag != ARG_TENSOR || list[i].tensor.meta->dtype == DTYPE_BOOL);
    if (!masks) return src;
    Value cast = vm_op_args(vm, "_to_copy", (Arg[]){arg_of_tensor(src), {.tag = ARG_DTYPE, .dtype = target->meta.dtype}}, 2);
    value_unref(vm, value_tensor(src));
    return value_is_tensor(cast) ? tensor_of(cast) : NULL;
}

static bool assign_indexed(VM *vm, const Reading *r, Value value) {
    Arg list[MAX_RANK];
    int count = index_list(r, list);
    Tensor *src = value_as_tensor(vm, value, view_of(r));
    if (src) src = cast_for_masks(vm, src, view_of(r), list, count);
    if (!src) return false;
    Value done = vm_op_args(vm, "index_put_", (Arg[]){arg_of_tensor(view_of(r)), {.tag = ARG_TENSORS, .list = {list, count}}, arg_of_tensor(src), arg_bool(false)}, 4);
    value_unref(vm, value_tensor(src));
    bool ok = !value_is_error(done);
    value_unref(vm, done);
    return ok;
}

/* x[mask] = number is masked_fill_: no positions, so nothing depends on the data. */
static bool assign_masked(VM *vm, Tensor *t, Value key, Value value, bool *handled) {
    Value k = vm_force(vm, key), v = vm_force(vm, value);
    *handled = is_mask(k) && tensor_of(k)->meta.rank == t->meta.rank && (v.tag == V_INT || v.tag == V_FLOAT || v.tag == V_BOOL) && meta_same_shape(&tensor_of(k)->meta, &t->meta);
    if (!*handled) return true;
    Value done = vm_op_args(vm, "masked_fill_", (Arg[]){arg_of_tensor(t), arg_of_tensor(tensor_of(k)), arg_of_value(vm, v, NULL)}, 3);
    bool ok = !value_is_error(done);
    value_unref(vm, done);
    return ok;
}

bool tensor_store_subscript(VM *vm, Tensor *t, Value key, Value value) {
    bool handled, ok = assign_masked(vm, t, key, value, &handled);
    if (handled) return ok;
    Reading r = reading_of(vm, t);
    r.assigning = true;
    ok = read_key(&r, key) && (r.advanced ? assign_indexed(vm, &r, value) : assign_view(vm, &r, value));
    finish(&r);
    return ok;
}
