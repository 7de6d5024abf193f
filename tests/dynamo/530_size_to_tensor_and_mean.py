# A size in torch.tensor(), as a divisor, in mean and var of a dynamic dimension.
import torch

@torch.compile
def f(x):
    n = torch.tensor(x.shape[0])
    return x.sum() / x.shape[0] + x.mean() + n

for n in (2, 4, 8):
    print(f(torch.ones(n) * 3).item())
