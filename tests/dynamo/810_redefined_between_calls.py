# A helper redefined between calls, and the compiled function redefined.
import torch

def helper(x):
    return x + 1

@torch.compile
def f(x):
    return helper(x) * 2

x = torch.arange(3).float()
print(f(x).tolist())

def helper(x):
    return x - 1

print(f(x).tolist())

@torch.compile
def f(x):
    return helper(x) * 3

print(f(x).tolist())
