# Integer products, batches of products, additions into slices: beside what they are made of.
import torch
torch.manual_seed(0)
for dt in (torch.int64, torch.int32, torch.uint8, torch.int8):
    a, b, c = (torch.randint(0, 100, s).to(dt) for s in ((7, 33), (33, 20), (7, 20)))
    assert torch.equal(a @ b, ((a.unsqueeze(2).long() * b.unsqueeze(0).long()).sum(1)).to(dt))
    assert torch.equal(torch.addmm(c, a, b, beta=2, alpha=3), (2 * c.long() + 3 * (a.long() @ b.long())).to(dt))
    assert torch.equal(a.t().contiguous().t() @ b, a @ b)
x = torch.randn(300, 9, 11); y = torch.randn(300, 11, 5)
assert torch.allclose(torch.bmm(x, y), torch.stack([p @ q for p, q in zip(x, y)]), atol=1e-5)
x = torch.randn(40, 64, 64).double(); assert torch.allclose(torch.bmm(x, x), torch.stack([p @ p for p in x]))
out = torch.zeros(50, 4000); idx = torch.randint(0, 50, (300,)); src = torch.randint(-9, 9, (300, 4000)).float()
want = torch.zeros(50, 4000)
for k, i in enumerate(idx.tolist()): want[i] += src[k]
assert torch.equal(out.index_add(0, idx, src), want)
assert torch.equal(out.index_add(0, idx, src, alpha=2), want * 2)
w2 = torch.zeros(50, 4000)
for k, i in enumerate(idx.tolist()): w2[i] = src[k]
assert torch.equal(out.index_copy(0, idx, src), w2)
assert torch.equal(out.index_fill(0, idx, 3.0)[idx], torch.full((300, 4000), 3.0))
assert torch.equal(out.t().index_add(1, idx, src.t()), want.t())
print("ok")
