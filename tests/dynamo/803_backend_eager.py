# backend="eager" and "aot_eager" capture the same graphs.
import torch

def f(x):
    y = x + 1
    print("break")
    return y * 2

a = torch.compile(f, backend="eager")
b = torch.compile(f, backend="aot_eager")
x = torch.arange(3).float()
print(a(x).tolist(), b(x).tolist())
