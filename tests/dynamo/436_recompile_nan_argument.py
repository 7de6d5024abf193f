# nan as an argument: nan is not equal to itself, but the entry serves again.
import torch

@torch.compile
def f(x, a):
    return x * a

x = torch.ones(2)
for a in (float("nan"), float("nan"), float("inf"), 2.0):
    print(f(x, a).tolist())
