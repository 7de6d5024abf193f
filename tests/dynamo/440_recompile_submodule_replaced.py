# A submodule replaced by another of its class, by another class, and one added to a ModuleList.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.parts = nn.ModuleList([nn.Identity()])

    def forward(self, x):
        for p in self.parts:
            x = p(x) + 1
        return self.act(x)

net = Net()
g = torch.compile(net)
x = torch.arange(-1, 2).float()
print(g(x).tolist())
net.act = nn.ReLU()
print(g(x).tolist())
net.act = nn.Identity()
print(g(x).tolist())
net.parts.append(nn.Identity())
print(g(x).tolist())
