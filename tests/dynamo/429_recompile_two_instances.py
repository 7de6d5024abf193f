# Two instances of one module class share an entry; a third with another attribute does not.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3) * k)
        self.k = k

    def forward(self, x):
        return x * self.w

class Scaled(Net):
    def forward(self, x):
        return x * self.w * self.k

x = torch.arange(3).float()
for make in (Net, Scaled):
    nets = [torch.compile(make(k)) for k in (1, 2, 3)]
    print([n(x).tolist() for n in nets])
