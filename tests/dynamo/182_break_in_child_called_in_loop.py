# A module calls children from a ModuleList in a loop; one of them breaks.
import torch
import torch.nn as nn

class Child(nn.Module):
    def __init__(self, k, loud):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3) * k)
        self.loud = loud

    def forward(self, x):
        y = x * self.w
        if self.loud:
            print("child")
        return y + 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Child(1, False), Child(2, True), Child(3, False)])

    def forward(self, x):
        for p in self.parts:
            x = p(x)
        return x * 2

net = Net()
g = torch.compile(net)
print(g(torch.arange(3).float()).tolist())
g(torch.arange(3).float()).sum().backward()
print([p.w.grad.tolist() for p in net.parts])
