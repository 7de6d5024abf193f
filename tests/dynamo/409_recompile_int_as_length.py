# An int argument used in range, as a list index and as a dict key.
import torch

@torch.compile
def f(x, n):
    for i in range(n):
        x = x + i
    return x

for n in (2, 3, 4, 2):
    print(f(torch.arange(3).float(), n).tolist())
