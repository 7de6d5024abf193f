# Dynamic shapes: one compiled function serves many sizes as eager execution does, in values, strides and gradients; ints, marks, settings.
import torch
import torch._dynamo
import torch.nn as nn
import torch.nn.functional as F

def outcome(f, args):
    try:
        return f(*args)
    except Exception as e:
        return type(e).__name__


def agree(a, b):
    if isinstance(a, (tuple, list)): return len(a) == len(b) and all([agree(x, y) for x, y in zip(a, b)])
    if not isinstance(a, torch.Tensor): return a == b
    if a.shape != b.shape or a.stride() != b.stride() or a.dtype != b.dtype: return False
    return torch.allclose(a.detach().double(), b.detach().double(), rtol=1e-4, atol=1e-4, equal_nan=True)


def both(name, f, *makers, sizes=(5, 3, 8, 2, 17, 1, 0, 64)):
    for dynamic in (None, True):
        torch._dynamo.reset()
        g = torch.compile(f, dynamic=dynamic)
        for n in sizes:
            torch.manual_seed(0)
            a = outcome(f, [m(n) for m in makers])
            torch.manual_seed(0)
            b = outcome(g, [m(n) for m in makers])
            assert agree(a, b), (name, dynamic, n)


def train(name, f, *makers, sizes=(5, 3, 8, 2, 17, 1, 64), params=()):
    def gradients(f, n):
        torch.manual_seed(0)
        inputs = [m(n) for m in makers]
        outs = f(*inputs)
        outs = outs if isinstance(outs, tuple) else (outs,)
        loss = sum([(o * torch.arange(o.numel()).reshape(o.shape).cos()).sum() for o in outs])
        return [*outs, *torch.autograd.grad(loss, [x for x in inputs if x.requires_grad] + list(params))]
    for dynamic in (None, True):
        torch._dynamo.reset()
        g = torch.compile(f, dynamic=dynamic)
        for n in sizes:
            assert agree(gradients(f, n), gradients(g, n)), (name, dynamic, n)


def X(n): return torch.randn(n, 4)
bias = torch.randn(6)
w = torch.randn(4, 6)
both("pointwise", lambda x: (x * 2 + 1).relu(), X)
both("mm", lambda x: torch.relu(x @ w + bias), X)
both("sum0", lambda x: x.sum(0), X)
both("sum1", lambda x: x.sum(1), X)
both("mean", lambda x: x.mean(), X)
both("softmax0", lambda x: torch.softmax(x, 0), X)
both("softmax1", lambda x: torch.softmax(x, 1), X)
both("T", lambda x: x.t().contiguous() * 2, X)
both("Tview", lambda x: x.t() + 1, X)
both("cat", lambda x: torch.cat([x, x * 2, x[:1]]), X)
both("cat1", lambda x: torch.cat([x, x * 2], 1), X)
both("slice", lambda x: x[1:] - x[:-1], X)
both("half", lambda x: x[: x.shape[0] // 2] * 2, X)
both("view", lambda x: x.view(-1) * 2, X)
both("view2", lambda x: x.reshape(2, -1).sum(1), X)
both("index", lambda x: x[torch.tensor([0, 1])] , X, sizes=(5,3,2,17))
both("gather", lambda x: x.gather(1, torch.zeros(x.shape[0], 2, dtype=torch.long)), X, sizes=(5,3,2,17,1))
both("flip", lambda x: x.flip(0), X)
both("argmax", lambda x: x.argmax(0), X)
both("max", lambda x: x.max(1), X)
both("shape", lambda x: (x.sum(), x.shape[0], x.shape[0] * 2 + 1, x.numel(), x.shape), X)
both("arange", lambda x: x + torch.arange(x.shape[0])[:, None], X)
both("ones", lambda x: x + torch.ones(x.shape[0], 4), X)
both("std", lambda x: x.std(0), X)
both("chunk", lambda x: x.chunk(2), X)
both("split", lambda x: torch.split(x, 3), X)
both("unbind", lambda x: x.unbind(0)[0] if x.shape[0] else x, X)
both("convb", lambda x: conv(x), lambda n: torch.randn(n, 3, 6, 6), sizes=(5, 7, 4, 1, 9))
both("pool", lambda x: F.max_pool2d(x, 2), lambda n: torch.randn(2, 3, n, n), sizes=(4, 6, 8, 5, 7))
both("sdpa", lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), lambda n: torch.randn(2, 2, n, 4), sizes=(4, 6, 8, 1, 7))
both("cumsum", lambda x: x.cumsum(0), X)
both("sort", lambda x: x.sort(0), X)
both("topk", lambda x: x.topk(2, 1), X)
both("pad", lambda x: F.pad(x, (1, 2, 0, 1)), X)
both("where", lambda x: torch.where(x > 0, x, -x), X)
both("expand", lambda x: x[:, None].expand(x.shape[0], 3, 4) * 2, X)
both("bmm", lambda x: torch.bmm(x, x.transpose(1, 2)), lambda n: torch.randn(2, n, 4))
both("outer", lambda x: x[:, None] * x[None, :], lambda n: torch.randn(n))
both("inplace", lambda x: x.mul_(2).add_(1), X)
both("strided", lambda x: x[:, ::2] + 1, X)
both("inp strided", lambda x: x + 1, lambda n: torch.randn(n, 8)[:, :4])
both("inp T", lambda x: x + 1, lambda n: torch.randn(4, n).t())
both("2d", lambda x: x.sum(0) + x.sum(1), lambda n: torch.randn(n, n))
both("tril", lambda x: x.tril(), lambda n: torch.randn(n, n))
both("repeat", lambda x: x.repeat(2, 3), X)
both("mod", lambda x: x * (x.shape[0] % 3), X)
both("loss", lambda x: F.cross_entropy(x, torch.zeros(x.shape[0], dtype=torch.long)), X)
both("dropout", lambda x: F.dropout(x, 0.5, training=False), X)
both("bn", lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4)), X)

def X(n): return torch.randn(n, 4, requires_grad=True)
lin, ln, emb, conv, bn = nn.Linear(4, 6), nn.LayerNorm(4), nn.Embedding(10, 4), nn.Conv2d(3, 5, 3, padding=1), nn.BatchNorm1d(4)
mlp = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
w = torch.randn(4, 6, requires_grad=True)
train("pointwise", lambda x: (x * 2 + 1).relu().sin(), X)
train("mm", lambda x: torch.relu(x @ w), X, params=[w])
train("softmax", lambda x: torch.softmax(x, 1), X)
train("softmax0", lambda x: torch.softmax(x, 0), X)
train("ln", lambda x: ln(x), X, params=list(ln.parameters()))
train("mlp", lambda x: mlp(x), X, params=list(mlp.parameters()))
train("mean", lambda x: x.mean() * x.shape[0], X)
train("mse", lambda x: F.mse_loss(x, x.detach() * 2), X)
train("ce", lambda x: F.cross_entropy(x, torch.zeros(x.shape[0], dtype=torch.long)), X)
train("slice", lambda x: (x[1:] * x[:-1]).sum(0), X)
train("cat", lambda x: torch.cat([x, x * 2]), X)
train("view", lambda x: x.view(-1) * 3, X)
train("t", lambda x: x.t() @ x, X)
train("emb", lambda i: emb(i), lambda n: torch.arange(n) % 10, params=[emb.weight])
train("conv", lambda x: conv(x).relu(), lambda n: torch.randn(n, 3, 6, 6, requires_grad=True), params=list(conv.parameters()), sizes=(2, 3, 5, 1, 9))
train("convhw", lambda x: conv(x).relu(), lambda n: torch.randn(2, 3, n, 6, requires_grad=True), params=list(conv.parameters()), sizes=(4, 3, 5, 9))
train("bn", lambda x: bn(x), X, params=list(bn.parameters()), sizes=(5, 3, 8, 2, 17))
train("sdpa", lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), lambda n: torch.randn(2, 2, n, 4, requires_grad=True), sizes=(4, 6, 8, 1, 7))
train("max", lambda x: x.max(1)[0], X)
train("pad", lambda x: F.pad(x, (1, 2, 0, 1)), X)
train("index", lambda x: x[torch.arange(x.shape[0] - 1)], X, sizes=(5, 3, 8, 2))
train("gather", lambda x: x.gather(1, torch.zeros(x.shape[0], 2, dtype=torch.long)), X)
train("two", lambda x, y: (x * y, x + y.sum()), X, X)
train("bcast", lambda x, y: x * y, X, lambda n: torch.randn(n, 1, requires_grad=True))
train("outer", lambda x: x[:, None] * x[None, :], lambda n: torch.randn(n, requires_grad=True))
train("expand", lambda x: x[:, None].expand(x.shape[0], 3, 4) * 2, X)
train("chunk", lambda x: x.chunk(2, 1)[0] * x.chunk(2, 1)[1], X)
train("std", lambda x: x.std(0), X, sizes=(5, 3, 8, 2))
train("logsumexp", lambda x: x.logsumexp(0), X)
train("cumsum", lambda x: x.cumsum(0), X)
train("tril", lambda x: x.tril(), lambda n: torch.randn(n, n, requires_grad=True))
train("alias", lambda x: (x.view(-1), x * 2), X)

# ---- ints ----
def ints(f, *values):
    torch._dynamo.reset()
    g = torch.compile(f)
    for n in values: assert agree(f(torch.arange(12.), n), g(torch.arange(12.), n)), n

ints(lambda x, n: x * n + n // 2, 3, 5, 1, 0, -7, 10**6)
ints(lambda x, n: (x + n, n * 2 + 1) if n > 2 else (x - n, n), 1, 3, 4, 2, 100)
ints(lambda x, n: torch.ones(n, 2) * x.shape[0], 2, 3, 6, 1)
ints(lambda x, n: x.view(n, -1).sum(1), 2, 3, 6, 4, 12)
ints(lambda x, n: x[:n], 2, 3, 6, 20, -3)
ints(lambda x, n: [x[i] for i in range(n)], 1, 3, 2)
ints(lambda x, n: max(n, 3) * min(n, 7) % 5, 2, 5, 9, -4)


def counter():
    k = 3
    @torch.compile
    def inner(x): return x * k
    seen = [inner(torch.ones(1)).item()]
    for k in (4, 5, 7): seen.append(inner(torch.ones(1)).item())
    return seen

assert counter() == [3.0, 4.0, 5.0, 7.0]


# ---- marks and settings ----
def violates(f, x):
    try:
        torch.compile(f)(x)
    except Exception as e:
        return 'Constraint' in type(e).__name__
    return False

def marked(n, **options):
    x = torch.randn(n, 3)
    torch._dynamo.mark_dynamic(x, 0, **options)
    return x

torch._dynamo.reset()
assert not violates(lambda x: x.sum(0), marked(5))
assert violates(lambda x: x + torch.ones(5, 3), marked(5))
assert violates(lambda x: x + 1 if x.shape[0] > 5 else x, marked(8, min=4, max=16))
assert not violates(lambda x: x + 1, marked(8, min=4, max=16))
fixed = torch.randn(4, 3)
torch._dynamo.mark_static(fixed, 0)
torch._dynamo.maybe_mark_dynamic(fixed, 1)
assert not violates(lambda x: x + torch.ones(4, 3), fixed)
try:
    torch._dynamo.mark_dynamic(fixed, 2)
    assert False
except IndexError:
    pass
assert torch._dynamo.config.automatic_dynamic_shapes is True
print("ok")
