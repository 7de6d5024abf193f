# bool(t) stored in a variable, tested twice.
import torch

@torch.compile
def f(x):
    flag = bool(x.sum() > 2)
    y = x + 1 if flag else x - 1
    return y * 2 if flag else y

for k in (0, 1):
    print(f(torch.arange(3).float() * k).tolist())
