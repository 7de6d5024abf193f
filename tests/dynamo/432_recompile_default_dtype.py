# The default dtype changed between calls.
import torch

@torch.compile
def f(x):
    return torch.ones(3) + x

x = torch.ones(3)
print(f(x).dtype)
torch.set_default_dtype(torch.float64)
print(f(x).dtype)
torch.set_default_dtype(torch.float32)
print(f(x).dtype)
