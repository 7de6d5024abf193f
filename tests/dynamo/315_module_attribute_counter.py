# A counter, a list and a buffer of a module changed in forward.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.log = []
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        self.calls += 1
        self.log.append(x.shape[0])
        self.total = self.total + x
        return x * 2 + self.total

net = Net()
g = torch.compile(net)
x = torch.arange(3).float()
for _ in range(3):
    print(g(x).tolist(), net.calls, net.log, net.total.tolist())
