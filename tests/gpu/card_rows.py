# Rows that a card makes of others (torch/card.py), beside the CPU's.
import torch

torch.manual_seed(0)
x = torch.randn(40, 50)
long, ties = torch.randn(3, 20000), torch.randint(0, 50, (30000,))


def same(name, f, *args):
    want, got = f(*args), f(*[a.cuda() for a in args])
    want, got = (want, got) if isinstance(want, tuple) else ((want,), (got,))
    for a, b in zip(want, got):
        assert b.device.type == "cuda" and a.dtype == b.dtype and torch.equal(a, b.cpu()), (name, a, b)


def assigned(x):
    y = x.clone()
    y[x > 1] = 7
    y[:, 3][x[:, 3] < 0] += 1
    return y


same("nonzero", torch.nonzero, x > 1)
same("mask", lambda x: x[x > 1], x)
same("mask and place", lambda x: x[:, (x > 1).any(0)], x)
same("assigned", assigned, x)
same("masked_select", lambda x: torch.masked_select(x, x > 0), x)
same("masked_scatter", lambda x: x.masked_scatter(x > 0, x * 2), x)
for dim in (0, 1):
    for descending in (False, True):
        same("sort", lambda x: tuple(torch.sort(x, dim=dim, descending=descending, stable=True)), x)
for descending in (False, True):
    same("long sort", lambda x: tuple(torch.sort(x, dim=-1, descending=descending, stable=True)), long)
    same("long sort of integers", lambda x: tuple(torch.sort(x, dim=0, descending=descending, stable=True)), ties)
    same("long topk", lambda x: tuple(x.topk(5, -1, descending)), long)
    same("long sort of doubles", lambda x: tuple(torch.sort(x, dim=-1, descending=descending, stable=True)), long.double().round())
same("median", lambda x: x.median(), x)
same("median dim", lambda x: x.median(1)[0], x)
same("kthvalue", lambda x: x.kthvalue(7, 1)[0], x)
same("unique", lambda x: torch.unique(x, return_inverse=True, return_counts=True), ties)
same("bincount", torch.bincount, ties)
same("searchsorted", lambda x: torch.searchsorted(x[0].sort()[0], x), x)
same("searchsorted lines", lambda x: torch.searchsorted(x.sort(1)[0], x, right=True), x)
same("scatter_reduce", lambda x: torch.zeros(40, 50, device=x.device).scatter_reduce(0, (x > 0).long(), x.round(), "sum"), x)
same("mv", lambda x: (x.round() @ x[0].round()), x)
assert sorted(torch.randperm(20000, device="cuda").tolist()) == list(range(20000))
drawn = torch.multinomial(torch.tensor([0.0, 1.0, 3.0], device="cuda"), 4000, True)
assert 0.2 < (drawn == 1).float().mean().item() < 0.3 and drawn.min().item() == 1
y = x.cuda().requires_grad_()
y[y > 1].sum().backward()
assert torch.equal(y.grad.cpu(), (x > 1).float())
f = torch.compile(lambda x, b: (torch.searchsorted(b, x), torch.sort(x, dim=-1, stable=True)[0]))
got = f(long.cuda(), x[0].sort()[0].cuda())
assert torch.equal(got[0].cpu(), torch.searchsorted(x[0].sort()[0], long)) and torch.equal(got[1].cpu(), long.sort(-1)[0])
print("ok")
