# Tied weights and one module used twice.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2, bias=False)
        self.b = nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x)) + self.a(x)

net = Net()
with torch.no_grad():
    net.a.weight.copy_(torch.arange(4).reshape(2, 2))
g = torch.compile(net)
y = g(torch.ones(1, 2))
y.sum().backward()
print(y.tolist(), net.a.weight.grad.tolist())
