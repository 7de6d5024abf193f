# AOTAutograd's edges: inputs changed in place, views and aliases, detach, regions without gradients, and traps of gradients through compiled code.
# Each program is run eagerly and compiled: the same values, flags and gradients, or the same refusal.
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

leaves = []


def leaf(*sizes):
    count = 1
    for size in sizes:
        count *= size
    t = torch.linspace(0.5, 2, count).reshape(sizes).requires_grad_()
    leaves.append(t)
    return t


def play(f, make):
    leaves.clear()
    inputs = make()
    try:
        outputs = f(*inputs)
        outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        parts = [(t * torch.arange(1.0, t.numel() + 1).reshape(t.shape)).sum() for t in outputs + [i for i in inputs if not i.is_leaf] if t.requires_grad]
        everything = outputs + list(inputs)
        result = [[t.detach().clone() for t in everything], [t.requires_grad for t in everything], [t.is_leaf for t in inputs]]
        if parts:
            sum(parts).backward()
    except RuntimeError as error:
        return "raises", str(error)[:30]
    return result + [[t.grad for t in leaves]]


def same(a, b):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.allclose(a.float(), b.float(), equal_nan=True)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b


def check(name, f, make):
    want, got = play(f, make), play(torch.compile(f), make)
    assert same(want, got), (name, want, got)


def changes_input(x):
    x.mul_(2)
    return (x * x).sum()


check("a result of other ops", changes_input, lambda: (leaf(3) * 1,))
check("a leaf is refused", changes_input, lambda: (leaf(3),))
check("a view of a result", changes_input, lambda: ((leaf(3, 2) * 1)[1],))
check("a transposed view of a result", changes_input, lambda: ((leaf(3, 2) * 1).t(),))
once = torch.compile(changes_input)
once(leaf(3) * 1)
try:
    once(leaf(3))
    assert False, "the entry for results serves no leaf"
except RuntimeError as error:
    assert "leaf Variable that requires grad" in str(error)


def no_grad_change(x):
    with torch.no_grad():
        x.mul_(2)
    return (x * x).sum()


check("a leaf under no_grad", no_grad_change, lambda: (leaf(3),))
check("a result under no_grad", no_grad_change, lambda: (leaf(3) * 1,))


def buffer_gets_gradient(buffer, w):
    buffer.mul_(w)
    return buffer.sum()


check("a buffer that needs no gradient gets one", buffer_gets_gradient, lambda: (torch.ones(3), leaf(3)))


def returned(x):
    x.add_(1)
    return x, x[1:], x * 2


check("the changed input and views of it are returned", returned, lambda: (leaf(3) * 1,))


def through_views(x):
    x.view(-1)[0] = 5.0
    x.t().mul_(2)
    x[0].mul_(3)
    return x * 3


check("through views", through_views, lambda: (leaf(2, 2) * 1,))


def several_changed(x, y):
    x.add_(y)
    y.mul_(x)
    return x * y


check("two inputs changed", several_changed, lambda: (leaf(3) * 1, leaf(3) * 2))
check("relu in place", lambda x: F.relu(x, inplace=True), lambda: (leaf(3) - 1,))


def one_of_unbind(x):
    a, b = x.unbind(0)
    a.mul_(b)
    return x.sum()


def one_of_split(x, w):
    y = x.clone()
    a, b = y.split(2, dim=1)
    b.add_(a * 2)
    return y * w


def each_chunk(x, w):
    for i, piece in enumerate(x.chunk(3)):
        piece.mul_(i + 1)
    return x * w


def refused_piece(x):
    y = x * 2
    y.unbind(0)[0].mul_(3)
    return y


check("unbind", one_of_unbind, lambda: (torch.arange(6.0).reshape(2, 3),))
check("split", one_of_split, lambda: (torch.arange(8.0).reshape(2, 4), leaf(2, 4)))
check("chunk", each_chunk, lambda: (torch.arange(7.0), leaf(7)))
check("a piece on the tape is refused", refused_piece, lambda: (leaf(2, 3),))
check("a view of a piece, too", lambda x: (x * 2).unbind(0)[0].view(-1).mul_(3), lambda: (leaf(2, 3),))


def detached_change(x):
    x.detach().mul_(3)
    return x * 2


check("through detach", detached_change, lambda: (leaf(3) * 1,))


def new_leaf(x):
    y = x.detach()
    y.requires_grad_()
    return (y * y).sum(), y


check("requires_grad_ inside", new_leaf, lambda: (torch.ones(3),))
check("requires_grad_ of an input", lambda x: x.requires_grad_() * x, lambda: (torch.ones(3),))
check("twice the same", lambda x: (x, x), lambda: (leaf(3),))
check("an intermediate twice, viewed, detached", lambda x: [y := x * 2, y, y.view(3, 1), y.detach()], lambda: (leaf(3),))
check("integers are cut off", lambda x, i: (x[i], i + 1, x.argmax(), x.long()), lambda: (leaf(3), torch.tensor([0, 2, 2])))
check("checkpoint", lambda x: checkpoint(lambda t: torch.sin(t) * t, x, use_reentrant=False) * x, lambda: (leaf(3),))
check("expanded outputs", lambda x, y: (x.expand(2, 3), (y * 2).expand(4, 3)), lambda: (leaf(3), leaf(3)))


def hooked(x):
    y = x * 3
    y.register_hook(lambda g: g * 10)
    return y * y


check("a hook inside", hooked, lambda: (leaf(3),))


def view_then_gradient(a, c):
    v = c + 1
    w = v.unsqueeze(0)
    v.mul_(a)
    return w


check("a view made before its base wants a gradient", view_then_gradient, lambda: (leaf(3), torch.ones(3)))

# ---- traps ----


def race(x):
    y = x * 1
    y[1:] = y[1:] + y[:-1]
    return y


def held(x):
    y = x * 2
    kept = [y]
    y.add_(1)
    return kept[0] * x, y


def duplicates(x, i):
    return torch.zeros(3).scatter_add(0, i, x), torch.zeros(3).index_add(0, i, x), torch.zeros(3).index_put((i,), x, accumulate=True)


check("shifted sum into itself", race, lambda: (leaf(5),))
check("a list holds what is changed later", held, lambda: (leaf(3),))
check("duplicate indices", duplicates, lambda: (leaf(3), torch.tensor([1, 1, 0])))
check("floor division of negative numbers", lambda x: (torch.tensor([-7, 7]) // 2, torch.tensor([-7, 7]) % -3, -7 // 2 * x), lambda: (leaf(3),))
check("log of zero behind where", lambda x: torch.where(x > 0.7, x.log(), 0.0), lambda: (torch.relu(leaf(3) - 0.5),))

two = torch.compile(lambda x: (x.sqrt(), x * 2))
x = torch.zeros(3, requires_grad=True)
two(x)[1].sum().backward()
assert x.grad.tolist() == [2, 2, 2], "the unused output's infinite slope meets no zero"

x, y = leaf(3), leaf(3)
torch.compile(lambda x, y: x + y)(x, y).sum().backward()
x.grad.mul_(5)
assert y.grad.tolist() == [1, 1, 1], "each gradient is a tensor of its own"


def saved(x):
    return (x * 2).sin() * x


for f in (saved, torch.compile(saved)):
    x = leaf(3) * 1
    out = f(x)
    with torch.no_grad():
        x.mul_(3)
    try:
        out.sum().backward()
        assert False, "a saved input was changed"
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)

f = torch.compile(lambda x, y: x * 2)
x, y = leaf(3), leaf(3)
assert torch.autograd.grad(f(x, y).sum(), (x, y), allow_unused=True)[1] is None
f = torch.compile(lambda x: (x * x).sum())
x = leaf(3)
out = f(x)
out.backward(retain_graph=True)
out.backward()
f(x).backward()
assert torch.allclose(x.grad, 6 * x)
try:
    out.backward()
    assert False, "freed"
except RuntimeError as error:
    assert "a second time" in str(error)

# In eager work: a view of a view was written to.
x = leaf(2, 4)
b = x * 1.5
a = b[1]
a.view(4).mul_(0.5)
assert torch.autograd.grad(a.sum(), x)[0].tolist() == [[0] * 4, [0.75] * 4]

# ---- inputs that share memory ----


def adds(target, source):
    target.mul_(2.0)
    return source + target


compiled = torch.compile(adds)


def base():
    return torch.arange(24.0).reshape(4, 6)


for first, second in ((slice(0, 2), slice(2, 4)), (slice(0, 3), slice(1, 4)), ((slice(None), slice(0, 3)), (slice(None), slice(3, 6))),
                      ((slice(None), slice(0, 4)), (slice(None), slice(2, 6))), ((slice(None), slice(0, None, 2)), (slice(None), slice(1, None, 2)))):
    s, t = base(), base()
    assert torch.equal(adds(s[first], s[second]), compiled(t[first], t[second])), (first, second)
    assert torch.equal(s, t)
for f in (adds, compiled):
    x = torch.arange(1.0, 9.0, requires_grad=True)
    b = x * 1
    (f(b[:4], b[4:]).sum() + (b * b).sum()).backward()
    assert x.grad.tolist() == [10, 18, 26, 34, 11, 13, 15, 17]

# ---- custom Functions: what they do outside happens at each call ----
calls = []


class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        calls.append("forward")
        ctx.factor = 3
        return x * 2

    @staticmethod
    def backward(ctx, g):
        calls.append("backward")
        return g * ctx.factor


x = torch.ones(2, requires_grad=True)
f = torch.compile(lambda x: Counted.apply(x).sum())
for i in range(3):
    f(x).backward()
assert calls == ["forward", "backward"] * 3 and x.grad.tolist() == [9, 9]
SCALE = 2


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * SCALE

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * SCALE * x


f = torch.compile(lambda x: Scaled.apply(x * 1).sum())
x = torch.ones(2, requires_grad=True)
f(x).backward()
SCALE = 5
assert f(x).item() == 10
f(x).backward()
assert x.grad.tolist() == [7, 7]

# ---- autocast reaches into what composites are made of ----
x, w = torch.linspace(-1, 1, 12).reshape(3, 4), torch.linspace(0, 1, 20).reshape(5, 4)
composites = [lambda: torch.inner(x, w), lambda: torch.linalg.multi_dot([x, w.t(), w]), lambda: F.normalize(x @ w.t()), lambda: F.cosine_similarity(x, x), lambda: torch.einsum("ij,kj->ik", x, w),
              lambda: torch.tensordot(x, w, dims=([1], [1])), lambda: F.cross_entropy(x @ w.t(), torch.tensor([0, 1, 2])), lambda: F.linear(x, w).relu()]
for i, body in enumerate(composites):
    def cast():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return body()
    torch._dynamo.reset()
    want, got = cast(), torch.compile(cast)()
    assert want.dtype == got.dtype and torch.allclose(want.float(), got.float(), atol=3e-2), i
    assert torch.compile(body)().dtype == torch.float32, i
layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
assert torch.allclose(layer(x[:, None]), torch.compile(layer)(x[:, None]), atol=1e-5), "attention without weights gives (tensor, None)"

# ---- an in-place op on a strided view keeps the value that its formula reads ----
def through_views(x, w):
    z = x * 2
    z[:, 0].mul_(w)
    z.t()[1:].div_(w)
    z[::2, 1].atan2_(w[::2])
    z.diagonal().sin_()
    return z.sin().sum()


x, w = torch.rand(3, 3) + 0.5, torch.rand(3) + 0.5
assert torch.autograd.gradcheck(through_views, [x.double().requires_grad_(), w.double().requires_grad_()])
both = []
for f in (through_views, torch.compile(through_views)):
    leaves = [x.clone().requires_grad_(), w.clone().requires_grad_()]
    both.append(torch.autograd.grad(f(*leaves), leaves))
assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*both)), both


# ---- gradcheck takes lists, looks at what has a gradient alone, and fails where it should ----
class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


wrong = torch.ones(2, dtype=torch.float64, requires_grad=True)
assert not torch.autograd.gradcheck(Tripled.apply, [wrong], raise_exception=False)
assert not torch.autograd.gradcheck(Tripled.apply, (wrong,), raise_exception=False)
assert torch.autograd.gradcheck(lambda x: [x > 0, x.detach(), x * 2], [wrong])
assert torch.autograd.gradcheck(lambda x: x.sin(), torch.zeros(0, 3, dtype=torch.float64, requires_grad=True))
assert torch.autograd.gradcheck(lambda x: x[5:].sin(), wrong) and torch.autograd.gradgradcheck(lambda x: [x.sin(), x > 0], [wrong])
try:
    torch.autograd.gradcheck(torch.sin, [wrong.detach()])
    raise AssertionError("nothing to check")
except ValueError as e:
    assert "at least one input tensor to require gradient" in str(e)
print("ok")
