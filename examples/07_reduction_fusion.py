# pointwise + reduction + pointwise over the same rows become one kernel: each row is read from memory once.
import torch

@torch.compile
def f(x):
    return torch.softmax(x * 0.125, -1)

torch.manual_seed(0)
x = torch.randn(32, 64)
print(round(f(x).sum().item(), 3))
#:fusion
#:schedule
#:memory
#:kernel k0
