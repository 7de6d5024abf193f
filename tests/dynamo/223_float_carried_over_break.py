# A float argument carried over a break and used in tensor arithmetic afterwards.
import torch

@torch.compile
def f(x, lr):
    y = x + 1
    print("break")
    return y * lr

for lr in (0.5, 0.25, 0.125):
    print(f(torch.arange(3).float(), lr).tolist())
