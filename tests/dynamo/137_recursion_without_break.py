# A recursive function that traces through: unrolled into one graph.
import torch

def power(x, n):
    if n == 0:
        return torch.ones_like(x)
    return x * power(x, n - 1)

@torch.compile
def f(x, n):
    return power(x, n) + 1

x = torch.arange(4).float()
print(f(x, 3).tolist())
print(f(x, 4).tolist())
