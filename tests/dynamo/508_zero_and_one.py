# Sizes 0 and 1 specialize, before and after the size is dynamic.
import torch

@torch.compile
def f(x):
    return x.sum() + x.shape[0]

for n in (1, 4, 5, 1, 0, 6):
    print(f(torch.ones(n)).item())
