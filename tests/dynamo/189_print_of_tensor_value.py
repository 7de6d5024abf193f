# print of a tensor's item and of the tensor: two kinds of break on one line.
import torch

@torch.compile
def f(x):
    y = x + 1
    print("sum", y.sum().item(), "first", y[0].item())
    return y * 2

print(f(torch.arange(3).float()).tolist())
print(f(torch.arange(3).float() + 1).tolist())
