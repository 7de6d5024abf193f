# A global module called in a compiled function, parameters lifted as inputs.
import torch
import torch.nn as nn

net = nn.Linear(2, 2)
with torch.no_grad():
    net.weight.copy_(torch.arange(4).reshape(2, 2))
    net.bias.fill_(1)

@torch.compile
def f(x):
    return net(x) + net.weight.sum()

x = torch.ones(1, 2)
f(x).sum().backward()
print(f(x).tolist(), net.weight.grad.tolist(), net.bias.grad.tolist())
