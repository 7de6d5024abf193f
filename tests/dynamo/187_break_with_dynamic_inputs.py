# Sizes change from call to call for a function with a break: both pieces recompile once.
import torch

@torch.compile
def f(x):
    y = x * 2
    print("break")
    return y.sum() + x.shape[0]

for n in (2, 3, 4, 5):
    print(f(torch.ones(n)).item())
