/* Tensors as objects of the VM: making them, reading their elements, giving them back.
 *
 *     Meta meta = meta_new(DTYPE_F32, device, 2, (Dim[]){3, 4});
 *     Tensor *t = tensor_new(vm, &meta);          // NULL: exception set (out of memory, no such device)
 *     value_unref(vm, value_tensor(t));
 *
 * Invariant: meta describes a view of storage that lies inside it, unless the tensor is fake. */
#include "vm/tensor.h"
#include "vm/tracing.h"
#include "run/runtime.h"
#include "vm/autograd.h"
#include "vm/scalar_value.h"
#include "vm/tensor_protocol.h"
#include "vm/torch_state.h"
#include <string.h>

static Tensor *tensor_over(VM *vm, const Meta *meta, Storage *storage) {
    Tensor *t = (Tensor *)object_new(vm, OBJ_TENSOR, sizeof *t);
    t->meta = *meta;
    t->meta.requires_grad = false;
    t->storage = storage;
    t->of_inference = storage->inference;
    t->made_at = vm->span;
    return t;
}

/* Bytes a storage of `meta` needs; symbolic sizes count by their hints (a fake storage only has to be non-empty). */
static int64_t storage_bytes(const Meta *meta) {
    if (meta_is_static(meta)) return meta_storage_bytes(meta);
    int64_t bytes = dtype_size(meta->dtype);
    for (int i = 0; i < meta->rank; i++) bytes *= dim_hint(meta->sizes[i]) > 0 ? dim_hint(meta->sizes[i]) : 1;
    return bytes;
}

static Tensor *refuse_storage(VM *vm, Device device, int64_t bytes) {
    const char *why = NULL;
    if (device.kind == DEVICE_CUDA && !cuda_available(vm->runtime, &why))
        vm_raise(vm, "RuntimeError", "no CUDA device can be used: %s", why ? why : "no driver was found");
    else if (device.kind == DEVICE_CUDA && device.index >= cuda_device_count(vm->runtime))
        vm_raise(vm, "RuntimeError", "CUDA error: invalid device ordinal %d", device.index);
    else vm_raise(vm, "RuntimeError", "out of memory: tried to allocate %lld bytes on %s", (long long)bytes, device.kind == DEVICE_CPU ? "cpu" : "cuda");
    return NULL;
}

/* Without a driver a program that uses the card still runs, so that its graphs are compiled and can be looked at: its tensors there have no data. */
static Storage *storage_without_card(VM *vm, Device device, int64_t bytes) {
    const char *why = NULL;
    if (device.kind != DEVICE_CUDA || !vm->torch || cuda_available(vm->runtime, &why)) return NULL;
    if (!vm->torch->compile_only) vm_note(vm, (Span){0}, "tensors on cuda hold no values here (%s): what is compiled for it is made and can be shown, but is not run", why);
    vm->torch->compile_only = true;
    return storage_fake(vm->runtime, device, bytes);
}

Tensor *tensor_new(VM *vm, const Meta *meta) {
    int64_t bytes = storage_bytes(meta);
    if (bytes < 0 || bytes == INT64_MAX || (vm->limits.memory > 0 && bytes > vm->limits.memory)) return refuse_storage(vm, meta->device, bytes);
    Storage *storage = storage_new(vm->runtime, meta->device, bytes);
    if (!storage) storage = storage_without_card(vm, meta->device, bytes);
    if (!storage) return refuse_storage(vm, meta->device, bytes);
    storage->inference = vm->inference;
    return tensor_over(vm, meta, storage);
}

Tensor *tensor_fake(VM *vm, const Meta *meta, void *node) {
    int64_t bytes = storage_bytes(meta);
    Tensor *t = tensor_over(vm, meta, storage_fake(vm->runtime, meta->device, bytes > 0 ? bytes : 1));
    t->node = node;
    return t;
}

Tensor *tensor_view(VM *vm, Tensor *base, const Meta *meta) { return tensor_over(vm, meta, storage_ref(base->storage)); }

static void drop_tensor(VM *vm, Tensor **slot) {
    Tensor *held = *slot;
    *slot = NULL;
    if (held) value_unref(vm, value_tensor(held));
}
static void drop_value(VM *vm, Value *slot) {
    Value held = *slot;
    *slot = VALUE_NULL;
    value_unref(vm, held);
}

void tensor_clear(VM *vm, Tensor *t) {
    GradNode *grad_fn = t->grad_fn;
    if (grad_fn && t->retains_grad) autograd_set_retainer(grad_fn, t->grad_index, NULL);
    t->grad_fn = NULL;
    if (grad_fn) grad_node_unref(vm, grad_fn);
    t->accumulator = NULL; /* not held: it holds the tensor, so a tensor that dies has none */
    drop_tensor(vm, &t->grad);
    drop_tensor(vm, &t->base);
    drop_value(vm, &t->view_args);
    drop_value(vm, &t->hooks);
    drop_value(vm, &t->post_hooks);
    drop_value(vm, &t->dict);
}

void tensor_free(VM *vm, Tensor *t) {
    tensor_clear(vm, t);
    if (t->storage) storage_unref(t->storage);
    t->storage = NULL;
}

void tensor_visit(Tensor *t, ObjectVisit visit, void *state) {
    if (t->grad) visit(state, value_tensor(t->grad));
    if (t->base) visit(state, value_tensor(t->base));
    visit(state, t->view_args);
    visit(state, t->hooks);
    visit(state, t->post_hooks);
    visit(state, t->dict);
    if (t->grad_fn) visit(state, value_object(t->grad_fn));
}

int64_t tensor_numel(const Tensor *t) { return meta_numel(&t->meta); }

/* ---- reading ---- */

/* Copies the elements of `meta` in logical order from `src` (element 0 of the storage) to `dst`. */
static void gather_elements(const Meta *meta, const char *src, char *dst) {
    size_t size = (size_t)dtype_size(meta->dtype);
    int64_t count = meta_numel(meta), index[MAX_RANK] = {0};
    if (meta_is_contiguous(meta)) { memcpy(dst, src + (size_t)meta->offset * size, (size_t)count * size); return; }
    for (int64_t i = 0; i < count; i++) {
        int64_t at = meta->offset;
        for (int d = 0; d < meta->rank; d++) at += index[d] * meta->strides[d];
        memcpy(dst + (size_t)i * size, src + (size_t)at * size, size);
        for (int d = meta->rank - 1; d >= 0 && ++index[d] == meta->sizes[d]; d--) index[d] = 0;
    }
}

static bool refuse_fake(VM *vm, const Tensor *t) {
    if (vm->domain == &tracing_domain && tracing_stops_at_data(vm, NULL)) return false;
    const char *why = t->meta.device.kind == DEVICE_CUDA ? "there is no CUDA device here to compute them" : "it is a fake tensor";
    vm_raise(vm, "RuntimeError", "the values of this tensor are not known: %s", why);
    return false;
}

bool tensor_copy_to_host(VM *vm, Tensor *t, void *dst) {
    if (meta_numel(&t->meta) == 0) return true;
    if (t->node || tensor_is_fake(t)) return refuse_fake(vm, t);
    if (t->meta.device.kind == DEVICE_CPU) { gather_elements(&t->meta, tensor_data(t), dst); return true; }
    int64_t size = dtype_size(t->meta.dtype), span = (meta_storage_span(&t->meta) - t->meta.offset) * size;
    char *host = malloc((size_t)span);
    OpError error = {0};
    Meta here = t->meta;
    here.offset = 0;
    bool ok = host && device_copy(vm->runtime, host, (Device){DEVICE_CPU, 0}, (const char *)tensor_data(t) + t->meta.offset * size, t->meta.device, span, &error);
    if (ok) gather_elements(&here, host, dst);
    else vm_raise_op_error(vm, &error);
    free(host);
    return ok;
}

Value tensor_item(VM *vm, Tensor *t) {
    _Alignas(8) char element[8];
    if (meta_is_static(&t->meta) && meta_numel(&t->meta) != 1)
        return vm_raise(vm, "RuntimeError", "a Tensor with %lld elements cannot be converted to Scalar", (long long)meta_numel(&t->meta));
    bool later = vm->domain == &tracing_domain && vm->context.unbacked && t->node && dtype_is_int(t->meta.dtype); /* in capture: a symbol of what an op is made of */
    if (later) return sym_new(vm, vm->context.unbacked(vm->context.unbacked_state, INT64_MIN, INT64_MAX));
    if (!tensor_copy_to_host(vm, t, element)) return VALUE_ERROR;
    return element_as_value(t->meta.dtype, element);
}

static Value nested_list(VM *vm, const Meta *meta, int dim, const char **at) {
    if (dim == meta->rank) {
        Value v = element_as_value(meta->dtype, *at);
        *at += dtype_size(meta->dtype);
        return v;
    }
    Value list = list_new(vm, NULL, 0);
    for (int64_t i = 0; i < meta->sizes[dim]; i++) {
        Value item = nested_list(vm, meta, dim + 1, at);
        list_append(vm, (List *)list.o, item);
        value_unref(vm, item);
    }
    return list;
}

Value tensor_tolist(VM *vm, Tensor *t) {
    char *data = malloc((size_t)(meta_numel(&t->meta) + 1) * 8);
    if (!data) return vm_raise(vm, "MemoryError", "tolist of %lld elements", (long long)meta_numel(&t->meta));
    const char *at = data;
    Value result = tensor_copy_to_host(vm, t, data) ? nested_list(vm, &t->meta, 0, &at) : VALUE_ERROR;
    free(data);
    return result;
}
