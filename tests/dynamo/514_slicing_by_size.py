# Slices with ends computed from sizes.
import torch

@torch.compile
def f(x):
    n = x.shape[0]
    return x[: n // 2], x[n // 2 :], x[-2:], x[1:-1:2]

for n in (4, 5, 6, 9):
    print([t.tolist() for t in f(torch.arange(n).float())])
