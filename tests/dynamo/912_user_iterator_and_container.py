# Classes with __iter__/__next__, __contains__, __eq__, __bool__ and __len__ used while tracing.
import torch

class Steps:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i

    def __contains__(self, v):
        return v < self.n

    def __eq__(self, other):
        return self.n == other.n

    def __bool__(self):
        return self.n > 0

@torch.compile
def f(x, s, t):
    for i in s:
        x = x + i
    if 1 in s:
        x = x * 2
    if s == t:
        x = x + 100
    return x if s else -x

x = torch.arange(3).float()
print(f(x, Steps(3), Steps(3)).tolist(), f(x, Steps(0), Steps(1)).tolist())
