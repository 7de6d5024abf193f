# Separate inputs, then the same tensor twice, then views of one storage, for a function that changes none of them.
import torch

@torch.compile
def f(a, b):
    return a * 10 + b

x = torch.arange(3).float()
y = torch.ones(3)
buf = torch.arange(6).float()
print(f(x, y).tolist(), f(x, x).tolist(), f(buf[:3], buf[3:]).tolist(), f(buf[0:3], buf[1:4]).tolist())
