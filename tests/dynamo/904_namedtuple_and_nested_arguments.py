# Named tuples, nested dicts and lists of numbers as arguments.
import collections
import torch

P = collections.namedtuple("P", "a b")

@torch.compile
def f(x, p, d):
    return x * p.a + p.b + d["k"][0]["n"]

x = torch.arange(3).float()
for p, n in ((P(1, 2), 3), (P(1, 2), 4), (P(2, 2), 4), (P(2, 3), 5)):
    print(f(x, p, {"k": [{"n": n}], "other": n}).tolist())
