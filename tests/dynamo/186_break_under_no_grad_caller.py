# The compiled function with a break is called under no_grad by the caller, then with gradients.
import torch

@torch.compile
def f(x):
    y = x * 2
    print("grad", torch.is_grad_enabled())
    return y * x

x = torch.arange(3).float().requires_grad_()
with torch.no_grad():
    a = f(x)
b = f(x)
print(a.requires_grad, b.requires_grad)
