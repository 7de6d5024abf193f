# The traps of decisions.md that concern autograd, functionalization and compiled numbers, a test each; and what the joint graph must do beside.
# Every program runs eagerly and compiled, with the same values, gradients and refusals; where PyTorch compiled differs from eager, eager is right.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

inf, nan = math.inf, math.nan


def same(a, b, tolerance=1e-6):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    return a == b or (a != a and b != b)


def agree(name, play, tolerance=1e-6):
    """play(wrap) -> anything; wrap compiles or does not."""
    torch._dynamo.reset()
    want = play(lambda f: f)
    got = play(torch.compile)
    assert same(want, got, tolerance), (name, want, got)
    return got


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64).requires_grad_()


# ---- a zero made for an unused output's tangent meeting an infinity ----
def unused_output(wrap):
    x = leaf(0.0, 4.0)
    a, b = wrap(lambda x: (x.sqrt(), x * 3))(x)  # a's derivative at 0 is infinite
    b.sum().backward()
    return x.grad
assert agree("unused output", unused_output).tolist() == [3, 3]


# ---- one backward buffer returned for two gradients ----
def two_gradients(wrap):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    wrap(lambda x, y: x + y)(x, y).sum().backward()
    x.grad.add_(10)
    return x.grad, y.grad
assert agree("two gradients", two_gradients)[1].tolist() == [1, 1]


def passed_through(wrap):
    x, g = leaf(1.0, 2.0), torch.ones(2, dtype=torch.float64)
    wrap(lambda x: x + 0.0)(x).backward(g)
    x.grad.mul_(5)
    return x.grad, g
assert agree("the tangent itself", passed_through)[1].tolist() == [1, 1]


# ---- a recompute from an input that was changed since; a saved input changed by the caller ----
def changed_between(wrap):
    x, b = leaf(1.0, 2.0), torch.ones(2, dtype=torch.float64)
    y = wrap(lambda x, b: ((x * b).sin() * b).exp())(x, b)
    b.add_(1)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return "raises", "inplace" in str(error)
    return x.grad
assert agree("changed between", changed_between) == ("raises", True)


x = leaf(1.0, 2.0)
b = torch.ones(2, dtype=torch.float64)
y = torch.compile(lambda x, b: (b.mul_(2), x * b)[1])(x, b)
y.sum().backward()
assert x.grad.tolist() == [2, 2] and b.tolist() == [2, 2]


# ---- a list holding an intermediate that is later changed in place ----
def held(wrap):
    def f(x):
        y = x * 2
        kept = [y]
        y.add_(1)
        return kept, y
    x = torch.ones(2)
    kept, y = wrap(f)(x)
    return kept[0], kept[0] is y
assert agree("held in a list", held)[1] is True


# ---- x[1:] = x[1:] + x[:-1], expanded and overlapping memory ----
def shifted(wrap):
    def f(x):
        x = x * 1
        x[1:] = x[1:] + x[:-1]
        return x
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = wrap(f)(x)
    (y * torch.arange(1.0, 5, dtype=torch.float64)).sum().backward()
    return y, x.grad
assert agree("shifted", shifted)[0].tolist() == [1, 3, 5, 7]


def overlapping(wrap):
    base = torch.arange(6.0)
    a, b = base[:4], base[2:]
    wrap(lambda a, b: (a.add_(10), b.mul_(2))[1])(a, b)
    return base
assert agree("overlapping inputs", overlapping).tolist() == [10, 11, 24, 26, 8, 10]


def expanded(wrap):
    x = leaf(1.0, 2.0)
    y = wrap(lambda x: (x.unsqueeze(1).expand(2, 3) * 2).sum(0).expand(4, 3))(x)
    y.sum().backward()
    return y, x.grad, y.stride()
agree("expanded", expanded)


# ---- scatter with duplicate indices read too early ----
def duplicates(wrap):
    def f(x, i):
        y = torch.zeros(3, dtype=x.dtype).index_put((i,), x, accumulate=True)
        z = y * y
        return z.scatter_add(0, i, x) + y[i].sum()
    x, i = leaf(1.0, 2.0, 3.0, 4.0), torch.tensor([0, 1, 0, 0])
    y = wrap(f)(x, i)
    y.sum().backward()
    return y, x.grad
agree("duplicates", duplicates)


# ---- nothing, and no dims ----
def nothing(wrap):
    x, y = torch.zeros(0, 3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    z = wrap(lambda x, y: (x * y).sum(0) + F.softmax(x, 1).sum() + y.exp())(x, y)
    z.sum().backward()
    return z, x.grad, y.grad
agree("no elements, no dims", nothing)


# ---- NaN, contraction, 16-bit overflow, integer mean, ties, variance of one ----
def numbers(wrap):
    a, b = torch.tensor([nan, 1.0, -0.0]), torch.tensor([1.0, nan, 0.0])
    u = torch.tensor([1.0 + 2.0 ** -12])
    h = torch.tensor([60000.0, 300.0]).half()
    i = torch.tensor([3, 3, 1, 3])
    def f(a, b, u, h, i):
        return (torch.maximum(a, b), torch.fmax(a, b), torch.where(a > b, a, b), u * u - (1.0 + 2.0 ** -11), h * 2, h.float() * h.float(), i.argmax(), i.float().argmin(),
                u.var(), a.clamp(min=0.0))
    try:
        wrap(lambda i: i.mean())(i)
    except RuntimeError:
        return "integer mean raises", wrap(f)(a, b, u, h, i)
got = agree("numbers", numbers, 0)
assert got[0] == "integer mean raises" and got[1][4].tolist() == [inf, 600] and got[1][3].item() == 0.0 and got[1][8].isnan()


# ---- one mask: dropout computed again, by the partition and by checkpoint ----
def mask_again(wrap):
    torch.manual_seed(3)
    x = torch.ones(4000, requires_grad=True)
    y = wrap(lambda x: F.dropout(x.exp() * x, 0.5).sin())(x)
    y.sum().backward()
    return bool(((y == 0) == (x.grad == 0)).all())
assert agree("dropout", mask_again)


def mask_of_checkpoint(wrap):
    torch.manual_seed(3)
    x = torch.ones(4000, requires_grad=True)
    y = wrap(lambda x: checkpoint(lambda x: F.dropout(x * 2, 0.5).exp(), x, use_reentrant=False))(x)
    y.sum().backward()
    return bool(((y == 1) == (x.grad == 0)).all())
assert agree("dropout under checkpoint", mask_of_checkpoint)


# ---- what is cut off, and what changes on the way ----
def cut_off(wrap):
    def f(x):
        i = (x > 1).to(torch.int64)
        with torch.no_grad():
            m = x * 5
        d = x.detach() * x
        n = torch.zeros(2, dtype=x.dtype).requires_grad_()
        return x * i + m + d + n, x.argmax(), i.bool()
    x = leaf(0.5, 2.0)
    y, place, flags = wrap(f)(x)
    y.sum().backward()
    return x.grad, place, flags, y.requires_grad, place.requires_grad
agree("cut off", cut_off)


def aliases(wrap):
    def f(x, b):
        y = x * 2
        return x, x.view(-1), y, y[0], b, b.t()
    x, b = torch.ones(2, 2, requires_grad=True), torch.ones(2, 3)
    same_x, flat, y, row, same_b, turned = wrap(f)(x, b)
    with torch.no_grad():
        row.add_(5)
        turned.mul_(3)
    return same_x is x, flat.data_ptr() == x.data_ptr(), y, same_b is b, b
agree("aliases", aliases)


def bits(wrap):
    x = torch.tensor([1.0, -2.0])
    y = wrap(lambda x: x.view(torch.int32))(x)
    y.bitwise_and_(0x7fffffff)
    return x, y.dtype
assert agree("a view of another dtype", bits)[0].tolist() == [1, 2]


# ---- the tape around a graph ----
def around(wrap):
    net = nn.Linear(3, 2).double()
    with torch.no_grad():
        net.weight.fill_(0.5)
        net.bias.zero_()
    seen, x = [], leaf(1.0, 2.0, 3.0)
    f = wrap(lambda x: net(x * x))
    y = f(x)
    y.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(g.clone()))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    z = f(x)
    first, none = torch.autograd.grad(z.sum(), (x, leaf(1.0)), allow_unused=True)
    return seen, x.grad, net.weight.grad, norm, first, none
agree("hooks, accumulation, retain_graph, clipping, allow_unused", around)


def twice(wrap):
    x = leaf(1.0, 2.0, 3.0)
    y = wrap(lambda x: F.layer_norm(x * x, (3,)).softmax(0) * x)(x)
    g, = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
    g.sum().backward()
    return g.detach(), x.grad
agree("double backward", twice)


class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g.clamp(max=0.5) * 2


def custom(wrap):
    x = leaf(1.0, 2.0)
    y = wrap(lambda x: Clipped.apply(x * 3) ** 2)(x)
    y.sum().backward()
    return y, x.grad
agree("a Function of the program's own", custom)


# ---- autocast, 16-bit numbers on the CPU ----
def mixed(wrap):
    w, x = torch.full((4, 4), 0.25, requires_grad=True), torch.linspace(-1, 1, 8).reshape(2, 4)
    def f(x, w):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ w
            return y, F.softmax(y, -1), y.float() * 2
    y, s, z = wrap(f)(x, w)
    (s.float().pow(2).sum() + z.sum()).backward()
    return y.dtype, s.dtype, z.dtype, s.float(), w.grad
agree("autocast", mixed, 1e-2)

for dtype in (torch.bfloat16, torch.float16):
    def narrow(wrap):
        x = torch.linspace(-2, 2, 24).to(dtype).reshape(4, 6).requires_grad_()
        kernel = torch.linspace(-1, 1, 24).to(dtype).reshape(2, 4, 3)
        y = wrap(lambda x: F.gelu(F.layer_norm(x, (6,))) @ x.t() + F.conv1d(x.unsqueeze(0), kernel).sum())(x)
        y.float().sum().backward()
        return y.detach(), x.grad
    agree("16 bits", narrow, 5e-2)
print("ok")
