# A whole training step compiled: forward, backward and optimizer step in one function.
import torch
import torch.nn as nn

net = nn.Linear(2, 1)
with torch.no_grad():
    net.weight.fill_(1)
    net.bias.fill_(0)
opt = torch.optim.SGD(net.parameters(), lr=0.125)

@torch.compile
def step(x, y):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).sum()
    loss.backward()
    opt.step()
    return loss

x, y = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0]])
for _ in range(2):
    print(step(x, y).item(), net.weight.tolist(), net.bias.tolist())
