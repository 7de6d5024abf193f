/* torch.tensor(data): nested lists, tuples, numbers and tensors become a tensor.
 *
 *     Tensor *t = tensor_from_value(vm, list, DTYPE_NONE, cpu);    // [[1, 2], [3, 4.5]] -> float32 of shape (2, 2)
 *
 * Two walks: the first finds shape and dtype and refuses ragged data, the second stores the elements.
 * Invariant: sequences are read once a walk by index, so the program cannot change them in between. */
#include "run/runtime.h"
#include "vm/scalar_value.h"
#include "vm/tensor.h"
#include "vm/torch_state.h"
#include <string.h>

typedef struct Reading { VM *vm; int rank; Dim sizes[MAX_RANK]; DType dtype; bool found; char *at; } Reading;

static int sequence_count(Value v) {
    if (value_is(v, OBJ_LIST)) return ((List *)v.o)->count;
    if (value_is(v, OBJ_TUPLE)) return ((Tuple *)v.o)->count;
    return -1;
}
static Value sequence_item(VM *vm, Value v, int i) {
    return vm_force(vm, value_is(v, OBJ_LIST) ? ((List *)v.o)->items[i] : ((Tuple *)v.o)->items[i]);
}

/* Ranges, generators' lists and other iterables count as sequences: they are listed first. Owned. */
static Value as_sequence(VM *vm, Value v) { return value_is(v, OBJ_RANGE) ? vm_list_of(vm, v) : value_ref(v); }

static bool merge_dtype(Reading *r, DType dtype) {
    r->dtype = r->found ? dtype_promote(r->dtype, dtype) : dtype;
    r->found = true;
    return true;
}

static bool measure_leaf(Reading *r, Value v) {
    switch (v.tag) {
    case V_BOOL: return merge_dtype(r, DTYPE_BOOL);
    case V_INT: return merge_dtype(r, DTYPE_I64);
    case V_FLOAT: return merge_dtype(r, r->vm->default_dtype);
    default: break;
    }
    if (value_is_tensor(v)) {
        if (tensor_of(v)->meta.rank && tensor_numel(tensor_of(v)) != 1) {
            vm_raise(r->vm, "ValueError", "only one element tensors can be converted to Python scalars");
            return false;
        }
        return merge_dtype(r, tensor_of(v)->meta.dtype);
    }
    if (value_is(v, OBJ_STR)) vm_raise(r->vm, "TypeError", "new(): invalid data type 'str'");
    else vm_raise(r->vm, "RuntimeError", "Could not infer dtype of %s", type_name(r->vm, v));
    return false;
}

static bool measure(Reading *r, Value v, int depth) {
    int count = sequence_count(v);
    if (count < 0) {
        if (depth != r->rank) { vm_raise(r->vm, "TypeError", "not a sequence"); return false; }
        return measure_leaf(r, v);
    }
    if (depth >= r->rank || count != r->sizes[depth]) {
        if (depth >= r->rank) vm_raise(r->vm, "TypeError", "must be real number, not %s", type_name(r->vm, v));
        else vm_raise(r->vm, "ValueError", "expected sequence of length %lld at dim %d (got %d)", (long long)r->sizes[depth], depth, count);
        return false;
    }
    for (int i = 0; i < count; i++)
        if (!measure(r, sequence_item(r->vm, v, i), depth + 1)) return false;
    return true;
}

/* The shape is that of the first items; measure() then holds all others to it. A tensor in a list adds its own dims. */
static bool shape_of(Reading *r, Value v) {
    for (int count; (count = sequence_count(v)) >= 0; v = sequence_item(r->vm, v, 0)) {
        if (r->rank == MAX_RANK) { vm_raise(r->vm, "ValueError", "too many dimensions: more than %d", MAX_RANK); return false; }
        r->sizes[r->rank++] = count;
        if (!count) break;
    }
    return true;
}

static bool store_int(Reading *r, int64_t value) {
    if (!element_holds_int(r->dtype, value)) {
        vm_raise(r->vm, "RuntimeError", "value cannot be converted to type %s without overflow", dtype_info[r->dtype].name);
        return false;
    }
    element_store_int(r->dtype, r->at, value);
    return true;
}

static bool store_leaf(Reading *r, Value v) {
    Value held = VALUE_NULL;
    if (value_is_tensor(v)) {
        held = r->vm->domain->item ? r->vm->domain->item(r->vm, tensor_of(v)) : tensor_item(r->vm, tensor_of(v));
        if (value_is_error(held)) return false;
        v = held;
    }
    bool ok = true;
    if (v.tag == V_BOOL) element_store_int(r->dtype, r->at, v.b);
    else if (v.tag == V_INT) ok = dtype_is_float(r->dtype) || r->dtype == DTYPE_BOOL ? (element_store_double(r->dtype, r->at, (double)v.i), true) : store_int(r, v.i);
    else if (dtype_is_int(r->dtype) && !(v.f > -0x1p63 && v.f < 0x1p63)) ok = (vm_raise(r->vm, "RuntimeError", "value cannot be converted to type %s without overflow", dtype_info[r->dtype].name), false);
    else if (r->dtype == DTYPE_U8 && v.f < 0) ok = (vm_raise(r->vm, "RuntimeError", "value cannot be converted to type uint8 without overflow"), false);
    else if (dtype_is_int(r->dtype)) ok = store_int(r, (int64_t)v.f);
    else element_store_double(r->dtype, r->at, v.f);
    r->at += dtype_size(r->dtype);
    value_unref(r->vm, held);
    return ok;
}

static bool store(Reading *r, Value v) {
    int count = sequence_count(v);
    if (count < 0) return store_leaf(r, v);
    for (int i = 0; i < count; i++)
        if (!store(r, sequence_item(r->vm, v, i))) return false;
    return true;
}

/* Elements are stored in a host tensor, which is copied when the target is another device. */
static Tensor *fill(Reading *r, Value data, Device device) {
    Meta meta = meta_new(r->dtype, (Device){DEVICE_CPU, 0}, r->rank, r->sizes);
    Tensor *host = tensor_new(r->vm, &meta);
    if (!host) return NULL;
    r->at = tensor_data(host);
    if (!store(r, data)) { value_unref(r->vm, value_tensor(host)); return NULL; }
    if (device.kind == DEVICE_CPU) return host;
    meta.device = device;
    Tensor *there = tensor_new(r->vm, &meta);
    OpError error = {0};
    int64_t bytes = meta_bytes(&meta);
    if (there && bytes && !tensor_is_fake(there) && !device_copy(r->vm->runtime, tensor_data(there), device, tensor_data(host), host->meta.device, bytes, &error)) {
        vm_raise_op_error(r->vm, &error);
        value_unref(r->vm, value_tensor(there));
        there = NULL;
    }
    value_unref(r->vm, value_tensor(host));
    return there;
}

Tensor *tensor_from_value(VM *vm, Value data, DType dtype_or_none, Device device) {
    Reading r = {.vm = vm, .dtype = DTYPE_NONE};
    Value sequence = as_sequence(vm, vm_force(vm, data));
    Tensor *made = NULL;
    if (!value_is_error(sequence) && shape_of(&r, sequence) && measure(&r, sequence, 0)) {
        if (!r.found) r.dtype = vm->default_dtype;
        if (dtype_or_none != DTYPE_NONE) r.dtype = dtype_or_none;
        made = fill(&r, sequence, device);
    }
    value_unref(vm, sequence);
    return made;
}
