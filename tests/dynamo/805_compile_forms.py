# torch.compile as decorator with and without arguments, as a call, of a lambda, a method, a module.
import torch
import torch.nn as nn

@torch.compile
def a(x):
    return x + 1

@torch.compile(fullgraph=True)
def b(x):
    return x + 2

class C:
    @torch.compile
    def run(self, x):
        return x + 4

c = torch.compile(lambda x: x + 3)
d = torch.compile(nn.ReLU())
e = torch.compile(mode="default")(lambda x: x + 5)
x = torch.arange(-1, 2).float()
print([g(x).tolist() for g in (a, b, c, C().run, d, e)])
