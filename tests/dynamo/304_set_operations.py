# add, discard, union, membership on a caller's set.
import torch

@torch.compile
def f(x, s):
    s.add(5)
    s.discard(1)
    t = s | {7}
    return x + (1 if 5 in s else 0) + len(t)

s = {1, 2}
print(f(torch.arange(3).float(), s).tolist(), sorted(s))
