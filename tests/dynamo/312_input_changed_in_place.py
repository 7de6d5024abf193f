# add_, slice assignment, copy_ and out of order reads of an input changed in place.
import torch

@torch.compile
def f(x, y):
    before = x * 2
    x.add_(1)
    x[0] = 10
    y.copy_(x)
    y[1:] -= x[:2]
    return before + x

x, y = torch.arange(3).float(), torch.zeros(3)
print(f(x, y).tolist(), x.tolist(), y.tolist())
