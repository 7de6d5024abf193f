# Attributes set, changed and deleted on a caller's object, through an alias as well.
import torch

class Box:
    pass

@torch.compile
def f(x, b):
    c = b
    c.a = x + 1
    b.n = b.n + 1
    del c.old
    return c.a * b.n + (1 if hasattr(b, "old") else 2)

b = Box()
b.n, b.old = 1, 0
print(f(torch.arange(3).float(), b).tolist(), b.n, b.a.tolist(), hasattr(b, "old"))
