# A branch on the equality of two sizes.
import torch

@torch.compile
def f(a, b):
    if a.shape[0] == b.shape[0]:
        return a + b
    return a.sum() + b

for n, m in ((2, 3), (3, 4), (5, 5), (6, 6), (7, 3)):
    print(f(torch.ones(n), torch.ones(m)).tolist())
