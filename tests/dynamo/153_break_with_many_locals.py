# Locals of many kinds live over a break: numbers, strings, tuples, lists, dicts, None, functions, slices, ranges.
import torch

@torch.compile
def f(x):
    a, b, c = 1, 2.5, "text"
    t = (x + 1, 3)
    l = [x + 2, 4]
    d = {"k": x + 3}
    n = None
    g = lambda v: v * 2
    s = slice(0, 2)
    r = range(3)
    print("break", a, b, c, n)
    y = t[0] + l[0] + d["k"] + a + t[1] + l[1]
    return g(y)[s], sum(r), b, c

y, total, b, c = f(torch.arange(3).float())
print(y.tolist(), total, b, c)
