# Lists, dicts, tuples, sets and objects made in the frame are returned, with sharing kept.
import torch

class Box:
    def __init__(self, v):
        self.v = v

@torch.compile
def f(x):
    y = x + 1
    l = [y, y]
    b = Box(l)
    return {"l": l, "b": b, "s": {1, 2}, "t": (l, b)}

r = f(torch.arange(3).float())
print(r["l"] is r["b"].v, r["l"][0] is r["l"][1], r["t"][0] is r["l"], r["t"][1] is r["b"], sorted(r["s"]))
