# Hooks, backward and optimizer steps inside compiled functions: the same gradients as eager, with what the hooks saw.
import torch
import torch._dynamo

seen = []


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def scaled(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)
    return (y * y).sum()


def seen_but_not_changed(x):
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    return (y * y).sum()


def two_hooks(x):
    y = x + 1
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: g * 3)
    return (y * x).sum()


def used_before(x):
    y = x * 2
    z = y * y
    y.register_hook(lambda g: g * 10)
    return (z + y).sum()


def hook_on_input(x):
    x.register_hook(lambda g: g * 7)
    return (x * x).sum()


def hook_removed(x):
    y = x * 2
    handle = y.register_hook(lambda g: g * 10)
    handle.remove()
    return (y * y).sum()


def hook_with_a_cell(x, k=3.0):
    y = x * k

    def hook(g):
        return g * k
    y.register_hook(hook)
    return y.sum()


def printing_hook(x):
    y = x * 2
    y.register_hook(lambda g: print("gradient", g.tolist()))
    return y.sum()


def hook_then_changed(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.add_(1)
    return (y * y).sum()


def run(f):
    seen.clear()
    x = leaf(0.0, 1.0, 2.0)
    outcome = []
    for _ in range(2):
        f(x).backward()
        outcome.append(x.grad.tolist())
    return outcome, list(seen)


for f in (scaled, seen_but_not_changed, two_hooks, used_before, hook_on_input, hook_removed, hook_with_a_cell, printing_hook, hook_then_changed):
    torch._dynamo.reset()
    want, got = run(f), run(torch.compile(f))
    assert want == got, (f.__name__, want, got)


def backward_inside(x):
    y = (x * x).sum()
    y.backward()
    return x.grad + 1


def grad_inside(x):
    y = (x * x * x).sum()
    d, = torch.autograd.grad(y, [x])
    return d * 2


for f in (backward_inside, grad_inside):
    compiled = torch.compile(f)
    for _ in range(2):
        assert f(leaf(1.0, 2.0)).tolist() == compiled(leaf(1.0, 2.0)).tolist()


class Loud(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        seen.append("forward")
        return x * 2

    @staticmethod
    def backward(ctx, g):
        seen.append("backward")
        return g * 3


def custom(x):
    y = x + 1
    return (Loud.apply(y) * 2).sum()


assert run(custom) == run(torch.compile(custom))


def train(make, compiled, steps=4):
    torch.manual_seed(0)
    w, b = leaf(1.0, -2.0), leaf(0.5)
    opt = make([w, b])

    def step(x, y):
        opt.zero_grad()
        loss = (((x * w).sum(-1) + b - y) ** 2).mean()
        loss.backward()
        opt.step()
        return loss

    f = torch.compile(step) if compiled == "all" else step
    if compiled == "step":
        inner = torch.compile(lambda: opt.step())

        def f(x, y):
            opt.zero_grad()
            loss = (((x * w).sum(-1) + b - y) ** 2).mean()
            loss.backward()
            inner()
            return loss
    x, y = torch.tensor([[1.0, 2.0], [0.5, -1.0]]), torch.tensor([1.0, 0.0])
    losses = [f(x, y).item() for _ in range(steps)]
    return losses + w.tolist() + b.tolist()


makers = [lambda p: torch.optim.SGD(p, lr=0.1), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01), lambda p: torch.optim.Adam(p, lr=0.1),
          lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True), lambda p: torch.optim.RMSprop(p, lr=0.05, momentum=0.5), lambda p: torch.optim.Adagrad(p, lr=0.1)]
for make in makers:
    want = train(make, "")
    for how in ("all", "step"):
        torch._dynamo.reset()
        got = train(make, how)
        assert all(abs(a - b) <= 1e-5 * (1 + abs(a)) for a, b in zip(want, got)), (how, want, got)
print("ok")
