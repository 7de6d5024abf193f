# deque, defaultdict, OrderedDict, namedtuple and Counter made and changed while tracing.
import collections
import torch

Pair = collections.namedtuple("Pair", "a b")

@torch.compile
def f(x):
    q = collections.deque([1, 2, 3], maxlen=3)
    q.append(4)
    q.appendleft(0)
    d = collections.defaultdict(list)
    d["k"].append(x)
    o = collections.OrderedDict()
    o["z"] = 1
    o["a"] = 2
    p = Pair(x + 1, b=3)
    print("break", list(q), list(o))
    return d["k"][0] + p.a * p.b + sum(q), p

y, p = f(torch.arange(3).float())
print(y.tolist(), p.a.tolist(), p.b)
