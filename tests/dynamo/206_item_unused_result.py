# .item() whose result is only returned: nothing to compute afterwards.
import torch

@torch.compile
def f(x):
    y = x * 2
    return y, y.sum().item(), y.max().item()

for k in (1, 2, 3):
    y, s, m = f(torch.arange(3).float() * k)
    print(y.tolist(), s, m)
