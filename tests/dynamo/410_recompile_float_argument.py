# A float argument in tensor arithmetic, and one in Python arithmetic first.
import torch

@torch.compile
def f(x, a):
    return x * a + 1

@torch.compile
def g(x, a):
    b = a * 2 + 1
    return x + b

for a in (0.5, 0.25, 2.0, 0.0, -1.5):
    print(f(torch.arange(3).float(), a).tolist(), g(torch.arange(3).float(), a).tolist())
