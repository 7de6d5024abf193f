# Forward and loss compiled, backward and optimizer outside.
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
with torch.no_grad():
    for p in net.parameters():
        p.fill_(0.5)
opt = torch.optim.SGD(net.parameters(), lr=0.5)

@torch.compile
def loss_of(x, y):
    return ((net(x) - y) ** 2).mean()

x, y = torch.ones(2, 2), torch.zeros(2, 1)
for _ in range(3):
    opt.zero_grad()
    loss = loss_of(x, y)
    loss.backward()
    opt.step()
    print(round(loss.item(), 4))
