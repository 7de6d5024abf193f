# The caller's number, a number from the data and a loop counter are carried over a break; which of them turn symbolic.
import torch

@torch.compile
def f(x, n):
    k = x.numel()
    m = n * 2
    print("break")
    return x * m + k + n

for n in (1, 2, 3, 4):
    print(f(torch.arange(3).float(), n).tolist())
