# torch.no_grad as a decorator of a helper and of the compiled function.
import torch

@torch.no_grad()
def helper(x):
    return x * 2

@torch.compile
def f(x):
    return helper(x) + x

@torch.compile
@torch.no_grad()
def g(x):
    return x * 3

x = torch.arange(3).float().requires_grad_()
print(f(x).requires_grad, g(x).requires_grad, f(x).tolist())
