# The branch on a tensor's value is in a helper: the break moves to the caller.
import torch

def sign(x):
    if x.sum() > 0:
        return x
    return -x

@torch.compile
def f(x):
    y = x * 2
    z = sign(y)
    return z + 1

x = torch.arange(3).float()
print(f(x).tolist())
print(f(-x).tolist())
