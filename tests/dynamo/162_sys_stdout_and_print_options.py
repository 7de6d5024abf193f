# print with sep, end and several arguments, and of a tensor.
import torch

@torch.compile
def f(x):
    y = x + 1
    print("a", 1, sep="-", end=";\n")
    print(y)
    return y * 2

print(f(torch.arange(3).float()).tolist())
