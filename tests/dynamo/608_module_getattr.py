# A module with __getattr__ of its own and properties; hasattr and getattr with a default.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 3

    @property
    def twice(self):
        return self.k * 2

    def forward(self, x):
        y = x * self.twice
        if hasattr(self, "missing"):
            y = y + 100
        return y + getattr(self, "other", 7)

net = Net()
g = torch.compile(net)
print(g(torch.arange(3).float()).tolist())
net.other = 1
print(g(torch.arange(3).float()).tolist())
