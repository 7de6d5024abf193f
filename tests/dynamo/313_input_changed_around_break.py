# An input changed in place before and after a break, printed in it.
import torch

@torch.compile
def f(x):
    x.add_(1)
    v = x[1:]
    print("x", x.tolist())
    v.mul_(10)
    return v + 1

x = torch.arange(3).float()
print(f(x).tolist(), x.tolist())
