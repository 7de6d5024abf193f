# Two .item() calls in one expression.
import torch

@torch.compile
def f(x):
    n = x.min().item() + x.max().item()
    return x * n

for k in (1, 2, 3):
    print(f(torch.arange(3).float() * k).tolist())
