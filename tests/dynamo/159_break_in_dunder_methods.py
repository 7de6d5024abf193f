# __call__, __getitem__, __add__ and __len__ of a user class, the last of which prints.
import torch

class Seq:
    def __init__(self, items):
        self.items = items

    def __call__(self, k):
        return Seq([i * k for i in self.items])

    def __getitem__(self, i):
        return self.items[i]

    def __add__(self, other):
        return Seq(self.items + other.items)

    def __len__(self):
        print("len")
        return len(self.items)

@torch.compile
def f(x):
    s = Seq([x, x + 1])
    t = s(3) + s
    return t[0] + t[1] + t[2] + len(t)

print(f(torch.arange(3).float()).tolist())
