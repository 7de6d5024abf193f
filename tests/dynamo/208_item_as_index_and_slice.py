# A number from the data as index, slice end and size.
import torch

@torch.compile
def f(x, n):
    k = n.item()
    return x[k], x[:k], torch.zeros(k)

for k in (2, 3, 4):
    a, b, c = f(torch.arange(6).float(), torch.tensor(k))
    print(a.item(), b.tolist(), c.tolist())
