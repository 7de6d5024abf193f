# .item() breaks; the number is a constant in the rest at first, symbolic for the second value.
import torch

@torch.compile
def f(x):
    n = x.sum().item()
    return x * n + 1

for k in (1, 2, 3):
    print(f(torch.arange(3).float() * k).tolist())
