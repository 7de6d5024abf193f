/* See unbacked.h. In: ops whose results' shapes depend on data, .item(). Out: symbols and scalar tensors of the graph, and code that reads them after it.
 *
 * Invariant: a symbol is read from one place only (Entry.unbacked): a size of a node's output, or the value of a one-element tensor. */
#include "dynamo/unbacked.h"
#include "dynamo/shapes.h"
#include "vm/dispatch.h"
#include "vm/tensor_protocol.h"
#include <stdio.h>
#include <string.h>

bool capture_takes_scalars(const Capture *capture) { return capture->dynamo->options.fullgraph || shapes_config(capture->dynamo).scalar_outputs; }
bool capture_takes_shapes(const Capture *capture) { return capture->dynamo->options.fullgraph || shapes_config(capture->dynamo).dynamic_outputs; }

static void visit_unbacked(const Sym *var, void *state) { *(bool *)state |= var->var_kind == SYM_UNBACKED; }

bool dim_has_unbacked(Dim d) {
    bool found = false;
    if (!dim_is_int(d)) dim_each_var(d, visit_unbacked, &found);
    return found;
}

/* ---- symbols ---- */

/* A value to think of: nothing that means something by itself, like 0 and 1. */
static int64_t hint_between(int64_t least, int64_t most) {
    enum { USUAL = 8195 };
    int64_t low = least < 0 ? 0 : least;
    if (most < 4) return most > 1 && most > low ? (most + 1) / 2 + (most > 2 ? 0 : 1) : most;
    return most < 2 * USUAL ? most / 2 + 1 : low > USUAL ? low : USUAL;
}

Dim capture_new_unbacked(void *state, int64_t least, int64_t most) {
    Capture *capture = state;
    char name[24];
    snprintf(name, sizeof name, "u%d", capture->unbacked_count++);
    Dim var = sym_var(capture->entry->compile.syms, name, least, most, SYM_UNBACKED);
    var_set_hint(var, hint_between(least, most));
    return var;
}

static const Unbacked *place_of(const Entry *entry, Dim var) {
    for (int i = 0; i < entry->unbacked.count; i++)
        if (entry->unbacked.at[i].var == var) return &entry->unbacked.at[i];
    return NULL;
}

typedef struct Finding { const Entry *entry; Dim found; int count; } Finding;

static void visit_new(const Sym *var, void *state) {
    Finding *f = state;
    Dim d = dim_of_sym(var);
    if (var->var_kind != SYM_UNBACKED || place_of(f->entry, d) || f->found == d) return;
    f->found = d;
    f->count++;
}

/* factor * u + rest stands in dim i. */
static bool bind_size(Capture *capture, Tensor *tensor, int i) {
    Entry *entry = capture->entry;
    Dim size = tensor->meta.sizes[i], factor, rest;
    Finding f = {.entry = entry};
    if (dim_is_int(size)) return true;
    dim_each_var(size, visit_new, &f);
    if (!f.count) return true;
    if (f.count > 1 || !dim_linear(entry->compile.syms, size, f.found, &factor, &rest) || !dim_is_int(factor) || !dim_is_int(rest)) return false;
    vec_push_in(entry->arena, &entry->unbacked, ((Unbacked){f.found, tensor->node, &tensor->head, i, factor, rest}));
    vec_push_in(entry->arena, &entry->held, value_ref(value_tensor(tensor)));
    return true;
}

static bool bind_tensor(Capture *capture, Value v) {
    if (!value_is(v, OBJ_TENSOR)) return true;
    Tensor *tensor = (Tensor *)v.o;
    bool ok = true;
    for (int i = 0; ok && i < tensor->meta.rank; i++) ok = bind_size(capture, tensor, i);
    if (!ok) vm_stop(capture->vm, "data_dependent_shape", vm_user_span(capture->vm), "a size depends on the data in a way that has no name");
    return ok;
}

bool capture_bind_unbacked(Capture *capture, Value result) {
    bool ok = true;
    if (value_is(result, OBJ_TUPLE))
        for (int i = 0; ok && i < ((Tuple *)result.o)->count; i++) ok = bind_tensor(capture, ((Tuple *)result.o)->items[i]);
    else if (value_is(result, OBJ_LIST))
        for (int i = 0; ok && i < ((List *)result.o)->count; i++) ok = bind_tensor(capture, ((List *)result.o)->items[i]);
    else ok = bind_tensor(capture, result);
    return ok;
}

/* ---- items ---- */

/* n.item() of an int that the frame was given: an int of the frame, whose place is that tensor. */
static Value backed_item(Capture *capture, const InputTensor *input) {
    Value item = tensor_item(capture->vm, input->real), symbol;
    if (item.tag != V_INT) return item;
    const Source *source = capture_source(capture, SOURCE_SCALAR, input->source, NULL, 0, VALUE_NULL);
    return shapes_scalar(capture, item.i, source, &symbol) ? value_ref(symbol) : VALUE_NULL;
}

static const InputTensor *plain_input(const Capture *capture, const Tensor *tensor) {
    for (int i = 0; i < capture->inputs.count; i++) {
        const InputTensor *input = &capture->inputs.at[i];
        if (input->fake == tensor && input->real && tensor->meta.rank == 0 && tensor->meta.device.kind == DEVICE_CPU && !input->written && tensor->storage->version == 0) return input;
    }
    return NULL;
}

static Value track_scalar(Capture *capture, Tensor *scalar, Value hint) {
    vec_push_in(capture->entry->arena, &capture->entry->held, value_ref(value_tensor(scalar)));
    vec_push_in(capture->entry->arena, &capture->scalars, scalar);
    return capture_track(capture, hint, capture_source(capture, SOURCE_UNBACKED, NULL, NULL, capture->scalars.count - 1, VALUE_NULL));
}

/* As a double without a dimension, outside the tape. */
static Value float_item(Capture *capture, Tensor *tensor) {
    VM *vm = capture->vm;
    Value detached = vm_op_args(vm, "detach", (Arg[]){arg_of_tensor(tensor)}, 1);
    if (value_is_error(detached)) return detached;
    Value flat = tensor->meta.rank ? vm_op_args(vm, "reshape", (Arg[]){arg_of_tensor((Tensor *)detached.o), {.tag = ARG_INTS}}, 2) : value_ref(detached);
    value_unref(vm, detached);
    if (value_is_error(flat)) return flat;
    DType dtype = dtype_is_float(tensor->meta.dtype) ? DTYPE_F64 : tensor->meta.dtype;
    Value wide = dtype == tensor->meta.dtype ? vm_op_args(vm, "clone", (Arg[]){arg_of_tensor((Tensor *)flat.o)}, 1) /* it may be changed later */ : vm_op_args(vm, "_to_copy", (Arg[]){arg_of_tensor((Tensor *)flat.o), {.tag = ARG_DTYPE, .dtype = dtype}}, 2);
    value_unref(vm, flat);
    if (value_is_error(wide)) return wide;
    Value tracked = track_scalar(capture, (Tensor *)wide.o, dtype == DTYPE_BOOL ? value_bool(true) : value_float(1.5));
    value_unref(vm, wide);
    return tracked;
}

/* A copy is what is read: the tensor may be changed in place before and after. */
static Value unbacked_int(Capture *capture, Tensor *tensor) {
    Entry *entry = capture->entry;
    Value read = vm_op_args(capture->vm, "clone", (Arg[]){arg_of_tensor(tensor)}, 1);
    if (value_is_error(read)) return read;
    vec_push_in(entry->arena, &entry->held, read);
    Dim var = capture_new_unbacked(capture, INT64_MIN, INT64_MAX);
    vec_push_in(entry->arena, &entry->unbacked, ((Unbacked){var, ((Tensor *)read.o)->node, read.o, -1, 1, 0}));
    entry->works_on_symbols = true;
    return sym_new(capture->vm, var);
}

Value capture_unbacked_item(Capture *capture, Tensor *tensor) {
    if (!capture_takes_scalars(capture) || !meta_is_static(&tensor->meta) || meta_numel(&tensor->meta) != 1) return VALUE_NULL;
    if (!dtype_is_int(tensor->meta.dtype) || tensor->meta.dtype == DTYPE_BOOL) return float_item(capture, tensor);
    const InputTensor *input = plain_input(capture, tensor);
    if (input) return backed_item(capture, input);
    return unbacked_int(capture, tensor);
}

Tensor *capture_scalar_tensor(const Capture *capture, const Source *source) { return capture->scalars.at[source->index]; }

/* ---- arithmetic ---- */

static bool is_unbacked(Value v) { return value_is(v, OBJ_TRACKED) && ((Tracked *)v.o)->source->kind == SOURCE_UNBACKED; }

static Value operand(Capture *capture, Value v) {
    return is_unbacked(v) ? value_tensor(capture_scalar_tensor(capture, ((Tracked *)v.o)->source)) : vm_force(capture->vm, v);
}

static const char *op_name(int op) {
    static const char *const comparisons[] = {"lt", "le", "eq", "ne", "gt", "ge"};
    switch (op) {
    case BINARY_ADD: return "add";
    case BINARY_SUBTRACT: return "sub";
    case BINARY_MULTIPLY: return "mul";
    case BINARY_TRUE_DIVIDE: return "div";
    default: return op >= DOMAIN_COMPARE ? comparisons[op - DOMAIN_COMPARE] : NULL;
    }
}

Value capture_unbacked_binary(Capture *capture, int op, Value a, Value b) {
    if ((!is_unbacked(a) && !is_unbacked(b)) || (op == BINARY_TRUE_DIVIDE && is_unbacked(b))) return VALUE_NULL; /* a divisor may be zero, which raises */
    Value args[2] = {operand(capture, a), operand(capture, b)};
    for (int i = 0; i < 2; i++)
        if (args[i].tag != V_INT && args[i].tag != V_FLOAT && !is_unbacked(i ? b : a)) return VALUE_NULL;
    Value result = vm_op(capture->vm, op_name(op), args, 2);
    if (!value_is(result, OBJ_TENSOR)) return result;
    Value tracked = track_scalar(capture, (Tensor *)result.o, op >= DOMAIN_COMPARE ? value_bool(true) : value_float(1.5));
    value_unref(capture->vm, result);
    return tracked;
}

/* ---- questions ---- */

int capture_decide(VM *vm, Dim relation) {
    Dim now = dim_resolve(relation);
    if (dim_is_int(now)) return now != 0;
    if (!dim_has_unbacked(now)) return dim_decide(relation);
    vm_stop(vm, "data_dependent_branch", vm_user_span(vm), "Data-dependent branching");
    return -1;
}

bool capture_specialize(VM *vm, Dim dim, int64_t *value) {
    Dim now = dim_resolve(dim);
    if (dim_has_unbacked(now)) {
        vm_stop(vm, "data_dependent_value", vm_user_span(vm), "a number that only the graph knows is needed by the program");
        return false;
    }
    *value = dim_specialize(dim, "Python needs it as a plain number");
    return true;
}

typedef struct Hinting { Dim relation; bool done; } Hinting;

/* Another value to think of, for which the relation holds. */
static void find_hint(const Sym *var, void *state) {
    static const int64_t candidates[] = {8195, 1027, 67, 35, 19, 11, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2};
    Hinting *h = state;
    if (var->var_kind != SYM_UNBACKED || h->done) return;
    int64_t before = var->hint;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates && !h->done; i++) {
        if (candidates[i] < var->low || candidates[i] > var->high) continue;
        var_set_hint(dim_of_sym(var), candidates[i]);
        h->done = dim_hint(h->relation) != 0;
    }
    if (!h->done) var_set_hint(dim_of_sym(var), before);
}

void capture_check_later(Capture *capture, Dim relation, Value message) {
    Hinting h = {relation, dim_hint(relation) != 0};
    if (!h.done) dim_each_var(relation, find_hint, &h);
    TensorCheck check = {.relation = relation, .raises = message, .span = vm_user_span(capture->vm)};
    if (message.tag == V_OBJECT) vec_push_in(capture->entry->arena, &capture->entry->held, value_ref(message));
    vec_push_in(capture->entry->arena, &capture->checks, check);
    if (h.done) dim_decide(relation);
}

/* ---- rewritten code ---- */

void emit_scalar_tensor(Rewrite *r, Tensor *tensor) {
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_value(r, value_tensor(tensor));
    emit_load_attr(r, "item");
    emit(r, OPCODE_CALL, 0);
}

/* (size - rest) // factor */
void emit_unbacked(Rewrite *r, Dim var) {
    const Unbacked *place = place_of(r->capture->entry, var);
    if (!place) {
        r->failed = true;
        return;
    }
    if (place->dim < 0) {
        emit_scalar_tensor(r, (Tensor *)place->tensor);
        return;
    }
    emit_value(r, value_object(place->tensor));
    emit_load_attr(r, "shape");
    emit_subscript(r, value_int(place->dim));
    if (place->rest) {
        emit_plain(r, value_int(place->rest));
        emit(r, OPCODE_BINARY_OP, BINARY_SUBTRACT);
    }
    if (place->factor != 1) {
        emit_plain(r, value_int(place->factor));
        emit(r, OPCODE_BINARY_OP, BINARY_FLOOR_DIVIDE);
    }
}
