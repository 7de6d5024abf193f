/* Settings of shapes as the language sees them: torch._dynamo.config, and marks on tensors.
 *
 *     torch._dynamo.config.automatic_dynamic_shapes = False        torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
 *
 * config is a module whose attributes are read when a frame is captured; marks are attributes of the tensor, under PyTorch's names. */
#include "dynamo/shapes.h"
#include <string.h>

/* ---- config ---- */

static Dict *config_dict(const Dynamo *dynamo) {
    VM *vm = dynamo->vm;
    Value torch = dict_get_name(vm, vm->modules, intern(vm->lang->names, "torch._dynamo.config"));
    return value_is(torch, OBJ_MODULE) ? ((ModuleObject *)torch.o)->dict : NULL;
}

static Value config_value(const Dynamo *dynamo, const char *name) {
    Dict *dict = config_dict(dynamo);
    return dict ? dict_get_name(dynamo->vm, dict, intern(dynamo->vm->lang->names, name)) : VALUE_NULL;
}

static bool config_bool(const Dynamo *dynamo, const char *name, bool otherwise) {
    Value v = config_value(dynamo, name);
    return v.tag == V_BOOL ? v.b : v.tag == V_INT ? v.i != 0 : otherwise;
}

/* recompile_limit and its former name, cache_size_limit: the one that was changed counts. */
static int config_limit(const Dynamo *dynamo) {
    enum { USUAL = 8 };
    Value limit = config_value(dynamo, "recompile_limit"), former = config_value(dynamo, "cache_size_limit");
    int64_t chosen = limit.tag == V_INT && limit.i != USUAL ? limit.i : former.tag == V_INT && former.i != USUAL ? former.i : dynamo->recompile_limit;
    return chosen < 0 ? 0 : chosen > 1 << 20 ? 1 << 20 : (int)chosen;
}

ShapeConfig shapes_config(const Dynamo *dynamo) {
    const CompileOptions *options = &dynamo->options;
    ShapeConfig config = {.scalar_outputs = config_bool(dynamo, "capture_scalar_outputs", false), .dynamic_outputs = config_bool(dynamo, "capture_dynamic_output_shape_ops", false),
                          .automatic = config_bool(dynamo, "automatic_dynamic_shapes", true), .assume_static = config_bool(dynamo, "assume_static_by_default", true),
                          .specialize_int = config_bool(dynamo, "specialize_int", false), .static_parameters = config_bool(dynamo, "force_parameter_static_shapes", true),
                          .error_on_recompile = config_bool(dynamo, "error_on_recompile", false), .recompile_limit = config_limit(dynamo)};
    if (options->dynamic_set && options->dynamic) config.assume_static = false;
    if (options->dynamic_set && !options->dynamic) config.automatic = false, config.assume_static = true;
    return config;
}

static void define_config(VM *vm, Dict *in) {
    static const struct { const char *name; bool value; } switches[] = {
        {"automatic_dynamic_shapes", true}, {"assume_static_by_default", true}, {"specialize_int", false}, {"specialize_float", false}, {"capture_scalar_outputs", false},
        {"capture_dynamic_output_shape_ops", false}, {"force_parameter_static_shapes", true}, {"suppress_errors", false}, {"verbose", false}, {"error_on_recompile", false},
    };
    Value config = module_new(vm, "torch._dynamo.config");
    Dict *dict = ((ModuleObject *)config.o)->dict;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) dict_set_name(vm, dict, intern(vm->lang->names, switches[i].name), value_bool(switches[i].value));
    dict_set_name(vm, dict, intern(vm->lang->names, "recompile_limit"), value_int(8));
    dict_set_name(vm, dict, intern(vm->lang->names, "cache_size_limit"), value_int(8));
    dict_set_name(vm, in, intern(vm->lang->names, "config"), config);
    dict_set_name(vm, vm->modules, intern(vm->lang->names, "torch._dynamo.config"), config);
    value_unref(vm, config);
}

/* ---- marks ---- */

#define MARKED_DYNAMIC "_dynamo_dynamic_indices"
#define MARKED_WEAK "_dynamo_weak_dynamic_indices"
#define MARKED_STATIC "_dynamo_static_indices"
#define MARKED_RANGE "_dynamo_dynamic_range"

static Value mark_of(VM *vm, const Tensor *tensor, const char *name) {
    return tensor->dict.tag == V_OBJECT ? dict_get_name(vm, (Dict *)tensor->dict.o, intern(vm->lang->names, name)) : VALUE_NULL;
}

static bool has_mark(VM *vm, const Tensor *tensor, const char *name, int dim) {
    Value set = mark_of(vm, tensor, name);
    if (!value_is(set, OBJ_SET)) return false;
    Value found = dict_get(vm, ((Set *)set.o)->dict, value_int(dim));
    bool is_there = found.tag != V_NULL && found.tag != V_ERROR;
    value_unref(vm, found);
    return is_there;
}

static int64_t range_end(Value range, int which, int64_t otherwise) {
    if (!value_is(range, OBJ_TUPLE) || ((Tuple *)range.o)->items[which].tag != V_INT) return otherwise;
    return ((Tuple *)range.o)->items[which].i;
}

ShapeMark shapes_mark(VM *vm, const Tensor *tensor, int dim) {
    ShapeMark mark = {.low = 2, .high = INT64_MAX};
    if (tensor->dict.tag != V_OBJECT) return mark;
    mark.dynamic = has_mark(vm, tensor, MARKED_DYNAMIC, dim);
    mark.weak = has_mark(vm, tensor, MARKED_WEAK, dim);
    mark.is_static = has_mark(vm, tensor, MARKED_STATIC, dim);
    Value ranges = mark_of(vm, tensor, MARKED_RANGE);
    Value range = value_is(ranges, OBJ_DICT) ? dict_get(vm, (Dict *)ranges.o, value_int(dim)) : VALUE_NULL;
    mark.low = range_end(range, 0, 2);
    mark.high = range_end(range, 1, INT64_MAX);
    mark.bounded = value_is(range, OBJ_TUPLE);
    value_unref(vm, range);
    return mark;
}

unsigned shapes_marks(VM *vm, const Tensor *tensor) {
    unsigned marks = 0;
    for (int i = 0; i < tensor->meta.rank && tensor->has_marks; i++)
        if (has_mark(vm, tensor, MARKED_DYNAMIC, i)) marks |= 1u << i;
    return marks;
}

/* The attribute `name` of a tensor, made by `make` when there is none; borrowed. */
static Value own_attribute(VM *vm, Tensor *tensor, const char *name, bool is_set) {
    Value found = mark_of(vm, tensor, name);
    if (found.tag != V_NULL) return found;
    if (tensor->dict.tag == V_NULL) tensor->dict = dict_new(vm);
    Value made = is_set ? set_new(vm, NULL, 0, false) : dict_new(vm);
    dict_set_name(vm, (Dict *)tensor->dict.o, intern(vm->lang->names, name), made);
    value_unref(vm, made);
    return made;
}

static bool mark_dim(VM *vm, Tensor *tensor, const char *name, Value dim, int *at) {
    dim = vm_force(vm, dim);
    int64_t i = dim.tag == V_INT ? dim.i : dim.tag == V_BOOL ? dim.b : INT64_MAX;
    if (i < 0) i += tensor->meta.rank;
    if (i < 0 || i >= tensor->meta.rank) return vm_raise(vm, dim.tag == V_INT || dim.tag == V_BOOL ? "IndexError" : "TypeError", "a dimension of a tensor of %d dimensions is expected", tensor->meta.rank), false;
    *at = (int)i;
    tensor->has_marks = true;
    return dict_set(vm, ((Set *)own_attribute(vm, tensor, name, true).o)->dict, value_int(i), VALUE_NONE);
}

static bool mark_dims(VM *vm, Tensor *tensor, const char *name, Value dims, Value low, Value high) {
    Value *items = &dims;
    int count = 1, at;
    if (value_is(dims, OBJ_TUPLE)) items = ((Tuple *)dims.o)->items, count = ((Tuple *)dims.o)->count;
    if (value_is(dims, OBJ_LIST)) items = ((List *)dims.o)->items, count = ((List *)dims.o)->count;
    for (int i = 0; i < count; i++) {
        if (!mark_dim(vm, tensor, name, items[i], &at)) return false;
        if (low.tag != V_INT && high.tag != V_INT) continue;
        Value ends[2] = {low.tag == V_INT ? low : value_int(2), high.tag == V_INT ? high : VALUE_NONE}, range = tuple_new(vm, ends, 2);
        bool ok = dict_set(vm, (Dict *)own_attribute(vm, tensor, MARKED_RANGE, false).o, value_int(at), range);
        value_unref(vm, range);
        if (!ok) return false;
    }
    return true;
}

static Value mark(VM *vm, Value *args, int nargs, Tuple *kwnames, const char *function, const char *name) {
    static const char *const names[] = {"t", "index", "min", "max", "hint_override", "specialize_on"};
    Value v[6];
    if (!vm_parse_args(vm, function, args, nargs, kwnames, names, 6, 1, v)) return VALUE_ERROR;
    Value tensor = vm_force(vm, v[0]);
    if (!value_is(tensor, OBJ_TENSOR)) return vm_raise(vm, "TypeError", "%s() takes a Tensor, not %s", function, type_name(vm, tensor));
    Tensor *t = (Tensor *)tensor.o;
    Value all = VALUE_NULL, dims = v[1].tag == V_NULL ? VALUE_NONE : vm_force(vm, v[1]);
    if (dims.tag == V_NONE) { /* mark_static(t): every dimension */
        all = list_new(vm, NULL, 0);
        for (int i = 0; i < t->meta.rank; i++) list_append(vm, (List *)all.o, value_int(i));
        dims = all;
    }
    bool ok = mark_dims(vm, t, name, dims, v[2].tag == V_NULL ? VALUE_NONE : v[2], v[3].tag == V_NULL ? VALUE_NONE : v[3]);
    value_unref(vm, all);
    return ok ? VALUE_NONE : VALUE_ERROR;
}

static Value mark_dynamic(VM *vm, Value *args, int nargs, Tuple *kwnames) { return mark(vm, args, nargs, kwnames, "mark_dynamic", MARKED_DYNAMIC); }
static Value maybe_mark_dynamic(VM *vm, Value *args, int nargs, Tuple *kwnames) { return mark(vm, args, nargs, kwnames, "maybe_mark_dynamic", MARKED_WEAK); }
static Value mark_static(VM *vm, Value *args, int nargs, Tuple *kwnames) { return mark(vm, args, nargs, kwnames, "mark_static", MARKED_STATIC); }

/* An exception class of the program, RuntimeError's child. */
static void define_violation(VM *vm) {
    const char *name = intern(vm->lang->names, "ConstraintViolationError");
    Value base = dict_get_name(vm, vm->exceptions, intern(vm->lang->names, "RuntimeError"));
    Value args[3] = {str_from(vm, name), tuple_new(vm, &base, 1), dict_new(vm)};
    Value cls = vm_call(vm, value_object(vm->class_type), args, 3, NULL);
    if (value_is(cls, OBJ_CLASS)) dict_set_name(vm, vm->exceptions, name, cls);
    else vm_clear_exception(vm);
    value_unref(vm, cls);
    for (int i = 0; i < 3; i++) value_unref(vm, args[i]);
}

void shapes_define(Dynamo *dynamo) {
    VM *vm = dynamo->vm;
    static const BuiltinDef marks[] = {{"mark_dynamic", mark_dynamic, 1, 4, BUILTIN_EFFECT}, {"maybe_mark_dynamic", maybe_mark_dynamic, 1, 2, BUILTIN_EFFECT}, {"mark_static", mark_static, 1, 2, BUILTIN_EFFECT}};
    Value module = vm_import(vm, "torch._dynamo", (Span){0});
    if (!value_is(module, OBJ_MODULE)) {
        vm_clear_exception(vm);
        return;
    }
    Dict *in = ((ModuleObject *)module.o)->dict;
    vm_define(vm, in, "torch._dynamo", marks, 3);
    define_config(vm, in);
    define_violation(vm);
    value_unref(vm, module);
}
