# return of a tuple whose second element breaks.
import torch

def note(v):
    print("note", v)
    return v

@torch.compile
def f(x):
    return x + 1, note(7), x * 2

a, n, b = f(torch.arange(3).float())
print(a.tolist(), n, b.tolist())
