/* The torch namespace in C: dtypes, constants, rows as functions, and what asks about or makes tensors from data.
 *
 *     torch.float32, torch.relu, torch.tensor([[1, 2]]), torch.is_tensor(x), torch.finfo(torch.half).max
 *
 * Rows with FUNCTION come from the table; settings are in torch_settings.c, random numbers in torch_random.c. To add a function: a BuiltinDef. */
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/scalar_value.h"
#include "vm/tensor_method.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define UNUSED_CALL (void)nargs, (void)kwnames

/* ---- constants ---- */

static void define_dtypes(VM *vm, Dict *dict) {
    static const struct { const char *name; DType dtype; } aliases[] = {
        {"float", DTYPE_F32}, {"double", DTYPE_F64}, {"half", DTYPE_F16}, {"int", DTYPE_I32}, {"long", DTYPE_I64}, {"short", DTYPE_I16},
    };
    for (int i = 0; i < DTYPE_COUNT; i++) define_value(vm, dict, dtype_info[i].name, dtype_new(vm, (DType)i));
    for (int i = 0; i < COUNT_OF(aliases); i++) define_value(vm, dict, aliases[i].name, dtype_new(vm, aliases[i].dtype));
}

static void define_constants(VM *vm, Dict *dict) {
    static const char *const formats[] = {"strided", "contiguous_format", "channels_last", "preserve_format"};
    define_value(vm, dict, "inf", value_float(INFINITY));
    define_value(vm, dict, "nan", value_float((double)NAN));
    define_value(vm, dict, "pi", value_float(3.14159265358979323846));
    define_value(vm, dict, "e", value_float(2.71828182845904523536));
    define_value(vm, dict, "newaxis", VALUE_NONE);
    define_value(vm, dict, "__version__", str_from(vm, "2.11.0"));
    for (int i = 0; i < COUNT_OF(formats); i++) define_value(vm, dict, formats[i], str_printf(vm, "torch.%s", formats[i]));
}

static void define_classes(VM *vm, Dict *dict) {
    define_value(vm, dict, "Tensor", value_ref(value_object(vm->classes[OBJ_TENSOR])));
    define_value(vm, dict, "dtype", value_ref(value_object(vm->classes[OBJ_DTYPE])));
    define_value(vm, dict, "device", value_ref(value_object(vm->classes[OBJ_DEVICE])));
    define_value(vm, dict, "Size", value_ref(value_object(vm->own->class_size)));
    if (vm->classes[OBJ_RNG]) define_value(vm, dict, "Generator", value_ref(value_object(vm->classes[OBJ_RNG])));
}

static void define_rows(VM *vm, Dict *dict) {
    for (int i = 0; i < vm->torch->row_count; i++) {
        const Op *op = op_at(vm->ops, i);
        if (op_has(op, TRAIT_FUNCTION)) define_value(vm, dict, op->name, op_object_new(vm, op, arena_printf(vm->arena, "torch.%s", op->name)));
    }
}

/* ---- tensors from data ---- */

static bool dtype_argument(VM *vm, Value v, DType *dtype) {
    if (v.tag == V_NULL || v.tag == V_NONE) return true;
    if (dtype_of_value(vm, v, dtype)) return true;
    vm_raise(vm, "TypeError", "argument 'dtype' must be torch.dtype, not %s", type_name(vm, v));
    return false;
}

static bool device_argument(VM *vm, Value v, Device *device) { return v.tag == V_NULL || v.tag == V_NONE || device_of_value(vm, v, device); }

/* A copy (or, when `share` and nothing changes, the tensor itself) with another dtype and device. */
static Value convert(VM *vm, Tensor *t, DType dtype, Device device, bool share) {
    if (share && t->meta.dtype == dtype && device_equal(t->meta.device, device)) return value_ref(value_tensor(t));
    Arg args[] = {arg_of_tensor(t), {.tag = ARG_DTYPE, .dtype = dtype}, {.tag = ARG_DEVICE, .device = device}};
    return vm_op_args(vm, "_to_copy", args, 3);
}

/* torch.tensor of a tensor copies it off the tape. */
static Value copy_of_tensor(VM *vm, Tensor *t, DType dtype, Device device) {
    bool former = vm->grad_enabled;
    vm->grad_enabled = false;
    Value copy = convert(vm, t, dtype, device, false);
    vm->grad_enabled = former;
    return copy;
}

/* In a traced region the written data become a constant of the graph, copied afresh at each call as PyTorch does. */
static Value fresh_constant(VM *vm, Tensor *t) {
    if (vm->domain == &concrete_domain) return value_tensor(t);
    Value made = value_tensor(t), copy = vm_op_args(vm, "lift_fresh_copy", (Arg[]){arg_of_tensor(t)}, 1);
    value_unref(vm, made);
    return copy;
}

/* ---- data with symbolic sizes among them ---- */

typedef struct SymbolicData { bool symbolic, floats, bad; } SymbolicData;

static void look_through(VM *vm, Value v, SymbolicData *data, int depth) {
    v = vm_force(vm, v);
    if (value_is(v, OBJ_SYM)) data->symbolic = true;
    else if (v.tag == V_FLOAT) data->floats = true;
    else if (v.tag != V_INT && v.tag != V_BOOL && !value_is(v, OBJ_LIST) && !value_is(v, OBJ_TUPLE)) data->bad = true;
    if (depth == 0) return;
    bool list = value_is(v, OBJ_LIST);
    int count = list ? list_of(v)->count : value_is(v, OBJ_TUPLE) ? tuple_of(v)->count : 0;
    for (int i = 0; i < count; i++) look_through(vm, list ? list_of(v)->items[i] : tuple_of(v)->items[i], data, depth - 1);
}

/* A number becomes scalar_tensor, a sequence the stack of its items. */
static Value symbolic_tensor(VM *vm, Value v, DType dtype, Device device) {
    v = vm_force(vm, v);
    bool list = value_is(v, OBJ_LIST);
    if (!list && !value_is(v, OBJ_TUPLE)) {
        Arg number = value_is(v, OBJ_SYM) ? arg_int(((SymObject *)v.o)->dim) : v.tag == V_FLOAT ? arg_float(v.f) : v.tag == V_BOOL ? arg_bool(v.b) : arg_int(v.i);
        return vm_op_args(vm, "scalar_tensor", (Arg[]){number, {.tag = ARG_DTYPE, .dtype = dtype}, arg_none(), {.tag = ARG_DEVICE, .device = device}}, 4);
    }
    int count = list ? list_of(v)->count : tuple_of(v)->count;
    Value items = list_new(vm, NULL, 0), made = VALUE_NONE;
    for (int i = 0; i < count && !value_is_error(made); i++) {
        made = symbolic_tensor(vm, list ? list_of(v)->items[i] : tuple_of(v)->items[i], dtype, device);
        if (!value_is_error(made)) list_append(vm, list_of(items), made);
        value_unref(vm, made);
    }
    if (!value_is_error(made)) made = vm_call_op(vm, op_find(vm->ops, "stack"), &items, 1, NULL);
    value_unref(vm, items);
    return made;
}

static Value torch_tensor(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"data", "dtype", "device", "requires_grad", "pin_memory"};
    Value out[5];
    DType dtype = DTYPE_NONE;
    Device device = vm->default_device;
    if (!vm_parse_args(vm, "tensor", args, nargs, kwnames, names, 5, 1, out) || !dtype_argument(vm, out[1], &dtype)) return VALUE_ERROR;
    bool from_tensor = value_is_tensor(out[0]);
    SymbolicData data = {0};
    if (from_tensor) device = tensor_of(out[0])->meta.device;
    if (!device_argument(vm, out[2], &device)) return VALUE_ERROR;
    Value made;
    if (from_tensor) made = copy_of_tensor(vm, tensor_of(out[0]), dtype == DTYPE_NONE ? tensor_of(out[0])->meta.dtype : dtype, device);
    else if (vm->domain != &concrete_domain && (look_through(vm, out[0], &data, 8), data.symbolic) && !data.bad) made = symbolic_tensor(vm, out[0], dtype != DTYPE_NONE ? dtype : data.floats ? vm->default_dtype : DTYPE_I64, device);
    else {
        Tensor *t = tensor_from_value(vm, out[0], dtype, device);
        made = t ? fresh_constant(vm, t) : VALUE_ERROR;
    }
    if (!value_is_error(made) && out[3].tag != V_NULL && vm_truth(vm, out[3]) > 0 && !tensor_ask_requires_grad(vm, tensor_of(made))) { value_unref(vm, made); return VALUE_ERROR; }
    return made;
}

static Value torch_as_tensor(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"data", "dtype", "device"};
    Value out[3];
    DType dtype = DTYPE_NONE;
    if (!vm_parse_args(vm, "as_tensor", args, nargs, kwnames, names, 3, 1, out) || !dtype_argument(vm, out[1], &dtype)) return VALUE_ERROR;
    if (!value_is_tensor(out[0])) return torch_tensor(vm, args, nargs, kwnames);
    Tensor *t = tensor_of(out[0]);
    Device device = t->meta.device;
    if (!device_argument(vm, out[2], &device)) return VALUE_ERROR;
    return convert(vm, t, dtype == DTYPE_NONE ? t->meta.dtype : dtype, device, true);
}

/* ---- questions ---- */

static Value torch_is_tensor(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_bool(value_is_tensor(args[0])); }
static bool need_tensor_argument(VM *vm, const char *function, Value v) {
    if (value_is_tensor(v)) return true;
    vm_raise(vm, "TypeError", "%s(): argument 'input' (position 1) must be Tensor, not %s", function, type_name(vm, v));
    return false;
}
static Value torch_numel(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    return need_tensor_argument(vm, "numel", args[0]) ? sym_of_size(vm, meta_numel_dim(&tensor_of(args[0])->meta, vm->context.syms)) : VALUE_ERROR;
}
static Value torch_is_floating_point(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    return need_tensor_argument(vm, "is_floating_point", args[0]) ? value_bool(dtype_is_float(tensor_of(args[0])->meta.dtype)) : VALUE_ERROR;
}
static Value torch_is_complex(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm, (void)args; return value_bool(false); }
static Value torch_is_nonzero(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int truth = vm_truth(vm, args[0]);
    return truth < 0 ? VALUE_ERROR : value_bool(truth);
}
static Value torch_typename(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    if (value_is_tensor(args[0])) return vm_call_method(vm, args[0], vm_intern(vm, "type"), NULL, 0);
    return str_from(vm, type_name(vm, args[0]));
}

static bool two_dtypes(VM *vm, Value *args, DType *a, DType *b) {
    *a = *b = DTYPE_NONE;
    if (value_is(args[0], OBJ_DTYPE) && value_is(args[1], OBJ_DTYPE)) return dtype_argument(vm, args[0], a) && dtype_argument(vm, args[1], b);
    vm_raise(vm, "TypeError", "two dtypes are expected");
    return false;
}
static Value torch_promote_types(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    DType a, b;
    return two_dtypes(vm, args, &a, &b) ? dtype_new(vm, dtype_promote(a, b)) : VALUE_ERROR;
}
static Value torch_can_cast(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    DType a, b;
    return two_dtypes(vm, args, &a, &b) ? value_bool(dtype_info[a].category <= dtype_info[b].category) : VALUE_ERROR;
}
static Value torch_result_type(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    Arg two[] = {arg_none(), arg_none()};
    for (int i = 0; i < 2; i++) {
        if (value_is_tensor(args[i])) two[i] = arg_of_tensor(tensor_of(args[i]));
        else if (args[i].tag == V_FLOAT) two[i] = arg_float(args[i].f);
        else if (args[i].tag == V_INT) two[i] = arg_int(args[i].i);
        else if (args[i].tag == V_BOOL) two[i] = arg_bool(args[i].b);
        else return vm_raise(vm, "TypeError", "result_type(): tensors or numbers are expected, not %s", type_name(vm, args[i]));
    }
    return dtype_new(vm, op_result_type(two, 2, vm->default_dtype));
}

static bool read_shape(VM *vm, Value v, Dim *sizes, int *rank) {
    Value *items = &v;
    int count = 1;
    if (!sequence_view(v, &items, &count) && v.tag != V_INT && !value_is(v, OBJ_SYM)) { vm_raise(vm, "TypeError", "a shape is expected, not %s", type_name(vm, v)); return false; }
    if (count > MAX_RANK) { vm_raise(vm, "RuntimeError", "more than %d dimensions", MAX_RANK); return false; }
    for (int i = 0; i < count; i++) {
        Value item = vm_force(vm, items[i]);
        if (item.tag == V_INT) sizes[i] = item.i;
        else if (value_is(item, OBJ_SYM)) sizes[i] = ((SymObject *)item.o)->dim;
        else { vm_raise(vm, "TypeError", "a shape holds ints, not %s", type_name(vm, item)); return false; }
    }
    *rank = count;
    return true;
}
static Value torch_broadcast_shapes(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    Dim sizes[MAX_RANK], next[MAX_RANK], out[MAX_RANK];
    int rank = 0, next_rank, out_rank;
    for (int i = 0; i < nargs; i++) {
        if (!read_shape(vm, args[i], next, &next_rank)) return VALUE_ERROR;
        if (!sizes_broadcast(out, &out_rank, sizes, rank, next, next_rank))
            return vm_raise(vm, "RuntimeError", "Shape mismatch: objects cannot be broadcast to a single shape");
        rank = out_rank;
        memcpy(sizes, out, sizeof sizes);
    }
    return size_new(vm, sizes, rank);
}

/* ---- finfo, iinfo ---- */

static Value info_new(VM *vm, const char *name, const char *const *fields, const Value *values, int count, BuiltinFn repr) {
    Class *cls = namedtuple_class(vm, name, "torch", fields, count);
    const BuiltinDef shown[] = {{"__repr__", repr, 1, 1, BUILTIN_METHOD}, {"__str__", repr, 1, 1, BUILTIN_METHOD}};
    vm_define(vm, cls->dict, name, shown, COUNT_OF(shown));
    return namedtuple_new(vm, cls, values, count);
}

/* Printed as PyTorch prints them: six digits, and no name of the smallest number that is left out. */
static Value finfo_repr(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    const Value *v = ((Tuple *)vm_unwrap(args[0]).o)->items;
    return str_printf(vm, "finfo(resolution=%g, min=%g, max=%g, eps=%g, smallest_normal=%g, tiny=%g, dtype=%s)", v[1].f, v[2].f, v[3].f, v[4].f, v[5].f, v[6].f, str_text(v[7]));
}
static Value iinfo_repr(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    const Value *v = ((Tuple *)vm_unwrap(args[0]).o)->items;
    return str_printf(vm, "iinfo(min=%lld, max=%lld, dtype=%s)", (long long)v[1].i, (long long)v[2].i, str_text(v[3]));
}

static Value torch_finfo(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    static const char *const fields[] = {"bits", "resolution", "min", "max", "eps", "smallest_normal", "tiny", "dtype"};
    static const struct { double resolution, max, eps, smallest; } facts[DTYPE_COUNT] = {
        [DTYPE_F16] = {1e-3, 65504.0, 0x1p-10, 0x1p-14}, [DTYPE_BF16] = {1e-2, 0x1.fep127, 0x1p-7, 0x1p-126},
        [DTYPE_F32] = {1e-6, FLT_MAX, FLT_EPSILON, FLT_MIN}, [DTYPE_F64] = {1e-15, DBL_MAX, DBL_EPSILON, DBL_MIN},
    };
    DType dtype = vm->default_dtype;
    if (nargs && !dtype_argument(vm, args[0], &dtype)) return VALUE_ERROR;
    if (!dtype_is_float(dtype)) return vm_raise(vm, "TypeError", "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.%s'", dtype_info[dtype].name);
    Value values[] = {value_int(dtype_size(dtype) * 8), value_float(facts[dtype].resolution), value_float(-facts[dtype].max), value_float(facts[dtype].max),
                      value_float(facts[dtype].eps), value_float(facts[dtype].smallest), value_float(facts[dtype].smallest), str_from(vm, dtype_info[dtype].name)};
    Value info = info_new(vm, "finfo", fields, values, 8, finfo_repr);
    value_unref(vm, values[7]);
    return info;
}

static Value torch_iinfo(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    static const char *const fields[] = {"bits", "min", "max", "dtype"};
    DType dtype = DTYPE_NONE;
    if (!dtype_argument(vm, args[0], &dtype)) return VALUE_ERROR;
    if (dtype == DTYPE_NONE || !dtype_is_int(dtype)) return vm_raise(vm, "TypeError", "torch.iinfo() requires an integer input type");
    int bits = dtype_size(dtype) * 8;
    bool is_unsigned = dtype == DTYPE_U8;
    int64_t high = is_unsigned ? 255 : (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    Value values[] = {value_int(bits), value_int(is_unsigned ? 0 : -high - 1), value_int(high), str_from(vm, dtype_info[dtype].name)};
    Value info = info_new(vm, "iinfo", fields, values, 4, iinfo_repr);
    value_unref(vm, values[3]);
    return info;
}

/* ---- refused by name ---- */

static Value torch_refuse_files(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)args;
    return vm_raise(vm, "NotImplementedError", "a program here cannot read or write files: torch.save and torch.load are not part of vitrine");
}
static Value torch_refuse_numpy(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)args;
    return vm_raise(vm, "NotImplementedError", "numpy is not part of vitrine");
}

void torch_define_root(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {
        {"tensor", torch_tensor, 0, -1, 0}, {"as_tensor", torch_as_tensor, 0, -1, 0}, {"asarray", torch_as_tensor, 0, -1, 0}, {"from_numpy", torch_refuse_numpy, 0, -1, 0},
        {"is_tensor", torch_is_tensor, 1, 1, 0}, {"numel", torch_numel, 1, 1, 0}, {"is_floating_point", torch_is_floating_point, 1, 1, 0}, {"is_complex", torch_is_complex, 1, 1, 0},
        {"is_nonzero", torch_is_nonzero, 1, 1, 0}, {"typename", torch_typename, 1, 1, 0}, {"promote_types", torch_promote_types, 2, 2, 0}, {"can_cast", torch_can_cast, 2, 2, 0},
        {"result_type", torch_result_type, 2, 2, 0}, {"broadcast_shapes", torch_broadcast_shapes, 0, -1, 0}, {"finfo", torch_finfo, 0, 1, 0}, {"iinfo", torch_iinfo, 1, 1, 0},
        {"save", torch_refuse_files, 0, -1, 0}, {"load", torch_refuse_files, 0, -1, 0},
    };
    define_rows(vm, dict);
    define_dtypes(vm, dict);
    define_constants(vm, dict);
    torch_define_classes(vm);
    define_classes(vm, dict);
    vm_define(vm, dict, "torch", functions, COUNT_OF(functions));
    torch_define_settings(vm, dict);
    torch_define_random(vm, dict);
}
