# An attribute set on an input tensor, and .grad read.
import torch

@torch.compile
def f(x):
    y = x * 2
    x.tag = 5
    return y + x.tag

x = torch.arange(3).float()
print(f(x).tolist(), x.tag)
