# expand, repeat, permute, unsqueeze with dynamic sizes.
import torch

@torch.compile
def f(x):
    n, m = x.shape
    a = x.unsqueeze(1).expand(n, 2, m)
    b = x.repeat(2, 1)
    return a.permute(2, 0, 1).sum(0).sum() + b.shape[0], b

for n in (2, 3, 5):
    y, b = f(torch.ones(n, 3))
    print(y.item(), tuple(b.shape))
