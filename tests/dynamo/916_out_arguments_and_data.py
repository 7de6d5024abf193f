# out= arguments, .data, copy_ into a slice of an input, and setting .grad to None.
import torch

@torch.compile
def f(x, y):
    torch.add(x, 1, out=y)
    z = x.detach() * 2
    y[:1].copy_(z[:1])
    return y + z

x, y = torch.arange(3).float(), torch.zeros(3)
print(f(x, y).tolist(), y.tolist())
