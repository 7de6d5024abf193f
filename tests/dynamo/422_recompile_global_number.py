# A global number, string, list and function changed between calls.
import torch

scale = 2
items = [1, 2]

def op(x):
    return x + 1

@torch.compile
def f(x):
    return op(x * scale) + len(items)

x = torch.arange(3).float()
print(f(x).tolist())
scale = 3
print(f(x).tolist())
items.append(3)
print(f(x).tolist())
op = lambda x: x - 1
print(f(x).tolist())
scale = 4
print(f(x).tolist())
