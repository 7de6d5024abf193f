# if on a tensor's value: prefix and one continuation a side; an elif adds another.
import torch

@torch.compile
def f(x):
    s = x.sum()
    if s > 10:
        y = x * 2
    elif s > 0:
        y = x * 3
    else:
        y = x * 4
    return y + 1

for k in (5, 1, -1):
    print(f(torch.arange(3).float() * k).tolist())
