# A number, then a tensor, then None in one place.
import torch

@torch.compile
def f(x, k):
    if k is None:
        return x
    return x * k

x = torch.arange(3).float()
for k in (2, torch.tensor(3.0), None, 2):
    print(f(x, k).tolist())
