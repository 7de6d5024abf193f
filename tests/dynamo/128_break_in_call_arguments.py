# Breaks in the second and in a keyword argument of a call: callee and first argument wait on the stack.
import torch

def note(v):
    print("note", v)
    return v

def combine(a, b, c=0):
    return a * 100 + b * 10 + c

@torch.compile
def f(x):
    return combine(x + 1, note(2) * x, c=note(3)) + 1

x = torch.arange(3).float()
print(f(x).tolist())
