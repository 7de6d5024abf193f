/* Every row of the op table with gradient formulas, against finite differences: first and second derivatives, in float64.
 *
 * A call of each row is made from the names of its parameters; rows whose arguments need more than that stand in `calls`.
 * A new row with a usual signature is tested without a change here; one that cannot be called so fails the last test by name. */
#include "torch_script.h"

/* Arguments by parameter name, used unless a row has a line in `calls`. T: a tensor whose gradient is checked. */
static const struct { const char *name, *text; } by_name[] = {
    {"dim", "1"}, {"keepdim", "True"}, {"dim0", "0"}, {"dim1", "1"}, {"index", "1"}, {"size", "[2, 6]"}, {"shape", "[2, 6]"},
};

/* Rows with their own call: text of a lambda over tensors, and the shapes of those. Several lines a row are several tests. */
static const struct { const char *row, *call, *shapes; } calls[] = {
    {"pow", "lambda x: aten.pow(x, 3)", "[(3, 4)]"}, {"pow", "lambda x: aten.pow(x, 0.5)", "[(3, 4)]"}, {"pow", "lambda x, y: aten.pow(x, y)", "[(3, 4), (4,)]"}, {"pow", "lambda y: aten.pow(2.5, y)", "[(3, 4)]"},
    {"clamp", "lambda x: aten.clamp(x, 0.8, 1.4)", "[(3, 4)]"}, {"clamp", "lambda x, a, b: aten.clamp(x, a * 0.5, b + 1)", "[(3, 4), (4,), (3, 1)]"},
    {"div", "lambda x, y: aten.div(x, y)", "[(3, 4), (4,)]"}, {"lerp", "lambda x, y, w: aten.lerp(x, y, w * 0.2)", "[(3, 4), (4,), (3, 1)]"},
    {"acosh", "lambda x: aten.acosh(x + 1)", "[(3, 4)]"}, {"atanh", "lambda x: aten.atanh(x * 0.3)", "[(3, 4)]"}, {"asin", "lambda x: aten.asin(x * 0.3)", "[(3, 4)]"}, {"acos", "lambda x: aten.acos(x * 0.3)", "[(3, 4)]"},
    {"erfinv", "lambda x: aten.erfinv(x * 0.3)", "[(3, 4)]"}, {"logit", "lambda x: aten.logit(x * 0.3)", "[(3, 4)]"}, {"xlogy", "lambda x, y: aten.xlogy(x, y)", "[(3, 4), (4,)]"},
    {"threshold", "lambda x: aten.threshold(x, 1.0, 0.5)", "[(3, 4)]"}, {"elu", "lambda x: aten.elu(x - 1.0, 0.7)", "[(3, 4)]"}, {"gelu", "lambda x: aten.gelu(x, approximate='tanh')", "[(3, 4)]"}, {"gelu", "lambda x: aten.gelu(x - 1)", "[(3, 4)]"},
    {"where", "lambda x, y: aten.where(x > 1.2, x, y)", "[(3, 4), (4,)]"}, {"masked_fill", "lambda x: aten.masked_fill(x, x > 1.2, 2.0)", "[(3, 4)]"},
    {"elu_backward", "lambda g, x: aten.elu_backward(g, 0.7, 1.0, 1.0, False, x - 1)", "[(3, 4), (3, 4)]"}, {"leaky_relu_backward", "lambda g, x: aten.leaky_relu_backward(g, x - 1, 0.1, False)", "[(3, 4), (3, 4)]"},
    {"gelu_backward", "lambda g, x: aten.gelu_backward(g, x)", "[(3, 4), (3, 4)]"}, {"softplus_backward", "lambda g, x: aten.softplus_backward(g, x, 1.0, 20.0)", "[(3, 4), (3, 4)]"},
    {"shrink_backward", "lambda g, x: aten.shrink_backward(g, x, 0.8)", "[(3, 4), (3, 4)]"},
    {"hardtanh_backward", "lambda g, x: aten.hardtanh_backward(g, x, 0.8, 1.4)", "[(3, 4), (3, 4)]"}, {"threshold_backward", "lambda g, x: aten.threshold_backward(g, x, 1.0)", "[(3, 4), (3, 4)]"},
    {"hardswish_backward", "lambda g, x: aten.hardswish_backward(g, x)", "[(3, 4), (3, 4)]"}, {"sigmoid_backward", "lambda g, y: aten.sigmoid_backward(g, y)", "[(3, 4), (3, 4)]"}, {"tanh_backward", "lambda g, y: aten.tanh_backward(g, y)", "[(3, 4), (3, 4)]"},
    {"silu_backward", "lambda g, x: aten.silu_backward(g, x)", "[(3, 4), (3, 4)]"}, {"native_dropout_backward", "lambda g, x: aten.native_dropout_backward(g, x > 1.2, 2.0)", "[(3, 4), (3, 4)]"},
    {"sum", "lambda x: aten.sum(x)", "[(3, 4)]"}, {"sum", "lambda x: aten.sum(x, [0, 2])", "[(2, 3, 4)]"}, {"sum", "lambda x: aten.sum(x, -1, True)", "[(2, 3)]"},
    {"mean", "lambda x: aten.mean(x)", "[(3, 4)]"}, {"mean", "lambda x: aten.mean(x, [0])", "[(3, 4)]"}, {"prod", "lambda x: aten.prod(x)", "[(2, 3)]"}, {"prod", "lambda x: aten.prod(x, 1)", "[(3, 3)]"},
    {"amax", "lambda x: aten.amax(x, [1])", "[(3, 4)]"}, {"amin", "lambda x: aten.amin(x, [0], True)", "[(3, 4)]"}, {"max", "lambda x: aten.max(x)", "[(3, 4)]"}, {"max", "lambda x: aten.max(x, 1)[0]", "[(3, 4)]"},
    {"min", "lambda x: aten.min(x, 0)[0]", "[(3, 4)]"}, {"median", "lambda x: aten.median(x, 1)[0]", "[(3, 5)]"}, {"kthvalue", "lambda x: aten.kthvalue(x, 2, 1)[0]", "[(3, 5)]"},
    {"var", "lambda x: aten.var(x, [1])", "[(3, 4)]"}, {"std", "lambda x: aten.std(x, [0, 1])", "[(3, 4)]"}, {"var_mean", "lambda x: aten.var_mean(x, [1], correction=0)", "[(3, 4)]"}, {"logsumexp", "lambda x: aten.logsumexp(x, [1])", "[(3, 4)]"},
    {"linalg_vector_norm", "lambda x: aten.linalg_vector_norm(x, 2, [1])", "[(3, 4)]"}, {"linalg_vector_norm", "lambda x: aten.linalg_vector_norm(x, 3)", "[(3, 4)]"}, {"linalg_vector_norm", "lambda x: aten.linalg_vector_norm(x, 1, [0])", "[(3, 4)]"},
    {"_softmax", "lambda x: aten._softmax(x, 1, False)", "[(3, 4)]"}, {"_log_softmax", "lambda x: aten._log_softmax(x, 0, False)", "[(3, 4)]"},
    {"_softmax_backward_data", "lambda g, y: aten._softmax_backward_data(g, y, 1, torch.float64)", "[(3, 4), (3, 4)]"}, {"_log_softmax_backward_data", "lambda g, y: aten._log_softmax_backward_data(g, y, 1, torch.float64)", "[(3, 4), (3, 4)]"},
    {"native_layer_norm", "lambda x, w, b: aten.native_layer_norm(x, [4], w, b, 1e-5)[0]", "[(3, 4), (4,), (4,)]"}, {"native_layer_norm", "lambda x: aten.native_layer_norm(x, [3, 4], None, None, 1e-5)[0]", "[(2, 3, 4)]"},
    {"native_group_norm", "lambda x, w, b: aten.native_group_norm(x, w, b, 2, 4, 3, 2, 1e-5)[0]", "[(2, 4, 3), (4,), (4,)]"}, {"native_batch_norm", "lambda x, w, b: aten.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5)[0]", "[(4, 3, 2), (3,), (3,)]"},
    {"nll_loss_forward", "lambda x: aten.nll_loss_forward(x, torch.tensor([0, 2, 1]), None, 1, -100)[0]", "[(3, 4)]"},
    {"nll_loss_backward", "lambda g: aten.nll_loss_backward(g, torch.zeros(3, 4, dtype=torch.float64), torch.tensor([0, 2, 1]), None, 1, -100, torch.tensor(3.0, dtype=torch.float64))", "[()]"},
    {"binary_cross_entropy_with_logits", "lambda x, t: aten.binary_cross_entropy_with_logits(x, t, None, None, 1)", "[(3, 4), (3, 4)]"},
    {"view", "lambda x: aten.view(x, [2, 6])", "[(3, 4)]"}, {"reshape", "lambda x: aten.reshape(x.t(), [2, 6])", "[(3, 4)]"}, {"_unsafe_view", "lambda x: aten._unsafe_view(x, [12])", "[(3, 4)]"},
    {"expand", "lambda x: aten.expand(x, [2, 3, 4])", "[(3, 1)]"}, {"permute", "lambda x: aten.permute(x, [2, 0, 1])", "[(2, 3, 4)]"}, {"transpose", "lambda x: aten.transpose(x, 0, -1)", "[(2, 3, 4)]"},
    {"squeeze", "lambda x: aten.squeeze(x)", "[(3, 1, 4)]"}, {"squeeze", "lambda x: aten.squeeze(x, 1)", "[(3, 1, 4)]"}, {"unsqueeze", "lambda x: aten.unsqueeze(x, -1)", "[(3, 4)]"}, {"select", "lambda x: aten.select(x, 1, -1)", "[(3, 4)]"},
    {"slice", "lambda x: aten.slice(x, 1, 1, 4, 2)", "[(3, 4)]"}, {"diagonal", "lambda x: aten.diagonal(x, 1, 0, 2)", "[(3, 2, 4)]"}, {"unfold", "lambda x: aten.unfold(x, 1, 3, 2)", "[(2, 7)]"}, {"unfold", "lambda x: aten.unfold(x, 0, 3, 1)", "[(5, 2)]"},
    {"as_strided", "lambda x: aten.as_strided(x, [2, 3], [1, 2], 1)", "[(3, 4)]"}, {"alias", "lambda x: aten.alias(x)", "[(3, 4)]"}, {"split", "lambda x: aten.split(x, 3, 1)", "[(2, 7)]"}, {"split", "lambda x: aten.split(x, 2, 0)[1]", "[(4, 2)]"},
    {"split_with_sizes", "lambda x: aten.split_with_sizes(x, [1, 3], 1)", "[(2, 4)]"}, {"unbind", "lambda x: aten.unbind(x, 1)", "[(2, 3)]"}, {"unbind", "lambda x: aten.unbind(x, 0)[1]", "[(2, 3)]"},
    {"mm", "lambda a, b: aten.mm(a, b)", "[(3, 4), (4, 2)]"}, {"mm", "lambda a, b: aten.mm(a.t(), b.t())", "[(4, 3), (2, 4)]"}, {"addmm", "lambda c, a, b: aten.addmm(c, a, b, beta=0.5, alpha=2)", "[(2,), (3, 4), (4, 2)]"},
    {"bmm", "lambda a, b: aten.bmm(a, b)", "[(2, 3, 4), (2, 4, 2)]"}, {"baddbmm", "lambda c, a, b: aten.baddbmm(c, a, b, alpha=2)", "[(2, 3, 2), (2, 3, 4), (2, 4, 2)]"}, {"dot", "lambda a, b: aten.dot(a, b)", "[(4,), (4,)]"}, {"mv", "lambda a, b: aten.mv(a, b)", "[(3, 4), (4,)]"},
    {"index", "lambda x: aten.index(x, [torch.tensor([0, 2, 0]), torch.tensor([1, 1, 1])])", "[(3, 4)]"}, {"index", "lambda x: aten.index(x, [None, torch.tensor([3, 0])])", "[(3, 4)]"},
    {"index_put", "lambda x, v: aten.index_put(x, [torch.tensor([0, 2])], v)", "[(3, 4), (2, 4)]"}, {"index_put", "lambda x, v: aten.index_put(x, [torch.tensor([0, 0])], v, True)", "[(3, 4), (4,)]"},
    {"gather", "lambda x: aten.gather(x, 1, torch.tensor([[0, 0], [1, 2], [3, 3]]))", "[(3, 4)]"}, {"scatter", "lambda x, s: aten.scatter(x, 1, torch.tensor([[0, 2], [1, 3], [3, 0]]), s)", "[(3, 4), (3, 2)]"},
    {"scatter_add", "lambda x, s: aten.scatter_add(x, 1, torch.tensor([[0, 0], [1, 3], [3, 3]]), s)", "[(3, 4), (3, 2)]"}, {"scatter_reduce", "lambda x, s: aten.scatter_reduce(x, 1, torch.tensor([[0, 0], [1, 3], [3, 3]]), s, 'sum')", "[(3, 4), (3, 2)]"},
    {"index_select", "lambda x: aten.index_select(x, 1, torch.tensor([3, 0, 3]))", "[(3, 4)]"}, {"index_add", "lambda x, s: aten.index_add(x, 0, torch.tensor([1, 1]), s, alpha=2)", "[(3, 4), (2, 4)]"},
    {"index_copy", "lambda x, s: aten.index_copy(x, 0, torch.tensor([2, 0]), s)", "[(3, 4), (2, 4)]"}, {"index_fill", "lambda x: aten.index_fill(x, 1, torch.tensor([2, 0]), 0.5)", "[(3, 4)]"},
    {"embedding", "lambda w: aten.embedding(w, torch.tensor([[0, 2], [2, 1]]))", "[(4, 3)]"}, {"embedding_dense_backward", "lambda g: aten.embedding_dense_backward(g, torch.tensor([0, 2, 2]), 4, 0, False)", "[(3, 2)]"},
    {"masked_select", "lambda x: aten.masked_select(x, x > 1.2)", "[(3, 4)]"}, {"masked_scatter", "lambda x, s: aten.masked_scatter(x, torch.tensor([True, False, True, True]), s)", "[(2, 4), (6,)]"},
    {"cat", "lambda a, b: aten.cat([a, b], 1)", "[(3, 4), (3, 2)]"}, {"stack", "lambda a, b: aten.stack([a, b], 1)", "[(3, 4), (3, 4)]"}, {"flip", "lambda x: aten.flip(x, [0, 1])", "[(3, 4)]"}, {"roll", "lambda x: aten.roll(x, 1, 1)", "[(3, 4)]"},
    {"constant_pad_nd", "lambda x: aten.constant_pad_nd(x, [1, 2, 0, 1], 3.0)", "[(3, 4)]"}, {"repeat", "lambda x: aten.repeat(x, [2, 3, 1])", "[(3, 2)]"}, {"tril", "lambda x: aten.tril(x, -1)", "[(3, 4)]"}, {"triu", "lambda x: aten.triu(x, 1)", "[(3, 4)]"},
    {"diag_embed", "lambda x: aten.diag_embed(x, 1)", "[(2, 3)]"}, {"select_scatter", "lambda x, s: aten.select_scatter(x, s, 1, 2)", "[(3, 4), (3,)]"}, {"slice_scatter", "lambda x, s: aten.slice_scatter(x, s, 1, 0, 4, 2)", "[(3, 4), (3, 2)]"},
    {"diagonal_scatter", "lambda x, s: aten.diagonal_scatter(x, s)", "[(3, 4), (3,)]"}, {"as_strided_scatter", "lambda x, s: aten.as_strided_scatter(x, s, [2, 2], [1, 4], 1)", "[(3, 4), (2, 2)]"},
    {"select_backward", "lambda g: aten.select_backward(g, [3, 4], 1, 2)", "[(3,)]"}, {"slice_backward", "lambda g: aten.slice_backward(g, [3, 4], 1, 0, 4, 2)", "[(3, 2)]"}, {"diagonal_backward", "lambda g: aten.diagonal_backward(g, [3, 4], 0, 0, 1)", "[(3,)]"},
    {"unfold_backward", "lambda g: aten.unfold_backward(g, [2, 7], 1, 3, 2)", "[(2, 3, 3)]"}, {"as_strided_backward", "lambda g: aten.as_strided_backward(g, [3, 4], [4, 1], 0, [2, 3], [1, 2], 1)", "[(2, 3)]"},
    {"sort", "lambda x: aten.sort(x, 1)[0]", "[(3, 4)]"}, {"topk", "lambda x: aten.topk(x, 2, 1)[0]", "[(3, 4)]"}, {"cumsum", "lambda x: aten.cumsum(x, 1)", "[(3, 4)]"}, {"cumprod", "lambda x: aten.cumprod(x, 1)", "[(3, 4)]"},
    {"cummax", "lambda x: aten.cummax(x, 1)[0]", "[(3, 4)]"}, {"cummin", "lambda x: aten.cummin(x, 1)[0]", "[(3, 4)]"}, {"logcumsumexp", "lambda x: aten.logcumsumexp(x, 1)", "[(3, 4)]"},
    {"_to_copy", "lambda x: aten._to_copy(x, dtype=torch.float64)", "[(3, 4)]"}, {"native_dropout", "lambda x: aten.native_dropout(x, 0.5, False)[0]", "[(3, 4)]"}, {"fill", "lambda x, v: aten.fill(x, v)", "[(3, 4), ()]"},
    {"_prelu_kernel", "lambda x, w: aten._prelu_kernel(x - 1.2, w)", "[(3, 4), (4,)]"},
    {"mse_loss", "lambda x, t: aten.mse_loss(x, t, 1)", "[(3, 4), (3, 4)]"}, {"mse_loss", "lambda x, t: aten.mse_loss(x, t, 0)", "[(3, 4), (3, 4)]"},
    {"mse_loss_backward", "lambda g, x, t: aten.mse_loss_backward(g, x, t, 2)", "[(), (3, 4), (3, 4)]"},
    {"smooth_l1_loss", "lambda x, t: aten.smooth_l1_loss(x, t * 2, 1, 0.7)", "[(3, 4), (3, 4)]"}, {"smooth_l1_loss", "lambda x, t: aten.smooth_l1_loss(x, t * 2, 0, 0.0)", "[(3, 4), (3, 4)]"},
    {"smooth_l1_loss_backward", "lambda g, x, t: aten.smooth_l1_loss_backward(g, x, t * 2, 1, 0.7)", "[(), (3, 4), (3, 4)]"},
    {"huber_loss", "lambda x, t: aten.huber_loss(x, t * 2, 1, 0.7)", "[(3, 4), (3, 4)]"}, {"huber_loss_backward", "lambda g, x, t: aten.huber_loss_backward(g, x, t * 2, 0, 0.7)", "[(3, 4), (3, 4), (3, 4)]"},
    {"binary_cross_entropy", "lambda x, t: aten.binary_cross_entropy(x * 0.4, t * 0.3, None, 1)", "[(3, 4), (3, 4)]"},
    {"binary_cross_entropy", "lambda x, t: aten.binary_cross_entropy(x * 0.4, t * 0.3, torch.arange(4, dtype=torch.float64), 0)", "[(3, 4), (3, 4)]"},
    {"binary_cross_entropy_backward", "lambda g, x, t: aten.binary_cross_entropy_backward(g, x * 0.4, t * 0.3, None, 1)", "[(), (3, 4), (3, 4)]"},
    {"glu", "lambda x: aten.glu(x, 0)", "[(4, 3)]"}, {"glu_backward", "lambda g, x: aten.glu_backward(g, x, 1)", "[(3, 2), (3, 4)]"},
    {"linalg_inv", "lambda x: aten.linalg_inv(x + 2 * torch.eye(3, dtype=torch.float64))", "[(2, 3, 3)]"}, {"linalg_det", "lambda x: aten.linalg_det(x)", "[(2, 3, 3)]"},
    {"linalg_solve", "lambda a, b: aten.linalg_solve(a + 2 * torch.eye(3, dtype=torch.float64), b)", "[(3, 3), (3, 2)]"},
    {"linalg_cholesky", "lambda x: aten.linalg_cholesky(x @ x.mT + torch.eye(3, dtype=torch.float64))", "[(3, 3)]"},
    {"fma", "lambda a, b, c: aten.fma(a, b, c)", "[(3, 4), (4,), (3, 1)]"},
};

/* Rows whose gradient cannot be a matter of finite differences: random, rounding, of no dtype that has them. */
static const char *const exempt[] = {"bernoulli", "uniform", "random", "exponential", "normal_functional", "normal_", "floor", "ceil", "round", "trunc", "sign", "sgn", "zero", "copysign", "searchsorted", "view_dtype"};

static const char prelude[] =
    "import torch\n"
    "aten = torch.ops.aten\n"
    "def weights(t, k):\n"
    "    n = t.numel()\n"
    "    return ((torch.arange(n, dtype=torch.float64) + 1) * (0.7 + 0.1 * k)).sin().reshape(t.shape)\n"
    "def data(shape, k):\n"
    "    n = 1\n"
    "    for s in shape:\n"
    "        n = n * s\n"
    "    return ((torch.arange(n, dtype=torch.float64) * 1.37 + k * 0.61).sin() * 0.8 + 1.25).reshape(shape)\n"
    "def loss_of(f, xs):\n"
    "    out = f(*xs)\n"
    "    outs = [out] if isinstance(out, torch.Tensor) else [o for o in out if o.is_floating_point()]\n"
    "    return sum([(o * weights(o, k)).sum() for k, o in enumerate(outs)])\n"
    "def numeric(value, xs, i, eps):\n"
    "    flat = xs[i].flatten()\n"
    "    result = []\n"
    "    for j in range(flat.numel()):\n"
    "        ends = []\n"
    "        for sign in [1, -1]:\n"
    "            moved = flat.clone()\n"
    "            moved[j] = moved[j] + sign * eps\n"
    "            ends.append(value([moved.reshape(x.shape) if k == i else x for k, x in enumerate(xs)]))\n"
    "        result.append((ends[0] - ends[1]) / (2 * eps))\n"
    "    return result\n"
    "def first(f, xs, create):\n"
    "    leaves = [x.clone().requires_grad_() for x in xs]\n"
    "    loss = loss_of(f, leaves)\n"
    "    return leaves, torch.autograd.grad(loss, leaves, create_graph=create, allow_unused=True)\n"
    "def second_value(f, xs):\n"
    "    leaves, grads = first(f, xs, True)\n"
    "    return leaves, sum([(g * weights(g, k + 3)).sum() for k, g in enumerate(grads) if g is not None])\n"
    "def close(got, want, what):\n"
    "    got = [0.0] * len(want) if got is None else got.flatten().tolist()\n"
    "    for a, b in zip(got, want):\n"
    "        if not abs(a - b) <= 1e-5 + 1e-4 * abs(b):\n"
    "            print(what, 'tape', [round(v, 6) for v in got], 'differences', [round(v, 6) for v in want])\n"
    "            return False\n"
    "    return True\n"
    "def check(name, f, shapes):\n"
    "    xs = [data(s, k) for k, s in enumerate(shapes)]\n"
    "    leaves, grads = first(f, xs, False)\n"
    "    for i in range(len(xs)):\n"
    "        close(grads[i], numeric(lambda ts: loss_of(f, ts).item(), xs, i, 1e-6), name + ' input ' + str(i))\n"
    "    leaves, value = second_value(f, xs)\n"
    "    if not isinstance(value, torch.Tensor) or not value.requires_grad:\n"
    "        return\n"
    "    gg = torch.autograd.grad(value, leaves, allow_unused=True)\n"
    "    for i in range(len(xs)):\n"
    "        close(gg[i], numeric(lambda ts: second_value(f, ts)[1].item(), xs, i, 1e-5), name + ' second, input ' + str(i))\n";

static bool is_exempt(const char *name) {
    for (size_t i = 0; i < sizeof exempt / sizeof *exempt; i++)
        if (strcmp(name, exempt[i]) == 0) return true;
    return false;
}

static const char *text_by_name(const char *name) {
    for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++)
        if (strcmp(name, by_name[i].name) == 0) return by_name[i].text;
    return NULL;
}

static int put_own_calls(Text *text, const char *row) {
    int count = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].row, row) == 0) {
            text_printf(text, "check('%s', %s, %s)\n", row, calls[i].call, calls[i].shapes);
            count++;
        }
    return count;
}

/* A pointwise row of tensors: each operand a tensor, later ones broadcast; other required parameters by name. */
static bool put_usual_call(Text *text, const Op *op) {
    static const char *const shapes[] = {"(3, 4)", "(4,)", "(3, 1)", "(1, 4)"};
    Text lambda = {0}, arguments = {0}, sizes = {0};
    int tensors = 0;
    for (int i = 0; i < op->nparams; i++) {
        bool operand = op->family == FAMILY_POINTWISE ? i < op->tensor_inputs && !op->signature->has_default[i] : i == 0;
        const char *other = text_by_name(op_param(op, i));
        if (op->signature->has_default[i]) continue;
        if (!operand && !other) return false;
        if (operand && tensors < 4) {
            text_printf(&lambda, "%sa%d", tensors ? ", " : "", tensors);
            text_printf(&sizes, "%s%s", tensors ? ", " : "", shapes[tensors]);
            text_printf(&arguments, "%sa%d", arguments.length ? ", " : "", tensors++);
        } else text_printf(&arguments, ", %s", other);
    }
    text_printf(text, "check('%s', lambda %s: aten.%s(%s), [%s])\n", op->name, text_cstr(&lambda), op->name, text_cstr(&arguments), text_cstr(&sizes));
    text_free(&lambda);
    text_free(&arguments);
    text_free(&sizes);
    return tensors > 0;
}

static bool has_gradient(const Op *op) { return op->grad && *op->grad && op->family != FAMILY_MUTATE && op->family != FAMILY_COMPOSITE && !strstr(op->grad, "no_derivative") && !is_exempt(op->name); }

/* One row, in a VM that has run the prelude: what it printed is what differs. */
static bool row_agrees(Script *s, const Op *op, Text *problems) {
    Text program = {0};
    if (!put_own_calls(&program, op->name) && !put_usual_call(&program, op)) {
        text_printf(problems, "%s: no call is known for its parameters (%s)\n", op->name, op->signature_text);
        return false;
    }
    text_clear(&s->out);
    text_clear(&s->notes);
    bool ok = script_execute(s, text_cstr(&program));
    if (!ok) text_printf(problems, "%s", text_cstr(&program));
    text_put(problems, text_cstr(&s->out));
    text_put(problems, text_cstr(&s->notes));
    ok = ok && s->out.length == 0;
    text_free(&program);
    return ok;
}

START_TEST(gradients_of_all_rows) {
    Script *s = script_open();
    Text problems = {0};
    bool started = script_execute(s, prelude);
    ck_assert_msg(started, "%s", text_cstr(&s->notes));
    int tested = 0, failed = 0;
    for (int i = 0; i < op_count(s->ops); i++) {
        const Op *op = op_at(s->ops, i);
        if (!has_gradient(op)) continue;
        tested++;
        failed += !row_agrees(s, op, &problems);
    }
    ck_assert_int_gt(tested, 100);
    if (failed) fprintf(stderr, "%s", text_cstr(&problems)); /* Check's own messages are short */
    ck_assert_msg(failed == 0, "%d of %d rows, listed above", failed, tested);
    text_free(&problems);
    script_close(s);
}
END_TEST

/* The check itself must be able to fail. */
START_TEST(a_wrong_gradient_is_seen) {
    Script *s = script_open();
    bool started = script_execute(s, prelude);
    ck_assert_msg(started, "%s", text_cstr(&s->notes));
    ck_assert(script_execute(s, "check('wrong', lambda x: x.detach() * x, [(2, 2)])\n"));
    ck_assert_int_gt((int)s->out.length, 0);
    script_close(s);
}
END_TEST

int main(void) {
    const TTest *tests[] = {gradients_of_all_rows, a_wrong_gradient_is_seen};
    return UNIT_RUN("gradients", tests, NULL, NULL);
}
