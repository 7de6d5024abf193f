/* Rows with a body, on a device that runs them whole (a card: one plan a row): values, first and second derivatives are those of a device that runs
 * bodies op by op. The device is the CPU, with an executor that is given the row and runs its body without the tape. */
#include "torch_script.h"
#include "vm/body.h"
#include "vm/dispatch.h"
#include "vm/tensor.h"
#include "vm/torch_state.h"

typedef struct Whole { Script *script; Executor op_by_op; int rows; } Whole;

static bool copy_outputs(VM *vm, Value result, const Arg *outs, int nouts) {
    bool good = !value_is_error(result);
    for (int i = 0; i < nouts && good; i++) {
        Value item = value_is(result, OBJ_TUPLE) ? ((Tuple *)result.o)->items[i] : result;
        if (!value_is_tensor(item)) continue; /* a gradient that nobody asked for */
        Value written = vm_op_args(vm, "copy_", (Arg[]){outs[i], arg_of_tensor(tensor_of(item)), arg_none()}, 3);
        good = !value_is_error(written);
        if (good) value_unref(vm, written);
    }
    return good;
}

static bool run_whole(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Whole *whole = state;
    VM *vm = whole->script->vm;
    if (op->family != FAMILY_DECOMPOSED) return op_run_cpu(op, args, nargs, outs, nouts, context, error);
    Executor mine = vm->executors[DEVICE_CPU];
    vm->executors[DEVICE_CPU] = whole->op_by_op;
    whole->rows++;
    Value result = op_call_body_without_grad(vm, op, args, nargs);
    bool good = copy_outputs(vm, result, outs, nouts);
    if (!value_is_error(result)) value_unref(vm, result);
    vm->executors[DEVICE_CPU] = mine;
    return good || op_error(error, ERROR_RUNTIME, "%s: its body raised", op->name);
}

static const char program[] =
    "import torch\n"
    "import torch.nn.functional as F\n"
    "def data(shape, k):\n"
    "    n = 1\n"
    "    for s in shape:\n"
    "        n = n * s\n"
    "    return ((torch.arange(n, dtype=torch.float64) * 1.37 + k).sin() + 1.3).reshape(shape).requires_grad_()\n"
    "def show(name, f, *shapes):\n"
    "    xs = [data(s, k) for k, s in enumerate(shapes)]\n"
    "    y = f(*xs)\n"
    "    grads = torch.autograd.grad((y * y).sum(), xs, create_graph=True)\n"
    "    second = torch.autograd.grad(sum([(g * g).sum() for g in grads]), xs, allow_unused=True)\n"
    "    print(name, [[round(v, 6) for v in t.flatten().tolist()] for t in [y] + list(grads) + [g for g in second if g is not None]])\n"
    "show('softmax', lambda x: F.softmax(x, 1), (3, 4))\n"
    "show('log_softmax', lambda x: F.log_softmax(x, 0), (3, 4))\n"
    "show('layer_norm', lambda x, w, b: F.layer_norm(x, (4,), w, b), (3, 4), (4,), (4,))\n"
    "show('group_norm', lambda x, w, b: F.group_norm(x, 2, w, b), (2, 4, 3), (4,), (4,))\n"
    "show('batch_norm', lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (4, 3, 2), (3,), (3,))\n"
    "show('std', lambda x: x.std(1), (3, 4))\n"
    "show('norm', lambda x: torch.linalg.vector_norm(x, 3, 1), (3, 4))\n"
    "show('logsumexp', lambda x: x.logsumexp(1), (3, 4))\n"
    "show('glu', lambda x: F.glu(x, 1), (3, 4))\n"
    "show('conv', lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), (1, 2, 4, 4), (3, 2, 3, 3), (3,))\n"
    "show('conv_transpose', lambda x, w: F.conv_transpose1d(x, w, stride=2), (1, 2, 4), (2, 3, 3))\n"
    "show('max_pool', lambda x: F.max_pool2d(x, 2), (1, 2, 4, 4))\n"
    "show('avg_pool', lambda x: F.avg_pool2d(x, 3, 1, 1), (1, 2, 4, 4))\n"
    "show('pad', lambda x: F.pad(x, (1, 2), mode='reflect'), (2, 4))\n"
    "show('smooth_l1', lambda x, y: F.smooth_l1_loss(x, y * 2, beta=0.7), (3, 4), (3, 4))\n"
    "show('bce', lambda x, y: F.binary_cross_entropy_with_logits(x, y), (3, 4), (3, 4))\n"
    "show('cross_entropy', lambda x: F.cross_entropy(x, torch.tensor([0, 2, 1])), (3, 4))\n";

START_TEST(second_derivatives_of_whole_rows) {
    char *expected = script_run(program);
    Script *s = script_open();
    Whole whole = {.script = s, .op_by_op = s->vm->executors[DEVICE_CPU]};
    s->vm->executors[DEVICE_CPU] = (Executor){&whole, run_whole, true};
    bool ok = script_execute(s, program);
    ck_assert_msg(ok, "%s", text_cstr(&s->notes));
    ck_assert_int_gt(whole.rows, 30);
    ck_assert_str_eq(text_cstr(&s->out), expected);
    free(expected);
    script_close(s);
}
END_TEST

int main(void) {
    const TTest *tests[] = {second_derivatives_of_whole_rows};
    return UNIT_RUN("rows run whole", tests, NULL, NULL);
}
