/* What changes a tensor's own shape or memory: x.unsqueeze_(0), x.t_(), x.resize_(2, 3), x.set_(y).
 *
 *     x.unsqueeze_(0)      ->      former x, kept by the tape;  x is now its view
 *
 * In: args[0] is the tensor. In a captured region they break the graph. Invariant: a tensor changed so holds exactly one place on the tape, that
 * of the view op's output; its version goes up. To add an in-place view: a line in `tensor_become_methods`, with the row of the same name. */
#include "run/runtime.h"
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/tensor_method.h"
#include "vm/torch_state.h"
#include <stdlib.h>
#include <string.h>

#define SELF tensor_of(args[0])

/* ---- in-place views ---- */

/* A tensor that stands where t stood: same memory, same place on the tape, view of the same base. t keeps only its memory. */
static Tensor *take_place(Tensor *t, VM *vm) {
    Tensor *former = tensor_alias(vm, t);
    former->grad_fn = t->grad_fn ? grad_node_ref(t->grad_fn) : NULL;
    former->grad_index = t->grad_index;
    former->grad_version = t->grad_version;
    former->base = t->base;
    former->view_op = t->view_op;
    former->view_args = t->view_args;
    former->view_kind = t->view_kind;
    former->is_view = t->is_view;
    t->base = NULL;
    t->view_args = VALUE_NULL;
    t->view_op = NULL;
    return former;
}

static void give_place(VM *vm, Tensor *t, Tensor *made, Tensor *former) {
    bool was_view = former->base != NULL;
    t->meta = made->meta;
    t->is_view = was_view;
    t->view_kind = VIEW_NONE;
    if (made->grad_fn) autograd_attach(vm, t, made->grad_fn, made->grad_index);
    if (!was_view) return;
    t->base = tensor_of(value_ref(value_tensor(former)));
    t->view_op = made->view_op;
    t->view_args = value_ref(made->view_args);
    t->view_kind = VIEW_NORMAL;
}

/* The in-place overloads have numbers of their own. */
static void name_place(Tensor *t) {
    static const struct { const char *plain, *inplace; } names[] = {{"TBackward0", "TBackward1"}, {"SqueezeBackward0", "SqueezeBackward3"}, {"SqueezeBackward1", "SqueezeBackward4"},
        {"UnsqueezeBackward0", "UnsqueezeBackward1"}, {"TransposeBackward0", "TransposeBackward1"}};
    for (size_t i = 0; t->grad_fn && i < sizeof names / sizeof *names; i++)
        if (strcmp(t->grad_fn->name, names[i].plain) == 0) { t->grad_fn->name = names[i].inplace; return; }
}

static Value become(VM *vm, Value *args, int nargs, Tuple *kwnames, const char *row) {
    Tensor *t = SELF;
    if (!autograd_check_inplace(vm, t)) return VALUE_ERROR;
    Tensor *former = take_place(t, vm);
    args[0] = value_tensor(former);
    Value made = vm_call_op(vm, op_find(vm->ops, row), args, nargs, kwnames);
    args[0] = value_tensor(t);
    bool ok = value_is_tensor(made);
    give_place(vm, t, ok ? tensor_of(made) : former, former);
    name_place(t);
    if (ok) t->storage->version++;
    value_unref(vm, made);
    value_unref(vm, value_tensor(former));
    return ok ? value_ref(args[0]) : VALUE_ERROR;
}

#define BECOMES(name, row) \
    static Value method_##name(VM *vm, Value *args, int nargs, Tuple *kwnames) { return become(vm, args, nargs, kwnames, row); }
BECOMES(squeeze_, "squeeze") BECOMES(unsqueeze_, "unsqueeze") BECOMES(t_, "t") BECOMES(transpose_, "transpose") BECOMES(as_strided_, "as_strided")
BECOMES(swapaxes_, "transpose") BECOMES(swapdims_, "transpose")

/* ---- other memory ---- */

static bool refuse_leaf(VM *vm, const Tensor *t, const char *what) {
    if (!t->requires_grad && !t->grad_fn) return true;
    vm_raise(vm, "RuntimeError", "cannot %s variables that require grad", what);
    return false;
}

/* The storage's memory is replaced by a larger one that begins with the same bytes: all tensors over it see that. */
static bool grow(VM *vm, Storage *storage, int64_t bytes) {
    if (bytes <= storage->bytes) return true;
    Storage *larger = storage_new(vm->runtime, storage->device, bytes);
    OpError error = {0};
    if (!larger) { vm_raise(vm, "MemoryError", "resize_: %lld bytes cannot be had", (long long)bytes); return false; }
    bool ok = storage->bytes == 0 || !storage->data || device_copy(vm->runtime, larger->data, storage->device, storage->data, storage->device, storage->bytes, &error);
    if (!ok) vm_raise_op_error(vm, &error);
    else {
        void *data = storage->data;
        int64_t old = storage->bytes;
        storage->data = larger->data;
        storage->bytes = larger->bytes;
        larger->data = data;
        larger->bytes = old;
    }
    storage_unref(larger);
    return ok;
}

static bool read_sizes(VM *vm, Value *args, int nargs, Meta *meta) {
    Value *items = args;
    int count = nargs;
    if (nargs == 1 && !value_is_number(args[0]) && !sequence_view(args[0], &items, &count)) { vm_raise(vm, "TypeError", "resize_(): sizes must be integers, not %s", type_name(vm, args[0])); return false; }
    if (count > MAX_RANK) { vm_raise(vm, "RuntimeError", "resize_: more than %d dimensions", MAX_RANK); return false; }
    meta->rank = count;
    for (int i = 0; i < count; i++) {
        int64_t size;
        if (!vm_as_int(vm, items[i], &size)) return false;
        if (size < 0) { vm_raise(vm, "RuntimeError", "resize_: a size cannot be negative, got %lld", (long long)size); return false; }
        meta->sizes[i] = size;
    }
    meta_set_contiguous(meta, NULL);
    if (!meta_is_countable(meta)) { vm_raise(vm, "RuntimeError", "resize_: the sizes multiply to more bytes than 64 bits count"); return false; }
    return true;
}

static Value resize(VM *vm, Tensor *t, Value *sizes, int count) {
    Meta meta = t->meta;
    if (!refuse_leaf(vm, t, "resize") || !read_sizes(vm, sizes, count, &meta)) return VALUE_ERROR;
    bool same = meta.rank == t->meta.rank && memcmp(meta.sizes, t->meta.sizes, (size_t)meta.rank * sizeof *meta.sizes) == 0;
    if (!same && !grow(vm, t->storage, (meta_numel(&meta) + meta.offset) * dtype_size(meta.dtype))) return VALUE_ERROR;
    if (!same) t->meta = meta;
    t->storage->version++;
    return value_ref(value_tensor(t));
}

static Value method_resize_(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    if (kwnames) return vm_raise(vm, "NotImplementedError", "resize_(memory_format=…) is not supported");
    return resize(vm, SELF, args + 1, nargs - 1);
}

static Value method_resize_as_(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    if (!value_is_tensor(args[1])) return vm_raise(vm, "TypeError", "resize_as_(): argument 'the_template' must be Tensor, not %s", type_name(vm, args[1]));
    const Meta *like = &tensor_of(args[1])->meta;
    Value size = size_new(vm, like->sizes, like->rank), result = resize(vm, SELF, &size, 1);
    value_unref(vm, size);
    return result;
}

/* x.set_(source): the source's memory and shape. x.set_(): no elements. */
static Value method_set_(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    Tensor *t = SELF;
    if (t->requires_grad && vm->grad_enabled) return vm_raise(vm, "RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation.");
    if (nargs > 1 && !value_is_tensor(args[1])) return vm_raise(vm, "TypeError", "set_(): argument 'source' must be Tensor, not %s", type_name(vm, args[1]));
    if (nargs > 1 && tensor_of(args[1])->meta.dtype != t->meta.dtype)
        return vm_raise(vm, "RuntimeError", "set_(): the source is %s, the tensor %s", dtype_info[tensor_of(args[1])->meta.dtype].name, dtype_info[t->meta.dtype].name);
    Value held = nargs > 1 ? value_ref(args[1]) : vm_op_args(vm, "empty", (Arg[]){{.tag = ARG_INTS, .ints = {(const Dim[]){0}, 1}}, {.tag = ARG_DTYPE, .dtype = t->meta.dtype}}, 2);
    if (!value_is_tensor(held)) return VALUE_ERROR;
    Storage *old = t->storage;
    t->storage = storage_ref(tensor_of(held)->storage);
    t->meta = tensor_of(held)->meta;
    storage_unref(old);
    t->storage->version++;
    value_unref(vm, held);
    return value_ref(args[0]);
}

const BuiltinDef tensor_become_methods[] = {
    {"squeeze_", method_squeeze_, 1, -1, BUILTIN_BREAK}, {"unsqueeze_", method_unsqueeze_, 1, -1, BUILTIN_BREAK}, {"t_", method_t_, 1, 1, BUILTIN_BREAK},
    {"transpose_", method_transpose_, 1, -1, BUILTIN_BREAK}, {"swapaxes_", method_swapaxes_, 3, 3, BUILTIN_BREAK}, {"swapdims_", method_swapdims_, 3, 3, BUILTIN_BREAK},
    {"as_strided_", method_as_strided_, 1, -1, BUILTIN_BREAK}, {"resize_", method_resize_, 1, -1, BUILTIN_BREAK}, {"resize_as_", method_resize_as_, 2, 2, BUILTIN_BREAK},
    {"set_", method_set_, 1, 2, BUILTIN_BREAK}, {NULL, NULL, 0, 0, 0},
};
