# A break in a for loop skips the frame: all of it runs eagerly, the functions it calls are compiled.
import torch

def work(x, i):
    return x * 2 + i

@torch.compile
def f(x):
    x = x + 1
    for i in range(3):
        x = work(x, i)
        print("turn", i)
    return x - 1

x = torch.arange(3).float()
print(f(x).tolist())
