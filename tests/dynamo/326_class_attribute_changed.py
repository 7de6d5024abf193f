# A class attribute read, and changed between calls.
import torch

class Config:
    scale = 2

@torch.compile
def f(x):
    return x * Config.scale

x = torch.arange(3).float()
print(f(x).tolist())
Config.scale = 5
print(f(x).tolist())
