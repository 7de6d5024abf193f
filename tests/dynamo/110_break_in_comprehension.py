# A print inside a list comprehension, which Python 3.12 inlines into the function: a break in a loop.
import torch

def show(i, x):
    print("item", i)
    return x + i

@torch.compile
def f(x):
    y = x * 2
    parts = [show(i, y) for i in range(3)]
    return torch.stack(parts).sum(0)

x = torch.arange(3).float()
print(f(x).tolist())
