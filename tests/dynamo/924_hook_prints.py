# A forward hook of a child that prints, in a compiled parent.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ReLU()
        self.b = nn.ReLU()

    def forward(self, x):
        y = self.a(x - 1)
        return self.b(y) * 2

net = Net()
net.a.register_forward_hook(lambda m, args, out: print("hook", out.shape[0]))
g = torch.compile(net)
print(g(torch.arange(3).float()).tolist())
