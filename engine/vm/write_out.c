/* out=: results go into tensors of the caller, which take the results' shapes when theirs differ.
 *
 *     torch.add(a, b, out=c)                 torch.sort(a, out=(values, places))
 *
 * In: what the op gave, and the keyword's value. Out: the caller's tensors. Invariant: nothing is written when an error is raised, and a tensor's dtype
 * stays. To let another family cast to the caller's dtype: `takes_dtype`. */
#include "vm/write_out.h"
#include "ir/meta.h"
#include "vm/autograd.h"
#include "vm/concrete.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_state.h"
#include <string.h>

/* ---- before the op ---- */

static bool check_inputs(VM *vm, const Op *op, const Tensor *out, Value *args, int nargs) {
    if (op->family != FAMILY_POINTWISE && op->family != FAMILY_CONTRACT) return true;
    for (int i = 0; i < nargs; i++) {
        Value v = vm_force(vm, args[i]);
        if (!value_is_tensor(v) || tensor_of(v) == out || !meta_is_static(&tensor_of(v)->meta) || !tensors_partly_overlap(out, tensor_of(v))) continue;
        vm_raise(vm, "RuntimeError", "unsupported operation: some elements of the input tensor and the written-to tensor of %s refer to a single memory location. "
                 "Please clone() the tensor before performing the operation.", op->name);
        return false;
    }
    return true;
}

static bool check_target(VM *vm, const Op *op, Value value, Value *args, int nargs) {
    value = vm_force(vm, value);
    if (!value_is_tensor(value)) {
        vm_raise(vm, "TypeError", "%s(): argument 'out' must be Tensor, not %s", op->name, type_name(vm, value));
        return false;
    }
    const Tensor *out = tensor_of(value);
    if (vm->grad_enabled && tensor_needs_grad(out)) {
        vm_raise(vm, "RuntimeError", "%s(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.", op->name);
        return false;
    }
    if (!meta_is_static(&out->meta)) return true;
    return check_inputs(vm, op, out, args, nargs);
}

static int targets_of(Value *out, Value **targets) {
    if (value_is(*out, OBJ_TUPLE)) { *targets = ((Tuple *)out->o)->items; return ((Tuple *)out->o)->count; }
    if (value_is(*out, OBJ_LIST)) { *targets = ((List *)out->o)->items; return ((List *)out->o)->count; }
    *targets = out;
    return 1;
}

bool out_check(VM *vm, const Op *op, Value out, Value *args, int nargs) {
    Value *targets;
    out = vm_force(vm, out);
    int count = targets_of(&out, &targets);
    for (int i = 0; i < count; i++)
        if (!check_target(vm, op, targets[i], args, nargs)) return false;
    return true;
}

bool out_check_cast(VM *vm, const Op *op, const Arg *bound, Value out) {
    out = vm_force(vm, out);
    if (op_fixes_out(op) && value_is_tensor(out) && tensor_of(out)->meta.dtype != op_first_dtype(op, bound)) {
        vm_raise(vm, "RuntimeError", "%s(): expected the tensor given to out= to be %s, but it is %s", op->name, dtype_info[op_first_dtype(op, bound)].name, dtype_info[tensor_of(out)->meta.dtype].name);
        return false;
    }
    if (op->family != FAMILY_POINTWISE || op_has(op, TRAIT_BOOL_RESULT) || op->result_like_first || !value_is_tensor(out)) return true;
    DType from = op_meeting_type(op, bound, vm->context.default_dtype), to = tensor_of(out)->meta.dtype;
    if (dtype_info[from].category <= dtype_info[to].category) return true;
    vm_raise(vm, "RuntimeError", "result type %s can't be cast to the desired output type %s", dtype_info[from].name, dtype_info[to].name);
    return false;
}

/* ---- after it ---- */

/* May the result be cast? Elementwise results, joins and made numbers may; results of library calls and gathers have one dtype. */
static bool takes_dtype(const Op *op, DType from, DType to) {
    if (from == to || op->family == FAMILY_CREATE || op->family == FAMILY_RANDOM) return true;
    if ((op->family == FAMILY_REDUCE || op->family == FAMILY_SCAN) && strstr(op->signature_text, "dtype=None")) return true;
    if (op->family == FAMILY_POINTWISE || strncmp(op->signature_text, "tensors", 7) == 0) return dtype_info[from].category <= dtype_info[to].category;
    return op->family == FAMILY_COMPOSITE || op->family == FAMILY_DECOMPOSED;
}

static bool check_result(VM *vm, const Op *op, const Tensor *from, const Tensor *to) {
    if (vm->grad_enabled && tensor_needs_grad(from)) {
        vm_raise(vm, "RuntimeError", "%s(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.", op->name);
        return false;
    }
    if (takes_dtype(op, from->meta.dtype, to->meta.dtype)) {
        if (!meta_same_shape(&from->meta, &to->meta) || !meta_is_static(&to->meta) || !tensor_overlaps_itself(&to->meta)) return true;
        vm_raise(vm, "RuntimeError", "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
                 "Please clone() the tensor before performing the operation.");
        return false;
    }
    bool joins = strncmp(op->signature_text, "tensors", 7) == 0;
    vm_raise(vm, joins ? "TypeError" : "RuntimeError", "result type %s can't be cast to the desired output type %s", dtype_info[from->meta.dtype].name, dtype_info[to->meta.dtype].name);
    return false;
}

static void take_memory(Tensor *from, Tensor *to) {
    Storage *old = to->storage;
    from->storage->version = old->version + 1;
    to->storage = storage_ref(from->storage);
    to->meta = from->meta;
    storage_unref(old);
}

static bool write_one(VM *vm, const Op *op, Value result, Value out) {
    out = vm_force(vm, out);
    if (!value_is_tensor(result)) {
        vm_raise(vm, "TypeError", "%s() got an unexpected keyword argument 'out'", op->name);
        return false;
    }
    Tensor *from = tensor_of(result), *to = tensor_of(out);
    if (!check_result(vm, op, from, to)) return false;
    if (meta_same_shape(&from->meta, &to->meta)) {
        Value args[] = {out, result}, copied = vm_op(vm, "copy_", args, 2);
        value_unref(vm, copied);
        return !value_is_error(copied);
    }
    if (vm->domain->item) {
        vm_stop(vm, "other", vm_user_span(vm), "the tensor given to out= has another shape than the result of %s", op->name);
        return false;
    }
    Value cast = vm_op_args(vm, "_to_copy", (Arg[]){arg_of_tensor(from), {.tag = ARG_DTYPE, .dtype = to->meta.dtype}}, 2);
    if (value_is_error(cast)) return false;
    take_memory(tensor_of(cast), to);
    value_unref(vm, cast);
    return true;
}

Value out_write(VM *vm, const Op *op, Value result, Value out) {
    Value *targets, *results;
    out = vm_force(vm, out);
    int count = targets_of(&out, &targets), made = targets_of(&result, &results);
    bool ok = count == made;
    if (!ok) vm_raise(vm, "TypeError", "%s(): out= takes %d tensor%s here, not %d", op->name, made, made == 1 ? "" : "s", count);
    for (int i = 0; ok && i < count; i++) ok = write_one(vm, op, results[i], targets[i]);
    value_unref(vm, result);
    return ok ? value_ref(out) : VALUE_ERROR;
}
