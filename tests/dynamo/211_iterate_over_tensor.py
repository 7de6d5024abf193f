# for over the rows of a tensor, and unpacking of one: no break.
import torch

@torch.compile
def f(x):
    total = x[0] * 0
    for row in x:
        total = total * 2 + row
    a, b = x
    return total + a - b

print(f(torch.arange(6).float().reshape(2, 3)).tolist())
