# A compiled function called inside another compiled one, and inside a disabled one.
import torch

@torch.compile
def inner(x):
    return x * 2

@torch.compiler.disable
def off(x):
    return inner(x) + 1

@torch.compile
def f(x):
    return inner(x + 1) + off(x)

x = torch.arange(3).float()
print(f(x).tolist())
