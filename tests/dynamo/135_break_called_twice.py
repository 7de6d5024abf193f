# One helper that breaks, called twice from one compiled function: the helper's frame and its rest are compiled once.
import torch

def helper(x):
    y = x * 2
    print("helper")
    return y + 1

@torch.compile
def f(x):
    a = helper(x)
    b = helper(a)
    return a + b

x = torch.arange(3).float()
print(f(x).tolist())
