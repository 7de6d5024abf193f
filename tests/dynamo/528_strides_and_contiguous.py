# A dynamic size with a transposed layout; contiguous() and is_contiguous().
import torch

@torch.compile
def f(x):
    y = x.t()
    if y.is_contiguous():
        return y + 1
    return y.contiguous() * 2

for n in (2, 3, 4):
    print(f(torch.ones(n, 3)).sum().item(), f(torch.ones(n, 3)).stride())
