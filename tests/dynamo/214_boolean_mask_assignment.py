# Assignment through a boolean mask: no data-dependent shape.
import torch

@torch.compile
def f(x):
    y = x.clone()
    y[y > 1] = 0
    y[x < 1] += 5
    return y * 2

print(f(torch.arange(4).float()).tolist())
