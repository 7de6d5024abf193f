/* The concrete domain: ops run on real tensors.
 *
 *     add: infer the result's meta, allocate it, run the kernel of the device, record on the tape
 *     add_: check that the tensor may be changed, run into it, count its version, move its place on the tape
 *     transpose: a new tensor over the same storage, marked as a view
 *
 * In: an op with bound arguments. Out: a tensor, or a tuple of them. Errors are exceptions of the types PyTorch raises.
 * Invariant: nothing is written before every check passed. To add a device: its Executor in VM.executors. */
#include "vm/autograd_record.h"
#include "vm/body.h"
#include "vm/card.h"
#include "vm/concrete.h"
#include "vm/dispatch.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"
#include <string.h>

/* ---- devices ---- */

/* generator=g: the row draws from g while it runs. */
static Generator *swap_generator(VM *vm, const Op *op, const Arg *args) {
    Generator *former = vm->context.generator, *given = op_has(op, TRAIT_RANDOM) ? generator_argument(op_arg(op, args, "generator")) : NULL;
    if (given) vm->context.generator = given;
    return former;
}

static bool run_on_device(VM *vm, Device device, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts) {
    OpError error = {0};
    if (device.kind == DEVICE_CUDA && vm->torch->compile_only) return true;
    Generator *former = swap_generator(vm, op, args);
    const Executor *executor = &vm->executors[device.kind];
    bool ok;
    if (executor->run) ok = executor->run(executor->state, op, args, nargs, outs, nouts, &vm->context, &error);
    else if (device.kind == DEVICE_CPU) ok = op_run_cpu(op, args, nargs, outs, nouts, &vm->context, &error);
    else ok = op_error(&error, ERROR_RUNTIME, "no executor of CUDA ops is there: '%s' cannot run", op->name);
    vm->context.generator = former;
    if (!ok) vm_raise_op_error(vm, &error);
    return ok;
}

/* In a session that only compiles, CUDA tensors have no data and nothing runs on them. */
static bool without_data(VM *vm, const Arg *args, int nargs) {
    if (!vm->torch->compile_only) return false;
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && tensor_is_fake(args[i].tensor.owner)) return true;
    return false;
}

/* ---- plain ops ---- */

/* The same arguments with every symbolic size made an integer: for rows that know no others. */
static void arg_specialize(Arg *arg, Arena *arena) {
    static const char why[] = "the op knows plain sizes only";
    if (arg->tag == ARG_INT) arg->i = dim_specialize(arg->i, why);
    if (arg->tag == ARG_INTS) {
        Dim *at = ARENA_ARRAY(arena, Dim, arg->ints.count + 1);
        for (int i = 0; i < arg->ints.count; i++) at[i] = dim_specialize(arg->ints.at[i], why);
        arg->ints.at = at;
    }
    if (arg->tag == ARG_TENSOR) {
        Meta *meta = arena_copy(arena, arg->tensor.meta, sizeof *meta);
        for (int i = 0; i < meta->rank; i++) meta->sizes[i] = dim_specialize(meta->sizes[i], why), meta->strides[i] = dim_specialize(meta->strides[i], why);
        meta->offset = dim_specialize(meta->offset, why);
        arg->tensor.meta = meta;
    }
    if (arg->tag != ARG_TENSORS) return;
    Arg *items = ARENA_ARRAY(arena, Arg, arg->list.count + 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = arg->list.items[i], arg_specialize(&items[i], arena);
    arg->list.items = items;
}

static bool infer_plain(VM *vm, const Op *op, const Arg *args, int nargs, Inferred *out, OpError *error) {
    if (!vm->context.syms || error->type != ERROR_NOT_IMPLEMENTED) return false;
    Arena *arena = arena_new("plain sizes");
    Arg *plain = ARENA_ARRAY(arena, Arg, nargs + 1);
    for (int i = 0; i < nargs; i++) plain[i] = args[i], arg_specialize(&plain[i], arena);
    out->count = op->outputs < 0 ? MANY_OUTPUTS : FEW_OUTPUTS;
    bool ok = op_infer(op, plain, nargs, out->at, &out->count, &vm->context, error);
    arena_free(arena);
    return ok;
}

bool inferred_make(VM *vm, const Op *op, const Arg *args, int nargs, Inferred *out) {
    OpError error = {0};
    out->at = op->outputs < 0 ? malloc(MANY_OUTPUTS * sizeof(Meta)) : out->few;
    out->count = op->outputs < 0 ? MANY_OUTPUTS : FEW_OUTPUTS;
    if (out->at && op_infer(op, args, nargs, out->at, &out->count, &vm->context, &error)) return true;
    if (out->at && infer_plain(vm, op, args, nargs, out, &error)) return true;
    inferred_free(out);
    vm_raise_op_error(vm, &error);
    return false;
}

/* One tensor, or a tuple of them. Takes the references in items. */
Value outputs_value(VM *vm, const Op *op, Value *items, int count) {
    if (op->outputs == 1 || (op->outputs == 0 && count == 1)) return items[0];
    Value tuple = tuple_new(vm, items, count);
    for (int i = 0; i < count; i++) value_unref(vm, items[i]);
    return tuple;
}

static void release(VM *vm, Value *outs, int count) {
    for (int i = 0; i < count; i++) value_unref(vm, outs[i]);
}

static bool allocate(VM *vm, const Inferred *inferred, Value *outs, Arg *out_args) {
    for (int i = 0; i < inferred->count; i++) {
        Tensor *t = tensor_new(vm, &inferred->at[i]);
        if (!t) { release(vm, outs, i); return false; }
        outs[i] = value_tensor(t);
        out_args[i] = arg_of_tensor(t);
    }
    return true;
}

static Value run_into(VM *vm, const Op *op, const Arg *args, int nargs, const Inferred *inferred, Value *outs, Arg *out_args) {
    int count = inferred->count;
    if (!allocate(vm, inferred, outs, out_args)) return VALUE_ERROR;
    bool skip = without_data(vm, args, nargs) || count == 0 || tensor_is_fake(tensor_of(outs[0]));
    if (skip || run_on_device(vm, inferred->at[0].device, op, args, nargs, out_args, count)) return outputs_value(vm, op, outs, count);
    release(vm, outs, count);
    return VALUE_ERROR;
}

Value concrete_run(VM *vm, const Op *op, const Arg *args, int nargs) {
    Inferred inferred;
    Value few[FEW_OUTPUTS], *outs = few;
    Arg few_args[FEW_OUTPUTS], *out_args = few_args;
    if (!inferred_make(vm, op, args, nargs, &inferred)) return VALUE_ERROR;
    if (inferred.count > FEW_OUTPUTS) {
        outs = malloc((size_t)inferred.count * sizeof *outs);
        out_args = malloc((size_t)inferred.count * sizeof *out_args);
    }
    Value result = run_into(vm, op, args, nargs, &inferred, outs, out_args);
    if (outs != few) { free(outs); free(out_args); }
    inferred_free(&inferred);
    return result;
}

static Value run_plain(VM *vm, const Op *op, const Arg *args, int nargs) {
    Value result = concrete_run(vm, op, args, nargs);
    if (value_is_error(result) || autograd_record(vm, op, args, nargs, result)) return result;
    value_unref(vm, result);
    return VALUE_ERROR;
}

/* ---- bodies ---- */

/* The CPU has loops for some rows over contiguous operands. Statistics of 16-bit inputs are those of the output's dtype there, float32 in the body:
 * where gradients are computed from them, the body runs. */
static bool runs_natively(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (!op->family_ops->runs_natively || args[0].tag != ARG_TENSOR || without_data(vm, args, nargs) || !op->family_ops->runs_natively(op, args)) return false;
    bool narrow = op->outputs == 3 && dtype_size(args[0].tensor.meta->dtype) == 2;
    return (op_records_itself(op) && !narrow) || !autograd_needed(vm, args, nargs);
}

/* Does the device of its tensors run the row as a whole? What a body changes beside its results (running statistics) it changes op by op, and
 * a row without a formula (native_layer_norm_backward) gets its derivative from the ops of its body. */
static bool runs_whole(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (op->family != FAMILY_DECOMPOSED || op_has(op, TRAIT_EFFECT)) return false;
    if (runs_natively(vm, op, args, nargs)) return true;
    if (!op_records_itself(op) && autograd_needed(vm, args, nargs)) return false;
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR) return vm->executors[args[i].tensor.meta->device.kind].runs_bodies;
    return false;
}

static Value run_body(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (!op_records_itself(op)) return op_call_body(vm, op, args, nargs);
    Value result = op_call_body_without_grad(vm, op, args, nargs);
    if (value_is_error(result) || autograd_record(vm, op, args, nargs, result)) return result;
    value_unref(vm, result);
    return VALUE_ERROR;
}

/* ---- in-place ---- */

bool tensor_overlaps_itself(const Meta *meta) {
    for (int i = 0; i < meta->rank; i++)
        if (meta->sizes[i] > 1 && meta->strides[i] == 0) return true;
    return false;
}

static bool same_strides(const Meta *a, const Meta *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->strides[i] != b->strides[i]) return false;
    return true;
}

bool tensors_partly_overlap(const Tensor *a, const Tensor *b) {
    if (a == b || a->storage != b->storage || !meta_is_dense(&a->meta) || !meta_is_dense(&b->meta) || !meta_numel(&a->meta) || !meta_numel(&b->meta)) return false;
    int64_t a_item = dtype_size(a->meta.dtype), b_item = dtype_size(b->meta.dtype);
    int64_t a0 = a->meta.offset * a_item, a1 = meta_storage_span(&a->meta) * a_item, b0 = b->meta.offset * b_item, b1 = meta_storage_span(&b->meta) * b_item;
    if (a0 == b0 && a1 == b1) return !same_strides(&a->meta, &b->meta);
    return a0 < b1 && b0 < a1;
}

bool inplace_check_overlap(VM *vm, const Op *op, const Arg *args, int nargs, const Tensor *self) {
    if (meta_is_static(&self->meta) && tensor_overlaps_itself(&self->meta) && !op_writes_one_value(op, args)) {
        vm_raise(vm, "RuntimeError", "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
                 "Please clone() the tensor before performing the operation.");
        return false;
    }
    for (int i = 1; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && tensors_partly_overlap(self, args[i].tensor.owner)) {
            vm_raise(vm, "RuntimeError", "unsupported operation: some elements of the input tensor and the written-to tensor of %s refer to a single memory location. "
                     "Please clone() the tensor before performing the operation.", op->name);
            return false;
        }
    return true;
}

/* The value before the op, when a gradient formula will ask for it. */
bool inplace_keep_original(VM *vm, const Op *op, const Arg *args, int nargs, Tensor *self, Tensor **original) {
    *original = NULL;
    if (!autograd_needed(vm, args, nargs) || !autograd_reads_original(vm, op, args, nargs)) return true;
    bool former = vm->grad_enabled;
    vm->grad_enabled = false;
    Value arg = value_tensor(self);
    *original = vm_op_tensor(vm, "clone", &arg, 1);
    vm->grad_enabled = former;
    if (*original && tensor_needs_grad(self)) {
        (*original)->requires_grad = self->requires_grad;
        if (self->grad_fn) autograd_attach(vm, *original, self->grad_fn, self->grad_index);
    }
    return *original != NULL;
}

/* silu_: what the body of silu made, copied over. Takes the reference. */
static bool copy_into(VM *vm, const Arg *args, Value made) {
    if (value_is_error(made)) return false;
    Arg copy[] = {args[0], arg_of_tensor(tensor_of(made)), arg_none()};
    bool ok = run_on_device(vm, args[0].tensor.meta->device, op_find(vm->ops, "copy_"), copy, 3, copy, 1);
    value_unref(vm, made);
    return ok;
}

static bool write_into(VM *vm, const Op *op, const Arg *args, int nargs) {
    Inferred inferred;
    const Op *functional = op->functional_op;
    if (functional && op_runs_body(functional)) return copy_into(vm, args, op_call_body_without_grad(vm, functional, args, nargs));
    Value made = functional && !without_data(vm, args, nargs) ? card_run(vm, functional, args, nargs) : VALUE_NULL;
    if (made.tag != V_NULL) return copy_into(vm, args, made);
    if (!inferred_make(vm, op, args, nargs, &inferred)) return false;
    inferred_free(&inferred);
    return without_data(vm, args, nargs) || run_on_device(vm, args[0].tensor.meta->device, op, args, nargs, args, 1);
}

static Value run_inplace(VM *vm, const Op *op, const Arg *args, int nargs) {
    Tensor *self = args[0].tensor.owner, *original;
    if ((autograd_needed(vm, args, nargs) || self->base || self->storage->inference) && !autograd_check_inplace(vm, self)) return VALUE_ERROR;
    if (!inplace_check_overlap(vm, op, args, nargs, self) || !inplace_keep_original(vm, op, args, nargs, self, &original)) return VALUE_ERROR;
    bool ok = write_into(vm, op, args, nargs);
    if (ok) {
        self->storage->version++;
        ok = autograd_record_inplace(vm, op, args, nargs, self, original);
    }
    if (original) value_unref(vm, value_tensor(original));
    return ok ? value_ref(value_tensor(self)) : VALUE_ERROR;
}

/* ---- views ---- */

enum ViewKind view_kind_now(VM *vm, const Op *op) { return !vm->grad_enabled ? VIEW_NO_GRAD : op->outputs == 1 ? VIEW_NORMAL : VIEW_MULTI; }

bool view_is_differentiable(const Op *op) { return !op->grad || *op->grad; }

/* Parts (split, unbind) always are views, by the shape rule's own strides. */
bool view_aliases(VM *vm, const Op *op, const Arg *args, int nargs, Meta *meta) {
    if (op->outputs != 1) return true;
    return op->family_ops->alias && op->family_ops->alias(op, args, nargs, meta, &vm->context);
}

static Tensor *alias_of(VM *vm, const Op *op, const Arg *args, int nargs, const Meta *meta) {
    Tensor *base = args[0].tensor.owner, *view = tensor_view(vm, base, meta);
    view->node = base->node;
    if (view_is_differentiable(op)) autograd_mark_view(vm, view, base, op, args, nargs, view_kind_now(vm, op));
    return view;
}

Value run_copying_view(VM *vm, const Op *op, const Arg *args, int nargs, const Meta *meta) {
    (void)op; (void)nargs;
    Arg clone[] = {args[0], {.tag = ARG_STR, .s = "torch.contiguous_format"}};
    Value copy = vm_op_args(vm, "clone", clone, 2);
    if (value_is_error(copy)) return copy;
    Arg view[] = {arg_of_tensor(tensor_of(copy)), {.tag = ARG_INTS, .ints = {meta->sizes, meta->rank}}};
    Value result = vm_op_args(vm, "_unsafe_view", view, 2);
    value_unref(vm, copy);
    return result;
}

/* Only as_strided can leave its base's memory: all other views stay within their input's. */
static bool view_fits(VM *vm, const Tensor *base, const Meta *meta) {
    if (base->node || !meta_is_static(meta) || meta_numel(meta) == 0) return true;
    int64_t size = dtype_size(meta->dtype), last = meta->offset;
    bool fits = last >= 0;
    for (int i = 0; i < meta->rank && fits; i++) {
        int64_t reach;
        fits = !__builtin_mul_overflow(meta->sizes[i] - 1, meta->strides[i], &reach) && !__builtin_add_overflow(last, reach, &last) && last < base->storage->bytes / size;
    }
    if (!fits || last >= base->storage->bytes / size)
        vm_raise(vm, "RuntimeError", "as_strided: the sizes, strides and storage offset %lld reach out of bounds for storage of size %lld", (long long)meta->offset, (long long)base->storage->bytes);
    return fits && last < base->storage->bytes / size;
}

static Value alias_all(VM *vm, const Op *op, const Arg *args, int nargs, const Inferred *inferred) {
    for (int i = 0; i < inferred->count; i++)
        if (!view_fits(vm, args[0].tensor.owner, &inferred->at[i])) return VALUE_ERROR;
    Value few[FEW_OUTPUTS], *outs = inferred->count > FEW_OUTPUTS ? malloc((size_t)inferred->count * sizeof *outs) : few;
    for (int i = 0; i < inferred->count; i++) outs[i] = value_tensor(alias_of(vm, op, args, nargs, &inferred->at[i]));
    Value result = outputs_value(vm, op, outs, inferred->count);
    if (outs != few) free(outs);
    return result;
}

static Value run_view(VM *vm, const Op *op, const Arg *args, int nargs) {
    Inferred inferred;
    if (!inferred_make(vm, op, args, nargs, &inferred)) return VALUE_ERROR;
    bool alias = view_aliases(vm, op, args, nargs, inferred.at);
    Value result = alias ? alias_all(vm, op, args, nargs, &inferred) : run_copying_view(vm, op, args, nargs, inferred.at);
    inferred_free(&inferred);
    if (!alias || value_is_error(result) || autograd_record(vm, op, args, nargs, result)) return result;
    value_unref(vm, result);
    return VALUE_ERROR;
}

/* ---- across devices ---- */

/* x.to(device): the row's meaning when the device changes. */
static Value run_to_device(VM *vm, const Op *op, const Arg *args, int nargs, Device device) {
    Tensor *from = args[0].tensor.owner, *there = tensor_transfer(vm, from, args[1].tag == ARG_DTYPE ? args[1].dtype : from->meta.dtype, device);
    if (!there) return VALUE_ERROR;
    Value result = value_tensor(there);
    if (autograd_record(vm, op, args, nargs, result)) return result;
    value_unref(vm, result);
    return VALUE_ERROR;
}

static Value run_on_one_device(VM *vm, const Op *op, const Arg *args, int nargs);

/* copy_ from another device: the source crosses first. */
static Value run_copy_across(VM *vm, const Op *op, const Arg *args, int nargs) {
    const Tensor *to = args[0].tensor.owner;
    Value crossed = vm_op_args(vm, "_to_copy", (Arg[]){args[1], {.tag = ARG_DTYPE, .dtype = to->meta.dtype}, {.tag = ARG_DEVICE, .device = to->meta.device}}, 3);
    if (value_is_error(crossed)) return crossed;
    Arg moved[3] = {args[0], arg_of_tensor(tensor_of(crossed))};
    for (int i = 2; i < nargs && i < 3; i++) moved[i] = args[i];
    Value result = run_on_one_device(vm, op, moved, nargs);
    value_unref(vm, crossed);
    return result;
}

static Value run_across(VM *vm, const Op *op, const Arg *args, int nargs) {
    Arg moved[DISPATCH_MAX_PARAMS];
    Moved held = {0};
    Arena *arena = arena_new("transfer");
    memcpy(moved, args, (size_t)nargs * sizeof *moved);
    Value result = transfer_small(vm, op, moved, nargs, &held, arena) ? run_on_one_device(vm, op, moved, nargs) : VALUE_ERROR;
    for (int i = 0; i < held.count; i++) value_unref(vm, held.at[i]);
    vec_free(&held);
    arena_free(arena);
    return result;
}

/* ---- the hook ---- */

/* VALUE_NULL: not made of others on the device where its tensors are. */
static Value run_card_body(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (vm->torch->compile_only) return VALUE_NULL;
    Value result = card_run(vm, op, args, nargs);
    if (result.tag == V_NULL || value_is_error(result) || autograd_record(vm, op, args, nargs, result)) return result;
    value_unref(vm, result);
    return VALUE_ERROR;
}

static Value run_on_one_device(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (!vm->torch->compile_only && card_has_masks(op, args, nargs)) return card_run_masks(vm, op, args, nargs);
    if (op_has(op, TRAIT_INPLACE) && args[0].tag == ARG_TENSOR) return run_inplace(vm, op, args, nargs);
    if (op_runs_body(op)) return runs_whole(vm, op, args, nargs) ? run_plain(vm, op, args, nargs) : run_body(vm, op, args, nargs);
    if (op->family == FAMILY_VIEW) return run_view(vm, op, args, nargs);
    Value made = op_has(op, TRAIT_CARD) ? run_card_body(vm, op, args, nargs) : VALUE_NULL;
    if (made.tag != V_NULL) return made;
    return run_plain(vm, op, args, nargs);
}

static Value concrete_op(VM *vm, const Op *op, const Arg *args, int nargs) {
    bool to_copy = nargs > 2 && args[0].tag == ARG_TENSOR && args[2].tag == ARG_DEVICE && strcmp(op->name, "_to_copy") == 0;
    if (to_copy && !device_equal(args[2].device, args[0].tensor.meta->device)) return run_to_device(vm, op, args, nargs, args[2].device);
    if (op->family == FAMILY_COMPOSITE || !transfer_needed(args, nargs)) return run_on_one_device(vm, op, args, nargs);
    if (strcmp(op->name, "copy_") == 0 && args[1].tag == ARG_TENSOR) return run_copy_across(vm, op, args, nargs);
    return run_across(vm, op, args, nargs);
}

const Domain concrete_domain = {.name = "concrete", .op = concrete_op};
