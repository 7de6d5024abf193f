# A nested structure changed deep inside before and after a break.
import torch

@torch.compile
def f(x, s):
    s["a"][0]["b"].append(x + 1)
    print("break", len(s["a"][0]["b"]))
    s["a"].append(s["a"][0])
    s["a"][1]["c"] = 3
    return s["a"][0]["b"][0] * s["a"][0]["c"]

s = {"a": [{"b": []}]}
print(f(torch.arange(3).float(), s).tolist(), len(s["a"]), s["a"][0] is s["a"][1], sorted(s["a"][0]))
