# An int argument: constant, then symbolic; 0 and 1 do not specialize; a bool and a float in its place.
import torch

@torch.compile
def f(x, n):
    return x * n

for n in (2, 3, 4, 0, 1, -1, True, 2.5):
    print(f(torch.arange(3).float(), n).tolist())
