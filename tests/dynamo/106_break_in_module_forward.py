# A print in the middle of a module's forward, the module compiled as a whole.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.arange(4).float().reshape(2, 2))

    def forward(self, x):
        h = x @ self.w
        print("forward")
        return h + self.w.sum()

net = torch.compile(Net())
x = torch.ones(3, 2)
print(net(x).tolist())
print(net(x * 2).tolist())
