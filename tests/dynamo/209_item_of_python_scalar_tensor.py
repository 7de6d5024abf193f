# .item() of a tensor made from a constant in the frame.
import torch

@torch.compile
def f(x):
    k = torch.tensor(3).item()
    return x * k

print(f(torch.arange(3).float()).tolist())
