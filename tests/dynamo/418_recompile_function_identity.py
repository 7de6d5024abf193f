# A function as an argument: an entry a function; a lambda made anew with the same code.
import torch

def double(x):
    return x * 2

def triple(x):
    return x * 3

@torch.compile
def f(x, g):
    return g(x) + 1

x = torch.arange(3).float()
print(f(x, double).tolist(), f(x, triple).tolist(), f(x, double).tolist())
for k in range(3):
    print(f(x, lambda v: v * 5).tolist())
