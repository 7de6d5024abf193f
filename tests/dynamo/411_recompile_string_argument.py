# String arguments: a new entry a value.
import torch

@torch.compile
def f(x, mode):
    if mode == "double":
        return x * 2
    return x + len(mode)

for mode in ("double", "a", "bb", "double", "a"):
    print(f(torch.arange(3).float(), mode).tolist())
