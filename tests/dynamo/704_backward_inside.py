# .backward() and torch.autograd.grad called inside the compiled function.
import torch

@torch.compile
def f(x):
    y = (x * x).sum()
    y.backward()
    return x.grad + 1

@torch.compile
def g(x):
    y = (x * x * x).sum()
    d, = torch.autograd.grad(y, [x])
    return d * 2

x = torch.arange(3).float().requires_grad_()
print(f(x).tolist(), g(torch.arange(3).float().requires_grad_()).tolist())
