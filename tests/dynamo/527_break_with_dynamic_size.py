# A size that is symbolic, kept over a break.
import torch

@torch.compile
def f(x):
    n = x.shape[0]
    y = x * 2
    print("break")
    return y + n, n

for n in (2, 3, 4):
    y, k = f(torch.ones(n))
    print(y.tolist(), k)
