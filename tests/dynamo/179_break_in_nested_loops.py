# A break in the inner of two loops, and a loop without a break around a call that breaks.
import torch

@torch.compile
def f(x):
    for i in range(2):
        for j in range(2):
            x = x + i * j
            if i == j:
                print("same", i)
    return x

def helper(x, i):
    y = x + i
    print("helper", i)
    return y * 2

@torch.compile
def g(x):
    y = x + 1
    for i in range(2):
        y = helper(y, i)
    return y - 1

x = torch.arange(3).float()
print(f(x).tolist(), g(x).tolist())
