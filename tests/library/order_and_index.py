# Sorting, selecting and indexing of many sizes and dtypes: the fast paths of each against what they must hold, or against each other.
import torch

torch.manual_seed(1)
for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool):
    for n in (1, 5, 33, 300, 3000):
        x = (torch.randn(7, n) * 20).to(dtype) if dtype.is_floating_point else torch.randint(0, 100, (7, n)).to(dtype)
        for descending in (False, True):
            v, i = x.sort(dim=1, descending=descending, stable=True)
            assert torch.equal(x.gather(1, i), v)
            w = v.double()
            steps = w[:, 1:] - w[:, :-1]
            assert bool((steps <= 0).all()) if descending else bool((steps >= 0).all())
            assert bool(((i[:, 1:] - i[:, :-1]) > 0)[steps == 0].all()), "equal values change places"
            if n > 1 and dtype != torch.bool:
                k = max(1, n // 10)
                tv, ti = x.topk(k, 1, largest=descending)
                assert torch.equal(tv, v[:, :k]) and torch.equal(x.gather(1, ti), tv), (dtype, n, k)
        v, i = x.sort(1)
        if dtype == torch.bool:
            continue
        assert torch.equal(x.kthvalue((n + 1) // 2, 1)[0], v[:, (n + 1) // 2 - 1])
        assert torch.equal(x.median(1)[0], v[:, (n - 1) // 2])
        assert torch.equal(x.t().sort(0)[0], v.t())
z = torch.tensor([1.0, float("nan"), -0.0, 0.0, float("inf"), -float("inf"), float("nan"), -1.0])
assert z.sort(stable=True)[1].tolist() == [5, 7, 2, 3, 0, 4, 1, 6]
assert z.sort(descending=True, stable=True)[1].tolist() == [1, 6, 4, 0, 2, 3, 7, 5]
assert z.median().isnan() and z.topk(3)[0][2] == float("inf")
assert torch.tensor([9223372036854775807, -9223372036854775807, 0]).sort()[1].tolist() == [1, 2, 0]

a = torch.randn(50, 60, 7)
m = a > 0.3
least = torch.tensor(0.3).item()
assert a[m].tolist() == [v for v in a.flatten().tolist() if v > least]
places = m.nonzero()
assert places.shape == (int(m.sum()), 3) and torch.equal(a[places[:, 0], places[:, 1], places[:, 2]], a[m])
b = a.clone()
b[m] = 0
assert torch.equal(b, torch.where(m, 0.0, a))
c = a.clone()
c[m] = a[m] * 2
assert torch.equal(c, torch.where(m, a * 2, a))
wide = torch.zeros(3, 5000, dtype=torch.bool)
wide[1, 2047] = wide[1, 2048] = wide[2, 4999] = True
assert wide.nonzero().tolist() == [[1, 2047], [1, 2048], [2, 4999]]
i0, i1 = torch.randint(0, 60, (9,)), torch.randint(-50, 50, (4, 1))
e = a[:, i0]
assert all(torch.equal(e[:, k], a[:, int(i0[k])]) for k in range(9))
g = a[i1, i0 % 50]
assert g.shape == (4, 9, 7) and torch.equal(g[2, 3], a[int(i1[2, 0]), int(i0[3]) % 50])
h = a.permute(2, 0, 1)[:, i1.flatten()]
assert torch.equal(h[3, 2], a[int(i1[2, 0]), :, 3])
q = a.clone()
q[:, i0] = torch.arange(9.0)[:, None]
assert q[4, int(i0[8]), 2] == 8.0
r = torch.zeros(5)
r[torch.tensor([1, 3, 2])] = torch.tensor([1.0, 2.0, 3.0])
assert r.tolist() == [0.0, 1.0, 3.0, 2.0, 0.0]
r = torch.zeros(5, 3)
r.index_put_((torch.tensor([1, 1, 2]),), torch.ones(3, 3), accumulate=True)
assert r[:, 0].tolist() == [0.0, 2.0, 1.0, 0.0, 0.0]
s = torch.zeros(3, 4, dtype=torch.int8)
s.index_add_(0, torch.tensor([0, 2, 0]), torch.full((3, 4), 100, dtype=torch.int8))
assert s[:, 1].tolist() == [-56, 0, 100]
for dim in range(3):
    index = torch.randint(0, a.shape[dim], a.shape)
    out = a.gather(dim, index)
    place = [3, 5, 2]
    place[dim] = int(index[3, 5, 2])
    assert out[3, 5, 2] == a[place[0], place[1], place[2]]
    assert torch.equal(out, a.transpose(dim, 2).contiguous().gather(2, index.transpose(dim, 2).contiguous()).transpose(dim, 2))
    pick = torch.randint(0, a.shape[dim], (11,))
    assert torch.equal(a.index_select(dim, pick), a.movedim(dim, 0)[pick].movedim(0, dim))
for bad in (lambda: a.gather(0, torch.full((50, 60, 7), 50)), lambda: a.index_select(1, torch.tensor([60])), lambda: a[:, torch.tensor([60])]):
    taken = True
    try:
        bad()
    except (IndexError, RuntimeError):
        taken = False
    assert not taken, "an index out of range was taken"
x = torch.zeros(4, 5)
assert x.nonzero().shape == (0, 2) and torch.tensor(3).nonzero().shape == (1, 0) and torch.zeros(0, 3).nonzero().shape == (0, 2) and x[x > 0].shape == (0,)
print("ok")

# A condition is of bools: numbers there are refused (bytes only where() still takes).
for refused in (lambda: torch.where(torch.tensor([1, 0]), 1, 2), lambda: torch.ones(2).masked_fill(torch.tensor([1, 0]), 0)):
    try:
        refused()
        assert False, "numbers taken as a condition"
    except RuntimeError as e:
        assert "boolean" in str(e)
assert torch.where(torch.tensor([1, 0], dtype=torch.uint8), 1, 2).tolist() == [1, 2]
