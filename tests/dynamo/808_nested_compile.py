# A compiled function that calls a function compiled with fullgraph, and one compiled inside it.
import torch

@torch.compile(fullgraph=True)
def inner(x):
    return x + 1

@torch.compile
def f(x):
    y = inner(x) * 2
    print("break")
    return inner(y)

print(f(torch.arange(3).float()).tolist())
