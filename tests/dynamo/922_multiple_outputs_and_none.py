# Returns of None, nested structures with numbers, and inputs given back beside results.
import torch

@torch.compile
def f(x, flag):
    if flag:
        return None
    y = x * 2
    return {"y": y, "x": x, "n": [1, (2.5, None)], "s": y.shape[0]}

x = torch.arange(3).float()
r = f(x, False)
print(f(x, True), r["y"].tolist(), r["x"] is x, r["n"], r["s"])
