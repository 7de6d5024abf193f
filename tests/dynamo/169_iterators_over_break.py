# list, dict and enumerate iterators half used at a break go on where they were.
import torch

@torch.compile
def f(x):
    it = iter([1, 2, 3, 4])
    en = enumerate([x, x + 1, x + 2])
    a = next(it)
    i, t = next(en)
    print("break", a, i)
    b = next(it)
    j, u = next(en)
    rest = list(it)
    return t * a + u * b + j, rest

y, rest = f(torch.arange(3).float())
print(y.tolist(), rest)
