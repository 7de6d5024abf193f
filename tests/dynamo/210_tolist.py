# .tolist() of a vector, a matrix and a number.
import torch

@torch.compile
def f(x):
    a = x.tolist()
    b = (x + 1).sum().tolist()
    return x * a[1], b

for k in (1, 2):
    y, b = f(torch.arange(3).float() * k)
    print(y.tolist(), b)
