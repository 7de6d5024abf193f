# Loops over contiguous rows (softmax, norms, variances, extremes) against the bodies that other layouts run, and layouts that lie across each other.
import torch
import torch.nn.functional as F

torch.manual_seed(0)
for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
    for shape in ((7,), (5, 300), (3, 4, 2000), (3, 140001)):
        x = (torch.randn(shape) * 3).to(dtype)
        apart = torch.stack([x, x], -1)[..., 0]
        w, b = torch.randn(shape[-1]).to(dtype), torch.randn(shape[-1]).to(dtype)
        functions = [lambda t: torch.softmax(t, -1), lambda t: torch.log_softmax(t, -1), lambda t: torch.logsumexp(t, -1), lambda t: t.var(), lambda t: t.var(-1),
                     lambda t: t.std(-1, keepdim=True), lambda t: t.var(-1, unbiased=False), lambda t: torch.var_mean(t, -1)[1], lambda t: torch.linalg.vector_norm(t),
                     lambda t: F.layer_norm(t, shape[-1:], w, b), lambda t: F.layer_norm(t, shape[-1:]), lambda t: F.layer_norm(t, shape[-1:], w)]
        tight = {torch.float64: 1e-12, torch.float32: 1e-5}.get(dtype, 2e-2)
        for i, function in enumerate(functions):
            p, q = function(x), function(apart)
            assert p.dtype == q.dtype and p.shape == q.shape, (dtype, shape, i)
            assert torch.allclose(p.double(), q.double(), rtol=tight, atol=tight), (dtype, shape, i)
            if i < 9:
                r = function(x.double()).to(dtype)
                assert torch.allclose(p.double(), r.double(), rtol=2 * tight, atol=2 * tight), (dtype, shape, i)
        a, c = x.clone().requires_grad_(True), apart.clone().requires_grad_(True)
        torch.softmax(a, -1).pow(2).sum().backward()
        torch.softmax(torch.stack([c, c], -1)[..., 0], -1).pow(2).sum().backward()
        assert torch.allclose(a.grad.float(), c.grad.float(), atol=1e-2 if dtype.itemsize == 2 else 1e-5)
nan, inf = float("nan"), float("inf")
assert torch.softmax(torch.tensor([1.0, nan, 2.0]), 0).isnan().all() and torch.softmax(torch.tensor([-inf, -inf]), 0).isnan().all()
assert torch.logsumexp(torch.tensor([-inf, -inf]), 0) == -inf and torch.logsumexp(torch.tensor([inf, 1.0]), 0) == inf
assert torch.tensor([1.0, nan]).max().isnan()

for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool):
    t = torch.randint(0, 100, (333, 1500)).to(dtype)
    for dim in (0, 1):
        v, i = t.max(dim)
        assert torch.equal(t.gather(dim, i.unsqueeze(dim)).squeeze(dim), v) and torch.equal(v, t.amax(dim))
        w, j = t.min(dim)
        assert torch.equal(t.gather(dim, j.unsqueeze(dim)).squeeze(dim), w) and torch.equal(w, t.amin(dim))
        s = t.to(torch.int64).sort(dim)[0]
        assert torch.equal(s.select(dim, -1), v.to(torch.int64)) and torch.equal(s.select(dim, 0), w.to(torch.int64))
        assert torch.equal(t.any(dim), (t != 0).to(torch.int64).sum(dim) > 0) or dtype == torch.uint8, (dtype, dim)
    if dtype != torch.bool:
        assert t.max() == t.to(torch.int64).max() and t.flatten()[t.argmax()] == t.max()
f = torch.randn(100, 1000)
f[3, 700] = nan
f[3, 900] = nan
assert f.max().isnan() and f.argmax() == 3700 and f.max(1)[1][3] == 700 and f.max(0)[1][700] == 3 and f.min(1)[0][3].isnan() and f.amin().isnan()
assert torch.tensor([2.0] * 33).prod() == 2.0 ** 33 and torch.full((5, 40), 3).prod(0).tolist() == [243] * 40

a, b = torch.randn(130, 70, 33), torch.randn(33, 70, 130)
for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int8):
    p, q = (a * 20).to(dtype), (b * 20).to(dtype)
    assert torch.equal(p + q.permute(2, 1, 0), (p.permute(2, 1, 0).contiguous() + q).permute(2, 1, 0))
    assert torch.equal(p.permute(2, 0, 1).contiguous().permute(1, 2, 0), p) and torch.equal(p.permute(2, 1, 0).contiguous().permute(2, 1, 0), p)
    assert p.permute(2, 1, 0).contiguous()[5, 6, 7] == p[7, 6, 5] and (p + q.permute(2, 1, 0))[120, 69, 32] == p[120, 69, 32] + q[32, 69, 120]
    assert torch.equal(p[:, :, :1] + p[:1], p[:, :, :1].expand(130, 70, 33).contiguous() + p[:1].expand(130, 70, 33).contiguous())
m = a > 0
assert torch.equal(torch.where(m, a, -a), a.abs()) and torch.equal(torch.where(m, m, ~m), torch.ones_like(m)) and torch.equal(m.masked_fill(~m, True), torch.ones_like(m))
assert a.clamp(-0.5, 0.5).abs().max() == 0.5 and a.clamp(min=0.25).min() == 0.25 and torch.tensor([nan]).clamp(0, 1).isnan().all()
halves = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.float16)
wide = halves.float()
real = wide == wide
assert torch.equal(wide.half()[real].view(torch.int16), halves[real].view(torch.int16)) and wide.half()[~real].isnan().all()
assert torch.tensor([65519.0, 65520.0, 1e-8, 5.97e-8]).half().tolist() == [65504.0, inf, 0.0, 2.0 ** -24]
print("ok")
