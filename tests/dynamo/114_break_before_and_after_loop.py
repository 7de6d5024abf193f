# Breaks before and after a loop that itself has none: the loop is unrolled in the piece between.
import torch

@torch.compile
def f(x):
    print("before")
    for i in range(3):
        x = x * 2 + i
    print("after")
    return x + 1

x = torch.arange(3).float()
print(f(x).tolist())
