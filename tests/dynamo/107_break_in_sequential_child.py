# A child of a Sequential breaks: the loop over children is in Sequential.forward, so the frames of the children are compiled by themselves.
import torch
import torch.nn as nn

class Noisy(nn.Module):
    def forward(self, x):
        x = x + 1
        print("noisy")
        return x * 2

class Plain(nn.Module):
    def forward(self, x):
        return x * 3 - 1

net = nn.Sequential(Plain(), Noisy(), Plain())

@torch.compile
def f(x):
    return net(x) + 1

x = torch.arange(3).float()
print(f(x).tolist())
print(f(x).tolist())
