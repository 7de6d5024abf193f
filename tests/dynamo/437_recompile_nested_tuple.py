# A nested tuple of numbers and tensors as an argument.
import torch

@torch.compile
def f(x, spec):
    (a, b), c = spec
    return x * a + b * c

x = torch.arange(3).float()
for spec in (((1, 2), 3), ((1, 2), 4), ((1, 5), 4), ((1, x), 4), ((2, 2), 3)):
    print(f(x, spec).tolist())
