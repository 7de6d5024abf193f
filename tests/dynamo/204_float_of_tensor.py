# float(t) used in tensor arithmetic and returned.
import torch

@torch.compile
def f(x):
    v = float(x.sum())
    return x * v, v / 2

for k in (1, 2, 3):
    y, v = f(torch.arange(3).float() * k)
    print(y.tolist(), v)
