# Branches on a size once it is dynamic: an entry a side.
import torch

@torch.compile
def f(x):
    if x.shape[0] > 10:
        return x + 1
    elif x.shape[0] % 2 == 0:
        return x + 2
    return x + 3

for n in (4, 6, 5, 7, 12, 13, 8):
    print(n, f(torch.zeros(n)).sum().item())
