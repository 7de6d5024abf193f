# A while loop on the value of a tensor: data-dependent, in a loop.
import torch

@torch.compile
def f(x):
    n = 0
    while x.sum() < 100:
        x = x * 2
        n += 1
    return x, n

x = torch.arange(1, 4).float()
y, n = f(x)
print(y.tolist(), n)
