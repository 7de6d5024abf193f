# A print under CPU autocast: the dtype before, inside and after the break.
import torch

@torch.compile
def f(a, b):
    x = a @ b
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = a @ b
        print("in", torch.is_autocast_enabled("cpu"))
        z = a @ b
    w = a @ b
    return x, y, z, w

a = torch.ones(2, 2)
print([str(t.dtype) for t in f(a, a)])
