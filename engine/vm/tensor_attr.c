/* Attributes of tensors: t.shape, t.grad, t.T, and their assignment; attributes of dtypes, devices and torch.Size.
 *
 *     tensor_load_attr(vm, t, "shape")      // torch.Size, sizes symbolic in capture
 *     tensor_load_attr(vm, t, "relu")       // a method: a row with METHOD, a function in C, or one of torch/tensor.py
 *
 * Order: attributes (table below), methods in C (tensor_method.c), rows, then what the program set.
 * Invariant: names are interned; a method comes back bound. To add an attribute: a line in `attributes`. */
#include "run/runtime.h"
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/tensor_method.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"
#include <string.h>

typedef Value (*Getter)(VM *vm, Tensor *t);

Value size_new(VM *vm, const Dim *dims, int count) {
    Value items[MAX_RANK] = {0};
    if (vm->domain->sized) vm->domain->sized(vm, dims, count);
    for (int i = 0; i < count; i++) items[i] = sym_new(vm, dims[i]);
    Value size = tuple_new(vm, items, count);
    for (int i = 0; i < count; i++) value_unref(vm, items[i]);
    if (count == 0) { /* the empty tuple may be shared: a size is its own */
        value_unref(vm, size);
        size = value_object(object_new(vm, OBJ_TUPLE, sizeof(Tuple)));
    }
    ((Tuple *)size.o)->is_size = true;
    return size;
}

static Value get_shape(VM *vm, Tensor *t) { return size_new(vm, t->meta.sizes, t->meta.rank); }
static Value get_dtype(VM *vm, Tensor *t) { return dtype_new(vm, t->meta.dtype); }
static Value get_device(VM *vm, Tensor *t) { return device_new(vm, t->meta.device); }
static Value get_ndim(VM *vm, Tensor *t) { (void)vm; return value_int(t->meta.rank); }
static Value get_grad(VM *vm, Tensor *t) { (void)vm; return t->grad ? value_ref(value_tensor(t->grad)) : VALUE_NONE; }
static Value get_requires_grad(VM *vm, Tensor *t) { return value_bool(t->requires_grad || tensor_grad_node(vm, t)); }
static Value get_is_leaf(VM *vm, Tensor *t) { return value_bool(!tensor_grad_node(vm, t)); }
static Value get_retains_grad(VM *vm, Tensor *t) { (void)vm; return value_bool(t->retains_grad); }
static Value get_grad_fn(VM *vm, Tensor *t) {
    GradNode *node = tensor_grad_node(vm, t);
    return node ? value_ref(value_object(node)) : VALUE_NONE;
}
static Value get_output_nr(VM *vm, Tensor *t) { (void)vm; return value_int(t->grad_index); }
static Value get_is_cuda(VM *vm, Tensor *t) { (void)vm; return value_bool(t->meta.device.kind == DEVICE_CUDA); }
static Value get_is_cpu(VM *vm, Tensor *t) { (void)vm; return value_bool(t->meta.device.kind == DEVICE_CPU); }
static Value get_false(VM *vm, Tensor *t) { (void)vm; (void)t; return value_bool(false); }
static Value get_itemsize(VM *vm, Tensor *t) { (void)vm; return value_int(dtype_size(t->meta.dtype)); }
static Value get_nbytes(VM *vm, Tensor *t) {
    Value size = sym_of_size(vm, meta_numel_dim(&t->meta, vm->context.syms)), result = vm_binary(vm, BINARY_MULTIPLY, size, value_int(dtype_size(t->meta.dtype)));
    value_unref(vm, size);
    return result;
}
static Value get_version(VM *vm, Tensor *t) { (void)vm; return value_int(t->storage->version); }
static Value get_base(VM *vm, Tensor *t) { (void)vm; return t->base ? value_ref(value_tensor(tensor_root(t))) : VALUE_NONE; }
static Value get_real(VM *vm, Tensor *t) { (void)vm; return value_ref(value_tensor(t)); }
static Value get_layout(VM *vm, Tensor *t) {
    (void)t;
    Value layout = torch_attribute(vm, "strided");
    return value_ref(layout);
}

/* .data: the same memory, off the tape. */
static Value get_data(VM *vm, Tensor *t) {
    Value args[] = {value_tensor(t)};
    return vm_op(vm, "detach", args, 1);
}

static Value transposed(VM *vm, Tensor *t, int from) {
    Dim dims[MAX_RANK];
    for (int i = 0; i < t->meta.rank; i++) dims[i] = i < from ? i : t->meta.rank - 1 - (i - from);
    return vm_op_args(vm, "permute", (Arg[]){arg_of_tensor(t), {.tag = ARG_INTS, .ints = {dims, t->meta.rank}}}, 2);
}
static Value get_T(VM *vm, Tensor *t) { return transposed(vm, t, 0); }
static Value get_mT(VM *vm, Tensor *t) {
    if (t->meta.rank < 2) return vm_raise(vm, "RuntimeError", "tensor.mT is only supported on matrices or batches of matrices. Got %d-D tensor.", t->meta.rank);
    return vm_op_args(vm, "transpose", (Arg[]){arg_of_tensor(t), arg_int(-2), arg_int(-1)}, 3);
}

static const struct { const char *name; Getter get; } attributes[] = {
    {"shape", get_shape}, {"dtype", get_dtype}, {"device", get_device}, {"ndim", get_ndim}, {"grad", get_grad}, {"requires_grad", get_requires_grad},
    {"is_leaf", get_is_leaf}, {"grad_fn", get_grad_fn}, {"retains_grad", get_retains_grad}, {"output_nr", get_output_nr}, {"is_cuda", get_is_cuda},
    {"is_cpu", get_is_cpu}, {"is_sparse", get_false}, {"is_quantized", get_false}, {"is_meta", get_false}, {"is_mps", get_false}, {"is_nested", get_false},
    {"itemsize", get_itemsize}, {"nbytes", get_nbytes}, {"_version", get_version}, {"_base", get_base}, {"real", get_real}, {"layout", get_layout},
    {"data", get_data}, {"T", get_T}, {"mT", get_mT}, {"H", get_T}, {"mH", get_mT},
};

static Value own_dict(VM *vm, Tensor *t) {
    if (t->dict.tag == V_NULL) t->dict = dict_new(vm);
    return value_ref(t->dict);
}

/* A method by name, borrowed: a row, or a function in C or of the library. Composites of the library that have the same name as a hidden row are
 * found by their key. */
Value tensor_method_find(VM *vm, const char *name) {
    Map *methods = vm->torch->tensor_methods;
    const Op *op = map_has(methods, name) ? NULL : op_find(vm->ops, name);
    if (op && (op->traits & (TRAIT_METHOD | TRAIT_INPLACE))) map_put(methods, name, op_object_new(vm, op, arena_printf(vm->arena, "torch.Tensor.%s", name)).o);
    if (!map_has(methods, name) && name[0] != '_' && !torch_library_load(vm)) return VALUE_ERROR;
    if (!map_has(methods, name) && name[0] != '_' && !torch_library_load_further(vm)) return VALUE_ERROR;
    return map_has(methods, name) ? value_object(map_get(methods, name)) : VALUE_NULL;
}

static Value bound_method(VM *vm, Tensor *t, const char *name) {
    Value found = tensor_method_find(vm, name);
    if (found.tag == V_NULL || value_is_error(found)) return found;
    if (value_is(found, OBJ_BUILTIN)) return builtin_bind(vm, (Builtin *)found.o, value_tensor(t));
    return method_new(vm, value_tensor(t), found);
}

Value tensor_load_attr(VM *vm, Tensor *t, const char *name) {
    Value seen = vm->domain->load_tensor_attr ? vm->domain->load_tensor_attr(vm, t, name) : VALUE_NULL;
    if (seen.tag != V_NULL) return seen;
    const void *place = map_get(vm->torch->tensor_attributes, name);
    if (place) return attributes[(intptr_t)place - 1].get(vm, t);
    Value method = bound_method(vm, t, name);
    if (method.tag != V_NULL) return method;
    if (t->dict.tag != V_NULL) {
        Value own = dict_get_name(vm, (Dict *)t->dict.o, name);
        if (own.tag != V_NULL) return value_ref(own);
    }
    return strcmp(name, "__dict__") == 0 ? own_dict(vm, t) : VALUE_NULL;
}

/* ---- assignment ---- */

bool tensor_set_requires_grad(VM *vm, Tensor *t, bool requires_grad) {
    if (tensor_grad_node(vm, t)) {
        if (requires_grad) return true;
        vm_raise(vm, "RuntimeError", "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require "
                 "differentiation use var_no_grad = var.detach().");
        return false;
    }
    if (requires_grad && !dtype_is_float(t->meta.dtype)) {
        vm_raise(vm, "RuntimeError", "only Tensors of floating point dtype can require gradients");
        return false;
    }
    if (requires_grad && t->storage->inference && !vm->inference) {
        vm_raise(vm, "RuntimeError", "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
        return false;
    }
    t->requires_grad = requires_grad;
    return true;
}

bool tensor_ask_requires_grad(VM *vm, Tensor *t) {
    int taken = vm->domain->store_tensor_attr ? vm->domain->store_tensor_attr(vm, t, vm_intern(vm, "requires_grad"), value_bool(true)) : 0;
    return taken > 0 || (taken == 0 && tensor_set_requires_grad(vm, t, true));
}

static bool set_grad(VM *vm, Tensor *t, Value value) {
    Tensor *g = value_is_tensor(value) ? tensor_of(value) : NULL;
    if (!g && value.tag != V_NONE && value.tag != V_NULL) {
        vm_raise(vm, "TypeError", "assigned grad expected to be a Tensor or None but got grad of type %s", type_name(vm, value));
        return false;
    }
    const char *differs = !g ? NULL : g == t ? "can't assign Variable as its own grad" : !meta_same_shape(&g->meta, &t->meta) ? "assigned grad has data of a different size" :
                          g->meta.dtype != t->meta.dtype ? "assigned grad has data of a different type" : !device_equal(g->meta.device, t->meta.device) ? "assigned grad has data located on a different device" : NULL;
    if (differs) { vm_raise(vm, "RuntimeError", "%s", differs); return false; }
    Tensor *old = t->grad;
    t->grad = g ? tensor_of(value_ref(value)) : NULL;
    if (old) value_unref(vm, value_tensor(old));
    return true;
}

/* t.data = other: t becomes a view of other's memory, its place on the tape stays. */
static bool set_data(VM *vm, Tensor *t, Value value) {
    if (!value_is_tensor(value)) { vm_raise(vm, "TypeError", "Variable data has to be a tensor, but got %s", type_name(vm, value)); return false; }
    Tensor *from = tensor_of(value);
    Storage *old = t->storage;
    t->storage = storage_ref(from->storage);
    t->meta = from->meta;
    t->node = from->node;
    storage_unref(old);
    return true;
}

bool tensor_store_attr(VM *vm, Tensor *t, const char *name, Value value) {
    if (vm->domain->will_mutate && !vm->domain->will_mutate(vm, &t->head)) return false;
    int taken = vm->domain->store_tensor_attr ? vm->domain->store_tensor_attr(vm, t, name, value) : 0;
    if (taken) return taken > 0;
    value = value.tag == V_NULL ? value : vm_force(vm, value);
    if (strcmp(name, "grad") == 0) return set_grad(vm, t, value);
    if (strcmp(name, "data") == 0) return set_data(vm, t, value);
    if (strcmp(name, "requires_grad") == 0) {
        int truth = vm_truth(vm, value);
        return truth >= 0 && tensor_set_requires_grad(vm, t, truth > 0);
    }
    if (map_has(vm->torch->tensor_attributes, name)) {
        vm_raise(vm, "AttributeError", "attribute '%s' of 'torch._C.TensorBase' objects is not writable", name);
        return false;
    }
    value_unref(vm, own_dict(vm, t));
    if (value.tag != V_NULL) { dict_set_name(vm, (Dict *)t->dict.o, name, value); return true; }
    bool found = false;
    Value key = str_interned(vm, name);
    bool ok = dict_delete(vm, (Dict *)t->dict.o, key, &found);
    value_unref(vm, key);
    if (ok && !found) vm_raise(vm, "AttributeError", "%s", name);
    return ok && found;
}

/* ---- dtypes, devices, sizes ---- */

static Value dtype_method(VM *vm, DType dtype, const char *name, BuiltinFn fn) {
    Value method = builtin_new(vm, name, fn, 1, 1, 0);
    ((Builtin *)method.o)->self = dtype_new(vm, dtype);
    return method;
}
static Value dtype_to_complex(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)args; (void)nargs; (void)kwnames;
    return vm_raise(vm, "NotImplementedError", "complex dtypes are not part of vitrine");
}

Value dtype_load_attr(VM *vm, DType dtype, const char *name) {
    if (strcmp(name, "itemsize") == 0) return value_int(dtype_size(dtype));
    if (strcmp(name, "is_floating_point") == 0) return value_bool(dtype_is_float(dtype));
    if (strcmp(name, "is_complex") == 0) return value_bool(false);
    if (strcmp(name, "is_signed") == 0) return value_bool(dtype != DTYPE_U8 && dtype != DTYPE_BOOL);
    if (strcmp(name, "to_complex") == 0) return dtype_method(vm, dtype, name, dtype_to_complex);
    return VALUE_NULL;
}

Value device_load_attr(VM *vm, Device device, const char *name) {
    if (strcmp(name, "type") == 0) return str_from(vm, device.kind == DEVICE_CUDA ? "cuda" : "cpu");
    if (strcmp(name, "index") == 0) return device.kind == DEVICE_CUDA ? value_int(device.index) : VALUE_NONE;
    return VALUE_NULL;
}

static Value size_numel(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    const Tuple *size = (const Tuple *)args[0].o;
    Value product = value_int(1);
    for (int i = 0; i < size->count && !value_is_error(product); i++) {
        Value next = vm_binary(vm, BINARY_MULTIPLY, product, size->items[i]);
        value_unref(vm, product);
        product = next;
    }
    return product;
}

Value size_load_attr(VM *vm, Tuple *size, const char *name) {
    if (strcmp(name, "numel")) return VALUE_NULL;
    Value method = builtin_new(vm, "numel", size_numel, 1, 1, 0);
    ((Builtin *)method.o)->self = value_ref(value_object(size));
    return method;
}

Value dtype_repr(VM *vm, DType dtype) { return str_printf(vm, "torch.%s", dtype_info[dtype].name); }

Value device_repr(VM *vm, Device device, bool quoted) {
    if (device.kind == DEVICE_CPU) return str_from(vm, quoted ? "device(type='cpu')" : "cpu");
    return quoted ? str_printf(vm, "device(type='cuda', index=%d)", device.index) : str_printf(vm, "cuda:%d", device.index);
}

void tensor_attributes_init(VM *vm) {
    for (int i = 0; i < COUNT_OF(attributes); i++) map_put(vm->torch->tensor_attributes, vm_intern(vm, attributes[i].name), (void *)(intptr_t)(i + 1));
}
