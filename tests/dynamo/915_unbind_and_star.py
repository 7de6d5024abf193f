# unbind, chunk and split unpacked with a star; max and topk unpacked by name.
import torch

@torch.compile
def f(x):
    a, *rest = x.unbind(0)
    b, c = x.chunk(2)
    r = x.max(dim=1)
    v, i = x.topk(1, dim=1)
    return a + rest[0] + sum(rest).sum() + r.values.sum() + r.indices.sum() + v.sum() + i.sum() + b.sum() - c.sum()

print(f(torch.arange(12).float().reshape(4, 3)).tolist())
