/* Methods of tensors that are no ops: questions about shape and storage, the tape's methods, and the many spellings of `to`.
 *
 *     t.size(0), t.stride(), t.item(), t.backward(), t.requires_grad_(), t.to("cuda", torch.half)
 *
 * In: args[0] is the tensor. Answers about sizes are symbolic in capture. To add one: a function and a line in `methods`. */
#include "vm/tensor_method.h"
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_state.h"
#include <string.h>

#define SELF tensor_of(args[0])
#define UNUSED_CALL (void)nargs, (void)kwnames

static bool read_dim(VM *vm, Value v, int rank, int *dim) {
    int64_t i;
    if (!vm_as_int(vm, v, &i)) return false;
    int64_t span = rank ? rank : 1;
    if (i < -span || i >= span) {
        vm_raise(vm, "IndexError", "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)", (long long)-span, (long long)span - 1, (long long)i);
        return false;
    }
    *dim = (int)(i < 0 ? i + span : i);
    return true;
}

static Value one_or_all(VM *vm, const char *name, const Dim *dims, int rank, Value *args, int nargs, Tuple *kwnames, bool size) {
    static const char *const names[] = {"dim"};
    Value out[1];
    int dim;
    if (!vm_parse_args(vm, name, args + 1, nargs - 1, kwnames, names, 1, 0, out)) return VALUE_ERROR;
    if (out[0].tag != V_NULL && out[0].tag != V_NONE) return read_dim(vm, out[0], rank, &dim) && rank ? sym_of_size(vm, dims[dim]) : VALUE_ERROR;
    Value all = size_new(vm, dims, rank);
    ((Tuple *)all.o)->is_size = size;
    return all;
}

static Value method_size(VM *vm, Value *args, int nargs, Tuple *kwnames) { return one_or_all(vm, "size", SELF->meta.sizes, SELF->meta.rank, args, nargs, kwnames, true); }
static Value method_stride(VM *vm, Value *args, int nargs, Tuple *kwnames) { return one_or_all(vm, "stride", SELF->meta.strides, SELF->meta.rank, args, nargs, kwnames, false); }
static Value method_dim(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_int(SELF->meta.rank); }
static Value method_numel(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL; return sym_of_size(vm, meta_numel_dim(&SELF->meta, vm->context.syms)); }
static Value method_element_size(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_int(dtype_size(SELF->meta.dtype)); }
static Value method_storage_offset(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL; return sym_of_size(vm, SELF->meta.offset); }
static Value method_data_ptr(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)vm;
    const Tensor *t = SELF;
    return value_int(t->storage->data ? (int64_t)(intptr_t)t->storage->data + t->meta.offset * dtype_size(t->meta.dtype) : 0);
}
static Value method_is_floating_point(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_bool(dtype_is_float(SELF->meta.dtype)); }
static Value method_is_signed(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_bool(SELF->meta.dtype != DTYPE_U8 && SELF->meta.dtype != DTYPE_BOOL); }
static Value method_false(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm, (void)args; return value_bool(false); }
static Value method_is_inference(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_bool(SELF->storage->inference); }
static Value method_self(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_ref(args[0]); }
static Value method_get_device(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_int(SELF->meta.device.kind == DEVICE_CUDA ? SELF->meta.device.index : -1); }
static Value method_length(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int64_t length = vm_length(vm, args[0]);
    return length < 0 ? VALUE_ERROR : value_int(length);
}

static Value method_is_contiguous(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"memory_format"};
    Value out[1];
    if (!vm_parse_args(vm, "is_contiguous", args + 1, nargs - 1, kwnames, names, 1, 0, out)) return VALUE_ERROR;
    bool channels_last = value_is(out[0], OBJ_STR) && strcmp(str_text(out[0]), "torch.channels_last") == 0;
    return value_bool(channels_last ? meta_is_channels_last(&SELF->meta) : meta_is_contiguous(&SELF->meta));
}

/* t.untyped_storage(): what it is asked for is the address and the size. */
static Value method_untyped_storage(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Value module = vm_import(vm, vm_intern(vm, "torch.storage"), (Span){0});
    if (value_is_error(module)) return module;
    Value cls = dict_get_name(vm, ((ModuleObject *)module.o)->dict, vm_intern(vm, "UntypedStorage"));
    Value facts[] = {value_int((int64_t)(intptr_t)SELF->storage->data), value_int(SELF->storage->bytes), device_new(vm, SELF->meta.device)}, storage = vm_call(vm, cls, facts, 3, NULL);
    value_unref(vm, facts[2]);
    value_unref(vm, module);
    return storage;
}

/* ---- values ---- */

static Value method_item(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    return vm->domain->item ? vm->domain->item(vm, SELF) : tensor_item(vm, SELF);
}
/* In capture the domain breaks, as for item(). */
static Value method_tolist(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    if (!vm->domain->item) return tensor_tolist(vm, SELF);
    if (SELF->meta.rank == 0) return vm->domain->item(vm, SELF);
    return vm_stop(vm, dtype_is_float(SELF->meta.dtype) ? "data_dependent_value" : "data_dependent_shape", vm_user_span(vm), "the items of a tensor are needed as a Python list");
}
static Value method_numpy(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)args;
    return vm_raise(vm, "NotImplementedError", "numpy is not part of vitrine: use .tolist()");
}
static Value method_bool(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int truth = vm_truth(vm, args[0]);
    return truth < 0 ? VALUE_ERROR : value_bool(truth);
}

static const char *tensor_type_name(DType dtype) {
    static const char *const names[DTYPE_COUNT] = {"Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double"};
    return names[dtype];
}

/* ---- the tape ---- */

static Tensor *optional_tensor(Value v) { return value_is_tensor(v) ? tensor_of(v) : NULL; }

bool tensor_list_read(VM *vm, Value v, const char *what, TensorList *out) {
    if (value_is_tensor(v)) { vec_push(out, tensor_of(v)); return true; }
    Value *items;
    int count;
    if (!sequence_view(v, &items, &count)) { vm_raise(vm, "TypeError", "%s must be a tensor or a sequence of tensors, not %s", what, type_name(vm, v)); return false; }
    for (int i = 0; i < count; i++) {
        Value item = vm_force(vm, items[i]);
        if (!value_is_tensor(item)) { vm_raise(vm, "TypeError", "%s must be tensors, not %s", what, type_name(vm, item)); return false; }
        vec_push(out, tensor_of(item));
    }
    return true;
}

static Value method_backward(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"gradient", "retain_graph", "create_graph", "inputs"};
    Value out[4];
    if (!vm_parse_args(vm, "backward", args + 1, nargs - 1, kwnames, names, 4, 0, out)) return VALUE_ERROR;
    bool create = out[2].tag != V_NULL && vm_truth(vm, out[2]) > 0;
    bool retain = out[1].tag == V_NULL || out[1].tag == V_NONE ? create : vm_truth(vm, out[1]) > 0;
    Tensor *root = SELF, *gradient = optional_tensor(out[0]);
    return autograd_backward(vm, &root, &gradient, 1, out[3], retain, create) ? VALUE_NONE : VALUE_ERROR;
}

static Value method_requires_grad_(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"requires_grad"};
    Value out[1];
    if (!vm_parse_args(vm, "requires_grad_", args + 1, nargs - 1, kwnames, names, 1, 0, out)) return VALUE_ERROR;
    int truth = out[0].tag == V_NULL ? 1 : vm_truth(vm, out[0]);
    int taken = truth >= 0 && vm->domain->store_tensor_attr ? vm->domain->store_tensor_attr(vm, SELF, vm_intern(vm, "requires_grad"), value_bool(truth > 0)) : 0;
    if (taken) return taken > 0 ? value_ref(args[0]) : VALUE_ERROR;
    return truth >= 0 && tensor_set_requires_grad(vm, SELF, truth > 0) ? value_ref(args[0]) : VALUE_ERROR;
}

Value tensor_detach_inplace(VM *vm, Tensor *t) {
    if (t->base && t->view_kind != VIEW_NONE)
        return vm_raise(vm, "RuntimeError", "Can't detach views in-place. Use detach() instead.");
    GradNode *node = t->grad_fn;
    t->grad_fn = NULL;
    t->requires_grad = false;
    if (node) grad_node_unref(vm, node);
    return value_ref(value_tensor(t));
}
static Value method_retain_grad(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Tensor *t = SELF;
    GradNode *node = tensor_grad_node(vm, t);
    if (!node && !t->requires_grad) return vm_raise(vm, "RuntimeError", "can't retain_grad on Tensor that has requires_grad=False");
    if (!node || t->retains_grad) return VALUE_NONE;
    t->retains_grad = true;
    autograd_set_retainer(node, t->grad_index, t);
    return VALUE_NONE;
}
static Value method_register_hook(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Tensor *t = SELF;
    if (!tensor_grad_node(vm, t) && !t->requires_grad) return vm_raise(vm, "RuntimeError", "cannot register a hook on a tensor that doesn't require gradient");
    Value *slot = autograd_hooks_slot(vm, t);
    if (slot->tag == V_NULL) *slot = list_new(vm, NULL, 0);
    list_append(vm, (List *)slot->o, args[1]);
    return hook_handle_new(vm, *slot, args[1]);
}
static Value method_register_post_hook(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Tensor *t = SELF;
    if (!t->requires_grad || tensor_grad_node(vm, t)) return vm_raise(vm, "RuntimeError", "post accumulate grad hooks cannot be registered on non-leaf tensors");
    if (t->post_hooks.tag == V_NULL) t->post_hooks = list_new(vm, NULL, 0);
    list_append(vm, (List *)t->post_hooks.o, args[1]);
    return hook_handle_new(vm, t->post_hooks, args[1]);
}
Value hook_handle_new(VM *vm, Value hooks, Value hook) {
    Value module = vm_import(vm, vm_intern(vm, "torch.utils.hooks"), (Span){0});
    if (value_is_error(module)) return module;
    Value cls = dict_get_name(vm, ((ModuleObject *)module.o)->dict, vm_intern(vm, "RemovableHandle"));
    Value args[] = {hooks, hook}, handle = vm_call(vm, cls, args, 2, NULL);
    value_unref(vm, module);
    return handle;
}

/* ---- to and its relatives ---- */

static bool read_to_argument(VM *vm, Value v, ToArguments *out, int place) {
    DType dtype;
    if (dtype_of_value(vm, v, &dtype)) out->dtype = v;
    else if (value_is(v, OBJ_DEVICE) || value_is(v, OBJ_STR) || (v.tag == V_INT && place == 0)) out->device = v;
    else if (v.tag == V_BOOL || v.tag == V_NONE) { /* non_blocking, copy by place */
        if (v.tag == V_BOOL && place >= 2) out->copy = v;
    } else {
        vm_raise(vm, "TypeError", "to() received an invalid combination of arguments: %s", type_name(vm, v));
        return false;
    }
    return true;
}

bool parse_to_arguments(VM *vm, Value *args, int nargs, Tuple *kwnames, ToArguments *out) {
    *out = (ToArguments){0};
    for (int i = 0; i < nargs; i++)
        if (!read_to_argument(vm, vm_force(vm, args[i]), out, i)) return false;
    for (int i = 0; kwnames && i < kwnames->count; i++) {
        const char *name = str_text(kwnames->items[i]);
        Value v = vm_force(vm, args[nargs + i]);
        if (v.tag == V_NONE) continue;
        if (strcmp(name, "dtype") == 0) out->dtype = v;
        else if (strcmp(name, "device") == 0) out->device = v;
        else if (strcmp(name, "copy") == 0) out->copy = v;
        else if (strcmp(name, "memory_format") == 0) out->memory_format = v;
        else if (strcmp(name, "non_blocking")) { vm_raise(vm, "TypeError", "to() got an unexpected keyword argument '%s'", name); return false; }
    }
    return true;
}

/* The library's `to` (torch/tensor.py), which is one node of a captured graph. */
static Value call_to(VM *vm, Value self, const ToArguments *to) {
    const char *const names[] = {"dtype", "device", "copy", "memory_format"};
    const Value given[] = {to->dtype, to->device, to->copy, to->memory_format};
    Value values[5] = {self}, keys[4];
    int count = 0;
    for (int i = 0; i < 4; i++)
        if (given[i].tag != V_NULL) { keys[count] = str_interned(vm, vm_intern(vm, names[i])); values[1 + count++] = given[i]; }
    Value kwnames = tuple_new(vm, keys, count);
    const Op *op = vm_find_op(vm, "to");
    Value result = op ? vm_call_op(vm, op, values, 1, (Tuple *)kwnames.o) : VALUE_ERROR;
    for (int i = 0; i < count; i++) value_unref(vm, keys[i]);
    value_unref(vm, kwnames);
    return result;
}

static Value method_to(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    ToArguments to;
    if (nargs > 1 && value_is_tensor(vm_force(vm, args[1]))) { /* to(other) */
        const Tensor *other = tensor_of(vm_force(vm, args[1]));
        to = (ToArguments){.dtype = dtype_new(vm, other->meta.dtype), .device = device_new(vm, other->meta.device)};
        Value result = call_to(vm, args[0], &to);
        value_unref(vm, to.dtype);
        value_unref(vm, to.device);
        return result;
    }
    return parse_to_arguments(vm, args + 1, nargs - 1, kwnames, &to) ? call_to(vm, args[0], &to) : VALUE_ERROR;
}

/* x.type("torch.FloatTensor"), x.type("torch.cuda.HalfTensor"): what x.type() gives. */
static Value to_type_named(VM *vm, Value tensor, const char *name) {
    static const char *const prefixes[] = {"torch.cuda.", "torch."};
    for (int i = 0; i < 2; i++) {
        size_t skip = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], skip)) continue;
        for (int d = 0; d < DTYPE_COUNT; d++) {
            const char *type = tensor_type_name((DType)d);
            if (strncmp(name + skip, type, strlen(type)) || strcmp(name + skip + strlen(type), "Tensor")) continue;
            ToArguments to = {.dtype = dtype_new(vm, (DType)d), .device = str_from(vm, i == 0 ? "cuda" : "cpu")};
            Value result = call_to(vm, tensor, &to);
            value_unref(vm, to.dtype);
            value_unref(vm, to.device);
            return result;
        }
    }
    return vm_raise(vm, "ValueError", "invalid type: '%s'", name);
}

static Value method_type(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    if (nargs > 1 && value_is(args[1], OBJ_STR)) return to_type_named(vm, args[0], str_text(args[1]));
    if (nargs > 1) return method_to(vm, args, nargs, kwnames);
    return str_printf(vm, "torch.%s%sTensor", SELF->meta.device.kind == DEVICE_CUDA ? "cuda." : "", tensor_type_name(SELF->meta.dtype));
}
static Value method_type_as(VM *vm, Value *args, int nargs, Tuple *kwnames) { return method_to(vm, args, nargs, kwnames); }
static Value method_cuda(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    ToArguments to = {.device = nargs > 1 ? value_ref(vm_force(vm, args[1])) : str_from(vm, "cuda")};
    Value result = call_to(vm, args[0], &to);
    value_unref(vm, to.device);
    return result;
}
static Value method_cpu(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    ToArguments to = {.device = str_from(vm, "cpu")};
    Value result = call_to(vm, args[0], &to);
    value_unref(vm, to.device);
    return result;
}

static Value method_new_tensor(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"data", "dtype", "device", "requires_grad"};
    Value out[4];
    Device device = SELF->meta.device;
    if (!vm_parse_args(vm, "new_tensor", args + 1, nargs - 1, kwnames, names, 4, 1, out)) return VALUE_ERROR;
    if (out[2].tag != V_NULL && out[2].tag != V_NONE && !device_of_value(vm, out[2], &device)) return VALUE_ERROR;
    Tensor *made = tensor_from_value(vm, out[0], value_is(out[1], OBJ_DTYPE) ? ((DTypeObject *)out[1].o)->dtype : SELF->meta.dtype, device);
    if (made && out[3].tag != V_NULL && vm_truth(vm, out[3]) > 0 && !tensor_ask_requires_grad(vm, made)) { value_unref(vm, value_tensor(made)); return VALUE_ERROR; }
    return made ? value_tensor(made) : VALUE_ERROR;
}

static const BuiltinDef methods[] = {
    {"size", method_size, 1, 2, 0}, {"stride", method_stride, 1, 2, 0}, {"dim", method_dim, 1, 1, 0}, {"ndimension", method_dim, 1, 1, 0},
    {"numel", method_numel, 1, 1, 0}, {"nelement", method_numel, 1, 1, 0}, {"element_size", method_element_size, 1, 1, 0},
    {"storage_offset", method_storage_offset, 1, 1, BUILTIN_BREAK}, {"data_ptr", method_data_ptr, 1, 1, BUILTIN_BREAK}, {"is_contiguous", method_is_contiguous, 1, 2, 0},
    {"is_floating_point", method_is_floating_point, 1, 1, 0}, {"is_complex", method_false, 1, 1, 0}, {"is_signed", method_is_signed, 1, 1, 0},
    {"is_conj", method_false, 1, 1, 0}, {"is_neg", method_false, 1, 1, 0}, {"is_inference", method_is_inference, 1, 1, 0}, {"is_shared", method_false, 1, 1, 0},
    {"is_pinned", method_false, 1, 2, 0}, {"pin_memory", method_self, 1, 2, 0}, {"share_memory_", method_self, 1, 1, 0}, {"get_device", method_get_device, 1, 1, 0},
    {"item", method_item, 1, 1, 0}, {"tolist", method_tolist, 1, 1, 0}, {"numpy", method_numpy, 1, -1, 0}, {"__len__", method_length, 1, 1, 0}, {"__bool__", method_bool, 1, 1, 0},
    {"backward", method_backward, 1, 5, BUILTIN_BREAK}, {"requires_grad_", method_requires_grad_, 1, 2, BUILTIN_MUTATES},
    {"retain_grad", method_retain_grad, 1, 1, BUILTIN_BREAK}, {"register_hook", method_register_hook, 2, 2, BUILTIN_BREAK}, {"register_post_accumulate_grad_hook", method_register_post_hook, 2, 2, BUILTIN_BREAK},
    {"to", method_to, 1, -1, 0}, {"type", method_type, 1, 3, 0}, {"type_as", method_type_as, 2, 2, 0}, {"cuda", method_cuda, 1, 3, 0}, {"cpu", method_cpu, 1, 1, 0},
    {"untyped_storage", method_untyped_storage, 1, 1, BUILTIN_BREAK}, {"storage", method_untyped_storage, 1, 1, BUILTIN_BREAK},
    {"new_tensor", method_new_tensor, 2, 2, 0},
};

void tensor_methods_init(VM *vm) {
    for (int i = 0; i < COUNT_OF(methods); i++) {
        Value builtin = builtin_new(vm, methods[i].name, methods[i].fn, methods[i].min, methods[i].max, methods[i].effects);
        map_put(vm->torch->tensor_methods, vm_intern(vm, methods[i].name), builtin.o);
    }
    for (const BuiltinDef *def = tensor_become_methods; def->name; def++)
        map_put(vm->torch->tensor_methods, vm_intern(vm, def->name), builtin_new(vm, def->name, def->fn, def->min, def->max, def->effects).o);
}
