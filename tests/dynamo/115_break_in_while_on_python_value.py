# A print in a while loop whose condition is a Python number.
import torch

@torch.compile
def f(x, n):
    x = x + 1
    while n > 0:
        x = x * 2
        print("n", n)
        n -= 1
    return x

x = torch.arange(3).float()
print(f(x, 2).tolist())
print(f(x, 2).tolist())
