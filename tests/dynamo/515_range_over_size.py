# A loop over range(x.shape[0]) specializes the size.
import torch

@torch.compile
def f(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        total = total * 2 + x[i]
    return total

for n in (2, 3, 4):
    print(f(torch.arange(n).float()).item())
