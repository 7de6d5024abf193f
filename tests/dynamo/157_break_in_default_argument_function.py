# A helper with default arguments, one of them a tensor, that breaks.
import torch

base = torch.ones(3)

def helper(x, k=2, b=base):
    y = x * k
    print("helper", k)
    return y + b

@torch.compile
def f(x):
    return helper(x) + helper(x, 5) + helper(x, b=x)

print(f(torch.arange(3).float()).tolist())
