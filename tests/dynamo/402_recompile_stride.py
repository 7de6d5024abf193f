# A transposed input and an expanded one.
import torch

@torch.compile
def f(x):
    return x * 2 + 1

a = torch.arange(4).float().reshape(2, 2)
for x in (a, a.t(), a[:1].expand(2, 2)):
    print(f(x).tolist(), f(x).stride())
