# A break inside two nested grad contexts and after one of them is left.
import torch

@torch.compile
def f(x):
    with torch.no_grad():
        a = x * 2
        with torch.no_grad():
            b = a + 1
            print("two")
            b = b + 1
        print("one")
        c = b * 2
    print("none", torch.is_grad_enabled())
    return c + x

x = torch.arange(3).float().requires_grad_()
y = f(x)
y.sum().backward()
print(y.tolist(), x.grad.tolist())
