# The same function compiled twice, and with other options.
import torch

def f(x):
    return x + 1

a = torch.compile(f)
b = torch.compile(f)
c = torch.compile(f, dynamic=True)
print(a(torch.ones(2)).tolist(), b(torch.ones(2)).tolist(), c(torch.ones(3)).tolist())
