/* Settings of torch: default dtype and device, print options, grad mode, autocast, precision of matmuls; and the constructors of its classes.
 *
 *     torch.set_default_dtype(torch.float64); torch.set_printoptions(precision=2)
 *
 * Grad mode's context managers are written in the language over torch._C._set_grad_enabled.
 * Invariant: VM.context (what kernels and shape rules see) follows every change here. */
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/tensor_method.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"
#include <string.h>

#define UNUSED_CALL (void)nargs, (void)kwnames

/* ---- defaults ---- */

static Value get_default_dtype(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return dtype_new(vm, vm->default_dtype); }
static Value set_default_dtype(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    if (!value_is(args[0], OBJ_DTYPE) || !dtype_is_float(((DTypeObject *)args[0].o)->dtype))
        return vm_raise(vm, "TypeError", "only floating-point types are supported as the default type");
    vm->default_dtype = vm->context.default_dtype = ((DTypeObject *)args[0].o)->dtype;
    return VALUE_NONE;
}
static Value get_default_device(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return device_new(vm, vm->default_device); }
static Value set_default_device(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Device device = {DEVICE_CPU, 0};
    if (args[0].tag != V_NONE && !device_of_value(vm, args[0], &device)) return VALUE_ERROR;
    vm->default_device = vm->context.default_device = device;
    return VALUE_NONE;
}

/* ---- printing ---- */

static bool int_option(VM *vm, Value v, int *out) {
    int64_t i;
    if (v.tag == V_NULL || v.tag == V_NONE) return true;
    if (v.tag == V_FLOAT) { *out = INT32_MAX; return true; } /* float("inf"): no summarizing */
    if (!vm_as_int(vm, v, &i)) return false;
    *out = i < 0 ? 0 : i > INT32_MAX ? INT32_MAX : (int)i;
    return true;
}

static Value set_printoptions(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"precision", "threshold", "edgeitems", "linewidth", "profile", "sci_mode"};
    Value out[6];
    PrintOptions *print = &vm->torch->print;
    if (!vm_parse_args(vm, "set_printoptions", args, nargs, kwnames, names, 6, 0, out)) return VALUE_ERROR;
    if (value_is(out[4], OBJ_STR)) {
        *print = print_options_default;
        if (strcmp(str_text(out[4]), "short") == 0) print->precision = 2, print->edgeitems = 2;
        if (strcmp(str_text(out[4]), "full") == 0) print->threshold = INT32_MAX;
    }
    if (!int_option(vm, out[0], &print->precision) || !int_option(vm, out[1], &print->threshold) || !int_option(vm, out[2], &print->edgeitems) || !int_option(vm, out[3], &print->linewidth)) return VALUE_ERROR;
    if (kwnames || nargs > 5) print->sci_mode = out[5].tag == V_NULL ? print->sci_mode : out[5].tag == V_NONE ? -1 : vm_truth(vm, out[5]);
    return VALUE_NONE;
}

/* ---- grad mode ---- */

static Value is_grad_enabled(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_bool(vm->grad_enabled); }
static Value set_grad_mode(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int truth = vm_truth(vm, args[0]);
    if (truth < 0) return VALUE_ERROR;
    vm->grad_enabled = truth > 0;
    return VALUE_NONE;
}
static Value is_inference_mode(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_bool(vm->inference); }
static Value set_inference_mode(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int truth = vm_truth(vm, args[0]);
    if (truth < 0) return VALUE_ERROR;
    vm->inference = truth > 0;
    return VALUE_NONE;
}

/* ---- autocast ---- */

static int autocast_kind(VM *vm, Value device) {
    if (value_is(device, OBJ_STR) && strcmp(str_text(device), "cpu") == 0) return DEVICE_CPU;
    if (value_is(device, OBJ_STR) && strcmp(str_text(device), "cuda") == 0) return DEVICE_CUDA;
    vm_raise(vm, "RuntimeError", "User specified an unsupported autocast device_type");
    return -1;
}
static Value autocast_get(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int kind = autocast_kind(vm, args[0]);
    if (kind < 0) return VALUE_ERROR;
    Value pair[] = {value_bool(vm->torch->autocast.enabled[kind]), dtype_new(vm, vm->torch->autocast.dtype[kind])}, tuple = tuple_new(vm, pair, 2);
    value_unref(vm, pair[1]);
    return tuple;
}
static Value autocast_set(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int kind = autocast_kind(vm, args[0]), enabled = kind < 0 ? -1 : vm_truth(vm, args[1]);
    if (enabled < 0) return VALUE_ERROR;
    vm->torch->autocast.enabled[kind] = enabled > 0;
    if (value_is(args[2], OBJ_DTYPE)) vm->torch->autocast.dtype[kind] = ((DTypeObject *)args[2].o)->dtype;
    return VALUE_NONE;
}
static Value is_autocast_enabled(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    int kind = nargs ? autocast_kind(vm, args[0]) : DEVICE_CUDA;
    return kind < 0 ? VALUE_ERROR : value_bool(vm->torch->autocast.enabled[kind]);
}
static Value get_autocast_dtype(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int kind = autocast_kind(vm, args[0]);
    return kind < 0 ? VALUE_ERROR : dtype_new(vm, vm->torch->autocast.dtype[kind]);
}

/* ---- precision, threads, determinism ---- */

static Value set_matmul_precision(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    const char *precision = value_is(args[0], OBJ_STR) ? str_text(args[0]) : "";
    if (strcmp(precision, "highest") && strcmp(precision, "high") && strcmp(precision, "medium"))
        return vm_raise(vm, "RuntimeError", "'%s' is not one of 'highest', 'high', or 'medium'", precision);
    vm->torch->matmul_precision = vm_intern(vm, precision);
    vm->torch->matmul_allow_tf32 = strcmp(precision, "highest") != 0;
    return VALUE_NONE;
}
static Value get_matmul_precision(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return str_from(vm, vm->torch->matmul_precision); }
static Value set_num_threads(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int64_t n;
    if (!vm_as_int(vm, args[0], &n)) return VALUE_ERROR;
    if (n <= 0) return vm_raise(vm, "RuntimeError", "set_num_threads expects a positive integer");
    vm->context.threads = n > 1024 ? 1024 : (int)n;
    return VALUE_NONE;
}
static Value get_num_threads(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_int(vm->context.threads > 0 ? vm->context.threads : 1); }
static Value use_deterministic(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int truth = vm_truth(vm, args[0]);
    if (truth < 0) return VALUE_ERROR;
    vm->torch->deterministic = vm->deterministic = truth > 0;
    return VALUE_NONE;
}
static Value is_deterministic(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_bool(vm->torch->deterministic); }

void torch_define_settings(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {
        {"get_default_dtype", get_default_dtype, 0, 0, 0}, {"set_default_dtype", set_default_dtype, 1, 1, BUILTIN_BREAK}, {"get_default_device", get_default_device, 0, 0, 0},
        {"set_default_device", set_default_device, 1, 1, BUILTIN_BREAK}, {"set_printoptions", set_printoptions, 0, 6, BUILTIN_BREAK}, {"is_grad_enabled", is_grad_enabled, 0, 0, 0},
        {"is_inference_mode_enabled", is_inference_mode, 0, 0, 0}, {"is_autocast_enabled", is_autocast_enabled, 0, 1, 0}, {"get_autocast_dtype", get_autocast_dtype, 1, 1, 0},
        {"set_float32_matmul_precision", set_matmul_precision, 1, 1, BUILTIN_BREAK}, {"get_float32_matmul_precision", get_matmul_precision, 0, 0, 0},
        {"set_num_threads", set_num_threads, 1, 1, BUILTIN_BREAK}, {"set_num_interop_threads", set_num_threads, 1, 1, BUILTIN_BREAK}, {"get_num_threads", get_num_threads, 0, 0, 0},
        {"use_deterministic_algorithms", use_deterministic, 1, 2, BUILTIN_BREAK}, {"are_deterministic_algorithms_enabled", is_deterministic, 0, 0, 0},
    };
    vm_define(vm, dict, "torch", functions, COUNT_OF(functions));
}

/* ---- torch._C ---- */

static Value native_detach_(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL; return tensor_detach_inplace(vm, tensor_of(args[0])); }
static Value native_same_storage(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)vm;
    return value_bool(value_is_tensor(args[0]) && value_is_tensor(args[1]) && tensor_of(args[0])->storage == tensor_of(args[1])->storage);
}
/* _return_type("qr", "Q", "R"): a class as those of results with named parts. */
static Value native_return_type(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    const char *fields[8];
    for (int i = 1; i < nargs; i++) fields[i - 1] = str_text(args[i]);
    return value_ref(value_object(namedtuple_class(vm, str_text(args[0]), "torch.return_types", fields, nargs - 1)));
}
/* Is a size known only when the graph runs? What the library would compute from it as a Python float, it then computes as a tensor. */
static Value native_is_symbolic(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_bool(value_is(args[0], OBJ_SYM)); }
static Value native_is_eager(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_bool(vm->domain == &concrete_domain); }
static Value native_raise(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL; return vm_raise(vm, str_text(args[0]), "%s", str_text(args[1])); }
static Value native_parameter(VM *vm, Value *args, int nargs, Tuple *kwnames);

/* ctx.saved_tensors: they must have the versions that they had when the forward returned (autograd_function.c). */
static Value check_versions(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Value *items, *versions;
    int count, known;
    if (!sequence_view(args[0], &items, &count) || !sequence_view(args[1], &versions, &known)) return VALUE_NONE;
    for (int i = 0; i < count && i < known; i++)
        if (value_is_tensor(items[i]) && versions[i].i != (int64_t)tensor_of(items[i])->storage->version)
            return vm_raise(vm, "RuntimeError", "one of the variables needed for gradient computation has been modified by an inplace operation: saved tensor %d is at version %u; expected version %lld instead.",
                            i, tensor_of(items[i])->storage->version, (long long)versions[i].i);
    return VALUE_NONE;
}

void torch_define_native(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {
        {"_detach_", native_detach_, 1, 1, 0}, {"_set_grad_enabled", set_grad_mode, 1, 1, 0}, {"_is_grad_enabled", is_grad_enabled, 0, 0, 0}, {"_set_inference_mode", set_inference_mode, 1, 1, 0},
        {"_is_inference_mode", is_inference_mode, 0, 0, 0}, {"_autocast_get", autocast_get, 1, 1, 0}, {"_autocast_set", autocast_set, 3, 3, 0}, {"_same_storage", native_same_storage, 2, 2, 0},
        {"_raise", native_raise, 2, 2, 0}, {"_check_versions", check_versions, 2, 2, 0}, {"_function_apply", function_apply_call, 2, 2, 0},
        {"_parameter", native_parameter, 1, 3, 0}, {"_is_eager", native_is_eager, 0, 0, 0}, {"_is_symbolic", native_is_symbolic, 1, 1, 0}, {"_return_type", native_return_type, 2, 9, 0},
    };
    vm_define(vm, dict, "torch._C", functions, COUNT_OF(functions));
    define_value(vm, dict, "Parameter", value_ref(value_object(vm->class_parameter)));
}

/* ---- constructors ---- */

/* nn.Parameter(data, requires_grad=True): the same memory as a leaf of its own. args[0] is the class. */
static Value parameter_from(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"data", "requires_grad"};
    Value out[2];
    if (!vm_parse_args(vm, "Parameter", args, nargs, kwnames, names, 2, 0, out)) return VALUE_ERROR;
    Value held = VALUE_NULL;
    if (out[0].tag == V_NULL || out[0].tag == V_NONE) held = vm_op_args(vm, "empty", (Arg[]){{.tag = ARG_INTS, .ints = {(const Dim[]){0}, 1}}}, 1);
    else if (!value_is_tensor(out[0])) return vm_raise(vm, "TypeError", "Parameter data must be a Tensor, not %s", type_name(vm, out[0]));
    Tensor *data = tensor_of(held.tag == V_NULL ? out[0] : held), *parameter = tensor_alias(vm, data);
    value_unref(vm, held);
    parameter->is_parameter = true;
    bool wants = out[1].tag == V_NULL || vm_truth(vm, out[1]) > 0;
    if (wants && !tensor_ask_requires_grad(vm, parameter)) { value_unref(vm, value_tensor(parameter)); return VALUE_ERROR; }
    return value_tensor(parameter);
}
static Value native_parameter(VM *vm, Value *args, int nargs, Tuple *kwnames) { return parameter_from(vm, args, nargs, kwnames); }
static Value parameter_new(VM *vm, Value *args, int nargs, Tuple *kwnames) { return parameter_from(vm, args + 1, nargs - 1, kwnames); }

static Value device_make(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"type", "index"};
    Value out[2];
    Device device;
    int64_t index;
    if (!vm_parse_args(vm, "device", args + 1, nargs - 1, kwnames, names, 2, 1, out) || !device_of_value(vm, out[0], &device)) return VALUE_ERROR;
    if (out[1].tag != V_NULL && out[1].tag != V_NONE) {
        if (!vm_as_int(vm, out[1], &index)) return VALUE_ERROR;
        if (device.kind == DEVICE_CUDA) device.index = (int)index;
    }
    return device_new(vm, device);
}

static Value size_make(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Value list = nargs > 1 ? vm_list_of(vm, args[1]) : list_new(vm, NULL, 0);
    if (value_is_error(list)) return list;
    Value size = tuple_new(vm, ((List *)list.o)->items, ((List *)list.o)->count);
    value_unref(vm, list);
    if (((Tuple *)size.o)->count == 0) { value_unref(vm, size); return size_new(vm, NULL, 0); }
    ((Tuple *)size.o)->is_size = true;
    return size;
}

/* torch.Tensor(2, 3): uninitialized floats; torch.Tensor([1, 2]): data as float. */
static Value tensor_make(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Dim sizes[MAX_RANK];
    Value *items;
    int count;
    if (nargs == 2 && (sequence_view(args[1], &items, &count) || value_is_tensor(args[1]))) {
        if (value_is_tensor(args[1])) return value_ref(args[1]);
        Tensor *t = tensor_from_value(vm, args[1], vm->default_dtype, vm->default_device);
        return t ? value_tensor(t) : VALUE_ERROR;
    }
    for (int i = 1; i < nargs && i <= MAX_RANK; i++)
        if (!vm_as_int(vm, args[i], &sizes[i - 1])) return VALUE_ERROR;
    Dim none = 0;
    return vm_op_args(vm, "empty", (Arg[]){{.tag = ARG_INTS, .ints = {nargs > 1 ? sizes : &none, nargs > 1 ? nargs - 1 : 1}}}, 1);
}

static void set_constructor(VM *vm, Class *cls, BuiltinFn fn) {
    Value maker = builtin_new(vm, "__new__", fn, 1, -1, 0);
    dict_set_name(vm, cls->dict, vm->own->names.new_, maker);
    value_unref(vm, maker);
}

void torch_define_classes(VM *vm) {
    set_constructor(vm, vm->class_parameter, parameter_new);
    set_constructor(vm, vm->classes[OBJ_DEVICE], device_make);
    set_constructor(vm, vm->own->class_size, size_make);
    set_constructor(vm, vm->classes[OBJ_TENSOR], tensor_make);
}
