# An ordinary object that counts: its attribute turns symbolic.
import torch

class Counter:
    def __init__(self):
        self.n = 0

c = Counter()

@torch.compile
def f(x, c):
    c.n += 1
    return x * c.n

for _ in range(4):
    print(f(torch.ones(2), c).tolist(), c.n)
