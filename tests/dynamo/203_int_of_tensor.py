# int(t) and what follows.
import torch

@torch.compile
def f(x):
    n = int(x.max())
    return x + n, n * 2

for k in (1, 2, 3):
    y, n = f(torch.arange(3).float() * k)
    print(y.tolist(), n)
