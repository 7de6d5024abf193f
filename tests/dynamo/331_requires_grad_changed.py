# requires_grad_ on an intermediate and detach in the frame.
import torch

@torch.compile
def f(x, w):
    y = (x * w).detach()
    z = x * w
    return (y + z).sum()

x = torch.arange(3).float()
w = torch.ones(3, requires_grad=True)
f(x, w).backward()
print(w.grad.tolist())
