# reshape(-1), view with computed sizes, flatten.
import torch

@torch.compile
def f(x):
    n = x.shape[0]
    a = x.reshape(-1)
    b = x.view(n // 2, 2, -1)
    return a.sum() + b.sum(0).sum() + x.flatten().shape[0], b.shape

for n in (4, 6, 8):
    y, s = f(torch.ones(n, 3))
    print(y.item(), tuple(s))
