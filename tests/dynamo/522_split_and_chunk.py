# split by a size and chunk by a number.
import torch

@torch.compile
def f(x):
    a, b = x.chunk(2)
    parts = x.split(2)
    return a.sum() + b.sum() * 10, len(parts)

for n in (4, 6, 8):
    y, k = f(torch.arange(n).float())
    print(y.item(), k)
