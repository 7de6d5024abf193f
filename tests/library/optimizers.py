# Optimizers against their rules in Python numbers, schedulers against their formulas, and the loader of data.
import math
import torch
import torch.nn as nn
from torch.optim import lr_scheduler as schedules
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset, random_split

STEPS = 6


def trained(make, **options):
    """One parameter of one element; the gradient of step i is p * 0.5 + i - 2."""
    p = nn.Parameter(torch.tensor([1.5], dtype=torch.float64))
    optimizer = make([p], **options)
    for i in range(STEPS):
        optimizer.zero_grad()
        (0.25 * p * p + (i - 2) * p).sum().backward()
        optimizer.step()
    return p.item()


def slope(p, i):
    return 0.5 * p + i - 2


def near(got, want, what):
    assert abs(got - want) < 1e-9, (what, got, want)


def sgd(lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    p, buffer = 1.5, None
    for i in range(STEPS):
        g = -slope(p, i) if maximize else slope(p, i)
        g += weight_decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p -= lr * g
    return p


for options in [dict(lr=0.1), dict(lr=0.1, momentum=0.9), dict(lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.1),
                dict(lr=0.05, momentum=0.8, nesterov=True), dict(lr=0.1, maximize=True)]:
    near(trained(torch.optim.SGD, **options), sgd(**options), options)


def adam(lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, decoupled=False):
    p, m, v, top = 1.5, 0.0, 0.0, 0.0
    for i in range(STEPS):
        g = slope(p, i)
        if decoupled:
            p *= 1 - lr * weight_decay
        else:
            g += weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        top = max(top, v)
        root = math.sqrt(top if amsgrad else v) / math.sqrt(1 - betas[1] ** (i + 1)) + eps
        p -= lr / (1 - betas[0] ** (i + 1)) * m / root
    return p


near(trained(torch.optim.Adam, lr=0.1), adam(0.1), "Adam")
near(trained(torch.optim.Adam, lr=0.1, weight_decay=0.1, amsgrad=True), adam(0.1, weight_decay=0.1, amsgrad=True), "amsgrad")
near(trained(torch.optim.AdamW, lr=0.1), adam(0.1, weight_decay=0.01, decoupled=True), "AdamW")
near(trained(torch.optim.AdamW, lr=0.1, betas=(0.5, 0.9), weight_decay=0.2), adam(0.1, (0.5, 0.9), weight_decay=0.2, decoupled=True), "AdamW")


def rmsprop(lr, alpha=0.99, momentum=0.0, centered=False):
    p, square, mean, buffer = 1.5, 0.0, 0.0, 0.0
    for i in range(STEPS):
        g = slope(p, i)
        square = alpha * square + (1 - alpha) * g * g
        mean = alpha * mean + (1 - alpha) * g
        average = math.sqrt(square - mean * mean if centered else square) + 1e-8
        buffer = momentum * buffer + g / average
        p -= lr * (buffer if momentum else g / average)
    return p


near(trained(torch.optim.RMSprop, lr=0.01), rmsprop(0.01), "RMSprop")
near(trained(torch.optim.RMSprop, lr=0.01, momentum=0.9, centered=True, alpha=0.9), rmsprop(0.01, 0.9, 0.9, True), "RMSprop, centered")


def adagrad(lr, lr_decay):
    p, total = 1.5, 0.0
    for i in range(STEPS):
        g = slope(p, i)
        total += g * g
        p -= lr / (1 + i * lr_decay) * g / (math.sqrt(total) + 1e-10)
    return p


near(trained(torch.optim.Adagrad, lr=0.1, lr_decay=0.1), adagrad(0.1, 0.1), "Adagrad")
for kind in [torch.optim.Adadelta, torch.optim.Adamax, torch.optim.NAdam, torch.optim.RAdam]:
    assert trained(kind) != 1.5


# A quadratic is minimized in a few steps.
p = nn.Parameter(torch.tensor([3.0, -2.0], dtype=torch.float64))
newton = torch.optim.LBFGS([p], max_iter=30)


def quadratic():
    newton.zero_grad()
    loss = (p * torch.tensor([1.0, 10.0]) * p).sum() + p.sum()
    loss.backward()
    return loss


newton.step(quadratic)
assert abs(p[0].item() + 0.5) < 1e-4 and abs(p[1].item() + 0.05) < 1e-4, p


# groups, state, closures, errors
def refuses(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


refuses(ValueError, lambda: torch.optim.SGD([], lr=0.1))
refuses(ValueError, lambda: torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=-1))
refuses(ValueError, lambda: torch.optim.Adam(nn.Linear(1, 1).parameters(), betas=(1.0, 0.9)))
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD([{"params": [net.weight], "lr": 0.5}, {"params": [net.bias]}], lr=0.1, momentum=0.9)
assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.1]
loss = optimizer.step(lambda: net(torch.ones(1, 2)).sum())
assert loss.requires_grad and net.weight.grad is None
net(torch.ones(1, 2)).sum().backward()
optimizer.step()
saved = optimizer.state_dict()
assert saved["param_groups"][1]["params"] == [1] and saved["state"][0]["momentum_buffer"].tolist() == [[1.0, 1.0]]
again = torch.optim.SGD([{"params": [net.weight]}, {"params": [net.bias]}], lr=3.0)
again.load_state_dict(saved)
assert again.param_groups[0]["lr"] == 0.5 and again.state[net.bias]["momentum_buffer"].tolist() == [1.0]
assert repr(torch.optim.SGD(net.parameters(), lr=0.1)).startswith("SGD (\nParameter Group 0\n    dampening: 0\n")


# schedulers
def rates(make, count=8, **options):
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0, **options)
    scheduler = make(optimizer)
    found = []
    for _ in range(count):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def follows(make, formula, **options):
    for epoch, rate in enumerate(rates(make, **options)):
        assert abs(rate - formula(epoch)) < 1e-9, (epoch, rate, formula(epoch))


follows(lambda o: schedules.StepLR(o, 3, 0.5), lambda e: 0.5 ** (e // 3))
follows(lambda o: schedules.MultiStepLR(o, [2, 5], 0.1), lambda e: 0.1 ** ((e >= 2) + (e >= 5)))
follows(lambda o: schedules.ExponentialLR(o, 0.9), lambda e: 0.9 ** e)
follows(lambda o: schedules.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: 1 / (1 + e))
follows(lambda o: schedules.LinearLR(o, 0.2, total_iters=4), lambda e: 0.2 + 0.8 * min(e, 4) / 4)
follows(lambda o: schedules.ConstantLR(o, 0.25, 3), lambda e: 0.25 if e < 3 else 1.0)
follows(lambda o: schedules.PolynomialLR(o, 6, 2.0), lambda e: (1 - min(e, 6) / 6) ** 2)
follows(lambda o: schedules.CosineAnnealingLR(o, 5, 0.1), lambda e: 0.1 + 0.9 * (1 + math.cos(math.pi * e / 5)) / 2)
follows(lambda o: schedules.CosineAnnealingWarmRestarts(o, 3), lambda e: (1 + math.cos(math.pi * (e % 3) / 3)) / 2)
follows(lambda o: schedules.SequentialLR(o, [schedules.ConstantLR(o, 0.1, 10), schedules.ExponentialLR(o, 0.9)], [3]), lambda e: 0.1 if e < 3 else 0.9 ** (e - 3))
follows(lambda o: schedules.ChainedScheduler([schedules.ExponentialLR(o, 0.9), schedules.StepLR(o, 2, 0.5)]), lambda e: 0.9 ** e * 0.5 ** (e // 2))
cycle = rates(lambda o: schedules.OneCycleLR(o, max_lr=2.0, total_steps=10), 10, momentum=0.9)
assert abs(cycle[0] - 0.08) < 1e-9 and abs(cycle[2] - 2.0) < 1e-9 and abs(cycle[9] - 0.08 / 1e4) < 1e-9
optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
plateau = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
found = []
for measure in [3.0, 2.0, 2.0, 2.0, 2.0, 1.0]:
    plateau.step(measure)
    found.append(optimizer.param_groups[0]["lr"])
assert found == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5], found

# data
data = TensorDataset(torch.arange(10), torch.arange(10.0) * 2)
batches = [b for b in DataLoader(data, batch_size=4)]
assert [len(b[0]) for b in batches] == [4, 4, 2] and batches[1][0].tolist() == [4, 5, 6, 7] and batches[2][1].tolist() == [16.0, 18.0]
assert len(DataLoader(data, batch_size=4, drop_last=True)) == 2
mixed = [v for b in DataLoader(data, batch_size=3, shuffle=True) for v in b[0].tolist()]
assert sorted(mixed) == list(range(10))
parts = random_split(data, [0.7, 0.3])
assert [len(part) for part in parts] == [7, 3]
assert len(ConcatDataset([data, Subset(data, [0, 1])])) == 12
record = next(iter(DataLoader([{"a": 1, "b": 2.0}, {"a": 3, "b": 4.0}], batch_size=2)))
assert record["a"].tolist() == [1, 3] and record["b"].dtype == torch.float64
print("ok")
