# Forward hooks and pre-hooks registered before the first call, one added afterwards.
import torch
import torch.nn as nn

class Net(nn.Module):
    def forward(self, x):
        return x * 2

net = Net()
net.register_forward_hook(lambda m, a, out: out + 100)
net.register_forward_pre_hook(lambda m, a: (a[0] + 1,))
g = torch.compile(net)
x = torch.arange(3).float()
print(g(x).tolist())
inner = nn.Sequential(Net(), Net())
h = inner[0].register_forward_hook(lambda m, a, out: out * 10)
c = torch.compile(inner)
print(c(x).tolist())
h.remove()
print(c(x).tolist())
