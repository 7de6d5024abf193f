# sorted with a key function that traces, and one that prints.
import torch

def loud(v):
    print("key", v)
    return -v

@torch.compile
def f(x, items):
    a = sorted(items, key=lambda v: v % 3)
    y = x * a[0]
    b = sorted(items, key=loud)
    return y + b[0]

print(f(torch.arange(3).float(), [5, 3, 4]).tolist())
