# A local deleted before the break, one unbound in one branch, and one rebound after it.
import torch

@torch.compile
def f(x, flag):
    y = x + 1
    z = y * 2
    del y
    if flag:
        w = z + 1
    print("break")
    if flag:
        z = w
    return z

x = torch.arange(3).float()
print(f(x, True).tolist(), f(x, False).tolist())
