# requires_grad changed, and a Parameter instead of a tensor.
import torch

@torch.compile
def f(x):
    return x * 3

x = torch.ones(3)
print(f(x).requires_grad, f(x.clone().requires_grad_()).requires_grad, f(torch.nn.Parameter(x)).requires_grad)
