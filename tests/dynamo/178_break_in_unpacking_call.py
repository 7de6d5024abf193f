# A call with *args and **kwargs made by functions that break, unpacked into several names.
import torch

def some():
    print("some")
    return [1, 2]

def named():
    print("named")
    return {"c": 3}

def combine(x, a, b, c=0):
    return x + a, b + c

@torch.compile
def f(x):
    y, n = combine(x * 2, *some(), **named())
    return y * n

print(f(torch.arange(3).float()).tolist())
