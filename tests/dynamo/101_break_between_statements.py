# A print between two statements of a straight line: two graphs, one break.
import torch

@torch.compile
def f(x):
    y = x + 1
    print("between")
    return y * 2

x = torch.arange(4).float()
print(f(x).tolist())
print(f(x + 1).tolist())
