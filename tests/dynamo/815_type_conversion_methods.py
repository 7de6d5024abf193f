# to, float, long, double, type, bool and .type_as with in-frame dtype tests.
import torch

@torch.compile
def f(x):
    a = x.long().to(torch.float64)
    b = x.double().type_as(x)
    c = (x > 1).float()
    if a.dtype == torch.float64:
        b = b + 1
    return a.dtype, b + c

d, y = f(torch.arange(3).float())
print(d, y.tolist())
