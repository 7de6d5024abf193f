# A list of numbers from the data built in a comprehension over items, and a loop of .item().
import torch

@torch.compile
def f(x):
    y = x + 1
    values = [v.item() for v in y]
    return y * 2, values

@torch.compile
def g(x):
    total = 0.0
    for v in x:
        total += v.item()
    return x * total

for k in (1, 2):
    y, values = f(torch.arange(3).float() * k)
    print(y.tolist(), values, g(torch.arange(3).float() * k).tolist())
