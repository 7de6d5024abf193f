# cat and stack with sizes that change, one of them alone.
import torch

@torch.compile
def f(a, b):
    c = torch.cat([a, b])
    return c * c.shape[0], torch.stack([a, a]).sum()

for n, m in ((2, 3), (4, 3), (5, 6), (7, 7)):
    y, s = f(torch.ones(n), torch.ones(m))
    print(y.tolist(), s.item())
