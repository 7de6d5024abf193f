# .item() of an integer tensor used as a multiplier and in range().
import torch

@torch.compile
def f(x, n):
    k = n.item()
    y = x * k
    for i in range(k):
        y = y + i
    return y

for k in (2, 3, 4):
    print(f(torch.arange(3).float(), torch.tensor(k)).tolist())
