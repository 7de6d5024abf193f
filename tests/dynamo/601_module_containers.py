# ModuleList, ModuleDict, ParameterList and nested Sequential in forward.
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.list = nn.ModuleList([nn.Identity(), nn.ReLU()])
        self.dict = nn.ModuleDict({"a": nn.Identity(), "b": nn.Sequential(nn.ReLU(), nn.Identity())})
        self.params = nn.ParameterList([nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3) * 2)])

    def forward(self, x, which):
        for m in self.list:
            x = m(x) + 1
        x = self.dict[which](x)
        for name, m in self.dict.items():
            x = m(x) + len(name)
        for p in self.params:
            x = x * p
        return x * len(self.list)

net = torch.compile(Net())
x = torch.arange(-1, 2).float()
print(net(x, "a").tolist(), net(x, "b").tolist())
