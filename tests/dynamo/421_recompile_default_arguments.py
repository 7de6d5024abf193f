# Default arguments changed through __defaults__, and calls with and without the argument.
import torch

def helper(x, k=2):
    return x * k

@torch.compile
def f(x, n=3):
    return helper(x) + n

x = torch.arange(3).float()
print(f(x).tolist(), f(x, 3).tolist(), f(x, 4).tolist())
helper.__defaults__ = (10,)
print(f(x).tolist())
