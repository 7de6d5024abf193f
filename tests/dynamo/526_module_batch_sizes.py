# A Linear layer with other batch sizes, forward and backward.
import torch
import torch.nn as nn

net = nn.Linear(2, 3)
with torch.no_grad():
    net.weight.copy_(torch.arange(6).reshape(3, 2))
    net.bias.fill_(1)
g = torch.compile(net)
for n in (2, 4, 5):
    net.zero_grad()
    y = g(torch.ones(n, 2))
    y.sum().backward()
    print(y.sum().item(), net.weight.grad.tolist(), net.bias.grad.tolist())
