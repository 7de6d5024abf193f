# repeat_interleave with counts from a tensor: the size depends on the data.
import torch

@torch.compile
def f(x, n):
    y = x + 1
    z = torch.repeat_interleave(y, n)
    return z * 2

x = torch.arange(3).float()
print(f(x, torch.tensor([1, 2, 3])).tolist(), f(x, torch.tensor([2, 0, 1])).tolist())
