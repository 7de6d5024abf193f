# register_hook on an intermediate and on an input in the compiled function.
import torch

@torch.compile
def f(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)
    return (y * y).sum()

x = torch.arange(3).float().requires_grad_()
f(x).backward()
print(x.grad.tolist())
