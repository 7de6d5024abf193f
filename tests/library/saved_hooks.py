"""What the tape saves can be packed: saved_tensors_hooks, and checkpoints, which are made of them."""
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential

hooks = torch.autograd.graph.saved_tensors_hooks
torch.manual_seed(0)


def leaf(*sizes):
    return torch.randn(*sizes, dtype=torch.float64).requires_grad_()


# ---- hooks ----
log = []


def pack(t):
    log.append(("pack", tuple(t.shape), torch.is_grad_enabled()))
    return t.numel(), t * 2


def unpack(kept):
    log.append(("unpack", kept[0]))
    return kept[1] / 2


x, w = leaf(2, 3), leaf(3)
with hooks(pack, unpack):
    y = (x * w).exp()
assert sorted(log) == [("pack", (2, 3), False), ("pack", (2, 3), False), ("pack", (3,), False)], log
(y * 1).sum().backward()
assert sorted(log[3:]) == [("unpack", 3), ("unpack", 6), ("unpack", 6)], log
assert torch.allclose(x.grad, w * torch.exp(x * w)) and torch.allclose(w.grad, (x * torch.exp(x * w)).sum(0))
with hooks(lambda t: t + 1, lambda t: t):
    z = x.sin().tanh()
assert not torch.allclose(torch.autograd.grad(z.sum(), x)[0], torch.autograd.grad(x.sin().tanh().sum(), x)[0]), "what unpack gives is what counts"
with hooks(lambda t: t, lambda t: t), torch.autograd.graph.save_on_cpu():
    z = (x.sin() * w).exp()
first, = torch.autograd.grad(z.sum(), x, create_graph=True)
second = torch.autograd.grad(first.pow(2).sum(), [x, w])
first, = torch.autograd.grad((x.sin() * w).exp().sum(), x, create_graph=True)
assert all(torch.allclose(a, b) for a, b in zip(second, torch.autograd.grad(first.pow(2).sum(), [x, w]))), "second derivatives go through what was packed"
with hooks(lambda t: t, lambda t: 3):
    z = x.sin()
for kind, call in ((TypeError, lambda: z.sum().backward()), (ZeroDivisionError, lambda: refusing())):
    def refusing():
        with hooks(lambda t: 1 / 0, lambda t: t):
            return x.sin()
    try:
        call()
        raise AssertionError("an error was expected")
    except kind:
        pass
torch.autograd.grad(x.sin().sum(), x)  # the pair that raised is not entered any more


# ---- checkpoints ----
def gradients(function, leaves, **options):
    for t in leaves:
        t.grad = None
    return torch.autograd.grad(function(), leaves, **options)


def same(a, b):
    return all((x is None) == (y is None) and (x is None or torch.allclose(x, y)) for x, y in zip(a, b))


x, w, v = leaf(3, 3), leaf(3, 3), leaf(3)


def plain(f, *args, **rest):
    return f(*args, **rest)


def saved_again(f, *args, **rest):
    return checkpoint(f, *args, use_reentrant=False, **rest)


def closes_over(run):
    shared = w * w  # not a leaf, and read by two regions
    y = run(lambda a: (a @ shared).tanh(), x)
    return run(lambda a, scale: (a @ shared).sin() * v * scale, y, scale=2.0).sum()


def nested(run):
    return run(lambda a: run(lambda b: (b @ w).sigmoid() * b, a).exp() * v, x).sum()


def several(run):
    a, (b, flag) = run(lambda t: (t.sin(), (t.max(1)[0] * v, t > 0)), x)
    return (a * b).sum()


def changed_inside(run):
    return run(lambda t: (t * w).add_(1).mul_(v).sin(), x).sum()


for function in (closes_over, nested, several, changed_inside):
    want = gradients(lambda: function(plain), [x, w, v], allow_unused=True)
    assert same(gradients(lambda: function(saved_again), [x, w, v], allow_unused=True), want), function
    assert same(gradients(lambda: torch.compile(function)(saved_again), [x, w, v], allow_unused=True), want), function
    want_second = gradients(lambda: sum(g.pow(2).sum() for g in gradients(lambda: function(plain), [x, v], create_graph=True)), [x, w, v], allow_unused=True)
    found = gradients(lambda: sum(g.pow(2).sum() for g in gradients(lambda: function(saved_again), [x, v], create_graph=True)), [x, w, v], allow_unused=True)
    assert same(found, want_second), function

gradients(lambda: closes_over(saved_again), [x])
assert w.grad is None and v.grad is None, "grad() stores nothing in leaves that it was not asked about"
runs = []
y = saved_again(lambda t: (runs.append(1), (t * w).sin())[1], x).sum()
y.backward(retain_graph=True)
y.backward()
assert len(runs) == 3, "each backward computes again"
layer = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(3, 3)).double()
results = []
for run in (plain, saved_again):
    torch.manual_seed(5)
    results.append(torch.autograd.grad(run(layer, x).sum(), [x, *layer.parameters()]))
assert same(*results), "the same mask"
results = []
for run in (plain, saved_again):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = run(lambda t: F.linear(t, w.float()).float().sin(), x.float()).sum()
    results.append(torch.autograd.grad(out, [x, w]))
assert same(*results), "autocast as it was in forward"
assert same(gradients(lambda: checkpoint_sequential([torch.sin, torch.tanh, torch.exp], 2, x, use_reentrant=False).sum(), [x]), gradients(lambda: x.sin().tanh().exp().sum(), [x]))
calls = []


def unsteady(t):
    calls.append(1)
    return t.sin() if len(calls) > 1 else t.sin().exp()


changed = x * 1
late = saved_again(torch.sin, changed).sum()
changed.add_(1)
for kind, words, call in ((CheckpointError, "different number of tensors", lambda: saved_again(unsteady, x).sum().backward()), (RuntimeError, "modified by an inplace operation", lambda: late.backward())):
    try:
        call()
        raise AssertionError(words)
    except kind as e:
        assert words in str(e), e
with torch.no_grad():
    assert not saved_again(torch.sin, x).requires_grad
print("ok")
