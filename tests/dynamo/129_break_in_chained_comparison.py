# A chained comparison whose middle term breaks, on Python numbers.
import torch

def read(v):
    print("read", v)
    return v

@torch.compile
def f(x):
    if 0 < read(5) < 10:
        x = x + 1
    if 0 < read(20) < 10:
        x = x * 100
    return x * 2

x = torch.arange(3).float()
print(f(x).tolist())
