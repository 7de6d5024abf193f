# torch.where with one argument and argwhere.
import torch

@torch.compile
def f(x):
    i, = torch.where(x > 0)
    return x[i] * 2

print(f(torch.tensor([0.0, 1.0, 2.0])).tolist())
