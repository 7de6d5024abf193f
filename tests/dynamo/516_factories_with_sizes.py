# zeros, ones, arange, full, eye of symbolic sizes.
import torch

@torch.compile
def f(x):
    n = x.shape[0]
    return torch.zeros(n) + torch.ones(n) * 2 + torch.arange(n) + torch.full((n,), 3.0) + torch.eye(n).sum(0) + x

for n in (3, 4, 6):
    print(f(torch.ones(n)).tolist())
