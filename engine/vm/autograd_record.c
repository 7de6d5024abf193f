/* From an op that ran to a node of the tape: what it saves, where its gradients go, and how its row's formulas compute them.
 *
 *     autograd_record(vm, op, args, nargs, result)        // result.grad_fn = <MulBackward0>
 *
 * A node keeps, for each parameter that a needed formula reads, its value (tensors with their version), or only its shape and dtype. In the
 * backward each needed formula runs once in the current domain.
 * Invariant: a node's edges stand in the order of the row's parameters; a list parameter has one edge for each tensor in it. */
#include "vm/autograd_hooks.h"
#include "vm/autograd_record.h"
#include "vm/formula.h"
#include "vm/torch_state.h"
#include <string.h>

typedef struct Recorded {          /* GradNode.state of a recorded op */
    const Formulas *formulas;
    signed char slot[FORMULA_MAX_PARAMS]; /* parameter -> index in node->saved, -1: not saved */
    int edge[FORMULA_MAX_PARAMS];  /* formula -> its first edge */
    int edges[FORMULA_MAX_PARAMS]; /* formula -> how many */
    bool is_list[FORMULA_MAX_PARAMS];
    uint64_t needed;               /* formulas some edge of which leads somewhere */
} Recorded;

static void release_recorded(VM *vm, void *state) { (void)vm; free(state); }

static int result_count(Value result) { return value_is(result, OBJ_TUPLE) ? ((Tuple *)result.o)->count : value_is(result, OBJ_LIST) ? ((List *)result.o)->count : 1; }
static Value result_item(Value result, int i) {
    return value_is(result, OBJ_TUPLE) ? ((Tuple *)result.o)->items[i] : value_is(result, OBJ_LIST) ? ((List *)result.o)->items[i] : result;
}

/* ---- which arguments need a gradient ---- */

static bool argument_needs_grad(VM *vm, const Arg *arg) {
    if (arg->tag == ARG_TENSOR) {
        Tensor *t = arg->tensor.owner;
        return t && (t->requires_grad || tensor_grad_node(vm, t));
    }
    for (int i = 0; arg->tag == ARG_TENSORS && i < arg->list.count; i++)
        if (argument_needs_grad(vm, &arg->list.items[i])) return true;
    return false;
}

bool autograd_needed(VM *vm, const Arg *args, int nargs) {
    if (!vm->grad_enabled) return false;
    for (int i = 0; i < nargs; i++)
        if (argument_needs_grad(vm, &args[i])) return true;
    return false;
}

static bool shares_memory(const Arg *arg, const Tensor *self) { return arg->tag == ARG_TENSOR && ((Tensor *)arg->tensor.owner)->storage == self->storage; }

bool autograd_reads_original(VM *vm, const Op *op, const Arg *args, int nargs) {
    const Formulas *f = gradient_formulas(vm, op);
    for (int k = 0; f && k < f->count && k < nargs; k++) {
        if (!argument_needs_grad(vm, &args[k])) continue;
        for (int i = 0; i < nargs; i++)
            if (((f->at[k].by_value >> i) & 1) && shares_memory(&args[i], args[0].tensor.owner)) return true;
    }
    return false;
}

/* ---- the backward of a recorded op ---- */

static Value tuple_of_grads(VM *vm, Tensor **grads, int count) {
    Value *items = calloc((size_t)count + 1, sizeof *items);
    for (int i = 0; i < count; i++) items[i] = grads[i] ? value_tensor(grads[i]) : VALUE_NONE;
    Value tuple = tuple_new(vm, items, count);
    free(items);
    return tuple;
}

static Value tuple_of_needs(VM *vm, const Recorded *r, int count) {
    Value items[FORMULA_MAX_PARAMS];
    for (int i = 0; i < count; i++) items[i] = value_bool((r->needed >> i) & 1);
    return tuple_new(vm, items, count);
}

/* One output: g is its gradient. Several: a tuple (and g0, g1 … where the row says how many). */
static bool gives_one(const GradNode *node) { return node->op->outputs == 1 || (node->op->outputs == 0 && node->noutputs == 1); }

/* The values of the formulas' parameters; owned. false: a saved tensor was changed or freed. */
static bool load_parameters(VM *vm, GradNode *node, Tensor **grads_out, Value *out) {
    const Recorded *r = node->state;
    const Formulas *f = r->formulas;
    for (int i = 0; i < f->nparams; i++) out[i] = VALUE_NONE;
    for (int i = 0; i < f->nparams; i++) {
        if (r->slot[i] < 0) continue;
        out[i] = autograd_saved_value(vm, node, r->slot[i]);
        if (value_is_error(out[i])) { out[i] = VALUE_NONE; return false; }
    }
    bool single = gives_one(node);
    out[f->g] = single ? value_ref(value_tensor(grads_out[0])) : tuple_of_grads(vm, grads_out, node->noutputs);
    out[f->needs] = tuple_of_needs(vm, r, f->count);
    for (int i = 0; !single && i < node->op->outputs; i++)
        if (grads_out[i]) out[f->several + 2 * i] = value_ref(value_tensor(grads_out[i]));
    return true;
}

static Value pick_item(Value from, int pick) {
    if (pick < 0 || value_is_error(from)) return value_ref(from);
    if (value_is(from, OBJ_TUPLE) && pick < ((Tuple *)from.o)->count) return value_ref(((Tuple *)from.o)->items[pick]);
    if (value_is(from, OBJ_LIST) && pick < ((List *)from.o)->count) return value_ref(((List *)from.o)->items[pick]);
    return VALUE_NONE;
}

static bool store_gradient(VM *vm, Value gradient, Tensor **slot) {
    if (value_is_tensor(gradient)) { *slot = tensor_of(value_ref(gradient)); return true; }
    if (gradient.tag == V_NONE || gradient.tag == V_INT || gradient.tag == V_FLOAT) return true; /* undefined, or a written zero */
    vm_raise(vm, "RuntimeError", "a gradient formula gave a %s", type_name(vm, gradient));
    return false;
}

/* One formula's value to its edges. */
static bool spread_gradient(VM *vm, const GradNode *node, int k, Value gradient, Tensor **grads_in) {
    const Recorded *r = node->state;
    if (!r->is_list[k]) return store_gradient(vm, gradient, &grads_in[r->edge[k]]);
    if (gradient.tag == V_NONE) return true;
    int count = value_is(gradient, OBJ_LIST) ? ((List *)gradient.o)->count : value_is(gradient, OBJ_TUPLE) ? ((Tuple *)gradient.o)->count : -1;
    Value *items = value_is(gradient, OBJ_LIST) ? ((List *)gradient.o)->items : count >= 0 ? ((Tuple *)gradient.o)->items : NULL;
    if (count != r->edges[k]) { vm_raise(vm, "RuntimeError", "the gradient formula of '%s' gave %d gradients for %d tensors", node->op->name, count, r->edges[k]); return false; }
    for (int i = 0; i < count; i++)
        if (node->edges[r->edge[k] + i].node && !store_gradient(vm, items[i], &grads_in[r->edge[k] + i])) return false;
    return true;
}

static bool run_formulas(VM *vm, GradNode *node, Value *parameters, Tensor **grads_in) {
    const Recorded *r = node->state;
    const Formulas *f = r->formulas;
    Value made[FORMULA_MAX_PARAMS];
    int count = f->count;
    for (int k = 0; k < count; k++) made[k] = VALUE_NULL;
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        int k = f->order[i];
        const Formula *formula = &f->at[k];
        if (!((r->needed >> k) & 1) || formula->function.tag == V_NULL) continue;
        Value *whole = &made[formula->source];
        if (whole->tag == V_NULL) *whole = vm_call(vm, formula->function, parameters, f->nparams, NULL);
        Value gradient = pick_item(*whole, formula->pick);
        ok = !value_is_error(gradient) && spread_gradient(vm, node, k, gradient, grads_in);
        value_unref(vm, gradient);
    }
    for (int k = 0; k < count; k++) value_unref(vm, made[k]);
    return ok;
}

static bool recorded_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    const Formulas *f = ((Recorded *)node->state)->formulas;
    Value parameters[FORMULA_MAX_PARAMS];
    bool ok = load_parameters(vm, node, grads_out, parameters) && run_formulas(vm, node, parameters, grads_in);
    for (int i = 0; i < f->nparams; i++) value_unref(vm, parameters[i]);
    return ok;
}

static bool missing_backward(VM *vm, GradNode *node, Tensor **grads_out, Tensor **grads_in) {
    (void)grads_out; (void)grads_in;
    vm_raise(vm, "RuntimeError", "derivative for '%s' is not implemented", node->op->name);
    return false;
}

/* ---- making the node ---- */

static int edge_count(const Arg *arg) { return arg->tag == ARG_TENSORS ? arg->list.count : arg->tag == ARG_TENSOR; }

/* Gathers the tensors of the differentiable parameters into `inputs`; NULL where no gradient is wanted. */
static int gather_inputs(VM *vm, Recorded *r, const Arg *args, int nargs, Tensor **inputs) {
    int n = 0;
    for (int k = 0; k < r->formulas->count && k < nargs; k++) {
        const Arg *arg = &args[k];
        bool has = r->formulas->at[k].function.tag != V_NULL;
        r->edge[k] = n;
        r->edges[k] = edge_count(arg);
        r->is_list[k] = arg->tag == ARG_TENSORS;
        for (int i = 0; i < r->edges[k]; i++) {
            const Arg *item = r->is_list[k] ? &arg->list.items[i] : arg;
            bool needs = has && argument_needs_grad(vm, item);
            inputs[n++] = needs ? item->tensor.owner : NULL;
            if (needs) r->needed |= UINT64_C(1) << k;
        }
    }
    return n;
}

static int count_inputs(const Arg *args, int nargs) {
    int n = 0;
    for (int k = 0; k < nargs; k++) n += edge_count(&args[k]);
    return n;
}

/* A stand-in with shape, dtype, device and whether it wants a gradient, but no data. */
static Value ghost_of(VM *vm, Value v) {
    if (!value_is_tensor(v)) return v;
    Tensor *ghost = tensor_fake(vm, &tensor_of(v)->meta, NULL);
    ghost->requires_grad = tensor_needs_grad(tensor_of(v));
    value_unref(vm, v);
    return value_tensor(ghost);
}

static void save_parameter(VM *vm, GradNode *node, int place, Value owned, bool by_value) {
    Recorded *r = node->state;
    r->slot[place] = (signed char)node->nsaved;
    if (!by_value) owned = ghost_of(vm, owned);
    if (by_value && value_is_tensor(owned) && saved_hooks_entered(vm)) autograd_save_packed(vm, node, tensor_of(owned), -1);
    else autograd_save(vm, node, owned);
    value_unref(vm, owned);
}

/* Several outputs saved at once: aliases, so that node and outputs form no cycle; formulas read values and indices from them. */
static Value aliases_of(VM *vm, Value outputs) {
    Value list = list_new(vm, NULL, 0);
    for (int i = 0; i < result_count(outputs); i++) {
        Value item = result_item(outputs, i), alias = value_is_tensor(item) ? value_tensor(tensor_alias(vm, tensor_of(item))) : value_ref(item);
        list_append(vm, (List *)list.o, alias);
        value_unref(vm, alias);
    }
    return list;
}

/* An output of several has a gradient when some formula reads what comes back through it (max with dim: not the indices). */
static bool output_has_gradient(VM *vm, const Op *op, int i) {
    const Formulas *f = gradient_formulas(vm, op);
    if (!f || op->outputs <= 1) return true;
    uint64_t used = 0;
    for (int k = 0; k < f->count; k++) used |= f->at[k].by_value | f->at[k].by_meta;
    return ((used >> f->g) & 1) || ((used >> (f->several + 2 * i)) & 1);
}

static void save_output(VM *vm, GradNode *node, int place, Value output, int index, bool by_value) {
    Recorded *r = node->state;
    if (!by_value) { save_parameter(vm, node, place, value_ref(output), false); return; }
    if (result_count(output) > 1) { save_parameter(vm, node, place, aliases_of(vm, output), true); return; }
    if (!output_has_gradient(vm, node->op, index)) { save_parameter(vm, node, place, value_tensor(tensor_alias(vm, tensor_of(output))), true); return; }
    r->slot[place] = (signed char)node->nsaved;
    if (value_is_tensor(output) && saved_hooks_entered(vm)) autograd_save_packed(vm, node, tensor_of(output), index);
    else autograd_save_output(vm, node, output, index);
}

static void save_parameters(VM *vm, GradNode *node, const Arg *args, int nargs, Value result, Tensor *original) {
    Recorded *r = node->state;
    const Formulas *f = r->formulas;
    uint64_t by_value = 0, by_meta = 0;
    for (int k = 0; k < f->count; k++)
        if ((r->needed >> k) & 1) { by_value |= f->at[k].by_value; by_meta |= f->at[k].by_meta; }
    for (int i = 0; i < nargs; i++) {
        bool value = (by_value >> i) & 1, meta = (by_meta >> i) & 1;
        if (!value && !meta) continue;
        bool changed = original && shares_memory(&args[i], args[0].tensor.owner);
        bool whole = changed && meta_equal(args[i].tensor.meta, args[0].tensor.meta) && dim_equal(args[i].tensor.meta->offset, args[0].tensor.meta->offset);
        save_parameter(vm, node, i, whole ? value_ref(value_tensor(original)) : value_of_arg(vm, &args[i]), value);
        if (changed && !whole && value) node->saved_versions[node->nsaved - 1]--; /* what is saved is changed already: reading it is an error */
    }
    if (((by_value | by_meta) >> f->y) & 1) save_output(vm, node, f->y, result, 0, (by_value >> f->y) & 1);
    for (int i = 0; node->op->outputs > 1 && i < node->op->outputs && i < result_count(result); i++) {
        int place = f->several + 2 * i + 1;
        if (((by_value | by_meta) >> place) & 1) save_output(vm, node, place, ((Tuple *)result.o)->items[i], i, (by_value >> place) & 1);
    }
}

/* A row without formulas whose result could have a gradient: an error only if somebody asks for it. */
static GradNode *missing_node(VM *vm, const Op *op, const Arg *args, int nargs, int noutputs) {
    Tensor *inputs[FORMULA_MAX_PARAMS];
    int n = 0;
    for (int i = 0; i < nargs && n < FORMULA_MAX_PARAMS; i++)
        if (args[i].tag == ARG_TENSOR && argument_needs_grad(vm, &args[i])) inputs[n++] = args[i].tensor.owner;
    GradNode *node = autograd_node(vm, "NotImplemented", inputs, n, noutputs, missing_backward);
    node->op = op;
    return node;
}

static const char *grad_name_for(const Op *op, const Arg *args);

/* always: also when no formula is needed (an in-place op cuts its tensor off from what it was). */
static GradNode *recorded_node(VM *vm, const Op *op, const Arg *args, int nargs, int noutputs, bool always) {
    const Formulas *f = gradient_formulas(vm, op);
    if (!f) return vm->exception.tag == V_NULL ? missing_node(vm, op, args, nargs, noutputs) : NULL;
    Recorded *r = heap_zeroed(sizeof *r);
    r->formulas = f;
    memset(r->slot, -1, sizeof r->slot);
    int room = count_inputs(args, nargs);
    Tensor *few[8] = {0}, **inputs = room < 8 ? few : heap_zeroed(((size_t)room + 1) * sizeof *inputs);
    int n = gather_inputs(vm, r, args, nargs, inputs);
    GradNode *node = NULL;
    if (r->needed || always) {
        node = autograd_node(vm, grad_name_for(op, args), inputs, n, noutputs, recorded_backward);
        node->op = op;
        node->state = r;
        node->release = release_recorded;
    } else free(r);
    if (inputs != few) free(inputs);
    return node;
}

/* PyTorch numbers the overloads of an op; a row that stands for several says here by which argument they are told apart. */
typedef enum Asked { GIVEN, TENSOR, LISTED, NONZERO } Asked;
typedef struct Overload { const char *op, *param; Asked asked; const char *yes, *no; /* NULL: the next line decides */ } Overload;
static const Overload overloads[] = {
    {"fill_", "value", TENSOR, "FillBackward3", "FillBackward2"}, {"leaky_relu_", "input", TENSOR, "LeakyReluBackward1", NULL}, {"elu_", "input", TENSOR, "EluBackward1", NULL},
    {"threshold_", "input", TENSOR, "ThresholdBackward1", NULL},
    {"sum", "dim", GIVEN, "SumBackward1", "SumBackward0"}, {"mean", "dim", GIVEN, "MeanBackward1", "MeanBackward0"}, {"prod", "dim", GIVEN, "ProdBackward1", "ProdBackward0"},
    {"max", "dim", GIVEN, "MaxBackward0", "MaxBackward1"}, {"min", "dim", GIVEN, "MinBackward0", "MinBackward1"}, {"median", "dim", GIVEN, "MedianBackward1", "MedianBackward0"},
    {"squeeze", "dim", GIVEN, "SqueezeBackward1", "SqueezeBackward0"}, {"div", "rounding_mode", GIVEN, "DivBackward2", "DivBackward0"},
    {"pow", "input", TENSOR, NULL, "PowBackward2"}, {"pow", "exponent", TENSOR, "PowBackward1", "PowBackward0"}, {"remainder", "other", TENSOR, "RemainderBackward1", "RemainderBackward0"}, {"fmod", "other", TENSOR, "FmodBackward1", "FmodBackward0"},
    {"lerp", "weight", TENSOR, "LerpBackward1", "LerpBackward0"}, {"masked_fill", "value", TENSOR, "MaskedFillBackward1", "MaskedFillBackward0"}, {"fill", "value", TENSOR, "FillBackward1", "FillBackward0"},
    {"index_fill", "value", TENSOR, "IndexFillBackward1", "IndexFillBackward0"}, {"scatter", "src", TENSOR, "ScatterBackward0", "ScatterBackward1"},
    {"clamp", "min", TENSOR, "ClampBackward0", NULL}, {"clamp", "max", TENSOR, "ClampBackward0", "ClampBackward1"}, {"sub", "input", TENSOR, "SubBackward0", "RsubBackward1"},
    {"split", "split_size_or_sections", LISTED, "SplitWithSizesBackward0", "SplitBackward0"},
    {"copysign", "other", TENSOR, "CopysignBackward0", "CopysignBackward1"},
    {"xlogy", "input", TENSOR, NULL, "XlogyBackward1"}, {"xlogy", "other", TENSOR, "XlogyBackward0", "XlogyBackward2"}, {"round", "decimals", NONZERO, "RoundBackward1", "RoundBackward0"},
    {"rsub", "other", TENSOR, "RsubBackward0", "RsubBackward1"}, {"nanmedian", "dim", GIVEN, "NanmedianBackward1", "NanmedianBackward0"}, {"reshape", "input", TENSOR, "ViewBackward0", NULL}, {"nll_loss_forward", "input", TENSOR, "NllLossBackward0", NULL}, {"logsigmoid", "input", TENSOR, "LogSigmoidBackward0", NULL},
};

static bool answer(Asked asked, const Arg *arg) {
    switch (asked) {
    case GIVEN: return arg->tag != ARG_NONE;
    case TENSOR: return arg->tag == ARG_TENSOR;
    case LISTED: return arg->tag == ARG_INTS;
    default: return arg->tag == ARG_INT && arg->i != 0;
    }
}

static const char *grad_name_for(const Op *op, const Arg *args) {
    const char *name = op->functional_op ? op->functional_op->name : op->name;
    for (size_t i = 0; i < sizeof overloads / sizeof *overloads; i++) {
        const Overload *o = &overloads[i];
        if (name[0] != o->op[0] || (strcmp(name, o->op) && strcmp(op->name, o->op))) continue;
        const Arg *arg = op_arg(op, args, o->param);
        const char *found = answer(o->asked, arg) ? o->yes : o->no;
        if (found) return found;
    }
    return op->grad_name ? op->grad_name : op->name;
}

static bool differentiable(Value v) { return value_is_tensor(v) && dtype_is_float(tensor_of(v)->meta.dtype); }

static bool any_differentiable(Value result) {
    for (int i = 0; i < result_count(result); i++)
        if (differentiable(result_item(result, i))) return true;
    return false;
}

GradNode *autograd_node_of_op(VM *vm, const Op *op, const Arg *args, int nargs, Value result, Tensor *original) {
    GradNode *node = recorded_node(vm, op, args, nargs, result_count(result), op_has(op, TRAIT_INPLACE));
    if (node && node->state) save_parameters(vm, node, args, nargs, result, original);
    return node;
}

bool autograd_record(VM *vm, const Op *op, const Arg *args, int nargs, Value result) {
    if ((op->grad && !*op->grad) || !autograd_needed(vm, args, nargs) || !any_differentiable(result)) return true;
    GradNode *node = autograd_node_of_op(vm, op, args, nargs, result, NULL);
    if (!node) return vm->exception.tag == V_NULL;
    if (vm->exception.tag != V_NULL) { grad_node_unref(vm, node); return false; } /* a value that cannot be saved */
    for (int i = 0; i < node->noutputs; i++) {
        Value item = result_item(result, i);
        if (differentiable(item) && output_has_gradient(vm, op, i)) autograd_attach(vm, tensor_of(item), node, i);
    }
    grad_node_unref(vm, node);
    return true;
}
