# *args and **kwargs live over a break.
import torch

@torch.compile
def f(x, *args, scale=1, **rest):
    y = x * scale
    print("break", len(args), sorted(rest))
    for a in args:
        y = y + a
    for k in sorted(rest):
        y = y * rest[k]
    return y

x = torch.arange(3).float()
print(f(x, x, 2, scale=3, p=2, q=x).tolist())
