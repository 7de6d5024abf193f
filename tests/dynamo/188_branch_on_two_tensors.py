# and / or of two tensor conditions in one if, and a condition on a tensor behind a Python condition.
import torch

@torch.compile
def f(x, flag):
    if flag and x.sum() > 3:
        return x + 1
    if x.max() > 5 or x.min() < 0:
        return x - 1
    return x * 2

for v, flag in (([1.0, 2.0], True), ([1.0, 3.0], True), ([1.0, 9.0], False), ([-1.0, 2.0], False), ([1.0, 2.0], False)):
    print(f(torch.tensor(v), flag).tolist())
