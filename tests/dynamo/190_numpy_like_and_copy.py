# copy.copy, copy.deepcopy of containers, and str/repr of values in the frame.
import copy
import torch

@torch.compile
def f(x, d):
    e = copy.copy(d)
    e["n"] = 5
    name = str(d["n"]) + repr("q")
    return x + e["n"] + d["n"], name

y, name = f(torch.arange(3).float(), {"n": 1})
print(y.tolist(), name)
