# A module calls a child that breaks, outside any loop, and uses the result.
import torch
import torch.nn as nn

class Child(nn.Module):
    def forward(self, x):
        y = x * 2
        print("child")
        return y + 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.k = 3

    def forward(self, x):
        a = x + self.k
        b = self.child(a)
        return a * b

g = torch.compile(Net())
x = torch.arange(3).float()
print(g(x).tolist(), g(x + 1).tolist())
