/* Calls of ops: Python arguments become one Arg for each parameter of the row's signature, and back.
 *
 *     x.view(2, -1)   ->  input=x, size=INTS [2, -1]          // varargs, or a list parameter given as separate ints
 *     x.sum(axis=0)   ->  input=x, dim=INT 0, keepdim=False, dtype=None
 *
 * In: values (forced here), keyword names. Out: Args, lists in an arena. Errors are TypeErrors in PyTorch's words.
 * Invariant: after binding every parameter has an Arg; what was not given is its default, or NONE. */
#include "vm/autograd_record.h"
#include "vm/dispatch.h"
#include "vm/torch_state.h"
#include <string.h>

/* ---- values -> Args ---- */

static bool sequence_items(Value v, Value **items, int *count) {
    if (value_is(v, OBJ_LIST)) { *items = ((List *)v.o)->items; *count = ((List *)v.o)->count; return true; }
    if (value_is(v, OBJ_TUPLE)) { *items = ((Tuple *)v.o)->items; *count = ((Tuple *)v.o)->count; return true; }
    return false;
}

typedef enum ListKind { LIST_INTS, LIST_FLOATS, LIST_TENSORS, LIST_OTHER } ListKind;
static ListKind list_kind(VM *vm, Value *items, int count) {
    bool floats = false, tensors = false, nones = false, others = false, numbers = false;
    for (int i = 0; i < count; i++) {
        Value v = vm_force(vm, items[i]);
        if (v.tag == V_FLOAT) floats = true;
        else if (v.tag == V_INT || v.tag == V_BOOL || value_is(v, OBJ_SYM)) numbers = true;
        else if (value_is_tensor(v)) tensors = true;
        else if (v.tag == V_NONE) nones = true;
        else others = true;
    }
    if (others || ((tensors || nones) && (floats || numbers))) return LIST_OTHER;
    return tensors || nones ? LIST_TENSORS : floats ? LIST_FLOATS : LIST_INTS;
}

/* A size or a dim of a list. Numbers below what a Dim says as an integer stop there: no size and no dim is so far down, so they are refused alike. */
static Dim dim_of(Value v) { return value_is(v, OBJ_SYM) ? ((SymObject *)v.o)->dim : v.tag == V_BOOL ? (Dim)v.b : dim_clamped(v.i); }

static Arg arg_of_ints(VM *vm, Value *items, int count, Arena *arena) {
    Dim *at = ARENA_ARRAY(arena, Dim, count + 1);
    for (int i = 0; i < count; i++) at[i] = dim_of(vm_force(vm, items[i]));
    return (Arg){.tag = ARG_INTS, .ints = {at, count}};
}

static Arg arg_of_list(VM *vm, Value list, Value *items, int count, Arena *arena) {
    switch (list_kind(vm, items, count)) {
    case LIST_INTS: return arg_of_ints(vm, items, count, arena);
    case LIST_FLOATS: {
        double *at = ARENA_ARRAY(arena, double, count + 1);
        for (int i = 0; i < count; i++) {
            Value v = vm_force(vm, items[i]);
            at[i] = v.tag == V_FLOAT ? v.f : (double)dim_of(v);
        }
        return (Arg){.tag = ARG_FLOATS, .floats = {at, count}};
    }
    case LIST_TENSORS: {
        Arg *at = ARENA_ARRAY(arena, Arg, count + 1);
        for (int i = 0; i < count; i++) {
            Value v = vm_force(vm, items[i]);
            at[i] = value_is_tensor(v) ? arg_of_tensor(tensor_of(v)) : arg_none();
        }
        return (Arg){.tag = ARG_TENSORS, .list = {at, count}};
    }
    default: return (Arg){.tag = ARG_OBJECT, .object = list.o};
    }
}

Arg arg_of_value(VM *vm, Value v, Arena *arena) {
    v = vm_force(vm, v);
    switch (v.tag) {
    case V_BOOL: return arg_bool(v.b);
    case V_INT: return arg_int(v.i);
    case V_FLOAT: return arg_float(v.f);
    case V_OBJECT: break;
    default: return arg_none();
    }
    Value *items;
    int count;
    if (value_is_tensor(v)) return arg_of_tensor(tensor_of(v));
    if (value_is(v, OBJ_SYM)) return arg_int(((SymObject *)v.o)->dim);
    if (value_is(v, OBJ_DTYPE)) return (Arg){.tag = ARG_DTYPE, .dtype = ((DTypeObject *)v.o)->dtype};
    if (value_is(v, OBJ_DEVICE)) return (Arg){.tag = ARG_DEVICE, .device = ((DeviceObject *)v.o)->device};
    if (value_is(v, OBJ_STR)) return (Arg){.tag = ARG_STR, .s = arena_strdup(arena, str_text(v))};
    if (sequence_items(v, &items, &count)) return arg_of_list(vm, v, items, count, arena);
    return (Arg){.tag = ARG_OBJECT, .object = v.o};
}

/* ---- Args -> values ---- */

static Value list_of_args(VM *vm, const Arg *arg) {
    Value list = list_new(vm, NULL, 0);
    int count = arg->tag == ARG_INTS ? arg->ints.count : arg->tag == ARG_FLOATS ? arg->floats.count : arg->list.count;
    for (int i = 0; i < count; i++) {
        Value item = arg->tag == ARG_INTS ? sym_new(vm, arg->ints.at[i]) : arg->tag == ARG_FLOATS ? value_float(arg->floats.at[i]) : value_of_arg(vm, &arg->list.items[i]);
        list_append(vm, (List *)list.o, item);
        value_unref(vm, item);
    }
    return list;
}

Value value_of_arg(VM *vm, const Arg *arg) {
    switch (arg->tag) {
    case ARG_NONE: return VALUE_NONE;
    case ARG_TENSOR: return arg->tensor.owner ? value_ref(value_tensor(arg->tensor.owner)) : VALUE_NONE;
    case ARG_BOOL: return value_bool(arg->b);
    case ARG_INT: return sym_new(vm, arg->i);
    case ARG_FLOAT: return value_float(arg->f);
    case ARG_STR: return str_from(vm, arg->s);
    case ARG_DTYPE: return dtype_new(vm, arg->dtype);
    case ARG_DEVICE: return device_new(vm, arg->device);
    case ARG_OBJECT: return value_ref(value_object(arg->object));
    default: return list_of_args(vm, arg);
    }
}

static Arg arg_of_const(const Const *c, Arena *arena) {
    switch (c->kind) {
    case CONST_TRUE: return arg_bool(true);
    case CONST_FALSE: return arg_bool(false);
    case CONST_INT: return arg_int(c->i);
    case CONST_FLOAT: return arg_float(c->f);
    case CONST_STR: return (Arg){.tag = ARG_STR, .s = c->s.text};
    case CONST_TUPLE: {
        Dim *at = ARENA_ARRAY(arena, Dim, c->tuple.count + 1);
        for (int i = 0; i < c->tuple.count; i++) at[i] = c->tuple.items[i].kind == CONST_INT ? c->tuple.items[i].i : 0;
        return (Arg){.tag = ARG_INTS, .ints = {at, c->tuple.count}};
    }
    default: return arg_none();
    }
}

/* ---- binding ---- */

/* A list parameter that may also be given as separate arguments: x.permute(2, 0, 1), torch.zeros(2, 3), x.sum(0, 1) is none. */
static bool takes_separate_ints(const char *name) {
    static const char *const names[] = {"size", "sizes", "shape", "dims", "repeats"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static const char *parameter_of_keyword(const Op *op, const char *name) {
    static const char *const aliases[][2] = {{"axis", "dim"}, {"axes", "dims"}, {"keepdims", "keepdim"}, {"self", "input"}, {"x", "input"}, {"x2", "other"}, {"axis", "dims"}};
    if (op_param_index(op, name) >= 0) return name;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(name, aliases[i][0]) == 0 && op_param_index(op, aliases[i][1]) >= 0) return aliases[i][1];
    return NULL;
}

typedef struct Binding { VM *vm; const Op *op; Arg *out; bool given[64]; Arena *arena; } Binding;

static bool bind_value(Binding *b, int place, Value v) {
    Arg *out = &b->out[place];
    *out = arg_of_value(b->vm, v, b->arena);
    b->given[place] = true;
    Value plain = vm_force(b->vm, v);
    if (plain.tag == V_INT && !dim_is_int(plain.i)) { /* those numbers stand for symbols in an argument */
        vm_raise(b->vm, "OverflowError", "%s(): argument '%s': an integer below -2**62 is not supported", b->op->name, op_param(b->op, place));
        return false;
    }
    if (out->tag == ARG_STR && strcmp(op_param(b->op, place), "device") == 0) {
        out->tag = ARG_DEVICE;
        return device_parse(b->vm, str_text(vm_force(b->vm, v)), &out->device);
    }
    if (out->tag == ARG_STR && strcmp(op_param(b->op, place), "dtype") == 0) {
        vm_raise(b->vm, "TypeError", "%s(): argument 'dtype' must be torch.dtype, not str", b->op->name);
        return false;
    }
    DType dtype;
    if (out->tag == ARG_OBJECT && strcmp(op_param(b->op, place), "dtype") == 0 && dtype_of_value(b->vm, v, &dtype)) *out = (Arg){.tag = ARG_DTYPE, .dtype = dtype};
    if (out->tag == ARG_INT && strcmp(op_param(b->op, place), "device") == 0 && dim_is_int(out->i)) *out = (Arg){.tag = ARG_DEVICE, .device = {DEVICE_CUDA, (int)out->i}};
    return true;
}

static bool is_integer(Value v) { return v.tag == V_INT || v.tag == V_BOOL || value_is(v, OBJ_SYM); }

/* Positional arguments from `from` on go into one list at `place`; a single sequence is that list itself. */
static bool bind_rest(Binding *b, int place, Value *args, int from, int nargs) {
    Value first = from < nargs ? vm_force(b->vm, args[from]) : VALUE_NULL, *items;
    int count;
    b->given[place] = true;
    if (nargs - from == 1 && sequence_items(first, &items, &count)) { b->out[place] = arg_of_list(b->vm, first, items, count, b->arena); return true; }
    for (int i = from; i < nargs; i++)
        if (!is_integer(vm_force(b->vm, args[i])) && b->op->family != FAMILY_COMPOSITE) {
            vm_raise(b->vm, "TypeError", "%s(): argument '%s' must be tuple of ints, not %s", b->op->name, op_param(b->op, place), type_name(b->vm, vm_force(b->vm, args[i])));
            return false;
        }
    if (list_kind(b->vm, args + from, nargs - from) == LIST_OTHER) {
        vm_raise(b->vm, "TypeError", "%s(): arguments of different kinds", b->op->name);
        return false;
    }
    b->out[place] = arg_of_list(b->vm, VALUE_NULL, args + from, nargs - from, b->arena);
    return true;
}

static bool bind_positional(Binding *b, Value *args, int nargs) {
    const Signature *signature = b->op->signature;
    for (int i = 0; i < nargs; i++) {
        if (signature->varargs && i == signature->positional) return bind_rest(b, i, args, i, nargs);
        if (i >= signature->positional) {
            vm_raise(b->vm, "TypeError", "%s() takes %d positional argument%s but %d were given", b->op->name, signature->positional, signature->positional == 1 ? "" : "s", nargs);
            return false;
        }
        bool last = nargs > i + 1 && i + 1 == signature->positional;
        if (last && takes_separate_ints(op_param(b->op, i)) && is_integer(vm_force(b->vm, args[i]))) return bind_rest(b, i, args, i, nargs);
        if (!bind_value(b, i, args[i])) return false;
    }
    return true;
}

static bool bind_keyword(Binding *b, const char *name, Value v) {
    const char *parameter = parameter_of_keyword(b->op, name);
    int place = parameter ? op_param_index(b->op, parameter) : -1;
    if (place < 0 && is_ignored_keyword(name)) return true;
    if (place < 0) { vm_raise(b->vm, "TypeError", "%s() got an unexpected keyword argument '%s'", b->op->name, name); return false; }
    if (b->given[place]) { vm_raise(b->vm, "TypeError", "%s() got multiple values for argument '%s'", b->op->name, name); return false; }
    return bind_value(b, place, v);
}

static bool is_varargs_place(const Op *op, int place) { return op->signature->varargs && place == op->signature->positional; }

static bool bind_defaults(Binding *b) {
    const Signature *signature = b->op->signature;
    for (int i = 0; i < b->op->nparams; i++) {
        if (b->given[i]) continue;
        int named = signature->varargs && i > signature->positional ? i - 1 : i;
        if (is_varargs_place(b->op, i)) b->out[i] = (Arg){.tag = ARG_INTS};
        else if (signature->has_default[named]) b->out[i] = arg_of_const(&signature->defaults[named], b->arena);
        else {
            vm_raise(b->vm, "TypeError", "%s() missing 1 required positional arguments: \"%s\"", b->op->name, op_param(b->op, i));
            return false;
        }
    }
    return true;
}

/* Families whose first operand is a tensor say so before their kernels meet a number. */
static bool check_operands(Binding *b) {
    const Op *op = b->op;
    if (op->family == FAMILY_CREATE || op->family == FAMILY_COMPOSITE || op->nparams == 0) return true;
    int count = op->family == FAMILY_POINTWISE ? op->tensor_inputs : 1;
    for (int i = 0; i < count && i < op->nparams; i++)
        if (b->out[i].tag == ARG_TENSOR || b->out[i].tag == ARG_TENSORS) return true;
    if (op->family == FAMILY_RANDOM || op->family == FAMILY_INDEX || op->family == FAMILY_CONTRACT || op->family == FAMILY_DECOMPOSED || op->family == FAMILY_MUTATE) return true;
    vm_raise(b->vm, "TypeError", "%s(): argument '%s' (position 1) must be Tensor", op->name, op_param(op, 0));
    return false;
}

/* torch.arange(n) of a tensor n: where a number is wanted, a tensor of one element is its value. */
static bool take_numbers(Binding *b) {
    for (int i = 0; b->op->family == FAMILY_CREATE && i < b->op->nparams; i++) {
        if (b->out[i].tag != ARG_TENSOR || strcmp(op_param(b->op, i), "input") == 0) continue;
        Tensor *t = b->out[i].tensor.owner;
        Value number = b->vm->domain->item ? b->vm->domain->item(b->vm, t) : tensor_item(b->vm, t);
        if (value_is_error(number)) return false;
        b->out[i] = arg_of_value(b->vm, number, b->arena);
        value_unref(b->vm, number);
    }
    return true;
}

bool vm_bind_op(VM *vm, const Op *op, Value *args, int nargs, Tuple *kwnames, Arg *out, Arena *arena) {
    Binding b = {.vm = vm, .op = op, .out = out, .arena = arena};
    if (!bind_positional(&b, args, nargs)) return false;
    for (int i = 0; kwnames && i < kwnames->count; i++)
        if (!bind_keyword(&b, str_text(kwnames->items[i]), args[nargs + i])) return false;
    return !vm->stopped && bind_defaults(&b) && take_numbers(&b) && !vm->stopped && check_operands(&b);
}
