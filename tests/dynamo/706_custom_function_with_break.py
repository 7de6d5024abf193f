# A custom autograd.Function whose forward prints.
import torch

class Loud(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward")
        return x * 2

    @staticmethod
    def backward(ctx, g):
        print("backward")
        return g * 3

@torch.compile
def f(x):
    y = x + 1
    return Loud.apply(y) * 2

x = torch.arange(3).float().requires_grad_()
f(x).sum().backward()
print(x.grad.tolist())
