# Assignment, update, pop, setdefault, del, clear on a caller's dict; order of the keys.
import torch

@torch.compile
def f(x, d):
    d["new"] = x + 1
    d.update({"u": 1, "a": 5})
    p = d.pop("b")
    s = d.setdefault("s", 3)
    del d["c"]
    return x * p + s + d["a"]

d = {"a": 1, "b": 2, "c": 3}
print(f(torch.arange(3).float(), d).tolist(), list(d), d["a"], d["new"].tolist())
