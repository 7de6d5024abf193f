# A buffer changed in place in forward, as batch norm does.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.tensor(0))
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        self.n.add_(1)
        self.mean.mul_(0.5).add_(x.mean(0), alpha=0.5)
        return x - self.mean

net = Net()
g = torch.compile(net)
x = torch.tensor([[2.0, 4.0], [6.0, 8.0]])
for _ in range(2):
    print(g(x).tolist(), net.n.item(), net.mean.tolist())
