# Matrix products with each of the three sizes changing in turn.
import torch

@torch.compile
def f(a, b):
    return a @ b

for n, k, m in ((2, 3, 4), (3, 3, 4), (3, 5, 4), (3, 5, 6), (4, 6, 7)):
    print(f(torch.ones(n, k), torch.ones(k, m)).sum().item())
