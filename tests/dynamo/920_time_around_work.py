# time.perf_counter before and after tensor work, the difference compared with zero.
import time
import torch

@torch.compile
def f(x):
    start = time.perf_counter()
    y = x * 2
    spent = time.perf_counter() - start
    return y + 1, spent >= 0

for _ in range(3):
    y, ok = f(torch.arange(3).float())
    print(y.tolist(), ok)
