# torch.nonzero: data-dependent shape, used in the rest.
import torch

@torch.compile
def f(x):
    y = x * 2
    i = torch.nonzero(y)
    return i + 1

for v in ([0.0, 1.0, 2.0], [0.0, 0.0, 5.0], [1.0, 1.0, 1.0]):
    print(f(torch.tensor(v)).tolist())
