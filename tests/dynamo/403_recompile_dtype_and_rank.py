# A changed dtype, then a changed rank.
import torch

@torch.compile
def f(x):
    return x + x

for x in (torch.ones(3), torch.ones(3).double(), torch.ones(3).long(), torch.ones(3, 1), torch.ones(())):
    y = f(x)
    print(y.tolist(), y.dtype)
