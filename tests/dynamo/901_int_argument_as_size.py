# An int argument used as a size, in view and in arange, for several values.
import torch

@torch.compile
def f(x, n):
    y = x.view(n, -1)
    return y.sum(1) + torch.arange(n) + torch.zeros(n)

for n in (2, 3, 4, 6):
    print(f(torch.arange(12).float(), n).tolist())
