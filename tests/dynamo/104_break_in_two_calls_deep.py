# A print two calls down: the break is in the outermost frame, and each frame on the way is compiled and broken by itself.
import torch

def inner(x):
    x = x + 1
    print("inner")
    return x * 2

def middle(x):
    y = inner(x * 3)
    return y - 1

@torch.compile
def f(x):
    a = x + 10
    b = middle(a)
    return a + b

x = torch.arange(3).float()
print(f(x).tolist())
print(f(x + 1).tolist())
