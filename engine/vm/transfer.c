/* Between devices: copies of tensors across, and the small CPU tensors that an op on the card may take.
 *
 *     x.to("cuda")      ->  _to_copy(x, device=cuda): made dense on its own device, then one copy of bytes
 *     cuda_x * cpu_0d   ->  the element goes to the card first; index tensors likewise
 *
 * Invariant: bytes cross as they are: dtype and layout change on the source's device, strides of the target on the target's. */
#include "vm/concrete.h"
#include "run/runtime.h"
#include "vm/dispatch.h"
#include "vm/torch_state.h"
#include <string.h>

static bool move_bytes(VM *vm, const Tensor *from, const Tensor *to) {
    OpError error = {0};
    int64_t bytes = meta_bytes(&to->meta);
    if (bytes == 0 || tensor_is_fake(to)) return true;
    if (tensor_is_fake(from)) { vm_raise(vm, "RuntimeError", "the values of this tensor are not known: there is no CUDA device here to run on"); return false; }
    const char *src = (const char *)tensor_data(from) + from->meta.offset * dtype_size(from->meta.dtype);
    if (device_copy(vm->runtime, tensor_data(to), to->meta.device, src, from->meta.device, bytes, &error)) return true;
    vm_raise_op_error(vm, &error);
    return false;
}

/* `t` with the dtype, contiguous, on its own device. Owned; NULL: exception set. */
static Tensor *dense_of(VM *vm, Tensor *t, DType dtype) {
    if (t->meta.dtype == dtype && meta_is_contiguous(&t->meta)) return (Tensor *)value_ref(value_tensor(t)).o;
    Arg args[] = {arg_of_tensor(t), {.tag = ARG_DTYPE, .dtype = dtype}, arg_none(), {.tag = ARG_STR, .s = "torch.contiguous_format"}};
    const Op *op = op_find(vm->ops, "_to_copy");
    Value made = concrete_run(vm, op, args, op->nparams);
    return value_is_tensor(made) ? tensor_of(made) : NULL;
}

Tensor *tensor_transfer(VM *vm, Tensor *t, DType dtype, Device device) {
    Tensor *dense = dense_of(vm, t, dtype);
    if (!dense) return NULL;
    Meta meta = dense->meta;
    meta.device = device;
    meta.offset = 0;
    meta_set_contiguous(&meta, NULL);
    Tensor *there = tensor_new(vm, &meta);
    if (there && !move_bytes(vm, dense, there)) { value_unref(vm, value_tensor(there)); there = NULL; }
    value_unref(vm, value_tensor(dense));
    return there;
}

/* ---- what an op on a card may take from the CPU ---- */

static bool any_on_card(const Arg *args, int nargs) {
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSOR && args[i].tensor.meta->device.kind == DEVICE_CUDA) return true;
        if (args[i].tag == ARG_TENSORS && any_on_card(args[i].list.items, args[i].list.count)) return true;
    }
    return false;
}

static const Device *card_of(const Arg *args, int nargs) {
    for (int i = 0; i < nargs; i++) {
        const Device *inside = args[i].tag == ARG_TENSORS ? card_of(args[i].list.items, args[i].list.count) : NULL;
        if (args[i].tag == ARG_TENSOR && args[i].tensor.meta->device.kind == DEVICE_CUDA) inside = &args[i].tensor.meta->device;
        if (inside) return inside;
    }
    return NULL;
}

static bool may_follow(const Op *op, int place, const Arg *arg, bool in_list) {
    if (arg->tensor.meta->rank == 0) return true;
    return op->family == FAMILY_INDEX && in_list && place > 0 && !dtype_is_float(arg->tensor.meta->dtype);
}

static bool move_one(VM *vm, const Op *op, int place, Arg *arg, const Device *card, Moved *moved, bool in_list) {
    if (arg->tag != ARG_TENSOR || arg->tensor.meta->device.kind != DEVICE_CPU || !may_follow(op, place, arg, in_list)) return true;
    Tensor *t = arg->tensor.owner, *there = tensor_transfer(vm, t, t->meta.dtype, *card);
    if (!there) return false;
    vec_push(moved, value_tensor(there));
    *arg = arg_of_tensor(there);
    return true;
}

bool transfer_small(VM *vm, const Op *op, Arg *args, int nargs, Moved *moved, Arena *arena) {
    if (!any_on_card(args, nargs)) return true;
    const Device *card = card_of(args, nargs);
    for (int i = 0; i < nargs; i++) {
        if (!move_one(vm, op, i, &args[i], card, moved, false)) return false;
        if (args[i].tag != ARG_TENSORS) continue;
        Arg *items = arena_copy(arena, args[i].list.items, (size_t)args[i].list.count * sizeof(Arg));
        for (int k = 0; k < args[i].list.count; k++)
            if (!move_one(vm, op, i, &items[k], card, moved, true)) return false;
        args[i].list.items = items;
    }
    return true;
}

bool transfer_needed(const Arg *args, int nargs) {
    bool cpu = false, card = false;
    for (int i = 0; i < nargs; i++) {
        const Arg *items = args[i].tag == ARG_TENSORS ? args[i].list.items : &args[i];
        int count = args[i].tag == ARG_TENSORS ? args[i].list.count : 1;
        for (int k = 0; k < count; k++) {
            if (items[k].tag != ARG_TENSOR) continue;
            if (items[k].tensor.meta->device.kind == DEVICE_CPU) cpu = true;
            else card = true;
        }
    }
    return cpu && card;
}
