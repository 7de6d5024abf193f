# Attributes of an ordinary object and its class; another object of the class.
import torch

class Box:
    def __init__(self, k):
        self.k = k

@torch.compile
def f(x, b):
    return x * b.k

x = torch.arange(3).float()
b = Box(2)
print(f(x, b).tolist())
b.k = 3
print(f(x, b).tolist(), f(x, Box(4)).tolist(), f(x, Box(5)).tolist())
b.k = 0.5
print(f(x, b).tolist())
