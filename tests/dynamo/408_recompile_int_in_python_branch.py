# A symbolic int decides a branch: one entry for each side.
import torch

@torch.compile
def f(x, n):
    if n > 5:
        return x + n
    return x - n

for n in (1, 2, 7, 8, 3, 9):
    print(f(torch.arange(3).float(), n).tolist())
