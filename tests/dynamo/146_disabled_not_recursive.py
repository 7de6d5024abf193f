# torch.compiler.disable(recursive=False): only the function itself is left out, what it calls is compiled.
import torch

def deep(x):
    return x * 2

@torch.compiler.disable(recursive=False)
def off(x):
    return deep(x) + 1

@torch.compile
def f(x):
    a = x + 1
    b = off(a)
    return b - a

x = torch.arange(3).float()
print(f(x).tolist())
