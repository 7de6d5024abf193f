# enable_grad inside no_grad with a break at the inner level.
import torch

@torch.compile
def f(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
            print("inner", torch.is_grad_enabled())
            c = b * x
        print("outer", torch.is_grad_enabled())
        d = c + a
    return c + d

x = torch.arange(3).float().requires_grad_()
y = f(x)
y.sum().backward()
print(y.tolist(), x.grad.tolist())
