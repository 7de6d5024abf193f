# Walrus, starred unpacking, nested unpacking, chained assignment, conditional lambda, del of items.
import torch

@torch.compile
def f(x, items):
    if (n := len(items)) > 2:
        a, *b, c = items
        (p, q), r = (a, c), n
        s = t = p + q
    d = {"k": 1, "m": 2}
    del d["k"]
    g = (lambda v: v + s) if t else (lambda v: v)
    return g(x) + sum(b) + r + len(d)

print(f(torch.arange(3).float(), [1, 2, 3, 4]).tolist())
