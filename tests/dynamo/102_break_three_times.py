# Three breaks on three lines of one function: each piece of the rest is a frame of its own.
import torch

@torch.compile
def f(x):
    a = x + 1
    print("one")
    b = a * 2
    print("two")
    c = b - x
    print("three")
    return a + b + c

x = torch.arange(3).float()
print(f(x).tolist())
print(f(x).tolist())
