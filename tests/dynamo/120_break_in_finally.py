# A print in a finally block.
import torch

@torch.compile
def f(x):
    y = x + 1
    try:
        y = y * 2
    finally:
        print("finally")
    return y + 1

x = torch.arange(3).float()
print(f(x).tolist())
