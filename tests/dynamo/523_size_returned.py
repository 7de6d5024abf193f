# Sizes returned from the compiled function are Python ints.
import torch

@torch.compile
def f(x):
    return x.shape[0] * 2, x.shape, x.numel() + 1, x + 1

for n in (2, 3, 4):
    a, s, k, y = f(torch.ones(n, 2))
    print(a, type(a).__name__, tuple(s), k)
