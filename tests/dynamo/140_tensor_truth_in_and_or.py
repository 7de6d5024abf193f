# and / or / not on one-element tensors.
import torch

@torch.compile
def f(x):
    a = x[0] > 0 and x[1] > 0
    b = x[0] > 0 or x[1] > 0
    c = not (x[0] > 0)
    return x + 1, bool(a), bool(b), c

for v in ([1.0, 2.0], [1.0, -2.0], [-1.0, -2.0]):
    y, a, b, c = f(torch.tensor(v))
    print(y.tolist(), a, b, c)
