# Second derivatives through compiled functions: create_graph, gradient penalties, Hessians, and what must be refused.
import torch
import torch.nn as nn
import torch.nn.functional as F

def close(a, b, tol=1e-9):
    return torch.allclose(a.double(), b.double(), rtol=tol, atol=tol)

def second(fn, args):
    xs = [a.detach().clone().requires_grad_(a.requires_grad) for a in args]
    want = [x for x in xs if x.requires_grad]
    out = fn(*xs)
    g = torch.autograd.grad(out.sum() if out.dim() else out, want, create_graph=True, allow_unused=True)
    total = sum((t * t).sum() for t in g if t is not None)
    gg = torch.autograd.grad(total, want, allow_unused=True)
    return g, gg

def compare(name, fn, *args, tol=1e-9):
    e, c = second(fn, args), second(torch.compile(fn), args)
    ok = all((a is None) == (b is None) and (a is None or close(a, b, tol)) for x, y in zip(e, c) for a, b in zip(x, y))
    assert ok, name

torch.manual_seed(0)
x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
w = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
compare("cube", lambda x: (x * x * x).sum(), x)
compare("mlp", lambda x, w: torch.tanh(x @ w), x, w)
compare("softmax", lambda x: F.softmax(x, -1) ** 2, x)
compare("layer_norm", lambda x: F.layer_norm(x, (4,)).pow(3), x)
compare("gelu", lambda x: F.gelu(x), x)
compare("ce", lambda x: F.cross_entropy(x, torch.tensor([0, 1, 3])), x)
compare("views", lambda x: (x[1:] * x[:-1]).t().reshape(-1).cumsum(0), x)
compare("unused", lambda x, w: x.exp(), x, w)
def inplace(x):
    y = x * 2
    y[0] = x[1] * x[2]
    y.mul_(x)
    return y.sin()
compare("inplace", inplace, x)

class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x
compare("custom", lambda x: Sq.apply(x.sin()) * x, x)

def nograd(x):
    with torch.no_grad():
        m = x.mean()
    return ((x - m) ** 3)
compare("nograd", nograd, x)

# Hessian
def f(x): return (x ** 3).sum() + (x.prod())
v = torch.tensor([1., 2., 3.], dtype=torch.float64, requires_grad=True)
def hess(fn):
    g = torch.autograd.grad(fn(v), v, create_graph=True)[0]
    return torch.stack([torch.autograd.grad(g[i], v, retain_graph=True)[0] for i in range(3)])
assert close(hess(f), hess(torch.compile(f)))
assert hess(torch.compile(f)).tolist() == [[6, 3, 2], [3, 12, 1], [2, 1, 18]]
# third
def third(fn):
    g = torch.autograd.grad(fn(v), v, create_graph=True)[0]
    h = torch.autograd.grad(g.sum(), v, create_graph=True)[0]
    return torch.autograd.grad(h.sum(), v)[0]
assert close(third(f), third(torch.compile(f)))
assert third(torch.compile(f)).tolist() == [8, 8, 8]
# dropout
torch.manual_seed(1)
@torch.compile
def drop(x): return F.dropout(x * x, 0.5) * x
a = torch.ones(10, dtype=torch.float64, requires_grad=True)
out = drop(a)
mask = out.detach() / 2
g = torch.autograd.grad(out.sum(), a, create_graph=True)[0]
assert torch.equal(g.detach(), 6 * mask), "the same mask in the gradient"
assert torch.equal(torch.autograd.grad(g.sum(), a)[0], 12 * mask)
# gradient penalty
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.LeakyReLU(0.2), nn.Linear(8, 1)).double()
def penalty(m):
    net.zero_grad()
    inp = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(6, 4).requires_grad_()
    o = m(inp)
    g, = torch.autograd.grad(o.sum(), inp, create_graph=True)
    loss = o.mean() + ((g.norm(2, dim=1) - 1) ** 2).mean()
    loss.backward()
    return loss.detach(), [p.grad.clone() for p in net.parameters() if p.grad is not None]
l1, g1 = penalty(net); l2, g2 = penalty(torch.compile(net))
assert close(l1, l2) and len(g1) == 6 and all(close(a, b) for a, b in zip(g1, g2))
# backward(create_graph=True)
q = torch.tensor([2.0], requires_grad=True)
h = torch.compile(lambda q: q ** 4)
h(q).backward(create_graph=True)
assert q.grad.item() == 32 and q.grad.requires_grad
assert torch.autograd.grad(q.grad.sum(), q)[0].tolist() == [48]
# dynamic sizes
@torch.compile
def dyn(x): return (x.reshape(-1)[: x.shape[0]] * x.shape[0]).pow(3).sum()
for n in (3, 4, 5, 6):
    z = torch.arange(1., n + 1).requires_grad_()
    g = torch.autograd.grad(dyn(z), z, create_graph=True)[0]
    assert g.tolist() == [3 * n ** 3 * i ** 2 for i in range(1, n + 1)]
    assert torch.autograd.grad(g.sum(), z)[0].tolist() == [6 * n ** 3 * i for i in range(1, n + 1)]
# changed
@torch.compile
def chg(b, x):
    b.mul_(2)
    return (x * b).sin().sum()
b = torch.ones(3); xx = torch.ones(3, requires_grad=True)
try:
    torch.autograd.grad(chg(b, xx), xx, create_graph=True)
    assert False, "b's old value is gone"
except RuntimeError as e:
    assert "old value is gone" in str(e)
y = torch.compile(lambda x: x * x)(xx)
t = y.sum()
torch.autograd.grad(t, xx)
try:
    torch.autograd.grad(t, xx, create_graph=True)
    assert False, "the graph was freed"
except RuntimeError as e:
    assert "a second time" in str(e)
y = torch.compile(lambda x: x * x)(xx)
with torch.no_grad():
    xx.add_(1)
try:
    torch.autograd.grad(y.sum(), xx, create_graph=True)
    assert False, "xx was changed"
except RuntimeError as e:
    assert "modified by an inplace operation" in str(e)
print("ok")
