# A closure over tensors made in the compiled function is returned and called outside.
import torch

@torch.compile
def f(x):
    y = x * 2
    k = 3

    def add(z):
        return z + y * k

    return add

g = f(torch.arange(3).float())
print(g(torch.ones(3)).tolist())
