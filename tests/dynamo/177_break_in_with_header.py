# A break in the expression of a with statement, before the context is entered.
import torch

def flag(v):
    print("flag", v)
    return v

@torch.compile
def f(x):
    y = x * 2
    with torch.set_grad_enabled(flag(False)):
        z = y * 3
    return y + z

x = torch.arange(3).float().requires_grad_()
y = f(x)
y.sum().backward()
print(y.tolist(), x.grad.tolist())
