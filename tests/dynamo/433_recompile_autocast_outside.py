# The same call inside an autocast region that surrounds it.
import torch

@torch.compile
def f(a):
    return a @ a

a = torch.ones(2, 2)
print(f(a).dtype)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print(f(a).dtype)
print(f(a).dtype)
