# Branches on min, max and floor division of two dynamic sizes.
import torch

@torch.compile
def f(x, y):
    n, m = x.shape[0], y.shape[0]
    if min(n, m) * 2 > max(n, m):
        z = x.sum() + y.sum()
    else:
        z = x.sum() - y.sum()
    return z + n // m

for n, m in ((4, 4), (5, 3), (8, 3), (9, 4), (6, 5)):
    print(f(torch.ones(n), torch.ones(m)).item())
