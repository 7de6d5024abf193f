# A module that counts its calls: an integer attribute is static, so every call recompiles until the limit is reached.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x + self.calls

net = Net()
g = torch.compile(net)
for _ in range(11):
    print(g(torch.zeros(2)).tolist(), net.calls)
