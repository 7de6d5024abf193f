# Closures of one code with other cell values: numbers, then tensors.
import torch

def make(k):
    def g(x):
        return x * k
    return g

@torch.compile
def f(x, g):
    return g(x) + 1

x = torch.arange(3).float()
for k in (2, 3, 4, torch.ones(3), torch.ones(3) * 2):
    print(f(x, make(k)).tolist())
