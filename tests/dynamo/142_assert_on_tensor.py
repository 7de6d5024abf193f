# assert on a tensor's value, which holds.
import torch

@torch.compile
def f(x):
    y = x + 1
    assert y.sum() > 0, "must be positive"
    return y * 2

print(f(torch.arange(3).float()).tolist())
