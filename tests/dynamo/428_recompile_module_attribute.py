# Attributes of a module: int, float, string, list, None, and one that is not read.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 2
        self.s = 0.5
        self.mode = "add"
        self.extra = None
        self.unused = 1

    def forward(self, x):
        y = x * self.n * self.s
        if self.mode == "add":
            y = y + 1
        if self.extra is not None:
            y = y + self.extra
        return y

net = Net()
g = torch.compile(net)
x = torch.arange(3).float()
print(g(x).tolist())
for name, value in (("unused", 2), ("n", 4), ("n", 6), ("s", 2.0), ("mode", "no"), ("extra", torch.ones(3)), ("extra", 5)):
    setattr(net, name, value)
    print(name, g(x).tolist())
