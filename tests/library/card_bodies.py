# What a card makes of other rows (torch/card.py), run on the CPU beside the rows themselves.
import torch
import torch.card as card

torch.manual_seed(0)
nan, inf = float("nan"), float("inf")


def same(name, want, got):
    if isinstance(want, tuple):
        assert len(want) == len(got), (name, want, got)
        for a, b in zip(want, got):
            same(name, a, b)
        return
    assert want.dtype == got.dtype and want.shape == got.shape and torch.equal(torch.nan_to_num(want, 7.5), torch.nan_to_num(got, 7.5)), (name, want, got)


def inputs():
    yield torch.randn(5, 7)
    yield torch.randn(40)
    yield torch.randn(3, 40).t()
    yield torch.tensor([1.0, nan, -inf, 0.0, -0.0, inf, nan, 2.0, 1.0, -0.0])
    yield torch.randn(2, 3, 21, dtype=torch.float64).round()
    yield torch.randint(-4, 5, (4, 33))
    yield torch.randint(0, 9, (50,), dtype=torch.uint8)
    yield (torch.randn(6, 17) * 2).round().to(torch.bfloat16)
    yield torch.tensor([[9223372036854775807, 5, -9223372036854775807 - 1, 9223372036854775807, 0, 5, 5, -1, 9223372036854775807]])


# Masks
for x in inputs():
    for y in (x, x > 0, x[:0]):
        same("nonzero", torch.nonzero(y), card.nonzero(y))
        assert card.nonzero(y).stride() == torch.nonzero(y).stride() or y.numel() == 0
    same("masked_select", torch.masked_select(x, x > 0), card.masked_select(x, x > 0))
    source = torch.arange(x.numel()).to(x.dtype)
    same("masked_scatter", x.masked_scatter(x > 0, source), card.masked_scatter(x, x > 0, source))
same("nonzero", torch.nonzero(torch.tensor(3)), card.nonzero(torch.tensor(3)))
x = torch.randn(4, 6)
same("masked_select", torch.masked_select(x, x[:, :1] > 0), card.masked_select(x, x[:, :1] > 0))

# Order: lines of 4, so that everything is merged
card.LINE = 4
for x in inputs():
    for dim in range(-x.dim(), x.dim()):
        for descending in (False, True):
            want = torch.sort(x, dim=dim, descending=descending, stable=True)
            same("sort", tuple(want), card.sort(x, dim, descending, stable=True) if x.shape[dim] > 4 else tuple(want))
            if x.shape[dim] > 4 and x.dtype != torch.bool:
                got = card.topk(x, 3, dim, descending)
                same("topk", (want[0].narrow(dim, 0, 3), want[1].narrow(dim, 0, 3)), got)
        for keepdim in (False, True):
            same("median", x.median(dim, keepdim)[0], card.median(x, dim, keepdim)[0])
            k = (x.shape[dim] + 1) // 2
            same("kthvalue", x.kthvalue(k, dim, keepdim)[0], card.kthvalue(x, k, dim, keepdim)[0])
            values, indices = card.median(x, dim, True)
            same("median's place", values, x.gather(dim, indices))
    same("median", x.median(), card.median(x))
    for inverse in (False, True):
        for counts in (False, True):
            want = torch.unique(x, return_inverse=inverse, return_counts=counts)
            same("unique", want, card.unique(x, True, inverse, counts))
assert card.sort(torch.randn(4)) is NotImplemented
card.LINE = 8192

# Counting and scattering
x = torch.randint(0, 20, (60,))
for weights in (None, torch.rand(60), torch.rand(60, dtype=torch.float64), torch.randint(0, 5, (60,))):
    for least in (0, 30):
        want, got = torch.bincount(x, weights, least), card.bincount(x, weights, least)
        assert want.dtype == got.dtype and torch.allclose(want, got), (want, got)
index = torch.randint(0, 5, (7, 6))
for reduce in ("sum", "mean"):
    for include in (True, False):
        a, b = torch.randint(-9, 9, (5, 6)).float(), torch.randint(-9, 9, (7, 6)).float()
        same(reduce, a.scatter_reduce(0, index, b, reduce, include_self=include), card.scatter_reduce(a, 0, index, b, reduce, include_self=include))
        a, b = a.long(), b.long()
        same(reduce, a.scatter_reduce(0, index, b, reduce, include_self=include), card.scatter_reduce(a, 0, index, b, reduce, include_self=include))

# Random
assert card.randperm(50, device="cpu").sort()[0].tolist() == list(range(50))
p = torch.tensor([[0.0, 1.0, 3.0], [2.0, 0.0, 0.0]])
drawn = card.multinomial(p, 4000, True)
assert drawn.shape == (2, 4000) and drawn[1].max() == 0 and 0.2 < (drawn[0] == 1).float().mean() < 0.3 and drawn[0].min() == 1
assert sorted(card.multinomial(torch.rand(6) + 0.1, 6).tolist()) == [0, 1, 2, 3, 4, 5]
print("ok")
