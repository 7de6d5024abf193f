# The compiled function's own closure cell changes between calls.
import torch

k = 0

def make():
    k = 2

    @torch.compile
    def f(x):
        return x * k

    def put(v):
        nonlocal k
        k = v

    return f, put

f, put = make()
x = torch.arange(3).float()
for v in (2, 3, 4, 0.5, 0.25):
    put(v)
    print(f(x).tolist())
