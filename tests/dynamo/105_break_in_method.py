# A print in a method of an ordinary object: the object travels over the break, its attribute is read afterwards.
import torch

class Scale:
    def __init__(self, k):
        self.k = k
        self.calls = 0

    def apply(self, x):
        self.calls += 1
        y = x * self.k
        print("apply", self.calls)
        return y + self.k

s = Scale(3)

@torch.compile
def f(x):
    a = x + 1
    b = s.apply(a)
    return b * 2

x = torch.arange(3).float()
print(f(x).tolist(), s.calls)
print(f(x).tolist(), s.calls)
