# An input returned, stored and compared by `is`.
import torch

@torch.compile
def f(x, keep):
    y = x
    keep.append(y)
    z = x.view(3)
    return y, y is x, z is x

keep = []
x = torch.arange(3).float()
y, same, view = f(x, keep)
print(y is x, keep[0] is x, same, view)
