# A break in the subscript of a tensor and in that of a list.
import torch

def where(i):
    print("where", i)
    return i

@torch.compile
def f(x):
    parts = [x + 1, x + 2, x + 3]
    return x[where(1)] + parts[where(2)]

x = torch.arange(3).float()
print(f(x).tolist())
