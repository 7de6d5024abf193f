# Autocast in the frame: matmul in bfloat16, sum in float32, nested disabled region.
import torch

@torch.compile
def f(a):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        b = a @ a
        with torch.autocast("cpu", enabled=False):
            c = a @ a
        d = b + 1
    return b, c, d

print([str(t.dtype) for t in f(torch.ones(2, 2))])
