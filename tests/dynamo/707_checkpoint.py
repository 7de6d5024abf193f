# torch.utils.checkpoint in the compiled function.
import torch
from torch.utils.checkpoint import checkpoint

def block(x, k):
    return (x * k).relu() * x

@torch.compile
def f(x):
    return checkpoint(block, x, 2, use_reentrant=False).sum()

x = torch.arange(-1, 3).float().requires_grad_()
f(x).backward()
print(x.grad.tolist())
