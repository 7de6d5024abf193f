# time.time and random.random in the middle; only that they were called is printed.
import random
import time
import torch

@torch.compile
def f(x):
    t = time.time()
    y = x + 1
    r = random.random()
    y = y * 2
    return y, t > 0, 0 <= r < 1

print(f(torch.arange(3).float()))
print(f(torch.arange(3).float()))
