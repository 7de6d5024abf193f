# net.compile() in place, and a compiled module inside another module.
import torch
import torch.nn as nn

class Inner(nn.Module):
    def forward(self, x):
        return x + 1

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.inner.compile()

    def forward(self, x):
        return self.inner(x * 2) * 3

net = Outer()
x = torch.arange(3).float()
print(net(x).tolist())
c = torch.compile(net)
print(c(x).tolist())
