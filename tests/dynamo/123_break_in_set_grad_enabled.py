# set_grad_enabled as a statement before a break: the mode stays changed after it.
import torch

@torch.compile
def f(x):
    a = x * 2
    torch.set_grad_enabled(False)
    b = x * 3
    print("mode", torch.is_grad_enabled())
    c = x * 4
    torch.set_grad_enabled(True)
    return a, b, c

x = torch.arange(3).float().requires_grad_()
print([t.requires_grad for t in f(x)], torch.is_grad_enabled())
