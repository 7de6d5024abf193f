/* Dispatch: how a call of an op in the language reaches the domain.
 *
 *     torch.sub(a, b, out=c)  ->  bind, autocast, domain->op, then the result goes into c
 *
 * In: values. Out: an owned value. C code that computes with tensors calls vm_op with a row's name.
 * Invariant: lists made while binding live as long as the outermost call. To add an alias of a call form: dispatch_op. */
#include "vm/dispatch.h"
#include "vm/autograd_record.h"
#include "vm/body.h"
#include "vm/internal.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"
#include "vm/tracing.h"
#include "vm/write_out.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

bool device_parse(VM *vm, const char *text, Device *device) {
    char kind[16], rest;
    int index = 0;
    *device = (Device){DEVICE_CPU, 0};
    int fields = sscanf(text, "%15[a-z]:%d%c", kind, &index, &rest);
    if ((fields == 1 || fields == 2) && index >= 0 && !(fields == 1 && strchr(text, ':'))) {
        if (strcmp(kind, "cpu") == 0) return true;
        *device = (Device){DEVICE_CUDA, index};
        if (strcmp(kind, "cuda") == 0) return true;
    }
    vm_raise(vm, "RuntimeError", "Expected one of cpu, cuda device type at start of device string: %.100s", text);
    return false;
}

bool device_of_value(VM *vm, Value v, Device *device) {
    v = vm_force(vm, v);
    if (value_is(v, OBJ_DEVICE)) { *device = ((DeviceObject *)v.o)->device; return true; }
    if (value_is(v, OBJ_STR)) return device_parse(vm, str_text(v), device);
    if (v.tag == V_INT) { *device = (Device){DEVICE_CUDA, (int)v.i}; return true; }
    vm_raise(vm, "TypeError", "a device is expected, not %s", type_name(vm, v));
    return false;
}

bool dtype_of_value(VM *vm, Value v, DType *dtype) {
    v = vm_force(vm, v);
    if (value_is(v, OBJ_DTYPE)) { *dtype = ((DTypeObject *)v.o)->dtype; return true; }
    if (!value_is(v, OBJ_CLASS)) return false;
    const Class *cls = (const Class *)v.o;
    *dtype = cls == vm->class_float ? DTYPE_F64 : cls == vm->class_int ? DTYPE_I64 : DTYPE_BOOL;
    return cls == vm->class_float || cls == vm->class_int || cls == vm->class_bool;
}

bool is_ignored_keyword(const char *name) {
    static const char *const names[] = {"pin_memory", "layout", "non_blocking", "out", "_stacklevel", "inplace"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* ---- ops from C ---- */

static Arg default_arg(const Op *op, int i) {
    const Signature *s = op->signature;
    if (s->varargs && i == s->positional) return (Arg){.tag = ARG_INTS};
    int named = s->varargs && i > s->positional ? i - 1 : i;
    if (!s->has_default[named]) return arg_none();
    const Const *c = &s->defaults[named];
    switch (c->kind) {
    case CONST_TRUE: return arg_bool(true);
    case CONST_FALSE: return arg_bool(false);
    case CONST_INT: return arg_int(c->i);
    case CONST_FLOAT: return arg_float(c->f);
    case CONST_STR: return (Arg){.tag = ARG_STR, .s = c->s.text};
    case CONST_TUPLE: return (Arg){.tag = ARG_INTS};
    default: return arg_none();
    }
}

/* A row, or a composite of the library, which is loaded for it. NULL: exception set. */
const Op *vm_find_op(VM *vm, const char *name) {
    const Op *op = op_find(vm->ops, name);
    if (!op && torch_library_load(vm)) op = op_find(vm->ops, name);
    if (!op && vm->exception.tag == V_NULL) vm_raise(vm, "NotImplementedError", "there is no op '%s'", name);
    return op;
}

Value vm_op_args(VM *vm, const char *name, const Arg *args, int nargs) {
    const Op *op = vm_find_op(vm, name);
    if (!op) return VALUE_ERROR;
    Arg all[DISPATCH_MAX_PARAMS];
    for (int i = 0; i < op->nparams; i++) all[i] = i < nargs ? args[i] : default_arg(op, i);
    return vm->domain->op(vm, op, all, op->nparams);
}

Value vm_op(VM *vm, const char *name, Value *values, int nargs) {
    Arena *arena = arena_new("op");
    Arg args[DISPATCH_MAX_PARAMS];
    for (int i = 0; i < nargs; i++) args[i] = arg_of_value(vm, values[i], arena);
    Value result = vm_op_args(vm, name, args, nargs);
    arena_free(arena);
    return result;
}

Tensor *vm_op_tensor(VM *vm, const char *name, Value *args, int nargs) {
    Value result = vm_op(vm, name, args, nargs);
    if (value_is_tensor(result)) return tensor_of(result);
    value_unref(vm, result);
    return NULL;
}

Tensor *tensor_add(VM *vm, Tensor *a, Tensor *b) {
    Value args[] = {value_tensor(a), value_tensor(b)};
    return vm_op_tensor(vm, "add", args, 2);
}

/* As PyTorch's sum_to: one sum over the leading dims and those that were 1, kept, then a view that drops the leading ones. */
Tensor *tensor_sum_to(VM *vm, Tensor *g, const Dim *sizes, int rank) {
    Dim dims[MAX_RANK], shape[MAX_RANK];
    int count = 0, leading = g->meta.rank - rank;
    if (leading < 0) {
        vm_raise(vm, "RuntimeError", "a gradient of rank %d is not expandable from rank %d", g->meta.rank, rank);
        value_unref(vm, value_tensor(g));
        return NULL;
    }
    for (int i = 0; i < g->meta.rank; i++)
        if (i < leading || (dim_is_one(sizes[i - leading]) && !dim_is_one(g->meta.sizes[i]))) dims[count++] = i;
    if (count) {
        Arg args[] = {arg_of_tensor(g), {.tag = ARG_INTS, .ints = {dims, count}}, arg_bool(true)};
        Value sum = vm_op_args(vm, "sum", args, rank ? 3 : 1); /* to a number: all of it */
        value_unref(vm, value_tensor(g));
        if (!value_is_tensor(sum)) return NULL;
        g = tensor_of(sum);
    }
    if (!leading || !rank) return g;
    for (int i = 0; i < rank; i++) shape[i] = sizes[i];
    Arg args[] = {arg_of_tensor(g), {.tag = ARG_INTS, .ints = {shape, rank}}};
    Value view = vm_op_args(vm, "view", args, 2);
    value_unref(vm, value_tensor(g));
    return value_is_tensor(view) ? tensor_of(view) : NULL;
}

/* ---- forms of calls ---- */

static Value keyword_value(Tuple *kwnames, Value *args, int nargs, const char *name) {
    for (int i = 0; kwnames && i < kwnames->count; i++)
        if (strcmp(str_text(kwnames->items[i]), name) == 0) return args[nargs + i];
    return VALUE_NULL;
}

/* F.relu(x, inplace=True), F.leaky_relu(x, 0.1, True): the in-place twin. A flag given by place is dropped. */
static const Op *inplace_of(VM *vm, const Op *op, Value *args, int *nargs, Tuple *kwnames) {
    int place = op->signature->positional;
    Value flag = keyword_value(kwnames, args, *nargs, "inplace");
    if (flag.tag == V_NULL && *nargs == place + 1 && !kwnames && vm_force(vm, args[place]).tag == V_BOOL) flag = args[--*nargs];
    return flag.tag != V_NULL && vm_truth(vm, flag) > 0 && op->inplace_op ? op->inplace_op : op;
}

/* max(a, b) and min(a, b) of two tensors, view(dtype) are rows of their own. */
static const Op *overload_of(VM *vm, const Op *op, Value *args, int nargs, Tuple *kwnames) {
    bool by_dtype = nargs == 2 && value_is(vm_force(vm, args[1]), OBJ_DTYPE) && strcmp(op->name, "view") == 0;
    if (by_dtype) return op_find(vm->ops, "view_dtype");
    if (!op->binary) return op;
    bool second = nargs > 1 && value_is_tensor(vm_force(vm, args[1]));
    for (int i = 0; kwnames && i < kwnames->count; i++) second |= strcmp(str_text(kwnames->items[i]), "other") == 0;
    return second ? op_find(vm->ops, op->binary) : op;
}

/* In the shipped library `max`, `sum`, `slice` … are also the builtins: without a tensor they are those. */
static bool is_builtin_call(VM *vm, const Op *op, Value *args, int nargs, Value *builtin) {
    if (!vm->frame || !vm->frame->code->file->shipped) return false;
    for (int i = 0; i < nargs; i++) {
        Value v = vm_force(vm, args[i]), *items = value_is(v, OBJ_LIST) ? ((List *)v.o)->items : value_is(v, OBJ_TUPLE) ? ((Tuple *)v.o)->items : NULL;
        if (value_is_tensor(v) || (items && (value_is(v, OBJ_LIST) ? ((List *)v.o)->count : ((Tuple *)v.o)->count) && value_is_tensor(vm_force(vm, items[0])))) return false;
    }
    *builtin = dict_get_name(vm, vm->builtins, op->name);
    return builtin->tag != V_NULL;
}

/* values, indices = x.max(dim): the result has those names, too. */
static Value name_fields(VM *vm, const Op *op, Value result) {
    static const struct { const char *op, *first, *second; } named[] = {
        {"max", "values", "indices"}, {"min", "values", "indices"}, {"sort", "values", "indices"}, {"topk", "values", "indices"}, {"median", "values", "indices"},
        {"kthvalue", "values", "indices"}, {"cummax", "values", "indices"}, {"cummin", "values", "indices"}, {"aminmax", "min", "max"}, {"mode", "values", "indices"}, {"nanmedian", "values", "indices"},
    };
    if (!value_is(result, OBJ_TUPLE) || ((Tuple *)result.o)->count != 2) return result;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(op->name, named[i].op)) continue;
        Class *cls = map_get(vm->torch->return_types, op);
        const char *const fields[] = {named[i].first, named[i].second};
        if (!cls) map_put(vm->torch->return_types, op, cls = namedtuple_class(vm, op->name, "torch.return_types", fields, 2));
        Value tuple = namedtuple_new(vm, cls, ((Tuple *)result.o)->items, 2);
        value_unref(vm, result);
        return tuple;
    }
    return result;
}

/* torch.where(mask), x.nonzero(as_tuple=True): the positions, one tensor for each dimension. */
static Value positions_by_dim(VM *vm, Value tensor) {
    Value table = vm_op(vm, "nonzero", &tensor, 1);
    if (value_is_error(table)) return table;
    Value columns = vm_op_args(vm, "unbind", (Arg[]){arg_of_tensor(tensor_of(table)), arg_int(1)}, 2);
    value_unref(vm, table);
    return columns;
}

static bool wants_positions(VM *vm, const Op *op, Value *args, int nargs, Tuple *kwnames) {
    if (nargs < 1 || !value_is_tensor(vm_force(vm, args[0]))) return false;
    if (strcmp(op->name, "where") == 0) return nargs == 1 && !kwnames;
    if (strcmp(op->name, "nonzero")) return false;
    Value flag = keyword_value(kwnames, args, nargs, "as_tuple");
    return flag.tag != V_NULL && vm_truth(vm, flag) > 0;
}

/* Pointwise rows ask for themselves, when they know in which dtype their operands meet. */
static bool check_refusals(VM *vm, const Op *op, const Arg *bound) {
    OpError error;
    const Op *row = op->functional_op ? op->functional_op : op;
    if (!row->refuses) return true;
    bool shipped = !vm->frame || vm->frame->code->file->shipped;
    bool ok = (shipped || op_takes_numbers(row, bound, &error)) && (row->family == FAMILY_POINTWISE || op_takes_dtypes(row, bound, op_first_dtype(row, bound), &error));
    if (!ok) vm_raise_op_error(vm, &error);
    return ok;
}

/* sort(dim, stable=True): where `stable` is given, PyTorch takes the rest by name, too. */
static bool check_stable(VM *vm, const Op *op, int nargs, Tuple *kwnames) {
    if (!kwnames || nargs < 2 || op_param_index(op, "stable") < 0 || !vm->frame || vm->frame->code->file->shipped) return true;
    for (int i = 0; i < kwnames->count; i++)
        if (strcmp(str_text(kwnames->items[i]), "stable") == 0) {
            vm_raise(vm, "TypeError", "%s() received an invalid combination of arguments: with stable=, the other arguments are given by keyword", op->name);
            return false;
        }
    return true;
}

static Value bind_and_run(VM *vm, const Op *op, Value *args, int nargs, Tuple *kwnames, Value out, Arena *arena) {
    Arg bound[DISPATCH_MAX_PARAMS];
    vm->context.default_device = vm->default_device; /* sessions and programs change the VM's own fields */
    vm->context.default_dtype = vm->default_dtype;
    if (!check_stable(vm, op, nargs, kwnames) || !vm_bind_op(vm, op, args, nargs, kwnames, bound, arena)) return VALUE_ERROR;
    if ((out.tag != V_NULL && !out_check_cast(vm, op, bound, out)) || !check_refusals(vm, op, bound)) return VALUE_ERROR;
    Casts casts = {.count = 0};
    Value result = VALUE_ERROR;
    if (autocast_apply(vm, op, bound, op->nparams, &casts, arena)) result = vm->domain->op(vm, op, bound, op->nparams);
    for (int i = 0; i < casts.count; i++) value_unref(vm, casts.tensors[i]);
    return result;
}

Value vm_call_op(VM *vm, const Op *op, Value *args, int nargs, Tuple *kwnames) {
    Value builtin, out = VALUE_NULL;
    if (is_builtin_call(vm, op, args, nargs, &builtin)) return vm_call(vm, builtin, args, nargs, kwnames);
    if (op_has(op, TRAIT_NN)) op = inplace_of(vm, op, args, &nargs, kwnames);
    if (wants_positions(vm, op, args, nargs, kwnames)) return positions_by_dim(vm, vm_force(vm, args[0]));
    op = overload_of(vm, op, args, nargs, kwnames);
    if (kwnames && op_param_index(op, "out") < 0) out = keyword_value(kwnames, args, nargs, "out");
    bool writes = out.tag != V_NULL && out.tag != V_NONE;
    if (writes && !out_check(vm, op, out, args, nargs)) return VALUE_ERROR;
    TorchState *torch = vm->torch;
    if (torch->depth++ == 0) arena_reset(torch->scratch);
    Value result = bind_and_run(vm, op, args, nargs, kwnames, writes ? out : VALUE_NULL, torch->scratch);
    torch->depth--;
    if (value_is_error(result)) return result;
    if (writes) return out_write(vm, op, result, out);
    return name_fields(vm, op, set_requires_grad_option(vm, op, result, keyword_value(kwnames, args, nargs, "requires_grad")));
}

/* torch.ones(2, requires_grad=True): creation rows know nothing of the tape. */
Value set_requires_grad_option(VM *vm, const Op *op, Value result, Value option) {
    if (option.tag == V_NULL || !value_is_tensor(result) || (op->family != FAMILY_CREATE && op->family != FAMILY_RANDOM)) return result;
    int truth = vm_truth(vm, option);
    if (truth < 0 || (truth > 0 && !tensor_ask_requires_grad(vm, tensor_of(result)))) { value_unref(vm, result); return VALUE_ERROR; }
    return result;
}

Value vm_run_op(VM *vm, const Op *op, const Arg *args, int nargs) { return vm->domain->op(vm, op, args, nargs); }
