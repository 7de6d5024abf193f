/* Autocast: inside `with torch.autocast(device)` some ops take their floating arguments in a lower precision, some in float32, some in the
 * widest of them. Which is PyTorch's decision for each device; the lists stand here.
 *
 *     matmul(f32, f32) under autocast("cpu", bfloat16)  ->  matmul(bf16, bf16)
 *
 * In: bound arguments. Out: arguments with cast tensors in place of others. Bodies of rows run without it, as inner calls do in PyTorch.
 * Invariant: a cast goes through the domain, so it is on the tape and in the graph; a captured graph says in which autocast a node stands, and later stages cast. To add an op: its name in a list. */
#include "vm/autograd_record.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_state.h"
#include "vm/tracing.h"
#include <string.h>

typedef enum Rule { RULE_NONE, RULE_LOWER, RULE_FLOAT32, RULE_WIDEST, RULE_REFUSED } Rule;

static const char *const lower_both[] = {"matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm", "linear", "conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d",
                                         "conv_transpose2d", "conv_transpose3d", "scaled_dot_product_attention", "prelu", "_prelu_kernel", "vecdot", "einsum", NULL};
static const char *const lower_cpu[] = {"tensordot", NULL}; /* made of products that are lowered there */
static const char *const lower_cuda[] = {"mv", "addmv", "addr", NULL};
static const char *const float32_both[] = {"prod", "binary_cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss", "kl_div", "nll_loss_forward",
                                           "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "poisson_nll_loss", "soft_margin_loss", "triplet_margin_loss",
                                           "binary_cross_entropy_with_logits", "multi_margin_loss", "multilabel_margin_loss", "cdist", "linalg_inv", "linalg_solve", "linalg_cholesky", NULL};
static const char *const float32_cpu[] = {"trace", "quantile", "nanquantile", "max_pool3d", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d", "max_unpool2d", NULL};
static const char *const float32_cuda[] = {"acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt", "sinh", "tan", "pow", "softplus",
                                           "layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "norm", "cosine_similarity", "logsumexp", "softmax", "log_softmax",
                                           "_softmax", "_log_softmax", "cumprod", "cumsum", "sum", "renorm", "linalg_vector_norm", "dist", "pdist", "interpolate", NULL};
static const char *const refused_cuda[] = {"binary_cross_entropy", NULL}; /* its 16-bit gradients overflow */
static const char *const widest_both[] = {"cat", "stack", "index_copy", NULL};
static const char *const widest_cuda[] = {"addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "index_put", "scatter_add", "tensordot", NULL};

static bool listed(const char *const *names, const char *name) {
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

static Rule rule_of(const Op *op, DeviceKind kind) {
    const char *name = op->name;
    bool cuda = kind == DEVICE_CUDA;
    if (cuda && listed(refused_cuda, name)) return RULE_REFUSED;
    if (listed(lower_both, name) || listed(cuda ? lower_cuda : lower_cpu, name)) return RULE_LOWER;
    if (listed(float32_both, name) || listed(cuda ? float32_cuda : float32_cpu, name)) return RULE_FLOAT32;
    if (listed(widest_both, name) || (cuda && listed(widest_cuda, name))) return RULE_WIDEST;
    return RULE_NONE;
}

static bool eligible(const Arg *arg, DeviceKind kind) {
    return arg->tag == ARG_TENSOR && arg->tensor.meta->device.kind == kind && dtype_is_float(arg->tensor.meta->dtype) && arg->tensor.meta->dtype != DTYPE_F64;
}

static void widen(const Arg *args, int nargs, DeviceKind kind, DType *widest) {
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSORS) widen(args[i].list.items, args[i].list.count, kind, widest);
        else if (eligible(&args[i], kind)) *widest = *widest == DTYPE_NONE ? args[i].tensor.meta->dtype : dtype_promote(*widest, args[i].tensor.meta->dtype);
    }
}

static bool any_on(const Arg *args, int nargs, DeviceKind kind) {
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && args[i].tensor.meta->device.kind == kind) return true;
    return false;
}

static bool cast_one(VM *vm, Arg *arg, DType dtype, DeviceKind kind, Casts *casts) {
    if (!eligible(arg, kind) || arg->tensor.meta->dtype == dtype || casts->count == (int)(sizeof casts->tensors / sizeof *casts->tensors)) return true;
    Value cast = vm->domain->cast ? vm->domain->cast(vm, arg->tensor.owner, dtype) : vm_op_args(vm, "_to_copy", (Arg[]){*arg, {.tag = ARG_DTYPE, .dtype = dtype}}, 2);
    if (!value_is_tensor(cast)) return false;
    casts->tensors[casts->count++] = cast;
    *arg = arg_of_tensor(tensor_of(cast));
    return true;
}

static bool cast_all(VM *vm, Arg *args, int nargs, DType dtype, DeviceKind kind, Casts *casts, Arena *arena) {
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSORS) {
            Arg *items = arena_copy(arena, args[i].list.items, (size_t)args[i].list.count * sizeof(Arg));
            if (!cast_all(vm, items, args[i].list.count, dtype, kind, casts, arena)) return false;
            args[i].list.items = items;
        } else if (!cast_one(vm, &args[i], dtype, kind, casts)) return false;
    }
    return true;
}

bool autocast_apply(VM *vm, const Op *op, Arg *args, int nargs, Casts *casts, Arena *arena) {
    const Autocast *autocast = &vm->torch->autocast;
    if ((!autocast->enabled[DEVICE_CPU] && !autocast->enabled[DEVICE_CUDA]) || vm->torch->in_body) return true;
    for (int kind = DEVICE_CPU; kind <= DEVICE_CUDA; kind++) {
        Rule rule = autocast->enabled[kind] ? rule_of(op, (DeviceKind)kind) : RULE_NONE;
        if (rule == RULE_REFUSED && any_on(args, nargs, (DeviceKind)kind)) {
            vm_raise(vm, "RuntimeError", "%s is unsafe to autocast: use %s_with_logits, which is safe", op->name, op->name);
            return false;
        }
        DType dtype = rule == RULE_LOWER ? autocast->dtype[kind] : rule == RULE_FLOAT32 ? DTYPE_F32 : DTYPE_NONE;
        if (rule == RULE_WIDEST) widen(args, nargs, (DeviceKind)kind, &dtype);
        if (dtype != DTYPE_NONE && !cast_all(vm, args, nargs, dtype, (DeviceKind)kind, casts, arena)) return false;
    }
    return true;
}

bool autocast_is_on(const VM *vm) { return vm->torch && (vm->torch->autocast.enabled[DEVICE_CPU] || vm->torch->autocast.enabled[DEVICE_CUDA]); }

bool autocast_has_rule(const VM *vm, const Op *op) {
    bool any = false;
    for (int kind = DEVICE_CPU; vm->torch && kind <= DEVICE_CUDA; kind++) any = any || (vm->torch->autocast.enabled[kind] && rule_of(op, (DeviceKind)kind) != RULE_NONE);
    return any;
}

Value vm_run_op_casting(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (!autocast_is_on(vm) || !autocast_has_rule(vm, op)) return vm_run_op(vm, op, args, nargs);
    Arena *arena = arena_new("autocast");
    Arg *cast = arena_copy(arena, args, sizeof *args * (size_t)nargs);
    Casts casts = {0};
    Value result = VALUE_ERROR;
    if (autocast_apply(vm, op, cast, nargs, &casts, arena)) {
        vm->torch->in_body++;
        result = vm_run_op(vm, op, cast, nargs);
        vm->torch->in_body--;
    }
    for (int i = 0; i < casts.count; i++) value_unref(vm, casts.tensors[i]);
    arena_free(arena);
    return result;
}

/* ---- functions of the library ---- */

bool autocast_enter_leaf(VM *vm, const Op *op, Value *parameters, int count) {
    const Autocast *autocast = &vm->torch->autocast;
    if ((!autocast->enabled[DEVICE_CPU] && !autocast->enabled[DEVICE_CUDA]) || vm->torch->in_body || vm->domain != &concrete_domain) return false;
    if (!autocast_has_rule(vm, op)) return false;
    Arena *arena = arena_new("autocast");
    Arg *args = ARENA_ARRAY(arena, Arg, count + 1);
    Casts casts = {0};
    for (int i = 0; i < count; i++) args[i] = value_is_tensor(vm_unwrap(parameters[i])) ? arg_of_tensor(tensor_of(parameters[i])) : arg_none();
    if (autocast_apply(vm, op, args, count, &casts, arena))
        for (int i = 0; i < count; i++)
            if (args[i].tag == ARG_TENSOR && args[i].tensor.owner != parameters[i].o) value_set(vm, &parameters[i], value_ref(value_tensor(args[i].tensor.owner)));
    for (int i = 0; i < casts.count; i++) value_unref(vm, casts.tensors[i]);
    arena_free(arena);
    vm->torch->in_body++;
    return true;
}

void autocast_leave_leaf(VM *vm) { vm->torch->in_body--; }
