# A global rebound to an equal object: a number, a list, a tensor.
import torch

number = 1000
items = [1, 2]
t = torch.ones(3)

@torch.compile
def f(x):
    return x * number + items[1] + t

x = torch.arange(3).float()
print(f(x).tolist())
number = int("1000")
print(f(x).tolist())
items = [1, 2]
print(f(x).tolist())
t = torch.ones(3)
print(f(x).tolist())
