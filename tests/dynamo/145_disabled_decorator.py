# torch.compiler.disable as a decorator: the function runs eagerly and so does what it calls.
import torch

def deep(x):
    return x * 2

@torch.compiler.disable
def off(x):
    return deep(x) + 1

@torch.compile
def f(x):
    a = x + 1
    b = off(a)
    return deep(b) - a

x = torch.arange(3).float()
print(f(x).tolist())
print(f(x).tolist())
