# -0.0 against 0.0, True against 1, and 1.0 against 1 as arguments.
import torch

@torch.compile
def f(x, a):
    return x / a if isinstance(a, float) else x + a

x = torch.ones(2)
for a in (0.0, -0.0, 1.0, 1, True, 0, False):
    print(a, f(x, a).tolist())
