# A recursive function that prints at every level.
import torch

@torch.compile
def f(x, n):
    if n == 0:
        return x
    y = x + n
    print("level", n)
    return f(y, n - 1) * 2

x = torch.arange(3).float()
print(f(x, 3).tolist())
