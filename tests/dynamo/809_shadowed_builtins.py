# Names that shadow builtins: print, len, range, sum defined by the program.
import torch

def print_(*args):
    pass

lines = []

def range(n):
    lines.append(n)
    return [n, n + 1]

@torch.compile
def f(x):
    len = lambda v: 5
    for i in range(3):
        x = x + i
    return x * len(x)

print(f(torch.arange(3).float()).tolist(), lines)
