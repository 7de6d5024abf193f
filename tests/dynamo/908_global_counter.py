# A global number that the function itself increases.
import torch

n = 0

@torch.compile
def f(x):
    global n
    n += 1
    return x + n

for _ in range(11):
    print(f(torch.zeros(2)).tolist(), n)
