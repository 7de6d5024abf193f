# Functions without tensor work: no graph; one that returns its argument; one that returns a constant.
import torch

@torch.compile
def same(x):
    return x

@torch.compile
def constant(x):
    return 5

@torch.compile
def shape(x):
    return x.shape[0] * 2

@torch.compile
def listed(l):
    l.append(1)
    return len(l)

x = torch.ones(3)
l = []
print(same(x) is x, constant(x), shape(x), listed(l), l)
