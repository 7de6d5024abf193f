# A print under no_grad, and operations of both kinds around it; gradients show which part was recorded.
import torch

@torch.compile
def f(x):
    a = x * 2
    with torch.no_grad():
        b = a * 3
        print("grad", torch.is_grad_enabled())
        c = b + x
    d = a + c
    return d * x

x = torch.arange(3).float().requires_grad_()
y = f(x)
y.sum().backward()
print(y.tolist(), x.grad.tolist(), torch.is_grad_enabled())
