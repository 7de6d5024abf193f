# == of tensors in an if, and `in` over a list of tensors by identity.
import torch

@torch.compile
def f(x, y):
    if torch.equal(x, y):
        return x + 1
    return x - 1

x = torch.arange(3).float()
print(f(x, x.clone()).tolist(), f(x, x + 1).tolist())
