# Objects with attributes and methods made in the frame live over a break.
import torch

class Acc:
    def __init__(self, x):
        self.x = x
        self.n = 0

    def add(self, y):
        self.x = self.x + y
        self.n += 1
        return self

@torch.compile
def f(x):
    a = Acc(x)
    a.add(1)
    print("break", a.n)
    a.add(x).add(x)
    return a.x * a.n, a

y, a = f(torch.arange(3).float())
print(y.tolist(), a.n, a.x.tolist())
